// RUN: not hloom-opt %s --split-complex 2>&1 | filecheck %s

// Declined: The specification does not say what the remainder of complex numbers is.
// CHECK: [HL101] hloom does not compile stablehlo.remainder of tensor<8xcomplex<f32>>
// CHECK: remedy: write the function on real and imaginary parts
func.func @rest(%x: tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>> {
  %0 = stablehlo.remainder %x, %x : tensor<8xcomplex<f32>>
  return %0 : tensor<8xcomplex<f32>>
}
