// RUN: hloom-opt %s --distribute-contractions --canonicalize --split-input-file | filecheck %s

// Changed: bytes that are summed in i32, both contiguous along the inner loop: ldmatrix gives the registers of mma.sync as they are.
// CHECK-LABEL: gpu.func @signed
// CHECK-SAME: accumulators = "[w2@2 r{{[0-9]}} r2 l8@4] [w2 r{{[0-9]}} r2 l4 v2]"
// CHECK: nvgpu.device_async_copy %arg0[{{.*}}], {{.*}}, 16 {bypassL1}
// CHECK: memref.view {{.*}} to memref<{{[0-9]+x[0-9]+}}x32xi32, #gpu.address_space<workgroup>>
// CHECK: nvgpu.ldmatrix {{.*}} {numTiles = 4 : i32, transpose = false} : {{.*}} -> vector<4x1xi32>
// CHECK: nvvm.mma.sync {{.*}} {intOverflowBehavior = #nvvm.mma_int_overflow<wrapped>, {{.*}}, multiplicandAPtxType = #nvvm.mma_type<s8>, multiplicandBPtxType = #nvvm.mma_type<s8>, shape = #nvvm.shape<m = 16, n = 8, k = 32>}
// CHECK-NOT: func.func
module attributes {hloom.target = {kind = "cuda", cpu = "sm_80", compute_capability = 80 : i64, multiprocessors = 108 : i64}} {
  func.func private @signed(%x: tensor<512x512xi8>, %w: tensor<512x512xi8>) -> tensor<512x512xi32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0 : i32
    %e = tensor.empty() : tensor<512x512xi32>
    %f = linalg.fill ins(%zero : i32) outs(%e : tensor<512x512xi32>) -> tensor<512x512xi32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<512x512xi8>, tensor<512x512xi8>) outs(%f : tensor<512x512xi32>) {
    ^bb0(%p: i8, %q: i8, %o: i32):
      %0 = arith.extsi %p : i8 to i32
      %1 = arith.extsi %q : i8 to i32
      %2 = arith.muli %0, %1 : i32
      %3 = arith.addi %o, %2 : i32
      linalg.yield %3 : i32
    } -> tensor<512x512xi32>
    return %c : tensor<512x512xi32>
  }
}

// -----

// Changed: an operand that is contiguous along its columns comes as pairs of neighbours; bytes of two lines each are put together to registers
// of four along the inner loop. A thread has four neighbouring columns. The left operand is not signed.
// CHECK-LABEL: gpu.func @pairs
// CHECK-SAME: accumulators = "[w2@2 r{{[0-9]}} r2 l8@4] [w2 r{{[0-9]}} l4 v4]"
// CHECK: nvgpu.ldmatrix {{.*}} {numTiles = 4 : i32, transpose = false} : {{.*}} -> vector<4x1xi32>
// CHECK: memref.view {{.*}} to memref<{{[0-9]+x[0-9]+x[0-9]+}}xi16, #gpu.address_space<workgroup>>
// CHECK: nvgpu.ldmatrix {{.*}} {numTiles = 4 : i32, transpose = true} : {{.*}} -> vector<4x2xi16>
// CHECK: vector.shuffle {{.*}} [0, 2, 4, 6] : vector<4xi8>, vector<4xi8>
// CHECK: vector.shuffle {{.*}} [1, 3, 5, 7] : vector<4xi8>, vector<4xi8>
// CHECK: nvvm.mma.sync {{.*}} multiplicandAPtxType = #nvvm.mma_type<u8>, multiplicandBPtxType = #nvvm.mma_type<s8>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_80", compute_capability = 80 : i64, multiprocessors = 108 : i64}} {
  func.func private @pairs(%x: tensor<512x512xi8>, %w: tensor<512x512xi8>) -> tensor<512x512xi32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0 : i32
    %e = tensor.empty() : tensor<512x512xi32>
    %f = linalg.fill ins(%zero : i32) outs(%e : tensor<512x512xi32>) -> tensor<512x512xi32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<512x512xi8>, tensor<512x512xi8>) outs(%f : tensor<512x512xi32>) {
    ^bb0(%p: i8, %q: i8, %o: i32):
      %0 = arith.extui %p : i8 to i32
      %1 = arith.extsi %q : i8 to i32
      %2 = arith.muli %0, %1 : i32
      %3 = arith.addi %o, %2 : i32
      linalg.yield %3 : i32
    } -> tensor<512x512xi32>
    return %c : tensor<512x512xi32>
  }
}

// -----

