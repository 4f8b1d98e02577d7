// RUN: hloom-opt %s --plan-fusion --split-input-file | filecheck %s

// Declined: A scatter is a kernel of its own: what feeds it and what reads it are others. What it updates is a buffer even where it is constant,
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
