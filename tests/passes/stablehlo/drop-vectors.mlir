// RUN: hloom-opt %s --split-input-file --drop-vectors | filecheck %s

// Changed: eigenvalues alone are read; what reads the vectors is dead.
// CHECK-LABEL: func.func @eigenvalues
// CHECK-NOT: negate
// CHECK: @lapack_ssyevd_ffi(%arg0) {mhlo.backend_config = {mode = 78 : ui8, uplo = 76 : ui8}
func.func @eigenvalues(%a: tensor<9x9xf32>) -> tensor<9xf32> {
  %0:3 = stablehlo.custom_call @lapack_ssyevd_ffi(%a) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>]}
    : (tensor<9x9xf32>) -> (tensor<9x9xf32>, tensor<9xf32>, tensor<i32>)
  %1 = stablehlo.negate %0#0 : tensor<9x9xf32>
  return %0#1 : tensor<9xf32>
}

// -----

// Changed: singular values alone are read.
// CHECK-LABEL: func.func @singular
// CHECK: @lapack_dgesdd_ffi(%arg0) {mhlo.backend_config = {mode = 78 : ui8}
func.func @singular(%a: tensor<5x4xf64>) -> tensor<4xf64> {
  %0:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%a) {mhlo.backend_config = {mode = 83 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>,
    dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}
    : (tensor<5x4xf64>) -> (tensor<5x4xf64>, tensor<4xf64>, tensor<5x4xf64>, tensor<4x4xf64>, tensor<i32>)
  return %0#1 : tensor<4xf64>
}

// -----

// Changed: of geev the left vectors are not read.
// CHECK-LABEL: func.func @right
// CHECK: @lapack_cgeev_ffi(%arg0) {mhlo.backend_config = {compute_left = 78 : ui8, compute_right = 86 : ui8}
func.func @right(%a: tensor<5x5xcomplex<f32>>) -> tensor<5x5xcomplex<f32>> {
  %0:4 = stablehlo.custom_call @lapack_cgeev_ffi(%a) {mhlo.backend_config = {compute_left = 86 : ui8, compute_right = 86 : ui8},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>,
    dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}
    : (tensor<5x5xcomplex<f32>>) -> (tensor<5xcomplex<f32>>, tensor<5x5xcomplex<f32>>, tensor<5x5xcomplex<f32>>, tensor<i32>)
  return %0#2 : tensor<5x5xcomplex<f32>>
}

// -----

// Declined: one of the two factors is read, and LAPACK gives both or none.
// CHECK-LABEL: func.func @factor
// CHECK: @lapack_dgesdd_ffi(%arg0) {mhlo.backend_config = {mode = 83 : ui8}
func.func @factor(%a: tensor<5x4xf64>) -> tensor<4x4xf64> {
  %0:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%a) {mhlo.backend_config = {mode = 83 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>,
    dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}
    : (tensor<5x4xf64>) -> (tensor<5x4xf64>, tensor<4xf64>, tensor<5x4xf64>, tensor<4x4xf64>, tensor<i32>)
  return %0#3 : tensor<4x4xf64>
}

// -----

// Unchanged: a factorization without vectors.
// CHECK-LABEL: func.func @cholesky
// CHECK: @lapack_spotrf_ffi(%arg0) {mhlo.backend_config = {uplo = 76 : ui8}
func.func @cholesky(%a: tensor<9x9xf32>) -> tensor<9x9xf32> {
  %0:2 = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 76 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}
    : (tensor<9x9xf32>) -> (tensor<9x9xf32>, tensor<i32>)
  return %0#0 : tensor<9x9xf32>
}