// Declined: bytes that are summed in bytes, and wrap there: multiply-adds.
// CHECK-LABEL: gpu.func @summed_in_bytes
// CHECK-NOT: nvvm.mma.sync
// CHECK: arith.muli {{.*}} : vector<{{[0-9]+}}xi8>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_80", compute_capability = 80 : i64, multiprocessors = 108 : i64}} {
  func.func private @summed_in_bytes(%x: tensor<512x512xi8>, %w: tensor<512x512xi8>) -> tensor<512x512xi8> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0 : i8
    %e = tensor.empty() : tensor<512x512xi8>
    %f = linalg.fill ins(%zero : i8) outs(%e : tensor<512x512xi8>) -> tensor<512x512xi8>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<512x512xi8>, tensor<512x512xi8>) outs(%f : tensor<512x512xi8>) {
    ^bb0(%p: i8, %q: i8, %o: i8):
      %2 = arith.muli %p, %q : i8
      %3 = arith.addi %o, %2 : i8
      linalg.yield %3 : i8
    } -> tensor<512x512xi8>
    return %c : tensor<512x512xi8>
  }
}

// -----

// Changed: floats of 8 bits, of two kinds, are multiplied as the bytes that they are.
// CHECK-LABEL: gpu.func @floats
// CHECK: nvgpu.device_async_copy %arg0[{{.*}}], {{.*}}, 16 {bypassL1} : memref<262144xi8>
// CHECK-NOT: f8E
// CHECK: nvvm.mma.sync {{.*}} multiplicandAPtxType = #nvvm.mma_type<e4m3>, multiplicandBPtxType = #nvvm.mma_type<e5m2>, {{.*}} : (i32, i32, f32)
module attributes {hloom.target = {kind = "cuda", cpu = "sm_89", compute_capability = 89 : i64, multiprocessors = 108 : i64}} {
  func.func private @floats(%x: tensor<512x512xi8>, %w: tensor<512x512xi8>) -> tensor<512x512xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<512x512xi8>, tensor<512x512xi8>) outs(%f : tensor<512x512xf32>) {
    ^bb0(%p: i8, %q: i8, %o: f32):
      %a = arith.bitcast %p : i8 to f8E4M3FN
      %b = arith.bitcast %q : i8 to f8E5M2
      %0 = arith.extf %a : f8E4M3FN to f32
      %1 = arith.extf %b : f8E5M2 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %o, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<512x512xf32>
    return %c : tensor<512x512xf32>
  }
}

// -----

// Declined: few rows are multiplied without tensor cores. The codes are decoded where they are read, by way of f16.
// CHECK-LABEL: gpu.func @few_rows
// CHECK-NOT: nvvm.mma.sync
// CHECK: arith.bitcast {{.*}} : vector<{{[0-9]+}}xi16> to vector<{{[0-9]+}}xf16>
// CHECK-NOT: f8E
module attributes {hloom.target = {kind = "cuda", cpu = "sm_89", compute_capability = 89 : i64, multiprocessors = 108 : i64}} {
  func.func private @few_rows(%x: tensor<4x512xi8>, %w: tensor<512x512xi8>) -> tensor<4x512xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4x512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x512xf32>) -> tensor<4x512xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x512xi8>, tensor<512x512xi8>) outs(%f : tensor<4x512xf32>) {
    ^bb0(%p: i8, %q: i8, %o: f32):
      %a = arith.bitcast %p : i8 to f8E4M3FN
      %b = arith.bitcast %q : i8 to f8E5M2
      %0 = arith.extf %a : f8E4M3FN to f32
      %1 = arith.extf %b : f8E5M2 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %o, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<4x512xf32>
    return %c : tensor<4x512xf32>
  }
}

// -----

// Declined: the same on a target without such tensor cores.
// CHECK-LABEL: gpu.func @before_sm_89
// CHECK-NOT: nvvm.mma.sync
// CHECK: math.fma
module attributes {hloom.target = {kind = "cuda", cpu = "sm_80", compute_capability = 80 : i64, multiprocessors = 108 : i64}} {
  func.func private @before_sm_89(%x: tensor<512x512xi8>, %w: tensor<512x512xi8>) -> tensor<512x512xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (n, k)>, affine_map<(m, n, k) -> (m, n)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<512x512xi8>, tensor<512x512xi8>) outs(%f : tensor<512x512xf32>) {
    ^bb0(%p: i8, %q: i8, %o: f32):
      %a = arith.bitcast %p : i8 to f8E4M3FN
      %b = arith.bitcast %q : i8 to f8E5M2
      %0 = arith.extf %a : f8E4M3FN to f32
      %1 = arith.extf %b : f8E5M2 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %o, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<512x512xf32>
    return %c : tensor<512x512xf32>
  }
}
