// RUN: hloom-opt %s --stage-linalg --stage-tiled --split-input-file | filecheck %s
// tests/compiler/test_mlp_ingress.py checks that other forms of the layer become this IR, from StableHLO and from torch too.

// An MLP layer as PyTorch hands it over in linalg: transposed weight, matmul, broadcast add, compare and select. It becomes one loop in which
// fill, contraction and epilogue update the slice of the result: no allocation, no copy, nothing left of the transpose.
// CHECK-LABEL: func.func @layer(
// CHECK-SAME: %[[X:.*]]: tensor<500x1016xf32>, %[[W:.*]]: tensor<1000x1016xf32>, %[[B:.*]]: tensor<1000xf32>) -> tensor<500x1000xf32>
// CHECK-NEXT: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<500x1000xf32>
// CHECK-NEXT: %[[L:.*]] = scf.forall (%[[N:.*]], %[[M:.*]]) = (0, 0) to (1000, 500) step ({{.*}}) shared_outs(%[[O:.*]] = %[[E]]) -> (tensor<500x1000xf32>) {
// CHECK-NOT: tensor.empty
// CHECK-NOT: linalg.transpose
// CHECK: %[[S:.*]] = tensor.extract_slice %[[O]][%[[M]], %[[N]]]
// CHECK-NEXT: %[[F:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%[[S]] :
// CHECK-NEXT: %[[XS:.*]] = tensor.extract_slice %[[X]][%[[M]], 0]
// CHECK-NEXT: %[[WS:.*]] = tensor.extract_slice %[[W]][%[[N]], 0]
// CHECK-NEXT: %[[C:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[XS]], %[[WS]] : {{.*}}) outs(%[[F]] :
// CHECK-NEXT: ^bb0(%[[P:.*]]: f32, %[[Q:.*]]: f32, %[[ACC:.*]]: f32):
// CHECK-NEXT: %[[PQ:.*]] = arith.mulf %[[P]], %[[Q]] fastmath<contract>
// CHECK-NEXT: %[[SUM:.*]] = arith.addf %[[ACC]], %[[PQ]] fastmath<contract>
// CHECK-NEXT: linalg.yield %[[SUM]]
// CHECK-NEXT: }
// CHECK-NEXT: %[[BS:.*]] = tensor.extract_slice %[[B]][%[[N]]]
// CHECK-NEXT: %[[R:.*]] = linalg.generic {{.*}}iterator_types = ["parallel", "parallel"]} ins(%[[BS]] : {{.*}}) outs(%[[C]] :
// CHECK-NEXT: ^bb0(%[[BIAS:.*]]: f32, %[[Y:.*]]: f32):
// CHECK-NEXT: %[[Z:.*]] = arith.addf %[[Y]], %[[BIAS]] : f32
// CHECK-NEXT: %[[RELU:.*]] = arith.maximumf %[[Z]], %[[ZERO]] : f32
// CHECK-NEXT: linalg.yield %[[RELU]]
// CHECK-NEXT: }
// CHECK-NEXT: scf.forall.in_parallel {
// CHECK-NEXT: tensor.parallel_insert_slice %[[R]] into %[[O]][%[[M]], %[[N]]]
// CHECK-NEXT: }
// CHECK-NEXT: }
// CHECK-NEXT: return %[[L]]
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
func.func @layer(%x: tensor<500x1016xf32>, %w: tensor<1000x1016xf32>, %b: tensor<1000xf32>) -> tensor<500x1000xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<1016x1000xf32>
  %t = linalg.transpose ins(%w : tensor<1000x1016xf32>) outs(%e0 : tensor<1016x1000xf32>) permutation = [1, 0]
  %e = tensor.empty() : tensor<500x1000xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<500x1000xf32>) -> tensor<500x1000xf32>
  %m = linalg.matmul ins(%x, %t : tensor<500x1016xf32>, tensor<1016x1000xf32>) outs(%f : tensor<500x1000xf32>) -> tensor<500x1000xf32>
  %a = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %b : tensor<500x1000xf32>, tensor<1000xf32>) outs(%e : tensor<500x1000xf32>) {
  ^bb0(%in: f32, %bias: f32, %out: f32):
    %0 = arith.addf %in, %bias : f32
    linalg.yield %0 : f32
  } -> tensor<500x1000xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<500x1000xf32>) outs(%e : tensor<500x1000xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.cmpf ugt, %in, %zero : f32
    %1 = arith.select %0, %in, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<500x1000xf32>
  return %r : tensor<500x1000xf32>
}

// -----

// The product is returned as well: still one loop, in which each result has its own slice, and the epilogue reads the product's tile.
// CHECK-LABEL: func.func @product_too(
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = {{.*}} shared_outs(%[[O:.*]] = %{{.*}}, %[[P:.*]] = %{{.*}})
// CHECK-NOT: tensor.empty
// CHECK: %[[C:.*]] = linalg.generic {{.*}}"reduction"]
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[C]]
// CHECK: scf.forall.in_parallel {
// CHECK-DAG: tensor.parallel_insert_slice %[[C]] into
// CHECK-DAG: tensor.parallel_insert_slice %[[R]] into
// CHECK: }
// CHECK-NOT: scf.forall
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @product_too(%x: tensor<1024x512xf32>, %w: tensor<512x1024xf32>) -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %m = linalg.matmul ins(%x, %w : tensor<1024x512xf32>, tensor<512x1024xf32>) outs(%f : tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%m : tensor<1024x1024xf32>) outs(%e : tensor<1024x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %in, %zero : f32
    linalg.yield %0 : f32
  } -> tensor<1024x1024xf32>
  return %m, %r : tensor<1024x1024xf32>, tensor<1024x1024xf32>
}
