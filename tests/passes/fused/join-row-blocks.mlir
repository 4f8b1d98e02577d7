// RUN: hloom-opt %s --split-input-file --plan-fusion --join-row-blocks | filecheck %s

// Changed: The gradients of attention: weights are there block by block. What is masked behind the diagonal is left out.
// CHECK: code = "FUSED_ROWS"
// CHECK-SAME: reason = "what lies between contractions is there for a block of rows at a time; columns from row + 1 on are masked, and left out"
// CHECK-LABEL: func.func @gradients
// CHECK: %[[R:.*]]:3 = call @row_blocks_0
// CHECK-NEXT: return
// CHECK: func.func private @row_blocks_0
// CHECK-SAME: hloom.kind = "matmul", hloom.live = array<i64: 512, 512, 1>, hloom.row_loop = 2 : i64
// CHECK-COUNT-5: stablehlo.dot_general
func.func @gradients(%q: tensor<4x512x32xf32>, %k: tensor<4x512x32xf32>, %v: tensor<4x512x32xf32>, %do: tensor<4x512x32xf32>, %d: tensor<4x512xf32>) -> (tensor<4x512x32xf32>, tensor<4x512x32xf32>, tensor<4x512x32xf32>) {
  %column = stablehlo.iota dim = 2 : tensor<4x512x512xi32>
  %row = stablehlo.iota dim = 1 : tensor<4x512x512xi32>
  %seen = stablehlo.compare GE, %row, %column : (tensor<4x512x512xi32>, tensor<4x512x512xi32>) -> tensor<4x512x512xi1>
  %least = stablehlo.constant dense<0xFF800000> : tensor<4x512x512xf32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x512x32xf32>, tensor<4x512x32xf32>) -> tensor<4x512x512xf32>
  %x = stablehlo.select %seen, %s, %least : tensor<4x512x512xi1>, tensor<4x512x512xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<4x512x512xf32>, tensor<f32>) -> tensor<4x512xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x512xf32>) -> tensor<4x512x512xf32>
  %far = stablehlo.subtract %x, %mb : tensor<4x512x512xf32>
  %e = stablehlo.exponential %far : tensor<4x512x512xf32>
  %t = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [2] : (tensor<4x512x512xf32>, tensor<f32>) -> tensor<4x512xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<4x512xf32>) -> tensor<4x512x512xf32>
  %w = stablehlo.divide %e, %tb : tensor<4x512x512xf32>
  %dw = stablehlo.dot_general %do, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x512x32xf32>, tensor<4x512x32xf32>) -> tensor<4x512x512xf32>
  %db = stablehlo.broadcast_in_dim %d, dims = [0, 1] : (tensor<4x512xf32>) -> tensor<4x512x512xf32>
  %less = stablehlo.subtract %dw, %db : tensor<4x512x512xf32>
  %ds = stablehlo.multiply %w, %less : tensor<4x512x512xf32>
  %dq = stablehlo.dot_general %ds, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x512x512xf32>, tensor<4x512x32xf32>) -> tensor<4x512x32xf32>
  %dk = stablehlo.dot_general %ds, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x512x512xf32>, tensor<4x512x32xf32>) -> tensor<4x512x32xf32>
  %dv = stablehlo.dot_general %w, %do, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x512x512xf32>, tensor<4x512x32xf32>) -> tensor<4x512x32xf32>
  return %dq, %dk, %dv : tensor<4x512x32xf32>, tensor<4x512x32xf32>, tensor<4x512x32xf32>
}

// -----

