// RUN: hloom-opt %s --distribute-contractions --split-input-file | filecheck %s

// Changed: f16 with bias and relu, the right operand transposed: cp.async into swizzled stages, ldmatrix, mma.sync, and the epilogue on the
// accumulators, which come back from shared memory as rows: a result of two bytes would store half sectors. Inputs are read-only and alias nothing; the group function is gone.
// CHECK-LABEL: gpu.module @kernels
// CHECK: memref.global "private" @tensor_cores_shared : memref<{{[0-9]+}}xi8, #gpu.address_space<workgroup>> {alignment = 128 : i64}
// CHECK: gpu.func @tensor_cores(%arg0: memref<262144xf16> {llvm.noalias, llvm.readonly}, %arg1: memref<524288xf16> {llvm.noalias, llvm.readonly}, %arg2: memref<1024xf16> {llvm.noalias, llvm.readonly}, %arg3: memref<524288xf16> {llvm.noalias}) kernel
// CHECK-SAME: hloom.layouts = {accumulators = "[w{{[0-9]+(@[0-9]+)?}} r{{[0-9]+}} r2 l8@4] [w{{[0-9]+}} r{{[0-9]+}} l4 v2]", stages = [[S:[0-9]+]] : i64, tile = "[[M:[0-9]+]]x[[N:[0-9]+]]x32", warps = {{.*}}}, hloom.shared_bytes = 0 : i64
// CHECK: memref.view {{.*}} to memref<[[S]]x[[M]]x32xf16, #gpu.address_space<workgroup>>
// CHECK: memref.view {{.*}} to memref<[[S]]x[[N]]x32xf16, #gpu.address_space<workgroup>>
// CHECK: nvgpu.device_async_copy %arg0[{{.*}}], {{.*}}, 8 {bypassL1}
// CHECK: nvgpu.device_async_create_group
// CHECK: scf.for
// CHECK: nvgpu.device_async_wait
// CHECK: gpu.barrier
// CHECK: nvgpu.device_async_copy %arg0
// CHECK: arith.xori
// CHECK: nvgpu.ldmatrix {{.*}} {numTiles = 4 : i32, transpose = false}
// CHECK: nvgpu.mma.sync{{.*}}{mmaShape = [16, 8, 16]} : (vector<4x2xf16>, vector<2x2xf16>, vector<2x2xf32>) -> vector<2x2xf32>
// CHECK: gpu.barrier
// CHECK: vector.store {{.*}} : memref<{{.*}}xf32, #gpu.address_space<workgroup>>, vector<2xf32>
// CHECK: gpu.barrier
// CHECK: vector.load {{.*}} : memref<{{.*}}xf32, #gpu.address_space<workgroup>>, vector<4xf32>
// CHECK: vector.load %arg2[{{.*}}] {alignment = 16 : i64} : memref<1024xf16>, vector<8xf16>
// CHECK: arith.maximumf {{.*}} : vector<8xf32>
// CHECK: arith.truncf {{.*}} : vector<8xf32> to vector<8xf16>
// CHECK: vector.store {{.*}}, %arg3[{{.*}}] {alignment = 16 : i64}
// CHECK: gpu.return
// CHECK-NOT: func.func
module attributes {hloom.target = {kind = "cuda", cpu = "sm_80", compute_capability = 80 : i64, multiprocessors = 108 : i64}} {
  func.func private @tensor_cores(%x: tensor<512x512xf16>, %w: tensor<1024x512xf16>, %b: tensor<1024xf16>) -> tensor<512x1024xf16> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x1024xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x1024xf32>) -> tensor<512x1024xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<512x512xf16>, tensor<1024x512xf16>) outs(%f : tensor<512x1024xf32>) {
    ^bb0(%p: f16, %q: f16, %o: f32):
      %0 = arith.extf %p : f16 to f32
      %1 = arith.extf %q : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %o, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<512x1024xf32>
    %r = tensor.empty() : tensor<512x1024xf16>
    %g = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (n)>, affine_map<(m, n) -> (m, n)>], iterator_types = ["parallel", "parallel"]} ins(%c, %b : tensor<512x1024xf32>, tensor<1024xf16>) outs(%r : tensor<512x1024xf16>) {
    ^bb0(%p: f32, %q: f16, %o: f16):
      %0 = arith.extf %q : f16 to f32
      %1 = arith.addf %p, %0 : f32
      %2 = arith.maximumf %1, %zero : f32
      %3 = arith.truncf %2 : f32 to f16
      linalg.yield %3 : f16
    } -> tensor<512x1024xf16>
    return %g : tensor<512x1024xf16>
  }
}

