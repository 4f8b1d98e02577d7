// RUN: hloom-opt %s --tile-and-fuse | filecheck %s

// Rows of a sum that L2 does not hold: tiles cut them as evenly as blocks of six registers' rows can, of 512 five times 90 and 62, not 86.
// CHECK-LABEL: func.func @in_parts(
// CHECK: scf.forall (%{{.*}}) = (0) to (512) step (90)

// Unchanged: few rows are those of one tile.
// CHECK-LABEL: func.func @few(
// CHECK: scf.forall (%{{.*}}) = (0) to (512) step (256)
#a = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n floordiv 64, k, n mod 64)>
#c = affine_map<(m, n, k) -> (m, n)>
module attributes {hloom.target = {name = "cpu-avx512", l2_bytes = 1048576 : i64}} {
  func.func @in_parts(%x: tensor<512x2048xf32>, %w: tensor<8x2048x64xf32>) -> tensor<512x512xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
    %m = linalg.generic {indexing_maps = [#a, #w, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<512x2048xf32>, tensor<8x2048x64xf32>) outs(%f : tensor<512x512xf32>) {
    ^bb0(%p: f32, %q: f32, %acc: f32):
      %0 = arith.mulf %p, %q : f32
      %1 = arith.addf %acc, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<512x512xf32>
    return %m : tensor<512x512xf32>
  }

  func.func @few(%x: tensor<96x2048xf32>, %w: tensor<8x2048x64xf32>) -> tensor<96x512xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<96x512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<96x512xf32>) -> tensor<96x512xf32>
    %m = linalg.generic {indexing_maps = [#a, #w, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<96x2048xf32>, tensor<8x2048x64xf32>) outs(%f : tensor<96x512xf32>) {
    ^bb0(%p: f32, %q: f32, %acc: f32):
      %0 = arith.mulf %p, %q : f32
      %1 = arith.addf %acc, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<96x512xf32>
    return %m : tensor<96x512xf32>
  }
}
