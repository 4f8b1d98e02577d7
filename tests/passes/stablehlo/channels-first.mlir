// RUN: hloom-opt %s --channels-first --split-input-file | filecheck %s

module attributes {hloom.target = {kind = "cpu", vector_bits = 512, vector_registers = 32}} {
  // Changed: Groups of six channels: no register is a multiple of them, and lines of 28 pixels are long enough.
  // CHECK-LABEL: func.func @groups_of_six(
  // CHECK-DAG: %[[X:.*]] = stablehlo.transpose %arg0, dims = [0, 3, 1, 2] : (tensor<1x28x28x96xf32>) -> tensor<1x96x28x28xf32>
  // CHECK-DAG: %[[W:.*]] = stablehlo.transpose %arg1, dims = [3, 2, 0, 1] : (tensor<3x3x6x96xf32>) -> tensor<96x6x3x3xf32>
  // CHECK: %[[Y:.*]] = stablehlo.convolution(%[[X]], %[[W]]) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {{.*}}pad = {{\[}}[1, 1], [0, 2]]
  // CHECK-SAME: feature_group_count = 16
  // CHECK: stablehlo.transpose %[[Y]], dims = [0, 2, 3, 1] : (tensor<1x96x28x28xf32>) -> tensor<1x28x28x96xf32>
  func.func @groups_of_six(%x: tensor<1x28x28x96xf32>, %w: tensor<3x3x6x96xf32>) -> tensor<1x28x28x96xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [0, 2]]}
      {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<1x28x28x96xf32>, tensor<3x3x6x96xf32>) -> tensor<1x28x28x96xf32>
    return %0 : tensor<1x28x28x96xf32>
  }

  // Changed: Few features, which fill no register, of a sequence.
  // CHECK-LABEL: func.func @few_features(
  // CHECK: stablehlo.convolution({{.*}}) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0]
  func.func @few_features(%x: tensor<2x100x12xf32>, %w: tensor<5x12x8xf32>) -> tensor<2x96x8xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x100x12xf32>, tensor<5x12x8xf32>) -> tensor<2x96x8xf32>
    return %0 : tensor<2x96x8xf32>
  }

  // Declined: Groups of eight, two of which are a register; lines of three pixels; f64.
  // CHECK-LABEL: func.func @has_a_kernel(
  // CHECK-NOT: transpose
  // CHECK-COUNT-3: stablehlo.convolution({{.*}}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
  func.func @has_a_kernel(%x: tensor<1x28x28x96xf32>, %w: tensor<3x3x8x96xf32>, %s: tensor<1x28x5x96xf32>, %v: tensor<3x3x6x96xf32>, %a: tensor<1x28x28x6xf64>, %b: tensor<3x3x6x6xf64>)
      -> (tensor<1x26x26x96xf32>, tensor<1x26x3x96xf32>, tensor<1x26x26x6xf64>) {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 12 : i64} : (tensor<1x28x28x96xf32>, tensor<3x3x8x96xf32>) -> tensor<1x26x26x96xf32>
    %1 = stablehlo.convolution(%s, %v) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<1x28x5x96xf32>, tensor<3x3x6x96xf32>) -> tensor<1x26x3x96xf32>
    %2 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x28x28x6xf64>, tensor<3x3x6x6xf64>) -> tensor<1x26x26x6xf64>
    return %0, %1, %2 : tensor<1x26x26x96xf32>, tensor<1x26x3x96xf32>, tensor<1x26x26x6xf64>
  }
}

// -----

module attributes {hloom.target = {kind = "cuda"}} {
  // Unchanged: GPUs.
  // CHECK-LABEL: func.func @cuda(
  // CHECK-NOT: transpose
  // CHECK: stablehlo.convolution({{.*}}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
  func.func @cuda(%x: tensor<1x28x28x96xf32>, %w: tensor<3x3x6x96xf32>) -> tensor<1x26x26x96xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<1x28x28x96xf32>, tensor<3x3x6x96xf32>) -> tensor<1x26x26x96xf32>
    return %0 : tensor<1x26x26x96xf32>
  }
}
