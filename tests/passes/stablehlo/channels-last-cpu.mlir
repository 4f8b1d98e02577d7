// RUN: hloom-opt %s --channels-last --cse | filecheck %s

// Changed: For a CPU the weights have the output channels last, which are the lanes of its kernel. The padding stays.
// CHECK-LABEL: func.func @chain(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1x16x8x8xf32>, %[[W:[a-z0-9]+]]: tensor<16x16x3x3xf32>
// CHECK-DAG: %[[XL:.*]] = stablehlo.transpose %[[X]], dims = [0, 2, 3, 1]
// CHECK-DAG: %[[WL:.*]] = stablehlo.transpose %[[W]], dims = [2, 3, 1, 0]
// CHECK: %[[C:.*]] = stablehlo.convolution(%[[XL]], %[[WL]]) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = {{\[}}[1, 1], [1, 1]]}
// CHECK: %[[D:.*]] = stablehlo.convolution(%[[C]], %[[WL]]) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
// CHECK: %[[S:.*]] = stablehlo.add %[[D]], %[[XL]]
// CHECK: %[[Y:.*]] = stablehlo.transpose %[[S]], dims = [0, 3, 1, 2]
// CHECK: return %[[Y]]
func.func @chain(%x: tensor<1x16x8x8xf32>, %w: tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
  %1 = stablehlo.convolution(%0, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x8x8xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x8x8xf32>
  %2 = stablehlo.add %1, %x : tensor<1x16x8x8xf32>
  return %2 : tensor<1x16x8x8xf32>
}

// Changed: One channel a group, beside a convolution of all channels.
// CHECK-LABEL: func.func @depthwise(
// CHECK: stablehlo.convolution({{.*}}dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f]{{.*}}feature_group_count = 16 : i64
// CHECK: stablehlo.convolution({{.*}}dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f]{{.*}}feature_group_count = 1 : i64
func.func @depthwise(%x: tensor<1x16x40xf32>, %w: tensor<16x1x3xf32>, %v: tensor<64x16x5xf32>) -> tensor<1x64x34xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<1x16x40xf32>, tensor<16x1x3xf32>) -> tensor<1x16x38xf32>
  %1 = stablehlo.convolution(%0, %v) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x38xf32>, tensor<64x16x5xf32>) -> tensor<1x64x34xf32>
  return %1 : tensor<1x64x34xf32>
}

// Unchanged: A lone convolution of one channel a group, whose result a bias and a relu follow: two conversions cost more than idle lanes.
// CHECK-LABEL: func.func @lone(
// CHECK-NOT: stablehlo.transpose
// CHECK: stablehlo.convolution({{.*}}dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]{{.*}}hloom.kernel_chosen = "channels first
// CHECK-NOT: stablehlo.transpose
// CHECK: return
func.func @lone(%x: tensor<1x16x14x14xf32>, %w: tensor<16x1x3x3xf32>, %b: tensor<16xf32>) -> tensor<1x16x14x14xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 16 : i64} : (tensor<1x16x14x14xf32>, tensor<16x1x3x3xf32>) -> tensor<1x16x14x14xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<16xf32>) -> tensor<1x16x14x14xf32>
  %2 = stablehlo.add %0, %1 : tensor<1x16x14x14xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<1x16x14x14xf32>
  %3 = stablehlo.maximum %2, %zero : tensor<1x16x14x14xf32>
  return %3 : tensor<1x16x14x14xf32>
}

// Changed: Reshapes that keep the batch and the channels, as those that put the phases of a transposed convolution in turn.
// CHECK-LABEL: func.func @turns(
// CHECK: %[[A:.*]] = stablehlo.reshape %{{.*}} : (tensor<1x6x6x16xf32>) -> tensor<1x6x6x1x16xf32>
// CHECK: %[[C:.*]] = stablehlo.concatenate %[[A]], %[[A]], dim = 3
// CHECK: %[[J:.*]] = stablehlo.reshape %[[C]] : (tensor<1x6x6x2x16xf32>) -> tensor<1x6x12x16xf32>
// CHECK: %[[T:.*]] = stablehlo.transpose %[[J]], dims = [0, 3, 1, 2]
// CHECK: %[[M:.*]] = stablehlo.reshape %[[T]] : (tensor<1x16x6x12xf32>) -> tensor<16x6x12xf32>
// CHECK: return %[[T]], %[[M]]
func.func @turns(%x: tensor<1x8x8x16xf32>, %w: tensor<16x16x3x3xf32>) -> (tensor<1x16x6x12xf32>, tensor<16x6x12xf32>) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<16x16x3x3xf32>) -> tensor<1x16x6x6xf32>
  %1 = stablehlo.reshape %0 : (tensor<1x16x6x6xf32>) -> tensor<1x16x6x6x1xf32>
  %2 = stablehlo.concatenate %1, %1, dim = 4 : (tensor<1x16x6x6x1xf32>, tensor<1x16x6x6x1xf32>) -> tensor<1x16x6x6x2xf32>
  %3 = stablehlo.reshape %2 : (tensor<1x16x6x6x2xf32>) -> tensor<1x16x6x12xf32>
  %4 = stablehlo.reshape %3 : (tensor<1x16x6x12xf32>) -> tensor<16x6x12xf32>
  return %3, %4 : tensor<1x16x6x12xf32>, tensor<16x6x12xf32>
}

