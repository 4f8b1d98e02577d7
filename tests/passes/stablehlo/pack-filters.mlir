// RUN: hloom-opt %s --pack-filters --cse --split-input-file | filecheck %s

// Changed: 72 bound output channels are three blocks of 32, the last one filled with zeros. A constant of 1x1 is packed in panels as
// wide as a row of accumulators.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1x8x8x16xf32>, %[[W:[a-z0-9]+]]: tensor<3x3x16x72xf32>
// CHECK: %[[P:.*]] = stablehlo.pad %[[W]], {{.*}}high = [0, 0, 0, 24]
// CHECK: %[[R:.*]] = stablehlo.reshape %[[P]] : (tensor<3x3x16x96xf32>) -> tensor<3x3x16x3x32xf32>
// CHECK: %[[T:.*]] = stablehlo.transpose %[[R]], dims = [3, 0, 1, 2, 4]
// CHECK: %[[B:.*]] = stablehlo.optimization_barrier %[[T]] : tensor<3x3x3x16x32xf32>
// CHECK: %[[U:.*]] = stablehlo.transpose %[[B]], dims = [1, 2, 3, 0, 4]
// CHECK: %[[V:.*]] = stablehlo.reshape %[[U]] : (tensor<3x3x16x3x32xf32>) -> tensor<3x3x16x96xf32>
// CHECK: %[[S:.*]] = stablehlo.slice %[[V]] [0:3, 0:3, 0:16, 0:72]
// CHECK: stablehlo.convolution(%[[X]], %[[S]])
// CHECK: stablehlo.convolution(%[[X]], %[[S]])
// CHECK: stablehlo.optimization_barrier {{.*}} : tensor<2x1x1x16x64xf32>
func.func @main(%x: tensor<1x8x8x16xf32>, %w: tensor<3x3x16x72xf32> {hloom.bound}) -> (tensor<1x6x6x72xf32>, tensor<1x8x8x72xf32>, tensor<1x8x8x128xf32>) {
  %c = stablehlo.constant dense<1.0> : tensor<1x1x16x128xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x16x72xf32>) -> tensor<1x6x6x72xf32>
  %1 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x16x72xf32>) -> tensor<1x8x8x72xf32>
  %2 = stablehlo.convolution(%x, %c) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<1x1x16x128xf32>) -> tensor<1x8x8x128xf32>
  return %0, %1, %2 : tensor<1x6x6x72xf32>, tensor<1x8x8x72xf32>, tensor<1x8x8x128xf32>
}

// -----

// Changed: Weights that two branches read are packed once, before them; each branch reads the blocks for itself.
// CHECK-LABEL: func.func @main(
// CHECK: %[[B:.*]] = stablehlo.optimization_barrier
// CHECK-NOT: stablehlo.optimization_barrier
// CHECK: "stablehlo.if"
// CHECK: stablehlo.transpose %[[B]]
// CHECK: stablehlo.convolution
// CHECK: }, {
// CHECK: stablehlo.transpose %[[B]]
// CHECK: stablehlo.convolution
func.func @main(%x: tensor<1x8x8x16xf32>, %w: tensor<3x3x16x72xf32> {hloom.bound}, %p: tensor<i1>) -> tensor<1x6x6x72xf32> {
  %0 = "stablehlo.if"(%p) ({
    %1 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x16x72xf32>) -> tensor<1x6x6x72xf32>
    stablehlo.return %1 : tensor<1x6x6x72xf32>
  }, {
    %1 = stablehlo.negate %x : tensor<1x8x8x16xf32>
    %2 = stablehlo.convolution(%1, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x16x72xf32>) -> tensor<1x6x6x72xf32>
    stablehlo.return %2 : tensor<1x6x6x72xf32>
  }) : (tensor<i1>) -> tensor<1x6x6x72xf32>
  return %0 : tensor<1x6x6x72xf32>
}

// -----

// Changed: A row of accumulators of a target of few registers is half as wide, and so are the blocks: 24 output channels are two.
// CHECK-LABEL: func.func @main(
// CHECK: %[[T:.*]] = stablehlo.transpose %{{.*}}, dims = [3, 0, 1, 2, 4] : (tensor<3x3x16x2x16xf32>) -> tensor<2x3x3x16x16xf32>
// CHECK: stablehlo.optimization_barrier %[[T]]
module attributes {hloom.target = {name = "cpu-avx2", vector_bits = 256 : i64, vector_registers = 16 : i64}} {
  func.func @main(%x: tensor<1x8x8x16xf32>, %w: tensor<3x3x16x24xf32> {hloom.bound}) -> tensor<1x6x6x24xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x16x24xf32>) -> tensor<1x6x6x24xf32>
    return %0 : tensor<1x6x6x24xf32>
  }
}

// -----

// Changed: Groups of 24 are a block each: no others lie between the weights of one.
// CHECK-LABEL: func.func @main(
// CHECK: %[[T:.*]] = stablehlo.transpose %{{.*}}, dims = [3, 0, 1, 2, 4] : (tensor<3x3x8x2x24xf32>) -> tensor<2x3x3x8x24xf32>
// CHECK: stablehlo.optimization_barrier %[[T]]
func.func @main(%x: tensor<1x8x8x16xf32>, %g: tensor<3x3x8x48xf32> {hloom.bound}) -> tensor<1x6x6x48xf32> {
  %0 = stablehlo.convolution(%x, %g) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x8x48xf32>) -> tensor<1x6x6x48xf32>
  return %0 : tensor<1x6x6x48xf32>
}

