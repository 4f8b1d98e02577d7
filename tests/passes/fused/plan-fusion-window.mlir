// RUN: hloom-opt %s --split-input-file --plan-fusion | filecheck %s

// A row that a turn of a loop writes into its carry is priced as a row, read and written: the rest stays where it is.
// CHECK-LABEL: func.func @main
// CHECK: func.call @fusion_2(
// CHECK: func.func private @fusion_2({{.*}}hloom.bytes = 8196 : i64
// CHECK: stablehlo.dynamic_update_slice
func.func @main(%x: tensor<64x1024xf32>, %row: tensor<1x1024xf32>, %n: tensor<i32>) -> tensor<64x1024xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %xs = %x) : tensor<i32>, tensor<64x1024xf32>
  cond {
    %more = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %more : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %zero_0 = stablehlo.constant dense<0> : tensor<i32>
    %ys = stablehlo.dynamic_update_slice %xs, %row, %i, %zero_0 : (tensor<64x1024xf32>, tensor<1x1024xf32>, tensor<i32>, tensor<i32>) -> tensor<64x1024xf32>
    stablehlo.return %next, %ys : tensor<i32>, tensor<64x1024xf32>
  }
  return %0#1 : tensor<64x1024xf32>
}

// -----

// An argument of the program's stays as it is, so all of it is copied.
// CHECK-LABEL: func.func @main
// CHECK: func.func private @fusion_0({{.*}}hloom.bytes = 528388 : i64
func.func @main(%x: tensor<64x1024xf32>, %row: tensor<1x1024xf32>, %i: tensor<i32>) -> tensor<64x1024xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %x, %row, %i, %zero : (tensor<64x1024xf32>, tensor<1x1024xf32>, tensor<i32>, tensor<i32>) -> tensor<64x1024xf32>
  return %0 : tensor<64x1024xf32>
}
