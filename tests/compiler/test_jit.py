"""hloom.jit beside jax.jit: what calls take, transformations, and what is left to XLA."""

from __future__ import annotations

import warnings
from functools import partial

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402
from jax.experimental import io_callback  # noqa: E402

import hloom  # noqa: E402


@pytest.fixture(autouse=True)
def nothing_is_left_to_xla():
    with warnings.catch_warnings():
        warnings.filterwarnings("error", "hloom leaves")
        yield


def layer(x, w):
    return jnp.tanh(x @ w).sum(0)


def same(results, expected, tolerance=1e-5) -> None:
    got, wanted = jax.tree.leaves(results), jax.tree.leaves(expected)
    assert jax.tree.structure(results) == jax.tree.structure(expected)
    for result, value in zip(got, wanted, strict=True):
        assert (result.dtype, result.shape, result.weak_type) == (value.dtype, value.shape, value.weak_type)
        np.testing.assert_allclose(np.asarray(result), np.asarray(value), rtol=tolerance, atol=tolerance)


@pytest.fixture
def given():
    rng = np.random.default_rng(0)
    return jnp.asarray(rng.normal(size=(8, 16)), jnp.float32), jnp.asarray(rng.normal(size=(16, 4)), jnp.float32)


def test_trees_keywords_and_static_arguments():
    @partial(hloom.jit, static_argnums=2, static_argnames="kind")
    def function(tree, y, times, *, scale=1.0, kind="sum"):
        value = tree["x"] * times * scale + y[0]
        return {"made": getattr(jnp, kind)(value), "y": y, "none": None}, times

    def wanted(tree, y, times, scale=1.0, kind="sum"):
        value = tree["x"] * times * scale + y[0]
        return {"made": getattr(jnp, kind)(value), "y": y, "none": None}, jnp.asarray(times)

    tree, y = {"x": jnp.arange(3.0)}, (jnp.float32(2), jnp.arange(2))
    for times, keywords in ((2, {}), (3, {"scale": 2.5}), (3, {"kind": "max", "scale": jnp.float32(4)})):
        made, told = function(tree, y, times, **keywords)
        expected, number = wanted(tree, y, times, **keywords)
        same(made, expected)
        assert told == number


@pytest.mark.parametrize("of", [lambda f: f, jax.jit, lambda f: lambda x, w: f(np.asarray(x), w)], ids=["eager", "jit", "numpy"])
def test_calls(given, of):
    same(of(hloom.jit(layer))(*given), jax.jit(layer)(*given))


def total(f, x, w):
    return (f(x, w) ** 2).sum()


def steps(f, x, w):
    return jax.lax.scan(lambda carry, _: (carry + 0.1 * f(carry, w)[0], f(carry, w)), x, None, 3)


TRANSFORMATIONS = {
    "grad": lambda f: jax.grad(partial(total, f), (0, 1)),
    "grad of jit": lambda f: jax.jit(jax.value_and_grad(partial(total, f), 1)),
    "hessian": lambda f: jax.hessian(partial(total, f), 1),
    "jacrev": lambda f: jax.jacrev(f, 1),
    "jvp": lambda f: lambda x, w: jax.jvp(f, (x, w), (w.sum() * x, x.sum() * w)),
    "vmap": lambda f: lambda x, w: jax.vmap(f, (0, None))(jnp.stack([x, 2 * x]), w),
    "vmap of grad": lambda f: lambda x, w: jax.vmap(jax.grad(partial(total, f)), (0, None))(jnp.stack([x, 2 * x]), w),
    "grad of vmap": lambda f: lambda x, w: jax.grad(lambda w: jax.vmap(f, (0, None), 1)(jnp.stack([x, 2 * x]), w).sum())(w),
    "scan": lambda f: partial(steps, f),
    "grad of scan": lambda f: lambda x, w: jax.grad(lambda w: steps(f, x, w)[1].sum())(w),
    "closure": lambda f: lambda x, w: jax.grad(lambda s: hloom.jit(lambda w: f(x * s, w))(w).sum())(jnp.float32(2)),
    "checkpoint": lambda f: lambda x, w: jax.grad(lambda w: jax.checkpoint(f)(x, w).sum())(w),
    "nested": lambda f: hloom.jit(lambda x, w: f(x, w) * jax.grad(partial(total, f))(x, w).sum()),
    "linear": lambda f: lambda x, w: jax.linear_transpose(hloom.jit(lambda x: x @ w), x)(jnp.ones((8, 4))),
}  # fmt: skip


