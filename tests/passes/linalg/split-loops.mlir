// RUN: hloom-opt %s --split-input-file --split-loops | filecheck %s

// Changed: A contraction whose result is read in more dimensions computes in these; its operands are viewed likewise.
// CHECK-LABEL: func.func private @mask
// CHECK-DAG: %[[A:.*]] = tensor.expand_shape %arg0 {{.*}} into tensor<2x4x6x5xf32>
// CHECK-DAG: %[[B:.*]] = tensor.expand_shape %arg1 {{.*}} into tensor<2x4x5x6xf32>
// CHECK: %[[C:.*]] = linalg.generic {{.*}}"parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%[[A]], %[[B]] : {{.*}} outs(%{{.*}} : tensor<2x4x6x6xf32>)
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[C]], %arg2 : tensor<2x4x6x6xf32>, tensor<2x6xf32>)
// CHECK: return %[[R]]
#a = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#b = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
#c = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#id = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
#m = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
func.func private @mask(%x: tensor<8x6x5xf32>, %y: tensor<8x5x6xf32>, %m: tensor<2x6xf32>) -> tensor<2x4x6x6xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x6x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x6x6xf32>) -> tensor<8x6x6xf32>
  %c = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<8x6x5xf32>, tensor<8x5x6xf32>) outs(%f : tensor<8x6x6xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x6x6xf32>
  %v = tensor.expand_shape %c [[0, 1], [2], [3]] output_shape [2, 4, 6, 6] : tensor<8x6x6xf32> into tensor<2x4x6x6xf32>
  %o = tensor.empty() : tensor<2x4x6x6xf32>
  %r = linalg.generic {indexing_maps = [#id, #m, #id], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%v, %m : tensor<2x4x6x6xf32>, tensor<2x6xf32>) outs(%o : tensor<2x4x6x6xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %0 = arith.addf %p, %q : f32
    linalg.yield %0 : f32
  } -> tensor<2x4x6x6xf32>
  return %r : tensor<2x4x6x6xf32>
}

// -----

// Changed: Grouped queries: four heads share two of keys. The result is returned as it was; the loop's index is put together.
// CHECK-LABEL: func.func private @grouped
// CHECK: %[[Q:.*]] = tensor.expand_shape %arg0 {{.*}} into tensor<2x2x3x5xf32>
// CHECK: %[[C:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #[[KEYS:map.*]], #{{.*}}], {{.*}} ins(%[[Q]], %arg1 : tensor<2x2x3x5xf32>, tensor<2x5x7xf32>) outs(%{{.*}} : tensor<2x2x3x7xf32>)
// CHECK: %[[R:.*]] = tensor.collapse_shape %[[C]] {{.*}} into tensor<4x3x7xf32>
// CHECK: return %[[R]]
#q = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#k = affine_map<(d0, d1, d2, d3) -> (d0 floordiv 2, d3, d2)>
#r = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
func.func private @grouped(%x: tensor<4x3x5xf32>, %y: tensor<2x5x7xf32>) -> tensor<4x3x7xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x3x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x3x7xf32>) -> tensor<4x3x7xf32>
  %c = linalg.generic {indexing_maps = [#q, #k, #r], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<4x3x5xf32>, tensor<2x5x7xf32>) outs(%f : tensor<4x3x7xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x3x7xf32>
  return %c : tensor<4x3x7xf32>
}

// -----

// Changed: A remainder of a quotient cuts the loop at both.
// CHECK-DAG: #[[KEYS:.*]] = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d5, d4)>
// CHECK-LABEL: func.func private @nested
// CHECK: %[[Q:.*]] = tensor.expand_shape %arg0 {{.*}} into tensor<2x2x3x3x5xf32>
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[KEYS]], #{{.*}}], {{.*}} ins(%[[Q]], %arg1 : tensor<2x2x3x3x5xf32>, tensor<2x2x5x7xf32>)
#q = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#k = affine_map<(d0, d1, d2, d3) -> (d0 floordiv 6, (d0 floordiv 3) mod 2, d3, d2)>
#r = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
func.func private @nested(%x: tensor<12x3x5xf32>, %y: tensor<2x2x5x7xf32>) -> tensor<12x3x7xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12x3x7xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<12x3x7xf32>) -> tensor<12x3x7xf32>
  %c = linalg.generic {indexing_maps = [#q, #k, #r], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %y : tensor<12x3x5xf32>, tensor<2x2x5x7xf32>) outs(%f : tensor<12x3x7xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %0 = arith.mulf %p, %q : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12x3x7xf32>
  return %c : tensor<12x3x7xf32>
}

// -----

// Declined: Six as 2x3 and as 3x2 have no common factors: fold-views composes.
// CHECK-LABEL: func.func private @no_common_factors
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<2x3xf32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<3x2xf32>)
#square = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
func.func private @no_common_factors(%x: tensor<3x2xf32>) -> (tensor<2x3xf32>, tensor<3x2xf32>) attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<2x3xf32>
  %y = linalg.generic {indexing_maps = [#turned, #square], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x2xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<2x3xf32>
  %c = tensor.collapse_shape %y [[0, 1]] : tensor<2x3xf32> into tensor<6xf32>
  %v = tensor.expand_shape %c [[0, 1]] output_shape [3, 2] : tensor<6xf32> into tensor<3x2xf32>
  %o = tensor.empty() : tensor<3x2xf32>
  %r = linalg.generic {indexing_maps = [#square, #square], iterator_types = ["parallel", "parallel"]}
      ins(%v : tensor<3x2xf32>) outs(%o : tensor<3x2xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<3x2xf32>
  return %y, %r : tensor<2x3xf32>, tensor<3x2xf32>
}

// -----

// Unchanged: Both walk the elements in one dimension.
// CHECK-LABEL: func.func private @none
// CHECK-NOT: tensor.expand_shape
// CHECK: %[[Y:.*]] = linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%arg0 : tensor<6xf32>)
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[Y]] : tensor<6xf32>)
#id = affine_map<(d0) -> (d0)>
func.func private @none(%x: tensor<6xf32>) -> tensor<6xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<6xf32>
  %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<6xf32>) outs(%e : tensor<6xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<6xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : tensor<6xf32>) outs(%e : tensor<6xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<6xf32>
  return %r : tensor<6xf32>
}

// -----

// A sum in parts reads what it sums in digits (14 * d2 + d3): what makes it has a loop for each.
// CHECK-LABEL: func.func @sum_in_parts
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]
// CHECK: math.exp
// CHECK: -> tensor<8x64x4x14x56xf32>
// CHECK: linalg.generic
// CHECK-SAME: ins({{.*}} : tensor<8x64x4x14x56xf32>, tensor<64xf32>, tensor<14xf32>)
func.func @sum_in_parts(%x: tensor<8x64x56x56xf32>, %m: tensor<64xf32>) -> (tensor<64x4xf32>, tensor<64x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x64x56x56xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
    iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%x : tensor<8x64x56x56xf32>) outs(%e : tensor<8x64x56x56xf32>) {
  ^bb0(%a: f32, %out: f32):
    %4 = math.exp %a : f32
    linalg.yield %4 : f32
  } -> tensor<8x64x56x56xf32>
  %f = tensor.empty() : tensor<64x4xf32>
  %g = linalg.fill ins(%zero : f32) outs(%f : tensor<64x4xf32>) -> tensor<64x4xf32>
  %lent = tensor.empty() : tensor<14xf32>
  %1 = linalg.generic {indexing_maps = [
    affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2 * 14 + d3, d4)>,
    affine_map<(d0, d1, d2, d3, d4) -> (d1)>,
    affine_map<(d0, d1, d2, d3, d4) -> (d3)>,
    affine_map<(d0, d1, d2, d3, d4) -> (d1, d2)>],
    iterator_types = ["reduction", "parallel", "parallel", "reduction", "reduction"]}
    ins(%0, %m, %lent : tensor<8x64x56x56xf32>, tensor<64xf32>, tensor<14xf32>) outs(%g : tensor<64x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32, %sum: f32):
    %4 = arith.subf %a, %b : f32
    %5 = arith.addf %sum, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<64x4xf32>
  return %1, %1 : tensor<64x4xf32>, tensor<64x4xf32>
}

