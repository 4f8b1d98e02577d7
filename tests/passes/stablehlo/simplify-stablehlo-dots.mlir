// RUN: hloom-opt %s --simplify-stablehlo --split-input-file | filecheck %s

// Changed: A product with ones is a sum, of halves in f32.
// CHECK-LABEL: func.func @left(
// CHECK: %[[S:.*]] = stablehlo.reduce(%arg0 init: %{{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %[[S]], dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
// CHECK: return %[[B]]
func.func @left(%x: tensor<8x4xf32>) -> tensor<8x16xf32> {
  %ones = stablehlo.constant dense<1.0> : tensor<4x16xf32>
  %0 = stablehlo.dot_general %x, %ones, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @right(
// CHECK: %[[W:.*]] = stablehlo.convert %{{.*}} : (tensor<3x{{.*}}xf16>) -> tensor<3x{{.*}}xf32>
// CHECK: %[[S:.*]] = stablehlo.reduce(%[[W]] init: %{{.*}}) applies stablehlo.add across dimensions = [1]
// CHECK: %[[N:.*]] = stablehlo.convert %[[S]] : (tensor<3x16xf32>) -> tensor<3x16xf16>
// CHECK: stablehlo.broadcast_in_dim %[[N]], dims = [0, 2] : (tensor<3x16xf16>) -> tensor<3x8x16xf16>
func.func @right(%w: tensor<3x4x16xf16>) -> tensor<3x8x16xf16> {
  %ones = stablehlo.constant dense<1.0> : tensor<3x8x4xf16>
  %0 = stablehlo.dot_general %ones, %w, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x8x4xf16>, tensor<3x4x16xf16>) -> tensor<3x8x16xf16>
  return %0 : tensor<3x8x16xf16>
}

// -----

// Changed: A product with one number, as the gradient of a mean is: each element is multiplied before it is summed, as in the product.
// CHECK-LABEL: func.func @halves(
// CHECK: %[[H:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<8x4xf32>
// CHECK: %[[M:.*]] = stablehlo.multiply %arg0, %[[H]]
// CHECK: %[[S:.*]] = stablehlo.reduce(%[[M]] init: %{{.*}}) applies stablehlo.add across dimensions = [1]
// CHECK: stablehlo.broadcast_in_dim %[[S]], dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
func.func @halves(%x: tensor<8x4xf32>) -> tensor<8x16xf32> {
  %halves = stablehlo.constant dense<0.5> : tensor<4x16xf32>
  %0 = stablehlo.dot_general %x, %halves, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// CHECK-LABEL: func.func @known_at_run_time(
// CHECK: %[[B:.*]] = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<4x16xf32>
// CHECK: %[[M:.*]] = stablehlo.multiply %arg0, %[[B]]
// CHECK: %[[S:.*]] = stablehlo.reduce(%[[M]] init: %{{.*}}) applies stablehlo.add across dimensions = [0]
// CHECK: stablehlo.broadcast_in_dim %[[S]], dims = [1] : (tensor<16xf32>) -> tensor<8x16xf32>
func.func @known_at_run_time(%w: tensor<4x16xf32>, %s: tensor<f32>) -> tensor<8x16xf32> {
  %all = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<8x4xf32>
  %0 = stablehlo.dot_general %all, %w, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// -----

// Declined: A product of truth values is no sum.
// CHECK-LABEL: func.func @declined(
// CHECK: stablehlo.dot_general
func.func @declined(%p: tensor<8x4xi1>) -> tensor<8x16xi1> {
  %true = stablehlo.constant dense<true> : tensor<4x16xi1>
  %0 = stablehlo.dot_general %p, %true, contracting_dims = [1] x [0] : (tensor<8x4xi1>, tensor<4x16xi1>) -> tensor<8x16xi1>
  return %0 : tensor<8x16xi1>
}

// -----

// Changed: Batches that share the right operand are rows of one product, as attention's projection of sequence-first tokens has them.
// CHECK-LABEL: func.func @shared(
// CHECK-SAME: %[[X:.*]]: tensor<128x4x16xf32>, %[[W:.*]]: tensor<16x8xf32>
// CHECK-NEXT: stablehlo.dot_general %[[X]], %[[W]], contracting_dims = [2] x [0] : (tensor<128x4x16xf32>, tensor<16x8xf32>) -> tensor<128x4x8xf32>
// CHECK-NEXT: return
func.func @shared(%x: tensor<128x4x16xf32>, %w: tensor<16x8xf32>) -> tensor<128x4x8xf32> {
  %0 = stablehlo.broadcast_in_dim %w, dims = [1, 2] : (tensor<16x8xf32>) -> tensor<128x16x8xf32>
  %1 = stablehlo.dot_general %x, %0, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<128x4x16xf32>, tensor<128x16x8xf32>) -> tensor<128x4x8xf32>
  return %1 : tensor<128x4x8xf32>
}

// One of two batches is shared.
// CHECK-LABEL: func.func @shared_inner(
// CHECK-SAME: %[[X:.*]]: tensor<3x5x4x16xf32>, %[[W:.*]]: tensor<3x16x8xf32>
// CHECK-NEXT: stablehlo.dot_general %[[X]], %[[W]], batching_dims = [0] x [0], contracting_dims = [3] x [1]
// CHECK-NEXT: return
func.func @shared_inner(%x: tensor<3x5x4x16xf32>, %w: tensor<3x16x8xf32>) -> tensor<3x5x4x8xf32> {
  %0 = stablehlo.broadcast_in_dim %w, dims = [0, 2, 3] : (tensor<3x16x8xf32>) -> tensor<3x5x16x8xf32>
  %1 = stablehlo.dot_general %x, %0, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<3x5x4x16xf32>, tensor<3x5x16x8xf32>) -> tensor<3x5x4x8xf32>
  return %1 : tensor<3x5x4x8xf32>
}

// Declined: The order of the result would change: the outer of two batches is shared, the batch comes behind the rows, the left operand is shared.
// CHECK-LABEL: func.func @shared_declined(
// CHECK-COUNT-3: stablehlo.dot_general {{.*}}batching_dims
func.func @shared_declined(%x: tensor<3x5x4x16xf32>, %v: tensor<5x16x8xf32>, %y: tensor<4x3x16xf32>, %w: tensor<16x8xf32>, %u: tensor<4x16xf32>, %z: tensor<3x16x8xf32>)
    -> (tensor<3x5x4x8xf32>, tensor<3x4x8xf32>, tensor<3x4x8xf32>) {
  %0 = stablehlo.broadcast_in_dim %v, dims = [1, 2, 3] : (tensor<5x16x8xf32>) -> tensor<3x5x16x8xf32>
  %1 = stablehlo.dot_general %x, %0, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [2] : (tensor<3x5x4x16xf32>, tensor<3x5x16x8xf32>) -> tensor<3x5x4x8xf32>
  %2 = stablehlo.broadcast_in_dim %w, dims = [1, 2] : (tensor<16x8xf32>) -> tensor<3x16x8xf32>
  %3 = stablehlo.dot_general %y, %2, batching_dims = [1] x [0], contracting_dims = [2] x [1] : (tensor<4x3x16xf32>, tensor<3x16x8xf32>) -> tensor<3x4x8xf32>
  %4 = stablehlo.broadcast_in_dim %u, dims = [1, 2] : (tensor<4x16xf32>) -> tensor<3x4x16xf32>
  %5 = stablehlo.dot_general %4, %z, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x4x16xf32>, tensor<3x16x8xf32>) -> tensor<3x4x8xf32>
  return %1, %3, %5 : tensor<3x5x4x8xf32>, tensor<3x4x8xf32>, tensor<3x4x8xf32>
}

