// RUN: hloom-opt %s --distribute-attention --split-input-file | filecheck %s

// Changed: A block has two warp groups of 64 rows; q, k and v come by TMA. The scores of a step and the products of the weights of the one
// before are started together, and only the scores are waited for before the softmax; all are there before the sums are rescaled.
// CHECK-LABEL: gpu.func @scaled
// CHECK-SAME: !nvgpu.tensormap.descriptor{{.*}}!nvgpu.tensormap.descriptor{{.*}}!nvgpu.tensormap.descriptor
// CHECK-SAME: hloom.layouts = {heads = "64, 64", stages = "4, 4", tile = "128x64", warps = "8x1"}
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 4, 1, 1>
// CHECK: nvgpu.tma.async.load
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: nvvm.wgmma.mma_async {{.*}} D[<f32>, <zero>]
// CHECK-COUNT-3: nvvm.wgmma.mma_async {{.*}} D[<f32>, <one>]
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: scf.for
// CHECK-COUNT-2: nvgpu.mbarrier.try_wait.parity
// CHECK: nvvm.wgmma.fence.aligned
// CHECK: nvvm.wgmma.mma_async {{.*}} D[<f32>, <zero>]
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK-COUNT-4: llvm.inline_asm has_side_effects "{ .reg .pred p; setp.eq.u32 p, 0, 0; wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16
// CHECK: nvvm.wgmma.commit.group.sync.aligned
// CHECK-NEXT: nvvm.wgmma.wait.group.sync.aligned 1
// CHECK: math.exp2
// CHECK: gpu.barrier
// CHECK: nvgpu.tma.async.load
// CHECK: nvvm.wgmma.wait.group.sync.aligned 0
// CHECK: arith.mulf
// CHECK: scf.yield
// CHECK: gpu.return
#rows_cols = affine_map<(b, m, n) -> (b, m, n)>
#rows = affine_map<(b, m, n) -> (b, m)>
#mask = affine_map<(b, m, n) -> (m, n)>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64, multiprocessors = 4 : i64, llc_bytes = 52428800 : i64}} {
  func.func private @scaled(%q: tensor<4x128x64xf16>, %k: tensor<4x100x64xf16>, %v: tensor<4x100x64xf16>) -> tensor<4x128x64xf16> attributes {hloom.kind = "matmul", hloom.live = array<i64: 128, 100, 1>, hloom.online} {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %e0 = tensor.empty() : tensor<4x128x100xf32>
    %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<4x128x100xf32>) -> tensor<4x128x100xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<4x128x64xf16>, tensor<4x100x64xf16>) outs(%f0 : tensor<4x128x100xf32>) {
    ^bb0(%in: f16, %in_0: f16, %out: f32):
      %0 = arith.extf %in : f16 to f32
      %1 = arith.extf %in_0 : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %out, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<4x128x100xf32>
    %e1 = tensor.empty() : tensor<4x128xf32>
    %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<4x128xf32>) -> tensor<4x128xf32>
    %c = arith.constant 0.125 : f32
    %x = linalg.generic {indexing_maps = [#rows_cols, #rows_cols], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<4x128x100xf32>) outs(%e0 : tensor<4x128x100xf32>) {
    ^bb0(%in: f32, %out: f32):
      %row = linalg.index 1 : index
      %column = linalg.index 2 : index
      %seen = arith.cmpi sge, %row, %column : index
      %0 = arith.mulf %in, %c : f32
      %1 = arith.select %seen, %0, %low : f32
      linalg.yield %1 : f32
    } -> tensor<4x128x100xf32>
    %m = linalg.generic {indexing_maps = [#rows_cols, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<4x128x100xf32>) outs(%f1 : tensor<4x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.maximumf %out, %in : f32
      linalg.yield %0 : f32
    } -> tensor<4x128xf32>
    %e = linalg.generic {indexing_maps = [#rows_cols, #rows, #rows_cols], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %m : tensor<4x128x100xf32>, tensor<4x128xf32>) outs(%e0 : tensor<4x128x100xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %0 = arith.subf %in, %in_0 : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<4x128x100xf32>
    %f2 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x128xf32>) -> tensor<4x128xf32>
    %l = linalg.generic {indexing_maps = [#rows_cols, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : tensor<4x128x100xf32>) outs(%f2 : tensor<4x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %out, %in : f32
      linalg.yield %0 : f32
    } -> tensor<4x128xf32>
    %w = tensor.empty() : tensor<4x128x100xf16>
    %p = linalg.generic {indexing_maps = [#rows_cols, #rows_cols], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e : tensor<4x128x100xf32>) outs(%w : tensor<4x128x100xf16>) {
    ^bb0(%in: f32, %out: f16):
      %0 = arith.truncf %in : f32 to f16
      linalg.yield %0 : f16
    } -> tensor<4x128x100xf16>
    %e3 = tensor.empty() : tensor<4x128x64xf32>
    %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<4x128x64xf32>) -> tensor<4x128x64xf32>
    %o = linalg.generic {indexing_maps = [affine_map<(b, m, d, n) -> (b, m, n)>, affine_map<(b, m, d, n) -> (b, n, d)>, affine_map<(b, m, d, n) -> (b, m, d)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<4x128x100xf16>, tensor<4x100x64xf16>) outs(%f3 : tensor<4x128x64xf32>) {
    ^bb0(%in: f16, %in_0: f16, %out: f32):
      %0 = arith.extf %in : f16 to f32
      %1 = arith.extf %in_0 : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %out, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<4x128x64xf32>
    %e4 = tensor.empty() : tensor<4x128x64xf16>
    %r = linalg.generic {indexing_maps = [#rows_cols, #rows, #rows_cols], iterator_types = ["parallel", "parallel", "parallel"]} ins(%o, %l : tensor<4x128x64xf32>, tensor<4x128xf32>) outs(%e4 : tensor<4x128x64xf16>) {
    ^bb0(%in: f32, %in_0: f32, %out: f16):
      %0 = arith.divf %in, %in_0 : f32
      %1 = arith.truncf %0 : f32 to f16
      linalg.yield %1 : f16
    } -> tensor<4x128x64xf16>
    return %r : tensor<4x128x64xf16>
  }
}

// -----

// Declined: Fewer rows than a warp group has: mma.sync.
// CHECK-LABEL: gpu.func @few
// CHECK-NOT: wgmma
// CHECK: nvgpu.mma.sync
#rows_cols = affine_map<(b, m, n) -> (b, m, n)>
#rows = affine_map<(b, m, n) -> (b, m)>
#mask = affine_map<(b, m, n) -> (m, n)>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64, multiprocessors = 4 : i64, llc_bytes = 52428800 : i64}} {
  func.func private @few(%q: tensor<4x32x64xf16>, %k: tensor<4x100x64xf16>, %v: tensor<4x100x64xf16>) -> tensor<4x32x64xf16> attributes {hloom.kind = "matmul", hloom.live = array<i64: 32, 100, 1>, hloom.online} {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %e0 = tensor.empty() : tensor<4x32x100xf32>
    %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<4x32x100xf32>) -> tensor<4x32x100xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<4x32x64xf16>, tensor<4x100x64xf16>) outs(%f0 : tensor<4x32x100xf32>) {
    ^bb0(%in: f16, %in_0: f16, %out: f32):
      %0 = arith.extf %in : f16 to f32
      %1 = arith.extf %in_0 : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %out, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<4x32x100xf32>
    %e1 = tensor.empty() : tensor<4x32xf32>
    %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<4x32xf32>) -> tensor<4x32xf32>
    %c = arith.constant 0.125 : f32
    %x = linalg.generic {indexing_maps = [#rows_cols, #rows_cols], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<4x32x100xf32>) outs(%e0 : tensor<4x32x100xf32>) {
    ^bb0(%in: f32, %out: f32):
      %row = linalg.index 1 : index
      %column = linalg.index 2 : index
      %seen = arith.cmpi sge, %row, %column : index
      %0 = arith.mulf %in, %c : f32
      %1 = arith.select %seen, %0, %low : f32
      linalg.yield %1 : f32
    } -> tensor<4x32x100xf32>
    %m = linalg.generic {indexing_maps = [#rows_cols, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<4x32x100xf32>) outs(%f1 : tensor<4x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.maximumf %out, %in : f32
      linalg.yield %0 : f32
    } -> tensor<4x32xf32>
    %e = linalg.generic {indexing_maps = [#rows_cols, #rows, #rows_cols], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %m : tensor<4x32x100xf32>, tensor<4x32xf32>) outs(%e0 : tensor<4x32x100xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %0 = arith.subf %in, %in_0 : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<4x32x100xf32>
    %f2 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x32xf32>) -> tensor<4x32xf32>
    %l = linalg.generic {indexing_maps = [#rows_cols, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : tensor<4x32x100xf32>) outs(%f2 : tensor<4x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %out, %in : f32
      linalg.yield %0 : f32
    } -> tensor<4x32xf32>
    %w = tensor.empty() : tensor<4x32x100xf16>
    %p = linalg.generic {indexing_maps = [#rows_cols, #rows_cols], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e : tensor<4x32x100xf32>) outs(%w : tensor<4x32x100xf16>) {
    ^bb0(%in: f32, %out: f16):
      %0 = arith.truncf %in : f32 to f16
      linalg.yield %0 : f16
    } -> tensor<4x32x100xf16>
    %e3 = tensor.empty() : tensor<4x32x64xf32>
    %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<4x32x64xf32>) -> tensor<4x32x64xf32>
    %o = linalg.generic {indexing_maps = [affine_map<(b, m, d, n) -> (b, m, n)>, affine_map<(b, m, d, n) -> (b, n, d)>, affine_map<(b, m, d, n) -> (b, m, d)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<4x32x100xf16>, tensor<4x100x64xf16>) outs(%f3 : tensor<4x32x64xf32>) {
    ^bb0(%in: f16, %in_0: f16, %out: f32):
      %0 = arith.extf %in : f16 to f32
      %1 = arith.extf %in_0 : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %out, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<4x32x64xf32>
    %e4 = tensor.empty() : tensor<4x32x64xf16>
    %r = linalg.generic {indexing_maps = [#rows_cols, #rows, #rows_cols], iterator_types = ["parallel", "parallel", "parallel"]} ins(%o, %l : tensor<4x32x64xf32>, tensor<4x32xf32>) outs(%e4 : tensor<4x32x64xf16>) {
    ^bb0(%in: f32, %in_0: f32, %out: f16):
      %0 = arith.divf %in, %in_0 : f32
      %1 = arith.truncf %0 : f32 to f16
      linalg.yield %1 : f16
    } -> tensor<4x32x64xf16>
    return %r : tensor<4x32x64xf16>
  }
}

// -----

// Declined: Keys whose lines are no multiples of 16 bytes apart, which TMA does not fetch.
// CHECK-LABEL: gpu.func @odd
// CHECK-NOT: wgmma
// CHECK: nvgpu.mma.sync
#rows_cols = affine_map<(b, m, n) -> (b, m, n)>
#rows = affine_map<(b, m, n) -> (b, m)>
#mask = affine_map<(b, m, n) -> (m, n)>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64, multiprocessors = 4 : i64, llc_bytes = 52428800 : i64}} {
  func.func private @odd(%q: tensor<4x128x60xf16>, %k: tensor<4x100x60xf16>, %v: tensor<4x100x60xf16>) -> tensor<4x128x60xf16> attributes {hloom.kind = "matmul", hloom.live = array<i64: 128, 100, 1>, hloom.online} {
    %zero = arith.constant 0.0 : f32
    %low = arith.constant 0xFF800000 : f32
    %e0 = tensor.empty() : tensor<4x128x100xf32>
    %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<4x128x100xf32>) -> tensor<4x128x100xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(b, m, n, d) -> (b, m, d)>, affine_map<(b, m, n, d) -> (b, n, d)>, affine_map<(b, m, n, d) -> (b, m, n)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<4x128x60xf16>, tensor<4x100x60xf16>) outs(%f0 : tensor<4x128x100xf32>) {
    ^bb0(%in: f16, %in_0: f16, %out: f32):
      %0 = arith.extf %in : f16 to f32
      %1 = arith.extf %in_0 : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %out, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<4x128x100xf32>
    %e1 = tensor.empty() : tensor<4x128xf32>
    %f1 = linalg.fill ins(%low : f32) outs(%e1 : tensor<4x128xf32>) -> tensor<4x128xf32>
    %c = arith.constant 0.125 : f32
    %x = linalg.generic {indexing_maps = [#rows_cols, #rows_cols], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s : tensor<4x128x100xf32>) outs(%e0 : tensor<4x128x100xf32>) {
    ^bb0(%in: f32, %out: f32):
      %row = linalg.index 1 : index
      %column = linalg.index 2 : index
      %seen = arith.cmpi sge, %row, %column : index
      %0 = arith.mulf %in, %c : f32
      %1 = arith.select %seen, %0, %low : f32
      linalg.yield %1 : f32
    } -> tensor<4x128x100xf32>
    %m = linalg.generic {indexing_maps = [#rows_cols, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x : tensor<4x128x100xf32>) outs(%f1 : tensor<4x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.maximumf %out, %in : f32
      linalg.yield %0 : f32
    } -> tensor<4x128xf32>
    %e = linalg.generic {indexing_maps = [#rows_cols, #rows, #rows_cols], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x, %m : tensor<4x128x100xf32>, tensor<4x128xf32>) outs(%e0 : tensor<4x128x100xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %0 = arith.subf %in, %in_0 : f32
      %1 = math.exp %0 : f32
      linalg.yield %1 : f32
    } -> tensor<4x128x100xf32>
    %f2 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4x128xf32>) -> tensor<4x128xf32>
    %l = linalg.generic {indexing_maps = [#rows_cols, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e : tensor<4x128x100xf32>) outs(%f2 : tensor<4x128xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %out, %in : f32
      linalg.yield %0 : f32
    } -> tensor<4x128xf32>
    %w = tensor.empty() : tensor<4x128x100xf16>
    %p = linalg.generic {indexing_maps = [#rows_cols, #rows_cols], iterator_types = ["parallel", "parallel", "parallel"]} ins(%e : tensor<4x128x100xf32>) outs(%w : tensor<4x128x100xf16>) {
    ^bb0(%in: f32, %out: f16):
      %0 = arith.truncf %in : f32 to f16
      linalg.yield %0 : f16
    } -> tensor<4x128x100xf16>
    %e3 = tensor.empty() : tensor<4x128x60xf32>
    %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<4x128x60xf32>) -> tensor<4x128x60xf32>
    %o = linalg.generic {indexing_maps = [affine_map<(b, m, d, n) -> (b, m, n)>, affine_map<(b, m, d, n) -> (b, n, d)>, affine_map<(b, m, d, n) -> (b, m, d)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p, %v : tensor<4x128x100xf16>, tensor<4x100x60xf16>) outs(%f3 : tensor<4x128x60xf32>) {
    ^bb0(%in: f16, %in_0: f16, %out: f32):
      %0 = arith.extf %in : f16 to f32
      %1 = arith.extf %in_0 : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %out, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<4x128x60xf32>
    %e4 = tensor.empty() : tensor<4x128x60xf16>
    %r = linalg.generic {indexing_maps = [#rows_cols, #rows, #rows_cols], iterator_types = ["parallel", "parallel", "parallel"]} ins(%o, %l : tensor<4x128x60xf32>, tensor<4x128xf32>) outs(%e4 : tensor<4x128x60xf16>) {
    ^bb0(%in: f32, %in_0: f32, %out: f16):
      %0 = arith.divf %in, %in_0 : f32
      %1 = arith.truncf %0 : f32 to f16
      linalg.yield %1 : f16
    } -> tensor<4x128x60xf16>
    return %r : tensor<4x128x60xf16>
  }
}
