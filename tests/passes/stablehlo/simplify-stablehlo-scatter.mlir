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
