// RUN: hloom-opt %s --lower-to-linalg --split-input-file | filecheck %s

// Changed: One parallel generic an op; unsigned types lose their sign, signature included.
// CHECK-LABEL: func.func @elementwise
// CHECK-SAME: (%[[X:.*]]: tensor<8x4xi8>, %[[B:.*]]: tensor<4xi8>) -> tensor<8x4xi8>
// CHECK: linalg.generic
// CHECK-SAME: ins(%[[B]] : tensor<4xi8>)
// CHECK: linalg.generic
// CHECK: arith.maxui
// CHECK: return {{.*}} : tensor<8x4xi8>
func.func @elementwise(%x: tensor<8x4xui8>, %b: tensor<4xui8>) -> tensor<8x4xui8> {
  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xui8>) -> tensor<8x4xui8>
  %1 = stablehlo.maximum %x, %0 : tensor<8x4xui8>
  return %1 : tensor<8x4xui8>
}

// -----

// A splat constant is a scalar in the body.
// CHECK-LABEL: func.func @splat
// CHECK: %[[C:.*]] = arith.constant 2.000000e+00 : f32
// CHECK: linalg.generic
// CHECK: arith.mulf %{{.*}}, %[[C]] : f32
func.func @splat(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c = stablehlo.constant dense<2.0> : tensor<8xf32>
  %0 = stablehlo.multiply %x, %c : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Data movement by affine input maps.
// CHECK-DAG: affine_map<(d0, d1) -> (d0 * 2 + 1, d1 + 3)>
// CHECK-DAG: affine_map<(d0, d1) -> (-d0 + 2, d1)>
// CHECK-LABEL: func.func @move
func.func @move(%x: tensor<7x9xf32>) -> tensor<3x4xf32> {
  %0 = stablehlo.slice %x [1:6:2, 3:7] : (tensor<7x9xf32>) -> tensor<3x4xf32>
  %1 = stablehlo.reverse %0, dims = [0] : tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}

// -----

// A leading part is cut off first: linalg takes a bare loop to run over the whole dimension.
// CHECK-LABEL: func.func @prefix
// CHECK: tensor.extract_slice %{{.*}}[0, 0] [7, 4] [1, 1]
// CHECK: linalg.generic
func.func @prefix(%x: tensor<7x9xf32>) -> tensor<7x4xf32> {
  %0 = stablehlo.slice %x [0:7, 0:4] : (tensor<7x9xf32>) -> tensor<7x4xf32>
  return %0 : tensor<7x4xf32>
}

// -----

// What no map expresses is read at clamped indices; a select chooses.
// CHECK-LABEL: func.func @pad
// CHECK: linalg.index
// CHECK: arith.maxsi
// CHECK: arith.minsi
// CHECK: tensor.extract
// CHECK: arith.select
func.func @pad(%x: tensor<7xf32>) -> tensor<9xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %c, low = [1], high = [1], interior = [0] : (tensor<7xf32>, tensor<f32>) -> tensor<9xf32>
  return %0 : tensor<9xf32>
}

// -----

// A reduction starts from a fill and keeps the operand's dims in order.
// CHECK-LABEL: func.func @reduce
// CHECK: linalg.fill
// CHECK: iterator_types = ["parallel", "reduction", "parallel"]
// CHECK: arith.addf %out, %in
func.func @reduce(%x: tensor<4x5x6xf32>) -> tensor<4x6xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<4x5x6xf32>, tensor<f32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

// Half-precision operands stay as they are; the sum is f32 and rounded in a generic of its own.
// CHECK-LABEL: func.func @dot
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<4x5xf16>, tensor<5x6xf16>) outs(%{{.*}} : tensor<4x6xf32>)
// CHECK: arith.extf
// CHECK: arith.extf
// CHECK: arith.mulf %{{.*}} fastmath<contract> : f32
// CHECK: arith.addf %out, %{{.*}} fastmath<contract> : f32
// CHECK: linalg.generic
// CHECK: arith.truncf
func.func @dot(%x: tensor<4x5xf16>, %y: tensor<5x6xf16>) -> tensor<4x6xf16> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<4x5xf16>, tensor<5x6xf16>) -> tensor<4x6xf16>
  return %0 : tensor<4x6xf16>
}

// -----

// Loops of a convolution: the result's dims, the window, the input channels.
// CHECK: affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 * 2 + d4, d2 * 2 + d5, d6)>
// CHECK-LABEL: func.func @convolution
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]
func.func @convolution(%x: tensor<1x9x9x2xf32>, %w: tensor<3x3x2x4xf32>) -> tensor<1x4x4x4xf32> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [2, 2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x9x9x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}

// -----

// Dimensions that both operands have in different orders are summed over with the longest innermost: sums are taken in blocks along it.
// CHECK-DAG: #[[LEFT:.*]] = affine_map<(d0, d1, d2, d3) -> (d2, d3, d0)>
// CHECK-DAG: #[[RIGHT:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d2, d1)>
// CHECK-LABEL: func.func @in_other_orders
// CHECK: linalg.generic {indexing_maps = [#[[LEFT]], #[[RIGHT]],
func.func @in_other_orders(%x: tensor<8x64x4xf32>, %y: tensor<64x8x5xf32>) -> tensor<4x5xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1, 0] x [0, 1] : (tensor<8x64x4xf32>, tensor<64x8x5xf32>) -> tensor<4x5xf32>
  return %0 : tensor<4x5xf32>
}

// -----

// Unchanged: Only groups are lowered where there are groups, and library groups are not.
// CHECK-LABEL: func.func @main
// CHECK: stablehlo.constant
// CHECK-LABEL: func.func private @loop
// CHECK: linalg.generic
// CHECK-LABEL: func.func private @gemm
// CHECK: stablehlo.dot_general
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<4x4xf32>
  %1 = call @loop(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = call @gemm(%1) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
func.func private @loop(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.add %x, %x : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @gemm(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {hloom.kind = "library", hloom.library = "gemm"} {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// A returned constant is a fill, a returned argument a copy.
// CHECK-LABEL: func.func @returned
// CHECK: linalg.fill
// CHECK: linalg.generic
// CHECK: linalg.yield %in
func.func @returned(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.constant dense<1.0> : tensor<4xf32>
  return %0, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

// What is no tensor stays as it is.
// CHECK-LABEL: func.func @scalar
// CHECK-NEXT: return %arg0 : f32
func.func @scalar(%x: f32) -> f32 {
  return %x : f32
}
