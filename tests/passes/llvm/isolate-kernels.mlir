// RUN: hloom-opt %s --isolate-kernels --split-input-file | filecheck %s

// Changed: The kernel, its constant and what it calls go to a module of their own.
// Declined: The host's functions and constants.
// CHECK-LABEL: memref.global "private" constant @table
// CHECK: func.func @host
// CHECK: module @kernels {
// CHECK-NEXT: memref.global "private" constant @scaled_constant_0
// CHECK-NEXT: func.func private @hloom_helper()
// CHECK-NEXT: func.func private @scaled_body(%{{[^:]*}}: index, %{{[^:]*}}: index, %{{[^:]*}}: memref<8xf32> {llvm.noalias}, %{{[^:]*}}: memref<8xf32> {llvm.noalias}) attributes {hloom.tiles = 4 : i64} {
memref.global "private" constant @table : memref<2xf32> = dense<[1.0, 2.0]>
memref.global "private" constant @scaled_constant_0 : memref<2xf32> = dense<[0.0, 1.0]>
func.func private @hloom_helper()
func.func private @scaled(%lo: index, %hi: index, %x: memref<8xf32>, %o: memref<8xf32>) attributes {hloom.inputs = 1 : i64, hloom.kind = "loop", hloom.tiles = 4 : i64} {
  %k = memref.get_global @scaled_constant_0 : memref<2xf32>
  call @hloom_helper() : () -> ()
  return
}
func.func @host() {
  %0 = memref.get_global @table : memref<2xf32>
  return
}

// -----

// Changed: An input that shares its buffer with a result is not noalias, and neither is that result; the other input is.
// CHECK-LABEL: func.func private @inplace_body(
// CHECK-SAME: %{{[^:]*}}: index, %{{[^:]*}}: index, %{{[^:]*}}: memref<8xf32> {llvm.noalias}, %{{[^:]*}}: memref<8xf32>, %{{[^:]*}}: memref<8xf32>)
func.func private @inplace(%lo: index, %hi: index, %x: memref<8xf32>, %y: memref<8xf32>, %o: memref<8xf32>) attributes {hloom.inputs = 2 : i64, hloom.inplace = array<i64: 1, 0>, hloom.tiles = 1 : i64} {
  return
}

// -----

// Unchanged: Without hloom.tiles a function is no kernel.
// CHECK-LABEL: module {
// CHECK-NEXT: func.func @host(%arg0: memref<8xf32>)
// CHECK-NOT: module
func.func @host(%x: memref<8xf32>) {
  return
}
