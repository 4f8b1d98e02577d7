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
