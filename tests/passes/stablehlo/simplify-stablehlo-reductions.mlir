// RUN: hloom-opt %s --simplify-stablehlo --cse | filecheck %s

// Changed: Whether all scores are -inf is whether their maximum is, through a view too; softmax has it already.
// CHECK-LABEL: func.func @masked_rows
// CHECK: %[[V:.*]] = stablehlo.reshape %arg0
// CHECK: %[[M:.*]] = stablehlo.reduce(%[[V]] {{.*}} applies stablehlo.maximum across dimensions = [2]
// CHECK: %[[P:.*]] = stablehlo.compare EQ, %[[M]], %{{.*}} : (tensor<1x3xf32>, tensor<1x3xf32>)
// CHECK-NOT: stablehlo.and
// CHECK: return %[[M]], %[[P]]
func.func @masked_rows(%x: tensor<3x8xf32>) -> (tensor<1x3xf32>, tensor<1x3xi1>) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<3x8xf32>
  %true = stablehlo.constant dense<true> : tensor<i1>
  %v = stablehlo.reshape %x : (tensor<3x8xf32>) -> tensor<1x3x8xf32>
  %m = stablehlo.reduce(%v init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<1x3x8xf32>, tensor<f32>) -> tensor<1x3xf32>
  %c = stablehlo.compare EQ, %x, %least : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xi1>
  %cv = stablehlo.reshape %c : (tensor<3x8xi1>) -> tensor<1x3x8xi1>
  %p = stablehlo.reduce(%cv init: %true) applies stablehlo.and across dimensions = [2] : (tensor<1x3x8xi1>, tensor<i1>) -> tensor<1x3xi1>
  return %m, %p : tensor<1x3xf32>, tensor<1x3xi1>
}

// Declined: Another number is no neutral element of the maximum.
// CHECK-LABEL: func.func @of_zeros
// CHECK: applies stablehlo.and
func.func @of_zeros(%x: tensor<3x8xf32>) -> tensor<3xi1> {
  %zero = stablehlo.constant dense<0.0> : tensor<3x8xf32>
  %true = stablehlo.constant dense<true> : tensor<i1>
  %c = stablehlo.compare EQ, %x, %zero : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xi1>
  %p = stablehlo.reduce(%c init: %true) applies stablehlo.and across dimensions = [1] : (tensor<3x8xi1>, tensor<i1>) -> tensor<3xi1>
  return %p : tensor<3xi1>
}

