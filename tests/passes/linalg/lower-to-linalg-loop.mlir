// RUN: hloom-opt %s --split-input-file --lower-to-linalg | filecheck %s

// Changed: a row's four numbers need each other, so an element of the tile is a row, not a number: it computes four sines a turn, not five
// for each of the four.
// CHECK-LABEL: func.func private @rows_that_mix(
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "parallel"]{{.*}}tensor<7x203xf32>
// CHECK-COUNT-4: math.sin
// CHECK-NOT: math.sin
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]
module attributes {hloom.target = {kind = "cpu", vector_bits = 256 : i64}} {
  func.func private @rows_that_mix(%x0: tensor<203x4xf32>, %a: tensor<4x4xf32>) -> tensor<7x203x4xf32> attributes {hloom.kind = "while"} {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<7> : tensor<i32>
    %none = stablehlo.constant dense<0.0> : tensor<7x203x4xf32>
    %r:3 = stablehlo.while(%i = %c0, %x = %x0, %ys = %none) : tensor<i32>, tensor<203x4xf32>, tensor<7x203x4xf32>
    cond {
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %c1 : tensor<i32>
      %d = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0] : (tensor<203x4xf32>, tensor<4x4xf32>) -> tensor<203x4xf32>
      %s = stablehlo.sine %d : tensor<203x4xf32>
      %row = stablehlo.reshape %s : (tensor<203x4xf32>) -> tensor<1x203x4xf32>
      %ys1 = stablehlo.dynamic_update_slice %ys, %row, %i, %c0, %c0 : (tensor<7x203x4xf32>, tensor<1x203x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<7x203x4xf32>
      stablehlo.return %j, %s, %ys1 : tensor<i32>, tensor<203x4xf32>, tensor<7x203x4xf32>
    }
    return %r#2 : tensor<7x203x4xf32>
  }
}

// -----

// Changed: numbers that need no other of their row are elements of the tile each.
// CHECK-LABEL: func.func private @rows_that_do_not(
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "parallel", "parallel"]{{.*}}tensor<7x203x4xf32>
// CHECK-COUNT-1: math.sin
// CHECK-NOT: math.sin
module attributes {hloom.target = {kind = "cpu", vector_bits = 256 : i64}} {
  func.func private @rows_that_do_not(%x0: tensor<203x4xf32>) -> tensor<7x203x4xf32> attributes {hloom.kind = "while"} {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<7> : tensor<i32>
    %none = stablehlo.constant dense<0.0> : tensor<7x203x4xf32>
    %r:3 = stablehlo.while(%i = %c0, %x = %x0, %ys = %none) : tensor<i32>, tensor<203x4xf32>, tensor<7x203x4xf32>
    cond {
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %c1 : tensor<i32>
      %s = stablehlo.sine %x : tensor<203x4xf32>
      %row = stablehlo.reshape %s : (tensor<203x4xf32>) -> tensor<1x203x4xf32>
      %ys1 = stablehlo.dynamic_update_slice %ys, %row, %i, %c0, %c0 : (tensor<7x203x4xf32>, tensor<1x203x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<7x203x4xf32>
      stablehlo.return %j, %s, %ys1 : tensor<i32>, tensor<203x4xf32>, tensor<7x203x4xf32>
    }
    return %r#2 : tensor<7x203x4xf32>
  }
}

// -----

// Declined: a GPU's thread stores what it writes turn by turn, and these are threads' elements one beside the other.
// CHECK-LABEL: func.func private @on_a_gpu(
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction", "parallel", "parallel"]{{.*}}tensor<7x203x4xf32>
// CHECK-COUNT-5: math.sin
module attributes {hloom.target = {kind = "cuda"}} {
  func.func private @on_a_gpu(%x0: tensor<203x4xf32>, %a: tensor<4x4xf32>) -> tensor<7x203x4xf32> attributes {hloom.kind = "while"} {
    %c0 = stablehlo.constant dense<0> : tensor<i32>
    %c1 = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<7> : tensor<i32>
    %none = stablehlo.constant dense<0.0> : tensor<7x203x4xf32>
    %r:3 = stablehlo.while(%i = %c0, %x = %x0, %ys = %none) : tensor<i32>, tensor<203x4xf32>, tensor<7x203x4xf32>
    cond {
      %p = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %j = stablehlo.add %i, %c1 : tensor<i32>
      %d = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0] : (tensor<203x4xf32>, tensor<4x4xf32>) -> tensor<203x4xf32>
      %s = stablehlo.sine %d : tensor<203x4xf32>
      %row = stablehlo.reshape %s : (tensor<203x4xf32>) -> tensor<1x203x4xf32>
      %ys1 = stablehlo.dynamic_update_slice %ys, %row, %i, %c0, %c0 : (tensor<7x203x4xf32>, tensor<1x203x4xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<7x203x4xf32>
      stablehlo.return %j, %s, %ys1 : tensor<i32>, tensor<203x4xf32>, tensor<7x203x4xf32>
    }
    return %r#2 : tensor<7x203x4xf32>
  }
}