// -----

// Changed: One window is a product; the tap on padding and the pixel that no tap reads are left out.
// CHECK-LABEL: func.func @whole_window(
// CHECK-SAME: %[[X:.*]]: tensor<2x7x8x3xf32>, %[[W:.*]]: tensor<4x3x7x3xf32>
// CHECK: %[[P:.*]] = stablehlo.slice %[[W]] [0:4, 0:3, 0:7, 1:3]
// CHECK: %[[Q:.*]] = stablehlo.slice %[[X]] [0:2, 0:7, 1:6:4, 0:3]
// CHECK: %[[D:.*]] = stablehlo.dot_general %[[P]], %[[Q]], contracting_dims = [1, 2, 3] x [3, 1, 2], precision = [HIGHEST, HIGHEST]
// CHECK-SAME: -> tensor<4x2xf32>
// CHECK: stablehlo.reshape %[[D]] : (tensor<4x2xf32>) -> tensor<4x2x1x1xf32>
func.func @whole_window(%x: tensor<2x7x8x3xf32>, %w: tensor<4x3x7x3xf32>) -> tensor<4x2x1x1xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[o, i, 0, 1]->[f, b, 0, 1], window = {pad = [[0, 0], [3, -2]], rhs_dilate = [1, 4]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision HIGHEST>]}
    : (tensor<2x7x8x3xf32>, tensor<4x3x7x3xf32>) -> tensor<4x2x1x1xf32>
  return %0 : tensor<4x2x1x1xf32>
}

