// RUN: hloom-opt %s --fold-views --split-input-file | filecheck %s

// Changed: A packed contraction whose result is read by the digits of a column (here the 40 of 64 columns that are wanted): the contraction takes the column as its loop.
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 32, d2, d1 mod 32)>
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func private @digits
// CHECK: %[[C:.*]] = linalg.generic {indexing_maps = [#{{.*}}, #[[W]], #{{.*}}], iterator_types = ["parallel", "parallel", "reduction"]} {{.*}} outs(%{{.*}} : tensor<8x40xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ID]]], {{.*}} ins(%[[C]] : tensor<8x40xf32>)
// CHECK-NOT: collapse_shape
#x = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
#w = affine_map<(d0, d1, d2, d3) -> (d1, d3, d2)>
#y = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#digits = affine_map<(d0, d1) -> (d0, d1 floordiv 32, d1 mod 32)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @digits(%x: tensor<8x16xbf16>, %w: tensor<2x16x32xbf16>) -> tensor<8x40xbf16> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x2x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x2x32xf32>) -> tensor<8x2x32xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x16xbf16>, tensor<2x16x32xbf16>) outs(%f : tensor<8x2x32xf32>) {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %sum, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<8x2x32xf32>
  %o = tensor.empty() : tensor<8x40xbf16>
  %r = linalg.generic {indexing_maps = [#digits, #id], iterator_types = ["parallel", "parallel"]}
      ins(%c : tensor<8x2x32xf32>) outs(%o : tensor<8x40xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<8x40xbf16>
  return %r : tensor<8x40xbf16>
}

// -----

// Digits of another base than the dimension's size stay as they are.
// CHECK: affine_map<(d0) -> (d0 floordiv 16, d0 mod 16)>
// CHECK-LABEL: func.func private @other_base
// CHECK-NOT: collapse_shape
// CHECK: linalg.generic
// CHECK: linalg.generic
#in = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
#digits = affine_map<(d0) -> (d0 floordiv 16, d0 mod 16)>
#id = affine_map<(d0) -> (d0)>
func.func private @other_base(%x: tensor<4x32x8xf32>) -> tensor<64xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x32xf32>) -> tensor<4x32xf32>
  %c = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<4x32x8xf32>) outs(%f : tensor<4x32xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %0 = arith.addf %sum, %a : f32
    linalg.yield %0 : f32
  } -> tensor<4x32xf32>
  %o = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#digits, #id], iterator_types = ["parallel"]} ins(%c : tensor<4x32xf32>) outs(%o : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.mulf %a, %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}

// -----

// A leading part of a sum that others read whole is read at a remainder, since a bare loop would have to run over all of it.
// CHECK: affine_map<(d0) -> (d0 mod 9)>
// CHECK-LABEL: func.func private @part
// CHECK-NOT: extract_slice
#in = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#id = affine_map<(d0) -> (d0)>
func.func private @part(%x: tensor<9x8xf32>) -> (tensor<9xf32>, tensor<4xf32>) attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<9xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<9xf32>) -> tensor<9xf32>
  %r = linalg.generic {indexing_maps = [#in, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<9x8xf32>) outs(%f : tensor<9xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %0 = arith.addf %sum, %a : f32
    linalg.yield %0 : f32
  } -> tensor<9xf32>
  %s = tensor.extract_slice %r[0] [4] [1] : tensor<9xf32> to tensor<4xf32>
  %o = tensor.empty() : tensor<4xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%s : tensor<4xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %r, %t : tensor<9xf32>, tensor<4xf32>
}

// -----

