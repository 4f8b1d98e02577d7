// RUN: hloom-opt %s --tile-and-fuse --split-input-file | filecheck %s

// Changed: Two contractions: tiles of rows, whole along what the second one sums. hloom.live: the values between have the columns of the
// tile's last row alone; what is read stays whole, so that a panel of it serves all tiles.
// CHECK: #[[LIVE:.*]] = affine_map<(d0) -> (d0 + 32, 512)>
// CHECK-LABEL: func.func private @causal
// CHECK: scf.forall (%[[B:.*]], %[[M:.*]]) = (0, 0) to (12, 512) step (1, 32)
// CHECK: %[[COLUMNS:.*]] = affine.min #[[LIVE]](%[[M]])
// CHECK: tensor.empty(%[[COLUMNS]]) : tensor<1x32x?xf32>
// CHECK: tensor.extract_slice %arg1[%[[B]], 0, 0] [1, 512, 64]
// CHECK: linalg.generic {{.*}} tensor<1x512x64xf32>) outs(%{{.*}} : tensor<1x32x?xf32>)
#q = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#k = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#o = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#v = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
func.func private @causal(%q: tensor<12x512x64xf32>, %k: tensor<12x512x64xf32>, %v: tensor<12x512x64xf32>) -> tensor<12x512x64xf32> attributes {hloom.kind = "matmul", hloom.live = array<i64: 512, 512, 1>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12x512x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<12x512x512xf32>) -> tensor<12x512x512xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<12x512x64xf32>, tensor<12x512x64xf32>) outs(%f : tensor<12x512x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12x512x512xf32>
  %e2 = tensor.empty() : tensor<12x512x64xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<12x512x64xf32>) -> tensor<12x512x64xf32>
  %r = linalg.generic {indexing_maps = [#q, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%s, %v : tensor<12x512x512xf32>, tensor<12x512x64xf32>) outs(%f2 : tensor<12x512x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12x512x64xf32>
  return %r : tensor<12x512x64xf32>
}

// -----

// Declined: The rows and columns of hloom.live are not those of the two contractions: all columns are computed.
// CHECK-LABEL: func.func private @of_others
// CHECK: scf.forall
// CHECK: tensor.empty() : tensor<1x32x512xf32>
#q = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#k = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#o = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#v = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
func.func private @of_others(%q: tensor<12x512x64xf32>, %k: tensor<12x512x64xf32>, %v: tensor<12x512x64xf32>) -> tensor<12x512x64xf32> attributes {hloom.kind = "matmul", hloom.live = array<i64: 256, 512, 1>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12x512x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<12x512x512xf32>) -> tensor<12x512x512xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<12x512x64xf32>, tensor<12x512x64xf32>) outs(%f : tensor<12x512x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12x512x512xf32>
  %e2 = tensor.empty() : tensor<12x512x64xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<12x512x64xf32>) -> tensor<12x512x64xf32>
  %r = linalg.generic {indexing_maps = [#q, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%s, %v : tensor<12x512x512xf32>, tensor<12x512x64xf32>) outs(%f2 : tensor<12x512x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12x512x64xf32>
  return %r : tensor<12x512x64xf32>
}
