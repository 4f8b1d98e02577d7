// RUN: not hloom-opt %s --lower-to-linalg 2>&1 | filecheck %s

// Declined: A sort.
// CHECK: [HL101] stablehlo.sort has no lowering to linalg
// CHECK: op: stablehlo.sort
// CHECK: stage: linalg
func.func @sort(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
