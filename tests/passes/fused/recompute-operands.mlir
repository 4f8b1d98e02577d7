// RUN: hloom-opt %s --split-input-file --plan-fusion --recompute-operands | filecheck %s

// Changed: numbers of the rows that the gradients need are reduced by kernels that compute scores too: maxima, sums, and what the gradient of
// softmax takes off. The gradient of scores stays f32 beside widened bf16.
// CHECK: code = "FUSED_ATTENTION"{{.*}}groups = [@recomputed_0, @recomputed_1, @recomputed_2, @recomputed_3, @recomputed_4]
// CHECK-LABEL: func.func @of_jax
// CHECK: %[[M:.*]] = call @recomputed_0(%arg0, %arg1) : {{.*}} -> tensor<8x1024xf32>
// CHECK-NEXT: %[[L:.*]] = call @recomputed_1(%arg0, %arg1, %[[M]]) : {{.*}} -> tensor<8x1024xf32>
// CHECK-NEXT: %[[R:.*]] = call @recomputed_2({{.*}}%[[M]], %[[L]]) : {{.*}} -> tensor<8x1024xf32>
// CHECK-NEXT: call @recomputed_3({{.*}}%[[M]], %[[L]], %[[R]])
// CHECK-NEXT: call @recomputed_4({{.*}}%[[M]], %[[L]], %[[R]])
// CHECK-NEXT: return
// CHECK: func.func private @recomputed_2
// CHECK-COUNT-2: stablehlo.dot_general
// CHECK: %[[REDUCED:.*]] = stablehlo.reduce
// CHECK-NEXT: return %[[REDUCED]]
// CHECK: func.func private @recomputed_3{{.*}} hloom.parts = 3
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @of_jax(%q: tensor<8x1024x64xbf16>, %k: tensor<8x1024x64xbf16>, %v: tensor<8x1024x64xbf16>, %do: tensor<8x1024x64xbf16>) -> (tensor<8x1024x64xf32>, tensor<8x1024x64xf32>, tensor<8x1024x64xbf16>) {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x1024x64xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x1024xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<8x1024x1024xf32>, tensor<f32>) -> tensor<8x1024xf32>
    %ms = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<8x1024xf32>) -> tensor<8x1024x1024xf32>
    %less = stablehlo.subtract %s, %ms : tensor<8x1024x1024xf32>
    %e = stablehlo.exponential %less : tensor<8x1024x1024xf32>
    %l = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [2] : (tensor<8x1024x1024xf32>, tensor<f32>) -> tensor<8x1024xf32>
    %ls = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<8x1024xf32>) -> tensor<8x1024x1024xf32>
    %p = stablehlo.divide %e, %ls : tensor<8x1024x1024xf32>
    %ph = stablehlo.convert %p : (tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xbf16>
    %t = stablehlo.dot_general %do, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x1024x64xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x1024xf32>
    %tp = stablehlo.multiply %t, %p : tensor<8x1024x1024xf32>
    %r = stablehlo.reduce(%tp init: %none) applies stablehlo.add across dimensions = [2] : (tensor<8x1024x1024xf32>, tensor<f32>) -> tensor<8x1024xf32>
    %rs = stablehlo.broadcast_in_dim %r, dims = [0, 1] : (tensor<8x1024xf32>) -> tensor<8x1024x1024xf32>
    %minus = stablehlo.subtract %t, %rs : tensor<8x1024x1024xf32>
    %ds = stablehlo.multiply %p, %minus : tensor<8x1024x1024xf32>
    %kf = stablehlo.convert %k : (tensor<8x1024x64xbf16>) -> tensor<8x1024x64xf32>
    %qf = stablehlo.convert %q : (tensor<8x1024x64xbf16>) -> tensor<8x1024x64xf32>
    %dq = stablehlo.dot_general %ds, %kf, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x1024x1024xf32>, tensor<8x1024x64xf32>) -> tensor<8x1024x64xf32>
    %dk = stablehlo.dot_general %ds, %qf, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<8x1024x1024xf32>, tensor<8x1024x64xf32>) -> tensor<8x1024x64xf32>
    %dv = stablehlo.dot_general %ph, %do, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<8x1024x1024xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x64xbf16>
    return %dq, %dk, %dv : tensor<8x1024x64xf32>, tensor<8x1024x64xf32>, tensor<8x1024x64xbf16>
  }
}

// -----

