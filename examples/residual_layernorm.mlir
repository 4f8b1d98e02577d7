// Layer normalisation of a residual sum, which is returned too: one kernel with two results.
func.func @main(%x: tensor<64x768xf32>, %residual: tensor<64x768xf32>, %scale: tensor<768xf32>, %shift: tensor<768xf32>)
    -> (tensor<64x768xf32>, tensor<64x768xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %width = stablehlo.constant dense<768.0> : tensor<64xf32>
  %epsilon = stablehlo.constant dense<1.0e-5> : tensor<64xf32>
  %sum = stablehlo.add %x, %residual : tensor<64x768xf32>
  %total = stablehlo.reduce(%sum init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x768xf32>, tensor<f32>) -> tensor<64xf32>
  %mean = stablehlo.divide %total, %width : tensor<64xf32>
  %mean_row = stablehlo.broadcast_in_dim %mean, dims = [0] : (tensor<64xf32>) -> tensor<64x768xf32>
  %centred = stablehlo.subtract %sum, %mean_row : tensor<64x768xf32>
  %square = stablehlo.multiply %centred, %centred : tensor<64x768xf32>
  %squares = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x768xf32>, tensor<f32>) -> tensor<64xf32>
  %variance = stablehlo.divide %squares, %width : tensor<64xf32>
  %shielded = stablehlo.add %variance, %epsilon : tensor<64xf32>
  %rsqrt = stablehlo.rsqrt %shielded : tensor<64xf32>
  %rsqrt_row = stablehlo.broadcast_in_dim %rsqrt, dims = [0] : (tensor<64xf32>) -> tensor<64x768xf32>
  %normal = stablehlo.multiply %centred, %rsqrt_row : tensor<64x768xf32>
  %scale_row = stablehlo.broadcast_in_dim %scale, dims = [1] : (tensor<768xf32>) -> tensor<64x768xf32>
  %shift_row = stablehlo.broadcast_in_dim %shift, dims = [1] : (tensor<768xf32>) -> tensor<64x768xf32>
  %scaled = stablehlo.multiply %normal, %scale_row : tensor<64x768xf32>
  %result = stablehlo.add %scaled, %shift_row : tensor<64x768xf32>
  return %result, %sum : tensor<64x768xf32>, tensor<64x768xf32>
}
