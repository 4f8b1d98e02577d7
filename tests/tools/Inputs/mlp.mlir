func.func @main(%x: tensor<64x256xf16>, %w: tensor<256x128xf16>, %g: tensor<1024x512xf32>) -> (tensor<64x128xf16>, tensor<1024x512xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x256xf16>, tensor<256x128xf16>) -> tensor<64x128xf16>
  %1 = stablehlo.exponential %g : tensor<1024x512xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<1024x512xf32>, tensor<f32>) -> tensor<1024xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<1024xf32>) -> tensor<1024x512xf32>
  %4 = stablehlo.divide %1, %3 : tensor<1024x512xf32>
  return %0, %4 : tensor<64x128xf16>, tensor<1024x512xf32>
}