// Changed: the constant that the gradient of scores is scaled by follows the contractions. Two numbers of bf16 stand for its f32, since what is
// made of it are halves; above, where the results are f32, three.
// CHECK-LABEL: func.func @scaled
// CHECK: func.func private @recomputed_4
// CHECK-SAME: hloom.parts = 2
// CHECK: %[[SUM:.*]] = stablehlo.dot_general %{{.*}}, %{{.*}}, {{.*}} -> tensor<8x1024x64xf32>
// CHECK: %[[EIGHTH:.*]] = stablehlo.constant dense<1.250000e-01> : tensor<8x1024x64xf32>
// CHECK: stablehlo.multiply %[[SUM]], %[[EIGHTH]] : tensor<8x1024x64xf32>
// CHECK-NOT: dense<1.250000e-01> : tensor<8x1024x1024xf32>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @scaled(%q: tensor<8x1024x64xbf16>, %k: tensor<8x1024x64xbf16>, %v: tensor<8x1024x64xbf16>, %do: tensor<8x1024x64xbf16>) -> (tensor<8x1024x64xbf16>, tensor<8x1024x64xbf16>, tensor<8x1024x64xbf16>) {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x1024x64xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x1024xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<8x1024x1024xf32>, tensor<f32>) -> tensor<8x1024xf32>
    %ms = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<8x1024xf32>) -> tensor<8x1024x1024xf32>
    %less = stablehlo.subtract %s, %ms : tensor<8x1024x1024xf32>
    %e = stablehlo.exponential %less : tensor<8x1024x1024xf32>
    %l = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [2] : (tensor<8x1024x1024xf32>, tensor<f32>) -> tensor<8x1024xf32>
    %ls = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<8x1024xf32>) -> tensor<8x1024x1024xf32>
    %p = stablehlo.divide %e, %ls : tensor<8x1024x1024xf32>
    %ph = stablehlo.convert %p : (tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xbf16>
    %t = stablehlo.dot_general %do, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x1024x64xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x1024xf32>
    %tp = stablehlo.multiply %t, %p : tensor<8x1024x1024xf32>
    %r = stablehlo.reduce(%tp init: %none) applies stablehlo.add across dimensions = [2] : (tensor<8x1024x1024xf32>, tensor<f32>) -> tensor<8x1024xf32>
    %rs = stablehlo.broadcast_in_dim %r, dims = [0, 1] : (tensor<8x1024xf32>) -> tensor<8x1024x1024xf32>
    %minus = stablehlo.subtract %t, %rs : tensor<8x1024x1024xf32>
    %ds = stablehlo.multiply %p, %minus : tensor<8x1024x1024xf32>
    %scale = stablehlo.constant dense<0.125> : tensor<8x1024x1024xf32>
    %scaled = stablehlo.multiply %ds, %scale : tensor<8x1024x1024xf32>
    %kf = stablehlo.convert %k : (tensor<8x1024x64xbf16>) -> tensor<8x1024x64xf32>
    %qf = stablehlo.convert %q : (tensor<8x1024x64xbf16>) -> tensor<8x1024x64xf32>
    %dq = stablehlo.dot_general %scaled, %kf, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x1024x1024xf32>, tensor<8x1024x64xf32>) -> tensor<8x1024x64xf32>
    %dk = stablehlo.dot_general %scaled, %qf, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<8x1024x1024xf32>, tensor<8x1024x64xf32>) -> tensor<8x1024x64xf32>
    %dv = stablehlo.dot_general %ph, %do, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<8x1024x1024xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x64xbf16>
    %dqh = stablehlo.convert %dq : (tensor<8x1024x64xf32>) -> tensor<8x1024x64xbf16>
    %dkh = stablehlo.convert %dk : (tensor<8x1024x64xf32>) -> tensor<8x1024x64xbf16>
    return %dqh, %dkh, %dv : tensor<8x1024x64xbf16>, tensor<8x1024x64xbf16>, tensor<8x1024x64xbf16>
  }
}

// -----

// Changed: what only moves elements before the contractions is read through where the elements of a head lie together behind it, too.
// CHECK-LABEL: func.func @moved
// CHECK: call @recomputed_2({{.*}}%arg3{{.*}}) : ({{.*}}tensor<1024x8x64xbf16>
// CHECK: call @recomputed_3({{.*}}%arg3{{.*}}) : ({{.*}}tensor<1024x8x64xbf16>
// CHECK: func.func private @recomputed_2
// CHECK: stablehlo.transpose
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @moved(%q: tensor<8x1024x64xbf16>, %k: tensor<8x1024x64xbf16>, %v: tensor<8x1024x64xbf16>, %do: tensor<1024x8x64xbf16>) -> (tensor<8x1024x64xf32>, tensor<8x1024x64xf32>, tensor<8x1024x64xbf16>) {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x1024x64xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x1024xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<8x1024x1024xf32>, tensor<f32>) -> tensor<8x1024xf32>
    %ms = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<8x1024xf32>) -> tensor<8x1024x1024xf32>
    %less = stablehlo.subtract %s, %ms : tensor<8x1024x1024xf32>
    %e = stablehlo.exponential %less : tensor<8x1024x1024xf32>
    %l = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [2] : (tensor<8x1024x1024xf32>, tensor<f32>) -> tensor<8x1024xf32>
    %ls = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<8x1024xf32>) -> tensor<8x1024x1024xf32>
    %p = stablehlo.divide %e, %ls : tensor<8x1024x1024xf32>
    %ph = stablehlo.convert %p : (tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xbf16>
    %d = stablehlo.transpose %do, dims = [1, 2, 0] : (tensor<1024x8x64xbf16>) -> tensor<8x64x1024xbf16>
    %t = stablehlo.dot_general %d, %v, batching_dims = [0] x [0], contracting_dims = [1] x [2] : (tensor<8x64x1024xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x1024xf32>
    %tp = stablehlo.multiply %t, %p : tensor<8x1024x1024xf32>
    %r = stablehlo.reduce(%tp init: %none) applies stablehlo.add across dimensions = [2] : (tensor<8x1024x1024xf32>, tensor<f32>) -> tensor<8x1024xf32>
    %rs = stablehlo.broadcast_in_dim %r, dims = [0, 1] : (tensor<8x1024xf32>) -> tensor<8x1024x1024xf32>
    %minus = stablehlo.subtract %t, %rs : tensor<8x1024x1024xf32>
    %ds = stablehlo.multiply %p, %minus : tensor<8x1024x1024xf32>
    %kf = stablehlo.convert %k : (tensor<8x1024x64xbf16>) -> tensor<8x1024x64xf32>
    %qf = stablehlo.convert %q : (tensor<8x1024x64xbf16>) -> tensor<8x1024x64xf32>
    %dq = stablehlo.dot_general %ds, %kf, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x1024x1024xf32>, tensor<8x1024x64xf32>) -> tensor<8x1024x64xf32>
    %dk = stablehlo.dot_general %ds, %qf, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<8x1024x1024xf32>, tensor<8x1024x64xf32>) -> tensor<8x1024x64xf32>
    %dv = stablehlo.dot_general %ph, %do, batching_dims = [0] x [1], contracting_dims = [1] x [0] : (tensor<8x1024x1024xbf16>, tensor<1024x8x64xbf16>) -> tensor<8x1024x64xbf16>
    return %dq, %dk, %dv : tensor<8x1024x64xf32>, tensor<8x1024x64xf32>, tensor<8x1024x64xbf16>
  }
}

