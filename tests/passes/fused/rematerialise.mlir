// RUN: hloom-opt %s --split-input-file --rematerialise | filecheck %s

// Changed: The pre-activation h waits for its gradient anyway, its tanh is made again from it: one tanh of 65,536 elements, not the product.
// CHECK: code = "REMATERIALISED", edge = "tensor<256x256xf32>"{{.*}}groups = [@fusion_[[N:[0-9]+]]]
// CHECK-SAME: policy_rule = "memory_limit"
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[D:.*]]:2 = call @dense(%[[X:.*]], %[[W:.*]])
// CHECK-NEXT: %[[Y:.*]] = call @row(%[[D]]#1)
// CHECK-NEXT: %[[A:.*]]:2 = call @wide(%[[Y]])
// CHECK-NEXT: %[[B:.*]] = call @narrow(%[[A]]#0, %[[A]]#1)
// CHECK-NEXT: %[[AGAIN:.*]] = call @fusion_[[N]](%[[D]]#0) : (tensor<256x256xf32>) -> tensor<256x256xf32>
// CHECK-NEXT: call @late(%[[D]]#0, %[[AGAIN]], %[[B]])
// CHECK: func.func private @fusion_[[N]](
// CHECK-NEXT: stablehlo.tanh
// CHECK-NEXT: return
module attributes {hloom.target = {}, hloom.policy = {memory_limit = 600000 : i64}} {
  func.func @main(%x: tensor<256x256xf32>, %w: tensor<256x256xf32>) -> tensor<256x256xf32> {
    %d:2 = call @dense(%x, %w) : (tensor<256x256xf32>, tensor<256x256xf32>) -> (tensor<256x256xf32>, tensor<256x256xf32>)
    %y = call @row(%d#1) : (tensor<256x256xf32>) -> tensor<256xf32>
    %a:2 = call @wide(%y) : (tensor<256xf32>) -> (tensor<256x256xf32>, tensor<256x256xf32>)
    %b = call @narrow(%a#0, %a#1) : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256xf32>
    %r = call @late(%d#0, %d#1, %b) : (tensor<256x256xf32>, tensor<256x256xf32>, tensor<256xf32>) -> tensor<256x256xf32>
    return %r : tensor<256x256xf32>
  }
  func.func private @dense(%x: tensor<256x256xf32>, %w: tensor<256x256xf32>) -> (tensor<256x256xf32>, tensor<256x256xf32>) attributes {hloom.kind = "matmul", hloom.cost_ps = 500000000 : i64} {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32>
    %1 = stablehlo.tanh %0 : tensor<256x256xf32>
    return %0, %1 : tensor<256x256xf32>, tensor<256x256xf32>
  }
  func.func private @row(%x: tensor<256x256xf32>) -> tensor<256xf32> attributes {hloom.kind = "reduce", hloom.cost_ps = 5000000 : i64} {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<256x256xf32>, tensor<f32>) -> tensor<256xf32>
    return %0 : tensor<256xf32>
  }
  func.func private @wide(%y: tensor<256xf32>) -> (tensor<256x256xf32>, tensor<256x256xf32>) attributes {hloom.kind = "loop", hloom.cost_ps = 9000000 : i64} {
    %0 = stablehlo.broadcast_in_dim %y, dims = [0] : (tensor<256xf32>) -> tensor<256x256xf32>
    %1 = stablehlo.exponential %0 : tensor<256x256xf32>
    %2 = stablehlo.sine %0 : tensor<256x256xf32>
    return %1, %2 : tensor<256x256xf32>, tensor<256x256xf32>
  }
  func.func private @narrow(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>) -> tensor<256xf32> attributes {hloom.kind = "reduce", hloom.cost_ps = 9000000 : i64} {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.multiply %a, %b : tensor<256x256xf32>
    %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<256x256xf32>, tensor<f32>) -> tensor<256xf32>
    return %1 : tensor<256xf32>
  }
  func.func private @late(%h: tensor<256x256xf32>, %g: tensor<256x256xf32>, %b: tensor<256xf32>) -> tensor<256x256xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 9000000 : i64} {
    %0 = stablehlo.broadcast_in_dim %b, dims = [0] : (tensor<256xf32>) -> tensor<256x256xf32>
    %1 = stablehlo.multiply %h, %g : tensor<256x256xf32>
    %2 = stablehlo.add %1, %0 : tensor<256x256xf32>
    return %2 : tensor<256x256xf32>
  }
}

// -----

// Unchanged: What is live is within the limit.
// CHECK-NOT: REMATERIALISED
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @early
// CHECK-NEXT: call @late
module attributes {hloom.target = {}, hloom.policy = {memory_limit = 300000 : i64}} {
  func.func @main(%x: tensor<256x256xf32>) -> tensor<256xf32> {
    %0 = call @early(%x) : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %1 = call @late(%0) : (tensor<256x256xf32>) -> tensor<256xf32>
    return %1 : tensor<256xf32>
  }
  func.func private @early(%x: tensor<256x256xf32>) -> tensor<256x256xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 9000000 : i64} {
    %0 = stablehlo.tanh %x : tensor<256x256xf32>
    return %0 : tensor<256x256xf32>
  }
  func.func private @late(%x: tensor<256x256xf32>) -> tensor<256xf32> attributes {hloom.kind = "reduce", hloom.cost_ps = 9000000 : i64} {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<256x256xf32>, tensor<f32>) -> tensor<256xf32>
    return %0 : tensor<256xf32>
  }
}
