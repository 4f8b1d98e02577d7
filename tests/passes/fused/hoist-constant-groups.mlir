// RUN: hloom-opt %s --split-input-file --hoist-constant-groups | filecheck %s

// Changed: A chain of groups that no argument reaches: @main takes what it reads of them, once in a loop's body.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32> {hloom.init_result = 0 : i64})
// CHECK-NOT: @table
// CHECK: stablehlo.while
// CHECK: call @use(%{{.*}}, %[[B]])
// CHECK: func.func public @init() -> tensor<8xf32>
// CHECK: %[[C:.*]] = stablehlo.constant dense<[0.0{{.*}}
// CHECK: %[[A:.*]] = call @table(%[[C]])
// CHECK: %[[T:.*]] = call @table(%[[A]])
// CHECK: return %[[T]]
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y:2 = stablehlo.while(%i = %x, %j = %x) : tensor<8xf32>, tensor<8xf32>
  cond {
    %p = func.call @more(%i) : (tensor<8xf32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %c = stablehlo.constant dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]> : tensor<8xf32>
    %a = func.call @table(%c) : (tensor<8xf32>) -> tensor<8xf32>
    %b = func.call @table(%a) : (tensor<8xf32>) -> tensor<8xf32>
    %r = func.call @use(%i, %b) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    stablehlo.return %r, %j : tensor<8xf32>, tensor<8xf32>
  }
  return %y#0 : tensor<8xf32>
}
func.func private @table(%x: tensor<8xf32>) -> tensor<8xf32> attributes {hloom.bytes = 64 : i64, hloom.cost_ps = 200000 : i64, hloom.kind = "loop"} {
  %0 = stablehlo.tanh %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @use(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> attributes {hloom.bytes = 96 : i64, hloom.cost_ps = 200000 : i64, hloom.kind = "loop"} {
  %0 = stablehlo.add %x, %y : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @more(%x: tensor<8xf32>) -> tensor<i1> attributes {hloom.bytes = 33 : i64, hloom.cost_ps = 200000 : i64, hloom.kind = "reduce"} {
  %0 = stablehlo.constant dense<true> : tensor<i1>
  return %0 : tensor<i1>
}

// -----

// Changed: There is an @init: its results come first.
// Declined: Of what is returned alone, the cheap one is written where it is, the dear one is copied.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %{{.*}}: tensor<4xf32> {hloom.bound}, %[[W:.*]]: tensor<4xf32> {hloom.init_result = 0 : i64}, %[[D:.*]]: tensor<8xf32> {hloom.init_result = 1 : i64})
// CHECK: %[[C:.*]] = call @cheap()
// CHECK: return %[[W]], %[[C]], %[[D]]
// CHECK: func.func @init(%{{.*}}: tensor<4xf32> {hloom.argument = 0 : i64}) -> (tensor<4xf32>, tensor<8xf32>)
// CHECK: %[[N:.*]] = call @negated
// CHECK: %[[M:.*]] = call @dear()
// CHECK: return %[[N]], %[[M]]
func.func @main(%w: tensor<4xf32> {hloom.bound}, %0: tensor<4xf32> {hloom.init_result = 0 : i64}) -> (tensor<4xf32>, tensor<8xf32>, tensor<8xf32>) {
  %c = func.call @cheap() : () -> tensor<8xf32>
  %d = func.call @dear() : () -> tensor<8xf32>
  return %0, %c, %d : tensor<4xf32>, tensor<8xf32>, tensor<8xf32>
}
func.func @init(%w: tensor<4xf32> {hloom.argument = 0 : i64}) -> tensor<4xf32> {
  %0 = func.call @negated(%w) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @negated(%w: tensor<4xf32>) -> tensor<4xf32> attributes {hloom.bytes = 32 : i64, hloom.cost_ps = 200000 : i64, hloom.kind = "loop"} {
  %0 = stablehlo.negate %w : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @cheap() -> tensor<8xf32> attributes {hloom.bytes = 32 : i64, hloom.cost_ps = 200000 : i64, hloom.kind = "loop"} {
  %0 = stablehlo.iota dim = 0 : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @dear() -> tensor<8xf32> attributes {hloom.bytes = 32 : i64, hloom.cost_ps = 900000 : i64, hloom.kind = "loop"} {
  %0 = stablehlo.iota dim = 0 : tensor<8xf32>
  %1 = stablehlo.tanh %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// -----

// Unchanged: Nothing is constant: no @init.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: @init
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = func.call @negated(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @negated(%w: tensor<4xf32>) -> tensor<4xf32> attributes {hloom.bytes = 32 : i64, hloom.cost_ps = 200000 : i64, hloom.kind = "loop"} {
  %0 = stablehlo.negate %w : tensor<4xf32>
  return %0 : tensor<4xf32>
}
