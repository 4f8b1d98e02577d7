// RUN: hloom-opt %s --fourier-kernels | filecheck %s

// Changed: A row of 16 is a matrix of 4 x 4, whose four columns are the lanes of a vector: a butterfly of radix 4, the roots of unity, a
// transposition on the stack, a butterfly. A tile is a row; the stack has no buffers between stages.
// CHECK-LABEL: func.func private @row
// CHECK-SAME: (%[[LO:.*]]: index, %[[HI:.*]]: index, %[[RE:.*]]: memref<48xf32>, %[[IM:.*]]: memref<48xf32>, %[[T:.*]]: memref<32xf32>, %[[OUT:.*]]: memref<48xf32>, %{{.*}}: memref<48xf32>)
// CHECK-SAME: hloom.inputs = 3 : i64, hloom.kind = "fourier", hloom.tiles = 3 : i64
// CHECK: scf.for %{{.*}} = %[[LO]] to %[[HI]]
// CHECK: vector.load %[[RE]][%{{.*}}] : memref<48xf32>, vector<4xf32>
// CHECK: vector.load %[[T]]
// CHECK: vector.fma
// CHECK: vector.shuffle
// CHECK: vector.store %{{.*}}, %[[OUT]]
func.func private @row(%re: tensor<3x16xf32>, %im: tensor<3x16xf32>, %t: tensor<32xf32>) -> (tensor<3x16xf32>, tensor<3x16xf32>)
    attributes {hloom.kind = "fourier"} {
  %0:2 = stablehlo.custom_call @hloom.dft(%re, %im, %t)
      {hloom.dft = {radices = [array<i64: 4>, array<i64: 4>], lanes = 4 : i64, factor = 1.0 : f64, extended = false}}
      : (tensor<3x16xf32>, tensor<3x16xf32>, tensor<32xf32>) -> (tensor<3x16xf32>, tensor<3x16xf32>)
  return %0#0, %0#1 : tensor<3x16xf32>, tensor<3x16xf32>
}

// Changed: 10 columns of 6 are blocks of two vectors, the last of which begins at column 2: of 2 outer indices, 4 tiles. Two stages have a buffer
// between them. The imaginary parts are zero everywhere; the results are halved, and the first element of each stands at the end again.
// CHECK-LABEL: func.func private @columns
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<140xf64>, %{{.*}}: memref<140xf64>)
// CHECK-SAME: hloom.inputs = 2 : i64
// CHECK-SAME: hloom.tiles = 4 : i64
// CHECK-COUNT-2: memref.alloca() {alignment = 64 : i64} : memref<48xf64>
// CHECK-NOT: memref.alloca
// CHECK: arith.minui
// CHECK: vector.broadcast
// CHECK: arith.mulf
// CHECK: %[[FIRST:.*]] = vector.load %[[OUT]]
// CHECK: vector.store %[[FIRST]], %[[OUT]]
func.func private @columns(%re: tensor<2x6x10xf64>, %t: tensor<6xf64>) -> (tensor<2x7x10xf64>, tensor<2x7x10xf64>)
    attributes {hloom.kind = "fourier"} {
  %im = arith.constant dense<0.0> : tensor<2x6x10xf64>
  %0:2 = stablehlo.custom_call @hloom.dft(%re, %im, %t)
      {hloom.dft = {radices = [array<i64: 2, 3>], lanes = 4 : i64, factor = 0.5 : f64, extended = true}}
      : (tensor<2x6x10xf64>, tensor<2x6x10xf64>, tensor<6xf64>) -> (tensor<2x7x10xf64>, tensor<2x7x10xf64>)
  return %0#0, %0#1 : tensor<2x7x10xf64>, tensor<2x7x10xf64>
}

// Declined: Another custom call.
// Unchanged: The group has no transform.
// CHECK-LABEL: func.func private @other
// CHECK-SAME: (%arg0: tensor<4xf32>)
// CHECK: stablehlo.custom_call @other
func.func private @other(%x: tensor<4xf32>) -> tensor<4xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.custom_call @other(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
