// RUN: hloom-opt %s --split-input-file --pack-weights | filecheck %s

// Changed: what one row is multiplied by in a loop has blocks as wide as a chunk of its columns, 16 registers, while the blocks are whole: 256 columns of 512,
// 128 of 384. Unchanged: a block of 64 columns for eight rows.
// CHECK-LABEL: func.func @main(
// CHECK-DAG: stablehlo.transpose %{{.*}}, dims = [1, 0, 2] : (tensor<128x2x256xf32>) -> tensor<2x128x256xf32>
// CHECK-DAG: stablehlo.transpose %{{.*}}, dims = [1, 0, 2] : (tensor<128x3x128xf32>) -> tensor<3x128x128xf32>
// CHECK-DAG: stablehlo.transpose %{{.*}}, dims = [1, 0, 2] : (tensor<128x8x64xf32>) -> tensor<8x128x64xf32>
// CHECK: stablehlo.while
// CHECK: stablehlo.dot_general {{.*}} -> tensor<1x2x256xf32>
// CHECK: stablehlo.dot_general {{.*}} -> tensor<1x3x128xf32>
// CHECK: stablehlo.dot_general {{.*}} -> tensor<8x8x64xf32>
func.func @main(%x: tensor<1x128xf32>, %y: tensor<8x128xf32>, %v: tensor<128x512xf32>, %w: tensor<128x384xf32>) -> (tensor<1x512xf32>, tensor<1x384xf32>, tensor<8x512xf32>) {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<64> : tensor<i32>
  %p = stablehlo.constant dense<0.0> : tensor<1x512xf32>
  %q = stablehlo.constant dense<0.0> : tensor<1x384xf32>
  %r = stablehlo.constant dense<0.0> : tensor<8x512xf32>
  %0:4 = stablehlo.while(%i = %start, %a = %p, %b = %q, %c = %r) : tensor<i32>, tensor<1x512xf32>, tensor<1x384xf32>, tensor<8x512xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.slice %a [0:1, 0:128] : (tensor<1x512xf32>) -> tensor<1x128xf32>
    %2 = stablehlo.dot_general %1, %v, contracting_dims = [1] x [0] : (tensor<1x128xf32>, tensor<128x512xf32>) -> tensor<1x512xf32>
    %3 = stablehlo.slice %b [0:1, 0:128] : (tensor<1x384xf32>) -> tensor<1x128xf32>
    %4 = stablehlo.dot_general %3, %w, contracting_dims = [1] x [0] : (tensor<1x128xf32>, tensor<128x384xf32>) -> tensor<1x384xf32>
    %5 = stablehlo.slice %c [0:8, 0:128] : (tensor<8x512xf32>) -> tensor<8x128xf32>
    %6 = stablehlo.dot_general %5, %v, contracting_dims = [1] x [0] : (tensor<8x128xf32>, tensor<128x512xf32>) -> tensor<8x512xf32>
    %7 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %7, %2, %4, %6 : tensor<i32>, tensor<1x512xf32>, tensor<1x384xf32>, tensor<8x512xf32>
  }
  return %0#1, %0#2, %0#3 : tensor<1x512xf32>, tensor<1x384xf32>, tensor<8x512xf32>
}

// -----

// Unchanged: blocks that leave eight cores one each.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.dot_general {{.*}} -> tensor<1x8x64xf32>
module attributes {hloom.target = {cores = 8 : i64}} {
  func.func @main(%x: tensor<1x512xf32>, %v: tensor<512x512xf32>) -> tensor<1x512xf32> {
    %start = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<64> : tensor<i32>
    %0:2 = stablehlo.while(%i = %start, %a = %x) : tensor<i32>, tensor<1x512xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.dot_general %a, %v, contracting_dims = [1] x [0] : (tensor<1x512xf32>, tensor<512x512xf32>) -> tensor<1x512xf32>
      %2 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %2, %1 : tensor<i32>, tensor<1x512xf32>
    }
    return %0#1 : tensor<1x512xf32>
  }
}
