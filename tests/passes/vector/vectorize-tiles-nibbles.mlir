// RUN: hloom-opt %s --tile-and-fuse --vectorize-tiles --canonicalize --split-input-file | filecheck %s

// Changed: words of eight integers of four bits: a word is loaded once, a shift brings each of them to the lower end, where vpermps looks up
// its float, of all eight registers in turn, as each sum waits for the one before; a panel is a tile, read two pages ahead.
// CHECK-LABEL: func.func private @signed(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<1024xf32>, %[[W:[a-z0-9]+]]: memref<524288xi32>
// CHECK-SAME: hloom.tiles = 32
// CHECK: arith.constant dense<[0.000000e+00, 1.000000e+00, {{.*}}, 7.000000e+00, -8.000000e+00, -7.000000e+00, {{.*}}, -1.000000e+00]> : vector<16xf32>
// CHECK: memref.load %[[X]]
// CHECK-COUNT-8: memref.prefetch %[[W]]
// CHECK: vector.load %[[W]]{{.*}} : memref<524288xi32>, vector<128xi32>
// CHECK-NOT: vector.load %[[W]]
// CHECK-COUNT-8: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"
// CHECK-COUNT-8: math.fma
// CHECK: arith.shrui {{.*}} : vector<16xi32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.permvar.sf.512"
// CHECK-NOT: arith.sitofp
// CHECK: return
#x = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#w = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1)>
#o = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
module {
  func.func private @signed(%x: tensor<128x8xf32>, %w: tensor<32x128x128xi32>) -> tensor<32x128xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %four = arith.constant 4 : i32
    %e = tensor.empty() : tensor<32x128xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x128xf32>) -> tensor<32x128xf32>
    %r = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<128x8xf32>, tensor<32x128x128xi32>) outs(%f : tensor<32x128xf32>) {
    ^bb0(%a: f32, %b: i32, %sum: f32):
      %d = linalg.index 3 : index
      %n = arith.index_cast %d : index to i32
      %s = arith.muli %n, %four : i32
      %u = arith.shrui %b, %s : i32
      %t = arith.trunci %u : i32 to i4
      %v = arith.sitofp %t : i4 to f32
      %0 = arith.mulf %a, %v : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<32x128xf32>
    return %r : tensor<32x128xf32>
  }
}

// -----

// Changed: words that fill half of L2 are read two pages ahead too: what comes between two calls pushes them out.
// CHECK-LABEL: func.func private @half(
// CHECK-SAME: memref<1024xf32>, %[[W:[a-z0-9]+]]: memref<131072xi32>
// CHECK: %[[AHEAD:.*]] = arith.constant 2048 : index
// CHECK: %[[AT:.*]] = arith.addi {{.*}}, %[[AHEAD]]
// CHECK: memref.prefetch %[[W]][%[[AT]]]
// CHECK: return
#x = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#w = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1)>
#o = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
module attributes {hloom.target = {l2_bytes = 1048576}} {
  func.func private @half(%x: tensor<128x8xf32>, %w: tensor<8x128x128xi32>) -> tensor<8x128xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %four = arith.constant 4 : i32
    %e = tensor.empty() : tensor<8x128xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x128xf32>) -> tensor<8x128xf32>
    %r = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<128x8xf32>, tensor<8x128x128xi32>) outs(%f : tensor<8x128xf32>) {
    ^bb0(%a: f32, %b: i32, %sum: f32):
      %d = linalg.index 3 : index
      %n = arith.index_cast %d : index to i32
      %s = arith.muli %n, %four : i32
      %u = arith.shrui %b, %s : i32
      %t = arith.trunci %u : i32 to i4
      %v = arith.sitofp %t : i4 to f32
      %0 = arith.mulf %a, %v : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<8x128xf32>
    return %r : tensor<8x128xf32>
  }
}

// -----

// Changed: without registers of sixteen, two shifts and a convert; these are without a sign, and the row's halves are widened first.
// CHECK-LABEL: func.func private @avx2(
// CHECK: arith.extf {{.*}} : vector<{{.*}}xbf16>
// CHECK: arith.shli {{.*}} : vector<8xi32>
// CHECK: arith.shrui {{.*}} : vector<8xi32>
// CHECK: arith.uitofp {{.*}} : vector<8xi32> to vector<8xf32>
// CHECK-NOT: permvar
// CHECK: return
#x = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#w = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1)>
#o = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
module attributes {hloom.target = {vector_bits = 256, vector_registers = 16}} {
  func.func private @avx2(%x: tensor<4x8xbf16>, %w: tensor<2x4x32xi32>) -> tensor<2x32xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %four = arith.constant 4 : i32
    %e = tensor.empty() : tensor<2x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x32xf32>) -> tensor<2x32xf32>
    %r = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<4x8xbf16>, tensor<2x4x32xi32>) outs(%f : tensor<2x32xf32>) {
    ^bb0(%a: bf16, %b: i32, %sum: f32):
      %d = linalg.index 3 : index
      %n = arith.index_cast %d : index to i32
      %s = arith.muli %n, %four : i32
      %u = arith.shrui %b, %s : i32
      %t = arith.trunci %u : i32 to i4
      %v = arith.uitofp %t : i4 to f32
      %z = arith.extf %a : bf16 to f32
      %0 = arith.mulf %z, %v : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<2x32xf32>
    return %r : tensor<2x32xf32>
  }
}

// -----

// Declined: parts of another size: other code computes them.
// CHECK-LABEL: func.func private @bytes(
// CHECK-NOT: permvar
// CHECK: arith.trunci {{.*}} to vector<{{.*}}xi8>
// CHECK-NOT: permvar
// CHECK: return
#x = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#w = affine_map<(d0, d1, d2, d3) -> (d0, d2, d1)>
#o = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
module {
  func.func private @bytes(%x: tensor<4x4xf32>, %w: tensor<2x4x128xi32>) -> tensor<2x128xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %eight = arith.constant 8 : i32
    %e = tensor.empty() : tensor<2x128xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x128xf32>) -> tensor<2x128xf32>
    %r = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<4x4xf32>, tensor<2x4x128xi32>) outs(%f : tensor<2x128xf32>) {
    ^bb0(%a: f32, %b: i32, %sum: f32):
      %d = linalg.index 3 : index
      %n = arith.index_cast %d : index to i32
      %s = arith.muli %n, %eight : i32
      %u = arith.shrui %b, %s : i32
      %t = arith.trunci %u : i32 to i8
      %v = arith.sitofp %t : i8 to f32
      %0 = arith.mulf %a, %v : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<2x128xf32>
    return %r : tensor<2x128xf32>
  }
}
