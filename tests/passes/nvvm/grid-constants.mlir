// RUN: hloom-opt %s --grid-constants | filecheck %s

gpu.module @kernels {
  // Changed: What TMA takes for a tensor map is a parameter by value; the others keep what they have.
  // CHECK: llvm.func @with_a_map(%arg0: !llvm.ptr {llvm.noalias}, %arg1: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant})
  llvm.func @with_a_map(%out: !llvm.ptr {llvm.noalias}, %map: !llvm.ptr) attributes {nvvm.kernel} {
    %target = llvm.mlir.zero : !llvm.ptr<7>
    %barrier = llvm.mlir.zero : !llvm.ptr<3>
    %c0 = llvm.mlir.constant(0 : i32) : i32
    nvvm.cp.async.bulk.tensor.shared.cluster.global %target, %map, %barrier, box[%c0, %c0] : !llvm.ptr<7>, !llvm.ptr
    llvm.return
  }
  // Declined: A kernel without TMA.
  // CHECK: llvm.func @without(%arg0: !llvm.ptr) attributes {nvvm.kernel}
  llvm.func @without(%out: !llvm.ptr) attributes {nvvm.kernel} {
    llvm.return
  }
}

// Unchanged: No kernel.
// CHECK: gpu.module @others {
// CHECK-NEXT: llvm.func @helper(!llvm.ptr)
gpu.module @others {
  llvm.func @helper(!llvm.ptr)
}
