"""JAX functions and jax.export.Exported."""

from __future__ import annotations

import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pytest

jax = pytest.importorskip("jax")
jnp = jax.numpy

from jax.experimental import io_callback  # noqa: E402

import hloom  # noqa: E402
from hloom.compiler.frontend import load_program  # noqa: E402
from hloom.passes.errors import InvalidProgramError, UnsupportedOpError  # noqa: E402
from hloom.runtime import pytree  # noqa: E402


class Point(NamedTuple):
    w: object
    b: object


def function(x, params, unused, point):
    return {"z": jnp.tanh(x) @ params["w"] + params["b"], "a": None, "p": Point(point.w * 2, x.sum())}


PARAMS = {"w": np.ones((8, 2), np.float32), "b": 1.0}
EXAMPLES = (np.ones((4, 8), np.float32), PARAMS, np.ones(3), Point(np.ones(3, np.int32), np.ones(2, np.float16)))


@pytest.mark.parametrize("form", ["function", "jitted", "exported"])
def test_forms(form: str) -> None:
    source = {"function": function, "jitted": jax.jit(function), "exported": jax.export.export(jax.jit(function))(*EXAMPLES)}[form]
    program = load_program(source, () if form == "exported" else EXAMPLES)
    assert [str(spec) for spec in program.inputs] == ["4x8xf32", "f32", "8x2xf32", "3xf32", "3xi32", "2xf16"]
    assert [spec.name for spec in program.inputs] == ["arg0", "arg1['b']", "arg1['w']", "arg2", "arg3.w", "arg3.b"]
    assert pytree.flatten(program.in_tree, (1, {"w": 3, "b": 2}, 4, Point(5, 6))) == [1, 2, 3, 4, 5, 6]
    assert pytree.builder(program.out_tree)([1, 2, 3]) == {"a": None, "p": (1, 2), "z": 3}
    assert program.kind == "jax"


def test_keywords_of_an_export() -> None:
    exported = jax.export.export(jax.jit(lambda x, *, scale: x * scale))(np.ones(3, np.float32), scale=np.float32(2))
    program = load_program(exported)
    assert pytree.flatten(program.in_tree, ("x",)) + pytree.flatten(program.kwarg_tree, {"scale": "s"}, "keywords") == ["x", "s"]
    assert [spec.name for spec in program.inputs] == ["arg0", "scale"]


def test_constants_that_are_closed_over() -> None:
    table = np.arange(6, dtype=np.float32)
    program = load_program(lambda x: x + table, (table,))
    assert "dense<[0.000000e+00, 1.000000e+00, 2.000000e+00" in str(program.module)


@pytest.mark.parametrize(
    ("bad", "kind", "pattern"),
    [
        (lambda x: x.nothing, InvalidProgramError, "AttributeError"),
        (lambda x: jax.ffi.ffi_call("nobody", jax.ShapeDtypeStruct(x.shape, x.dtype))(x), UnsupportedOpError, "custom_call @nobody"),
        (jax.lax.top_k, InvalidProgramError, "example inputs"),
    ],
    ids=["no attribute", "custom call", "missing argument"],
)
def test_refusals(bad, kind, pattern: str) -> None:
    with pytest.raises(kind, match=pattern):
        load_program(bad, (np.ones((3, 3), np.float32),))


def test_shape_polymorphism_is_refused() -> None:
    shape = jax.export.symbolic_shape("n, 4")
    exported = jax.export.export(jax.jit(jnp.tanh))(jax.ShapeDtypeStruct(shape, np.float32))
    with pytest.raises(InvalidProgramError, match="dynamic shape|shapes"):
        load_program(exported)


def test_callbacks_with_effects_are_called_in_their_order(capfd) -> None:
    """At every call, also of what no argument reaches; in loops and branches, with results and without."""
    seen = []

    def told(x=-1.0):
        seen.append(float(x))
        return np.float32(len(seen))

    def ask(*operands):
        return io_callback(told, jax.ShapeDtypeStruct((), np.float32), *operands, ordered=True)

    def program(x):
        first, second = ask(), ask(x)
        jax.debug.print("x is {}", x, ordered=True)
        total = jax.lax.fori_loop(0, 2, lambda i, t: jax.lax.cond(i > 0, ask, lambda t: t + 10, t), second)
        io_callback(told, jax.ShapeDtypeStruct((), np.float32), total)
        return first, second, total

    exe = hloom.compile(program, np.float32(7))
    assert not seen
    assert [list(map(float, exe(np.float32(7)))) for _ in range(2)] == [[1, 2, 3], [5, 6, 7]]
    assert seen == [-1, 7, 12, 3, -1, 7, 16, 7]
    assert capfd.readouterr().out == "x is 7.0\n" * 2


