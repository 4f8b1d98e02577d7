// RUN: hloom-opt %s --simplify-stablehlo --split-input-file | filecheck %s

// Changed: A product with ones is a sum, of halves in f32.
// CHECK-LABEL: func.func @left(
// CHECK: %[[S:.*]] = stablehlo.reduce(%arg0 init: %{{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[S]], dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
// CHECK: return %[[B]]
func.func @left(%x: tensor<8x4xf32>) -> tensor<8x16xf32> {
  %ones = stablehlo.constant dense<1.0> : tensor<4x16xf32>
  %0 = stablehlo.dot_general %x, %ones, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @right(
// CHECK: %[[W:.*]] = stablehlo.convert %{{.*}} : (tensor<3x{{.*}}xf16>) -> tensor<3x{{.*}}xf32>
// CHECK: %[[S:.*]] = stablehlo.reduce(%[[W]] init: %{{.*}}) applies stablehlo.add across dimensions = [1]
// CHECK: %[[N:.*]] = stablehlo.convert %[[S]] : (tensor<3x16xf32>) -> tensor<3x16xf16>
// CHECK: stablehlo.broadcast_in_dim %[[N]], dims = [0, 2] : (tensor<3x16xf16>) -> tensor<3x8x16xf16>
func.func @right(%w: tensor<3x4x16xf16>) -> tensor<3x8x16xf16> {
  %ones = stablehlo.constant dense<1.0> : tensor<3x8x4xf16>
  %0 = stablehlo.dot_general %ones, %w, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x4xf16>, tensor<3x4x16xf16>) -> tensor<3x8x16xf16>
  return %0 : tensor<3x8x16xf16>
}

// -----

// Declined: Twos would round otherwise, and a product of truth values is no sum.
// CHECK-LABEL: func.func @declined(
// CHECK-COUNT-2: stablehlo.dot_general
func.func @declined(%x: tensor<8x4xf32>, %p: tensor<8x4xi1>) -> (tensor<8x16xf32>, tensor<8x16xi1>) {
  %twos = stablehlo.constant dense<2.0> : tensor<4x16xf32>
  %true = stablehlo.constant dense<true> : tensor<4x16xi1>
  %0 = stablehlo.dot_general %x, %twos, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %1 = stablehlo.dot_general %p, %true, contracting_dims = [1] x [0] : (tensor<8x4xi1>, tensor<4x16xi1>) -> tensor<8x16xi1>
  return %0, %1 : tensor<8x16xf32>, tensor<8x16xi1>
}

// -----

// Changed: Batches that share the right operand are rows of one product, as attention's projection of sequence-first tokens has them.
// CHECK-LABEL: func.func @shared(
// CHECK-SAME: %[[X:.*]]: tensor<128x4x16xf32>, %[[W:.*]]: tensor<16x8xf32>
// CHECK-NEXT: stablehlo.dot_general %[[X]], %[[W]], contracting_dims = [2] x [0] : (tensor<128x4x16xf32>, tensor<16x8xf32>) -> tensor<128x4x8xf32>
// CHECK-NEXT: return
func.func @shared(%x: tensor<128x4x16xf32>, %w: tensor<16x8xf32>) -> tensor<128x4x8xf32> {
  %0 = stablehlo.broadcast_in_dim %w, dims = [1, 2] : (tensor<16x8xf32>) -> tensor<128x16x8xf32>
  %1 = stablehlo.dot_general %x, %0, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<128x4x16xf32>, tensor<128x16x8xf32>) -> tensor<128x4x8xf32>
  return %1 : tensor<128x4x8xf32>
}

// One of two batches is shared.
// CHECK-LABEL: func.func @shared_inner(
// CHECK-SAME: %[[X:.*]]: tensor<3x5x4x16xf32>, %[[W:.*]]: tensor<3x16x8xf32>
// CHECK-NEXT: stablehlo.dot_general %[[X]], %[[W]], batching_dims = [0] x [0], contracting_dims = [3] x [1]
// CHECK-NEXT: return
func.func @shared_inner(%x: tensor<3x5x4x16xf32>, %w: tensor<3x16x8xf32>) -> tensor<3x5x4x8xf32> {
  %0 = stablehlo.broadcast_in_dim %w, dims = [0, 2, 3] : (tensor<3x16x8xf32>) -> tensor<3x5x16x8xf32>
  %1 = stablehlo.dot_general %x, %0, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<3x5x4x16xf32>, tensor<3x5x16x8xf32>) -> tensor<3x5x4x8xf32>
  return %1 : tensor<3x5x4x8xf32>
}

// Declined: The order of the result would change: the outer of two batches is shared, the batch comes behind the rows, the left operand is shared.
// CHECK-LABEL: func.func @shared_declined(
// CHECK-COUNT-3: stablehlo.dot_general {{.*}}batching_dims
func.func @shared_declined(%x: tensor<3x5x4x16xf32>, %v: tensor<5x16x8xf32>, %y: tensor<4x3x16xf32>, %w: tensor<16x8xf32>, %u: tensor<4x16xf32>, %z: tensor<3x16x8xf32>)
    -> (tensor<3x5x4x8xf32>, tensor<3x4x8xf32>, tensor<3x4x8xf32>) {
  %0 = stablehlo.broadcast_in_dim %v, dims = [1, 2, 3] : (tensor<5x16x8xf32>) -> tensor<3x5x16x8xf32>
  %1 = stablehlo.dot_general %x, %0, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<3x5x4x16xf32>, tensor<3x5x16x8xf32>) -> tensor<3x5x4x8xf32>
  %2 = stablehlo.broadcast_in_dim %w, dims = [1, 2] : (tensor<16x8xf32>) -> tensor<3x16x8xf32>
  %3 = stablehlo.dot_general %y, %2, batching_dims = [1] x [0], contracting_dims = [2] x [1] : (tensor<4x3x16xf32>, tensor<3x16x8xf32>) -> tensor<3x4x8xf32>
  %4 = stablehlo.broadcast_in_dim %u, dims = [1, 2] : (tensor<4x16xf32>) -> tensor<3x4x16xf32>
  %5 = stablehlo.dot_general %4, %z, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x4x16xf32>, tensor<3x16x8xf32>) -> tensor<3x4x8xf32>
  return %1, %3, %5 : tensor<3x5x4x8xf32>, tensor<3x4x8xf32>, tensor<3x4x8xf32>
}
