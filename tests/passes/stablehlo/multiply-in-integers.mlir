// RUN: hloom-opt %s --multiply-in-integers | filecheck %s

// Changed: Sums in i32 of converted bytes.
// CHECK-LABEL: func.func @sums(
// CHECK-SAME: %[[X:.*]]: tensor<1x64xi8>, %[[W:.*]]: tensor<32x64xi8>
// CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %[[W]], dims = [1, 0] : (tensor<32x64xi8>) -> tensor<64x32xi8>
// CHECK-NEXT: stablehlo.dot_general %[[X]], %[[T]], {{.*}} : (tensor<1x64xi8>, tensor<64x32xi8>) -> tensor<1x32xi32>
// CHECK-NEXT: return
func.func @sums(%x: tensor<1x64xi8>, %w: tensor<32x64xi8>) -> tensor<1x32xi32> {
  %0 = stablehlo.convert %x : (tensor<1x64xi8>) -> tensor<1x64xi32>
  %1 = stablehlo.convert %w : (tensor<32x64xi8>) -> tensor<32x64xi32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<32x64xi32>) -> tensor<64x32xi32>
  %3 = stablehlo.dot_general %0, %2, contracting_dims = [1] x [0] : (tensor<1x64xi32>, tensor<64x32xi32>) -> tensor<1x32xi32>
  return %3 : tensor<1x32xi32>
}

// A dequantized product: a zero point makes i16, scales go to the result.
// CHECK-LABEL: func.func @dequantized(
// CHECK-SAME: %[[Q:.*]]: tensor<8x64xui8>, %[[W:.*]]: tensor<32x64xi8>, %[[SCALES:.*]]: tensor<32xf32>
// CHECK: %[[B:.*]] = stablehlo.convert %[[Q]] : (tensor<8x64xui8>) -> tensor<8x64xi16>
// CHECK: %[[A:.*]] = stablehlo.subtract %[[B]], %{{.*}} : tensor<8x64xi16>
// CHECK: %[[V:.*]] = stablehlo.convert %[[W]] : (tensor<32x64xi8>) -> tensor<32x64xi16>
// CHECK: %[[I:.*]] = stablehlo.dot_general %[[A]], %[[V]], {{.*}} : (tensor<8x64xi16>, tensor<32x64xi16>) -> tensor<8x32xi32>
// CHECK: %[[F:.*]] = stablehlo.convert %[[I]] : (tensor<8x32xi32>) -> tensor<8x32xf32>
// CHECK: %[[ONE:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [] : (tensor<f32>) -> tensor<8x32xf32>
// CHECK: %[[EACH:.*]] = stablehlo.broadcast_in_dim %[[SCALES]], dims = [1] : (tensor<32xf32>) -> tensor<8x32xf32>
// CHECK: %[[S:.*]] = stablehlo.multiply %[[ONE]], %[[EACH]]
// CHECK: stablehlo.multiply %[[F]], %[[S]]
func.func @dequantized(%q: tensor<8x64xui8>, %w: tensor<32x64xi8>, %t: tensor<32xf32>) -> tensor<8x32xf32> {
  %z = stablehlo.constant dense<3.0> : tensor<8x64xf32>
  %s = stablehlo.constant dense<0.5> : tensor<8x64xf32>
  %0 = stablehlo.convert %q : (tensor<8x64xui8>) -> tensor<8x64xf32>
  %1 = stablehlo.subtract %0, %z : tensor<8x64xf32>
  %2 = stablehlo.multiply %1, %s : tensor<8x64xf32>
  %3 = stablehlo.convert %w : (tensor<32x64xi8>) -> tensor<32x64xf32>
  %4 = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<32xf32>) -> tensor<32x64xf32>
  %5 = stablehlo.multiply %3, %4 : tensor<32x64xf32>
  %6 = stablehlo.dot_general %2, %5, contracting_dims = [1] x [1] : (tensor<8x64xf32>, tensor<32x64xf32>) -> tensor<8x32xf32>
  return %6 : tensor<8x32xf32>
}

