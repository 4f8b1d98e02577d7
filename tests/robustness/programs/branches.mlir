func.func @main(%p: tensor<i1>, %k: tensor<i32>, %x: tensor<10xf32>) -> tensor<10xf32> {
  %0 = "stablehlo.if"(%p) ({
    %a = func.call @twice(%x) : (tensor<10xf32>) -> tensor<10xf32>
    stablehlo.return %a : tensor<10xf32>
  }, {
    stablehlo.return %x : tensor<10xf32>
  }) : (tensor<i1>) -> tensor<10xf32>
  %1 = "stablehlo.case"(%k) ({
    %b = stablehlo.negate %0 : tensor<10xf32>
    stablehlo.return %b : tensor<10xf32>
  }, {
    stablehlo.return %x : tensor<10xf32>
  }) : (tensor<i32>) -> tensor<10xf32>
  return %1 : tensor<10xf32>
}
func.func private @twice(%x: tensor<10xf32>) -> tensor<10xf32> {
  %0 = stablehlo.add %x, %x : tensor<10xf32>
  return %0 : tensor<10xf32>
}
