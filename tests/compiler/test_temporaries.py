"""What a tile keeps in memory of its own: only what it needs, and never more than its share of the cache."""

import numpy as np
import pytest

import hloom
from hloom.compiler.parsing import parse_module
from hloom.compiler.pipeline import run_stages
from hloom.compiler.stage_rules import StageError
from hloom.dialects.context import make_context

POOL_OF_A_CONCATENATION = """
func.func @main(%x: tensor<64x128x14x14xf32>) -> tensor<64x256x7x7xf32> {
  %one = stablehlo.constant dense<1.0> : tensor<64x128x14x14xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %more = stablehlo.add %x, %one : tensor<64x128x14x14xf32>
  %both = stablehlo.concatenate %x, %more, dim = 1 : (tensor<64x128x14x14xf32>, tensor<64x128x14x14xf32>) -> tensor<64x256x14x14xf32>
  %r = "stablehlo.reduce_window"(%both, %low) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {window_dimensions = array<i64: 1, 1, 3, 3>, window_strides = array<i64: 1, 1, 2, 2>,
      padding = dense<[[0, 0], [0, 0], [1, 1], [1, 1]]> : tensor<4x2xi64>}
      : (tensor<64x256x14x14xf32>, tensor<f32>) -> tensor<64x256x7x7xf32>
  return %r : tensor<64x256x7x7xf32>
}
"""

WHOLE_ARRAY_IN_A_TILE = """
#id = affine_map<(d0, d1) -> (d0, d1)>
#flipped = affine_map<(d0, d1) -> (d1, d0)>
func.func @main(%a: memref<1024x1024xf32>, %r: memref<1024x1024xf32>, %arena: memref<0xi8>)
    attributes {hloom.arena_bytes = 0 : i64, hloom.live_bytes = 0 : i64,
                hloom.signature = (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>} {
  %0 = "lhlo.ref"(%a) : (memref<1024x1024xf32>) -> !lhlo.buffer
  %1 = "lhlo.ref"(%r) : (memref<1024x1024xf32>) -> !lhlo.buffer
  "lhlo.fusion"(%0, %1) {callee = @flip, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["abs"]}
      : (!lhlo.buffer, !lhlo.buffer) -> ()
  return
}
func.func private @flip(%a: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<1024x1024xf32>
  %r = scf.forall (%i) in (1) shared_outs(%o = %e) -> (tensor<1024x1024xf32>) {
    %t = tensor.empty() : tensor<1024x1024xf32>
    %x = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<1024x1024xf32>) outs(%t : tensor<1024x1024xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = math.absf %in : f32
      linalg.yield %0 : f32
    } -> tensor<1024x1024xf32> loc("the flipped value")
    %y = linalg.generic {indexing_maps = [#flipped, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<1024x1024xf32>) outs(%o : tensor<1024x1024xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<1024x1024xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[0, 0] [1024, 1024] [1, 1] : tensor<1024x1024xf32> into tensor<1024x1024xf32>
    }
  }
  return %r : tensor<1024x1024xf32>
}
"""


def test_windows_over_a_concatenation_of_computed_values():
    """This ended the process: the concatenation and the padded array were whole, on the stack."""
    x = np.random.default_rng(0).standard_normal((64, 128, 14, 14), np.float32)
    padded = np.pad(np.concatenate([x, x + 1], 1), ((0, 0), (0, 0), (1, 1), (1, 1)), constant_values=-np.inf)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, :, ::2, ::2]
    assert np.array_equal(hloom.compile(POOL_OF_A_CONCATENATION)(x), windows.max((-1, -2)))


def test_a_kernel_that_keeps_a_whole_array_is_refused():
    module = parse_module(WHOLE_ARRAY_IN_A_TILE, make_context())
    with pytest.raises(StageError, match=r"kernel @flip keeps \d+ bytes") as caught:
        run_stages(module.operation, "tiled", "vector")
    assert caught.value.stage == "vector" and "the flipped value" in caught.value.loc


def test_a_value_that_no_tile_can_hold_gets_a_buffer():
    """Its windows would need a whole image a tile: 8 MB."""
    text = (
        POOL_OF_A_CONCATENATION.replace("64x128x14x14", "1x1x1400x1400")
        .replace("64x256x14x14", "1x2x1400x1400")
        .replace("64x256x7x7", "1x2x699x699")
        .replace("[1, 1], [1, 1]", "[0, 0], [0, 0]")
    )
    x = np.random.default_rng(0).standard_normal((1, 1, 1400, 1400), np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(np.concatenate([x, x + 1], 1), (3, 3), (2, 3))[:, :, ::2, ::2]
    exe = hloom.compile(text)
    assert np.array_equal(exe(x), windows.max((-1, -2)))
    assert [record["groups"] for record in exe.report.data["decisions"] if record["code"] == "SPLIT"]
