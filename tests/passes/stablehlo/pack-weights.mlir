// RUN: hloom-opt %s --split-input-file --pack-weights=block=4 | filecheck %s

// Changed: Columns that fill no block: the dot reads those that there are as an index of the blocks.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<16x3xf32>, %[[W:.*]]: tensor<6x3xf32> {hloom.bound}
// CHECK: %[[K:.*]] = stablehlo.transpose %[[W]], dims = [1, 0]
// CHECK: %[[P:.*]] = stablehlo.pad %[[K]], %{{.*}}, low = [0, 0], high = [0, 2]
// CHECK: %[[R:.*]] = stablehlo.reshape %[[P]] : (tensor<3x8xf32>) -> tensor<3x2x4xf32>
// CHECK: %[[T:.*]] = stablehlo.transpose %[[R]], dims = [1, 0, 2] : (tensor<3x2x4xf32>) -> tensor<2x3x4xf32>
// CHECK: %[[B:.*]] = stablehlo.optimization_barrier %[[T]]
// CHECK: %[[U:.*]] = stablehlo.transpose %[[B]], dims = [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
// CHECK: %[[F:.*]] = stablehlo.reshape %[[U]] : (tensor<3x2x4xf32>) -> tensor<3x8xf32>
// CHECK: %[[S:.*]] = stablehlo.slice %[[F]] [0:3, 0:6]
// CHECK: stablehlo.dot_general %[[X]], %[[S]], contracting_dims = [1] x [0] : (tensor<16x3xf32>, tensor<3x6xf32>) -> tensor<16x6xf32>
func.func @main(%x: tensor<16x3xf32>, %w: tensor<6x3xf32> {hloom.bound}) -> tensor<16x6xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<16x3xf32>, tensor<6x3xf32>) -> tensor<16x6xf32>
  return %0 : tensor<16x6xf32>
}

// -----

// Changed: [K, N], N a multiple of the block, a batch of rows: no pad, no slice; two dots read one packing.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<3x8xf32> {hloom.bound}
// CHECK-NEXT: %[[R:.*]] = stablehlo.reshape %[[W]] : (tensor<3x8xf32>) -> tensor<3x2x4xf32>
// CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %[[R]], dims = [1, 0, 2] : (tensor<3x2x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: stablehlo.dot_general %{{.*}}, %[[T]], contracting_dims = [2] x [1] : {{.*}} -> tensor<2x8x2x4xf32>
// CHECK-NEXT: stablehlo.reshape {{.*}} -> tensor<2x8x8xf32>
// CHECK-NEXT: stablehlo.dot_general %{{.*}}, %[[T]], contracting_dims = [2] x [1] : {{.*}} -> tensor<2x8x2x4xf32>
// CHECK-NEXT: stablehlo.reshape
// CHECK-NEXT: return
func.func @main(%x: tensor<2x8x3xf32>, %y: tensor<2x8x3xf32>, %w: tensor<3x8xf32> {hloom.bound}) -> (tensor<2x8x8xf32>, tensor<2x8x8xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [2] x [0] : (tensor<2x8x3xf32>, tensor<3x8xf32>) -> tensor<2x8x8xf32>
  %1 = stablehlo.dot_general %y, %w, contracting_dims = [2] x [0] : (tensor<2x8x3xf32>, tensor<3x8xf32>) -> tensor<2x8x8xf32>
  return %0, %1 : tensor<2x8x8xf32>, tensor<2x8x8xf32>
}

// -----

// Changed: Pairs of bf16 lie side by side where an instruction multiplies them, for one row too; odd depths stay.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1x6xbf16>, %[[W:[a-z0-9]+]]: tensor<128x6xbf16> {hloom.bound}
// CHECK: %[[B:.*]] = stablehlo.transpose %{{.*}}, dims = [0, 2, 1] : (tensor<2x64x6xbf16>) -> tensor<2x6x64xbf16>
// CHECK: %[[R:.*]] = stablehlo.reshape %[[B]] : (tensor<2x6x64xbf16>) -> tensor<2x3x2x64xbf16>
// CHECK: %[[T:.*]] = stablehlo.transpose %[[R]], dims = [0, 1, 3, 2] : (tensor<2x3x2x64xbf16>) -> tensor<2x3x64x2xbf16>
// CHECK: %[[L:.*]] = stablehlo.reshape %[[X]] : (tensor<1x6xbf16>) -> tensor<1x3x2xbf16>
// CHECK: stablehlo.dot_general %[[L]], %[[T]], contracting_dims = [1, 2] x [1, 3] : {{.*}} -> tensor<1x2x64xf32>
// CHECK: stablehlo.dot_general {{.*}} : (tensor<1x5xbf16>, tensor<128x5xbf16>) -> tensor<1x128xf32>
module attributes {hloom.target = {bf16_dot = true}} {
  func.func @main(%x: tensor<1x6xbf16>, %w: tensor<128x6xbf16> {hloom.bound}, %y: tensor<1x5xbf16>, %v: tensor<128x5xbf16> {hloom.bound})
      -> (tensor<1x128xf32>, tensor<1x128xf32>) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<1x6xbf16>, tensor<128x6xbf16>) -> tensor<1x128xf32>
    %1 = stablehlo.dot_general %y, %v, contracting_dims = [1] x [1] : (tensor<1x5xbf16>, tensor<128x5xbf16>) -> tensor<1x128xf32>
    return %0, %1 : tensor<1x128xf32>, tensor<1x128xf32>
  }
}

