// RUN: hloom-opt %s --simplify-loops --canonicalize | filecheck %s

// Changed: %d never changes, %j counts as %i does, %b feeds only itself, and exp(%d) does not depend on the turn.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>, %[[Z:.*]]: tensor<4xf32>
// CHECK: %[[E:.*]] = stablehlo.exponential %[[Z]]
// CHECK: %[[W:.*]]:2 = stablehlo.while(%[[I:.*]] = %{{.*}}, %[[A:.*]] = %[[X]]) : tensor<i32>, tensor<4xf32>
// CHECK: do {
// CHECK-NOT: stablehlo.tanh
// CHECK: %[[N:.*]] = stablehlo.select %{{.*}}, %{{.*}}, %[[I]]
// CHECK: stablehlo.dynamic_slice %[[Z]], %[[N]]
// CHECK: stablehlo.add %[[A]], %[[E]]
// CHECK: return %[[W]]#1, %[[W]]#0
func.func @main(%x: tensor<4xf32>, %y: tensor<4xf32>, %z: tensor<4xf32>) -> (tensor<4xf32>, tensor<i32>) {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %0:5 = stablehlo.while(%i = %c0, %a = %x, %b = %y, %d = %z, %j = %c0) : tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>
  cond {
    %1 = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %i1 = stablehlo.add %i, %one : tensor<i32>
    %j1 = stablehlo.add %one, %j : tensor<i32>
    %e = stablehlo.exponential %d : tensor<4xf32>
    %negative = stablehlo.compare LT, %j, %c0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %wrapped = stablehlo.add %j, %ten : tensor<i32>
    %n = stablehlo.select %negative, %wrapped, %j : tensor<i1>, tensor<i32>
    %s = stablehlo.dynamic_slice %d, %n, sizes = [1] : (tensor<4xf32>, tensor<i32>) -> tensor<1xf32>
    %r = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<1xf32>) -> tensor<4xf32>
    %a0 = stablehlo.add %a, %e : tensor<4xf32>
    %a1 = stablehlo.add %a0, %r : tensor<4xf32>
    %b1 = stablehlo.tanh %b : tensor<4xf32>
    stablehlo.return %i1, %a1, %b1, %d, %j1 : tensor<i32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>
  }
  return %0#1, %0#4 : tensor<4xf32>, tensor<i32>
}

// The comparison of the counter with 0 is decided: simplify-stablehlo then drops the select.
// RUN: hloom-opt %s --simplify-loops --simplify-stablehlo | filecheck %s --check-prefix=DECIDED
// DECIDED-LABEL: func.func @main
// DECIDED: do {
// DECIDED-NOT: stablehlo.select
// DECIDED-LABEL: func.func @kept

// Declined: Cheap work on constants alone stays inside; a comparison that is not decided over the counter's range stays; an op on a carry stays.
// CHECK-LABEL: func.func @kept
// CHECK: stablehlo.while
// CHECK: do {
// CHECK: stablehlo.iota
// CHECK: stablehlo.add
// CHECK: stablehlo.compare LT, %{{.*}}, %{{.*}} : (tensor<i32>, tensor<i32>)
// CHECK: stablehlo.exponential
func.func @kept(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %five = stablehlo.constant dense<5> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %c2 = stablehlo.constant dense<2.0> : tensor<4xf32>
  %0:2 = stablehlo.while(%i = %c0, %a = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %ten : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %i1 = stablehlo.add %i, %one : tensor<i32>
    %n = stablehlo.iota dim = 0 : tensor<4xf32>
    %m = stablehlo.add %n, %c2 : tensor<4xf32>
    %p = stablehlo.compare LT, %i, %five : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %e = stablehlo.exponential %a : tensor<4xf32>
    %s = stablehlo.select %p, %m, %e : tensor<i1>, tensor<4xf32>
    stablehlo.return %i1, %s : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}

// Unchanged: Nothing to do: each carry changes and is used.
// CHECK-LABEL: func.func @none
// CHECK: %{{.*}}:2 = stablehlo.while
func.func @none(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %n, %a = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %1 = stablehlo.compare GT, %i, %c0 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %i1 = stablehlo.subtract %i, %one : tensor<i32>
    %e = stablehlo.tanh %a : tensor<4xf32>
    stablehlo.return %i1, %e : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}
