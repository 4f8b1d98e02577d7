// RUN: hloom-opt %s --split-input-file --pack-weights | filecheck %s

// Changed: A block of f32 is as wide as the accumulators of a row: two registers of the sixteen of AVX2.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.dot_general {{.*}} -> tensor<16x4x16xf32>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64}} {
  func.func @main(%x: tensor<16x3xf32>, %w: tensor<64x3xf32> {hloom.bound}) -> tensor<16x64xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<16x3xf32>, tensor<64x3xf32>) -> tensor<16x64xf32>
    return %0 : tensor<16x64xf32>
  }
}

// -----

// Changed: Four registers of f64 on AVX-512.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.dot_general {{.*}} -> tensor<16x2x32xf64>
func.func @main(%x: tensor<16x3xf64>, %w: tensor<64x3xf64> {hloom.bound}) -> tensor<16x64xf64> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<16x3xf64>, tensor<64x3xf64>) -> tensor<16x64xf64>
  return %0 : tensor<16x64xf64>
}

// -----

// Declined: narrower than such a block.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.dot_general {{.*}} -> tensor<16x48xf32>
func.func @main(%x: tensor<16x3xf32>, %w: tensor<48x3xf32> {hloom.bound}) -> tensor<16x48xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<16x3xf32>, tensor<48x3xf32>) -> tensor<16x48xf32>
  return %0 : tensor<16x48xf32>
}
