"""Products and convolutions of what was made of bytes, less zero points and times scales of all kinds, beside the same in f64."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from hypothesis import given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

import hloom  # noqa: E402

BYTES = st.sampled_from([np.int8, np.uint8])
POINTS = st.sampled_from([0, 3, -7, 127, 128, "one", "each"])
"""Known ones, among them some that are no bytes; one that is given, and one for each row or feature."""


@dataclass(frozen=True)
class Windows:
    """Of a convolution with the channels last; None stands for a product of matrices."""

    dims: int
    window: int
    channels: int
    groups: int
    stride: int
    dilation: int
    apart: int
    padding: tuple[int, int]


WINDOWS = st.builds(
    Windows,
    dims=st.integers(1, 2), window=st.sampled_from([1, 3]), channels=st.sampled_from([2, 6, 16]), groups=st.sampled_from([1, 1, 2]),
    stride=st.integers(1, 2), dilation=st.sampled_from([1, 1, 2]), apart=st.sampled_from([1, 1, 2]),
    padding=st.tuples(st.integers(0, 2), st.integers(0, 1)),
)  # fmt: skip


@settings(max_examples=12, deadline=None)
@given(st.one_of(st.none(), WINDOWS), BYTES, BYTES, POINTS, POINTS, st.booleans(), st.booleans(), st.integers(0, 99))
def test_products_are_as_near_as_in_f32(
    windows: Windows | None, first: Any, second: Any, point: Any, other_point: Any, scaled: bool, in_integers: bool, seed: int
) -> None:
    draw = np.random.default_rng(seed)
    x, w, rows = _operands(windows, first, second, draw)
    features = w.shape[-1]
    each = draw.integers(-5, 6, rows).astype(np.int32), draw.integers(-5, 6, features)
    scales = draw.random(features).astype(np.float32)

    def program(x: Any, w: Any, each: Any, other: Any, scales: Any, wide: Any = jnp.float32) -> Any:
        a, b = (_less(value, of, which, wide, in_integers) for value, of, which in ((x, each, point), (w, other, other_point)))
        b = b * scales.astype(wide) if scaled else b
        return _product(windows, a * wide(0.03), b)

    inputs = (x, w, each[0], each[1], scales)
    with jax.enable_x64(True):
        exact = np.asarray(jax.jit(lambda *given: program(*given, wide=jnp.float64))(*inputs))
    found = np.asarray(hloom.compile(program, *inputs)(*inputs))
    assert np.abs(found - exact).max() <= 3e-5 * np.abs(exact).max()


def _operands(windows: Windows | None, first: Any, second: Any, draw: np.random.Generator) -> tuple[Any, Any, tuple[int, ...]]:
    """And the shape of what has a number for each row of the first, or for all where it is an image."""
    if windows is None:
        shapes: Any = (9, 40), (40, 24)
        rows = (9, 1)
    else:
        inside = windows.channels // windows.groups
        shapes = (2, *[7] * windows.dims, windows.channels), (*[windows.window] * windows.dims, inside, 8)
        rows = ()
    x, w = (draw.integers(np.iinfo(t).min, np.iinfo(t).max + 1, shape).astype(t) for t, shape in zip((first, second), shapes))
    return x, w, rows


def _less(value: Any, of: Any, which: Any, wide: Any, in_integers: bool) -> Any:
    """The numbers less a zero point, as integers before they are floats, or after."""
    number = {"each": of, "one": of.reshape(-1)[0]}.get(which, which)
    kind = jnp.int32 if in_integers else wide
    return (value.astype(kind) - jnp.asarray(number).astype(kind)).astype(wide)


def _product(windows: Windows | None, a: Any, b: Any) -> Any:
    if windows is None:
        return a @ b
    n = windows.dims
    numbers = ("NHC", "HIO", "NHC") if n == 1 else ("NHWC", "HWIO", "NHWC")
    around = [windows.stride] * n, [windows.padding] * n, [windows.apart] * n, [windows.dilation] * n
    return jax.lax.conv_general_dilated(a, b, *around, numbers, feature_group_count=windows.groups)
