// RUN: hloom-opt %s --lower-to-linalg --inline-producers --collapse-loop-dims --split-input-file | filecheck %s

// Changed: All operands walk all dims alike, or are scalars: one loop.
// CHECK-LABEL: func.func @elementwise
// CHECK: %[[V:.*]] = tensor.collapse_shape %{{.*}} {{\[\[}}0, 1, 2, 3]]
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel"]
// CHECK-SAME: ins(%[[V]], %{{.*}} : tensor<65536xf32>, tensor<f32>)
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1, 2, 3]] output_shape [1, 8, 128, 64]
func.func @elementwise(%x: tensor<1x8x128x64xf32>, %s: tensor<f32>) -> tensor<1x8x128x64xf32> {
  %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<1x8x128x64xf32>
  %1 = stablehlo.multiply %x, %0 : tensor<1x8x128x64xf32>
  return %1 : tensor<1x8x128x64xf32>
}

// -----

// Changed: Rows of a reduction become one axis; the tensor between two generics follows.
// CHECK-LABEL: func.func @rows
// CHECK: iterator_types = ["parallel", "reduction"]
// CHECK-SAME: ins(%{{.*}} : tensor<12x5xf32>) outs(%{{.*}} : tensor<12xf32>)
// CHECK: iterator_types = ["parallel", "parallel"]
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<12x5xf32>, tensor<12xf32>)
// CHECK: output_shape [3, 4, 5]
func.func @rows(%x: tensor<3x4x5xf32>) -> tensor<3x4x5xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [2] : (tensor<3x4x5xf32>, tensor<f32>) -> tensor<3x4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<3x4xf32>) -> tensor<3x4x5xf32>
  %2 = stablehlo.divide %x, %1 : tensor<3x4x5xf32>
  return %2 : tensor<3x4x5xf32>
}

// -----

// Declined: A broadcast along the middle keeps the dims on both sides apart, a transpose its own.
// CHECK-LABEL: func.func @apart
// CHECK-NOT: tensor.collapse_shape
// CHECK: iterator_types = ["parallel", "parallel", "parallel"]
func.func @apart(%x: tensor<3x4x5xf32>, %y: tensor<3x5xf32>) -> tensor<3x4x5xf32> {
  %0 = stablehlo.broadcast_in_dim %y, dims = [0, 2] : (tensor<3x5xf32>) -> tensor<3x4x5xf32>
  %1 = stablehlo.add %x, %0 : tensor<3x4x5xf32>
  return %1 : tensor<3x4x5xf32>
}

// -----

// Declined: An index that the body asks for stays a loop.
// CHECK-LABEL: func.func @index
// CHECK-NOT: tensor.collapse_shape
// CHECK: iterator_types = ["parallel", "parallel"]
func.func @index(%x: tensor<3x4xi32>) -> tensor<3x4xi32> {
  %0 = stablehlo.iota dim = 1 : tensor<3x4xi32>
  %1 = stablehlo.add %x, %0 : tensor<3x4xi32>
  return %1 : tensor<3x4xi32>
}

// -----

// Changed: A body that asks where an element lies in all of them gets the joined loop's index: elements in a row, moved by three.
// CHECK-LABEL: func.func @rolled
// CHECK: iterator_types = ["parallel"]
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK-NOT: linalg.index
// CHECK: arith.addi %[[I]], %{{.*}} : index
// CHECK: tensor.expand_shape
func.func @rolled(%x: tensor<8x1x6x5xf32>) -> tensor<8x1x6x5xf32> {
  %all = stablehlo.reshape %x : (tensor<8x1x6x5xf32>) -> tensor<240xf32>
  %last = stablehlo.slice %all [237:240] : (tensor<240xf32>) -> tensor<3xf32>
  %first = stablehlo.slice %all [0:237] : (tensor<240xf32>) -> tensor<237xf32>
  %rolled = stablehlo.concatenate %last, %first, dim = 0 : (tensor<3xf32>, tensor<237xf32>) -> tensor<240xf32>
  %y = stablehlo.reshape %rolled : (tensor<240xf32>) -> tensor<8x1x6x5xf32>
  %z = stablehlo.negate %y : tensor<8x1x6x5xf32>
  return %z : tensor<8x1x6x5xf32>
}

