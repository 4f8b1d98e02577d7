// RUN: hloom-opt %s --tile-and-fuse --split-input-file | filecheck %s

// A sum over rows of what two operands give point by point is no product of matrices: its columns are cut into runs, not one by one.
// CHECK-LABEL: func.func private @variance(
// CHECK: scf.forall ({{.*}}) = (0) to (1024) step (256)
#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
func.func private @variance(%x: tensor<4096x1024xf32>, %mean: tensor<1024xf32>) -> tensor<1024xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024xf32>) -> tensor<1024xf32>
  %r = linalg.generic {indexing_maps = [#id, #column, #column], iterator_types = ["reduction", "parallel"]} ins(%x, %mean : tensor<4096x1024xf32>, tensor<1024xf32>) outs(%f : tensor<1024xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %q = arith.mulf %d, %d : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<1024xf32>
  return %r : tensor<1024xf32>
}

// -----

// Columns whose sum is used on the same columns are cut as long as a near cache holds them for: read from memory once.
// CHECK-LABEL: func.func private @centred(
// CHECK: scf.forall ({{.*}}) = (0) to (1024) step (64)
#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
func.func private @centred(%x: tensor<400x1024xf32>) -> tensor<400x1024xf32> attributes {hloom.kind = "multi_reduce"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024xf32>) -> tensor<1024xf32>
  %s = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<400x1024xf32>) outs(%f : tensor<1024xf32>) {
  ^bb0(%a: f32, %o: f32):
    %t = arith.addf %o, %a : f32
    linalg.yield %t : f32
  } -> tensor<1024xf32>
  %w = tensor.empty() : tensor<400x1024xf32>
  %r = linalg.generic {indexing_maps = [#id, #column, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<400x1024xf32>, tensor<1024xf32>) outs(%w : tensor<400x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %t = arith.subf %a, %b : f32
    linalg.yield %t : f32
  } -> tensor<400x1024xf32>
  return %r : tensor<400x1024xf32>
}

// -----

// The input lies along the other axis than the result: tiles are squares, of the whole axis if it is short; larger ones where the
// last cache does not hold both beside much else. A column that is broadcast lies in one piece: they are rows.
// CHECK-LABEL: func.func private @transposed(
// CHECK: scf.forall ({{.*}}) = (0, 0) to (1024, 768) step (32, 32)
// CHECK-LABEL: func.func private @far(
// CHECK: scf.forall ({{.*}}) = (0, 0) to (1024, 4096) step (64, 128)
// CHECK-LABEL: func.func private @short(
// CHECK: scf.forall ({{.*}}) = (0, 0) to (64, 512) step (28, 32)
// CHECK-LABEL: func.func private @column(
// CHECK: scf.forall ({{.*}}) = (0) to (1024) step (2)
#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#row = affine_map<(d0, d1) -> (d0)>
#three = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#swapped = affine_map<(d0, d1, d2) -> (d2, d1, d0)>
func.func private @transposed(%x: tensor<768x1024xf32>) -> tensor<1024x768xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<1024x768xf32>
  %r = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<768x1024xf32>) outs(%e : tensor<1024x768xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1024x768xf32>
  return %r : tensor<1024x768xf32>
}
func.func private @far(%x: tensor<4096x1024xf32>) -> tensor<1024x4096xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<1024x4096xf32>
  %r = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4096x1024xf32>) outs(%e : tensor<1024x4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1024x4096xf32>
  return %r : tensor<1024x4096xf32>
}
func.func private @short(%x: tensor<512x64x9xf32>) -> tensor<9x64x512xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<9x64x512xf32>
  %r = linalg.generic {indexing_maps = [#swapped, #three], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<512x64x9xf32>) outs(%e : tensor<9x64x512xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<9x64x512xf32>
  return %r : tensor<9x64x512xf32>
}
func.func private @column(%x: tensor<1024x4096xf32>, %c: tensor<1024xf32>) -> tensor<1024x4096xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<1024x4096xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %c : tensor<1024x4096xf32>, tensor<1024xf32>) outs(%e : tensor<1024x4096xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<1024x4096xf32>
  return %r : tensor<1024x4096xf32>
}

// -----

