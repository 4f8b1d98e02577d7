// RUN: hloom-opt %s --strided-gradients --split-input-file | filecheck %s

module attributes {hloom.target = {kind = "cuda"}} {

// Changed: weights that were turned for it lie as the forward convolution reads them.
// CHECK-LABEL: func.func @turned(
// CHECK-SAME: %[[DY:.*]]: tensor<1x4x8xbf16>, %[[W:.*]]: tensor<3x4x8xbf16>
// CHECK-NOT: stablehlo.reverse
// CHECK: stablehlo.convolution(%[[DY]], %[[W]]) {{.*}}pad = {{\[}}[1, 2]], lhs_dilate = [2], reverse = [true]
// CHECK-SAME: -> tensor<1x8x4xbf16>
// CHECK-NOT: stablehlo.slice
func.func @turned(%dy: tensor<1x4x8xbf16>, %w: tensor<3x4x8xbf16>) -> tensor<1x8x4xbf16> {
  %r = stablehlo.reverse %w, dims = [0] : tensor<3x4x8xbf16>
  %0 = stablehlo.convolution(%dy, %r) dim_numbers = [b, 0, f]x[0, o, i]->[b, 0, f], window = {pad = [[1, 2]], lhs_dilate = [2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x8xbf16>, tensor<3x4x8xbf16>) -> tensor<1x8x4xbf16>
  return %0 : tensor<1x8x4xbf16>
}

// Changed: the forward convolution was padded by one element behind alone, so the gradient has that element, too.
// CHECK-LABEL: func.func @padded_behind(
// CHECK: %[[A:.*]] = stablehlo.convolution({{.*}}pad = {{\[}}[2, 2]], lhs_dilate = [2], reverse = [true]
// CHECK-SAME: -> tensor<1x9x4xbf16>
// CHECK: stablehlo.slice %[[A]] [0:1, 0:8, 0:4]
func.func @padded_behind(%dy: tensor<1x4x8xbf16>, %w: tensor<3x4x8xbf16>) -> tensor<1x8x4xbf16> {
  %r = stablehlo.reverse %w, dims = [0] : tensor<3x4x8xbf16>
  %0 = stablehlo.convolution(%dy, %r) dim_numbers = [b, 0, f]x[0, o, i]->[b, 0, f], window = {pad = [[2, 1]], lhs_dilate = [2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x8xbf16>, tensor<3x4x8xbf16>) -> tensor<1x8x4xbf16>
  return %0 : tensor<1x8x4xbf16>
}

// Changed: a transposed convolution whose weights nobody turned.
// CHECK-LABEL: func.func @not_turned(
// CHECK: stablehlo.reverse %{{.*}}, dims = [0]
// CHECK: stablehlo.convolution({{.*}}reverse = [true]
func.func @not_turned(%dy: tensor<1x4x8xbf16>, %w: tensor<3x4x8xbf16>) -> tensor<1x8x4xbf16> {
  %0 = stablehlo.convolution(%dy, %w) dim_numbers = [b, 0, f]x[0, o, i]->[b, 0, f], window = {pad = [[1, 2]], lhs_dilate = [2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x8xbf16>, tensor<3x4x8xbf16>) -> tensor<1x8x4xbf16>
  return %0 : tensor<1x8x4xbf16>
}

// Declined: groups; strides of its own; negative padding of the forward convolution; a type that no library has.
// CHECK-LABEL: func.func @declined(
// CHECK-NOT: reverse = [true]
// CHECK-NOT: stablehlo.slice
// CHECK: return
func.func @declined(%dy: tensor<1x4x8xbf16>, %w: tensor<3x4x4xbf16>, %v: tensor<3x4x8xbf16>, %d: tensor<1x4x8xf64>, %z: tensor<3x4x8xf64>)
    -> (tensor<1x8x4xbf16>, tensor<1x4x4xbf16>, tensor<1x12x4xbf16>, tensor<1x8x4xf64>) {
  %0 = stablehlo.convolution(%dy, %w) dim_numbers = [b, 0, f]x[0, o, i]->[b, 0, f], window = {pad = [[1, 2]], lhs_dilate = [2]}
    {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x4x8xbf16>, tensor<3x4x4xbf16>) -> tensor<1x8x4xbf16>
  %1 = stablehlo.convolution(%dy, %v) dim_numbers = [b, 0, f]x[0, o, i]->[b, 0, f], window = {stride = [2], pad = [[1, 2]], lhs_dilate = [2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x8xbf16>, tensor<3x4x8xbf16>) -> tensor<1x4x4xbf16>
  %2 = stablehlo.convolution(%dy, %v) dim_numbers = [b, 0, f]x[0, o, i]->[b, 0, f], window = {pad = [[3, 4]], lhs_dilate = [2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x8xbf16>, tensor<3x4x8xbf16>) -> tensor<1x12x4xbf16>
  %3 = stablehlo.convolution(%d, %z) dim_numbers = [b, 0, f]x[0, o, i]->[b, 0, f], window = {pad = [[1, 2]], lhs_dilate = [2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x8xf64>, tensor<3x4x8xf64>) -> tensor<1x8x4xf64>
  return %0, %1, %2, %3 : tensor<1x8x4xbf16>, tensor<1x4x4xbf16>, tensor<1x12x4xbf16>, tensor<1x8x4xf64>
}
}

// -----

// Unchanged: on a CPU.
module attributes {hloom.target = {kind = "cpu"}} {
// CHECK-LABEL: func.func @cpu(
// CHECK: stablehlo.reverse
// CHECK: stablehlo.convolution
// CHECK-NOT: reverse = [true]
func.func @cpu(%dy: tensor<1x4x8xbf16>, %w: tensor<3x4x8xbf16>) -> tensor<1x8x4xbf16> {
  %r = stablehlo.reverse %w, dims = [0] : tensor<3x4x8xbf16>
  %0 = stablehlo.convolution(%dy, %r) dim_numbers = [b, 0, f]x[0, o, i]->[b, 0, f], window = {pad = [[1, 2]], lhs_dilate = [2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x8xbf16>, tensor<3x4x8xbf16>) -> tensor<1x8x4xbf16>
  return %0 : tensor<1x8x4xbf16>
}
}

// -----

module attributes {hloom.target = {kind = "cuda"}} {

// Changed: the weights of a transposed convolution: the larger image is summed in windows as far apart as zeros had made the smaller's
// elements, and taps come the other way around.
// CHECK-LABEL: func.func @of_transposed(
// CHECK-SAME: %[[X:.*]]: tensor<2x5x8xf32>, %[[DY:.*]]: tensor<2x10x16xf32>
// CHECK: %[[W:.*]] = stablehlo.convolution(%[[DY]], %[[X]]) dim_numbers = [f, 0, b]x[i, 0, o]->[0, f, b]
// CHECK-SAME: pad = {{\[}}[0, 0]], lhs_dilate = [1], rhs_dilate = [2]
// CHECK: stablehlo.reverse %[[W]], dims = [0]
func.func @of_transposed(%x: tensor<2x5x8xf32>, %dy: tensor<2x10x16xf32>) -> tensor<2x8x16xf32> {
  %0 = stablehlo.convolution(%x, %dy) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {pad = [[1, 1]], lhs_dilate = [2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x5x8xf32>, tensor<2x10x16xf32>) -> tensor<2x8x16xf32>
  return %0 : tensor<2x8x16xf32>
}

}
