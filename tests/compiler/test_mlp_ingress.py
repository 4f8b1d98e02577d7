"""An MLP layer, in whatever form it arrives, is at `tiled` the one loop that the hand-written mulf/addf/maximumf form becomes."""

import pytest
from torch_mlir import ir

from hloom.compiler.frontend import load_program
from hloom.compiler.instrument import Instrumentation
from hloom.compiler.passmanager import parse_pipeline, run_steps
from hloom.compiler.pipeline import run_stages
from hloom.dialects.context import make_context
from hloom.passes.common.rewriting import functions, walk

ROWS, INNER, COLUMNS = 256, 512, 1024
X, W, B, Y = f"tensor<{ROWS}x{INNER}xf32>", f"tensor<{COLUMNS}x{INNER}xf32>", f"tensor<{COLUMNS}xf32>", f"tensor<{ROWS}x{COLUMNS}xf32>"
SIGNATURE = f"(%x: {X}, %w: {W}, %b: {B}) -> {Y}"
WT = f"tensor<{INNER}x{COLUMNS}xf32>"
MAPS = """
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
"""
ELEMENTWISE = 'iterator_types = ["parallel", "parallel"]'

BY_HAND = f"""{MAPS}
func.func @layer{SIGNATURE} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : {Y}
  %f = linalg.fill ins(%zero : f32) outs(%e : {Y}) -> {Y}
  %m = linalg.generic {{indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"]}} ins(%x, %w : {X}, {W}) outs(%f : {Y}) {{
  ^bb0(%p: f32, %q: f32, %acc: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %acc, %0 : f32
    linalg.yield %1 : f32
  }} -> {Y}
  %a = linalg.generic {{indexing_maps = [#row, #id], {ELEMENTWISE}}} ins(%b : {B}) outs(%m : {Y}) {{
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  }} -> {Y}
  %r = linalg.generic {{indexing_maps = [#id], {ELEMENTWISE}}} outs(%a : {Y}) {{
  ^bb0(%out: f32):
    %0 = arith.maximumf %out, %zero : f32
    linalg.yield %0 : f32
  }} -> {Y}
  return %r : {Y}
}}"""

LINALG = f"""{MAPS}
func.func @layer{SIGNATURE} {{
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : {WT}
  %t = linalg.transpose ins(%w : {W}) outs(%e0 : {WT}) permutation = [1, 0]
  %e = tensor.empty() : {Y}
  %f = linalg.fill ins(%zero : f32) outs(%e : {Y}) -> {Y}
  %m = linalg.matmul ins(%x, %t : {X}, {WT}) outs(%f : {Y}) -> {Y}
  %a = linalg.generic {{indexing_maps = [#id, #row, #id], {ELEMENTWISE}}} ins(%m, %b : {Y}, {B}) outs(%e : {Y}) {{
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %0 = arith.addf %in, %bias : f32
    linalg.yield %0 : f32
  }} -> {Y}
  %r = linalg.generic {{indexing_maps = [#id, #id], {ELEMENTWISE}}} ins(%a : {Y}) outs(%e : {Y}) {{
  ^bb0(%in: f32, %out: f32):
    %0 = arith.cmpf PREDICATE, %in, %zero : f32
    %1 = arith.select %0, %in, %zero : f32
    linalg.yield %1 : f32
  }} -> {Y}
  return %r : {Y}
}}"""

STABLEHLO = f"""
func.func @main{SIGNATURE} {{
  %zero = stablehlo.constant dense<0.0> : {Y}
  %t = stablehlo.transpose %w, dims = [1, 0] : ({W}) -> {WT}
  %m = stablehlo.dot_general %x, %t, contracting_dims = [1] x [0] : ({X}, {WT}) -> {Y}
  %bias = stablehlo.broadcast_in_dim %b, dims = [1] : ({B}) -> {Y}
  %s = stablehlo.add %m, %bias : {Y}
  RELU
  return %r : {Y}
}}"""
MAXIMUM = f"%r = stablehlo.maximum %s, %zero : {Y}"
COMPARE = f"%c = stablehlo.compare DIRECTION, %s, %zero, FLOAT : ({Y}, {Y}) -> tensor<{ROWS}x{COLUMNS}xi1>"
SELECT_ZERO = f"{COMPARE}\n%r = stablehlo.select %c, %zero, %s : tensor<{ROWS}x{COLUMNS}xi1>, {Y}".replace("DIRECTION", "LE")
SELECT_SUM = f"{COMPARE}\n%r = stablehlo.select %c, %s, %zero : tensor<{ROWS}x{COLUMNS}xi1>, {Y}".replace("DIRECTION", "GT")


