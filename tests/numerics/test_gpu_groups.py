"""Fusions as GPU kernels on the simulator, against the reference interpreter: elementwise, reductions, movement, types, edges."""

from __future__ import annotations

from math import prod

import ml_dtypes
import numpy as np
import pytest
from numerics.gpu_groups import check_program, gpu_kernels
from torch_mlir import ir

from hloom.compiler.interpreter import Interpreter
from hloom.compiler.parsing import parse_module
from hloom.compiler.simulator import Kernels
from hloom.dialects.context import make_context
from hloom.passes.common.rewriting import walk
from hloom.passes.gpu.support.launch import launch_extents
from hloom.passes.registry import find_pass

LEAST = {"f64": "0xFFF0000000000000", "f32": "0xFF800000", "f16": "0xFC00", "bf16": "0xFF80", "i8": "-128", "ui8": "0", "i1": "false"}


@pytest.fixture(scope="module")
def interpreter():
    with Interpreter() as process:
        yield process


def tensor(shape, element="f32"):
    return f"tensor<{'x'.join([*map(str, shape), element])}>"


def program(arguments, results, body):
    """A program whose arguments are %0, %1, … and whose results are named."""
    parameters = ", ".join(f"%{i}: {t}" for i, t in enumerate(arguments))
    kinds = ", ".join(kind for _, kind in results)
    values = ", ".join(name for name, _ in results)
    return f"func.func @main({parameters}) -> ({kinds}) {{\n{body}\nreturn {values} : {kinds}\n}}"


def reduction(shape, dims, op="add", init="0.0", element="f32"):
    kept = tensor([n for d, n in enumerate(shape) if d not in dims], element)
    whole, scalar = tensor(shape, element), tensor([], element)
    body = f"""%c = stablehlo.constant dense<{init}> : {scalar}
    %r = stablehlo.reduce(%0 init: %c) applies stablehlo.{op} across dimensions = {list(dims)} : ({whole}, {scalar}) -> {kept}"""
    return program([whole], [("%r", kept)], body)


def softmax(shape, element="f32", dim=-1):
    dim %= len(shape)
    dims = [d for d in range(len(shape)) if d != dim]
    whole, row, scalar = tensor(shape, element), tensor([shape[d] for d in dims], element), tensor([], element)
    reduce, spread = f"across dimensions = [{dim}] : ({whole}, {scalar}) -> {row}", f"dims = {dims} : ({row}) -> {whole}"
    body = f"""%least = stablehlo.constant dense<{LEAST[element]}> : {scalar}
    %zero = stablehlo.constant dense<0.0> : {scalar}
    %m = stablehlo.reduce(%0 init: %least) applies stablehlo.maximum {reduce}
    %mb = stablehlo.broadcast_in_dim %m, {spread}
    %d = stablehlo.subtract %0, %mb : {whole}
    %e = stablehlo.exponential %d : {whole}
    %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add {reduce}
    %sb = stablehlo.broadcast_in_dim %s, {spread}
    %r = stablehlo.divide %e, %sb : {whole}"""
    return program([whole], [("%r", whole)], body)


def unary(op, shape, result, element="f32"):
    given, made = tensor(shape, element), tensor(result, element)
    return program([given], [("%r", made)], op.format(given=given, made=made))


ELEMENTWISE = {
    "whole": unary("%r = stablehlo.tanh %0 : {given}", (64, 256), (64, 256)),
    "odd": unary("%r = stablehlo.exponential %0 : {given}", (1003,), (1003,)),
    "scalar": unary("%r = stablehlo.exponential %0 : {given}", (), ()),
    "f16": unary("%r = stablehlo.add %0, %0 : {given}", (40, 24), (40, 24), "f16"),
    "i64": unary("%r = stablehlo.multiply %0, %0 : {given}", (77,), (77,), "i64"),
    "rows of a column": program(
        [tensor((30, 130)), tensor((30,))],
        [("%r", tensor((30, 130)))],
        "%b = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<30xf32>) -> tensor<30x130xf32>\n"
        "%r = stablehlo.multiply %0, %b : tensor<30x130xf32>",
    ),
    "iota": program([], [("%r", "tensor<33x70xi32>")], "%r = stablehlo.iota dim = 1 : tensor<33x70xi32>"),
    "constant": program(
        [tensor((3, 5))],
        [("%r", tensor((3, 5)))],
        "%c = stablehlo.constant dense<[1.0, 2.0, 3.0, 4.0, 5.0]> : tensor<5xf32>\n"
        "%b = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<5xf32>) -> tensor<3x5xf32>\n%r = stablehlo.add %0, %b : tensor<3x5xf32>",
    ),
    "mixed types": program(
        ["tensor<500xf16>", "tensor<500xi1>", "tensor<500xi32>"],
        [("%s", "tensor<500xf32>"), ("%g", "tensor<500xi1>"), ("%u", "tensor<500xui8>")],
        """%f = stablehlo.convert %0 : (tensor<500xf16>) -> tensor<500xf32>
        %i = stablehlo.convert %2 : (tensor<500xi32>) -> tensor<500xf32>
        %s = stablehlo.select %1, %f, %i : tensor<500xi1>, tensor<500xf32>
        %g = stablehlo.compare GT, %f, %i, FLOAT : (tensor<500xf32>, tensor<500xf32>) -> tensor<500xi1>
        %u = stablehlo.convert %2 : (tensor<500xi32>) -> tensor<500xui8>""",
    ),
}