// -----

// Changed: A sum of two of three loops is that of the two that join.
// CHECK-LABEL: func.func @rows
// CHECK: iterator_types = ["parallel", "parallel"]
// CHECK: linalg.index 0
// CHECK-NOT: linalg.index
// CHECK: linalg.yield
func.func @rows(%x: tensor<3x4x5xi32>) -> tensor<3x4x5xi32> {
  %0 = stablehlo.iota dim = 0 : tensor<12xi32>
  %1 = stablehlo.reshape %0 : (tensor<12xi32>) -> tensor<3x4xi32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0, 1] : (tensor<3x4xi32>) -> tensor<3x4x5xi32>
  %3 = stablehlo.add %x, %2 : tensor<3x4x5xi32>
  return %3 : tensor<3x4x5xi32>
}

// -----

// Changed: Lines and columns of what is concatenated by channels join: both parts are extracted at the loops' indices.
// CHECK-LABEL: func.func @channels
// CHECK: tensor.collapse_shape %{{.*}} {{\[\[}}0], [1], [2, 3]] : tensor<2x4x5x6xf32> into tensor<2x4x30xf32>
// CHECK: iterator_types = ["parallel", "parallel", "parallel"]
// CHECK: tensor.extract %{{.*}} : tensor<2x3x30xf32>
// CHECK: tensor.extract %{{.*}} : tensor<2x4x30xf32>
// CHECK-NOT: tensor.extract
func.func @channels(%x: tensor<2x4x5x6xf32>, %y: tensor<2x3x5x6xf32>) -> tensor<2x7x5x6xf32> {
  %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<2x4x5x6xf32>, tensor<2x3x5x6xf32>) -> tensor<2x7x5x6xf32>
  return %0 : tensor<2x7x5x6xf32>
}

// -----

// Declined: One of the parts is transposed: its lines and columns are not in a row.
// CHECK-LABEL: func.func @transposed
// CHECK: iterator_types = ["parallel", "parallel", "parallel"]
func.func @transposed(%x: tensor<4x5x5xf32>, %y: tensor<3x5x5xf32>) -> tensor<7x5x5xf32> {
  %t = stablehlo.transpose %y, dims = [0, 2, 1] : (tensor<3x5x5xf32>) -> tensor<3x5x5xf32>
  %0 = stablehlo.concatenate %x, %t, dim = 0 : (tensor<4x5x5xf32>, tensor<3x5x5xf32>) -> tensor<7x5x5xf32>
  return %0 : tensor<7x5x5xf32>
}

// -----

// Declined: One of the parts is the first columns of wider lines.
// CHECK-LABEL: func.func @columns
// CHECK: iterator_types = ["parallel", "parallel", "parallel"]
func.func @columns(%x: tensor<4x5x6xf32>, %y: tensor<3x5x7xf32>) -> tensor<7x5x6xf32> {
  %s = stablehlo.slice %y [0:3, 0:5, 0:6] : (tensor<3x5x7xf32>) -> tensor<3x5x6xf32>
  %0 = stablehlo.concatenate %x, %s, dim = 0 : (tensor<4x5x6xf32>, tensor<3x5x6xf32>) -> tensor<7x5x6xf32>
  return %0 : tensor<7x5x6xf32>
}

// -----

// Changed: Batch and row dims of a contraction join, a batch of one goes.
// CHECK-LABEL: func.func @contraction
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-SAME: tensor<12x5xf32>, tensor<5x6xf32>
func.func @contraction(%x: tensor<1x3x4x5xf32>, %w: tensor<5x6xf32>) -> tensor<1x3x4x6xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [3] x [0] : (tensor<1x3x4x5xf32>, tensor<5x6xf32>) -> tensor<1x3x4x6xf32>
  return %0 : tensor<1x3x4x6xf32>
}

// -----

