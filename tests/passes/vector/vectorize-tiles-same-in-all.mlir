// RUN: hloom-opt %s --tile-and-fuse --vectorize-tiles --canonicalize --split-input-file | filecheck %s

// Changed: A reduction that no tile computes otherwise than the next, and what follows it, are computed once a call, before the tiles.
// CHECK-LABEL: func.func private @minus_mean(
// CHECK-SAME: %[[LO:.*]]: index, %[[HI:.*]]: index
// CHECK: %[[SOME:.*]] = arith.cmpi ult, %[[LO]], %[[HI]]
// CHECK: scf.if %[[SOME]] {
// CHECK: vector.reduction <add>
// CHECK: arith.divf
// CHECK: scf.for %{{.*}} = %[[LO]] to %[[HI]]
// CHECK-NOT: vector.reduction
// CHECK: arith.subf
// CHECK: return
#all = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>
#scalar = affine_map<() -> ()>
func.func private @minus_mean(%x: tensor<65536xf32>, %p: tensor<256xf32>) -> tensor<65536xf32> attributes {hloom.kind = "loop"} {
  %zero = arith.constant 0.0 : f32
  %count = arith.constant 65536.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.generic {indexing_maps = [#all, #none], iterator_types = ["reduction"]} ins(%p : tensor<256xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %sum: f32):
    %0 = arith.addf %sum, %a : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  %m = linalg.generic {indexing_maps = [#scalar], iterator_types = []} outs(%s : tensor<f32>) {
  ^bb0(%sum: f32):
    %0 = arith.divf %sum, %count : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  %g = tensor.empty() : tensor<65536xf32>
  %r = linalg.generic {indexing_maps = [#all, #none, #all], iterator_types = ["parallel"]} ins(%x, %m : tensor<65536xf32>, tensor<f32>) outs(%g : tensor<65536xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<65536xf32>
  return %r : tensor<65536xf32>
}

// -----

// Changed: Of rows of parts a tile needs the sum of its own row. All eight are computed before the tiles.
// CHECK-LABEL: func.func private @minus_sums(
// CHECK: scf.if
// CHECK: vector.reduction <add>
// CHECK: memref.store %{{.*}} : memref<8xf32>
// CHECK: scf.for %{{.*}} = %arg0 to %arg1
// CHECK-NOT: vector.reduction
// CHECK: memref.load %{{.*}} : memref<8xf32>
// CHECK: arith.subf
// CHECK: return
#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func private @minus_sums(%x: tensor<8x65536xf32>, %p: tensor<8x32xf32>) -> tensor<8x65536xf32> attributes {hloom.kind = "loop"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<8x32xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %0 = arith.addf %sum, %a : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %g = tensor.empty() : tensor<8x65536xf32>
  %r = linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<8x65536xf32>, tensor<8xf32>) outs(%g : tensor<8x65536xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8x65536xf32>
  return %r : tensor<8x65536xf32>
}
