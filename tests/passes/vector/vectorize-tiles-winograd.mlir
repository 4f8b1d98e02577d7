// RUN: hloom-opt %s --tile-and-fuse --vectorize-tiles --canonicalize --cse --split-input-file | filecheck %s

// Changed: Each block of the products asks for its share of the weights behind those that it reads, of halves too. What follows is computed of
// the results in registers; they are in no buffer of f32. What 14 tiles have of each of 36 points takes 28 cache lines: points are 29 apart, so
// that those of a tile lie in different sets of a cache.
// CHECK-LABEL: func.func private @rounded(
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<25088xbf16>, %[[W:[a-z0-9]*]]: memref<36864xf32>, %[[B:[a-z0-9]*]]: memref<32xbf16>, %[[Y:[a-z0-9]*]]: memref<25088xbf16>)
// CHECK-NOT: memref.alloca() {{.*}} : memref<7168xf32>
// CHECK: memref.alloca() {{.*}} : memref<16704xf32>
// CHECK-NEXT: %[[WINDOW:.*]] = memref.alloca() {{.*}} : memref<576xf32>
// CHECK-NEXT: memref.alloca() {{.*}} : memref<16704xf32>
// A tile whose pixels all exist reads them where they lie; at the edges it reads them, and zeros, from a window of one tile.
// CHECK: scf.if
// CHECK-COUNT-36: vector.load %[[X]]{{.*}} vector<16xbf16>
// CHECK-NOT: %[[WINDOW]]
// CHECK: } else {
// CHECK: vector.load %[[X]]
// CHECK: vector.store %{{.*}}, %[[WINDOW]]
// CHECK-COUNT-36: vector.load %[[WINDOW]]
// CHECK: memref.prefetch %[[W]]
// CHECK: vector.load %[[W]]
// CHECK: vector.load %[[B]]
// CHECK: arith.addf
// CHECK: arith.truncf
// CHECK: vector.store %{{.*}}, %[[Y]]
// CHECK: return
#x = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0 + d3, d1 + d4, d5)>
#w = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d4, d5, d2)>
#y = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#last = affine_map<(d0, d1, d2) -> (d2)>
func.func private @rounded(%x: tensor<28x28x32xbf16>, %t: tensor<1x6x6x32x32xf32>, %b: tensor<32xbf16>) -> tensor<28x28x32xbf16> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant 0.0 : bf16
  %w = stablehlo.custom_call @hloom.winograd_filter(%t) : (tensor<1x6x6x32x32xf32>) -> tensor<3x3x32x32xbf16>
  %padded = tensor.pad %x low[1, 1, 0] high[1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %none : bf16
  } : tensor<28x28x32xbf16> to tensor<30x30x32xbf16>
  %e = tensor.empty() : tensor<28x28x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<28x28x32xf32>) -> tensor<28x28x32xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%padded, %w : tensor<30x30x32xbf16>, tensor<3x3x32x32xbf16>) outs(%f : tensor<28x28x32xf32>) {
  ^bb0(%u: bf16, %v: bf16, %s: f32):
    %0 = arith.extf %u : bf16 to f32
    %1 = arith.extf %v : bf16 to f32
    %2 = arith.mulf %0, %1 fastmath<contract> : f32
    %3 = arith.addf %s, %2 fastmath<contract> : f32
    linalg.yield %3 : f32
  } -> tensor<28x28x32xf32>
  %o = tensor.empty() : tensor<28x28x32xbf16>
  %r = linalg.generic {indexing_maps = [#id, #last, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%c, %b : tensor<28x28x32xf32>, tensor<32xbf16>) outs(%o : tensor<28x28x32xbf16>) {
  ^bb0(%u: f32, %v: bf16, %out: bf16):
    %0 = arith.extf %v : bf16 to f32
    %1 = arith.addf %u, %0 : f32
    %2 = arith.truncf %1 : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<28x28x32xbf16>
  return %r : tensor<28x28x32xbf16>
}

// -----

// Declined: What follows reads another pixel than its own: it is computed of the tile.
// CHECK-LABEL: func.func private @turned(
// CHECK: memref.alloca() {{.*}} : memref<7168xf32>
// CHECK: return
#x = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0 + d3, d1 + d4, d5)>
#w = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d4, d5, d2)>
#y = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#turned = affine_map<(d0, d1, d2) -> (d0, -d1 + 27, d2)>
func.func private @turned(%x: tensor<28x28x32xf32>, %t: tensor<1x6x6x32x32xf32>) -> tensor<28x28x32xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %w = stablehlo.custom_call @hloom.winograd_filter(%t) : (tensor<1x6x6x32x32xf32>) -> tensor<3x3x32x32xf32>
  %padded = tensor.pad %x low[1, 1, 0] high[1, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<28x28x32xf32> to tensor<30x30x32xf32>
  %e = tensor.empty() : tensor<28x28x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<28x28x32xf32>) -> tensor<28x28x32xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%padded, %w : tensor<30x30x32xf32>, tensor<3x3x32x32xf32>) outs(%f : tensor<28x28x32xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %0 = arith.mulf %u, %v fastmath<contract> : f32
    %1 = arith.addf %s, %0 fastmath<contract> : f32
    linalg.yield %1 : f32
  } -> tensor<28x28x32xf32>
  %o = tensor.empty() : tensor<28x28x32xf32>
  %r = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%c : tensor<28x28x32xf32>) outs(%o : tensor<28x28x32xf32>) {
  ^bb0(%u: f32, %out: f32):
    %0 = arith.negf %u : f32
    linalg.yield %0 : f32
  } -> tensor<28x28x32xf32>
  return %r : tensor<28x28x32xf32>
}