// Changed: A product's rows that are read by a batch's images and lines, at 4 * d0 + d1, are its rows there, too.
// CHECK-LABEL: func.func @digits
// CHECK: %[[P:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "reduction"]} ins(%{{.*}} : tensor<12x5xf32>, tensor<5x6xf32>)
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel"]} ins(%[[P]], %{{.*}} : tensor<12x6xf32>, tensor<6xf32>)
// CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1], [2]] output_shape [3, 4, 6]
func.func @digits(%x: tensor<12x5xf32>, %w: tensor<5x6xf32>, %b: tensor<6xf32>) -> tensor<3x4x6xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<12x5xf32>, tensor<5x6xf32>) -> tensor<12x6xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<6xf32>) -> tensor<12x6xf32>
  %2 = stablehlo.add %0, %1 : tensor<12x6xf32>
  %3 = stablehlo.reshape %2 : (tensor<12x6xf32>) -> tensor<3x4x6xf32>
  %4 = stablehlo.tanh %3 : tensor<3x4x6xf32>
  return %4 : tensor<3x4x6xf32>
}

// -----

// Declined: What is added differs from line to line, but not from image to image: it has no rows.
// CHECK-LABEL: func.func @lines
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel"]} ins(%{{.*}} : tensor<12x6xf32>, tensor<6xf32>, tensor<4x6xf32>)
func.func @lines(%x: tensor<12x5xf32>, %w: tensor<5x6xf32>, %b: tensor<6xf32>, %p: tensor<4x6xf32>) -> tensor<3x4x6xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<12x5xf32>, tensor<5x6xf32>) -> tensor<12x6xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<6xf32>) -> tensor<12x6xf32>
  %2 = stablehlo.add %0, %1 : tensor<12x6xf32>
  %3 = stablehlo.reshape %2 : (tensor<12x6xf32>) -> tensor<3x4x6xf32>
  %4 = stablehlo.broadcast_in_dim %p, dims = [1, 2] : (tensor<4x6xf32>) -> tensor<3x4x6xf32>
  %5 = stablehlo.add %3, %4 : tensor<3x4x6xf32>
  return %5 : tensor<3x4x6xf32>
}

// -----

// Changed: The operand that lends the extents of a window of one pixel goes with its loops.
// CHECK-LABEL: func.func @pixel
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{[a-z0-9_]*}}, %{{[a-z0-9_]*}} : tensor<
func.func @pixel(%x: tensor<1x5x7x8xf32>, %v: tensor<2x1x1x8x8xf32>) -> tensor<1x5x7x16xf32> {
  %t = stablehlo.transpose %v, dims = [1, 2, 3, 0, 4] : (tensor<2x1x1x8x8xf32>) -> tensor<1x1x8x2x8xf32>
  %w = stablehlo.reshape %t : (tensor<1x1x8x2x8xf32>) -> tensor<1x1x8x16xf32>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x5x7x8xf32>, tensor<1x1x8x16xf32>) -> tensor<1x5x7x16xf32>
  return %0 : tensor<1x5x7x16xf32>
}

// -----

// Declined: Rows that are cut do not lie beside each other; the slice keeps its dims. Whole rows do.
// CHECK-LABEL: func.func @cut
// CHECK: tensor.extract_slice %arg0[0, 0] [3, 3]
// CHECK-NOT: tensor.collapse_shape
// CHECK: iterator_types = ["parallel", "parallel"]
// CHECK-LABEL: func.func @whole
// CHECK: iterator_types = ["parallel"]
func.func @cut(%x: tensor<7x7xf32>) -> tensor<3x3xf32> {
  %0 = stablehlo.slice %x [0:3, 0:3] : (tensor<7x7xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32>
}
func.func @whole(%x: tensor<7x7xf32>) -> tensor<3x7xf32> {
  %0 = stablehlo.slice %x [0:3, 0:7] : (tensor<7x7xf32>) -> tensor<3x7xf32>
  return %0 : tensor<3x7xf32>
}

// -----

// Declined: So it is of a view of the slice with more dims.
// CHECK-LABEL: func.func @view_of_cut
// CHECK: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-SAME: ins(%{{.*}} : tensor<3x3x4xf32>)
func.func @view_of_cut(%x: tensor<7x7x4xf32>) -> tensor<3x3xf32> {
  %zero = arith.constant 0.0 : f32
  %s = tensor.extract_slice %x[0, 0, 0] [3, 3, 4] [1, 1, 1] : tensor<7x7x4xf32> to tensor<3x3x4xf32>
  %v = tensor.expand_shape %s [[0, 1], [2, 3], [4]] output_shape [3, 1, 1, 3, 4] : tensor<3x3x4xf32> into tensor<3x1x1x3x4xf32>
  %e = tensor.empty() : tensor<3x3xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%e : tensor<3x3xf32>) -> tensor<3x3xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, 0, 0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
    iterator_types = ["parallel", "parallel", "reduction"]} ins(%v : tensor<3x1x1x3x4xf32>) outs(%0 : tensor<3x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.maximumf %a, %b : f32
    linalg.yield %2 : f32
  } -> tensor<3x3xf32>
  return %1 : tensor<3x3xf32>
}