// -----

// Declined: they would lie apart. The move is a kernel before.
// CHECK-LABEL: func.func @apart
// CHECK: %[[MOVED:.*]] = call @{{.*}}(%arg3) : (tensor<8x64x1024xbf16>) -> tensor<8x1024x64xbf16>
// CHECK: call @recomputed_2({{.*}}%[[MOVED]]
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @apart(%q: tensor<8x1024x64xbf16>, %k: tensor<8x1024x64xbf16>, %v: tensor<8x1024x64xbf16>, %do: tensor<8x64x1024xbf16>) -> (tensor<8x1024x64xf32>, tensor<8x1024x64xf32>, tensor<8x1024x64xbf16>) {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x1024x64xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x1024xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<8x1024x1024xf32>, tensor<f32>) -> tensor<8x1024xf32>
    %ms = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<8x1024xf32>) -> tensor<8x1024x1024xf32>
    %less = stablehlo.subtract %s, %ms : tensor<8x1024x1024xf32>
    %e = stablehlo.exponential %less : tensor<8x1024x1024xf32>
    %l = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [2] : (tensor<8x1024x1024xf32>, tensor<f32>) -> tensor<8x1024xf32>
    %ls = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<8x1024xf32>) -> tensor<8x1024x1024xf32>
    %p = stablehlo.divide %e, %ls : tensor<8x1024x1024xf32>
    %ph = stablehlo.convert %p : (tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xbf16>
    %d = stablehlo.transpose %do, dims = [0, 2, 1] : (tensor<8x64x1024xbf16>) -> tensor<8x1024x64xbf16>
    %t = stablehlo.dot_general %d, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x1024x64xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x1024xf32>
    %tp = stablehlo.multiply %t, %p : tensor<8x1024x1024xf32>
    %r = stablehlo.reduce(%tp init: %none) applies stablehlo.add across dimensions = [2] : (tensor<8x1024x1024xf32>, tensor<f32>) -> tensor<8x1024xf32>
    %rs = stablehlo.broadcast_in_dim %r, dims = [0, 1] : (tensor<8x1024xf32>) -> tensor<8x1024x1024xf32>
    %minus = stablehlo.subtract %t, %rs : tensor<8x1024x1024xf32>
    %ds = stablehlo.multiply %p, %minus : tensor<8x1024x1024xf32>
    %kf = stablehlo.convert %k : (tensor<8x1024x64xbf16>) -> tensor<8x1024x64xf32>
    %qf = stablehlo.convert %q : (tensor<8x1024x64xbf16>) -> tensor<8x1024x64xf32>
    %dq = stablehlo.dot_general %ds, %kf, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x1024x1024xf32>, tensor<8x1024x64xf32>) -> tensor<8x1024x64xf32>
    %dk = stablehlo.dot_general %ds, %qf, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<8x1024x1024xf32>, tensor<8x1024x64xf32>) -> tensor<8x1024x64xf32>
    %dv = stablehlo.dot_general %ph, %d, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<8x1024x1024xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x64xbf16>
    return %dq, %dk, %dv : tensor<8x1024x64xf32>, tensor<8x1024x64xf32>, tensor<8x1024x64xbf16>
  }
}

// -----

