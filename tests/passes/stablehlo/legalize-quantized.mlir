// RUN: hloom-opt %s --legalize-quantized | filecheck %s

!q = !quant.uniform<i8:f32, 0.5:3>
!w = !quant.uniform<i8:f32, 0.25>
!u = !quant.uniform<u8:f32, 2.0:128>
!v = !quant.uniform<u8:f32, 0.25>
!r = !quant.uniform<i8:f32, 2.0:-1>
!a = !quant.uniform<i8:f32:1, {0.1, 0.2}>
!acc = !quant.uniform<i32:f32, 0.125>

// Changed: Dequantize, op, quantize, in the specification's words.
// CHECK-LABEL: func.func @add
// CHECK-SAME: (%[[X:.*]]: tensor<4xi8>, %[[Y:.*]]: tensor<4xui8>) -> tensor<4xi8>
// CHECK: %[[W:.*]] = stablehlo.convert %[[X]] : (tensor<4xi8>) -> tensor<4xi32>
// CHECK: stablehlo.subtract %[[W]]
// CHECK: stablehlo.multiply %{{.*}} : tensor<4xf32>
// CHECK: %[[S:.*]] = stablehlo.add %{{.*}} : tensor<4xf32>
// CHECK: stablehlo.divide %[[S]]
// CHECK: stablehlo.add
// CHECK: stablehlo.clamp
// CHECK: stablehlo.round_nearest_even
// CHECK: stablehlo.convert %{{.*}} : (tensor<4xf32>) -> tensor<4xi8>
func.func @add(%x: tensor<4x!q>, %y: tensor<4x!u>) -> tensor<4x!r> {
  %0 = stablehlo.add %x, %y : (tensor<4x!q>, tensor<4x!u>) -> tensor<4x!r>
  return %0 : tensor<4x!r>
}

// Changed: A contraction in integers, the zero point folded into sums of the right operand, one factor.
// CHECK-LABEL: func.func @dot
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xi8>, %[[Y:.*]]: tensor<8x2xi8>) -> tensor<4x2xi8>
// CHECK: %[[D:.*]] = stablehlo.dot_general %[[X]], %[[Y]], contracting_dims = [1] x [0] : (tensor<4x8xi8>, tensor<8x2xi8>) -> tensor<4x2xi32>
// CHECK: stablehlo.reduce{{.*}} applies stablehlo.add across dimensions = [0] : (tensor<8x2xi32>, tensor<i32>) -> tensor<2xi32>
// CHECK: stablehlo.subtract %[[D]]
// CHECK: stablehlo.constant dense<6.250000e-02>
// CHECK-NOT: divide
// CHECK: stablehlo.round_nearest_even
func.func @dot(%x: tensor<4x8x!q>, %w: tensor<8x2x!w>) -> tensor<4x2x!r> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8x!q>, tensor<8x2x!w>) -> tensor<4x2x!r>
  return %0 : tensor<4x2x!r>
}

// Changed: Unsigned bytes on both sides are moved by 128: sums of columns and, less the zero point, of rows. Few numbers are multiplied.
// CHECK-LABEL: func.func @unsigned_dot(
// CHECK-COUNT-2: stablehlo.xor
// CHECK: stablehlo.dot_general {{.*}} : (tensor<4x8xi8>, tensor<8x2xi8>) -> tensor<4x2xi32>
// CHECK: stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<8x2xi32>, tensor<i32>) -> tensor<2xi32>
// CHECK: stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<4x8xi32>, tensor<i32>) -> tensor<4xi32>
// CHECK: stablehlo.subtract {{.*}} : tensor<4xi32>
// CHECK: stablehlo.multiply {{.*}} : tensor<4xi32>
// CHECK-NEXT: stablehlo.broadcast_in_dim {{.*}}, dims = [0]
func.func @unsigned_dot(%x: tensor<4x8x!quant.uniform<u8:f32, 0.5>>, %w: tensor<8x2x!quant.uniform<u8:f32, 0.25>>) -> tensor<4x2x!quant.uniform<i8:f32, 2.0:-1>> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8x!quant.uniform<u8:f32, 0.5>>, tensor<8x2x!quant.uniform<u8:f32, 0.25>>) -> tensor<4x2x!quant.uniform<i8:f32, 2.0:-1>>
  return %0 : tensor<4x2x!quant.uniform<i8:f32, 2.0:-1>>
}

// Changed: Unsigned bytes of a convolution stay what they are, where both are; with a signed kernel the image is moved by 128.
// CHECK-LABEL: func.func @unsigned_convolutions(
// CHECK-NOT: stablehlo.xor
// CHECK: stablehlo.convolution{{.*}} : (tensor<1x4x2xui8>, tensor<3x2x2xui8>) -> tensor<1x2x2xi32>
// CHECK: stablehlo.xor {{.*}} : tensor<1x4x2xui8>
// CHECK: stablehlo.convolution{{.*}} : (tensor<1x4x2xi8>, tensor<3x2x2xi8>) -> tensor<1x2x2xi32>
func.func @unsigned_convolutions(%i: tensor<1x4x2x!u>, %u: tensor<3x2x2x!v>, %k: tensor<3x2x2x!w>) -> (tensor<1x2x2x!u>, tensor<1x2x2x!u>) {
  %0 = stablehlo.convolution(%i, %u) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x2x!u>, tensor<3x2x2x!v>) -> tensor<1x2x2x!u>
  %1 = stablehlo.convolution(%i, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x2x!u>, tensor<3x2x2x!w>) -> tensor<1x2x2x!u>
  return %0, %1 : tensor<1x2x2x!u>, tensor<1x2x2x!u>
}

// Changed: The sums are the result where that stands for the same.
// CHECK-LABEL: func.func @accumulator
// CHECK-NOT: f32
// CHECK: return
func.func @accumulator(%x: tensor<4x8x!q>, %w: tensor<8x2x!w>) -> tensor<4x2x!acc> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8x!q>, tensor<8x2x!w>) -> tensor<4x2x!acc>
  return %0 : tensor<4x2x!acc>
}

// Changed: A hybrid op's weights are dequantized along their axis.
// CHECK-LABEL: func.func @hybrid
// CHECK: stablehlo.broadcast_in_dim %{{.*}}, dims = [1] : (tensor<2xf32>) -> tensor<8x2xf32>
// CHECK: stablehlo.dot_general {{.*}} : (tensor<4x8xf32>, tensor<8x2xf32>) -> tensor<4x2xf32>
func.func @hybrid(%x: tensor<4x8xf32>, %w: tensor<8x2x!a>) -> tensor<4x2xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x2x!a>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// Changed: What moves or orders elements of one type does so with the integers.
// CHECK-LABEL: func.func @moves
// CHECK-NOT: f32
// CHECK: stablehlo.maximum %{{.*}} : tensor<4xi8>
// CHECK: stablehlo.reverse %{{.*}}, dims = [0] : tensor<4xi8>
func.func @moves(%x: tensor<4x!q>, %y: tensor<4x!q>) -> tensor<4x!q> {
  %0 = stablehlo.maximum %x, %y : tensor<4x!q>
  %1 = stablehlo.reverse %0, dims = [0] : tensor<4x!q>
  return %1 : tensor<4x!q>
}

// Unchanged: Nothing is quantized.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: stablehlo.add %{{.*}}, %{{.*}} : tensor<4xi8>
func.func @none(%x: tensor<4xi8>) -> tensor<4xi8> {
  %0 = stablehlo.add %x, %x : tensor<4xi8>
  return %0 : tensor<4xi8>
}