// Unchanged: Whether any is.
// CHECK-LABEL: func.func @any
// CHECK: applies stablehlo.or
func.func @any(%x: tensor<3x8xf32>) -> tensor<3xi1> {
  %least = stablehlo.constant dense<0xFF800000> : tensor<3x8xf32>
  %false = stablehlo.constant dense<false> : tensor<i1>
  %c = stablehlo.compare EQ, %x, %least : (tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xi1>
  %p = stablehlo.reduce(%c init: %false) applies stablehlo.or across dimensions = [1] : (tensor<3x8xi1>, tensor<i1>) -> tensor<3xi1>
  return %p : tensor<3xi1>
}

// Changed: Along dimensions of one element nothing is reduced; what it starts from is added all the same.
// CHECK-LABEL: func.func @of_one
// CHECK: %[[X:.*]] = stablehlo.reshape %arg0 : (tensor<3x1xf32>) -> tensor<3xf32>
// CHECK: %[[S:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<3xf32>
// CHECK: %[[Y:.*]] = stablehlo.add %[[S]], %[[X]] : tensor<3xf32>
// CHECK: return %[[Y]]
func.func @of_one(%x: tensor<3x1xf32>, %start: tensor<f32>) -> tensor<3xf32> {
  %0 = stablehlo.reduce(%x init: %start) applies stablehlo.add across dimensions = [1] : (tensor<3x1xf32>, tensor<f32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// Unchanged: Some of the dimensions are longer.
// CHECK-LABEL: func.func @of_more
// CHECK: applies stablehlo.add across dimensions = [0, 1]
func.func @of_more(%x: tensor<3x1xf32>, %start: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.reduce(%x init: %start) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x1xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// Changed: What was transposed is reduced along the dimensions that it had before; what is left lies as the transpose put it.
// CHECK-LABEL: func.func @transposed(
// CHECK-SAME: %[[X:.*]]: tensor<4x8x16x32xf32>)
// CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[X]] init: %{{.*}}) applies stablehlo.add across dimensions = [1, 2] :
// CHECK: %[[R:.*]] = stablehlo.transpose %[[SUM]], dims = [1, 0] : (tensor<4x32xf32>)
// CHECK: return %[[R]]
func.func @transposed(%x: tensor<4x8x16x32xf32>) -> tensor<32x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %t = stablehlo.transpose %x, dims = [2, 3, 0, 1] : (tensor<4x8x16x32xf32>) -> tensor<16x32x4x8xf32>
  %0 = stablehlo.reduce(%t init: %zero) applies stablehlo.add across dimensions = [0, 3] : (tensor<16x32x4x8xf32>, tensor<f32>) -> tensor<32x4xf32>
  return %0 : tensor<32x4xf32>
}

// -----

// Changed: Two values of one order, as those of a maximum with its place.
// CHECK-LABEL: func.func @two(
// CHECK-NOT: stablehlo.transpose
// CHECK: stablehlo.reduce{{.*}} across dimensions = [0]
// CHECK: return
func.func @two(%x: tensor<4x8xf32>, %y: tensor<4x8xi32>) -> tensor<8xi32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<0> : tensor<i32>
  %s = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %t = stablehlo.transpose %y, dims = [1, 0] : (tensor<4x8xi32>) -> tensor<8x4xi32>
  %0:2 = stablehlo.reduce(%s init: %zero), (%t init: %one) across dimensions = [1] : (tensor<8x4xf32>, tensor<8x4xi32>, tensor<f32>, tensor<i32>) -> (tensor<8xf32>, tensor<8xi32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<i32>, %d: tensor<i32>) {
      %1 = stablehlo.compare GT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.maximum %a, %b : tensor<f32>
      %3 = stablehlo.select %1, %c, %d : tensor<i1>, tensor<i32>
      stablehlo.return %2, %3 : tensor<f32>, tensor<i32>
    }
  return %0#1 : tensor<8xi32>
}

// -----

// Declined: A transposed value that others read; two that were transposed otherwise.
// CHECK-LABEL: func.func @kept(
// CHECK: %[[T:.*]] = stablehlo.transpose
// CHECK: stablehlo.reduce(%[[T]] init
// CHECK: return %{{.*}}, %[[T]]
func.func @kept(%x: tensor<4x8xf32>) -> (tensor<8xf32>, tensor<8x4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %0 = stablehlo.reduce(%t init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
  return %0, %t : tensor<8xf32>, tensor<8x4xf32>
}

// -----

// Changed: Rows that all others read in another order are reduced in that; what stood before the transpose, and what stands behind it.
// CHECK-LABEL: func.func @rows(
// CHECK: %[[X:.*]] = stablehlo.exponential
// CHECK: %[[T:.*]] = stablehlo.transpose %[[X]], dims = [1, 0, 2]
// CHECK: %[[M:.*]] = stablehlo.reduce(%[[T]] init: %{{.*}}) applies stablehlo.maximum across dimensions = [2] : (tensor<8x4x16xf32>, tensor<f32>) -> tensor<8x4xf32>
// CHECK: %[[S:.*]] = stablehlo.reduce(%[[T]] init: %{{.*}}) applies stablehlo.add across dimensions = [2] : (tensor<8x4x16xf32>, tensor<f32>) -> tensor<8x4xf32>
// CHECK: return %[[T]], %[[M]], %[[S]]
func.func @rows(%x: tensor<4x8x16xf32>) -> (tensor<8x4x16xf32>, tensor<8x4xf32>, tensor<8x4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x8x16xf32>
  %m = stablehlo.reduce(%e init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<4x8x16xf32>, tensor<f32>) -> tensor<4x8xf32>
  %mt = stablehlo.transpose %m, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %t = stablehlo.transpose %e, dims = [1, 0, 2] : (tensor<4x8x16xf32>) -> tensor<8x4x16xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x8x16xf32>, tensor<f32>) -> tensor<4x8xf32>
  %st = stablehlo.transpose %s, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  return %t, %mt, %st : tensor<8x4x16xf32>, tensor<8x4xf32>, tensor<8x4xf32>
}

// -----

// Declined: Others read the rows as they are; what is reduced are no rows of the transposed value.
// CHECK-LABEL: func.func @as_they_are(
// CHECK-SAME: %[[X:.*]]: tensor<4x8x16xf32>, %[[Y:.*]]: tensor<4x8xf32>)
// CHECK: stablehlo.reduce(%[[X]] init
// CHECK: stablehlo.reduce(%[[Y]] init
// CHECK: return
func.func @as_they_are(%x: tensor<4x8x16xf32>, %y: tensor<4x8xf32>) -> (tensor<8x4x16xf32>, tensor<4x8x16xf32>, tensor<4x8xf32>, tensor<8x4xf32>, tensor<4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %t = stablehlo.transpose %x, dims = [1, 0, 2] : (tensor<4x8x16xf32>) -> tensor<8x4x16xf32>
  %e = stablehlo.exponential %x : tensor<4x8x16xf32>
  %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x8x16xf32>, tensor<f32>) -> tensor<4x8xf32>
  %u = stablehlo.transpose %y, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %r = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  return %t, %e, %s, %u, %r : tensor<8x4x16xf32>, tensor<4x8x16xf32>, tensor<4x8xf32>, tensor<8x4xf32>, tensor<4xf32>
}

// One element of a row is not zero: the sum is that element, where the index is one of the row's. Signs, and what the row is multiplied
// with, are the sum's.
// CHECK-LABEL: func.func @one_hot(
// CHECK-NOT: stablehlo.reduce
// CHECK-DAG: %[[FIRST:.*]] = stablehlo.compare GE, %arg0, %{{.*}} : (tensor<64xi32>
// CHECK-DAG: %[[LAST:.*]] = stablehlo.compare LT, %arg0, %{{.*}} : (tensor<64xi32>
// CHECK: %[[IN:.*]] = stablehlo.and %[[FIRST]], %[[LAST]]
// CHECK: %[[ONE:.*]] = stablehlo.select %[[IN]], %{{.*}}, %{{.*}} : tensor<64xi1>, tensor<64xf32>
// CHECK: %[[MINUS:.*]] = stablehlo.negate %[[ONE]]
// CHECK: %[[SUM:.*]] = stablehlo.multiply %[[MINUS]], %arg1
// CHECK: return %[[SUM]]
func.func @one_hot(%i: tensor<64xi32>, %b: tensor<64xf32>) -> tensor<64xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.constant dense<2.0> : tensor<64x1000xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<64x1000xf32>
  %at = stablehlo.iota dim = 1 : tensor<64x1000xi32>
  %index = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<64xi32>) -> tensor<64x1000xi32>
  %here = stablehlo.compare EQ, %at, %index : (tensor<64x1000xi32>, tensor<64x1000xi32>) -> tensor<64x1000xi1>
  %hot = stablehlo.select %here, %a, %zeros : tensor<64x1000xi1>, tensor<64x1000xf32>
  %minus = stablehlo.negate %hot : tensor<64x1000xf32>
  %scale = stablehlo.broadcast_in_dim %b, dims = [0] : (tensor<64xf32>) -> tensor<64x1000xf32>
  %scaled = stablehlo.multiply %scale, %minus : tensor<64x1000xf32>
  %sum = stablehlo.reduce(%scaled init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x1000xf32>, tensor<f32>) -> tensor<64xf32>
  return %sum : tensor<64xf32>
}

