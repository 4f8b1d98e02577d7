// RUN: hloom-opt %s --winograd-filters --split-input-file | filecheck %s

// Changed: 16 tiles of 4 x 4 outputs. The weights are transformed by G from both sides in f64, and are blocks of 32 output channels.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1x14x14x32xf32>, %[[W:[a-z0-9]+]]: tensor<3x3x32x40xf32>
// CHECK: %[[P:.*]] = stablehlo.pad %[[W]], {{.*}}high = [0, 0, 0, 24]
// CHECK: %[[C:.*]] = stablehlo.convert %[[P]] : (tensor<3x3x32x64xf32>) -> tensor<3x3x32x64xf64>
// CHECK: %[[G:.*]] = stablehlo.constant dense<{{.*}}> : tensor<6x3xf64>
// CHECK: %[[A:.*]] = stablehlo.dot_general %[[G]], %[[C]], contracting_dims = [1] x [0]
// CHECK: %[[B:.*]] = stablehlo.dot_general %[[G]], %[[A]], contracting_dims = [1] x [1]
// CHECK: %[[N:.*]] = stablehlo.convert %[[B]] : (tensor<6x6x32x64xf64>) -> tensor<6x6x32x64xf32>
// CHECK: %[[R:.*]] = stablehlo.reshape %[[N]] : (tensor<6x6x32x64xf32>) -> tensor<6x6x32x2x32xf32>
// CHECK: %[[T:.*]] = stablehlo.transpose %[[R]], dims = [3, 1, 0, 2, 4]
// CHECK: %[[F:.*]] = stablehlo.optimization_barrier %[[T]] : tensor<2x6x6x32x32xf32>
// CHECK: %[[V:.*]] = stablehlo.custom_call @hloom.winograd_filter(%[[F]]) : (tensor<2x6x6x32x32xf32>) -> tensor<3x3x32x40xf32>
// CHECK: stablehlo.convolution(%[[X]], %[[V]])
func.func @main(%x: tensor<1x14x14x32xf32>, %w: tensor<3x3x32x40xf32> {hloom.bound}) -> tensor<1x14x14x40xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x14x14x32xf32>, tensor<3x3x32x40xf32>) -> tensor<1x14x14x40xf32>
  return %0 : tensor<1x14x14x40xf32>
}

// -----

// Changed: Blocks are as wide as a row of accumulators, 16 where registers are few.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.custom_call @hloom.winograd_filter({{.*}}tensor<3x6x6x32x16xf32>) -> tensor<3x3x32x40xf32>
module attributes {hloom.target = {name = "cpu-avx2", vector_bits = 256 : i64, vector_registers = 16 : i64}} {
  func.func @main(%x: tensor<1x14x14x32xf32>, %w: tensor<3x3x32x40xf32> {hloom.bound}) -> tensor<1x14x14x40xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x14x14x32xf32>, tensor<3x3x32x40xf32>) -> tensor<1x14x14x40xf32>
    return %0 : tensor<1x14x14x40xf32>
  }
}

// -----

// Changed: Fewer tiles are of 2 x 2 outputs.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.custom_call @hloom.winograd_filter({{.*}}tensor<1x4x4x32x32xf32>) -> tensor<3x3x32x32xf32>
func.func @main(%x: tensor<1x7x7x32xf32>, %w: tensor<3x3x32x32xf32> {hloom.bound}) -> tensor<1x7x7x32xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x7x7x32xf32>, tensor<3x3x32x32xf32>) -> tensor<1x7x7x32xf32>
  return %0 : tensor<1x7x7x32xf32>
}

// -----

// Changed: So are more of them where the larger weights of the others, which come from memory, take longer than what is saved.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.custom_call @hloom.winograd_filter({{.*}}tensor<8x4x4x256x32xf32>) -> tensor<3x3x256x256xf32>
module attributes {hloom.target = {llc_bytes = 2097152 : i64}} {
  func.func @main(%x: tensor<1x14x14x256xf32>, %w: tensor<3x3x256x256xf32> {hloom.bound}) -> tensor<1x14x14x256xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x14x14x256xf32>, tensor<3x3x256x256xf32>) -> tensor<1x14x14x256xf32>
    return %0 : tensor<1x14x14x256xf32>
  }
}

