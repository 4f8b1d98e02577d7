// RUN: hloom-opt %s --lower-to-linalg --split-input-file | filecheck %s

// Windows that begin evenly apart, at known places: what is read is affine in the loops.
// CHECK: #[[M:.*]] = affine_map<(d0, d1, d2) -> (d0, d1 * 2 + d2 + 1)>
// CHECK-LABEL: func.func private @even(
// CHECK-SAME: %[[X:.*]]: tensor<4x12xf32>
// CHECK: linalg.generic {indexing_maps = [#[[M]], {{.*}} ins(%[[X]] : tensor<4x12xf32>) outs(%{{.*}} : tensor<4x5x3xf32>)
// CHECK-NOT: tensor.extract
func.func private @even(%x: tensor<4x12xf32>) -> tensor<4x5x3xf32> attributes {hloom.kind = "loop"} {
  %i = stablehlo.constant dense<[1, 3, 5, 7, 9]> : tensor<5xi32>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0, 2], start_index_map = [1], index_vector_dim = 1>,
    slice_sizes = array<i64: 4, 3>}> : (tensor<4x12xf32>, tensor<5xi32>) -> tensor<4x5x3xf32>
  return %0 : tensor<4x5x3xf32>
}

// -----

// Single elements, from the last to the first.
// CHECK: #[[M:.*]] = affine_map<(d0) -> (d0 * -4 + 11)>
// CHECK-LABEL: func.func private @back(
// CHECK: linalg.generic {indexing_maps = [#[[M]],
func.func private @back(%x: tensor<12xf32>) -> tensor<3xf32> attributes {hloom.kind = "loop"} {
  %i = stablehlo.constant dense<[[11], [7], [3]]> : tensor<3x1xi64>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 1>}> : (tensor<12xf32>, tensor<3x1xi64>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

// Declined: the last window would lie beyond the end, and is moved.
// CHECK-LABEL: func.func private @moved(
// CHECK: arith.minsi
// CHECK: tensor.extract
func.func private @moved(%x: tensor<12xf32>) -> tensor<3x3xf32> attributes {hloom.kind = "loop"} {
  %i = stablehlo.constant dense<[0, 5, 10]> : tensor<3xi32>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 3>}> : (tensor<12xf32>, tensor<3xi32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}

// -----

// Declined: the windows are not evenly apart.
// CHECK-LABEL: func.func private @uneven(
// CHECK: tensor.extract
func.func private @uneven(%x: tensor<12xf32>) -> tensor<3x3xf32> attributes {hloom.kind = "loop"} {
  %i = stablehlo.constant dense<[0, 5, 9]> : tensor<3xi32>
  %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], start_index_map = [0], index_vector_dim = 1>,
    slice_sizes = array<i64: 3>}> : (tensor<12xf32>, tensor<3xi32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}