// Changed: where forward has a result of its own, its scores, weights and second product stay for join-contractions; the gradients read the
// rows' numbers of it.
// CHECK: code = "FUSED_ATTENTION"{{.*}}groups = [@recomputed_0, @recomputed_1, @recomputed_2]
// CHECK-LABEL: func.func @with_forward
// CHECK: %[[S:.*]] = call @fusion_0(%arg0, %arg1)
// CHECK: %[[ROWS:.*]]:3 = call @rows_0(%[[S]]) : (tensor<8x1024x1024xf32>) -> (tensor<8x1024x1024xbf16>, tensor<8x1024xf32>, tensor<8x1024xf32>)
// CHECK: %[[O:.*]]:2 = call @{{.*}}(%[[ROWS]]#0, %arg2)
// CHECK: call @recomputed_0({{.*}}%[[ROWS]]#1, %[[ROWS]]#2)
// CHECK: return %[[O]]#0
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @with_forward(%q: tensor<8x1024x64xbf16>, %k: tensor<8x1024x64xbf16>, %v: tensor<8x1024x64xbf16>) -> (tensor<8x1024x64xbf16>, tensor<8x1024x64xf32>, tensor<8x1024x64xf32>, tensor<8x1024x64xbf16>) {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x1024x64xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x1024xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<8x1024x1024xf32>, tensor<f32>) -> tensor<8x1024xf32>
    %ms = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<8x1024xf32>) -> tensor<8x1024x1024xf32>
    %less = stablehlo.subtract %s, %ms : tensor<8x1024x1024xf32>
    %e = stablehlo.exponential %less : tensor<8x1024x1024xf32>
    %l = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [2] : (tensor<8x1024x1024xf32>, tensor<f32>) -> tensor<8x1024xf32>
    %ls = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<8x1024xf32>) -> tensor<8x1024x1024xf32>
    %p = stablehlo.divide %e, %ls : tensor<8x1024x1024xf32>
    %ph = stablehlo.convert %p : (tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xbf16>
    %o = stablehlo.dot_general %ph, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x1024x1024xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x64xbf16>
    %do = stablehlo.tanh %o : tensor<8x1024x64xbf16>
    %t = stablehlo.dot_general %do, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x1024x64xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x1024xf32>
    %tp = stablehlo.multiply %t, %p : tensor<8x1024x1024xf32>
    %r = stablehlo.reduce(%tp init: %none) applies stablehlo.add across dimensions = [2] : (tensor<8x1024x1024xf32>, tensor<f32>) -> tensor<8x1024xf32>
    %rs = stablehlo.broadcast_in_dim %r, dims = [0, 1] : (tensor<8x1024xf32>) -> tensor<8x1024x1024xf32>
    %minus = stablehlo.subtract %t, %rs : tensor<8x1024x1024xf32>
    %ds = stablehlo.multiply %p, %minus : tensor<8x1024x1024xf32>
    %kf = stablehlo.convert %k : (tensor<8x1024x64xbf16>) -> tensor<8x1024x64xf32>
    %qf = stablehlo.convert %q : (tensor<8x1024x64xbf16>) -> tensor<8x1024x64xf32>
    %dq = stablehlo.dot_general %ds, %kf, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x1024x1024xf32>, tensor<8x1024x64xf32>) -> tensor<8x1024x64xf32>
    %dk = stablehlo.dot_general %ds, %qf, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<8x1024x1024xf32>, tensor<8x1024x64xf32>) -> tensor<8x1024x64xf32>
    %dv = stablehlo.dot_general %ph, %do, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<8x1024x1024xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x64xbf16>
    return %o, %dq, %dk, %dv : tensor<8x1024x64xbf16>, tensor<8x1024x64xf32>, tensor<8x1024x64xf32>, tensor<8x1024x64xbf16>
  }
}

// -----

// Changed: in a loop, of a mask that is made outside of it; and one kernel reads, behind its contraction, what the other makes.
// CHECK-LABEL: func.func @in_a_loop
// CHECK: stablehlo.while
// CHECK: %[[SUMS:.*]]:2 = func.call @recomputed_0
// CHECK-NEXT: func.call @recomputed_1({{.*}}, %[[SUMS]]#0, %[[SUMS]]#1)
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @in_a_loop(%q: tensor<4x256x64xf16>, %k: tensor<4x256x64xf16>, %v: tensor<4x256x64xf16>, %do: tensor<4x256x64xf16>, %l: tensor<4x256xf32>, %d: tensor<4x256xf32>) -> tensor<4x256x64xf16> {
    %column = stablehlo.iota dim = 2 : tensor<4x256x256xi32>
    %row = stablehlo.iota dim = 1 : tensor<4x256x256xi32>
    %seen = stablehlo.compare GE, %row, %column : (tensor<4x256x256xi32>, tensor<4x256x256xi32>) -> tensor<4x256x256xi1>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %end = stablehlo.constant dense<3> : tensor<i32>
    %r:2 = stablehlo.while(%i = %zero, %qi = %q) : tensor<i32>, tensor<4x256x64xf16>
    cond {
      %more = stablehlo.compare LT, %i, %end : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %s = stablehlo.dot_general %qi, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x256x64xf16>, tensor<4x256x64xf16>) -> tensor<4x256x256xf32>
      %scale = stablehlo.constant dense<1.250000e-01> : tensor<4x256x256xf32>
      %scaled = stablehlo.multiply %s, %scale : tensor<4x256x256xf32>
      %least = stablehlo.constant dense<0xFF800000> : tensor<4x256x256xf32>
      %x = stablehlo.select %seen, %scaled, %least : tensor<4x256x256xi1>, tensor<4x256x256xf32>
      %ls = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<4x256xf32>) -> tensor<4x256x256xf32>
      %less = stablehlo.subtract %x, %ls : tensor<4x256x256xf32>
      %p = stablehlo.exponential %less : tensor<4x256x256xf32>
      %t = stablehlo.dot_general %do, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x256x64xf16>, tensor<4x256x64xf16>) -> tensor<4x256x256xf32>
      %ds = stablehlo.broadcast_in_dim %d, dims = [0, 1] : (tensor<4x256xf32>) -> tensor<4x256x256xf32>
      %minus = stablehlo.subtract %t, %ds : tensor<4x256x256xf32>
      %product = stablehlo.multiply %p, %minus : tensor<4x256x256xf32>
      %ph = stablehlo.convert %p : (tensor<4x256x256xf32>) -> tensor<4x256x256xf16>
      %sh = stablehlo.convert %product : (tensor<4x256x256xf32>) -> tensor<4x256x256xf16>
      %dq = stablehlo.dot_general %sh, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x256x256xf16>, tensor<4x256x64xf16>) -> tensor<4x256x64xf16>
      %dk = stablehlo.dot_general %sh, %qi, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x256x256xf16>, tensor<4x256x64xf16>) -> tensor<4x256x64xf16>
      %dv = stablehlo.dot_general %ph, %do, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x256x256xf16>, tensor<4x256x64xf16>) -> tensor<4x256x64xf16>
      %dqk = stablehlo.add %dq, %dk : tensor<4x256x64xf16>
      %all = stablehlo.add %dqk, %dv : tensor<4x256x64xf16>
      %next = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %next, %all : tensor<i32>, tensor<4x256x64xf16>
    }
    return %r#1 : tensor<4x256x64xf16>
  }
}

