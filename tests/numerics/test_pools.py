"""Windowed reductions on the CPU: lines of results along the lanes, padding left out; against XLA."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import jax
import ml_dtypes
import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from jax import lax

import hloom
from hloom.compiler.target import host, load_target

TARGETS = ["cpu-avx2"] + (["cpu-avx512"] if host().vector_bits >= load_target("cpu-avx512").vector_bits else [])
COMBINE = {"max": lax.max, "min": lax.min, "add": lax.add, "mul": lax.mul}
HALVES = ("float16", "bfloat16")


@dataclass(frozen=True)
class Pool:
    """A windowed reduction over any dimensions, started from what its body leaves as it is unless `start` says otherwise."""

    shape: tuple[int, ...]
    window: tuple[int, ...]
    strides: tuple[int, ...]
    padding: tuple[tuple[int, int], ...]
    body: str = "max"
    kind: str = "float32"
    dilation: int = 1
    specials: bool = False
    start: float | None = None

    @property
    def dtype(self) -> np.dtype:
        return np.dtype(ml_dtypes.bfloat16 if self.kind == "bfloat16" else self.kind)

    def array(self) -> np.ndarray:
        random = np.random.default_rng(sum(self.shape))
        if not self.is_float:
            return random.integers(0, 7, self.shape).astype(self.dtype)
        x = random.uniform(0.5, 1.5, self.shape) if self.body == "mul" else random.standard_normal(self.shape)
        if self.specials:
            x = np.where(random.random(self.shape) < 0.1, random.choice([np.nan, np.inf, -np.inf], self.shape), x)
        return x.astype(self.dtype)

    @property
    def is_float(self) -> bool:
        return self.kind.startswith(("float", "bfloat"))

    def initial(self) -> Any:
        if self.start is not None:
            return np.asarray(self.start, self.dtype)
        if self.body in ("add", "mul"):
            return np.asarray(self.body == "mul", self.dtype)
        if self.is_float:
            return np.asarray(-np.inf if self.body == "max" else np.inf, self.dtype)
        limits = np.iinfo(self.dtype)
        return np.asarray(limits.min if self.body == "max" else limits.max, self.dtype)

    def apply(self, x: Any) -> Any:
        dilations = tuple(self.dilation if size > 1 else 1 for size in self.window)
        return lax.reduce_window(
            x, self.initial(), COMBINE[self.body], self.window, self.strides, self.padding, (1,) * len(self.shape), dilations
        )


def square(shape: tuple[int, ...], size: int, step: int, padding: tuple[int, int], **more: Any) -> Pool:
    """The window over the last two dimensions."""
    outer = len(shape) - 2
    return Pool(shape, (1,) * outer + (size,) * 2, (1,) * outer + (step,) * 2, ((0, 0),) * outer + (padding,) * 2, **more)


POOLS = [
    square((2, 3, 20, 33), 3, 2, (1, 1)),
    square((2, 3, 20, 33), 3, 2, (1, 1), specials=True),
    square((3, 20, 34), 2, 2, (0, 0), specials=True),
    square((3, 20, 34), 2, 2, (0, 1), body="min", specials=True),
    square((3, 17, 17), 3, 2, (0, 2), body="add"),
    square((3, 17, 19), 3, 1, (1, 1), body="mul"),
    square((3, 17, 17), 5, 1, (2, 2), dilation=1, body="min"),
    square((2, 24, 40), 3, 1, (2, 2), dilation=2),
    square((2, 24, 40), 3, 3, (3, 3), dilation=3),
    square((4, 20, 20), 13, 1, (6, 6), specials=True),
    square((3, 20, 50), 7, 5, (3, 3)),
    square((3, 20, 50), 3, 2, (0, 0), body="add", start=2.5),
    square((3, 20, 50), 3, 2, (1, 1), start=0.5),
    square((3, 20, 50), 2, 2, (1, 1)),
    square((3, 3, 3), 3, 1, (1, 1)),
    square((3, 1, 1), 3, 1, (1, 1)),
    square((3, 2, 70), 5, 1, (2, 2), body="add"),
    Pool((3, 500), (1, 2), (1, 2), ((0, 0), (0, 0))),
    Pool((3, 501), (1, 5), (1, 3), ((0, 0), (2, 2)), "add"),
    Pool((2, 9000), (1, 3), (1, 1), ((0, 0), (1, 1))),
    Pool((2, 9000), (1, 4), (1, 2), ((0, 0), (0, 0)), "add"),
    Pool((3, 501), (1, 5), (1, 3), ((0, 0), (0, 0)), specials=True),
    Pool((3, 501), (1, 23), (1, 2), ((0, 0), (0, 0)), "add", start=2.5),
    Pool((3, 502), (1, 2), (1, 5), ((0, 0), (0, 0)), "add"),
    Pool((40,), (4,), (4,), ((1, 3),), "min"),
    Pool((2, 7, 9, 21), (1, 3, 3, 3), (1, 2, 2, 2), ((0, 0), (1, 1), (1, 1), (1, 1)), specials=True),
    Pool((2, 7, 9, 24), (1, 3, 2, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (0, 1), (0, 0))),
    Pool((2, 12, 13, 40), (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (1, 1), (0, 0)), specials=True),
    Pool((2, 12, 13, 3), (1, 3, 3, 1), (1, 1, 1, 1), ((0, 0), (1, 1), (1, 1), (0, 0)), "add"),
    Pool((9, 12, 40), (1, 3, 1), (1, 1, 1), ((0, 0), (1, 1), (0, 0))),
    Pool((9, 12, 40), (3, 3, 3), (1, 1, 2), ((1, 1), (1, 1), (1, 1)), "add"),
    *(square((3, 15, 37), 3, 2, (1, 1), kind=kind) for kind in ("int8", "uint8", "int32", "float64", *HALVES)),
    *(square((3, 15, 37), 3, 2, (1, 1), kind=kind, body="add") for kind in ("int32", "float64", *HALVES)),
    *(square((3, 15, 37), 3, 2, (1, 1), kind=kind, body="min", specials=kind in HALVES) for kind in ("uint32", *HALVES)),
    square((3, 16, 64), 2, 2, (0, 0), kind="bfloat16", specials=True),
    square((3, 16, 64), 2, 2, (0, 0), kind="int8"),
    *(Pool((3, 303), (1, 3), (1, 2), ((0, 0), (0, 0)), kind=kind) for kind in ("int8", *HALVES)),
]


def wide(pool: Pool) -> Pool:
    """The pool in f32 where it adds or multiplies halves."""
    return replace(pool, kind="float32") if pool.kind in HALVES and pool.body in ("add", "mul") else pool


def check(pools: list[Pool], target: str) -> None:
    """One program of all pools. Sums and products of halves are rounded once, XLA's after each step: those of f32 are their measure."""
    arrays = [pool.array() for pool in pools]

    def program(*arrays: Any) -> Any:
        return [pool.apply(x) for pool, x in zip(pools, arrays)]

    with jax.enable_x64(True):
        found = hloom.compile(program, *arrays, target=target)(*arrays)
        expected = [wide(pool).apply(x.astype(wide(pool).dtype)) for pool, x in zip(pools, arrays)]
    for pool, result, exact in zip(pools, found, expected, strict=True):
        result, exact = (np.asarray(value).astype(np.float64) for value in (result, exact))
        if pool.body in ("max", "min") or not pool.is_float:
            np.testing.assert_array_equal(result, exact, err_msg=str(pool))
        else:
            bound = {"float16": 4e-3, "bfloat16": 3e-2}.get(pool.kind, 1e-5)
            np.testing.assert_allclose(result, exact, rtol=bound, atol=bound, err_msg=str(pool))


