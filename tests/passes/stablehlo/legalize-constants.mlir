// RUN: hloom-opt %s --legalize-constants | filecheck %s

// Changed: A tensor.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<7> : tensor<1xi64>
// CHECK-NEXT: stablehlo.convert %[[C]]
func.func @main() -> tensor<1xf32> {
  %0 = arith.constant dense<7> : tensor<1xi64>
  %1 = stablehlo.convert %0 : (tensor<1xi64>) -> tensor<1xf32>
  return %1 : tensor<1xf32>
}

// Changed: A complex one is two.
// CHECK-LABEL: func.func @complex
// CHECK-NEXT: %[[RE:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: %[[IM:.*]] = stablehlo.constant dense<-2.000000e+00> : tensor<f32>
// CHECK-NEXT: stablehlo.complex %[[RE]], %[[IM]] : tensor<complex<f32>>
func.func @complex() -> tensor<complex<f32>> {
  %0 = arith.constant dense<(1.0, -2.0)> : tensor<complex<f32>>
  return %0 : tensor<complex<f32>>
}

// Declined: A scalar that is no tensor stays.
// CHECK-LABEL: func.func @scalar
// CHECK-NEXT: arith.constant 7 : i64
func.func @scalar() -> i64 {
  %0 = arith.constant 7 : i64
  return %0 : i64
}

// Unchanged: StableHLO's own.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<7> : tensor<1xi64>
// CHECK-NEXT: return %[[C]]
func.func @none() -> tensor<1xi64> {
  %0 = stablehlo.constant dense<7> : tensor<1xi64>
  return %0 : tensor<1xi64>
}