MOVEMENT = {
    "transpose": unary("%r = stablehlo.transpose %0, dims = [1, 0] : ({given}) -> {made}", (96, 160), (160, 96)),
    "transpose odd": unary("%r = stablehlo.transpose %0, dims = [1, 0] : ({given}) -> {made}", (67, 131), (131, 67)),
    "transpose f16": unary("%r = stablehlo.transpose %0, dims = [0, 2, 1] : ({given}) -> {made}", (2, 64, 96), (2, 96, 64), "f16"),
    "three channels last": unary("%r = stablehlo.transpose %0, dims = [0, 2, 1] : ({given}) -> {made}", (2, 3, 300), (2, 300, 3), "bf16"),
    "reverse axes": unary("%r = stablehlo.transpose %0, dims = [2, 1, 0] : ({given}) -> {made}", (30, 4, 50), (50, 4, 30)),
    "plus its transpose": unary(
        "%t = stablehlo.transpose %0, dims = [1, 0] : ({given}) -> {given}\n%r = stablehlo.add %0, %t : {given}", (64, 64), (64, 64)
    ),
    "reshaped to other dims": unary(
        "%t = stablehlo.transpose %0, dims = [1, 0, 3, 2] : ({given}) -> tensor<6x4x4x2xf32>\n"
        "%r = stablehlo.reshape %t : (tensor<6x4x4x2xf32>) -> {made}",
        (4, 6, 2, 4),
        (16, 12),
    ),
    "strided slice": unary("%r = stablehlo.slice %0 [3:23:2, 1:39:2] : ({given}) -> {made}", (30, 40), (10, 19)),
    "reverse": unary("%r = stablehlo.reverse %0, dims = [1] : {given}", (30, 40), (30, 40)),
    "pad": unary(
        "%z = stablehlo.constant dense<1.5> : tensor<f32>\n"
        "%r = stablehlo.pad %0, %z, low = [2, 4], high = [3, 6], interior = [0, 1] : ({given}, tensor<f32>) -> {made}",
        (30, 40),
        (35, 89),
    ),
    "concatenate": program(
        [tensor((30, 40)), tensor((30, 24))],
        [("%r", tensor((30, 64)))],
        "%c = stablehlo.concatenate %0, %1, dim = 1 : (tensor<30x40xf32>, tensor<30x24xf32>) -> tensor<30x64xf32>\n"
        "%r = stablehlo.tanh %c : tensor<30x64xf32>",
    ),
    "concatenate whole accesses": program(
        [tensor((30, 40)), tensor((30, 8)), tensor((30, 24))],
        [("%r", tensor((30, 72)))],
        "%c = stablehlo.concatenate %0, %1, %2, dim = 1 : (tensor<30x40xf32>, tensor<30x8xf32>, tensor<30x24xf32>) -> tensor<30x72xf32>\n"
        "%r = stablehlo.tanh %c : tensor<30x72xf32>",
    ),
    "concatenate rows": program(
        [tensor((8, 33), "bf16"), tensor((16, 33), "bf16")],
        [("%r", tensor((24, 33), "bf16"))],
        "%r = stablehlo.concatenate %0, %1, dim = 0 : (tensor<8x33xbf16>, tensor<16x33xbf16>) -> tensor<24x33xbf16>",
    ),
    "turned halves of heads": program(
        [tensor((2, 4, 6, 32), "bf16"), tensor((2, 4, 6, 32), "bf16")],
        [("%r", tensor((2, 6, 256), "bf16"))],
        "%a = stablehlo.slice %0 [0:2, 0:4, 0:6, 0:16] : (tensor<2x4x6x32xbf16>) -> tensor<2x4x6x16xbf16>\n"
        "%b = stablehlo.slice %0 [0:2, 0:4, 0:6, 16:32] : (tensor<2x4x6x32xbf16>) -> tensor<2x4x6x16xbf16>\n"
        "%n = stablehlo.negate %b : tensor<2x4x6x16xbf16>\n"
        "%h = stablehlo.concatenate %n, %a, dim = 3 : (tensor<2x4x6x16xbf16>, tensor<2x4x6x16xbf16>) -> tensor<2x4x6x32xbf16>\n"
        "%t = stablehlo.transpose %h, dims = [0, 2, 1, 3] : (tensor<2x4x6x32xbf16>) -> tensor<2x6x4x32xbf16>\n"
        "%u = stablehlo.transpose %1, dims = [0, 2, 1, 3] : (tensor<2x4x6x32xbf16>) -> tensor<2x6x4x32xbf16>\n"
        "%v = stablehlo.reshape %t : (tensor<2x6x4x32xbf16>) -> tensor<2x6x128xbf16>\n"
        "%w = stablehlo.reshape %u : (tensor<2x6x4x32xbf16>) -> tensor<2x6x128xbf16>\n"
        "%r = stablehlo.concatenate %v, %w, dim = 2 : (tensor<2x6x128xbf16>, tensor<2x6x128xbf16>) -> tensor<2x6x256xbf16>",
    ),
    "gather rows": program(
        [tensor((100, 64)), "tensor<20x1xi32>"],
        [("%r", tensor((20, 64)))],
        '%r = "stablehlo.gather"(%0, %1) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], '
        "start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>, indices_are_sorted = false} : "
        "(tensor<100x64xf32>, tensor<20x1xi32>) -> tensor<20x64xf32>",
    ),
    "dynamic slice": program(
        [tensor((30, 40)), "tensor<i32>"],
        [("%r", tensor((5, 40)))],
        "%z = stablehlo.constant dense<0> : tensor<i32>\n%r = stablehlo.dynamic_slice %0, %1, %z, sizes = [5, 40] : "
        "(tensor<30x40xf32>, tensor<i32>, tensor<i32>) -> tensor<5x40xf32>",
    ),
    "dynamic update": program(
        [tensor((30, 40)), tensor((3, 40)), "tensor<i32>"],
        [("%r", tensor((30, 40)))],
        "%z = stablehlo.constant dense<0> : tensor<i32>\n%r = stablehlo.dynamic_update_slice %0, %1, %2, %z : "
        "(tensor<30x40xf32>, tensor<3x40xf32>, tensor<i32>, tensor<i32>) -> tensor<30x40xf32>",
    ),
}

