// RUN: hloom-opt %s --legalize-batch-norm | filecheck %s

// Changed: The scale is divided over the features alone.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<2x3x4xf32>, %[[S:.*]]: tensor<3xf32>, %[[O:.*]]: tensor<3xf32>, %[[M:.*]]: tensor<3xf32>, %[[V:.*]]: tensor<3xf32>
// CHECK: %[[E:.*]] = stablehlo.constant dense<1.000000e-03> : tensor<3xf32>
// CHECK: %[[VE:.*]] = stablehlo.add %[[V]], %[[E]]
// CHECK: %[[D:.*]] = stablehlo.sqrt %[[VE]]
// CHECK: %[[F:.*]] = stablehlo.divide %[[S]], %[[D]]
// CHECK: stablehlo.broadcast_in_dim %[[M]], dims = [1]
// CHECK: stablehlo.subtract %[[X]]
// CHECK: stablehlo.broadcast_in_dim %[[F]], dims = [1]
// CHECK: stablehlo.broadcast_in_dim %[[O]], dims = [1]
// CHECK: stablehlo.add
func.func @main(%x: tensor<2x3x4xf32>, %s: tensor<3xf32>, %o: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %0 = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %v) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}>
    : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  return %0 : tensor<2x3x4xf32>
}

// Changed: The mean comes first, then the variance around it; sums of f16 are of f32.
// CHECK-LABEL: func.func @training
// CHECK: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<2x3xf16>) -> tensor<2x3xf32>
// CHECK: stablehlo.reduce(%[[X]] init: %{{.*}}) applies stablehlo.add across dimensions = [0]
// CHECK: stablehlo.divide
// CHECK: %[[C:.*]] = stablehlo.subtract %[[X]]
// CHECK: %[[Q:.*]] = stablehlo.multiply %[[C]], %[[C]]
// CHECK: stablehlo.reduce(%[[Q]] init: %{{.*}}) applies stablehlo.add across dimensions = [0]
func.func @training(%x: tensor<2x3xf16>, %s: tensor<3xf16>, %o: tensor<3xf16>) -> (tensor<2x3xf16>, tensor<3xf16>, tensor<3xf16>) {
  %0:3 = "stablehlo.batch_norm_training"(%x, %s, %o) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}>
    : (tensor<2x3xf16>, tensor<3xf16>, tensor<3xf16>) -> (tensor<2x3xf16>, tensor<3xf16>, tensor<3xf16>)
  return %0#0, %0#1, %0#2 : tensor<2x3xf16>, tensor<3xf16>, tensor<3xf16>
}

// Changed: Two sums over the batch.
// CHECK-LABEL: func.func @grad
// CHECK-COUNT-2: stablehlo.reduce(
// CHECK-NOT: stablehlo.reduce(
// CHECK-NOT: batch_norm
func.func @grad(%x: tensor<2x3xf32>, %s: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>, %g: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0:3 = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g) <{epsilon = 1.0e-3 : f32, feature_index = 1 : i64}>
    : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %0#0 : tensor<2x3xf32>
}

// Unchanged: No batch norm.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: %[[R:.*]] = stablehlo.rsqrt %arg0
// CHECK-NEXT: return %[[R]]
func.func @none(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.rsqrt %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
