// RUN: hloom-opt %s --fold-converts-into-dots | filecheck %s

// Changed: Through the transpose of a weight.
// CHECK-LABEL: func.func @linear(
// CHECK-SAME: %[[X:.*]]: tensor<8x16xbf16>, %[[W:.*]]: tensor<4x16xbf16>
// CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %[[W]], dims = [1, 0] : (tensor<4x16xbf16>) -> tensor<16x4xbf16>
// CHECK-NEXT: stablehlo.dot_general %[[X]], %[[T]], {{.*}} : (tensor<8x16xbf16>, tensor<16x4xbf16>) -> tensor<8x4xf32>
// CHECK-NEXT: return
func.func @linear(%x: tensor<8x16xbf16>, %w: tensor<4x16xbf16>) -> tensor<8x4xf32> {
  %0 = stablehlo.convert %x : (tensor<8x16xbf16>) -> tensor<8x16xf32>
  %1 = stablehlo.convert %w : (tensor<4x16xbf16>) -> tensor<4x16xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<4x16xf32>) -> tensor<16x4xf32>
  %3 = stablehlo.dot_general %0, %2, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// Through a pad with zero, into a convolution.
// CHECK-LABEL: func.func @convolution
// CHECK-NOT: stablehlo.convert
// CHECK: stablehlo.pad {{.*}} (tensor<1x1x4xf16>, tensor<f16>) -> tensor<1x1x6xf16>
// CHECK: stablehlo.convolution{{.*}} (tensor<1x1x6xf16>, tensor<1x1x3xf16>) -> tensor<1x1x4xf32>
func.func @convolution(%x: tensor<1x1x4xf16>, %w: tensor<1x1x3xf16>) -> tensor<1x1x4xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.convert %x : (tensor<1x1x4xf16>) -> tensor<1x1x4xf32>
  %1 = stablehlo.convert %w : (tensor<1x1x3xf16>) -> tensor<1x1x3xf32>
  %2 = stablehlo.pad %0, %z, low = [0, 0, 1], high = [0, 0, 1], interior = [0, 0, 0] : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<1x1x6xf32>
  %3 = stablehlo.convolution(%2, %1) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x6xf32>, tensor<1x1x3xf32>) -> tensor<1x1x4xf32>
  return %3 : tensor<1x1x4xf32>
}

// Declined: One side alone, two half types, integers, f64: left as they are.
// CHECK-LABEL: func.func @declined
// CHECK-COUNT-6: stablehlo.convert
// CHECK-NOT: tensor<4x4xf16>, tensor
func.func @declined(%x: tensor<4x4xf16>, %y: tensor<4x4xf32>, %b: tensor<4x4xbf16>, %i: tensor<4x4xi8>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf64>) {
  %0 = stablehlo.convert %x : (tensor<4x4xf16>) -> tensor<4x4xf32>
  %1 = stablehlo.dot_general %0, %y, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = stablehlo.convert %b : (tensor<4x4xbf16>) -> tensor<4x4xf32>
  %3 = stablehlo.dot_general %0, %2, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = stablehlo.convert %i : (tensor<4x4xi8>) -> tensor<4x4xf32>
  %5 = stablehlo.dot_general %4, %4, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = stablehlo.convert %x : (tensor<4x4xf16>) -> tensor<4x4xf64>
  %7 = stablehlo.convert %x : (tensor<4x4xf16>) -> tensor<4x4xf64>
  %8 = stablehlo.dot_general %6, %7, contracting_dims = [1] x [0] : (tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x4xf64>
  %9 = stablehlo.convert %1 : (tensor<4x4xf32>) -> tensor<4x4xf16>
  %10 = stablehlo.convert %9 : (tensor<4x4xf16>) -> tensor<4x4xf32>
  return %10, %3, %5, %8 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf64>
}

// Unchanged: Nothing converts.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: stablehlo.dot_general %{{.*}}, %{{.*}} : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
func.func @none(%x: tensor<4x4xf16>) -> tensor<4x4xf16> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<4x4xf16>, tensor<4x4xf16>) -> tensor<4x4xf16>
  return %0 : tensor<4x4xf16>
}