def tiled_from_linalg(text: str) -> ir.Module:
    """A program that is linalg already, at `tiled`."""
    module = ir.Module.parse(text, make_context())
    run_steps(module.operation, parse_pipeline("stage-linalg,stage-tiled", module.context), Instrumentation())
    return module


def tiled_from_program(source, examples=()) -> ir.Module:
    module = load_program(source, examples).module
    run_stages(module.operation, "input", "tiled")
    return module


def layer(module: ir.Module) -> ir.Operation:
    """The one function that computes."""
    (function,) = [f for f in functions(module.operation) if walk(f, "scf.forall")]
    return function


def body(module: ir.Module) -> str:
    """The layer's type and body as text, without its name and attributes."""
    function = layer(module)
    return f"{function.attributes['function_type']}\n{function.get_asm(use_local_scope=True).partition(chr(10))[2]}"


def assert_one_loop_in_place(module: ir.Module) -> None:
    (loop,) = walk(layer(module), "scf.forall")
    assert not walk(loop, "tensor.empty")
    fill, contraction, epilogue = walk(loop, lambda op: op.name in ("linalg.fill", "linalg.generic"))
    tile = fill.operands[1].owner
    shared = list(loop.regions[0].blocks[0].arguments)[-1]
    assert tile.name == "tensor.extract_slice" and tile.operands[0] == shared
    assert list(contraction.operands)[-1] == fill.results[0]
    assert list(epilogue.operands)[-1] == contraction.results[0]
    (insert,) = walk(loop, "tensor.parallel_insert_slice")
    assert insert.operands[0] == epilogue.results[0] and insert.operands[1] == shared


@pytest.fixture(scope="module")
def by_hand() -> str:
    module = tiled_from_linalg(BY_HAND)
    assert_one_loop_in_place(module)
    text = body(module)
    assert text.count("arith.maximumf") == 1
    return text


def test_linalg_matmul_and_transpose(by_hand):
    assert body(tiled_from_linalg(LINALG.replace("PREDICATE", "ugt"))) == by_hand


@pytest.mark.parametrize("relu", [MAXIMUM, SELECT_ZERO], ids=["maximum", "compare-select"])
def test_stablehlo(by_hand, relu):
    assert body(tiled_from_program(STABLEHLO.replace("RELU", relu))) == by_hand


def test_torch(by_hand):
    torch = pytest.importorskip("torch")

    class Layer(torch.nn.Module):
        def forward(self, x, w, b):
            return torch.relu(torch.nn.functional.linear(x, w, b))

    examples = tuple(torch.zeros(*shape) for shape in ((ROWS, INNER), (COLUMNS, INNER), (COLUMNS,)))
    assert body(tiled_from_program(Layer(), examples)) == by_hand


@pytest.mark.parametrize("form", [LINALG.replace("PREDICATE", "ogt"), STABLEHLO.replace("RELU", SELECT_SUM)], ids=["linalg", "stablehlo"])
def test_relu_that_drops_nan_stays_a_select(by_hand, form):
    """`x > 0 ? x : 0` is 0 for NaN, maximumf is NaN: all else is the same loop."""
    module = tiled_from_linalg(form) if "linalg" in form else tiled_from_program(form)
    assert_one_loop_in_place(module)
    text = body(module)
    assert "arith.maximumf" not in text
    before = by_hand.partition("arith.maximumf")[0].splitlines()[:-1]
    assert text.splitlines()[: len(before)] == before
    assert "arith.cmpf ogt" in text.splitlines()[len(before)]