REDUCTIONS = {
    "rows": reduction((20, 1000), [1]),
    "long rows": reduction((2, 70001), [1], "maximum", LEAST["f32"]),
    "short rows": reduction((500, 7), [1]),
    "columns": reduction((300, 100), [0]),
    "wide columns": reduction((33, 700), [0]),
    "all": reduction((100, 77), [0, 1]),
    "all i32": reduction((100, 77), [0, 1], "add", "0", "i32"),
    "all of many": reduction((200000,), [0]),
    "columns of many rows": reduction((9000, 64), [0], "maximum", LEAST["f32"]),
    "inner axis": reduction((3, 90, 48), [1]),
    "reversed rows": unary(
        "%c = stablehlo.constant dense<0.0> : tensor<f32>\n%v = stablehlo.reverse %0, dims = [0] : {given}\n"
        "%r = stablehlo.reduce(%v init: %c) applies stablehlo.add across dimensions = [1] : ({given}, tensor<f32>) -> {made}",
        (5000, 16),
        (5000,),
    ),
    "outer axes": reduction((16, 20, 30), [0, 2]),
    "f64": reduction((16, 515), [1], "multiply", "1.0", "f64"),
    "bf16": reduction((16, 512), [1], "maximum", LEAST["bf16"], "bf16"),
    "i8": reduction((16, 515), [1], "maximum", LEAST["i8"], "i8"),
    "ui8": reduction((16, 515), [1], "maximum", LEAST["ui8"], "ui8"),
    "i1": reduction((16, 515), [1], "or", LEAST["i1"], "i1"),
    "i64": reduction((16, 515), [1], "minimum", "9223372036854775807", "i64"),
    "softmax": softmax((12, 1024)),
    "softmax of odd rows": softmax((12, 1000)),
    "softmax of a long row": softmax((2, 50257)),
    "softmax of short rows": softmax((100, 16)),
    "softmax of f64": softmax((9, 100), "f64"),
    "softmax of columns": softmax((100, 260), dim=0),
    "softmax of an inner axis": softmax((3, 50, 60), dim=1),
    "several results": program(
        [tensor((64, 300))],
        [("%a", tensor((64,))), ("%y", tensor((64, 300))), ("%b", tensor((64,)))],
        """%c = stablehlo.constant dense<0.0> : tensor<f32>
        %y = stablehlo.multiply %0, %0 : tensor<64x300xf32>
        %a = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [1] :
            (tensor<64x300xf32>, tensor<f32>) -> tensor<64xf32>
        %b = stablehlo.reduce(%y init: %c) applies stablehlo.add across dimensions = [1] :
            (tensor<64x300xf32>, tensor<f32>) -> tensor<64xf32>""",
    ),
    "largest and where": program(
        [tensor((20, 333))],
        [("%r#0", tensor((20,))), ("%r#1", "tensor<20xi32>")],
        f"""%i = stablehlo.iota dim = 1 : tensor<20x333xi32>
        %a = stablehlo.constant dense<{LEAST["f32"]}> : tensor<f32>
        %b = stablehlo.constant dense<0> : tensor<i32>
        %r:2 = stablehlo.reduce(%0 init: %a), (%i init: %b) across dimensions = [1] :
            (tensor<20x333xf32>, tensor<20x333xi32>, tensor<f32>, tensor<i32>) -> (tensor<20xf32>, tensor<20xi32>)
        reducer(%p: tensor<f32>, %q: tensor<f32>) (%s: tensor<i32>, %t: tensor<i32>) {{
          %g = stablehlo.compare GT, %p, %q, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
          %m = stablehlo.select %g, %p, %q : tensor<i1>, tensor<f32>
          %n = stablehlo.select %g, %s, %t : tensor<i1>, tensor<i32>
          stablehlo.return %m, %n : tensor<f32>, tensor<i32>
        }}""",
    ),
    "first of the largest": program(
        ["tensor<20x333xi32>", "tensor<20x333xi32>"],
        [("%r#0", "tensor<20xi32>"), ("%r#1", "tensor<20xi32>")],
        """%least = stablehlo.constant dense<-9> : tensor<i32>
        %r:2 = stablehlo.reduce(%0 init: %least), (%1 init: %least) across dimensions = [1] :
            (tensor<20x333xi32>, tensor<20x333xi32>, tensor<i32>, tensor<i32>) -> (tensor<20xi32>, tensor<20xi32>)
        reducer(%p: tensor<i32>, %q: tensor<i32>) (%s: tensor<i32>, %t: tensor<i32>) {
          %g = stablehlo.compare GE, %p, %q, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
          %m = stablehlo.select %g, %p, %q : tensor<i1>, tensor<i32>
          %n = stablehlo.select %g, %s, %t : tensor<i1>, tensor<i32>
          stablehlo.return %m, %n : tensor<i32>, tensor<i32>
        }""",
    ),
    "windows": program(
        [tensor((2, 14, 13, 24))],
        [("%r", tensor((2, 7, 6, 24)))],
        f"""%c = stablehlo.constant dense<{LEAST["f32"]}> : tensor<f32>
        %r = "stablehlo.reduce_window"(%0, %c) ({{
        ^bb0(%a: tensor<f32>, %b: tensor<f32>):
          %m = stablehlo.maximum %a, %b : tensor<f32>
          stablehlo.return %m : tensor<f32>
        }}) {{window_dimensions = array<i64: 1, 2, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}} :
            (tensor<2x14x13x24xf32>, tensor<f32>) -> tensor<2x7x6x24xf32>""",
    ),
    "contraction": program(
        [tensor((70, 33)), tensor((33, 50)), tensor((50,))],
        [("%r", tensor((70, 50)))],
        """%d = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<70x33xf32>, tensor<33x50xf32>) -> tensor<70x50xf32>
        %b = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<50xf32>) -> tensor<70x50xf32>
        %r = stablehlo.add %d, %b : tensor<70x50xf32>""",
    ),
}