// -----

// Changed: Pairs of bf16 lie side by side where an instruction multiplies them; one block is packed too.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<3x3x64x32xbf16>
// CHECK: %[[R:.*]] = stablehlo.reshape %[[W]] : (tensor<3x3x64x32xbf16>) -> tensor<3x3x32x2x1x32xbf16>
// CHECK: %[[T:.*]] = stablehlo.transpose %[[R]], dims = [4, 0, 1, 2, 5, 3] : {{.*}} -> tensor<1x3x3x32x32x2xbf16>
// CHECK: %[[B:.*]] = stablehlo.optimization_barrier %[[T]]
// CHECK: %[[U:.*]] = stablehlo.transpose %[[B]], dims = [1, 2, 3, 5, 0, 4] : {{.*}} -> tensor<3x3x32x2x1x32xbf16>
// CHECK: %[[V:.*]] = stablehlo.reshape %[[U]] : {{.*}} -> tensor<3x3x64x32xbf16>
// CHECK: stablehlo.convolution(%{{.*}}, %[[V]])
module attributes {hloom.target = {bf16_dot = true}} {
  func.func @main(%x: tensor<1x14x14x64xbf16>, %w: tensor<3x3x64x32xbf16> {hloom.bound}) -> tensor<1x12x12x32xbf16> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x14x14x64xbf16>, tensor<3x3x64x32xbf16>) -> tensor<1x12x12x32xbf16>
    return %0 : tensor<1x12x12x32xbf16>
  }
}

// -----

// Changed: Those of 1x1 in steps of two pixels are blocks too: no product of matrices reads them.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.optimization_barrier {{.*}} : tensor<4x1x1x16x32xf32>
func.func @main(%x: tensor<1x8x8x16xf32>, %w: tensor<1x1x16x128xf32> {hloom.bound}) -> tensor<1x4x4x128xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<1x1x16x128xf32>) -> tensor<1x4x4x128xf32>
  return %0 : tensor<1x4x4x128xf32>
}

// -----

// Declined: Weights that are given at each call. One channel a group. Groups of four, which share a register.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: stablehlo.optimization_barrier
// CHECK: return
func.func @main(%x: tensor<1x8x8x16xf32>, %w: tensor<3x3x16x72xf32>, %d: tensor<3x3x1x16xf32> {hloom.bound}, %g: tensor<3x3x4x16xf32> {hloom.bound})
    -> (tensor<1x6x6x72xf32>, tensor<1x6x6x16xf32>, tensor<1x6x6x16xf32>) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x16x72xf32>) -> tensor<1x6x6x72xf32>
  %1 = stablehlo.convolution(%x, %d) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x1x16xf32>) -> tensor<1x6x6x16xf32>
  %2 = stablehlo.convolution(%x, %g) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x4x16xf32>) -> tensor<1x6x6x16xf32>
  return %0, %1, %2 : tensor<1x6x6x72xf32>, tensor<1x6x6x16xf32>, tensor<1x6x6x16xf32>
}

// -----

// Unchanged: One block lies as its kernel reads it.
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: stablehlo.convolution
// CHECK-NEXT: return
func.func @main(%x: tensor<1x8x8x16xf32>, %w: tensor<3x3x16x32xf32> {hloom.bound}) -> tensor<1x6x6x32xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x16x32xf32>) -> tensor<1x6x6x32xf32>
  return %0 : tensor<1x6x6x32xf32>
}

// -----

// Unchanged: 40 output channels are one block, the last of which share a register with steps of the sum (vectorize-tiles).
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: stablehlo.convolution
// CHECK-NEXT: return
func.func @main(%x: tensor<1x8x8x16xf32>, %w: tensor<3x3x16x40xf32> {hloom.bound}) -> tensor<1x6x6x40xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x16x40xf32>) -> tensor<1x6x6x40xf32>
  return %0 : tensor<1x6x6x40xf32>
}

// -----

// Changed: A group of two channels of bf16 is a block each, channel by channel: there is one pair.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<3x3x2x64xbf16>
// CHECK: %[[R:.*]] = stablehlo.reshape %[[W]] : (tensor<3x3x2x64xbf16>) -> tensor<3x3x2x4x16xbf16>
// CHECK: stablehlo.transpose %[[R]], dims = [3, 0, 1, 2, 4] : {{.*}} -> tensor<4x3x3x2x16xbf16>
module attributes {hloom.target = {bf16_dot = true}} {
  func.func @main(%x: tensor<1x14x14x8xbf16>, %w: tensor<3x3x2x64xbf16> {hloom.bound}) -> tensor<1x12x12x64xbf16> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<1x14x14x8xbf16>, tensor<3x3x2x64xbf16>) -> tensor<1x12x12x64xbf16>
    return %0 : tensor<1x12x12x64xbf16>
  }
}
