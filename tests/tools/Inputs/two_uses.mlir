func.func @main(%x: tensor<256x512xf32>, %w: tensor<512x512xf32>) -> (tensor<256x512xf32>, tensor<512x256xf32>, tensor<512xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %d = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x512xf32>, tensor<512x512xf32>) -> tensor<256x512xf32>
  %t = stablehlo.tanh %d : tensor<256x512xf32>
  %p = stablehlo.transpose %x, dims = [1, 0] : (tensor<256x512xf32>) -> tensor<512x256xf32>
  %e = stablehlo.exponential %p : tensor<512x256xf32>
  %s = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [1] : (tensor<512x256xf32>, tensor<f32>) -> tensor<512xf32>
  return %t, %e, %s : tensor<256x512xf32>, tensor<512x256xf32>, tensor<512xf32>
}
