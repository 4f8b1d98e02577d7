// RUN: not hloom-opt %s --split-complex 2>&1 | filecheck %s

// Declined: Complex numbers have no order.
// CHECK: [HL101] stablehlo.compare LT of complex numbers
// CHECK: remedy: compare magnitudes, or real and imaginary parts
func.func @less(%x: tensor<8xcomplex<f32>>) -> tensor<8xi1> {
  %0 = stablehlo.compare LT, %x, %x : (tensor<8xcomplex<f32>>, tensor<8xcomplex<f32>>) -> tensor<8xi1>
  return %0 : tensor<8xi1>
}
