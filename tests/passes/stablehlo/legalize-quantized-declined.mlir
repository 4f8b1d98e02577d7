// RUN: not hloom-opt %s --legalize-quantized 2>&1 | filecheck %s

// Declined: Outside code takes what it takes.
// CHECK: does not compile stablehlo.custom_call of tensor<4x!quant.uniform<i8:f32, 5.000000e-01>>
// CHECK: remedy: dequantize its operands before it
func.func @main(%x: tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4x!quant.uniform<i8:f32, 0.5>> {
  %0 = stablehlo.custom_call @f(%x) : (tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4x!quant.uniform<i8:f32, 0.5>>
  return %0 : tensor<4x!quant.uniform<i8:f32, 0.5>>
}
