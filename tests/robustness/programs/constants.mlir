func.func @main() -> (tensor<2x3xf32>, tensor<6xi64>, tensor<4xi32>) {
  %0 = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %1 = stablehlo.constant dense<"0x010000000200000003000000"> : tensor<3xi32>
  %2 = stablehlo.iota dim = 0 : tensor<6xi64>
  %3 = stablehlo.constant dense<7> : tensor<6xi64>
  %4 = stablehlo.divide %2, %3 : tensor<6xi64>
  %6 = stablehlo.constant dense<5> : tensor<i32>
  %5 = stablehlo.pad %1, %6, low = [0], high = [1], interior = [0] : (tensor<3xi32>, tensor<i32>) -> tensor<4xi32>
  %7 = stablehlo.sqrt %0 : tensor<2x3xf32>
  return %7, %4, %5 : tensor<2x3xf32>, tensor<6xi64>, tensor<4xi32>
}
