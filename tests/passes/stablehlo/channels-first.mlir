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
  func.func @few_features(%x: tensor<2x100x12xf32>, %w: tensor<5x12x4xf32>) -> tensor<2x96x4xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x100x12xf32>, tensor<5x12x4xf32>) -> tensor<2x96x4xf32>
    return %0 : tensor<2x96x4xf32>
  }

  // Changed: Pixels of other floats lie side by side then, too.
  // CHECK-LABEL: func.func @halves(
  // CHECK: stablehlo.convolution({{.*}}) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]
  func.func @halves(%x: tensor<1x20x20x12xbf16>, %w: tensor<3x3x12x8xbf16>) -> tensor<1x18x18x8xbf16> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x20x20x12xbf16>, tensor<3x3x12x8xbf16>) -> tensor<1x18x18x8xbf16>
    return %0 : tensor<1x18x18x8xbf16>
  }

  // Declined: Few features of so many channels that a transpose takes longer than idle lanes.
  // CHECK-LABEL: func.func @many_channels(
  // CHECK-NOT: transpose
  // CHECK: stablehlo.convolution({{.*}}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
  func.func @many_channels(%x: tensor<8x40x40x256xf32>, %w: tensor<3x3x256x8xf32>) -> tensor<8x19x19x8xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x40x40x256xf32>, tensor<3x3x256x8xf32>) -> tensor<8x19x19x8xf32>
    return %0 : tensor<8x19x19x8xf32>
  }

  // Declined: Groups of eight, two of which are a register; lines of three pixels; integers.
  // CHECK-LABEL: func.func @has_a_kernel(
  // CHECK-NOT: transpose
  // CHECK-COUNT-3: stablehlo.convolution({{.*}}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
  func.func @has_a_kernel(%x: tensor<1x28x28x96xf32>, %w: tensor<3x3x8x96xf32>, %s: tensor<1x28x5x96xf32>, %v: tensor<3x3x6x96xf32>, %a: tensor<1x28x28x6xi32>, %b: tensor<3x3x6x6xi32>)
      -> (tensor<1x26x26x96xf32>, tensor<1x26x3x96xf32>, tensor<1x26x26x6xi32>) {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 12 : i64} : (tensor<1x28x28x96xf32>, tensor<3x3x8x96xf32>) -> tensor<1x26x26x96xf32>
    %1 = stablehlo.convolution(%s, %v) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<1x28x5x96xf32>, tensor<3x3x6x96xf32>) -> tensor<1x26x3x96xf32>
    %2 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x28x28x6xi32>, tensor<3x3x6x6xi32>) -> tensor<1x26x26x6xi32>
    return %0, %1, %2 : tensor<1x26x26x96xf32>, tensor<1x26x3x96xf32>, tensor<1x26x26x6xi32>
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

// -----

module attributes {hloom.target = {kind = "cpu", vector_bits = 512, vector_registers = 32, amx_bf16 = true}} {
  // Unchanged: What AMX multiplies; the channels first.
  // CHECK-LABEL: func.func @tiles(
  // CHECK-NOT: transpose
  // CHECK: stablehlo.convolution({{.*}}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
  // CHECK: stablehlo.convolution({{.*}}) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]
  func.func @tiles(%x: tensor<1x20x20x12xbf16>, %w: tensor<3x3x12x8xbf16>, %y: tensor<1x12x20x20xf64>, %v: tensor<8x12x3x3xf64>)
      -> (tensor<1x18x18x8xbf16>, tensor<1x8x18x18xf64>) {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x20x20x12xbf16>, tensor<3x3x12x8xbf16>) -> tensor<1x18x18x8xbf16>
    %1 = stablehlo.convolution(%y, %v) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x12x20x20xf64>, tensor<8x12x3x3xf64>) -> tensor<1x8x18x18xf64>
    return %0, %1 : tensor<1x18x18x8xbf16>, tensor<1x8x18x18xf64>
  }
}

// -----

module attributes {hloom.target = {kind = "cpu", vector_bits = 512, vector_registers = 32}} {
  // Changed: A product of matrices of few channels for each feature. Declined: Of so many that a transpose takes longer than the sums.
  // CHECK-LABEL: func.func @products(
  // CHECK: stablehlo.convolution({{.*}}) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]
  // CHECK: stablehlo.convolution({{.*}}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
  func.func @products(%x: tensor<1x20x20x64xf32>, %w: tensor<1x1x64x4xf32>, %v: tensor<1x1x64x2xf32>)
      -> (tensor<1x20x20x4xf32>, tensor<1x20x20x2xf32>) {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x20x20x64xf32>, tensor<1x1x64x4xf32>) -> tensor<1x20x20x4xf32>
    %1 = stablehlo.convolution(%x, %v) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x20x20x64xf32>, tensor<1x1x64x2xf32>) -> tensor<1x20x20x2xf32>
    return %0, %1 : tensor<1x20x20x4xf32>, tensor<1x20x20x2xf32>
  }
}
