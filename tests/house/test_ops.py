"""The table of ops: its rows are complete and true, what derives from it agrees, and a new elementwise op is a row."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from torch_mlir import ir

import hloom
from hloom.dialects.context import make_context
from hloom.passes.common.ops import ANY, FLOAT, LEGALIZED, OPS, REMEDIES, Kind, elementwise, is_accepted
from hloom.passes.common.rewriting import functions, walk
from hloom.passes.fused.planner import access
from hloom.passes.fused.planner.reader import read_program
from hloom.passes.linalg import lower_to_linalg

ROOT = Path(__file__).parents[2]
ELEMENTWISE = [name for name, info in OPS.items() if info.scalar]
OTHERS = [name for name, info in OPS.items() if not info.scalar and info.kind not in (Kind.CONTROL, Kind.TERMINATOR, Kind.CALL)]
OUTSIDE = "stablehlo.custom_call"
"""It has no kernel."""
BINARY = """add and atan2 compare divide maximum minimum multiply or power remainder shift_left shift_right_arithmetic shift_right_logical
subtract xor""".split()
ATTRIBUTES = {
    "compare": "comparison_direction = #stablehlo<comparison_direction LT>",
    "reduce_precision": "exponent_bits = 5 : i32, mantissa_bits = 3 : i32",
}
X = "tensor<4x6xf32>"
SAMPLES = {
    "constant": f"%r = stablehlo.constant dense<1.0> : {X}",
    "iota": f"%r = stablehlo.iota dim = 0 : {X}",
    "broadcast_in_dim": f"%r = stablehlo.broadcast_in_dim %x, dims = [0, 2] : ({X}) -> tensor<4x2x6xf32>",
    "reshape": f"%r = stablehlo.reshape %x : ({X}) -> tensor<8x3xf32>",
    "reverse": f"%r = stablehlo.reverse %x, dims = [1] : {X}",
    "slice": f"%r = stablehlo.slice %x [0:4, 0:6:2] : ({X}) -> tensor<4x3xf32>",
    "transpose": f"%r = stablehlo.transpose %x, dims = [1, 0] : ({X}) -> tensor<6x4xf32>",
    "concatenate": f"%r = stablehlo.concatenate %x, %x, dim = 0 : ({X}, {X}) -> tensor<8x6xf32>",
    "dynamic_slice": f"%r = stablehlo.dynamic_slice %x, %i, %i, sizes = [2, 2] : ({X}, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>",
    "dynamic_update_slice": f"%r = stablehlo.dynamic_update_slice %x, %x, %i, %i : ({X}, {X}, tensor<i32>, tensor<i32>) -> {X}",
    "gather": f"""%r = "stablehlo.gather"(%x, %j) {{slice_sizes = array<i64: 1, 6>, dimension_numbers = #stablehlo.gather<
        offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}}
        : ({X}, tensor<3xi32>) -> tensor<3x6xf32>""",
    "pad": f"%r = stablehlo.pad %x, %f, low = [0, 1], high = [0, 0], interior = [0, 0] : ({X}, tensor<f32>) -> tensor<4x7xf32>",
    "reduce": f"%r = stablehlo.reduce(%x init: %f) applies stablehlo.add across dimensions = [1] : ({X}, tensor<f32>) -> tensor<4xf32>",
    "reduce_window": f"""%r = "stablehlo.reduce_window"(%x, %f) ({{
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %m = stablehlo.maximum %a, %b : tensor<f32>
        stablehlo.return %m : tensor<f32>
      }}) {{window_dimensions = array<i64: 1, 3>}} : ({X}, tensor<f32>) -> tensor<4x4xf32>""",
    "sort": f"""%r = "stablehlo.sort"(%x) ({{
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      }}) {{dimension = 1 : i64}} : ({X}) -> {X}""",
    "scatter": f"""%r = "stablehlo.scatter"(%x, %j, %u) ({{
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        stablehlo.return %b : tensor<f32>
      }}) {{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}} : ({X}, tensor<3xi32>, tensor<3x6xf32>) -> {X}""",
    "custom_call @hloom.dft": f"""%r, %q = stablehlo.custom_call @hloom.dft(%x, %x, %t)
        {{hloom.dft = {{extended = false, factor = 1.0, lanes = 2, radices = [array<i64: 2>, array<i64: 3>]}}}}
        : ({X}, {X}, tensor<20xf32>) -> ({X}, {X})""",
    "custom_call @hloom.cufft": f"""%r = stablehlo.custom_call @hloom.cufft(%x)
        {{hloom.cufft = {{transform = "fft", lengths = array<i64: 3>}}}} : ({X}) -> {X}""",
    "custom_call @hloom.winograd_filter": """%r = stablehlo.custom_call @hloom.winograd_filter(%v)
        : (tensor<1x4x4x2x8xf32>) -> tensor<3x3x2x8xf32>""",
    "dot_general": f"%r = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : ({X}, {X}) -> tensor<4x4xf32>",
    "convolution": """%r = stablehlo.convolution(%s, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3x8xf32>, tensor<5x3x3xf32>) -> tensor<2x5x6xf32>""",
}


def parsed(inputs: list[str], op: str, result: str) -> ir.Module:
    """A module with one function that returns %r. Raises MLIRError where the verifier refuses it."""
    arguments = ", ".join(inputs)
    return ir.Module.parse(f"func.func @main({arguments}) -> {result} {{\n  {op}\n  return %r : {result}\n}}", make_context())


def of_elements(name: str, element: str) -> ir.Module:
    """The elementwise op on tensors of that element."""
    short, kind, flags = name.removeprefix("stablehlo."), f"tensor<4x{element}>", "tensor<4xi1>"
    operands = [flags, kind, kind] if short == "select" else [kind] * (3 if short == "clamp" else 2 if short in BINARY else 1)
    result = flags if short in ("compare", "is_finite") else kind
    names = [f"%{number}" for number in "abc"[: len(operands)]]
    op = f'%r = "{name}"({", ".join(names)}) {{{ATTRIBUTES.get(short, "")}}} : ({", ".join(operands)}) -> {result}'
    return parsed([f"{name}: {kind}" for name, kind in zip(names, operands)], op, result)


@cache
def scalar_ops(name: str) -> dict[str, set[str]]:
    """The ops that the scalar code of an elementwise op is made of, by the element types that StableHLO's verifier admits."""
    found = {}
    for element in sorted(ANY):
        try:
            module = of_elements(name, element)
        except ir.MLIRError:
            continue
        lower_to_linalg.lower_to_linalg(module.operation)
        assert module.operation.verify()
        found[element] = {op.name for op in walk(module.operation)}
    return found


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_the_element_types_of_a_row_are_those_that_stablehlo_admits(name):
    assert scalar_ops(name).keys() == OPS[name].elements