// -----

// Unchanged: One loop already, over tensors as they are.
// CHECK-LABEL: func.func @none
// CHECK-NOT: tensor.collapse_shape
// CHECK: %[[R:.*]] = linalg.generic {{.*}} iterator_types = ["parallel"]} ins(%arg0 : tensor<7xf32>)
// CHECK: return %[[R]]
func.func @none(%x: tensor<7xf32>) -> tensor<7xf32> {
  %0 = stablehlo.tanh %x : tensor<7xf32>
  return %0 : tensor<7xf32>
}

// -----

// Changed: A view between two generics that differs in unit dims alone is none: both keep the dims that one of them needs apart.
// CHECK-LABEL: func.func @unit_view
// CHECK: iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-SAME: ins(%{{.*}} : tensor<3x4x5xf32>) outs(%{{.*}} : tensor<3x4xf32>)
func.func @unit_view(%x: tensor<3x4x6xf32>, %y: tensor<3x5x6xf32>) -> tensor<1x3x4xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<3x4x6xf32>, tensor<3x5x6xf32>) -> tensor<3x4x5xf32>
  %1 = stablehlo.reshape %0 : (tensor<3x4x5xf32>) -> tensor<1x3x4x5xf32>
  %2 = stablehlo.reduce(%1 init: %c) applies stablehlo.add across dimensions = [3] : (tensor<1x3x4x5xf32>, tensor<f32>) -> tensor<1x3x4xf32>
  return %2 : tensor<1x3x4xf32>
}

// -----

// Changed: So goes one whose loops of several trips the weights walk by themselves, once the taps along the other dimension are one.
// CHECK-LABEL: func.func @tall
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]
// CHECK-SAME: ins(%{{[^,]*}}, %{{[^,]*}} : tensor<10x9x8xf32>, tensor<3x4x4x2xf32>)
func.func @tall(%x: tensor<1x10x9x8xf32>, %w: tensor<3x1x4x4x2xf32>) -> tensor<1x8x9x4xf32> {
  %zero = arith.constant 0.0 : f32
  %taps = tensor.empty() : tensor<3x1xf32>
  %e = tensor.empty() : tensor<1x8x9x4xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%e : tensor<1x8x9x4xf32>) -> tensor<1x8x9x4xf32>
  %1 = linalg.generic {indexing_maps = [
    affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1 + d4, d2 + d5, d6)>,
    affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4 + d5, 0, d6 floordiv 2, d3, d6 mod 2)>,
    affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d4, d5)>, affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
    ins(%x, %w, %taps : tensor<1x10x9x8xf32>, tensor<3x1x4x4x2xf32>, tensor<3x1xf32>) outs(%0 : tensor<1x8x9x4xf32>) {
  ^bb0(%a: f32, %b: f32, %lent: f32, %sum: f32):
    %2 = arith.mulf %a, %b : f32
    %3 = arith.addf %sum, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<1x8x9x4xf32>
  return %1 : tensor<1x8x9x4xf32>
}

// -----