// -----

// Changed: Weights that L2 does not hold, and inputs of 512 channels whose transform it does not hold either: four sums of 128 channels.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1x28x28x512xf32>, %[[W:[a-z0-9]+]]: tensor<3x3x512x512xf32>
// CHECK: %[[W0:.*]] = stablehlo.slice %[[W]] [0:3, 0:3, 0:128, 0:512]
// CHECK: %[[X0:.*]] = stablehlo.slice %[[X]] [0:1, 0:28, 0:28, 0:128]
// CHECK: %[[F0:.*]] = stablehlo.custom_call @hloom.winograd_filter({{.*}}tensor<16x6x6x128x32xf32>) -> tensor<3x3x128x512xf32>
// CHECK: %[[Y0:.*]] = stablehlo.convolution(%[[X0]], %[[F0]])
// CHECK: %[[X1:.*]] = stablehlo.slice %[[X]] [0:1, 0:28, 0:28, 128:256]
// CHECK: %[[Y1:.*]] = stablehlo.convolution(%[[X1]]
// CHECK: stablehlo.add %[[Y0]], %[[Y1]]
// CHECK-COUNT-2: stablehlo.convolution
// CHECK-NOT: stablehlo.convolution
// CHECK: return
func.func @main(%x: tensor<1x28x28x512xf32>, %w: tensor<3x3x512x512xf32> {hloom.bound}) -> tensor<1x28x28x512xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x28x28x512xf32>, tensor<3x3x512x512xf32>) -> tensor<1x28x28x512xf32>
  return %0 : tensor<1x28x28x512xf32>
}

// -----

// Changed: Groups, each a block of its own, half as wide here; their number is a dim of the filter. Declined: groups of fewer features than a
// register has lanes.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.reshape %{{.*}} : (tensor<3x3x16x64xf32>) -> tensor<3x3x16x4x16xf32>
// CHECK: %[[R:.*]] = stablehlo.reshape %{{.*}} : (tensor<6x6x16x64xf32>) -> tensor<6x6x16x4x1x16xf32>
// CHECK: %[[T:.*]] = stablehlo.transpose %[[R]], dims = [3, 4, 1, 0, 2, 5]
// CHECK: %[[F:.*]] = stablehlo.optimization_barrier %[[T]] : tensor<4x1x6x6x16x16xf32>
// CHECK: %[[C:.*]] = stablehlo.custom_call @hloom.winograd_filter(%[[F]]) : (tensor<4x1x6x6x16x16xf32>) -> tensor<3x3x16x4x16xf32>
// CHECK: %[[V:.*]] = stablehlo.reshape %[[C]] : (tensor<3x3x16x4x16xf32>) -> tensor<3x3x16x64xf32>
// CHECK: stablehlo.convolution(%{{.*}}, %[[V]]){{.*}}feature_group_count = 4
// CHECK-NOT: stablehlo.custom_call
// CHECK: return
func.func @main(%x: tensor<1x14x14x64xf32>, %w: tensor<3x3x16x64xf32> {hloom.bound}, %v: tensor<3x3x8x64xf32> {hloom.bound})
    -> (tensor<1x14x14x64xf32>, tensor<1x14x14x64xf32>) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<1x14x14x64xf32>, tensor<3x3x16x64xf32>) -> tensor<1x14x14x64xf32>
  %1 = stablehlo.convolution(%x, %v) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 8 : i64} : (tensor<1x14x14x64xf32>, tensor<3x3x8x64xf32>) -> tensor<1x14x14x64xf32>
  return %0, %1 : tensor<1x14x14x64xf32>, tensor<1x14x14x64xf32>
}

// -----