// -----

// Changed: the gradients of attention. What keeps the rows and what sums over them are two kernels; each computes scores and weights for
// itself. The causal mask leaves columns out; where the columns are rows, it is the first ones.
// CHECK: code = "FUSED_ATTENTION"{{.*}}groups = [@recomputed_0, @recomputed_1]
// CHECK-SAME: reason = "what contractions sum over is computed in their kernels, tile by tile; columns from row + 1 on are masked, and left out"
// CHECK-LABEL: func.func @gradients
// CHECK: %[[Q:.*]] = call @recomputed_0(%{{.*}}) : ({{.*}}) -> tensor<4x256x64xf16>
// CHECK-NEXT: %[[KV:.*]]:2 = call @recomputed_1(%{{.*}}) : ({{.*}}) -> (tensor<4x256x64xf16>, tensor<4x256x64xf16>)
// CHECK-NEXT: return %[[Q]], %[[KV]]#0, %[[KV]]#1
// CHECK: func.func private @recomputed_0
// CHECK-SAME: hloom.kind = "matmul", hloom.live = array<i64: 256, 256, 1>, hloom.recomputed
// CHECK-COUNT-3: stablehlo.dot_general
// CHECK: func.func private @recomputed_1
// CHECK-SAME: hloom.begins = array<i64: 256, 256, 0>
// CHECK-SAME: hloom.recomputed
// CHECK-COUNT-4: stablehlo.dot_general
// CHECK: return %{{.*}}, %{{.*}} : tensor<4x256x64xf16>, tensor<4x256x64xf16>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @gradients(%q: tensor<4x256x64xf16>, %k: tensor<4x256x64xf16>, %v: tensor<4x256x64xf16>, %do: tensor<4x256x64xf16>, %l: tensor<4x256xf32>, %d: tensor<4x256xf32>) -> (tensor<4x256x64xf16>, tensor<4x256x64xf16>, tensor<4x256x64xf16>) {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x256x64xf16>, tensor<4x256x64xf16>) -> tensor<4x256x256xf32>
    %scale = stablehlo.constant dense<1.250000e-01> : tensor<4x256x256xf32>
    %scaled = stablehlo.multiply %s, %scale : tensor<4x256x256xf32>
    %column = stablehlo.iota dim = 2 : tensor<4x256x256xi32>
    %row = stablehlo.iota dim = 1 : tensor<4x256x256xi32>
    %seen = stablehlo.compare GE, %row, %column : (tensor<4x256x256xi32>, tensor<4x256x256xi32>) -> tensor<4x256x256xi1>
    %least = stablehlo.constant dense<0xFF800000> : tensor<4x256x256xf32>
    %x = stablehlo.select %seen, %scaled, %least : tensor<4x256x256xi1>, tensor<4x256x256xf32>
    %ls = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<4x256xf32>) -> tensor<4x256x256xf32>
    %less = stablehlo.subtract %x, %ls : tensor<4x256x256xf32>
    %p = stablehlo.exponential %less : tensor<4x256x256xf32>
    %t = stablehlo.dot_general %do, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x256x64xf16>, tensor<4x256x64xf16>) -> tensor<4x256x256xf32>
    %ds = stablehlo.broadcast_in_dim %d, dims = [0, 1] : (tensor<4x256xf32>) -> tensor<4x256x256xf32>
    %minus = stablehlo.subtract %t, %ds : tensor<4x256x256xf32>
    %product = stablehlo.multiply %p, %minus : tensor<4x256x256xf32>
    %ph = stablehlo.convert %p : (tensor<4x256x256xf32>) -> tensor<4x256x256xf16>
    %sh = stablehlo.convert %product : (tensor<4x256x256xf32>) -> tensor<4x256x256xf16>
    %dq = stablehlo.dot_general %sh, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x256x256xf16>, tensor<4x256x64xf16>) -> tensor<4x256x64xf16>
    %dk = stablehlo.dot_general %sh, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x256x256xf16>, tensor<4x256x64xf16>) -> tensor<4x256x64xf16>
    %dv = stablehlo.dot_general %ph, %do, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x256x256xf16>, tensor<4x256x64xf16>) -> tensor<4x256x64xf16>
    return %dq, %dk, %dv : tensor<4x256x64xf16>, tensor<4x256x64xf16>, tensor<4x256x64xf16>
  }
}

