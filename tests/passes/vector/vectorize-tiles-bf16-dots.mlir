// RUN: hloom-opt %s --tile-and-fuse --vectorize-tiles --canonicalize --split-input-file | filecheck %s

// Changed: pairs of bf16 are packed into lanes of 32 bits and multiplied by vdpbf16ps.
// CHECK-LABEL: func.func private @avx512(
// CHECK: vector.interleave {{.*}} : vector<32xbf16> -> vector<64xbf16>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"({{.*}}) : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
// CHECK: return
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {bf16_dot = true}} {
  func.func private @avx512(%x: tensor<16x64xbf16>, %w: tensor<64x32xbf16>) -> tensor<16x32xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<16x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x32xf32>) -> tensor<16x32xf32>
    %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<16x64xbf16>, tensor<64x32xbf16>) outs(%f : tensor<16x32xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<16x32xf32>
    return %r : tensor<16x32xf32>
  }
}

// -----

// Changed: weights in which pairs of depth lie side by side, and rows whose depth is contiguous, are read where they are, of one row too.
// CHECK-LABEL: func.func private @in_place(
// CHECK-DAG: %[[X:.*]] = builtin.unrealized_conversion_cast %arg{{.*}} : memref<64xbf16> to memref<32xi32>
// CHECK-DAG: %[[W:.*]] = builtin.unrealized_conversion_cast %arg{{.*}} : memref<4096xbf16> to memref<2048xi32>
// CHECK-NOT: memref.alloca
// CHECK-DAG: memref.load %[[X]]
// CHECK-DAG: vector.load %[[W]]{{.*}} : memref<2048xi32>, vector<{{.*}}xi32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// CHECK: return
#a = affine_map<(d0, d1, d2) -> (d1, d2)>
#b = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
#c = affine_map<(d0, d1, d2) -> (d0)>
module attributes {hloom.target = {bf16_dot = true}} {
  func.func private @in_place(%x: tensor<32x2xbf16>, %w: tensor<32x64x2xbf16>) -> tensor<64xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64xf32>) -> tensor<64xf32>
    %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<32x2xbf16>, tensor<32x64x2xbf16>) outs(%f : tensor<64xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<64xf32>
    return %r : tensor<64xf32>
  }
}

// -----

// Changed: by bfdot on AArch64.
// CHECK-LABEL: func.func private @aarch64(
// CHECK: llvm.call_intrinsic "llvm.aarch64.neon.bfdot.v4f32.v8bf16"({{.*}}) : (vector<4xf32>, vector<8xbf16>, vector<8xbf16>) -> vector<4xf32>
// CHECK: return
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {triple = "aarch64-unknown-linux-gnu", vector_bits = 128 : i64, bf16_dot = true}} {
  func.func private @aarch64(%x: tensor<16x64xbf16>, %w: tensor<64x32xbf16>) -> tensor<16x32xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<16x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x32xf32>) -> tensor<16x32xf32>
    %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<16x64xbf16>, tensor<64x32xbf16>) outs(%f : tensor<16x32xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<16x32xf32>
    return %r : tensor<16x32xf32>
  }
}

// -----

// Declined: three rows.
// CHECK-LABEL: func.func private @few_rows(
// CHECK-NOT: call_intrinsic
// CHECK: return
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {bf16_dot = true}} {
  func.func private @few_rows(%x: tensor<3x64xbf16>, %w: tensor<64x32xbf16>) -> tensor<3x32xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<3x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x32xf32>) -> tensor<3x32xf32>
    %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<3x64xbf16>, tensor<64x32xbf16>) outs(%f : tensor<3x32xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<3x32xf32>
    return %r : tensor<3x32xf32>
  }
}

// -----

