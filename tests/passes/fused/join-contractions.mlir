// RUN: hloom-opt %s --split-input-file --plan-fusion --join-contractions | filecheck %s

// Changed: Softmax between two contractions, under a mask made of iotas: one group, and from column row + 1 on nothing is computed.
// CHECK: code = "FUSED_ATTENTION"
// CHECK-SAME: reason = "what lies between two contractions stays in the tile; columns from row + 1 on are masked, and left out"
// CHECK-LABEL: func.func @causal
// CHECK: %[[MASK:.*]] = call @fusion_{{.*}}() : () -> tensor<64x64xf32>
// CHECK-NEXT: %[[O:.*]] = call @attention_0(%{{.*}}, %{{.*}}, %[[MASK]], %{{.*}})
// CHECK-NEXT: return %[[O]]
// CHECK: func.func private @attention_0
// CHECK-SAME: hloom.kind = "matmul", hloom.live = array<i64: 64, 64, 1>
// CHECK: stablehlo.dot_general
// CHECK: %[[E:.*]] = stablehlo.exponential
// CHECK: %[[O:.*]] = stablehlo.dot_general %[[E]]
// CHECK: stablehlo.divide %[[O]], %{{.*}} : tensor<4x64x32xf32>
func.func @causal(%q: tensor<4x64x32xf32>, %k: tensor<4x64x32xf32>, %v: tensor<4x64x32xf32>) -> tensor<4x64x32xf32> {
  %column = stablehlo.iota dim = 1 : tensor<64x64xi32>
  %row = stablehlo.iota dim = 0 : tensor<64x64xi32>
  %seen = stablehlo.compare GE, %row, %column : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi1>
  %zero = stablehlo.constant dense<0.0> : tensor<64x64xf32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<64x64xf32>
  %mask = stablehlo.select %seen, %zero, %least : tensor<64x64xi1>, tensor<64x64xf32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x64x32xf32>, tensor<4x64x32xf32>) -> tensor<4x64x64xf32>
  %all = stablehlo.broadcast_in_dim %mask, dims = [1, 2] : (tensor<64x64xf32>) -> tensor<4x64x64xf32>
  %x = stablehlo.add %s, %all : tensor<4x64x64xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<4x64x64xf32>, tensor<f32>) -> tensor<4x64xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x64xf32>
  %d = stablehlo.subtract %x, %mb : tensor<4x64x64xf32>
  %e = stablehlo.exponential %d : tensor<4x64x64xf32>
  %t = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [2] : (tensor<4x64x64xf32>, tensor<f32>) -> tensor<4x64xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x64xf32>
  %w = stablehlo.divide %e, %tb : tensor<4x64x64xf32>
  %o = stablehlo.dot_general %w, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x64x64xf32>, tensor<4x64x32xf32>) -> tensor<4x64x32xf32>
  return %o : tensor<4x64x32xf32>
}

// -----

// Changed: Weights that others read, too, are whole: one group, of which nothing is left out.
// CHECK-LABEL: func.func @causal_weights
// CHECK: call @attention_0
// CHECK-NOT: hloom.live
func.func @causal_weights(%q: tensor<4x64x32xf32>, %k: tensor<4x64x32xf32>, %v: tensor<4x64x32xf32>) -> (tensor<4x64x64xf32>, tensor<4x64x32xf32>) {
  %column = stablehlo.iota dim = 1 : tensor<64x64xi32>
  %row = stablehlo.iota dim = 0 : tensor<64x64xi32>
  %seen = stablehlo.compare GE, %row, %column : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi1>
  %zero = stablehlo.constant dense<0.0> : tensor<64x64xf32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<64x64xf32>
  %mask = stablehlo.select %seen, %zero, %least : tensor<64x64xi1>, tensor<64x64xf32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x64x32xf32>, tensor<4x64x32xf32>) -> tensor<4x64x64xf32>
  %all = stablehlo.broadcast_in_dim %mask, dims = [1, 2] : (tensor<64x64xf32>) -> tensor<4x64x64xf32>
  %x = stablehlo.add %s, %all : tensor<4x64x64xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<4x64x64xf32>, tensor<f32>) -> tensor<4x64xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x64xf32>
  %d = stablehlo.subtract %x, %mb : tensor<4x64x64xf32>
  %e = stablehlo.exponential %d : tensor<4x64x64xf32>
  %t = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [2] : (tensor<4x64x64xf32>, tensor<f32>) -> tensor<4x64xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x64xf32>
  %w = stablehlo.divide %e, %tb : tensor<4x64x64xf32>
  %o = stablehlo.dot_general %w, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x64x64xf32>, tensor<4x64x32xf32>) -> tensor<4x64x32xf32>
  return %w, %o : tensor<4x64x64xf32>, tensor<4x64x32xf32>
}

