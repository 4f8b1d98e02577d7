// RUN: hloom-opt %s --split-input-file --plan-fusion --join-contractions | filecheck %s

// Changed: f16 on a GPU: the rows are reduced online, so the weights are divided behind the second contraction. The causal mask leaves
// columns out.
// CHECK: code = "FUSED_ATTENTION"
// CHECK-SAME: reason = "what lies between two contractions stays in the tile; columns from row + 1 on are masked, and left out"
// CHECK-LABEL: func.func @causal
// CHECK: call @attention_0(%{{.*}}, %{{.*}}, %{{.*}})
// CHECK-NEXT: return
// CHECK: func.func private @attention_0
// CHECK-SAME: hloom.kind = "matmul", hloom.live = array<i64: 128, 128, 1>, hloom.online
// CHECK: %[[E:.*]] = stablehlo.exponential
// CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[E]]
// CHECK: %[[P:.*]] = stablehlo.convert %[[E]] : (tensor<4x128x128xf32>) -> tensor<4x128x128xf16>
// CHECK: %[[O:.*]] = stablehlo.dot_general %[[P]], {{.*}} -> tensor<4x128x64xf32>
// CHECK: %[[ROWS:.*]] = stablehlo.broadcast_in_dim %[[SUM]], dims = [0, 1] : (tensor<4x128xf32>) -> tensor<4x128x64xf32>
// CHECK: %[[Q:.*]] = stablehlo.divide %[[O]], %[[ROWS]] : tensor<4x128x64xf32>
// CHECK: stablehlo.convert %[[Q]] : (tensor<4x128x64xf32>) -> tensor<4x128x64xf16>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @causal(%q: tensor<4x128x64xf16>, %k: tensor<4x128x64xf16>, %v: tensor<4x128x64xf16>) -> tensor<4x128x64xf16> {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x128x64xf16>, tensor<4x128x64xf16>) -> tensor<4x128x128xf32>
    %scale = stablehlo.constant dense<1.250000e-01> : tensor<4x128x128xf32>
    %x0 = stablehlo.multiply %s, %scale : tensor<4x128x128xf32>
    %column = stablehlo.iota dim = 2 : tensor<4x128x128xi32>
    %row = stablehlo.iota dim = 1 : tensor<4x128x128xi32>
    %seen = stablehlo.compare GE, %row, %column : (tensor<4x128x128xi32>, tensor<4x128x128xi32>) -> tensor<4x128x128xi1>
    %least = stablehlo.constant dense<0xFF800000> : tensor<4x128x128xf32>
    %x1 = stablehlo.select %seen, %x0, %least : tensor<4x128x128xi1>, tensor<4x128x128xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%x1 init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<4x128x128xf32>, tensor<f32>) -> tensor<4x128xf32>
    %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x128xf32>) -> tensor<4x128x128xf32>
    %d = stablehlo.subtract %x1, %mb : tensor<4x128x128xf32>
    %e = stablehlo.exponential %d : tensor<4x128x128xf32>
    %t = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [2] : (tensor<4x128x128xf32>, tensor<f32>) -> tensor<4x128xf32>
    %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<4x128xf32>) -> tensor<4x128x128xf32>
    %w = stablehlo.divide %e, %tb : tensor<4x128x128xf32>
    %h = stablehlo.convert %w : (tensor<4x128x128xf32>) -> tensor<4x128x128xf16>
    %o = stablehlo.dot_general %h, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x128x128xf16>, tensor<4x128x64xf16>) -> tensor<4x128x64xf16>
    return %o : tensor<4x128x64xf16>
  }
}

// -----

