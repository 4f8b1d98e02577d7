// RUN: hloom-opt %s --split-input-file --scale-sums | filecheck %s

// Changed: A scale for each of the result's columns.
// CHECK-LABEL: func.func @columns
// CHECK-SAME: %[[X:.*]]: tensor<2x8xf32>, %[[Q:.*]]: tensor<8x16xi8>, %[[S:.*]]: tensor<16xf32>
// CHECK: %[[F:.*]] = stablehlo.convert %[[Q]]
// CHECK: %[[D:.*]] = stablehlo.dot_general %[[X]], %[[F]], contracting_dims = [1] x [0]
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[S]], dims = [1] : (tensor<16xf32>) -> tensor<2x16xf32>
// CHECK: %[[R:.*]] = stablehlo.multiply %[[D]], %[[B]]
// CHECK: return %[[R]]
func.func @columns(%x: tensor<2x8xf32>, %q: tensor<8x16xi8>, %s: tensor<16xf32>) -> tensor<2x16xf32> {
  %f = stablehlo.convert %q : (tensor<8x16xi8>) -> tensor<8x16xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<16xf32>) -> tensor<8x16xf32>
  %w = stablehlo.multiply %f, %b : tensor<8x16xf32>
  %r = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x16xf32>) -> tensor<2x16xf32>
  return %r : tensor<2x16xf32>
}

// -----

// Changed: One scale for all, of the left operand, which is multiplied by a transposed one.
// CHECK-LABEL: func.func @one
// CHECK: %[[F:.*]] = stablehlo.convert
// CHECK: %[[D:.*]] = stablehlo.dot_general %[[F]], %{{.*}}, contracting_dims = [1] x [1]
// CHECK: stablehlo.multiply %[[D]], %{{.*}} : tensor<16x2xf32>
func.func @one(%x: tensor<2x8xf32>, %q: tensor<16x8xbf16>, %s: tensor<f32>) -> tensor<16x2xf32> {
  %f = stablehlo.convert %q : (tensor<16x8xbf16>) -> tensor<16x8xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<16x8xf32>
  %w = stablehlo.multiply %b, %f : tensor<16x8xf32>
  %r = stablehlo.dot_general %w, %x, contracting_dims = [1] x [1] : (tensor<16x8xf32>, tensor<2x8xf32>) -> tensor<16x2xf32>
  return %r : tensor<16x2xf32>
}

// -----

// Declined: The scale changes along what is summed.
// CHECK-LABEL: func.func @summed
// CHECK: %[[W:.*]] = stablehlo.multiply
// CHECK: stablehlo.dot_general %{{.*}}, %[[W]]
func.func @summed(%x: tensor<2x8xf32>, %q: tensor<8x16xi8>, %s: tensor<8xf32>) -> tensor<2x16xf32> {
  %f = stablehlo.convert %q : (tensor<8x16xi8>) -> tensor<8x16xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %w = stablehlo.multiply %f, %b : tensor<8x16xf32>
  %r = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x16xf32>) -> tensor<2x16xf32>
  return %r : tensor<2x16xf32>
}

// -----

// Declined: More sums than weights; and weights of f32, which @init scales once.
// CHECK-LABEL: func.func @many
// CHECK: %[[W:.*]] = stablehlo.multiply
// CHECK: stablehlo.dot_general %{{.*}}, %[[W]]
// CHECK: %[[V:.*]] = stablehlo.multiply
// CHECK: stablehlo.dot_general %{{.*}}, %[[V]]
func.func @many(%x: tensor<9x8xf32>, %q: tensor<8x16xi8>, %v: tensor<8x16xf32>, %s: tensor<16xf32>) -> (tensor<9x16xf32>, tensor<9x16xf32>) {
  %f = stablehlo.convert %q : (tensor<8x16xi8>) -> tensor<8x16xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<16xf32>) -> tensor<8x16xf32>
  %w = stablehlo.multiply %f, %b : tensor<8x16xf32>
  %r = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<9x8xf32>, tensor<8x16xf32>) -> tensor<9x16xf32>
  %c = stablehlo.multiply %v, %b : tensor<8x16xf32>
  %t = stablehlo.dot_general %x, %c, contracting_dims = [1] x [0] : (tensor<9x8xf32>, tensor<8x16xf32>) -> tensor<9x16xf32>
  return %r, %t : tensor<9x16xf32>, tensor<9x16xf32>
}

