// RUN: hloom-opt %s --lower-to-linalg --split-input-file | filecheck %s

// In place, the update alone is computed, and inserted at the clamped start.
// CHECK-LABEL: func.func private @in_place(
// CHECK-SAME: %[[X:.*]]: tensor<512x4096xf32>, %[[U:.*]]: tensor<1x4096xf32>, %[[I:.*]]: tensor<i32>)
// CHECK: %[[S:.*]] = tensor.extract %[[I]][] : tensor<i32>
// CHECK: %[[C:.*]] = arith.index_cast %[[S]]
// CHECK: %[[L:.*]] = arith.maxsi %[[C]]
// CHECK: %[[M:.*]] = arith.minsi %[[L]]
// CHECK: %[[W:.*]] = linalg.generic {{.*}} ins(%[[U]] : tensor<1x4096xf32>)
// CHECK: %[[R:.*]] = tensor.insert_slice %[[W]] into %[[X]][%[[M]], 0] [1, 4096] [1, 1]
// CHECK: return %[[R]]
func.func private @in_place(%x: tensor<512x4096xf32>, %u: tensor<1x4096xf32>, %i: tensor<i32>) -> tensor<512x4096xf32>
    attributes {hloom.kind = "loop", hloom.inplace = array<i64: 0, 0>, hloom.window_update = array<i64: 0, 0>} {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %c : (tensor<512x4096xf32>, tensor<1x4096xf32>, tensor<i32>, tensor<i32>) -> tensor<512x4096xf32>
  return %0 : tensor<512x4096xf32>
}

// -----

// Not in place: the result is another buffer, every element of it is written.
// CHECK-LABEL: func.func private @elsewhere(
// CHECK-NOT: tensor.insert_slice
// CHECK: return
func.func private @elsewhere(%x: tensor<512x4096xf32>, %u: tensor<1x4096xf32>, %i: tensor<i32>) -> tensor<512x4096xf32> attributes {hloom.kind = "loop"} {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %c : (tensor<512x4096xf32>, tensor<1x4096xf32>, tensor<i32>, tensor<i32>) -> tensor<512x4096xf32>
  return %0 : tensor<512x4096xf32>
}

// -----

// The start is computed of whole numbers, as where a loop counts down: before the window.
// CHECK-LABEL: func.func private @computed_start(
// CHECK-SAME: %[[I:[a-z0-9]*]]: tensor<i32>)
// CHECK: %[[S:.*]] = tensor.extract %[[I]][] : tensor<i32>
// CHECK: %[[J:.*]] = arith.subi %{{.*}}, %[[S]] : i32
// CHECK: %[[C:.*]] = arith.index_cast %[[J]]
// CHECK: %[[M:.*]] = arith.minsi
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%[[M]]] [8] [1]
func.func private @computed_start(%x: tensor<512xf32>, %u: tensor<8xf32>, %i: tensor<i32>) -> tensor<512xf32>
    attributes {hloom.kind = "loop", hloom.inplace = array<i64: 0, 0>, hloom.window_update = array<i64: 0, 0>} {
  %last = stablehlo.constant dense<511> : tensor<i32>
  %j = stablehlo.subtract %last, %i : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %x, %u, %j : (tensor<512xf32>, tensor<8xf32>, tensor<i32>) -> tensor<512xf32>
  return %0 : tensor<512xf32>
}

// -----

// The start is computed of the one element of a tensor, as what a slice of many gives.
// CHECK-LABEL: func.func private @start_of_one_element(
// CHECK-SAME: %[[I:[a-z0-9]*]]: tensor<1xi32>)
// CHECK: %[[S:.*]] = tensor.extract %[[I]][%{{.*}}] : tensor<1xi32>
// CHECK: %[[J:.*]] = arith.addi %[[S]], %{{.*}} : i32
// CHECK: tensor.insert_slice %{{.*}} into %{{.*}}[%{{.*}}] [8] [1]
func.func private @start_of_one_element(%x: tensor<512xf32>, %u: tensor<8xf32>, %i: tensor<1xi32>) -> tensor<512xf32>
    attributes {hloom.kind = "loop", hloom.inplace = array<i64: 0, 0>, hloom.window_update = array<i64: 0, 0>} {
  %c = stablehlo.constant dense<3> : tensor<i32>
  %s = stablehlo.reshape %i : (tensor<1xi32>) -> tensor<i32>
  %j = stablehlo.add %s, %c : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %x, %u, %j : (tensor<512xf32>, tensor<8xf32>, tensor<i32>) -> tensor<512xf32>
  return %0 : tensor<512xf32>
}

// -----

// The start is an element of a tensor that the group computes: the full form.
// CHECK-LABEL: func.func private @start_of_a_tensor(
// CHECK-NOT: tensor.insert_slice
// CHECK: return
func.func private @start_of_a_tensor(%x: tensor<512xf32>, %u: tensor<8xf32>, %i: tensor<4xi32>) -> tensor<512xf32>
    attributes {hloom.kind = "loop", hloom.inplace = array<i64: 0, 0>, hloom.window_update = array<i64: 0, 0>} {
  %s = stablehlo.slice %i [2:3] : (tensor<4xi32>) -> tensor<1xi32>
  %j = stablehlo.reshape %s : (tensor<1xi32>) -> tensor<i32>
  %0 = stablehlo.dynamic_update_slice %x, %u, %j : (tensor<512xf32>, tensor<8xf32>, tensor<i32>) -> tensor<512xf32>
  return %0 : tensor<512xf32>
}

// -----

// The update's loops walk the window by strides, unit dims beside: inserted as it is made.
// CHECK-LABEL: func.func private @rows(
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: tensor.insert_slice
func.func private @rows(%x: tensor<2x3x33x8xf32>, %u: tensor<6x8xf32>, %i: tensor<i32>) -> tensor<2x3x33x8xf32>
    attributes {hloom.kind = "loop", hloom.inplace = array<i64: 0, 0>, hloom.window_update = array<i64: 0, 0>} {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %t = stablehlo.tanh %u : tensor<6x8xf32>
  %r = stablehlo.reshape %t : (tensor<6x8xf32>) -> tensor<2x3x1x8xf32>
  %0 = stablehlo.dynamic_update_slice %x, %r, %c, %c, %i, %c : (tensor<2x3x33x8xf32>, tensor<2x3x1x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x33x8xf32>
  return %0 : tensor<2x3x33x8xf32>
}

// -----

// They do not: the update is read in the window's own loops.
// CHECK-LABEL: func.func private @flat(
// CHECK: math.tanh
// CHECK: %[[V:.*]] = tensor.expand_shape
// CHECK: %[[W:.*]] = linalg.generic {{.*}} ins(%[[V]] : tensor<2x3x1x8xf32>)
// CHECK: tensor.insert_slice %[[W]]
func.func private @flat(%x: tensor<2x3x33x8xf32>, %u: tensor<48xf32>, %i: tensor<i32>) -> tensor<2x3x33x8xf32>
    attributes {hloom.kind = "loop", hloom.inplace = array<i64: 0, 0>, hloom.window_update = array<i64: 0, 0>} {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %t = stablehlo.tanh %u : tensor<48xf32>
  %r = stablehlo.reshape %t : (tensor<48xf32>) -> tensor<2x3x1x8xf32>
  %0 = stablehlo.dynamic_update_slice %x, %r, %c, %c, %i, %c : (tensor<2x3x33x8xf32>, tensor<2x3x1x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x33x8xf32>
  return %0 : tensor<2x3x33x8xf32>
}