// -----

// Declined: the weights' sums are read as others make them: a number of each row that is no reduction.
// CHECK: code = "NOT_TILEABLE"{{.*}}reason = "a value that contractions sum over is needed by others"
// CHECK-LABEL: func.func @numbers_outside
// CHECK-NOT: @recomputed
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @numbers_outside(%q: tensor<8x1024x64xbf16>, %k: tensor<8x1024x64xbf16>, %v: tensor<8x1024x64xbf16>, %do: tensor<8x1024x64xbf16>) -> (tensor<8x1024xf32>, tensor<8x1024x64xf32>, tensor<8x1024x64xf32>, tensor<8x1024x64xbf16>) {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x1024x64xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x1024xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<8x1024x1024xf32>, tensor<f32>) -> tensor<8x1024xf32>
    %ms = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<8x1024xf32>) -> tensor<8x1024x1024xf32>
    %less = stablehlo.subtract %s, %ms : tensor<8x1024x1024xf32>
    %e = stablehlo.exponential %less : tensor<8x1024x1024xf32>
    %l = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [2] : (tensor<8x1024x1024xf32>, tensor<f32>) -> tensor<8x1024xf32>
    %ls = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<8x1024xf32>) -> tensor<8x1024x1024xf32>
    %p = stablehlo.divide %e, %ls : tensor<8x1024x1024xf32>
    %ph = stablehlo.convert %p : (tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xbf16>
    %t = stablehlo.dot_general %do, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x1024x64xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x1024xf32>
    %tp = stablehlo.multiply %t, %p : tensor<8x1024x1024xf32>
    %r = stablehlo.reduce(%tp init: %none) applies stablehlo.add across dimensions = [2] : (tensor<8x1024x1024xf32>, tensor<f32>) -> tensor<8x1024xf32>
    %rs = stablehlo.broadcast_in_dim %r, dims = [0, 1] : (tensor<8x1024xf32>) -> tensor<8x1024x1024xf32>
    %minus = stablehlo.subtract %t, %rs : tensor<8x1024x1024xf32>
    %ds = stablehlo.multiply %p, %minus : tensor<8x1024x1024xf32>
    %kf = stablehlo.convert %k : (tensor<8x1024x64xbf16>) -> tensor<8x1024x64xf32>
    %qf = stablehlo.convert %q : (tensor<8x1024x64xbf16>) -> tensor<8x1024x64xf32>
    %dq = stablehlo.dot_general %ds, %kf, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x1024x1024xf32>, tensor<8x1024x64xf32>) -> tensor<8x1024x64xf32>
    %dk = stablehlo.dot_general %ds, %qf, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<8x1024x1024xf32>, tensor<8x1024x64xf32>) -> tensor<8x1024x64xf32>
    %dv = stablehlo.dot_general %ph, %do, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<8x1024x1024xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x64xbf16>
    %sine = stablehlo.sine %r : tensor<8x1024xf32>
    return %sine, %dq, %dk, %dv : tensor<8x1024xf32>, tensor<8x1024x64xf32>, tensor<8x1024x64xf32>, tensor<8x1024x64xbf16>
  }
}

// -----