// -----

// Changed: Taps that are two apart. A tile has 16 lines: those of even number are one pass, those of odd number the next, with buffers for the
// 16 tiles of 4 x 4 of one. A transform reads every other pixel, and results are stored in turn.
// CHECK-LABEL: func.func private @apart(
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<25088xf32>
// CHECK: memref.alloca() {{.*}} : memref<19008xf32>
// CHECK-NEXT: memref.alloca() {{.*}} : memref<576xf32>
// CHECK-NEXT: memref.alloca() {{.*}} : memref<19008xf32>
// CHECK: scf.for %[[TOP:.*]] = %c0 to %c2
// CHECK: scf.for %[[PHASE:.*]] = %c0 to %c2
// CHECK: vector.load %[[X]]
// CHECK: return
#x = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0 + d3 * 2, d1 + d4 * 2, d5)>
#w = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d4, d5, d2)>
#y = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2)>
func.func private @apart(%x: tensor<28x28x32xf32>, %t: tensor<1x6x6x32x32xf32>) -> tensor<28x28x32xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %w = stablehlo.custom_call @hloom.winograd_filter(%t) : (tensor<1x6x6x32x32xf32>) -> tensor<3x3x32x32xf32>
  %padded = tensor.pad %x low[2, 2, 0] high[2, 2, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<28x28x32xf32> to tensor<32x32x32xf32>
  %e = tensor.empty() : tensor<28x28x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<28x28x32xf32>) -> tensor<28x28x32xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%padded, %w : tensor<32x32x32xf32>, tensor<3x3x32x32xf32>) outs(%f : tensor<28x28x32xf32>) {
  ^bb0(%u: f32, %v: f32, %s: f32):
    %0 = arith.mulf %u, %v fastmath<contract> : f32
    %1 = arith.addf %s, %0 fastmath<contract> : f32
    linalg.yield %1 : f32
  } -> tensor<28x28x32xf32>
  return %c : tensor<28x28x32xf32>
}

// -----