// Changed: a number of each row that others read (the logarithm of the sum, for the backward pass) is a result of the kernel.
// CHECK: code = "FUSED_ATTENTION"
// CHECK-LABEL: func.func @logarithms
// CHECK: %[[R:.*]]:2 = call @attention_0(%{{.*}}, %{{.*}}, %{{.*}}) : {{.*}} -> (tensor<4x128xf32>, tensor<4x128x64xf16>)
// CHECK-NEXT: return %[[R]]#1, %[[R]]#0
// CHECK: func.func private @attention_0
// CHECK-SAME: hloom.online
// CHECK: stablehlo.log
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @logarithms(%q: tensor<4x128x64xf16>, %k: tensor<4x128x64xf16>, %v: tensor<4x128x64xf16>) -> (tensor<4x128x64xf16>, tensor<4x128xf32>) {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x128x64xf16>, tensor<4x128x64xf16>) -> tensor<4x128x128xf32>
    %scale = stablehlo.constant dense<1.250000e-01> : tensor<4x128x128xf32>
    %x0 = stablehlo.multiply %s, %scale : tensor<4x128x128xf32>
    %column = stablehlo.iota dim = 2 : tensor<4x128x128xi32>
    %row = stablehlo.iota dim = 1 : tensor<4x128x128xi32>
    %seen = stablehlo.compare GE, %row, %column : (tensor<4x128x128xi32>, tensor<4x128x128xi32>) -> tensor<4x128x128xi1>
    %least = stablehlo.constant dense<0xFF800000> : tensor<4x128x128xf32>
    %x1 = stablehlo.select %seen, %x0, %least : tensor<4x128x128xi1>, tensor<4x128x128xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%x1 init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<4x128x128xf32>, tensor<f32>) -> tensor<4x128xf32>
    %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x128xf32>) -> tensor<4x128x128xf32>
    %d = stablehlo.subtract %x1, %mb : tensor<4x128x128xf32>
    %e = stablehlo.exponential %d : tensor<4x128x128xf32>
    %t = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [2] : (tensor<4x128x128xf32>, tensor<f32>) -> tensor<4x128xf32>
    %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<4x128xf32>) -> tensor<4x128x128xf32>
    %w = stablehlo.divide %e, %tb : tensor<4x128x128xf32>
    %h = stablehlo.convert %w : (tensor<4x128x128xf32>) -> tensor<4x128x128xf16>
    %o = stablehlo.dot_general %h, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x128x128xf16>, tensor<4x128x64xf16>) -> tensor<4x128x64xf16>
    %log = stablehlo.log %t : tensor<4x128xf32>
    %lse = stablehlo.add %log, %m : tensor<4x128xf32>
    return %o, %lse : tensor<4x128x64xf16>, tensor<4x128xf32>
  }
}

// -----

// Changed: a large negative number, as JAX's library masks by, is as -inf where the mask leaves each row a column.
// CHECK: reason = "what lies between two contractions stays in the tile; columns from row + 1 on are masked, and left out"
// CHECK-LABEL: func.func @finite
// CHECK: hloom.live = array<i64: 128, 128, 1>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @finite(%q: tensor<4x128x64xf16>, %k: tensor<4x128x64xf16>, %v: tensor<4x128x64xf16>) -> tensor<4x128x64xf16> {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x128x64xf16>, tensor<4x128x64xf16>) -> tensor<4x128x128xf32>
    %scale = stablehlo.constant dense<1.250000e-01> : tensor<4x128x128xf32>
    %x0 = stablehlo.multiply %s, %scale : tensor<4x128x128xf32>
    %column = stablehlo.iota dim = 2 : tensor<4x128x128xi32>
    %row = stablehlo.iota dim = 1 : tensor<4x128x128xi32>
    %seen = stablehlo.compare GE, %row, %column : (tensor<4x128x128xi32>, tensor<4x128x128xi32>) -> tensor<4x128x128xi1>
    %least = stablehlo.constant dense<-2.38197633E+38> : tensor<4x128x128xf32>
    %x1 = stablehlo.select %seen, %x0, %least : tensor<4x128x128xi1>, tensor<4x128x128xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%x1 init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<4x128x128xf32>, tensor<f32>) -> tensor<4x128xf32>
    %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x128xf32>) -> tensor<4x128x128xf32>
    %d = stablehlo.subtract %x1, %mb : tensor<4x128x128xf32>
    %e = stablehlo.exponential %d : tensor<4x128x128xf32>
    %t = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [2] : (tensor<4x128x128xf32>, tensor<f32>) -> tensor<4x128xf32>
    %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<4x128xf32>) -> tensor<4x128x128xf32>
    %w = stablehlo.divide %e, %tb : tensor<4x128x128xf32>
    %h = stablehlo.convert %w : (tensor<4x128x128xf32>) -> tensor<4x128x128xf16>
    %o = stablehlo.dot_general %h, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x128x128xf16>, tensor<4x128x64xf16>) -> tensor<4x128x64xf16>
    return %o : tensor<4x128x64xf16>
  }
}

