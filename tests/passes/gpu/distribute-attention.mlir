// RUN: hloom-opt %s --distribute-attention --split-input-file | filecheck %s

// Changed: One kernel: 64 rows a block, q as fragments, columns in steps of 64 of which the last are masked; the maximum, the sum and the
// accumulators are carried, and nothing between the contractions is stored.
// CHECK-LABEL: gpu.module @kernels
// CHECK: gpu.func @masked
// CHECK-SAME: hloom.layouts = {heads = "64, 64", stages = 2 : i64, tile = "64x64", warps = "4x1"}
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 8, 1, 1>
// CHECK: nvgpu.device_async_create_group
// CHECK: nvgpu.device_async_wait
// CHECK-COUNT-4: nvgpu.ldmatrix {{.*}} {numTiles = 4 : i32, transpose = false}
// CHECK: scf.for {{.*}} iter_args({{.*}}) -> (f32, f32, f32, f32, vector<2x2xf32>
// CHECK: nvgpu.device_async_wait
// CHECK: gpu.barrier
// CHECK: nvgpu.device_async_create_group
// CHECK-COUNT-32: nvgpu.mma.sync{{.*}} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
// CHECK: vector.load %arg3[{{.*}}] {alignment = 8 : i64} : memref<12800xf32>, vector<2xf32>
// CHECK: arith.maximumf
// CHECK: gpu.shuffle
// CHECK: math.exp2 {{.*}} fastmath<afn> : f32
// CHECK: arith.truncf {{.*}} : vector<2xf32> to vector<2xf16>
// CHECK: nvgpu.ldmatrix {{.*}} {numTiles = 4 : i32, transpose = true}
// CHECK-COUNT-32: nvgpu.mma.sync
// CHECK: scf.yield
// CHECK: memref.store
// CHECK: gpu.barrier
// CHECK: arith.divf
// CHECK: vector.store {{.*}}, %arg4[{{.*}}] {alignment = 16 : i64} : memref<32768xf16>, vector<8xf16>
// CHECK: gpu.return
// CHECK-NOT: func.func
#rows_cols = affine_map<(b, m, n) -> (b, m, n)>
#rows = affine_map<(b, m, n) -> (b, m)>
#mask = affine_map<(b, m, n) -> (m, n)>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_80", compute_capability = 80 : i64, multiprocessors = 108 : i64}} {
  func.func private @masked(%q: tensor<4x128x64xf16>, %k: tensor<4x100x64xf16>, %v: tensor<4x100x64xf16>, %mask: tensor<128x100xf32>) -> tensor<4x128x64xf16> attributes {hloom.kind = "matmul", hloom.online} {
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
    %m = linalg.generic {indexing_maps = [#rows_cols, #mask, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s, %mask : tensor<4x128x100xf32>, tensor<128x100xf32>) outs(%f1 : tensor<4x128xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %0 = arith.addf %in, %in_0 : f32
      %1 = arith.maximumf %out, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<4x128xf32>
    %e = linalg.generic {indexing_maps = [#rows_cols, #mask, #rows, #rows_cols], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %mask, %m : tensor<4x128x100xf32>, tensor<128x100xf32>, tensor<4x128xf32>) outs(%e0 : tensor<4x128x100xf32>) {
    ^bb0(%in: f32, %in_0: f32, %in_1: f32, %out: f32):
      %0 = arith.addf %in, %in_0 : f32
      %1 = arith.subf %0, %in_1 : f32
      %2 = math.exp %1 : f32
      linalg.yield %2 : f32
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

// Changed: A causal mask leaves columns out: a block goes as far as its last row sees.
// CHECK-LABEL: gpu.func @causal
// CHECK: %[[LAST:.*]] = arith.maxsi
// CHECK: %[[UP:.*]] = arith.addi %[[LAST]], %{{.*}}
// CHECK: %[[STEPS:.*]] = arith.divui %[[UP]], %{{.*}}
// CHECK: %[[END:.*]] = arith.minsi %[[STEPS]], %{{.*}}
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[END]]
#rows_cols = affine_map<(b, m, n) -> (b, m, n)>
#rows = affine_map<(b, m, n) -> (b, m)>
#mask = affine_map<(b, m, n) -> (m, n)>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_80", compute_capability = 80 : i64, multiprocessors = 108 : i64}} {
  func.func private @causal(%q: tensor<4x128x64xf16>, %k: tensor<4x100x64xf16>, %v: tensor<4x100x64xf16>, %mask: tensor<128x100xf32>) -> tensor<4x128x64xf16> attributes {hloom.kind = "matmul", hloom.live = array<i64: 128, 100, 1>, hloom.online} {
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
    %m = linalg.generic {indexing_maps = [#rows_cols, #mask, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s, %mask : tensor<4x128x100xf32>, tensor<128x100xf32>) outs(%f1 : tensor<4x128xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %0 = arith.addf %in, %in_0 : f32
      %1 = arith.maximumf %out, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<4x128xf32>
    %e = linalg.generic {indexing_maps = [#rows_cols, #mask, #rows, #rows_cols], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %mask, %m : tensor<4x128x100xf32>, tensor<128x100xf32>, tensor<4x128xf32>) outs(%e0 : tensor<4x128x100xf32>) {
    ^bb0(%in: f32, %in_0: f32, %in_1: f32, %out: f32):
      %0 = arith.addf %in, %in_0 : f32
      %1 = arith.subf %0, %in_1 : f32
      %2 = math.exp %1 : f32
      linalg.yield %2 : f32
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

// Changed: The scale of scores is part of the factor of exponents, the maximum is taken before it; steps before the diagonal need no mask.
// CHECK-LABEL: gpu.func @scaled
// CHECK: scf.for
// CHECK-NOT: arith.select {{.*}} vector<2xf32>
// CHECK: arith.maximumf
// CHECK: scf.if
// CHECK: %[[FACTOR:.*]] = arith.constant dense<0.180336878> : vector<2xf32>
// CHECK: math.fma %{{.*}}, %[[FACTOR]], %{{.*}} : vector<2xf32>
// CHECK: math.exp2 {{.*}} fastmath<afn> : f32
// CHECK: } else {
// CHECK: %[[D:.*]] = arith.subf {{.*}} : vector<2xf32>
// CHECK: arith.mulf %[[D]], %{{.*}} : vector<2xf32>
// CHECK: math.exp2 {{.*}} fastmath<afn> : f32
// CHECK: scf.yield
// CHECK: scf.for
// CHECK: arith.cmpi sge
// CHECK: arith.select {{.*}} vector<2xf32>
// CHECK: scf.yield
#rows_cols = affine_map<(b, m, n) -> (b, m, n)>
#rows = affine_map<(b, m, n) -> (b, m)>
#mask = affine_map<(b, m, n) -> (m, n)>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_80", compute_capability = 80 : i64, multiprocessors = 108 : i64}} {
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

// Declined: Nothing tells that the sum can be rescaled.
// CHECK-LABEL: func.func private @not_online
// CHECK-NOT: gpu.func
#rows_cols = affine_map<(b, m, n) -> (b, m, n)>
#rows = affine_map<(b, m, n) -> (b, m)>
#mask = affine_map<(b, m, n) -> (m, n)>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_80", compute_capability = 80 : i64, multiprocessors = 108 : i64}} {
  func.func private @not_online(%q: tensor<4x128x64xf16>, %k: tensor<4x100x64xf16>, %v: tensor<4x100x64xf16>, %mask: tensor<128x100xf32>) -> tensor<4x128x64xf16> attributes {hloom.kind = "matmul"} {
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
    %m = linalg.generic {indexing_maps = [#rows_cols, #mask, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s, %mask : tensor<4x128x100xf32>, tensor<128x100xf32>) outs(%f1 : tensor<4x128xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %0 = arith.addf %in, %in_0 : f32
      %1 = arith.maximumf %out, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<4x128xf32>
    %e = linalg.generic {indexing_maps = [#rows_cols, #mask, #rows, #rows_cols], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %mask, %m : tensor<4x128x100xf32>, tensor<128x100xf32>, tensor<4x128xf32>) outs(%e0 : tensor<4x128x100xf32>) {
    ^bb0(%in: f32, %in_0: f32, %in_1: f32, %out: f32):
      %0 = arith.addf %in, %in_0 : f32
      %1 = arith.subf %0, %in_1 : f32
      %2 = math.exp %1 : f32
      linalg.yield %2 : f32
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

// Unchanged: No GPU: nothing to do.
// CHECK-LABEL: func.func private @on_a_cpu
// CHECK-NOT: gpu.func
#rows_cols = affine_map<(b, m, n) -> (b, m, n)>
#rows = affine_map<(b, m, n) -> (b, m)>
#mask = affine_map<(b, m, n) -> (m, n)>
module {
  func.func private @on_a_cpu(%q: tensor<4x128x64xf16>, %k: tensor<4x100x64xf16>, %v: tensor<4x100x64xf16>, %mask: tensor<128x100xf32>) -> tensor<4x128x64xf16> attributes {hloom.kind = "matmul", hloom.online} {
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
    %m = linalg.generic {indexing_maps = [#rows_cols, #mask, #rows], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s, %mask : tensor<4x128x100xf32>, tensor<128x100xf32>) outs(%f1 : tensor<4x128xf32>) {
    ^bb0(%in: f32, %in_0: f32, %out: f32):
      %0 = arith.addf %in, %in_0 : f32
      %1 = arith.maximumf %out, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<4x128xf32>
    %e = linalg.generic {indexing_maps = [#rows_cols, #mask, #rows, #rows_cols], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %mask, %m : tensor<4x128x100xf32>, tensor<128x100xf32>, tensor<4x128xf32>) outs(%e0 : tensor<4x128x100xf32>) {
    ^bb0(%in: f32, %in_0: f32, %in_1: f32, %out: f32):
      %0 = arith.addf %in, %in_0 : f32
      %1 = arith.subf %0, %in_1 : f32
      %2 = math.exp %1 : f32
      linalg.yield %2 : f32
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