// -----

// Changed: Weights that are rounded to halves: one group, and what the mask leaves out is left out likewise.
// CHECK: code = "FUSED_ATTENTION"
// CHECK-SAME: columns from row + 1 on are masked, and left out
// CHECK-LABEL: func.func @halves
// CHECK: call @attention_0
// CHECK: hloom.live = array<i64: 64, 64, 1>
func.func @halves(%q: tensor<4x64x32xf32>, %k: tensor<4x64x32xf32>, %v: tensor<4x64x32xbf16>) -> tensor<4x64x32xf32> {
  %column = stablehlo.iota dim = 1 : tensor<64x64xi32>
  %row = stablehlo.iota dim = 0 : tensor<64x64xi32>
  %seen = stablehlo.compare GE, %row, %column : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi1>
  %zero = stablehlo.constant dense<0.0> : tensor<64x64xf32>
  %least = stablehlo.constant dense<0xFF800000> : tensor<64x64xf32>
  %mask = stablehlo.select %seen, %zero, %least : tensor<64x64xi1>, tensor<64x64xf32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x64x32xf32>, tensor<4x64x32xf32>) -> tensor<4x64x64xf32>
  %all = stablehlo.broadcast_in_dim %mask, dims = [1, 2] : (tensor<64x64xf32>) -> tensor<4x64x64xf32>
  %x = stablehlo.add %s, %all : tensor<4x64x64xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<4x64x64xf32>, tensor<f32>) -> tensor<4x64xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x64xf32>
  %d = stablehlo.subtract %x, %mb : tensor<4x64x64xf32>
  %e = stablehlo.exponential %d : tensor<4x64x64xf32>
  %t = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [2] : (tensor<4x64x64xf32>, tensor<f32>) -> tensor<4x64xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<4x64xf32>) -> tensor<4x64x64xf32>
  %w = stablehlo.divide %e, %tb : tensor<4x64x64xf32>
  %h = stablehlo.convert %w : (tensor<4x64x64xf32>) -> tensor<4x64x64xbf16>
  %o = stablehlo.dot_general %h, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x64x64xbf16>, tensor<4x64x32xbf16>) -> tensor<4x64x32xf32>
  return %o : tensor<4x64x32xf32>
}

// -----

// Changed: A mask that is data leaves all columns: one group without hloom.live.
// CHECK: code = "FUSED_ATTENTION"
// CHECK-SAME: reason = "what lies between two contractions stays in the tile"
// CHECK-LABEL: func.func @masked_by_data
// CHECK: call @attention_0
// CHECK-NOT: hloom.live
func.func @masked_by_data(%q: tensor<64x32xf32>, %k: tensor<64x32xf32>, %v: tensor<64x32xf32>, %mask: tensor<64x64xf32>) -> tensor<64x32xf32> {
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x64xf32>
  %x = stablehlo.add %s, %mask : tensor<64x64xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
  %d = stablehlo.subtract %x, %mb : tensor<64x64xf32>
  %e = stablehlo.exponential %d : tensor<64x64xf32>
  %t = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
  %w = stablehlo.divide %e, %tb : tensor<64x64xf32>
  %o = stablehlo.dot_general %w, %v, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  return %o : tensor<64x32xf32>
}

// -----

