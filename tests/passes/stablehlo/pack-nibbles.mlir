// RUN: hloom-opt %s --split-input-file --pack-nibbles | filecheck %s

// Changed: two in a byte, moved by 8: eight neighbours in depth are a word, and 128 columns a panel, on AVX-512; zeros fill the last one.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<1x16xf32>, %{{.*}}: tensor<200x8xui8> {hloom.bound}
// CHECK: %[[Q:.*]] = stablehlo.reshape %{{.*}} : (tensor<200x8x2xi8>) -> tensor<200x16xi8>
// CHECK: %[[P:.*]] = stablehlo.pad %[[Q]], %{{.*}}, low = [0, 0], high = [56, 0]
// CHECK: %[[R:.*]] = stablehlo.reshape %[[P]] : (tensor<256x16xi8>) -> tensor<2x128x2x8xi8>
// CHECK: stablehlo.transpose %[[R]], dims = [0, 2, 3, 1] : (tensor<2x128x2x8xi8>) -> tensor<2x2x8x128xi8>
// CHECK: stablehlo.shift_left
// CHECK: %[[N:.*]] = stablehlo.reduce{{.*}} stablehlo.add across dimensions = [2] : {{.*}} -> tensor<2x2x128xi32>
// CHECK: %[[S:.*]] = stablehlo.reshape %[[X]] : (tensor<1x16xf32>) -> tensor<1x2x8xf32>
// CHECK: %[[V:.*]] = stablehlo.bitcast_convert %[[N]] : (tensor<2x2x128xi32>) -> tensor<2x2x128x8xi4>
// CHECK: stablehlo.dot_general %[[S]], %[[V]], contracting_dims = [1, 2] x [1, 3] : (tensor<1x2x8xf32>, tensor<2x2x128x8xi4>) -> tensor<1x2x128xf32>
// CHECK: stablehlo.slice %{{.*}} [0:1, 0:200]
func.func @main(%x: tensor<1x16xf32>, %w: tensor<200x8xui8> {hloom.bound}) -> tensor<1x200xf32> {
  %four = stablehlo.constant dense<4> : tensor<200x8xui8>
  %fifteen = stablehlo.constant dense<15> : tensor<200x8xui8>
  %eight = stablehlo.constant dense<8> : tensor<200x8x2xi8>
  %low = stablehlo.and %w, %fifteen : tensor<200x8xui8>
  %high = stablehlo.shift_right_logical %w, %four : tensor<200x8xui8>
  %a = stablehlo.reshape %low : (tensor<200x8xui8>) -> tensor<200x8x1xui8>
  %b = stablehlo.reshape %high : (tensor<200x8xui8>) -> tensor<200x8x1xui8>
  %both = stablehlo.concatenate %a, %b, dim = 2 : (tensor<200x8x1xui8>, tensor<200x8x1xui8>) -> tensor<200x8x2xui8>
  %signed = stablehlo.convert %both : (tensor<200x8x2xui8>) -> tensor<200x8x2xi8>
  %moved = stablehlo.subtract %signed, %eight : tensor<200x8x2xi8>
  %q = stablehlo.reshape %moved : (tensor<200x8x2xi8>) -> tensor<200x16xi8>
  %f = stablehlo.convert %q : (tensor<200x16xi8>) -> tensor<200x16xf32>
  %0 = stablehlo.dot_general %x, %f, contracting_dims = [1] x [1] : (tensor<1x16xf32>, tensor<200x16xf32>) -> tensor<1x200xf32>
  return %0 : tensor<1x200xf32>
}

// -----

// Changed: a type of four bits, as it is widened; halves, whose sums are rounded at the end.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.bitcast_convert {{.*}} -> tensor<1x2x128x8xi4>
// CHECK: stablehlo.dot_general {{.*}} : (tensor<1x2x8xf32>, tensor<1x2x128x8xi4>) -> tensor<1x1x128xf32>
// CHECK: stablehlo.convert {{.*}} : (tensor<1x128xf32>) -> tensor<1x128xbf16>
func.func @main(%x: tensor<1x16xbf16>, %w: tensor<16x128xi8> {hloom.bound}) -> tensor<1x128xbf16> {
  %four = stablehlo.constant dense<4> : tensor<16x128xi8>
  %up = stablehlo.shift_left %w, %four : tensor<16x128xi8>
  %q = stablehlo.shift_right_arithmetic %up, %four : tensor<16x128xi8>
  %f = stablehlo.convert %q : (tensor<16x128xi8>) -> tensor<16x128xbf16>
  %0 = stablehlo.dot_general %x, %f, contracting_dims = [1] x [0] : (tensor<1x16xbf16>, tensor<16x128xbf16>) -> tensor<1x128xbf16>
  return %0 : tensor<1x128xbf16>
}

// -----

// Changed: numbers without a sign.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.bitcast_convert {{.*}} -> tensor<1x2x128x8xui4>
func.func @main(%x: tensor<1x16xf32>, %w: tensor<16x128xui8> {hloom.bound}) -> tensor<1x128xf32> {
  %fifteen = stablehlo.constant dense<15> : tensor<16x128xui8>
  %q = stablehlo.and %w, %fifteen : tensor<16x128xui8>
  %f = stablehlo.convert %q : (tensor<16x128xui8>) -> tensor<16x128xf32>
  %0 = stablehlo.dot_general %x, %f, contracting_dims = [1] x [0] : (tensor<1x16xf32>, tensor<16x128xf32>) -> tensor<1x128xf32>
  return %0 : tensor<1x128xf32>
}

// -----

