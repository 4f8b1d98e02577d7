// RUN: hloom-opt %s --plan-fusion --split-input-file | filecheck %s

// Declined: A scatter is a kernel of its own: what computes its indices and what reads it are others. What it updates is a buffer even where it is constant,
// a splat of updates is not.
// CHECK: code = "ALONE"
// CHECK-LABEL: func.func @main(
// CHECK: %[[ZERO:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK: %[[PLACES:.*]] = call @fusion_0(
// CHECK-NEXT: %[[SUMS:.*]] = call @fusion_1(%[[ZERO]], %[[PLACES]])
// CHECK-NEXT: call @fusion_2(%[[SUMS]])
// CHECK: @fusion_1({{.*}} hloom.kind = "scatter"
// CHECK-NEXT: stablehlo.constant dense<1.000000e+00> : tensor<30xf32>
// CHECK-NEXT: "stablehlo.scatter"
func.func @main(%i: tensor<30x1xi32>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<8xf32>
  %u = stablehlo.constant dense<1.0> : tensor<30xf32>
  %j = stablehlo.add %i, %i : tensor<30x1xi32>
  %0 = "stablehlo.scatter"(%zero, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<8xf32>, tensor<30x1xi32>, tensor<30xf32>) -> tensor<8xf32>
  %2 = stablehlo.negate %0 : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// Changed: On a CPU its kernel computes its updates, element by element of what lies at their place, where nothing else reads them.
// CHECK: code = "FUSED_DEMAND"
// CHECK-SAME: reason = "evaluated where the scatter applies it"
// CHECK-LABEL: func.func @updates(
// CHECK-SAME: %[[X:.*]]: tensor<1000x64xf32>, %[[I:.*]]: tensor<9000x1xi32>, %[[U:.*]]: tensor<9000x64xbf16>, %[[W:.*]]: tensor<9000xf32>)
// CHECK-NEXT: call @fusion_0(
// CHECK-NEXT: return
// CHECK: @fusion_0({{.*}} hloom.kind = "scatter"
// CHECK-DAG: stablehlo.convert
// CHECK-DAG: stablehlo.multiply
// CHECK-DAG: stablehlo.exponential
// CHECK: "stablehlo.scatter"
module attributes {hloom.target = {kind = "cpu"}} {
func.func @updates(%x: tensor<1000x64xf32>, %i: tensor<9000x1xi32>, %u: tensor<9000x64xbf16>, %w: tensor<9000xf32>) -> tensor<1000x64xf32> {
  %f = stablehlo.convert %u : (tensor<9000x64xbf16>) -> tensor<9000x64xf32>
  %v = stablehlo.broadcast_in_dim %w, dims = [0] : (tensor<9000xf32>) -> tensor<9000x64xf32>
  %m = stablehlo.multiply %f, %v : tensor<9000x64xf32>
  %e = stablehlo.exponential %m : tensor<9000x64xf32>
  %0 = "stablehlo.scatter"(%x, %i, %e) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<1000x64xf32>, tensor<9000x1xi32>, tensor<9000x64xf32>) -> tensor<1000x64xf32>
  return %0 : tensor<1000x64xf32>
}
}

// -----

// Declined: Updates that others read; that are gathered; that are computed of what the scatter writes over.
// CHECK-LABEL: func.func @kept(
// CHECK-COUNT-6: call @fusion_
// CHECK: return
module attributes {hloom.target = {kind = "cpu"}} {
func.func @kept(%x: tensor<9000x64xf32>, %i: tensor<9000x1xi32>, %u: tensor<9000x64xf32>)
    -> (tensor<9000x64xf32>, tensor<9000x64xf32>, tensor<9000x64xf32>, tensor<9000x64xf32>) {
  %e = stablehlo.exponential %u : tensor<9000x64xf32>
  %0 = "stablehlo.scatter"(%x, %i, %e) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<9000x64xf32>, tensor<9000x1xi32>, tensor<9000x64xf32>) -> tensor<9000x64xf32>
  %g = "stablehlo.gather"(%u, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0],
      index_vector_dim = 1>, slice_sizes = array<i64: 1, 64>}> : (tensor<9000x64xf32>, tensor<9000x1xi32>) -> tensor<9000x64xf32>
  %1 = "stablehlo.scatter"(%x, %i, %g) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a1: tensor<f32>, %b1: tensor<f32>):
    %s1 = stablehlo.add %a1, %b1 : tensor<f32>
    stablehlo.return %s1 : tensor<f32>
  }) : (tensor<9000x64xf32>, tensor<9000x1xi32>, tensor<9000x64xf32>) -> tensor<9000x64xf32>
  %h = stablehlo.abs %x : tensor<9000x64xf32>
  %2 = "stablehlo.scatter"(%x, %i, %h) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a2: tensor<f32>, %b2: tensor<f32>):
    %s2 = stablehlo.add %a2, %b2 : tensor<f32>
    stablehlo.return %s2 : tensor<f32>
  }) : (tensor<9000x64xf32>, tensor<9000x1xi32>, tensor<9000x64xf32>) -> tensor<9000x64xf32>
  return %0, %1, %2, %e : tensor<9000x64xf32>, tensor<9000x64xf32>, tensor<9000x64xf32>, tensor<9000x64xf32>
}
}

// -----

// Changed and declined: Where an update is one element, its kernel computes a product, and no exponential, for which it has no vectors.
// CHECK: code = "RECOMPUTE_TOO_HIGH"
// CHECK-LABEL: func.func @elements(
// CHECK-NEXT: call @fusion_0(
// CHECK-NEXT: call @fusion_1(
// CHECK-NEXT: call @fusion_2(
// CHECK-NEXT: return
module attributes {hloom.target = {kind = "cpu"}} {
func.func @elements(%x: tensor<1000xf32>, %i: tensor<90000x1xi32>, %u: tensor<90000xf32>) -> (tensor<1000xf32>, tensor<1000xf32>) {
  %m = stablehlo.multiply %u, %u : tensor<90000xf32>
  %0 = "stablehlo.scatter"(%x, %i, %m) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
      index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<1000xf32>, tensor<90000x1xi32>, tensor<90000xf32>) -> tensor<1000xf32>
  %e = stablehlo.exponential %u : tensor<90000xf32>
  %1 = "stablehlo.scatter"(%x, %i, %e) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
      index_vector_dim = 1>}> ({
  ^bb0(%a1: tensor<f32>, %b1: tensor<f32>):
    %s1 = stablehlo.add %a1, %b1 : tensor<f32>
    stablehlo.return %s1 : tensor<f32>
  }) : (tensor<1000xf32>, tensor<90000x1xi32>, tensor<90000xf32>) -> tensor<1000xf32>
  return %0, %1 : tensor<1000xf32>, tensor<1000xf32>
}
}

// -----

// Declined: GPUs, whose kernels of scatters read their updates.
// CHECK-LABEL: func.func @on_a_gpu(
// CHECK: call @fusion_0(
// CHECK-NEXT: call @fusion_1(
module attributes {hloom.target = {kind = "cuda"}} {
func.func @on_a_gpu(%x: tensor<1000x64xf32>, %i: tensor<9000x1xi32>, %u: tensor<9000x64xf32>) -> tensor<1000x64xf32> {
  %m = stablehlo.multiply %u, %u : tensor<9000x64xf32>
  %0 = "stablehlo.scatter"(%x, %i, %m) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<1000x64xf32>, tensor<9000x1xi32>, tensor<9000x64xf32>) -> tensor<1000x64xf32>
  return %0 : tensor<1000x64xf32>
}
}
