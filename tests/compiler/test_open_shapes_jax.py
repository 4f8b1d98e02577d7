"""JAX programs whose shapes have names (jax.export.symbolic_shape), beside jax.jit."""

from __future__ import annotations

import numpy as np
import pytest

import hloom

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax

RNG = np.random.default_rng(0)
WEIGHTS = {name: RNG.standard_normal((16, 16)).astype(np.float32) * 0.3 for name in "qkvo"}
FIRST, SECOND = (RNG.standard_normal(shape).astype(np.float32) for shape in ((8, 16), (16, 4)))
SIZES = ({"b": 5, "s": 7, "c": 3, "h": 6, "w": 5}, {"b": 1, "s": 1, "c": 1, "h": 3, "w": 1})


def mlp(x):
    return jnp.tanh(x @ FIRST) @ SECOND


def block(x):
    normal = (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)
    q, k, v = (jnp.reshape(normal @ WEIGHTS[name], (*x.shape[:2], 2, 8)) for name in "qkv")
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.float32(np.sqrt(8))
    shares = jax.nn.softmax(jnp.where(jnp.tril(jnp.ones((x.shape[1],) * 2, bool)), scores, -1e9), -1)
    return x + jnp.reshape(jnp.einsum("bhqk,bkhd->bqhd", shares, v), x.shape) @ WEIGHTS["o"]


PROGRAMS = {
    "mlp": (mlp, "b, 8"),
    "gradient": (jax.grad(lambda x: (mlp(x) ** 2).sum()), "b, 8"),
    "block": (block, "b, s, 16"),
    "softmax": (lambda x: jax.nn.softmax(x, -1), "b, s"),
    "cumsum": (lambda x: jnp.cumsum(x, 1), "b, s"),
    "cummax": (lambda x: lax.cummax(x, 0), "b, s"),
    "sort": (lambda x: jnp.sort(x, -1), "b, s"),
    "argsort": (lambda x: jnp.argsort(x, 0), "b, s"),
    "concatenate": (lambda x, y: jnp.concatenate([x, y], 0), "b, 4", "c, 4"),
    "slice": (lambda x: x[1:-1, ::2], "b+2, 8"),
    "half": (lambda x: x[:, : x.shape[1] // 2], "b, 2*s"),
    "pad": (lambda x: jnp.pad(x, ((1, 2), (0, 0))), "b, 4"),
    "arange": (lambda x: x * jnp.arange(x.shape[0], dtype=np.float32)[:, None], "b, 4"),
    "reshape": (lambda x: x.reshape(x.shape[0], -1), "b, s, 3"),
    "gram": (lambda x: x.T @ x, "b, s"),
    "gather": (lambda x, i: x[i], "b, 4", "c:i32"),
    "moments": (lambda x: (x.mean(0), x.std(1)), "b, s"),
    "top_k": (lambda x: lax.top_k(x, 2), "b, s+2"),
    "top_k of a size": (lambda x: lax.top_k(x, x.shape[1] - 1)[0], "b, s+1"),
    "scan": (lambda x: lax.scan(lambda c, a: (c * 0.5 + a, c.sum()), jnp.zeros(4, np.float32), x), "b, 4"),
    "loop": (lambda x: lax.fori_loop(0, x.shape[0], lambda i, a: a + x[i], jnp.zeros(4, np.float32)), "b, 4"),
    "convolution": (lambda x: lax.conv_general_dilated(x, np.ones((2, 3, 3, 3), np.float32), (1, 1), "SAME"), "b, 3, h, w"),
    "max pool": (lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3), (1, 2), "SAME"), "b, s"),
    "one hot": (lambda i: jax.nn.one_hot(i, 5), "b:i32"),
    "random": (lambda x: x + jax.random.uniform(jax.random.key(1), x.shape), "b, 3"),
}


def specs(*texts: str, constraints=()):
    scope = jax.export.SymbolicScope(constraints)
    pairs = [text.partition(":") for text in texts]
    return [jax.ShapeDtypeStruct(jax.export.symbolic_shape(dims, scope=scope), np.int32 if kind else np.float32) for dims, _, kind in pairs]


def together(texts):
    """The programs of these arguments as one, which compiles once for all."""
    functions = {name: function for name, (function, *arguments) in PROGRAMS.items() if arguments == list(texts)}
    return lambda *inputs: {name: function(*inputs) for name, function in functions.items()}


