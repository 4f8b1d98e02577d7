// RUN: hloom-opt %s --split-input-file --sparse-products | filecheck %s

// Changed: Each column of the constant has two numbers: two gathers, weighed.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: dot_general
// CHECK: %[[P:.*]] = "stablehlo.gather"(%arg0
// CHECK: stablehlo.multiply %[[P]]
// CHECK: %[[Q:.*]] = "stablehlo.gather"(%arg0
// CHECK: stablehlo.multiply %[[Q]]
// CHECK: %[[SUM:.*]] = stablehlo.add {{.*}} : tensor<5x3x7xf32>
// CHECK: stablehlo.transpose %[[SUM]], dims = [0, 2, 1]
func.func @rows(%x: tensor<5x8x7xf32>) -> tensor<5x7x3xf32> {
  %w = stablehlo.constant dense<[[1.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 5.0, 0.0],
                                 [0.0, 6.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 7.0], [0.0, 0.0, 8.0]]> : tensor<8x3xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<5x8x7xf32>, tensor<8x3xf32>) -> tensor<5x7x3xf32>
  return %0 : tensor<5x7x3xf32>
}

// -----

// Changed: A matrix on the left, computed of indices alone: the one number of each of its rows is 1, so nothing is multiplied.
// CHECK-LABEL: func.func @turned
// CHECK-NOT: stablehlo.multiply
// CHECK-NOT: dot_general
// CHECK: %[[R:.*]] = "stablehlo.gather"(%arg0
// CHECK: return %[[R]]
func.func @turned(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %i = stablehlo.iota dim = 0 : tensor<6x6xi32>
  %j = stablehlo.iota dim = 1 : tensor<6x6xi32>
  %last = stablehlo.constant dense<5> : tensor<6x6xi32>
  %s = stablehlo.add %i, %j : tensor<6x6xi32>
  %is = stablehlo.compare EQ, %s, %last : (tensor<6x6xi32>, tensor<6x6xi32>) -> tensor<6x6xi1>
  %w = stablehlo.convert %is : (tensor<6x6xi1>) -> tensor<6x6xf32>
  %0 = stablehlo.dot_general %w, %x, contracting_dims = [1] x [0] : (tensor<6x6xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// -----

// Changed: Of two in a row the second sums along the dimension where it lies in the first one's operand: what is transposed is their result.
// CHECK-LABEL: func.func @both
// CHECK-NOT: stablehlo.transpose
// CHECK: stablehlo.add {{.*}} : tensor<1x9x3xf32>
// CHECK: stablehlo.transpose
// CHECK: stablehlo.add {{.*}} : tensor<1x1x3xf32>
// CHECK: stablehlo.transpose
// CHECK-NOT: dot_general
func.func @both(%x: tensor<8x9x3xf32>) -> tensor<3x1x1xf32> {
  %w = stablehlo.constant dense<[[0.0], [0.0], [1.0], [2.0], [0.0], [0.0], [0.0], [0.0]]> : tensor<8x1xf32>
  %v = stablehlo.constant dense<[[0.0], [0.0], [3.0], [2.0], [0.0], [0.0], [0.0], [0.0], [0.0]]> : tensor<9x1xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [0] x [0] : (tensor<8x9x3xf32>, tensor<8x1xf32>) -> tensor<9x3x1xf32>
  %1 = stablehlo.dot_general %0, %v, contracting_dims = [0] x [0] : (tensor<9x3x1xf32>, tensor<9x1xf32>) -> tensor<3x1x1xf32>
  return %1 : tensor<3x1x1xf32>
}

// -----

// Declined: Single elements of lines are read one by one: one number of eight is as good as a product.
// CHECK-LABEL: func.func @columns
// CHECK: dot_general
func.func @columns(%x: tensor<5x8xf32>) -> tensor<5x1xf32> {
  %w = stablehlo.constant dense<[[0.0], [0.0], [1.0], [0.0], [0.0], [0.0], [0.0], [0.0]]> : tensor<8x1xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<5x8xf32>, tensor<8x1xf32>) -> tensor<5x1xf32>
  return %0 : tensor<5x1xf32>
}

// -----

// Unchanged: A product of two arguments.
// CHECK-LABEL: func.func @arguments
// CHECK-NEXT: dot_general
func.func @arguments(%x: tensor<8x5xf32>, %y: tensor<8x2xf32>) -> tensor<5x2xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<8x5xf32>, tensor<8x2xf32>) -> tensor<5x2xf32>
  return %0 : tensor<5x2xf32>
}

// -----

// Declined: A matrix of many numbers, one that the caller gives, one with an infinity, and integers.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-4: dot_general
func.func @others(%x: tensor<8x5xf32>, %g: tensor<8x1xf32>, %k: tensor<8x5xi32>)
    -> (tensor<5x1xf32>, tensor<5x1xf32>, tensor<5x1xf32>, tensor<5x1xi32>) {
  %w = stablehlo.constant dense<[[1.0], [0.0], [1.0], [2.0], [0.0], [0.0], [0.0], [0.0]]> : tensor<8x1xf32>
  %inf = stablehlo.constant dense<[[0.0], [0.0], [0x7F800000], [0.0], [0.0], [0.0], [0.0], [0.0]]> : tensor<8x1xf32>
  %n = stablehlo.constant dense<[[0], [0], [1], [0], [0], [0], [0], [0]]> : tensor<8x1xi32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [0] x [0] : (tensor<8x5xf32>, tensor<8x1xf32>) -> tensor<5x1xf32>
  %1 = stablehlo.dot_general %x, %g, contracting_dims = [0] x [0] : (tensor<8x5xf32>, tensor<8x1xf32>) -> tensor<5x1xf32>
  %2 = stablehlo.dot_general %x, %inf, contracting_dims = [0] x [0] : (tensor<8x5xf32>, tensor<8x1xf32>) -> tensor<5x1xf32>
  %3 = stablehlo.dot_general %k, %n, contracting_dims = [0] x [0] : (tensor<8x5xi32>, tensor<8x1xi32>) -> tensor<5x1xi32>
  return %0, %1, %2, %3 : tensor<5x1xf32>, tensor<5x1xf32>, tensor<5x1xf32>, tensor<5x1xi32>
}
