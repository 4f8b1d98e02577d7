// RUN: hloom-opt %s --split-input-file --assign-buffers | filecheck %s

// A chain works in place, in the result's own memory.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[A:.*]]: memref<8xf32>, %[[OUT:.*]]: memref<8xf32>, %{{.*}}: memref<0xi8>
// CHECK-SAME: hloom.arena_bytes = 0 : i64
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.tanh %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----
// swap
func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32>, %n: tensor<i32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %0:4 = stablehlo.while(%x = %a, %y = %b, %i = %z, %m = %n) : tensor<8xf32>, tensor<8xf32>, tensor<i32>, tensor<i32>
  cond {
    %p = func.call @lt(%i, %m) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = func.call @inc(%i) : (tensor<i32>) -> tensor<i32>
    stablehlo.return %y, %x, %j, %m : tensor<8xf32>, tensor<8xf32>, tensor<i32>, tensor<i32>
  }
  return %0#0, %0#1, %0#0 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
func.func private @lt(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i1> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @inc(%a: tensor<i32>) -> tensor<i32> attributes {hloom.kind = "loop"} {
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.add %a, %1 : tensor<i32>
  return %0 : tensor<i32>
}
