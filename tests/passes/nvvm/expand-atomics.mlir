// RUN: hloom-opt %s --allow-unregistered-dialect --expand-atomics | filecheck %s

gpu.module @kernels {
  // Changed: Compare and swap until nobody was faster.
  // CHECK-LABEL: gpu.func @product
  // CHECK: %[[OLD:.*]] = memref.generic_atomic_rmw %{{.*}}[%{{.*}}] : memref<64xf32> {
  // CHECK-NEXT: ^bb0(%[[NOW:.*]]: f32):
  // CHECK-NEXT: %[[NEW:.*]] = arith.mulf %[[NOW]], %{{.*}} : f32
  // CHECK-NEXT: memref.atomic_yield %[[NEW]] : f32
  // CHECK: "test.use"(%[[OLD]])
  gpu.func @product(%v: f32, %m: memref<64xf32>, %i: index) {
    %old = memref.atomic_rmw mulf %v, %m[%i] : (f32, memref<64xf32>) -> f32
    "test.use"(%old) : (f32) -> ()
    gpu.return
  }

  // CHECK-LABEL: gpu.func @integers
  // CHECK: arith.muli %{{.*}} : i64
  gpu.func @integers(%v: i64, %m: memref<64xi64>, %i: index) {
    %old = memref.atomic_rmw muli %v, %m[%i] : (i64, memref<64xi64>) -> i64
    gpu.return
  }

  // Declined: A sum: upstream lowers it.
  // CHECK-LABEL: gpu.func @sum
  // CHECK-NEXT: memref.atomic_rmw addf
  gpu.func @sum(%v: f32, %m: memref<64xf32>, %i: index) {
    %old = memref.atomic_rmw addf %v, %m[%i] : (f32, memref<64xf32>) -> f32
    gpu.return
  }

  // Unchanged: No atomic.
  // CHECK-LABEL: gpu.func @plain
  // CHECK-NEXT: memref.store
  // CHECK-NEXT: gpu.return
  gpu.func @plain(%v: f32, %m: memref<64xf32>, %i: index) {
    memref.store %v, %m[%i] : memref<64xf32>
    gpu.return
  }
}
