// RUN: hloom-opt %s --simplify-stablehlo --split-input-file | filecheck %s

// Changed: There are more weights to turn than pixels and results. Paddings change sides where windows are turned.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<2x8x3x4xf32>, %[[W:[^:]*]]: tensor<8x16x3x3xf32>
// CHECK: %[[T:.*]] = stablehlo.reverse %[[X]], dims = [3] : tensor<2x8x3x4xf32>
// CHECK: %[[C:.*]] = stablehlo.convolution(%[[T]], %[[W]]) {{.*}} window = {pad = {{.*}}[0, 1], [0, 1]{{.*}}}
// CHECK: %[[R:.*]] = stablehlo.reverse %[[C]], dims = [3] : tensor<2x16x2x3xf32>
// CHECK: return %[[R]]
func.func @main(%x: tensor<2x8x3x4xf32>, %w: tensor<8x16x3x3xf32>) -> tensor<2x16x2x3xf32> {
  %0 = stablehlo.reverse %w, dims = [3] : tensor<8x16x3x3xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = {pad = [[0, 1], [1, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x3x4xf32>, tensor<8x16x3x3xf32>) -> tensor<2x16x2x3xf32>
  return %1 : tensor<2x16x2x3xf32>
}

// -----

// Declined: Bound weights are turned once.
// CHECK-LABEL: func.func @main
// CHECK: %[[T:.*]] = stablehlo.reverse %arg1
// CHECK: stablehlo.convolution(%arg0, %[[T]])
func.func @main(%x: tensor<2x8x3x4xf32>, %w: tensor<8x16x3x3xf32> {hloom.bound}) -> tensor<2x16x2x3xf32> {
  %0 = stablehlo.reverse %w, dims = [3] : tensor<8x16x3x3xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = {pad = [[0, 1], [1, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x3x4xf32>, tensor<8x16x3x3xf32>) -> tensor<2x16x2x3xf32>
  return %1 : tensor<2x16x2x3xf32>
}

// -----

// Declined: There are as many pixels and results; and a stride, which may leave out the last pixels, left out the first ones.
// CHECK-LABEL: func.func @main
// CHECK: %[[T:.*]] = stablehlo.reverse %arg2
// CHECK: stablehlo.convolution(%arg0, %[[T]])
// CHECK: stablehlo.convolution(%arg1, %[[T]])
func.func @main(%x: tensor<2x8x9x9xf32>, %y: tensor<2x8x4x4xf32>, %w: tensor<8x16x3x3xf32>) -> (tensor<2x16x7x7xf32>, tensor<2x16x1x1xf32>) {
  %0 = stablehlo.reverse %w, dims = [2, 3] : tensor<8x16x3x3xf32>
  %1 = stablehlo.convolution(%x, %0) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x9x9xf32>, tensor<8x16x3x3xf32>) -> tensor<2x16x7x7xf32>
  %2 = stablehlo.convolution(%y, %0) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], pad = [[0, 1], [0, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x4x4xf32>, tensor<8x16x3x3xf32>) -> tensor<2x16x2x2xf32>
  %3 = stablehlo.slice %2 [0:2, 0:16, 0:1, 0:1] : (tensor<2x16x2x2xf32>) -> tensor<2x16x1x1xf32>
  return %1, %3 : tensor<2x16x7x7xf32>, tensor<2x16x1x1xf32>
}

// -----

// Changed: The gradient by the weights of a 1 × 1 with a stride, of an image that lies with its channels last: what lies so is sliced.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<2x9x9x4xf32>, %[[G:[^:]*]]: tensor<2x8x5x5xf32>
// CHECK: %[[S:.*]] = stablehlo.slice %[[X]] [0:2, 0:9:2, 0:9:2, 0:4]
// CHECK: %[[T:.*]] = stablehlo.transpose %[[S]], dims = [0, 3, 1, 2]
// CHECK: stablehlo.dot_general %[[G]], %[[T]], contracting_dims = [0, 2, 3] x [0, 2, 3]
func.func @main(%x: tensor<2x9x9x4xf32>, %g: tensor<2x8x5x5xf32>) -> tensor<8x4x1x1xf32> {
  %0 = stablehlo.transpose %x, dims = [0, 3, 1, 2] : (tensor<2x9x9x4xf32>) -> tensor<2x4x9x9xf32>
  %1 = stablehlo.convolution(%0, %g) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {rhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x9x9xf32>, tensor<2x8x5x5xf32>) -> tensor<8x4x1x1xf32>
  return %1 : tensor<8x4x1x1xf32>
}

// -----

// Changed: The gradient by the weights of a 1 × 1 in groups is a batch of products on a CPU; a group has more channels than features, which are
// the columns.
// CHECK-LABEL: func.func @main
// CHECK: %[[X:.*]] = stablehlo.reshape %arg0 : (tensor<2x40x9x9xf32>) -> tensor<2x2x20x9x9xf32>
// CHECK: %[[G:.*]] = stablehlo.reshape %arg1 : (tensor<2x8x9x9xf32>) -> tensor<2x2x4x9x9xf32>
// CHECK: %[[P:.*]] = stablehlo.dot_general %[[G]], %[[X]], batching_dims = [1] x [1], contracting_dims = [0, 3, 4] x [0, 3, 4]
// CHECK-SAME: -> tensor<2x4x20xf32>
// CHECK: stablehlo.reshape %[[P]] : (tensor<2x4x20xf32>) -> tensor<8x20x1x1xf32>
func.func @main(%x: tensor<2x40x9x9xf32>, %g: tensor<2x8x9x9xf32>) -> tensor<8x20x1x1xf32> {
  %0 = stablehlo.convolution(%x, %g) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {} {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x40x9x9xf32>, tensor<2x8x9x9xf32>) -> tensor<8x20x1x1xf32>
  return %0 : tensor<8x20x1x1xf32>
}

// -----

// Declined: A register has several groups of as many channels as features.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.convolution
// CHECK-SAME: batch_group_count = 4
func.func @main(%x: tensor<2x16x9x9xf32>, %g: tensor<2x16x9x9xf32>) -> tensor<16x4x1x1xf32> {
  %0 = stablehlo.convolution(%x, %g) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {} {batch_group_count = 4 : i64, feature_group_count = 1 : i64} : (tensor<2x16x9x9xf32>, tensor<2x16x9x9xf32>) -> tensor<16x4x1x1xf32>
  return %0 : tensor<16x4x1x1xf32>
}