def test_a_callback_in_the_condition_of_a_loop_is_refused_by_the_users_line() -> None:
    def program(x):
        return jax.lax.while_loop(lambda x: io_callback(lambda x: x < 2, jax.ShapeDtypeStruct((), bool), x), lambda x: x + 1, x)

    with pytest.raises(UnsupportedOpError, match="callback to Python .* the condition of a loop") as caught:
        hloom.compile(program, np.float32(1))
    assert "take it out" in caught.value.remedy and "test_frontend_jax.py" in caught.value.loc


def test_pure_callbacks_are_calls(tmp_path) -> None:
    """Of what this process has: a program that another one reads finds nothing of that name."""
    x = np.arange(4, dtype=np.float32)
    exe = hloom.compile(lambda x: jax.pure_callback(lambda x: {"a": np.sin(x), "b": 2 * x[:1]}, {"a": x, "b": x[:1]}, x), x)
    result = exe(x)
    np.testing.assert_array_equal(result["a"], np.sin(x))
    np.testing.assert_array_equal(result["b"], 2 * x[:1])
    exe.save(tmp_path / "calls.hloom")
    program = "import sys, numpy as np, hloom; hloom.load(sys.argv[1])(np.ones(4, np.float32))"
    for imported, told in (
        ("", "which nobody registered"),
        ("import hloom.compiler.frontends.jax; ", "of the process that it was compiled in"),
    ):
        run = subprocess.run([sys.executable, "-c", imported + program, tmp_path / "calls.hloom"], capture_output=True, text=True)
        assert told in run.stderr


def test_a_callback_that_a_branch_guards_is_not_called_before():
    """As of equinox's error_if: it takes constants, and raises, and another one reads it."""

    def raising(index):
        raise ValueError(index)

    def function(x):
        checked = jnp.linspace(0, 1, 11)
        broken = jnp.any(checked[1:] < checked[:-1]) | (x[0] > 100)
        return x + jax.lax.cond(
            broken, lambda: jax.pure_callback(np.negative, checked, jax.pure_callback(raising, checked, 3)), lambda: checked
        )

    exe = hloom.compile(function, jnp.ones(11))
    np.testing.assert_allclose(exe(jnp.ones(11)), jnp.ones(11) + jnp.linspace(0, 1, 11), rtol=1e-6)
    with pytest.raises(hloom.CustomCallError, match="raised ValueError: 3"):
        exe(200 * jnp.ones(11))


def test_what_jax_has_traced_or_lowered():
    function = jax.jit(lambda x, times, y=1.0: {"made": x * times + y}, static_argnums=1)
    x = jnp.arange(3.0)
    expected = function(x, 3, y=2.0)["made"]
    traced = function.trace(x, 3, y=2.0)
    for exe in (hloom.compile(traced), hloom.compile(traced.lower()), hloom.compile(function, x, 3, kwargs={"y": 2.0})):
        np.testing.assert_array_equal(exe(x, y=jnp.float32(2))["made"], expected)
    unused = jax.jit(lambda x, y: x + 1)
    np.testing.assert_array_equal(hloom.compile(unused.lower(x, x))(x, x), x + 1)
    np.testing.assert_array_equal(hloom.compile(unused, x, x)(x, x), x + 1)


def test_lowered_functions_take_arguments_that_they_do_not_use():
    """JAX drops them from what it lowers, and its own compiled functions take them still."""
    lowered = jax.jit(lambda p, n, *, k, x: p["w"] * x - k[1], donate_argnums=0).lower(
        {"b": jnp.ones(3), "w": jnp.ones((2, 3))}, np.int32(4), k=(jnp.ones(2, bool), jnp.float32(1)), x=jnp.ones((2, 3))
    )
    exe = hloom.compile(lowered)
    given = {"b": np.zeros(3, np.float32), "w": np.full((2, 3), 2, np.float32)}
    keywords = {"k": (np.zeros(2, bool), np.float32(5)), "x": np.arange(6, dtype=np.float32).reshape(2, 3)}
    np.testing.assert_array_equal(exe(given, np.int32(0), **keywords), 2 * keywords["x"] - 5)
    with pytest.raises(hloom.DtypeError, match="arg1"):
        exe(given, np.float32(0), **keywords)


