// RUN: hloom-opt %s --split-phases --split-input-file | filecheck %s

// Changed: Stride 2 with four taps: two phases of two taps each, whose results take turns.
// CHECK-LABEL: func.func @transposed(
// CHECK-SAME: %[[X:.*]]: tensor<1x8x4xf32>, %[[W:.*]]: tensor<4x4x8xf32>
// CHECK: %[[P:.*]] = stablehlo.slice %[[W]] [0:4:2, 0:4, 0:8]
// CHECK: %[[A:.*]] = stablehlo.convolution(%[[X]], %[[P]]) {{.*}}pad = {{\[}}[1, 0]], lhs_dilate = [1]
// CHECK-SAME: -> tensor<1x8x8xf32>
// CHECK: %[[Q:.*]] = stablehlo.slice %[[W]] [1:4:2, 0:4, 0:8]
// CHECK: %[[B:.*]] = stablehlo.convolution(%[[X]], %[[Q]]) {{.*}}pad = {{\[}}[0, 1]], lhs_dilate = [1]
// CHECK: %[[R:.*]] = stablehlo.reshape %[[A]] : (tensor<1x8x8xf32>) -> tensor<1x8x1x8xf32>
// CHECK: %[[S:.*]] = stablehlo.reshape %[[B]]
// CHECK: %[[C:.*]] = stablehlo.concatenate %[[R]], %[[S]], dim = 2
// CHECK: stablehlo.reshape %[[C]] : (tensor<1x8x2x8xf32>) -> tensor<1x16x8xf32>
func.func @transposed(%x: tensor<1x8x4xf32>, %w: tensor<4x4x8xf32>) -> tensor<1x16x8xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[2, 2]], lhs_dilate = [2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x4xf32>, tensor<4x4x8xf32>) -> tensor<1x16x8xf32>
  return %0 : tensor<1x16x8xf32>
}

// -----

// Changed: One tap: the second phase has none and is zeros. An odd result lacks its last one.
// CHECK-LABEL: func.func @one_tap(
// CHECK: stablehlo.convolution
// CHECK-NOT: stablehlo.convolution
// CHECK: %[[Z:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<1x8x8xf32>
// CHECK: stablehlo.concatenate
// CHECK: stablehlo.slice {{.*}} [0:1, 0:15, 0:8]
func.func @one_tap(%x: tensor<1x8x4xf32>, %w: tensor<1x4x8xf32>) -> tensor<1x15x8xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {lhs_dilate = [2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x4xf32>, tensor<1x4x8xf32>) -> tensor<1x15x8xf32>
  return %0 : tensor<1x15x8xf32>
}

// -----

// Declined: Strides over a dilated input.
// CHECK-LABEL: func.func @strided(
// CHECK: lhs_dilate = [2]
func.func @strided(%x: tensor<1x8x4xf32>, %w: tensor<4x4x8xf32>) -> tensor<1x4x8xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [3], lhs_dilate = [2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x4xf32>, tensor<4x4x8xf32>) -> tensor<1x4x8xf32>
  return %0 : tensor<1x4x8xf32>
}

// -----

// Changed: A window that is dilated alike: the even results have all taps, side by side, and the odd ones none.
// CHECK-LABEL: func.func @dilated_alike(
// CHECK-SAME: %[[X:.*]]: tensor<1x8x4xf32>, %[[W:.*]]: tensor<4x4x8xf32>
// CHECK: %[[A:.*]] = stablehlo.convolution(%[[X]], %[[W]]) {{.*}}pad = {{\[}}[0, 0]], lhs_dilate = [1], rhs_dilate = [1]
// CHECK-NOT: stablehlo.convolution
// CHECK: stablehlo.constant dense<0.000000e+00> : tensor<1x5x8xf32>
// CHECK: stablehlo.concatenate
func.func @dilated_alike(%x: tensor<1x8x4xf32>, %w: tensor<4x4x8xf32>) -> tensor<1x9x8xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {lhs_dilate = [2], rhs_dilate = [2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x4xf32>, tensor<4x4x8xf32>) -> tensor<1x9x8xf32>
  return %0 : tensor<1x9x8xf32>
}

