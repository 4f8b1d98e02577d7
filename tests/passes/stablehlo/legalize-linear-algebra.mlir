// RUN: hloom-opt %s --legalize-linear-algebra | filecheck %s

// Changed: What is lower to StableHLO is upper to LAPACK; the other triangle is zero, and all is NaN where there is no factor.
// CHECK-LABEL: func.func @cholesky
// CHECK: %[[F:.*]]:2 = stablehlo.custom_call @lapack_spotrf_ffi(%arg0) {mhlo.backend_config = {uplo = 85 : ui8}} : (tensor<3x4x4xf32>) -> (tensor<3x4x4xf32>, tensor<3xi32>)
// CHECK: stablehlo.compare GE
// CHECK: %[[K:.*]] = stablehlo.select %{{.*}}, %[[F]]#0
// CHECK: stablehlo.compare EQ, %[[F]]#1
// CHECK: stablehlo.select %{{.*}}, %[[K]]
func.func @cholesky(%a: tensor<3x4x4xf32>) -> tensor<3x4x4xf32> {
  %0 = stablehlo.cholesky %a, lower = true : tensor<3x4x4xf32>
  return %0 : tensor<3x4x4xf32>
}

// Changed: So is left right. bf16 is widened.
// CHECK-LABEL: func.func @solve
// CHECK: %[[A:.*]] = stablehlo.convert %arg0 : (tensor<4x4xbf16>) -> tensor<4x4xf32>
// CHECK: %[[B:.*]] = stablehlo.convert %arg1 : (tensor<4x2xbf16>) -> tensor<4x2xf32>
// CHECK: stablehlo.custom_call @lapack_strsm_ffi(%[[A]], %[[B]]) {mhlo.backend_config = {diag = 85 : ui8, side = 82 : ui8, trans_x = 67 : ui8, uplo = 76 : ui8}}
func.func @solve(%a: tensor<4x4xbf16>, %b: tensor<4x2xbf16>) -> tensor<4x2xbf16> {
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = false, unit_diagonal = true, transpose_a = #stablehlo<transpose ADJOINT>}>
    : (tensor<4x4xbf16>, tensor<4x2xbf16>) -> tensor<4x2xbf16>
  return %0 : tensor<4x2xbf16>
}

// Changed: There is nothing to factor.
// CHECK-LABEL: func.func @empty
// CHECK-NEXT: return %arg0
func.func @empty(%a: tensor<0x0xf32>) -> tensor<0x0xf32> {
  %0 = stablehlo.cholesky %a, lower = true : tensor<0x0xf32>
  return %0 : tensor<0x0xf32>
}

// Declined: A contraction is none of it.
// Unchanged: So it stays.
// CHECK-LABEL: func.func @product
// CHECK-NEXT: stablehlo.dot_general
func.func @product(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = stablehlo.dot_general %a, %a, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
