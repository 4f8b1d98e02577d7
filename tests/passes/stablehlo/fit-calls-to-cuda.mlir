// RUN: hloom-opt %s --split-input-file --fit-calls-to-cuda | filecheck %s

// Changed: cuSOLVER's gesvd does what gesdd does.
// CHECK-LABEL: func.func @tall
// CHECK: stablehlo.custom_call @lapack_sgesvd_ffi(%arg0) {mhlo.backend_config = {mode = 83 : ui8}
module attributes {hloom.target = {kind = "cuda", name = "sm_90a"}} {
func.func @tall(%a: tensor<5x4xf32>) -> (tensor<4xf32>, tensor<5x4xf32>, tensor<4x4xf32>) {
  %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 83 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>,
    dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}
    : (tensor<5x4xf32>) -> (tensor<5x4xf32>, tensor<4xf32>, tensor<5x4xf32>, tensor<4x4xf32>, tensor<i32>)
  return %0#1, %0#2, %0#3 : tensor<4xf32>, tensor<5x4xf32>, tensor<4x4xf32>
}
}

// -----

// Changed: It wants no fewer rows than columns: another matrix is transposed, and its factors change places.
// CHECK-LABEL: func.func @wide
// CHECK: %[[T:.*]] = stablehlo.transpose %arg0, dims = [1, 0]
// CHECK: %[[C:.*]]:5 = stablehlo.custom_call @lapack_sgesvd_ffi(%[[T]])
// CHECK-SAME: (tensor<5x4xf32>) -> (tensor<5x4xf32>, tensor<4xf32>, tensor<5x5xf32>, tensor<4x4xf32>, tensor<i32>)
// CHECK-DAG: %[[U:.*]] = stablehlo.transpose %[[C]]#3
// CHECK-DAG: %[[V:.*]] = stablehlo.transpose %[[C]]#2
// CHECK: return %[[C]]#1, %[[U]], %[[V]]
module attributes {hloom.target = {kind = "cuda", name = "sm_90a"}} {
func.func @wide(%a: tensor<4x5xf32>) -> (tensor<4xf32>, tensor<4x4xf32>, tensor<5x5xf32>) {
  %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 65 : ui8}, operand_layouts = [dense<[0, 1]> : tensor<2xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>,
    dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}
    : (tensor<4x5xf32>) -> (tensor<4x5xf32>, tensor<4xf32>, tensor<4x4xf32>, tensor<5x5xf32>, tensor<i32>)
  return %0#1, %0#2, %0#3 : tensor<4xf32>, tensor<4x4xf32>, tensor<5x5xf32>
}
}

// -----

// Changed: xgeev packs the vectors of a real matrix, and gives eigenvalues as complex numbers.
// CHECK-LABEL: func.func @eigenvalues
// CHECK: %[[C:.*]]:4 = stablehlo.custom_call @lapack_dxgeev_ffi(%arg0) {mhlo.backend_config = {mode = 86 : ui8}
// CHECK-SAME: -> (tensor<4x4xf64>, tensor<4xcomplex<f64>>, tensor<4x4xf64>, tensor<i32>)
// CHECK-DAG: stablehlo.real %[[C]]#1
// CHECK-DAG: stablehlo.imag %[[C]]#1
// CHECK-COUNT-2: stablehlo.pad %[[C]]#2
// CHECK: stablehlo.complex
module attributes {hloom.target = {kind = "cuda", name = "sm_90a"}} {
func.func @eigenvalues(%a: tensor<4x4xf64>) -> (tensor<4xf64>, tensor<4xf64>, tensor<4x4xcomplex<f64>>) {
  %0:5 = stablehlo.custom_call @lapack_dgeev_ffi(%a) {mhlo.backend_config = {compute_left = 78 : ui8, compute_right = 86 : ui8},
    operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>,
    dense<[0, 1]> : tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}
    : (tensor<4x4xf64>) -> (tensor<4xf64>, tensor<4xf64>, tensor<4x4xcomplex<f64>>, tensor<4x4xcomplex<f64>>, tensor<i32>)
  return %0#0, %0#1, %0#3 : tensor<4xf64>, tensor<4xf64>, tensor<4x4xcomplex<f64>>
}
}

// -----

// Changed: cuSPARSE's gtsv2 takes three rows at least, and says nothing of how it went.
// CHECK-LABEL: func.func @tridiagonal
// CHECK: stablehlo.concatenate
// CHECK: %[[X:.*]] = stablehlo.custom_call @lapack_sgtsv2_ffi({{.*}}) {{.*}} : (tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
// CHECK: %[[S:.*]] = stablehlo.slice %[[X]] [0:2, 0:1]
// CHECK: %[[Z:.*]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK: return %[[S]], %[[Z]]
module attributes {hloom.target = {kind = "cuda", name = "sm_90a"}} {
func.func @tridiagonal(%l: tensor<2xf32>, %d: tensor<2xf32>, %u: tensor<2xf32>, %b: tensor<2x1xf32>) -> (tensor<2x1xf32>, tensor<i32>) {
  %0:5 = stablehlo.custom_call @lapack_sgtsv_ffi(%l, %d, %u, %b) {mhlo.backend_config = {}, operand_layouts = [dense<0> : tensor<1xindex>,
    dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<0> : tensor<1xindex>,
    dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>, dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>]}
    : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x1xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x1xf32>, tensor<i32>)
  return %0#3, %0#4 : tensor<2x1xf32>, tensor<i32>
}
}

// -----

// Declined: cuSOLVER has getrf as LAPACK has it.
// CHECK-LABEL: func.func @same
// CHECK-NEXT: stablehlo.custom_call @lapack_sgetrf_ffi(%arg0)
module attributes {hloom.target = {kind = "cuda", name = "sm_90a"}} {
func.func @same(%a: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi32>, tensor<i32>) {
  %0:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%a) : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xi32>, tensor<i32>)
  return %0#0, %0#1, %0#2 : tensor<4x4xf32>, tensor<4xi32>, tensor<i32>
}
}

// -----

// Declined: A CPU's LAPACK has them all.
// CHECK-LABEL: func.func @cpu
// CHECK-NEXT: stablehlo.custom_call @lapack_sgesdd_ffi(%arg0)
module attributes {hloom.target = {kind = "cpu", name = "cpu-avx2"}} {
func.func @cpu(%a: tensor<4x5xf32>) -> tensor<4xf32> {
  %0:5 = stablehlo.custom_call @lapack_sgesdd_ffi(%a) {mhlo.backend_config = {mode = 65 : ui8}}
    : (tensor<4x5xf32>) -> (tensor<4x5xf32>, tensor<4xf32>, tensor<5x5xf32>, tensor<4x4xf32>, tensor<i32>)
  return %0#1 : tensor<4xf32>
}
}

// -----

// Unchanged: No call.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: stablehlo.tanh
module attributes {hloom.target = {kind = "cuda", name = "sm_90a"}} {
func.func @none(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}
}