// Changed: a dot for each group of what is summed: words lie group by group.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.transpose %{{.*}}, dims = [1, 0, 2] : (tensor<128x2x8xui8>) -> tensor<2x128x8xui8>
// CHECK: stablehlo.reduce{{.*}} stablehlo.add across dimensions = [3] : {{.*}} -> tensor<2x1x1x128xi32>
// CHECK: stablehlo.bitcast_convert {{.*}} -> tensor<2x1x1x128x8xui4>
// CHECK: stablehlo.dot_general {{.*}}, batching_dims = [0] x [0], contracting_dims = [1, 2] x [2, 4] : (tensor<2x1x8xf32>, tensor<2x1x1x128x8xui4>) -> tensor<2x1x128xf32>
func.func @main(%x: tensor<2x8xf32>, %w: tensor<128x2x8xui8> {hloom.bound}) -> tensor<2x128xf32> {
  %fifteen = stablehlo.constant dense<15> : tensor<128x2x8xui8>
  %q = stablehlo.and %w, %fifteen : tensor<128x2x8xui8>
  %f = stablehlo.convert %q : (tensor<128x2x8xui8>) -> tensor<128x2x8xf32>
  %0 = stablehlo.dot_general %x, %f, batching_dims = [0] x [1], contracting_dims = [1] x [2] : (tensor<2x8xf32>, tensor<128x2x8xf32>) -> tensor<2x128xf32>
  return %0 : tensor<2x128xf32>
}

// -----

// Declined: bytes of which nothing is known; five bits; two rows; a depth that is no whole words; fewer columns than a panel; weights that
// are given at each call.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: bitcast_convert
func.func @main(%x: tensor<1x16xf32>, %y: tensor<2x16xf32>, %z: tensor<1x12xf32>, %w: tensor<16x128xui8> {hloom.bound},
                %v: tensor<16x128xui8>) -> (tensor<1x128xf32>, tensor<1x128xf32>, tensor<2x128xf32>, tensor<1x128xf32>, tensor<1x64xf32>, tensor<1x128xf32>) {
  %fifteen = stablehlo.constant dense<15> : tensor<16x128xui8>
  %more = stablehlo.constant dense<31> : tensor<16x128xui8>
  %q = stablehlo.and %w, %fifteen : tensor<16x128xui8>
  %five = stablehlo.and %w, %more : tensor<16x128xui8>
  %given = stablehlo.and %v, %fifteen : tensor<16x128xui8>
  %part = stablehlo.slice %q [0:12, 0:128] : (tensor<16x128xui8>) -> tensor<12x128xui8>
  %few = stablehlo.slice %q [0:16, 0:64] : (tensor<16x128xui8>) -> tensor<16x64xui8>
  %f0 = stablehlo.convert %w : (tensor<16x128xui8>) -> tensor<16x128xf32>
  %f1 = stablehlo.convert %five : (tensor<16x128xui8>) -> tensor<16x128xf32>
  %f2 = stablehlo.convert %q : (tensor<16x128xui8>) -> tensor<16x128xf32>
  %f3 = stablehlo.convert %part : (tensor<12x128xui8>) -> tensor<12x128xf32>
  %f4 = stablehlo.convert %few : (tensor<16x64xui8>) -> tensor<16x64xf32>
  %f5 = stablehlo.convert %given : (tensor<16x128xui8>) -> tensor<16x128xf32>
  %0 = stablehlo.dot_general %x, %f0, contracting_dims = [1] x [0] : (tensor<1x16xf32>, tensor<16x128xf32>) -> tensor<1x128xf32>
  %1 = stablehlo.dot_general %x, %f1, contracting_dims = [1] x [0] : (tensor<1x16xf32>, tensor<16x128xf32>) -> tensor<1x128xf32>
  %2 = stablehlo.dot_general %y, %f2, contracting_dims = [1] x [0] : (tensor<2x16xf32>, tensor<16x128xf32>) -> tensor<2x128xf32>
  %3 = stablehlo.dot_general %z, %f3, contracting_dims = [1] x [0] : (tensor<1x12xf32>, tensor<12x128xf32>) -> tensor<1x128xf32>
  %4 = stablehlo.dot_general %x, %f4, contracting_dims = [1] x [0] : (tensor<1x16xf32>, tensor<16x64xf32>) -> tensor<1x64xf32>
  %5 = stablehlo.dot_general %x, %f5, contracting_dims = [1] x [0] : (tensor<1x16xf32>, tensor<16x128xf32>) -> tensor<1x128xf32>
  return %0, %1, %2, %3, %4, %5 : tensor<1x128xf32>, tensor<1x128xf32>, tensor<2x128xf32>, tensor<1x128xf32>, tensor<1x64xf32>, tensor<1x128xf32>
}

// -----

// Unchanged: GPUs.
// CHECK-LABEL: module
// CHECK: func.func @main(
// CHECK-NOT: bitcast_convert
module attributes {hloom.target = {kind = "cuda"}} {
  func.func @main(%x: tensor<1x16xf32>, %w: tensor<16x128xui8> {hloom.bound}) -> tensor<1x128xf32> {
    %fifteen = stablehlo.constant dense<15> : tensor<16x128xui8>
    %q = stablehlo.and %w, %fifteen : tensor<16x128xui8>
    %f = stablehlo.convert %q : (tensor<16x128xui8>) -> tensor<16x128xf32>
    %0 = stablehlo.dot_general %x, %f, contracting_dims = [1] x [0] : (tensor<1x16xf32>, tensor<16x128xf32>) -> tensor<1x128xf32>
    return %0 : tensor<1x128xf32>
  }
}
