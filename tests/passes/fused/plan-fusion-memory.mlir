// RUN: hloom-opt %s --plan-fusion | filecheck %s

// One kernel of the three readers of tanh would make all three at once, where in the program's order tanh and one reader are there together.
// Two of them in one kernel, and tanh computed twice, take no more: the third one is declined.

// CHECK: code = "FUSED_SIBLING"
// CHECK-SAME: code = "PEAK_MEMORY", edge = "tensor<256x256xf32>"
// CHECK-SAME: name = "stablehlo.exponential"
// CHECK-SAME: reason = "262144 bytes more would be live at once than 524288"
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: %[[TWO:.*]]:2 = call @fusion_0(%arg0)
// CHECK-NEXT: call @fusion_1(%[[TWO]]#0, %arg1)
// CHECK-NEXT: call @fusion_1(%[[TWO]]#1, %arg1)
// CHECK-NEXT: %[[THIRD:.*]] = call @fusion_2(%arg0)
// CHECK-NEXT: call @fusion_1(%[[THIRD]], %arg1)
func.func @main(%a: tensor<256x256xf32>, %w: tensor<256x8xf32>) -> (tensor<256x8xf32>, tensor<256x8xf32>, tensor<256x8xf32>) {
  %t = stablehlo.tanh %a : tensor<256x256xf32>
  %n1 = stablehlo.negate %t : tensor<256x256xf32>
  %d1 = stablehlo.dot_general %n1, %w, contracting_dims = [1] x [0] : (tensor<256x256xf32>, tensor<256x8xf32>) -> tensor<256x8xf32>
  %n2 = stablehlo.abs %t : tensor<256x256xf32>
  %d2 = stablehlo.dot_general %n2, %w, contracting_dims = [1] x [0] : (tensor<256x256xf32>, tensor<256x8xf32>) -> tensor<256x8xf32>
  %n3 = stablehlo.exponential %t : tensor<256x256xf32>
  %d3 = stablehlo.dot_general %n3, %w, contracting_dims = [1] x [0] : (tensor<256x256xf32>, tensor<256x8xf32>) -> tensor<256x8xf32>
  return %d1, %d2, %d3 : tensor<256x8xf32>, tensor<256x8xf32>, tensor<256x8xf32>
}
