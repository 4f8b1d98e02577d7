// RUN: hloom-opt %s --split-input-file --scale-groups | filecheck %s

// Changed: rows are outputs; scales and zero points of groups of 8.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<1x16xf32>, %{{.*}}: tensor<128x2x8xui8> {hloom.bound}, %[[S:.*]]: tensor<128x2xf32> {hloom.bound}, %[[Z:.*]]: tensor<128x2x1xf32>
// CHECK: %[[F:.*]] = stablehlo.convert %{{.*}} : (tensor<128x2x8xui8>) -> tensor<128x2x8xf32>
// CHECK-DAG: %[[ST:.*]] = stablehlo.transpose %[[S]], dims = [1, 0] : (tensor<128x2xf32>) -> tensor<2x128xf32>
// CHECK-DAG: %[[ZR:.*]] = stablehlo.reshape %[[Z]] : (tensor<128x2x1xf32>) -> tensor<128x2xf32>
// CHECK-DAG: %[[ZT:.*]] = stablehlo.transpose %[[ZR]], dims = [1, 0]
// CHECK: %[[G:.*]] = stablehlo.reshape %[[X]] : (tensor<1x16xf32>) -> tensor<2x8xf32>
// CHECK: %[[D:.*]] = stablehlo.dot_general %[[G]], %[[F]], batching_dims = [0] x [1], contracting_dims = [1] x [2] : (tensor<2x8xf32>, tensor<128x2x8xf32>) -> tensor<2x128xf32>
// CHECK: %[[T:.*]] = stablehlo.reduce(%[[G]] {{.*}} across dimensions = [1]
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[T]], dims = [0] : (tensor<2xf32>) -> tensor<2x128xf32>
// CHECK: %[[M:.*]] = stablehlo.multiply %[[B]], %[[ZT]]
// CHECK: %[[L:.*]] = stablehlo.subtract %[[D]], %[[M]]
// CHECK: %[[C:.*]] = stablehlo.multiply %[[L]], %[[ST]]
// CHECK: %[[A:.*]] = stablehlo.reduce(%[[C]] {{.*}} across dimensions = [0]
// CHECK: stablehlo.reshape %[[A]] : (tensor<128xf32>) -> tensor<1x128xf32>
func.func @main(%x: tensor<1x16xf32>, %w: tensor<128x2x8xui8> {hloom.bound}, %s: tensor<128x2xf32> {hloom.bound},
                %z: tensor<128x2x1xf32> {hloom.bound}) -> tensor<1x128xf32> {
  %fifteen = stablehlo.constant dense<15> : tensor<128x2x8xui8>
  %q = stablehlo.and %w, %fifteen : tensor<128x2x8xui8>
  %f = stablehlo.convert %q : (tensor<128x2x8xui8>) -> tensor<128x2x8xf32>
  %zs = stablehlo.broadcast_in_dim %z, dims = [0, 1, 2] : (tensor<128x2x1xf32>) -> tensor<128x2x8xf32>
  %less = stablehlo.subtract %f, %zs : tensor<128x2x8xf32>
  %ss = stablehlo.broadcast_in_dim %s, dims = [0, 1] : (tensor<128x2xf32>) -> tensor<128x2x8xf32>
  %scaled = stablehlo.multiply %less, %ss : tensor<128x2x8xf32>
  %flat = stablehlo.reshape %scaled : (tensor<128x2x8xf32>) -> tensor<128x16xf32>
  %0 = stablehlo.dot_general %x, %flat, contracting_dims = [1] x [1] : (tensor<1x16xf32>, tensor<128x16xf32>) -> tensor<1x128xf32>
  return %0 : tensor<1x128xf32>
}

// -----

// Changed: columns are outputs; no zero point.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.dot_general {{.*}}, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x8xf32>, tensor<2x8x128xf32>) -> tensor<2x128xf32>
// CHECK-NOT: stablehlo.subtract
// CHECK: stablehlo.multiply %{{.*}}, %arg2 : tensor<2x128xf32>
func.func @main(%x: tensor<1x16xf32>, %w: tensor<2x8x128xui8> {hloom.bound}, %s: tensor<2x128xf32> {hloom.bound}) -> tensor<1x128xf32> {
  %fifteen = stablehlo.constant dense<15> : tensor<2x8x128xui8>
  %q = stablehlo.and %w, %fifteen : tensor<2x8x128xui8>
  %f = stablehlo.convert %q : (tensor<2x8x128xui8>) -> tensor<2x8x128xf32>
  %ss = stablehlo.broadcast_in_dim %s, dims = [0, 2] : (tensor<2x128xf32>) -> tensor<2x8x128xf32>
  %scaled = stablehlo.multiply %ss, %f : tensor<2x8x128xf32>
  %flat = stablehlo.reshape %scaled : (tensor<2x8x128xf32>) -> tensor<16x128xf32>
  %0 = stablehlo.dot_general %x, %flat, contracting_dims = [1] x [0] : (tensor<1x16xf32>, tensor<16x128xf32>) -> tensor<1x128xf32>
  return %0 : tensor<1x128xf32>
}

// -----

