// RUN: hloom-opt %s --split-input-file --hoist-products | filecheck %s

// Changed: A recurrent layer of one row: what is multiplied by the sequence is one product before the loop, of which each turn takes a row.
// CHECK: code = "LOOP_HOISTED"{{.*}}reason = "the rows of all 64 turns are multiplied once"
// CHECK-LABEL: func.func @layer(
// CHECK-SAME: %[[XS:[a-z0-9]+]]: tensor<64x1x128xf32>, %[[W:[a-z0-9]+]]: tensor<128x512xf32>, %[[V:[a-z0-9]+]]: tensor<512x512xf32>
// CHECK: %[[P:.*]] = stablehlo.dot_general %[[XS]], %[[W]], contracting_dims = [2] x [0] : {{.*}} -> tensor<64x1x512xf32>
// CHECK: stablehlo.while(%[[I:.*]] = {{.*}}, %[[H:.*]] =
// CHECK: %[[R:.*]] = stablehlo.dynamic_slice %[[P]], %[[I]], {{.*}}, {{.*}}, sizes = [1, 1, 512]
// CHECK: %[[ROW:.*]] = stablehlo.reshape %[[R]] : (tensor<1x1x512xf32>) -> tensor<1x512xf32>
// CHECK: %[[D:.*]] = stablehlo.dot_general %[[H]], %[[V]]
// CHECK: stablehlo.add %[[ROW]], %[[D]]
func.func @layer(%xs: tensor<64x1x128xf32>, %w: tensor<128x512xf32>, %v: tensor<512x512xf32>, %h0: tensor<1x512xf32>) -> tensor<1x512xf32> {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<64> : tensor<i32>
  %0:2 = stablehlo.while(%i = %start, %h = %h0) : tensor<i32>, tensor<1x512xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %xs, %i, %start, %start, sizes = [1, 1, 128] : (tensor<64x1x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x128xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x1x128xf32>) -> tensor<1x128xf32>
    %3 = stablehlo.dot_general %2, %w, contracting_dims = [1] x [0] : (tensor<1x128xf32>, tensor<128x512xf32>) -> tensor<1x512xf32>
    %4 = stablehlo.dot_general %h, %v, contracting_dims = [1] x [0] : (tensor<1x512xf32>, tensor<512x512xf32>) -> tensor<1x512xf32>
    %5 = stablehlo.add %3, %4 : tensor<1x512xf32>
    %6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %6, %5 : tensor<i32>, tensor<1x512xf32>
  }
  return %0#1 : tensor<1x512xf32>
}

// -----

// Changed: The weight on the left, the sequence's turns in its second dimension and from the last on; rows come first all the same.
// CHECK-LABEL: func.func @weight_first(
// CHECK-SAME: %[[XS:[a-z0-9]+]]: tensor<1x64x128xf32>, %[[W:[a-z0-9]+]]: tensor<512x128xf32>
// CHECK: %[[P:.*]] = stablehlo.dot_general %[[XS]], %[[W]], contracting_dims = [2] x [1] : {{.*}} -> tensor<1x64x512xf32>
// CHECK: stablehlo.while
// CHECK: %[[AT:.*]] = stablehlo.subtract
// CHECK: %[[R:.*]] = stablehlo.dynamic_slice %[[P]], {{.*}}, %[[AT]], {{.*}}, sizes = [1, 1, 512]
// CHECK: stablehlo.reshape %[[R]] : (tensor<1x1x512xf32>) -> tensor<512xf32>
func.func @weight_first(%xs: tensor<1x64x128xf32>, %w: tensor<512x128xf32>, %h0: tensor<512xf32>) -> tensor<512xf32> {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<64> : tensor<i32>
  %last = stablehlo.constant dense<63> : tensor<i32>
  %0:2 = stablehlo.while(%i = %start, %h = %h0) : tensor<i32>, tensor<512xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %at = stablehlo.subtract %last, %i : tensor<i32>
    %1 = stablehlo.dynamic_slice %xs, %start, %at, %start, sizes = [1, 1, 128] : (tensor<1x64x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x1x128xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x1x128xf32>) -> tensor<128xf32>
    %3 = stablehlo.dot_general %w, %2, contracting_dims = [1] x [0] : (tensor<512x128xf32>, tensor<128xf32>) -> tensor<512xf32>
    %4 = stablehlo.add %3, %h : tensor<512xf32>
    %5 = stablehlo.tanh %4 : tensor<512xf32>
    %6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %6, %5 : tensor<i32>, tensor<512xf32>
  }
  return %0#1 : tensor<512xf32>
}

