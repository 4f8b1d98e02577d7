// RUN: hloom-opt %s --split-input-file --evaluate-init | filecheck %s

// Changed: A transpose: rows are read along the operand's lines, columns written along the result's.
// CHECK-LABEL: func.func @init(
// CHECK: call @turned
// CHECK: func.func private @turned
// CHECK-SAME: hloom.kind = "evaluate"
// One program of 22 numbers: two loops, none repeated, no sum, two instructions, 32 x 64; LOAD f32 of buffer 0, STORE to buffer 1.
// CHECK-SAME: hloom.numbers = array<i64: 1, 22, 2, 0, 1, 2, 32, 64, 0, 0, 0, 0, 0, 4, 128, 0, 3, 0, 1, 0, 0, 256, 4, 0>
func.func @main(%x: tensor<8xf32>, %w: tensor<64x32xf32> {hloom.bound}, %p: tensor<32x64xf32> {hloom.init_result = 0 : i64}) -> tensor<32x64xf32> {
  return %p : tensor<32x64xf32>
}
func.func @init(%w: tensor<64x32xf32> {hloom.argument = 1 : i64}) -> tensor<32x64xf32> {
  %0 = func.call @turned(%w) : (tensor<64x32xf32>) -> tensor<32x64xf32>
  return %0 : tensor<32x64xf32>
}
func.func private @turned(%w: tensor<64x32xf32>) -> tensor<32x64xf32> attributes {hloom.kind = "transpose"} {
  %0 = stablehlo.transpose %w, dims = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
  return %0 : tensor<32x64xf32>
}

// -----

// Changed: Arithmetic, padding around it, and a padded dimension that is split.
// Declined: A function of other code, and what @main calls, too.
// CHECK-LABEL: func.func private @folded
// CHECK-SAME: hloom.kind = "evaluate"
// CHECK: func.func private @exponential
// CHECK-SAME: hloom.kind = "loop"
// CHECK: func.func private @both
// CHECK-SAME: hloom.kind = "loop"
func.func @main(%x: tensor<24xf32>, %w: tensor<24xf32> {hloom.bound}, %p: tensor<2x16xf32> {hloom.init_result = 0 : i64}) -> tensor<24xf32> {
  %0 = func.call @both(%x) : (tensor<24xf32>) -> tensor<24xf32>
  return %0 : tensor<24xf32>
}
func.func @init(%w: tensor<24xf32> {hloom.argument = 1 : i64}) -> tensor<2x16xf32> {
  %0 = func.call @exponential(%w) : (tensor<24xf32>) -> tensor<24xf32>
  %1 = func.call @both(%0) : (tensor<24xf32>) -> tensor<24xf32>
  %2 = func.call @folded(%1) : (tensor<24xf32>) -> tensor<2x16xf32>
  return %2 : tensor<2x16xf32>
}
func.func private @folded(%w: tensor<24xf32>) -> tensor<2x16xf32> attributes {hloom.kind = "loop"} {
  %c = stablehlo.constant dense<1.0e-5> : tensor<24xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.add %w, %c : tensor<24xf32>
  %1 = stablehlo.sqrt %0 : tensor<24xf32>
  %2 = stablehlo.pad %1, %zero, low = [0], high = [8], interior = [0] : (tensor<24xf32>, tensor<f32>) -> tensor<32xf32>
  %3 = stablehlo.reshape %2 : (tensor<32xf32>) -> tensor<2x16xf32>
  return %3 : tensor<2x16xf32>
}
func.func private @exponential(%w: tensor<24xf32>) -> tensor<24xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.exponential %w : tensor<24xf32>
  return %0 : tensor<24xf32>
}
func.func private @both(%w: tensor<24xf32>) -> tensor<24xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.negate %w : tensor<24xf32>
  return %0 : tensor<24xf32>
}

// -----

// Unchanged: Nothing is bound.
// CHECK-LABEL: func.func private @turned
// CHECK-SAME: hloom.kind = "transpose"
func.func @main(%w: tensor<64x32xf32>) -> tensor<32x64xf32> {
  %0 = func.call @turned(%w) : (tensor<64x32xf32>) -> tensor<32x64xf32>
  return %0 : tensor<32x64xf32>
}
func.func private @turned(%w: tensor<64x32xf32>) -> tensor<32x64xf32> attributes {hloom.kind = "transpose"} {
  %0 = stablehlo.transpose %w, dims = [1, 0] : (tensor<64x32xf32>) -> tensor<32x64xf32>
  return %0 : tensor<32x64xf32>
}
