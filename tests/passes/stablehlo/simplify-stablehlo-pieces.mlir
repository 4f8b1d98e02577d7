// RUN: hloom-opt %s --simplify-stablehlo --split-input-file | filecheck %s

// Changed: Pieces that are whole rows of the new shape are put together in it.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[X:.*]]: tensor<24xf32>, %[[Y:.*]]: tensor<40xf32>
// CHECK-DAG: %[[A:.*]] = stablehlo.reshape %[[X]] : (tensor<24xf32>) -> tensor<3x8xf32>
// CHECK-DAG: %[[B:.*]] = stablehlo.reshape %[[Y]] : (tensor<40xf32>) -> tensor<5x8xf32>
// CHECK: stablehlo.concatenate %[[A]], %[[B]], dim = 0 : (tensor<3x8xf32>, tensor<5x8xf32>) -> tensor<8x8xf32>
// CHECK-LABEL: func.func @heads(
// CHECK: stablehlo.concatenate {{.*}}, dim = 2 : (tensor<2x7x1x4xf32>, tensor<2x7x2x4xf32>) -> tensor<2x7x3x4xf32>
func.func @rows(%x: tensor<24xf32>, %y: tensor<40xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<24xf32>, tensor<40xf32>) -> tensor<64xf32>
  %1 = stablehlo.reshape %0 : (tensor<64xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
func.func @heads(%x: tensor<2x7x4xf32>, %y: tensor<2x7x8xf32>) -> tensor<2x7x3x4xf32> {
  %0 = stablehlo.concatenate %x, %y, dim = 2 : (tensor<2x7x4xf32>, tensor<2x7x8xf32>) -> tensor<2x7x12xf32>
  %1 = stablehlo.reshape %0 : (tensor<2x7x12xf32>) -> tensor<2x7x3x4xf32>
  return %1 : tensor<2x7x3x4xf32>
}

// -----

// Changed: A part of an array's copies, one after the other, is put together of them.
// CHECK-LABEL: func.func @copies(
// CHECK: %[[X:.*]] = stablehlo.reshape %arg0 : (tensor<3x5xf32>) -> tensor<15xf32>
// CHECK: %[[LAST:.*]] = stablehlo.slice %[[X]] [13:15]
// CHECK: %[[FIRST:.*]] = stablehlo.slice %[[X]] [0:7]
// CHECK: stablehlo.concatenate %[[LAST]], %[[X]], %[[FIRST]], dim = 0
// CHECK-LABEL: func.func @turned(
// CHECK-NOT: concatenate
func.func @copies(%x: tensor<3x5xf32>) -> tensor<24xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<3x5xf32>) -> tensor<4x3x5xf32>
  %1 = stablehlo.reshape %0 : (tensor<4x3x5xf32>) -> tensor<60xf32>
  %2 = stablehlo.slice %1 [13:37] : (tensor<60xf32>) -> tensor<24xf32>
  return %2 : tensor<24xf32>
}
func.func @turned(%x: tensor<3x3xf32>) -> tensor<24xf32> {
  %0 = stablehlo.broadcast_in_dim %x, dims = [2, 1] : (tensor<3x3xf32>) -> tensor<4x3x3xf32>
  %1 = stablehlo.reshape %0 : (tensor<4x3x3xf32>) -> tensor<36xf32>
  %2 = stablehlo.slice %1 [7:31] : (tensor<36xf32>) -> tensor<24xf32>
  return %2 : tensor<24xf32>
}

// -----

// Declined: a row that has a part of each piece; pieces that lie beside each other in all rows; what others read.
// CHECK-LABEL: func.func @parts(
// CHECK: stablehlo.reshape {{.*}} : (tensor<64xf32>) -> tensor<8x8xf32>
// CHECK-LABEL: func.func @beside(
// CHECK: stablehlo.reshape {{.*}} : (tensor<3x4xf32>) -> tensor<12xf32>
// CHECK-LABEL: func.func @read(
// CHECK: stablehlo.reshape {{.*}} : (tensor<32xf32>) -> tensor<4x8xf32>
func.func @parts(%x: tensor<20xf32>, %y: tensor<44xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<20xf32>, tensor<44xf32>) -> tensor<64xf32>
  %1 = stablehlo.reshape %0 : (tensor<64xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
func.func @beside(%x: tensor<3x2xf32>, %y: tensor<3x2xf32>) -> tensor<12xf32> {
  %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<3x4xf32>) -> tensor<12xf32>
  return %1 : tensor<12xf32>
}
func.func @read(%x: tensor<16xf32>, %y: tensor<16xf32>) -> (tensor<4x8xf32>, tensor<32xf32>) {
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<16xf32>, tensor<16xf32>) -> tensor<32xf32>
  %1 = stablehlo.reshape %0 : (tensor<32xf32>) -> tensor<4x8xf32>
  return %1, %0 : tensor<4x8xf32>, tensor<32xf32>
}

// -----

// Changed: Columns of pieces that lie beside each other are summed piece by piece.
// CHECK-LABEL: func.func @columns(
// CHECK-SAME: %[[X:.*]]: tensor<9x3xf32>, %[[Y:.*]]: tensor<9x5xf32>
// CHECK-DAG: %[[A:.*]] = stablehlo.reduce(%[[X]] {{.*}} across dimensions = [0] : (tensor<9x3xf32>, tensor<f32>) -> tensor<3xf32>
// CHECK-DAG: %[[B:.*]] = stablehlo.reduce(%[[Y]] {{.*}} across dimensions = [0] : (tensor<9x5xf32>, tensor<f32>) -> tensor<5xf32>
// CHECK: stablehlo.concatenate %[[A]], %[[B]], dim = 0
func.func @columns(%x: tensor<9x3xf32>, %y: tensor<9x5xf32>, %z: tensor<f32>) -> tensor<8xf32> {
  %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<9x3xf32>, tensor<9x5xf32>) -> tensor<9x8xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<9x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// Declined: on GPUs, whose threads branch.
module attributes {hloom.target = {kind = "cuda", compute_capability = 90 : i64}} {
  // CHECK-LABEL: func.func @columns(
  // CHECK-COUNT-1: stablehlo.reduce
  // CHECK-NOT: stablehlo.reduce
  func.func @columns(%x: tensor<9x3xf32>, %y: tensor<9x5xf32>, %z: tensor<f32>) -> tensor<8xf32> {
    %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<9x3xf32>, tensor<9x5xf32>) -> tensor<9x8xf32>
    %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<9x8xf32>, tensor<f32>) -> tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}
