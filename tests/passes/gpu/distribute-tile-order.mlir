// RUN: hloom-opt %s --distribute-contractions --split-input-file | filecheck %s

// Unchanged but for the number: 32 rows of tiles, of which 16 are visited together, as often as the columns change.
// CHECK: code = "TILE_CHOSEN"
// CHECK-SAME: 16 rows of tiles together: a wave reads 35651584 bytes"
// CHECK-LABEL: gpu.func @even
// CHECK-SAME: rows_together = 16 : i64
// CHECK: %block_id_x = gpu.block_id x
// CHECK-NOT: arith.select
// CHECK: nvgpu.tma.async.load
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, llc_bytes = 52428800 : i64, dram_bytes_per_second = 3350000000000 : i64, registers_per_multiprocessor = 65536 : i64, threads_per_multiprocessor = 2048 : i64, blocks_per_multiprocessor = 32 : i64, shared_bytes_per_multiprocessor = 233472 : i64, shared_bytes_per_block = 232448 : i64}} {
  func.func private @even(%x: tensor<4096x4096xbf16>, %w: tensor<4096x4096xbf16>) -> tensor<4096x4096xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4096x4096xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4096x4096xbf16>, tensor<4096x4096xbf16>) outs(%f : tensor<4096x4096xf32>) {
    ^bb0(%p: bf16, %q: bf16, %o: f32):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.extf %q : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %o, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<4096x4096xf32>
    return %c : tensor<4096x4096xf32>
  }
}

// -----

// 31 rows of tiles: groups of 17 and 14. Blocks of the last one divide by 14.
// CHECK-LABEL: gpu.func @ragged
// CHECK-SAME: rows_together = 17 : i64
// CHECK: %block_id_x = gpu.block_id x
// CHECK: %[[LAST:.*]] = arith.cmpi eq
// CHECK: %[[C14:.*]] = arith.constant 14 : index
// CHECK: arith.remui %{{.*}}, %[[C14]]
// CHECK: arith.divui %{{.*}}, %[[C14]]
// CHECK: arith.select %[[LAST]]
// CHECK: arith.select %[[LAST]]
// CHECK: nvgpu.tma.async.load
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, llc_bytes = 52428800 : i64, dram_bytes_per_second = 3350000000000 : i64, registers_per_multiprocessor = 65536 : i64, threads_per_multiprocessor = 2048 : i64, blocks_per_multiprocessor = 32 : i64, shared_bytes_per_multiprocessor = 233472 : i64, shared_bytes_per_block = 232448 : i64}} {
  func.func private @ragged(%x: tensor<3968x4096xbf16>, %w: tensor<4096x15360xbf16>) -> tensor<3968x15360xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<3968x15360xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3968x15360xf32>) -> tensor<3968x15360xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<3968x4096xbf16>, tensor<4096x15360xbf16>) outs(%f : tensor<3968x15360xf32>) {
    ^bb0(%p: bf16, %q: bf16, %o: f32):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.extf %q : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %o, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<3968x15360xf32>
    return %c : tensor<3968x15360xf32>
  }
}

// -----

// Declined: one wave has all tiles, whatever their order. And a policy, which decides.
// CHECK: reason = "{{[^"]*}}: bound by {{[a-z]*}}"
// CHECK: code = "POLICY_FORCED"
// CHECK-SAME: reason = "3 rows of tiles together"
// CHECK-LABEL: gpu.func @one_wave
// CHECK-SAME: hloom.layouts = {accumulators = "{{[^"]*}}", stages
// CHECK-LABEL: gpu.func @asked
// CHECK-SAME: rows_together = 3 : i64
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, llc_bytes = 52428800 : i64, dram_bytes_per_second = 3350000000000 : i64, registers_per_multiprocessor = 65536 : i64, threads_per_multiprocessor = 2048 : i64, blocks_per_multiprocessor = 32 : i64, shared_bytes_per_multiprocessor = 233472 : i64, shared_bytes_per_block = 232448 : i64}} {
  func.func private @one_wave(%x: tensor<512x256xbf16>, %w: tensor<256x512xbf16>) -> tensor<512x512xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<512x256xbf16>, tensor<256x512xbf16>) outs(%f : tensor<512x512xf32>) {
    ^bb0(%p: bf16, %q: bf16, %o: f32):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.extf %q : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %o, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<512x512xf32>
    return %c : tensor<512x512xf32>
  }
  func.func private @asked(%x: tensor<512x256xbf16>, %w: tensor<256x512xbf16>) -> tensor<512x512xf32> attributes {hloom.kind = "matmul", hloom.blocks = {rows_together = 3 : i64}, hloom.tile_rule = "tile 1: rows_together = 3"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<512x256xbf16>, tensor<256x512xbf16>) outs(%f : tensor<512x512xf32>) {
    ^bb0(%p: bf16, %q: bf16, %o: f32):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.extf %q : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %o, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<512x512xf32>
    return %c : tensor<512x512xf32>
  }
}
