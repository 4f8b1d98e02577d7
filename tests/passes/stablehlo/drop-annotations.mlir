// RUN: hloom-opt %s --drop-annotations | filecheck %s

// Changed: Both give way to what they were given.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>
// CHECK-NEXT: return %[[X]]
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{replicated}"} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.optimization_barrier %0 : tensor<8xf32>
  return %1 : tensor<8xf32>
}

// Declined: Any other call stays, and so does an annotation that changes the type.
// CHECK-LABEL: func.func @others
// CHECK: stablehlo.custom_call @my_kernel
// CHECK: stablehlo.custom_call @SPMDFullToShardShape
func.func @others(%x: tensor<8xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @my_kernel(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) : (tensor<8xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Unchanged: No call and no barrier.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: stablehlo.tanh
func.func @none(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.tanh %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
