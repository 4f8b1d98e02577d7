// RUN: hloom-opt %s --simplify-stablehlo --split-input-file | filecheck %s

// A product with ones is a sum, of halves in f32.
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

// Twos would round otherwise, and a product of truth values is no sum.
// CHECK-LABEL: func.func @declined(
// CHECK-COUNT-2: stablehlo.dot_general
func.func @declined(%x: tensor<8x4xf32>, %p: tensor<8x4xi1>) -> (tensor<8x16xf32>, tensor<8x16xi1>) {
  %twos = stablehlo.constant dense<2.0> : tensor<4x16xf32>
  %true = stablehlo.constant dense<true> : tensor<4x16xi1>
  %0 = stablehlo.dot_general %x, %twos, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  %1 = stablehlo.dot_general %p, %true, contracting_dims = [1] x [0] : (tensor<8x4xi1>, tensor<4x16xi1>) -> tensor<8x16xi1>
  return %0, %1 : tensor<8x16xf32>, tensor<8x16xi1>
}