// Changed: Few channels, of which a tile of 4 x 4 outputs saves more than the transforms cost. Declined: 3 of them; features that fill half of a
// block, of tiles of 2 x 2.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.custom_call @hloom.winograd_filter({{.*}}tensor<1x6x6x8x32xf32>) -> tensor<3x3x8x32xf32>
// CHECK-NOT: stablehlo.custom_call
// CHECK: return
func.func @main(%x: tensor<1x14x14x8xf32>, %a: tensor<3x3x8x32xf32> {hloom.bound}, %y: tensor<1x14x14x3xf32>, %b: tensor<3x3x3x32xf32> {hloom.bound},
    %z: tensor<1x7x7x16xf32>, %c: tensor<3x3x16x16xf32> {hloom.bound}) -> (tensor<1x14x14x32xf32>, tensor<1x14x14x32xf32>, tensor<1x7x7x16xf32>) {
  %0 = stablehlo.convolution(%x, %a) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x14x14x8xf32>, tensor<3x3x8x32xf32>) -> tensor<1x14x14x32xf32>
  %1 = stablehlo.convolution(%y, %b) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x14x14x3xf32>, tensor<3x3x3x32xf32>) -> tensor<1x14x14x32xf32>
  %2 = stablehlo.convolution(%z, %c) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x7x7x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x7x7x16xf32>
  return %0, %1, %2 : tensor<1x14x14x32xf32>, tensor<1x14x14x32xf32>, tensor<1x7x7x16xf32>
}

// -----

// Changed: Three dimensions: the last two are transformed, the taps of the first lie among the channels.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<3x3x3x32x32xf32> {
// CHECK: %[[T:.*]] = stablehlo.transpose %[[W]], dims = [1, 2, 0, 3, 4] : (tensor<3x3x3x32x32xf32>) -> tensor<3x3x3x32x32xf32>
// CHECK: stablehlo.reshape %[[T]] : (tensor<3x3x3x32x32xf32>) -> tensor<3x3x96x32xf32>
// CHECK: stablehlo.custom_call @hloom.winograd_filter({{.*}}tensor<1x6x6x96x32xf32>) -> tensor<3x3x3x32x32xf32>
func.func @main(%x: tensor<1x4x14x14x32xf32>, %w: tensor<3x3x3x32x32xf32> {hloom.bound}) -> tensor<1x4x14x14x32xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f],
    window = {pad = [[1, 1], [1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x4x14x14x32xf32>, tensor<3x3x3x32x32xf32>) -> tensor<1x4x14x14x32xf32>
  return %0 : tensor<1x4x14x14x32xf32>
}

// -----

// Changed: Taps that are apart, by two and by three. Declined: so far apart that a direct sum leaves half of them out, on padding; apart along
// the depth.
// CHECK-LABEL: func.func @main(
// CHECK: %[[V:.*]] = stablehlo.custom_call @hloom.winograd_filter({{.*}}tensor<1x6x6x32x32xf32>) -> tensor<3x3x32x32xf32>
// CHECK: stablehlo.convolution(%{{.*}}, %[[V]]) {{.*}}rhs_dilate = [2, 3]
// CHECK-NOT: stablehlo.custom_call
// CHECK: return
func.func @main(%x: tensor<1x28x28x32xf32>, %w: tensor<3x3x32x32xf32> {hloom.bound}, %y: tensor<1x4x28x28x32xf32>, %v: tensor<3x3x3x32x32xf32> {hloom.bound})
    -> (tensor<1x28x28x32xf32>, tensor<1x28x28x32xf32>, tensor<1x4x28x28x32xf32>) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {pad = [[2, 2], [3, 3]], rhs_dilate = [2, 3]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x28x28x32xf32>, tensor<3x3x32x32xf32>) -> tensor<1x28x28x32xf32>
  %1 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {pad = [[12, 12], [12, 12]], rhs_dilate = [12, 12]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x28x28x32xf32>, tensor<3x3x32x32xf32>) -> tensor<1x28x28x32xf32>
  %2 = stablehlo.convolution(%y, %v) dim_numbers = [b, 0, 1, 2, f]x[0, 1, 2, i, o]->[b, 0, 1, 2, f],
    window = {pad = [[2, 2], [1, 1], [1, 1]], rhs_dilate = [2, 1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x4x28x28x32xf32>, tensor<3x3x3x32x32xf32>) -> tensor<1x4x28x28x32xf32>
  return %0, %1, %2 : tensor<1x28x28x32xf32>, tensor<1x28x28x32xf32>, tensor<1x4x28x28x32xf32>
}

// -----

// Declined: Strides, weights that are given at each call for few results, HIGHEST precision.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: stablehlo.custom_call
// CHECK: return
func.func @main(%x: tensor<1x14x14x32xf32>, %w: tensor<3x3x32x32xf32> {hloom.bound}, %v: tensor<3x3x32x32xf32>)
    -> (tensor<1x7x7x32xf32>, tensor<1x12x12x32xf32>, tensor<1x12x12x32xf32>) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x14x14x32xf32>, tensor<3x3x32x32xf32>) -> tensor<1x7x7x32xf32>
  %1 = stablehlo.convolution(%x, %v) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x14x14x32xf32>, tensor<3x3x32x32xf32>) -> tensor<1x12x12x32xf32>
  %2 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}
    : (tensor<1x14x14x32xf32>, tensor<3x3x32x32xf32>) -> tensor<1x12x12x32xf32>
  return %0, %1, %2 : tensor<1x7x7x32xf32>, tensor<1x12x12x32xf32>, tensor<1x12x12x32xf32>
}