// -----

// Rows that are no multiple of the tile, an odd inner extent: copies of two elements, and none past the end (srcElements); masked stores.
// CHECK-LABEL: gpu.func @odd_sizes
// CHECK: %[[IN:.*]] = arith.andi
// CHECK: %[[COUNT:.*]] = arith.select %[[IN]]
// CHECK: nvgpu.device_async_copy %arg0[{{.*}}], {{.*}}, 2, %[[COUNT]]
// CHECK: nvgpu.mma.sync
// CHECK: scf.if
// CHECK: vector.store {{.*}}, %arg2
module attributes {hloom.target = {kind = "cuda", cpu = "sm_80", compute_capability = 80 : i64, multiprocessors = 108 : i64}} {
  func.func private @odd_sizes(%x: tensor<33x50xbf16>, %w: tensor<50x46xbf16>) -> tensor<33x46xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<33x46xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<33x46xf32>) -> tensor<33x46xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<33x50xbf16>, tensor<50x46xbf16>) outs(%f : tensor<33x46xf32>) {
    ^bb0(%p: bf16, %q: bf16, %o: f32):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.extf %q : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %o, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<33x46xf32>
    return %c : tensor<33x46xf32>
  }
}

// -----

// f32 stays f32: fused multiply-adds.
// CHECK-LABEL: gpu.func @f32
// CHECK: nvgpu.device_async_copy {{.*}}, 4 {bypassL1} : memref<16384xf32>
// CHECK: math.fma {{.*}} : vector<{{[48]}}xf32>
// CHECK-NOT: nvgpu.mma.sync
// Where the group allows tf32, tensor cores.
// CHECK-LABEL: gpu.func @tf32
// CHECK: nvgpu.mma.sync{{.*}}{mmaShape = [16, 8, 8], tf32Enabled} : (vector<4x1xf32>, vector<2x1xf32>, vector<2x2xf32>)
module attributes {hloom.target = {kind = "cuda", cpu = "sm_80", compute_capability = 80 : i64, multiprocessors = 108 : i64}} {
  func.func private @f32(%x: tensor<128x128xf32>, %w: tensor<128x128xf32>) -> tensor<128x128xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<128x128xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<128x128xf32>, tensor<128x128xf32>) outs(%f : tensor<128x128xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %0 = arith.mulf %p, %q : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<128x128xf32>
    return %c : tensor<128x128xf32>
  }
  func.func private @tf32(%x: tensor<128x128xf32>, %w: tensor<128x128xf32>) -> tensor<128x128xf32> attributes {hloom.kind = "matmul", hloom.allow_tf32} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<128x128xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x128xf32>) -> tensor<128x128xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<128x128xf32>, tensor<128x128xf32>) outs(%f : tensor<128x128xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %0 = arith.mulf %p, %q : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<128x128xf32>
    return %c : tensor<128x128xf32>
  }
}

// -----

// One row: the weights are read once, as bf16, 16 bytes a lane; sums over lanes by shuffles, over warps through shared memory.
// CHECK-LABEL: gpu.func @one_row
// CHECK-SAME: hloom.layouts = {access = "8 along the inner loop"
// CHECK: vector.load %arg1[{{.*}}] {alignment = 16 : i64} : memref<1048576xbf16>, vector<8xbf16>
// CHECK: arith.extf {{.*}} : vector<8xbf16> to vector<8xf32>
// CHECK: math.fma
// CHECK: gpu.shuffle xor
// CHECK: memref.store {{.*}} #gpu.address_space<workgroup>
// CHECK: gpu.barrier
// CHECK: memref.store {{.*}}, %arg2
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64}} {
  func.func private @one_row(%x: tensor<1x1024xbf16>, %w: tensor<1024x1024xbf16>) -> tensor<1x1024xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<1x1024xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x1024xf32>) -> tensor<1x1024xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<1x1024xbf16>, tensor<1024x1024xbf16>) outs(%f : tensor<1x1024xf32>) {
    ^bb0(%p: bf16, %q: bf16, %o: f32):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.extf %q : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %o, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<1x1024xf32>
    return %c : tensor<1x1024xf32>
  }
}

// -----

