// RUN: hloom-opt %s --external-shared-memory | filecheck %s

gpu.module @kernels {
  // Changed: A symbol of no size.
  // CHECK: llvm.mlir.global external @dynamic() {addr_space = 3 : i32, alignment = 1024 : i64{{.*}}} : !llvm.array<0 x i8>
  llvm.mlir.global internal @dynamic() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
  // Declined: Of a size, or elsewhere.
  // CHECK: llvm.mlir.global internal @static() {addr_space = 3 : i32, alignment = 16 : i64{{.*}}} : !llvm.array<64 x i8>
  llvm.mlir.global internal @static() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<64 x i8>
  // CHECK: llvm.mlir.global internal @elsewhere() {{{.*}}addr_space = 1 : i32{{.*}}} : !llvm.array<0 x i8>
  llvm.mlir.global internal @elsewhere() {addr_space = 1 : i32} : !llvm.array<0 x i8>
}

// Unchanged: No shared memory.
// CHECK: gpu.module @others {
// CHECK-NEXT: llvm.func @k()
gpu.module @others {
  llvm.func @k()
}
