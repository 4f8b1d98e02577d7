// RUN: hloom-opt %s --simplify-stablehlo --split-input-file | filecheck %s

// Changed: x[arange(8), y]: the rows of the operand go with those of the indices. Python's negative indices among the rows are none.
// CHECK-LABEL: func.func @picked(
// CHECK-SAME: %[[X:.*]]: tensor<8x5xf32>, %[[Y:.*]]: tensor<8x1xi32>
// CHECK: "stablehlo.gather"(%[[X]], %[[Y]])
// CHECK-SAME: collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1]
func.func @picked(%x: tensor<8x5xf32>, %y: tensor<8x1xi32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<8x1xi32>
  %eight = stablehlo.constant dense<8> : tensor<8x1xi32>
  %r = stablehlo.iota dim = 0 : tensor<8x1xi32>
  %below = stablehlo.compare LT, %r, %zero : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x1xi1>
  %more = stablehlo.add %r, %eight : tensor<8x1xi32>
  %rows = stablehlo.select %below, %more, %r : tensor<8x1xi1>, tensor<8x1xi32>
  %i = stablehlo.concatenate %rows, %y, dim = 1 : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x2xi32>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1],
      index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<8x5xf32>, tensor<8x2xi32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Changed: A gather of fewer rows than there are reads the first of them.
// CHECK-LABEL: func.func @first_rows(
// CHECK: %[[FIRST:.*]] = stablehlo.slice %{{.*}} [0:6, 0:5]
// CHECK: "stablehlo.gather"(%[[FIRST]], %{{.*}}) {{.*}}operand_batching_dims = [0]
func.func @first_rows(%x: tensor<8x5xf32>, %y: tensor<6x1xi32>) -> tensor<6xf32> {
  %r = stablehlo.iota dim = 0 : tensor<6x1xi32>
  %i = stablehlo.concatenate %r, %y, dim = 1 : (tensor<6x1xi32>, tensor<6x1xi32>) -> tensor<6x2xi32>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1],
      index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<8x5xf32>, tensor<6x2xi32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

// Changed: One index for a row of updates: the row is a window.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[X:.*]]: tensor<9x4xf32>, %[[Y:.*]]: tensor<7xi64>, %[[U:.*]]: tensor<7x4xf32>
// CHECK: %[[I:.*]] = stablehlo.{{reshape|broadcast_in_dim}} %[[Y]]{{.*}} -> tensor<7x1xi64>
// CHECK: "stablehlo.scatter"(%[[X]], %[[I]], %[[U]])
// CHECK-SAME: #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>
func.func @rows(%x: tensor<9x4xf32>, %y: tensor<7xi64>, %u: tensor<7x4xf32>) -> tensor<9x4xf32> {
  %i = stablehlo.broadcast_in_dim %y, dims = [0] : (tensor<7xi64>) -> tensor<7x4x1xi64>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], input_batching_dims = [1],
      scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<9x4xf32>, tensor<7x4x1xi64>, tensor<7x4xf32>) -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}

// -----

// Changed: torch.gather of rows, whose indices hold a count of the columns and one index a row.
// CHECK-LABEL: func.func @whole_rows(
// CHECK: "stablehlo.gather"{{.*}}offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>{{.*}}slice_sizes = array<i64: 1, 4>
func.func @whole_rows(%x: tensor<9x4xf32>, %y: tensor<7xi64>) -> tensor<7x4xf32> {
  %rows = stablehlo.broadcast_in_dim %y, dims = [0] : (tensor<7xi64>) -> tensor<7x4x1xi64>
  %columns = stablehlo.iota dim = 1 : tensor<7x4x1xi64>
  %i = stablehlo.concatenate %rows, %columns, dim = 2 : (tensor<7x4x1xi64>, tensor<7x4x1xi64>) -> tensor<7x4x2xi64>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1],
      index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<9x4xf32>, tensor<7x4x2xi64>) -> tensor<7x4xf32>
  return %0 : tensor<7x4xf32>
}

// -----

