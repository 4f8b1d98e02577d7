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
  // Changed: A 1 x 1 of few channels for each feature. To a product of matrices: Of many, which need no transposition.
  // CHECK-LABEL: func.func @products(
  // CHECK: stablehlo.convolution({{.*}}) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]
  // CHECK: %[[W:.*]] = stablehlo.reshape %arg2 : (tensor<1x1x64x4xf32>) -> tensor<64x4xf32>
  // CHECK-NOT: transpose
  // CHECK: stablehlo.dot_general %arg1, %[[W]], contracting_dims = [3] x [0] : (tensor<1x20x20x64xf32>, tensor<64x4xf32>) -> tensor<1x20x20x4xf32>
  func.func @products(%x: tensor<1x20x20x8xf32>, %y: tensor<1x20x20x64xf32>, %w: tensor<1x1x64x4xf32>, %v: tensor<1x1x8x4xf32>)
      -> (tensor<1x20x20x4xf32>, tensor<1x20x20x4xf32>) {
    %0 = stablehlo.convolution(%x, %v) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x20x20x8xf32>, tensor<1x1x8x4xf32>) -> tensor<1x20x20x4xf32>
    %1 = stablehlo.convolution(%y, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x20x20x64xf32>, tensor<1x1x64x4xf32>) -> tensor<1x20x20x4xf32>
    return %0, %1 : tensor<1x20x20x4xf32>, tensor<1x20x20x4xf32>
  }

  // Changed: Two groups are two products, of a part of the channels by a part of the weights. The result has the features first.
  // CHECK-LABEL: func.func @products_of_groups(
  // CHECK: %[[W:.*]] = stablehlo.reshape %arg1 : (tensor<8x96x1x1xf32>) -> tensor<8x96xf32>
  // CHECK: %[[X0:.*]] = stablehlo.slice %arg0 [0:2, 0:20, 0:21, 0:96]
  // CHECK: %[[W0:.*]] = stablehlo.slice %[[W]] [0:4, 0:96]
  // CHECK: %[[Y0:.*]] = stablehlo.dot_general %[[X0]], %[[W0]], contracting_dims = [3] x [1]
  // CHECK: %[[X1:.*]] = stablehlo.slice %arg0 [0:2, 0:20, 0:21, 96:192]
  // CHECK: %[[W1:.*]] = stablehlo.slice %[[W]] [4:8, 0:96]
  // CHECK: %[[Y1:.*]] = stablehlo.dot_general %[[X1]], %[[W1]], contracting_dims = [3] x [1]
  // CHECK: %[[Y:.*]] = stablehlo.concatenate %[[Y0]], %[[Y1]], dim = 3
  // CHECK: stablehlo.transpose %[[Y]], dims = [0, 3, 1, 2] : (tensor<2x20x21x8xf32>) -> tensor<2x8x20x21xf32>
  func.func @products_of_groups(%x: tensor<2x20x21x192xf32>, %w: tensor<8x96x1x1xf32>) -> tensor<2x8x20x21xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x20x21x192xf32>, tensor<8x96x1x1xf32>) -> tensor<2x8x20x21xf32>
    return %0 : tensor<2x8x20x21xf32>
  }

  // No product: More groups than a program should have kernels of; halves of so few channels that widening them takes longer.
  // CHECK-LABEL: func.func @no_products(
  // CHECK-NOT: dot_general
  // CHECK-COUNT-2: stablehlo.convolution({{.*}}) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]
  func.func @no_products(%x: tensor<1x20x20x192xf32>, %w: tensor<1x1x12x32xf32>, %y: tensor<1x20x20x20xf16>, %v: tensor<1x1x20x4xf16>)
      -> (tensor<1x20x20x32xf32>, tensor<1x20x20x4xf16>) {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<1x20x20x192xf32>, tensor<1x1x12x32xf32>) -> tensor<1x20x20x32xf32>
    %1 = stablehlo.convolution(%y, %v) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x20x20x20xf16>, tensor<1x1x20x4xf16>) -> tensor<1x20x20x4xf16>
    return %0, %1 : tensor<1x20x20x32xf32>, tensor<1x20x20x4xf16>
  }
}
