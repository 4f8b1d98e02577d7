// RUN: hloom-opt %s --unroll-loops --canonicalize | filecheck %s
// RUN: hloom-opt %s --unroll-loops=max-trips=2 --canonicalize | filecheck %s --check-prefix=TWO

// Changed: Three turns of elementwise work.
// CHECK-LABEL: func.func @three(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NOT: stablehlo.while
// CHECK: %[[A:.*]] = stablehlo.tanh %[[X]]
// CHECK: %[[B:.*]] = stablehlo.tanh %[[A]]
// CHECK: %[[C:.*]] = stablehlo.tanh %[[B]]
// CHECK: return %[[C]]
// TWO-LABEL: func.func @three
// TWO: stablehlo.while
func.func @three(%x: tensor<4xf32>) -> tensor<4xf32> {
  %start = stablehlo.constant dense<5> : tensor<ui8>
  %step = stablehlo.constant dense<2> : tensor<ui8>
  %end = stablehlo.constant dense<10> : tensor<ui8>
  %0:2 = stablehlo.while(%i = %start, %a = %x) : tensor<ui8>, tensor<4xf32>
  cond {
    %1 = stablehlo.compare GT, %end, %i : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %i1 = stablehlo.add %i, %step : tensor<ui8>
    %e = stablehlo.tanh %a : tensor<4xf32>
    stablehlo.return %i1, %e : tensor<ui8>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}

// Changed: One turn, over a dot: inlined whatever the body holds.
// CHECK-LABEL: func.func @once
// CHECK-NOT: stablehlo.while
// CHECK: stablehlo.dot_general
func.func @once(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i32>, tensor<4x4xf32>
  cond {
    %1 = stablehlo.compare NE, %i, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %i1 = stablehlo.add %i, %one : tensor<i32>
    %e = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    stablehlo.return %i1, %e : tensor<i32>, tensor<4x4xf32>
  }
  return %0#1 : tensor<4x4xf32>
}

// Declined: Two turns over a dot, a counter that would wrap before the end, a condition that also reads data, an unknown bound: left.
// CHECK-LABEL: func.func @declined
// CHECK-COUNT-4: stablehlo.while
// CHECK: return
func.func @declined(%x: tensor<4x4xf32>, %n: tensor<i8>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i8>
  %one = stablehlo.constant dense<1> : tensor<i8>
  %two = stablehlo.constant dense<2> : tensor<i8>
  %far = stablehlo.constant dense<127> : tensor<i8>
  %big = stablehlo.constant dense<100> : tensor<i8>
  %0:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i8>, tensor<4x4xf32>
  cond {
    %4 = stablehlo.compare LT, %i, %two : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  } do {
    %i1 = stablehlo.add %i, %one : tensor<i8>
    %e = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    stablehlo.return %i1, %e : tensor<i8>, tensor<4x4xf32>
  }
  %1:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i8>, tensor<4x4xf32>
  cond {
    %4 = stablehlo.compare LT, %i, %far : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  } do {
    %i1 = stablehlo.add %i, %big : tensor<i8>
    %e = stablehlo.tanh %a : tensor<4x4xf32>
    stablehlo.return %i1, %e : tensor<i8>, tensor<4x4xf32>
  }
  %2:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i8>, tensor<4x4xf32>
  cond {
    %4 = stablehlo.compare LT, %i, %two : (tensor<i8>, tensor<i8>) -> tensor<i1>
    %5 = stablehlo.compare LT, %i, %n : (tensor<i8>, tensor<i8>) -> tensor<i1>
    %6 = stablehlo.and %4, %5 : tensor<i1>
    stablehlo.return %6 : tensor<i1>
  } do {
    %i1 = stablehlo.add %i, %one : tensor<i8>
    %e = stablehlo.tanh %a : tensor<4x4xf32>
    stablehlo.return %i1, %e : tensor<i8>, tensor<4x4xf32>
  }
  %3:2 = stablehlo.while(%i = %zero, %a = %x) : tensor<i8>, tensor<4x4xf32>
  cond {
    %4 = stablehlo.compare LT, %i, %n : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %4 : tensor<i1>
  } do {
    %i1 = stablehlo.add %i, %one : tensor<i8>
    %e = stablehlo.tanh %a : tensor<4x4xf32>
    stablehlo.return %i1, %e : tensor<i8>, tensor<4x4xf32>
  }
  return %0#1, %1#1, %2#1, %3#1 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// Unchanged: No loop.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: %[[R:.*]] = stablehlo.tanh %arg0
// CHECK-NEXT: return %[[R]]
func.func @none(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
