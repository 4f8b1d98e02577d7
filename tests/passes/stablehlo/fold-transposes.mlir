// RUN: hloom-opt %s --fold-transposes | filecheck %s

// Changed: A weight as torch stores it.
// CHECK-LABEL: func.func @linear(
// CHECK-SAME: %[[X:.*]]: tensor<8x16xf32>, %[[W:.*]]: tensor<4x16xf32>
// CHECK-NEXT: stablehlo.dot_general %[[X]], %[[W]], contracting_dims = [1] x [1]
// CHECK-NEXT: return
func.func @linear(%x: tensor<8x16xf32>, %w: tensor<4x16xf32>) -> tensor<8x4xf32> {
  %0 = stablehlo.transpose %w, dims = [1, 0] : (tensor<4x16xf32>) -> tensor<16x4xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}

// Attention's keys: through a scale and a reshape that drops a unit dimension; batch dimensions move too.
// CHECK-LABEL: func.func @keys(
// CHECK-SAME: %[[Q:.*]]: tensor<2x8x16xf32>, %[[K:.*]]: tensor<1x8x2x16xf32>
// CHECK-NOT: stablehlo.transpose
// CHECK: %[[S:.*]] = stablehlo.multiply %[[K]]
// CHECK: %[[R:.*]] = stablehlo.reshape %[[S]] : (tensor<1x8x2x16xf32>) -> tensor<8x2x16xf32>
// CHECK: stablehlo.dot_general %[[Q]], %[[R]], batching_dims = [0] x [1], contracting_dims = [2] x [2]
func.func @keys(%q: tensor<2x8x16xf32>, %k: tensor<1x8x2x16xf32>) -> tensor<2x8x8xf32> {
  %c = stablehlo.constant dense<0.5> : tensor<1x2x16x8xf32>
  %0 = stablehlo.transpose %k, dims = [0, 2, 3, 1] : (tensor<1x8x2x16xf32>) -> tensor<1x2x16x8xf32>
  %1 = stablehlo.multiply %0, %c : tensor<1x2x16x8xf32>
  %2 = stablehlo.reshape %1 : (tensor<1x2x16x8xf32>) -> tensor<2x16x8xf32>
  %3 = stablehlo.dot_general %q, %2, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x8x16xf32>, tensor<2x16x8xf32>) -> tensor<2x8x8xf32>
  return %3 : tensor<2x8x8xf32>
}

