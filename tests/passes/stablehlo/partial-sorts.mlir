// RUN: hloom-opt %s --partial-sorts | filecheck %s

// Changed: The longest slice says how many elements are read.
// CHECK-LABEL: func.func @first
// CHECK: "stablehlo.sort"(%arg0, %arg1)
// CHECK: {hloom.first = 5 : i64}
func.func @first(%x: tensor<4x80xf32>, %y: tensor<4x80xi32>) -> (tensor<4x3xf32>, tensor<4x3xi32>) {
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4x80xf32>, tensor<4x80xi32>) -> (tensor<4x80xf32>, tensor<4x80xi32>)
  %1 = stablehlo.slice %0#0 [0:4, 0:3] : (tensor<4x80xf32>) -> tensor<4x3xf32>
  %2 = stablehlo.slice %0#1 [0:4, 0:5:2] : (tensor<4x80xi32>) -> tensor<4x3xi32>
  return %1, %2 : tensor<4x3xf32>, tensor<4x3xi32>
}

// Declined: A slice that does not begin at the front; and what the text says of a sort does not count.
// CHECK-LABEL: func.func @behind
// CHECK-NOT: hloom.first
func.func @behind(%x: tensor<80xf32>) -> tensor<1xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {hloom.first = 2 : i64} : (tensor<80xf32>) -> tensor<80xf32>
  %1 = stablehlo.slice %0 [1:2] : (tensor<80xf32>) -> tensor<1xf32>
  return %1 : tensor<1xf32>
}

// Declined: More than a quarter is read.
// CHECK-LABEL: func.func @many
// CHECK-NOT: hloom.first
func.func @many(%x: tensor<80xf32>) -> tensor<21xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<80xf32>) -> tensor<80xf32>
  %1 = stablehlo.slice %0 [0:21] : (tensor<80xf32>) -> tensor<21xf32>
  return %1 : tensor<21xf32>
}

// Unchanged: The sort itself is a result; another sorts columns.
// CHECK-LABEL: func.func @whole
// CHECK-NOT: hloom.first
func.func @whole(%x: tensor<80xf32>, %y: tensor<80x80xf32>) -> (tensor<80xf32>, tensor<2xf32>, tensor<80x2xf32>) {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<80xf32>) -> tensor<80xf32>
  %1 = stablehlo.slice %0 [0:2] : (tensor<80xf32>) -> tensor<2xf32>
  %2 = "stablehlo.sort"(%y) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<80x80xf32>) -> tensor<80x80xf32>
  %3 = stablehlo.slice %2 [0:80, 0:2] : (tensor<80x80xf32>) -> tensor<80x2xf32>
  return %0, %1, %3 : tensor<80xf32>, tensor<2xf32>, tensor<80x2xf32>
}