// Changed: A depthwise convolution whose channels lie last: a thread's windows side by side share what they cover, two rows of them rows of
// elements. A row on padding is left out by a branch, an element of a row that may be is not loaded there.
// CHECK-LABEL: gpu.func @windows
// CHECK-SAME: hloom.layouts = {rows = "unrolled", thread = "{{[24]}}x{{[0-9]+}}x2"}
// CHECK: vector.load %arg1[{{.*}}] {alignment = 4 : i64} : memref<800xbf16>, vector<2xbf16>
// CHECK: arith.cmpi ult
// CHECK: scf.if {{.*}} -> (vector<2xf32>
// CHECK: scf.if {{.*}} -> (vector<2xbf16>
// CHECK: vector.load %arg0[{{.*}}] {alignment = 4 : i64} : memref<{{[0-9]+}}xbf16>, vector<2xbf16>
// CHECK: math.fma {{.*}} : vector<2xf32>
// CHECK: vector.store
// CHECK-NOT: tensor.pad
module attributes {hloom.target = {kind = "cuda", cpu = "sm_80", compute_capability = 80 : i64, multiprocessors = 108 : i64}} {
  func.func private @windows(%x: tensor<512x512x32xbf16>, %w: tensor<5x5x32xbf16>) -> tensor<512x512x32xf32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0.0 : f32
    %outside = arith.constant 0.0 : bf16
    %e = tensor.empty() : tensor<512x512x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512x32xf32>) -> tensor<512x512x32xf32>
    %v = tensor.pad %x low[2, 2, 0] high[2, 2, 0] {
    ^bb0(%i: index, %j: index, %k: index):
      tensor.yield %outside : bf16
    } : tensor<512x512x32xbf16> to tensor<516x516x32xbf16>
    %c = linalg.generic {indexing_maps = [affine_map<(y, x, c, i, j) -> (y + i, x + j, c)>, affine_map<(y, x, c, i, j) -> (i, j, c)>, affine_map<(y, x, c, i, j) -> (y, x, c)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%v, %w : tensor<516x516x32xbf16>, tensor<5x5x32xbf16>) outs(%f : tensor<512x512x32xf32>) {
    ^bb0(%p: bf16, %q: bf16, %o: f32):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.extf %q : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %o, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<512x512x32xf32>
    return %c : tensor<512x512x32xf32>
  }
}

// -----

// Changed: Windows of few elements that all features see, and that overlap: an element is loaded for all of a thread's features, and once
// for all windows that cover it. 128 features are left to tensor cores.
// CHECK-LABEL: gpu.func @first_layer
// CHECK-SAME: thread = "1x{{[0-9]+}}x8"
// CHECK: vector.load %arg1[{{.*}}] {alignment = 16 : i64} : memref<864xbf16>, vector<8xbf16>
// CHECK: memref.load %arg0
// CHECK: math.fma {{.*}} : vector<8xf32>
// CHECK-LABEL: gpu.func @many_features
// CHECK: nvgpu.mma.sync
module attributes {hloom.target = {kind = "cuda", cpu = "sm_80", compute_capability = 80 : i64, multiprocessors = 108 : i64}} {
  func.func private @first_layer(%x: tensor<449x449x3xbf16>, %w: tensor<3x3x3x32xbf16>) -> tensor<224x224x32xf32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<224x224x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<224x224x32xf32>) -> tensor<224x224x32xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(y, x, o, i, j, c) -> (y * 2 + i, x * 2 + j, c)>, affine_map<(y, x, o, i, j, c) -> (i, j, c, o)>, affine_map<(y, x, o, i, j, c) -> (y, x, o)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<449x449x3xbf16>, tensor<3x3x3x32xbf16>) outs(%f : tensor<224x224x32xf32>) {
    ^bb0(%p: bf16, %q: bf16, %o: f32):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.extf %q : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %o, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<224x224x32xf32>
    return %c : tensor<224x224x32xf32>
  }
  func.func private @many_features(%x: tensor<449x449x3xbf16>, %w: tensor<3x3x3x128xbf16>) -> tensor<224x224x128xf32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<224x224x128xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<224x224x128xf32>) -> tensor<224x224x128xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(y, x, o, i, j, c) -> (y * 2 + i, x * 2 + j, c)>, affine_map<(y, x, o, i, j, c) -> (i, j, c, o)>, affine_map<(y, x, o, i, j, c) -> (y, x, o)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]} ins(%x, %w : tensor<449x449x3xbf16>, tensor<3x3x3x128xbf16>) outs(%f : tensor<224x224x128xf32>) {
    ^bb0(%p: bf16, %q: bf16, %o: f32):
      %0 = arith.extf %p : bf16 to f32
      %1 = arith.extf %q : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %o, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<224x224x128xf32>
    return %c : tensor<224x224x128xf32>
  }
}

