// RUN: hloom-opt %s --distribute-contractions --split-input-file | filecheck %s

// Changed: few results in f32, as fused multiply-adds: eight warps a block, each with an eighth of every stage's inner steps. Their sums pass
// through shared memory, and whoever stores a result adds them in the warps' order. The record tells why, the price is the estimate.
// CHECK: code = "TILE_CHOSEN"
// CHECK-SAME: groups = [@fma]
// CHECK-SAME: reason = "128 blocks of 8 x 32 results and 8 warps, 8 of which share the inner loop, {{[0-9]}} stages of 128 of it: bound by issue"
// CHECK: gpu.func @fma
// CHECK-SAME: hloom.cost_ps = 4{{[0-9]*}} : i64
// CHECK-SAME: tile = "8x32x128", warps = "1x1x8"
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 128, 1, 1>
// CHECK: %[[WARP:.*]] = arith.divui %thread_id_x
// CHECK: math.fma
// CHECK: gpu.barrier
// CHECK: memref.store {{.*}} : memref<64x32xf32, #gpu.address_space<workgroup>>
// CHECK: gpu.barrier
// CHECK-COUNT-8: memref.load {{.*}} : memref<64x32xf32, #gpu.address_space<workgroup>>
// CHECK: memref.store {{.*}}, %arg2
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, shared_bytes_per_multiprocessor = 233472 : i64, shared_bytes_per_block = 232448 : i64}} {
  func.func private @fma(%x: tensor<64x256xf32>, %w: tensor<512x256xf32>) -> tensor<64x512xf32> attributes {hloom.kind = "matmul", hloom.cost_ps = 2700000 : i64} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x512xf32>) -> tensor<64x512xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64x256xf32>, tensor<512x256xf32>) outs(%f : tensor<64x512xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %0 = arith.mulf %p, %q : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<64x512xf32>
    return %c : tensor<64x512xf32>
  }
}

// -----

// Changed: few rows on tensor cores, whose steps are as deep as eight warps need.
// CHECK-LABEL: gpu.func @halves
// CHECK-SAME: tile = "16x32x256", warps = "1x1x8"
// CHECK: nvgpu.ldmatrix
// CHECK: nvgpu.mma.sync
// CHECK: vector.store {{.*}} : memref<128x32xf32, #gpu.address_space<workgroup>>, vector<2xf32>
// CHECK-COUNT-8: vector.load {{.*}} : memref<128x32xf32, #gpu.address_space<workgroup>>, vector<2xf32>
// CHECK: vector.store {{.*}}, %arg2
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, shared_bytes_per_multiprocessor = 233472 : i64, shared_bytes_per_block = 232448 : i64}} {
  func.func private @halves(%x: tensor<16x4096xbf16>, %w: tensor<4096x4096xbf16>) -> tensor<16x4096xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<16x4096xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x4096xf32>) -> tensor<16x4096xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<16x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<16x4096xf32>) {
    ^bb0(%p: bf16, %q: bf16, %o: f32):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.extf %q : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %o, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<16x4096xf32>
    return %c : tensor<16x4096xf32>
  }
}

// -----

// Declined: many results: each warp has all of the inner loop for its own.
// CHECK: reason = "256 blocks of 128 x 128 results and 8 warps, {{[0-9]}} stages of 16 of it: bound by issue"
// CHECK-LABEL: gpu.func @many
// CHECK-SAME: tile = "128x128x16", warps = "4x2"}
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, shared_bytes_per_multiprocessor = 233472 : i64, shared_bytes_per_block = 232448 : i64}} {
  func.func private @many(%x: tensor<2048x1024xf32>, %w: tensor<1024x2048xf32>) -> tensor<2048x2048xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2048x2048xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<2048x1024xf32>, tensor<1024x2048xf32>) outs(%f : tensor<2048x2048xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %0 = arith.mulf %p, %q : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<2048x2048xf32>
    return %c : tensor<2048x2048xf32>
  }
}
