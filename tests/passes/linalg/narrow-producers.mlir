// RUN: hloom-opt %s --narrow-producers --split-input-file | filecheck %s

// Changed: Of a sum of rows that is read from 500 on, only those rows are summed, and an index in the body is moved along.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1) -> (d0 + 500, d1)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func private @window
// CHECK: linalg.fill {{.*}} outs(%{{.*}} : tensor<16xf32>)
// CHECK: %[[R:.*]] = linalg.generic {indexing_maps = [#[[X]], #[[ROW]]], {{.*}} ins(%arg0 : tensor<4096x8xf32>) outs(%{{.*}} : tensor<16xf32>)
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: arith.addi %[[I]], %c500
// CHECK: linalg.generic {{.*}} ins(%[[R]] : tensor<16xf32>)
#x = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#part = affine_map<(d0) -> (d0 + 500)>
#id = affine_map<(d0) -> (d0)>
func.func private @window(%x: tensor<4096x8xf32>) -> tensor<16xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096xf32>) -> tensor<4096xf32>
  %r = linalg.generic {indexing_maps = [#x, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4096x8xf32>) outs(%f : tensor<4096xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %i = linalg.index 0 : index
    %w = arith.index_cast %i : index to i32
    %v = arith.sitofp %w : i32 to f32
    %0 = arith.mulf %a, %v : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4096xf32>
  %o = tensor.empty() : tensor<16xf32>
  %t = linalg.generic {indexing_maps = [#part, #id], iterator_types = ["parallel"]} ins(%r : tensor<4096xf32>) outs(%o : tensor<16xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<16xf32>
  return %t : tensor<16xf32>
}

// -----

// Changed: A leading part, which is a slice: of the argument in the end. Two windows count as the least that holds both.
// CHECK-LABEL: func.func private @leading
// CHECK: %[[X:.*]] = tensor.extract_slice %arg0[0, 0] [6, 8] [1, 1]
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<6x8xf32>) outs(%{{.*}} : tensor<6xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %[[R]] : tensor<4xf32>, tensor<6xf32>) outs(%{{.*}} : tensor<4xf32>)
#x = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#id = affine_map<(d0) -> (d0)>
#two = affine_map<(d0) -> (d0 + 2)>
func.func private @leading(%x: tensor<9x8xf32>) -> tensor<4xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<9xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<9xf32>) -> tensor<9xf32>
  %r = linalg.generic {indexing_maps = [#x, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<9x8xf32>) outs(%f : tensor<9xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %0 = arith.addf %sum, %a : f32
    linalg.yield %0 : f32
  } -> tensor<9xf32>
  %s = tensor.extract_slice %r[0] [4] [1] : tensor<9xf32> to tensor<4xf32>
  %o = tensor.empty() : tensor<4xf32>
  %t = linalg.generic {indexing_maps = [#id, #two, #id], iterator_types = ["parallel"]}
      ins(%s, %r : tensor<4xf32>, tensor<9xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %t : tensor<4xf32>
}

// -----

// Declined: What is read with a stride, or returned, is computed in full.
// CHECK-LABEL: func.func private @strided
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<9xf32>)
#x = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#id = affine_map<(d0) -> (d0)>
#twice = affine_map<(d0) -> (d0 * 2)>
func.func private @strided(%x: tensor<9x8xf32>) -> tensor<4xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<9xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<9xf32>) -> tensor<9xf32>
  %r = linalg.generic {indexing_maps = [#x, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<9x8xf32>) outs(%f : tensor<9xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %0 = arith.addf %sum, %a : f32
    linalg.yield %0 : f32
  } -> tensor<9xf32>
  %o = tensor.empty() : tensor<4xf32>
  %t = linalg.generic {indexing_maps = [#twice, #id], iterator_types = ["parallel"]} ins(%r : tensor<9xf32>) outs(%o : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %t : tensor<4xf32>
}

// -----

// Unchanged: No window.
// CHECK-LABEL: func.func private @none
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<6xf32>) outs(%{{.*}} : tensor<6xf32>)
// CHECK: %[[T:.*]] = linalg.generic {{.*}} ins(%[[R]] : tensor<6xf32>)
// CHECK: return %[[T]]
#id = affine_map<(d0) -> (d0)>
func.func private @none(%x: tensor<6xf32>) -> tensor<6xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<6xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<6xf32>) outs(%e : tensor<6xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<6xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%r : tensor<6xf32>) outs(%e : tensor<6xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<6xf32>
  return %t : tensor<6xf32>
}

// -----

// Declined: a slice at a computed place, as a scatter takes of its updates, may begin anywhere.
// CHECK-LABEL: func.func private @computed_place
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<6xf32>) outs(%{{.*}} : tensor<6xf32>)
// CHECK: tensor.extract_slice %[[R]][%arg1] [1] [1]
#id = affine_map<(d0) -> (d0)>
func.func private @computed_place(%x: tensor<6xf32>, %i: index) -> tensor<1xf32> attributes {hloom.kind = "scatter"} {
  %e = tensor.empty() : tensor<6xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<6xf32>) outs(%e : tensor<6xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.exp %a : f32
    linalg.yield %0 : f32
  } -> tensor<6xf32>
  %t = tensor.extract_slice %r[%i] [1] [1] : tensor<6xf32> to tensor<1xf32>
  return %t : tensor<1xf32>
}