// -----

// Unchanged in that: rows of which another mask may leave nothing have the mean of all columns, those behind the diagonal too.
// CHECK: code = "FUSED_ATTENTION"
// CHECK-SAME: reason = "what lies between two contractions stays in the tile"
// CHECK-LABEL: func.func @padded
// CHECK-NOT: hloom.live
// CHECK: return
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @padded(%there: tensor<4x128x128xi1>, %q: tensor<4x128x64xf16>, %k: tensor<4x128x64xf16>, %v: tensor<4x128x64xf16>) -> tensor<4x128x64xf16> {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x128x64xf16>, tensor<4x128x64xf16>) -> tensor<4x128x128xf32>
    %scale = stablehlo.constant dense<1.250000e-01> : tensor<4x128x128xf32>
    %x0 = stablehlo.multiply %s, %scale : tensor<4x128x128xf32>
    %column = stablehlo.iota dim = 2 : tensor<4x128x128xi32>
    %row = stablehlo.iota dim = 1 : tensor<4x128x128xi32>
    %seen = stablehlo.compare GE, %row, %column : (tensor<4x128x128xi32>, tensor<4x128x128xi32>) -> tensor<4x128x128xi1>
    %least = stablehlo.constant dense<-2.38197633E+38> : tensor<4x128x128xf32>
    %both = stablehlo.and %seen, %there : tensor<4x128x128xi1>
    %x1 = stablehlo.select %both, %x0, %least : tensor<4x128x128xi1>, tensor<4x128x128xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%x1 init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<4x128x128xf32>, tensor<f32>) -> tensor<4x128xf32>
    %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x128xf32>) -> tensor<4x128x128xf32>
    %d = stablehlo.subtract %x1, %mb : tensor<4x128x128xf32>
    %e = stablehlo.exponential %d : tensor<4x128x128xf32>
    %t = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [2] : (tensor<4x128x128xf32>, tensor<f32>) -> tensor<4x128xf32>
    %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<4x128xf32>) -> tensor<4x128x128xf32>
    %w = stablehlo.divide %e, %tb : tensor<4x128x128xf32>
    %h = stablehlo.convert %w : (tensor<4x128x128xf32>) -> tensor<4x128x128xf16>
    %o = stablehlo.dot_general %h, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x128x128xf16>, tensor<4x128x64xf16>) -> tensor<4x128x64xf16>
    return %o : tensor<4x128x64xf16>
  }
}

// -----

// Declined: f32, for which there is no kernel.
// CHECK: code = "NOT_TILEABLE"{{.*}}groups = [@fusion_{{[0-9]}}, @fusion_{{[0-9]}}, @fusion_{{[0-9]}}]
// CHECK-SAME: reason = "the kernel multiplies f16 or bf16, not f32"
// CHECK-LABEL: func.func @floats
// CHECK-NOT: @attention_0
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @floats(%q: tensor<4x128x64xf32>, %k: tensor<4x128x64xf32>, %v: tensor<4x128x64xf32>) -> tensor<4x128x64xf32> {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x128x64xf32>, tensor<4x128x64xf32>) -> tensor<4x128x128xf32>
    %scale = stablehlo.constant dense<1.250000e-01> : tensor<4x128x128xf32>
    %x0 = stablehlo.multiply %s, %scale : tensor<4x128x128xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%x0 init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<4x128x128xf32>, tensor<f32>) -> tensor<4x128xf32>
    %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x128xf32>) -> tensor<4x128x128xf32>
    %d = stablehlo.subtract %x0, %mb : tensor<4x128x128xf32>
    %e = stablehlo.exponential %d : tensor<4x128x128xf32>
    %t = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [2] : (tensor<4x128x128xf32>, tensor<f32>) -> tensor<4x128xf32>
    %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<4x128xf32>) -> tensor<4x128x128xf32>
    %w = stablehlo.divide %e, %tb : tensor<4x128x128xf32>
    %o = stablehlo.dot_general %w, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x128x128xf32>, tensor<4x128x64xf32>) -> tensor<4x128x64xf32>
    return %o : tensor<4x128x64xf32>
  }
}

