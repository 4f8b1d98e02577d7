// RUN: hloom-opt %s --allow-unregistered-dialect --widen-shuffles | filecheck %s

gpu.module @kernels {
  // Changed: As a word of 32 bits.
  // CHECK-LABEL: gpu.func @half
  // CHECK: %[[B:.*]] = arith.bitcast %{{.*}} : f16 to i16
  // CHECK: %[[E:.*]] = arith.extui %[[B]] : i16 to i32
  // CHECK: %[[R:.*]], %[[OK:.*]] = gpu.shuffle xor %[[E]], %{{.*}}, %{{.*}} : i32
  // CHECK: %[[T:.*]] = arith.trunci %[[R]] : i32 to i16
  // CHECK: %[[S:.*]] = arith.bitcast %[[T]] : i16 to f16
  // CHECK: "test.use"(%[[S]], %[[OK]])
  gpu.func @half(%v: f16, %o: i32, %w: i32) {
    %s, %ok = gpu.shuffle xor %v, %o, %w : f16
    "test.use"(%s, %ok) : (f16, i1) -> ()
    gpu.return
  }

  // CHECK-LABEL: gpu.func @bool
  // CHECK: arith.extui %{{.*}} : i1 to i32
  // CHECK: gpu.shuffle down {{.*}} : i32
  // CHECK: arith.trunci %{{.*}} : i32 to i1
  gpu.func @bool(%v: i1, %o: i32, %w: i32) {
    %s, %ok = gpu.shuffle down %v, %o, %w : i1
    "test.use"(%s, %ok) : (i1, i1) -> ()
    gpu.return
  }

  // Four words of a vector, each on its own.
  // CHECK-LABEL: gpu.func @vector
  // CHECK: vector.bitcast %{{.*}} : vector<8xbf16> to vector<4xi32>
  // CHECK-COUNT-4: gpu.shuffle xor {{.*}} : i32
  // CHECK: vector.from_elements {{.*}} : vector<4xi32>
  // CHECK: vector.bitcast %{{.*}} : vector<4xi32> to vector<8xbf16>
  gpu.func @vector(%v: vector<8xbf16>, %o: i32, %w: i32) {
    %s, %ok = gpu.shuffle xor %v, %o, %w : vector<8xbf16>
    "test.use"(%s, %ok) : (vector<8xbf16>, i1) -> ()
    gpu.return
  }

  // No whole word: element by element.
  // CHECK-LABEL: gpu.func @odd
  // CHECK-NOT: vector.bitcast
  // CHECK-COUNT-3: gpu.shuffle xor {{.*}} : i32
  // CHECK: vector.from_elements {{.*}} : vector<3xi8>
  gpu.func @odd(%v: vector<3xi8>, %o: i32, %w: i32) {
    %s, %ok = gpu.shuffle xor %v, %o, %w : vector<3xi8>
    "test.use"(%s, %ok) : (vector<3xi8>, i1) -> ()
    gpu.return
  }

  // Declined: Words of 32 and 64 bits, which upstream lowers.
  // CHECK-LABEL: gpu.func @words
  // CHECK-NEXT: gpu.shuffle idx %{{.*}} : f32
  // CHECK-NEXT: gpu.shuffle up %{{.*}} : i64
  gpu.func @words(%v: f32, %u: i64, %o: i32, %w: i32) {
    %s, %ok = gpu.shuffle idx %v, %o, %w : f32
    %r, %k = gpu.shuffle up %u, %o, %w : i64
    "test.use"(%s, %r) : (f32, i64) -> ()
    gpu.return
  }
}

// Unchanged: No shuffle.
// CHECK: gpu.module @others {
// CHECK-NEXT: gpu.func @none(%arg0: f16) {
// CHECK-NEXT: gpu.return
gpu.module @others {
  gpu.func @none(%v: f16) {
    gpu.return
  }
}