// A reduction over what it reads through a collapse: the loop stands alone in no map any more, and is lent its extent.
// CHECK-DAG: affine_map<(d0) -> (d0 floordiv 3, d0 mod 3)>
// CHECK-LABEL: func.func private @lent
// CHECK: %[[LENT:.*]] = tensor.empty() : tensor<12xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[LENT]] : tensor<4x3xf32>, tensor<12xf32>) outs(%{{.*}} : tensor<f32>)
#in = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#id = affine_map<(d0) -> (d0)>
#none = affine_map<(d0) -> ()>
func.func private @lent(%x: tensor<3x4xf32>) -> tensor<f32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x3xf32>
  %y = linalg.generic {indexing_maps = [#turned, #in], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x4xf32>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<4x3xf32>
  %v = tensor.collapse_shape %y [[0, 1]] : tensor<4x3xf32> into tensor<12xf32>
  %o = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%o : tensor<f32>) -> tensor<f32>
  %r = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction"]} ins(%v : tensor<12xf32>) outs(%f : tensor<f32>) {
  ^bb0(%a: f32, %sum: f32):
    %0 = arith.addf %sum, %a : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// -----

// An element that is extracted from a reshape of what another op makes is extracted from that.
// CHECK-LABEL: func.func private @extracted
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<4x3xf32>)
// CHECK-NOT: collapse_shape
// CHECK: arith.divui
// CHECK: arith.remui
// CHECK: tensor.extract %[[Y]][%{{.*}}, %{{.*}}] : tensor<4x3xf32>
#in = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#id = affine_map<(d0) -> (d0)>
func.func private @extracted(%x: tensor<3x4xf32>) -> tensor<12xf32> attributes {hloom.kind = "reduce"} {
  %c11 = arith.constant 11 : index
  %e = tensor.empty() : tensor<4x3xf32>
  %y = linalg.generic {indexing_maps = [#turned, #in], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3x4xf32>) outs(%e : tensor<4x3xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<4x3xf32>
  %v = tensor.collapse_shape %y [[0, 1]] : tensor<4x3xf32> into tensor<12xf32>
  %o = tensor.empty() : tensor<12xf32>
  %r = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%o : tensor<12xf32>) {
  ^bb0(%b: f32):
    %i = linalg.index 0 : index
    %j = arith.subi %c11, %i : index
    %0 = tensor.extract %v[%j] : tensor<12xf32>
    linalg.yield %0 : f32
  } -> tensor<12xf32>
  return %r : tensor<12xf32>
}

// -----

// Of a chain of views that is no single reshape each is composed, the last first: the first then has one reader less.
// CHECK-DAG: #[[EIGHTS:.*]] = affine_map<(d0, d1) -> (d0 floordiv 4, d1 + (d0 mod 4) * 8)>
// CHECK-LABEL: func.func private @chain
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<2x32xf32>)
// CHECK-NOT: collapse_shape
// CHECK-NOT: expand_shape
// CHECK: linalg.generic {indexing_maps = [#[[EIGHTS]], {{.*}} ins(%[[Y]], 
#square = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func private @chain(%x: tensor<2x32xf32>) -> tensor<8xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x32xf32>
  %y = linalg.generic {indexing_maps = [#square, #square], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<2x32xf32>) outs(%e : tensor<2x32xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<2x32xf32>
  %w = tensor.expand_shape %y [[0, 1], [2]] output_shape [1, 2, 32] : tensor<2x32xf32> into tensor<1x2x32xf32>
  %c = tensor.collapse_shape %w [[0, 1, 2]] : tensor<1x2x32xf32> into tensor<64xf32>
  %v = tensor.expand_shape %c [[0, 1]] output_shape [8, 8] : tensor<64xf32> into tensor<8x8xf32>
  %o = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%o : tensor<8xf32>) -> tensor<8xf32>
  %r = linalg.generic {indexing_maps = [#square, #row], iterator_types = ["parallel", "reduction"]}
      ins(%v : tensor<8x8xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %0 = arith.addf %sum, %a : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  return %r : tensor<8xf32>
}

// -----

// Declined: A view that is read and returned stays for the return alone.
// CHECK-DAG: #[[DIGITS:.*]] = affine_map<(d0) -> (d0 floordiv 2, d0 mod 2)>
// CHECK-LABEL: func.func private @returned
// CHECK: %[[Y:.*]] = linalg.generic
// CHECK: %[[V:.*]] = tensor.collapse_shape %[[Y]]
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#[[DIGITS]], {{.*}} ins(%[[Y]]
// CHECK: return %[[V]], %[[R]]
#square = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0)>
#id = affine_map<(d0) -> (d0)>
func.func private @returned(%x: tensor<3xf32>) -> (tensor<6xf32>, tensor<6xf32>) attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<3x2xf32>
  %y = linalg.generic {indexing_maps = [#first, #square], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<3xf32>) outs(%e : tensor<3x2xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<3x2xf32>
  %v = tensor.collapse_shape %y [[0, 1]] : tensor<3x2xf32> into tensor<6xf32>
  %o = tensor.empty() : tensor<6xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%v : tensor<6xf32>) outs(%o : tensor<6xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<6xf32>
  return %v, %r : tensor<6xf32>, tensor<6xf32>
}

// -----

// Unchanged: No view between the two.
// CHECK-LABEL: func.func private @none
// CHECK: %[[Y:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<6xf32>)
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[Y]] : tensor<6xf32>)
// CHECK: return %[[R]]
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

// Changed: The rows of a product are read by two loops: it gets both, and its operand is read as it was before its collapse. Declined: the second reads the rows
// backwards.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
// CHECK-DAG: #[[ID:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
// CHECK-LABEL: func.func private @rows
// CHECK-NOT: collapse_shape
// CHECK: %[[C:.*]] = linalg.generic {indexing_maps = [#[[X]], #[[W]], #[[Y]]], {{.*}} ins(%arg0, %arg1 : tensor<4x32x16xf32>, tensor<16x32xf32>) outs(%{{.*}} : tensor<4x32x32xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ID]]], {{.*}} ins(%[[C]] : tensor<4x32x32xf32>)
// CHECK-LABEL: func.func private @backwards
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<128x32xf32>)
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d2, d1)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>
#read = affine_map<(d0, d1, d2) -> (d0 * 32 + d1, d2)>
#turned = affine_map<(d0, d1, d2) -> (d0 * -32 - d1 + 127, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func private @rows(%x: tensor<4x32x16xf32>, %w: tensor<16x32xf32>) -> tensor<4x32x32xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<4x32x16xf32> into tensor<128x16xf32>
  %e = tensor.empty() : tensor<128x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x32xf32>) -> tensor<128x32xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%rows, %w : tensor<128x16xf32>, tensor<16x32xf32>) outs(%f : tensor<128x32xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<128x32xf32>
  %o = tensor.empty() : tensor<4x32x32xf32>
  %r = linalg.generic {indexing_maps = [#read, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%c : tensor<128x32xf32>) outs(%o : tensor<4x32x32xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<4x32x32xf32>
  return %r : tensor<4x32x32xf32>
}
func.func private @backwards(%x: tensor<4x32x16xf32>, %w: tensor<16x32xf32>) -> tensor<4x32x32xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %rows = tensor.collapse_shape %x [[0, 1], [2]] : tensor<4x32x16xf32> into tensor<128x16xf32>
  %e = tensor.empty() : tensor<128x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x32xf32>) -> tensor<128x32xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%rows, %w : tensor<128x16xf32>, tensor<16x32xf32>) outs(%f : tensor<128x32xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<128x32xf32>
  %o = tensor.empty() : tensor<4x32x32xf32>
  %r = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%c : tensor<128x32xf32>) outs(%o : tensor<4x32x32xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<4x32x32xf32>
  return %r : tensor<4x32x32xf32>
}