// -----

// Declined: A turn of 64 rows multiplies long enough to read the weight meanwhile.
// CHECK: code = "NO_GAIN"{{.*}}reason = "a turn multiplies long enough to read the weight meanwhile"
// CHECK-LABEL: func.func @rows(
// CHECK: stablehlo.while
// CHECK: stablehlo.dot_general {{.*}} : (tensor<64x128xf32>, tensor<128x256xf32>) -> tensor<64x256xf32>
func.func @rows(%xs: tensor<32x64x128xf32>, %w: tensor<128x256xf32>, %h0: tensor<64x256xf32>) -> tensor<64x256xf32> {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<32> : tensor<i32>
  %0:2 = stablehlo.while(%i = %start, %h = %h0) : tensor<i32>, tensor<64x256xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %xs, %i, %start, %start, sizes = [1, 64, 128] : (tensor<32x64x128xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x64x128xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x64x128xf32>) -> tensor<64x128xf32>
    %3 = stablehlo.dot_general %2, %w, contracting_dims = [1] x [0] : (tensor<64x128xf32>, tensor<128x256xf32>) -> tensor<64x256xf32>
    %4 = stablehlo.add %3, %h : tensor<64x256xf32>
    %5 = stablehlo.tanh %4 : tensor<64x256xf32>
    %6 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %6, %5 : tensor<i32>, tensor<64x256xf32>
  }
  return %0#1 : tensor<64x256xf32>
}

// -----

// Unchanged: A table of more rows than there are turns; a product of what the loop carries; a slice of what is summed.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: stablehlo.dot_general
// CHECK: stablehlo.while
// CHECK-COUNT-3: stablehlo.dot_general
func.func @others(%table: tensor<1000x512xf32>, %w: tensor<512x512xf32>, %parts: tensor<32x512xf32>, %h0: tensor<512xf32>) -> tensor<512xf32> {
  %start = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %end = stablehlo.constant dense<32> : tensor<i32>
  %0:2 = stablehlo.while(%i = %start, %h = %h0) : tensor<i32>, tensor<512xf32>
  cond {
    %1 = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = stablehlo.dynamic_slice %table, %i, %start, sizes = [1, 512] : (tensor<1000x512xf32>, tensor<i32>, tensor<i32>) -> tensor<1x512xf32>
    %2 = stablehlo.reshape %1 : (tensor<1x512xf32>) -> tensor<512xf32>
    %3 = stablehlo.dot_general %2, %w, contracting_dims = [0] x [0] : (tensor<512xf32>, tensor<512x512xf32>) -> tensor<512xf32>
    %4 = stablehlo.dot_general %h, %w, contracting_dims = [0] x [0] : (tensor<512xf32>, tensor<512x512xf32>) -> tensor<512xf32>
    %p = stablehlo.dynamic_slice %parts, %start, %i, sizes = [32, 16] : (tensor<32x512xf32>, tensor<i32>, tensor<i32>) -> tensor<32x16xf32>
    %q = stablehlo.dot_general %p, %parts, contracting_dims = [0] x [0] : (tensor<32x16xf32>, tensor<32x512xf32>) -> tensor<16x512xf32>
    %r = stablehlo.slice %q [0:1, 0:512] : (tensor<16x512xf32>) -> tensor<1x512xf32>
    %s = stablehlo.reshape %r : (tensor<1x512xf32>) -> tensor<512xf32>
    %5 = stablehlo.add %3, %4 : tensor<512xf32>
    %6 = stablehlo.add %5, %s : tensor<512xf32>
    %7 = stablehlo.add %i, %one : tensor<i32>
    stablehlo.return %7, %6 : tensor<i32>, tensor<512xf32>
  }
  return %0#1 : tensor<512xf32>
}
