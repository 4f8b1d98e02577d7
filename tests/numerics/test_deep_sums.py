"""Products whose sums are so long that the rows of both operands are read some at a time: gradients by the weights of linear layers."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

import hloom
from hloom.compiler.target import host, load_target

TARGETS = ["cpu-avx2"] + (["cpu-avx512"] if host().vector_bits >= load_target("cpu-avx512").vector_bits else [])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("depth", "rows", "columns"), [(1024, 33, 40), (1025, 64, 64), (1300, 33, 40), (1408, 7, 130), (5000, 100, 9)])
def test_products_of_many_rows(target: str, depth: int, rows: int, columns: int) -> None:
    """What is added to the first rows' sums is added once, and the last rows, fewer than the others, are not left out."""
    generator = np.random.default_rng(depth)
    x, g, bias = (generator.standard_normal(shape, np.float32) for shape in ((depth, rows), (depth, columns), (rows, columns)))
    found = hloom.compile(lambda x, g, bias: jnp.tanh((x.T @ g + bias) / depth), x, g, bias, target=target)(x, g, bias)
    expected = np.tanh((x.astype(np.float64).T @ g + bias) / depth)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)


@pytest.mark.parametrize("target", [*TARGETS, "auto"])
@pytest.mark.parametrize(("rows", "depth", "columns"), [(130, 1500, 200), (150, 2049, 64), (67, 4100, 132), (700, 1025, 320)])
@pytest.mark.parametrize("bound", [True, False])
def test_rows_of_many_steps(target: str, rows: int, depth: int, columns: int, bound: bool) -> None:
    """Rows that L2 does not hold are read part by part for all columns of a tile; the last part is shorter."""
    generator = np.random.default_rng(rows)
    x, w, bias = (generator.standard_normal(shape, np.float32) for shape in ((rows, depth), (depth, columns), columns))
    executable = hloom.compile(
        lambda x, w, bias: jnp.maximum(x @ w / 64 + bias, 0), x, w, bias, target=target, bind={1: w} if bound else None
    )
    found = executable(x, bias) if bound else executable(x, w, bias)
    expected = np.maximum(x.astype(np.float64) @ w / 64 + bias, 0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("depth", "rows", "columns"), [(8705, 20, 64), (9000, 33, 70), (16896, 150, 24), (20001, 8, 250)])
@pytest.mark.parametrize("form", ["mk,kn->mn", "mk,nk->mn", "km,nk->mn", "km,kn->mn"])
def test_sums_longer_than_a_panel(target: str, form: str, depth: int, rows: int, columns: int) -> None:
    """No panel of all steps fits the cache: each part of the sum is packed, added once, and the last part is shorter."""
    generator = np.random.default_rng(depth)
    extents = {"m": rows, "k": depth, "n": columns}
    x, y = (generator.standard_normal([extents[axis] for axis in part], np.float32) for part in form.split("->")[0].split(","))
    bias = generator.standard_normal(columns, np.float32)
    found = hloom.compile(lambda x, y, bias: jnp.maximum(jnp.einsum(form, x, y) / 64 + bias, 0), x, y, bias, target=target)(x, y, bias)
    expected = np.maximum(np.einsum(form, x.astype(np.float64), y.astype(np.float64)) / 64 + bias, 0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("form", ["bmk,bnk->mn", "gbmk,gbnk->gmn", "bmk,bkn->mn"])
@pytest.mark.parametrize(
    ("images", "pixels", "rows", "columns"), [(5, 3000, 33, 70), (9, 700, 40, 129), (2, 9001, 130, 40), (3, 5000, 6, 64)]
)
def test_sums_over_images_and_pixels(target: str, form: str, images: int, pixels: int, rows: int, columns: int) -> None:
    """No panel of all images fits the cache: panels are of some of them, or of some pixels of one."""
    generator = np.random.default_rng(pixels)
    extents = {"g": 2, "b": images, "k": pixels, "m": rows, "n": columns}
    x, y = (generator.standard_normal([extents[axis] for axis in part], np.float32) for part in form.split("->")[0].split(","))
    found = hloom.compile(lambda x, y: jnp.einsum(form, x, y) / 64, x, y, target=target)(x, y)
    expected = np.einsum(form, x.astype(np.float64), y.astype(np.float64)) / 64
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("target", [*TARGETS, *(["cpu"] if host().bf16_dot else [])])
@pytest.mark.parametrize("depth", [8704, 16400, 33001])
@pytest.mark.parametrize("form", ["mk,kn->mn", "km,kn->mn"])
def test_long_sums_of_halves(target: str, form: str, depth: int) -> None:
    """Tiles are smaller, so that panels of all steps still fit the cache."""
    generator = np.random.default_rng(depth)
    extents = {"m": 70, "k": depth, "n": 100}
    parts = form.split("->")[0].split(",")
    x, y = (jnp.asarray(generator.standard_normal([extents[axis] for axis in part]), jnp.bfloat16) for part in parts)
    found = hloom.compile(lambda x, y: jnp.einsum(form, x, y, preferred_element_type=jnp.float32) / 64, x, y, target=target)(x, y)
    expected = np.einsum(form, np.asarray(x, np.float64), np.asarray(y, np.float64)) / 64
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)
