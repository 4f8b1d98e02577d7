// RUN: hloom-opt %s --channels-last --cse --split-input-file | filecheck %s

module attributes {hloom.target = {kind = "cuda"}} {
  // Changed: Two convolutions with a bias, a residual and a pooling between: one transpose of the activations in, one out, the rest are of weights.
  // CHECK-LABEL: func.func @chain(
  // CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x8x16x16xf16>, %[[W:[a-z0-9]+]]: tensor<8x8x3x3xf16>, %[[V:[a-z0-9]+]]: tensor<4x8x1x1xf16>, %[[B:[a-z0-9]+]]: tensor<8xf16>
  // CHECK-DAG: %[[XL:.*]] = stablehlo.transpose %[[X]], dims = [0, 2, 3, 1] : (tensor<2x8x16x16xf16>) -> tensor<2x16x16x8xf16>
  // CHECK-DAG: %[[WL:.*]] = stablehlo.transpose %[[W]], dims = [0, 2, 3, 1] : (tensor<8x8x3x3xf16>) -> tensor<8x3x3x8xf16>
  // CHECK: %[[C:.*]] = stablehlo.convolution(%[[XL]], %[[WL]]) dim_numbers = [b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f]
  // CHECK: %[[BB:.*]] = stablehlo.broadcast_in_dim %[[B]], dims = [3] : (tensor<8xf16>) -> tensor<2x16x16x8xf16>
  // CHECK: %[[S:.*]] = stablehlo.add %[[C]], %[[BB]]
  // CHECK: %[[R:.*]] = stablehlo.add %[[S]], %[[XL]]
  // CHECK: %[[M:.*]] = stablehlo.maximum %[[R]]
  // CHECK: %[[P:.*]] = "stablehlo.reduce_window"(%[[M]]{{.*}}window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>
  // CHECK-NOT: tensor<2x8x8x8xf16>) -> tensor<2x8x8x8xf16>
  // CHECK: %[[Y:.*]] = stablehlo.convolution(%[[P]], {{.*}}dim_numbers = [b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f]
  // CHECK: %[[Z:.*]] = stablehlo.transpose %[[Y]], dims = [0, 3, 1, 2]
  // CHECK-NEXT: return %[[Z]]
  func.func @chain(%x: tensor<2x8x16x16xf16>, %w: tensor<8x8x3x3xf16>, %v: tensor<4x8x1x1xf16>, %b: tensor<8xf16>) -> tensor<2x4x8x8xf16> {
    %zero = stablehlo.constant dense<0.0> : tensor<2x8x16x16xf16>
    %low = stablehlo.constant dense<0xFC00> : tensor<f16>
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x16x16xf16>, tensor<8x8x3x3xf16>) -> tensor<2x8x16x16xf16>
    %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<8xf16>) -> tensor<2x8x16x16xf16>
    %2 = stablehlo.add %0, %1 : tensor<2x8x16x16xf16>
    %3 = stablehlo.add %2, %x : tensor<2x8x16x16xf16>
    %4 = stablehlo.maximum %3, %zero : tensor<2x8x16x16xf16>
    %5 = "stablehlo.reduce_window"(%4, %low) <{window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
      ^bb0(%a: tensor<f16>, %c: tensor<f16>):
        %7 = stablehlo.maximum %a, %c : tensor<f16>
        stablehlo.return %7 : tensor<f16>
    }) : (tensor<2x8x16x16xf16>, tensor<f16>) -> tensor<2x8x8x8xf16>
    %6 = stablehlo.convolution(%5, %v) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x8xf16>, tensor<4x8x1x1xf16>) -> tensor<2x4x8x8xf16>
    return %6 : tensor<2x4x8x8xf16>
  }
}

// -----

module attributes {hloom.target = {kind = "cuda"}} {
  // Changed: Where each channel has taps of its own, the weights have the channels last as well; padding stays.
  // CHECK-LABEL: func.func @depthwise(
  // CHECK-DAG: %[[X:.*]] = stablehlo.transpose %arg0, dims = [0, 2, 3, 1]
  // CHECK-DAG: %[[W:.*]] = stablehlo.transpose %arg1, dims = [2, 3, 1, 0] : (tensor<4x1x3x5xf16>) -> tensor<3x5x1x4xf16>
  // CHECK: stablehlo.convolution(%[[X]], %[[W]]) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{.*}}pad = {{\[}}[1, 1], [2, 1]]
  func.func @depthwise(%x: tensor<2x4x8x8xf16>, %w: tensor<4x1x3x5xf16>) -> tensor<2x4x8x7xf16> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [2, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<2x4x8x8xf16>, tensor<4x1x3x5xf16>) -> tensor<2x4x8x7xf16>
    return %0 : tensor<2x4x8x7xf16>
  }
}

// -----

