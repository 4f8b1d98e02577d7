// RUN: hloom-opt %s --lower-to-linalg --inline-producers --split-input-file | filecheck %s

// Changed: A loop group is one generic, movement is in its maps.
// CHECK-DAG: #[[T:.*]] = affine_map<(d0, d1) -> (d1, d0)>
// CHECK-LABEL: func.func @loop
// CHECK: linalg.generic {indexing_maps = [#[[T]]
// CHECK: math.tanh
// CHECK-NEXT: arith.addf
// CHECK-NOT: linalg.generic
func.func @loop(%x: tensor<5x4xf32>, %b: tensor<5xf32>) -> tensor<4x5xf32> {
  %0 = stablehlo.tanh %x : tensor<5x4xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %2 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<5xf32>) -> tensor<4x5xf32>
  %3 = stablehlo.add %1, %2 : tensor<4x5xf32>
  return %3 : tensor<4x5xf32>
}

// -----

// Declined: A dear producer of two uses is kept, the row scalar broadcast into it is not copied.
// CHECK-LABEL: func.func @softmax
// CHECK: arith.maximumf
// CHECK: linalg.generic
// CHECK: arith.subf
// CHECK-NEXT: math.exp
// CHECK: linalg.generic
// CHECK: arith.addf
// CHECK: linalg.generic
// CHECK-NOT: math.exp
// CHECK: arith.divf
// CHECK-NOT: linalg.generic
func.func @softmax(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<8x16xf32>
  %3 = stablehlo.exponential %2 : tensor<8x16xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %6 = stablehlo.divide %3, %5 : tensor<8x16xf32>
  return %6 : tensor<8x16xf32>
}

// -----

// A cheap producer of a reduction and of an epilogue is recomputed: no tensor for x - mean.
// CHECK-LABEL: func.func @centred
// CHECK: linalg.generic
// CHECK: arith.subf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK: linalg.generic
// CHECK: arith.subf
// CHECK-NEXT: arith.mulf
func.func @centred(%x: tensor<8x16xf32>, %mean: tensor<8xf32>) -> tensor<8x16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %mean, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %1 = stablehlo.subtract %x, %0 : tensor<8x16xf32>
  %2 = stablehlo.multiply %1, %1 : tensor<8x16xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x16xf32>, tensor<f32>) -> tensor<8xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<8xf32>) -> tensor<8x16xf32>
  %5 = stablehlo.multiply %1, %4 : tensor<8x16xf32>
  return %5 : tensor<8x16xf32>
}

// -----

// A contraction takes transposes and extensions into itself, and nothing that computes.
// CHECK-LABEL: func.func @operands
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<4x5xf32>, tensor<6x5xbf16>)
// CHECK: arith.extf
// CHECK-NEXT: arith.mulf
func.func @operands(%x: tensor<4x5xf32>, %w: tensor<6x5xbf16>) -> tensor<4x6xf32> {
  %0 = stablehlo.exponential %x : tensor<4x5xf32>
  %1 = stablehlo.convert %w : (tensor<6x5xbf16>) -> tensor<6x5xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<6x5xf32>) -> tensor<5x6xf32>
  %3 = stablehlo.dot_general %0, %2, contracting_dims = [1] x [0] : (tensor<4x5xf32>, tensor<5x6xf32>) -> tensor<4x6xf32>
  return %3 : tensor<4x6xf32>
}

// -----

// Grouped queries: four heads read one of keys, by its quotients; split-loops makes the maps plain.
// CHECK: #[[KEYS:.*]] = affine_map<(d0, d1, d2, d3) -> (d0 floordiv 8, (d0 floordiv 4) mod 2, d3, d2)>
// CHECK-LABEL: func.func @grouped
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[KEYS]], #{{.*}}], {{.*}} ins(%arg0, %arg1 : tensor<16x3x5xf32>, tensor<2x2x5x7xf32>)
// CHECK-NOT: linalg.generic
func.func @grouped(%q: tensor<16x3x5xf32>, %k: tensor<2x2x5x7xf32>) -> tensor<16x3x7xf32> {
  %0 = stablehlo.broadcast_in_dim %k, dims = [0, 1, 3, 4] : (tensor<2x2x5x7xf32>) -> tensor<2x2x4x5x7xf32>
  %1 = stablehlo.reshape %0 : (tensor<2x2x4x5x7xf32>) -> tensor<16x5x7xf32>
  %2 = stablehlo.dot_general %q, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<16x3x5xf32>, tensor<16x5x7xf32>) -> tensor<16x3x7xf32>
  return %2 : tensor<16x3x7xf32>
}

