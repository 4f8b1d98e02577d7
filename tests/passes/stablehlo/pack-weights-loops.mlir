// RUN: hloom-opt %s --split-input-file --pack-weights=block=4 | filecheck %s

// Changed: A weight that is the same in all turns is packed before the loop, bound or not.
// CHECK: code = "LOOP_HOISTED"{{.*}}reason = "the weight is the same in all turns, and packed once"
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<16x8xf32>, %[[W:[a-z0-9]+]]: tensor<8x8xf32>
// CHECK: %[[R:.*]] = stablehlo.reshape %[[W]] : (tensor<8x8xf32>) -> tensor<8x2x4xf32>
// CHECK: %[[T:.*]] = stablehlo.transpose %[[R]], dims = [1, 0, 2] : {{.*}} -> tensor<2x8x4xf32>
// CHECK: stablehlo.while
// CHECK: stablehlo.dot_general %{{.*}}, %[[T]], contracting_dims = [1] x [1]
func.func @main(%x: tensor<16x8xf32>, %w: tensor<8x8xf32>) -> tensor<16x8xf32> {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<32> : tensor<i32>
  %0:2 = stablehlo.while(%i = %start, %h = %x) : tensor<i32>, tensor<16x8xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
    %2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2, %1 : tensor<i32>, tensor<16x8xf32>
  }
  return %0#1 : tensor<16x8xf32>
}

// -----

// Changed: A constant moves out of both loops.
// CHECK-LABEL: func.func @main(
// CHECK: %[[W:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<8x4xf32>
// CHECK: stablehlo.transpose
// CHECK: stablehlo.while
// CHECK: stablehlo.while
// CHECK-NOT: stablehlo.transpose
// CHECK: stablehlo.dot_general
func.func @main(%x: tensor<16x4xf32>, %y: tensor<16x8xf32>) -> tensor<16x4xf32> {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<32> : tensor<i32>
  %0:2 = stablehlo.while(%i = %start, %h = %x) : tensor<i32>, tensor<16x4xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1:2 = stablehlo.while(%j = %start, %g = %h) : tensor<i32>, tensor<16x4xf32>
    cond {
      %2 = stablehlo.compare LT, %j, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %2 : tensor<i1>
    } do {
      %w = stablehlo.constant dense<2.0> : tensor<8x4xf32>
      %2 = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x4xf32>) -> tensor<16x4xf32>
      %3 = stablehlo.add %g, %2 : tensor<16x4xf32>
      %4 = stablehlo.add %j, %one : tensor<i32>
      stablehlo.return %4, %3 : tensor<i32>, tensor<16x4xf32>
    }
    %5 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %5, %1#1 : tensor<i32>, tensor<16x4xf32>
  }
  return %0#1 : tensor<16x4xf32>
}

// -----

// Declined: A weight that the loop carries; in a branch, which may not be taken; one that no cache holds; no loop.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: stablehlo.transpose
func.func @main(%x: tensor<16x4xf32>, %w: tensor<4x4xf32>, %large: tensor<4x4000000xf32>, %p: tensor<i1>) -> (tensor<16x4xf32>, tensor<16x4000000xf32>, tensor<4x4xf32>) {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<32> : tensor<i32>
  %zeros = stablehlo.constant dense<0.0> : tensor<16x4000000xf32>
  %before = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x4xf32>, tensor<4x4xf32>) -> tensor<16x4xf32>
  %0:4 = stablehlo.while(%i = %start, %h = %before, %v = %w, %l = %zeros) : tensor<i32>, tensor<16x4xf32>, tensor<4x4xf32>, tensor<16x4000000xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dot_general %h, %v, contracting_dims = [1] x [0] : (tensor<16x4xf32>, tensor<4x4xf32>) -> tensor<16x4xf32>
    %2 = "stablehlo.if"(%p) ({
      %3 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<16x4xf32>, tensor<4x4xf32>) -> tensor<16x4xf32>
      stablehlo.return %3 : tensor<16x4xf32>
    }, {
      stablehlo.return %1 : tensor<16x4xf32>
    }) : (tensor<i1>) -> tensor<16x4xf32>
    %4 = stablehlo.dot_general %1, %large, contracting_dims = [1] x [0] : (tensor<16x4xf32>, tensor<4x4000000xf32>) -> tensor<16x4000000xf32>
    %5 = stablehlo.tanh %v : tensor<4x4xf32>
    %6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %6, %2, %5, %4 : tensor<i32>, tensor<16x4xf32>, tensor<4x4xf32>, tensor<16x4000000xf32>
  }
  return %0#1, %0#3, %0#2 : tensor<16x4xf32>, tensor<16x4000000xf32>, tensor<4x4xf32>
}

