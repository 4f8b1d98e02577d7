// RUN: hloom-opt %s --unroll-loops --split-input-file | filecheck %s

// Changed: A loop of 20 turns, by a rule, becomes straight code; without one it is too long.
// CHECK-LABEL: func.func @asked
// CHECK-NOT: stablehlo.while
// CHECK-COUNT-20: stablehlo.tanh
// CHECK-NOT: stablehlo.tanh
module attributes {hloom.policy = {loop = [{trips = "20", unroll = true}]}} {
  func.func @asked(%x: tensor<4xf32>) -> tensor<4xf32> {
    %start = stablehlo.constant dense<0> : tensor<i32>
    %step = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<20> : tensor<i32>
    %0:2 = stablehlo.while(%i = %start, %a = %x) : tensor<i32>, tensor<4xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %i1 = stablehlo.add %i, %step : tensor<i32>
      %e = stablehlo.tanh %a : tensor<4xf32>
      stablehlo.return %i1, %e : tensor<i32>, tensor<4xf32>
    }
    return %0#1 : tensor<4xf32>
  }
}

// -----

// Unchanged: A short loop that a rule leaves.
// Declined: A rule that matches no loop is told of.
// CHECK: code = "POLICY_UNMET"{{.*}}policy_rule = "loop 2: loc = 'gone', unroll = True"{{.*}}reason = "it matches no loop"
// CHECK-LABEL: func.func @left
// CHECK: stablehlo.while
module attributes {hloom.policy = {loop = [{trips = "2-4", unroll = false}, {loc = "gone", unroll = true}]}} {
  func.func @left(%x: tensor<4xf32>) -> tensor<4xf32> {
    %start = stablehlo.constant dense<0> : tensor<i32>
    %step = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<3> : tensor<i32>
    %0:2 = stablehlo.while(%i = %start, %a = %x) : tensor<i32>, tensor<4xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %i1 = stablehlo.add %i, %step : tensor<i32>
      %e = stablehlo.tanh %a : tensor<4xf32>
      stablehlo.return %i1, %e : tensor<i32>, tensor<4xf32>
    }
    return %0#1 : tensor<4xf32>
  }
}
