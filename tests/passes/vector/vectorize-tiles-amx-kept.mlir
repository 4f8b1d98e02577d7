// RUN: hloom-opt %s --tile-and-fuse --vectorize-tiles --canonicalize | filecheck %s

// Changed: Two contractions of attention. Keys and values are packed where the tile before read those of another head; the last 16 of a
// tile's rows may be some of its first, as 29 and 23 are no multiple of 16.
// CHECK: #[[ROWS:.*]] = affine_map<(d0) -> (-d0 + 197, 29)>
// CHECK-LABEL: func.func private @rows
// CHECK: scf.for
// CHECK: %[[M:.*]] = affine.min #[[ROWS]]
// CHECK: %[[KEYS:.*]] = arith.cmpi ne
// CHECK: scf.if %[[KEYS]]
// CHECK: vector.shuffle
// CHECK: vector.store
// CHECK-COUNT-4: x86.amx.tile_zero
// CHECK: arith.muli %[[M]], %c64
// CHECK: %[[LAST:.*]] = arith.addi %{{.*}}, %c-1024
// CHECK: memref.reinterpret_cast %{{.*}} to offset: [%[[LAST]]], sizes: [16, 32], strides: [64, 1]
// CHECK-COUNT-4: x86.amx.tile_mulf
// CHECK-COUNT-4: x86.amx.tile_store
// CHECK: %[[VALUES:.*]] = arith.cmpi ne
// CHECK: scf.if %[[VALUES]]
// CHECK: vector.interleave
// CHECK-COUNT-4: x86.amx.tile_mulf
// CHECK: return
#q = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#k = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#o = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#v = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#part_k = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3 + 64)>
#part_v = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2 + 128)>
module attributes {hloom.target = {amx_bf16 = true}} {
  func.func private @rows(%q: tensor<2x197x64xbf16>, %k: tensor<2x96x64xbf16>, %v: tensor<2x96x64xbf16>) -> tensor<2x197x64xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x197x96xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x197x96xf32>) -> tensor<2x197x96xf32>
    %s = linalg.generic {indexing_maps = [#q, #k, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %k : tensor<2x197x64xbf16>, tensor<2x96x64xbf16>) outs(%f : tensor<2x197x96xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x197x96xf32>
    %h = tensor.empty() : tensor<2x197x96xbf16>
    %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%s : tensor<2x197x96xf32>) outs(%h : tensor<2x197x96xbf16>) {
    ^bb0(%a: f32, %b: bf16):
      %0 = arith.truncf %a : f32 to bf16
      linalg.yield %0 : bf16
    } -> tensor<2x197x96xbf16>
    %e2 = tensor.empty() : tensor<2x197x64xf32>
    %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x197x64xf32>) -> tensor<2x197x64xf32>
    %r = linalg.generic {indexing_maps = [#q, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%w, %v : tensor<2x197x96xbf16>, tensor<2x96x64xbf16>) outs(%f2 : tensor<2x197x64xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x197x64xf32>
    return %r : tensor<2x197x64xf32>
  }

  // Changed: Keys and values that are parts of one argument: a panel has 64 steps (columns) of the 192 that lie side by side there.
  // CHECK-LABEL: func.func private @parts
  // CHECK-COUNT-2: memref.alloca() {{.*}} : memref<6144xbf16>
  // CHECK-NOT: memref<18432xbf16>
  // CHECK: return
  func.func private @parts(%q: tensor<2x197x64xbf16>, %x: tensor<2x96x192xbf16>) -> tensor<2x197x64xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x197x96xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x197x96xf32>) -> tensor<2x197x96xf32>
    %s = linalg.generic {indexing_maps = [#q, #part_k, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%q, %x : tensor<2x197x64xbf16>, tensor<2x96x192xbf16>) outs(%f : tensor<2x197x96xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x197x96xf32>
    %h = tensor.empty() : tensor<2x197x96xbf16>
    %w = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%s : tensor<2x197x96xf32>) outs(%h : tensor<2x197x96xbf16>) {
    ^bb0(%a: f32, %b: bf16):
      %0 = arith.truncf %a : f32 to bf16
      linalg.yield %0 : bf16
    } -> tensor<2x197x96xbf16>
    %e2 = tensor.empty() : tensor<2x197x64xf32>
    %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<2x197x64xf32>) -> tensor<2x197x64xf32>
    %r = linalg.generic {indexing_maps = [#q, #part_v, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
        ins(%w, %x : tensor<2x197x96xbf16>, tensor<2x96x192xbf16>) outs(%f2 : tensor<2x197x64xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2x197x64xf32>
    return %r : tensor<2x197x64xf32>
  }
}
