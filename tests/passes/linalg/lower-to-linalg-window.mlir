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

// The start is computed in the group: the full form.
// CHECK-LABEL: func.func private @computed_start(
// CHECK-NOT: tensor.insert_slice
// CHECK: return
func.func private @computed_start(%x: tensor<512xf32>, %u: tensor<8xf32>, %i: tensor<i32>) -> tensor<512xf32>
    attributes {hloom.kind = "loop", hloom.inplace = array<i64: 0, 0>, hloom.window_update = array<i64: 0, 0>} {
  %j = stablehlo.add %i, %i : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %x, %u, %j : (tensor<512xf32>, tensor<8xf32>, tensor<i32>) -> tensor<512xf32>
  return %0 : tensor<512xf32>
}
