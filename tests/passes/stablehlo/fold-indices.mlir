// RUN: hloom-opt %s --split-input-file --fold-indices --canonicalize | filecheck %s

// Changed: an index counted from the end where none is negative is the index; no packed sequence begins, so that all tokens are of one.
// CHECK-LABEL: func.func @mask_of_packed_sequences
// CHECK-DAG: %[[I:.*]] = stablehlo.iota dim = 0 : tensor<16xi64>
// CHECK-DAG: %[[ZEROS:.*]] = stablehlo.constant dense<0> : tensor<16xi64>
// CHECK: return %[[I]], %[[ZEROS]]
func.func @mask_of_packed_sequences() -> (tensor<16xi64>, tensor<16xi64>) {
  %i = stablehlo.iota dim = 0 : tensor<16xi64>
  %zeros = stablehlo.constant dense<0> : tensor<16xi64>
  %sizes = stablehlo.constant dense<16> : tensor<16xi64>
  %ones = stablehlo.constant dense<1> : tensor<16xi64>
  %n = stablehlo.compare LT, %i, %zeros : (tensor<16xi64>, tensor<16xi64>) -> tensor<16xi1>
  %w = stablehlo.add %i, %sizes : tensor<16xi64>
  %j = stablehlo.select %n, %w, %i : tensor<16xi1>, tensor<16xi64>
  %first = stablehlo.constant dense<-1> : tensor<1xi64>
  %both = stablehlo.concatenate %first, %i, dim = 0 : (tensor<1xi64>, tensor<16xi64>) -> tensor<17xi64>
  %before = stablehlo.slice %both [0:16] : (tensor<17xi64>) -> tensor<16xi64>
  %d = stablehlo.subtract %i, %before : tensor<16xi64>
  %b = stablehlo.compare NE, %d, %ones : (tensor<16xi64>, tensor<16xi64>) -> tensor<16xi1>
  %c = stablehlo.convert %b : (tensor<16xi1>) -> tensor<16xi64>
  %none = stablehlo.constant dense<0> : tensor<i64>
  %s = "stablehlo.reduce_window"(%c, %none) <{window_dimensions = array<i64: 16>, padding = dense<[[15, 0]]> : tensor<1x2xi64>}> ({
  ^bb0(%x: tensor<i64>, %y: tensor<i64>):
    %z = stablehlo.add %x, %y : tensor<i64>
    stablehlo.return %z : tensor<i64>
  }) : (tensor<16xi64>, tensor<i64>) -> tensor<16xi64>
  %p = "stablehlo.gather"(%s, %j) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<16xi64>, tensor<16xi64>) -> tensor<16xi64>
  return %j, %p : tensor<16xi64>, tensor<16xi64>
}

// -----

// Changed: broadcast to both dimensions, an index of each.
// CHECK-LABEL: func.func @both_dimensions
// CHECK-DAG: %[[ROW:.*]] = stablehlo.iota dim = 0 : tensor<8x8xi32>
// CHECK-DAG: %[[COLUMN:.*]] = stablehlo.iota dim = 1 : tensor<8x8xi32>
// CHECK: stablehlo.compare GE, %[[ROW]], %[[COLUMN]]
func.func @both_dimensions() -> tensor<8x8xi1> {
  %i = stablehlo.iota dim = 0 : tensor<8xi32>
  %r = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<8xi32>) -> tensor<8x8xi32>
  %c = stablehlo.broadcast_in_dim %i, dims = [1] : (tensor<8xi32>) -> tensor<8x8xi32>
  %0 = stablehlo.compare GE, %r, %c : (tensor<8x8xi32>, tensor<8x8xi32>) -> tensor<8x8xi1>
  return %0 : tensor<8x8xi1>
}

// -----

// Declined: neither an index nor one number.
// Unchanged: floats, and what an argument goes into.
// CHECK-LABEL: func.func @others
// CHECK: %[[I:.*]] = stablehlo.iota dim = 0 : tensor<8xi32>
// CHECK: %[[SQUARES:.*]] = stablehlo.multiply %[[I]], %[[I]]
// CHECK: %[[F:.*]] = stablehlo.iota dim = 0 : tensor<8xf32>
// CHECK: %[[G:.*]] = stablehlo.add %[[F]], %[[F]]
// CHECK: %[[A:.*]] = stablehlo.add %[[I]], %arg0
// CHECK: return %[[SQUARES]], %[[G]], %[[A]]
func.func @others(%arg0: tensor<8xi32>) -> (tensor<8xi32>, tensor<8xf32>, tensor<8xi32>) {
  %i = stablehlo.iota dim = 0 : tensor<8xi32>
  %0 = stablehlo.multiply %i, %i : tensor<8xi32>
  %f = stablehlo.iota dim = 0 : tensor<8xf32>
  %1 = stablehlo.add %f, %f : tensor<8xf32>
  %2 = stablehlo.add %i, %arg0 : tensor<8xi32>
  return %0, %1, %2 : tensor<8xi32>, tensor<8xf32>, tensor<8xi32>
}

