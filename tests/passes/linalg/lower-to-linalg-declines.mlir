// RUN: not hloom-opt %s --lower-to-linalg 2>&1 | filecheck %s

// Declined: A Cholesky factor.
// CHECK: [HL101] stablehlo.cholesky has no lowering to linalg
// CHECK: op: stablehlo.cholesky
// CHECK: stage: linalg
func.func @cholesky(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.cholesky %x, lower = true : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
