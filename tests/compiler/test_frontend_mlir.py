"""Programs as text, bytecode, VHLO artifacts, paths and modules; what is refused, and how the refusal reads."""

from __future__ import annotations

import io
import math
from pathlib import Path

import numpy as np
import pytest
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

import hloom
from hloom.compiler.frontend import load_program
from hloom.dialects.context import make_context
from hloom.passes.errors import CompileError, InvalidProgramError, ParseError, UnsupportedOpError
from hloom.runtime import pytree

TEXT = """
func.func @main(%x: tensor<4x8xf32>, %n: tensor<i64>) -> (tensor<4x8xf32>, tensor<i64>) {
  %0 = stablehlo.tanh %x : tensor<4x8xf32>
  return %0, %n : tensor<4x8xf32>, tensor<i64>
}
"""
ONE = "tensor<4xf32>"
CALL_HELPER = f"%0 = call @helper(%a) : ({ONE}) -> {ONE}"
CALL_MAIN = f"%0 = call @main(%a) : ({ONE}) -> {ONE}"
IDENTITY = f"(%a: {ONE}) -> {ONE} {{ return %a : {ONE} }}"


def bytecode(text: str) -> bytes:
    with make_context() as context:
        buffer = io.BytesIO()
        ir.Module.parse(text, context=context).operation.write_bytecode(buffer)
        return buffer.getvalue()


def artifact(text: str) -> bytes:
    return _stablehlo.serialize_portable_artifact_str(text, _stablehlo.get_current_version())


@pytest.mark.parametrize("encode", [str, str.encode, bytecode, artifact], ids=["text", "text bytes", "bytecode", "artifact"])
def test_every_encoding_is_the_same_program(encode) -> None:
    program = load_program(encode(TEXT))
    assert [str(spec) for spec in program.inputs] == ["4x8xf32", "i64"]
    assert [str(spec) for spec in program.outputs] == ["4x8xf32", "i64"]
    assert "stablehlo.tanh" in str(program.module)
    assert program.kind == "numpy" and not program.bound
    assert pytree.flatten(program.in_tree, (1, 2)) == [1, 2]
    assert pytree.builder(program.out_tree)([3, 4]) == (3, 4)


def test_paths(tmp_path: Path) -> None:
    for name, data in (("a.mlir", TEXT.encode()), ("a.mlirbc", bytecode(TEXT)), ("a.vhlo", artifact(TEXT))):
        (tmp_path / name).write_bytes(data)
        for path in (tmp_path / name, str(tmp_path / name)):
            assert len(load_program(path).inputs) == 2
    with pytest.raises(InvalidProgramError, match="cannot read .*missing.mlir: No such file"):
        load_program(str(tmp_path / "missing.mlir"))
    (tmp_path / "exported.bin").write_bytes(artifact(TEXT))
    with pytest.raises(InvalidProgramError, match="exported.bin is a file, but no .mlir, .mlirbc, .vhlo"):
        load_program(str(tmp_path / "exported.bin"))
    with pytest.raises(InvalidProgramError, match="is a folder, but no .mlir"):
        load_program(str(tmp_path))


def test_a_module_is_copied_and_left_alone() -> None:
    with make_context():
        module = ir.Module.parse(TEXT.replace("@main", "@forward"))
        before = str(module)
        program = load_program(module)
        assert "@main" in str(program.module)
        assert str(module) == before


def test_resource_constants_survive() -> None:
    text = """
    func.func @main() -> tensor<3xf32> {
      %0 = stablehlo.constant dense_resource<weights> : tensor<3xf32>
      return %0 : tensor<3xf32>
    }
    {-# dialect_resources: { builtin: { weights: "0x040000000000803F0000004000004040" } } #-}
    """
    for source in (text, bytecode(text)):
        program = load_program(source)
        assert "0000803F0000004000004040" in program.module.operation.get_asm(large_resource_limit=100)


@pytest.mark.parametrize(
    "text",
    [
        f"func.func @forward{IDENTITY}",
        f"func.func private @main{IDENTITY}",
        f"func.func private @helper{IDENTITY} func.func @main(%a: {ONE}) -> {ONE} {{ {CALL_HELPER} return %0 : {ONE} }}",
        f"func.func private @main{IDENTITY} func.func @forward(%a: {ONE}) -> {ONE} {{ {CALL_MAIN} return %0 : {ONE} }}",
    ],
    ids=["renamed", "private", "with a helper", "beside a private main"],
)
def test_the_entry_becomes_main(text: str) -> None:
    assert "func.func public @main(" in str(load_program(text).module)


def test_inner_dynamic_shapes_are_found() -> None:
    program = load_program("""
    func.func @main(%a: tensor<1xf32>) -> tensor<?xf32> {
      %s = stablehlo.constant dense<8> : tensor<1xi32>
      %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [0] : (tensor<1xf32>, tensor<1xi32>) -> tensor<?xf32>
      %1 = stablehlo.tanh %0 : tensor<?xf32>
      return %1 : tensor<?xf32>
    }""")
    assert str(program.outputs[0]) == "8xf32"


