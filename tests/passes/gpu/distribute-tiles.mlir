// RUN: hloom-opt %s --split-input-file --distribute-tiles | filecheck %s

// Changed: Elementwise: a thread reads, computes and writes 16 bytes; the bias is read by its column alone.
// CHECK: gpu.module @kernels
// CHECK-LABEL: gpu.func @bias_exp(%{{.*}}: memref<4096xf32> {llvm.noalias, llvm.readonly}, %{{.*}}: memref<64xf32> {llvm.noalias, llvm.readonly}, %{{.*}}: memref<4096xf32> {llvm.noalias}) kernel
// CHECK-SAME: hloom.layouts = {result_0 = "[w8 l2@16] [l16 v4]"}
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 4, 1, 1>
// CHECK-DAG: %[[X:.*]] = vector.load %{{.*}} {alignment = 16 : i64} : memref<4096xf32>, vector<4xf32>
// CHECK-DAG: %[[B:.*]] = vector.load %{{.*}} {alignment = 16 : i64} : memref<64xf32>, vector<4xf32>
// CHECK: %[[S:.*]] = arith.addf %[[X]], %[[B]] : vector<4xf32>
// CHECK: %[[E:.*]] = math.exp %[[S]] : vector<4xf32>
// CHECK: vector.store %[[E]], %{{.*}} {alignment = 16 : i64} : memref<4096xf32>, vector<4xf32>
// CHECK-NEXT: gpu.return
// CHECK-NOT: func.func
#id = affine_map<(d0, d1) -> (d0, d1)>
#col = affine_map<(d0, d1) -> (d1)>
module {
  func.func private @bias_exp(%x: tensor<64x64xf32>, %b: tensor<64xf32>) -> tensor<64x64xf32> attributes {hloom.kind = "loop"} {
    %e = tensor.empty() : tensor<64x64xf32>
    %r = scf.forall (%i) = (0) to (64) step (16) shared_outs(%o = %e) -> (tensor<64x64xf32>) {
      %t = tensor.extract_slice %x[%i, 0] [16, 64] [1, 1] : tensor<64x64xf32> to tensor<16x64xf32>
      %d = tensor.extract_slice %o[%i, 0] [16, 64] [1, 1] : tensor<64x64xf32> to tensor<16x64xf32>
      %y = linalg.generic {indexing_maps = [#id, #col, #id], iterator_types = ["parallel", "parallel"]}
          ins(%t, %b : tensor<16x64xf32>, tensor<64xf32>) outs(%d : tensor<16x64xf32>) {
      ^bb0(%in: f32, %bias: f32, %out: f32):
        %s = arith.addf %in, %bias : f32
        %v = math.exp %s : f32
        linalg.yield %v : f32
      } -> tensor<16x64xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %y into %o[%i, 0] [16, 64] [1, 1] : tensor<16x64xf32> into tensor<64x64xf32>
      }
    }
    return %r : tensor<64x64xf32>
  }
}

// -----

// Rows: a row a warp is read once; its sum is made by registers, vector places and five shuffles, and used where it is.
// CHECK-LABEL: gpu.func @normalize
// CHECK-SAME: reduction_0 = "[w4] [r8 l32 v4]", result_0 = "[w4] [r8 l32 v4]"
// CHECK-SAME: hloom.shared_bytes = 0
// CHECK-COUNT-8: vector.load %{{.*}} {alignment = 16 : i64}
// CHECK-NOT: vector.load
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK-NOT: gpu.barrier
// CHECK-COUNT-8: arith.divf %{{.*}} : vector<4xf32>
// CHECK-NOT: arith.divf
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
module {
  func.func private @normalize(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> attributes {hloom.kind = "multi_reduce"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<4096x1024xf32>
    %r = scf.forall (%i) = (0) to (4096) step (4) shared_outs(%o = %e) -> (tensor<4096x1024xf32>) {
      %t = tensor.extract_slice %x[%i, 0] [4, 1024] [1, 1] : tensor<4096x1024xf32> to tensor<4x1024xf32>
      %se = tensor.empty() : tensor<4xf32>
      %f = linalg.fill ins(%zero : f32) outs(%se : tensor<4xf32>) -> tensor<4xf32>
      %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]}
          ins(%t : tensor<4x1024xf32>) outs(%f : tensor<4xf32>) {
      ^bb0(%in: f32, %acc: f32):
        %a = arith.addf %acc, %in : f32
        linalg.yield %a : f32
      } -> tensor<4xf32>
      %d = tensor.extract_slice %o[%i, 0] [4, 1024] [1, 1] : tensor<4096x1024xf32> to tensor<4x1024xf32>
      %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}
          ins(%t, %s : tensor<4x1024xf32>, tensor<4xf32>) outs(%d : tensor<4x1024xf32>) {
      ^bb0(%in: f32, %sum: f32, %out: f32):
        %v = arith.divf %in, %sum : f32
        linalg.yield %v : f32
      } -> tensor<4x1024xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %y into %o[%i, 0] [4, 1024] [1, 1] : tensor<4x1024xf32> into tensor<4096x1024xf32>
      }
    }
    return %r : tensor<4096x1024xf32>
  }
}