def test_lowered_linear_algebra():
    """JAX writes rules for Shardy beside calls of LAPACK."""
    x = np.array([[4, 2], [2, 5]], np.float32)
    np.testing.assert_array_equal(hloom.compile(jax.jit(jnp.linalg.cholesky).lower(x))(x), [[2, 0], [1, 2]])


@pytest.mark.parametrize("entry", [lambda f, x: hloom.compile(f, x), lambda f, _: hloom.jit(f)], ids=["compile", "jit"])
def test_an_algorithm_of_dots_that_xla_has_on_no_cpu(entry) -> None:
    x = np.random.default_rng(0).normal(size=(1, 30, 2, 16)).astype(np.float16)

    def attention(x):
        return jax.nn.dot_product_attention(x, x, x, is_causal=True)  # multiplies f16, sums f32

    with pytest.raises(ValueError, match="F16_F16_F32"):
        jax.jit(attention)(x)
    with jax.enable_x64(True):
        wanted = attention(x.astype(np.float64))
    np.testing.assert_allclose(np.asarray(entry(attention, x)(x), np.float64), wanted, atol=2e-3)


def test_products_of_sparse_matrices() -> None:
    """JAX would call a function of its own library."""
    sparse = pytest.importorskip("jax.experimental.sparse")
    dense = np.where(np.arange(20.0).reshape(4, 5) % 3 == 0, np.arange(20.0).reshape(4, 5), 0).astype(np.float32)
    matrix, x = sparse.BCSR.fromdense(dense), np.arange(10, dtype=np.float32).reshape(5, 2)

    def product(data, indices, starts, x):
        return sparse.BCSR((data, indices, starts), shape=dense.shape) @ x

    np.testing.assert_array_equal(hloom.compile(product, *(given := (matrix.data, matrix.indices, matrix.indptr, x)))(*given), dense @ x)


def test_an_export_for_several_platforms() -> None:
    """JAX gives such a program the platform's number before its arguments."""

    def program(x):
        return jax.lax.platform_dependent(x, cpu=lambda x: x * 2, cuda=lambda x: x * 3)

    x = np.arange(3, dtype=np.float32)
    exported = jax.export.export(jax.jit(program), platforms=["cuda", "cpu"])(x)
    np.testing.assert_array_equal(hloom.compile(exported)(x), x * 2)
    elsewhere = jax.export.export(jax.jit(jnp.sin), platforms=["cuda", "tpu"])(x)
    with pytest.raises(InvalidProgramError, match=r"for the platforms cuda, tpu\n  remedy: export it for one of them"):
        hloom.compile(elsewhere)


def test_functions_that_hloom_jit_gave() -> None:
    """They are compiled for what they hold, also where another one calls them."""
    x, sine = np.arange(3, dtype=np.float32), hloom.jit(jnp.sin)
    for function, wanted in [(sine, jnp.sin), (lambda x: sine(x) * 2, lambda x: jnp.sin(x) * 2), (jax.vmap(jax.grad(sine)), jnp.cos)]:
        np.testing.assert_allclose(hloom.compile(function, x)(x), wanted(x), 1e-6)
    np.testing.assert_allclose(hloom.compile(sine.trace(x))(x), np.sin(x), 1e-6)
    with pytest.raises(UnsupportedOpError, match="compile the function itself"):
        hloom.compile(sine.lower(x))


def test_what_is_given_at_the_wrong_place() -> None:
    x = np.arange(3, dtype=np.float32)
    with pytest.raises(InvalidProgramError, match=r"XLA's code\n  remedy: give the function"):
        hloom.compile(jax.jit(jnp.sin).lower(x).compile())
    with pytest.raises(hloom.CompileError, match=r"XLA's HLO, not MLIR\n  remedy: give StableHLO"):
        hloom.compile(jax.jit(jnp.sin).lower(x).as_text("hlo"))
    exe = hloom.compile(jnp.sin, x)
    with pytest.raises(hloom.ExecutionError, match=r"remedy: what goes into jax.jit, grad or vmap: hloom.jit"):
        jax.jit(lambda x: exe(x))(x)
