// RUN: hloom-opt %s --legalize-dynamic | filecheck %s

// Changed: Places along the dimension are computed, and gathered.
// CHECK-LABEL: func.func @main(
// CHECK: %[[I:.*]] = stablehlo.iota dim = 0 : tensor<3xi64>
// CHECK: %[[M:.*]] = stablehlo.multiply %[[I]]
// CHECK: %[[P:.*]] = stablehlo.add %{{.*}}, %[[M]]
// CHECK: %[[R:.*]] = "stablehlo.gather"(%arg0, %[[P]])
// CHECK: return %[[R]]
func.func @main(%x: tensor<8xf32>, %s: tensor<1xi32>, %l: tensor<1xi32>, %t: tensor<1xi32>) -> tensor<3xf32> {
  %0 = stablehlo.real_dynamic_slice %x, %s, %l, %t : (tensor<8xf32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// Changed: Where no element falls, the filling stands.
// CHECK-LABEL: func.func @pad
// CHECK: stablehlo.divide
// CHECK: stablehlo.compare EQ
// CHECK: stablehlo.compare GE
// CHECK: stablehlo.compare LT
// CHECK: "stablehlo.gather"
// CHECK: stablehlo.select
func.func @pad(%x: tensor<8xf32>, %v: tensor<f32>, %l: tensor<1xi32>, %h: tensor<1xi32>, %i: tensor<1xi32>) -> tensor<20xf32> {
  %0 = stablehlo.dynamic_pad %x, %v, %l, %h, %i
    : (tensor<8xf32>, tensor<f32>, tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<20xf32>
  return %0 : tensor<20xf32>
}

// Declined: A size that is computed.
// CHECK-LABEL: func.func @size
// CHECK: stablehlo.set_dimension_size
func.func @size(%x: tensor<8xf32>, %n: tensor<i32>) -> tensor<8xf32> {
  %0 = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<8xf32>, tensor<i32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Unchanged: Nothing dynamic.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: %[[R:.*]] = stablehlo.rsqrt %arg0
// CHECK-NEXT: return %[[R]]
func.func @none(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.rsqrt %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