// Changed: Two layers share one group.
// CHECK-LABEL: func.func @two_layers
// CHECK: %[[A:.*]] = call @attention_0(%arg0, %arg1, %arg2)
// CHECK-NEXT: %[[B:.*]] = call @attention_0(%[[A]], %arg1, %arg2)
// CHECK-NEXT: return %[[B]]
// CHECK-NOT: @attention_1
func.func @two_layers(%q: tensor<64x32xf32>, %k: tensor<64x32xf32>, %v: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x64xf32>
  %t = stablehlo.reduce(%s init: %none) applies stablehlo.add across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
  %w = stablehlo.divide %s, %tb : tensor<64x64xf32>
  %o = stablehlo.dot_general %w, %v, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %s2 = stablehlo.dot_general %o, %k, contracting_dims = [1] x [1] : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x64xf32>
  %t2 = stablehlo.reduce(%s2 init: %none) applies stablehlo.add across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  %tb2 = stablehlo.broadcast_in_dim %t2, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
  %w2 = stablehlo.divide %s2, %tb2 : tensor<64x64xf32>
  %o2 = stablehlo.dot_general %w2, %v, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  return %o2 : tensor<64x32xf32>
}

// -----

// Changed: A number of each row is returned: the group has two results.
// CHECK: code = "FUSED_ATTENTION"
// CHECK-LABEL: func.func @row_numbers_returned
// CHECK: %[[O:.*]]:2 = call @attention_0(
// CHECK-NEXT: return %[[O]]#1, %[[O]]#0
func.func @row_numbers_returned(%q: tensor<64x32xf32>, %k: tensor<64x32xf32>, %v: tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64xf32>) {
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x64xf32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %t = stablehlo.reduce(%s init: %none) applies stablehlo.add across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
  %w = stablehlo.divide %s, %tb : tensor<64x64xf32>
  %o = stablehlo.dot_general %w, %v, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  %l = stablehlo.log %t : tensor<64xf32>
  return %o, %l : tensor<64x32xf32>, tensor<64xf32>
}

// -----

// Changed: The weights are returned: a tile writes its rows of them.
// CHECK: code = "FUSED_ATTENTION"
// CHECK-LABEL: func.func @returned
// CHECK: %[[O:.*]]:2 = call @attention_0(
// CHECK-NEXT: return %[[O]]#1, %[[O]]#0
func.func @returned(%q: tensor<64x32xf32>, %k: tensor<64x32xf32>, %v: tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64x64xf32>) {
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x64xf32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %t = stablehlo.reduce(%s init: %none) applies stablehlo.add across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
  %w = stablehlo.divide %s, %tb : tensor<64x64xf32>
  %o = stablehlo.dot_general %w, %v, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  return %o, %w : tensor<64x32xf32>, tensor<64x64xf32>
}

// -----

// Declined: A policy wants the contractions apart.
// CHECK: code = "POLICY_FORBIDDEN"
// CHECK-SAME: policy_rule = "kernel 1: op = 'dot_general', use = 'apart'"
// CHECK-LABEL: func.func @apart
// CHECK-NOT: @attention_0
module attributes {hloom.policy = {kernel = [{op = "dot_general", use = "apart"}]}} {
  func.func @apart(%q: tensor<64x32xf32>, %k: tensor<64x32xf32>, %v: tensor<64x32xf32>) -> tensor<64x32xf32> {
    %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x64xf32>
    %none = stablehlo.constant dense<0.0> : tensor<f32>
    %t = stablehlo.reduce(%s init: %none) applies stablehlo.add across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
    %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
    %w = stablehlo.divide %s, %tb : tensor<64x64xf32>
    %o = stablehlo.dot_general %w, %v, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    return %o : tensor<64x32xf32>
  }
}

// -----

// Declined: Four rows read each matrix once.
// CHECK: code = "NO_GAIN"
// CHECK-SAME: reason = "4 rows read each matrix once"
// CHECK-LABEL: func.func @few_rows
// CHECK-NOT: @attention_0
func.func @few_rows(%q: tensor<4x32xf32>, %k: tensor<64x32xf32>, %v: tensor<64x32xf32>) -> tensor<4x32xf32> {
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<4x32xf32>, tensor<64x32xf32>) -> tensor<4x64xf32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %t = stablehlo.reduce(%s init: %none) applies stablehlo.add across dimensions = [1] : (tensor<4x64xf32>, tensor<f32>) -> tensor<4xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<4xf32>) -> tensor<4x64xf32>
  %w = stablehlo.divide %s, %tb : tensor<4x64xf32>
  %o = stablehlo.dot_general %w, %v, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x32xf32>) -> tensor<4x32xf32>
  return %o : tensor<4x32xf32>
}

