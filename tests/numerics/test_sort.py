"""What JAX and NumPy build on a sort, against them: the same bits."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hloom

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")

EDGES = [0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1.0, -1.0]


def ties(shape, dtype, seed=0) -> np.ndarray:
    """Few distinct values, and all that is special about floats."""
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iub":
        return rng.integers(0, 2 if dtype is bool else 9, shape).astype(dtype)
    return rng.choice(np.array([*EDGES, 2.5, -0.75]), shape).astype(dtype)


def spread(shape, dtype, seed=0) -> np.ndarray:
    """Any bits but those of subnormals, which XLA flushes to zero."""
    dtype = np.dtype(dtype)
    raw = np.random.default_rng(seed).integers(0, 256, (*shape, dtype.itemsize), np.uint8)
    if dtype.kind == "b":
        return (raw[..., 0] & 1).astype(bool)
    values = raw.view(dtype).reshape(shape)
    with np.errstate(invalid="ignore"):
        return values if dtype.kind in "iu" else np.where(np.abs(values) < ml_dtypes.finfo(dtype).smallest_normal, dtype.type(0.5), values)


def same(function, *arrays) -> None:
    """hloom's results have the bits of jax.jit's, any NaN for a NaN."""
    got, wanted = (jax.tree.leaves(f(*arrays)) for f in (hloom.compile(function, *arrays), jax.jit(function)))
    for g, w in zip(got, wanted, strict=True):
        g, w = np.asarray(g), np.asarray(w)
        assert (g.dtype, g.shape) == (w.dtype, w.shape)
        np.testing.assert_array_equal(*(x if x.dtype != ml_dtypes.bfloat16 else x.astype(np.float32) for x in (g, w)))
        if w.dtype.kind not in "iub":
            np.testing.assert_array_equal(np.signbit(g[~np.isnan(g)]), np.signbit(w[~np.isnan(w)]))


TYPES = [np.float32, np.float16, ml_dtypes.bfloat16, bool, np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32]


@pytest.mark.parametrize("dtype", TYPES, ids=[np.dtype(t).name for t in TYPES])
def test_every_type(dtype):
    arrays = [ties((2, 300), dtype), spread((3, 70), dtype)]
    same(lambda *xs: [(jnp.sort(x), jnp.argsort(x, descending=True)) for x in xs], *arrays)


@pytest.mark.parametrize("dtype", TYPES, ids=[np.dtype(t).name for t in TYPES])
def test_many_short_rows_of_every_type(dtype):
    arrays = [ties((300, 7), dtype), spread((5, 257), dtype)]
    same(lambda x, y: (jnp.sort(x), jnp.argsort(x), jnp.argsort(y, axis=0, descending=True), jnp.sort(y, axis=0)), *arrays)


@pytest.mark.parametrize("length", [2, 3, 4, 8, 9, 10, 16, 17])
def test_many_short_rows_of_every_length(length):
    x, y = ties((260, length), np.float32), ties((260, length), np.int32, 1)

    def several(x, y):
        middle = jnp.median(jnp.where(jnp.isnan(x), 0, x), axis=-1), jnp.sort(x)[:, -1], jnp.lexsort((x, y), axis=-1)
        return jnp.sort(x), jnp.argsort(x), jnp.argsort(x, descending=True), jax.lax.top_k(x, min(3, length)), middle

    same(several, x, y)


def test_short_rows_by_several_keys():
    x, y = ties((2, 150, 5), np.int32), ties((2, 150, 5), np.float32, 1)
    same(lambda x, y: jax.lax.sort((x, y, -y), num_keys=2), x, y)
    same(lambda x, y: jax.lax.sort((x, y), dimension=0, num_keys=1), x, y)
    same(lambda x, y: jnp.sort(x + 1j * y, axis=-1).real, x, ties((2, 150, 5), np.int32, 2))


def test_a_long_row():
    same(lambda x: (jnp.sort(x), jnp.argsort(x)), spread((9000,), np.float32))


@pytest.mark.parametrize("axis", [0, 1, 2, None])
def test_every_dimension(axis):
    same(lambda x: (jnp.sort(x, axis=axis), jnp.argsort(x, axis=axis)), ties((4, 90, 5), np.float32))


@pytest.mark.parametrize("length", [1, 2, 11, 12, 13, 24, 25, 63, 64, 65, 256, 257, 1000])
def test_every_length(length):
    x = ties((3, length), np.float32)
    same(lambda x: (jnp.sort(x), *jax.lax.sort((x, -x, jnp.arange(3 * length).reshape(3, length)), num_keys=2)), x)


@pytest.mark.parametrize("dtype", TYPES, ids=[np.dtype(t).name for t in TYPES])
def test_the_first_elements_of_every_type(dtype):
    arrays = [ties((2, 700), dtype), spread((2, 700), dtype), spread((1, 3000), dtype)]
    if np.dtype(dtype).kind not in "iub":  # XLA orders NaNs by their payloads, but not those of bf16
        arrays = [np.where(x == x, x, x.dtype.type(np.nan)) for x in arrays]
    same(lambda *xs: [jax.lax.top_k(x, k) for x in xs for k in (1, 30)], *arrays)


@settings(max_examples=6, deadline=None)
@given(st.integers(1, 60), st.integers(200, 1500), st.integers(0, 5), st.integers(0, 1 << 30))
def test_the_first_elements_of_any_row(first, length, distinct, seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((2, length)).astype(np.float32) if distinct == 0 else rng.integers(0, distinct, (2, length)).astype(np.float32)
    x[1].sort()  # every element comes before all that were read
    same(lambda x: (*jax.lax.top_k(x, first), *jax.lax.top_k(-x, first), jnp.sort(x)[:, :first]), x)


def test_the_first_elements_by_several_keys():
    x = ties((3, 900), np.float32)
    order = np.random.default_rng(5).permutation(900).astype(np.int32)
    same(lambda x, o: [r[:, :20] for r in jax.lax.sort((x, jnp.broadcast_to(o, x.shape), -x), num_keys=2)], x, order)


@pytest.mark.parametrize("dtype", TYPES, ids=[np.dtype(t).name for t in TYPES])
def test_rows_together(dtype):
    mixed = spread((70, 33), dtype)
    mixed[40] = ties((33,), dtype)  # one row leaves its block to another sort
    same(
        lambda *xs: [(jnp.sort(x), jnp.sort(x, descending=True)) for x in xs], spread((67, 20), dtype, 3), mixed, spread((300, 9), dtype, 4)
    )


@settings(max_examples=6, deadline=None)
@given(st.integers(1, 40), st.integers(2, 130), st.booleans())
def test_rows_of_any_length_together(rows, length, descending):
    x = np.random.default_rng(rows * length).standard_normal((rows, length)).astype(np.float32)
    same(lambda x: jnp.sort(x, descending=descending), x)


def test_of_doubles():
    with jax.enable_x64(True):
        for dtype in (np.float64, np.int64, np.uint64):
            x = np.concatenate([ties((2, 160), dtype), spread((2, 100), dtype)], axis=1)
            same(lambda x: (jnp.sort(x), jnp.argsort(x)), x)


FUNCTIONS = {
    "median": lambda x: jnp.median(x, axis=1),
    "quantile": lambda x: jnp.quantile(x, jnp.array([0.1, 0.5, 0.9]), axis=0),
    "percentile": lambda x: jnp.percentile(x, 30.0),
    "top_k": lambda x: jax.lax.top_k(x, 7),
    "lexsort": lambda x: jnp.lexsort((x[0], x[1])),
    "searchsorted": lambda x: jnp.searchsorted(jnp.sort(x[0]), x[1]),
    "sort of pairs": lambda x: jax.lax.sort((x, x[::-1], x + 1), num_keys=2, dimension=0),
    "unstable": lambda x: jax.lax.sort(x, is_stable=False),
    "in a loop": lambda x: jax.lax.fori_loop(0, 3, lambda i, v: jnp.sort(v, axis=0) * 1.5 + v[::-1], x),
    "of a splat": lambda x: jax.lax.sort((jnp.zeros_like(x), x), num_keys=1),
    "of nothing": lambda x: (jnp.sort(x[:0]), jnp.sort(x[:, :0])),
    "of a view": lambda x: jnp.sort(x[:, ::2].T),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_of_jax(name):
    same(FUNCTIONS[name], np.random.default_rng(0).integers(-20, 20, (6, 75)).astype(np.float32))


RANDOM = {
    "permutation": lambda key: jax.random.permutation(key, 1000),
    "choice": lambda key: jax.random.choice(key, 50, (20,), replace=False),
    "categorical": lambda key: jax.random.categorical(key, jnp.linspace(-1.0, 1.0, 30), shape=(8,)),
}


@pytest.mark.parametrize("name", RANDOM)
def test_random_functions_of_jax(name):
    same(lambda data: RANDOM[name](jax.random.wrap_key_data(data)), np.array([3, 4], np.uint32))


def sort_text(shape: str, compare: str, arrays: int = 1, stable: str = "false") -> str:
    """A sort of f32 arrays whose comparator ends in %c."""
    kinds = ", ".join([f"tensor<{shape}xf32>"] * arrays)
    names = ", ".join(f"%x{i}" for i in range(arrays))
    given = ", ".join(f"%x{i}: tensor<{shape}xf32>" for i in range(arrays))
    scalars = ", ".join(f"%{side}{i}: tensor<f32>" for i in range(arrays) for side in "ab")
    return f"""func.func @main({given}) -> ({kinds}) {{
      %r:{arrays} = "stablehlo.sort"({names}) <{{is_stable = {stable}}}> ({{
      ^bb0({scalars}):
        {compare}
        stablehlo.return %c : tensor<i1>
      }}) : ({kinds}) -> ({kinds})
      return {", ".join(f"%r#{i}" for i in range(arrays))} : {kinds}
    }}"""


def compared(direction: str, kind: str = "FLOAT", names: str = "%a0, %b0") -> str:
    return f"%c = stablehlo.compare {direction}, {names}, {kind} : (tensor<f32>, tensor<f32>) -> tensor<i1>"


TRUE, FALSE = (f"%c = stablehlo.constant dense<{b}> : tensor<i1>" for b in ("true", "false"))
NO_ORDERS = {
    "always": TRUE,
    "never": FALSE,
    "LE": compared("LE"),
    "NE": compared("NE"),
    "EQ": compared("EQ"),
    "LT": compared("LT"),
    "GE": compared("GE"),
    "of one side": compared("LT", names="%a0, %a0"),
    "of two arrays": compared("LT", names="%a0, %b1"),
}


@pytest.mark.parametrize("name", NO_ORDERS)
@pytest.mark.parametrize("length", [5, 40, 333])
def test_no_strict_weak_order_ends_in_a_permutation(name, length):
    arrays = [ties((2, length), np.float32), np.tile(np.arange(length, dtype=np.float32), (2, 1))]
    found = hloom.compile(sort_text(f"2x{length}", NO_ORDERS[name], arrays=2))(*arrays)
    for row in range(2):
        places = found[1][row].astype(int)
        np.testing.assert_array_equal(np.sort(places), np.arange(length))
        np.testing.assert_array_equal(found[0][row].view(np.int32), arrays[0][row][places].view(np.int32))


@pytest.mark.parametrize("name", NO_ORDERS)
def test_no_order_of_short_rows_ends_in_a_permutation(name):
    arrays = [ties((300, 5), np.float32), np.tile(np.arange(5, dtype=np.float32), (300, 1))]
    found, places = hloom.compile(sort_text("300x5", NO_ORDERS[name], arrays=2))(*arrays)
    np.testing.assert_array_equal(np.sort(places, axis=1), arrays[1])
    np.testing.assert_array_equal(found.view(np.int32), np.take_along_axis(arrays[0], places.astype(int), 1).view(np.int32))


@settings(max_examples=15, deadline=None)
@given(length=st.integers(1, 150), direction=st.sampled_from(["LT", "GT"]), seed=st.integers(0, 1000), swapped=st.booleans())
def test_total_order_is_that_of_the_bits(length, direction, seed, swapped):
    """NaNs by sign and payload outside of the infinities, -0 before 0; ties as they stood."""
    x = spread((2, length), np.float32, seed)
    x[1] = ties((length,), np.float32, seed)
    text = compared(direction, "TOTALORDER", "%b0, %a0" if swapped else "%a0, %b0")
    found, places = hloom.compile(sort_text(f"2x{length}", text, 2, "true"))(x, np.tile(np.arange(length, dtype=np.float32), (2, 1)))
    bits = x.view(np.int32).astype(np.int64)
    key = np.where(bits < 0, -(2**31) - 1 - bits, bits)
    order = np.argsort(key if (direction == "LT") != swapped else -key, axis=1, kind="stable")
    np.testing.assert_array_equal(places, order)
    np.testing.assert_array_equal(found.view(np.int32), np.take_along_axis(x, order, 1).view(np.int32))


def test_a_comparator_with_math():
    """Sorted by the sine, which no integer key stands for but its own."""
    x = np.random.default_rng(0).uniform(-9, 9, (4, 300)).astype(np.float32)
    sines = """%s = stablehlo.sine %a0 : tensor<f32>
        %t = stablehlo.sine %b0 : tensor<f32>
        %c = stablehlo.compare LT, %s, %t : (tensor<f32>, tensor<f32>) -> tensor<i1>"""
    found = hloom.compile(sort_text("4x300", sines))(x)
    assert np.all(np.diff(np.sin(found.astype(np.float64)), axis=1) > -1e-6)
    np.testing.assert_array_equal(np.sort(found), np.sort(x))


def test_a_value_from_outside_is_refused():
    text = sort_text("4", compared("LT", names="%a0, %o")).replace("%x0: tensor<4xf32>", "%x0: tensor<4xf32>, %o: tensor<f32>")
    with pytest.raises(hloom.UnsupportedOpError, match=r"HL101.*value from outside"):
        hloom.compile(text)