@pytest.mark.parametrize("name", TRANSFORMATIONS)
def test_transformations(given, name):
    if name == "hessian" and jax.__version_info__ < (0, 10, 1):
        pytest.skip("a linear part of older JAX holds tracers in its constants")
    of = TRANSFORMATIONS[name]
    same(of(hloom.jit(layer))(*given), of(layer)(*given), 1e-4)


def test_integers_have_no_gradients():
    @hloom.jit
    def function(x, i):
        return x[i] * 2, i + 1

    def gradient(f):
        return jax.grad(lambda x: f(x, jnp.array([1, 1, 2]))[0].sum())(jnp.arange(4.0))

    same(gradient(function), gradient(lambda x, i: (x[i] * 2, i + 1)))


def test_loops_that_end_at_a_turn_of_their_own_within_a_map():
    def halvings(x):
        return jax.lax.while_loop(lambda s: s[0] > 0.5, lambda s: (s[0] / 2, s[1] + 1), (x, 0))

    xs = np.linspace(0.1, 50, 23, dtype=np.float32)
    same(hloom.jit(partial(jax.lax.map, halvings))(xs), jax.lax.map(halvings, xs))
    key = jax.random.key(0)
    slope = jax.grad(lambda a: jax.random.gamma(key, a, (20,)).sum())
    same(hloom.jit(slope)(2.0), slope(2.0))


def test_random_keys():
    def function(key, x):
        key, part = jax.random.split(key)
        return key, x + jax.random.normal(part, x.shape)

    key, x = jax.random.key(3), jnp.zeros(5)
    (ours, made), (theirs, expected) = hloom.jit(function)(key, x), function(key, x)
    same((jax.random.key_data(ours), made), (jax.random.key_data(theirs), expected))


def test_custom_derivatives():
    @jax.custom_vjp
    def clipped(x):
        return x * 3

    clipped.defvjp(lambda x: (x * 3, None), lambda _, g: (jnp.clip(g, -1, 1),))
    same(jax.grad(lambda x: hloom.jit(clipped)(x).sum() * 5)(jnp.ones(3)), jnp.ones(3))


def test_what_jax_jit_has(given):
    function = hloom.jit(layer)
    compiled = function.lower(*given).compile()
    same(compiled(*given), layer(*given))
    assert "hloom" in function.lower(*given).as_text()
    assert function.eval_shape(*given).shape == (4,)
    donated = hloom.jit(lambda x: x + 1, donate_argnums=0)
    same(donated(jnp.ones(3)), jnp.ones(3) + 1)


def test_types():
    def function(x, b, c, h):
        return x > 1, b & (x > 0), c * 2, h + 1

    given = jnp.arange(3.0), jnp.array([True, False, True]), jnp.arange(3) + 1j, jnp.ones(3, jnp.bfloat16)
    same(hloom.jit(function)(*given), function(*given))


def printing(x):
    jax.debug.print("x is {}", x)
    return x + 1


def looping(x):
    return jax.lax.fori_loop(0, 2, lambda i, x: jax.lax.cond(i > 0, printing, lambda x: x * 10, x), x)


def silent(x):
    jax.debug.print("x is {}", x)


def twice(x):
    jax.debug.print("x is {}", x)
    jax.debug.print("x is {}", x)
    return x[:0]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("program", "printed"),
    [
        (hloom.jit(printing), ["1.0"]),
        (hloom.jit(looping), ["10.0"]),
        (hloom.jit(silent), ["1.0"]),
        (lambda x: hloom.jit(twice)(x[None]), ["[1.]", "[1.]"]),
        (jax.grad(hloom.jit(printing)), ["1.0"]),
        (hloom.jit(jax.grad(printing)), ["1.0"]),
        (lambda x: jax.vmap(hloom.jit(printing))(x + jnp.arange(2)), ["1.0", "2.0"]),
        (jax.jit(lambda x: [hloom.jit(printing)(x), hloom.jit(printing)(x)][:0]), ["1.0", "1.0"]),
        (lambda x: jax.lax.scan(lambda x, _: (hloom.jit(printing)(x), None), x, None, 2), ["1.0", "2.0"]),
        (lambda x: hloom.compile(looping, x)(x), ["10.0"]),
    ],
    ids="plain loop no-results same grad grad-inside vmap dropped scan compile".split(),
)
def test_prints(program, printed, capfd):
    """Each as often as XLA's program does it, whether or not somebody reads results."""
    jax.block_until_ready(program(jnp.float32(1)))
    jax.effects_barrier()
    assert sorted(capfd.readouterr().out.splitlines()) == [f"x is {each}" for each in printed]


