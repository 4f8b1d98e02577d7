"""`hloom.compile` from each kind of source to results, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest

import hloom
from hloom.compiler.target import resolve

TEXT = """
func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x4xf32>, %b: tensor<4xf32>) -> (tensor<8x4xf32>, tensor<8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %d = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %bb = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %s = stablehlo.add %d, %bb : tensor<8x4xf32>
  %t = stablehlo.tanh %s : tensor<8x4xf32>
  %r = stablehlo.reduce(%t init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
  return %t, %r : tensor<8x4xf32>, tensor<8xf32>
}
func.func @twice(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = stablehlo.add %x, %x : tensor<4xi32>
  return %0 : tensor<4xi32>
}
"""


@pytest.fixture(scope="module")
def values():
    rng = np.random.default_rng(0)
    x, w, b = (rng.standard_normal(shape, np.float32) for shape in ((8, 16), (16, 4), (4,)))
    t = np.tanh(x.astype(np.float64) @ w + b)
    return x, w, b, t, t.sum(1)


def test_text_bytes_and_files(values, tmp_path):
    x, w, b, t, r = values
    (tmp_path / "p.mlir").write_text(TEXT)
    for source in (TEXT, TEXT.encode(), tmp_path / "p.mlir", str(tmp_path / "p.mlir")):
        found = hloom.compile(source)(x, w, b)
        assert isinstance(found, tuple)
        np.testing.assert_allclose(found[0], t, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(found[1], r, rtol=1e-5, atol=1e-5)


def test_saved_and_loaded(values, tmp_path):
    x, w, b, _, _ = values
    exe = hloom.compile(TEXT)
    exe.save(tmp_path / "p.hloom")
    for a, c in zip(exe(x, w, b), hloom.load(tmp_path / "p.hloom")(x, w, b)):
        assert np.array_equal(a, c)


@pytest.mark.parametrize("bind", [["arg1", 2], [1, 2], [1], ["arg2"], [0, 1, 2]])
def test_bound_arguments(values, tmp_path, bind):
    x, w, b, t, _ = values
    given = {"arg0": x, "arg1": w, "arg2": b, 0: x, 1: w, 2: b}
    exe = hloom.compile(TEXT, bind={key: given[key] for key in bind})
    indices = {key if isinstance(key, int) else int(key[3:]) for key in bind}
    rest = [value for index, value in enumerate((x, w, b)) if index not in indices]
    assert len(exe.signature.inputs) == 3 - len(bind) and set(exe.signature.bound) == indices
    np.testing.assert_allclose(exe(*rest)[0], t, rtol=1e-5, atol=1e-6)
    exe.save(tmp_path / "p.hloom")
    loaded = hloom.load(tmp_path / "p.hloom")
    np.testing.assert_array_equal(loaded(*rest)[0], exe(*rest)[0])
    if 2 in indices:
        exe.bind({index: (x, w, b + 1)[index] for index in indices})
        np.testing.assert_allclose(exe(*rest)[0], np.tanh(x.astype(np.float64) @ w + b + 1), rtol=1e-5, atol=1e-6)


def test_bind_what_is_not_there():
    for key in ("w", 7, -1):
        with pytest.raises(hloom.CompileError, match="not an argument"):
            hloom.compile(TEXT, bind={key: np.zeros(4, np.float32)})
    with pytest.raises(hloom.ShapeError):
        hloom.compile(TEXT, bind={2: np.zeros(5, np.float32)})


def test_what_is_no_program(tmp_path):
    for source, error in [
        ("not mlir", hloom.ParseError),
        (b"\xff\xfe", hloom.ParseError),
        (tmp_path / "none.mlir", hloom.InvalidProgramError),
        (42, hloom.InvalidProgramError),
        (None, hloom.InvalidProgramError),
    ]:
        with pytest.raises(error):
            hloom.compile(source)


def test_the_report_tells_of_every_op():
    report = hloom.compile(TEXT).report
    data = json.loads(report.json())
    assert {"dot_general", "add", "tanh", "reduce"} <= {op["op"] for op in data["ops"]}
    groups = {group["name"] for group in data["groups"]}
    assert all(op["groups"] for op in data["ops"]) and groups
    assert data["memory"]["arena"] >= 0 and data["program"]["inputs"].startswith("arg0: 8x16xf32")
    text, page = report.text(), report.html()
    assert all(name in text and name in page for name in groups)


def test_torch_module_keeps_structure_and_weights():
    torch = pytest.importorskip("torch")

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = torch.nn.Linear(16, 4)

        def forward(self, x):
            y = torch.relu(self.linear(x))
            return {"y": y, "sums": [y.sum(1)]}

    model = Model().eval()
    x = torch.randn(8, 16)
    exe = hloom.compile(model, x)
    found, expected = exe(x), model(x)
    torch.testing.assert_close(found["y"], expected["y"])
    torch.testing.assert_close(found["sums"][0], expected["sums"][0])
    assert len(exe.signature.inputs) == 1 and len(exe.signature.bound) == 2


def test_jax_function_keeps_structure_and_keywords():
    jax = pytest.importorskip("jax")
    jnp = jax.numpy

    def function(params, x, *, scale):
        return {"y": jnp.tanh(x @ params["w"] + params["b"]) * scale, "n": (x.sum(), [params["b"]])}

    params = {"w": jnp.ones((16, 4)) / 8, "b": jnp.arange(4.0)}
    x = jnp.asarray(np.random.default_rng(0).standard_normal((8, 16), np.float32))
    exported = jax.export.export(jax.jit(function))(params, x, scale=jnp.float32(2))
    found, expected = hloom.compile(exported)(params, x, scale=jnp.float32(2)), function(params, x, scale=2)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5), found, expected)
    assert isinstance(found["y"], jax.Array)
    with pytest.raises(hloom.ArityError, match="keywords"):
        hloom.compile(exported)(params, x)


CONSTANT_TABLE = """func.func @main(%x: tensor<2x128xf32>) -> tensor<2x128xf32> {
  %i = stablehlo.iota dim = 0 : tensor<128xf32>
  %s = stablehlo.sine %i : tensor<128xf32>
  %c = stablehlo.cosine %s : tensor<128xf32>
  %b = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<128xf32>) -> tensor<2x128xf32>
  %y = stablehlo.multiply %x, %b : tensor<2x128xf32>
  return %y : tensor<2x128xf32>
}"""
CAUSAL = """func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %i = stablehlo.iota dim = 0 : tensor<64x64xi32>
  %j = stablehlo.iota dim = 1 : tensor<64x64xi32>
  %m = stablehlo.compare GE, %i, %j : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi1>
  %z = stablehlo.constant dense<0.0> : tensor<64x64xf32>
  %y = stablehlo.select %m, %x, %z : tensor<64x64xi1>, tensor<64x64xf32>
  return %y : tensor<64x64xf32>
}"""


@pytest.mark.parametrize(("text", "cache", "once", "expected"), [
    (CONSTANT_TABLE, 30e9, 512, lambda x: x * np.cos(np.sin(np.arange(128, dtype=np.float32)))),
    (CAUSAL, 30e9, 0, np.tril),  # to compare is cheaper than to read
    (CAUSAL, 300e9, 4096, np.tril),  # it is not
])  # fmt: skip
def test_what_no_argument_reaches_is_computed_once(text, cache, once, expected, tmp_path):
    exe = hloom.compile(text, target=resolve("cpu").with_entries({"llc_bytes_per_second": int(cache), "f32_flops": 200_000_000_000}))
    (spec,) = exe.signature.inputs
    x = np.random.default_rng(0).standard_normal(spec.shape).astype(np.float32)
    assert sum(made.nbytes for made in exe.program.init_results) == once
    programs = exe.program.manifest["programs"]
    assert [len(programs[name]["body"]) for name in programs] == [1] * (1 + bool(once))  # a kernel in each entry
    np.testing.assert_allclose(exe(x), expected(x), rtol=1e-5)
    exe.save(tmp_path / "a.hloom")
    again = hloom.load(tmp_path / "a.hloom")
    assert not again.program.saved  # computed where it is loaded, not kept in the file
    np.testing.assert_array_equal(again(x), exe(x))
