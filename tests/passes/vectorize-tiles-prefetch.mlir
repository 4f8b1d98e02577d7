// RUN: hloom-opt %s --vectorize-tiles --canonicalize --cse --split-input-file | filecheck %s

// The second nest to read a row prefetches the next tile's row; stores to a result beyond the cache prefetch where they will write.
// CHECK-LABEL: func.func private @rows(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<4194304xf32>, %[[O:.*]]: memref<4194304xf32>)
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: memref.prefetch
// CHECK: vector.load %[[X]]
// CHECK-NOT: memref.prefetch
// CHECK: scf.for
// CHECK: memref.prefetch %[[X]][%{{.*}}], read, locality<3>, data
// CHECK: vector.load %[[X]]
// CHECK: memref.prefetch %[[O]][%{{.*}}], write, locality<3>, data
// CHECK: vector.store %{{.*}}, %[[O]]
// CHECK: return
#row = affine_map<(d0, d1) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @rows(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> attributes {hloom.kind = "multi_reduce"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x1024xf32>
  %r = scf.forall (%i) = (0) to (4096) step (1) shared_outs(%o = %e) -> (tensor<4096x1024xf32>) {
    %xs = tensor.extract_slice %x[%i, 0] [1, 1024] [1, 1] : tensor<4096x1024xf32> to tensor<1x1024xf32>
    %os = tensor.extract_slice %o[%i, 0] [1, 1024] [1, 1] : tensor<4096x1024xf32> to tensor<1x1024xf32>
    %se = tensor.empty() : tensor<1xf32>
    %f = linalg.fill ins(%zero : f32) outs(%se : tensor<1xf32>) -> tensor<1xf32>
    %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%xs : tensor<1x1024xf32>) outs(%f : tensor<1xf32>) {
    ^bb0(%a: f32, %b: f32):
      %sum = arith.addf %a, %b : f32
      linalg.yield %sum : f32
    } -> tensor<1xf32>
    %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%xs, %s : tensor<1x1024xf32>, tensor<1xf32>) outs(%os : tensor<1x1024xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %sub = arith.subf %a, %b : f32
      linalg.yield %sub : f32
    } -> tensor<1x1024xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, 0] [1, 1024] [1, 1] : tensor<1x1024xf32> into tensor<4096x1024xf32>
    }
  }
  return %r : tensor<4096x1024xf32>
}

// -----

// One nest that reads each element once, and a result that fits the cache: nothing to prefetch.
// CHECK-LABEL: func.func private @once(
// CHECK-NOT: memref.prefetch
// CHECK: return
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @once(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<64x1024xf32>
  %r = scf.forall (%i) = (0) to (64) step (1) shared_outs(%o = %e) -> (tensor<64x1024xf32>) {
    %xs = tensor.extract_slice %x[%i, 0] [1, 1024] [1, 1] : tensor<64x1024xf32> to tensor<1x1024xf32>
    %os = tensor.extract_slice %o[%i, 0] [1, 1024] [1, 1] : tensor<64x1024xf32> to tensor<1x1024xf32>
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%xs : tensor<1x1024xf32>) outs(%os : tensor<1x1024xf32>) {
    ^bb0(%a: f32, %c: f32):
      %n = arith.negf %a : f32
      linalg.yield %n : f32
    } -> tensor<1x1024xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, 0] [1, 1024] [1, 1] : tensor<1x1024xf32> into tensor<64x1024xf32>
    }
  }
  return %r : tensor<64x1024xf32>
}