@pytest.mark.parametrize("target", TARGETS)
def test_pools(target):
    check(POOLS, target)


WIDENED = [
    Pool((2, 13, 11, 24), (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (1, 1), (0, 0)), "add"),
    Pool((2, 12, 13, 70), (1, 3, 2, 1), (1, 1, 2, 1), ((0, 0), (2, 1), (0, 1), (0, 0)), "max", specials=True),
    square((2, 3, 17, 37), 3, 2, (1, 1), body="add"),
    square((3, 9, 33), 5, 1, (2, 2), body="mul"),
    Pool((3, 501), (1, 5), (1, 3), ((0, 0), (2, 2)), "min"),
]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", HALVES)
def test_halves_that_are_widened(kind, target):
    """As torch averages them: padded as they lie, summed in f32."""
    arrays = [replace(pool, kind=kind).array() for pool in WIDENED]

    def program(*arrays: Any) -> Any:
        return [pool.apply(x.astype(np.float32)) for pool, x in zip(WIDENED, arrays)]

    for pool, result, exact in zip(WIDENED, hloom.compile(program, *arrays, target=target)(*arrays), program(*arrays), strict=True):
        np.testing.assert_allclose(result, exact, rtol=1e-5, atol=1e-5, err_msg=str(pool))


@st.composite
def any_pool(draw) -> Pool:
    rank = draw(st.integers(1, 4))
    window = tuple(draw(st.lists(st.sampled_from([1, 1, 2, 3, 4, 5]), min_size=rank, max_size=rank)))
    strides = tuple(draw(st.lists(st.sampled_from([1, 1, 2, 3, 5]), min_size=rank, max_size=rank)))
    padding = tuple(draw(st.lists(st.tuples(*[st.integers(0, 4)] * 2), min_size=rank, max_size=rank)))
    dilation = draw(st.integers(1, 2))
    reach = [(n - 1) * (dilation if n > 1 else 1) + 1 for n in window]
    shape = tuple(max(draw(st.integers(1, 12)), r - sum(p)) for r, p in zip(reach, padding))
    kind = draw(st.sampled_from(["float32", "float32", "int8", "int32", "float64", *HALVES]))
    body = draw(st.sampled_from(["max", "min", "add"]))
    return Pool(shape, window, strides, padding, body, kind, dilation, draw(st.booleans()) and body != "add")


