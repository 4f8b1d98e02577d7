// A 3×3 convolution with bias and relu over an NCHW image, stride 2, padded.
func.func @main(%image: tensor<1x8x32x32xf32>, %kernel: tensor<16x8x3x3xf32>, %bias: tensor<16xf32>) -> tensor<1x16x16x16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<1x16x16x16xf32>
  %product = stablehlo.convolution(%image, %kernel)
      dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
      window = {stride = [2, 2], pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
      : (tensor<1x8x32x32xf32>, tensor<16x8x3x3xf32>) -> tensor<1x16x16x16xf32>
  %bias_image = stablehlo.broadcast_in_dim %bias, dims = [1] : (tensor<16xf32>) -> tensor<1x16x16x16xf32>
  %sum = stablehlo.add %product, %bias_image : tensor<1x16x16x16xf32>
  %result = stablehlo.maximum %sum, %zero : tensor<1x16x16x16xf32>
  return %result : tensor<1x16x16x16xf32>
}
