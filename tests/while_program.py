"""A loop whose length is an input, and the policy that keeps such a loop in the host program.

WHILE doubles %x %n times. Without HOST it would turn inside one kernel, where no driver sees it.
"""

HOST = {"loop": [{"turns_in": "host"}]}

WHILE = """func.func @main(%x: tensor<64xf32>, %n: tensor<i32>) -> (tensor<64xf32>, tensor<i32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r:2 = stablehlo.while(%y = %x, %i = %zero) : tensor<64xf32>, tensor<i32>
    cond {
      %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %t = stablehlo.add %y, %y : tensor<64xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %t, %j : tensor<64xf32>, tensor<i32>
    }
  return %r#0, %r#1 : tensor<64xf32>, tensor<i32>
}"""
