// RUN: hloom-opt %s --legalize-broadcast-select | filecheck %s

// Changed: Operands have the result's shape.
// CHECK-LABEL: func.func @main(
// CHECK: %[[P:.*]] = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<i1>) -> tensor<2x3xi1>
// CHECK: %[[X:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
// CHECK: %[[R:.*]] = stablehlo.select %[[P]], %[[X]], %arg2
// CHECK-NEXT: return %[[R]]
func.func @main(%p: tensor<i1>, %x: tensor<3xcomplex<f32>>, %y: tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>> {
  %0 = chlo.broadcast_select %p, %x, %y : (tensor<i1>, tensor<3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
  return %0 : tensor<2x3xcomplex<f32>>
}

// Unchanged: A select without broadcasts.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: %[[R:.*]] = stablehlo.select %arg0, %arg1, %arg1
// CHECK-NEXT: return %[[R]]
func.func @none(%p: tensor<3xi1>, %x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.select %p, %x, %x : tensor<3xi1>, tensor<3xf32>
  return %0 : tensor<3xf32>
}
