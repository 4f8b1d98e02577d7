func.func @main(%x: tensor<7x5xf32>, %i: tensor<4x1xi32>, %k: tensor<i32>) -> (tensor<4x5xf32>, tensor<7x5xf32>) {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %g = "stablehlo.gather"(%x, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    indices_are_sorted = false, slice_sizes = array<i64: 1, 5>} : (tensor<7x5xf32>, tensor<4x1xi32>) -> tensor<4x5xf32>
  %s = stablehlo.dynamic_slice %x, %k, %z, sizes = [2, 3] : (tensor<7x5xf32>, tensor<i32>, tensor<i32>) -> tensor<2x3xf32>
  %u = stablehlo.dynamic_update_slice %x, %s, %z, %k : (tensor<7x5xf32>, tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<7x5xf32>
  return %g, %u : tensor<4x5xf32>, tensor<7x5xf32>
}
