"""The driver of type conversions: one type for another, a pair for one, and what it refuses."""

from __future__ import annotations

import pytest
from torch_mlir import ir

from hloom.dialects.context import make_context
from hloom.passes.errors import UnsupportedOpError
from hloom.passes.stablehlo.support import build
from hloom.passes.stablehlo.support.type_conversion import Conversion, Edge, Parts, convert_types, per_part


def wider(kind: ir.Type) -> list[ir.Type] | None:
    """i4 is stored in i8."""
    if isinstance(kind, ir.RankedTensorType) and str(kind.element_type) == "i4":
        return [build.tensor(kind.shape, ir.IntegerType.get_signless(8))]
    return None


def pair(kind: ir.Type) -> list[ir.Type] | None:
    """f64 is a pair of f32 (which no pass does)."""
    if isinstance(kind, ir.RankedTensorType) and str(kind.element_type) == "f64":
        return [build.tensor(kind.shape, ir.F32Type.get())] * 2
    return None


def add_parts(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    return [[build.elementwise("add", x, y) for x, y in zip(*operands)]]


def zeros(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    return [[build.zero([], ir.F32Type.get()) for _ in "ab"]]


RULES = {"stablehlo.add": add_parts, "stablehlo.constant": zeros}


def converted(text: str, conversion: Conversion) -> str:
    with make_context() as context, ir.Location.unknown():
        module = ir.Module.parse(text, context)
        assert convert_types(module.operation, conversion)
        module.operation.verify()
        assert not convert_types(module.operation, conversion), "nothing of the type is left"
        return str(module)


def test_one_type_for_another_by_the_same_ops():
    text = """
    func.func private @f(%x: tensor<4xi4>) -> tensor<4xi4> { return %x : tensor<4xi4> }
    func.func @main(%x: tensor<4xi4> {a.b = 1 : i64}, %y: tensor<f32>) -> (tensor<2x2xi4>, tensor<f32>) {
      %0 = call @f(%x) : (tensor<4xi4>) -> tensor<4xi4>
      %1 = stablehlo.reshape %0 : (tensor<4xi4>) -> tensor<2x2xi4>
      %2 = stablehlo.abs %y : tensor<f32>
      return %1, %2 : tensor<2x2xi4>, tensor<f32>
    }"""
    found = converted(text, Conversion(wider))
    assert "private @f(%arg0: tensor<4xi8>) -> tensor<4xi8>" in found
    assert "@main(%arg0: tensor<4xi8> {a.b = 1 : i64}, %arg1: tensor<f32>) -> (tensor<2x2xi8>, tensor<f32>)" in found
    assert "stablehlo.reshape %0 : (tensor<4xi8>) -> tensor<2x2xi8>" in found


def test_regions_and_their_arguments_have_the_parts():
    text = """
    func.func private @f(%x: tensor<5xf64>, %n: tensor<i32>, %p: tensor<i1>) -> (tensor<f64>, tensor<i32>) {
      %z = stablehlo.constant dense<0.0> : tensor<f64>
      %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<5xf64>, tensor<f64>) -> tensor<f64>
      %1:2 = stablehlo.while(%a = %0, %i = %n) : tensor<f64>, tensor<i32>
        cond { stablehlo.return %p : tensor<i1> }
        do {
          %2 = "stablehlo.if"(%p) ({
            stablehlo.return %a : tensor<f64>
          }, {
            stablehlo.return %0 : tensor<f64>
          }) : (tensor<i1>) -> tensor<f64>
          %3 = stablehlo.add %2, %a : tensor<f64>
          stablehlo.return %3, %i : tensor<f64>, tensor<i32>
        }
      return %1#0, %1#1 : tensor<f64>, tensor<i32>
    }"""
    found = converted(text, Conversion(pair, RULES))
    assert "(%arg0: tensor<5xf32>, %arg1: tensor<5xf32>, %arg2: tensor<i32>, %arg3: tensor<i1>)" in found
    assert "-> (tensor<f32>, tensor<f32>, tensor<i32>)" in found
    assert "reducer(%arg4: tensor<f32>, %arg6: tensor<f32>) (%arg5: tensor<f32>, %arg7: tensor<f32>)" in found
    assert "stablehlo.return %iterArg, %iterArg_1 :" in found and "stablehlo.return %0#0, %0#1 :" in found
    assert "return %1#0, %1#1, %1#2 : tensor<f32>, tensor<f32>, tensor<i32>" in found


def test_a_comparator_has_the_two_of_each_operand_side_by_side():
    text = """
    func.func private @f(%x: tensor<5xf64>, %y: tensor<5xi32>) -> (tensor<5xf64>, tensor<5xi32>) {
      %0:2 = "stablehlo.sort"(%x, %y) ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>, %c: tensor<i32>, %d: tensor<i32>):
        %s = stablehlo.add %a, %b : tensor<f64>
        %1 = stablehlo.compare LT, %c, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %1 : tensor<i1>
      }) : (tensor<5xf64>, tensor<5xi32>) -> (tensor<5xf64>, tensor<5xi32>)
      return %0#0, %0#1 : tensor<5xf64>, tensor<5xi32>
    }"""
    found = converted(text, Conversion(pair, RULES))
    assert "^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<f32>, %arg6: tensor<f32>, %arg7: tensor<i32>" in found
    assert "stablehlo.add %arg3, %arg4" in found and "stablehlo.add %arg5, %arg6" in found


def test_what_moves_elements_is_done_for_each_part_and_indices_are_shared():
    text = """
    func.func private @f(%x: tensor<5xf64>, %i: tensor<i32>, %p: tensor<5xi1>) -> (tensor<3xf64>, tensor<5xf64>) {
      %0 = stablehlo.dynamic_slice %x, %i, sizes = [3] : (tensor<5xf64>, tensor<i32>) -> tensor<3xf64>
      %1 = stablehlo.reverse %x, dims = [0] : tensor<5xf64>
      %2 = stablehlo.select %p, %x, %1 : tensor<5xi1>, tensor<5xf64>
      return %0, %2 : tensor<3xf64>, tensor<5xf64>
    }"""
    found = converted(text, Conversion(pair))
    assert "dynamic_slice %arg0, %arg2" in found and "dynamic_slice %arg1, %arg2" in found
    assert found.count("stablehlo.select %arg3, ") == 2


def test_an_entry_keeps_one_value_for_each_argument_and_result():
    def stored(kind: ir.Type) -> ir.Type:
        return build.tensor([*ir.RankedTensorType(kind).shape, 2], ir.F32Type.get())

    def load(value: ir.Value, kind: ir.Type) -> Parts:
        last = len(build.shape_of(value)) - 1
        shape = ir.RankedTensorType(kind).shape
        return [build.reshape(build.slice_dim(value, last, n, n + 1), shape) for n in range(2)]

    def store(parts: Parts, kind: ir.Type) -> ir.Value:
        shape = [*build.shape_of(parts[0]), 1]
        return build.concatenate([build.reshape(part, shape) for part in parts], len(shape) - 1)

    text = """
    func.func @main(%x: tensor<3xf64> {hloom.bound}, %y: tensor<f32>) -> (tensor<3xf64> {jax.result_info = "r"}, tensor<f32>) {
      return %x, %y : tensor<3xf64>, tensor<f32>
    }"""
    found = converted(text, Conversion(pair, edge=Edge(stored, load, store)))
    assert "@main(%arg0: tensor<3x2xf32> {hloom.bound}, %arg1: tensor<f32>)" in found
    assert '-> (tensor<3x2xf32> {jax.result_info = "r"}, tensor<f32>)' in found


def test_untouched_functions_stay_and_rules_may_use_the_op_itself():
    text = """
    func.func private @same(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }
    func.func private @f(%x: tensor<f64>) -> tensor<f64> {
      %0 = stablehlo.negate %x : tensor<f64>
      return %0 : tensor<f64>
    }"""
    conversion = Conversion(pair, {"stablehlo.negate": lambda op, operands: per_part(op, operands, conversion)})
    found = converted(text, conversion)
    assert found.count("stablehlo.negate") == 2 and "private @same(%arg0: tensor<f32>) -> tensor<f32>" in found


@pytest.mark.parametrize("body", ["%0 = stablehlo.cosine %x : tensor<f64>", "%0 = stablehlo.atan2 %x, %x : tensor<f64>"])
def test_an_op_without_a_rule_is_refused_by_name(body: str):
    text = f"func.func private @f(%x: tensor<f64>) -> tensor<f64> {{ {body}\n return %0 : tensor<f64> }}"
    with make_context() as context, ir.Location.unknown():
        module = ir.Module.parse(text, context)
        with pytest.raises(UnsupportedOpError, match=r"does not compile stablehlo\.\w+ of tensor<f64>"):
            convert_types(module.operation, Conversion(pair))