// Changed: the target has no such instruction: both operands are widened while they are packed.
// CHECK-LABEL: func.func private @widened(
// CHECK-NOT: call_intrinsic
// CHECK: arith.extf {{.*}} : vector<32xbf16> to vector<32xf32>
// CHECK: arith.extf {{.*}} : vector<32xbf16> to vector<32xf32>
// CHECK-NOT: arith.extf
// CHECK: return
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {}} {
  func.func private @widened(%x: tensor<16x64xbf16>, %w: tensor<64x32xbf16>) -> tensor<16x32xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<16x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x32xf32>) -> tensor<16x32xf32>
    %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<16x64xbf16>, tensor<64x32xbf16>) outs(%f : tensor<16x32xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<16x32xf32>
    return %r : tensor<16x32xf32>
  }
}

// -----

// Changed: f16, likewise.
// CHECK-LABEL: func.func private @other_halves(
// CHECK-NOT: call_intrinsic
// CHECK: arith.extf {{.*}} : vector<32xf16> to vector<32xf32>
// CHECK: arith.extf {{.*}} : vector<32xf16> to vector<32xf32>
// CHECK-NOT: arith.extf
// CHECK: return
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {bf16_dot = true}} {
  func.func private @other_halves(%x: tensor<16x64xf16>, %w: tensor<64x32xf16>) -> tensor<16x32xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<16x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x32xf32>) -> tensor<16x32xf32>
    %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<16x64xf16>, tensor<64x32xf16>) outs(%f : tensor<16x32xf32>) {
    ^bb0(%a: f16, %b: f16, %sum: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<16x32xf32>
    return %r : tensor<16x32xf32>
  }
}

// -----

// Changed: where no instruction multiplies pairs, a shift and a mask make two vectors of f32 of each register of them; the rows are widened
// while they are packed.
// CHECK-LABEL: func.func private @split(
// CHECK: %[[X:.*]] = memref.alloca() {{.*}} : memref<128xf32>
// CHECK: %[[F:.*]] = arith.extf %{{.*}} : vector<16xbf16> to vector<16xf32>
// CHECK: vector.store %[[F]], %[[X]]
// CHECK: %[[W:.*]] = builtin.unrealized_conversion_cast %arg{{.*}} : memref<4096xbf16> to memref<2048xi32>
// CHECK: memref.load %[[X]]
// CHECK: %[[PAIRS:.*]] = vector.load %[[W]]{{.*}} : memref<2048xi32>, vector<16xi32>
// CHECK: %[[LOW:.*]] = arith.shli %[[PAIRS]]
// CHECK: %[[HIGH:.*]] = arith.andi %[[PAIRS]]
// CHECK: arith.bitcast %[[LOW]] : vector<16xi32> to vector<16xf32>
// CHECK: arith.bitcast %[[HIGH]] : vector<16xi32> to vector<16xf32>
// CHECK: return
#a = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#b = affine_map<(d0, d1, d2, d3) -> (d2, d1, d3)>
#c = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64}} {
  func.func private @split(%x: tensor<2x32x2xbf16>, %w: tensor<32x64x2xbf16>) -> tensor<2x64xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x64xf32>) -> tensor<2x64xf32>
    %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<2x32x2xbf16>, tensor<32x64x2xbf16>) outs(%f : tensor<2x64xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x64xf32>
    return %r : tensor<2x64xf32>
  }
}

// -----

