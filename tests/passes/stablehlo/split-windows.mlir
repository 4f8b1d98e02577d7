// RUN: hloom-opt %s --split-windows --split-input-file | filecheck %s

// Unchanged: A cumulative sum is a scan, which a block of a GPU makes at once.
// CHECK-LABEL: func.func @of_a_block(
// CHECK: %[[S:.*]] = "stablehlo.reduce_window"(%arg0, %{{.*}}) <{padding = dense<{{\[\[}}0, 0], [1023, 0]]>{{.*}}window_dimensions = array<i64: 1, 1024>
// CHECK: return %[[S]]
// Changed: A longer one is of parts, and what lies before each.
// CHECK-LABEL: func.func @in_parts(
// CHECK: %[[P:.*]] = stablehlo.reshape %arg0 : (tensor<1048576xf32>) -> tensor<256x4096xf32>
// CHECK: %[[T:.*]] = stablehlo.reduce(%[[P]] init: %{{.*}}) applies stablehlo.add across dimensions = [1]
// CHECK: %[[S:.*]] = "stablehlo.reduce_window"(%[[T]], {{.*}}window_dimensions = array<i64: 256>
// CHECK: %[[BEFORE:.*]] = stablehlo.pad %[[S]], %{{.*}}, low = [1], high = [-1]
// CHECK: %[[W:.*]] = stablehlo.broadcast_in_dim %[[BEFORE]], dims = [0]
// CHECK: %[[R:.*]] = "stablehlo.reduce_window"(%[[P]], {{.*}}window_dimensions = array<i64: 1, 4096>
// CHECK: stablehlo.add %[[W]], %[[R]]
// Changed: Parts that do not divide the length, of sums of f16 in f32.
// CHECK-LABEL: func.func @of_columns(
// CHECK: %[[C:.*]] = stablehlo.convert %arg0 : (tensor<4099x64xf16>) -> tensor<4099x64xf32>
// CHECK: stablehlo.pad %[[C]], %{{.*}}, low = [0, 0], high = [125, 0]
// CHECK: stablehlo.reshape {{.*}} -> tensor<33x128x64xf32>
// CHECK: stablehlo.slice {{.*}} [0:4099, 0:64]
// CHECK: stablehlo.convert {{.*}} -> tensor<4099x64xf16>
// Changed: Logarithms of sums of exponentials of more elements than a block scans: windows that together reach as far back.
// CHECK-LABEL: func.func @logarithms(
// CHECK: window_dilations = array<i64: 1>, window_dimensions = array<i64: 9>
module attributes {hloom.target = {kind = "cuda"}} {
  func.func @of_a_block(%x: tensor<4x1024xf32>) -> tensor<4x1024xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[0, 0], [1023, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 1024>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<4x1024xf32>, tensor<f32>) -> tensor<4x1024xf32>
    return %0 : tensor<4x1024xf32>
  }
  func.func @in_parts(%x: tensor<1048576xf32>) -> tensor<1048576xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[1048575, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 1048576>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<1048576xf32>, tensor<f32>) -> tensor<1048576xf32>
    return %0 : tensor<1048576xf32>
  }
  func.func @of_columns(%x: tensor<4099x64xf16>) -> tensor<4099x64xf16> {
    %zero = stablehlo.constant dense<0.0> : tensor<f16>
    %0 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[4098, 0], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 4099, 1>}> ({
    ^bb0(%a: tensor<f16>, %b: tensor<f16>):
      %s = stablehlo.add %a, %b : tensor<f16>
      stablehlo.return %s : tensor<f16>
    }) : (tensor<4099x64xf16>, tensor<f16>) -> tensor<4099x64xf16>
    return %0 : tensor<4099x64xf16>
  }
  func.func @logarithms(%x: tensor<50000xf32>) -> tensor<50000xf32> {
    %start = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = "stablehlo.reduce_window"(%x, %start) <{padding = dense<[[49999, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 50000>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %m = stablehlo.maximum %a, %b : tensor<f32>
      %d = stablehlo.subtract %a, %b : tensor<f32>
      %n = stablehlo.compare NE, %d, %d : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %s = stablehlo.add %a, %b : tensor<f32>
      %u = stablehlo.abs %d : tensor<f32>
      %v = stablehlo.negate %u : tensor<f32>
      %w = stablehlo.exponential %v : tensor<f32>
      %l = stablehlo.log_plus_one %w : tensor<f32>
      %t = stablehlo.add %m, %l : tensor<f32>
      %r = stablehlo.select %n, %s, %t : tensor<i1>, tensor<f32>
      stablehlo.return %r : tensor<f32>
    }) : (tensor<50000xf32>, tensor<f32>) -> tensor<50000xf32>
    return %0 : tensor<50000xf32>
  }
}

// -----

// Unchanged: A cumulative sum for a CPU is a scan.
// CHECK-LABEL: func.func @scan(
// CHECK: %[[S:.*]] = "stablehlo.reduce_window"(%arg0, %{{.*}}) <{padding = dense<{{\[\[}}0, 0], [1023, 0]]>{{.*}}window_dimensions = array<i64: 1, 1024>
// CHECK: return %[[S]]
func.func @scan(%x: tensor<4x1024xf32>) -> tensor<4x1024xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[0, 0], [1023, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 1024>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x1024xf32>, tensor<f32>) -> tensor<4x1024xf32>
  return %0 : tensor<4x1024xf32>
}

// -----

