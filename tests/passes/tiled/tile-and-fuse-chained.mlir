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

// -----

// Changed: Heads share a mask whose work, done anew for each of them, is little beside the products: tiles are of one head.
// CHECK-LABEL: func.func private @heads_share_a_mask
// CHECK: scf.forall (%[[B:.*]], %[[M:.*]]) = (0, 0) to (12, 512) step (1, 32)
// CHECK: linalg.generic {{.*}} tensor<1x512x64xf32>) outs(%{{.*}} : tensor<1x32x512xf32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<32x512xi1>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x32x512xf32>, tensor<32x512xi1>)
#q = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#k = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#o = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#v = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
#all = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#shared = affine_map<(d0, d1, d2) -> (d1, d2)>
#two = affine_map<(d0, d1) -> (d0, d1)>
func.func private @heads_share_a_mask(%q: tensor<12x512x64xf32>, %k: tensor<12x512x64xf32>, %v: tensor<12x512x64xf32>) -> tensor<12x512x64xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12x512x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<12x512x512xf32>) -> tensor<12x512x512xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<12x512x64xf32>, tensor<12x512x64xf32>) outs(%f : tensor<12x512x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12x512x512xf32>
  %e3 = tensor.empty() : tensor<512x512xi1>
  %mask = linalg.generic {indexing_maps = [#two], iterator_types = ["parallel", "parallel"]} outs(%e3 : tensor<512x512xi1>) {
  ^bb0(%out: i1):
    %0 = linalg.index 0 : index
    %1 = linalg.index 1 : index
    %2 = arith.cmpi sge, %0, %1 : index
    linalg.yield %2 : i1
  } -> tensor<512x512xi1>
  %m = linalg.generic {indexing_maps = [#all, #shared, #all], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %mask : tensor<12x512x512xf32>, tensor<512x512xi1>) outs(%e : tensor<12x512x512xf32>) {
  ^bb0(%a: f32, %b: i1, %c: f32):
    %0 = arith.select %b, %a, %zero : f32
    linalg.yield %0 : f32
  } -> tensor<12x512x512xf32>
  %e2 = tensor.empty() : tensor<12x512x64xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<12x512x64xf32>) -> tensor<12x512x64xf32>
  %r = linalg.generic {indexing_maps = [#q, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%m, %v : tensor<12x512x512xf32>, tensor<12x512x64xf32>) outs(%f2 : tensor<12x512x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12x512x64xf32>
  return %r : tensor<12x512x64xf32>
}