// Changed: Rows and heads that become one axis after the product cannot be cut; what is left is cut into whole registers, a piece a core.
// Unchanged: so few results are one tile.
// CHECK-LABEL: func.func private @heads(
// CHECK: scf.forall ({{.*}}) = (0) to (64) step (32)
// CHECK-LABEL: func.func private @few_heads(
// CHECK-NOT: step (32)
#rows = affine_map<(d0, d1, d2, d3) -> (d0, d3)>
#columns = affine_map<(d0, d1, d2, d3) -> (d1, d3, d2)>
#results = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#merged = affine_map<(d0, d1, d2) -> (d0 * 4 + d1 floordiv 8, d1 mod 8, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
module attributes {hloom.target = {vector_bits = 512 : i64, vector_registers = 32 : i64, cores = 2 : i64}} {
  func.func private @heads(%x: tensor<512x512xf32>, %w: tensor<8x512x64xf32>) -> tensor<128x32x64xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x8x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x8x64xf32>) -> tensor<512x8x64xf32>
    %c = linalg.generic {indexing_maps = [#rows, #columns, #results], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<512x512xf32>, tensor<8x512x64xf32>) outs(%f : tensor<512x8x64xf32>) {
    ^bb0(%a: f32, %b: f32, %s: f32):
      %0 = arith.mulf %a, %b fastmath<contract> : f32
      %1 = arith.addf %s, %0 fastmath<contract> : f32
      linalg.yield %1 : f32
    } -> tensor<512x8x64xf32>
    %o = tensor.empty() : tensor<128x32x64xf32>
    %r = linalg.generic {indexing_maps = [#merged, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%c : tensor<512x8x64xf32>) outs(%o : tensor<128x32x64xf32>) {
    ^bb0(%a: f32, %out: f32):
      %0 = arith.mulf %a, %a : f32
      linalg.yield %0 : f32
    } -> tensor<128x32x64xf32>
    return %r : tensor<128x32x64xf32>
  }
  func.func private @few_heads(%x: tensor<32x512xf32>, %w: tensor<8x512x64xf32>) -> tensor<8x32x64xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<32x8x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x8x64xf32>) -> tensor<32x8x64xf32>
    %c = linalg.generic {indexing_maps = [#rows, #columns, #results], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<32x512xf32>, tensor<8x512x64xf32>) outs(%f : tensor<32x8x64xf32>) {
    ^bb0(%a: f32, %b: f32, %s: f32):
      %0 = arith.mulf %a, %b fastmath<contract> : f32
      %1 = arith.addf %s, %0 fastmath<contract> : f32
      linalg.yield %1 : f32
    } -> tensor<32x8x64xf32>
    %o = tensor.empty() : tensor<8x32x64xf32>
    %r = linalg.generic {indexing_maps = [#merged, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%c : tensor<32x8x64xf32>) outs(%o : tensor<8x32x64xf32>) {
    ^bb0(%a: f32, %out: f32):
      %0 = arith.mulf %a, %a : f32
      linalg.yield %0 : f32
    } -> tensor<8x32x64xf32>
    return %r : tensor<8x32x64xf32>
  }
}

// -----

// Columns of lines that were one row, in turns of two, are no windows: they are cut into runs, of both loops together.
// CHECK-LABEL: func.func private @lines(
// CHECK: scf.forall ({{.*}}) = (0) to (400) step (128)
#line = affine_map<(d0, d1, d2) -> (d0 * 400 + d1)>
#columns = affine_map<(d0, d1, d2) -> (d1, d2)>
#steps = affine_map<(d0, d1, d2) -> (d0)>
func.func private @lines(%x: tensor<50000xf32>) -> tensor<400x2xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %lend = tensor.empty() : tensor<125xf32>
  %e = tensor.empty() : tensor<400x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<400x2xf32>) -> tensor<400x2xf32>
  %r = linalg.generic {indexing_maps = [#line, #steps, #columns], iterator_types = ["reduction", "parallel", "parallel"]}
      ins(%x, %lend : tensor<50000xf32>, tensor<125xf32>) outs(%f : tensor<400x2xf32>) {
  ^bb0(%a: f32, %unused: f32, %o: f32):
    %s = arith.addf %o, %a : f32
    linalg.yield %s : f32
  } -> tensor<400x2xf32>
  return %r : tensor<400x2xf32>
}

// -----

// A sum of few steps whose result lies along its pixels, as a 1 x 1 with the channels first has it: tiles have whole lines of pixels, and
// some of the features, of one image after the other.
// CHECK-LABEL: func.func private @pixels_last(
// CHECK: scf.forall ({{.*}}) = (0, 0) to (8, 256) step (1, 12)
#pixels = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
#weights = affine_map<(d0, d1, d2, d3) -> (d1, d3)>
#results = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
func.func private @pixels_last(%x: tensor<8x8x512xf32>, %w: tensor<256x8xf32>) -> tensor<8x256x512xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x256x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x256x512xf32>) -> tensor<8x256x512xf32>
  %r = linalg.generic {indexing_maps = [#pixels, #weights, #results], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<8x8x512xf32>, tensor<256x8xf32>) outs(%f : tensor<8x256x512xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %s = arith.addf %o, %p fastmath<contract> : f32
    linalg.yield %s : f32
  } -> tensor<8x256x512xf32>
  return %r : tensor<8x256x512xf32>
}