// -----

// Unchanged: Narrow weights without a scale.
// CHECK-LABEL: func.func @plain
// CHECK: %[[F:.*]] = stablehlo.convert
// CHECK-NEXT: %[[R:.*]] = stablehlo.dot_general %{{.*}}, %[[F]]
// CHECK-NEXT: return %[[R]]
func.func @plain(%x: tensor<2x8xf32>, %q: tensor<8x16xi8>) -> tensor<2x16xf32> {
  %f = stablehlo.convert %q : (tensor<8x16xi8>) -> tensor<8x16xf32>
  %r = stablehlo.dot_general %x, %f, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x16xf32>) -> tensor<2x16xf32>
  return %r : tensor<2x16xf32>
}

// -----

// Changed: One number times keys that are many more than the sums, by way of a reshape.
// CHECK-LABEL: func.func @keys
// CHECK-SAME: %[[Q:.*]]: tensor<2x1x8xf32>, %[[K:.*]]: tensor<1x2x64x8xf32>
// CHECK: %[[R:.*]] = stablehlo.reshape %[[K]]
// CHECK: %[[D:.*]] = stablehlo.dot_general %[[Q]], %[[R]]
// CHECK: %[[S:.*]] = stablehlo.multiply %[[D]], %{{.*}} : tensor<2x1x64xf32>
// CHECK: return %[[S]]
func.func @keys(%q: tensor<2x1x8xf32>, %k: tensor<1x2x64x8xf32>) -> tensor<2x1x64xf32> {
  %c = stablehlo.constant dense<0.3> : tensor<1x2x64x8xf32>
  %s = stablehlo.multiply %k, %c : tensor<1x2x64x8xf32>
  %r = stablehlo.reshape %s : (tensor<1x2x64x8xf32>) -> tensor<2x64x8xf32>
  %d = stablehlo.dot_general %q, %r, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x1x8xf32>, tensor<2x64x8xf32>) -> tensor<2x1x64xf32>
  return %d : tensor<2x1x64xf32>
}

// -----

// Declined: More than a quarter as many sums; keys that are read scaled elsewhere; a number for each row; bound ones.
// CHECK-LABEL: func.func @main
// CHECK-COUNT-4: stablehlo.multiply
// CHECK-COUNT-4: stablehlo.dot_general
// CHECK-NOT: stablehlo.multiply
func.func @main(%q: tensor<4x8xf32>, %p: tensor<1x8xf32>, %k: tensor<64x8xf32>, %n: tensor<64xf32>, %b: tensor<64x8xf32> {hloom.bound})
    -> (tensor<4x64xf32>, tensor<1x64xf32>, tensor<64x8xf32>, tensor<1x64xf32>, tensor<1x64xf32>) {
  %c = stablehlo.constant dense<0.3> : tensor<64x8xf32>
  %e = stablehlo.broadcast_in_dim %n, dims = [0] : (tensor<64xf32>) -> tensor<64x8xf32>
  %s = stablehlo.multiply %k, %c : tensor<64x8xf32>
  %t = stablehlo.multiply %c, %k : tensor<64x8xf32>
  %u = stablehlo.multiply %k, %e : tensor<64x8xf32>
  %v = stablehlo.multiply %b, %c : tensor<64x8xf32>
  %0 = stablehlo.dot_general %q, %s, contracting_dims = [1] x [1] : (tensor<4x8xf32>, tensor<64x8xf32>) -> tensor<4x64xf32>
  %1 = stablehlo.dot_general %p, %t, contracting_dims = [1] x [1] : (tensor<1x8xf32>, tensor<64x8xf32>) -> tensor<1x64xf32>
  %2 = stablehlo.dot_general %p, %u, contracting_dims = [1] x [1] : (tensor<1x8xf32>, tensor<64x8xf32>) -> tensor<1x64xf32>
  %3 = stablehlo.dot_general %p, %v, contracting_dims = [1] x [1] : (tensor<1x8xf32>, tensor<64x8xf32>) -> tensor<1x64xf32>
  return %0, %1, %t, %2, %3 : tensor<4x64xf32>, tensor<1x64xf32>, tensor<64x8xf32>, tensor<1x64xf32>, tensor<1x64xf32>
}