// The transpose of a result exchanges the operands.
// CHECK-LABEL: func.func @result(
// CHECK-SAME: %[[X:.*]]: tensor<8x16xf32>, %[[W:.*]]: tensor<4x16xf32>
// CHECK-NEXT: stablehlo.dot_general %[[W]], %[[X]], contracting_dims = [1] x [1] : {{.*}} -> tensor<4x8xf32>
func.func @result(%x: tensor<8x16xf32>, %w: tensor<4x16xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<8x16xf32>, tensor<4x16xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// It does so too where batches come to lie between the two sides (heads behind tokens): the rest of the transpose stays.
// CHECK-LABEL: func.func @result_and_batches(
// CHECK-SAME: %[[V:.*]]: tensor<2x8x16x32xf32>, %[[W:.*]]: tensor<2x8x64x16xf32>
// CHECK-NEXT: %[[O:.*]] = stablehlo.dot_general %[[W]], %[[V]], batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : {{.*}} -> tensor<2x8x64x32xf32>
// CHECK-NEXT: stablehlo.transpose %[[O]], dims = [0, 2, 1, 3] : {{.*}} -> tensor<2x64x8x32xf32>
func.func @result_and_batches(%v: tensor<2x8x16x32xf32>, %w: tensor<2x8x64x16xf32>) -> tensor<2x64x8x32xf32> {
  %0 = stablehlo.dot_general %v, %w, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [3] : (tensor<2x8x16x32xf32>, tensor<2x8x64x16xf32>) -> tensor<2x8x32x64xf32>
  %1 = stablehlo.transpose %0, dims = [0, 3, 1, 2] : (tensor<2x8x32x64xf32>) -> tensor<2x64x8x32xf32>
  return %1 : tensor<2x64x8x32xf32>
}

// CHECK-LABEL: func.func @convolution
// CHECK-NOT: stablehlo.transpose
// CHECK: stablehlo.convolution(%{{.*}}) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]
func.func @convolution(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32> {
  %0 = stablehlo.transpose %x, dims = [0, 2, 3, 1] : (tensor<1x3x8x8xf32>) -> tensor<1x8x8x3xf32>
  %1 = stablehlo.transpose %w, dims = [2, 3, 1, 0] : (tensor<4x3x3x3xf32>) -> tensor<3x3x3x4xf32>
  %2 = stablehlo.convolution(%0, %1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x3xf32>, tensor<3x3x3x4xf32>) -> tensor<1x6x6x4xf32>
  %3 = stablehlo.transpose %2, dims = [0, 3, 1, 2] : (tensor<1x6x6x4xf32>) -> tensor<1x4x6x6xf32>
  return %3 : tensor<1x4x6x6xf32>
}

// Declined: Free dimensions in another order, and a result that is read twice.
// CHECK-LABEL: func.func @declined
// CHECK: stablehlo.transpose %{{.*}}, dims = [1, 0, 2]
// CHECK: stablehlo.dot_general
// CHECK: stablehlo.dot_general
// CHECK: stablehlo.transpose %{{.*}}, dims = [1, 0]
func.func @declined(%x: tensor<8x5x16xf32>, %w: tensor<16x4xf32>, %y: tensor<8x16xf32>) -> (tensor<5x8x4xf32>, tensor<8x4xf32>, tensor<4x8xf32>) {
  %0 = stablehlo.transpose %x, dims = [1, 0, 2] : (tensor<8x5x16xf32>) -> tensor<5x8x16xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [2] x [0] : (tensor<5x8x16xf32>, tensor<16x4xf32>) -> tensor<5x8x4xf32>
  %2 = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  return %1, %2, %3 : tensor<5x8x4xf32>, tensor<8x4xf32>, tensor<4x8xf32>
}

// Unchanged: No contraction reads or makes it.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %arg0, dims = [1, 0]
// CHECK-NEXT: return %[[T]]
func.func @none(%x: tensor<8x16xf32>) -> tensor<16x8xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<8x16xf32>) -> tensor<16x8xf32>
  return %0 : tensor<16x8xf32>
}

// Changed: A dot of floats that are seen in bytes: the transpose of the bytes folds all the same.
// CHECK-LABEL: func.func @floats_seen_in_bytes
// CHECK-DAG: %[[X:.*]] = stablehlo.bitcast_convert %arg0 : (tensor<8x16xui8>) -> tensor<8x16xf8E5M2>
// CHECK-DAG: %[[W:.*]] = stablehlo.bitcast_convert %arg1 : (tensor<4x16xui8>) -> tensor<4x16xf8E4M3FN>
// CHECK: stablehlo.dot_general %[[X]], %[[W]], contracting_dims = [1] x [1]
func.func @floats_seen_in_bytes(%x: tensor<8x16xui8>, %w: tensor<4x16xui8>) -> tensor<8x4xf32> {
  %0 = stablehlo.transpose %w, dims = [1, 0] : (tensor<4x16xui8>) -> tensor<16x4xui8>
  %1 = stablehlo.bitcast_convert %x : (tensor<8x16xui8>) -> tensor<8x16xf8E5M2>
  %2 = stablehlo.bitcast_convert %0 : (tensor<16x4xui8>) -> tensor<16x4xf8E4M3FN>
  %3 = stablehlo.dot_general %1, %2, contracting_dims = [1] x [0] : (tensor<8x16xf8E5M2>, tensor<16x4xf8E4M3FN>) -> tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// -----

// Changed: The reshape joins a batch and its heads, which the transpose leaves where they are.
// CHECK-LABEL: func.func @heads
// CHECK-SAME: %[[Q:.*]]: tensor<6x1x8xf32>, %[[K:.*]]: tensor<2x3x5x8xf32>
// CHECK: %[[R:.*]] = stablehlo.reshape %[[K]] : (tensor<2x3x5x8xf32>) -> tensor<6x5x8xf32>
// CHECK: stablehlo.dot_general %[[Q]], %[[R]], batching_dims = [0] x [0], contracting_dims = [2] x [2]
func.func @heads(%q: tensor<6x1x8xf32>, %k: tensor<2x3x5x8xf32>) -> tensor<6x1x5xf32> {
  %0 = stablehlo.transpose %k, dims = [0, 1, 3, 2] : (tensor<2x3x5x8xf32>) -> tensor<2x3x8x5xf32>
  %1 = stablehlo.reshape %0 : (tensor<2x3x8x5xf32>) -> tensor<6x8x5xf32>
  %2 = stablehlo.dot_general %q, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x1x8xf32>, tensor<6x8x5xf32>) -> tensor<6x1x5xf32>
  return %2 : tensor<6x1x5xf32>
}

