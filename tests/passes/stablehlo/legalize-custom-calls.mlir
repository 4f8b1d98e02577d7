// RUN: hloom-opt %s --legalize-custom-calls | filecheck %s

// Changed: Column-major values are transposed ones that lie row-major; the function is told the batch, the extents and the options.
// CHECK-LABEL: func.func @columns
// CHECK: %[[A:.*]] = stablehlo.transpose %arg0, dims = [0, 2, 1] : (tensor<3x5x4xf32>) -> tensor<3x4x5xf32>
// CHECK: %[[C:.*]]:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%[[A]])
// CHECK-SAME: hloom.aliases = array<i64: 0, 0>
// CHECK-SAME: hloom.numbers = array<i64: 3, 5, 4>
// CHECK-SAME: (tensor<3x4x5xf32>) -> (tensor<3x4x5xf32>, tensor<3x4xi32>, tensor<3xi32>)
// CHECK: %[[R:.*]] = stablehlo.transpose %[[C]]#0, dims = [0, 2, 1] : (tensor<3x4x5xf32>) -> tensor<3x5x4xf32>
// CHECK: return %[[R]], %[[C]]#1, %[[C]]#2
func.func @columns(%a: tensor<3x5x4xf32>) -> (tensor<3x5x4xf32>, tensor<3x4xi32>, tensor<3xi32>) {
  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {mhlo.backend_config = {}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>],
    result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<[1, 0]> : tensor<2xindex>, dense<0> : tensor<1xindex>]}
    : (tensor<3x5x4xf32>) -> (tensor<3x5x4xf32>, tensor<3x4xi32>, tensor<3xi32>)
  return %0#0, %0#1, %0#2 : tensor<3x5x4xf32>, tensor<3x4xi32>, tensor<3xi32>
}

// Changed: Without layouts values lie row-major: a matrix is its transpose to LAPACK.
// CHECK-LABEL: func.func @rows
// CHECK-NEXT: stablehlo.custom_call @lapack_dtrsm_ffi(%arg0, %arg1)
// CHECK-SAME: hloom.aliases = array<i64: 1, 0>
// CHECK-SAME: hloom.numbers = array<i64: 1, 4, 4, 4, 2, 76, 85, 84, 78>
func.func @rows(%a: tensor<4x4xf64>, %b: tensor<2x4xf64>) -> tensor<2x4xf64> {
  %0 = stablehlo.custom_call @lapack_dtrsm_ffi(%a, %b) {mhlo.backend_config = {side = 76 : ui8, uplo = 85 : ui8, trans_x = 84 : ui8, diag = 78 : ui8}}
    : (tensor<4x4xf64>, tensor<2x4xf64>) -> tensor<2x4xf64>
  return %0 : tensor<2x4xf64>
}

// Declined: An annotation is no outside code.
// CHECK-LABEL: func.func @annotation
// CHECK-NEXT: stablehlo.custom_call @Sharding(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
func.func @annotation(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @Sharding(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Unchanged: No custom call.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: stablehlo.tanh
func.func @none(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