// Declined: bytes; two rows; a scale for each weight; weights that are given at each call; other rows of dimensions than groups are joined.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: batching_dims
func.func @main(%x: tensor<1x16xf32>, %y: tensor<2x16xf32>, %w: tensor<128x2x8xui8> {hloom.bound}, %s: tensor<128x2xf32> {hloom.bound},
                %each: tensor<128x2x8xf32> {hloom.bound}, %v: tensor<128x2x8xui8>, %u: tensor<64x2x16xui8> {hloom.bound}, %t: tensor<64x2xf32> {hloom.bound})
    -> (tensor<1x128xf32>, tensor<2x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>) {
  %fifteen = stablehlo.constant dense<15> : tensor<128x2x8xui8>
  %fifteens = stablehlo.constant dense<15> : tensor<64x2x16xui8>
  %q = stablehlo.and %w, %fifteen : tensor<128x2x8xui8>
  %given = stablehlo.and %v, %fifteen : tensor<128x2x8xui8>
  %pairs = stablehlo.and %u, %fifteens : tensor<64x2x16xui8>
  %f0 = stablehlo.convert %w : (tensor<128x2x8xui8>) -> tensor<128x2x8xf32>
  %f1 = stablehlo.convert %q : (tensor<128x2x8xui8>) -> tensor<128x2x8xf32>
  %f2 = stablehlo.convert %given : (tensor<128x2x8xui8>) -> tensor<128x2x8xf32>
  %f3 = stablehlo.convert %pairs : (tensor<64x2x16xui8>) -> tensor<64x2x16xf32>
  %ss = stablehlo.broadcast_in_dim %s, dims = [0, 1] : (tensor<128x2xf32>) -> tensor<128x2x8xf32>
  %ts = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<64x2xf32>) -> tensor<64x2x16xf32>
  %m0 = stablehlo.multiply %f0, %ss : tensor<128x2x8xf32>
  %m1 = stablehlo.multiply %f1, %ss : tensor<128x2x8xf32>
  %m2 = stablehlo.multiply %f1, %each : tensor<128x2x8xf32>
  %m3 = stablehlo.multiply %f2, %ss : tensor<128x2x8xf32>
  %m4 = stablehlo.multiply %f3, %ts : tensor<64x2x16xf32>
  %r0 = stablehlo.reshape %m0 : (tensor<128x2x8xf32>) -> tensor<128x16xf32>
  %r1 = stablehlo.reshape %m1 : (tensor<128x2x8xf32>) -> tensor<128x16xf32>
  %r2 = stablehlo.reshape %m2 : (tensor<128x2x8xf32>) -> tensor<128x16xf32>
  %r3 = stablehlo.reshape %m3 : (tensor<128x2x8xf32>) -> tensor<128x16xf32>
  %r4 = stablehlo.reshape %m4 : (tensor<64x2x16xf32>) -> tensor<128x16xf32>
  %0 = stablehlo.dot_general %x, %r0, contracting_dims = [1] x [1] : (tensor<1x16xf32>, tensor<128x16xf32>) -> tensor<1x128xf32>
  %1 = stablehlo.dot_general %y, %r1, contracting_dims = [1] x [1] : (tensor<2x16xf32>, tensor<128x16xf32>) -> tensor<2x128xf32>
  %2 = stablehlo.dot_general %x, %r2, contracting_dims = [1] x [1] : (tensor<1x16xf32>, tensor<128x16xf32>) -> tensor<1x128xf32>
  %3 = stablehlo.dot_general %x, %r3, contracting_dims = [1] x [1] : (tensor<1x16xf32>, tensor<128x16xf32>) -> tensor<1x128xf32>
  %4 = stablehlo.dot_general %x, %r4, contracting_dims = [1] x [1] : (tensor<1x16xf32>, tensor<128x16xf32>) -> tensor<1x128xf32>
  return %0, %1, %2, %3, %4 : tensor<1x128xf32>, tensor<2x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>, tensor<1x128xf32>
}

// -----

// Unchanged: GPUs.
// CHECK-LABEL: module
// CHECK-NOT: batching_dims
module attributes {hloom.target = {kind = "cuda"}} {
  func.func @main(%x: tensor<1x16xf32>, %w: tensor<2x8x128xui8> {hloom.bound}, %s: tensor<2x128xf32> {hloom.bound}) -> tensor<1x128xf32> {
    %fifteen = stablehlo.constant dense<15> : tensor<2x8x128xui8>
    %q = stablehlo.and %w, %fifteen : tensor<2x8x128xui8>
    %f = stablehlo.convert %q : (tensor<2x8x128xui8>) -> tensor<2x8x128xf32>
    %ss = stablehlo.broadcast_in_dim %s, dims = [0, 2] : (tensor<2x128xf32>) -> tensor<2x8x128xf32>
    %scaled = stablehlo.multiply %ss, %f : tensor<2x8x128xf32>
    %flat = stablehlo.reshape %scaled : (tensor<2x8x128xf32>) -> tensor<16x128xf32>
    %0 = stablehlo.dot_general %x, %flat, contracting_dims = [1] x [0] : (tensor<1x16xf32>, tensor<16x128xf32>) -> tensor<1x128xf32>
    return %0 : tensor<1x128xf32>
  }
}