// -----

// Declined: Heads that do not stay in registers.
// CHECK: code = "ROW_TOO_LARGE"{{.*}}groups = [@fusion_{{[0-9]}}, @fusion_{{[0-9]}}, @fusion_{{[0-9]}}]
// CHECK-SAME: reason = "heads of 256 do not stay in registers; 128 do"
// CHECK-LABEL: func.func @wide
// CHECK-NOT: @attention_0
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @wide(%q: tensor<4x128x256xf16>, %k: tensor<4x128x256xf16>, %v: tensor<4x128x256xf16>) -> tensor<4x128x256xf16> {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x128x256xf16>, tensor<4x128x256xf16>) -> tensor<4x128x128xf32>
    %scale = stablehlo.constant dense<1.250000e-01> : tensor<4x128x128xf32>
    %x0 = stablehlo.multiply %s, %scale : tensor<4x128x128xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%x0 init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<4x128x128xf32>, tensor<f32>) -> tensor<4x128xf32>
    %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x128xf32>) -> tensor<4x128x128xf32>
    %d = stablehlo.subtract %x0, %mb : tensor<4x128x128xf32>
    %e = stablehlo.exponential %d : tensor<4x128x128xf32>
    %t = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [2] : (tensor<4x128x128xf32>, tensor<f32>) -> tensor<4x128xf32>
    %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<4x128xf32>) -> tensor<4x128x128xf32>
    %w = stablehlo.divide %e, %tb : tensor<4x128x128xf32>
    %h = stablehlo.convert %w : (tensor<4x128x128xf32>) -> tensor<4x128x128xf16>
    %o = stablehlo.dot_general %h, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x128x128xf16>, tensor<4x128x256xf16>) -> tensor<4x128x256xf16>
    return %o : tensor<4x128x256xf16>
  }
}

// -----

// Declined: A row of a decoder.
// CHECK: code = "NO_GAIN"{{.*}}groups = [@fusion_{{[0-9]}}, @fusion_{{[0-9]}}, @fusion_{{[0-9]}}]
// CHECK-SAME: reason = "a block multiplies 64 rows and as many columns, and there are 1"
// CHECK-LABEL: func.func @one_row
// CHECK-NOT: @attention_0
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @one_row(%q: tensor<4x1x64xf16>, %k: tensor<4x128x64xf16>, %v: tensor<4x128x64xf16>) -> tensor<4x1x64xf16> {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x1x64xf16>, tensor<4x128x64xf16>) -> tensor<4x1x128xf32>
    %scale = stablehlo.constant dense<1.250000e-01> : tensor<4x1x128xf32>
    %x0 = stablehlo.multiply %s, %scale : tensor<4x1x128xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%x0 init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<4x1x128xf32>, tensor<f32>) -> tensor<4x1xf32>
    %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x1x128xf32>
    %d = stablehlo.subtract %x0, %mb : tensor<4x1x128xf32>
    %e = stablehlo.exponential %d : tensor<4x1x128xf32>
    %t = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [2] : (tensor<4x1x128xf32>, tensor<f32>) -> tensor<4x1xf32>
    %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x1x128xf32>
    %w = stablehlo.divide %e, %tb : tensor<4x1x128xf32>
    %h = stablehlo.convert %w : (tensor<4x1x128xf32>) -> tensor<4x1x128xf16>
    %o = stablehlo.dot_general %h, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x1x128xf16>, tensor<4x128x64xf16>) -> tensor<4x1x64xf16>
    return %o : tensor<4x1x64xf16>
  }
}

// -----