// Changed: The single tap of a window is no part of where its pixels are read: those of a line, and the lines, are one loop.
// CHECK-LABEL: func.func @one_tap
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK-SAME: ins(%{{[^,]*}}, %{{[^,]*}} : tensor<3x4x63xf32>, tensor<3x5x4xf32>)
func.func @one_tap(%x: tensor<12x7x9xf32>, %w: tensor<3x5x4x1x1xf32>) -> tensor<3x5x7x9xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x5x7x9xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%e : tensor<3x5x7x9xf32>) -> tensor<3x5x7x9xf32>
  %1 = linalg.generic {indexing_maps = [
    affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0 * 4 + d4, d2 + d5, d3 + d6)>,
    affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d4, d5, d6)>,
    affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
    ins(%x, %w : tensor<12x7x9xf32>, tensor<3x5x4x1x1xf32>) outs(%0 : tensor<3x5x7x9xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %2 = arith.mulf %a, %b : f32
    %3 = arith.addf %sum, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<3x5x7x9xf32>
  return %1 : tensor<3x5x7x9xf32>
}

// -----

// Declined: Pixels with zeros around them keep their dims.
// CHECK-LABEL: func.func @one_tap_padded
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]
func.func @one_tap_padded(%x: tensor<12x7x9xf32>, %w: tensor<3x5x4x1x3xf32>) -> tensor<3x5x7x9xf32> {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1] high[0, 0, 1] {
  ^bb0(%a: index, %b: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<12x7x9xf32> to tensor<12x7x11xf32>
  %e = tensor.empty() : tensor<3x5x7x9xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%e : tensor<3x5x7x9xf32>) -> tensor<3x5x7x9xf32>
  %1 = linalg.generic {indexing_maps = [
    affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0 * 4 + d4, d2 + d5, d3 + d6)>,
    affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d4, d5, d6)>,
    affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2, d3)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
    ins(%p, %w : tensor<12x7x11xf32>, tensor<3x5x4x1x3xf32>) outs(%0 : tensor<3x5x7x9xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %2 = arith.mulf %a, %b : f32
    %3 = arith.addf %sum, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<3x5x7x9xf32>
  return %1 : tensor<3x5x7x9xf32>
}

// -----

// Declined: Of a part of the columns, with zeros around its lines, neighbours of a line are no neighbours of the next.
// CHECK-LABEL: func.func @columns_cut_off
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction", "reduction"]
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<7x3x192xf32>, tensor<3x192x64xf32>)
func.func @columns_cut_off(%x: tensor<5x3x4x64xf32>, %w: tensor<3x3x64x64xf32>) -> tensor<7x64xf32> {
  %zero = arith.constant 0.0 : f32
  %s = tensor.extract_slice %x[0, 0, 0, 0] [5, 3, 3, 64] [1, 1, 1, 1] : tensor<5x3x4x64xf32> to tensor<5x3x3x64xf32>
  %p = tensor.pad %s low[1, 0, 0, 0] high[1, 0, 0, 0] {
  ^bb0(%a: index, %b: index, %c: index, %d: index):
    tensor.yield %zero : f32
  } : tensor<5x3x3x64xf32> to tensor<7x3x3x64xf32>
  %e = tensor.empty() : tensor<7x64xf32>
  %0 = linalg.fill ins(%zero : f32) outs(%e : tensor<7x64xf32>) -> tensor<7x64xf32>
  %1 = linalg.generic {indexing_maps = [
    affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d3, d4)>,
    affine_map<(d0, d1, d2, d3, d4) -> (d2, d3, d4, d1)>,
    affine_map<(d0, d1, d2, d3, d4) -> (d0, d1)>],
    iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]}
    ins(%p, %w : tensor<7x3x3x64xf32>, tensor<3x3x64x64xf32>) outs(%0 : tensor<7x64xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %2 = arith.mulf %a, %b : f32
    %3 = arith.addf %sum, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<7x64xf32>
  return %1 : tensor<7x64xf32>
}

// -----