module attributes {hloom.target = {kind = "cuda"}} {
  // Changed: Parts of lines, as an adaptive pool has them, are taken and reduced with the channels last; the transpose is behind both.
  // CHECK-LABEL: func.func @parts(
  // CHECK: %[[C:.*]] = stablehlo.convolution({{.*}} -> tensor<2x8x8x4xf16>
  // CHECK: %[[G:.*]] = "stablehlo.gather"(%[[C]], %arg2) {{.*}}collapsed_slice_dims = [2], start_index_map = [2]{{.*}}slice_sizes = array<i64: 2, 8, 1, 4>{{.*}} -> tensor<2x8x3x5x4xf16>
  // CHECK: %[[R:.*]] = stablehlo.reduce(%[[G]] {{.*}}across dimensions = [3] : (tensor<2x8x3x5x4xf16>, tensor<f16>) -> tensor<2x8x3x4xf16>
  // CHECK: %[[Y:.*]] = stablehlo.transpose %[[R]], dims = [0, 3, 1, 2] : (tensor<2x8x3x4xf16>) -> tensor<2x4x8x3xf16>
  // CHECK-NEXT: return %[[Y]]
  func.func @parts(%x: tensor<2x8x8x8xf16>, %w: tensor<4x8x1x1xf16>, %places: tensor<3x5xi64>) -> tensor<2x4x8x3xf16> {
    %zero = stablehlo.constant dense<0.0> : tensor<f16>
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x8xf16>, tensor<4x8x1x1xf16>) -> tensor<2x4x8x8xf16>
    %1 = "stablehlo.gather"(%0, %places) {dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 2], collapsed_slice_dims = [3], start_index_map = [3], index_vector_dim = 2>,
      slice_sizes = array<i64: 2, 4, 8, 1>} : (tensor<2x4x8x8xf16>, tensor<3x5xi64>) -> tensor<2x4x8x3x5xf16>
    %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [4] : (tensor<2x4x8x3x5xf16>, tensor<f16>) -> tensor<2x4x8x3xf16>
    return %2 : tensor<2x4x8x3xf16>
  }

  // Declined: Elements of other channels; a window of two elements.
  // CHECK-LABEL: func.func @others(
  // CHECK: %[[C:.*]] = stablehlo.convolution({{.*}} -> tensor<2x8x8x4xf16>
  // CHECK: %[[T:.*]] = stablehlo.transpose %[[C]], dims = [0, 3, 1, 2]
  // CHECK-COUNT-2: "stablehlo.gather"(%[[T]]
  func.func @others(%x: tensor<2x8x8x8xf16>, %w: tensor<4x8x1x1xf16>, %places: tensor<3xi64>) -> (tensor<2x3x8x8xf16>, tensor<2x4x3x8x2xf16>) {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x8xf16>, tensor<4x8x1x1xf16>) -> tensor<2x4x8x8xf16>
    %1 = "stablehlo.gather"(%0, %places) {dimension_numbers = #stablehlo.gather<offset_dims = [0, 2, 3], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>,
      slice_sizes = array<i64: 2, 1, 8, 8>} : (tensor<2x4x8x8xf16>, tensor<3xi64>) -> tensor<2x3x8x8xf16>
    %2 = "stablehlo.gather"(%0, %places) {dimension_numbers = #stablehlo.gather<offset_dims = [0, 1, 3, 4], start_index_map = [3], index_vector_dim = 1>,
      slice_sizes = array<i64: 2, 4, 8, 2>} : (tensor<2x4x8x8xf16>, tensor<3xi64>) -> tensor<2x4x3x8x2xf16>
    return %1, %2 : tensor<2x3x8x8xf16>, tensor<2x4x3x8x2xf16>
  }
}

// -----

module attributes {hloom.target = {kind = "cuda"}} {
  // Changed: Concatenation, padding, slicing and the mean over an image follow; the mean has its dimensions in the same order either way.
  // CHECK-LABEL: func.func @moves(
  // CHECK: %[[C:.*]] = stablehlo.convolution({{.*}} -> tensor<2x8x8x4xf16>
  // CHECK: %[[J:.*]] = stablehlo.concatenate %[[C]], %[[C]], dim = 3 : {{.*}} -> tensor<2x8x8x8xf16>
  // CHECK: %[[P:.*]] = stablehlo.pad %[[J]], %{{.*}}, low = [0, 0, 1, 0], high = [0, 2, 0, 0], interior = [0, 0, 0, 0]
  // CHECK: %[[S:.*]] = stablehlo.slice %[[P]] [0:2, 0:9, 0:9, 2:8]
  // CHECK: stablehlo.reduce(%[[S]] init: %{{.*}}) applies stablehlo.add across dimensions = [1, 2] : (tensor<2x9x9x6xf16>, tensor<f16>) -> tensor<2x6xf16>
  // CHECK-NOT: dims = [0, 3, 1, 2]
  func.func @moves(%x: tensor<2x8x8x8xf16>, %w: tensor<4x8x1x1xf16>) -> tensor<2x6xf16> {
    %z = stablehlo.constant dense<0.0> : tensor<f16>
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x8xf16>, tensor<4x8x1x1xf16>) -> tensor<2x4x8x8xf16>
    %1 = stablehlo.concatenate %0, %0, dim = 1 : (tensor<2x4x8x8xf16>, tensor<2x4x8x8xf16>) -> tensor<2x8x8x8xf16>
    %2 = stablehlo.pad %1, %z, low = [0, 0, 0, 1], high = [0, 0, 2, 0], interior = [0, 0, 0, 0] : (tensor<2x8x8x8xf16>, tensor<f16>) -> tensor<2x8x10x9xf16>
    %3 = stablehlo.slice %2 [0:2, 2:8, 0:9, 0:9] : (tensor<2x8x10x9xf16>) -> tensor<2x6x9x9xf16>
    %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [2, 3] : (tensor<2x6x9x9xf16>, tensor<f16>) -> tensor<2x6xf16>
    return %4 : tensor<2x6xf16>
  }
}

