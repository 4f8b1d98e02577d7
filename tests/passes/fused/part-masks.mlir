// RUN: hloom-opt %s --split-input-file --plan-fusion --part-masks | filecheck %s

// Changed: what is drawn of places and a key for the weights is a mask before them, which others read, too.
// CHECK: code = "SPLIT"{{.*}}groups = [@mask_0, @fusion_{{[0-9]+}}]
// CHECK-LABEL: func.func @dropout
// CHECK: %[[S:.*]] = call @fusion_0(%arg0, %arg1)
// CHECK: %[[MASK:.*]] = call @mask_0(%arg3) : (tensor<ui32>) -> tensor<8x1024x1024xi1>
// CHECK: %[[P:.*]] = call @[[ROWS:.*]](%[[S]], %[[MASK]]) : (tensor<8x1024x1024xf32>, tensor<8x1024x1024xi1>) -> tensor<8x1024x1024xbf16>
// CHECK: %[[O:.*]] = call @{{.*}}(%[[P]], %arg2)
// CHECK: return %[[O]], %[[MASK]]
// CHECK: func.func private @mask_0
// CHECK: stablehlo.shift_left
// CHECK: func.func private @[[ROWS]]
// CHECK-NOT: stablehlo.xor
// CHECK: stablehlo.select %arg1
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @dropout(%q: tensor<8x1024x64xbf16>, %k: tensor<8x1024x64xbf16>, %v: tensor<8x1024x64xbf16>, %key: tensor<ui32>) -> (tensor<8x1024x64xbf16>, tensor<8x1024x1024xi1>) {
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
    %place = stablehlo.iota dim = 2 : tensor<8x1024x1024xui32>
    %keys = stablehlo.broadcast_in_dim %key, dims = [] : (tensor<ui32>) -> tensor<8x1024x1024xui32>
    %shifted = stablehlo.shift_left %place, %keys : tensor<8x1024x1024xui32>
    %drawn = stablehlo.xor %shifted, %keys : tensor<8x1024x1024xui32>
    %mask = stablehlo.compare LT, %drawn, %keys, UNSIGNED : (tensor<8x1024x1024xui32>, tensor<8x1024x1024xui32>) -> tensor<8x1024x1024xi1>
    %zeros = stablehlo.constant dense<0.0> : tensor<8x1024x1024xf32>
    %left = stablehlo.select %mask, %p, %zeros : tensor<8x1024x1024xi1>, tensor<8x1024x1024xf32>
    %ph = stablehlo.convert %left : (tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xbf16>
    %o = stablehlo.dot_general %ph, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x1024x1024xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x64xbf16>
    return %o, %mask : tensor<8x1024x64xbf16>, tensor<8x1024x1024xi1>
  }
}

// -----

// Unchanged: a kernel evaluates the mask.
// CHECK-LABEL: func.func @of_places
// CHECK-NOT: @mask_
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @of_places(%q: tensor<8x1024x64xbf16>, %k: tensor<8x1024x64xbf16>, %v: tensor<8x1024x64xbf16>, %key: tensor<ui32>) -> (tensor<8x1024x64xbf16>, tensor<8x1024x1024xi1>) {
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
    %place = stablehlo.iota dim = 2 : tensor<8x1024x1024xui32>
    %keys = stablehlo.broadcast_in_dim %key, dims = [] : (tensor<ui32>) -> tensor<8x1024x1024xui32>
    %mask = stablehlo.compare LT, %place, %keys, UNSIGNED : (tensor<8x1024x1024xui32>, tensor<8x1024x1024xui32>) -> tensor<8x1024x1024xi1>
    %zeros = stablehlo.constant dense<0.0> : tensor<8x1024x1024xf32>
    %left = stablehlo.select %mask, %p, %zeros : tensor<8x1024x1024xi1>, tensor<8x1024x1024xf32>
    %ph = stablehlo.convert %left : (tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xbf16>
    %o = stablehlo.dot_general %ph, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x1024x1024xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x64xbf16>
    return %o, %mask : tensor<8x1024x64xbf16>, tensor<8x1024x1024xi1>
  }
}

