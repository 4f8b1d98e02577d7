// RUN: hloom-opt %s --grow-concatenations | filecheck %s

// Changed: Each holds the one before it: the new piece is written behind what is there.
// CHECK-LABEL: func.func @dense
// CHECK: %[[C:.*]] = stablehlo.concatenate %arg0, %arg1, dim = 0
// CHECK: %[[B1:.*]] = stablehlo.pad %[[C]], %{{.*}}, low = [0, 0], high = [6, 0]
// CHECK: %[[X2:.*]] = stablehlo.tanh
// CHECK: %[[AT2:.*]] = stablehlo.constant dense<4> : tensor<i64>
// CHECK: %[[B2:.*]] = stablehlo.dynamic_update_slice %[[B1]], %[[X2]], %[[AT2]], %{{.*}} {hloom.grows}
// CHECK: %[[C2:.*]] = stablehlo.slice %[[B2]] [0:7, 0:8]
// CHECK: %[[X3:.*]] = stablehlo.abs %[[C2]]
// CHECK: %[[AT3:.*]] = stablehlo.constant dense<7> : tensor<i64>
// CHECK: %[[B3:.*]] = stablehlo.dynamic_update_slice %[[B2]], %{{.*}}, %[[AT3]], %{{.*}} {hloom.grows}
// CHECK: %[[AT4:.*]] = stablehlo.constant dense<9> : tensor<i64>
// CHECK: %[[B4:.*]] = stablehlo.dynamic_update_slice %[[B3]], %arg2, %[[AT4]], %{{.*}} {hloom.grows}
// CHECK: return %[[B4]]
func.func @dense(%x0: tensor<2x8xf32>, %x1: tensor<2x8xf32>, %y: tensor<1x8xf32>) -> tensor<10x8xf32> {
  %c1 = stablehlo.concatenate %x0, %x1, dim = 0 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  %s1 = stablehlo.slice %c1 [0:3, 0:8] : (tensor<4x8xf32>) -> tensor<3x8xf32>
  %x2 = stablehlo.tanh %s1 : tensor<3x8xf32>
  %c2 = stablehlo.concatenate %x0, %x1, %x2, dim = 0 : (tensor<2x8xf32>, tensor<2x8xf32>, tensor<3x8xf32>) -> tensor<7x8xf32>
  %a2 = stablehlo.abs %c2 : tensor<7x8xf32>
  %x3 = stablehlo.slice %a2 [1:3, 0:8] : (tensor<7x8xf32>) -> tensor<2x8xf32>
  %c3 = stablehlo.concatenate %x0, %x1, %x2, %x3, %y, dim = 0 : (tensor<2x8xf32>, tensor<2x8xf32>, tensor<3x8xf32>, tensor<2x8xf32>, tensor<1x8xf32>) -> tensor<10x8xf32>
  return %c3 : tensor<10x8xf32>
}

// Changed: A concatenation that is itself a piece of the next, which has pieces before it and behind it.
// CHECK-LABEL: func.func @within
// CHECK: %[[C:.*]] = stablehlo.concatenate %arg0, %arg1, dim = 1
// CHECK: %[[B1:.*]] = stablehlo.pad %[[C]], %{{.*}}, low = [0, 1], high = [0, 5]
// CHECK: %[[B2:.*]] = stablehlo.dynamic_update_slice %[[B1]], %arg2, %{{.*}} {hloom.grows}
// CHECK: %[[B3:.*]] = stablehlo.dynamic_update_slice %[[B2]], %{{.*}} {hloom.grows}
// CHECK: %[[B4:.*]] = stablehlo.dynamic_update_slice %[[B3]], %{{.*}} {hloom.grows}
// CHECK: return %[[C]], %[[B4]]
func.func @within(%x: tensor<4x1xf32>, %y: tensor<4x2xf32>, %z: tensor<4x1xf32>) -> (tensor<4x3xf32>, tensor<4x9xf32>) {
  %c1 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<4x1xf32>, tensor<4x2xf32>) -> tensor<4x3xf32>
  %a1 = stablehlo.abs %c1 : tensor<4x3xf32>
  %b1 = stablehlo.exponential %y : tensor<4x2xf32>
  %c2 = stablehlo.concatenate %z, %c1, %a1, %b1, dim = 1 : (tensor<4x1xf32>, tensor<4x3xf32>, tensor<4x3xf32>, tensor<4x2xf32>) -> tensor<4x9xf32>
  return %c1, %c2 : tensor<4x3xf32>, tensor<4x9xf32>
}

// Declined: Four pieces in the end.
// CHECK-LABEL: func.func @few
// CHECK-NOT: dynamic_update_slice
func.func @few(%x: tensor<2xf32>, %y: tensor<2xf32>) -> (tensor<4xf32>, tensor<8xf32>) {
  %c1 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %c2 = stablehlo.concatenate %x, %y, %y, %x, dim = 0 : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<8xf32>
  return %c1, %c2 : tensor<4xf32>, tensor<8xf32>
}

// Declined: No run of the pieces of the other, along another dimension, and in another block.
// CHECK-LABEL: func.func @apart
// CHECK-NOT: dynamic_update_slice
func.func @apart(%x: tensor<2x2xf32>, %y: tensor<2x2xf32>, %p: tensor<i1>) -> (tensor<4x2xf32>, tensor<10x2xf32>, tensor<2x10xf32>, tensor<10x2xf32>) {
  %c1 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<4x2xf32>
  %c2 = stablehlo.concatenate %y, %y, %x, %x, %x, dim = 0 : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<10x2xf32>
  %c3 = stablehlo.concatenate %x, %y, %y, %x, %x, dim = 1 : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x10xf32>
  %c4 = "stablehlo.if"(%p) ({
    %c5 = stablehlo.concatenate %x, %y, %y, %x, %x, dim = 0 : (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<10x2xf32>
    stablehlo.return %c5 : tensor<10x2xf32>
  }, {
    stablehlo.return %c2 : tensor<10x2xf32>
  }) : (tensor<i1>) -> tensor<10x2xf32>
  return %c1, %c2, %c3, %c4 : tensor<4x2xf32>, tensor<10x2xf32>, tensor<2x10xf32>, tensor<10x2xf32>
}

// Unchanged: A lone one.
// CHECK-LABEL: func.func @lone
// CHECK: stablehlo.concatenate %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, dim = 0
// CHECK-NOT: dynamic_update_slice
func.func @lone(%x: tensor<2xf32>) -> tensor<12xf32> {
  %0 = stablehlo.concatenate %x, %x, %x, %x, %x, %x, dim = 0 : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<12xf32>
  return %0 : tensor<12xf32>
}