// Changed: Two phases in turn have the channels last together, of which each alone would keep them first.
// CHECK-LABEL: func.func @phases(
// CHECK: stablehlo.convolution({{.*}}dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f]
// CHECK: stablehlo.convolution({{.*}}dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f]
// CHECK: %[[J:.*]] = stablehlo.reshape %{{.*}} : (tensor<1x128x2x128xf32>) -> tensor<1x256x128xf32>
// CHECK: stablehlo.transpose %[[J]], dims = [0, 2, 1]
func.func @phases(%x: tensor<1x256x128xf32>, %w: tensor<128x256x2xf32>, %v: tensor<128x256x2xf32>) -> tensor<1x128x256xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[1, 0]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x256x128xf32>, tensor<128x256x2xf32>) -> tensor<1x128x128xf32>
  %1 = stablehlo.convolution(%x, %v) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[0, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x256x128xf32>, tensor<128x256x2xf32>) -> tensor<1x128x128xf32>
  %2 = stablehlo.reshape %0 : (tensor<1x128x128xf32>) -> tensor<1x128x128x1xf32>
  %3 = stablehlo.reshape %1 : (tensor<1x128x128xf32>) -> tensor<1x128x128x1xf32>
  %4 = stablehlo.concatenate %2, %3, dim = 3 : (tensor<1x128x128x1xf32>, tensor<1x128x128x1xf32>) -> tensor<1x128x128x2xf32>
  %5 = stablehlo.reshape %4 : (tensor<1x128x128x2xf32>) -> tensor<1x128x256xf32>
  return %5 : tensor<1x128x256xf32>
}

// Unchanged: One of them.
// CHECK-LABEL: func.func @phase(
// CHECK: stablehlo.convolution({{.*}}dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0]{{.*}}hloom.kernel_chosen = "channels first
func.func @phase(%x: tensor<1x256x128xf32>, %w: tensor<128x256x2xf32>) -> tensor<1x128x128xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {pad = [[1, 0]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x256x128xf32>, tensor<128x256x2xf32>) -> tensor<1x128x128xf32>
  return %0 : tensor<1x128x128xf32>
}

// Changed: A gradient by weights, as JAX writes it: the images are its features, and lie outside.
// CHECK-LABEL: func.func @gradient(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<4x16x8x8xf32>, %[[Z:[a-z0-9]+]]: tensor<4x24x8x8xf32>
// CHECK: %[[A:.*]] = stablehlo.transpose %[[X]], dims = [0, 2, 3, 1]
// CHECK: %[[B:.*]] = stablehlo.transpose %[[Z]], dims = [0, 2, 3, 1]
// CHECK: %[[C:.*]] = stablehlo.convolution(%[[A]], %[[B]]) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]
// CHECK-SAME: -> tensor<3x3x16x24xf32>
// CHECK: stablehlo.transpose %[[C]], dims = [3, 2, 0, 1]
func.func @gradient(%x: tensor<4x16x8x8xf32>, %z: tensor<4x24x8x8xf32>) -> tensor<24x16x3x3xf32> {
  %0 = stablehlo.convolution(%x, %z) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x16x8x8xf32>, tensor<4x24x8x8xf32>) -> tensor<24x16x3x3xf32>
  return %0 : tensor<24x16x3x3xf32>
}

// Changed: That of a convolution that is one for each channel, whose batch has groups.
// CHECK-LABEL: func.func @gradient_of_each_channel(
// CHECK: stablehlo.convolution({{.*}}) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]{{.*}}batch_group_count = 16
// CHECK-SAME: -> tensor<3x3x1x16xf32>
func.func @gradient_of_each_channel(%x: tensor<4x16x8x8xf32>, %z: tensor<4x16x8x8xf32>) -> tensor<16x1x3x3xf32> {
  %0 = stablehlo.convolution(%x, %z) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 16 : i64, feature_group_count = 1 : i64} : (tensor<4x16x8x8xf32>, tensor<4x16x8x8xf32>) -> tensor<16x1x3x3xf32>
  return %0 : tensor<16x1x3x3xf32>
}

