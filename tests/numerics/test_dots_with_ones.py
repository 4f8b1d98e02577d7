"""Products with a matrix whose elements are all one number, which become sums, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

import hloom


@pytest.mark.parametrize("number", [1, 3])
@pytest.mark.parametrize("side", [0, 1])
@pytest.mark.parametrize(("element", "dtype"), [("f32", np.float32), ("f16", np.float16), ("i32", np.int32)])
def test_batched_and_out_of_order(number, side, element, dtype):
    """Batch, contracted and free dimensions in an order of their own on each side."""
    x = np.random.default_rng(0).integers(-5, 5, (4, 2, 7, 3)).astype(dtype)  # contracted, batch, free, contracted
    one = str(number) if element == "i32" else f"{number}.0"
    given, ones = f"tensor<4x2x7x3x{element}>", f"tensor<3x5x2x4x{element}>"
    result = f"tensor<2x7x5x{element}>" if side == 0 else f"tensor<2x5x7x{element}>"
    operands, kinds = (("%x", "%ones"), (given, ones)) if side == 0 else (("%ones", "%x"), (ones, given))
    batch, contracted = ("[1]", "[2]"), ("[0, 3]", "[3, 0]")
    if side == 1:
        batch, contracted = batch[::-1], contracted[::-1]
    text = f"""func.func @main(%x: {given}) -> {result} {{
      %ones = stablehlo.constant dense<{one}> : {ones}
      %r = stablehlo.dot_general {", ".join(operands)}, batching_dims = {" x ".join(batch)}, contracting_dims = {" x ".join(contracted)}
        : ({", ".join(kinds)}) -> {result}
      return %r : {result}
    }}"""
    total = number * x.sum((0, 3))
    expected = np.broadcast_to(total[:, :, None], (2, 7, 5)) if side == 0 else np.broadcast_to(total[:, None, :], (2, 5, 7))
    np.testing.assert_array_equal(hloom.compile(text)(x), expected)