// -----

// Changed: Weights that are given at each call, which serve enough results: their transform ends at no barrier.
// CHECK-LABEL: func.func @main(
// CHECK: %[[T:.*]] = stablehlo.transpose %{{.*}}, dims = [3, 1, 0, 2, 4]
// CHECK-NEXT: %[[V:.*]] = stablehlo.custom_call @hloom.winograd_filter(%[[T]]) : (tensor<1x6x6x32x32xf32>) -> tensor<3x3x32x32xf32>
// CHECK-NEXT: stablehlo.convolution(%{{.*}}, %[[V]])
func.func @main(%x: tensor<1x56x56x32xf32>, %w: tensor<3x3x32x32xf32>) -> tensor<1x56x56x32xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x56x56x32xf32>, tensor<3x3x32x32xf32>) -> tensor<1x56x56x32xf32>
  return %0 : tensor<1x56x56x32xf32>
}

// -----

// Changed: A step of training: a gradient by weights reads the input too, so tiles are of 2 x 2 outputs, whose error is less.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.custom_call @hloom.winograd_filter({{.*}}tensor<1x4x4x32x32xf32>) -> tensor<3x3x32x32xf32>
func.func @main(%x: tensor<2x56x56x32xf32>, %w: tensor<3x3x32x32xf32>, %dy: tensor<2x56x56x32xf32>)
    -> (tensor<2x56x56x32xf32>, tensor<3x3x32x32xf32>) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x56x56x32xf32>, tensor<3x3x32x32xf32>) -> tensor<2x56x56x32xf32>
  %1 = stablehlo.convolution(%x, %dy) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x56x56x32xf32>, tensor<2x56x56x32xf32>) -> tensor<3x3x32x32xf32>
  return %0, %1 : tensor<2x56x56x32xf32>, tensor<3x3x32x32xf32>
}

// -----

// Changed: So are they where the input is returned, as a forward pass does for its gradients.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.custom_call @hloom.winograd_filter({{.*}}tensor<1x4x4x32x32xf32>) -> tensor<3x3x32x32xf32>
func.func @main(%x: tensor<2x56x56x32xf32>, %w: tensor<3x3x32x32xf32>) -> (tensor<2x56x56x32xf32>, tensor<2x32x56x56xf32>) {
  %0 = stablehlo.tanh %x : tensor<2x56x56x32xf32>
  %1 = stablehlo.convolution(%0, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x56x56x32xf32>, tensor<3x3x32x32xf32>) -> tensor<2x56x56x32xf32>
  %2 = stablehlo.transpose %0, dims = [0, 3, 1, 2] : (tensor<2x56x56x32xf32>) -> tensor<2x32x56x56xf32>
  return %1, %2 : tensor<2x56x56x32xf32>, tensor<2x32x56x56xf32>
}

// -----