// Changed: Where registers are few, the weights lie in panels of 16 features. Two panels are multiplied together by what a point has of each
// tile, one after the other; each block of rows asks for its share of the panel behind its own, of the next point.
// CHECK-LABEL: func.func private @panels(
// CHECK-SAME: memref<25088xf32>, %[[W:[a-z0-9]*]]: memref<36864xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c36 step %c1 {
// CHECK: scf.for %[[COLUMN:.*]] = %c0 to %c32 step %c16
// CHECK: arith.muli %[[COLUMN]], %c1152
// CHECK: memref.prefetch %[[W]]
// CHECK: vector.load %[[W]]{{.*}} vector<16xf32>
// CHECK: return
#x = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0 + d3, d1 + d4, d5)>
#w = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d4, d5, d2)>
#y = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2)>
module attributes {hloom.target = {name = "cpu-avx2", vector_bits = 256 : i64, vector_registers = 16 : i64}} {
  func.func private @panels(%x: tensor<28x28x32xf32>, %t: tensor<2x6x6x32x16xf32>) -> tensor<28x28x32xf32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0.0 : f32
    %w = stablehlo.custom_call @hloom.winograd_filter(%t) : (tensor<2x6x6x32x16xf32>) -> tensor<3x3x32x32xf32>
    %padded = tensor.pad %x low[1, 1, 0] high[1, 1, 0] {
    ^bb0(%i: index, %j: index, %k: index):
      tensor.yield %zero : f32
    } : tensor<28x28x32xf32> to tensor<30x30x32xf32>
    %e = tensor.empty() : tensor<28x28x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<28x28x32xf32>) -> tensor<28x28x32xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%padded, %w : tensor<30x30x32xf32>, tensor<3x3x32x32xf32>) outs(%f : tensor<28x28x32xf32>) {
    ^bb0(%u: f32, %v: f32, %s: f32):
      %0 = arith.mulf %u, %v fastmath<contract> : f32
      %1 = arith.addf %s, %0 fastmath<contract> : f32
      linalg.yield %1 : f32
    } -> tensor<28x28x32xf32>
    return %c : tensor<28x28x32xf32>
  }
}

// -----

// Changed: Groups: a tile asks for its group's part of the pixels, which L2 does not hold, before it transforms them. Pixels and weights begin
// where those of the group do.
// CHECK-LABEL: func.func private @groups(
// CHECK-SAME: %[[X:[a-z0-9]*]]: memref<25088xf32>, %[[W:[a-z0-9]*]]: memref<73728xf32>, %{{[a-z0-9]*}}: memref<25088xf32>)
// CHECK: memref.prefetch %[[X]]
// CHECK: vector.load %[[X]]
// CHECK: vector.load %[[W]]
// CHECK: return
#x = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1 + d5, d2 + d6, d3 * 32 + d7)>
#w = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d5, d6, d7, d3, d4)>
#y = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3, d4)>
module attributes {hloom.target = {l2_bytes = 98304 : i64}} {
  func.func private @groups(%x: tensor<8x7x7x64xf32>, %t: tensor<2x1x6x6x32x32xf32>) -> tensor<8x7x7x2x32xf32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0.0 : f32
    %w = stablehlo.custom_call @hloom.winograd_filter(%t) : (tensor<2x1x6x6x32x32xf32>) -> tensor<3x3x32x2x32xf32>
    %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%i: index, %j: index, %k: index, %l: index):
      tensor.yield %zero : f32
    } : tensor<8x7x7x64xf32> to tensor<8x9x9x64xf32>
    %e = tensor.empty() : tensor<8x7x7x2x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x7x7x2x32xf32>) -> tensor<8x7x7x2x32xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%padded, %w : tensor<8x9x9x64xf32>, tensor<3x3x32x2x32xf32>) outs(%f : tensor<8x7x7x2x32xf32>) {
    ^bb0(%u: f32, %v: f32, %s: f32):
      %0 = arith.mulf %u, %v fastmath<contract> : f32
      %1 = arith.addf %s, %0 fastmath<contract> : f32
      linalg.yield %1 : f32
    } -> tensor<8x7x7x2x32xf32>
    return %c : tensor<8x7x7x2x32xf32>
  }
}