@pytest.mark.parametrize(
    ("program", "warning"),
    [
        (lambda x: (jax.debug.print("x is {}", x, ordered=True), x + 1)[1], "it has effects"),
        (lambda x: jax.lax.while_loop(lambda x: (jax.debug.print("x is {}", x), x < 2)[1], lambda x: x + 1, x), "condition of a loop"),
    ],
    ids=["in order", "condition"],
)
def test_effects_that_are_left_to_xla(program, warning, capfd):
    with pytest.warns(UserWarning, match=f"hloom leaves a function to XLA: .*{warning}"):
        same(hloom.jit(program)(jnp.float32(1)), jnp.float32(2))
    jax.effects_barrier()
    assert "x is 1.0" in capfd.readouterr().out
    with pytest.raises(hloom.UnsupportedOpError, match=warning):
        hloom.jit(program, fallback=False)(jnp.float32(1))


def test_callbacks_give_values():
    seen = []

    def program(x):
        return io_callback(lambda x: (seen.append(float(x)), np.float32(len(seen)))[1], jax.ShapeDtypeStruct((), jnp.float32), x) + x

    jitted = hloom.jit(program, fallback=False)
    assert [float(jitted(jnp.float32(10))) for _ in range(2)] == [11, 12]
    same(jax.vmap(jitted)(jnp.arange(2.0)), jnp.array([3.0, 5.0]))
    assert seen == [10, 10, 0, 1]


def test_without_jit():
    """`jax.disable_jit` runs a function op by op, on values that can be looked at."""
    seen = []

    @hloom.jit
    def program(x):
        seen.append(float(x))
        return jnp.sin(x) * 2

    with jax.disable_jit():
        same(program(jnp.float32(1)), 2 * jnp.sin(jnp.float32(1)))
    assert seen == [1.0]


def test_debug_nans():
    """JAX runs a function again, op by op, and names the op that made a NaN."""
    with jax.debug_nans(True):
        same(hloom.jit(jnp.log)(jnp.ones(3)), jnp.zeros(3))
        with pytest.raises(FloatingPointError, match="log"):
            hloom.jit(jnp.log)(-jnp.ones(3))


def test_what_is_not_compiled_is_left_to_xla_or_refused(monkeypatch):
    from hloom.compiler.jax import primitive

    def refuse(*_):
        raise hloom.UnsupportedOpError("hloom does not compile this")

    monkeypatch.setattr(primitive, "load_program", refuse)
    x = jnp.arange(3.0)
    with pytest.warns(UserWarning, match="hloom leaves a function to XLA"):
        same(hloom.jit(lambda x: jnp.sin(x))(x), jnp.sin(x))
    with pytest.raises(hloom.UnsupportedOpError, match="does not compile this"):
        hloom.jit(lambda x: jnp.sin(x), fallback=False)(x)
    with pytest.raises(hloom.InvalidProgramError, match="in_shardings"):
        hloom.jit(jnp.sin, in_shardings=None)


def test_programs_live_as_long_as_jaxs(given):
    """The key of a program that is gone would be an error, not another program."""
    import gc

    from hloom.compiler.jax import primitive

    function = hloom.jit(layer)
    expected = function(*given)
    primitive._compiled.cache_clear()
    gc.collect()
    same(function(*given), expected)


# Linear algebra: LAPACK's routines, and loops in their place for small matrices.


def spread(*shape, seed=0):
    return jnp.asarray(np.random.default_rng((seed, *shape)).normal(size=shape), jnp.float32)


@pytest.mark.parametrize("function", [jnp.linalg.inv, jnp.linalg.eigvalsh, lambda x: jnp.linalg.cholesky(x @ x.T + jnp.eye(len(x)))])
@pytest.mark.parametrize("size", [5, 40])
def test_lapack_is_called_without_python(function, size):
    x = spread(size, size) + 4 * jnp.eye(size)
    lowered = hloom.jit(function).lower(x)
    assert "custom_call @hloom" in lowered.as_text()
    same(lowered.compile()(x), jax.jit(function)(x), 1e-3)