// Changed: The same behind its forward pass, which has a result that all else goes through: the gradients read the maxima and the sums of its
// rows and compute weights again. Forward is left to join-contractions.
// CHECK: code = "FUSED_ROWS"
// CHECK-LABEL: func.func @behind_forward
// CHECK: %[[S:.*]] = call @fusion_0
// CHECK: %[[ROWS:.*]]:3 = call @rows_0(%[[S]]) : (tensor<4x512x512xf32>) -> (tensor<4x512x512xf32>, tensor<4x512xf32>, tensor<4x512xf32>)
// CHECK: %[[O:.*]] = call @{{.*}}(%[[ROWS]]#0, %arg2)
// CHECK: %[[DO:.*]] = call @{{.*}}(%[[O]], %arg3)
// CHECK: call @row_blocks_0({{.*}}%[[ROWS]]#1, %[[ROWS]]#2)
// CHECK-NEXT: return %[[O]]
// CHECK: func.func private @row_blocks_0
// CHECK-COUNT-5: stablehlo.dot_general
func.func @behind_forward(%q: tensor<4x512x32xf32>, %k: tensor<4x512x32xf32>, %v: tensor<4x512x32xf32>, %p: tensor<32x32xf32>) -> (tensor<4x512x32xf32>, tensor<4x512x32xf32>, tensor<4x512x32xf32>, tensor<4x512x32xf32>) {
  %column = stablehlo.iota dim = 2 : tensor<4x512x512xi32>
  %row = stablehlo.iota dim = 1 : tensor<4x512x512xi32>
  %seen = stablehlo.compare GE, %row, %column : (tensor<4x512x512xi32>, tensor<4x512x512xi32>) -> tensor<4x512x512xi1>
  %least = stablehlo.constant dense<0xFF800000> : tensor<4x512x512xf32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x512x32xf32>, tensor<4x512x32xf32>) -> tensor<4x512x512xf32>
  %x = stablehlo.select %seen, %s, %least : tensor<4x512x512xi1>, tensor<4x512x512xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [2] : (tensor<4x512x512xf32>, tensor<f32>) -> tensor<4x512xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x512xf32>) -> tensor<4x512x512xf32>
  %far = stablehlo.subtract %x, %mb : tensor<4x512x512xf32>
  %e = stablehlo.exponential %far : tensor<4x512x512xf32>
  %t = stablehlo.reduce(%e init: %none) applies stablehlo.add across dimensions = [2] : (tensor<4x512x512xf32>, tensor<f32>) -> tensor<4x512xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<4x512xf32>) -> tensor<4x512x512xf32>
  %w = stablehlo.divide %e, %tb : tensor<4x512x512xf32>
  %o = stablehlo.dot_general %w, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x512x512xf32>, tensor<4x512x32xf32>) -> tensor<4x512x32xf32>
  %do = stablehlo.dot_general %o, %p, contracting_dims = [2] x [0] : (tensor<4x512x32xf32>, tensor<32x32xf32>) -> tensor<4x512x32xf32>
  %dw = stablehlo.dot_general %do, %v, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x512x32xf32>, tensor<4x512x32xf32>) -> tensor<4x512x512xf32>
  %dww = stablehlo.multiply %dw, %w : tensor<4x512x512xf32>
  %d = stablehlo.reduce(%dww init: %none) applies stablehlo.add across dimensions = [2] : (tensor<4x512x512xf32>, tensor<f32>) -> tensor<4x512xf32>
  %db = stablehlo.broadcast_in_dim %d, dims = [0, 1] : (tensor<4x512xf32>) -> tensor<4x512x512xf32>
  %less = stablehlo.subtract %dw, %db : tensor<4x512x512xf32>
  %ds = stablehlo.multiply %w, %less : tensor<4x512x512xf32>
  %dq = stablehlo.dot_general %ds, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x512x512xf32>, tensor<4x512x32xf32>) -> tensor<4x512x32xf32>
  %dk = stablehlo.dot_general %ds, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x512x512xf32>, tensor<4x512x32xf32>) -> tensor<4x512x32xf32>
  %dv = stablehlo.dot_general %w, %do, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x512x512xf32>, tensor<4x512x32xf32>) -> tensor<4x512x32xf32>
  return %o, %dq, %dk, %dv : tensor<4x512x32xf32>, tensor<4x512x32xf32>, tensor<4x512x32xf32>, tensor<4x512x32xf32>
}

// -----

