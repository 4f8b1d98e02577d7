"""Sorts on a simulated GPU: the bits that the CPU's sorts give, whose tests are in test_sort.py."""

from __future__ import annotations

import numpy as np
import pytest
from numerics.test_sort import NO_ORDERS, TYPES, sort_text, spread, ties

import hloom

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")


def agree(function, *arrays, target: str = "sim:sm_90a") -> None:
    """The simulated GPU's results have the bits of the CPU's."""
    got, wanted = (jax.tree.leaves(hloom.compile(function, *arrays, target=t)(*arrays)) for t in (target, "auto"))
    for number, (g, w) in enumerate(zip(got, wanted, strict=True)):
        g, w = np.asarray(g), np.asarray(w)
        assert (g.dtype, g.shape) == (w.dtype, w.shape)
        assert g.tobytes() == w.tobytes(), f"result {number}"


def test_every_type():
    arrays = [part for dtype in TYPES for part in (ties((2, 90), dtype), spread((9, 7), dtype))]
    agree(lambda *xs: [(jnp.sort(x), jnp.argsort(x, descending=True)) for x in xs], *arrays)


def test_every_length():
    """Several rows in a block, a row in a block, and runs of rows that are merged; one row more than a block has."""
    arrays = [ties((rows, length), np.float32) for rows, length in ((3, 1), (300, 2), (3, 11), (5, 65), (3, 2048), (2, 2049), (1, 5000))]
    agree(lambda *xs: [(jnp.sort(x), jnp.argsort(x)) for x in xs], *arrays)


def test_comparators_of_several_keys():
    arrays = [ties((2, length), np.float32) for length in (40, 4100)]
    agree(lambda *xs: [jax.lax.sort((x, -x, jnp.arange(x.size).reshape(x.shape)), num_keys=2) for x in xs], *arrays)


def test_doubles():
    with jax.enable_x64(True):
        agree(lambda x, i: (jnp.argsort(x), jnp.sort(i)), ties((2, 2100), np.float64), spread((2, 100), np.int64))


@pytest.mark.parametrize("length", [50, 5000, 9000])
def test_few_of_many(length):
    agree(lambda x: [jax.lax.top_k(x, k) for k in (1, 13, length // 4)], ties((2, length), np.float32))


def test_functions_of_jax():
    def functions(x):
        return (
            jnp.median(x, axis=1),
            jnp.lexsort((x[0], x[1])),
            jnp.sort(x, axis=0),
            jax.lax.sort((jnp.zeros_like(x), x), num_keys=1),
            jnp.sort(x[:0]),
            jax.lax.fori_loop(0, 3, lambda i, v: jnp.sort(v, axis=0) * 1.5 + v[::-1], x),
        )

    agree(functions, np.random.default_rng(0).integers(-20, 20, (6, 75)).astype(np.float32))


@pytest.mark.parametrize("name", ["always", "LE", "NE", "of two arrays"])
def test_no_strict_weak_order_ends_in_a_permutation(name):
    """In a block; and in longer rows nothing is read that is not there."""
    for length in (333, 2300):
        arrays = [ties((2, length), np.float32), np.tile(np.arange(length, dtype=np.float32), (2, 1))]
        found = hloom.compile(sort_text(f"2x{length}", NO_ORDERS[name], arrays=2), target="sim:sm_90a")(*arrays)
        for row in range(2 if length < 2048 else 0):
            places = found[1][row].astype(int)
            np.testing.assert_array_equal(np.sort(places), np.arange(length))
            np.testing.assert_array_equal(found[0][row].view(np.int32), arrays[0][row][places].view(np.int32))
