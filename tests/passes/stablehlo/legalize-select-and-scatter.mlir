// RUN: hloom-opt %s --legalize-select-and-scatter --split-input-file | filecheck %s

// Changed: The place of the largest element of each window is found, and the source added there; windows in the padding have none.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<4x6xf32>, %[[S:.*]]: tensor<3x3xf32>, %[[INIT:.*]]: tensor<f32>
// CHECK: %[[I:.*]] = stablehlo.iota dim = 0 : tensor<24xi32>
// CHECK: %[[P:.*]] = stablehlo.reshape %[[I]] : (tensor<24xi32>) -> tensor<4x6xi32>
// CHECK-DAG: %[[NONE:.*]] = stablehlo.constant dense<-1> : tensor<i32>
// CHECK: %[[W:.*]]:2 = "stablehlo.reduce_window"(%[[X]], %[[P]], %{{.*}}, %[[NONE]])
// CHECK-SAME: padding = dense<{{\[\[}}1, 1], [0, 0]]>
// CHECK-SAME: window_dimensions = array<i64: 2, 2>
// CHECK: stablehlo.compare GE
// CHECK: stablehlo.select
// CHECK-DAG: %[[TABLE:.*]] = stablehlo.broadcast_in_dim %[[INIT]], dims = [] : (tensor<f32>) -> tensor<24xf32>
// CHECK-DAG: %[[AT:.*]] = stablehlo.reshape %[[W]]#1 : (tensor<3x3xi32>) -> tensor<9x1xi32>
// CHECK-DAG: %[[U:.*]] = stablehlo.reshape %[[S]] : (tensor<3x3xf32>) -> tensor<9xf32>
// CHECK: %[[R:.*]] = "stablehlo.scatter"(%[[TABLE]], %[[AT]], %[[U]])
// CHECK: stablehlo.add
// CHECK: stablehlo.reshape %[[R]] : (tensor<24xf32>) -> tensor<4x6xf32>
func.func @main(%x: tensor<4x6xf32>, %s: tensor<3x3xf32>, %init: tensor<f32>) -> tensor<4x6xf32> {
  %0 = "stablehlo.select_and_scatter"(%x, %s, %init) <{window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>,
      padding = dense<[[1, 1], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4x6xf32>, tensor<3x3xf32>, tensor<f32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// Unchanged: No selection.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: %[[R:.*]] = stablehlo.rsqrt %arg0
// CHECK-NEXT: return %[[R]]
func.func @none(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.rsqrt %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

module attributes {hloom.target = {kind = "cuda"}} {

// Changed: On a GPU each element asks the two windows that hold it, the one before first; those on the padding told nobody.
// CHECK-LABEL: func.func @asked(
// CHECK-SAME: %{{.*}}: tensor<7xf32>, %[[S:.*]]: tensor<4xf32>, %[[INIT:.*]]: tensor<f32>
// CHECK: %[[W:.*]]:2 = "stablehlo.reduce_window"
// CHECK: %[[T:.*]] = stablehlo.broadcast_in_dim %[[INIT]], dims = [] : (tensor<f32>) -> tensor<7xf32>
// CHECK: stablehlo.pad %[[W]]#1, %{{.*}}, low = [1], high = [-1]
// CHECK: stablehlo.broadcast_in_dim {{.*}} (tensor<4xi32>) -> tensor<4x2xi32>
// CHECK: stablehlo.slice {{.*}} [1:8] : (tensor<8xi32>) -> tensor<7xi32>
// CHECK: %[[P:.*]] = stablehlo.compare EQ
// CHECK: stablehlo.pad %[[S]], %{{.*}}, low = [1], high = [-1]
// CHECK: %[[A:.*]] = stablehlo.select %[[P]]
// CHECK: %[[U:.*]] = stablehlo.add %[[T]], %[[A]]
// CHECK: stablehlo.broadcast_in_dim %[[S]], dims = [0] : (tensor<4xf32>) -> tensor<4x2xf32>
// CHECK: stablehlo.add %[[U]],
// CHECK-NOT: stablehlo.scatter
func.func @asked(%x: tensor<7xf32>, %s: tensor<4xf32>, %init: tensor<f32>) -> tensor<7xf32> {
  %0 = "stablehlo.select_and_scatter"(%x, %s, %init) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>,
      padding = dense<[[1, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<7xf32>, tensor<4xf32>, tensor<f32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// Declined: What is scattered is no sum.
// CHECK-LABEL: func.func @product(
// CHECK: stablehlo.scatter
func.func @product(%x: tensor<7xf32>, %s: tensor<4xf32>, %init: tensor<f32>) -> tensor<7xf32> {
  %0 = "stablehlo.select_and_scatter"(%x, %s, %init) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>,
      padding = dense<[[1, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<7xf32>, tensor<4xf32>, tensor<f32>) -> tensor<7xf32>
  return %0 : tensor<7xf32>
}

// Declined: 81 windows hold an element.
// CHECK-LABEL: func.func @many(
// CHECK: stablehlo.scatter
func.func @many(%x: tensor<20x20xf32>, %s: tensor<12x12xf32>, %init: tensor<f32>) -> tensor<20x20xf32> {
  %0 = "stablehlo.select_and_scatter"(%x, %s, %init) <{window_dimensions = array<i64: 9, 9>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<20x20xf32>, tensor<12x12xf32>, tensor<f32>) -> tensor<20x20xf32>
  return %0 : tensor<20x20xf32>
}
}