// -----

// Changed: places that follow one another evenly are slices: padding by reflection.
// CHECK-LABEL: func.func @reflected
// CHECK-DAG: %[[LOW:.*]] = stablehlo.slice %arg0 [0:2, 0:4] : (tensor<2x8xf32>) -> tensor<2x4xf32>
// CHECK-DAG: %[[TURNED:.*]] = stablehlo.reverse %[[LOW]], dims = [1]
// CHECK-DAG: %[[REST:.*]] = stablehlo.slice %arg0 [0:2, 1:8]
// CHECK: %[[ALL:.*]] = stablehlo.concatenate %[[TURNED]], %[[REST]], dim = 1
// CHECK: return %[[ALL]]
func.func @reflected(%x: tensor<2x8xf32>) -> tensor<2x11xf32> {
  %i = stablehlo.constant dense<[3, 2, 1, 0, 1, 2, 3, 4, 5, 6, 7]> : tensor<11xi64>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 2, 1>}> : (tensor<2x8xf32>, tensor<11xi64>) -> tensor<2x11xf32>
  return %0 : tensor<2x11xf32>
}

// -----

// Changed: frames of a signal, 10 long and 4 apart, are blocks of 4 side by side.
// CHECK-LABEL: func.func @frames
// CHECK-DAG: stablehlo.slice %arg0 [0:80] : (tensor<86xf32>) -> tensor<80xf32>
// CHECK-DAG: stablehlo.slice %arg0 [4:84] : (tensor<86xf32>) -> tensor<80xf32>
// CHECK: stablehlo.concatenate {{.*}}, dim = 1 : (tensor<20x4xf32>, tensor<20x4xf32>, tensor<20x2xf32>) -> tensor<20x10xf32>
// CHECK-NOT: stablehlo.gather
func.func @frames(%x: tensor<86xf32>) -> tensor<20x10xf32> {
  %f = stablehlo.iota dim = 0 : tensor<20x10xi64>
  %four = stablehlo.constant dense<4> : tensor<20x10xi64>
  %s = stablehlo.multiply %f, %four : tensor<20x10xi64>
  %j = stablehlo.iota dim = 1 : tensor<20x10xi64>
  %i = stablehlo.add %s, %j : tensor<20x10xi64>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<86xf32>, tensor<20x10xi64>) -> tensor<20x10xf32>
  return %0 : tensor<20x10xf32>
}

// -----

// Declined: places in no even order.
// CHECK-LABEL: func.func @any_order
// CHECK: stablehlo.gather
func.func @any_order(%x: tensor<8xf32>) -> tensor<10xf32> {
  %i = stablehlo.constant dense<[3, 7, 1, 0, 4, 2, 2, 6, 5, 7]> : tensor<10xi64>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<8xf32>, tensor<10xi64>) -> tensor<10xf32>
  return %0 : tensor<10xf32>
}

// -----

// Changed: a few places that are computed, here by way of floats, are a constant.
// CHECK-LABEL: func.func @computed_places
// CHECK: %[[AT:.*]] = stablehlo.constant dense<{{.*}}[0], [0], [1], [1], [2]{{.*}}> : tensor<5x1xi32>
// CHECK: "stablehlo.gather"(%arg0, %[[AT]])
func.func @computed_places(%x: tensor<3x4xf32>) -> tensor<5x4xf32> {
  %f = stablehlo.iota dim = 0 : tensor<5xf32>
  %c = stablehlo.constant dense<0.6> : tensor<5xf32>
  %s = stablehlo.multiply %f, %c : tensor<5xf32>
  %r = stablehlo.floor %s : tensor<5xf32>
  %j = stablehlo.convert %r : (tensor<5xf32>) -> tensor<5xi32>
  %i = stablehlo.reshape %j : (tensor<5xi32>) -> tensor<5x1xi32>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 4>}> : (tensor<3x4xf32>, tensor<5x1xi32>) -> tensor<5x4xf32>
  return %0 : tensor<5x4xf32>
}
