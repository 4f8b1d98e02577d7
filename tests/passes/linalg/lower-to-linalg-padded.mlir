// RUN: hloom-opt %s --split-input-file --lower-to-linalg --collapse-loop-dims | filecheck %s

// Changed: Zeros around the input of a direct convolution are a tensor.pad, which lies nowhere in memory; its dims stay apart.
// CHECK-LABEL: func.func private @direct(
// CHECK: %[[P:.*]] = tensor.pad %{{.*}} low[0, 1, 2, 0] high[0, 0, 1, 0]
// CHECK: tensor.yield %{{.*}} : f32
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[P]] {{\[}}[0, 1], [2], [3]] : tensor<1x9x11x16xf32> into tensor<9x11x16xf32>
// CHECK: linalg.generic {{.*}} ins(%[[C]],
func.func private @direct(%x: tensor<1x8x8x16xf32>, %w: tensor<3x3x16x16xf32>) -> tensor<1x7x9x16xf32> attributes {hloom.kind = "conv"} {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 0], [2, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x7x9x16xf32>
  return %0 : tensor<1x7x9x16xf32>
}

// -----

// Changed: So do those around lines of pixels, of a convolution with the channels first.
// CHECK-LABEL: func.func private @channels_first(
// CHECK: %[[P:.*]] = tensor.pad %{{.*}} low[0, 0, 1, 1] high[0, 0, 1, 1]
func.func private @channels_first(%x: tensor<1x16x8x8xf32>, %w: tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32> attributes {hloom.kind = "conv"} {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
  return %0 : tensor<1x16x8x8xf32>
}

// -----

// Declined: A kernel that has neither lines nor channels in its lanes reads what is padded before.
// CHECK-LABEL: func.func private @far_apart(
// CHECK-NOT: tensor.pad
// CHECK: arith.select
// CHECK-NOT: tensor.pad
// CHECK: return
func.func private @far_apart(%x: tensor<1x16x24x24xf32>, %w: tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32> attributes {hloom.kind = "conv"} {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]], stride = [3, 3]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x24x24xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
  return %0 : tensor<1x16x8x8xf32>
}

// -----

// Changed: Windows padded with what their body leaves as it is read a tensor.pad, which lies nowhere in memory.
// CHECK-LABEL: func.func private @pool(
// CHECK: %[[LEAST:.*]] = arith.constant 0xFF800000 : f32
// CHECK: %[[P:.*]] = tensor.pad %{{.*}} low[0, 1, 1] high[0, 1, 1]
// CHECK: tensor.yield %[[LEAST]] : f32
// CHECK: linalg.generic {{.*}} ins(%[[P]], %{{.*}} : tensor<4x10x10xf32>, tensor<3x3xf32>)
func.func private @pool(%x: tensor<4x8x8xf32>) -> tensor<4x8x8xf32> attributes {hloom.kind = "reduce"} {
  %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %least) <{window_dimensions = array<i64: 1, 3, 3>, padding = dense<[[0, 0], [1, 1], [1, 1]]> : tensor<3x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8x8xf32>, tensor<f32>) -> tensor<4x8x8xf32>
  return %0 : tensor<4x8x8xf32>
}

// -----

// Changed: Halves that are widened are padded as they lie, and widened where they are read.
// CHECK-LABEL: func.func private @halves(
// CHECK: %[[P:.*]] = tensor.pad %{{.*}} low[0, 1, 1] high[0, 1, 1]
// CHECK: tensor.yield %{{.*}} : bf16
// CHECK: linalg.generic {{.*}} ins(%[[P]], %{{.*}} : tensor<4x10x10xbf16>, tensor<3x3xf32>) outs(%{{.*}} : tensor<4x8x8xf32>)
// CHECK: %[[X:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK: arith.addf %{{.*}}, %[[X]] : f32
func.func private @halves(%x: tensor<4x8x8xbf16>) -> tensor<4x8x8xf32> attributes {hloom.kind = "reduce"} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %wide = stablehlo.convert %x : (tensor<4x8x8xbf16>) -> tensor<4x8x8xf32>
  %0 = "stablehlo.reduce_window"(%wide, %zero) <{window_dimensions = array<i64: 1, 3, 3>, padding = dense<[[0, 0], [1, 1], [1, 1]]> : tensor<3x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8x8xf32>, tensor<f32>) -> tensor<4x8x8xf32>
  return %0 : tensor<4x8x8xf32>
}

// -----

// Declined: Others read what is widened too, so it is in memory.
// CHECK-LABEL: func.func private @read_again(
// CHECK-NOT: tensor.pad
// CHECK: return
func.func private @read_again(%x: tensor<4x8x8xbf16>) -> (tensor<4x8x8xf32>, tensor<4x8x8xf32>) attributes {hloom.kind = "reduce"} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %wide = stablehlo.convert %x : (tensor<4x8x8xbf16>) -> tensor<4x8x8xf32>
  %0 = "stablehlo.reduce_window"(%wide, %zero) <{window_dimensions = array<i64: 1, 3, 3>, padding = dense<[[0, 0], [1, 1], [1, 1]]> : tensor<3x2xi64>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x8x8xf32>, tensor<f32>) -> tensor<4x8x8xf32>
  return %0, %wide : tensor<4x8x8xf32>, tensor<4x8x8xf32>
}
