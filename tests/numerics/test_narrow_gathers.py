"""Elements of 8 and 16 bits by index, beside NumPy: at any place in memory, the first and the last, of tensors of any length."""

import ml_dtypes
import numpy as np
import pytest
from guards import SIDES, guarded

import hloom

TYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16, "i16": np.int16, "i8": np.int8, "ui8": np.uint8, "i1": np.bool_}


def _at(array: np.ndarray, before: int) -> np.ndarray:
    """The same elements, so many behind an aligned place, between ones that are none of them."""
    room = np.empty(array.size + 64, array.dtype)
    room[:] = 1
    start = (-room.ctypes.data) % 64 // array.itemsize + before
    room[start : start + array.size] = array.ravel()
    return room[start : start + array.size].reshape(array.shape)


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("length", [1, 3, 67])
def test_elements_by_index(name: str, length: int) -> None:
    generator = np.random.default_rng(length)
    x = generator.integers(0, 2 if name == "i1" else 100, (5, length)).astype(TYPES[name])
    index = np.concatenate([[0, length - 1], generator.integers(0, length, 83)]).astype(np.int32)
    text = f"""
        func.func @main(%x: tensor<5x{length}x{name}>, %i: tensor<85xi32>) -> tensor<5x85x{name}> {{
          %y = "stablehlo.gather"(%x, %i) <{{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1],
            start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 5, 1>}}> : (tensor<5x{length}x{name}>, tensor<85xi32>)
            -> tensor<5x85x{name}>
          return %y : tensor<5x85x{name}>
        }}"""
    exe = hloom.compile(text)
    for before in range(4):
        np.testing.assert_array_equal(np.asarray(exe(_at(x, before), index)), x[:, index])
    for side in SIDES:
        with guarded(side):  # what is read beside an element is on its page
            np.testing.assert_array_equal(np.asarray(hloom.compile(text)(x, index)), x[:, index])