// Declined: A sum that does not scale with the maximum.
// CHECK: code = "NOT_TILEABLE"{{.*}}groups = [@fusion_{{[0-9]}}, @fusion_{{[0-9]}}, @fusion_{{[0-9]}}]
// CHECK-SAME: reason = "the rows are no maximum and a sum that can be rescaled when the maximum grows"
// CHECK-LABEL: func.func @squares
// CHECK-NOT: @attention_0
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @squares(%q: tensor<4x128x64xf16>, %k: tensor<4x128x64xf16>, %v: tensor<4x128x64xf16>) -> tensor<4x128x64xf16> {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x128x64xf16>, tensor<4x128x64xf16>) -> tensor<4x128x128xf32>
    %scale = stablehlo.constant dense<1.250000e-01> : tensor<4x128x128xf32>
    %x0 = stablehlo.multiply %s, %scale : tensor<4x128x128xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%x0 init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<4x128x128xf32>, tensor<f32>) -> tensor<4x128xf32>
    %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x128xf32>) -> tensor<4x128x128xf32>
    %d = stablehlo.subtract %x0, %mb : tensor<4x128x128xf32>
    %e = stablehlo.multiply %d, %d : tensor<4x128x128xf32>
    %t = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [2] : (tensor<4x128x128xf32>, tensor<f32>) -> tensor<4x128xf32>
    %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<4x128xf32>) -> tensor<4x128x128xf32>
    %w = stablehlo.divide %e, %tb : tensor<4x128x128xf32>
    %h = stablehlo.convert %w : (tensor<4x128x128xf32>) -> tensor<4x128x128xf16>
    %o = stablehlo.dot_general %h, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x128x128xf16>, tensor<4x128x64xf16>) -> tensor<4x128x64xf16>
    return %o : tensor<4x128x64xf16>
  }
}

// -----

// Declined: A policy wants the contractions apart.
// CHECK: code = "POLICY_FORBIDDEN"{{.*}}groups = [@fusion_{{[0-9]}}, @fusion_{{[0-9]}}, @fusion_{{[0-9]}}]
// CHECK-SAME: reason = "the contractions have kernels of their own"
// CHECK-LABEL: func.func @apart
// CHECK-NOT: @attention_0
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}, hloom.policy = {kernel = [{op = "dot_general", use = "apart"}]}} {
  func.func @apart(%q: tensor<4x128x64xf16>, %k: tensor<4x128x64xf16>, %v: tensor<4x128x64xf16>) -> tensor<4x128x64xf16> {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x128x64xf16>, tensor<4x128x64xf16>) -> tensor<4x128x128xf32>
    %scale = stablehlo.constant dense<1.250000e-01> : tensor<4x128x128xf32>
    %x0 = stablehlo.multiply %s, %scale : tensor<4x128x128xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%x0 init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<4x128x128xf32>, tensor<f32>) -> tensor<4x128xf32>
    %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x128xf32>) -> tensor<4x128x128xf32>
    %d = stablehlo.subtract %x0, %mb : tensor<4x128x128xf32>
    %e = stablehlo.exponential %d : tensor<4x128x128xf32>
    %t = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [2] : (tensor<4x128x128xf32>, tensor<f32>) -> tensor<4x128xf32>
    %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<4x128xf32>) -> tensor<4x128x128xf32>
    %w = stablehlo.divide %e, %tb : tensor<4x128x128xf32>
    %h = stablehlo.convert %w : (tensor<4x128x128xf32>) -> tensor<4x128x128xf16>
    %o = stablehlo.dot_general %h, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x128x128xf16>, tensor<4x128x64xf16>) -> tensor<4x128x64xf16>
    return %o : tensor<4x128x64xf16>
  }
}

// -----