def test_the_math_ops_that_docs_name_are_those_of_the_scalar_code():
    used = {op for name in ELEMENTWISE for ops in scalar_ops(name).values() for op in ops}
    named = re.search(r"math ops used: ([\w\s,]+);", (ROOT / "docs" / "ingress.md").read_text())[1]
    assert {f"math.{op}" for op in re.split(r",\s*", named)} == {op for op in used if op.startswith("math.")}


@pytest.mark.parametrize("name", OTHERS)
def test_every_other_row_has_an_access_map_and_a_lowering(name):
    short = name.removeprefix("stablehlo.")
    inputs = [
        f"%x: {X}",
        "%f: tensor<f32>",
        "%i: tensor<i32>",
        "%j: tensor<3xi32>",
        "%s: tensor<2x3x8xf32>",
        "%w: tensor<5x3x3xf32>",
        "%u: tensor<3x6xf32>",
        "%t: tensor<20xf32>",
        "%v: tensor<1x4x4x2x8xf32>",
    ]
    module = parsed(inputs, SAMPLES[short], re.findall(r"tensor<[^>]*>", SAMPLES[short])[-1])
    op = next(op for op in read_program(module.operation)[0].ops if op.name == name)
    assert op.kind is OPS[name].kind and bool(op.ranges) == op.kind.has_ranges
    lower_to_linalg.lower_to_linalg(module.operation)
    left = {op.name for f in functions(module.operation) for op in walk(f, lambda op: op.name.startswith("stablehlo."))}
    kept = {name, "stablehlo.return"} if op.kind is Kind.SORT else {"stablehlo.custom_call"} if "@" in name else set()  # linalg has none
    assert module.operation.verify() and left == kept


def test_nothing_else_has():
    bitcast = {"stablehlo.bitcast_convert"}  # between elements of two widths it is no elementwise op
    fused = {"stablehlo.while"}  # where it is a group's: the planner leaves it alone
    assert lower_to_linalg.LOWERINGS.keys() == {*OTHERS, *bitcast, *fused}
    assert access.RULES.keys() == {*OTHERS, *bitcast, OUTSIDE}


def test_an_op_is_compiled_or_becomes_one_that_is_or_is_refused():
    assert not LEGALIZED & OPS.keys() and not REMEDIES.keys() & (LEGALIZED | OPS.keys())
    assert not any(map(is_accepted, REMEDIES))


def test_every_elementwise_op_is_compared_with_the_interpreter():
    tried = re.findall(r"\w+", (ROOT / "tests" / "conformance" / "test_elementwise.py").read_text())
    assert {name.removeprefix("stablehlo.") for name in ELEMENTWISE} - set(tried) == set()


NEW = """func.func @main(%x: tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>) {
  %c = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %0 = stablehlo.cbrt %x : tensor<4x3xf32>
  %1 = stablehlo.tan %0 : tensor<4x3xf32>
  %2 = stablehlo.subtract %1, %0 : tensor<4x3xf32>
  %3 = stablehlo.cbrt %c : tensor<3xf32>
  return %2, %3 : tensor<4x3xf32>, tensor<3xf32>
}"""


@pytest.mark.parametrize("target", ["cpu", "sim:sm_90a"])
def test_a_new_elementwise_op_is_a_row(monkeypatch, target):
    """Two names without a row, then with one: the first gives back its operand, the second 0."""
    for name in ("stablehlo.cbrt", "stablehlo.tan"):
        monkeypatch.delitem(OPS, name)
    with pytest.raises(hloom.UnsupportedOpError, match=r"HL101.*stablehlo\.cbrt"):
        hloom.compile(NEW, target=target)
    monkeypatch.setitem(OPS, "stablehlo.cbrt", elementwise(FLOAT, lambda s, op, args: args[0], lambda op, args: args[0]))
    monkeypatch.setitem(OPS, "stablehlo.tan", elementwise(FLOAT, lambda s, op, args: s.constant(args[0].type, 0)))
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    negated, constant = hloom.compile(NEW, target=target)(x)
    assert np.array_equal(negated, -x) and np.array_equal(constant, [1, 2, 3])
    module = ir.Module.parse(NEW, make_context())
    hloom.Pipeline("simplify-stablehlo").run(module)
    assert len(walk(module.operation, "stablehlo.cbrt")) == 1  # that of the constant is folded