// -----

// Changed: Dilated by three over an input dilated by two: each phase has every other tap, three elements apart.
// CHECK-LABEL: func.func @dilated_otherwise(
// CHECK-SAME: %[[X:.*]]: tensor<1x8x4xf32>, %[[W:.*]]: tensor<4x4x8xf32>
// CHECK: %[[P:.*]] = stablehlo.slice %[[W]] [0:4:2, 0:4, 0:8]
// CHECK: stablehlo.convolution(%{{.*}}, %[[P]]) {{.*}}lhs_dilate = [1], rhs_dilate = [3]
// CHECK: %[[Q:.*]] = stablehlo.slice %[[W]] [1:4:2, 0:4, 0:8]
// CHECK: stablehlo.convolution(%{{.*}}, %[[Q]]) {{.*}}lhs_dilate = [1], rhs_dilate = [3]
func.func @dilated_otherwise(%x: tensor<1x8x4xf32>, %w: tensor<4x4x8xf32>) -> tensor<1x6x8xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {lhs_dilate = [2], rhs_dilate = [3]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x4xf32>, tensor<4x4x8xf32>) -> tensor<1x6x8xf32>
  return %0 : tensor<1x6x8xf32>
}

// -----

// Unchanged: No zeros between elements.
// CHECK-LABEL: func.func @plain(
// CHECK-NEXT: stablehlo.convolution
// CHECK-NEXT: return
func.func @plain(%x: tensor<1x8x4xf32>, %w: tensor<4x4x8xf32>) -> tensor<1x5x8xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x4xf32>, tensor<4x4x8xf32>) -> tensor<1x5x8xf32>
  return %0 : tensor<1x5x8xf32>
}

// -----

// Changed: on a GPU, where the products with zeros take longer than the launches.
// CHECK-LABEL: func.func @long_on_a_gpu
// CHECK-COUNT-4: stablehlo.convolution
module attributes {hloom.target = {kind = "cuda", name = "sm_90a", cpu = "sm_90a", launch_ps = 2500000 : i64, f32_flops = 66900000000000 : i64, dram_bytes_per_second = 3350000000000 : i64}} {
  func.func @long_on_a_gpu(%x: tensor<32x128x28x28xf32>, %w: tensor<128x64x3x3xf32>) -> tensor<32x64x56x56xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 2], [1, 2]], lhs_dilate = [2, 2]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<32x128x28x28xf32>, tensor<128x64x3x3xf32>) -> tensor<32x64x56x56xf32>
    return %0 : tensor<32x64x56x56xf32>
  }
}

// -----

// Declined: on a GPU, where they do not.
// CHECK-LABEL: func.func @short_on_a_gpu
// CHECK: lhs_dilate = [2, 2]
// CHECK-NOT: stablehlo.concatenate
module attributes {hloom.target = {kind = "cuda", name = "sm_90a", cpu = "sm_90a", launch_ps = 2500000 : i64, f32_flops = 66900000000000 : i64, dram_bytes_per_second = 3350000000000 : i64}} {
  func.func @short_on_a_gpu(%x: tensor<1x128x28x28xf32>, %w: tensor<128x64x3x3xf32>) -> tensor<1x64x56x56xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[i, o, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 2], [1, 2]], lhs_dilate = [2, 2]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x128x28x28xf32>, tensor<128x64x3x3xf32>) -> tensor<1x64x56x56xf32>
    return %0 : tensor<1x64x56x56xf32>
  }
}

// -----

