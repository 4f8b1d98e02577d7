// RUN: hloom-opt %s --legalize-select-and-scatter | filecheck %s

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
