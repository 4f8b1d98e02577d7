// RUN: hloom-opt %s --split-input-file --concatenate-windows | filecheck %s

// Changed: The inner part of a picture whose neighbours are read: rows above and below, columns left and right stay.
// CHECK-LABEL: func.func @inner(
// CHECK-SAME: %[[X:.*]]: tensor<6x8xf32>
// CHECK: %[[N:.*]] = stablehlo.add
// CHECK-DAG: %[[L:.*]] = stablehlo.slice %[[X]] [1:5, 0:1]
// CHECK-DAG: %[[R:.*]] = stablehlo.slice %[[X]] [1:5, 7:8]
// CHECK: %[[ROWS:.*]] = stablehlo.concatenate %[[L]], %[[N]], %[[R]], dim = 1 : {{.*}} -> tensor<4x8xf32>
// CHECK-DAG: %[[A:.*]] = stablehlo.slice %[[X]] [0:1, 0:8]
// CHECK-DAG: %[[B:.*]] = stablehlo.slice %[[X]] [5:6, 0:8]
// CHECK: stablehlo.concatenate %[[A]], %[[ROWS]], %[[B]], dim = 0 : {{.*}} -> tensor<6x8xf32>
func.func @inner(%x: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %c1 = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.slice %x [0:4, 1:7] : (tensor<6x8xf32>) -> tensor<4x6xf32>
  %1 = stablehlo.slice %x [2:6, 1:7] : (tensor<6x8xf32>) -> tensor<4x6xf32>
  %2 = stablehlo.add %0, %1 : tensor<4x6xf32>
  %3 = stablehlo.dynamic_update_slice %x, %2, %c1, %c1 : (tensor<6x8xf32>, tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<6x8xf32>
  return %3 : tensor<6x8xf32>
}

// -----

// Changed: A place out of bounds is brought into them.
// CHECK-LABEL: func.func @clamped(
// CHECK: %[[A:.*]] = stablehlo.slice %{{.*}} [0:1]
// CHECK: stablehlo.concatenate %[[A]], %{{.*}}, dim = 0 : (tensor<1xf32>, tensor<7xf32>) -> tensor<8xf32>
func.func @clamped(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c5 = stablehlo.constant dense<5> : tensor<i32>
  %0 = stablehlo.slice %x [1:8] : (tensor<8xf32>) -> tensor<7xf32>
  %1 = stablehlo.negate %0 : tensor<7xf32>
  %2 = stablehlo.dynamic_update_slice %x, %1, %c5 : (tensor<8xf32>, tensor<7xf32>, tensor<i32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// Declined: A row is little of its array.
// Declined: What nothing else reads is updated in place.
// Declined: A place that is known at run time.
// Unchanged: A window that is no elementwise op's.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: stablehlo.concatenate
// CHECK-COUNT-4: stablehlo.dynamic_update_slice
func.func @others(%x: tensor<8x8xf32>, %y: tensor<7x8xf32>, %w: tensor<8x8xf32>, %z: tensor<8x8xf32>, %i: tensor<i32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.slice %x [1:2, 0:8] : (tensor<8x8xf32>) -> tensor<1x8xf32>
  %1 = stablehlo.negate %0 : tensor<1x8xf32>
  %2 = stablehlo.dynamic_update_slice %x, %1, %c0, %c0 : (tensor<8x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<8x8xf32>
  %3 = stablehlo.negate %y : tensor<7x8xf32>
  %4 = stablehlo.dynamic_update_slice %z, %3, %c0, %c0 : (tensor<8x8xf32>, tensor<7x8xf32>, tensor<i32>, tensor<i32>) -> tensor<8x8xf32>
  %5 = stablehlo.tanh %y : tensor<7x8xf32>
  %6 = stablehlo.dynamic_update_slice %x, %5, %i, %c0 : (tensor<8x8xf32>, tensor<7x8xf32>, tensor<i32>, tensor<i32>) -> tensor<8x8xf32>
  %7 = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<7x8xf32>, tensor<8x8xf32>) -> tensor<7x8xf32>
  %8 = stablehlo.dynamic_update_slice %x, %7, %c0, %c0 : (tensor<8x8xf32>, tensor<7x8xf32>, tensor<i32>, tensor<i32>) -> tensor<8x8xf32>
  return %2, %4, %6, %8 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