// -----

// Changed: Features 0 to 16 of four groups of nine are read: two whole groups are computed.
// CHECK-LABEL: func.func private @groups
// CHECK: linalg.generic {{.*}} ins(%arg0, %{{.*}} : tensor<6x8xf32>, tensor<2x18xf32>) outs(%{{.*}} : tensor<6x18xf32>)
#x = affine_map<(d0, d1, d2) -> (d0, d2 + (d1 floordiv 9) * 2)>
#w = affine_map<(d0, d1, d2) -> (d2, d1)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @groups(%x: tensor<6x8xf32>, %w: tensor<2x36xf32>) -> tensor<6x17xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<6x36xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x36xf32>) -> tensor<6x36xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<6x8xf32>, tensor<2x36xf32>) outs(%f : tensor<6x36xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b fastmath<contract> : f32
    %1 = arith.addf %sum, %0 fastmath<contract> : f32
    linalg.yield %1 : f32
  } -> tensor<6x36xf32>
  %s = tensor.extract_slice %c[0, 0] [6, 17] [1, 1] : tensor<6x36xf32> to tensor<6x17xf32>
  %o = tensor.empty() : tensor<6x17xf32>
  %t = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<6x17xf32>) outs(%o : tensor<6x17xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<6x17xf32>
  return %t : tensor<6x17xf32>
}

// -----

// Changed: Of three groups whose filter is in memory as Winograd's transform the last two are read: the filter is read at its group.
// CHECK: affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d4, d5, d2 floordiv 24 + 1, d2 mod 24)>
// CHECK-LABEL: func.func private @winograd_groups
// CHECK: %[[F:.*]] = stablehlo.custom_call @hloom.winograd_filter
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[F]] : {{.*}}) outs(%{{.*}} : tensor<8x8x48xf32>)
#x = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0 + d3, d1 + d4, d5 + (d2 floordiv 24) * 16)>
#w = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d4, d5, d2)>
#y = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func private @winograd_groups(%x: tensor<10x10x48xf32>, %t: tensor<3x1x6x6x16x32xf32>) -> tensor<8x8x48xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %f = stablehlo.custom_call @hloom.winograd_filter(%t) : (tensor<3x1x6x6x16x32xf32>) -> tensor<3x3x16x3x24xf32>
  %v = tensor.collapse_shape %f [[0], [1], [2], [3, 4]] : tensor<3x3x16x3x24xf32> into tensor<3x3x16x72xf32>
  %e = tensor.empty() : tensor<8x8x72xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8x72xf32>) -> tensor<8x8x72xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %v : tensor<10x10x48xf32>, tensor<3x3x16x72xf32>) outs(%i : tensor<8x8x72xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b fastmath<contract> : f32
    %1 = arith.addf %sum, %0 fastmath<contract> : f32
    linalg.yield %1 : f32
  } -> tensor<8x8x72xf32>
  %s = tensor.extract_slice %c[0, 0, 24] [8, 8, 48] [1, 1, 1] : tensor<8x8x72xf32> to tensor<8x8x48xf32>
  %o = tensor.empty() : tensor<8x8x48xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<8x8x48xf32>) outs(%o : tensor<8x8x48xf32>) {
  ^bb0(%a: f32, %b: f32):
    %0 = math.absf %a : f32
    linalg.yield %0 : f32
  } -> tensor<8x8x48xf32>
  return %r : tensor<8x8x48xf32>
}
