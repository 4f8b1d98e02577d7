// RUN: hloom-opt %s --turn-bytes --split-input-file | filecheck %s

// Changed: A bound weight of bytes, and one of floats that are seen in bytes, lie along what is summed.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<8x16xi8>, %[[W:.*]]: tensor<16x4xi8> {hloom.bound}, %[[Y:.*]]: tensor<8x16xui8>, %[[V:.*]]: tensor<2x16x4xui8> {hloom.bound})
// CHECK: %[[T:.*]] = stablehlo.transpose %[[W]], dims = [1, 0]
// CHECK: stablehlo.dot_general %[[X]], %[[T]], contracting_dims = [1] x [1] : (tensor<8x16xi8>, tensor<4x16xi8>) -> tensor<8x4xi32>
// CHECK: %[[U:.*]] = stablehlo.transpose %[[V]], dims = [0, 2, 1] : (tensor<2x16x4xui8>) -> tensor<2x4x16xui8>
// CHECK: %[[F:.*]] = stablehlo.bitcast_convert %[[U]] : (tensor<2x4x16xui8>) -> tensor<2x4x16xf8E5M2>
// CHECK: stablehlo.dot_general %{{.*}}, %[[F]], contracting_dims = [1] x [2]
module attributes {hloom.target = {kind = "cuda"}} {
  func.func @main(%x: tensor<8x16xi8>, %w: tensor<16x4xi8> {hloom.bound}, %y: tensor<8x16xui8>, %v: tensor<2x16x4xui8> {hloom.bound})
      -> (tensor<8x4xi32>, tensor<8x2x4xf32>) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xi8>, tensor<16x4xi8>) -> tensor<8x4xi32>
    %1 = stablehlo.bitcast_convert %y : (tensor<8x16xui8>) -> tensor<8x16xf8E5M2>
    %2 = stablehlo.bitcast_convert %v : (tensor<2x16x4xui8>) -> tensor<2x16x4xf8E5M2>
    %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [1] : (tensor<8x16xf8E5M2>, tensor<2x16x4xf8E5M2>) -> tensor<8x2x4xf32>
    return %0, %3 : tensor<8x4xi32>, tensor<8x2x4xf32>
  }
}

// -----

// Changed: What is not bound, where the dot takes longer than the transpose: on the left too.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<2x2048x4096xi8>, %[[W:.*]]: tensor<2x2048x4096xi8>)
// CHECK: %[[U:.*]] = stablehlo.transpose %[[X]], dims = [0, 2, 1] : (tensor<2x2048x4096xi8>) -> tensor<2x4096x2048xi8>
// CHECK: %[[V:.*]] = stablehlo.transpose %[[W]], dims = [0, 2, 1] : (tensor<2x2048x4096xi8>) -> tensor<2x4096x2048xi8>
// CHECK: stablehlo.dot_general %[[U]], %[[V]], batching_dims = [0] x [0], contracting_dims = [2] x [2]
module attributes {hloom.target = {kind = "cuda", int8_flops = 1978900000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, launch_ps = 2500000 : i64}} {
  func.func @main(%x: tensor<2x2048x4096xi8>, %w: tensor<2x2048x4096xi8>) -> tensor<2x4096x4096xi32> {
    %0 = stablehlo.dot_general %x, %w, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x2048x4096xi8>, tensor<2x2048x4096xi8>) -> tensor<2x4096x4096xi32>
    return %0 : tensor<2x4096x4096xi32>
  }
}

// -----

// Declined: A weight that lies so already, a small one that is not bound, and halves, which tensor cores transpose.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: stablehlo.transpose
module attributes {hloom.target = {kind = "cuda"}} {
  func.func @main(%x: tensor<8x16xi8>, %w: tensor<4x16xi8> {hloom.bound}, %v: tensor<16x4xi8>, %y: tensor<8x16xf16>, %h: tensor<16x4xf16> {hloom.bound})
      -> (tensor<8x4xi32>, tensor<8x4xi32>, tensor<8x4xf16>) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<8x16xi8>, tensor<4x16xi8>) -> tensor<8x4xi32>
    %1 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<8x16xi8>, tensor<16x4xi8>) -> tensor<8x4xi32>
    %2 = stablehlo.dot_general %y, %h, contracting_dims = [1] x [0] : (tensor<8x16xf16>, tensor<16x4xf16>) -> tensor<8x4xf16>
    return %0, %1, %2 : tensor<8x4xi32>, tensor<8x4xi32>, tensor<8x4xf16>
  }
}

// -----

// Unchanged: Another target.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: stablehlo.transpose
func.func @main(%x: tensor<8x16xi8>, %w: tensor<16x4xi8> {hloom.bound}) -> tensor<8x4xi32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xi8>, tensor<16x4xi8>) -> tensor<8x4xi32>
  return %0 : tensor<8x4xi32>
}
