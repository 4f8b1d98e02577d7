func.func @main(%x: tensor<12xf32>) -> tensor<12xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %limit = stablehlo.constant dense<10> : tensor<i32>
  %r:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<12xf32>
  cond {
    %c = stablehlo.compare LT, %i, %limit, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %j = stablehlo.add %i, %one : tensor<i32>
    %b = stablehlo.cosine %a : tensor<12xf32>
    stablehlo.return %j, %b : tensor<i32>, tensor<12xf32>
  }
  return %r#1 : tensor<12xf32>
}
