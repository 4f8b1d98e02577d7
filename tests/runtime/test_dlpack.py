"""DLPack by ctypes: what others give is read, what we give lives as long as others use it."""

from __future__ import annotations

import gc

import ml_dtypes
import numpy as np
import pytest

from hloom.runtime import dlpack
from hloom.runtime.errors import InputError


class Ours:
    """Memory of our own on the CPU."""

    def __init__(self, array: np.ndarray, dtype: str):
        self.array, self.dtype = array, dtype

    def __dlpack__(self, **_):
        return dlpack.give(self, self.array.ctypes.data, self.__dlpack_device__(), self.dtype, self.array.shape)

    def __dlpack_device__(self):
        return dlpack.CPU, 0


@pytest.mark.parametrize("shape", [(), (3,), (2, 0, 3), (2, 3, 4)])
@pytest.mark.parametrize("dtype", ["f32", "f64", "f16", "i1", "i8", "ui64"])
def test_numpy_reads_what_we_give(shape, dtype):
    from hloom.runtime.dtypes import numpy_dtype

    array = np.arange(np.prod(shape, dtype=int)).reshape(shape).astype(numpy_dtype(dtype))
    found = np.from_dlpack(Ours(array, dtype))
    assert found.dtype == array.dtype and found.shape == array.shape and (found == array).all()


def test_what_was_given_lives_as_long_as_it_is_used():
    before = len(dlpack._alive)
    found = np.from_dlpack(Ours(np.full(1000, 7.0), "f64"))
    gc.collect()
    assert found.sum() == 7000 and len(dlpack._alive) == before + 1
    del found
    Ours(np.ones(3), "f64").__dlpack__()  # nobody takes it
    gc.collect()
    assert len(dlpack._alive) == before


def test_we_read_what_others_give():
    array = np.arange(12, dtype=np.int16).reshape(3, 4)
    found = dlpack.take("x", array)
    assert (found.address, found.device, found.dtype, found.shape, found.dense) == (array.ctypes.data, (1, 0), "i16", (3, 4), True)
    assert not dlpack.take("x", array[:, ::2]).dense
    assert dlpack.take("x", array[:1, 1:2]).dense
    torch = pytest.importorskip("torch")
    half = torch.ones(2, 3, dtype=torch.bfloat16)
    found = dlpack.take("x", half)
    assert (found.dtype, found.shape, found.address) == ("bf16", (2, 3), half.data_ptr())
    assert torch.from_dlpack(Ours(np.ones(4, ml_dtypes.bfloat16), "bf16")).dtype == torch.bfloat16


def test_what_cannot_be_taken():
    class Nothing:
        def __dlpack__(self):
            raise BufferError("on fire")

    with pytest.raises(InputError, match="x: a Nothing cannot be taken by DLPack: on fire"):
        dlpack.take("x", Nothing())
