// RUN: hloom-opt %s --extract-padding --split-input-file | filecheck %s

module attributes {hloom.target = {kind = "cuda"}} {
  // Declined: A library pads a convolution alike on both sides by itself.
  // CHECK-LABEL: func.func @symmetric
  // CHECK-NEXT: stablehlo.convolution(%arg0, %arg1) {{.*}}pad = {{\[}}[1, 1], [2, 2]]
  func.func @symmetric(%x: tensor<1x3x8x8xf16>, %w: tensor<4x3x3x5xf16>) -> tensor<1x4x8x8xf16> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [2, 2]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x8x8xf16>, tensor<4x3x3x5xf16>) -> tensor<1x4x8x8xf16>
    return %0 : tensor<1x4x8x8xf16>
  }

  // Declined: The kernel of windows of single channels leaves padding out, also where the sides differ.
  // CHECK-LABEL: func.func @depthwise
  // CHECK-NEXT: stablehlo.convolution(%arg0, %arg1) {{.*}}pad = {{\[}}[0, 1], [2, 0]]
  func.func @depthwise(%x: tensor<1x8x8x4xf16>, %w: tensor<2x3x1x4xf16>) -> tensor<1x8x8x4xf16> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[0, 1], [2, 0]]}
      {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<1x8x8x4xf16>, tensor<2x3x1x4xf16>) -> tensor<1x8x8x4xf16>
    return %0 : tensor<1x8x8x4xf16>
  }

  // Changed: Not where the sides differ, nor where no library takes the convolution: base dilation, f64.
  // CHECK-LABEL: func.func @declined
  // CHECK: stablehlo.pad %arg0, {{.*}}low = [0, 0, 0], high = [0, 0, 1]
  // CHECK: stablehlo.pad %arg0, {{.*}}low = [0, 0, 1], high = [0, 0, 1], interior = [0, 0, 1]
  // CHECK: stablehlo.pad %arg2, {{.*}}low = [0, 0, 1], high = [0, 0, 1]
  func.func @declined(%x: tensor<1x3x8xf16>, %w: tensor<4x3x3xf16>, %y: tensor<1x3x8xf64>, %v: tensor<4x3x3xf64>)
      -> (tensor<1x4x7xf16>, tensor<1x4x15xf16>, tensor<1x4x8xf64>) {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[0, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x8xf16>, tensor<4x3x3xf16>) -> tensor<1x4x7xf16>
    %1 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[1, 1]], lhs_dilate = [2]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x8xf16>, tensor<4x3x3xf16>) -> tensor<1x4x15xf16>
    %2 = stablehlo.convolution(%y, %v) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x8xf64>, tensor<4x3x3xf64>) -> tensor<1x4x8xf64>
    return %0, %1, %2 : tensor<1x4x7xf16>, tensor<1x4x15xf16>, tensor<1x4x8xf64>
  }
  // Declined: gradients as a library has them, by the weights (of groups, too) and by the input of a strided convolution.
  // CHECK-LABEL: func.func @gradients
  // CHECK-NOT: stablehlo.pad
  // CHECK: stablehlo.convolution({{.*}}pad = {{\[}}[1, 0]]{{.*}}batch_group_count = 1
  // CHECK: stablehlo.convolution({{.*}}pad = {{\[}}[1, 0]]{{.*}}batch_group_count = 2
  // CHECK: stablehlo.convolution({{.*}}pad = {{\[}}[1, 2]], lhs_dilate = [2], reverse = [true]
  func.func @gradients(%x: tensor<2x8x4xf16>, %dy: tensor<2x4x6xf16>, %w: tensor<3x4x6xf16>)
      -> (tensor<3x4x6xf16>, tensor<3x2x6xf16>, tensor<2x8x4xf16>) {
    %0 = stablehlo.convolution(%x, %dy) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {pad = [[1, 0]], rhs_dilate = [2]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x4xf16>, tensor<2x4x6xf16>) -> tensor<3x4x6xf16>
    %1 = stablehlo.convolution(%x, %dy) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {pad = [[1, 0]], rhs_dilate = [2]}
      {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<2x8x4xf16>, tensor<2x4x6xf16>) -> tensor<3x2x6xf16>
    %2 = stablehlo.convolution(%dy, %w) dim_numbers = [b, 0, f]x[0, o, i]->[b, 0, f], window = {pad = [[1, 2]], lhs_dilate = [2], reverse = [1]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x6xf16>, tensor<3x4x6xf16>) -> tensor<2x8x4xf16>
    return %0, %1, %2 : tensor<3x4x6xf16>, tensor<3x2x6xf16>, tensor<2x8x4xf16>
  }

  // Changed: of a convolution with other padding behind than before, which is the gradient of one of padded images.
  // CHECK-LABEL: func.func @padded_behind
  // CHECK: %[[P:.*]] = stablehlo.pad %arg0, {{.*}}low = [0, 0, 0], high = [0, 1, 0]
  // CHECK: stablehlo.convolution(%[[P]], %arg1) {{.*}}pad = {{\[}}[0, 0]]
  func.func @padded_behind(%x: tensor<2x8x4xf16>, %dy: tensor<2x4x6xf16>) -> tensor<3x4x6xf16> {
    %0 = stablehlo.convolution(%x, %dy) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {pad = [[0, 1]], rhs_dilate = [2]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x4xf16>, tensor<2x4x6xf16>) -> tensor<3x4x6xf16>
    return %0 : tensor<3x4x6xf16>
  }
}
