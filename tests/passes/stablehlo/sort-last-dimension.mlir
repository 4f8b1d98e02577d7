// RUN: hloom-opt %s --sort-last-dimension | filecheck %s

// Changed: A sort of columns becomes one of the rows of the transposed operands.
// CHECK-LABEL: func.func @columns
// CHECK: %[[T:.*]] = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
// CHECK: %[[S:.*]] = "stablehlo.sort"(%[[T]]) <{dimension = 1 : i64, is_stable = true}>
// CHECK: stablehlo.compare LT
// CHECK: %[[R:.*]] = stablehlo.transpose %[[S]], dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
// CHECK: return %[[R]]
func.func @columns(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// Changed: A part of the result is taken before it is turned back.
// CHECK-LABEL: func.func @part
// CHECK: %[[S:.*]] = "stablehlo.sort"
// CHECK: %[[P:.*]] = stablehlo.slice %[[S]] [1:3, 0:2] : (tensor<4x8xf32>) -> tensor<2x2xf32>
// CHECK: %[[R:.*]] = stablehlo.transpose %[[P]], dims = [1, 0]
// CHECK: return %[[R]]
func.func @part(%x: tensor<8x4xf32>) -> tensor<2x2xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.slice %0 [0:2, 1:3] : (tensor<8x4xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// Changed: Rows of one element are in order.
// CHECK-LABEL: func.func @single
// CHECK-NEXT: return %arg0
func.func @single(%x: tensor<8x1xf32>) -> tensor<8x1xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<8x1xf32>) -> tensor<8x1xf32>
  return %0 : tensor<8x1xf32>
}

// Declined: It is along the last dimension already, which is what it means without a number.
// Unchanged: No other op is touched.
// CHECK-LABEL: func.func @rows
// CHECK-NOT: stablehlo.transpose
// CHECK: "stablehlo.sort"(%arg0)
// CHECK: stablehlo.tanh
func.func @rows(%x: tensor<8x4xf32>) -> tensor<8x4xf32> {
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = stablehlo.tanh %0 : tensor<8x4xf32>
  return %1 : tensor<8x4xf32>
}