// -----

// Unchanged: Two contractions with nothing reduced between them.
// CHECK-LABEL: func.func @plain
// CHECK: call @fusion_0
// CHECK: call @fusion_1
// CHECK-NOT: @attention_0
func.func @plain(%q: tensor<64x32xf32>, %k: tensor<64x32xf32>, %v: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %s = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x64xf32>
  %w = stablehlo.tanh %s : tensor<64x64xf32>
  %o = stablehlo.dot_general %w, %v, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  return %o : tensor<64x32xf32>
}

// -----

// Changed: What is returned has two dimensions where the contractions have one: these are made two, so that a tile has the rows of both.
// CHECK: code = "FUSED_ATTENTION"
// CHECK-LABEL: func.func @returned_by_heads
// CHECK: call @attention_0(
// CHECK: func.func private @attention_0(
// CHECK-COUNT-2: stablehlo.dot_general {{.*}} batching_dims = [0, 1] x [0, 1]
// CHECK: return %{{.*}}, %{{.*}} : tensor<2x4x64x64xi1>, tensor<8x64x32xf32>
func.func @returned_by_heads(%q: tensor<8x64x32xf32>, %k: tensor<8x64x32xf32>, %v: tensor<8x64x32xf32>) -> (tensor<8x64x32xf32>, tensor<2x4x64x64xi1>) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x64x32xf32>, tensor<8x64x32xf32>) -> tensor<8x64x64xf32>
  %h = stablehlo.reshape %s : (tensor<8x64x64xf32>) -> tensor<2x4x64x64xf32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.constant dense<0.0> : tensor<2x4x64x64xf32>
  %t = stablehlo.reduce(%h init: %none) applies stablehlo.add across dimensions = [3] : (tensor<2x4x64x64xf32>, tensor<f32>) -> tensor<2x4x64xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1, 2] : (tensor<2x4x64xf32>) -> tensor<2x4x64x64xf32>
  %m = stablehlo.compare GT, %h, %tb : (tensor<2x4x64x64xf32>, tensor<2x4x64x64xf32>) -> tensor<2x4x64x64xi1>
  %w = stablehlo.select %m, %h, %zeros : tensor<2x4x64x64xi1>, tensor<2x4x64x64xf32>
  %f = stablehlo.reshape %w : (tensor<2x4x64x64xf32>) -> tensor<8x64x64xf32>
  %o = stablehlo.dot_general %f, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x64x64xf32>, tensor<8x64x32xf32>) -> tensor<8x64x32xf32>
  return %o, %m : tensor<8x64x32xf32>, tensor<2x4x64x64xi1>
}

// -----

// Unchanged: The first contraction makes one number, which has no columns.
// CHECK-LABEL: func.func @one_number
// CHECK: call @fusion_0
// CHECK: call @fusion_1
// CHECK: call @fusion_2
// CHECK-NOT: @attention_0
func.func @one_number(%q: tensor<32xf32>, %x: tensor<64x64xf32>, %v: tensor<64x32xf32>) -> tensor<64x32xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %q, contracting_dims = [0] x [0] : (tensor<32xf32>, tensor<32xf32>) -> tensor<f32>
  %t = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
  %p = stablehlo.multiply %x, %t : tensor<64x64xf32>
  %e = stablehlo.exponential %p : tensor<64x64xf32>
  %sum = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  %b = stablehlo.broadcast_in_dim %sum, dims = [0] : (tensor<64xf32>) -> tensor<64x64xf32>
  %w = stablehlo.divide %e, %b : tensor<64x64xf32>
  %o = stablehlo.dot_general %w, %v, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
  return %o : tensor<64x32xf32>
}
