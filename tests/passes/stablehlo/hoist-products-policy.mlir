// RUN: hloom-opt %s --split-input-file --hoist-products | filecheck %s

// Declined: A rule has each turn multiply for itself.
// CHECK: code = "POLICY_FORBIDDEN"{{.*}}policy_rule = "loop 1: products = 'inside'"
// CHECK-LABEL: func.func @inside(
// CHECK: stablehlo.while
// CHECK: stablehlo.dot_general
module attributes {hloom.policy = {loop = [{products = "inside"}]}} {
  func.func @inside(%xs: tensor<64x128xf32>, %w: tensor<128x512xf32>, %h0: tensor<512xf32>) -> tensor<512xf32> {
    %start = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<64> : tensor<i32>
    %0:2 = stablehlo.while(%i = %start, %h = %h0) : tensor<i32>, tensor<512xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.dynamic_slice %xs, %i, %start, sizes = [1, 128] : (tensor<64x128xf32>, tensor<i32>, tensor<i32>) -> tensor<1x128xf32>
      %2 = stablehlo.reshape %1 : (tensor<1x128xf32>) -> tensor<128xf32>
      %3 = stablehlo.dot_general %2, %w, contracting_dims = [0] x [0] : (tensor<128xf32>, tensor<128x512xf32>) -> tensor<512xf32>
      %4 = stablehlo.add %3, %h : tensor<512xf32>
      %5 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %5, %4 : tensor<i32>, tensor<512xf32>
    }
    return %0#1 : tensor<512xf32>
  }
}

// -----

// Changed: Against the price; a rule that finds no product is told of.
// CHECK: code = "LOOP_HOISTED"{{.*}}policy_rule = "loop 1: trips = '4', products = 'before'", reason = "the rows of all 4 turns are multiplied once, against the price"
// CHECK: code = "POLICY_UNMET"{{.*}}reason = "no product in it is of rows that are there before it"
// CHECK-LABEL: func.func @before(
// CHECK: stablehlo.dot_general {{.*}} -> tensor<4x8xf32>
// CHECK: stablehlo.while
module attributes {hloom.policy = {loop = [{trips = "4", products = "before"}, {trips = "5", products = "before"}]}} {
  func.func @before(%xs: tensor<4x8xf32>, %w: tensor<8x8xf32>, %h0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
    %start = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<4> : tensor<i32>
    %later = stablehlo.constant dense<5> : tensor<i32>
    %0:2 = stablehlo.while(%i = %start, %h = %h0) : tensor<i32>, tensor<8xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.dynamic_slice %xs, %i, %start, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
      %2 = stablehlo.reshape %1 : (tensor<1x8xf32>) -> tensor<8xf32>
      %3 = stablehlo.dot_general %2, %w, contracting_dims = [0] x [0] : (tensor<8xf32>, tensor<8x8xf32>) -> tensor<8xf32>
      %4 = stablehlo.add %3, %h : tensor<8xf32>
      %5 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %5, %4 : tensor<i32>, tensor<8xf32>
    }
    %6:2 = stablehlo.while(%i = %start, %h = %h0) : tensor<i32>, tensor<8xf32>
    cond {
      %1 = stablehlo.compare LT, %i, %later : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.tanh %h : tensor<8xf32>
      %2 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %2, %1 : tensor<i32>, tensor<8xf32>
    }
    return %0#1, %6#1 : tensor<8xf32>, tensor<8xf32>
  }
}
