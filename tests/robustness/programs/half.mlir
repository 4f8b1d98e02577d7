func.func @main(%x: tensor<4x30xf16>, %w: tensor<30x8xf16>) -> (tensor<4x8xf16>, tensor<4xf64>) {
  %0 = stablehlo.convert %x : (tensor<4x30xf16>) -> tensor<4x30xf32>
  %1 = stablehlo.convert %w : (tensor<30x8xf16>) -> tensor<30x8xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<4x30xf32>, tensor<30x8xf32>) -> tensor<4x8xf32>
  %3 = stablehlo.convert %2 : (tensor<4x8xf32>) -> tensor<4x8xf16>
  %z = stablehlo.constant dense<0.0> : tensor<f64>
  %4 = stablehlo.convert %x : (tensor<4x30xf16>) -> tensor<4x30xf64>
  %5 = stablehlo.reduce(%4 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x30xf64>, tensor<f64>) -> tensor<4xf64>
  return %3, %5 : tensor<4x8xf16>, tensor<4xf64>
}
