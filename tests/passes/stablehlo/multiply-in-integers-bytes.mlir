// RUN: hloom-opt %s --multiply-in-integers | filecheck %s

// Where there is an instruction for bytes.
module attributes {hloom.target = {kind = "cpu", vector_bits = 512, vector_registers = 32, int8_dot = true}} {

// Changed: A zero point goes apart into the product: bytes by bytes, less the sums of the other side.
// CHECK-LABEL: func.func @dot(
// CHECK-SAME: %[[Q:.*]]: tensor<8x64xui8>, %[[W:.*]]: tensor<32x64xi8>
// CHECK-NEXT: %[[I:.*]] = stablehlo.dot_general %[[Q]], %[[W]], {{.*}} : (tensor<8x64xui8>, tensor<32x64xi8>) -> tensor<8x32xi32>
// CHECK: stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<32x64xi32>, tensor<i32>) -> tensor<32xi32>
// CHECK: stablehlo.constant dense<3> : tensor<32xi32>
// CHECK: stablehlo.subtract %[[I]]
func.func @dot(%q: tensor<8x64xui8>, %w: tensor<32x64xi8>) -> tensor<8x32xf32> {
  %z = stablehlo.constant dense<3.0> : tensor<8x64xf32>
  %0 = stablehlo.convert %q : (tensor<8x64xui8>) -> tensor<8x64xf32>
  %1 = stablehlo.subtract %0, %z : tensor<8x64xf32>
  %2 = stablehlo.convert %w : (tensor<32x64xi8>) -> tensor<32x64xf32>
  %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [1] : (tensor<8x64xf32>, tensor<32x64xf32>) -> tensor<8x32xf32>
  return %3 : tensor<8x32xf32>
}

// Changed: An image is padded with its zero point, and moved by 128 where the signs of bytes differ. Winograd's algorithm is slower.
// CHECK-LABEL: func.func @convolution(
// CHECK: %[[S:.*]] = stablehlo.xor %{{.*}} : tensor<1x8x8x32xui8>
// CHECK: %[[I:.*]] = stablehlo.bitcast_convert %[[S]] : (tensor<1x8x8x32xui8>) -> tensor<1x8x8x32xi8>
// CHECK: %[[P:.*]] = stablehlo.constant dense<-120> : tensor<i8>
// CHECK: %[[M:.*]] = stablehlo.pad %[[I]], %[[P]], low = [0, 1, 1, 0], high = [0, 1, 1, 0]
// CHECK: stablehlo.convolution(%[[M]], %{{.*}}) {{.*}} window = {} {{.*}} : (tensor<1x10x10x32xi8>, tensor<3x3x32x32xi8>) -> tensor<1x8x8x32xi32>
// CHECK: stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [0, 1, 2]
// CHECK: stablehlo.constant dense<-120> : tensor<32xi32>
func.func @convolution(%x: tensor<1x8x8x32xui8>, %w: tensor<3x3x32x32xi8>) -> tensor<1x8x8x32xf32> {
  %z = stablehlo.constant dense<8.0> : tensor<1x8x8x32xf32>
  %0 = stablehlo.convert %x : (tensor<1x8x8x32xui8>) -> tensor<1x8x8x32xf32>
  %1 = stablehlo.subtract %0, %z : tensor<1x8x8x32xf32>
  %2 = stablehlo.convert %w : (tensor<3x3x32x32xi8>) -> tensor<3x3x32x32xf32>
  %3 = stablehlo.convolution(%1, %2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x32xf32>, tensor<3x3x32x32xf32>) -> tensor<1x8x8x32xf32>
  return %3 : tensor<1x8x8x32xf32>
}

// Changed: Kernels with a zero point are i16: the sums of windows cost more than they save.
// CHECK-LABEL: func.func @kernels(
// CHECK: stablehlo.convolution{{.*}} : (tensor<1x8x8x32xi16>, tensor<1x1x32x32xi16>) -> tensor<1x8x8x32xi32>
func.func @kernels(%x: tensor<1x8x8x32xi8>, %w: tensor<1x1x32x32xi8>) -> tensor<1x8x8x32xf32> {
  %z = stablehlo.constant dense<8.0> : tensor<1x1x32x32xf32>
  %0 = stablehlo.convert %x : (tensor<1x8x8x32xi8>) -> tensor<1x8x8x32xf32>
  %1 = stablehlo.convert %w : (tensor<1x1x32x32xi8>) -> tensor<1x1x32x32xf32>
  %2 = stablehlo.subtract %1, %z : tensor<1x1x32x32xf32>
  %3 = stablehlo.convolution(%0, %2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x32xf32>, tensor<1x1x32x32xf32>) -> tensor<1x8x8x32xf32>
  return %3 : tensor<1x8x8x32xf32>
}

// Declined: An image cannot be padded with a zero point that is no byte: i16.
// CHECK-LABEL: func.func @no_byte(
// CHECK: stablehlo.convolution{{.*}} : (tensor<1x8x8x32xi16>, tensor<3x3x32x32xi16>) -> tensor<1x8x8x32xi32>
func.func @no_byte(%x: tensor<1x8x8x32xui8>, %w: tensor<3x3x32x32xi8>) -> tensor<1x8x8x32xf32> {
  %z = stablehlo.constant dense<-7.0> : tensor<1x8x8x32xf32>
  %0 = stablehlo.convert %x : (tensor<1x8x8x32xui8>) -> tensor<1x8x8x32xf32>
  %1 = stablehlo.subtract %0, %z : tensor<1x8x8x32xf32>
  %2 = stablehlo.convert %w : (tensor<3x3x32x32xi8>) -> tensor<3x3x32x32xf32>
  %3 = stablehlo.convolution(%1, %2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x32xf32>, tensor<3x3x32x32xf32>) -> tensor<1x8x8x32xf32>
  return %3 : tensor<1x8x8x32xf32>
}

// Declined: A channel of its own for each result, in f32.
// CHECK-LABEL: func.func @depthwise(
// CHECK: stablehlo.convolution{{.*}} -> tensor<1x8x8x32xf32>
func.func @depthwise(%x: tensor<1x8x8x32xi8>, %w: tensor<1x1x1x32xi8>) -> tensor<1x8x8x32xf32> {
  %0 = stablehlo.convert %x : (tensor<1x8x8x32xi8>) -> tensor<1x8x8x32xf32>
  %1 = stablehlo.convert %w : (tensor<1x1x1x32xi8>) -> tensor<1x1x1x32xf32>
  %2 = stablehlo.convolution(%0, %1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 32 : i64} : (tensor<1x8x8x32xf32>, tensor<1x1x1x32xf32>) -> tensor<1x8x8x32xf32>
  return %2 : tensor<1x8x8x32xf32>
}

}