// -----

// Columns of 32: the warps share a column, and combine through shared memory. The attribute says how many threads.
// CHECK-LABEL: gpu.func @column_sums({{.*}}) workgroup(%{{.*}} : memref<256xf32, #gpu.address_space<workgroup>>) kernel
// CHECK-SAME: reduction_0 = "[r2 w8 l4@8] [l8 v4]", result_0 = "[l8 v4]"
// CHECK-SAME: hloom.shared_bytes = 0
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>
// CHECK: gpu.shuffle xor
// CHECK: gpu.barrier
// CHECK: vector.store %{{.*}} : memref<64xf32>, vector<4xf32>
#ij = affine_map<(d0, d1) -> (d0, d1)>
#j = affine_map<(d0, d1) -> (d1)>
module {
  func.func private @column_sums(%x: tensor<64x64xf32>) -> tensor<64xf32> attributes {hloom.kind = "reduce", hloom.threads = 256 : i64} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64xf32>
    %r = scf.forall (%i) = (0) to (64) step (32) shared_outs(%o = %e) -> (tensor<64xf32>) {
      %t = tensor.extract_slice %x[0, %i] [64, 32] [1, 1] : tensor<64x64xf32> to tensor<64x32xf32>
      %d = tensor.extract_slice %o[%i] [32] [1] : tensor<64xf32> to tensor<32xf32>
      %f = linalg.fill ins(%zero : f32) outs(%d : tensor<32xf32>) -> tensor<32xf32>
      %s = linalg.generic {indexing_maps = [#ij, #j], iterator_types = ["reduction", "parallel"]}
          ins(%t : tensor<64x32xf32>) outs(%f : tensor<32xf32>) {
      ^bb0(%in: f32, %acc: f32):
        %a = arith.addf %acc, %in : f32
        linalg.yield %a : f32
      } -> tensor<32xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %s into %o[%i] [32] [1] : tensor<32xf32> into tensor<64xf32>
      }
    }
    return %r : tensor<64xf32>
  }
}

// -----