// Changed: A product from the last element on: the scan of the elements turned around.
// CHECK-LABEL: func.func @backwards(
// CHECK: %[[R:.*]] = stablehlo.reverse %arg0, dims = [0]
// CHECK: %[[S:.*]] = "stablehlo.reduce_window"(%[[R]], %{{.*}}) <{padding = dense<{{\[\[}}7, 0], [0, 0]]>{{.*}}window_dimensions = array<i64: 8, 1>
// CHECK: %[[T:.*]] = stablehlo.reverse %[[S]], dims = [0]
// CHECK: return %[[T]]
func.func @backwards(%x: tensor<8x3xi32>) -> tensor<8x3xi32> {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = "stablehlo.reduce_window"(%x, %one) <{padding = dense<[[0, 7], [0, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 8, 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.multiply %b, %a : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<8x3xi32>, tensor<i32>) -> tensor<8x3xi32>
  return %0 : tensor<8x3xi32>
}

// -----

// Changed: A sliding maximum of 6·7 elements, padded on both sides: the first of its parts takes the padding.
// CHECK-LABEL: func.func @sliding(
// CHECK: "stablehlo.reduce_window"(%arg0, %{{.*}}) <{{{.*}}padding = dense<{{\[\[}}20, 21]{{.*}}window_dimensions = array<i64: 6>
// CHECK: "stablehlo.reduce_window"({{.*}}) <{{{.*}}padding = dense<0>{{.*}}window_dilations = array<i64: 6>, window_dimensions = array<i64: 7>
// CHECK: return
func.func @sliding(%x: tensor<100xf32>) -> tensor<100xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %low) <{padding = dense<[[20, 21]]> : tensor<1x2xi64>, window_dimensions = array<i64: 42>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<100xf32>, tensor<f32>) -> tensor<100xf32>
  return %0 : tensor<100xf32>
}

// -----

// Declined: an initial value that is not neutral, a prime length (a short one, too), strides, a short window.
// CHECK-LABEL: func.func @declined(
// CHECK-COUNT-5: "stablehlo.reduce_window"
// CHECK-NOT: "stablehlo.reduce_window"
// CHECK: return
func.func @declined(%x: tensor<100xf32>) -> (tensor<100xf32>, tensor<64xf32>, tensor<70xf32>, tensor<35xf32>, tensor<85xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %one) <{padding = dense<[[99, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 100>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<100xf32>, tensor<f32>) -> tensor<100xf32>
  %1 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 37>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<100xf32>, tensor<f32>) -> tensor<64xf32>
  %4 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 31>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<100xf32>, tensor<f32>) -> tensor<70xf32>
  %2 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 32>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<100xf32>, tensor<f32>) -> tensor<35xf32>
  %3 = "stablehlo.reduce_window"(%x, %zero) <{window_dimensions = array<i64: 16>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<100xf32>, tensor<f32>) -> tensor<85xf32>
  return %0, %1, %4, %2, %3 : tensor<100xf32>, tensor<64xf32>, tensor<70xf32>, tensor<35xf32>, tensor<85xf32>
}

// -----

// Unchanged: No window.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: %[[R:.*]] = stablehlo.tanh %arg0
// CHECK-NEXT: return %[[R]]
func.func @none(%x: tensor<100xf32>) -> tensor<100xf32> {
  %0 = stablehlo.tanh %x : tensor<100xf32>
  return %0 : tensor<100xf32>
}

// -----

// Changed: A logarithm of the sum of exponentials from the last element on, as JAX writes it: the scan of the elements turned around.
// CHECK-LABEL: func.func @logarithm_of_a_sum(
// CHECK: stablehlo.reverse %arg0, dims = [1]
// CHECK: padding = dense<{{\[\[}}0, 0], [63, 0]]>
// CHECK: stablehlo.reverse
func.func @logarithm_of_a_sum(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %low) <{padding = dense<[[0, 0], [0, 63]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    %d = stablehlo.subtract %a, %b : tensor<f32>
    %n = stablehlo.compare NE, %d, %d, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %t = stablehlo.add %a, %b : tensor<f32>
    %p = stablehlo.abs %d : tensor<f32>
    %q = stablehlo.negate %p : tensor<f32>
    %e = stablehlo.exponential %q : tensor<f32>
    %l = stablehlo.log_plus_one %e : tensor<f32>
    %s = stablehlo.add %m, %l : tensor<f32>
    %r = stablehlo.select %n, %t, %s : tensor<i1>, tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) : (tensor<4x64xf32>, tensor<f32>) -> tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
}

// -----

// Declined: A body that is almost that, of which nothing is known.
// CHECK-LABEL: func.func @unlike_a_logarithm(
// CHECK-NOT: stablehlo.reverse
// CHECK: padding = dense<{{\[\[}}0, 0], [0, 63]]>
// CHECK-NOT: stablehlo.reverse
func.func @unlike_a_logarithm(%x: tensor<4x64xf32>) -> tensor<4x64xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %low) <{padding = dense<[[0, 0], [0, 63]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    %d = stablehlo.subtract %a, %b : tensor<f32>
    %n = stablehlo.compare NE, %d, %d, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %t = stablehlo.add %a, %b : tensor<f32>
    %p = stablehlo.abs %d : tensor<f32>
    %q = stablehlo.negate %p : tensor<f32>
    %e = stablehlo.exponential %q : tensor<f32>
    %l = stablehlo.log_plus_one %e : tensor<f32>
    %s = stablehlo.add %a, %l : tensor<f32>
    %r = stablehlo.select %n, %t, %s : tensor<i1>, tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) : (tensor<4x64xf32>, tensor<f32>) -> tensor<4x64xf32>
  return %0 : tensor<4x64xf32>
}
