func.func @main(%x: tensor<3x4xf32>) -> tensor<12xf32> {
  %n = stablehlo.constant dense<12> : tensor<1xi32>
  %0 = stablehlo.dynamic_reshape %x, %n : (tensor<3x4xf32>, tensor<1xi32>) -> tensor<?xf32>
  %1 = stablehlo.exponential %0 : tensor<?xf32>
  %2 = stablehlo.abs %1 : tensor<?xf32>
  %3 = stablehlo.reshape %2 : (tensor<?xf32>) -> tensor<12xf32>
  return %3 : tensor<12xf32>
}