// A transpose: the tile is read along its memory into padded shared memory, and written along the result's.
// CHECK-LABEL: gpu.func @transpose({{.*}}) workgroup(%{{.*}} : memref<1056xf32, #gpu.address_space<workgroup>>) kernel
// CHECK: vector.load %{{.*}} {alignment = 16 : i64} : memref<6144xf32>, vector<4xf32>
// CHECK-COUNT-4: memref.store %{{.*}} : memref<1056xf32
// CHECK: gpu.barrier
// CHECK-COUNT-4: memref.load %{{.*}} : memref<1056xf32
// CHECK: vector.store %{{.*}} {alignment = 16 : i64} : memref<6144xf32>, vector<4xf32>
#ij = affine_map<(d0, d1) -> (d0, d1)>
#ji = affine_map<(d0, d1) -> (d1, d0)>
module {
  func.func private @transpose(%x: tensor<64x96xf32>) -> tensor<96x64xf32> attributes {hloom.kind = "transpose"} {
    %e = tensor.empty() : tensor<96x64xf32>
    %r = scf.forall (%i, %j) = (0, 0) to (96, 64) step (32, 32) shared_outs(%o = %e) -> (tensor<96x64xf32>) {
      %t = tensor.extract_slice %x[%j, %i] [32, 32] [1, 1] : tensor<64x96xf32> to tensor<32x32xf32>
      %d = tensor.extract_slice %o[%i, %j] [32, 32] [1, 1] : tensor<96x64xf32> to tensor<32x32xf32>
      %y = linalg.generic {indexing_maps = [#ji, #ij], iterator_types = ["parallel", "parallel"]}
          ins(%t : tensor<32x32xf32>) outs(%d : tensor<32x32xf32>) {
      ^bb0(%in: f32, %out: f32):
        linalg.yield %in : f32
      } -> tensor<32x32xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %y into %o[%i, %j] [32, 32] [1, 1] : tensor<32x32xf32> into tensor<96x64xf32>
      }
    }
    return %r : tensor<96x64xf32>
  }
}

// -----

// In place: the buffer that two arguments share is neither noalias nor readonly. The last tile is cut: what lies beyond is not touched.
// CHECK-LABEL: gpu.func @add_one(%arg0: memref<100xi32>, %arg1: memref<100xi32>) kernel
// CHECK: arith.minsi
// CHECK: %[[IN:.*]] = arith.cmpi slt
// CHECK: scf.if %[[IN]] {
// CHECK: vector.load %arg0
// CHECK: arith.addi %{{.*}} : vector<2xi32>
// CHECK: vector.store %{{.*}}, %arg1
#i = affine_map<(d0) -> (d0)>
#left = affine_map<(d0) -> (100 - d0, 64)>
module {
  func.func private @add_one(%x: tensor<100xi32>) -> tensor<100xi32> attributes {hloom.kind = "loop", hloom.inplace = array<i64: 0, 0>, hloom.threads = 32 : i64} {
    %one = arith.constant 1 : i32
    %e = tensor.empty() : tensor<100xi32>
    %r = scf.forall (%i) = (0) to (100) step (64) shared_outs(%o = %e) -> (tensor<100xi32>) {
      %n = affine.min #left(%i)
      %t = tensor.extract_slice %x[%i] [%n] [1] : tensor<100xi32> to tensor<?xi32>
      %d = tensor.extract_slice %o[%i] [%n] [1] : tensor<100xi32> to tensor<?xi32>
      %y = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel"]} ins(%t : tensor<?xi32>) outs(%d : tensor<?xi32>) {
      ^bb0(%in: i32, %out: i32):
        %v = arith.addi %in, %one : i32
        linalg.yield %v : i32
      } -> tensor<?xi32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %y into %o[%i] [%n] [1] : tensor<?xi32> into tensor<100xi32>
      }
    }
    return %r : tensor<100xi32>
  }
}

// -----

// A scan: a register's elements in turn, lanes by shuffles, warps through shared memory; what is computed of the sums is computed where they are.
// CHECK-LABEL: gpu.func @sums(
// CHECK-SAME: result_0 = "[] [w2 r2 l32 v4]", scan_0 = "[] [w2 r2 l32 v4]"
// CHECK-COUNT-2: vector.load %arg0
// CHECK: gpu.shuffle  up
// CHECK: arith.select
// CHECK: gpu.shuffle  idx
// CHECK: gpu.barrier
// CHECK: memref.load %arg2[%c0]
// CHECK: arith.negf
// CHECK-COUNT-2: vector.store %{{.*}}, %arg1
// CHECK-NOT: gpu.barrier
#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
module {
  func.func private @sums(%x: tensor<8x512xf32>) -> tensor<8x512xf32> attributes {hloom.kind = "multi_reduce", hloom.threads = 64 : i64} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8x512xf32>
    %r = scf.forall (%i) in (8) shared_outs(%o = %e) -> (tensor<8x512xf32>) {
      %f = tensor.empty() : tensor<1xf32>
      %start = linalg.fill ins(%zero : f32) outs(%f : tensor<1xf32>) -> tensor<1xf32>
      %t = tensor.extract_slice %x[%i, 0] [1, 512] [1, 1] : tensor<8x512xf32> to tensor<1x512xf32>
      %d = tensor.extract_slice %o[%i, 0] [1, 512] [1, 1] : tensor<8x512xf32> to tensor<1x512xf32>
      %n = tensor.empty() : tensor<1x512xf32>
      %s:2 = linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "reduction"]}
          ins(%t : tensor<1x512xf32>) outs(%start, %n : tensor<1xf32>, tensor<1x512xf32>) {
      ^bb0(%in: f32, %total: f32, %out: f32):
        %v = arith.addf %total, %in : f32
        linalg.yield %v, %v : f32, f32
      } -> (tensor<1xf32>, tensor<1x512xf32>)
      %y = linalg.generic {indexing_maps = [#rows, #rows], iterator_types = ["parallel", "parallel"]}
          ins(%s#1 : tensor<1x512xf32>) outs(%d : tensor<1x512xf32>) {
      ^bb0(%in: f32, %out: f32):
        %v = arith.negf %in : f32
        linalg.yield %v : f32
      } -> tensor<1x512xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %y into %o[%i, 0] [1, 512] [1, 1] : tensor<1x512xf32> into tensor<8x512xf32>
      }
    }
    return %r : tensor<8x512xf32>
  }
}

