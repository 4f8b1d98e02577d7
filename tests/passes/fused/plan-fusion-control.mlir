// RUN: hloom-opt %s --plan-fusion --split-input-file | filecheck %s

// Changed: Regions are planned too: scalars in one group, the vector update in another; a splat outside is cloned in, the loop's carry starts as a buffer.
// CHECK-LABEL: func.func @main(%arg0: tensor<2048xf32>)
// CHECK-DAG: [[ZERO:%.+]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK-DAG: [[START:%.+]] = call @fusion_0() : () -> tensor<2048xf32>
// CHECK: [[W:%.+]]:2 = stablehlo.while(%iterArg = [[ZERO]], %iterArg_{{.*}} = [[START]])
// CHECK-NEXT: cond
// CHECK-NEXT: [[P:%.+]] = func.call @fusion_{{.}}(%iterArg)
// CHECK-NEXT: stablehlo.return [[P]]
// CHECK-NEXT: do
// CHECK-DAG: func.call {{.*}} : (tensor<i32>) -> tensor<i32>
// CHECK-DAG: func.call {{.*}} : (tensor<2048xf32>, tensor<i32>, tensor<2048xf32>) -> tensor<2048xf32>
// CHECK-NEXT: stablehlo.return
// CHECK: return [[W]]#1
func.func @main(%x: tensor<2048xf32>) -> tensor<2048xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %ten = stablehlo.constant dense<10> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %half = stablehlo.constant dense<0.5> : tensor<f32>
  %s = stablehlo.broadcast_in_dim %half, dims = [] : (tensor<f32>) -> tensor<2048xf32>
  %w:2 = stablehlo.while(%i = %zero, %v = %s) : tensor<i32>, tensor<2048xf32>
  cond {
    %p = stablehlo.compare LT, %i, %ten, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %n = stablehlo.add %i, %one : tensor<i32>
    %f = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>
    %b = stablehlo.broadcast_in_dim %f, dims = [] : (tensor<f32>) -> tensor<2048xf32>
    %0 = stablehlo.multiply %v, %b : tensor<2048xf32>
    %1 = stablehlo.add %0, %x : tensor<2048xf32>
    %2 = stablehlo.multiply %1, %s : tensor<2048xf32>
    stablehlo.return %n, %2 : tensor<i32>, tensor<2048xf32>
  }
  return %w#1 : tensor<2048xf32>
}

// -----

// Branches; what they capture from outside is a buffer there.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: [[A:%.+]] = call @fusion_0(%arg1)
// CHECK-NEXT: [[R:%.+]] = "stablehlo.if"(%arg0)
// CHECK-NEXT: [[T:%.+]] = func.call @fusion_1([[A]])
// CHECK-NEXT: stablehlo.return [[T]]
// CHECK: stablehlo.return [[A]]
// CHECK: return [[R]]
func.func @main(%p: tensor<i1>, %x: tensor<64xf32>) -> tensor<64xf32> {
  %0 = stablehlo.negate %x : tensor<64xf32>
  %1 = "stablehlo.if"(%p) ({
    %2 = stablehlo.tanh %0 : tensor<64xf32>
    stablehlo.return %2 : tensor<64xf32>
  }, {
    stablehlo.return %0 : tensor<64xf32>
  }) : (tensor<i1>) -> tensor<64xf32>
  return %1 : tensor<64xf32>
}

// -----

// @init is planned as @main is; equal groups are one function; names that are taken are left alone.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: [[A:%.+]] = call [[F:@fusion_1]](%arg0)
// CHECK-NEXT: [[B:%.+]] = call @fusion_2([[A]], %arg1)
// CHECK-NEXT: return [[B]]
// CHECK-LABEL: func.func @init
// CHECK-NEXT: call [[F]](%arg0)
// CHECK-LABEL: func.func private @fusion_0
// CHECK-NEXT: stablehlo.abs
// CHECK-COUNT-2: func.func private
// CHECK-NOT: func.func
func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.tanh %x : tensor<64x64xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}
func.func @init(%w: tensor<64x64xf32> {hloom.argument = 1 : i64}) -> tensor<64x64xf32> {
  %0 = stablehlo.tanh %w : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}
func.func private @fusion_0(%x: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.abs %x : tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

// Unchanged: Nothing to plan: a planned module stays as it is, its records too.
// CHECK: module attributes {hloom.decisions = [{code = "NO_GAIN"}]}
// CHECK-NEXT: func.func @main
// CHECK-NEXT: stablehlo.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK-NEXT: call @fusion_7(%arg0, %cst)
// CHECK-NEXT: return
// CHECK: func.func private @fusion_7
module attributes {hloom.decisions = [{code = "NO_GAIN"}]} {
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %c = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %0 = call @fusion_7(%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func private @fusion_7(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> attributes {hloom.kind = "loop"} {
    %0 = stablehlo.add %x, %y : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
}