// Along the rows there may be any number.
// CHECK-LABEL: func.func @not_one_hot_along_rows(
// CHECK: stablehlo.reduce
func.func @not_one_hot_along_rows(%i: tensor<64xi32>) -> tensor<1000xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.constant dense<2.0> : tensor<64x1000xf32>
  %zeros = stablehlo.constant dense<0.0> : tensor<64x1000xf32>
  %at = stablehlo.iota dim = 1 : tensor<64x1000xi32>
  %index = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<64xi32>) -> tensor<64x1000xi32>
  %here = stablehlo.compare EQ, %at, %index : (tensor<64x1000xi32>, tensor<64x1000xi32>) -> tensor<64x1000xi1>
  %hot = stablehlo.select %here, %a, %zeros : tensor<64x1000xi1>, tensor<64x1000xf32>
  %sum = stablehlo.reduce(%hot init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<64x1000xf32>, tensor<f32>) -> tensor<1000xf32>
  return %sum : tensor<1000xf32>
}

// Where it is not 0 elsewhere, all of a row count.
// CHECK-LABEL: func.func @ones_elsewhere(
// CHECK: stablehlo.reduce
func.func @ones_elsewhere(%i: tensor<64xi32>) -> tensor<64xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.constant dense<2.0> : tensor<64x1000xf32>
  %ones = stablehlo.constant dense<1.0> : tensor<64x1000xf32>
  %at = stablehlo.iota dim = 1 : tensor<64x1000xi32>
  %index = stablehlo.broadcast_in_dim %i, dims = [0] : (tensor<64xi32>) -> tensor<64x1000xi32>
  %here = stablehlo.compare EQ, %at, %index : (tensor<64x1000xi32>, tensor<64x1000xi32>) -> tensor<64x1000xi1>
  %hot = stablehlo.select %here, %a, %ones : tensor<64x1000xi1>, tensor<64x1000xf32>
  %sum = stablehlo.reduce(%hot init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x1000xf32>, tensor<f32>) -> tensor<64xf32>
  return %sum : tensor<64xf32>
}

