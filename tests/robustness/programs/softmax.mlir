func.func @main(%x: tensor<5x40xf32>) -> tensor<5x40xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<5x40xf32>, tensor<f32>) -> tensor<5xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<5xf32>) -> tensor<5x40xf32>
  %d = stablehlo.subtract %x, %mb : tensor<5x40xf32>
  %e = stablehlo.exponential %d : tensor<5x40xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<5x40xf32>, tensor<f32>) -> tensor<5xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<5xf32>) -> tensor<5x40xf32>
  %r = stablehlo.divide %e, %sb : tensor<5x40xf32>
  return %r : tensor<5x40xf32>
}
