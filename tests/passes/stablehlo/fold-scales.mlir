// RUN: hloom-opt %s --fold-scales --split-input-file | filecheck %s

// Changed: A bias and a batch norm are one addition, the scale is in the weights.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1x8x8x16xf32>, %[[W:[a-z0-9]+]]: tensor<3x3x16x24xf32>
// CHECK: %[[S:.*]] = stablehlo.broadcast_in_dim {{.*}}, dims = [3] : (tensor<24xf32>) -> tensor<3x3x16x24xf32>
// CHECK: %[[V:.*]] = stablehlo.multiply %[[W]], %[[S]]
// CHECK: %[[C:.*]] = stablehlo.convolution(%[[X]], %[[V]])
// CHECK: %[[T:.*]] = stablehlo.broadcast_in_dim {{.*}}, dims = [3] : (tensor<24xf32>) -> tensor<1x6x6x24xf32>
// CHECK: %[[Y:.*]] = stablehlo.add %[[C]], %[[T]]
// CHECK: return %[[Y]]
func.func @main(%x: tensor<1x8x8x16xf32>, %w: tensor<3x3x16x24xf32> {hloom.bound}, %m: tensor<24xf32> {hloom.bound}, %s: tensor<24xf32> {hloom.bound}) -> tensor<1x6x6x24xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x16x24xf32>) -> tensor<1x6x6x24xf32>
  %1 = stablehlo.broadcast_in_dim %m, dims = [3] : (tensor<24xf32>) -> tensor<1x6x6x24xf32>
  %2 = stablehlo.broadcast_in_dim %s, dims = [3] : (tensor<24xf32>) -> tensor<1x6x6x24xf32>
  %3 = stablehlo.subtract %0, %1 : tensor<1x6x6x24xf32>
  %4 = stablehlo.multiply %3, %2 : tensor<1x6x6x24xf32>
  %5 = stablehlo.add %1, %4 : tensor<1x6x6x24xf32>
  return %5 : tensor<1x6x6x24xf32>
}

// -----

// Declined: A scale that is given at each call, and one between two readers.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.convolution(%{{.*}}, %[[W:arg1]])
// CHECK: stablehlo.convolution(%{{.*}}, %[[W]])
func.func @main(%x: tensor<1x8x8x16xf32>, %w: tensor<3x3x16x24xf32> {hloom.bound}, %m: tensor<24xf32>, %s: tensor<24xf32> {hloom.bound}) -> (tensor<1x6x6x24xf32>, tensor<1x6x6x24xf32>) {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x16x24xf32>) -> tensor<1x6x6x24xf32>
  %1 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x16x24xf32>) -> tensor<1x6x6x24xf32>
  %2 = stablehlo.broadcast_in_dim %m, dims = [3] : (tensor<24xf32>) -> tensor<1x6x6x24xf32>
  %3 = stablehlo.broadcast_in_dim %s, dims = [3] : (tensor<24xf32>) -> tensor<1x6x6x24xf32>
  %4 = stablehlo.multiply %0, %2 : tensor<1x6x6x24xf32>
  %5 = stablehlo.multiply %1, %3 : tensor<1x6x6x24xf32>
  %6 = stablehlo.add %5, %1 : tensor<1x6x6x24xf32>
  return %4, %6 : tensor<1x6x6x24xf32>, tensor<1x6x6x24xf32>
}

// -----

// Unchanged: A bias alone is one addition already.
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: stablehlo.convolution
// CHECK-NEXT: stablehlo.broadcast_in_dim
// CHECK-NEXT: stablehlo.add
// CHECK-NEXT: return
func.func @main(%x: tensor<1x8x8x16xf32>, %w: tensor<3x3x16x24xf32> {hloom.bound}, %b: tensor<24xf32> {hloom.bound}) -> tensor<1x6x6x24xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xf32>, tensor<3x3x16x24xf32>) -> tensor<1x6x6x24xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [3] : (tensor<24xf32>) -> tensor<1x6x6x24xf32>
  %2 = stablehlo.add %0, %1 : tensor<1x6x6x24xf32>
  return %2 : tensor<1x6x6x24xf32>
}

