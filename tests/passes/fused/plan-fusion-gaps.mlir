// RUN: hloom-opt %s --plan-fusion --split-input-file | filecheck %s

// Changed: A dot sums over what a slice takes every second element of: the slice is a kernel of its own, where the dot's would read single
// elements for each of its tiles.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[S:.*]] = call @fusion_0(%arg1)
// CHECK-NEXT: call @fusion_1(%arg0, %[[S]])
// CHECK: func.func private @fusion_0
// CHECK-NEXT: stablehlo.slice
// CHECK: func.func private @fusion_1
// CHECK: stablehlo.dot_general
module attributes {hloom.target = {name = "cpu-avx2", vector_bits = 256 : i64}} {
  func.func @main(%dy: tensor<64x28x28xf32>, %x: tensor<32x56x56xf32>) -> tensor<64x32xf32> {
    %0 = stablehlo.slice %x [0:32, 0:55:2, 0:55:2] : (tensor<32x56x56xf32>) -> tensor<32x28x28xf32>
    %1 = stablehlo.dot_general %dy, %0, contracting_dims = [1, 2] x [1, 2] : (tensor<64x28x28xf32>, tensor<32x28x28xf32>) -> tensor<64x32xf32>
    return %1 : tensor<64x32xf32>
  }
}

// -----

// Weights of a convolution whose taps lie two apart, through a reshape: they are a buffer too.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[S:.*]] = call @fusion_0(%arg1)
// CHECK-NEXT: call @fusion_1(%arg0, %[[S]])
module attributes {hloom.target = {name = "cpu-avx2", vector_bits = 256 : i64}} {
  func.func @main(%x: tensor<1x16x20xf32>, %w: tensor<128x1x5xf32>) -> tensor<1x8x18xf32> {
    %0 = stablehlo.slice %w [0:128, 0:1, 0:5:2] : (tensor<128x1x5xf32>) -> tensor<128x1x3xf32>
    %1 = stablehlo.reshape %0 : (tensor<128x1x3xf32>) -> tensor<8x16x3xf32>
    %2 = stablehlo.convolution(%x, %1) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x20xf32>, tensor<8x16x3xf32>) -> tensor<1x8x18xf32>
    return %2 : tensor<1x8x18xf32>
  }
}

// -----

// Declined: The channels are summed, which lie apart in any case; lines with all of their elements.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0(%arg1, %arg0)
// CHECK-NEXT: call @fusion_1(%arg2, %arg0)
// CHECK: return
module attributes {hloom.target = {name = "cpu-avx2", vector_bits = 256 : i64}} {
  func.func @main(%x: tensor<32x56x56xf32>, %w: tensor<64x32xf32>, %dy: tensor<64x28x56xf32>) -> (tensor<64x28x28xf32>, tensor<64x32xf32>) {
    %0 = stablehlo.slice %x [0:32, 0:55:2, 0:55:2] : (tensor<32x56x56xf32>) -> tensor<32x28x28xf32>
    %1 = stablehlo.dot_general %w, %0, contracting_dims = [1] x [0] : (tensor<64x32xf32>, tensor<32x28x28xf32>) -> tensor<64x28x28xf32>
    %2 = stablehlo.slice %x [0:32, 0:55:2, 0:56] : (tensor<32x56x56xf32>) -> tensor<32x28x56xf32>
    %3 = stablehlo.dot_general %dy, %2, contracting_dims = [1, 2] x [1, 2] : (tensor<64x28x56xf32>, tensor<32x28x56xf32>) -> tensor<64x32xf32>
    return %1, %3 : tensor<64x28x28xf32>, tensor<64x32xf32>
  }
}

// -----

// Declined: A kernel for a GPU.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0(%arg0, %arg1)
module attributes {hloom.target = {kind = "cuda", multiprocessors = 132}} {
  func.func @main(%dy: tensor<64x28x28xf32>, %x: tensor<32x56x56xf32>) -> tensor<64x32xf32> {
    %0 = stablehlo.slice %x [0:32, 0:55:2, 0:55:2] : (tensor<32x56x56xf32>) -> tensor<32x28x28xf32>
    %1 = stablehlo.dot_general %dy, %0, contracting_dims = [1, 2] x [1, 2] : (tensor<64x28x28xf32>, tensor<32x28x28xf32>) -> tensor<64x32xf32>
    return %1 : tensor<64x32xf32>
  }
}
