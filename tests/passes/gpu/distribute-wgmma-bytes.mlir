// RUN: hloom-opt %s --distribute-contractions --canonicalize --split-input-file | filecheck %s

// Changed: bytes that lie along the inner loop on both sides, by TMA: instructions of 32 of them, four a step, whose sums are integers that wrap.
// CHECK-LABEL: gpu.func @integers
// CHECK-SAME: hloom.tensor_maps = [{argument = 0 : i64, extents = array<i64: 128, 256>, offset = 0 : i64, strides = array<i64: 256, 1>}, {argument = 1 : i64,
// CHECK: nvgpu.tma.async.load
// CHECK: llvm.inline_asm has_side_effects {{.*}}"=r,
// CHECK-COUNT-4: nvvm.wgmma.mma_async {{.*}}, <m = 64, n = 32, k = 32>, D[<s32>, <one>, <wrapped>], A[<s8>, <one>, <row>], B[<u8>, <one>, <col>]
// CHECK: nvvm.wgmma.commit.group.sync.aligned
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, shared_bytes_per_multiprocessor = 233472 : i64, shared_bytes_per_block = 232448 : i64}} {
  func.func private @integers(%x: tensor<128x256xi8>, %w: tensor<64x256xi8>) -> tensor<128x64xi32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0 : i32
    %e = tensor.empty() : tensor<128x64xi32>
    %f = linalg.fill ins(%zero : i32) outs(%e : tensor<128x64xi32>) -> tensor<128x64xi32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<128x256xi8>, tensor<64x256xi8>) outs(%f : tensor<128x64xi32>) {
    ^bb0(%p: i8, %q: i8, %o: i32):
      %0 = arith.extsi %p : i8 to i32
      %1 = arith.extui %q : i8 to i32
      %2 = arith.muli %0, %1 : i32
      %3 = arith.addi %o, %2 : i32
      linalg.yield %3 : i32
    } -> tensor<128x64xi32>
    return %c : tensor<128x64xi32>
  }
}

// -----

// Changed: floats of 8 bits, of two kinds.
// CHECK-LABEL: gpu.func @floats
// CHECK: llvm.inline_asm has_side_effects {{.*}}"=f,
// CHECK: nvvm.wgmma.mma_async {{.*}}, <m = 64, n = 32, k = 32>, D[<f32>, <one>], A[<e4m3>, <one>, <row>], B[<e5m2>, <one>, <col>]
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, shared_bytes_per_multiprocessor = 233472 : i64, shared_bytes_per_block = 232448 : i64}} {
  func.func private @floats(%x: tensor<128x256xi8>, %w: tensor<64x256xi8>) -> tensor<128x64xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<128x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x64xf32>) -> tensor<128x64xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<128x256xi8>, tensor<64x256xi8>) outs(%f : tensor<128x64xf32>) {
    ^bb0(%p: i8, %q: i8, %o: f32):
      %a = arith.bitcast %p : i8 to f8E4M3FN
      %b = arith.bitcast %q : i8 to f8E5M2
      %0 = arith.extf %a : f8E4M3FN to f32
      %1 = arith.extf %b : f8E5M2 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %o, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<128x64xf32>
    return %c : tensor<128x64xf32>
  }
}

// -----

// Declined: wgmma transposes no bytes. The right operand is contiguous along its columns.
// CHECK-LABEL: gpu.func @transposed
// CHECK-NOT: nvvm.wgmma
// CHECK: nvvm.mma.sync
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, shared_bytes_per_multiprocessor = 233472 : i64, shared_bytes_per_block = 232448 : i64}} {
  func.func private @transposed(%x: tensor<128x256xi8>, %w: tensor<256x64xi8>) -> tensor<128x64xi32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0 : i32
    %e = tensor.empty() : tensor<128x64xi32>
    %f = linalg.fill ins(%zero : i32) outs(%e : tensor<128x64xi32>) -> tensor<128x64xi32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<128x256xi8>, tensor<256x64xi8>) outs(%f : tensor<128x64xi32>) {
    ^bb0(%p: i8, %q: i8, %o: i32):
      %0 = arith.extsi %p : i8 to i32
      %1 = arith.extui %q : i8 to i32
      %2 = arith.muli %0, %1 : i32
      %3 = arith.addi %o, %2 : i32
      linalg.yield %3 : i32
    } -> tensor<128x64xi32>
    return %c : tensor<128x64xi32>
  }
}
