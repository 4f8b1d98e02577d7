// RUN: not hloom-opt %s --thread-effects 2>&1 | filecheck %s

// Declined: The condition of a loop gives nothing but whether to go on.
// CHECK: [HL101] hloom does not compile a callback to Python that has effects in the condition of a loop
func.func @main(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<4xf32> {
  %0 = stablehlo.while(%i = %x) : tensor<4xf32> cond {
    stablehlo.custom_call @hloom.effect(%i) {has_side_effect = true} : (tensor<4xf32>) -> ()
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return %i : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