// Changed: parts of one projection are read where they lie, by batches and heads; results are written as the tokens come; a mask of indices is
// made in the group.
// CHECK: code = "FUSED_ATTENTION"
// CHECK-LABEL: func.func @one_projection
// CHECK-NEXT: call @attention_0(%arg0) : (tensor<128x384xf16>) -> tensor<2x64x2x64xf16>
// CHECK-NEXT: return
// CHECK: func.func private @attention_0(%[[X:.*]]: tensor<128x384xf16>)
// CHECK: stablehlo.iota
// CHECK-DAG: %[[QS:.*]] = stablehlo.slice %{{.*}} [0:2, 0:64, 0:2, 0:64] : (tensor<2x64x6x64xf16>)
// CHECK-DAG: %[[KS:.*]] = stablehlo.slice %{{.*}} [0:2, 0:64, 2:4, 0:64] : (tensor<2x64x6x64xf16>)
// CHECK: stablehlo.dot_general %[[QS]], %[[KS]], batching_dims = [0, 2] x [0, 2], contracting_dims = [3] x [3]
// CHECK: %[[VS:.*]] = stablehlo.slice %{{.*}} [0:2, 0:64, 4:6, 0:64] : (tensor<2x64x6x64xf16>)
// CHECK: stablehlo.dot_general %{{.*}}, %[[VS]], batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1]
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @one_projection(%x: tensor<128x384xf16>) -> tensor<2x64x2x64xf16> {
    %five = stablehlo.reshape %x : (tensor<128x384xf16>) -> tensor<2x64x3x2x64xf16>
    %parts = stablehlo.transpose %five, dims = [2, 0, 3, 1, 4] : (tensor<2x64x3x2x64xf16>) -> tensor<3x2x2x64x64xf16>
    %q1 = stablehlo.slice %parts [0:1, 0:2, 0:2, 0:64, 0:64] : (tensor<3x2x2x64x64xf16>) -> tensor<1x2x2x64x64xf16>
    %k1 = stablehlo.slice %parts [1:2, 0:2, 0:2, 0:64, 0:64] : (tensor<3x2x2x64x64xf16>) -> tensor<1x2x2x64x64xf16>
    %v1 = stablehlo.slice %parts [2:3, 0:2, 0:2, 0:64, 0:64] : (tensor<3x2x2x64x64xf16>) -> tensor<1x2x2x64x64xf16>
    %q = stablehlo.reshape %q1 : (tensor<1x2x2x64x64xf16>) -> tensor<4x64x64xf16>
    %k = stablehlo.reshape %k1 : (tensor<1x2x2x64x64xf16>) -> tensor<4x64x64xf16>
    %v = stablehlo.reshape %v1 : (tensor<1x2x2x64x64xf16>) -> tensor<4x64x64xf16>
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x64x64xf16>, tensor<4x64x64xf16>) -> tensor<4x64x64xf32>
    %scale = stablehlo.constant dense<1.250000e-01> : tensor<4x64x64xf32>
    %x0 = stablehlo.multiply %s, %scale : tensor<4x64x64xf32>
    %column = stablehlo.iota dim = 1 : tensor<64x64xi32>
    %row = stablehlo.iota dim = 0 : tensor<64x64xi32>
    %seen = stablehlo.compare GE, %row, %column : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi1>
    %zeros = stablehlo.constant dense<0.0> : tensor<64x64xf32>
    %least = stablehlo.constant dense<0xFF800000> : tensor<64x64xf32>
    %bias = stablehlo.select %seen, %zeros, %least : tensor<64x64xi1>, tensor<64x64xf32>
    %biases = stablehlo.broadcast_in_dim %bias, dims = [1, 2] : (tensor<64x64xf32>) -> tensor<4x64x64xf32>
    %x1 = stablehlo.add %x0, %biases : tensor<4x64x64xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%x1 init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<4x64x64xf32>, tensor<f32>) -> tensor<4x64xf32>
    %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x64xf32>
    %d = stablehlo.subtract %x1, %mb : tensor<4x64x64xf32>
    %e = stablehlo.exponential %d : tensor<4x64x64xf32>
    %t = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [2] : (tensor<4x64x64xf32>, tensor<f32>) -> tensor<4x64xf32>
    %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x64xf32>
    %w = stablehlo.divide %e, %tb : tensor<4x64x64xf32>
    %h = stablehlo.convert %w : (tensor<4x64x64xf32>) -> tensor<4x64x64xf16>
    %o = stablehlo.dot_general %h, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x64x64xf16>, tensor<4x64x64xf16>) -> tensor<4x64x64xf16>
    %o4 = stablehlo.reshape %o : (tensor<4x64x64xf16>) -> tensor<2x2x64x64xf16>
    %back = stablehlo.transpose %o4, dims = [0, 2, 1, 3] : (tensor<2x2x64x64xf16>) -> tensor<2x64x2x64xf16>
    return %back : tensor<2x64x2x64xf16>
  }
}

