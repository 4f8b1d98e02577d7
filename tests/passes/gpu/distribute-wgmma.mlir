// RUN: hloom-opt %s --distribute-contractions --split-input-file | filecheck %s

// Two warp groups of 64 rows each. Stages as wgmma reads them: the left operand lies along the inner loop, 64 elements are the 128 bytes of a
// line; the right one does not, and is cut into two panels of 64 columns. Four stages: one is read while one is awaited and two are filled.
// CHECK-LABEL: gpu.func @warp_groups
// CHECK-SAME: %arg3: !nvgpu.tensormap.descriptor<tensor = memref<128x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = l2promo_128b, oob = zero, interleave = none>, %arg4: !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16,
// CHECK-SAME: hloom.layouts = {accumulators = "[w8 r2 l8@4] [r16 l4 v2]", stages = 4 : i64, tile = "128x128x64", warps = "8x1"}, hloom.shared_bytes = 131104 : i64
// CHECK-SAME: hloom.tensor_maps = [{argument = 0 : i64, extents = array<i64: 2048, 1024>, offset = 0 : i64, strides = array<i64: 2048, 2>}, {argument = 1 : i64, extents = array<i64: 1024, 1024>, offset = 0 : i64, strides = array<i64: 2048, 2>}]
// CHECK: gpu.dynamic_shared_memory
// The mbarriers, one a stage, at which both operands arrive.
// CHECK: %[[BARRIERS:.*]] = builtin.unrealized_conversion_cast {{.*}} to !nvgpu.mbarrier.group<memorySpace = #gpu.address_space<workgroup>, num_barriers = 4>
// CHECK: %[[LEADER:.*]] = arith.cmpi eq, %thread_id_x
// CHECK: nvgpu.mbarrier.init %[[BARRIERS]][{{.*}}], %{{.*}}, predicate = %[[LEADER]]
// CHECK: nvvm.fence.mbarrier.init
// CHECK: gpu.barrier
// The accumulators are zeros that are there before wgmma.fence.
// CHECK: %[[ZEROS:.*]] = llvm.inline_asm has_side_effects "", {{.*}} -> [[SUMS:!llvm.struct<.*>]]
// CHECK: scf.for {{.*}} = %[[ZEROS]]) -> ([[SUMS]])
// CHECK: nvgpu.mbarrier.try_wait.parity %[[BARRIERS]]
// CHECK-NEXT: gpu.barrier
// CHECK: nvgpu.mbarrier.arrive.expect_tx %[[BARRIERS]][{{.*}}], %{{.*}}, predicate
// CHECK: nvgpu.tma.async.load %arg3[{{.*}}], %[[BARRIERS]][{{.*}}] to %{{.*}}, predicate = {{.*}} -> memref<128x64xf16, #gpu.address_space<workgroup>>
// CHECK: nvgpu.mbarrier.arrive.expect_tx %[[BARRIERS]]
// CHECK: nvgpu.tma.async.load %arg4[
// CHECK: nvgpu.tma.async.load %arg4[
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: memref.extract_aligned_pointer_as_index
// Stride offset 1024 bytes, swizzle 128 bytes; the right operand's leading offset is a panel, 8192 bytes.
// CHECK: arith.constant 4611686293305360384 : i64
// CHECK: arith.constant 4611686293338849280 : i64
// CHECK: %[[FIRST:.*]] = nvvm.wgmma.mma_async {{.*}}, %arg{{[0-9]+}}, <m = 64, n = 128, k = 16>, D[<f32>, <one>], A[<f16>, <one>, <row>], B[<f16>, <one>, <row>] : [[SUMS]] -> [[SUMS]]
// CHECK: nvvm.wgmma.mma_async {{.*}}, %[[FIRST]],
// CHECK: nvvm.wgmma.mma_async
// CHECK: %[[LAST:.*]] = nvvm.wgmma.mma_async
// CHECK-NEXT: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK-NEXT: scf.yield %[[LAST]]
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: llvm.inline_asm has_side_effects ""
// CHECK: vector.store {{.*}}, %arg2[{{.*}}] {alignment = 8 : i64}
// CHECK: gpu.return
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, shared_bytes_per_multiprocessor = 233472 : i64, shared_bytes_per_block = 232448 : i64}} {
  func.func private @warp_groups(%x: tensor<2048x1024xf16>, %w: tensor<1024x1024xf16>) -> tensor<2048x1024xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2048x1024xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<2048x1024xf16>, tensor<1024x1024xf16>) outs(%f : tensor<2048x1024xf32>) {
    ^bb0(%p: f16, %q: f16, %o: f32):
      %0 = arith.extf %p : f16 to f32
      %1 = arith.extf %q : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %o, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<2048x1024xf32>
    return %c : tensor<2048x1024xf32>
  }
}

