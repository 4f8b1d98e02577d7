"""Ops that StableHLO keeps for older producers, against NumPy: the interpreter ends the process on most of them."""

from __future__ import annotations

import numpy as np
import pytest
from programs import Program, integers

import hloom


@pytest.fixture
def random():
    return np.random.default_rng(0)


EINSUMS = [
    ("ij,jk->ik", (2, 3), (3, 4)),
    ("bij,bjk->bki", (2, 3, 4), (2, 4, 5)),
    ("ij,ij->", (3, 4), (3, 4)),
    ("i,j->ji", (3,), (4,)),
    ("ijk,k->j", (2, 3, 4), (4,)),
    ("...ij,...jk->...ik", (2, 5, 3, 4), (2, 5, 4, 2)),
    ("b...i,i->...b", (2, 3, 4, 5), (5,)),
    ("iij,j->ij", (3, 3, 4), (4,)),
    ("abc,cd->abd", (2, 3, 4), (4, 5)),
    ("ij,jk", (2, 3), (3, 4)),
    (",i->i", (), (3,)),
    ("ij,kl->iljk", (2, 3), (4, 2)),
]


def test_einsum(random, interpreter):
    p = Program()
    for config, left, right in EINSUMS:
        x, y = (random.integers(-4, 5, shape).astype(np.float32) for shape in (left, right))
        want = np.einsum(config, x, y)
        value = p.op("einsum", [p.input(x), p.input(y)], want.shape, attributes=f'einsum_config = "{config}"')
        p.check(config, value, want)
    for config, shape in (("ij->ji", (2, 3)), ("ijk->k", (2, 3, 4)), ("ii->i", (3, 3)), ("iji->", (2, 3, 2))):
        x = random.integers(-4, 5, shape).astype(np.float32)
        want = np.asarray(np.einsum(config, x))
        p.check(config, p.op("unary_einsum", [p.input(x)], want.shape, attributes=f'einsum_config = "{config}"'), want)
    p.verify(interpreter)


@pytest.mark.parametrize("config", ["ij,jk->ikz", "ij->ij", "ijk,jk->i", "ij,jk->ikk", "i1,jk->ik"])
def test_a_wrong_einsum_is_refused(config):
    text = f"""func.func @main(%x: tensor<2x3xf32>, %y: tensor<3x4xf32>) -> tensor<2x4xf32> {{
      %0 = "stablehlo.einsum"(%x, %y) {{einsum_config = "{config}"}} : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
      return %0 : tensor<2x4xf32> }}"""
    with pytest.raises(hloom.InvalidProgramError, match="einsum"):
        hloom.compile(text)


def test_index_select(random, interpreter):
    p = Program()
    x = random.standard_normal((3, 5, 4)).astype(np.float32)
    value = p.input(x)
    for dim in range(3):
        for shape in ((), (6,), (2, 3)):
            places = random.integers(0, x.shape[dim], shape).astype(np.int32)
            want = np.take(x, places, dim)
            taken = p.op("torch_index_select", [value, p.input(places)], want.shape, attributes=f"dim = {dim} : i64, batch_dims = 0 : i64")
            p.check(f"{shape} along {dim}", taken, want)
    places = random.integers(0, 5, (3, 2)).astype(np.int64)
    want = np.stack([row[at] for row, at in zip(x, places)])
    p.check(
        "batched", p.op("torch_index_select", [value, p.input(places)], want.shape, attributes="dim = 1 : i64, batch_dims = 1 : i64"), want
    )
    want = np.stack([row[:, at] for row, at in zip(x, places % 4)])
    taken = p.op("torch_index_select", [value, p.input(places % 4)], want.shape, attributes="dim = 2 : i64, batch_dims = 1 : i64")
    p.check("batched, along the last", taken, want)
    p.verify(interpreter)


def test_dot_broadcast_and_cross_replica_sum(random, interpreter):
    p = Program()
    x, y = random.integers(-4, 5, (2, 3)).astype(np.float32), random.integers(-4, 5, (3, 4)).astype(np.float32)
    left, right = p.input(x), p.input(y)
    p.check("dot", p.op("dot", [left, right], (2, 4)), x @ y)
    p.check(
        "broadcast",
        p.op("broadcast", [left], (4, 1, 2, 3), attributes="broadcast_sizes = array<i64: 4, 1>"),
        np.broadcast_to(x, (4, 1, 2, 3)),
    )
    groups = "replica_groups = dense<0> : tensor<1x1xi64>"
    p.check("cross-replica-sum", p.op("cross-replica-sum", [left], attributes=groups), x)
    p.verify(interpreter)


def test_map(random, interpreter):
    p = Program()
    x, y = (random.standard_normal((3, 5)).astype(np.float32) for _ in "xy")
    left, right = p.input(x), p.input(y)
    scalar = ((), "f32")

    def affine(a, b):
        return p.op("add", [p.op("multiply", [a, b]), p.constant(np.float32(2))])

    def sign(a):
        zero = p.constant(np.float32(0))
        return p.op("compare", [a, zero], element="i1", attributes="comparison_direction = #stablehlo<comparison_direction GT>")

    def looped(a, b):
        """As often as fits, and a branch on the way: other than elementwise."""

        def halve(v):
            return p.op("multiply", [v, p.constant(np.float32(0.5))])

        small = p.constant(np.float32(0.25))
        greater = "comparison_direction = #stablehlo<comparison_direction GT>"
        again = p.region([scalar], lambda v: p.op("compare", [v, small], element="i1", attributes=greater))
        size = p.op("abs", [a])
        halved = p.op("while", [size], regions=[again, p.region([scalar], halve)])
        return p.op("if", [sign(b)], element="f32", regions=[p.region([], lambda: halved), p.region([], lambda: b)])

    dimensions = f"dimensions = {integers([0, 1])}"
    region = p.region([scalar, scalar], affine)
    p.check("elementwise", p.op("map", [left, right], attributes=dimensions, regions=[region]), x * y + np.float32(2), ulps=1)
    p.check("to i1", p.op("map", [left], element="i1", attributes=dimensions, regions=[p.region([scalar], sign)]), x > 0)
    constant = p.region([scalar], lambda a: p.constant(np.float32(7)))
    p.check("constant", p.op("map", [left], attributes=dimensions, regions=[constant]), np.full_like(x, 7))
    p.check("itself", p.op("map", [left, right], attributes=dimensions, regions=[p.region([scalar, scalar], lambda a, b: b)]), y)
    halved = np.abs(x) * np.float32(0.5) ** np.maximum(np.ceil(np.log2(np.abs(x) / 0.25)), 0).astype(np.float32)
    looping = p.op("map", [left, right], attributes=dimensions, regions=[p.region([scalar, scalar], looped)])
    p.check("a loop and a branch", looping, np.where(y > 0, halved, y).astype(np.float32))
    p.verify(interpreter)
