// RUN: hloom-opt %s --divide-inline | filecheck %s

gpu.module @kernels {
  // Changed: Nothing is known of the numbers.
  // CHECK-LABEL: gpu.func @general
  // CHECK: %[[FAR:.*]] = arith.cmpf ogt
  // CHECK: arith.select %[[FAR]]
  // CHECK: %[[NEAR:.*]] = arith.cmpf olt
  // CHECK: %[[Y:.*]] = arith.select %[[NEAR]]
  // CHECK: llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"
  // CHECK: math.fma
  // CHECK: math.fma
  // CHECK: arith.cmpf ord
  // CHECK: arith.cmpf une
  // CHECK-NOT: arith.divf
  gpu.func @general(%a: f32, %b: f32, %m: memref<1xf32>) {
    nvvm.wgmma.fence.aligned
    %i = arith.constant 0 : index
    %q = arith.divf %a, %b : f32
    memref.store %q, %m[%i] : memref<1xf32>
    gpu.return
  }

  // Changed: 1 / (1 + exp(x)), whose divisor is from 1 on.
  // CHECK-LABEL: gpu.func @sigmoid
  // CHECK: arith.cmpf ogt
  // CHECK-NOT: arith.cmpf olt
  // CHECK: llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"
  // CHECK: arith.cmpf ord
  // CHECK-NOT: arith.cmpf une
  gpu.func @sigmoid(%x: f32, %m: memref<1xf32>) {
    nvvm.wgmma.fence.aligned
    %i = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %e = math.exp %x : f32
    %s = arith.addf %e, %one : f32
    %q = arith.divf %one, %s : f32
    memref.store %q, %m[%i] : memref<1xf32>
    gpu.return
  }

  // Changed: Polynomials of a clamped number, the divisor's below 0: no extremes. Vectors are divided alike.
  // CHECK-LABEL: gpu.func @bounded
  // CHECK-NOT: arith.cmpf
  // CHECK-COUNT-2: llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"
  // CHECK: %[[R:.*]] = vector.from_elements
  // CHECK: %[[Q:.*]] = arith.mulf %{{.*}}, %[[R]]
  // CHECK: %[[E:.*]] = math.fma %{{.*}}, %[[Q]], %{{.*}}
  // CHECK: math.fma %[[E]], %[[R]], %[[Q]]
  // CHECK-NOT: arith.cmpf
  // CHECK-NOT: arith.select
  gpu.func @bounded(%x: vector<2xf32>, %m: memref<2xf32>) {
    nvvm.wgmma.fence.aligned
    %i = arith.constant 0 : index
    %low = arith.constant dense<-4.0> : vector<2xf32>
    %high = arith.constant dense<4.0> : vector<2xf32>
    %p = arith.constant dense<-0.25> : vector<2xf32>
    %c = arith.maximumf %x, %low : vector<2xf32>
    %d = arith.minimumf %c, %high : vector<2xf32>
    %s = arith.mulf %d, %d : vector<2xf32>
    %b = math.fma %p, %s, %p : vector<2xf32>
    %q = arith.divf %d, %b : vector<2xf32>
    vector.store %q, %m[%i] : memref<2xf32>, vector<2xf32>
    gpu.return
  }

  // Declined: f64, what may be approximate, and kernels without wgmma.
  // CHECK-LABEL: gpu.func @others
  // CHECK: arith.divf %{{.*}} : f64
  // CHECK: arith.divf %{{.*}} fastmath<afn> : f32
  gpu.func @others(%a: f64, %b: f32, %m: memref<1xf64>, %n: memref<1xf32>) {
    nvvm.wgmma.fence.aligned
    %i = arith.constant 0 : index
    %q = arith.divf %a, %a : f64
    %r = arith.divf %b, %b fastmath<afn> : f32
    memref.store %q, %m[%i] : memref<1xf64>
    memref.store %r, %n[%i] : memref<1xf32>
    gpu.return
  }

  // CHECK-LABEL: gpu.func @without
  // CHECK: arith.divf %{{.*}} : f32
  gpu.func @without(%b: f32, %m: memref<1xf32>) {
    %i = arith.constant 0 : index
    %q = arith.divf %b, %b : f32
    memref.store %q, %m[%i] : memref<1xf32>
    gpu.return
  }
}

// Unchanged: No division.
// CHECK-LABEL: gpu.module @empty
// CHECK-NEXT: gpu.func @none(%arg0: f32) {
// CHECK-NEXT: gpu.return
gpu.module @empty {
  gpu.func @none(%v: f32) {
    gpu.return
  }
}