// Changed: Weights from outside a loop are transformed before it.
// CHECK-LABEL: func.func @main(
// CHECK: %[[T:.*]] = stablehlo.transpose %{{.*}}, dims = [3, 1, 0, 2, 4]
// CHECK: stablehlo.while
// CHECK: %[[V:.*]] = stablehlo.custom_call @hloom.winograd_filter(%[[T]])
// CHECK-NEXT: stablehlo.convolution(%{{.*}}, %[[V]])
func.func @main(%x: tensor<1x56x56x32xf32>, %w: tensor<3x3x32x32xf32>, %last: tensor<f32>) -> tensor<1x56x56x32xf32> {
  %0 = stablehlo.while(%h = %x) : tensor<1x56x56x32xf32>
  cond {
    %1 = stablehlo.slice %h [0:1, 0:1, 0:1, 0:1] : (tensor<1x56x56x32xf32>) -> tensor<1x1x1x1xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x1x1x1xf32>) -> tensor<f32>
    %3 = stablehlo.compare LT, %2, %last : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %3 : tensor<i1>
  } do {
    %1 = stablehlo.convolution(%h, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x56x56x32xf32>, tensor<3x3x32x32xf32>) -> tensor<1x56x56x32xf32>
    stablehlo.return %1 : tensor<1x56x56x32xf32>
  }
  return %0 : tensor<1x56x56x32xf32>
}

// -----

// Changed: Halves, whose transform is f32.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.custom_call @hloom.winograd_filter({{.*}}tensor<1x6x6x32x32xf32>) -> tensor<3x3x32x32xbf16>
module attributes {hloom.target = {vector_bits = 256 : i64}} {
  func.func @main(%x: tensor<1x14x14x32xbf16>, %w: tensor<3x3x32x32xbf16> {hloom.bound}) -> tensor<1x14x14x32xbf16> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x14x14x32xbf16>, tensor<3x3x32x32xbf16>) -> tensor<1x14x14x32xbf16>
    return %0 : tensor<1x14x14x32xbf16>
  }
}

// -----

// Changed: bf16 where the target multiplies pairs of it, which saves fewer products, as long as L2 holds the larger weights.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.custom_call @hloom.winograd_filter({{.*}}tensor<1x6x6x32x32xf32>) -> tensor<3x3x32x32xbf16>
module attributes {hloom.target = {bf16_dot = true}} {
  func.func @main(%x: tensor<1x14x14x32xbf16>, %w: tensor<3x3x32x32xbf16> {hloom.bound}) -> tensor<1x14x14x32xbf16> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x14x14x32xbf16>, tensor<3x3x32x32xbf16>) -> tensor<1x14x14x32xbf16>
    return %0 : tensor<1x14x14x32xbf16>
  }
}

// -----

// Declined: pairs of bf16 of many channels: the larger weights would come from the last cache. f32 saves more.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: custom_call{{.*}}bf16
// CHECK: stablehlo.custom_call @hloom.winograd_filter({{.*}} -> tensor<3x3x256x256xf32>
// CHECK-NOT: custom_call
// CHECK: return
module attributes {hloom.target = {bf16_dot = true}} {
  func.func @main(%x: tensor<1x14x14x256xbf16>, %w: tensor<3x3x256x256xbf16> {hloom.bound}, %y: tensor<1x14x14x256xf32>, %v: tensor<3x3x256x256xf32> {hloom.bound})
      -> (tensor<1x14x14x256xbf16>, tensor<1x14x14x256xf32>) {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x14x14x256xbf16>, tensor<3x3x256x256xbf16>) -> tensor<1x14x14x256xbf16>
    %1 = stablehlo.convolution(%y, %v) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x14x14x256xf32>, tensor<3x3x256x256xf32>) -> tensor<1x14x14x256xf32>
    return %0, %1 : tensor<1x14x14x256xbf16>, tensor<1x14x14x256xf32>
  }
}

// -----

// Unchanged: A program without such a convolution.
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: stablehlo.convolution
// CHECK-NEXT: return
func.func @main(%x: tensor<1x14x14x32xf32>, %w: tensor<1x1x32x32xf32> {hloom.bound}) -> tensor<1x14x14x32xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x14x14x32xf32>, tensor<1x1x32x32xf32>) -> tensor<1x14x14x32xf32>
  return %0 : tensor<1x14x14x32xf32>
}
