// RUN: hloom-opt %s --legalize-map | filecheck %s

// Changed: The body's ops are done on whole tensors.
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %[[TWO:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %[[M:.*]] = stablehlo.multiply %arg0, %[[TWO]] : tensor<8xf32>
// CHECK-NEXT: %[[R:.*]] = stablehlo.compare LT, %[[M]], %arg1
// CHECK-NEXT: return %[[R]]
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xi1> {
  %0 = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %two = stablehlo.constant dense<2.0> : tensor<f32>
    %1 = stablehlo.multiply %a, %two : tensor<f32>
    %2 = stablehlo.compare LT, %1, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xi1>
  return %0 : tensor<8xi1>
}

// Changed: A body that does other than elementwise ops is done once for each element.
// CHECK-LABEL: func.func @branch
// CHECK: stablehlo.while
// CHECK: stablehlo.dynamic_slice
// CHECK: "stablehlo.if"
// CHECK: stablehlo.dynamic_update_slice
// CHECK: stablehlo.reshape %{{.*}} : (tensor<6xf32>) -> tensor<2x3xf32>
func.func @branch(%x: tensor<2x3xf32>, %p: tensor<2x3xi1>) -> tensor<2x3xf32> {
  %0 = "stablehlo.map"(%x, %p) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<i1>):
    %1 = "stablehlo.if"(%b) ({
      stablehlo.return %a : tensor<f32>
    }, {
      %2 = stablehlo.negate %a : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<i1>) -> tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<2x3xf32>, tensor<2x3xi1>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// Unchanged: No map.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: %[[R:.*]] = stablehlo.rsqrt %arg0
// CHECK-NEXT: return %[[R]]
func.func @none(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.rsqrt %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