// -----

// A row by its sum: a product with the reciprocal, corrected to the quotient; where that could leave the normal numbers, a division.
// CHECK-LABEL: gpu.func @quotients
// CHECK: %[[ONE:.*]] = arith.divf %{{.*}}, %[[SUM:.*]] : f32
// CHECK: arith.mulf
// CHECK: math.fma
// CHECK: %[[Q:.*]] = math.fma
// CHECK: scf.if
// CHECK-NEXT: scf.yield %[[Q]]
// CHECK: arith.divf %{{.*}} : vector<4xf32>
// CHECK: {hloom.likely}
#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
module attributes {hloom.target = {kind = "cuda"}} {
  func.func private @quotients(%x: tensor<8x128xf32>, %y: tensor<8xf32>) -> tensor<8x128xf32> attributes {hloom.kind = "loop", hloom.threads = 32 : i64} {
    %e = tensor.empty() : tensor<8x128xf32>
    %r = scf.forall (%i) in (8) shared_outs(%o = %e) -> (tensor<8x128xf32>) {
      %t = tensor.extract_slice %x[%i, 0] [1, 128] [1, 1] : tensor<8x128xf32> to tensor<1x128xf32>
      %s = tensor.extract_slice %y[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
      %d = tensor.extract_slice %o[%i, 0] [1, 128] [1, 1] : tensor<8x128xf32> to tensor<1x128xf32>
      %q = linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]}
          ins(%t, %s : tensor<1x128xf32>, tensor<1xf32>) outs(%d : tensor<1x128xf32>) {
      ^bb0(%a: f32, %b: f32, %out: f32):
        %v = arith.divf %a, %b : f32
        linalg.yield %v : f32
      } -> tensor<1x128xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %q into %o[%i, 0] [1, 128] [1, 1] : tensor<1x128xf32> into tensor<8x128xf32>
      }
    }
    return %r : tensor<8x128xf32>
  }
}

// -----

// Rows of several blocks a multiprocessor, of 32 elements a thread: registers are left for 1024 threads.
// CHECK-LABEL: gpu.func @many_rows
// CHECK-SAME: nvvm.minctasm = 32 : i32
#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
module attributes {hloom.target = {kind = "cuda", multiprocessors = 2 : i64}} {
  func.func private @many_rows(%x: tensor<8x1024xf32>) -> tensor<8xf32> attributes {hloom.kind = "reduce", hloom.threads = 32 : i64} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8xf32>
    %r = scf.forall (%i) in (8) shared_outs(%o = %e) -> (tensor<8xf32>) {
      %t = tensor.extract_slice %x[%i, 0] [1, 1024] [1, 1] : tensor<8x1024xf32> to tensor<1x1024xf32>
      %d = tensor.extract_slice %o[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
      %f = linalg.fill ins(%zero : f32) outs(%d : tensor<1xf32>) -> tensor<1xf32>
      %s = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]}
          ins(%t : tensor<1x1024xf32>) outs(%f : tensor<1xf32>) {
      ^bb0(%in: f32, %total: f32):
        %v = arith.addf %total, %in : f32
        linalg.yield %v : f32
      } -> tensor<1xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
      }
    }
    return %r : tensor<8xf32>
  }
}

// -----

// Declined: Library groups.
// Unchanged: Functions without a tile loop.
// CHECK-LABEL: func.func private @library
// CHECK: func.func private @untiled
// CHECK-NOT: gpu.module
module {
  func.func private @library(%x: tensor<4xf32>) -> tensor<4xf32> attributes {hloom.kind = "library", hloom.library = "gemm"} {
    return %x : tensor<4xf32>
  }
  func.func private @untiled(%x: tensor<4xf32>) -> tensor<4xf32> attributes {hloom.kind = "loop"} {
    return %x : tensor<4xf32>
  }
}