// Two reshapes of an argument are one tensor, whose loops both sums keep apart for the mean of each channel.
// CHECK-LABEL: func.func @two_sums
// CHECK-COUNT-2: iterator_types = ["reduction", "parallel", "parallel", "reduction"]
func.func @two_sums(%x: tensor<8x4x28x28xf32>, %m: tensor<4xf32>) -> (tensor<4x7xf32>, tensor<4x7xf32>) {
  %zero = arith.constant 0.0 : f32
  %a = tensor.expand_shape %x [[0], [1], [2, 3], [4]] output_shape [8, 4, 7, 4, 28] : tensor<8x4x28x28xf32> into tensor<8x4x7x4x28xf32>
  %b = tensor.expand_shape %x [[0], [1], [2, 3], [4]] output_shape [8, 4, 7, 4, 28] : tensor<8x4x28x28xf32> into tensor<8x4x7x4x28xf32>
  %e = tensor.empty() : tensor<4x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x7xf32>) -> tensor<4x7xf32>
  %0 = linalg.generic {indexing_maps = [
    affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>,
    affine_map<(d0, d1, d2, d3, d4) -> (d1, d2)>],
    iterator_types = ["reduction", "parallel", "parallel", "reduction", "reduction"]} ins(%a : tensor<8x4x7x4x28xf32>) outs(%f : tensor<4x7xf32>) {
  ^bb0(%v: f32, %sum: f32):
    %2 = arith.addf %sum, %v : f32
    linalg.yield %2 : f32
  } -> tensor<4x7xf32>
  %1 = linalg.generic {indexing_maps = [
    affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3, d4)>,
    affine_map<(d0, d1, d2, d3, d4) -> (d1)>,
    affine_map<(d0, d1, d2, d3, d4) -> (d1, d2)>],
    iterator_types = ["reduction", "parallel", "parallel", "reduction", "reduction"]} ins(%b, %m : tensor<8x4x7x4x28xf32>, tensor<4xf32>) outs(%f : tensor<4x7xf32>) {
  ^bb0(%v: f32, %mean: f32, %sum: f32):
    %2 = arith.subf %v, %mean : f32
    %3 = arith.addf %sum, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<4x7xf32>
  return %0, %1 : tensor<4x7xf32>, tensor<4x7xf32>
}

// -----

// Declined: What is inserted keeps its dims, through a view too. (Unit dims go.)
// CHECK-LABEL: func.func private @inserted
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel", "parallel", "parallel"]
// CHECK: tensor.insert_slice
func.func private @inserted(%x: tensor<2x3x33x8xf32>, %u: tensor<2x3x8xf32>, %i: tensor<i32>) -> tensor<2x3x33x8xf32>
    attributes {hloom.kind = "loop", hloom.inplace = array<i64: 0, 0>, hloom.window_update = array<i64: 0, 0>} {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %t = stablehlo.tanh %u : tensor<2x3x8xf32>
  %r = stablehlo.reshape %t : (tensor<2x3x8xf32>) -> tensor<2x3x1x8xf32>
  %0 = stablehlo.dynamic_update_slice %x, %r, %c, %c, %i, %c : (tensor<2x3x33x8xf32>, tensor<2x3x1x8xf32>, tensor<i32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x3x33x8xf32>
  return %0 : tensor<2x3x33x8xf32>
}

// -----

// Changed: The place in all elements is asked for in a loop of the body: the joined loop's index stands before that.
// CHECK-LABEL: func.func private @in_a_loop
// CHECK: iterator_types = ["parallel"]
// CHECK: linalg.index 0
// CHECK: scf.for
// CHECK-NOT: linalg.index
// CHECK: linalg.yield
#both = affine_map<(d0, d1) -> (d0, d1)>
func.func private @in_a_loop(%x: tensor<3x4xi32>) -> tensor<3x4xi32> attributes {hloom.kind = "loop"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<3x4xi32>
  %0 = linalg.generic {indexing_maps = [#both, #both], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<3x4xi32>) outs(%e : tensor<3x4xi32>) {
  ^bb0(%a: i32, %out: i32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %sum = scf.for %n = %c0 to %c4 step %c1 iter_args(%s = %a) -> (i32) {
      %row = arith.muli %i, %c4 : index
      %place = arith.addi %row, %j : index
      %p = arith.index_cast %place : index to i32
      %t = arith.addi %s, %p : i32
      scf.yield %t : i32
    }
    linalg.yield %sum : i32
  } -> tensor<3x4xi32>
  return %0 : tensor<3x4xi32>
}