@pytest.mark.parametrize("size", [1, 2, 7, 16, 17])
def test_small_systems(size):
    a, b = spread(3, size, size) + 2 * jnp.eye(size), spread(3, size, 2)
    found = hloom.jit(jnp.linalg.solve)(a, b)
    np.testing.assert_allclose(np.einsum("bij,bjk->bik", a, found), b, atol=1e-3)


@pytest.mark.parametrize(("rows", "columns"), [(4, 4), (6, 3), (3, 6), (16, 16), (1, 5)])
def test_pivots_are_lapacks(rows, columns):
    a = spread(2, rows, columns).at[0].set(0).at[1, 0, 0].set(0)  # one is singular
    same(tuple(hloom.jit(jax.lax.linalg.lu)(a)), tuple(jax.lax.linalg.lu(a)), 1e-4)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("left", [False, True])
def test_small_triangles(lower, transposed, unit, left):
    options = {"left_side": left, "lower": lower, "transpose_a": transposed, "unit_diagonal": unit}
    solve = partial(jax.lax.linalg.triangular_solve, **options)
    a, b = 0.3 * spread(3, 6, 6) + jnp.eye(6), spread(3, 6, 6, seed=1)
    same(hloom.jit(solve)(a, b), jax.jit(solve)(a, b), 1e-3)


@pytest.mark.parametrize("kind", ["int2", "int4", "uint4", "float4_e2m1fn"])
def test_elements_of_less_than_a_byte_are_taken_and_given_as_bytes(kind):
    """XLA's memory has two or four of them in a byte, which a program would read, and write, far behind."""

    def function(x, y):
        return x.astype(jnp.float32) + 1, y.astype(kind), x

    x, y = spread(7, 5).astype(kind), 2 * spread(7, 5, seed=1)
    same(hloom.jit(function)(x, y), jax.jit(function)(x, y))
    calls = [line for line in hloom.jit(function).lower(x, y).as_text().splitlines() if "@hloom" in line]
    assert calls and not any(element in line for line in calls for element in ("xi2>", "xi4>", "xui4>", "xf4E2M1FN>"))


def test_what_calls_python():
    """Registered functions and pure_callback, in branches and loops, under transformations; what they raise is told by XLA."""
    hloom.custom_call("test_jit.twice", lambda x: 2 * x)

    def function(x):
        twice = jax.ffi.ffi_call("test_jit.twice", jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
        guarded = jax.lax.cond(x.sum() > 100, lambda y: jax.pure_callback(np.negative, y, y), jnp.sin, x)
        step = lambda i, y: jax.pure_callback(lambda y, i: np.asarray(y + i, np.float32), y, y, i)  # noqa: E731
        return twice, guarded, jax.lax.fori_loop(0, 3, step, x)

    x = jnp.arange(4.0)
    same(hloom.jit(function)(x), (2 * x, jnp.sin(x), x + 3))
    same(hloom.jit(function)(50 * x), (100 * x, -50 * x, 50 * x + 3))
    halved = hloom.jit(lambda x: jax.pure_callback(lambda x: x / 2, x, x, vmap_method="expand_dims"))
    same(jax.vmap(halved)(jnp.ones((3, 4))), jnp.ones((3, 4)) / 2)

    def raising(x):
        raise ValueError("not this one")

    with pytest.raises(jax.errors.JaxRuntimeError, match="raised ValueError: not this one"):
        hloom.jit(lambda x: jax.pure_callback(raising, x, x))(x).block_until_ready()
    same(hloom.jit(function)(x), (2 * x, jnp.sin(x), x + 3))


def test_tuning(monkeypatch):
    """A function in two seconds; what was found is kept for the same lines."""
    from hloom.compiler.tuning import tuner

    def f(x):
        return jnp.tanh(x) @ x.T

    x = jnp.asarray(np.random.default_rng(0).normal(size=(6, 24)), jnp.float32)
    for _ in range(2):
        np.testing.assert_allclose(hloom.jit(f, tune=2)(x), f(x), rtol=1e-5, atol=1e-5)
        monkeypatch.setattr(tuner.Tuner, "run", lambda self: pytest.fail("it measures"))
