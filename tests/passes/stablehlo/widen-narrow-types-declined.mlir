// RUN: not hloom-opt %s --widen-narrow-types 2>&1 | filecheck %s

// Declined: Outside code takes what it takes.
// CHECK: does not compile stablehlo.custom_call of tensor<4xi4>
// CHECK: remedy: convert to types of 8 bits or more (floats of 16) before it
func.func @main(%x: tensor<4xi4>) -> tensor<4xi4> {
  %0 = stablehlo.custom_call @f(%x) : (tensor<4xi4>) -> tensor<4xi4>
  return %0 : tensor<4xi4>
}