// Changed: Two dimensions that the result has the other way round: those that take turns are joined from the last one on.
// CHECK-LABEL: func.func @turned(
// CHECK-COUNT-2: stablehlo.concatenate {{.*}}, dim = 3 : {{.*}} -> tensor<1x2x3x2x4xf32>
// CHECK: %[[C:.*]] = stablehlo.concatenate {{.*}}, dim = 2 : {{.*}} -> tensor<1x2x2x3x2x4xf32>
// CHECK: stablehlo.reshape %[[C]] : (tensor<1x2x2x3x2x4xf32>) -> tensor<1x4x6x4xf32>
func.func @turned(%x: tensor<1x3x2x4xf32>, %w: tensor<1x1x4x4xf32>) -> tensor<1x4x6x4xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 1, 0, f], window = {pad = [[0, 1], [0, 1]], lhs_dilate = [2, 2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x2x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x4x6x4xf32>
  return %0 : tensor<1x4x6x4xf32>
}

// -----

// Changed: on a GPU, windows side by side: one convolution to the features of both phases, which are put in turn by a transpose.
// CHECK-LABEL: func.func @side_by_side(
// CHECK: %[[W:.*]] = stablehlo.concatenate {{.*}}, dim = 2 : (tensor<1x2048x1024xbf16>, tensor<1x2048x1024xbf16>) -> tensor<1x2048x2048xbf16>
// CHECK: %[[Y:.*]] = stablehlo.convolution(%{{.*}}, %[[W]])
// CHECK-SAME: -> tensor<8x2048x4096xf32>
// CHECK: %[[A:.*]] = stablehlo.reshape %[[Y]] : (tensor<8x2048x4096xf32>) -> tensor<8x2x1024x4096xf32>
// CHECK: stablehlo.transpose %[[A]], dims = [0, 2, 3, 1]
// CHECK: stablehlo.reshape {{.*}} -> tensor<8x1024x8192xf32>
module attributes {hloom.target = {kind = "cuda", name = "sm_90a", cpu = "sm_90a", launch_ps = 2500000 : i64, bf16_flops = 989400000000000 : i64, dram_bytes_per_second = 3350000000000 : i64}} {
  func.func @side_by_side(%x: tensor<8x4096x2048xbf16>, %w: tensor<2x2048x1024xbf16>) -> tensor<8x1024x8192xf32> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, f, 0], window = {pad = [[1, 1]], lhs_dilate = [2]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x4096x2048xbf16>, tensor<2x2048x1024xbf16>) -> tensor<8x1024x8192xf32>
    return %0 : tensor<8x1024x8192xf32>
  }
}

// -----

// A gradient by the input is the library's where it writes what the library reads, and split where it stays wider.
// CHECK-LABEL: func.func @gradients(
// CHECK: %[[Y:.*]] = stablehlo.convolution{{.*}} lhs_dilate = [2]
// CHECK: stablehlo.convert %[[Y]]
// CHECK: stablehlo.concatenate
// CHECK-NOT: lhs_dilate = [2]
// CHECK: return
module attributes {hloom.target = {kind = "cuda", name = "sm_90a", cpu = "sm_90a", launch_ps = 2500000 : i64, bf16_flops = 989400000000000 : i64, dram_bytes_per_second = 3350000000000 : i64}} {
  func.func @gradients(%x: tensor<8x4096x2048xbf16>, %w: tensor<2x1024x2048xbf16>) -> (tensor<8x8192x1024xbf16>, tensor<8x8192x1024xf32>) {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, o, i]->[b, 0, f], window = {pad = [[1, 1]], lhs_dilate = [2], reverse = [true]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x4096x2048xbf16>, tensor<2x1024x2048xbf16>) -> tensor<8x8192x1024xf32>
    %1 = stablehlo.convert %0 : (tensor<8x8192x1024xf32>) -> tensor<8x8192x1024xbf16>
    %2 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, o, i]->[b, 0, f], window = {pad = [[1, 1]], lhs_dilate = [2], reverse = [true]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<8x4096x2048xbf16>, tensor<2x1024x2048xbf16>) -> tensor<8x8192x1024xf32>
    return %1, %2 : tensor<8x8192x1024xbf16>, tensor<8x8192x1024xf32>
  }
}