// -----

// Declined: A quotient of the summed loop cannot be split away: the operand is copied.
// CHECK-LABEL: func.func @summed
// CHECK: %[[W:.*]] = linalg.generic {{.*}} iterator_types = ["parallel", "parallel", "parallel"]
// CHECK: linalg.generic {{.*}} ins(%arg0, %
func.func @summed(%x: tensor<3x8xf32>, %w: tensor<2x7xf32>) -> tensor<3x7xf32> {
  %0 = stablehlo.broadcast_in_dim %w, dims = [0, 2] : (tensor<2x7xf32>) -> tensor<2x4x7xf32>
  %1 = stablehlo.reshape %0 : (tensor<2x4x7xf32>) -> tensor<8x7xf32>
  %2 = stablehlo.dot_general %x, %1, contracting_dims = [1] x [0] : (tensor<3x8xf32>, tensor<8x7xf32>) -> tensor<3x7xf32>
  return %2 : tensor<3x7xf32>
}

// -----

// Demand evaluation: the producer's body is emitted at the gathered index.
// CHECK-LABEL: func.func @demand
// CHECK: linalg.generic
// CHECK: tensor.extract %arg0
// CHECK-NEXT: math.exp
// CHECK-NOT: linalg.generic
func.func @demand(%x: tensor<9xf32>, %i: tensor<i32>) -> tensor<4xf32> {
  %0 = stablehlo.exponential %x : tensor<9xf32>
  %1 = stablehlo.dynamic_slice %0, %i, sizes = [4] : (tensor<9xf32>, tensor<i32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// The loops' bounds decide the selects of a concatenation: only one piece is read.
// CHECK-LABEL: func.func @slice_of_concatenate
// CHECK: linalg.generic
// CHECK-SAME: ins(%arg1 : tensor<4xf32>)
// CHECK-NOT: arith.select
func.func @slice_of_concatenate(%a: tensor<3xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.concatenate %a, %b, dim = 0 : (tensor<3xf32>, tensor<4xf32>) -> tensor<7xf32>
  %1 = stablehlo.slice %0 [3:7] : (tensor<7xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// A returned reshape is a view at the edge, one of an argument too.
// CHECK-LABEL: func.func @reshapes
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel"]
// CHECK: tensor.collapse_shape
func.func @reshapes(%x: tensor<24xf32>) -> tensor<24xf32> {
  %0 = stablehlo.reshape %x : (tensor<24xf32>) -> tensor<4x6xf32>
  %1 = stablehlo.negate %0 : tensor<4x6xf32>
  %2 = stablehlo.reshape %1 : (tensor<4x6xf32>) -> tensor<24xf32>
  return %2 : tensor<24xf32>
}

// -----

// Unchanged: One op alone.
// CHECK-LABEL: func.func @alone
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<4xf32>)
// CHECK: math.tanh
// CHECK-NEXT: linalg.yield
// CHECK-NOT: linalg.generic
// CHECK: return %[[R]]
func.func @alone(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Changed: A contraction sees floats in the bytes that it reads.
// CHECK-LABEL: func.func @floats_seen_in_bytes
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<8x16xi8>, tensor<16x4xi8>)
// CHECK-NEXT: ^bb0(%[[X:.*]]: i8, %[[W:.*]]: i8, %{{.*}}: f32)
// CHECK-NEXT: %[[A:.*]] = arith.bitcast %[[X]] : i8 to f8E5M2
// CHECK-NEXT: %[[B:.*]] = arith.bitcast %[[W]] : i8 to f8E4M3FN
// CHECK-NEXT: arith.extf %[[A]] : f8E5M2 to f32
// CHECK-NEXT: arith.extf %[[B]] : f8E4M3FN to f32
func.func @floats_seen_in_bytes(%x: tensor<8x16xui8>, %w: tensor<16x4xui8>) -> tensor<8x4xf32> {
  %0 = stablehlo.bitcast_convert %x : (tensor<8x16xui8>) -> tensor<8x16xf8E5M2>
  %1 = stablehlo.bitcast_convert %w : (tensor<16x4xui8>) -> tensor<16x4xf8E4M3FN>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<8x16xf8E5M2>, tensor<16x4xf8E4M3FN>) -> tensor<8x4xf32>
  return %2 : tensor<8x4xf32>
}

// -----

#blocks = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#whole = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#rows = affine_map<(m, n, k) -> (m, k)>
#columns = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>

// Packed columns of which the last block is read in part: a CPU's contraction reads them by block and column in it, and nothing is copied.
// CHECK-DAG: #[[$COLUMNS:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 32, d2, d1 mod 32)>
// CHECK-LABEL: func.func private @panels(
// CHECK-SAME: %[[P:[a-z0-9]+]]: tensor<4x8x32xf32>
// CHECK: linalg.generic {indexing_maps = [{{.*}}, #[[$COLUMNS]], {{.*}}]{{.*}} ins(%{{.*}}, %[[P]] : tensor<9x8xf32>, tensor<4x8x32xf32>) outs({{.*}} : tensor<9x116xf32>)
func.func private @panels(%p: tensor<4x8x32xf32>, %x: tensor<9x8xf32>) -> tensor<9x116xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x4x32xf32>
  %t = linalg.generic {indexing_maps = [#blocks, #whole], iterator_types = ["parallel", "parallel", "parallel"]} ins(%p : tensor<4x8x32xf32>) outs(%e : tensor<8x4x32xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<8x4x32xf32>
  %c = tensor.collapse_shape %t [[0], [1, 2]] : tensor<8x4x32xf32> into tensor<8x128xf32>
  %s = tensor.extract_slice %c[0, 0] [8, 116] [1, 1] : tensor<8x128xf32> to tensor<8x116xf32>
  %f = tensor.empty() : tensor<9x116xf32>
  %z = linalg.fill ins(%zero : f32) outs(%f : tensor<9x116xf32>) -> tensor<9x116xf32>
  %r = linalg.generic {indexing_maps = [#rows, #columns, #result], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %s : tensor<9x8xf32>, tensor<8x116xf32>) outs(%z : tensor<9x116xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<9x116xf32>
  return %r : tensor<9x116xf32>
}

// -----

#blocks = affine_map<(k, i, b, j) -> (b, k, j, i)>
#whole = affine_map<(k, i, b, j) -> (k, i, b, j)>
#rows = affine_map<(m, n, k) -> (m, k)>
#columns = affine_map<(m, n, k) -> (k, n)>
#result = affine_map<(m, n, k) -> (m, n)>

// The same of pairs of bf16, neighbours in depth: whole lanes beside a block that is read in part.
// CHECK-DAG: #[[$PAIRS:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 32, d2 floordiv 2, d1 mod 32, d2 mod 2)>
// CHECK-LABEL: func.func private @panels_of_pairs(
// CHECK-SAME: %[[P:[a-z0-9]+]]: tensor<4x4x32x2xbf16>
// CHECK: linalg.generic {indexing_maps = [{{.*}}, #[[$PAIRS]], {{.*}}]{{.*}} ins(%{{.*}}, %[[P]] : tensor<9x8xbf16>, tensor<4x4x32x2xbf16>) outs({{.*}} : tensor<9x116xf32>)
func.func private @panels_of_pairs(%p: tensor<4x4x32x2xbf16>, %x: tensor<9x8xbf16>) -> tensor<9x116xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x2x4x32xbf16>
  %t = linalg.generic {indexing_maps = [#blocks, #whole], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%p : tensor<4x4x32x2xbf16>) outs(%e : tensor<4x2x4x32xbf16>) {
  ^bb0(%a: bf16, %o: bf16):
    linalg.yield %a : bf16
  } -> tensor<4x2x4x32xbf16>
  %c = tensor.collapse_shape %t [[0, 1], [2, 3]] : tensor<4x2x4x32xbf16> into tensor<8x128xbf16>
  %s = tensor.extract_slice %c[0, 0] [8, 116] [1, 1] : tensor<8x128xbf16> to tensor<8x116xbf16>
  %f = tensor.empty() : tensor<9x116xf32>
  %z = linalg.fill ins(%zero : f32) outs(%f : tensor<9x116xf32>) -> tensor<9x116xf32>
  %r = linalg.generic {indexing_maps = [#rows, #columns, #result], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %s : tensor<9x8xbf16>, tensor<8x116xbf16>) outs(%z : tensor<9x116xf32>) {
  ^bb0(%a: bf16, %b: bf16, %o: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %o, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<9x116xf32>
  return %r : tensor<9x116xf32>
}

// -----

#pixel = affine_map<(y, x, c) -> (y, x, c)>
#window = affine_map<(y, x, c, i, j) -> (y * 2 + i, x * 2 + j, c)>
#taps = affine_map<(y, x, c, i, j) -> (i, j)>
#made = affine_map<(y, x, c, i, j) -> (y, x, c)>

// Changed: For a GPU, whose threads evaluate what they read in windows there, a dear producer of a pool too. It would be whole in each tile.
// CHECK-LABEL: func.func private @pool_on_a_gpu(
// CHECK: linalg.generic {{.*}}"reduction"
// CHECK: math.exp
// CHECK: arith.maximumf
// CHECK-NOT: linalg.generic
module attributes {hloom.target = {kind = "cuda"}} {
  func.func private @pool_on_a_gpu(%x: tensor<9x9x4xf32>) -> tensor<4x4x4xf32> attributes {hloom.kind = "reduce"} {
    %least = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<9x9x4xf32>
    %p = linalg.generic {indexing_maps = [#pixel, #pixel], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<9x9x4xf32>) outs(%e : tensor<9x9x4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = math.exp %a : f32
      linalg.yield %0 : f32
    } -> tensor<9x9x4xf32>
    %w = tensor.empty() : tensor<3x3xf32>
    %f = tensor.empty() : tensor<4x4x4xf32>
    %z = linalg.fill ins(%least : f32) outs(%f : tensor<4x4x4xf32>) -> tensor<4x4x4xf32>
    %r = linalg.generic {indexing_maps = [#window, #taps, #made], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%p, %w : tensor<9x9x4xf32>, tensor<3x3xf32>) outs(%z : tensor<4x4x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %0 = arith.maximumf %o, %a : f32
      linalg.yield %0 : f32
    } -> tensor<4x4x4xf32>
    return %r : tensor<4x4x4xf32>
  }
}
// -----

#pixel = affine_map<(y, x, c) -> (y, x, c)>
#window = affine_map<(y, x, c, i, j) -> (y * 2 + i, x * 2 + j, c)>
#taps = affine_map<(y, x, c, i, j) -> (i, j)>
#made = affine_map<(y, x, c, i, j) -> (y, x, c)>

// Declined: For a CPU.
// CHECK-LABEL: func.func private @pool_on_a_cpu(
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: linalg.generic {{.*}}"reduction"
module attributes {hloom.target = {kind = "cpu"}} {
  func.func private @pool_on_a_cpu(%x: tensor<9x9x4xf32>) -> tensor<4x4x4xf32> attributes {hloom.kind = "reduce"} {
    %least = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<9x9x4xf32>
    %p = linalg.generic {indexing_maps = [#pixel, #pixel], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<9x9x4xf32>) outs(%e : tensor<9x9x4xf32>) {
    ^bb0(%a: f32, %o: f32):
      %0 = math.exp %a : f32
      linalg.yield %0 : f32
    } -> tensor<9x9x4xf32>
    %w = tensor.empty() : tensor<3x3xf32>
    %f = tensor.empty() : tensor<4x4x4xf32>
    %z = linalg.fill ins(%least : f32) outs(%f : tensor<4x4x4xf32>) -> tensor<4x4x4xf32>
    %r = linalg.generic {indexing_maps = [#window, #taps, #made], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%p, %w : tensor<9x9x4xf32>, tensor<3x3xf32>) outs(%z : tensor<4x4x4xf32>) {
    ^bb0(%a: f32, %b: f32, %o: f32):
      %0 = arith.maximumf %o, %a : f32
      linalg.yield %0 : f32
    } -> tensor<4x4x4xf32>
    return %r : tensor<4x4x4xf32>
  }
}

// -----

#x = affine_map<(m, n, k) -> (m, k)>
#y = affine_map<(m, n, k) -> (k, n)>
#z = affine_map<(m, n, k) -> (m, n)>
#e = affine_map<(m, n) -> (m, n)>

// Unchanged: What is made of two contractions, however alike, is not joined: each follows its own.
// CHECK-LABEL: func.func private @of_two_contractions(
// CHECK-COUNT-2: arith.truncf
// CHECK: return
// CHECK-LABEL: func.func private @of_one_contraction(
// CHECK: arith.truncf
// CHECK-NEXT: arith.negf
// CHECK-NEXT: linalg.yield
func.func private @of_two_contractions(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xbf16>, tensor<8x8xbf16>) attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %t = tensor.empty() : tensor<8x8xf32>
  %u = tensor.empty() : tensor<8x8xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%t : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x8xf32>
  %q = linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]} ins(%y, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x8xf32>
  %r = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<8x8xf32>) outs(%u : tensor<8x8xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<8x8xbf16>
  %s = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%q : tensor<8x8xf32>) outs(%u : tensor<8x8xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<8x8xbf16>
  return %r, %s : tensor<8x8xbf16>, tensor<8x8xbf16>
}

// Changed: What is made of one is.
func.func private @of_one_contraction(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xbf16>, tensor<8x8xf32>) attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %t = tensor.empty() : tensor<8x8xf32>
  %u = tensor.empty() : tensor<8x8xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%t : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x8xf32>
  %r = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<8x8xf32>) outs(%u : tensor<8x8xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<8x8xbf16>
  %s = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<8x8xf32>) outs(%t : tensor<8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<8x8xf32>
  return %r, %s : tensor<8x8xbf16>, tensor<8x8xf32>
}

// -----

#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#y = affine_map<(d0, d1, d2) -> (d2, d1)>
#z = affine_map<(d0, d1, d2) -> (d0, d1)>
#e = affine_map<(d0, d1) -> (d0, d1)>
#t = affine_map<(d0, d1) -> (d1, d0)>
// Declined: What reads a square product as it is and what reads it turned are two generics: no tile holds both.
// CHECK-LABEL: func.func private @turned_and_not(
// CHECK: arith.truncf
// CHECK-NEXT: linalg.yield
// CHECK: arith.negf
// CHECK-NEXT: linalg.yield
// CHECK-LABEL: func.func private @both_turned(
// CHECK: arith.truncf
// CHECK-NEXT: arith.negf
// CHECK-NEXT: linalg.yield
func.func private @turned_and_not(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xbf16>, tensor<8x8xf32>) attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %t = tensor.empty() : tensor<8x8xf32>
  %u = tensor.empty() : tensor<8x8xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%t : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x8xf32>
  %r = linalg.generic {indexing_maps = [#t, #e], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<8x8xf32>) outs(%u : tensor<8x8xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<8x8xbf16>
  %s = linalg.generic {indexing_maps = [#e, #e], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<8x8xf32>) outs(%t : tensor<8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<8x8xf32>
  return %r, %s : tensor<8x8xbf16>, tensor<8x8xf32>
}

// Changed: Those that both read it turned are one.
func.func private @both_turned(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xbf16>, tensor<8x8xf32>) attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %t = tensor.empty() : tensor<8x8xf32>
  %u = tensor.empty() : tensor<8x8xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%t : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.generic {indexing_maps = [#x, #y, #z], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %o, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<8x8xf32>
  %r = linalg.generic {indexing_maps = [#t, #e], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<8x8xf32>) outs(%u : tensor<8x8xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %0 = arith.truncf %a : f32 to bf16
    linalg.yield %0 : bf16
  } -> tensor<8x8xbf16>
  %s = linalg.generic {indexing_maps = [#t, #e], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<8x8xf32>) outs(%t : tensor<8x8xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.negf %a : f32
    linalg.yield %0 : f32
  } -> tensor<8x8xf32>
  return %r, %s : tensor<8x8xbf16>, tensor<8x8xf32>
}

// -----

// Changed: a reshape of a slice of channels: lines and columns are whole, so they are one dimension, and no index is a quotient.
// CHECK-DAG: #[[$JOINED:.*]] = affine_map<(d0, d1, d2, d3) -> (d0, d1 * 4 + d2, d3)>
// CHECK-LABEL: func.func @channels
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3x17x5x7xf32>
// CHECK: %[[V:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0], [1], [2, 3]] : tensor<3x17x5x7xf32> into tensor<3x17x35xf32>
// CHECK: linalg.generic {indexing_maps = [#[[$JOINED]], {{.*}}]{{.*}} ins(%[[V]]
func.func @channels(%x: tensor<3x17x5x7xf32>) -> tensor<3x4x4x35xf32> {
  %0 = stablehlo.slice %x [0:3, 0:16, 0:5, 0:7] : (tensor<3x17x5x7xf32>) -> tensor<3x16x5x7xf32>
  %1 = stablehlo.reshape %0 : (tensor<3x16x5x7xf32>) -> tensor<3x4x4x35xf32>
  %2 = stablehlo.tanh %1 : tensor<3x4x4x35xf32>
  return %2 : tensor<3x4x4x35xf32>
}

// -----

// Changed: so is a row of all that is summed, and a slice of lines, which begins further on.
// CHECK-DAG: #[[$ROW:.*]] = affine_map<(d0, d1, d2) -> (d0, d1 * 140 + d2)>
// CHECK-DAG: #[[$LINES:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2 + 7)>
// CHECK-LABEL: func.func @rows
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<3x17x5x7xf32>
// CHECK-DAG: tensor.collapse_shape %[[X]] {{\[\[}}0], [1, 2, 3]] : tensor<3x17x5x7xf32> into tensor<3x595xf32>
// CHECK: linalg.generic {indexing_maps = [#[[$ROW]],
// CHECK-DAG: tensor.collapse_shape %[[X]] {{\[\[}}0], [1], [2, 3]] : tensor<3x17x5x7xf32> into tensor<3x17x35xf32>
// CHECK: linalg.generic {indexing_maps = [#[[$LINES]],
func.func @rows(%x: tensor<3x17x5x7xf32>) -> (tensor<3x4x140xf32>, tensor<3x17x28xf32>) {
  %0 = stablehlo.slice %x [0:3, 0:16, 0:5, 0:7] : (tensor<3x17x5x7xf32>) -> tensor<3x16x5x7xf32>
  %1 = stablehlo.reshape %0 : (tensor<3x16x5x7xf32>) -> tensor<3x4x140xf32>
  %2 = stablehlo.tanh %1 : tensor<3x4x140xf32>
  %3 = stablehlo.slice %x [0:3, 0:17, 1:5, 0:7] : (tensor<3x17x5x7xf32>) -> tensor<3x17x4x7xf32>
  %4 = stablehlo.reshape %3 : (tensor<3x17x4x7xf32>) -> tensor<3x17x28xf32>
  %5 = stablehlo.tanh %4 : tensor<3x17x28xf32>
  return %2, %5 : tensor<3x4x140xf32>, tensor<3x17x28xf32>
}

// -----

// Unchanged: of a slice of columns a line ends where the next one does not begin.
// CHECK-DAG: #[[$CUT:.*]] = affine_map<(d0, d1, d2) -> (d0, d1, d2 floordiv 6, d2 mod 6 + 1)>
// CHECK-LABEL: func.func @columns
// CHECK-NOT: tensor.collapse_shape
// CHECK: linalg.generic {indexing_maps = [#[[$CUT]],
func.func @columns(%x: tensor<3x17x5x7xf32>) -> tensor<3x17x30xf32> {
  %0 = stablehlo.slice %x [0:3, 0:17, 0:5, 1:7] : (tensor<3x17x5x7xf32>) -> tensor<3x17x5x6xf32>
  %1 = stablehlo.reshape %0 : (tensor<3x17x5x6xf32>) -> tensor<3x17x30xf32>
  %2 = stablehlo.tanh %1 : tensor<3x17x30xf32>
  return %2 : tensor<3x17x30xf32>
}

// -----

// Unchanged: a constant that is scanned stays an input, of one element.
// CHECK-LABEL: func.func @scanned
// CHECK-DAG: %[[ONE:.*]] = arith.constant dense<1.000000e+00> : tensor<f32>
// CHECK: linalg.generic {{.*}} ins(%[[ONE]] : tensor<f32>)
// CHECK-NEXT: ^bb0(%[[STEP:.*]]: f32, %[[SUM:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: arith.addf %[[SUM]], %[[STEP]] : f32
func.func @scanned() -> tensor<8xf32> {
  %ones = stablehlo.constant dense<1.0> : tensor<8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%ones, %zero) <{padding = dense<[[7, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 8>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Changed: where an update begins is a number that is known along a row.
// CHECK-LABEL: func.func @update
// CHECK: linalg.generic
// CHECK: %[[COLUMN:.*]] = linalg.index 1 : index
// CHECK: arith.addi %[[COLUMN]], %c-17 : index
func.func @update(%x: tensor<8x90xf32>, %u: tensor<2x40xf32>, %i: tensor<i32>) -> tensor<8x90xf32> {
  %start = stablehlo.constant dense<17> : tensor<i32>
  %0 = stablehlo.dynamic_update_slice %x, %u, %i, %start : (tensor<8x90xf32>, tensor<2x40xf32>, tensor<i32>, tensor<i32>) -> tensor<8x90xf32>
  return %0 : tensor<8x90xf32>
}
