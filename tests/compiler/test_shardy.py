"""Programs with annotations of Shardy, from JAX and as text: on one device they mean nothing."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import hloom

X = np.arange(8, dtype=np.float32)

TEXT = """
#inner = #sdy.sharding<@mesh, [{"y"}]>
module @jit_f attributes {mhlo.num_partitions = 2 : i32, jax.uses_shape_polymorphism = false} {
  sdy.mesh @mesh = <["x"=2, "y"=1]>
  "sdy.mesh"() <{mesh = #sdy.mesh<["x"=2]>, sym_name = "other"}> : () -> ()
  func.func public @main(%arg0: tensor<8xf32> {jax.buffer_donor = true, sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}], replicated={"y"}>},
      %arg1: tensor<8xf32> {sdy.sharding = #inner})
      -> (tensor<8xf32> {jax.result_info = "a, b", sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    %0 = stablehlo.add %arg0, %arg1
      {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>]>, mhlo.frontend_attributes = {a = "<"}} : tensor<8xf32>
    %1 = sdy.sharding_constraint %0 <@mesh, [{"x"}]> : tensor<8xf32> loc("here")
    %2 = sdy.reshard %1 <mesh<["x"=2]>, [{"x"}]> : tensor<8xf32>
    %3 = "sdy.sharding_constraint"(%2) <{sharding = #sdy.sharding<@mesh, [{}]>}> : (tensor<8xf32>) -> tensor<8xf32>
    %4 = stablehlo.negate %3 {mhlo.note = #mhlo.form<a -> b>, sdy.rule = #sdy.op_sharding_rule<([i])->([i]) {i=8}>} : tensor<8xf32>
    return %4 : tensor<8xf32>
  }
}
"""


def test_text():
    np.testing.assert_array_equal(hloom.compile(TEXT)(X, X), -2 * X)
    np.testing.assert_array_equal(hloom.compile(TEXT.encode())(X, X), -2 * X)


def test_a_fault_keeps_its_line():
    with pytest.raises(hloom.ParseError) as caught:
        hloom.compile(TEXT.replace("stablehlo.negate", "stablehlo.nothing"))
    line = 1 + TEXT[: TEXT.index("stablehlo.negate")].count("\n")
    assert f":{line}:" in caught.value.loc


def test_a_computation_by_hand_is_refused():
    text = """func.func @main(%arg0: tensor<8xf32>) -> tensor<8xf32> {
      %0 = sdy.manual_computation(%arg0) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"}
          (%a: tensor<4xf32>) {
        sdy.return %a : tensor<4xf32>
      } : (tensor<8xf32>) -> tensor<8xf32>
      return %0 : tensor<8xf32> }"""
    with pytest.raises(hloom.UnsupportedOpError, match=r"sdy\.manual_computation") as caught:
        hloom.compile(text)
    assert "one device" in caught.value.remedy and ":2" in caught.value.loc


@pytest.fixture(scope="module")
def sharding():
    jax = pytest.importorskip("jax")
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("x",))
    return jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))


@pytest.fixture(scope="module")
def constrained(sharding):
    import jax

    function = jax.jit(lambda x: jax.lax.with_sharding_constraint(x * 2, sharding) + 1, in_shardings=sharding, out_shardings=sharding)
    return jax.export.export(function)(X)


def test_exports_of_jax(constrained):
    assert b"sdy" in constrained.mlir_module_serialized
    for source in (constrained, constrained.mlir_module(), constrained.mlir_module_serialized):
        np.testing.assert_array_equal(hloom.compile(source)(X), X * 2 + 1)


def test_a_bare_artifact_without_jax_says_what_to_give(constrained, monkeypatch):
    monkeypatch.setitem(sys.modules, "hloom.compiler.frontends.jax_shardings", None)
    with pytest.raises(hloom.ParseError) as caught:
        hloom.compile(constrained.mlir_module_serialized)
    assert "install jax" in caught.value.remedy


def test_a_file_that_jax_export_wrote(constrained, tmp_path):
    path = tmp_path / "exported.vhlo"
    path.write_bytes(constrained.mlir_module_serialized)
    np.testing.assert_array_equal(hloom.compile(path)(X), X * 2 + 1)


def test_bytes_of_a_program_of_several_functions():
    """JAX writes rules for Shardy beside calls of LAPACK, and reads functions in threads."""
    jax = pytest.importorskip("jax")
    matrix = np.eye(4, dtype=np.float32) * 3 + 1
    exported = jax.export.export(jax.jit(lambda x: jax.numpy.linalg.solve(x, x[0])))(matrix)
    assert b"sdy" in exported.mlir_module_serialized
    np.testing.assert_allclose(hloom.compile(exported.mlir_module_serialized)(matrix), np.linalg.solve(matrix, matrix[0]), atol=1e-6)


def test_shard_map_with_collectives(sharding):
    import jax

    spec, mesh = sharding.spec, sharding.mesh

    def each(x):
        first = jax.lax.axis_index("x") + jax.lax.psum(x, "x")
        parts = jax.lax.psum_scatter(x, "x", tiled=True), jax.lax.all_gather(x, "x", tiled=True), jax.lax.ppermute(x, "x", [(0, 0)])
        return first, *parts, jax.lax.all_to_all(x, "x", 0, 0, tiled=True)

    def run(x):
        x = jax.lax.with_sharding_constraint(x, sharding)
        return jax.shard_map(each, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)(x)

    for got, wanted in zip(hloom.compile(run, X)(X), jax.jit(run)(X), strict=True):
        np.testing.assert_array_equal(got, wanted)
