// RUN: hloom-opt %s --widen-narrow-types | filecheck %s

// Changed: Integers are bytes, wrapped after what may leave the range; at the interface their upper bits are anything, then zeros.
// CHECK-LABEL: func.func public @main
// CHECK-SAME: (%[[X:.*]]: tensor<4xi8>, %[[Y:.*]]: tensor<4xui8>) -> (tensor<4xi8>, tensor<4xui8>)
// CHECK: %[[L:.*]] = stablehlo.shift_left %[[X]]
// CHECK: %[[A:.*]] = stablehlo.shift_right_arithmetic %[[L]]
// CHECK: %[[M:.*]] = stablehlo.and %[[Y]]
// CHECK: %[[S:.*]] = stablehlo.add %[[A]], %[[A]] : tensor<4xi8>
// CHECK: %[[SL:.*]] = stablehlo.shift_left %[[S]]
// CHECK: %[[W:.*]] = stablehlo.shift_right_arithmetic %[[SL]]
// CHECK: %[[O:.*]] = stablehlo.maximum %[[M]], %[[M]] : tensor<4xui8>
// CHECK: %[[Z:.*]] = stablehlo.and %[[W]]
// CHECK: return %[[Z]], %[[O]] : tensor<4xi8>, tensor<4xui8>
func.func public @main(%x: tensor<4xi4>, %y: tensor<4xui2>) -> (tensor<4xi4>, tensor<4xui2>) {
  %0 = stablehlo.add %x, %x : tensor<4xi4>
  %1 = stablehlo.maximum %y, %y : tensor<4xui2>
  return %0, %1 : tensor<4xi4>, tensor<4xui2>
}

// Changed: Floats are computed with as f32, and rounded after each op.
// CHECK-LABEL: func.func @floats
// CHECK-SAME: (%{{.*}}: tensor<ui8>, %{{.*}}: tensor<ui8>) -> tensor<ui8>
// CHECK: stablehlo.add %{{.*}}, %{{.*}} : tensor<f32>
// CHECK: stablehlo.convert %{{.*}} : (tensor<i32>) -> tensor<ui8>
func.func @floats(%x: tensor<f8E4M3FN>, %y: tensor<f8E4M3FN>) -> tensor<f8E4M3FN> {
  %0 = stablehlo.add %x, %y : tensor<f8E4M3FN>
  return %0 : tensor<f8E4M3FN>
}

// Changed: What moves elements moves bytes; constants are bytes.
// CHECK-LABEL: func.func @moves
// CHECK-DAG: stablehlo.constant dense<[120, 126, 192]> : tensor<3xui8>
// CHECK-DAG: stablehlo.constant dense<-1> : tensor<300xi8>
// CHECK-NOT: f32
// CHECK: stablehlo.reverse %{{.*}}, dims = [0] : tensor<3xui8>
func.func @moves() -> (tensor<3xf8E4M3FN>, tensor<300xi4>) {
  %0 = stablehlo.constant dense<[256.0, 448.0, -2.0]> : tensor<3xf8E4M3FN>
  %1 = stablehlo.constant dense<-1> : tensor<300xi4>
  %2 = stablehlo.reverse %0, dims = [0] : tensor<3xf8E4M3FN>
  return %2, %1 : tensor<3xf8E4M3FN>, tensor<300xi4>
}

// Changed: A reduction by one op and a contraction round once.
// CHECK-LABEL: func.func @sums
// CHECK: stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [0] : (tensor<5xf32>, tensor<f32>) -> tensor<f32>
// CHECK: stablehlo.dot_general {{.*}} : (tensor<5xi8>, tensor<5xi8>) -> tensor<i32>
func.func @sums(%x: tensor<5xf8E5M2>, %z: tensor<f8E5M2>, %y: tensor<5xi4>) -> (tensor<f8E5M2>, tensor<i32>) {
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<5xf8E5M2>, tensor<f8E5M2>) -> tensor<f8E5M2>
  %1 = stablehlo.dot_general %y, %y, contracting_dims = [0] x [0] : (tensor<5xi4>, tensor<5xi4>) -> tensor<i32>
  return %0, %1 : tensor<f8E5M2>, tensor<i32>
}

// Changed: Elements of less than a byte are packed, the lowest bits first; of i1, too.
// CHECK-LABEL: func.func @bits
// CHECK: stablehlo.reduce({{.*}}) applies stablehlo.or across dimensions = [2] : (tensor<3x1x2xui8>, tensor<ui8>) -> tensor<3x1xui8>
// CHECK: stablehlo.reduce({{.*}}) applies stablehlo.or across dimensions = [2] : (tensor<2x1x8xui8>, tensor<ui8>) -> tensor<2x1xui8>
func.func @bits(%x: tensor<3x2xi4>, %y: tensor<2x8xi1>) -> (tensor<3xi8>, tensor<2xui8>) {
  %0 = stablehlo.bitcast_convert %x : (tensor<3x2xi4>) -> tensor<3xi8>
  %1 = stablehlo.bitcast_convert %y : (tensor<2x8xi1>) -> tensor<2xui8>
  return %0, %1 : tensor<3xi8>, tensor<2xui8>
}

// Changed: CHLO's forms with broadcasts become the ops that see the bits; the upper half of a product is in a byte.
// CHECK-LABEL: func.func @spelled
// CHECK: %[[Y:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [1] : (tensor<3xi8>) -> tensor<2x3xi8>
// CHECK: stablehlo.shift_right_logical %{{.*}}, %{{.*}} : tensor<2x3xui8>
// CHECK: stablehlo.multiply %{{.*}} : tensor<3xi8>
// CHECK: stablehlo.shift_right_arithmetic %{{.*}} : tensor<3xi8>
func.func @spelled(%x: tensor<2x3xi4>, %y: tensor<3xi4>) -> (tensor<2x3xi4>, tensor<3xi4>) {
  %0 = chlo.broadcast_shift_right_logical %x, %y : (tensor<2x3xi4>, tensor<3xi4>) -> tensor<2x3xi4>
  %1 = chlo.mulhi %y, %y : tensor<3xi4>, tensor<3xi4> -> tensor<3xi4>
  return %0, %1 : tensor<2x3xi4>, tensor<3xi4>
}

// Unchanged: No type is narrow.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: stablehlo.add %{{.*}}, %{{.*}} : tensor<4xi8>
func.func @none(%x: tensor<4xi8>) -> tensor<4xi8> {
  %0 = stablehlo.add %x, %x : tensor<4xi8>
  return %0 : tensor<4xi8>
}
