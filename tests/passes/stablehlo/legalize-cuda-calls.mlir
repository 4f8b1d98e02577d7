// RUN: hloom-opt %s --legalize-cuda-calls | filecheck %s

// Changed: A call with LAPACK's operands and results; its layouts stay.
// CHECK-LABEL: func.func @factor
// CHECK-NEXT: stablehlo.custom_call @lapack_zpotrf_ffi(%arg0) {mhlo.backend_config = {uplo = 76 : ui8}, operand_layouts = [dense<[0, 1]>
func.func @factor(%a: tensor<4x4xcomplex<f64>>) -> (tensor<4x4xcomplex<f64>>, tensor<i32>) {
  %0:2 = stablehlo.custom_call @cusolver_potrf_ffi(%a) {mhlo.backend_config = {lower = true}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}
    : (tensor<4x4xcomplex<f64>>) -> (tensor<4x4xcomplex<f64>>, tensor<i32>)
  return %0#0, %0#1 : tensor<4x4xcomplex<f64>>, tensor<i32>
}

// Changed: The names of routines on complex numbers are others.
// CHECK-LABEL: func.func @reflectors
// CHECK-NEXT: stablehlo.custom_call @lapack_cungqr_ffi(%arg0, %arg1)
func.func @reflectors(%a: tensor<4x4xcomplex<f32>>, %t: tensor<4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>> {
  %0 = stablehlo.custom_call @cusolver_orgqr_ffi(%a, %t) : (tensor<4x4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  return %0 : tensor<4x4xcomplex<f32>>
}

// Changed: gesvdj gives V, LAPACK its transpose.
// CHECK-LABEL: func.func @singular
// CHECK: %[[C:.*]]:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%arg0) {mhlo.backend_config = {mode = 83 : ui8}
// CHECK-SAME: (tensor<5x4xf32>) -> (tensor<5x4xf32>, tensor<4xf32>, tensor<5x4xf32>, tensor<4x4xf32>, tensor<i32>)
// CHECK: %[[V:.*]] = stablehlo.transpose %[[C]]#3, dims = [1, 0]
// CHECK: return %[[C]]#1, %[[C]]#2, %[[V]]
func.func @singular(%a: tensor<5x4xf32>) -> (tensor<4xf32>, tensor<5x4xf32>, tensor<4x4xf32>) {
  %0:5 = stablehlo.custom_call @cusolver_gesvdj_ffi(%a) {mhlo.backend_config = {compute_uv = true, full_matrices = false},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>,
    dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}
    : (tensor<5x4xf32>) -> (tensor<5x4xf32>, tensor<4xf32>, tensor<5x4xf32>, tensor<4x4xf32>, tensor<i32>)
  return %0#1, %0#2, %0#3 : tensor<4xf32>, tensor<5x4xf32>, tensor<4x4xf32>
}

// Changed: What nobody computes may be of any shape.
// CHECK-LABEL: func.func @values
// CHECK: stablehlo.custom_call @lapack_dgesdd_ffi({{.*}}) {mhlo.backend_config = {mode = 78 : ui8}
// CHECK-SAME: -> (tensor<5x4xf64>, tensor<4xf64>, tensor<5x5xf64>, tensor<4x4xf64>, tensor<i32>)
func.func @values(%a: tensor<4x5xf64>) -> tensor<4xf64> {
  %0:5 = stablehlo.custom_call @cusolver_gesvd_ffi(%a) {mhlo.backend_config = {compute_uv = false, full_matrices = true, transposed = true}}
    : (tensor<4x5xf64>) -> (tensor<4x5xf64>, tensor<4xf64>, tensor<f64>, tensor<f64>, tensor<i32>)
  return %0#1 : tensor<4xf64>
}

// Changed: Pivots become swaps, one after the other.
// CHECK-LABEL: func.func @pivots
// CHECK: stablehlo.iota dim = 1 : tensor<2x5xi32>
// CHECK: stablehlo.while
// CHECK: stablehlo.dynamic_slice %arg0
// CHECK-NOT: custom_call
func.func @pivots(%p: tensor<2x4xi32>) -> tensor<2x5xi32> {
  %0 = stablehlo.custom_call @cu_lu_pivots_to_permutation(%p) : (tensor<2x4xi32>) -> tensor<2x5xi32>
  return %0 : tensor<2x5xi32>
}

// Changed: A tridiagonal system gives its solution alone.
// CHECK-LABEL: func.func @tridiagonal
// CHECK: %[[C:.*]]:5 = stablehlo.custom_call @lapack_sgtsv_ffi(%arg0, %arg1, %arg2, %arg3)
// CHECK: return %[[C]]#3
func.func @tridiagonal(%l: tensor<4xf32>, %d: tensor<4xf32>, %u: tensor<4xf32>, %b: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = stablehlo.custom_call @cusparse_gtsv2_ffi(%l, %d, %u, %b) {operand_layouts = [dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>,
    dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : tensor<2xindex>]}
    : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// Changed: A symmetric product is a dot.
// CHECK-LABEL: func.func @product
// CHECK: stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [1]
func.func @product(%a: tensor<4x3xf32>, %c: tensor<4x4xf32>, %alpha: tensor<f32>, %beta: tensor<f32>) -> tensor<4x4xf32> {
  %0 = stablehlo.custom_call @cusolver_syrk_ffi(%a, %c, %alpha, %beta) {mhlo.backend_config = {transpose = false}}
    : (tensor<4x3xf32>, tensor<4x4xf32>, tensor<f32>, tensor<f32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// Declined: A call of LAPACK.
// CHECK-LABEL: func.func @theirs
// CHECK-NEXT: stablehlo.custom_call @lapack_sgetrf_ffi(%arg0)
func.func @theirs(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi32>, tensor<i32>) {
  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi32>, tensor<i32>)
  return %0#0, %0#1, %0#2 : tensor<4x4xf32>, tensor<4xi32>, tensor<i32>
}

// Unchanged: No call.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: stablehlo.tanh
func.func @none(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