PROGRAMS = {**ELEMENTWISE, **MOVEMENT, **REDUCTIONS}


@pytest.mark.parametrize("name", PROGRAMS)
def test_against_the_interpreter(name, interpreter):
    check_program(PROGRAMS[name], interpreter)


def half_softmax(x):
    wide = x.astype(np.float64)
    e = np.exp(wide - wide.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


@pytest.mark.parametrize("element", ["f16", "bf16"])
def test_half_precision_sums_in_single(element):
    """The interpreter rounds every partial sum; hloom does not."""
    dtype = {"f16": np.dtype(np.float16), "bf16": np.dtype(ml_dtypes.bfloat16)}[element]
    x = np.random.default_rng(2).normal(size=(12, 777)).astype(dtype)
    out = np.zeros(x.size, dtype)
    module, groups = gpu_kernels(softmax(x.shape, element))
    assert len(groups) == 1
    Kernels(module).launch(groups[0].name, [x.reshape(-1), out])
    rounding = {"f16": 4e-3, "bf16": 3e-2}[element]
    np.testing.assert_allclose(out.astype(np.float64), half_softmax(x).reshape(-1), rtol=rounding, atol=1e-6)


@pytest.mark.parametrize("name", ["softmax", "softmax of odd rows", "whole", "transpose"])
def test_each_input_is_read_once(name, interpreter):
    """What moves is what the program's arguments and results hold."""
    module, groups = gpu_kernels(PROGRAMS[name])
    (counters,) = check_program(PROGRAMS[name], interpreter).values()
    tensors = [*groups[0].inputs, *groups[0].results]
    least = sum(prod(t.shape) * 4 for t in tensors)
    moved = counters.global_read_bytes + counters.global_written_bytes
    assert least <= moved <= 1.06 * least
    vectors = [op for op in walk(module.operation, "vector.load") if "global" not in str(op)]
    assert name == "softmax of odd rows" or all(ir.IntegerAttr(op.attributes["alignment"]).value == 16 for op in vectors)


@pytest.mark.parametrize("name", ["concatenate whole accesses", "turned halves of heads"])
def test_pieces_of_whole_accesses_are_read_by_these(name):
    module, _ = gpu_kernels(PROGRAMS[name])
    loads = [str(op.results[0].type) for op in walk(module.operation, lambda op: op.name.endswith(".load"))]
    assert loads and all(kind in ("vector<4xf32>", "vector<8xbf16>") for kind in loads), loads


def test_a_tile_across_a_short_axis_is_long_along_the_other():
    """Three channels beside 256 pixels, not 32: a block has as many elements as of square tiles."""
    text = unary("%r = stablehlo.transpose %0, dims = [0, 2, 1] : ({given}) -> {made}", (32, 3, 50176), (32, 50176, 3), "bf16")
    module, _ = gpu_kernels(text)
    (kernel,) = walk(module.operation, "gpu.func")
    assert launch_extents(kernel, "grid")[0] == 32 * 50176 // 256


POOL = program(
    [tensor((1, 56, 56, 64)), tensor((64,))],
    [("%r", tensor((1, 28, 28, 64)))],
    """%zero = stablehlo.constant dense<0.0> : tensor<f32>
        %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
        %b = stablehlo.broadcast_in_dim %1, dims = [3] : (tensor<64xf32>) -> tensor<1x56x56x64xf32>
        %s = stablehlo.add %0, %b : tensor<1x56x56x64xf32>
        %z = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<1x56x56x64xf32>
        %y = stablehlo.maximum %s, %z : tensor<1x56x56x64xf32>
        %r = "stablehlo.reduce_window"(%y, %least) ({
        ^bb0(%a: tensor<f32>, %c: tensor<f32>):
          %m = stablehlo.maximum %a, %c : tensor<f32>
          stablehlo.return %m : tensor<f32>
        }) {window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>,
            padding = dense<[[0, 0], [1, 0], [1, 0], [0, 0]]> : tensor<4x2xi64>} :
            (tensor<1x56x56x64xf32>, tensor<f32>) -> tensor<1x28x28x64xf32>""",
)


def test_pools_are_spread_over_blocks(interpreter):
    """A pool of what is computed pixel by pixel: each thread has four neighbouring channels, and pixels lie in many blocks."""
    module, _ = gpu_kernels(POOL)
    (kernel,) = walk(module.operation, "gpu.func")
    assert launch_extents(kernel, "grid")[0] >= 98 and "vector.store" in str(kernel) and "memref.store" not in str(kernel)
    (counters,) = check_program(POOL, interpreter).values()
    assert counters.sectors_per_write == 16 and 14 <= counters.sectors_per_read <= 16  # 32 threads with 16 bytes each, one after the other


DEPTHWISE = program(
    [tensor((1, 30, 30, 96), "f64"), tensor((96, 3, 3, 1), "f64"), tensor((96,), "f64")],
    [("%r", tensor((1, 28, 28, 96), "f64"))],
    """%c = stablehlo.convolution(%0, %1) dim_numbers = [b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f], window = {}
            {feature_group_count = 96 : i64, batch_group_count = 1 : i64} :
            (tensor<1x30x30x96xf64>, tensor<96x3x3x1xf64>) -> tensor<1x28x28x96xf64>
        %b = stablehlo.broadcast_in_dim %2, dims = [3] : (tensor<96xf64>) -> tensor<1x28x28x96xf64>
        %r = stablehlo.add %c, %b : tensor<1x28x28x96xf64>""",
)


def test_filters_that_lie_across_are_read_in_whole_sectors(interpreter):
    """Lanes run along the channels, 16 bytes each, and the filter goes through shared memory: a line of memory is read by one request."""
    module, _ = gpu_kernels(DEPTHWISE)
    (kernel,) = walk(module.operation, "gpu.func")
    assert "vector<2xf64>" in str(kernel) and "gpu.barrier" in str(kernel)
    (counters,) = check_program(DEPTHWISE, interpreter).values()
    assert counters.sectors_per_write == 16 and counters.sectors_per_read <= 16


ONE_TILE = """
#ij = affine_map<(d0, d1) -> (d0, d1)>
#i = affine_map<(d0, d1) -> (d0)>
#ji = affine_map<(d0, d1) -> (d1, d0)>
func.func private @shares(%x: tensor<{rows}x4xf32>) -> tensor<4x{rows}xf32> attributes {{hloom.kind = "multi_reduce"}} {{
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x{rows}xf32>
  %r = scf.forall (%t) = (0) to (1) step (1) shared_outs(%o = %e) -> (tensor<4x{rows}xf32>) {{
    %se = tensor.empty() : tensor<{rows}xf32>
    %f = linalg.fill ins(%zero : f32) outs(%se : tensor<{rows}xf32>) -> tensor<{rows}xf32>
    %s = linalg.generic {{indexing_maps = [#ij, #i], iterator_types = ["parallel", "reduction"]}}
        ins(%x : tensor<{rows}x4xf32>) outs(%f : tensor<{rows}xf32>) {{
    ^bb0(%in: f32, %acc: f32):
      %a = arith.addf %acc, %in : f32
      linalg.yield %a : f32
    }} -> tensor<{rows}xf32>
    %y = linalg.generic {{indexing_maps = [#ij, #i, #ji], iterator_types = ["parallel", "parallel"]}}
        ins(%x, %s : tensor<{rows}x4xf32>, tensor<{rows}xf32>) outs(%o : tensor<4x{rows}xf32>) {{
    ^bb0(%in: f32, %sum: f32, %out: f32):
      %v = arith.divf %in, %sum : f32
      linalg.yield %v : f32
    }} -> tensor<4x{rows}xf32>
    scf.forall.in_parallel {{
      tensor.parallel_insert_slice %y into %o[0, 0] [4, {rows}] [1, 1] : tensor<4x{rows}xf32> into tensor<4x{rows}xf32>
    }}
  }}
  return %r : tensor<4x{rows}xf32>
}}
"""


@pytest.mark.parametrize(("rows", "shared"), [(100, True), (3000, True), (14001, False)])
def test_one_tile_of_many_rows(rows, shared):
    """Sums that others need go through shared memory; where they do not fit, who needs one computes it again."""
    module = parse_module(ONE_TILE.format(rows=rows), make_context())
    find_pass("distribute-tiles").fn(module.operation)
    assert module.operation.verify()
    x = np.random.default_rng(0).uniform(1, 2, (rows, 4)).astype(np.float32)
    out = np.zeros(x.size, np.float32)
    counters = Kernels(module).launch("shares", [x.reshape(-1), out])
    assert (counters.barriers > 0) == shared
    np.testing.assert_allclose(out.reshape(4, rows), (x / x.sum(1, keepdims=True)).T, rtol=1e-6)
