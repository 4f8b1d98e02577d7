func.func @main(%x: tensor<8x33xf32>, %y: tensor<33xf32>, %n: tensor<8x33xi32>) -> (tensor<8x33xf32>, tensor<8x33xi1>) {
  %b = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<33xf32>) -> tensor<8x33xf32>
  %0 = stablehlo.add %x, %b : tensor<8x33xf32>
  %1 = stablehlo.tanh %0 : tensor<8x33xf32>
  %2 = stablehlo.convert %n : (tensor<8x33xi32>) -> tensor<8x33xf32>
  %3 = stablehlo.power %1, %2 : tensor<8x33xf32>
  %4 = stablehlo.compare LT, %3, %x, FLOAT : (tensor<8x33xf32>, tensor<8x33xf32>) -> tensor<8x33xi1>
  %5 = stablehlo.select %4, %3, %x : tensor<8x33xi1>, tensor<8x33xf32>
  return %5, %4 : tensor<8x33xf32>, tensor<8x33xi1>
}
