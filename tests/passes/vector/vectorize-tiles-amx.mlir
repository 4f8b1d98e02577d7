// RUN: hloom-opt %s --tile-and-fuse --vectorize-tiles --canonicalize --split-input-file | filecheck %s

// A packed right operand: tiles of both operands are loaded where they lie, 2 x 2 accumulators run over the whole depth, the epilogue follows.
// CHECK-LABEL: func.func private @packed(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<8192xbf16>, %[[W:[a-z0-9]+]]: memref<16384xbf16>, %{{.*}}: memref<8192xf32>) attributes {{.*}}hloom.tiles = 4 : i64
// CHECK: %[[BUFFER:.*]] = memref.alloca() {{.*}} : memref<2048xf32>
// CHECK-NOT: memref.alloca
// CHECK-COUNT-4: x86.amx.tile_zero : !x86.amx.tile<16x16xf32>
// CHECK: scf.for {{.*}} -> (!x86.amx.tile<16x16xf32>, !x86.amx.tile<16x16xf32>, !x86.amx.tile<16x16xf32>, !x86.amx.tile<16x16xf32>)
// CHECK: memref.reinterpret_cast %[[X]] to offset: [%{{.*}}], sizes: [16, 32], strides: [128, 1]
// CHECK: x86.amx.tile_load
// CHECK: memref.reinterpret_cast %[[W]] to offset: [%{{.*}}], sizes: [16, 32], strides: [64, 1]
// CHECK-COUNT-4: x86.amx.tile_mulf
// CHECK: scf.yield
// CHECK: memref.reinterpret_cast %[[BUFFER]]
// CHECK-COUNT-4: x86.amx.tile_store
// CHECK: arith.maximumf
// CHECK: return
#x = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#w = affine_map<(d0, d1, d2, d3) -> (d1 floordiv 32, d2, d1 mod 32, d3)>
#y = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
module attributes {hloom.target = {amx_bf16 = true}} {
  func.func private @packed(%x: tensor<64x64x2xbf16>, %w: tensor<4x64x32x2xbf16>) -> tensor<64x128xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x128xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x128xf32>) -> tensor<64x128xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<64x64x2xbf16>, tensor<4x64x32x2xbf16>) outs(%f : tensor<64x128xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<64x128xf32>
    %o = tensor.empty() : tensor<64x128xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%c : tensor<64x128xf32>) outs(%o : tensor<64x128xf32>) {
    ^bb0(%a: f32, %b: f32):
      %0 = arith.maximumf %a, %zero : f32
      linalg.yield %0 : f32
    } -> tensor<64x128xf32>
    return %r : tensor<64x128xf32>
  }
}

// -----

// A plain right operand of odd depth: pairs of its rows are interleaved into a panel, with zeros up to whole tiles; the left operand is copied for the
// same reason. The two tiles of 20 rows overlap, and of 40 columns there is a panel of 32 and one of 16.
// CHECK-LABEL: func.func private @plain(
// CHECK-DAG: memref.alloca() {{.*}} : memref<3072xbf16>
// CHECK-DAG: memref.alloca() {{.*}} : memref<3072xbf16>
// CHECK-NOT: memref.alloca
// CHECK: vector.interleave %{{.*}} : vector<32xbf16> -> vector<64xbf16>
// CHECK-COUNT-4: x86.amx.tile_mulf
// CHECK-NOT: x86.amx.tile_mulf
// CHECK-COUNT-4: x86.amx.tile_store
// CHECK: vector.interleave %{{.*}} : vector<16xbf16> -> vector<32xbf16>
// CHECK-COUNT-2: x86.amx.tile_mulf
// CHECK-NOT: x86.amx.tile_mulf
// CHECK-COUNT-2: x86.amx.tile_store
// CHECK-NOT: vector.maskedstore
// CHECK: return
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d2, d1)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {amx_bf16 = true}} {
  func.func private @plain(%x: tensor<20x65xbf16>, %w: tensor<65x40xbf16>) -> tensor<20x40xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<20x40xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<20x40xf32>) -> tensor<20x40xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<20x65xbf16>, tensor<65x40xbf16>) outs(%f : tensor<20x40xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<20x40xf32>
    return %c : tensor<20x40xf32>
  }
}

// -----

// A deep sum: all rows pass over a part of the panel that half of the first cache holds, then over the next, for which sums are loaded again. What
// lies behind the panel is prefetched.
// CHECK-LABEL: func.func private @parts(
// CHECK-SAME: %{{[a-z0-9]+}}: memref<131072xbf16>, %[[W:[a-z0-9]+]]: memref<1048576xbf16>
// CHECK: %[[BUFFER:.*]] = memref.alloca() {{.*}} : memref<4096xf32>
// CHECK-COUNT-4: x86.amx.tile_zero
// CHECK: memref.prefetch %[[W]]
// CHECK-COUNT-4: x86.amx.tile_mulf
// CHECK-COUNT-4: x86.amx.tile_store
// CHECK-COUNT-4: x86.amx.tile_load {{.*}} into !x86.amx.tile<16x16xf32>
// CHECK-COUNT-4: x86.amx.tile_mulf
// CHECK-COUNT-4: x86.amx.tile_store
// CHECK: return
#x = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#w = affine_map<(d0, d1, d2, d3) -> (d1 floordiv 32, d2, d1 mod 32, d3)>
#y = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
module attributes {hloom.target = {amx_bf16 = true, l1_bytes = 49152 : i64, l2_bytes = 2097152 : i64}} {
  func.func private @parts(%x: tensor<128x512x2xbf16>, %w: tensor<32x512x32x2xbf16>) -> tensor<128x1024xbf16> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<128x1024xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x1024xf32>) -> tensor<128x1024xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<128x512x2xbf16>, tensor<32x512x32x2xbf16>) outs(%f : tensor<128x1024xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<128x1024xf32>
    %o = tensor.empty() : tensor<128x1024xbf16>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%c : tensor<128x1024xf32>) outs(%o : tensor<128x1024xbf16>) {
    ^bb0(%a: f32, %b: bf16):
      %0 = arith.truncf %a : f32 to bf16
      linalg.yield %0 : bf16
    } -> tensor<128x1024xbf16>
    return %r : tensor<128x1024xbf16>
  }
}

