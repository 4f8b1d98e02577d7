// RUN: hloom-opt %s --sink-reshapes --split-input-file | filecheck %s

// Changed: What follows a group norm is computed on its rows; the residual is read so, a number for all stays one.
// CHECK-LABEL: func.func private @fusion_0(
// CHECK: %[[Y:.*]] = stablehlo.multiply {{.*}} : tensor<32x10x4096xf32>
// CHECK: %[[R:.*]] = stablehlo.reshape %arg2 : (tensor<1x320x64x64xf32>) -> tensor<32x10x4096xf32>
// CHECK: %[[S:.*]] = stablehlo.add %[[Y]], %[[R]] : tensor<32x10x4096xf32>
// CHECK: %[[Z:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<32x10x4096xf32>
// CHECK: %[[M:.*]] = stablehlo.maximum %[[S]], %[[Z]] : tensor<32x10x4096xf32>
// CHECK: %[[O:.*]] = stablehlo.reshape %[[M]] : (tensor<32x10x4096xf32>) -> tensor<1x320x64x64xf32>
// CHECK: return %[[O]]
func.func private @fusion_0(%c: tensor<32x10x4096xf32>, %w: tensor<10xf32>, %r: tensor<1x320x64x64xf32>) -> tensor<1x320x64x64xf32> attributes {hloom.kind = "multi_reduce"} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<32x10x4096xf32>, tensor<f32>) -> tensor<32x10xf32>
  %s = stablehlo.broadcast_in_dim %sum, dims = [0, 1] : (tensor<32x10xf32>) -> tensor<32x10x4096xf32>
  %0 = stablehlo.multiply %c, %s : tensor<32x10x4096xf32>
  %1 = stablehlo.reshape %0 : (tensor<32x10x4096xf32>) -> tensor<1x320x64x64xf32>
  %2 = stablehlo.add %1, %r : tensor<1x320x64x64xf32>
  %z = stablehlo.constant dense<0.0> : tensor<1x320x64x64xf32>
  %3 = stablehlo.maximum %2, %z : tensor<1x320x64x64xf32>
  return %3 : tensor<1x320x64x64xf32>
}

// -----

// Declined: a reshape of an argument is a view; what is made of one element each has no rows, and rows may be made of it; a loop has the axes
// of its result.
// CHECK-LABEL: func.func private @view(
// CHECK: stablehlo.exponential {{.*}} : tensor<4x8xf32>
// CHECK-LABEL: func.func private @slice(
// CHECK: stablehlo.divide {{.*}} : tensor<4x8xf32>
// CHECK-LABEL: func.func private @loop(
// CHECK: stablehlo.exponential {{.*}} : tensor<4x8xf32>
func.func private @view(%x: tensor<32xf32>) -> tensor<4x8xf32> attributes {hloom.kind = "multi_reduce"} {
  %0 = stablehlo.reshape %x : (tensor<32xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.exponential %0 : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
func.func private @slice(%x: tensor<37xf32>) -> tensor<4x8xf32> attributes {hloom.kind = "multi_reduce"} {
  %0 = stablehlo.slice %x [0:32] : (tensor<37xf32>) -> tensor<32xf32>
  %1 = stablehlo.negate %0 : tensor<32xf32>
  %2 = stablehlo.reshape %1 : (tensor<32xf32>) -> tensor<4x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %5 = stablehlo.divide %2, %4 : tensor<4x8xf32>
  return %5 : tensor<4x8xf32>
}
func.func private @loop(%x: tensor<32xf32>) -> tensor<4x8xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.negate %x : tensor<32xf32>
  %1 = stablehlo.reshape %0 : (tensor<32xf32>) -> tensor<4x8xf32>
  %2 = stablehlo.exponential %1 : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// Changed: numbers of no dimensions have shapes, too; a condition for all elements has another than these.
// CHECK-LABEL: func.func private @one(
// CHECK: %[[R:.*]] = stablehlo.reshape %arg1 : (tensor<f32>) -> tensor<1xf32>
// CHECK: stablehlo.add {{.*}}, %[[R]] : tensor<1xf32>
// CHECK-LABEL: func.func private @condition(
// CHECK: stablehlo.select %arg2, {{.*}} : tensor<i1>, tensor<32xf32>
func.func private @one(%x: tensor<1x9xf32>, %y: tensor<f32>) -> tensor<f32> attributes {hloom.kind = "multi_reduce"} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1x9xf32>, tensor<f32>) -> tensor<1xf32>
  %1 = stablehlo.reshape %0 : (tensor<1xf32>) -> tensor<f32>
  %2 = stablehlo.add %1, %y : tensor<f32>
  return %2 : tensor<f32>
}
func.func private @condition(%x: tensor<32x9xf32>, %y: tensor<4x8xf32>, %c: tensor<i1>) -> tensor<4x8xf32> attributes {hloom.kind = "multi_reduce"} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<32x9xf32>, tensor<f32>) -> tensor<32xf32>
  %1 = stablehlo.reshape %0 : (tensor<32xf32>) -> tensor<4x8xf32>
  %2 = stablehlo.select %c, %1, %y : tensor<i1>, tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// Unchanged: the rows of GPUs.
