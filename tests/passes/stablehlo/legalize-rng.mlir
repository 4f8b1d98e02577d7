// RUN: hloom-opt %s --split-input-file --legalize-rng | filecheck %s

// Changed: Each draw counts on from the one before it, in a loop's body too; the state that is returned counts all.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[A:.*]]: tensor<f32>, %[[B:.*]]: tensor<f32>, %[[S:.*]]: tensor<4xi32>
// CHECK: stablehlo.bitcast_convert %[[S]] : (tensor<4xi32>) -> tensor<4xui32>
// CHECK: %[[KEY:.*]] = stablehlo.or %{{.*}} : tensor<ui64>
// CHECK: %[[COUNTER:.*]] = stablehlo.or %{{.*}} : tensor<ui64>
// CHECK: stablehlo.iota dim = 0 : tensor<8xui32>
// CHECK: %[[CARRY:.*]] = stablehlo.compare LT, %{{.*}} : (tensor<8xui32>, tensor<8xui32>) -> tensor<8xi1>
// CHECK: stablehlo.convert %[[CARRY]]
// CHECK-COUNT-20: stablehlo.shift_left %{{.*}} : tensor<8xui32>
// CHECK-NOT: stablehlo.shift_left %{{.*}} : tensor<8xui32>
// CHECK: %[[LESS:.*]] = stablehlo.compare LT
// CHECK: stablehlo.select %[[LESS]]
// CHECK: %[[EIGHT:.*]] = stablehlo.constant dense<8> : tensor<ui64>
// CHECK: %[[NEXT:.*]] = stablehlo.add %[[COUNTER]], %[[EIGHT]]
// CHECK: %[[W:.*]]:2 = stablehlo.while(%[[I:.*]] = %{{.*}}, %[[C:.*]] = %[[NEXT]]) : tensor<f32>, tensor<ui64>
// CHECK: do {
// CHECK: chlo.erf_inv
// CHECK: %[[AFTER:.*]] = stablehlo.add %[[C]]
// CHECK: stablehlo.return %{{.*}}, %[[AFTER]] : tensor<f32>, tensor<ui64>
// CHECK: stablehlo.concatenate
// CHECK: %[[STATE:.*]] = stablehlo.bitcast_convert %{{.*}} : (tensor<4xui32>) -> tensor<4xi32>
// CHECK: return %{{.*}}, %[[W]]#0, %[[STATE]]
func.func @main(%a: tensor<f32>, %b: tensor<f32>, %s: tensor<4xi32> {hloom.generator}) -> (tensor<8xf32>, tensor<f32>, tensor<4xi32>) {
  %n = stablehlo.constant dense<8> : tensor<1xi64>
  %none = stablehlo.constant dense<> : tensor<0xi64>
  %0 = "stablehlo.rng"(%a, %b, %n) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}>
    : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<8xf32>
  %1 = stablehlo.while(%i = %a) : tensor<f32>
  cond {
    %2 = stablehlo.compare LT, %i, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %3 = "stablehlo.rng"(%a, %b, %none) <{rng_distribution = #stablehlo<rng_distribution NORMAL>}>
      : (tensor<f32>, tensor<f32>, tensor<0xi64>) -> tensor<f32>
    %4 = stablehlo.add %i, %3 : tensor<f32>
    stablehlo.return %4 : tensor<f32>
  }
  return %0, %1, %s : tensor<8xf32>, tensor<f32>, tensor<4xi32>
}

// -----

// Declined: No state to draw from.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.rng
func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> tensor<8xf32> {
  %n = stablehlo.constant dense<8> : tensor<1xi64>
  %0 = "stablehlo.rng"(%a, %b, %n) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}>
    : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Unchanged: Nothing is drawn.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[R:.*]] = stablehlo.rsqrt %arg0
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.rsqrt %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