// Changed: Pieces that are stacked to be summed are added.
// CHECK-LABEL: func.func @stacked
// CHECK-SAME: %[[A:.*]]: tensor<1x8xf32>, %[[B:.*]]: tensor<1x8xf32>, %[[C:.*]]: tensor<1x8xf32>
// CHECK: %[[AB:.*]] = stablehlo.add %[[A]], %[[B]]
// CHECK: stablehlo.add %[[AB]], %[[C]]
// CHECK-NOT: stablehlo.reduce
// CHECK-NOT: stablehlo.concatenate
// CHECK: return
func.func @stacked(%a: tensor<1x8xf32>, %b: tensor<1x8xf32>, %c: tensor<1x8xf32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.concatenate %a, %b, %c, dim = 0 : (tensor<1x8xf32>, tensor<1x8xf32>, tensor<1x8xf32>) -> tensor<3x8xf32>
  %r = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// Changed: Halves are added in f32, rounded once; what is left is reduced.
// CHECK-LABEL: func.func @halves
// CHECK-SAME: %[[A:.*]]: tensor<4x8xbf16>, %[[B:.*]]: tensor<4x8xbf16>
// CHECK-DAG: %[[C:.*]] = stablehlo.convert %[[A]] : (tensor<4x8xbf16>) -> tensor<4x8xf32>
// CHECK-DAG: %[[D:.*]] = stablehlo.convert %[[B]] : (tensor<4x8xbf16>) -> tensor<4x8xf32>
// CHECK: %[[S:.*]] = stablehlo.add %[[C]], %[[D]]
// CHECK: %[[R:.*]] = stablehlo.reduce(%[[S]] init: %{{.*}}) applies stablehlo.add across dimensions = [1]
// CHECK: stablehlo.convert %[[R]] : (tensor<4xf32>) -> tensor<4xbf16>
func.func @halves(%a: tensor<4x8xbf16>, %b: tensor<4x8xbf16>) -> tensor<4xbf16> {
  %zero = stablehlo.constant dense<0.0> : tensor<bf16>
  %s = stablehlo.concatenate %a, %b, dim = 1 : (tensor<4x8xbf16>, tensor<4x8xbf16>) -> tensor<4x16xbf16>
  %r = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x16xbf16>, tensor<bf16>) -> tensor<4xbf16>
  return %r : tensor<4xbf16>
}