// -----

module attributes {hloom.target = {kind = "cuda"}} {
  // Declined: Another value that would need a transpose of its own: the one there is stays where it is.
  // Unchanged: Channels that are last already.
  // CHECK-LABEL: func.func @declined(
  // CHECK: stablehlo.convolution({{.*}}[b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f]
  // CHECK-NEXT: %[[T:.*]] = stablehlo.transpose {{.*}}dims = [0, 3, 1, 2]
  // CHECK-NEXT: stablehlo.add %[[T]], %arg2
  // CHECK-NEXT: stablehlo.convolution(%arg3, %arg4) dim_numbers = [b, 0, f]x[o, 0, i]->[b, 0, f]
  func.func @declined(%x: tensor<2x8x8x8xf16>, %w: tensor<4x8x1x1xf16>, %r: tensor<2x4x8x8xf16>, %s: tensor<2x9x4xf32>, %v: tensor<3x2x4xf32>)
      -> (tensor<2x4x8x8xf16>, tensor<2x8x3xf32>) {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x8x8xf16>, tensor<4x8x1x1xf16>) -> tensor<2x4x8x8xf16>
    %1 = stablehlo.add %0, %r : tensor<2x4x8x8xf16>
    %2 = stablehlo.convolution(%s, %v) dim_numbers = [b, 0, f]x[o, 0, i]->[b, 0, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x9x4xf32>, tensor<3x2x4xf32>) -> tensor<2x8x3xf32>
    return %1, %2 : tensor<2x4x8x8xf16>, tensor<2x8x3xf32>
  }
}

// -----

// Declined: Not for CPUs, and not where no library takes the convolution (f64).
// CHECK-LABEL: func.func @cpu(
// CHECK-NEXT: stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0]
func.func @cpu(%x: tensor<2x4x9xf32>, %w: tensor<3x4x2xf32>) -> tensor<2x3x8xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x9xf32>, tensor<3x4x2xf32>) -> tensor<2x3x8xf32>
  return %0 : tensor<2x3x8xf32>
}

// -----

module attributes {hloom.target = {kind = "cuda"}} {
  // CHECK-LABEL: func.func @f64(
  // CHECK-NEXT: stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0]
  func.func @f64(%x: tensor<2x4x9xf64>, %w: tensor<3x4x2xf64>) -> tensor<2x3x8xf64> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x9xf64>, tensor<3x4x2xf64>) -> tensor<2x3x8xf64>
    return %0 : tensor<2x3x8xf64>
  }
}

// -----

module attributes {hloom.target = {kind = "cuda"}} {

// Changed: gradients have their images outside and the channels last, and the one by the weights lies as the weights do.
// CHECK-LABEL: func.func @by_weights(
// CHECK-SAME: %[[X:.*]]: tensor<4x8x9x9xf16>, %[[DY:.*]]: tensor<4x16x9x9xf16>
// CHECK-DAG: %[[A:.*]] = stablehlo.transpose %[[X]], dims = [0, 2, 3, 1]
// CHECK-DAG: %[[B:.*]] = stablehlo.transpose %[[DY]], dims = [0, 2, 3, 1]
// CHECK: stablehlo.convolution(%[[A]], %[[B]]) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[f, 0, 1, b]
func.func @by_weights(%x: tensor<4x8x9x9xf16>, %dy: tensor<4x16x9x9xf16>) -> tensor<16x8x3x3xf16> {
  %0 = stablehlo.convolution(%x, %dy) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x8x9x9xf16>, tensor<4x16x9x9xf16>) -> tensor<16x8x3x3xf16>
  return %0 : tensor<16x8x3x3xf16>
}

// CHECK-LABEL: func.func @by_input(
// CHECK: stablehlo.convolution({{.*}}) dim_numbers = [b, 0, 1, f]x[i, 0, 1, o]->[b, 0, 1, f]
func.func @by_input(%dy: tensor<4x16x4x4xf16>, %w: tensor<16x8x3x3xf16>) -> tensor<4x8x9x9xf16> {
  %0 = stablehlo.convolution(%dy, %w) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1],
    window = {pad = [[2, 2], [2, 2]], lhs_dilate = [2, 2], reverse = [1, 1]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x16x4x4xf16>, tensor<16x8x3x3xf16>) -> tensor<4x8x9x9xf16>
  return %0 : tensor<4x8x9x9xf16>
}
}