// Changed: The taps are reversed.
// CHECK-LABEL: func.func @reversed(
// CHECK: %[[R:.*]] = stablehlo.reverse %arg1, dims = [2]
// CHECK: stablehlo.dot_general %arg0, %[[R]], contracting_dims = [1, 2] x [1, 2] : (tensor<2x3x5xf32>, tensor<4x3x5xf32>) -> tensor<2x4xf32>
func.func @reversed(%x: tensor<2x3x5xf32>, %w: tensor<4x3x5xf32>) -> tensor<2x4x1xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {reverse = [true]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3x5xf32>, tensor<4x3x5xf32>) -> tensor<2x4x1xf32>
  return %0 : tensor<2x4x1xf32>
}

// -----

// Declined: Two windows, groups, and zeros between the pixels.
// CHECK-LABEL: func.func @no_products(
// CHECK-COUNT-3: stablehlo.convolution
func.func @no_products(%x: tensor<2x4x5xf32>, %v: tensor<6x4x4xf32>, %w: tensor<6x2x5xf32>, %u: tensor<6x4x9xf32>)
    -> (tensor<2x6x2xf32>, tensor<2x6x1xf32>, tensor<2x6x1xf32>) {
  %0 = stablehlo.convolution(%x, %v) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x5xf32>, tensor<6x4x4xf32>) -> tensor<2x6x2xf32>
  %1 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x4x5xf32>, tensor<6x2x5xf32>) -> tensor<2x6x1xf32>
  %2 = stablehlo.convolution(%x, %u) dim_numbers = [b, f, 0]x[o, i, 0]->[b, f, 0], window = {lhs_dilate = [2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x4x5xf32>, tensor<6x4x9xf32>) -> tensor<2x6x1xf32>
  return %0, %1, %2 : tensor<2x6x2xf32>, tensor<2x6x1xf32>, tensor<2x6x1xf32>
}

// -----

// Changed: An algorithm that multiplies bf16 rounds f32 to it; of bf16 that is summed in f32 it says nothing more.
// CHECK-LABEL: func.func @as_bf16(
// CHECK: %[[X:.*]] = stablehlo.convert %arg0 : (tensor<8x4xf32>) -> tensor<8x4xbf16>
// CHECK: stablehlo.dot_general %[[X]], %arg1, contracting_dims = [1] x [0] : (tensor<8x4xbf16>, tensor<4x16xbf16>) -> tensor<8x16xf32>
func.func @as_bf16(%x: tensor<8x4xf32>, %y: tensor<4x16xbf16>) -> tensor<8x16xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<8x4xf32>, tensor<4x16xbf16>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// Declined: three products of parts are f32, all but.
// CHECK-LABEL: func.func @as_three_parts(
// CHECK-NOT: stablehlo.convert
// CHECK: num_primitive_operations = 3
func.func @as_three_parts(%x: tensor<8x4xf32>, %y: tensor<4x16xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = bf16, rhs_precision_type = bf16, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 3, allow_imprecise_accumulation = false> : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}

// Unchanged: no algorithm.
// CHECK-LABEL: func.func @as_f32(
// CHECK-NOT: stablehlo.convert
func.func @as_f32(%x: tensor<8x4xf32>, %y: tensor<4x16xf32>) -> tensor<8x16xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4x16xf32>) -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
