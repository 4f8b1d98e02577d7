// RUN: hloom-opt %s --approximate-for-halves | filecheck %s

gpu.module @kernels {
  // Changed: Silu in bf16; a vector too.
  // CHECK-LABEL: gpu.func @silu
  // CHECK: math.exp %{{.*}} fastmath<afn> : vector<2xf32>
  gpu.func @silu(%x: vector<2xf32>, %m: memref<2xbf16>) {
    %i = arith.constant 0 : index
    %one = arith.constant dense<1.0> : vector<2xf32>
    %n = arith.negf %x : vector<2xf32>
    %e = math.exp %n : vector<2xf32>
    %s = arith.addf %e, %one : vector<2xf32>
    %q = arith.divf %x, %s : vector<2xf32>
    %r = arith.truncf %q : vector<2xf32> to vector<2xbf16>
    vector.store %r, %m[%i] : memref<2xbf16>, vector<2xbf16>
    gpu.return
  }

  // Declined: A part of the result is stored as f32; a comparison depends on it; rounded to an integer; of f64; of nobody;
  // not added; added to a number that may be small.
  // CHECK-LABEL: gpu.func @others
  // CHECK-NOT: afn
  gpu.func @others(%x: f32, %y: f64, %m: memref<1xf32>, %n: memref<1xf16>, %o: memref<1xi32>) {
    %i = arith.constant 0 : index
    %one = arith.constant 1.0 : f32
    %wide = arith.constant 1.0 : f64
    %k = math.exp %x : f32
    %a = arith.addf %k, %one : f32
    %b = arith.mulf %a, %x : f32
    %c = arith.truncf %b : f32 to f16
    memref.store %c, %n[%i] : memref<1xf16>
    memref.store %b, %m[%i] : memref<1xf32>
    %j = math.exp %x : f32
    %d = arith.addf %j, %one : f32
    %p = arith.cmpf olt, %d, %x : f32
    %s = arith.select %p, %d, %x : f32
    %t = arith.truncf %s : f32 to f16
    memref.store %t, %n[%i] : memref<1xf16>
    %l = math.exp %x : f32
    %e = arith.addf %l, %one : f32
    %f = arith.fptosi %e : f32 to i32
    memref.store %f, %o[%i] : memref<1xi32>
    %q = math.exp %y : f64
    %g = arith.addf %q, %wide : f64
    %h = arith.truncf %g : f64 to f16
    memref.store %h, %n[%i] : memref<1xf16>
    %u = math.exp %x : f32
    %v = math.exp %x : f32
    %w = arith.truncf %v : f32 to f16
    memref.store %w, %n[%i] : memref<1xf16>
    %z = math.exp %x : f32
    %0 = arith.addf %z, %x : f32
    %1 = arith.truncf %0 : f32 to f16
    memref.store %1, %n[%i] : memref<1xf16>
    gpu.return
  }
}

// Unchanged: No exponential.
// CHECK-LABEL: gpu.module @empty
// CHECK-NEXT: gpu.func @none(%arg0: f32) {
// CHECK-NEXT: gpu.return
gpu.module @empty {
  gpu.func @none(%v: f32) {
    gpu.return
  }
}