// -----

// Changed: a softmax of bf16, as flax has it: the maximum is taken in f32, where it is the same.
// CHECK: code = "FUSED_ATTENTION"
// CHECK-LABEL: func.func @of_halves
// CHECK: call @attention_0
// CHECK: func.func private @attention_0
// CHECK: stablehlo.reduce({{.*}} applies stablehlo.maximum across dimensions = [2] : (tensor<8x512x512xf32>, tensor<f32>) -> tensor<8x512xf32>
// CHECK: stablehlo.convert {{.*}} : (tensor<8x512xf32>) -> tensor<8x512xbf16>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @of_halves(%q: tensor<8x512x64xbf16>, %k: tensor<8x512x64xbf16>, %v: tensor<8x512x64xbf16>) -> tensor<8x512x64xbf16> {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x512x64xbf16>, tensor<8x512x64xbf16>) -> tensor<8x512x512xbf16>
    %low = stablehlo.constant dense<0xFF80> : tensor<bf16>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<8x512x512xbf16>, tensor<bf16>) -> tensor<8x512xbf16>
    %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<8x512xbf16>) -> tensor<8x512x512xbf16>
    %d = stablehlo.subtract %s, %mb : tensor<8x512x512xbf16>
    %e = stablehlo.exponential %d : tensor<8x512x512xbf16>
    %w = stablehlo.convert %e : (tensor<8x512x512xbf16>) -> tensor<8x512x512xf32>
    %t = stablehlo.reduce(%w init: %none) applies stablehlo.add across dimensions = [2] : (tensor<8x512x512xf32>, tensor<f32>) -> tensor<8x512xf32>
    %th = stablehlo.convert %t : (tensor<8x512xf32>) -> tensor<8x512xbf16>
    %tb = stablehlo.broadcast_in_dim %th, dims = [0, 1] : (tensor<8x512xbf16>) -> tensor<8x512x512xbf16>
    %p = stablehlo.divide %e, %tb : tensor<8x512x512xbf16>
    %o = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x512x512xbf16>, tensor<8x512x64xbf16>) -> tensor<8x512x64xbf16>
    return %o : tensor<8x512x64xbf16>
  }
}

// -----

// Declined: what is subtracted is the maximum rounded, by which no sum can be rescaled.
// CHECK: reason = "the rows are no maximum and a sum that can be rescaled when the maximum grows"
// CHECK-LABEL: func.func @by_a_rounded_maximum
// CHECK-NOT: call @attention
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, f16_flops = 989000000000000 : i64, bf16_flops = 989000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  func.func @by_a_rounded_maximum(%q: tensor<8x512x64xbf16>, %k: tensor<8x512x64xbf16>, %v: tensor<8x512x64xbf16>) -> tensor<8x512x64xbf16> {
    %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x512x64xbf16>, tensor<8x512x64xbf16>) -> tensor<8x512x512xf32>
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %m = stablehlo.reduce(%s init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<8x512x512xf32>, tensor<f32>) -> tensor<8x512xf32>
    %mh = stablehlo.convert %m : (tensor<8x512xf32>) -> tensor<8x512xbf16>
    %mb = stablehlo.broadcast_in_dim %mh, dims = [0, 1] : (tensor<8x512xbf16>) -> tensor<8x512x512xbf16>
    %wide = stablehlo.convert %mb : (tensor<8x512x512xbf16>) -> tensor<8x512x512xf32>
    %d = stablehlo.subtract %s, %wide : tensor<8x512x512xf32>
    %e = stablehlo.exponential %d : tensor<8x512x512xf32>
    %t = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [2] : (tensor<8x512x512xf32>, tensor<f32>) -> tensor<8x512xf32>
    %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<8x512xf32>) -> tensor<8x512x512xf32>
    %w = stablehlo.divide %e, %tb : tensor<8x512x512xf32>
    %p = stablehlo.convert %w : (tensor<8x512x512xf32>) -> tensor<8x512x512xbf16>
    %o = stablehlo.dot_general %p, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x512x512xbf16>, tensor<8x512x64xbf16>) -> tensor<8x512x64xbf16>
    return %o : tensor<8x512x64xbf16>
  }
}
