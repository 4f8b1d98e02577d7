// RUN: hloom-opt %s --fold-views --split-input-file | filecheck %s

// A packed contraction whose result is read by the digits of a column (here the 40 of 64 columns that are wanted): the contraction takes the column as its loop.
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 32, d2, d1 mod 32)>
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func private @digits
// CHECK: %[[C:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #[[W]], #{{.*}}], iterator_types = ["parallel", "parallel", "reduction"]} {{.*}} outs(%{{.*}} : tensor<8x40xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ID]]], {{.*}} ins(%[[C]] : tensor<8x40xf32>)
// CHECK-NOT: collapse_shape
#x = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
#w = affine_map<(d0, d1, d2, d3) -> (d1, d3, d2)>
#y = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#digits = affine_map<(d0, d1) -> (d0, d1 floordiv 32, d1 mod 32)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @digits(%x: tensor<8x16xbf16>, %w: tensor<2x16x32xbf16>) -> tensor<8x40xbf16> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x2x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x2x32xf32>) -> tensor<8x2x32xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x16xbf16>, tensor<2x16x32xbf16>) outs(%f : tensor<8x2x32xf32>) {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %sum, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<8x2x32xf32>
  %o = tensor.empty() : tensor<8x40xbf16>
  %r = linalg.generic {indexing_maps = [#digits, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<8x2x32xf32>) outs(%o : tensor<8x40xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<8x40xbf16>
  return %r : tensor<8x40xbf16>
}

// -----

// Digits of another base than the dimension's size stay as they are.
// CHECK: affine_map<(d0) -> (d0 floordiv 16, d0 mod 16)>
// CHECK-LABEL: func.func private @other_base
// CHECK-NOT: collapse_shape
// CHECK: linalg.generic
// CHECK: linalg.generic
#in = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
#digits = affine_map<(d0) -> (d0 floordiv 16, d0 mod 16)>
#id = affine_map<(d0) -> (d0)>
func.func private @other_base(%x: tensor<4x32x8xf32>) -> tensor<64xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x32xf32>) -> tensor<4x32xf32>
  %c = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<4x32x8xf32>) outs(%f : tensor<4x32xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %0 = arith.addf %sum, %a : f32
    linalg.yield %0 : f32
  } -> tensor<4x32xf32>
  %o = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#digits, #id], iterator_types = ["parallel"]} ins(%c : tensor<4x32xf32>) outs(%o : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
