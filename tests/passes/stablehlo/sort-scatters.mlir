// RUN: hloom-opt %s --split-input-file --sort-scatters | filecheck %s

// Changed: A sum of floats depends on the order. The places are sorted, the updates taken in their order; those out of bounds come last.
// CHECK-LABEL: func.func @sums
// CHECK-SAME: (%[[T:.*]]: tensor<100x4xf32>, %[[I:.*]]: tensor<300x1xi32>, %[[U:.*]]: tensor<300x4xf32>)
// CHECK: %[[KEY:.*]] = stablehlo.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<300xi1>, tensor<300xi32>
// CHECK: %[[N:.*]] = stablehlo.iota dim = 0 : tensor<300xi32>
// CHECK: %[[S:.*]]:2 = "stablehlo.sort"(%[[KEY]], %[[N]]) <{dimension = 0 : i64, is_stable = true}>
// CHECK: %[[V:.*]] = "stablehlo.gather"(%[[U]], %[[S]]#1)
// CHECK: "stablehlo.scatter"(%[[T]], %[[S]]#0, %[[V]])
// CHECK: hloom.sorted
module attributes {hloom.target = {kind = "cuda", launch_ps = 2500000 : i64}} {
  func.func @sums(%t: tensor<100x4xf32>, %i: tensor<300x1xi32>, %u: tensor<300x4xf32>) -> tensor<100x4xf32> {
    %0 = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
        update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<100x4xf32>, tensor<300x1xi32>, tensor<300x4xf32>) -> tensor<100x4xf32>
    return %0 : tensor<100x4xf32>
  }
}

// -----

// Changed: Batching dims become a component of the index, so that windows of all batches are sorted together.
// CHECK-LABEL: func.func @batches
// CHECK: stablehlo.iota dim = 0 : tensor<4x90xi32>
// CHECK: stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 1 : (tensor<360x1xi32>, tensor<360x1xi32>) -> tensor<360x2xi32>
// CHECK: "stablehlo.scatter"
// CHECK-SAME: inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 1
module attributes {hloom.target = {kind = "cuda", launch_ps = 2500000 : i64}} {
  func.func @batches(%t: tensor<4x30xf32>, %i: tensor<4x90x1xi32>, %u: tensor<4x90xf32>) -> tensor<4x30xf32> {
    %0 = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1],
        input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) : (tensor<4x30xf32>, tensor<4x90x1xi32>, tensor<4x90xf32>) -> tensor<4x30xf32>
    return %0 : tensor<4x30xf32>
  }
}

// -----

// Changed: A policy lets the updates come in any order.
// CHECK-LABEL: func.func @any_order
// CHECK-NOT: stablehlo.sort
// CHECK: hloom.unordered
module attributes {hloom.target = {kind = "cuda", launch_ps = 2500000 : i64}, hloom.policy = {kernel = [{op = "scatter", use = "unordered"}]}} {
  func.func @any_order(%t: tensor<100xf32>, %i: tensor<300x1xi32>, %u: tensor<300xf32>) -> tensor<100xf32> {
    %0 = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<100xf32>, tensor<300x1xi32>, tensor<300xf32>) -> tensor<100xf32>
    return %0 : tensor<100xf32>
  }
}

// -----

// Declined: No order changes a sum of integers; three updates are walked over; windows of two elements overlap.
// CHECK-LABEL: func.func @kept
// CHECK-NOT: stablehlo.sort
module attributes {hloom.target = {kind = "cuda", launch_ps = 2500000 : i64}} {
  func.func @kept(%t: tensor<100xi32>, %i: tensor<300x1xi32>, %u: tensor<300xi32>, %f: tensor<100xf32>, %v: tensor<300x2xf32>,
      %j: tensor<3x1xi32>, %w: tensor<3xf32>) -> (tensor<100xi32>, tensor<100xf32>, tensor<100xf32>) {
    %0 = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %s = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %s : tensor<i32>
    }) : (tensor<100xi32>, tensor<300x1xi32>, tensor<300xi32>) -> tensor<100xi32>
    %1 = "stablehlo.scatter"(%f, %j, %w) <{scatter_dimension_numbers = #stablehlo.scatter<
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) : (tensor<100xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<100xf32>
    %2 = "stablehlo.scatter"(%f, %i, %v) <{scatter_dimension_numbers = #stablehlo.scatter<
        update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
    }) : (tensor<100xf32>, tensor<300x1xi32>, tensor<300x2xf32>) -> tensor<100xf32>
    return %0, %1, %2 : tensor<100xi32>, tensor<100xf32>, tensor<100xf32>
  }
}

// -----

// Unchanged: A CPU applies updates in their order as it is.
// CHECK-LABEL: func.func @on_a_cpu
// CHECK-NOT: stablehlo.sort
func.func @on_a_cpu(%t: tensor<100xf32>, %i: tensor<300x1xi32>, %u: tensor<300xf32>) -> tensor<100xf32> {
  %0 = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<100xf32>, tensor<300x1xi32>, tensor<300xf32>) -> tensor<100xf32>
  return %0 : tensor<100xf32>
}