// -----

// Changed: Four bytes likewise, summed in i32; where the target multiplies pairs of i16, bytes stay.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.dot_general {{.*}}, contracting_dims = [1, 2] x [1, 3] : (tensor<1x2x4xi8>, tensor<1x2x64x4xi8>) -> tensor<1x1x64xi32>
module attributes {hloom.target = {int8_dot = true}} {
  func.func @main(%x: tensor<1x8xi8>, %w: tensor<8x64xi8> {hloom.bound}) -> tensor<1x64xi32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1x8xi8>, tensor<8x64xi8>) -> tensor<1x64xi32>
    return %0 : tensor<1x64xi32>
  }
}

// -----

// CHECK-LABEL: func.func @main(
// CHECK-NEXT: stablehlo.dot_general {{.*}} : (tensor<1x8xi8>, tensor<8x64xi8>) -> tensor<1x64xi32>
module {
  func.func @main(%x: tensor<1x8xi8>, %w: tensor<8x64xi8> {hloom.bound}) -> tensor<1x64xi32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<1x8xi8>, tensor<8x64xi8>) -> tensor<1x64xi32>
    return %0 : tensor<1x64xi32>
  }
}

// -----

// Declined: Not bound; few rows; narrower than a block; with a batch dimension.
// CHECK-LABEL: func.func @main
// CHECK-NOT: stablehlo.transpose
// CHECK: return
func.func @main(%x: tensor<16x3xf32>, %free: tensor<8x3xf32>, %few: tensor<1x3xf32>, %w: tensor<8x3xf32> {hloom.bound}, %v: tensor<2x3xf32> {hloom.bound}, %b: tensor<4x8x3xf32> {hloom.bound}, %xb: tensor<4x16x3xf32>)
    -> (tensor<16x8xf32>, tensor<1x8xf32>, tensor<16x2xf32>, tensor<4x16x8xf32>) {
  %0 = stablehlo.dot_general %x, %free, contracting_dims = [1] x [1] : (tensor<16x3xf32>, tensor<8x3xf32>) -> tensor<16x8xf32>
  %1 = stablehlo.dot_general %few, %w, contracting_dims = [1] x [1] : (tensor<1x3xf32>, tensor<8x3xf32>) -> tensor<1x8xf32>
  %2 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [1] : (tensor<16x3xf32>, tensor<2x3xf32>) -> tensor<16x2xf32>
  %3 = stablehlo.dot_general %xb, %b, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x16x3xf32>, tensor<4x8x3xf32>) -> tensor<4x16x8xf32>
  return %0, %1, %2, %3 : tensor<16x8xf32>, tensor<1x8xf32>, tensor<16x2xf32>, tensor<4x16x8xf32>
}

// -----

// Unchanged: A bound value that no dot reads.
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %[[S:.*]] = stablehlo.add %arg0, %arg1
// CHECK-NEXT: return %[[S]]
func.func @main(%x: tensor<16x3xf32>, %w: tensor<16x3xf32> {hloom.bound}) -> tensor<16x3xf32> {
  %0 = stablehlo.add %x, %w : tensor<16x3xf32>
  return %0 : tensor<16x3xf32>
}

// -----

// Changed: Some rows of a bound matrix are a weight, too: they are packed where they are made.
// CHECK-LABEL: func.func @main
// CHECK: %[[S:.*]] = stablehlo.slice %{{.*}} [8:16, 0:3]
// CHECK: %[[R:.*]] = stablehlo.reshape %[[S]] : (tensor<8x3xf32>) -> tensor<2x4x3xf32>
// CHECK: %[[P:.*]] = stablehlo.transpose %[[R]], dims = [0, 2, 1]
// CHECK: stablehlo.dot_general %{{.*}}, %[[P]], contracting_dims = [1] x [1]
func.func @main(%x: tensor<16x3xf32>, %w: tensor<24x3xf32> {hloom.bound}) -> tensor<16x8xf32> {
  %s = stablehlo.slice %w [8:16, 0:3] : (tensor<24x3xf32>) -> tensor<8x3xf32>
  %0 = stablehlo.dot_general %x, %s, contracting_dims = [1] x [1] : (tensor<16x3xf32>, tensor<8x3xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}