// Changed: of a tile under a mask (hloom.live) both products take the columns before its last row's end: the panels of the right operands are
// whole, for the tiles to come, and of the rows' depth what the tile has is packed.
// CHECK-LABEL: func.func private @under_a_mask(
// CHECK: scf.for
// CHECK: %[[LIVE:.*]] = affine.min {{.*}}(%{{.*}})
// CHECK: scf.if
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %{{.*}} {
// CHECK: arith.extf {{.*}} : vector<16xbf16> to vector<16xf32>
// CHECK: scf.if
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %{{.*}} {
// CHECK: arith.extf {{.*}} : vector<32xbf16> to vector<32xf32>
// CHECK: scf.for %{{.*}} = %c0 to %[[LIVE]] step
// CHECK: math.fma {{.*}} fastmath<contract> : vector<32xf32>
// CHECK: return
#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#keys = affine_map<(d0, d1, d2) -> (d1, d2)>
#values = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
#same = affine_map<(d0, d1) -> (d0, d1)>
module attributes {hloom.target = {}} {
  func.func private @under_a_mask(%q: tensor<64x32xbf16>, %k: tensor<64x32xbf16>, %v: tensor<64x32xbf16>) -> tensor<64x32xf32> attributes {hloom.kind = "matmul", hloom.live = array<i64: 64, 64, 1>} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %s = linalg.generic {indexing_maps = [#left, #keys, #out], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<64x32xbf16>, tensor<64x32xbf16>) outs(%f : tensor<64x64xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<64x64xf32>
    %h = tensor.empty() : tensor<64x64xbf16>
    %w = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<64x64xf32>) outs(%h : tensor<64x64xbf16>) {
    ^bb0(%a: f32, %out: bf16):
      %0 = arith.truncf %a : f32 to bf16
      linalg.yield %0 : bf16
    } -> tensor<64x64xbf16>
    %g = tensor.empty() : tensor<64x32xf32>
    %z = linalg.fill ins(%zero : f32) outs(%g : tensor<64x32xf32>) -> tensor<64x32xf32>
    %r = linalg.generic {indexing_maps = [#left, #values, #out], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%w, %v : tensor<64x64xbf16>, tensor<64x32xbf16>) outs(%z : tensor<64x32xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<64x32xf32>
    return %r : tensor<64x32xf32>
  }
}

// -----

// Changed: a group's weights in pairs and its channels tell the extent of no loop, so a third operand lends that of the depth. It is no factor.
// CHECK-LABEL: func.func private @lent(
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// CHECK-NOT: math.fma
// CHECK: return
#x = affine_map<(m, g, n, k) -> (m, g * 24 + k)>
#w = affine_map<(m, g, n, k) -> (g, k floordiv 2, n, k mod 2)>
#k = affine_map<(m, g, n, k) -> (k)>
#y = affine_map<(m, g, n, k) -> (m, g, n)>
module attributes {hloom.target = {bf16_dot = true}} {
  func.func private @lent(%x: tensor<8x48xbf16>, %w: tensor<2x12x32x2xbf16>) -> tensor<8x2x32xf32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8x2x32xf32>
    %d = tensor.empty() : tensor<24xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x2x32xf32>) -> tensor<8x2x32xf32>
    %r = linalg.generic {indexing_maps = [#x, #w, #k, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%x, %w, %d : tensor<8x48xbf16>, tensor<2x12x32x2xbf16>, tensor<24xf32>) outs(%f : tensor<8x2x32xf32>) {
    ^bb0(%a: bf16, %b: bf16, %c: f32, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<8x2x32xf32>
    return %r : tensor<8x2x32xf32>
  }
}

// -----

// Changed: a processor whose dot products are slower than its products of f32 widens both operands while they are packed.
// CHECK-LABEL: func.func private @slower(
// CHECK-NOT: dpbf16ps
// CHECK: arith.extf {{.*}} : vector<{{[0-9]+}}xbf16> to vector<{{[0-9]+}}xf32>
// CHECK: math.fma
// CHECK-NOT: dpbf16ps
// CHECK: return
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {bf16_dot = true, bf16_dot_flops = 110000000000 : i64, f32_flops = 220000000000 : i64}} {
  func.func private @slower(%x: tensor<16x64xbf16>, %w: tensor<64x32xbf16>) -> tensor<16x32xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<16x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x32xf32>) -> tensor<16x32xf32>
    %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<16x64xbf16>, tensor<64x32xbf16>) outs(%f : tensor<16x32xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<16x32xf32>
    return %r : tensor<16x32xf32>
  }
}
