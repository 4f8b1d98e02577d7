// RUN: hloom-opt %s --legalize-einsum | filecheck %s

// Changed: The letters say what is batched and contracted, and the order of the result.
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %[[D:.*]] = stablehlo.dot_general %arg0, %arg1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : {{.*}} -> tensor<2x3x5xf32>
// CHECK-NEXT: %[[R:.*]] = stablehlo.transpose %[[D]], dims = [0, 2, 1]
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<2x3x4xf32>, %y: tensor<2x4x5xf32>) -> tensor<2x5x3xf32> {
  %0 = "stablehlo.einsum"(%x, %y) <{einsum_config = "bij,bjk->bki"}> : (tensor<2x3x4xf32>, tensor<2x4x5xf32>) -> tensor<2x5x3xf32>
  return %0 : tensor<2x5x3xf32>
}

// Changed: A diagonal is picked, and what one operand alone has is summed, before the contraction.
// CHECK-LABEL: func.func @diagonal
// CHECK: stablehlo.compare EQ
// CHECK: stablehlo.select
// CHECK: stablehlo.reduce({{.*}} dimensions = [1] : (tensor<3x3x4xf32>
// CHECK: stablehlo.reduce({{.*}} dimensions = [1] : (tensor<3x4xf32>
// CHECK: stablehlo.dot_general
func.func @diagonal(%x: tensor<3x3x4xf32>, %y: tensor<3x5xf32>) -> tensor<5xf32> {
  %0 = "stablehlo.einsum"(%x, %y) <{einsum_config = "iij,ik->k"}> : (tensor<3x3x4xf32>, tensor<3x5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// Unchanged: No einsum.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: %[[R:.*]] = stablehlo.rsqrt %arg0
// CHECK-NEXT: return %[[R]]
func.func @none(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.rsqrt %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