// Declined: the weights are returned, so they are in memory.
// CHECK: code = "NOT_TILEABLE"{{.*}}reason = "a value that contractions sum over is needed by others"
// CHECK-LABEL: func.func @returned
// CHECK-NOT: @recomputed
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @returned(%q: tensor<4x256x64xf16>, %k: tensor<4x256x64xf16>, %v: tensor<4x256x64xf16>, %do: tensor<4x256x64xf16>, %l: tensor<4x256xf32>, %d: tensor<4x256xf32>) -> (tensor<4x256x64xf16>, tensor<4x256x64xf16>, tensor<4x256x64xf16>, tensor<4x256x256xf16>) {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x256x64xf16>, tensor<4x256x64xf16>) -> tensor<4x256x256xf32>
    %scale = stablehlo.constant dense<1.250000e-01> : tensor<4x256x256xf32>
    %scaled = stablehlo.multiply %s, %scale : tensor<4x256x256xf32>
    %column = stablehlo.iota dim = 2 : tensor<4x256x256xi32>
    %row = stablehlo.iota dim = 1 : tensor<4x256x256xi32>
    %seen = stablehlo.compare GE, %row, %column : (tensor<4x256x256xi32>, tensor<4x256x256xi32>) -> tensor<4x256x256xi1>
    %least = stablehlo.constant dense<0xFF800000> : tensor<4x256x256xf32>
    %x = stablehlo.select %seen, %scaled, %least : tensor<4x256x256xi1>, tensor<4x256x256xf32>
    %ls = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<4x256xf32>) -> tensor<4x256x256xf32>
    %less = stablehlo.subtract %x, %ls : tensor<4x256x256xf32>
    %p = stablehlo.exponential %less : tensor<4x256x256xf32>
    %t = stablehlo.dot_general %do, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x256x64xf16>, tensor<4x256x64xf16>) -> tensor<4x256x256xf32>
    %ds = stablehlo.broadcast_in_dim %d, dims = [0, 1] : (tensor<4x256xf32>) -> tensor<4x256x256xf32>
    %minus = stablehlo.subtract %t, %ds : tensor<4x256x256xf32>
    %product = stablehlo.multiply %p, %minus : tensor<4x256x256xf32>
    %ph = stablehlo.convert %p : (tensor<4x256x256xf32>) -> tensor<4x256x256xf16>
    %sh = stablehlo.convert %product : (tensor<4x256x256xf32>) -> tensor<4x256x256xf16>
    %dq = stablehlo.dot_general %sh, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x256x256xf16>, tensor<4x256x64xf16>) -> tensor<4x256x64xf16>
    %dk = stablehlo.dot_general %sh, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x256x256xf16>, tensor<4x256x64xf16>) -> tensor<4x256x64xf16>
    %dv = stablehlo.dot_general %ph, %do, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x256x256xf16>, tensor<4x256x64xf16>) -> tensor<4x256x64xf16>
    return %dq, %dk, %dv, %ph : tensor<4x256x64xf16>, tensor<4x256x64xf16>, tensor<4x256x64xf16>, tensor<4x256x256xf16>
  }
}

// -----

// Declined: f32, for which there is no kernel.
// CHECK: code = "NOT_TILEABLE"{{.*}}reason = "the kernel multiplies f16 or bf16, not f32"
// CHECK-LABEL: func.func @floats
// CHECK-NOT: @recomputed
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @floats(%q: tensor<4x256x64xf32>, %k: tensor<4x256x64xf32>, %v: tensor<4x256x64xf32>, %do: tensor<4x256x64xf32>, %l: tensor<4x256xf32>, %d: tensor<4x256xf32>) -> (tensor<4x256x64xf32>, tensor<4x256x64xf32>, tensor<4x256x64xf32>) {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x256x64xf32>, tensor<4x256x64xf32>) -> tensor<4x256x256xf32>
    %scale = stablehlo.constant dense<1.250000e-01> : tensor<4x256x256xf32>
    %scaled = stablehlo.multiply %s, %scale : tensor<4x256x256xf32>
    %column = stablehlo.iota dim = 2 : tensor<4x256x256xi32>
    %row = stablehlo.iota dim = 1 : tensor<4x256x256xi32>
    %seen = stablehlo.compare GE, %row, %column : (tensor<4x256x256xi32>, tensor<4x256x256xi32>) -> tensor<4x256x256xi1>
    %least = stablehlo.constant dense<0xFF800000> : tensor<4x256x256xf32>
    %x = stablehlo.select %seen, %scaled, %least : tensor<4x256x256xi1>, tensor<4x256x256xf32>
    %ls = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<4x256xf32>) -> tensor<4x256x256xf32>
    %less = stablehlo.subtract %x, %ls : tensor<4x256x256xf32>
    %p = stablehlo.exponential %less : tensor<4x256x256xf32>
    %t = stablehlo.dot_general %do, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x256x64xf32>, tensor<4x256x64xf32>) -> tensor<4x256x256xf32>
    %ds = stablehlo.broadcast_in_dim %d, dims = [0, 1] : (tensor<4x256xf32>) -> tensor<4x256x256xf32>
    %minus = stablehlo.subtract %t, %ds : tensor<4x256x256xf32>
    %product = stablehlo.multiply %p, %minus : tensor<4x256x256xf32>
    %dq = stablehlo.dot_general %product, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x256x256xf32>, tensor<4x256x64xf32>) -> tensor<4x256x64xf32>
    %dk = stablehlo.dot_general %product, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x256x256xf32>, tensor<4x256x64xf32>) -> tensor<4x256x64xf32>
    %dv = stablehlo.dot_general %p, %do, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x256x256xf32>, tensor<4x256x64xf32>) -> tensor<4x256x64xf32>
    return %dq, %dk, %dv : tensor<4x256x64xf32>, tensor<4x256x64xf32>, tensor<4x256x64xf32>
  }
}

// -----

