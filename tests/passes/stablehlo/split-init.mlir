// RUN: hloom-opt %s --split-input-file --split-init | filecheck %s

// Changed: A transposed weight and arithmetic on a bias.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<8x16xf32>, %[[W:.*]]: tensor<4x16xf32> {hloom.bound}, %[[B:.*]]: tensor<4xf32> {hloom.bound},
// CHECK-SAME: %[[T:.*]]: tensor<16x4xf32> {hloom.init_result = 0 : i64}, %[[E:.*]]: tensor<4xf32> {hloom.init_result = 1 : i64})
// CHECK-NEXT: stablehlo.dot_general %[[X]], %[[T]]
// CHECK-NEXT: stablehlo.broadcast_in_dim %[[E]], dims = [1]
// CHECK-NEXT: stablehlo.add
// CHECK-NEXT: return
// CHECK-LABEL: func.func public @init(
// CHECK-SAME: %[[W:.*]]: tensor<4x16xf32> {hloom.argument = 1 : i64}, %[[B:.*]]: tensor<4xf32> {hloom.argument = 2 : i64}) -> (tensor<16x4xf32>, tensor<4xf32>)
// CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %[[W]]
// CHECK-NEXT: %[[E:.*]] = stablehlo.exponential %[[B]]
// CHECK-NEXT: return %[[T]], %[[E]]
func.func @main(%x: tensor<8x16xf32>, %w: tensor<4x16xf32> {hloom.bound}, %b: tensor<4xf32> {hloom.bound}) -> tensor<8x4xf32> {
  %0 = stablehlo.transpose %w, dims = [1, 0] : (tensor<4x16xf32>) -> tensor<16x4xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
  %2 = stablehlo.exponential %b : tensor<4xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %4 = stablehlo.add %1, %3 : tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}

// -----

// Changed: Scales of channels, times one of all: as many numbers as there are channels.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[E:[a-z0-9]+]]: tensor<4xf32> {hloom.init_result = 0 : i64})
// CHECK-NEXT: %[[S:.*]] = stablehlo.broadcast_in_dim %[[E]], dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: stablehlo.multiply %{{.*}}, %[[S]]
// CHECK-LABEL: func.func public @init(
// CHECK: stablehlo.multiply {{.*}} : tensor<4xf32>
func.func @main(%x: tensor<8x4xf32>, %s: tensor<4xf32> {hloom.bound}) -> tensor<8x4xf32> {
  %half = stablehlo.constant dense<0.5> : tensor<8x4xf32>
  %0 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.multiply %half, %0 : tensor<8x4xf32>
  %2 = stablehlo.multiply %x, %1 : tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// -----

// Declined: Rows times columns are as many numbers as the result has.
// CHECK-LABEL: func.func @main(
// CHECK: func.func public @init(
// CHECK: stablehlo.multiply {{.*}} : tensor<8x4xf32>
func.func @main(%x: tensor<8x4xf32>, %r: tensor<8xf32> {hloom.bound}, %c: tensor<4xf32> {hloom.bound}) -> tensor<8x4xf32> {
  %0 = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<8xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %2 = stablehlo.exponential %0 : tensor<8x4xf32>
  %3 = stablehlo.multiply %2, %1 : tensor<8x4xf32>
  %4 = stablehlo.add %x, %3 : tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}

// -----

// Declined: A convert to a wider type, a broadcast and a reshape are no reason for an @init.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: tensor<4xf16> {hloom.bound})
// CHECK: stablehlo.convert
// CHECK-NOT: @init
func.func @main(%x: tensor<2x4xf32>, %b: tensor<4xf16> {hloom.bound}) -> tensor<2x4xf32> {
  %0 = stablehlo.convert %b : (tensor<4xf16>) -> tensor<4xf32>
  %1 = stablehlo.reshape %0 : (tensor<4xf32>) -> tensor<1x4xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<2x4xf32>
  %3 = stablehlo.add %x, %2 : tensor<2x4xf32>
  return %3 : tensor<2x4xf32>
}

// -----

// Unchanged: No argument is bound.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.tanh
// CHECK-NOT: @init
func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.tanh %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// Changed: A loop that reads a bound value from outside: the value is computed early, the loop is not.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[E:[a-z0-9]+]]: tensor<4xf32> {hloom.init_result = 0 : i64})
// CHECK: stablehlo.while
// CHECK: stablehlo.add %{{.*}}, %[[E]]
// CHECK-LABEL: func.func public @init
// CHECK: stablehlo.exponential
func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32> {hloom.bound}, %n: tensor<i32>) -> tensor<4xf32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %e = stablehlo.exponential %w : tensor<4xf32>
  %0:2 = stablehlo.while(%i = %n, %a = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %1 = stablehlo.compare GT, %i, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %i1 = stablehlo.subtract %i, %one : tensor<i32>
    %a1 = stablehlo.add %a, %e : tensor<4xf32>
    stablehlo.return %i1, %a1 : tensor<i32>, tensor<4xf32>
  }
  return %0#1 : tensor<4xf32>
}

// -----

// Declined: Bytes that a dot sees as floats are no other bytes: nothing is computed before.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: tensor<16x4xui8> {hloom.bound})
// CHECK: stablehlo.bitcast_convert
// CHECK-NOT: @init
func.func @main(%x: tensor<8x16xui8>, %w: tensor<16x4xui8> {hloom.bound}) -> tensor<8x4xf32> {
  %0 = stablehlo.bitcast_convert %x : (tensor<8x16xui8>) -> tensor<8x16xf8E5M2>
  %1 = stablehlo.bitcast_convert %w : (tensor<16x4xui8>) -> tensor<16x4xf8E5M2>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<8x16xf8E5M2>, tensor<16x4xf8E5M2>) -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// -----

// Changed: What stands behind a barrier stays in @main, and the barrier goes; what stands before it moves, a constant's packing too.
// CHECK-LABEL: func.func public @main(
// CHECK-SAME: {{.*}}%[[P:[a-z0-9]+]]: tensor<4x2xf32> {hloom.init_result = 0 : i64}, %[[C:[a-z0-9]+]]: tensor<2x4xf32> {hloom.init_result = 1 : i64})
// CHECK-NEXT: %[[U:.*]] = stablehlo.transpose %[[P]], dims = [1, 0]
// CHECK-NEXT: stablehlo.add %[[U]], %[[C]]
// CHECK: func.func public @init
// CHECK-NOT: stablehlo.optimization_barrier
func.func public @main(%w: tensor<2x4xf32> {hloom.bound}) -> tensor<2x4xf32> {
  %c = stablehlo.constant dense<[[1.0, 2.0], [1.0, 2.0], [1.0, 2.0], [1.0, 2.0]]> : tensor<4x2xf32>
  %0 = stablehlo.transpose %w, dims = [1, 0] : (tensor<2x4xf32>) -> tensor<4x2xf32>
  %1 = stablehlo.transpose %c, dims = [1, 0] : (tensor<4x2xf32>) -> tensor<2x4xf32>
  %2 = stablehlo.optimization_barrier %0 : tensor<4x2xf32>
  %3 = stablehlo.optimization_barrier %1 : tensor<2x4xf32>
  %4 = stablehlo.transpose %2, dims = [1, 0] : (tensor<4x2xf32>) -> tensor<2x4xf32>
  %5 = stablehlo.add %4, %3 : tensor<2x4xf32>
  return %5 : tensor<2x4xf32>
}
