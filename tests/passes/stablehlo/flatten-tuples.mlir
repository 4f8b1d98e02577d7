// RUN: hloom-opt %s --flatten-tuples | filecheck %s

// Changed: Elements of nested tuples are arguments and results, in order; tokens are none.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[I:.*]]: tensor<i32>, %[[Y:.*]]: tensor<f32>) -> (tensor<i32>, tensor<4xf32>)
// CHECK-NEXT: %[[C:.*]]:2 = call @swap(%[[X]], %[[I]])
// CHECK-NEXT: return %[[C]]#0, %[[C]]#1
!pair = tuple<tensor<4xf32>, tuple<tensor<i32>>>
func.func @main(%t: !pair, %k: !stablehlo.token, %y: tensor<f32>) -> (!stablehlo.token, tuple<tensor<i32>, tensor<4xf32>>) {
  %all = stablehlo.after_all %k, %k : !stablehlo.token
  %0 = func.call @swap(%t) : (!pair) -> tuple<tensor<i32>, tensor<4xf32>>
  return %all, %0 : !stablehlo.token, tuple<tensor<i32>, tensor<4xf32>>
}

// Changed: What is taken out of a tuple is the value that went in.
// CHECK-LABEL: func.func private @swap(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[I:.*]]: tensor<i32>) -> (tensor<i32>, tensor<4xf32>)
// CHECK-NEXT: return %[[I]], %[[X]]
func.func private @swap(%t: !pair) -> tuple<tensor<i32>, tensor<4xf32>> {
  %0 = stablehlo.get_tuple_element %t[1] : (!pair) -> tuple<tensor<i32>>
  %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<i32>>) -> tensor<i32>
  %2 = stablehlo.get_tuple_element %t[0] : (!pair) -> tensor<4xf32>
  %3 = stablehlo.tuple %1, %2 : tuple<tensor<i32>, tensor<4xf32>>
  return %3 : tuple<tensor<i32>, tensor<4xf32>>
}

// Unchanged: Neither tuple nor token.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: %[[R:.*]] = stablehlo.rsqrt %arg0
// CHECK-NEXT: return %[[R]]
func.func @none(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.rsqrt %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}


// Changed: A custom call gives a tuple's elements.
// CHECK-LABEL: func.func @called
// CHECK-NEXT: %[[R:.*]]:2 = stablehlo.custom_call @user.two(%arg0) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xi32>)
// CHECK-NEXT: return %[[R]]#1, %[[R]]#0
func.func @called(%x: tensor<3xf32>) -> (tensor<3xi32>, tensor<3xf32>) {
  %0 = stablehlo.custom_call @user.two(%x) : (tensor<3xf32>) -> tuple<tensor<3xf32>, tensor<3xi32>>
  %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<3xf32>, tensor<3xi32>>) -> tensor<3xi32>
  %2 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<3xf32>, tensor<3xi32>>) -> tensor<3xf32>
  return %1, %2 : tensor<3xi32>, tensor<3xf32>
}
