// RUN: hloom-opt %s --simplify-stablehlo --split-input-file | filecheck %s

// Changed: Where there are no updates, the operand is the result.
// CHECK-LABEL: func.func @none(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK-NEXT: return %[[X]]
func.func @none(%x: tensor<4xf32>, %i: tensor<0x1xi32>, %u: tensor<0xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<4xf32>, tensor<0x1xi32>, tensor<0xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Changed: The body's elements are wider than the operands': these are converted first.
// CHECK-LABEL: func.func @wider(
// CHECK-SAME: %[[X:.*]]: tensor<4xbf16>, %[[I:.*]]: tensor<9x1xi32>, %[[U:.*]]: tensor<9xbf16>
// CHECK-DAG: %[[A:.*]] = stablehlo.convert %[[X]] : (tensor<4xbf16>) -> tensor<4xf32>
// CHECK-DAG: %[[B:.*]] = stablehlo.convert %[[U]] : (tensor<9xbf16>) -> tensor<9xf32>
// CHECK: "stablehlo.scatter"(%[[A]], %[[I]], %[[B]])
func.func @wider(%x: tensor<4xbf16>, %i: tensor<9x1xi32>, %u: tensor<9xbf16>) -> tensor<4xf32> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<4xbf16>, tensor<9x1xi32>, tensor<9xbf16>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Unchanged: A body of the operands' type.
// CHECK-LABEL: func.func @same(
// CHECK-NEXT: "stablehlo.scatter"
func.func @same(%x: tensor<4xbf16>, %i: tensor<9x1xi32>, %u: tensor<9xbf16>) -> tensor<4xbf16> {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<bf16>, %b: tensor<bf16>):
    %1 = stablehlo.add %a, %b : tensor<bf16>
    stablehlo.return %1 : tensor<bf16>
  }) : (tensor<4xbf16>, tensor<9x1xi32>, tensor<9xbf16>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// -----

// Changed: One window at a known place, set and added to.
// CHECK-LABEL: func.func @window(
// CHECK-SAME: %[[X:.*]]: tensor<6x8xf32>, %[[U:.*]]: tensor<4x6xf32>, %[[V:.*]]: tensor<8xf32>
// CHECK-DAG: %[[ONE:.*]] = stablehlo.constant dense<1> : tensor<i32>
// CHECK: %[[A:.*]] = stablehlo.dynamic_update_slice %[[X]], %[[U]], %[[ONE]], %[[ONE]]
// CHECK: %[[ROW:.*]] = stablehlo.reshape %[[V]] : (tensor<8xf32>) -> tensor<1x8xf32>
// CHECK: %[[OLD:.*]] = stablehlo.slice %[[A]] [2:3, 0:8]
// CHECK: %[[SUM:.*]] = stablehlo.add %[[OLD]], %[[ROW]]
// CHECK: stablehlo.dynamic_update_slice %[[A]], %[[SUM]]
// CHECK-NOT: stablehlo.scatter
func.func @window(%x: tensor<6x8xf32>, %u: tensor<4x6xf32>, %v: tensor<8xf32>) -> tensor<6x8xf32> {
  %i = stablehlo.constant dense<1> : tensor<2xi32>
  %j = stablehlo.constant dense<2> : tensor<1xi32>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0, 1],
      scatter_dims_to_operand_dims = [0, 1]>, unique_indices = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<6x8xf32>, tensor<2xi32>, tensor<4x6xf32>) -> tensor<6x8xf32>
  %1 = "stablehlo.scatter"(%0, %j, %v) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0],
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<6x8xf32>, tensor<1xi32>, tensor<8xf32>) -> tensor<6x8xf32>
  return %1 : tensor<6x8xf32>
}

// -----