// Declined: rows that do not stay in registers.
// CHECK: code = "NOT_TILEABLE"{{.*}}reason = "rows of 160 do not stay in registers; 128 do"
// CHECK-LABEL: func.func @wide
// CHECK-NOT: @recomputed
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @wide(%q: tensor<4x256x160xf16>, %k: tensor<4x256x160xf16>, %v: tensor<4x256x160xf16>, %do: tensor<4x256x160xf16>, %l: tensor<4x256xf32>, %d: tensor<4x256xf32>) -> (tensor<4x256x160xf16>, tensor<4x256x160xf16>, tensor<4x256x160xf16>) {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x256x160xf16>, tensor<4x256x160xf16>) -> tensor<4x256x256xf32>
    %scale = stablehlo.constant dense<1.250000e-01> : tensor<4x256x256xf32>
    %scaled = stablehlo.multiply %s, %scale : tensor<4x256x256xf32>
    %column = stablehlo.iota dim = 2 : tensor<4x256x256xi32>
    %row = stablehlo.iota dim = 1 : tensor<4x256x256xi32>
    %seen = stablehlo.compare GE, %row, %column : (tensor<4x256x256xi32>, tensor<4x256x256xi32>) -> tensor<4x256x256xi1>
    %least = stablehlo.constant dense<0xFF800000> : tensor<4x256x256xf32>
    %x = stablehlo.select %seen, %scaled, %least : tensor<4x256x256xi1>, tensor<4x256x256xf32>
    %ls = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<4x256xf32>) -> tensor<4x256x256xf32>
    %less = stablehlo.subtract %x, %ls : tensor<4x256x256xf32>
    %p = stablehlo.exponential %less : tensor<4x256x256xf32>
    %t = stablehlo.dot_general %do, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x256x160xf16>, tensor<4x256x160xf16>) -> tensor<4x256x256xf32>
    %ds = stablehlo.broadcast_in_dim %d, dims = [0, 1] : (tensor<4x256xf32>) -> tensor<4x256x256xf32>
    %minus = stablehlo.subtract %t, %ds : tensor<4x256x256xf32>
    %product = stablehlo.multiply %p, %minus : tensor<4x256x256xf32>
    %ph = stablehlo.convert %p : (tensor<4x256x256xf32>) -> tensor<4x256x256xf16>
    %sh = stablehlo.convert %product : (tensor<4x256x256xf32>) -> tensor<4x256x256xf16>
    %dq = stablehlo.dot_general %sh, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x256x256xf16>, tensor<4x256x160xf16>) -> tensor<4x256x160xf16>
    %dk = stablehlo.dot_general %sh, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x256x256xf16>, tensor<4x256x160xf16>) -> tensor<4x256x160xf16>
    %dv = stablehlo.dot_general %ph, %do, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x256x256xf16>, tensor<4x256x160xf16>) -> tensor<4x256x160xf16>
    return %dq, %dk, %dv : tensor<4x256x160xf16>, tensor<4x256x160xf16>, tensor<4x256x160xf16>
  }
}

// -----

// Unchanged: CPUs.
// CHECK-LABEL: func.func @on_cpu
// CHECK-NOT: @recomputed
module {
  func.func @on_cpu(%q: tensor<4x256x64xf16>, %k: tensor<4x256x64xf16>, %v: tensor<4x256x64xf16>, %do: tensor<4x256x64xf16>, %l: tensor<4x256xf32>, %d: tensor<4x256xf32>) -> (tensor<4x256x64xf16>, tensor<4x256x64xf16>, tensor<4x256x64xf16>) {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x256x64xf16>, tensor<4x256x64xf16>) -> tensor<4x256x256xf32>
    %scale = stablehlo.constant dense<1.250000e-01> : tensor<4x256x256xf32>
    %scaled = stablehlo.multiply %s, %scale : tensor<4x256x256xf32>
    %column = stablehlo.iota dim = 2 : tensor<4x256x256xi32>
    %row = stablehlo.iota dim = 1 : tensor<4x256x256xi32>
    %seen = stablehlo.compare GE, %row, %column : (tensor<4x256x256xi32>, tensor<4x256x256xi32>) -> tensor<4x256x256xi1>
    %least = stablehlo.constant dense<0xFF800000> : tensor<4x256x256xf32>
    %x = stablehlo.select %seen, %scaled, %least : tensor<4x256x256xi1>, tensor<4x256x256xf32>
    %ls = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<4x256xf32>) -> tensor<4x256x256xf32>
    %less = stablehlo.subtract %x, %ls : tensor<4x256x256xf32>
    %p = stablehlo.exponential %less : tensor<4x256x256xf32>
    %t = stablehlo.dot_general %do, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x256x64xf16>, tensor<4x256x64xf16>) -> tensor<4x256x256xf32>
    %ds = stablehlo.broadcast_in_dim %d, dims = [0, 1] : (tensor<4x256xf32>) -> tensor<4x256x256xf32>
    %minus = stablehlo.subtract %t, %ds : tensor<4x256x256xf32>
    %product = stablehlo.multiply %p, %minus : tensor<4x256x256xf32>
    %ph = stablehlo.convert %p : (tensor<4x256x256xf32>) -> tensor<4x256x256xf16>
    %sh = stablehlo.convert %product : (tensor<4x256x256xf32>) -> tensor<4x256x256xf16>
    %dq = stablehlo.dot_general %sh, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x256x256xf16>, tensor<4x256x64xf16>) -> tensor<4x256x64xf16>
    %dk = stablehlo.dot_general %sh, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x256x256xf16>, tensor<4x256x64xf16>) -> tensor<4x256x64xf16>
    %dv = stablehlo.dot_general %ph, %do, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x256x256xf16>, tensor<4x256x64xf16>) -> tensor<4x256x64xf16>
    return %dq, %dk, %dv : tensor<4x256x64xf16>, tensor<4x256x64xf16>, tensor<4x256x64xf16>
  }
}