// -----

// Declined: a target without tiles; fewer than 8 rows; f16.
// CHECK-LABEL: func.func private @no_tiles(
// CHECK-NOT: x86.amx
// CHECK-LABEL: func.func private @few_rows(
// CHECK-NOT: x86.amx
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d2, d1)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func private @no_tiles(%x: tensor<32x64xbf16>, %w: tensor<64x32xbf16>) -> tensor<32x32xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<32x64xbf16>, tensor<64x32xbf16>) outs(%f : tensor<32x32xf32>) {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %sum, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<32x32xf32>
  return %c : tensor<32x32xf32>
}
func.func private @few_rows(%x: tensor<4x64xbf16>, %w: tensor<64x32xbf16>) -> tensor<4x32xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x32xf32>) -> tensor<4x32xf32>
  %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x64xbf16>, tensor<64x32xbf16>) outs(%f : tensor<4x32xf32>) {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %0 = arith.extf %a : bf16 to f32
    %1 = arith.extf %b : bf16 to f32
    %2 = arith.mulf %0, %1 : f32
    %3 = arith.addf %sum, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<4x32xf32>
  return %c : tensor<4x32xf32>
}

// -----

// CHECK-LABEL: func.func private @few_rows_of_tiles(
// CHECK-NOT: x86.amx
// CHECK-LABEL: func.func private @f16(
// CHECK-NOT: x86.amx
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d2, d1)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {amx_bf16 = true}} {
  func.func private @few_rows_of_tiles(%x: tensor<4x64xbf16>, %w: tensor<64x32xbf16>) -> tensor<4x32xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x32xf32>) -> tensor<4x32xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<4x64xbf16>, tensor<64x32xbf16>) outs(%f : tensor<4x32xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<4x32xf32>
    return %c : tensor<4x32xf32>
  }
  func.func private @f16(%x: tensor<32x64xf16>, %w: tensor<64x32xf16>) -> tensor<32x32xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<32x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<32x64xf16>, tensor<64x32xf16>) outs(%f : tensor<32x32xf32>) {
    ^bb0(%a: f16, %b: f16, %sum: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<32x32xf32>
    return %c : tensor<32x32xf32>
  }
}

// -----

// Changed: bytes. Rows of 64 bytes of depth are read where they lie, quads of the right operand are interleaved; only the left one has a sign.
// CHECK-LABEL: func.func private @bytes(
// CHECK: vector.interleave %{{.*}} : vector<64xi8> -> vector<128xi8>
// CHECK-COUNT-4: x86.amx.tile_zero : !x86.amx.tile<16x16xi32>
// CHECK: x86.amx.tile_load {{.*}} !x86.amx.tile<16x64xi8>
// CHECK-COUNT-4: x86.amx.tile_muli %{{.*}}, %{{.*}} zext, %{{.*}} : !x86.amx.tile<16x64xi8>, !x86.amx.tile<16x64xi8>, !x86.amx.tile<16x16xi32>
// CHECK: x86.amx.tile_store
// CHECK: return

// Declined: the depth of the left operand is not contiguous. Quads in vector registers take it.
// CHECK-LABEL: func.func private @bytes_by_depth(
// CHECK-NOT: x86.amx
// CHECK: vpdpbusd
// CHECK: return
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#at = affine_map<(d0, d1, d2) -> (d2, d0)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {amx_int8 = true, int8_dot = true}} {
  func.func private @bytes(%x: tensor<64x128xi8>, %w: tensor<128x64xi8>) -> tensor<64x64xi32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0 : i32
    %e = tensor.empty() : tensor<64x64xi32>
    %f = linalg.fill ins(%zero : i32) outs(%e : tensor<64x64xi32>) -> tensor<64x64xi32>
    %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<64x128xi8>, tensor<128x64xi8>) outs(%f : tensor<64x64xi32>) {
    ^bb0(%a: i8, %b: i8, %sum: i32):
      %0 = arith.extsi %a : i8 to i32
      %1 = arith.extui %b : i8 to i32
      %2 = arith.muli %0, %1 : i32
      %3 = arith.addi %sum, %2 : i32
      linalg.yield %3 : i32
    } -> tensor<64x64xi32>
    return %r : tensor<64x64xi32>
  }
  func.func private @bytes_by_depth(%x: tensor<128x64xi8>, %w: tensor<128x64xi8>) -> tensor<64x64xi32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0 : i32
    %e = tensor.empty() : tensor<64x64xi32>
    %f = linalg.fill ins(%zero : i32) outs(%e : tensor<64x64xi32>) -> tensor<64x64xi32>
    %r = linalg.generic {indexing_maps = [#at, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<128x64xi8>, tensor<128x64xi8>) outs(%f : tensor<64x64xi32>) {
    ^bb0(%a: i8, %b: i8, %sum: i32):
      %0 = arith.extsi %a : i8 to i32
      %1 = arith.extui %b : i8 to i32
      %2 = arith.muli %0, %1 : i32
      %3 = arith.addi %sum, %2 : i32
      linalg.yield %3 : i32
    } -> tensor<64x64xi32>
    return %r : tensor<64x64xi32>
  }
}
