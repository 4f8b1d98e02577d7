// RUN: hloom-opt %s --split-input-file --place-pieces | filecheck %s

// Changed: A loop keeps two numbers of each of its turns; they are written where the join had them.
// CHECK-DAG: #[[KEPT:.*]] = affine_map<(d0, d1) -> (d0, 0, d1)>
// CHECK-LABEL: func.func @trajectory
// CHECK: scf.forall {{.*}} shared_outs(%[[O:.*]] = %{{.*}})
// CHECK: %[[S:.*]] = tensor.extract_slice %[[O]][0, 0, %{{.*}}] [200, 2, 64]
// CHECK: %[[S0:.*]] = tensor.extract_slice %[[S]][0, 0, 0] [200, 1, 64]
// CHECK: %[[S1:.*]] = tensor.extract_slice %[[S]][0, 1, 0] [200, 1, 64]
// CHECK: %[[R:.*]]:3 = linalg.generic {indexing_maps = [#{{.*}}, #[[KEPT]], #[[KEPT]]]
// CHECK-SAME: outs(%{{.*}}, %[[S0]], %[[S1]] :
// CHECK: %[[P0:.*]] = tensor.insert_slice %[[R]]#1 into %[[S]][0, 0, 0] [200, 1, 64]
// CHECK: %[[P:.*]] = tensor.insert_slice %[[R]]#2 into %[[P0]][0, 1, 0] [200, 1, 64]
// CHECK-NOT: linalg.generic
// CHECK: tensor.parallel_insert_slice %[[P]] into %[[O]]
#total = affine_map<(t, d) -> (d)>
#kept = affine_map<(t, d) -> (t, d)>
#piece = affine_map<(t, k, d) -> (t, d)>
#joined = affine_map<(t, k, d) -> (t, k, d)>
func.func @trajectory(%x: tensor<128xf32>) -> tensor<200x2x128xf32> {
  %c1 = arith.constant 1 : index
  %o = tensor.empty() : tensor<200x2x128xf32>
  %r = scf.forall (%j) = (0) to (128) step (64) shared_outs(%out = %o) -> (tensor<200x2x128xf32>) {
    %a = tensor.extract_slice %x[%j] [64] [1] : tensor<128xf32> to tensor<64xf32>
    %e0 = tensor.empty() : tensor<200x64xf32>
    %e1 = tensor.empty() : tensor<200x64xf32>
    %m:3 = linalg.generic {indexing_maps = [#total, #kept, #kept], iterator_types = ["reduction", "parallel"]} outs(%a, %e0, %e1 : tensor<64xf32>, tensor<200x64xf32>, tensor<200x64xf32>) {
    ^bb0(%s: f32, %k0: f32, %k1: f32):
      %next = arith.mulf %s, %s : f32
      linalg.yield %next, %s, %next : f32, f32, f32
    } -> (tensor<64xf32>, tensor<200x64xf32>, tensor<200x64xf32>)
    %w = tensor.extract_slice %out[0, 0, %j] [200, 2, 64] [1, 1, 1] : tensor<200x2x128xf32> to tensor<200x2x64xf32>
    %p = linalg.generic {indexing_maps = [#piece, #piece, #joined], iterator_types = ["parallel", "parallel", "parallel"]} ins(%m#1, %m#2 : tensor<200x64xf32>, tensor<200x64xf32>) outs(%w : tensor<200x2x64xf32>) {
    ^bb0(%u: f32, %v: f32, %z: f32):
      %i = linalg.index 1 : index
      %first = arith.cmpi slt, %i, %c1 : index
      %y = arith.select %first, %u, %v : f32
      linalg.yield %y : f32
    } -> tensor<200x2x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %p into %out[0, 0, %j] [200, 2, 64] [1, 1, 1] : tensor<200x2x64xf32> into tensor<200x2x128xf32>
    }
  }
  return %r : tensor<200x2x128xf32>
}

// -----

// Declined: A join that computes something; one along the last dimension; a piece that starts from a value.
// CHECK-LABEL: func.func @others
// CHECK-NOT: tensor.insert_slice
// CHECK: scf.forall.in_parallel
#piece = affine_map<(t, k) -> (t)>
#first = affine_map<(k, t) -> (t)>
#joined = affine_map<(t, k) -> (t, k)>
#one = affine_map<(t) -> (t)>
func.func @others(%x: tensor<64xf32>, %f: tensor<64xf32>) -> (tensor<2x64xf32>, tensor<64x2xf32>, tensor<2x64xf32>) {
  %c1 = arith.constant 1 : index
  %o0 = tensor.empty() : tensor<2x64xf32>
  %o1 = tensor.empty() : tensor<64x2xf32>
  %o2 = tensor.empty() : tensor<2x64xf32>
  %r:3 = scf.forall (%j) in (1) shared_outs(%out0 = %o0, %out1 = %o1, %out2 = %o2) -> (tensor<2x64xf32>, tensor<64x2xf32>, tensor<2x64xf32>) {
    %e = tensor.empty() : tensor<64xf32>
    %m:6 = linalg.generic {indexing_maps = [#one, #one, #one, #one, #one, #one, #one], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e, %e, %e, %e, %f, %f : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
    ^bb0(%s: f32, %k0: f32, %k1: f32, %k2: f32, %k3: f32, %k4: f32, %k5: f32):
      %next = arith.mulf %s, %s : f32
      linalg.yield %next, %s, %next, %s, %next, %s : f32, f32, f32, f32, f32, f32
    } -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)
    %w0 = tensor.extract_slice %out0[0, 0] [2, 64] [1, 1] : tensor<2x64xf32> to tensor<2x64xf32>
    %p0 = linalg.generic {indexing_maps = [#first, #first, #joined], iterator_types = ["parallel", "parallel"]} ins(%m#0, %m#1 : tensor<64xf32>, tensor<64xf32>) outs(%w0 : tensor<2x64xf32>) {
    ^bb0(%u: f32, %v: f32, %z: f32):
      %i = linalg.index 0 : index
      %first = arith.cmpi slt, %i, %c1 : index
      %y = arith.select %first, %u, %v : f32
      %n = arith.negf %y : f32
      linalg.yield %n : f32
    } -> tensor<2x64xf32>
    %w1 = tensor.extract_slice %out1[0, 0] [64, 2] [1, 1] : tensor<64x2xf32> to tensor<64x2xf32>
    %p1 = linalg.generic {indexing_maps = [#piece, #piece, #joined], iterator_types = ["parallel", "parallel"]} ins(%m#2, %m#3 : tensor<64xf32>, tensor<64xf32>) outs(%w1 : tensor<64x2xf32>) {
    ^bb0(%u: f32, %v: f32, %z: f32):
      %i = linalg.index 1 : index
      %first = arith.cmpi slt, %i, %c1 : index
      %y = arith.select %first, %u, %v : f32
      linalg.yield %y : f32
    } -> tensor<64x2xf32>
    %w2 = tensor.extract_slice %out2[0, 0] [2, 64] [1, 1] : tensor<2x64xf32> to tensor<2x64xf32>
    %p2 = linalg.generic {indexing_maps = [#first, #first, #joined], iterator_types = ["parallel", "parallel"]} ins(%m#4, %m#5 : tensor<64xf32>, tensor<64xf32>) outs(%w2 : tensor<2x64xf32>) {
    ^bb0(%u: f32, %v: f32, %z: f32):
      %i = linalg.index 0 : index
      %first = arith.cmpi slt, %i, %c1 : index
      %y = arith.select %first, %u, %v : f32
      linalg.yield %y : f32
    } -> tensor<2x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %p0 into %out0[0, 0] [2, 64] [1, 1] : tensor<2x64xf32> into tensor<2x64xf32>
      tensor.parallel_insert_slice %p1 into %out1[0, 0] [64, 2] [1, 1] : tensor<64x2xf32> into tensor<64x2xf32>
      tensor.parallel_insert_slice %p2 into %out2[0, 0] [2, 64] [1, 1] : tensor<2x64xf32> into tensor<2x64xf32>
    }
  }
  return %r#0, %r#1, %r#2 : tensor<2x64xf32>, tensor<64x2xf32>, tensor<2x64xf32>
}

// -----

// Unchanged: A result of one piece.
// CHECK-LABEL: func.func @alone
// CHECK-NOT: tensor.insert_slice
// CHECK: scf.forall.in_parallel
#one = affine_map<(t) -> (t)>
func.func @alone(%x: tensor<64xf32>) -> tensor<64xf32> {
  %o = tensor.empty() : tensor<64xf32>
  %r = scf.forall (%j) in (1) shared_outs(%out = %o) -> (tensor<64xf32>) {
    %m = linalg.generic {indexing_maps = [#one, #one], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%out : tensor<64xf32>) {
    ^bb0(%s: f32, %k: f32):
      %next = arith.mulf %s, %s : f32
      linalg.yield %next : f32
    } -> tensor<64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %m into %out[0] [64] [1] : tensor<64xf32> into tensor<64xf32>
    }
  }
  return %r : tensor<64xf32>
}