// Declined: Pieces of several sizes; a reduction of rows, along the other dimension; a stack that others read.
// CHECK-LABEL: func.func @not_stacked
// CHECK: stablehlo.concatenate
// CHECK: stablehlo.reduce
// CHECK: stablehlo.concatenate
// CHECK-COUNT-2: stablehlo.reduce
func.func @not_stacked(%a: tensor<1x8xf32>, %b: tensor<2x8xf32>, %c: tensor<2x8xf32>) -> (tensor<8xf32>, tensor<4xf32>, tensor<8xf32>, tensor<4x8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.concatenate %a, %b, dim = 0 : (tensor<1x8xf32>, tensor<2x8xf32>) -> tensor<3x8xf32>
  %0 = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3x8xf32>, tensor<f32>) -> tensor<8xf32>
  %t = stablehlo.concatenate %b, %c, dim = 0 : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.reduce(%t init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = stablehlo.reduce(%t init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0, %1, %2, %t : tensor<8xf32>, tensor<4xf32>, tensor<8xf32>, tensor<4x8xf32>
}

// What is computed of a transpose that is cut is computed, and reduced, in the order that it had before (packed bits of columns).
// CHECK-LABEL: func.func @packed
// CHECK-DAG: %[[CUT:.*]] = stablehlo.reshape %arg0 : (tensor<24x10xi32>) -> tensor<3x8x10xi32>
// CHECK-DAG: %[[BITS:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [1] : (tensor<8xi32>) -> tensor<3x8x10xi32>
// CHECK: %[[MOVED:.*]] = stablehlo.shift_left %[[CUT]], %[[BITS]] : tensor<3x8x10xi32>
// CHECK: stablehlo.reduce(%[[MOVED]] {{.*}} across dimensions = [1] : {{.*}} -> tensor<3x10xi32>
// CHECK: stablehlo.transpose {{.*}} -> tensor<10x3xi32>
func.func @packed(%x: tensor<24x10xi32>, %bits: tensor<8xi32>) -> tensor<10x3xi32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<24x10xi32>) -> tensor<10x24xi32>
  %1 = stablehlo.reshape %0 : (tensor<10x24xi32>) -> tensor<10x3x8xi32>
  %2 = stablehlo.broadcast_in_dim %bits, dims = [2] : (tensor<8xi32>) -> tensor<10x3x8xi32>
  %3 = stablehlo.shift_left %1, %2 : tensor<10x3x8xi32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<10x3x8xi32>, tensor<i32>) -> tensor<10x3xi32>
  return %4 : tensor<10x3xi32>
}

// Declined: what joins dimensions, and what others read, too.
// CHECK-LABEL: func.func @joined
// CHECK: stablehlo.transpose %arg0
// CHECK: across dimensions = [1] : (tensor<8x5xf32>
// CHECK: across dimensions = [1, 2] : (tensor<5x2x4xf32>
func.func @joined(%x: tensor<4x10xf32>) -> (tensor<8xf32>, tensor<5xf32>, tensor<5x2x4xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x10xf32>) -> tensor<10x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<10x4xf32>) -> tensor<8x5xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x5xf32>, tensor<f32>) -> tensor<8xf32>
  %3 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x10xf32>) -> tensor<10x4xf32>
  %4 = stablehlo.reshape %3 : (tensor<10x4xf32>) -> tensor<5x2x4xf32>
  %5 = stablehlo.multiply %4, %4 : tensor<5x2x4xf32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [1, 2] : (tensor<5x2x4xf32>, tensor<f32>) -> tensor<5xf32>
  return %2, %6, %4 : tensor<8xf32>, tensor<5xf32>, tensor<5x2x4xf32>
}
