"""Ops whose padding, starts and sizes are arguments, and whose result has a known shape: against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from programs import Program, integers

import hloom


@pytest.fixture
def random():
    return np.random.default_rng(0)


def padded(x, filling, low, interior, shape):
    """Element by element, as the specification says."""
    out = np.full(shape, filling, x.dtype)
    for place in np.ndindex(*x.shape):
        at = tuple(lo + i * (gap + 1) for lo, i, gap in zip(low, place, interior))
        if all(0 <= a < n for a, n in zip(at, shape)):
            out[at] = x[place]
    return out


PADDINGS = [
    ([1, 2], [0, 1], [0, 0]),
    ([-1, 0], [2, 3], [1, 2]),
    ([0, -2], [-1, 1], [0, 1]),
    ([0, 0], [0, 0], [0, 0]),
    ([-3, 9], [5, -1], [2, 0]),
]


def test_pad(random, interpreter):
    p = Program()
    x = random.standard_normal((3, 4)).astype(np.float32)
    value, filling = p.input(x), p.input(np.float32(7))
    for low, high, interior in PADDINGS:
        shape = [lo + n + max(n - 1, 0) * gap + hi for n, lo, hi, gap in zip(x.shape, low, high, interior)]
        numbers = [p.input(np.array(n, np.int32)) for n in (low, high, interior)]
        p.check(f"{low} {high} {interior}", p.op("dynamic_pad", [value, filling, *numbers], shape), padded(x, 7, low, interior, shape))
    empty = p.input(np.zeros((0, 4), np.float32))
    numbers = [p.input(np.array(n, np.int32)) for n in ([1, 0], [1, 0], [0, 0])]
    p.check("nothing", p.op("dynamic_pad", [empty, filling, *numbers], (2, 4)), np.full((2, 4), 7, np.float32))
    p.verify(interpreter)


def test_slice(random, interpreter):
    p = Program()
    x = random.standard_normal((6, 9)).astype(np.float32)
    value = p.input(x)
    for start, limit, stride in (([0, 0], [6, 9], [1, 1]), ([1, 2], [5, 9], [2, 3]), ([2, 8], [3, 9], [1, 1]), ([3, 0], [3, 9], [1, 4])):
        want = x[tuple(slice(*each) for each in zip(start, limit, stride))]
        numbers = [p.input(np.array(n, np.int32)) for n in (start, limit, stride)]
        p.check(f"{start} {limit} {stride}", p.op("real_dynamic_slice", [value, *numbers], want.shape), want)
    p.verify(interpreter)


def test_gather(random, interpreter):
    p = Program()
    x = random.standard_normal((5, 6)).astype(np.float32)
    places = np.array([4, 0, 2], np.int32)
    numbers = "#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>"
    given = [p.input(x), p.input(places), p.input(np.array([1, 6], np.int32))]
    p.check("rows", p.op("dynamic_gather", given, (3, 6), attributes=f"dimension_numbers = {numbers}"), x[places])
    p.verify(interpreter)


def test_convolution(random, interpreter):
    p = Program()
    x, w = random.integers(-3, 4, (1, 5, 6, 2)).astype(np.float32), random.integers(-3, 4, (2, 3, 2, 3)).astype(np.float32)
    left, right = p.input(x), p.input(w)
    numbers = "dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>"
    numbers += ", feature_group_count = 1 : i64, batch_group_count = 1 : i64"
    for padding, strides, gaps in (
        ([[1, 0], [1, 1]], [1, 1], [1, 1]),
        ([[0, 2], [2, 2]], [2, 1], [1, 2]),
        ([[-1, 1], [0, 0]], [1, 2], [2, 1]),
    ):
        attributes = f"{numbers}, window_strides = {integers(strides)}, lhs_dilation = {integers(gaps)}"
        pairs = np.array(padding, np.int32)
        total = [lo + (n - 1) * gap + 1 + hi for n, (lo, hi), gap in zip((5, 6), padding, gaps)]
        full = padded(x[0], 0, [padding[0][0], padding[1][0], 0], [gaps[0] - 1, gaps[1] - 1, 0], (*total, 2))
        windows = np.lib.stride_tricks.sliding_window_view(full, (2, 3), (0, 1))[:: strides[0], :: strides[1]]
        want = np.einsum("hwcij,ijco->hwo", windows, w)[None].astype(np.float32)
        p.check(f"{padding} {strides} {gaps}", p.op("dynamic_conv", [left, right, p.input(pairs)], want.shape, attributes=attributes), want)
    p.verify(interpreter)


def test_shapes_that_are_operands(random, interpreter):
    p = Program()
    x = random.standard_normal((2, 3)).astype(np.float32)
    value = p.input(x)
    shape = p.input(np.array([3, 2], np.int32))
    p.check("reshape", p.op("dynamic_reshape", [value, shape], (3, 2)), x.reshape(3, 2))
    p.check("iota", p.op("dynamic_iota", [shape], (3, 2), "i32", "iota_dimension = 0 : i64"), np.indices((3, 2), np.int32)[0])
    wide = p.input(np.array([4, 2, 3], np.int64))
    spread = p.op("dynamic_broadcast_in_dim", [value, wide], (4, 2, 3), attributes=f"broadcast_dimensions = {integers([1, 2])}")
    p.check("broadcast", spread, np.broadcast_to(x, (4, 2, 3)))
    size = p.op("get_dimension_size", [value], (), "i32", "dimension = 1 : i64")
    p.check("size", size, np.int32(3).reshape(()))
    p.check("the size that is there", p.op("set_dimension_size", [value, size], (2, 3), attributes="dimension = 1 : i64"), x)
    p.verify(interpreter)


def test_a_size_that_is_computed_is_refused():
    text = """func.func @main(%x: tensor<2x3xf32>, %n: tensor<i32>) -> tensor<2x3xf32> {
      %0 = stablehlo.set_dimension_size %x, %n, dim = 1 : (tensor<2x3xf32>, tensor<i32>) -> tensor<2x3xf32>
      return %0 : tensor<2x3xf32> }"""
    with pytest.raises(hloom.UnsupportedOpError, match="set_dimension_size") as caught:
        hloom.compile(text)
    assert "static shapes" in caught.value.remedy


@pytest.fixture(scope="module")
def pad():
    text = """func.func @main(%x: tensor<7xi32>, %v: tensor<i32>, %l: tensor<1xi64>, %h: tensor<1xi64>, %i: tensor<1xi64>)
        -> tensor<20xi32> {
      %0 = stablehlo.dynamic_pad %x, %v, %l, %h, %i
        : (tensor<7xi32>, tensor<i32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<20xi32>
      return %0 : tensor<20xi32> }"""
    return hloom.compile(text)


@settings(max_examples=60, deadline=None)
@given(st.integers(-12, 25), st.integers(0, 5))
def test_any_padding(pad, low, interior):
    x = np.arange(1, 8, dtype=np.int32)
    high = 20 - low - 7 - 6 * interior
    numbers = [np.array([n], np.int64) for n in (low, high, interior)]
    np.testing.assert_array_equal(pad(x, np.int32(-1), *numbers), padded(x, -1, [low], [interior], (20,)))
