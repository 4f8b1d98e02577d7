func.func @main(%a: tensor<50xui8>, %b: tensor<50xui8>, %c: tensor<50xi64>) -> (tensor<50xui8>, tensor<50xi64>, tensor<25xui16>, tensor<50xi1>) {
  %0 = stablehlo.shift_left %a, %b : tensor<50xui8>
  %1 = stablehlo.divide %0, %b : tensor<50xui8>
  %2 = stablehlo.popcnt %c : tensor<50xi64>
  %3 = stablehlo.reshape %1 : (tensor<50xui8>) -> tensor<25x2xui8>
  %4 = stablehlo.bitcast_convert %3 : (tensor<25x2xui8>) -> tensor<25xui16>
  %5 = stablehlo.compare GE, %c, %2, SIGNED : (tensor<50xi64>, tensor<50xi64>) -> tensor<50xi1>
  %6 = stablehlo.not %5 : tensor<50xi1>
  return %1, %2, %4, %6 : tensor<50xui8>, tensor<50xi64>, tensor<25xui16>, tensor<50xi1>
}