// Changed: A batch that reshapes join and part is split from the first op to the last: rows are rows of 2 x 2 in all of them.
// CHECK-LABEL: func.func @two_batches
// CHECK: call @row_blocks_0
// CHECK: func.func private @row_blocks_0
// CHECK: stablehlo.dot_general %{{.*}}, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : {{.*}} -> tensor<2x2x512x512xf32>
// CHECK: stablehlo.multiply %{{.*}} : tensor<2x2x512x512xf32>
// CHECK: return
func.func @two_batches(%q: tensor<4x512x32xf32>, %k: tensor<4x512x32xf32>, %scale: tensor<2x2x512x512xf32>) -> (tensor<4x512x32xf32>, tensor<4x512x32xf32>) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x512x32xf32>, tensor<4x512x32xf32>) -> tensor<4x512x512xf32>
  %0 = stablehlo.reshape %s : (tensor<4x512x512xf32>) -> tensor<2x2x512x512xf32>
  %1 = stablehlo.multiply %0, %scale : tensor<2x2x512x512xf32>
  %2 = stablehlo.reshape %1 : (tensor<2x2x512x512xf32>) -> tensor<4x512x512xf32>
  %dq = stablehlo.dot_general %2, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x512x512xf32>, tensor<4x512x32xf32>) -> tensor<4x512x32xf32>
  %dk = stablehlo.dot_general %2, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x512x512xf32>, tensor<4x512x32xf32>) -> tensor<4x512x32xf32>
  return %dq, %dk : tensor<4x512x32xf32>, tensor<4x512x32xf32>
}

// -----

// Changed: Heads that share keys are rows of these: the sums are over both.
// CHECK-LABEL: func.func @shared_keys
// CHECK-NEXT: %[[R:.*]]:2 = call @row_blocks_0
// CHECK-NEXT: return
// CHECK: func.func private @row_blocks_0
// CHECK-SAME: hloom.row_loop = 1 : i64
func.func @shared_keys(%q: tensor<4x3x512x32xf32>, %k: tensor<4x512x32xf32>) -> (tensor<4x3x512x32xf32>, tensor<4x512x32xf32>) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [3] x [2] : (tensor<4x3x512x32xf32>, tensor<4x512x32xf32>) -> tensor<4x3x512x512xf32>
  %dq = stablehlo.dot_general %s, %k, batching_dims = [0] x [0], contracting_dims = [3] x [1] : (tensor<4x3x512x512xf32>, tensor<4x512x32xf32>) -> tensor<4x3x512x32xf32>
  %dk = stablehlo.dot_general %s, %q, batching_dims = [0] x [0], contracting_dims = [1, 2] x [1, 2] : (tensor<4x3x512x512xf32>, tensor<4x3x512x32xf32>) -> tensor<4x512x32xf32>
  return %dq, %dk : tensor<4x3x512x32xf32>, tensor<4x512x32xf32>
}

// -----

// Changed: What another group reads between stays a result; the reader comes behind the call.
// CHECK-LABEL: func.func @read_by_others
// CHECK: %[[R:.*]]:3 = call @row_blocks_0
// CHECK-NEXT: %{{.*}} = call @fusion_{{.*}}(%[[R]]#
func.func @read_by_others(%q: tensor<4x512x32xf32>, %k: tensor<4x512x32xf32>) -> (tensor<4x512x32xf32>, tensor<512xf32>, tensor<4x512x32xf32>) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x512x32xf32>, tensor<4x512x32xf32>) -> tensor<4x512x512xf32>
  %dq = stablehlo.dot_general %s, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x512x512xf32>, tensor<4x512x32xf32>) -> tensor<4x512x32xf32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %t = stablehlo.reduce(%s init: %none) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x512x512xf32>, tensor<f32>) -> tensor<512xf32>
  %dk = stablehlo.dot_general %s, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x512x512xf32>, tensor<4x512x32xf32>) -> tensor<4x512x32xf32>
  return %dq, %t, %dk : tensor<4x512x32xf32>, tensor<512xf32>, tensor<4x512x32xf32>
}

// -----

// Unchanged: A near cache holds the values.
// CHECK-LABEL: func.func @small
// CHECK-NOT: call @row_blocks
func.func @small(%q: tensor<4x64x32xf32>, %k: tensor<4x64x32xf32>) -> (tensor<4x64x32xf32>, tensor<4x64x32xf32>) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x64x32xf32>, tensor<4x64x32xf32>) -> tensor<4x64x64xf32>
  %dq = stablehlo.dot_general %s, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x64x64xf32>, tensor<4x64x32xf32>) -> tensor<4x64x32xf32>
  %dk = stablehlo.dot_general %s, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x64x64xf32>, tensor<4x64x32xf32>) -> tensor<4x64x32xf32>
  return %dq, %dk : tensor<4x64x32xf32>, tensor<4x64x32xf32>
}

