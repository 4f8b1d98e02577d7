"""Linear indices against plain integers, and what they read of affine maps."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch_mlir import ir

from hloom.passes.common.linear_index import LinearIndex, Loop, NotLinear, linear_results
from hloom.passes.gpu.tile.tensor_reads import Strides

NUMBERS = st.integers(-20, 20)
INDICES = st.builds(LinearIndex, st.dictionaries(st.integers(0, 3), NUMBERS), NUMBERS, st.integers(0, 2))
POINTS = st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS)


def value(index: LinearIndex, point: tuple[int, ...], lane: int = 0) -> int:
    return index.constant + sum(c * point[v] for v, c in index.terms.items()) + lane * index.lanes


@given(INDICES, INDICES, NUMBERS, POINTS, st.integers(0, 3))
def test_arithmetic_is_that_of_integers(a, b, k, point, lane):
    assert value(a + b, point, lane) == value(a, point, lane) + value(b, point, lane)
    assert value(a - b, point, lane) == value(a, point, lane) - value(b, point, lane)
    assert value(a * k, point, lane) == value(a, point, lane) * k
    assert value(a + k, point, lane) == value(a, point, lane) + k
    assert value(a.uniform(), point) == value(a, point) and all((a + b).terms.values())


@given(INDICES, INDICES)
def test_equal_whatever_the_order_of_addition(a, b):
    assert a + b == b + a and hash(a + b) == hash(b + a)
    assert a + 1 != a and a != 0


@given(INDICES, st.sampled_from([1, 2, 4, 8]), POINTS)
def test_alignment_divides_every_value(a, limit, point):
    assert value(a, point) % a.uniform().alignment(limit) == 0


@given(INDICES, st.tuples(INDICES, INDICES, INDICES, INDICES), POINTS)
def test_variables_are_replaced(a, images, point):
    at = tuple(value(image, point) for image in images)
    assert value(a.at(dict(enumerate(images))), point) == value(a, at)
    assert value(a.without(1), point) == value(a, point) - a.coefficient(1) * point[1]


def read(text: str, kind: type[LinearIndex] = LinearIndex) -> list[LinearIndex] | None:
    with ir.Context():
        affine_map = ir.AffineMapAttr(ir.Attribute.parse(f"affine_map<(d0, d1) -> ({text})>")).value
        return linear_results(affine_map, [kind({0: 1}), kind({1: 1})])


def test_linear_results_of_a_map():
    found = read("d0 * 3 + d1 + 5, 7, d1 - d0")
    assert found == [LinearIndex({0: 3, 1: 1}, 5), LinearIndex(constant=7), LinearIndex({1: 1, 0: -1})]
    for point in itertools.product(range(3), repeat=2):
        assert [value(index, point) for index in found] == [point[0] * 3 + point[1] + 5, 7, point[1] - point[0]]
    assert read("d0, d0 floordiv 4") is None and read("(d0 + d1) mod 4") is None


def test_strides_of_quotients_and_remainders():
    assert read("(d0 * 2 + d1) mod 8 + d0 floordiv 4", Strides) == [LinearIndex({0: 2, 1: 1})]


def test_quotients_of_loops_whose_extents_are_known():
    high, low = Loop(0, 3), Loop(1, 4)
    index = LinearIndex({high: 4, low: 1}, 8)
    assert index // 4 == LinearIndex({0: 1}, 2) and index % 4 == LinearIndex({1: 1})
    with pytest.raises(NotLinear) as error:
        index // 2
    assert (error.value.loop, error.value.inner) == (low, 2)  # were it two loops of two, the outer one would be it
    with pytest.raises(NotLinear):
        LinearIndex({Loop(0, 4): 4, Loop(1, 5): 1}) // 4
