// RUN: hloom-opt %s --tile-and-fuse --split-input-file | filecheck %s

// Changed: The tiles that a policy's rule asks for in place of the schedule's.
// CHECK: code = "POLICY_FORCED"{{.*}}policy_rule = "tile 1: sizes = [5, 100]"{{.*}}reason = "tiles of [5, 100]"
// CHECK-LABEL: func.func private @asked
// CHECK-SAME: hloom.tiled = array<i64: 5, 100>
// CHECK: scf.forall {{.*}} = (0, 0) to (1021, 1000) step (5, 100)
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @asked(%x: tensor<1021x1000xf32>) -> tensor<1021x1000xf32>
    attributes {hloom.kind = "loop", hloom.tile = array<i64: 5, 100>, hloom.tile_rule = "tile 1: sizes = [5, 100]"} {
  %e = tensor.empty() : tensor<1021x1000xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1021x1000xf32>) outs(%e : tensor<1021x1000xf32>) {
  ^bb0(%p: f32, %o: f32):
    %0 = arith.negf %p : f32
    linalg.yield %0 : f32
  } -> tensor<1021x1000xf32>
  return %r : tensor<1021x1000xf32>
}

// -----

// Declined: Sizes that are no tile; the record says why, and the schedule's hold.
// CHECK: code = "POLICY_UNMET"{{.*}}reason = "its first result has 2 dimensions, the rule 1 sizes"
// CHECK-LABEL: func.func private @refused
// CHECK-SAME: hloom.tiled = array<i64: 8, 0>
// CHECK: scf.forall {{.*}} = (0) to (1021) step (8)
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @refused(%x: tensor<1021x1000xf32>) -> tensor<1021x1000xf32>
    attributes {hloom.kind = "loop", hloom.tile = array<i64: 5>, hloom.tile_rule = "tile 1: sizes = [5]"} {
  %e = tensor.empty() : tensor<1021x1000xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1021x1000xf32>) outs(%e : tensor<1021x1000xf32>) {
  ^bb0(%p: f32, %o: f32):
    %0 = arith.negf %p : f32
    linalg.yield %0 : f32
  } -> tensor<1021x1000xf32>
  return %r : tensor<1021x1000xf32>
}

// -----

// Unchanged: Sizes that are the schedule's.
// CHECK-LABEL: func.func private @same
// CHECK: scf.forall {{.*}} = (0) to (1021) step (8)
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @same(%x: tensor<1021x1000xf32>) -> tensor<1021x1000xf32>
    attributes {hloom.kind = "loop", hloom.tile = array<i64: 8, 0>, hloom.tile_rule = "tile 1: sizes = [8, 0]"} {
  %e = tensor.empty() : tensor<1021x1000xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<1021x1000xf32>) outs(%e : tensor<1021x1000xf32>) {
  ^bb0(%p: f32, %o: f32):
    %0 = arith.negf %p : f32
    linalg.yield %0 : f32
  } -> tensor<1021x1000xf32>
  return %r : tensor<1021x1000xf32>
}