// Operands of a convolution have one type: where the signs of bytes differ it is i16. Padding is done to the integers.
// CHECK-LABEL: func.func @convolution(
// CHECK-NOT: tensor<1x8x8x16xi32>
// CHECK: stablehlo.pad {{.*}} (tensor<1x8x8x16xui8>, tensor<ui8>) -> tensor<1x10x10x16xui8>
// CHECK: stablehlo.convolution{{.*}} (tensor<1x10x10x16xi16>, tensor<1x1x16x32xi16>) -> tensor<1x10x10x32xi32>
func.func @convolution(%x: tensor<1x8x8x16xui8>, %w: tensor<1x1x16x32xi8>) -> tensor<1x10x10x32xi32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.convert %x : (tensor<1x8x8x16xui8>) -> tensor<1x8x8x16xi32>
  %1 = stablehlo.pad %0, %z, low = [0, 1, 1, 0], high = [0, 1, 1, 0], interior = [0, 0, 0, 0] : (tensor<1x8x8x16xi32>, tensor<i32>) -> tensor<1x10x10x16xi32>
  %2 = stablehlo.convert %w : (tensor<1x1x16x32xi8>) -> tensor<1x1x16x32xi32>
  %3 = stablehlo.convolution(%1, %2) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x10x10x16xi32>, tensor<1x1x16x32xi32>) -> tensor<1x10x10x32xi32>
  return %3 : tensor<1x10x10x32xi32>
}

// Changed: Unknown zero points, of rows and of all columns, by the sums of the other side and, of both, by how many are summed; integers that
// were converted twice; a reshape of what is scaled.
// CHECK-LABEL: func.func @unknown(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2x4x64xi8>, %[[W:[a-z0-9]+]]: tensor<32x64xi8>, %[[P:[a-z0-9]+]]: tensor<32xi64>
// CHECK: %[[R:.*]] = stablehlo.reshape %[[X]] : (tensor<2x4x64xi8>) -> tensor<8x64xi8>
// CHECK: %[[I:.*]] = stablehlo.dot_general %[[R]], %[[W]], {{.*}} : (tensor<8x64xi8>, tensor<32x64xi8>) -> tensor<8x32xi32>
// CHECK: %[[F:.*]] = stablehlo.convert %[[I]] : (tensor<8x32xi32>) -> tensor<8x32xf32>
// CHECK: stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<32x64xi32>, tensor<i32>) -> tensor<32xi32>
// CHECK: stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<8x64xi32>, tensor<i32>) -> tensor<8xi32>
// CHECK: stablehlo.constant dense<6.400000e+01>
func.func @unknown(%x: tensor<2x4x64xi8>, %w: tensor<32x64xi8>, %p: tensor<32xi64>, %q: tensor<f32>) -> tensor<8x32xf32> {
  %0 = stablehlo.convert %x : (tensor<2x4x64xi8>) -> tensor<2x4x64xf32>
  %1 = stablehlo.broadcast_in_dim %q, dims = [] : (tensor<f32>) -> tensor<2x4x64xf32>
  %2 = stablehlo.subtract %0, %1 : tensor<2x4x64xf32>
  %3 = stablehlo.reshape %2 : (tensor<2x4x64xf32>) -> tensor<8x64xf32>
  %4 = stablehlo.convert %w : (tensor<32x64xi8>) -> tensor<32x64xi64>
  %5 = stablehlo.broadcast_in_dim %p, dims = [0] : (tensor<32xi64>) -> tensor<32x64xi64>
  %6 = stablehlo.subtract %4, %5 : tensor<32x64xi64>
  %7 = stablehlo.convert %6 : (tensor<32x64xi64>) -> tensor<32x64xf32>
  %8 = stablehlo.dot_general %3, %7, contracting_dims = [1] x [1] : (tensor<8x64xf32>, tensor<32x64xf32>) -> tensor<8x32xf32>
  return %8 : tensor<8x32xf32>
}

