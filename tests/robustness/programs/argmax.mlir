func.func @main(%x: tensor<9x11xf32>) -> (tensor<9xf32>, tensor<9xi32>) {
  %i = stablehlo.iota dim = 1 : tensor<9x11xi32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.reduce(%x init: %low), (%i init: %z) across dimensions = [1] : (tensor<9x11xf32>, tensor<9x11xi32>, tensor<f32>, tensor<i32>) -> (tensor<9xf32>, tensor<9xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%m: tensor<i32>, %n: tensor<i32>) {
      %c = stablehlo.compare GE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %v = stablehlo.select %c, %a, %b : tensor<i1>, tensor<f32>
      %w = stablehlo.select %c, %m, %n : tensor<i1>, tensor<i32>
      stablehlo.return %v, %w : tensor<f32>, tensor<i32>
    }
  return %r#0, %r#1 : tensor<9xf32>, tensor<9xi32>
}
