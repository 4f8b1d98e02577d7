// RUN: hloom-opt %s --join-fourier-parts --simplify-stablehlo | filecheck %s

// Changed: Both parts of the operand and of the result lie in one array; those of an inverse transform are exchanged.
// CHECK-LABEL: func.func @both
// CHECK-NEXT: %[[Z:.*]] = stablehlo.custom_call @hloom.dft(%arg0, %arg1)
// CHECK-SAME: given = array<i64: 1, 0>
// CHECK-SAME: taken = array<i64: 1, 0>
// CHECK-SAME: (tensor<3x16x2xf32>, tensor<32xf32>) -> tensor<3x16x2xf32>
// CHECK-NEXT: return %[[Z]]
func.func @both(%x: tensor<3x16x2xf32>, %t: tensor<32xf32>) -> tensor<3x16x2xf32> {
  %0 = stablehlo.slice %x [0:3, 0:16, 0:1] : (tensor<3x16x2xf32>) -> tensor<3x16x1xf32>
  %1 = stablehlo.slice %x [0:3, 0:16, 1:2] : (tensor<3x16x2xf32>) -> tensor<3x16x1xf32>
  %re = stablehlo.reshape %0 : (tensor<3x16x1xf32>) -> tensor<3x16xf32>
  %im = stablehlo.reshape %1 : (tensor<3x16x1xf32>) -> tensor<3x16xf32>
  %2:2 = stablehlo.custom_call @hloom.dft(%im, %re, %t)
      {hloom.dft = {radices = [array<i64: 4>, array<i64: 4>], lanes = 4 : i64, factor = 1.0 : f64, extended = false}}
      : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<32xf32>) -> (tensor<3x16xf32>, tensor<3x16xf32>)
  %3 = stablehlo.reshape %2#1 : (tensor<3x16xf32>) -> tensor<3x16x1xf32>
  %4 = stablehlo.reshape %2#0 : (tensor<3x16xf32>) -> tensor<3x16x1xf32>
  %5 = stablehlo.concatenate %3, %4, dim = 2 : (tensor<3x16x1xf32>, tensor<3x16x1xf32>) -> tensor<3x16x2xf32>
  return %5 : tensor<3x16x2xf32>
}

// Changed: 32 reals are read as 16 pairs. What is written stays apart, for something else reads a part.
// CHECK-LABEL: func.func @reals
// CHECK: %[[P:.*]] = stablehlo.reshape %arg0 : (tensor<32xf32>) -> tensor<1x16x2xf32>
// CHECK: %[[Z:.*]]:2 = stablehlo.custom_call @hloom.dft(%[[P]], %arg1)
// CHECK-NOT: given
// CHECK-SAME: taken = array<i64: 0, 1>
// CHECK: stablehlo.concatenate
func.func @reals(%x: tensor<32xf32>, %t: tensor<32xf32>) -> (tensor<1x16x2xf32>, tensor<1x16xf32>) {
  %p = stablehlo.reshape %x : (tensor<32xf32>) -> tensor<16x2xf32>
  %0 = stablehlo.slice %p [0:16, 0:1] : (tensor<16x2xf32>) -> tensor<16x1xf32>
  %1 = stablehlo.slice %p [0:16, 1:2] : (tensor<16x2xf32>) -> tensor<16x1xf32>
  %re = stablehlo.reshape %0 : (tensor<16x1xf32>) -> tensor<1x16xf32>
  %im = stablehlo.reshape %1 : (tensor<16x1xf32>) -> tensor<1x16xf32>
  %2:2 = stablehlo.custom_call @hloom.dft(%re, %im, %t)
      {hloom.dft = {radices = [array<i64: 4>, array<i64: 4>], lanes = 4 : i64, factor = 1.0 : f64, extended = false}}
      : (tensor<1x16xf32>, tensor<1x16xf32>, tensor<32xf32>) -> (tensor<1x16xf32>, tensor<1x16xf32>)
  %3 = stablehlo.reshape %2#0 : (tensor<1x16xf32>) -> tensor<1x16x1xf32>
  %4 = stablehlo.reshape %2#1 : (tensor<1x16xf32>) -> tensor<1x16x1xf32>
  %5 = stablehlo.concatenate %3, %4, dim = 2 : (tensor<1x16x1xf32>, tensor<1x16x1xf32>) -> tensor<1x16x2xf32>
  return %5, %2#0 : tensor<1x16x2xf32>, tensor<1x16xf32>
}

// Declined: The parts are those of two arrays, or the same part twice, or three numbers apart.
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-3: = stablehlo.custom_call @hloom.dft(%{{[0-9]+}}, %{{[0-9]+}}, %arg3)
func.func @apart(%x: tensor<16x2xf32>, %y: tensor<16x2xf32>, %z: tensor<16x3xf32>, %t: tensor<32xf32>)
    -> (tensor<1x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>) {
  %0 = stablehlo.slice %x [0:16, 0:1] : (tensor<16x2xf32>) -> tensor<16x1xf32>
  %1 = stablehlo.slice %y [0:16, 1:2] : (tensor<16x2xf32>) -> tensor<16x1xf32>
  %2 = stablehlo.slice %z [0:16, 0:1] : (tensor<16x3xf32>) -> tensor<16x1xf32>
  %3 = stablehlo.slice %z [0:16, 1:2] : (tensor<16x3xf32>) -> tensor<16x1xf32>
  %a = stablehlo.reshape %0 : (tensor<16x1xf32>) -> tensor<1x16xf32>
  %b = stablehlo.reshape %1 : (tensor<16x1xf32>) -> tensor<1x16xf32>
  %c = stablehlo.reshape %2 : (tensor<16x1xf32>) -> tensor<1x16xf32>
  %d = stablehlo.reshape %3 : (tensor<16x1xf32>) -> tensor<1x16xf32>
  %4:2 = stablehlo.custom_call @hloom.dft(%a, %b, %t)
      {hloom.dft = {radices = [array<i64: 4>, array<i64: 4>], lanes = 4 : i64, factor = 1.0 : f64, extended = false}}
      : (tensor<1x16xf32>, tensor<1x16xf32>, tensor<32xf32>) -> (tensor<1x16xf32>, tensor<1x16xf32>)
  %5:2 = stablehlo.custom_call @hloom.dft(%a, %a, %t)
      {hloom.dft = {radices = [array<i64: 4>, array<i64: 4>], lanes = 4 : i64, factor = 1.0 : f64, extended = false}}
      : (tensor<1x16xf32>, tensor<1x16xf32>, tensor<32xf32>) -> (tensor<1x16xf32>, tensor<1x16xf32>)
  %6:2 = stablehlo.custom_call @hloom.dft(%c, %d, %t)
      {hloom.dft = {radices = [array<i64: 4>, array<i64: 4>], lanes = 4 : i64, factor = 1.0 : f64, extended = false}}
      : (tensor<1x16xf32>, tensor<1x16xf32>, tensor<32xf32>) -> (tensor<1x16xf32>, tensor<1x16xf32>)
  return %4#0, %5#0, %6#0 : tensor<1x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>
}

// Unchanged: Another call.
// CHECK-LABEL: func.func @other
// CHECK: stablehlo.custom_call @other
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @other(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
