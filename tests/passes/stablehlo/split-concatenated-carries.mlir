// RUN: hloom-opt %s --split-concatenated-carries --simplify-stablehlo | filecheck %s

// Changed: A state of two rows, put together by a concatenate under a select, as the environments of a simulation are.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[S:.*]]: tensor<2x8xf32>, %[[F:.*]]: tensor<2x8xf32>
// CHECK: stablehlo.while(%{{.*}} = %{{.*}}, %[[A:.*]] = %{{.*}}, %[[B:.*]] = %{{.*}}) : tensor<i32>, tensor<8xf32>, tensor<8xf32>
// CHECK: do {
// CHECK-NOT: stablehlo.concatenate
// CHECK: %[[A1:.*]] = stablehlo.add %[[A]], %[[B]]
// CHECK: %[[B1:.*]] = stablehlo.tanh %[[B]]
// CHECK: %[[P:.*]] = stablehlo.compare GT, %[[A1]], %[[B1]]
// CHECK: stablehlo.slice %[[F]] [0:1, 0:8]
// CHECK: stablehlo.slice %[[F]] [1:2, 0:8]
// CHECK: %[[RA:.*]] = stablehlo.select %[[P]], %{{.*}}, %[[A1]] : tensor<8xi1>, tensor<8xf32>
// CHECK: %[[RB:.*]] = stablehlo.select %[[P]], %{{.*}}, %[[B1]] : tensor<8xi1>, tensor<8xf32>
// CHECK: stablehlo.return %{{.*}}, %[[RA]], %[[RB]]
// CHECK: stablehlo.concatenate
// CHECK: return
func.func @main(%s: tensor<2x8xf32>, %f: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<100> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c0, %x = %s) : tensor<i32>, tensor<2x8xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %i1 = stablehlo.add %i, %one : tensor<i32>
    %1 = stablehlo.slice %x [0:1, 0:8] : (tensor<2x8xf32>) -> tensor<1x8xf32>
    %a = stablehlo.reshape %1 : (tensor<1x8xf32>) -> tensor<8xf32>
    %2 = stablehlo.slice %x [1:2, 0:8] : (tensor<2x8xf32>) -> tensor<1x8xf32>
    %b = stablehlo.reshape %2 : (tensor<1x8xf32>) -> tensor<8xf32>
    %a1 = stablehlo.add %a, %b : tensor<8xf32>
    %b1 = stablehlo.tanh %b : tensor<8xf32>
    %p = stablehlo.compare GT, %a1, %b1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
    %3 = stablehlo.reshape %a1 : (tensor<8xf32>) -> tensor<1x8xf32>
    %4 = stablehlo.reshape %b1 : (tensor<8xf32>) -> tensor<1x8xf32>
    %5 = stablehlo.concatenate %3, %4, dim = 0 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
    %6 = stablehlo.broadcast_in_dim %p, dims = [1] : (tensor<8xi1>) -> tensor<2x8xi1>
    %7 = stablehlo.select %6, %f, %5 : tensor<2x8xi1>, tensor<2x8xf32>
    stablehlo.return %i1, %7 : tensor<i32>, tensor<2x8xf32>
  }
  return %0#1 : tensor<2x8xf32>
}

// Declined: The body also reads the state whole.
// CHECK-LABEL: func.func @whole
// CHECK: stablehlo.while({{.*}}) : tensor<i32>, tensor<2x8xf32>
// CHECK: do {
// CHECK: stablehlo.concatenate
func.func @whole(%s: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<100> : tensor<i32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0:2 = stablehlo.while(%i = %c0, %x = %s) : tensor<i32>, tensor<2x8xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %i1 = stablehlo.add %i, %one : tensor<i32>
    %1 = stablehlo.slice %x [0:1, 0:8] : (tensor<2x8xf32>) -> tensor<1x8xf32>
    %2 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<2x8xf32>, tensor<f32>) -> tensor<8xf32>
    %3 = stablehlo.reshape %2 : (tensor<8xf32>) -> tensor<1x8xf32>
    %4 = stablehlo.concatenate %1, %3, dim = 0 : (tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<2x8xf32>
    stablehlo.return %i1, %4 : tensor<i32>, tensor<2x8xf32>
  }
  return %0#1 : tensor<2x8xf32>
}

// Unchanged: No concatenate, nothing to split.
// CHECK-LABEL: func.func @none
// CHECK: stablehlo.while({{.*}}) : tensor<i32>, tensor<2x8xf32>
func.func @none(%s: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %c0 = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<100> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c0, %x = %s) : tensor<i32>, tensor<2x8xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %i1 = stablehlo.add %i, %one : tensor<i32>
    %1 = stablehlo.tanh %x : tensor<2x8xf32>
    stablehlo.return %i1, %1 : tensor<i32>, tensor<2x8xf32>
  }
  return %0#1 : tensor<2x8xf32>
}
