// RUN: hloom-opt %s --verify-nvvm --split-input-file 2>&1 | filecheck %s

// Unchanged: Nothing to say; what stands beside the kernels is no concern.
// CHECK-NOT: error
// CHECK: func.func private @host
// CHECK: llvm.intr.sqrt
func.func private @host()
gpu.module @kernels {
  llvm.func @right(%x: f32) -> f32 {
    %y = llvm.intr.sqrt(%x) : (f32) -> f32
    llvm.return %y : f32
  }
}