// -----

// Declined: The reshape joins dimensions that the transpose moves.
// CHECK-LABEL: func.func @moved_heads
// CHECK: stablehlo.transpose
// CHECK: stablehlo.reshape
// CHECK: stablehlo.dot_general
func.func @moved_heads(%q: tensor<6x1x8xf32>, %k: tensor<2x5x3x8xf32>) -> tensor<6x1x5xf32> {
  %0 = stablehlo.transpose %k, dims = [0, 2, 3, 1] : (tensor<2x5x3x8xf32>) -> tensor<2x3x8x5xf32>
  %1 = stablehlo.reshape %0 : (tensor<2x3x8x5xf32>) -> tensor<6x8x5xf32>
  %2 = stablehlo.dot_general %q, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x1x8xf32>, tensor<6x8x5xf32>) -> tensor<6x1x5xf32>
  return %2 : tensor<6x1x5xf32>
}

// -----

// Changed: A dot reads one matrix of several, which lie transposed.
// CHECK-LABEL: func.func @one_of_several
// CHECK-SAME: %[[X:.*]]: tensor<8x16xf32>, %[[W:.*]]: tensor<3x4x16xf32>, %[[I:.*]]: tensor<i32>, %[[J:[^:]*]]: tensor<i32>
// CHECK-NOT: stablehlo.transpose
// CHECK: %[[S:.*]] = stablehlo.dynamic_slice %[[W]], %[[I]], %[[J]], %[[I]], sizes = [1, 4, 8]
// CHECK: %[[R:.*]] = stablehlo.reshape %[[S]] : (tensor<1x4x8xf32>) -> tensor<4x8xf32>
// CHECK: stablehlo.dot_general {{.*}}, %[[R]], contracting_dims = [1] x [1]
func.func @one_of_several(%x: tensor<8x16xf32>, %w: tensor<3x4x16xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<8x4xf32> {
  %0 = stablehlo.transpose %w, dims = [0, 2, 1] : (tensor<3x4x16xf32>) -> tensor<3x16x4xf32>
  %1 = stablehlo.dynamic_slice %0, %i, %i, %j, sizes = [1, 8, 4] : (tensor<3x16x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x8x4xf32>
  %2 = stablehlo.reshape %1 : (tensor<1x8x4xf32>) -> tensor<8x4xf32>
  %3 = stablehlo.slice %x [0:8, 0:8] : (tensor<8x16xf32>) -> tensor<8x8xf32>
  %4 = stablehlo.dot_general %3, %2, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}

// -----

// Declined: Something else reads the slice.
// CHECK-LABEL: func.func @slice_is_read
// CHECK: stablehlo.transpose
// CHECK: stablehlo.dynamic_slice
// CHECK: stablehlo.reshape
// CHECK: stablehlo.dot_general
func.func @slice_is_read(%x: tensor<8x16xf32>, %w: tensor<3x4x16xf32>, %i: tensor<i32>) -> (tensor<8x4xf32>, tensor<16x4xf32>) {
  %0 = stablehlo.transpose %w, dims = [0, 2, 1] : (tensor<3x4x16xf32>) -> tensor<3x16x4xf32>
  %1 = stablehlo.dynamic_slice %0, %i, %i, %i, sizes = [1, 16, 4] : (tensor<3x16x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x16x4xf32>
  %2 = stablehlo.reshape %1 : (tensor<1x16x4xf32>) -> tensor<16x4xf32>
  %3 = stablehlo.dot_general %x, %2, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %4 = stablehlo.sine %2 : tensor<16x4xf32>
  return %3, %4 : tensor<8x4xf32>, tensor<16x4xf32>
}
