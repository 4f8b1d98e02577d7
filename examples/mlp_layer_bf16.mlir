// The same layer in bf16: operands stay half precision, sums are kept in f32.
func.func @main(%x: tensor<64x256xbf16>, %weight: tensor<512x256xbf16>, %bias: tensor<512xbf16>) -> tensor<64x512xbf16> {
  %zero = stablehlo.constant dense<0.0> : tensor<64x512xbf16>
  %product = stablehlo.dot_general %x, %weight, contracting_dims = [1] x [1] : (tensor<64x256xbf16>, tensor<512x256xbf16>) -> tensor<64x512xbf16>
  %bias_row = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<512xbf16>) -> tensor<64x512xbf16>
  %sum = stablehlo.add %product, %bias_row : tensor<64x512xbf16>
  %result = stablehlo.maximum %sum, %zero : tensor<64x512xbf16>
  return %result : tensor<64x512xbf16>
}