// -----

// Declined: The two loops of windows do not become one: the zeros around an operand are left out by its taps. The reader reads the result by digits.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 + d2, d1 + d3)>
// CHECK-DAG: #[[DIGITS:.*]] = affine_map<(d0) -> (d0 floordiv 8, d0 mod 8)>
// CHECK-LABEL: func.func private @windows
// CHECK: %[[C:.*]] = linalg.generic {indexing_maps = [#[[X]], {{.*}} outs(%{{.*}} : tensor<8x8xf32>)
// CHECK: linalg.generic {indexing_maps = [#[[DIGITS]], {{.*}} ins(%[[C]] : tensor<8x8xf32>)
#x = affine_map<(d0, d1, d2, d3) -> (d0 + d2, d1 + d3)>
#w = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#y = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#id = affine_map<(d0) -> (d0)>
func.func private @windows(%x: tensor<10x10xf32>, %w: tensor<3x3xf32>) -> tensor<64xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<10x10xf32>, tensor<3x3xf32>) outs(%f : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x8xf32>
  %v = tensor.collapse_shape %c [[0, 1]] : tensor<8x8xf32> into tensor<64xf32>
  %o = tensor.empty() : tensor<64xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%v : tensor<64xf32>) outs(%o : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<64xf32>
  return %r : tensor<64xf32>
}
