// RUN: hloom-opt %s --split-input-file --verify-diagnostics --check-canonical

// Unchanged: StableHLO alone.
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.tanh %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Declined: An op of another dialect.
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{chlo.erf is left after canonicalisation}}
  %0 = chlo.erf %x : tensor<8xf32> -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Declined: A shape that was no constant.
func.func @main(%x: tensor<4x2xf32>, %i: tensor<3x1xi32>, %s: tensor<2xi32>) -> tensor<3x2xf32> {
  // expected-error @+1 {{stablehlo.dynamic_gather is left after canonicalisation}}
  %0 = "stablehlo.dynamic_gather"(%x, %i, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}>
    : (tensor<4x2xf32>, tensor<3x1xi32>, tensor<2xi32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
