// RUN: not hloom-opt %s --verify-nvvm --split-input-file 2>&1 | filecheck %s

// Declined: An intrinsic without code, an op of another dialect, a cast that is left.
// CHECK: NVPTX has no code for llvm.intr.exp
// CHECK: op: llvm.intr.exp
// CHECK: at: loc({{.*}}:12:
// CHECK: arith.addf is left, an op of neither the LLVM nor the NVVM dialect
// CHECK: builtin.unrealized_conversion_cast is left

gpu.module @intrinsic {
  llvm.func @k(%x: f32) -> f32 {
    %y = llvm.intr.exp(%x) : (f32) -> f32
    llvm.return %y : f32
  }
}

// -----

gpu.module @unconverted {
  llvm.func @k(%x: f32) -> f32 {
    %z = builtin.unrealized_conversion_cast %x : f32 to f16
    %y = arith.addf %x, %x : f32
    llvm.return %y : f32
  }
}

// -----

gpu.module @cast {
  llvm.func @k(%x: i64) {
    %y = builtin.unrealized_conversion_cast %x : i64 to index
    llvm.return
  }
}