// Declined: A scatter into more rows than are counted. What it updates cannot be a part of the operand.
// CHECK-LABEL: func.func @more_rows(
// CHECK: stablehlo.concatenate
// CHECK: inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0, 1]
func.func @more_rows(%x: tensor<9x4xf32>, %y: tensor<7x1xi64>, %u: tensor<7xf32>) -> tensor<9x4xf32> {
  %r = stablehlo.iota dim = 0 : tensor<7x1xi64>
  %i = stablehlo.concatenate %r, %y, dim = 1 : (tensor<7x1xi64>, tensor<7x1xi64>) -> tensor<7x2xi64>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1],
      scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<9x4xf32>, tensor<7x2xi64>, tensor<7xf32>) -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}

// -----

// Declined: Counted in 8 bits, which hold fewer rows than there may be.
// CHECK-LABEL: func.func @narrow(
// CHECK: stablehlo.concatenate
func.func @narrow(%x: tensor<8x5xf32>, %y: tensor<8x1xi32>) -> tensor<8xf32> {
  %b = stablehlo.iota dim = 0 : tensor<8x1xi8>
  %r = stablehlo.convert %b : (tensor<8x1xi8>) -> tensor<8x1xi32>
  %i = stablehlo.concatenate %r, %y, dim = 1 : (tensor<8x1xi32>, tensor<8x1xi32>) -> tensor<8x2xi32>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1],
      index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<8x5xf32>, tensor<8x2xi32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Declined: The row would lie across: windows keep the order of the operand's dimensions.
// CHECK-LABEL: func.func @across(
// CHECK: operand_batching_dims = [0], start_indices_batching_dims = [0]
func.func @across(%x: tensor<4x9x3xf32>, %y: tensor<7xi32>) -> tensor<3x4x7xf32> {
  %i = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<7xi32>) -> tensor<4x7xi32>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1],
      operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>,
      slice_sizes = array<i64: 1, 1, 3>}> : (tensor<4x9x3xf32>, tensor<4x7xi32>) -> tensor<3x4x7xf32>
  return %0 : tensor<3x4x7xf32>
}

// -----

// Unchanged: An index of its own for each element.
// CHECK-LABEL: func.func @each(
// CHECK: input_batching_dims = [1], scatter_indices_batching_dims = [1]
func.func @each(%x: tensor<9x4xf32>, %i: tensor<7x4x1xi64>, %u: tensor<7x4xf32>) -> tensor<9x4xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], input_batching_dims = [1],
      scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<9x4xf32>, tensor<7x4x1xi64>, tensor<7x4xf32>) -> tensor<9x4xf32>
  return %0 : tensor<9x4xf32>
}

// -----

// Changed: the first rows one after the other are a slice.
// CHECK-LABEL: func.func @positions
// CHECK: %[[S:.*]] = stablehlo.slice %arg0 [0:8, 0:4]
// CHECK: %[[R:.*]] = stablehlo.reshape %[[S]] : (tensor<8x4xf32>) -> tensor<1x8x4xf32>
// CHECK: return %[[R]]
func.func @positions(%x: tensor<16x4xf32>) -> tensor<1x8x4xf32> {
  %i = stablehlo.iota dim = 1 : tensor<1x8xi64>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 4>}> : (tensor<16x4xf32>, tensor<1x8xi64>) -> tensor<1x8x4xf32>
  return %0 : tensor<1x8x4xf32>
}

// -----

// Declined: more rows than there are, of which the last comes again.
// CHECK-LABEL: func.func @more_positions
// CHECK: stablehlo.gather
func.func @more_positions(%x: tensor<6x4xf32>) -> tensor<8x4xf32> {
  %i = stablehlo.iota dim = 0 : tensor<8x1xi64>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<6x4xf32>, tensor<8x1xi64>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// -----

// Changed: elements at places that are computed in two dimensions are gathered in these.
// CHECK-LABEL: func.func @crop
// CHECK: %[[P:.*]] = stablehlo.add
// CHECK: %[[G:.*]] = "stablehlo.gather"(%arg0, %[[P]])
// CHECK-SAME: index_vector_dim = 2
// CHECK-SAME: -> tensor<3x5xf32>
// CHECK: return %[[G]]
func.func @crop(%x: tensor<64xf32>, %i: tensor<3xi64>, %j: tensor<5xi64>) -> tensor<3x5xf32> {
  %0 = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<3xi64>) -> tensor<3x5xi64>
  %1 = stablehlo.broadcast_in_dim %j, dims = [1] : (tensor<5xi64>) -> tensor<3x5xi64>
  %2 = stablehlo.add %0, %1 : tensor<3x5xi64>
  %3 = stablehlo.reshape %2 : (tensor<3x5xi64>) -> tensor<15xi64>
  %4 = "stablehlo.gather"(%x, %3) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<64xf32>, tensor<15xi64>) -> tensor<15xf32>
  %5 = stablehlo.reshape %4 : (tensor<15xf32>) -> tensor<3x5xf32>
  return %5 : tensor<3x5xf32>
}