// -----

// Declined: A policy keeps what belongs to a product in its turn.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: stablehlo.transpose
module attributes {hloom.policy = {loop = [{products = "inside"}]}} {
  func.func @main(%x: tensor<16x8xf32>, %w: tensor<8x8xf32>) -> tensor<16x8xf32> {
    %start = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<32> : tensor<i32>
    %0:2 = stablehlo.while(%i = %start, %h = %x) : tensor<i32>, tensor<16x8xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0] : (tensor<16x8xf32>, tensor<8x8xf32>) -> tensor<16x8xf32>
      %2 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %2, %1 : tensor<i32>, tensor<16x8xf32>
    }
    return %0#1 : tensor<16x8xf32>
  }
}

// -----

// Changed: one row reads a copy that begins at a cache line, where there are turns enough. Declined: in three turns.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<8x8xf32>
// CHECK: %[[R:.*]] = stablehlo.reshape %[[W]] : (tensor<8x8xf32>) -> tensor<8x2x4xf32>
// CHECK: %[[T:.*]] = stablehlo.transpose %[[R]], dims = [1, 0, 2]
// CHECK: stablehlo.while
// CHECK: stablehlo.dot_general %{{.*}}, %[[T]], contracting_dims = [1] x [1] : {{.*}} -> tensor<1x2x4xf32>
// CHECK: stablehlo.while
// CHECK: stablehlo.dot_general %{{.*}}, %[[W]], contracting_dims = [1] x [0] : {{.*}} -> tensor<1x8xf32>
func.func @main(%x: tensor<1x8xf32>, %w: tensor<8x8xf32>) -> (tensor<1x8xf32>, tensor<1x8xf32>) {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %many = stablehlo.constant dense<64> : tensor<i32>
  %few = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.while(%i = %start, %h = %x) : tensor<i32>, tensor<1x8xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %many : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0] : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
    %2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2, %1 : tensor<i32>, tensor<1x8xf32>
  }
  %3:2 = stablehlo.while(%i = %start, %h = %x) : tensor<i32>, tensor<1x8xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %few : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0] : (tensor<1x8xf32>, tensor<8x8xf32>) -> tensor<1x8xf32>
    %2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2, %1 : tensor<i32>, tensor<1x8xf32>
  }
  return %0#1, %3#1 : tensor<1x8xf32>, tensor<1x8xf32>
}

// -----

// Declined: one row of a weight that no cache holds: memory gives lines as fast, wherever they begin.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: stablehlo.transpose
func.func @main(%x: tensor<1x4096xf32>, %w: tensor<4096x4096xf32>) -> tensor<1x4096xf32> {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<64> : tensor<i32>
  %0:2 = stablehlo.while(%i = %start, %h = %x) : tensor<i32>, tensor<1x4096xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0] : (tensor<1x4096xf32>, tensor<4096x4096xf32>) -> tensor<1x4096xf32>
    %2 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %2, %1 : tensor<i32>, tensor<1x4096xf32>
  }
  return %0#1 : tensor<1x4096xf32>
}

// -----

// Changed: what a quarter of the last cache holds is packed for one row where its rows lie across the sum. Declined: along it.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.while
// CHECK: stablehlo.dot_general {{.*}} : (tensor<1x1024xf32>, tensor<256x1024x4xf32>) -> tensor<1x256x4xf32>
// CHECK: stablehlo.dot_general {{.*}} : (tensor<1x1024xf32>, tensor<1024x1024xf32>) -> tensor<1x1024xf32>
func.func @main(%x: tensor<1x1024xf32>, %w: tensor<1024x1024xf32>, %v: tensor<1024x1024xf32>) -> tensor<1x1024xf32> {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<64> : tensor<i32>
  %0:2 = stablehlo.while(%i = %start, %h = %x) : tensor<i32>, tensor<1x1024xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dot_general %h, %w, contracting_dims = [1] x [0] : (tensor<1x1024xf32>, tensor<1024x1024xf32>) -> tensor<1x1024xf32>
    %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [1] : (tensor<1x1024xf32>, tensor<1024x1024xf32>) -> tensor<1x1024xf32>
    %3 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %3, %2 : tensor<i32>, tensor<1x1024xf32>
  }
  return %0#1 : tensor<1x1024xf32>
}
