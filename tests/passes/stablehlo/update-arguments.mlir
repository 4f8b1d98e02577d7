// RUN: hloom-opt %s --split-input-file --update-arguments | filecheck %s

// Changed: A row of a cache, which nothing else reads.
// CHECK-LABEL: func.func public @main(
// CHECK-SAME: %[[X:.*]]: tensor<8x512xf32> {{.*}}, %[[ROW:.*]]: tensor<8x1xf32>
// CHECK-DAG: %[[C0:.*]] = stablehlo.constant dense<0>
// CHECK-DAG: %[[C5:.*]] = stablehlo.constant dense<5>
// CHECK: %[[N:.*]] = stablehlo.dynamic_update_slice %[[X]], %[[ROW]], %[[C0]], %[[C5]] : {{.*}} -> tensor<8x512xf32>
// CHECK: return %[[N]]
func.func public @main(%x: tensor<8x512xf32> {hloom.updated_by = 0 : i64}, %row: tensor<8x1xf32>) -> tensor<8x512xf32> {
  %0 = stablehlo.slice %x [0:8, 0:5] : (tensor<8x512xf32>) -> tensor<8x5xf32>
  %1 = stablehlo.slice %x [0:8, 6:512] : (tensor<8x512xf32>) -> tensor<8x506xf32>
  %2 = stablehlo.concatenate %0, %row, %1, dim = 1 : (tensor<8x5xf32>, tensor<8x1xf32>, tensor<8x506xf32>) -> tensor<8x512xf32>
  return %2 : tensor<8x512xf32>
}

// -----

// Changed: A part of a part. What reads the inner concatenation behind the outer one reads the new value, whose part has a kernel of its own.
// CHECK-LABEL: func.func public @main(
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32> {{.*}}, %[[U:.*]]: tensor<2x1xf32>
// CHECK-NOT: concatenate
// CHECK: %[[N:.*]] = stablehlo.dynamic_update_slice %[[X]], %[[U]], %{{.*}}, %{{.*}} {hloom.grows}
// CHECK: %[[S:.*]] = stablehlo.slice %[[N]] [0:2, 0:8]
// CHECK: %[[E:.*]] = stablehlo.negate %[[S]]
// CHECK: return %[[E]], %[[N]]
func.func public @main(%x: tensor<4x8xf32> {hloom.updated_by = 1 : i64}, %u: tensor<2x1xf32>) -> (tensor<2x8xf32>, tensor<4x8xf32>) {
  %0 = stablehlo.slice %x [0:2, 0:3] : (tensor<4x8xf32>) -> tensor<2x3xf32>
  %1 = stablehlo.slice %x [0:2, 4:8] : (tensor<4x8xf32>) -> tensor<2x4xf32>
  %2 = stablehlo.concatenate %0, %u, %1, dim = 1 : (tensor<2x3xf32>, tensor<2x1xf32>, tensor<2x4xf32>) -> tensor<2x8xf32>
  %3 = stablehlo.slice %x [2:4, 0:8] : (tensor<4x8xf32>) -> tensor<2x8xf32>
  %4 = stablehlo.concatenate %2, %3, dim = 0 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  %5 = stablehlo.negate %2 : tensor<2x8xf32>
  return %5, %4 : tensor<2x8xf32>, tensor<4x8xf32>
}

// -----

// Changed: What reads the inner concatenation before the outer one keeps it.
// CHECK-LABEL: func.func public @main(
// CHECK: %[[C:.*]] = stablehlo.concatenate
// CHECK: stablehlo.negate %[[C]]
// CHECK: stablehlo.dynamic_update_slice
func.func public @main(%x: tensor<4x8xf32> {hloom.updated_by = 1 : i64}, %u: tensor<2x1xf32>) -> (tensor<2x8xf32>, tensor<4x8xf32>) {
  %0 = stablehlo.slice %x [0:2, 0:7] : (tensor<4x8xf32>) -> tensor<2x7xf32>
  %1 = stablehlo.concatenate %0, %u, dim = 1 : (tensor<2x7xf32>, tensor<2x1xf32>) -> tensor<2x8xf32>
  %2 = stablehlo.negate %1 : tensor<2x8xf32>
  %3 = stablehlo.slice %x [2:4, 0:8] : (tensor<4x8xf32>) -> tensor<2x8xf32>
  %4 = stablehlo.concatenate %1, %3, dim = 0 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  return %2, %4 : tensor<2x8xf32>, tensor<4x8xf32>
}

// -----

// Declined: The array is turned: no part of it stays where it was.
// CHECK-LABEL: func.func public @main(
// CHECK: stablehlo.concatenate
// CHECK-NOT: dynamic_update_slice
func.func public @main(%x: tensor<8xf32> {hloom.updated_by = 0 : i64}, %u: tensor<1xf32>) -> tensor<8xf32> {
  %0 = stablehlo.slice %x [1:8] : (tensor<8xf32>) -> tensor<7xf32>
  %1 = stablehlo.concatenate %0, %u, dim = 0 : (tensor<7xf32>, tensor<1xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// Unchanged: An argument that the call leaves as it is.
// CHECK-LABEL: func.func public @main(
// CHECK: stablehlo.concatenate
// CHECK-NOT: dynamic_update_slice
func.func public @main(%x: tensor<8xf32>, %u: tensor<1xf32>) -> tensor<8xf32> {
  %0 = stablehlo.slice %x [0:7] : (tensor<8xf32>) -> tensor<7xf32>
  %1 = stablehlo.concatenate %0, %u, dim = 0 : (tensor<7xf32>, tensor<1xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