// Declined: One side alone; a scale along what is summed; sums in f32 that may leave i32; few rows in f32; a zero point along what is summed.
// CHECK-LABEL: func.func @declined
// CHECK-NOT: xi32>
func.func @declined(%x: tensor<8x64xi8>, %y: tensor<8x64xf32>, %s: tensor<64xf32>, %l: tensor<8x262144xi8>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<1x8xf32>, tensor<8x8xf32>) {
  %0 = stablehlo.convert %x : (tensor<8x64xi8>) -> tensor<8x64xf32>
  %1 = stablehlo.dot_general %0, %y, contracting_dims = [1] x [1] : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x8xf32>
  %2 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<64xf32>) -> tensor<8x64xf32>
  %3 = stablehlo.multiply %0, %2 : tensor<8x64xf32>
  %4 = stablehlo.dot_general %0, %3, contracting_dims = [1] x [1] : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x8xf32>
  %5 = stablehlo.convert %l : (tensor<8x262144xi8>) -> tensor<8x262144xf32>
  %6 = stablehlo.dot_general %5, %5, contracting_dims = [1] x [1] : (tensor<8x262144xf32>, tensor<8x262144xf32>) -> tensor<8x8xf32>
  %7 = stablehlo.slice %0 [0:1, 0:64] : (tensor<8x64xf32>) -> tensor<1x64xf32>
  %8 = stablehlo.dot_general %7, %0, contracting_dims = [1] x [1] : (tensor<1x64xf32>, tensor<8x64xf32>) -> tensor<1x8xf32>
  %9 = stablehlo.subtract %0, %2 : tensor<8x64xf32>
  %10 = stablehlo.dot_general %9, %0, contracting_dims = [1] x [1] : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x8xf32>
  return %1, %4, %6, %8, %10 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<1x8xf32>, tensor<8x8xf32>
}

// Declined: Unknown zero points of a convolution's kernels, of an image that is padded, and of one that is dilated.
// CHECK-LABEL: func.func @declined_convolutions
// CHECK-COUNT-2: stablehlo.convolution{{.*}} -> tensor<1x8x8x32xf32>
// CHECK: stablehlo.convolution{{.*}} -> tensor<1x15x15x32xf32>
func.func @declined_convolutions(%x: tensor<1x8x8x32xi8>, %w: tensor<1x1x32x32xi8>, %p: tensor<f32>, %q: tensor<32xf32>) -> (tensor<1x8x8x32xf32>, tensor<1x8x8x32xf32>, tensor<1x15x15x32xf32>) {
  %0 = stablehlo.convert %x : (tensor<1x8x8x32xi8>) -> tensor<1x8x8x32xf32>
  %1 = stablehlo.convert %w : (tensor<1x1x32x32xi8>) -> tensor<1x1x32x32xf32>
  %2 = stablehlo.broadcast_in_dim %q, dims = [3] : (tensor<32xf32>) -> tensor<1x1x32x32xf32>
  %3 = stablehlo.subtract %1, %2 : tensor<1x1x32x32xf32>
  %4 = stablehlo.convolution(%0, %3) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x32xf32>, tensor<1x1x32x32xf32>) -> tensor<1x8x8x32xf32>
  %5 = stablehlo.broadcast_in_dim %p, dims = [] : (tensor<f32>) -> tensor<1x8x8x32xf32>
  %6 = stablehlo.subtract %0, %5 : tensor<1x8x8x32xf32>
  %7 = stablehlo.convolution(%6, %1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[4, 3], [4, 3]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x32xf32>, tensor<1x1x32x32xf32>) -> tensor<1x8x8x32xf32>
  %8 = stablehlo.convolution(%6, %1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {lhs_dilate = [2, 2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x32xf32>, tensor<1x1x32x32xf32>) -> tensor<1x15x15x32xf32>
  return %4, %7, %8 : tensor<1x8x8x32xf32>, tensor<1x8x8x32xf32>, tensor<1x15x15x32xf32>
}

// Unchanged: Bytes already.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: stablehlo.dot_general %{{.*}}, %{{.*}} : (tensor<4x4xi8>, tensor<4x4xi8>) -> tensor<4x4xi32>
func.func @none(%x: tensor<4x4xi8>) -> tensor<4x4xi32> {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<4x4xi8>, tensor<4x4xi8>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

// Winograd's algorithm is faster where there is no instruction for bytes.
// CHECK-LABEL: func.func @winograd
// CHECK: stablehlo.convolution{{.*}} (tensor<1x8x8x32xf32>, tensor<3x3x32x32xf32>)
func.func @winograd(%x: tensor<1x8x8x32xi8>, %w: tensor<3x3x32x32xi8>) -> tensor<1x8x8x32xf32> {
  %0 = stablehlo.convert %x : (tensor<1x8x8x32xi8>) -> tensor<1x8x8x32xf32>
  %1 = stablehlo.convert %w : (tensor<3x3x32x32xi8>) -> tensor<3x3x32x32xf32>
  %2 = stablehlo.convolution(%0, %1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x32xf32>, tensor<3x3x32x32xf32>) -> tensor<1x8x8x32xf32>
  return %2 : tensor<1x8x8x32xf32>
}
