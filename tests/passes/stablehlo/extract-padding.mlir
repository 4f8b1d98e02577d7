// RUN: hloom-opt %s --extract-padding | filecheck %s

// Changed: Padding and strides of its own, the padding as a pad.
// CHECK-LABEL: func.func @same(
// CHECK-SAME: %[[X:.*]]: tensor<1x3x8x8xf32>, %[[W:.*]]: tensor<4x3x3x3xf32>
// CHECK-NEXT: %[[Z:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[P:.*]] = stablehlo.pad %[[X]], %[[Z]], low = [0, 0, 1, 1], high = [0, 0, 1, 2], interior = [0, 0, 0, 1]
// CHECK-NEXT: stablehlo.convolution(%[[P]], %[[W]]) {{.*}}pad = {{\[}}[0, 0], [0, 0]], lhs_dilate = [1, 1], reverse = [false, false]}
func.func @same(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x8x16xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {pad = [[1, 1], [1, 2]], lhs_dilate = [1, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x8x16xf32>
  return %0 : tensor<1x4x8x16xf32>
}

// CHECK-LABEL: func.func @reversed(
// CHECK-SAME: %[[X:.*]]: tensor<1x1x8x8xf32>, %[[W:.*]]: tensor<1x1x3x1xf32>
// CHECK: %[[R:.*]] = stablehlo.reverse %[[W]], dims = [2]
// CHECK: stablehlo.convolution(%[[X]], %[[R]]) {{.*}}reverse = [false, false]
func.func @reversed(%x: tensor<1x1x8x8xf32>, %w: tensor<1x1x3x1xf32>) -> tensor<1x1x6x8xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {reverse = [true, true]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x8x8xf32>, tensor<1x1x3x1xf32>) -> tensor<1x1x6x8xf32>
  return %0 : tensor<1x1x6x8xf32>
}

// CHECK-LABEL: func.func @batch_groups(
// CHECK-SAME: %[[X:.*]]: tensor<6x8x3xf32>
// CHECK: %[[S:.*]] = stablehlo.reshape %[[X]] : (tensor<6x8x3xf32>) -> tensor<2x3x8x3xf32>
// CHECK: %[[T:.*]] = stablehlo.transpose %[[S]], dims = [1, 2, 0, 3]
// CHECK: %[[G:.*]] = stablehlo.reshape %[[T]] : (tensor<3x8x2x3xf32>) -> tensor<3x8x6xf32>
// CHECK: stablehlo.convolution(%[[G]], {{.*}}batch_group_count = 1 : i64, feature_group_count = 2 : i64
func.func @batch_groups(%x: tensor<6x8x3xf32>, %w: tensor<3x3x4xf32>) -> tensor<3x6x4xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
    {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<6x8x3xf32>, tensor<3x3x4xf32>) -> tensor<3x6x4xf32>
  return %0 : tensor<3x6x4xf32>
}

// A windowed reduction is padded with its initial value, which need be no constant.
// CHECK-LABEL: func.func @pool(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>, %[[I:.*]]: tensor<f32>
// CHECK-NEXT: %[[P:.*]] = stablehlo.pad %[[X]], %[[I]], low = [1], high = [1], interior = [0]
// CHECK-NEXT: "stablehlo.reduce_window"(%[[P]], %[[I]]) <{{.*}}padding = dense<0> : tensor<1x2xi64>
// CHECK: stablehlo.maximum
func.func @pool(%x: tensor<8xf32>, %i: tensor<f32>) -> tensor<8xf32> {
  %0 = "stablehlo.reduce_window"(%x, %i) <{window_dimensions = array<i64: 3>, padding = dense<1> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Declined: A scan, whose window reaches back to the first element.
// CHECK-LABEL: func.func @scan(
// CHECK-NOT: stablehlo.pad
// CHECK: "stablehlo.reduce_window"(%arg0, %{{.*}}) <{padding = dense<{{\[\[}}7, 0]]>
func.func @scan(%x: tensor<8xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 8>, padding = dense<[[7, 0]]> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Declined: Windows padded with what changes nothing, a tap of which a kernel leaves out.
// CHECK-LABEL: func.func @neutral(
// CHECK-NOT: stablehlo.pad
// CHECK: "stablehlo.reduce_window"(%arg0, %{{.*}}) <{padding = dense<1>
func.func @neutral(%x: tensor<8xf32>) -> tensor<8xf32> {
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %least) <{window_dimensions = array<i64: 3>, padding = dense<1> : tensor<1x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Unchanged: No padding.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: stablehlo.convolution
func.func @none(%x: tensor<1x1x8xf32>, %w: tensor<1x1x3xf32>) -> tensor<1x1x6xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x8xf32>, tensor<1x1x3xf32>) -> tensor<1x1x6xf32>
  return %0 : tensor<1x1x6xf32>
}

// Declined: The CPU's direct kernel leaves padding out. A dimension with one window is padded as ever.
// CHECK-LABEL: func.func @direct(
// CHECK-NOT: stablehlo.pad
// CHECK: stablehlo.convolution({{.*}}pad = {{\[}}[1, 1], [1, 1]]
// CHECK: stablehlo.pad
func.func @direct(%x: tensor<1x8x8x16xf32>, %w: tensor<3x3x16x16xf32>, %z: tensor<1x1x8x16xf32>) -> (tensor<1x8x8x16xf32>, tensor<1x1x8x16xf32>) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x8x8x16xf32>
  %1 = stablehlo.convolution(%z, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x8x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x1x8x16xf32>
  return %0, %1 : tensor<1x8x8x16xf32>, tensor<1x1x8x16xf32>
}

// Declined: The direct kernel takes the batch groups of a gradient by weights, one for each channel, and leaves its padding out.
// CHECK-LABEL: func.func @each_channel(
// CHECK-NEXT: stablehlo.convolution({{.*}}pad = {{\[}}[1, 1], [1, 1]]{{.*}}batch_group_count = 16
func.func @each_channel(%x: tensor<4x16x8x8xf32>, %z: tensor<4x16x8x8xf32>) -> tensor<16x1x3x3xf32> {
  %0 = stablehlo.convolution(%x, %z) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 16 : i64, feature_group_count = 1 : i64} : (tensor<4x16x8x8xf32>, tensor<4x16x8x8xf32>) -> tensor<16x1x3x3xf32>
  return %0 : tensor<16x1x3x3xf32>
}
