// RUN: hloom-opt %s --distribute-contractions --split-input-file | filecheck %s

// Changed, for a policy asks for it: eight warps multiply, a ninth fetches. As many blocks as multiprocessors, which stay for four tiles each
// (the last for three). Two rings of mbarriers: at the second eight warps arrive, at the first the copies of both operands.
// CHECK: code = "POLICY_FORCED"
// CHECK-SAME: reason = "a warp fetches for the others"
// CHECK: code = "TILE_CHOSEN"
// CHECK-SAME: a warp fetches for the others, which stay for all tiles of a block"
// CHECK-LABEL: gpu.func @producer
// CHECK-SAME: producer = 1 : i64
// CHECK-SAME: known_block_size = array<i32: 288, 1, 1>, known_grid_size = array<i32: 132, 1, 1>
// CHECK: %[[EMPTY:.*]] = builtin.unrealized_conversion_cast {{.*}} num_barriers = 4>
// CHECK: %[[C8:.*]] = arith.constant 8 : index
// CHECK: nvgpu.mbarrier.init %[[EMPTY]][{{.*}}], %[[C8]]
// CHECK: %[[FULL:.*]] = builtin.unrealized_conversion_cast {{.*}} num_barriers = 4>
// CHECK: nvgpu.mbarrier.init %[[FULL]][
// CHECK: %[[WARP:.*]], %{{.*}} = gpu.shuffle idx
// CHECK: %[[MULTIPLIES:.*]] = arith.cmpi ult, %[[WARP]]
// CHECK: scf.if %[[MULTIPLIES]]
// CHECK: scf.for
// CHECK: scf.for
// CHECK: nvgpu.mbarrier.try_wait.parity %[[FULL]][
// CHECK-NOT: gpu.barrier
// CHECK: nvvm.wgmma.mma_async
// CHECK: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: nvgpu.mbarrier.arrive %[[EMPTY]][
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: nvgpu.mbarrier.arrive %[[EMPTY]][
// Neighbours exchange halves; nothing is staged.
// CHECK: gpu.shuffle xor
// CHECK: vector.store {{.*}}, %arg2[{{.*}}] {alignment = 16 : i64}
// CHECK: } else {
// CHECK: scf.for
// CHECK: scf.for
// CHECK: nvgpu.mbarrier.try_wait.parity %[[EMPTY]][
// CHECK: nvgpu.mbarrier.arrive.expect_tx %[[FULL]][
// CHECK: nvgpu.tma.async.load %arg3
// CHECK: nvgpu.mbarrier.arrive.expect_tx %[[FULL]][
// CHECK: nvgpu.tma.async.load %arg4
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, llc_bytes = 52428800 : i64, dram_bytes_per_second = 3350000000000 : i64, registers_per_multiprocessor = 65536 : i64, threads_per_multiprocessor = 2048 : i64, blocks_per_multiprocessor = 32 : i64, shared_bytes_per_multiprocessor = 233472 : i64, shared_bytes_per_block = 232448 : i64}} {
  func.func private @producer(%x: tensor<4096x4096xbf16>, %w: tensor<4096x4096xbf16>) -> tensor<4096x4096xf32> attributes {hloom.kind = "matmul", hloom.blocks = {producer = 1 : i64}, hloom.tile_rule = "tile 1: producer = True"} {
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

// Unchanged: by the price it gains too little. Declined, and told: rows of 66 elements, which TMA does not fetch.
// CHECK: code = "POLICY_UNMET"
// CHECK-SAME: reason = "a warp does not fetch for the others"
// CHECK-LABEL: gpu.func @price
// CHECK-NOT: producer
// CHECK-LABEL: gpu.func @by_threads
// CHECK-NOT: producer
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, llc_bytes = 52428800 : i64, dram_bytes_per_second = 3350000000000 : i64, registers_per_multiprocessor = 65536 : i64, threads_per_multiprocessor = 2048 : i64, blocks_per_multiprocessor = 32 : i64, shared_bytes_per_multiprocessor = 233472 : i64, shared_bytes_per_block = 232448 : i64}} {
  func.func private @price(%x: tensor<4096x4096xbf16>, %w: tensor<4096x4096xbf16>) -> tensor<4096x4096xf32> attributes {hloom.kind = "matmul"} {
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
  func.func private @by_threads(%x: tensor<512x512xbf16>, %w: tensor<512x66xbf16>) -> tensor<512x66xf32> attributes {hloom.kind = "matmul", hloom.blocks = {producer = 1 : i64}, hloom.tile_rule = "tile 1: producer = True"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x66xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x66xf32>) -> tensor<512x66xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<512x512xbf16>, tensor<512x66xbf16>) outs(%f : tensor<512x66xf32>) {
    ^bb0(%p: bf16, %q: bf16, %o: f32):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.extf %q : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %o, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<512x66xf32>
    return %c : tensor<512x66xf32>
  }
}

// -----

// Two blocks of a cluster, whose tiles lie one below the other: of the right operand each fetches every other step for both, at whose mbarriers
// the bytes count, and a stage is empty when the warps of both have arrived. They meet before the first copy, and before either ends.
// CHECK: code = "POLICY_FORCED"
// CHECK-SAME: reason = "blocks are two in a cluster"
// CHECK: code = "TILE_CHOSEN"
// CHECK-SAME: two blocks of a cluster share the right operand"
// CHECK-LABEL: gpu.func @cluster
// CHECK-SAME: producer = 1 : i64, rows_together = 16 : i64
// CHECK-SAME: known_cluster_size = array<i32: 2, 1, 1>, known_grid_size = array<i32: 132, 1, 1>
// CHECK: %[[C16:.*]] = arith.constant 16 : index
// CHECK: nvgpu.mbarrier.init {{.*}}, %[[C16]]
// CHECK: nvvm.cluster.arrive
// CHECK-NEXT: nvvm.cluster.wait
// CHECK-NEXT: %[[RANK:.*]] = nvvm.read.ptx.sreg.cluster.ctarank
// CHECK: nvgpu.mbarrier.arrive
// CHECK: %[[OTHER:.*]] = arith.xori %[[RANK]]
// CHECK: %[[THERE:.*]] = nvvm.mapa %{{.*}}, %[[OTHER]] : !llvm.ptr<3> -> !llvm.ptr<7>
// CHECK-NEXT: nvvm.mbarrier.arrive %[[THERE]] {scope = #nvvm.mem_scope<cluster>}
// CHECK: } else {
// CHECK: nvgpu.tma.async.load %arg3[{{.*}}] to %{{[^ ]*}}, predicate
// CHECK: nvgpu.mbarrier.arrive.expect_tx
// CHECK: scf.if
// CHECK: nvgpu.tma.async.load %arg4[{{.*}} multicast_mask = %
// CHECK: nvvm.cluster.arrive
// CHECK-NEXT: nvvm.cluster.wait
// CHECK-NEXT: gpu.return
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, llc_bytes = 52428800 : i64, dram_bytes_per_second = 3350000000000 : i64, registers_per_multiprocessor = 65536 : i64, threads_per_multiprocessor = 2048 : i64, blocks_per_multiprocessor = 32 : i64, shared_bytes_per_multiprocessor = 233472 : i64, shared_bytes_per_block = 232448 : i64}} {
  func.func private @cluster(%x: tensor<4096x4096xbf16>, %w: tensor<4096x4096xbf16>) -> tensor<4096x4096xf32> attributes {hloom.kind = "matmul", hloom.blocks = {cluster = 1 : i64}, hloom.tile_rule = "tile 1: cluster = True"} {
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