// Changed: A window of which a part is out of bounds is dropped whole.
// CHECK-LABEL: func.func @dropped(
// CHECK-SAME: %[[X:.*]]: tensor<6xf32>
// CHECK-NEXT: return %[[X]]
func.func @dropped(%x: tensor<6xf32>, %u: tensor<4xf32>) -> tensor<6xf32> {
  %i = stablehlo.constant dense<3> : tensor<1xi32>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0],
      scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<6xf32>, tensor<1xi32>, tensor<4xf32>) -> tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

// Declined: A place that is known at run time; a body of several ops.
// CHECK-LABEL: func.func @kept(
// CHECK-COUNT-2: stablehlo.scatter
func.func @kept(%x: tensor<6xf32>, %u: tensor<4xf32>, %i: tensor<1xi32>) -> tensor<6xf32> {
  %j = stablehlo.constant dense<1> : tensor<1xi32>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0],
      scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<6xf32>, tensor<1xi32>, tensor<4xf32>) -> tensor<6xf32>
  %1 = "stablehlo.scatter"(%0, %j, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0],
      scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %b : tensor<f32>
    %3 = stablehlo.tanh %2 : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<6xf32>, tensor<1xi32>, tensor<4xf32>) -> tensor<6xf32>
  return %1 : tensor<6xf32>
}

// -----

// Changed: One index for each row of an array that is the same everywhere.
// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[I:.*]]: tensor<64x1xi32>, %[[U:.*]]: tensor<64xf32>
// CHECK-DAG: %[[N:.*]] = stablehlo.iota dim = 1 : tensor<64x1000xi32>
// CHECK-DAG: %[[C:.*]] = stablehlo.clamp %{{.*}}, %{{.*}}, %{{.*}} : tensor<64xi64>
// CHECK-DAG: %[[S:.*]] = stablehlo.convert %[[C]] : (tensor<64xi64>) -> tensor<64xi32>
// CHECK-DAG: %[[P:.*]] = stablehlo.broadcast_in_dim %[[S]], dims = [0] : (tensor<64xi32>) -> tensor<64x1000xi32>
// CHECK-DAG: %[[E:.*]] = stablehlo.compare EQ, %[[N]], %[[P]]
// CHECK-DAG: %[[M:.*]] = stablehlo.multiply %[[U]], %{{.*}} : tensor<64xf32>
// CHECK-DAG: %[[B:.*]] = stablehlo.broadcast_in_dim %[[M]], dims = [0] : (tensor<64xf32>) -> tensor<64x1000xf32>
// CHECK: %[[R:.*]] = stablehlo.select %[[E]], %[[B]], %{{.*}} : tensor<64x1000xi1>, tensor<64x1000xf32>
// CHECK-NEXT: return %[[R]]
func.func @rows(%i: tensor<64x1xi32>, %u: tensor<64xf32>) -> tensor<64x1000xf32> {
  %z = stablehlo.constant dense<3.0> : tensor<64x1000xf32>
  %0 = "stablehlo.scatter"(%z, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1],
      input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.multiply %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<64x1000xf32>, tensor<64x1xi32>, tensor<64xf32>) -> tensor<64x1000xf32>
  return %0 : tensor<64x1000xf32>
}

// -----

// Declined: Two indices for each row; an array that is given.
// CHECK-LABEL: func.func @several(
// CHECK-COUNT-2: stablehlo.scatter
// CHECK-NOT: stablehlo.select
func.func @several(%x: tensor<64x1000xf32>, %i: tensor<64x1xi32>, %u: tensor<64xf32>, %j: tensor<64x2x1xi32>, %v: tensor<64x2xf32>)
    -> (tensor<64x1000xf32>, tensor<64x1000xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<64x1000xf32>
  %0 = "stablehlo.scatter"(%z, %j, %v) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1],
      input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<64x1000xf32>, tensor<64x2x1xi32>, tensor<64x2xf32>) -> tensor<64x1000xf32>
  %1 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1],
      input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<64x1000xf32>, tensor<64x1xi32>, tensor<64xf32>) -> tensor<64x1000xf32>
  return %0, %1 : tensor<64x1000xf32>, tensor<64x1000xf32>
}