// Changed: That of a convolution whose groups have a register of features or more.
// CHECK-LABEL: func.func @gradient_of_groups(
// CHECK: stablehlo.convolution({{.*}}) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]{{.*}}batch_group_count = 2
// CHECK-SAME: -> tensor<3x3x12x64xf32>
func.func @gradient_of_groups(%x: tensor<4x24x8x8xf32>, %z: tensor<4x64x8x8xf32>) -> tensor<64x12x3x3xf32> {
  %0 = stablehlo.convolution(%x, %z) dim_numbers = [f, b, 0, 1]x[i, o, 0, 1]->[f, b, 0, 1], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 2 : i64, feature_group_count = 1 : i64} : (tensor<4x24x8x8xf32>, tensor<4x64x8x8xf32>) -> tensor<64x12x3x3xf32>
  return %0 : tensor<64x12x3x3xf32>
}

// Declined: Fewer output channels than a vector has lanes, and lines that fill it.
// CHECK-LABEL: func.func @few(
// CHECK-NOT: stablehlo.transpose
// CHECK: return
func.func @few(%x: tensor<1x16x16x16xf32>, %w: tensor<3x16x3x3xf32>) -> tensor<1x3x14x14xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x16x16xf32>, tensor<3x16x3x3xf32>) -> tensor<1x3x14x14xf32>
  return %0 : tensor<1x3x14x14xf32>
}

// Declined: Two a group.
// CHECK-LABEL: func.func @two(
// CHECK-NOT: stablehlo.transpose
// CHECK: return
func.func @two(%x: tensor<1x16x32x32xf32>, %w: tensor<4x8x4x4xf32>) -> tensor<1x4x8x8xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [4, 4]}
    {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x16x32x32xf32>, tensor<4x8x4x4xf32>) -> tensor<1x4x8x8xf32>
  return %0 : tensor<1x4x8x8xf32>
}

// Changed: Few, of windows far apart: lanes stay idle, but pixels would have to be gathered.
// CHECK-LABEL: func.func @few_patches(
// CHECK: stablehlo.convolution({{.*}}) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
func.func @few_patches(%x: tensor<1x16x32x32xf32>, %w: tensor<3x16x4x4xf32>) -> tensor<1x3x8x8xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [4, 4]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x32x32xf32>, tensor<3x16x4x4xf32>) -> tensor<1x3x8x8xf32>
  return %0 : tensor<1x3x8x8xf32>
}

// Unchanged: The channels are last.
// CHECK-LABEL: func.func @last(
// CHECK-NEXT: stablehlo.convolution
// CHECK-NEXT: return
func.func @last(%x: tensor<1x8x8x16xf32>, %w: tensor<3x3x16x16xf32>) -> tensor<1x6x6x16xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x16x16xf32>) -> tensor<1x6x6x16xf32>
  return %0 : tensor<1x6x6x16xf32>
}

// Unchanged: Windows of one channel, far apart: their pixels are copied tap by tap, which costs less than to convert the result.
// CHECK-LABEL: func.func @far_windows(
// CHECK-NOT: stablehlo.transpose
// CHECK: stablehlo.convolution({{.*}}hloom.kernel_chosen = "channels first
// CHECK: return
func.func @far_windows(%x: tensor<1x1x16000xf32>, %w: tensor<512x1x10xf32>) -> tensor<1x512x3199xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {stride = [5]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x16000xf32>, tensor<512x1x10xf32>) -> tensor<1x512x3199xf32>
  return %0 : tensor<1x512x3199xf32>
}

// Changed: A lone convolution of 40 output channels, of which the last share a register with steps of the sum: no lane is idle, as some are at
// the end of each line.
// CHECK-LABEL: func.func @two_and_a_half_registers
// CHECK: stablehlo.convolution{{.*}}dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
func.func @two_and_a_half_registers(%x: tensor<1x64x28x28xf32>, %w: tensor<40x64x5x5xf32>) -> tensor<1x40x28x28xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[2, 2], [2, 2]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x64x28x28xf32>, tensor<40x64x5x5xf32>) -> tensor<1x40x28x28xf32>
  return %0 : tensor<1x40x28x28xf32>
}

// Unchanged: An odd number of channels, which do not.
// CHECK-LABEL: func.func @odd_channels
// CHECK-NOT: stablehlo.transpose
// CHECK: return
func.func @odd_channels(%x: tensor<1x63x28x28xf32>, %w: tensor<40x63x5x5xf32>) -> tensor<1x40x28x28xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[2, 2], [2, 2]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x63x28x28xf32>, tensor<40x63x5x5xf32>) -> tensor<1x40x28x28xf32>
  return %0 : tensor<1x40x28x28xf32>
}