// -----

// Declined: the mask is made of the scores.
// CHECK-LABEL: func.func @of_scores
// CHECK-NOT: @mask_
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @of_scores(%q: tensor<8x1024x64xbf16>, %k: tensor<8x1024x64xbf16>, %v: tensor<8x1024x64xbf16>, %key: tensor<ui32>) -> (tensor<8x1024x64xbf16>, tensor<8x1024x1024xi1>) {
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
    %bits = stablehlo.bitcast_convert %s : (tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xui32>
    %keys = stablehlo.broadcast_in_dim %key, dims = [] : (tensor<ui32>) -> tensor<8x1024x1024xui32>
    %shifted = stablehlo.shift_left %bits, %keys : tensor<8x1024x1024xui32>
    %mask = stablehlo.compare LT, %shifted, %keys, UNSIGNED : (tensor<8x1024x1024xui32>, tensor<8x1024x1024xui32>) -> tensor<8x1024x1024xi1>
    %zeros = stablehlo.constant dense<0.0> : tensor<8x1024x1024xf32>
    %left = stablehlo.select %mask, %p, %zeros : tensor<8x1024x1024xi1>, tensor<8x1024x1024xf32>
    %ph = stablehlo.convert %left : (tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xbf16>
    %o = stablehlo.dot_general %ph, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x1024x1024xbf16>, tensor<8x1024x64xbf16>) -> tensor<8x1024x64xbf16>
    return %o, %mask : tensor<8x1024x64xbf16>, tensor<8x1024x1024xi1>
  }
}

// -----

// Declined: no kernel of two contractions takes f32.
// CHECK-LABEL: func.func @single
// CHECK-NOT: @mask_
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @single(%q: tensor<8x1024x64xf32>, %k: tensor<8x1024x64xf32>, %v: tensor<8x1024x64xf32>, %key: tensor<ui32>) -> (tensor<8x1024x64xf32>, tensor<8x1024x1024xi1>) {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x1024x64xf32>, tensor<8x1024x64xf32>) -> tensor<8x1024x1024xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<8x1024x1024xf32>, tensor<f32>) -> tensor<8x1024xf32>
    %ms = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<8x1024xf32>) -> tensor<8x1024x1024xf32>
    %less = stablehlo.subtract %s, %ms : tensor<8x1024x1024xf32>
    %e = stablehlo.exponential %less : tensor<8x1024x1024xf32>
    %l = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [2] : (tensor<8x1024x1024xf32>, tensor<f32>) -> tensor<8x1024xf32>
    %ls = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<8x1024xf32>) -> tensor<8x1024x1024xf32>
    %p = stablehlo.divide %e, %ls : tensor<8x1024x1024xf32>
    %place = stablehlo.iota dim = 2 : tensor<8x1024x1024xui32>
    %keys = stablehlo.broadcast_in_dim %key, dims = [] : (tensor<ui32>) -> tensor<8x1024x1024xui32>
    %shifted = stablehlo.shift_left %place, %keys : tensor<8x1024x1024xui32>
    %drawn = stablehlo.xor %shifted, %keys : tensor<8x1024x1024xui32>
    %mask = stablehlo.compare LT, %drawn, %keys, UNSIGNED : (tensor<8x1024x1024xui32>, tensor<8x1024x1024xui32>) -> tensor<8x1024x1024xi1>
    %zeros = stablehlo.constant dense<0.0> : tensor<8x1024x1024xf32>
    %left = stablehlo.select %mask, %p, %zeros : tensor<8x1024x1024xi1>, tensor<8x1024x1024xf32>
    %ph = stablehlo.convert %left : (tensor<8x1024x1024xf32>) -> tensor<8x1024x1024xf32>
    %o = stablehlo.dot_general %ph, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x1024x1024xf32>, tensor<8x1024x64xf32>) -> tensor<8x1024x64xf32>
    return %o, %mask : tensor<8x1024x64xf32>, tensor<8x1024x1024xi1>
  }
}