// -----

// Declined: Weights that lie across; the padding becomes an op that tiles read, reshaped as it is.
// CHECK-LABEL: func.func private @padded
// CHECK-NOT: gpu.func
// CHECK-NOT: tensor.pad
// CHECK: %[[P:.*]] = linalg.generic {{.*}} outs({{.*}} : tensor<18x18x32xf32>)
// CHECK: tensor.extract %arg0[{{.*}}] : tensor<1x16x16x32xf32>
// CHECK: arith.select
// CHECK: linalg.generic {{.*}} ins(%[[P]], %arg1
module attributes {hloom.target = {kind = "cuda", cpu = "sm_80", compute_capability = 80 : i64, multiprocessors = 108 : i64}} {
  func.func private @padded(%x: tensor<1x16x16x32xf32>, %w: tensor<32x3x3xf32>) -> tensor<16x16x32xf32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<16x16x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %p = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
    ^bb0(%h: index, %i: index, %j: index, %k: index):
      tensor.yield %zero : f32
    } : tensor<1x16x16x32xf32> to tensor<1x18x18x32xf32>
    %v = tensor.collapse_shape %p [[0, 1], [2], [3]] : tensor<1x18x18x32xf32> into tensor<18x18x32xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(y, x, c, i, j) -> (y + i, x + j, c)>, affine_map<(y, x, c, i, j) -> (c, i, j)>, affine_map<(y, x, c, i, j) -> (y, x, c)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%v, %w : tensor<18x18x32xf32>, tensor<32x3x3xf32>) outs(%f : tensor<16x16x32xf32>) {
    ^bb0(%p0: f32, %q: f32, %o: f32):
      %0 = arith.mulf %p0, %q : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<16x16x32xf32>
    return %c : tensor<16x16x32xf32>
  }
}

// -----

// Declined: A depthwise convolution whose weights lie across: a tile reads several together, through shared memory.
// CHECK-LABEL: func.func private @depthwise
// CHECK-NOT: gpu.func
module attributes {hloom.target = {kind = "cuda", cpu = "sm_80", compute_capability = 80 : i64, multiprocessors = 108 : i64}} {
  func.func private @depthwise(%x: tensor<18x18x32xf32>, %w: tensor<32x3x3xf32>) -> tensor<16x16x32xf32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<16x16x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x16x32xf32>) -> tensor<16x16x32xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(y, x, c, i, j) -> (y + i, x + j, c)>, affine_map<(y, x, c, i, j) -> (c, i, j)>, affine_map<(y, x, c, i, j) -> (y, x, c)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%x, %w : tensor<18x18x32xf32>, tensor<32x3x3xf32>) outs(%f : tensor<16x16x32xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %0 = arith.mulf %p, %q : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<16x16x32xf32>
    return %c : tensor<16x16x32xf32>
  }
}

// -----

// Declined: A sum after the product needs whole rows.
// CHECK-LABEL: func.func private @row_sums
// CHECK-NOT: gpu.func
module attributes {hloom.target = {kind = "cuda", cpu = "sm_80", compute_capability = 80 : i64, multiprocessors = 108 : i64}} {
  func.func private @row_sums(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %0 = arith.mulf %p, %q : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<64x64xf32>
    %e1 = tensor.empty() : tensor<64xf32>
    %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64xf32>) -> tensor<64xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(m, n) -> (m, n)>, affine_map<(m, n) -> (m)>], iterator_types = ["parallel", "reduction"]} ins(%c : tensor<64x64xf32>) outs(%f1 : tensor<64xf32>) {
    ^bb0(%p: f32, %o: f32):
      %0 = arith.addf %o, %p : f32
      linalg.yield %0 : f32
    } -> tensor<64xf32>
    return %s : tensor<64xf32>
  }
}

// -----

// Unchanged: No GPU: nothing to do.
// CHECK-LABEL: func.func private @on_a_cpu
// CHECK: linalg.generic
module {
  func.func private @on_a_cpu(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64x64xf32>, tensor<64x64xf32>) outs(%f : tensor<64x64xf32>) {
    ^bb0(%p: f32, %q: f32, %o: f32):
      %0 = arith.mulf %p, %q : f32
      %1 = arith.addf %o, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<64x64xf32>
    return %c : tensor<64x64xf32>
  }
}