// -----

// Both operands the other way round, rows of the right one that are no multiples of 16 bytes apart: the left one by TMA, the right one by
// the threads, whose writes are shown to the async proxy before the barrier. Columns that end within a tile: masked stores.
// CHECK-LABEL: gpu.func @both_ways
// CHECK-SAME: hloom.tensor_maps = [{argument = 0 : i64, extents = array<i64: 84, 72>, offset = 0 : i64, strides = array<i64: 144, 2>}]
// CHECK: nvgpu.tma.async.load %arg3
// CHECK: nvgpu.device_async_copy %arg1[{{.*}}], {{.*}}, 4, %{{.*}}
// Two steps, each with a stage of its own: both are copied at once, and there is no loop.
// CHECK-NOT: scf.for
// CHECK: nvgpu.device_async_wait {{.*}} {numGroups = 1 : i32}
// CHECK: nvgpu.mbarrier.try_wait.parity
// CHECK-NEXT: nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK-NEXT: gpu.barrier
// CHECK: nvvm.wgmma.mma_async {{.*}}, A[<bf16>, <one>, <col>], B[<bf16>, <one>, <col>]
// CHECK: scf.if
// CHECK: vector.store {{.*}}, %arg2
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, shared_bytes_per_multiprocessor = 233472 : i64, shared_bytes_per_block = 232448 : i64}} {
  func.func private @both_ways(%x: tensor<84x72xbf16>, %w: tensor<96x84xbf16>) -> tensor<72x96xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<72x96xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<72x96xf32>) -> tensor<72x96xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (k, m)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<84x72xbf16>, tensor<96x84xbf16>) outs(%f : tensor<72x96xf32>) {
    ^bb0(%p: bf16, %q: bf16, %o: f32):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.extf %q : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %o, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<72x96xf32>
    return %c : tensor<72x96xf32>
  }
}

// -----

// Declined: fewer rows than a warp group has; and f32, which stays f32.
// CHECK-LABEL: gpu.func @few_rows
// CHECK-NOT: nvvm.wgmma
// CHECK: nvgpu.mma.sync
// CHECK-LABEL: gpu.func @f32
// CHECK-NOT: nvvm.wgmma
// CHECK: math.fma
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, shared_bytes_per_multiprocessor = 233472 : i64, shared_bytes_per_block = 232448 : i64}} {
  func.func private @few_rows(%x: tensor<63x64xf16>, %w: tensor<64x64xf16>) -> tensor<63x64xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<63x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<63x64xf32>) -> tensor<63x64xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<63x64xf16>, tensor<64x64xf16>) outs(%f : tensor<63x64xf32>) {
    ^bb0(%p: f16, %q: f16, %o: f32):
      %0 = arith.extf %p : f16 to f32
      %1 = arith.extf %q : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %o, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<63x64xf32>
    return %c : tensor<63x64xf32>
  }
  func.func private @f32(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %2 = arith.mulf %p, %q : f32
      %3 = arith.addf %o, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<64x64xf32>
    return %c : tensor<64x64xf32>
  }
}

// -----

// Declined: another generation.
// CHECK-LABEL: gpu.func @ampere
// CHECK-NOT: nvvm.wgmma
// CHECK: nvgpu.mma.sync
module attributes {hloom.target = {kind = "cuda", cpu = "sm_80", compute_capability = 80 : i64, multiprocessors = 108 : i64, shared_bytes_per_multiprocessor = 167936 : i64, shared_bytes_per_block = 166912 : i64}} {
  func.func private @ampere(%x: tensor<128x128xf16>, %w: tensor<128x128xf16>) -> tensor<128x128xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<128x128xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<128x128xf16>, tensor<128x128xf16>) outs(%f : tensor<128x128xf32>) {
    ^bb0(%p: f16, %q: f16, %o: f32):
      %0 = arith.extf %p : f16 to f32
      %1 = arith.extf %q : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %o, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<128x128xf32>
    return %c : tensor<128x128xf32>
  }
}

// -----

// No contraction: nothing to do.
// CHECK-LABEL: func.func private @elementwise
// CHECK: linalg.generic
// CHECK-NOT: gpu.func
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, shared_bytes_per_multiprocessor = 233472 : i64, shared_bytes_per_block = 232448 : i64}} {
  func.func private @elementwise(%x: tensor<128x128xf16>) -> tensor<128x128xf16> attributes {hloom.kind = "loop"} {
    %e = tensor.empty() : tensor<128x128xf16>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<128x128xf16>) outs(%e : tensor<128x128xf16>) {
    ^bb0(%p: f16, %o: f16):
      %0 = arith.mulf %p, %p : f16
      linalg.yield %0 : f16
    } -> tensor<128x128xf16>
    return %c : tensor<128x128xf16>
  }
}
