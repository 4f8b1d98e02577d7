// RUN: hloom-opt %s --split-input-file --load-ahead | filecheck %s

// Changed: the place hangs on a carried integer; four turns ahead. A turn that does not come loads nothing.
// CHECK-LABEL: gpu.func @carried
// CHECK: %[[FIRST:.*]] = scf.if
// CHECK-NEXT: memref.load %arg0
// CHECK: scf.if
// CHECK: scf.if
// CHECK: %[[FOURTH:.*]] = scf.if
// CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args(%[[A:.*]] = %{{.*}}, %[[N:.*]] = %{{.*}}, %[[LATER:.*]] = %{{.*}}, %[[X0:.*]] = %[[FIRST]], %[[X1:.*]] = %{{.*}}, %[[X2:.*]] = %{{.*}}, %[[X3:.*]] = %[[FOURTH]]) -> (f32, i32, i32, f32, f32, f32, f32)
// CHECK: arith.index_cast %[[LATER]]
// CHECK: %[[COMES:.*]] = arith.cmpi slt
// CHECK: %[[NEXT:.*]] = scf.if %[[COMES]]
// CHECK-NEXT: memref.load %arg0
// CHECK: scf.yield %[[X0]]
// CHECK: arith.mulf %[[X0]], %[[A]]
// CHECK: scf.yield %{{.*}}, %{{.*}}, %{{.*}}, %[[X1]], %[[X2]], %[[X3]], %[[NEXT]]
module attributes {gpu.container_module, hloom.target = {kind = "cuda", multiprocessors = 132 : i64}} {
  gpu.module @kernels {
    gpu.func @carried(%x: memref<64000xf32> {llvm.noalias, llvm.readonly}, %r: memref<64xf32> {llvm.noalias}) kernel
        attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c64 = arith.constant 64 : index
      %c1000 = arith.constant 1000 : index
      %n0 = arith.constant 0 : i32
      %n1 = arith.constant 1 : i32
      %a0 = arith.constant 0.0 : f32
      %t = gpu.thread_id x
      %0:2 = scf.for %i = %c0 to %c1000 step %c1 iter_args(%a = %a0, %n = %n0) -> (f32, i32) {
        %1 = arith.index_cast %n : i32 to index
        %2 = arith.muli %1, %c64 : index
        %3 = arith.addi %2, %t : index
        %4 = memref.load %x[%3] : memref<64000xf32>
        %5 = arith.mulf %4, %a : f32
        %6 = math.cos %5 : f32
        %7 = arith.addf %6, %4 : f32
        %8 = arith.divf %7, %a : f32
        %9 = arith.addi %n, %n1 : i32
        scf.yield %8, %9 : f32, i32
      }
      memref.store %0#0, %r[%t] : memref<64xf32>
      gpu.return
    }
  }
}

// -----

// Declined: what is loaded tells where to load next; the buffer is written; many threads hide latencies for each other.
// Unchanged: a reduction, which has few ops for a load.
// CHECK-LABEL: gpu.func @chases
// CHECK-NOT: scf.if
// CHECK-LABEL: gpu.func @written
// CHECK-NOT: scf.if
// CHECK-LABEL: gpu.func @sum
// CHECK-NOT: scf.if
// CHECK-LABEL: gpu.func @wide
// CHECK-NOT: scf.if
module attributes {gpu.container_module, hloom.target = {kind = "cuda", multiprocessors = 132 : i64}} {
  gpu.module @kernels {
    gpu.func @chases(%x: memref<64xi32> {llvm.noalias, llvm.readonly}, %r: memref<64xi32> {llvm.noalias}) kernel
        attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c9 = arith.constant 9 : index
      %n0 = arith.constant 0 : i32
      %t = gpu.thread_id x
      %0 = scf.for %i = %c0 to %c9 step %c1 iter_args(%n = %n0) -> (i32) {
        %1 = arith.index_cast %n : i32 to index
        %2 = memref.load %x[%1] : memref<64xi32>
        %3 = arith.addi %2, %2 : i32
        %4 = arith.muli %3, %2 : i32
        %5 = arith.muli %4, %2 : i32
        %6 = arith.muli %5, %2 : i32
        %7 = arith.andi %6, %n : i32
        scf.yield %7 : i32
      }
      memref.store %0, %r[%t] : memref<64xi32>
      gpu.return
    }
    gpu.func @written(%x: memref<64xf32>, %r: memref<64xf32>) kernel
        attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c9 = arith.constant 9 : index
      %a0 = arith.constant 0.0 : f32
      %t = gpu.thread_id x
      %0 = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %a0) -> (f32) {
        %1 = memref.load %x[%i] : memref<64xf32>
        %2 = arith.mulf %1, %a : f32
        %3 = math.cos %2 : f32
        %4 = arith.addf %3, %1 : f32
        %5 = arith.divf %4, %a : f32
        %6 = math.sin %5 : f32
        memref.store %6, %x[%t] : memref<64xf32>
        scf.yield %6 : f32
      }
      memref.store %0, %r[%t] : memref<64xf32>
      gpu.return
    }
    gpu.func @sum(%x: memref<64xf32> {llvm.noalias, llvm.readonly}, %r: memref<64xf32> {llvm.noalias}) kernel
        attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c9 = arith.constant 9 : index
      %a0 = arith.constant 0.0 : f32
      %t = gpu.thread_id x
      %0 = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %a0) -> (f32) {
        %1 = memref.load %x[%i] : memref<64xf32>
        %2 = arith.addf %1, %a : f32
        scf.yield %2 : f32
      }
      memref.store %0, %r[%t] : memref<64xf32>
      gpu.return
    }
    gpu.func @wide(%x: memref<64xf32> {llvm.noalias, llvm.readonly}, %r: memref<64xf32> {llvm.noalias}) kernel
        attributes {known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 9000, 1, 1>} {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c9 = arith.constant 9 : index
      %a0 = arith.constant 0.0 : f32
      %t = gpu.thread_id x
      %0 = scf.for %i = %c0 to %c9 step %c1 iter_args(%a = %a0) -> (f32) {
        %1 = memref.load %x[%i] : memref<64xf32>
        %2 = arith.mulf %1, %a : f32
        %3 = math.cos %2 : f32
        %4 = arith.addf %3, %1 : f32
        %5 = arith.divf %4, %a : f32
        %6 = math.sin %5 : f32
        %7 = math.sin %6 : f32
        scf.yield %7 : f32
      }
      memref.store %0, %r[%t] : memref<64xf32>
      gpu.return
    }
  }
}