// -----

// Changed: Both operands are times a number, as torch scales queries and keys: the smaller one is times the product, on GPUs too.
// CHECK-LABEL: func.func @both_scaled
// CHECK: %[[C:.*]] = stablehlo.constant dense<1.250000e-01> : tensor<8x64x16xf32>
// CHECK: %[[Q:.*]] = stablehlo.multiply %arg0, %[[C]]
// CHECK: stablehlo.dot_general %[[Q]], %arg1
module attributes {hloom.target = {kind = "cuda"}} {
  func.func @both_scaled(%q: tensor<8x64x16xf32>, %k: tensor<8x64x16xf32>) -> tensor<8x64x64xf32> {
    %a = stablehlo.constant dense<0.5> : tensor<8x64x16xf32>
    %b = stablehlo.constant dense<0.25> : tensor<8x64x16xf32>
    %s = stablehlo.multiply %q, %a : tensor<8x64x16xf32>
    %t = stablehlo.multiply %k, %b : tensor<8x64x16xf32>
    %0 = stablehlo.dot_general %s, %t, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x64x16xf32>, tensor<8x64x16xf32>) -> tensor<8x64x64xf32>
    return %0 : tensor<8x64x64xf32>
  }
}

// -----

// Declined: Numbers whose product a half cannot hold with all of its digits.
// CHECK-LABEL: func.func @tiny
// CHECK-COUNT-2: stablehlo.multiply
// CHECK: stablehlo.dot_general
func.func @tiny(%q: tensor<8x64x16xf16>, %k: tensor<8x64x16xf16>) -> tensor<8x64x64xf16> {
  %a = stablehlo.constant dense<0.001> : tensor<8x64x16xf16>
  %s = stablehlo.multiply %q, %a : tensor<8x64x16xf16>
  %t = stablehlo.multiply %k, %a : tensor<8x64x16xf16>
  %0 = stablehlo.dot_general %s, %t, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x64x16xf16>, tensor<8x64x16xf16>) -> tensor<8x64x64xf16>
  return %0 : tensor<8x64x64xf16>
}

// -----

// Changed: Halves times a number of halves; their sums are f32, and so is the number then.
// CHECK-LABEL: func.func @of_halves
// CHECK: %[[D:.*]] = stablehlo.dot_general {{.*}} : (tensor<2x64xbf16>, tensor<64x4xbf16>) -> tensor<2x4xf32>
// CHECK: %[[S:.*]] = stablehlo.convert %{{.*}} : (tensor<2x4xbf16>) -> tensor<2x4xf32>
// CHECK: stablehlo.multiply %[[D]], %[[S]] : tensor<2x4xf32>
func.func @of_halves(%x: tensor<2x64xbf16>, %w: tensor<64x4xbf16>) -> tensor<2x4xf32> {
  %b = stablehlo.constant dense<0.75> : tensor<2x64xbf16>
  %s = stablehlo.multiply %x, %b : tensor<2x64xbf16>
  %r = stablehlo.dot_general %s, %w, contracting_dims = [1] x [0] : (tensor<2x64xbf16>, tensor<64x4xbf16>) -> tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
