// Softmax over rows, as JAX writes it: one kernel that reads each row once.
func.func @main(%x: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  %lowest = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %max = stablehlo.reduce(%x init: %lowest) applies stablehlo.maximum across dimensions = [1] : (tensor<64x1000xf32>, tensor<f32>) -> tensor<64xf32>
  %max_row = stablehlo.broadcast_in_dim %max, dims = [0] : (tensor<64xf32>) -> tensor<64x1000xf32>
  %shifted = stablehlo.subtract %x, %max_row : tensor<64x1000xf32>
  %exp = stablehlo.exponential %shifted : tensor<64x1000xf32>
  %sum = stablehlo.reduce(%exp init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x1000xf32>, tensor<f32>) -> tensor<64xf32>
  %sum_row = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<64xf32>) -> tensor<64x1000xf32>
  %result = stablehlo.divide %exp, %sum_row : tensor<64x1000xf32>
  return %result : tensor<64x1000xf32>
}