// -----

// Changed: Sums of halves that a batch norm reads in f32 keep their f32, and are scaled there.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<1x8x8x16xbf16>, %[[W:[a-z0-9]+]]: tensor<3x3x16x24xbf16>
// CHECK: %[[C:.*]] = stablehlo.convolution(%[[X]], %[[W]]) {{.*}} -> tensor<1x6x6x24xf32>
// CHECK: %[[S:.*]] = stablehlo.broadcast_in_dim %arg3, dims = [3] : (tensor<24xf32>) -> tensor<1x6x6x24xf32>
// CHECK: %[[M:.*]] = stablehlo.multiply %[[C]], %[[S]]
// CHECK: %[[T:.*]] = stablehlo.broadcast_in_dim {{.*}}, dims = [3] : (tensor<24xf32>) -> tensor<1x6x6x24xf32>
// CHECK: %[[Y:.*]] = stablehlo.add %[[M]], %[[T]]
// CHECK: %[[H:.*]] = stablehlo.convert %[[Y]]
// CHECK: return %[[H]]
func.func @main(%x: tensor<1x8x8x16xbf16>, %w: tensor<3x3x16x24xbf16> {hloom.bound}, %m: tensor<24xf32> {hloom.bound}, %s: tensor<24xf32> {hloom.bound}) -> tensor<1x6x6x24xbf16> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xbf16>, tensor<3x3x16x24xbf16>) -> tensor<1x6x6x24xbf16>
  %1 = stablehlo.convert %0 : (tensor<1x6x6x24xbf16>) -> tensor<1x6x6x24xf32>
  %2 = stablehlo.broadcast_in_dim %m, dims = [3] : (tensor<24xf32>) -> tensor<1x6x6x24xf32>
  %3 = stablehlo.broadcast_in_dim %s, dims = [3] : (tensor<24xf32>) -> tensor<1x6x6x24xf32>
  %4 = stablehlo.subtract %1, %2 : tensor<1x6x6x24xf32>
  %5 = stablehlo.multiply %4, %3 : tensor<1x6x6x24xf32>
  %6 = stablehlo.convert %5 : (tensor<1x6x6x24xf32>) -> tensor<1x6x6x24xbf16>
  return %6 : tensor<1x6x6x24xbf16>
}

// -----

// Declined: Sums of halves that are scaled once: rounding them is what the program says.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.convolution{{.*}} -> tensor<1x6x6x24xbf16>
// CHECK-NEXT: stablehlo.convert
func.func @main(%x: tensor<1x8x8x16xbf16>, %w: tensor<3x3x16x24xbf16> {hloom.bound}, %s: tensor<24xf32> {hloom.bound}) -> tensor<1x6x6x24xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xbf16>, tensor<3x3x16x24xbf16>) -> tensor<1x6x6x24xbf16>
  %1 = stablehlo.convert %0 : (tensor<1x6x6x24xbf16>) -> tensor<1x6x6x24xf32>
  %2 = stablehlo.broadcast_in_dim %s, dims = [3] : (tensor<24xf32>) -> tensor<1x6x6x24xf32>
  %3 = stablehlo.multiply %1, %2 : tensor<1x6x6x24xf32>
  return %3 : tensor<1x6x6x24xf32>
}

// -----

// Unchanged: Sums of halves that are the result.
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: stablehlo.convolution
// CHECK-NEXT: return
func.func @main(%x: tensor<1x8x8x16xbf16>, %w: tensor<3x3x16x24xbf16> {hloom.bound}) -> tensor<1x6x6x24xbf16> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x16xbf16>, tensor<3x3x16x24xbf16>) -> tensor<1x6x6x24xbf16>
  return %0 : tensor<1x6x6x24xbf16>
}