@pytest.mark.parametrize("texts", sorted({tuple(arguments) for _, *arguments in PROGRAMS.values()}), ids="; ".join)
def test_programs(texts, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("HLOOM_CACHE_DIR", str(tmp_path))
    function = together(texts)
    exe = hloom.compile(function, *specs(*texts))
    for sizes in SIZES:
        shapes = exe.signature.shapes_of({size: sizes[size] for size in exe.signature.names})
        whole = ["i32" in text for text in texts]
        inputs = [
            RNG.integers(0, sizes["b"], s, np.int32) if w else RNG.standard_normal(s).astype(np.float32) for s, w in zip(shapes, whole)
        ]
        found, expected = exe(*inputs), jax.jit(function)(*inputs)
        for name in expected:
            for one, other in zip(jax.tree.leaves(found[name]), jax.tree.leaves(expected[name]), strict=True):
                assert one.dtype == other.dtype, name
                np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5, err_msg=name)


def ones(*shapes):
    return [np.ones(shape, np.float32) for shape in shapes]


def test_an_export_with_names() -> None:
    a, b = specs("b, 8", "2*b")
    exe = hloom.compile(jax.export.export(jax.jit(lambda p, y: {"sum": p["x"].sum() + y}))({"x": a}, b))
    assert str(exe.signature) == "(arg0['x']: ?x8xf32, arg1: ?xf32) -> (result0: ?xf32) where arg0['x'][0] = b, arg1[0] = 2*b"
    x, y = ones((3, 8), (6,))
    assert np.asarray(exe({"x": x}, y)["sum"]).tolist() == [25.0] * 6
    exe.specialise({"b": 2}, ({"x": (4, 8)}, (8,)))
    assert exe.shapes == [((4, 8), (8,)), ((2, 8), (4,)), ((3, 8), (6,))]


def test_constants_that_a_function_closes_over_are_there_once() -> None:
    table = RNG.standard_normal((64, 96)).astype(np.float32)
    exe = hloom.compile(lambda x: jnp.concatenate([x, table]), *specs("b, 96"))
    constants = [
        blob for one in exe.specialise({"b": 1}, {"b": 2}) for blob in one.program.constants().values() if len(blob) == table.nbytes
    ]
    assert len(constants) == 2 and constants[0] is constants[1]


@pytest.mark.parametrize(
    ("texts", "constraints", "shapes", "said"),
    [
        (("b, 8", "b"), (), ((3, 8), (4,)), r"arg1\[0\] should be 3, as arg0\[0\] is \(both are 'b'\), got shape \(4,\)"),
        (("b, 8", "2*b"), (), ((3, 8), (5,)), r"args\[1\]\.shape\[0\] \(= 5\) and the specification '2\*b'"),
        (("2*b, 8", "c"), (), ((3, 8), (5,)), r"Division had remainder 1 when computing the value of 'b'"),
        (("b, 8", "c"), ("b <= 4",), ((5, 8), (5,)), r"Input shapes do not match the symbolic shape constraint b <= 4"),
        (("b, 8", "c"), (), ((0, 8), (5,)), r"Expected value >= 1 for dimension variable 'b'"),
    ],
    ids=["one name", "an expression", "a remainder", "a constraint", "zero"],
)
def test_what_the_export_does_not_allow(texts, constraints, shapes, said) -> None:
    exe = hloom.compile(lambda x, y: x.sum() + y.sum(), *specs(*texts, constraints=constraints))
    with pytest.raises(hloom.ShapeError, match=said):
        exe(*ones(*shapes))
    assert exe.shapes == []


@pytest.mark.parametrize(
    ("function", "text", "constraints", "shape", "said"),
    [
        (lambda x: x.reshape(-1, 4).sum(1), "4*n", (), (9,), "Division had remainder 1 when computing the value of 'n'"),
        (lambda x: x[:4], "n", ("n >= 4",), (3,), "Input shapes do not match the symbolic shape constraint n >= 4"),
    ],
    ids=["a reshape", "a slice"],
)
def test_what_the_export_does_not_allow_where_an_op_does_not_allow_it_either(function, text, constraints, shape, said) -> None:
    exe = hloom.compile(function, *specs(text, constraints=constraints))
    with pytest.raises(hloom.ShapeError, match=said):
        exe(*ones(shape))


def test_dynamic_shapes_are_torchs() -> None:
    with pytest.raises(hloom.InvalidProgramError, match="dynamic_shapes is for torch"):
        hloom.compile(jnp.tanh, np.ones(3), dynamic_shapes=({0: "b"},))