// -----

// Changed: Groups of channels, whose result is read by the digits of one loop: it is a reshape of the result, and is cut where groups are.
// CHECK-DAG: #[[IN:map.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0 * 2 + d4, d2 + d3)>
// CHECK-DAG: #[[OUT:map.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: func.func private @groups_by_digits
// CHECK: %[[C:.*]] = linalg.generic {indexing_maps = [#[[IN]], {{.*}} outs(%{{.*}} : tensor<2x4x10xf32>)
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#[[OUT]], #[[OUT]]], {{.*}} ins(%[[C]] : tensor<2x4x10xf32>)
// CHECK: tensor.collapse_shape %[[R]] {{.*}} into tensor<80xf32>
#gi = affine_map<(d0, d1, d2, d3) -> ((d0 floordiv 4) * 2 + d3, d1 + d2)>
#gw = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
#go = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#digits = affine_map<(d0) -> (d0 floordiv 10, d0 mod 10)>
#one = affine_map<(d0) -> (d0)>
func.func private @groups_by_digits(%x: tensor<4x10xf32>, %w: tensor<8x2x3xf32>) -> tensor<80xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %zero : f32
  } : tensor<4x10xf32> to tensor<4x12xf32>
  %e = tensor.empty() : tensor<8x10xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x10xf32>) -> tensor<8x10xf32>
  %c = linalg.generic {indexing_maps = [#gi, #gw, #go], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%p, %w : tensor<4x12xf32>, tensor<8x2x3xf32>) outs(%f : tensor<8x10xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x10xf32>
  %g = tensor.empty() : tensor<80xf32>
  %r = linalg.generic {indexing_maps = [#digits, #one], iterator_types = ["parallel"]} ins(%c : tensor<8x10xf32>) outs(%g : tensor<80xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<80xf32>
  return %r : tensor<80xf32>
}

// -----

// Changed: So are three digits.
// CHECK-LABEL: func.func private @groups_by_three_digits
// CHECK: %[[C:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<5x2x2x4xf32>)
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[C]] : tensor<5x2x2x4xf32>)
// CHECK: tensor.collapse_shape %[[R]] {{.*}} into tensor<80xf32>
#gx = affine_map<(d0, d1, d2, d3) -> (d0, d1, (d2 floordiv 4) * 3 + d3)>
#gw = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
#go = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#digits = affine_map<(d0) -> (d0 floordiv 16, (d0 floordiv 8) mod 2, d0 mod 8)>
#one = affine_map<(d0) -> (d0)>
func.func private @groups_by_three_digits(%x: tensor<5x2x6xf32>, %w: tensor<3x8xf32>) -> tensor<80xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x2x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<5x2x8xf32>) -> tensor<5x2x8xf32>
  %c = linalg.generic {indexing_maps = [#gx, #gw, #go], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<5x2x6xf32>, tensor<3x8xf32>) outs(%f : tensor<5x2x8xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<5x2x8xf32>
  %g = tensor.empty() : tensor<80xf32>
  %r = linalg.generic {indexing_maps = [#digits, #one], iterator_types = ["parallel"]} ins(%c : tensor<5x2x8xf32>) outs(%g : tensor<80xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<80xf32>
  return %r : tensor<80xf32>
}

// -----

// Declined: Places that each have a window in zeros stay one loop, in however many dimensions they are read.
// CHECK-LABEL: func.func private @windows
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<12xf32>, tensor<3xf32>) outs(%{{.*}} : tensor<10xf32>)
// CHECK: tensor.expand_shape %{{.*}} into tensor<2x5xf32>
#wi = affine_map<(d0, d1) -> (d0 + d1)>
#ww = affine_map<(d0, d1) -> (d1)>
#wo = affine_map<(d0, d1) -> (d0)>
#two = affine_map<(d0, d1) -> (d0, d1)>
func.func private @windows(%x: tensor<10xf32>, %w: tensor<3xf32>) -> tensor<2x5xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1] high[1] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<10xf32> to tensor<12xf32>
  %e = tensor.empty() : tensor<10xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<10xf32>) -> tensor<10xf32>
  %c = linalg.generic {indexing_maps = [#wi, #ww, #wo], iterator_types = ["parallel", "reduction"]}
      ins(%p, %w : tensor<12xf32>, tensor<3xf32>) outs(%f : tensor<10xf32>) {
  ^bb0(%a: f32, %b: f32, %s: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %s, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<10xf32>
  %v = tensor.expand_shape %c [[0, 1]] output_shape [2, 5] : tensor<10xf32> into tensor<2x5xf32>
  %g = tensor.empty() : tensor<2x5xf32>
  %r = linalg.generic {indexing_maps = [#two, #two], iterator_types = ["parallel", "parallel"]} ins(%v : tensor<2x5xf32>) outs(%g : tensor<2x5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<2x5xf32>
  return %r : tensor<2x5xf32>
}

// -----

// Changed: Two values in turn: a loop for the turns and one for their two elements, by whose number the body chooses.
// CHECK-DAG: #[[READ:map.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-DAG: #[[ALL:map.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: func.func private @in_turn
// CHECK: %[[Y:.*]] = tensor.expand_shape %arg2 {{.*}} into tensor<4x12x2xf32>
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#[[READ]], #[[READ]], #[[ALL]], #[[ALL]]], {{.*}} ins(%arg0, %arg1, %[[Y]] : {{.*}} outs(%{{.*}} : tensor<4x12x2xf32>)
// CHECK: %[[SECOND:.*]] = linalg.index 2
// CHECK: arith.cmpi eq, %[[SECOND]], %{{.*}}
// CHECK: tensor.extract %arg0[%{{.*}}, %[[FIRST:.*]]]
// CHECK: tensor.collapse_shape %[[R]] {{.*}} into tensor<4x24xf32>
#half = affine_map<(d0, d1) -> (d0, d1 floordiv 2)>
#whole = affine_map<(d0, d1) -> (d0, d1)>
func.func private @in_turn(%a: tensor<4x12xf32>, %b: tensor<4x12xf32>, %y: tensor<4x24xf32>) -> tensor<4x24xf32> attributes {hloom.kind = "loop"} {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %e = tensor.empty() : tensor<4x24xf32>
  %r = linalg.generic {indexing_maps = [#half, #half, #whole, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%a, %b, %y : tensor<4x12xf32>, tensor<4x12xf32>, tensor<4x24xf32>) outs(%e : tensor<4x24xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32, %o: f32):
    %n = linalg.index 1 : index
    %m = arith.remui %n, %two : index
    %c = arith.cmpi eq, %m, %zero : index
    %0 = arith.select %c, %p, %q : f32
    %i = linalg.index 0 : index
    %d = arith.divui %n, %two : index
    %x = tensor.extract %a[%i, %d] : tensor<4x12xf32>
    %1 = arith.addf %0, %x : f32
    %2 = arith.addf %1, %s : f32
    linalg.yield %2 : f32
  } -> tensor<4x24xf32>
  return %r : tensor<4x24xf32>
}

// -----

// Declined: Nine in turn; five of a loop that they do not divide.
// CHECK-LABEL: func.func private @many
// CHECK-NOT: tensor.expand_shape
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<45x24xf32>)
#line = affine_map<(d0, d1) -> (d1)>
#whole = affine_map<(d0, d1) -> (d0, d1)>
func.func private @many(%a: tensor<24xf32>) -> tensor<45x24xf32> attributes {hloom.kind = "loop"} {
  %zero = arith.constant 0 : index
  %nine = arith.constant 9 : index
  %five = arith.constant 5 : index
  %none = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<45x24xf32>
  %r = linalg.generic {indexing_maps = [#line, #whole], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<24xf32>) outs(%e : tensor<45x24xf32>) {
  ^bb0(%p: f32, %o: f32):
    %n = linalg.index 0 : index
    %k = arith.remui %n, %nine : index
    %c = arith.cmpi eq, %k, %zero : index
    %0 = arith.select %c, %p, %none : f32
    %m = linalg.index 1 : index
    %l = arith.remui %m, %five : index
    %f = arith.cmpi eq, %l, %zero : index
    %1 = arith.select %f, %0, %none : f32
    linalg.yield %1 : f32
  } -> tensor<45x24xf32>
  return %r : tensor<45x24xf32>
}

// -----

// Changed: columns of lines, as one row, are summed and written line by line: no index is a quotient. A made value's axis goes along.
// CHECK-DAG: #[[$LINES:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: func.func private @columns
// CHECK: linalg.generic {{.*}}["parallel", "parallel", "parallel"]} ins(%{{.*}} : tensor<4x7x9xf32>) outs(%{{.*}} : tensor<4x7x5xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[$LINES]], {{.*}}["parallel", "reduction", "reduction"]} ins(%{{.*}} : tensor<4x7x5xf32>)
// CHECK-NOT: tensor<4x35xf32>) outs
#digits = affine_map<(d0, d1) -> (d0, d1 floordiv 5, d1 mod 5 + 2)>
#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func private @columns(%x: tensor<4x7x9xf32>) -> (tensor<4x35xf32>, tensor<4xf32>) attributes {hloom.kind = "multi_reduce"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x35xf32>
  %a = linalg.generic {indexing_maps = [#digits, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<4x7x9xf32>) outs(%e : tensor<4x35xf32>) {
  ^bb0(%p: f32, %o: f32):
    %0 = arith.mulf %p, %p : f32
    linalg.yield %0 : f32
  } -> tensor<4x35xf32>
  %t = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%a : tensor<4x35xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %0 = arith.addf %o, %p : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %a, %r : tensor<4x35xf32>, tensor<4xf32>
}

// -----

// Changed: A sum of what is repeated has a loop for the elements and one for how often each is there.
// CHECK-LABEL: func.func private @repetitions
// CHECK: linalg.generic {{.*}}["parallel", "reduction", "reduction"]} ins(%{{.*}} : tensor<4x7xf32>, tensor<7x9xf32>)
#quotient = affine_map<(d0, d1) -> (d0, d1 floordiv 9)>
#step = affine_map<(d0, d1) -> (d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func private @repetitions(%x: tensor<4x7xf32>) -> tensor<4xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %lend = tensor.empty() : tensor<63xf32>
  %t = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#quotient, #step, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %lend : tensor<4x7xf32>, tensor<63xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%p: f32, %unused: f32, %o: f32):
    %0 = arith.maximumf %o, %p : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Declined: A sum of what is there a few times, of which a register has several.
// CHECK-LABEL: func.func private @few_repetitions
// CHECK: linalg.generic {{.*}}["parallel", "reduction"]} ins(%{{.*}} : tensor<4x7xf32>, tensor<21xf32>)
#quotient = affine_map<(d0, d1) -> (d0, d1 floordiv 3)>
#step = affine_map<(d0, d1) -> (d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func private @few_repetitions(%x: tensor<4x7xf32>) -> tensor<4xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %lend = tensor.empty() : tensor<21xf32>
  %t = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#quotient, #step, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x, %lend : tensor<4x7xf32>, tensor<21xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%p: f32, %unused: f32, %o: f32):
    %0 = arith.maximumf %o, %p : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Unchanged: what repeats elements, of which no remainder is read, and a scan, whose steps are taken in order.
// CHECK-LABEL: func.func private @repeated
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<4x28xf32>)
// CHECK: linalg.generic {{.*}}["parallel", "reduction"]} ins(%{{.*}} : tensor<4x7x9xf32>)
#quotient = affine_map<(d0, d1) -> (d0, d1 floordiv 4)>
#digits = affine_map<(d0, d1) -> (d0, d1 floordiv 5, d1 mod 5)>
#whole = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func private @repeated(%y: tensor<4x7xf32>, %x: tensor<4x7x9xf32>) -> (tensor<4x28xf32>, tensor<4x35xf32>, tensor<4xf32>) attributes {hloom.kind = "multi_reduce"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x28xf32>
  %a = linalg.generic {indexing_maps = [#quotient, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%y : tensor<4x7xf32>) outs(%e : tensor<4x28xf32>) {
  ^bb0(%p: f32, %o: f32):
    %0 = arith.mulf %p, %p : f32
    linalg.yield %0 : f32
  } -> tensor<4x28xf32>
  %s = tensor.empty() : tensor<4x35xf32>
  %t = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%t : tensor<4xf32>) -> tensor<4xf32>
  %r:2 = linalg.generic {indexing_maps = [#digits, #whole, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x7x9xf32>) outs(%s, %f : tensor<4x35xf32>, tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32, %q: f32):
    %0 = arith.addf %q, %p : f32
    linalg.yield %0, %0 : f32, f32
  } -> (tensor<4x35xf32>, tensor<4xf32>)
  return %a, %r#0, %r#1 : tensor<4x28xf32>, tensor<4x35xf32>, tensor<4xf32>
}

// -----

// The lines of what is padded have a loop, whatever dims they have in the end (collapse-loop-dims has joined these).
// CHECK-LABEL: func.func private @lines
// CHECK: linalg.generic {{.*}}["parallel", "parallel"]} outs(%{{.*}} : tensor<38x33xf32>)
// CHECK-NOT: arith.remui
// CHECK: linalg.yield
#line = affine_map<(d0) -> (d0)>
func.func private @lines(%x: tensor<38x30xf32>) -> tensor<33x38xf32> attributes {hloom.kind = "loop"} {
  %zero = arith.constant 0.0 : f32
  %c33 = arith.constant 33 : index
  %c29 = arith.constant 29 : index
  %e = tensor.empty() : tensor<1254xf32>
  %a = linalg.generic {indexing_maps = [#line], iterator_types = ["parallel"]} outs(%e : tensor<1254xf32>) {
  ^bb0(%o: f32):
    %0 = linalg.index 0 : index
    %1 = arith.divui %0, %c33 : index
    %2 = arith.remui %0, %c33 : index
    %3 = arith.minsi %2, %c29 : index
    %4 = arith.cmpi eq, %2, %3 : index
    %5 = tensor.extract %x[%1, %3] : tensor<38x30xf32>
    %6 = arith.select %4, %5, %zero : f32
    linalg.yield %6 : f32
  } -> tensor<1254xf32>
  %r = tensor.expand_shape %a [[0, 1]] output_shape [33, 38] : tensor<1254xf32> into tensor<33x38xf32>
  return %r : tensor<33x38xf32>
}
