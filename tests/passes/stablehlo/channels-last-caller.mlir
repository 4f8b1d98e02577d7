// RUN: hloom-opt %s --channels-last --cse --split-input-file | filecheck %s

// Changed: Without a convolution, a caller's arrays lie with the channels last: the transposes meet and both go.
// CHECK-LABEL: func.func @caller(
// CHECK-NOT: stablehlo.transpose
// CHECK: %[[A:.*]] = stablehlo.add %{{.*}}, %{{.*}} : tensor<1x8x8x16xf32>
// CHECK-NOT: stablehlo.transpose
// CHECK: return %[[A]]
func.func @caller(%x: tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32> attributes {hloom.laid_out} {
  %0 = stablehlo.transpose %x, dims = [0, 3, 1, 2] : (tensor<1x8x8x16xf32>) -> tensor<1x16x8x8xf32>
  %1 = stablehlo.add %0, %0 : tensor<1x16x8x8xf32>
  %2 = stablehlo.transpose %1, dims = [0, 2, 3, 1] : (tensor<1x16x8x8xf32>) -> tensor<1x8x8x16xf32>
  return %2 : tensor<1x8x8x16xf32>
}

// -----

// Changed: What is computed of broadcasts alone, as the numbers of a pool's windows are, is computed with the channels last.
// CHECK-LABEL: func.func @numbers(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1x8x8x16xi32>, %[[R:[a-z0-9]+]]: tensor<8xi32>
// CHECK-NOT: stablehlo.transpose
// CHECK-DAG: %[[L:.*]] = stablehlo.broadcast_in_dim %[[R]], dims = [1] : (tensor<8xi32>) -> tensor<1x8x8x16xi32>
// CHECK-DAG: %[[C:.*]] = stablehlo.broadcast_in_dim %[[R]], dims = [2] : (tensor<8xi32>) -> tensor<1x8x8x16xi32>
// CHECK: %[[N:.*]] = stablehlo.add %[[L]], %[[C]]
// CHECK: %[[M:.*]] = stablehlo.maximum %[[X]], %[[N]]
// CHECK-NOT: stablehlo.transpose
// CHECK: return %[[M]]
func.func @numbers(%x: tensor<1x8x8x16xi32>, %r: tensor<8xi32>) -> tensor<1x8x8x16xi32> attributes {hloom.laid_out} {
  %0 = stablehlo.transpose %x, dims = [0, 3, 1, 2] : (tensor<1x8x8x16xi32>) -> tensor<1x16x8x8xi32>
  %1 = stablehlo.broadcast_in_dim %r, dims = [2] : (tensor<8xi32>) -> tensor<1x16x8x8xi32>
  %2 = stablehlo.broadcast_in_dim %r, dims = [3] : (tensor<8xi32>) -> tensor<1x16x8x8xi32>
  %3 = stablehlo.add %1, %2 : tensor<1x16x8x8xi32>
  %4 = stablehlo.maximum %0, %3 : tensor<1x16x8x8xi32>
  %5 = stablehlo.transpose %4, dims = [0, 2, 3, 1] : (tensor<1x16x8x8xi32>) -> tensor<1x8x8x16xi32>
  return %5 : tensor<1x8x8x16xi32>
}

// Declined: What an argument is a part of would have to be transposed.
// CHECK-LABEL: func.func @argument(
// CHECK: stablehlo.transpose
// CHECK: stablehlo.maximum %{{.*}}, %{{.*}} : tensor<1x16x8x8xi32>
// CHECK: stablehlo.reverse
func.func @argument(%x: tensor<1x8x8x16xi32>, %r: tensor<8xi32>, %y: tensor<1x16x8x8xi32>) -> tensor<1x16x8x8xi32> attributes {hloom.laid_out} {
  %0 = stablehlo.transpose %x, dims = [0, 3, 1, 2] : (tensor<1x8x8x16xi32>) -> tensor<1x16x8x8xi32>
  %1 = stablehlo.broadcast_in_dim %r, dims = [2] : (tensor<8xi32>) -> tensor<1x16x8x8xi32>
  %2 = stablehlo.add %1, %y : tensor<1x16x8x8xi32>
  %3 = stablehlo.maximum %0, %2 : tensor<1x16x8x8xi32>
  %4 = stablehlo.reverse %3, dims = [2] : tensor<1x16x8x8xi32>
  return %4 : tensor<1x16x8x8xi32>
}

// -----

// Unchanged: Without a convolution, the source has its transposes where it wants them.
// CHECK-LABEL: func.func @source(
// CHECK: stablehlo.transpose
// CHECK: stablehlo.add %{{.*}}, %{{.*}} : tensor<1x16x8x8xf32>
// CHECK: stablehlo.transpose
func.func @source(%x: tensor<1x8x8x16xf32>) -> tensor<1x8x8x16xf32> {
  %0 = stablehlo.transpose %x, dims = [0, 3, 1, 2] : (tensor<1x8x8x16xf32>) -> tensor<1x16x8x8xf32>
  %1 = stablehlo.add %0, %0 : tensor<1x16x8x8xf32>
  %2 = stablehlo.transpose %1, dims = [0, 2, 3, 1] : (tensor<1x16x8x8xf32>) -> tensor<1x8x8x16xf32>
  return %2 : tensor<1x8x8x16xf32>
}
