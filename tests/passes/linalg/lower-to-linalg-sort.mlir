// RUN: hloom-opt %s --lower-to-linalg | filecheck %s

// Changed: The sort stays, on elements without a sign; its comparator is scalar code.
// CHECK-LABEL: func.func @sort
// CHECK-SAME: (%[[X:.*]]: tensor<4xi32>, %[[Y:.*]]: tensor<4xf32>) -> (tensor<4xi32>, tensor<4xf32>)
// CHECK: %[[R:.*]]:2 = "stablehlo.sort"(%[[X]], %[[Y]]) <{dimension = 0 : i64, is_stable = true}>
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<i32>, %[[B:.*]]: tensor<i32>, %{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>):
// CHECK: %[[L:.*]] = tensor.extract %[[A]][]
// CHECK: %[[G:.*]] = tensor.extract %[[B]][]
// CHECK: %[[C:.*]] = arith.cmpi ult, %[[L]], %[[G]] : i32
// CHECK: %[[P:.*]] = tensor.from_elements %[[C]] : tensor<i1>
// CHECK: stablehlo.return %[[P]]
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @sort(%x: tensor<4xui32>, %y: tensor<4xf32>) -> (tensor<4xui32>, tensor<4xf32>) {
  %0:2 = "stablehlo.sort"(%x, %y) <{is_stable = true}> ({
  ^bb0(%a: tensor<ui32>, %b: tensor<ui32>, %c: tensor<f32>, %d: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<ui32>, tensor<ui32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4xui32>, tensor<4xf32>) -> (tensor<4xui32>, tensor<4xf32>)
  return %0#0, %0#1 : tensor<4xui32>, tensor<4xf32>
}
