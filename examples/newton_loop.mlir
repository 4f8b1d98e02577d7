// Newton's iteration for square roots until no element moves much: a loop whose trip count is known only when it runs.
func.func @main(%x: tensor<1000xf32>) -> (tensor<1000xf32>, tensor<i32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %none = stablehlo.constant dense<0> : tensor<i32>
  %most = stablehlo.constant dense<64> : tensor<i32>
  %half = stablehlo.constant dense<0.5> : tensor<1000xf32>
  %least = stablehlo.constant dense<1.0e-3> : tensor<1000xf32>
  %tolerance = stablehlo.constant dense<1.0e-5> : tensor<f32>
  %far = stablehlo.constant dense<1.0> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %size = stablehlo.abs %x : tensor<1000xf32>
  %value = stablehlo.add %size, %least : tensor<1000xf32>
  %result:3 = stablehlo.while(%guess = %value, %step = %none, %moved = %far) : tensor<1000xf32>, tensor<i32>, tensor<f32>
  cond {
    %moving = stablehlo.compare GT, %moved, %tolerance, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %allowed = stablehlo.compare LT, %step, %most, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %go_on = stablehlo.and %moving, %allowed : tensor<i1>
    stablehlo.return %go_on : tensor<i1>
  } do {
    %quotient = stablehlo.divide %value, %guess : tensor<1000xf32>
    %both = stablehlo.add %guess, %quotient : tensor<1000xf32>
    %next = stablehlo.multiply %both, %half : tensor<1000xf32>
    %difference = stablehlo.subtract %next, %guess : tensor<1000xf32>
    %distance = stablehlo.abs %difference : tensor<1000xf32>
    %largest = stablehlo.reduce(%distance init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<1000xf32>, tensor<f32>) -> tensor<f32>
    %count = stablehlo.add %step, %one : tensor<i32>
    stablehlo.return %next, %count, %largest : tensor<1000xf32>, tensor<i32>, tensor<f32>
  }
  return %result#0, %result#1 : tensor<1000xf32>, tensor<i32>
}
