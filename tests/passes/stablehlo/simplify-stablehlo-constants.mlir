// RUN: hloom-opt %s --simplify-stablehlo=max-elements=8 | filecheck %s

// CHECK-LABEL: func.func @folded
// CHECK-DAG: stablehlo.constant dense<[3, 2, 1]> : tensor<3xui32>
// CHECK-DAG: stablehlo.constant dense<5.000000e-01> : tensor<64x64xbf16>
// CHECK-DAG: stablehlo.constant dense<[true, false, false]> : tensor<3xi1>
// CHECK-DAG: stablehlo.constant dense<18446744073709551615> : tensor<ui64>
// CHECK-DAG: stablehlo.constant dense<{{\[}}[1.000000e+00, 3.000000e+00], [2.000000e+00, 4.000000e+00]]> : tensor<2x2xbf16>
// CHECK-NEXT: return
func.func @folded() -> (tensor<3xui32>, tensor<64x64xbf16>, tensor<3xi1>, tensor<ui64>, tensor<2x2xbf16>) {
  %a = stablehlo.constant dense<[1, 2, 3]> : tensor<3xui32>
  %0 = stablehlo.reverse %a, dims = [0] : tensor<3xui32>
  %h = stablehlo.constant dense<2.0> : tensor<64x64xbf16>
  %one = stablehlo.constant dense<1.0> : tensor<64x64xbf16>
  %1 = stablehlo.divide %one, %h : tensor<64x64xbf16>
  %2 = stablehlo.compare LT, %a, %0 : (tensor<3xui32>, tensor<3xui32>) -> tensor<3xi1>
  %z = stablehlo.constant dense<0> : tensor<ui64>
  %u = stablehlo.constant dense<1> : tensor<ui64>
  %3 = stablehlo.subtract %z, %u : tensor<ui64>
  %m = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xbf16>
  %4 = stablehlo.transpose %m, dims = [1, 0] : (tensor<2x2xbf16>) -> tensor<2x2xbf16>
  return %0, %1, %2, %3, %4 : tensor<3xui32>, tensor<64x64xbf16>, tensor<3xi1>, tensor<ui64>, tensor<2x2xbf16>
}

// Declined: In doubt, or too large: division by zero, a conversion out of range, more elements than max-elements, max(-0, 0).
// CHECK-LABEL: func.func @kept
// CHECK: stablehlo.divide
// CHECK: stablehlo.convert
// CHECK: stablehlo.add
// CHECK: stablehlo.maximum
func.func @kept() -> (tensor<i32>, tensor<i8>, tensor<9xi32>, tensor<f32>) {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.divide %one, %z : tensor<i32>
  %f = stablehlo.constant dense<300.0> : tensor<f32>
  %1 = stablehlo.convert %f : (tensor<f32>) -> tensor<i8>
  %n = stablehlo.constant dense<[1, 2, 3, 4, 5, 6, 7, 8, 9]> : tensor<9xi32>
  %2 = stablehlo.add %n, %n : tensor<9xi32>
  %nz = stablehlo.constant dense<-0.0> : tensor<f32>
  %pz = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.maximum %nz, %pz : tensor<f32>
  return %0, %1, %2, %3 : tensor<i32>, tensor<i8>, tensor<9xi32>, tensor<f32>
}

// Changed: Between 0 and 4 two floats are what they were; declined: which of 0 and -0 is the greater the processor says.
// CHECK-LABEL: func.func @clamped
// CHECK-DAG: stablehlo.constant dense<[0.000000e+00, 4.000000e+00]> : tensor<2xf32>
// CHECK: %[[C:.*]] = stablehlo.clamp
// CHECK: return %{{.*}}, %[[C]]
func.func @clamped() -> (tensor<2xf32>, tensor<2xf32>) {
  %low = stablehlo.constant dense<0.0> : tensor<f32>
  %high = stablehlo.constant dense<4.0> : tensor<f32>
  %x = stablehlo.constant dense<[0.0, 5.0]> : tensor<2xf32>
  %0 = stablehlo.clamp %low, %x, %high : (tensor<f32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %y = stablehlo.constant dense<[-0.0, 5.0]> : tensor<2xf32>
  %1 = stablehlo.clamp %low, %y, %high : (tensor<f32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}
