// RUN: hloom-opt %s --approximate-powers | filecheck %s

gpu.module @kernels {
  // Changed: An approximation is allowed, and the hardware has it.
  // CHECK-LABEL: gpu.func @fast
  // CHECK: %[[P:.*]] = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%{{.*}}) : (f32) -> f32
  // CHECK-NOT: math.exp2
  // CHECK: memref.store %[[P]]
  gpu.func @fast(%v: f32, %m: memref<1xf32>) {
    %i = arith.constant 0 : index
    %p = math.exp2 %v fastmath<afn> : f32
    memref.store %p, %m[%i] : memref<1xf32>
    gpu.return
  }

  // Changed: Of vectors each element; powers of e.
  // CHECK-LABEL: gpu.func @more
  // CHECK-COUNT-2: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"
  // CHECK: vector.from_elements
  // CHECK: %[[X:.*]] = arith.mulf %{{.*}}, %{{.*}} : f32
  // CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%[[X]])
  // CHECK-NOT: math.exp
  gpu.func @more(%u: vector<2xf32>, %v: f32, %m: memref<1xvector<2xf32>>, %n: memref<1xf32>) {
    %i = arith.constant 0 : index
    %p = math.exp2 %u fastmath<afn> : vector<2xf32>
    memref.store %p, %m[%i] : memref<1xvector<2xf32>>
    %e = math.exp %v fastmath<afn> : f32
    memref.store %e, %n[%i] : memref<1xf32>
    gpu.return
  }

  // Changed: Reciprocals.
  // CHECK-LABEL: gpu.func @reciprocals
  // CHECK-COUNT-3: llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"
  // CHECK-NOT: arith.divf
  gpu.func @reciprocals(%u: vector<2xf32>, %v: f32, %m: memref<1xvector<2xf32>>, %n: memref<1xf32>) {
    %i = arith.constant 0 : index
    %ones = arith.constant dense<1.0> : vector<2xf32>
    %one = arith.constant 1.0 : f32
    %p = arith.divf %ones, %u fastmath<afn> : vector<2xf32>
    memref.store %p, %m[%i] : memref<1xvector<2xf32>>
    %q = arith.divf %one, %v fastmath<afn> : f32
    memref.store %q, %n[%i] : memref<1xf32>
    gpu.return
  }

  // Declined: Another dividend; exact; another type.
  // CHECK-LABEL: gpu.func @quotients
  // CHECK-COUNT-3: arith.divf
  gpu.func @quotients(%v: f32, %w: f64, %n: memref<1xf32>, %m: memref<1xf64>) {
    %i = arith.constant 0 : index
    %two = arith.constant 2.0 : f32
    %one = arith.constant 1.0 : f32
    %wide = arith.constant 1.0 : f64
    %p = arith.divf %two, %v fastmath<afn> : f32
    memref.store %p, %n[%i] : memref<1xf32>
    %q = arith.divf %one, %v : f32
    memref.store %q, %n[%i] : memref<1xf32>
    %r = arith.divf %wide, %w fastmath<afn> : f64
    memref.store %r, %m[%i] : memref<1xf64>
    gpu.return
  }

  // Declined: Exact, of another type.
  // CHECK-LABEL: gpu.func @exact
  // CHECK: math.exp2 %{{.*}} : f32
  // CHECK: math.exp2 %{{.*}} fastmath<afn> : f64
  // CHECK: math.exp %{{.*}} : f32
  gpu.func @exact(%v: f32, %w: f64, %m: memref<1xf32>, %n: memref<1xf64>) {
    %i = arith.constant 0 : index
    %p = math.exp2 %v : f32
    %q = math.exp2 %w fastmath<afn> : f64
    %r = math.exp %v : f32
    memref.store %p, %m[%i] : memref<1xf32>
    memref.store %q, %n[%i] : memref<1xf64>
    memref.store %r, %m[%i] : memref<1xf32>
    gpu.return
  }
}

// Unchanged: No power.
// CHECK-LABEL: gpu.module @others
// CHECK-NEXT: gpu.func @none(%arg0: f32) {
// CHECK-NEXT: gpu.return
gpu.module @others {
  gpu.func @none(%v: f32) {
    gpu.return
  }
}