module attributes {hloom.target = {kind = "cuda", compute_capability = 90 : i64}} {
  // CHECK-LABEL: func.func private @rows(
  // CHECK: stablehlo.exponential {{.*}} : tensor<4x8xf32>
  func.func private @rows(%x: tensor<32xf32>) -> tensor<4x8xf32> attributes {hloom.kind = "multi_reduce"} {
    %0 = stablehlo.negate %x : tensor<32xf32>
    %1 = stablehlo.reshape %0 : (tensor<32xf32>) -> tensor<4x8xf32>
    %2 = stablehlo.exponential %1 : tensor<4x8xf32>
    return %2 : tensor<4x8xf32>
  }
}

// -----

// Changed: what follows the product of one row with weights in panels is computed on these.
// CHECK-LABEL: func.func private @panels(
// CHECK: %[[D:.*]] = stablehlo.dot_general {{.*}} -> tensor<1x2x64xf32>
// CHECK: %[[B:.*]] = stablehlo.reshape %arg2 : (tensor<1x128xf32>) -> tensor<1x2x64xf32>
// CHECK: stablehlo.add %[[D]], %[[B]] : tensor<1x2x64xf32>
// Declined: two rows.
// CHECK-LABEL: func.func private @rows(
// CHECK: stablehlo.add {{.*}} : tensor<2x128xf32>
// Changed: whatever other reshape comes first.
// CHECK-LABEL: func.func private @step(
// CHECK: stablehlo.reshape %{{.*}} : (tensor<1x128xf32>) -> tensor<1x2x64xf32>
// CHECK: stablehlo.add {{.*}} : tensor<1x2x64xf32>
func.func private @panels(%x: tensor<1x32xf32>, %w: tensor<2x32x64xf32>, %b: tensor<1x128xf32>) -> tensor<1x128xf32> attributes {hloom.kind = "matmul"} {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<1x32xf32>, tensor<2x32x64xf32>) -> tensor<1x2x64xf32>
  %1 = stablehlo.reshape %0 : (tensor<1x2x64xf32>) -> tensor<1x128xf32>
  %2 = stablehlo.add %1, %b : tensor<1x128xf32>
  return %2 : tensor<1x128xf32>
}
func.func private @rows(%x: tensor<2x32xf32>, %w: tensor<2x32x64xf32>, %b: tensor<2x128xf32>) -> tensor<2x128xf32> attributes {hloom.kind = "matmul"} {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<2x32xf32>, tensor<2x32x64xf32>) -> tensor<2x2x64xf32>
  %1 = stablehlo.reshape %0 : (tensor<2x2x64xf32>) -> tensor<2x128xf32>
  %2 = stablehlo.add %1, %b : tensor<2x128xf32>
  return %2 : tensor<2x128xf32>
}
func.func private @step(%x: tensor<1x32xf32>, %w: tensor<2x32x64xf32>, %b: tensor<8x1x128xf32>, %i: tensor<i32>) -> tensor<1x128xf32> attributes {hloom.kind = "matmul"} {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<1x32xf32>, tensor<2x32x64xf32>) -> tensor<1x2x64xf32>
  %1 = stablehlo.reshape %0 : (tensor<1x2x64xf32>) -> tensor<1x128xf32>
  %2 = stablehlo.dynamic_slice %b, %i, %zero, %zero, sizes = [1, 1, 128] : (tensor<8x1x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x128xf32>
  %3 = stablehlo.reshape %2 : (tensor<1x1x128xf32>) -> tensor<1x128xf32>
  %4 = stablehlo.add %3, %1 : tensor<1x128xf32>
  return %4 : tensor<1x128xf32>
}

// -----

// Changed: of what is computed of rows in both shapes, one stays behind a reshape.
// CHECK-LABEL: func.func private @both(
// CHECK-COUNT-2: stablehlo.reshape
// CHECK-NOT: stablehlo.reshape
func.func private @both(%x: tensor<8x64x9xf32>, %y: tensor<1x8x64x9xf32>) -> tensor<1x8x64xf32> attributes {hloom.kind = "multi_reduce"} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<8x64x9xf32>, tensor<f32>) -> tensor<8x64xf32>
  %1 = stablehlo.reshape %0 : (tensor<8x64xf32>) -> tensor<1x8x64xf32>
  %2 = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [3] : (tensor<1x8x64x9xf32>, tensor<f32>) -> tensor<1x8x64xf32>
  %3 = stablehlo.multiply %1, %2 : tensor<1x8x64xf32>
  %4 = stablehlo.abs %3 : tensor<1x8x64xf32>
  return %4 : tensor<1x8x64xf32>
}