@settings(max_examples=3, deadline=None)
@given(st.lists(any_pool(), min_size=6, max_size=6))
def test_any_pool(pools):
    check(pools, "cpu-avx2")


def test_parts_of_images_with_the_channels_last():
    """Adaptive pools whose parts are of unequal sizes and overlap, with infinities and a NaN, as torch has them."""
    torch.manual_seed(3)
    x = torch.randn(2, 20, 13, 17)
    x[0, 3, 2, 5], x[1, 7, 12, 16], x[1, 0, 0, 0] = torch.inf, -torch.inf, torch.nan
    for layer in (torch.nn.AdaptiveAvgPool2d((5, 7)), torch.nn.AdaptiveMaxPool2d((7, 3)), torch.nn.AdaptiveAvgPool2d((13, 4))):
        for image in (x, x.contiguous(memory_format=torch.channels_last)):
            torch.testing.assert_close(hloom.compile(layer, image)(image), layer(image), equal_nan=True)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("columns", [1, 2])
def test_a_sum_and_a_maximum_of_the_same_windows(target: str, columns: int) -> None:
    """They could be one nest of row sums, which would read what the windows have of the padding."""
    x = np.random.default_rng(0).standard_normal((7, 3)).astype(np.float32)

    def both(x):
        spans = {"window_dimensions": (3, columns), "window_strides": (2, 3), "padding": ((2, 2), (0, 0))}
        return lax.reduce_window(x, -np.inf, lax.max, **spans) + lax.reduce_window(x, 0.0, lax.add, **spans)

    np.testing.assert_allclose(hloom.compile(both, x, target=target)(x), jax.jit(both)(x), rtol=1e-5)
