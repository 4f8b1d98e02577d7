// A linear layer with relu as PyTorch hands it over: transposed weight, matmul, broadcast bias, compare and select. One kernel.
func.func @main(%x: tensor<64x256xf32>, %weight: tensor<512x256xf32>, %bias: tensor<512xf32>) -> tensor<64x512xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<64x512xf32>
  %transposed = stablehlo.transpose %weight, dims = [1, 0] : (tensor<512x256xf32>) -> tensor<256x512xf32>
  %product = stablehlo.dot_general %x, %transposed, contracting_dims = [1] x [0] : (tensor<64x256xf32>, tensor<256x512xf32>) -> tensor<64x512xf32>
  %bias_row = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<512xf32>) -> tensor<64x512xf32>
  %sum = stablehlo.add %product, %bias_row : tensor<64x512xf32>
  %positive = stablehlo.compare GT, %sum, %zero, FLOAT : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xi1>
  %result = stablehlo.select %positive, %sum, %zero : tensor<64x512xi1>, tensor<64x512xf32>
  return %result : tensor<64x512xf32>
}
