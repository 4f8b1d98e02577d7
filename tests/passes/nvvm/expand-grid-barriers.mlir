// RUN: hloom-opt %s --expand-grid-barriers | filecheck %s

// Changed: four blocks arrive by 0x80000000 - 3 and three times 1, and wait for the highest bit to turn.
// CHECK: llvm.mlir.global internal @k_arrived(0 : i32) {addr_space = 1 : i32, alignment = 128 : i64} : i32
// CHECK-LABEL: gpu.func @k
// CHECK: gpu.barrier
// CHECK: %[[THREAD:.*]] = gpu.thread_id x
// CHECK: %[[FIRST:.*]] = arith.cmpi ult, %[[THREAD]], %c1
// CHECK: scf.if %[[FIRST]] {
// CHECK: %[[WORD:.*]] = llvm.mlir.addressof @k_arrived : !llvm.ptr<1>
// CHECK: %[[STEP:.*]] = arith.select %{{.*}}, %c2147483645_i32, %c1_i32 : i32
// CHECK: %[[OLD:.*]] = llvm.inline_asm has_side_effects "atom.acq_rel.gpu.global.add.u32 $0, [$1], $2;", "=r,l,r,~{memory}" %[[WORD]], %[[STEP]]
// CHECK: scf.while : () -> () {
// CHECK: %[[NOW:.*]] = llvm.inline_asm has_side_effects "ld.acquire.gpu.global.u32 $0, [$1];", "=r,l,~{memory}" %[[WORD]]
// CHECK: %[[BITS:.*]] = arith.xori %[[OLD]], %[[NOW]] : i32
// CHECK: %[[SAME:.*]] = arith.cmpi sge, %[[BITS]], %c0_i32
// CHECK: scf.condition(%[[SAME]])
// CHECK: gpu.barrier
// CHECK-NOT: grid.barrier
// Unchanged: a kernel whose blocks do not wait for each other.
// CHECK-LABEL: gpu.func @other
// CHECK-NEXT: gpu.barrier
// CHECK-NEXT: gpu.return
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @k(%x: memref<4xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
      "grid.barrier"() : () -> ()
      gpu.return
    }
    gpu.func @other(%x: memref<4xf32>) kernel attributes {known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
      gpu.barrier
      gpu.return
    }
  }
}
