"""Dense blocks: each layer reads the concatenation of all before it, which grows in one buffer (grow-concatenations)."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
from hloom.compiler.compile import Compilation


def block(layers: int, axis: int, shape: tuple[int, ...], grow: int, back: bool = False) -> str:
    """A layer scales what it reads, takes `grow` places of the middle along the axis and puts them behind (in front, `back`)."""

    def kind(extent: int) -> str:
        return f"tensor<{'x'.join(str(extent if d == axis else n) for d, n in enumerate(shape))}xf32>"

    pieces, extents = ["%x"], [shape[axis]]
    lines = [f"func.func @main(%x: {kind(shape[axis])}, %s: tensor<f32>) -> {kind(shape[axis] + layers * grow)} {{"]
    for layer in range(layers + 1):
        whole = sum(extents)
        if layer:
            types = ", ".join(kind(extent) for extent in extents)
            lines.append(f"  %c{layer} = stablehlo.concatenate {', '.join(pieces)}, dim = {axis} : ({types}) -> {kind(whole)}")
        else:
            lines.append(f"  %c0 = stablehlo.negate %x : {kind(whole)}")
        if layer == layers:
            break
        cut = ", ".join(f"{(whole - grow) // 2}:{(whole - grow) // 2 + grow}" if d == axis else f"0:{n}" for d, n in enumerate(shape))
        lines += [
            f"  %b{layer} = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> {kind(whole)}",
            f"  %m{layer} = stablehlo.multiply %c{layer}, %b{layer} : {kind(whole)}",
            f"  %t{layer} = stablehlo.tanh %m{layer} : {kind(whole)}",
            f"  %y{layer} = stablehlo.slice %t{layer} [{cut}] : ({kind(whole)}) -> {kind(grow)}",
        ]
        pieces.insert(0 if back else len(pieces), f"%y{layer}")
        extents.insert(0 if back else len(extents), grow)
    return "\n".join([*lines, f"  return %c{layers} : {kind(shape[axis] + layers * grow)}", "}"])


def expected(layers: int, axis: int, grow: int, back: bool, x: np.ndarray, s: np.float32) -> np.ndarray:
    whole = x
    for layer in range(layers):
        begin = (whole.shape[axis] - grow) // 2
        read = whole if layer else -x
        new = np.tanh(np.take(read, range(begin, begin + grow), axis) * s)
        whole = np.concatenate((new, whole) if back else (whole, new), axis)
    return whole


@pytest.mark.parametrize("target", ["cpu", "sim:sm_80"])
@pytest.mark.parametrize(
    ("axis", "shape", "grow", "back"), [(1, (1, 5, 3, 3), 4, False), (1, (2, 5, 9), 2, False), (2, (3, 2, 7), 3, True)]
)
def test_values(target: str, axis: int, shape: tuple[int, ...], grow: int, back: bool) -> None:
    x, s = np.random.default_rng(0).standard_normal(shape, np.float32), np.float32(0.8)
    exe = hloom.compile(block(6, axis, shape, grow, back), target=target)
    for _ in range(2):  # what the buffer held before does not show
        np.testing.assert_allclose(exe(x, s), expected(6, axis, grow, back, x, s), rtol=2e-6, atol=1e-6)


def test_code_grows_with_the_layers() -> None:
    """Twice the layers are twice the loops and reads, not four times; and each layer's buffer is the one before it."""
    lines = {
        layers: Compilation.of(block(layers, 1, (1, 16, 4, 4), 8), target="cpu-avx2").text("tiled").count("\n") for layers in (8, 16, 32)
    }
    assert lines[32] - lines[16] <= 2.1 * (lines[16] - lines[8])
    buffers = Compilation.of(block(16, 1, (1, 16, 4, 4), 8), target="cpu-avx2").text("lhlo")
    updates = [line for line in buffers.splitlines() if "lhlo.fusion" in line and '"dynamic_update_slice"]' in line]
    assert len(updates) == 15
    assert all("inplace = array<i64: 0, 0>" in line for line in updates)
    assert "lhlo.copy" not in buffers