def calling(callee: str, argument: str, result: str) -> str:
    return f"{result} = call @{callee}({argument}) : ({ONE}) -> {ONE} "


def calls(count: int) -> str:
    """Functions that each call the next one twice."""
    head = f"(%a: {ONE}) -> {ONE} {{ "
    text = f"func.func @main{head}{calling('f0', '%a', '%0')}return %0 : {ONE} }} func.func private @f{count}{IDENTITY}"
    for i in range(count):
        twice = calling(f"f{i + 1}", "%a", "%0") + calling(f"f{i + 1}", "%0", "%1")
        text += f"func.func private @f{i}{head}{twice}return %1 : {ONE} }}"
    return text


BRANCH = '"stablehlo.if"(%p) ({'
END = "}, { stablehlo.return }) : (tensor<i1>) -> ()"
REFUSED = {
    "syntax": ("func.func @main( {", ParseError, "1:17"),
    "unknown dialect": ('func.func @main() { "foo.bar"() : () -> () return }', ParseError, "foo|unregistered"),
    "undefined callee": (f"func.func @main(%a: {ONE}) {{ call @nope(%a) : ({ONE}) -> () return }}", ParseError, "nope"),
    "brackets": ("module attributes {a = " + "[" * 5000 + "]" * 5000 + "} {}", ParseError, "nest"),
    "dimension numbers": (
        "func.func @main(%x: tensor<1x1x4xf32>, %w: tensor<1x1x3xf32>) -> tensor<1x1x2xf32> { %0 = stablehlo.convolution(%x, %w) "
        "dim_numbers = [b, f, 9223372036854775807]x[o, i, 0]->[b, f, 0], window = {} "
        "{batch_group_count = 1 : i64, feature_group_count = 1 : i64} "
        ": (tensor<1x1x4xf32>, tensor<1x1x3xf32>) -> tensor<1x1x2xf32> return %0 : tensor<1x1x2xf32> }",
        ParseError,
        "signal|convolution",
    ),
    "empty": ("module {}", InvalidProgramError, "no function"),
    "declaration": (f"func.func private @main({ONE})", InvalidProgramError, "no function"),
    "two entries": (f"func.func @f{IDENTITY} func.func @g{IDENTITY}", InvalidProgramError, "@f, @g"),
    "recursion": (
        f"func.func @main(%a: {ONE}) {{ call @g(%a) : ({ONE}) -> () return }} "
        f"func.func private @g(%a: {ONE}) {{ call @main(%a) : ({ONE}) -> () return }}",
        InvalidProgramError,
        "@main → @g → @main",
    ),
    "growth": (calls(40), InvalidProgramError, "ops when its calls are inlined"),
    "regions": (
        "func.func @main(%p: tensor<i1>) {" + BRANCH * 120 + "stablehlo.return " + (END + " stablehlo.return ") * 119 + END + " return }",
        InvalidProgramError,
        "nest",
    ),
    "unranked": ("func.func @main(%a: tensor<*xf32>) { return }", InvalidProgramError, "unknown rank"),
    "dynamic": ("func.func @main(%a: tensor<?xf32>) { return }", InvalidProgramError, "dynamic shape"),
    "huge": ("func.func @main(%a: tensor<1099511627776xi8>) { return }", InvalidProgramError, "too large"),
    "overflow": ("func.func @main(%a: tensor<0x4611686018427387904x4xf32>) { return }", InvalidProgramError, "too large"),
    "f128": ("func.func @main(%a: tensor<4xf128>) { return }", UnsupportedOpError, "f128"),
    "i3": ("func.func @main(%a: tensor<4xi3>) { return }", UnsupportedOpError, "i3"),
    "quantized": ("func.func @main(%a: tensor<4x!quant.uniform<i7:f32, 1.0>>) { return }", UnsupportedOpError, "quant"),
    "index": ("func.func @main(%a: tensor<4xindex>) { return }", UnsupportedOpError, "index"),
    "scalar": ("func.func @main(%a: f32) { return }", UnsupportedOpError, "type f32"),
    "branch": (f"func.func @main(%a: {ONE}) {{ cf.br ^end \n ^end: return }}", UnsupportedOpError, "cf.br"),
    "region's return": (
        f"func.func @main(%a: {ONE}) -> {ONE} {{ %0 = call @f(%a) : ({ONE}) -> {ONE} return %0 : {ONE} }}"
        f" func.func private @f(%a: {ONE}) -> {ONE} {{ stablehlo.return %a : {ONE} }}",
        InvalidProgramError,
        "ends in stablehlo.return",
    ),
    "top level": ("memref.global @x : memref<4xf32> func.func @main() { return }", UnsupportedOpError, "memref.global"),
    "custom call": (
        f"func.func @main(%a: {ONE}) -> {ONE} {{ %0 = stablehlo.custom_call @kernel(%a) : ({ONE}) -> {ONE} return %0 : {ONE} }}",
        UnsupportedOpError,
        "custom_call @kernel",
    ),
    "dot of floats into integers": (
        f"func.func @main(%a: {ONE}) -> tensor<i32> {{ %0 = stablehlo.dot_general %a, %a, contracting_dims = [0] x [0] : ({ONE}, {ONE}) "
        "-> tensor<i32> return %0 : tensor<i32> }",
        UnsupportedOpError,
        "floats into integers",
    ),
    "iota of i1": (
        "func.func @main(%n: tensor<1xi32>) -> tensor<3xi1> { %0 = stablehlo.dynamic_iota %n, dim = 0 : (tensor<1xi32>) -> tensor<3xi1> "
        "return %0 : tensor<3xi1> }",
        UnsupportedOpError,
        "dynamic_iota of i1",
    ),
    "not utf-8": (b"\xff\xfe\x00", ParseError, "0xff"),
    "truncated": (artifact(TEXT)[:-20], ParseError, "artifact"),
    "no bytecode": (b"ML\xefRgarbage", ParseError, "bytecode|malformed|section"),
    "no program": (42, InvalidProgramError, "int is not a program"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_refusals(name: str) -> None:
    source, kind, pattern = REFUSED[name]
    with pytest.raises(kind, match=pattern):
        load_program(source)


def test_a_refusal_names_op_location_stage_and_remedy() -> None:
    with pytest.raises(UnsupportedOpError) as caught:
        load_program(
            "func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.custom_call @mine(%a) "
            ': (tensor<4xf32>) -> tensor<4xf32> loc("layer":7:1)\n  return %0 : tensor<4xf32>\n}'
        )
    error = caught.value
    assert (error.op, error.stage) == ("stablehlo.custom_call", "input")
    assert '"layer":7:1' in (error.loc or "") and "hloom.custom_call" in (error.remedy or "")


def test_flipped_bytes_end_in_an_error_or_a_program() -> None:
    for data in (bytecode(TEXT), artifact(TEXT)):
        for position in range(0, len(data), 7):
            flipped = bytearray(data)
            flipped[position] ^= 1 << position % 8
            try:
                assert load_program(bytes(flipped)).inputs is not None
            except CompileError as error:
                assert error.message


TOP_K = """func.func @main(%x: tensor<2x5xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %0:2 = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 3 : i64, largest = true}, mhlo.version = 1 : i64}
      : (tensor<2x5xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2x3xi32>
}"""


def test_top_k_as_older_jax_writes_it() -> None:
    x = np.array([[1, 5, 3, 5, 2], [0, -1, -2, 7, 7]], np.float32)
    values, places = hloom.compile(TOP_K, target="cpu")(x)
    np.testing.assert_array_equal(values, [[5, 5, 3], [7, 7, 0]])
    np.testing.assert_array_equal(places, [[1, 3, 2], [3, 4, 0]])


@pytest.mark.parametrize(
    "wrong", [("largest = true", "largest = false"), ("k = 3 : i64", "k = 3.0 : f32"), ("2x3", "2x4"), ("k = 3 : i64, ", "")]
)
def test_top_k_that_is_none_is_refused(wrong) -> None:
    with pytest.raises(hloom.CompileError, match="not the k largest of one operand"):
        hloom.compile(TOP_K.replace(*wrong), target="cpu")


FUNCTION = """func.func @main(%x: tensor<5xf32>) -> tensor<5xf32> {
  %0 = stablehlo.custom_call @mhlo.NAME(%x) {mhlo.attributes = {}, mhlo.version = 1 : i64} : (tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}"""


@pytest.mark.parametrize(("name", "function"), [("erf", math.erf), ("tan", math.tan), ("asinh", math.asinh), ("cosh", math.cosh)])
def test_functions_as_pytorch_xla_writes_them(name: str, function) -> None:
    x = np.array([-2, -0.5, 0, 0.25, 1], np.float32)
    np.testing.assert_allclose(hloom.compile(FUNCTION.replace("NAME", name), target="cpu")(x), [function(each) for each in x], 1e-6)


def test_such_a_function_of_another_type_is_refused() -> None:
    text = FUNCTION.replace("NAME", "erf").replace("-> tensor<5xf32>\n  return %0", "-> tensor<5xf64>\n  return %x")
    with pytest.raises(hloom.CompileError, match="@mhlo.erf does not give a value of its one operand's type"):
        hloom.compile(text, target="cpu")


def test_an_annotation_that_is_none_is_refused() -> None:
    text = """func.func @main(%x: tensor<8xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @SPMDFullToShardShape(%x) : (tensor<8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}"""
    with pytest.raises(hloom.UnsupportedOpError, match="does not give back its operands"):
        hloom.compile(text, target="cpu")


def test_sparse_tensors_are_refused() -> None:
    text = """#sparse = #sparse_tensor.encoding<{map = (d0) -> (d0 : compressed)}>
func.func @main(%x: tensor<8xf32, #sparse>) -> tensor<8xf32, #sparse> {
  return %x : tensor<8xf32, #sparse>
}"""
    with pytest.raises(hloom.UnsupportedOpError, match="with an encoding"):
        hloom.compile(text, target="cpu")
