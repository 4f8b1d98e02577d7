// RUN: hloom-opt %s --legalize-index-select | filecheck %s

// Changed: Rows are gathered, those of each batch by its own indices.
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %[[R:.*]] = "stablehlo.gather"(%arg0, %arg1)
// CHECK-SAME: offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2
// CHECK-SAME: slice_sizes = array<i64: 1, 1, 3>
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<2x8x3xf32>, %i: tensor<2x5xi32>) -> tensor<2x5x3xf32> {
  %0 = "stablehlo.torch_index_select"(%x, %i) <{dim = 1 : i64, batch_dims = 1 : i64}> : (tensor<2x8x3xf32>, tensor<2x5xi32>) -> tensor<2x5x3xf32>
  return %0 : tensor<2x5x3xf32>
}

// Unchanged: No selection.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: %[[R:.*]] = stablehlo.rsqrt %arg0
// CHECK-NEXT: return %[[R]]
func.func @none(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.rsqrt %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