// -----

// Declined: rows, whose kernel reads the number of each.
// CHECK-LABEL: func.func @rows
// CHECK: stablehlo.gather
// CHECK-SAME: tensor<15xi64>
func.func @rows(%x: tensor<64x4xf32>, %i: tensor<3x5xi64>) -> tensor<15x4xf32> {
  %0 = stablehlo.add %i, %i : tensor<3x5xi64>
  %1 = stablehlo.reshape %0 : (tensor<3x5xi64>) -> tensor<15xi64>
  %2 = "stablehlo.gather"(%x, %1) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 4>}> : (tensor<64x4xf32>, tensor<15xi64>) -> tensor<15x4xf32>
  return %2 : tensor<15x4xf32>
}

// -----

// Changed: one window at a known place, which is moved inside.
// CHECK-LABEL: func.func @one_window
// CHECK: %[[A:.*]] = stablehlo.slice %arg0 [0:64, 2:3]
// CHECK: %[[B:.*]] = stablehlo.reshape %[[A]] : (tensor<64x1xf32>) -> tensor<64xf32>
// CHECK: %[[C:.*]] = stablehlo.slice %arg0 [62:64, 1:4]
// CHECK: return %[[B]], %[[C]]
func.func @one_window(%x: tensor<64x4xf32>) -> (tensor<64xf32>, tensor<2x3xf32>) {
  %i = stablehlo.constant dense<2> : tensor<1xi32>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1]>, slice_sizes = array<i64: 64, 1>}> : (tensor<64x4xf32>, tensor<1xi32>) -> tensor<64xf32>
  %j = stablehlo.constant dense<[3, 70]> : tensor<2xi32>
  %1 = "stablehlo.gather"(%x, %j) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 1], start_index_map = [1, 0]>, slice_sizes = array<i64: 2, 3>}> : (tensor<64x4xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  return %0, %1 : tensor<64xf32>, tensor<2x3xf32>
}

// -----

// Declined: two windows.
// CHECK-LABEL: func.func @two_windows
// CHECK: stablehlo.gather
func.func @two_windows(%x: tensor<64x4xf32>) -> tensor<64x2xf32> {
  %i = stablehlo.constant dense<[[3], [0]]> : tensor<2x1xi32>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [1], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 64, 1>}> : (tensor<64x4xf32>, tensor<2x1xi32>) -> tensor<64x2xf32>
  return %0 : tensor<64x2xf32>
}

// -----

// Declined: the position of one token, repeated for each sequence, is 0 in all.
// CHECK-LABEL: func.func @one_position
// CHECK-NOT: stablehlo.slice %arg0 [0:2
// CHECK: return
func.func @one_position(%w: tensor<20x8xf32>) -> tensor<2x1x8xf32> {
  %i = stablehlo.iota dim = 0 : tensor<1xi64>
  %p = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<1xi64>) -> tensor<2xi64>
  %zero = stablehlo.constant dense<0> : tensor<2xi64>
  %n = stablehlo.constant dense<20> : tensor<2xi64>
  %below = stablehlo.compare LT, %p, %zero : (tensor<2xi64>, tensor<2xi64>) -> tensor<2xi1>
  %more = stablehlo.add %p, %n : tensor<2xi64>
  %at = stablehlo.select %below, %more, %p : tensor<2xi1>, tensor<2xi64>
  %r = stablehlo.reshape %at : (tensor<2xi64>) -> tensor<2x1x1xi64>
  %0 = "stablehlo.gather"(%w, %r) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 8>}> : (tensor<20x8xf32>, tensor<2x1x1xi64>) -> tensor<2x1x8xf32>
  return %0 : tensor<2x1x8xf32>
}
