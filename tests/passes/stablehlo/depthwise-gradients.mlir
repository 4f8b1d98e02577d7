// RUN: hloom-opt %s --depthwise-gradients --split-input-file | filecheck %s

module attributes {hloom.target = {kind = "cuda"}} {

// Changed: a sum for each tap, of halves in f32; strides are the image's, and zeros are around it.
// CHECK-LABEL: func.func @by_two(
// CHECK-SAME: %[[X:.*]]: tensor<4x9x32xbf16>, %[[DY:.*]]: tensor<4x5x32xbf16>
// CHECK: %[[WIDE:.*]] = stablehlo.convert %[[DY]] : (tensor<4x5x32xbf16>) -> tensor<4x5x32xf32>
// CHECK: %[[P:.*]] = stablehlo.pad %[[X]], %{{.*}}, low = [0, 1, 0], high = [0, 1, 0]
// CHECK: %[[S:.*]] = stablehlo.slice %[[P]] [0:4, 0:9:2, 0:32]
// CHECK: %[[SF:.*]] = stablehlo.convert %[[S]]
// CHECK: %[[PRODUCT:.*]] = stablehlo.multiply %[[SF]], %[[WIDE]]
// CHECK: stablehlo.reduce(%[[PRODUCT]] {{.*}} applies stablehlo.add across dimensions = [0, 1]
// CHECK: stablehlo.slice %[[P]] [0:4, 1:10:2, 0:32]
// CHECK: stablehlo.slice %[[P]] [0:4, 2:11:2, 0:32]
// CHECK: stablehlo.concatenate
// CHECK-NOT: stablehlo.convolution
// CHECK: return %{{.*}} : tensor<3x1x32xbf16>
func.func @by_two(%x: tensor<4x9x32xbf16>, %dy: tensor<4x5x32xbf16>) -> tensor<3x1x32xbf16> {
  %0 = stablehlo.convolution(%x, %dy) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {pad = [[1, 1]], rhs_dilate = [2]}
    {batch_group_count = 32 : i64, feature_group_count = 1 : i64} : (tensor<4x9x32xbf16>, tensor<4x5x32xbf16>) -> tensor<3x1x32xbf16>
  return %0 : tensor<3x1x32xbf16>
}

// Declined: two results for each channel.
// CHECK-LABEL: func.func @multiplied(
// CHECK: stablehlo.convolution
func.func @multiplied(%x: tensor<4x9x16xf32>, %dy: tensor<4x7x32xf32>) -> tensor<3x1x32xf32> {
  %0 = stablehlo.convolution(%x, %dy) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {}
    {batch_group_count = 16 : i64, feature_group_count = 1 : i64} : (tensor<4x9x16xf32>, tensor<4x7x32xf32>) -> tensor<3x1x32xf32>
  return %0 : tensor<3x1x32xf32>
}

// Unchanged: a forward convolution.
// CHECK-LABEL: func.func @forward(
// CHECK: stablehlo.convolution
func.func @forward(%x: tensor<4x9x32xf32>, %w: tensor<3x1x32xf32>) -> tensor<4x7x32xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 32 : i64} : (tensor<4x9x32xf32>, tensor<3x1x32xf32>) -> tensor<4x7x32xf32>
  return %0 : tensor<4x7x32xf32>
}

}

// -----

module attributes {hloom.target = {kind = "cpu"}} {

// Declined: on CPUs.
// CHECK-LABEL: func.func @on_a_cpu(
// CHECK: stablehlo.convolution
func.func @on_a_cpu(%x: tensor<4x9x32xf32>, %dy: tensor<4x7x32xf32>) -> tensor<3x1x32xf32> {
  %0 = stablehlo.convolution(%x, %dy) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {}
    {batch_group_count = 32 : i64, feature_group_count = 1 : i64} : (tensor<4x9x32xf32>, tensor<4x7x32xf32>) -> tensor<3x1x32xf32>
  return %0 : tensor<3x1x32xf32>
}

}