// -----

// Declined: Rows of so many columns do not stay in the cache.
// CHECK: code = "ROW_TOO_LARGE"
// CHECK-LABEL: func.func @wide
// CHECK-NOT: call @row_blocks
func.func @wide(%q: tensor<64x32x8xf32>, %k: tensor<64x32768x8xf32>) -> (tensor<64x32x8xf32>, tensor<64x32768x8xf32>) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<64x32x8xf32>, tensor<64x32768x8xf32>) -> tensor<64x32x32768xf32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %t = stablehlo.reduce(%s init: %none) applies stablehlo.maximum across dimensions = [2] : (tensor<64x32x32768xf32>, tensor<f32>) -> tensor<64x32xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<64x32xf32>) -> tensor<64x32x32768xf32>
  %w = stablehlo.divide %s, %tb : tensor<64x32x32768xf32>
  %dq = stablehlo.dot_general %w, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<64x32x32768xf32>, tensor<64x32768x8xf32>) -> tensor<64x32x8xf32>
  %dk = stablehlo.dot_general %w, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<64x32x32768xf32>, tensor<64x32x8xf32>) -> tensor<64x32768x8xf32>
  return %dq, %dk : tensor<64x32x8xf32>, tensor<64x32768x8xf32>
}

// -----

// Declined: Along neither dimension is there a block: both have a reduction that is read again.
// CHECK-LABEL: func.func @both_reduced
// CHECK-NOT: call @row_blocks
func.func @both_reduced(%q: tensor<4x512x32xf32>, %k: tensor<4x512x32xf32>) -> (tensor<4x512x32xf32>, tensor<4x512x32xf32>) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x512x32xf32>, tensor<4x512x32xf32>) -> tensor<4x512x512xf32>
  %none = stablehlo.constant dense<0.0> : tensor<f32>
  %t = stablehlo.reduce(%s init: %none) applies stablehlo.maximum across dimensions = [1, 2] : (tensor<4x512x512xf32>, tensor<f32>) -> tensor<4xf32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<4xf32>) -> tensor<4x512x512xf32>
  %w = stablehlo.divide %s, %tb : tensor<4x512x512xf32>
  %dq = stablehlo.dot_general %w, %k, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x512x512xf32>, tensor<4x512x32xf32>) -> tensor<4x512x32xf32>
  %dk = stablehlo.dot_general %w, %q, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<4x512x512xf32>, tensor<4x512x32xf32>) -> tensor<4x512x32xf32>
  return %dq, %dk : tensor<4x512x32xf32>, tensor<4x512x32xf32>
}

// -----

// Declined: One contraction sums over the rows of each head, another over those of all: no block adds to both.
// CHECK-LABEL: func.func @other_sums
// CHECK-NOT: call @row_blocks
func.func @other_sums(%q: tensor<4x3x512x32xf32>, %k: tensor<4x512x32xf32>) -> (tensor<4x3x512x32xf32>, tensor<4x512x32xf32>) {
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [3] x [2] : (tensor<4x3x512x32xf32>, tensor<4x512x32xf32>) -> tensor<4x3x512x512xf32>
  %dh = stablehlo.dot_general %s, %q, batching_dims = [0, 1] x [0, 1], contracting_dims = [2] x [2] : (tensor<4x3x512x512xf32>, tensor<4x3x512x32xf32>) -> tensor<4x3x512x32xf32>
  %dk = stablehlo.dot_general %s, %q, batching_dims = [0] x [0], contracting_dims = [1, 2] x [1, 2] : (tensor<4x3x512x512xf32>, tensor<4x3x512x32xf32>) -> tensor<4x512x32xf32>
  return %dh, %dk : tensor<4x3x512x32xf32>, tensor<4x512x32xf32>
}
