// RUN: hloom-opt %s --legalize-fft --simplify-stablehlo --split-input-file --mlir-elide-elementsattrs-if-larger=16 | filecheck %s

// Changed: On a CPU 1000 = 25 x 40 is a call that becomes a kernel, the inverse with the parts exchanged, and divided by its length there.
// CHECK-LABEL: func.func @rows
// CHECK: %[[Z:.*]]:2 = stablehlo.custom_call @hloom.dft(%arg1, %arg0, %{{[a-z0-9_]+}})
// CHECK-SAME: extended = false, factor = 1.000000e-03 : f64, lanes = 16 : i64, radices = [array<i64: 5, 5>, array<i64: 8, 5>]
// CHECK: return %[[Z]]#1, %[[Z]]#0
func.func @rows(%re: tensor<4x1000xf32>, %im: tensor<4x1000xf32>) -> (tensor<4x1000xf32>, tensor<4x1000xf32>) {
  %0:2 = stablehlo.custom_call @hloom.fft(%re, %im) {hloom.fft = {fft_type = "IFFT", fft_length = array<i64: 1000>}}
      : (tensor<4x1000xf32>, tensor<4x1000xf32>) -> (tensor<4x1000xf32>, tensor<4x1000xf32>)
  return %0#0, %0#1 : tensor<4x1000xf32>, tensor<4x1000xf32>
}

// -----

// Changed: Of two dimensions the last is rows, the first columns: nothing is transposed.
// CHECK-LABEL: func.func @plane
// CHECK: stablehlo.custom_call @hloom.dft
// CHECK-SAME: (tensor<512x512xf32>, tensor<512x512xf32>, tensor<{{.*}}>) -> (tensor<512x512xf32>, tensor<512x512xf32>)
// CHECK-NOT: transpose
// CHECK: stablehlo.custom_call @hloom.dft
// CHECK-SAME: radices = [array<i64: 8, 8, 8>]
// CHECK-SAME: (tensor<1x512x512xf32>, tensor<1x512x512xf32>, tensor<{{.*}}>) -> (tensor<1x512x512xf32>, tensor<1x512x512xf32>)
// CHECK-NOT: transpose
func.func @plane(%re: tensor<512x512xf32>, %im: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %0:2 = stablehlo.custom_call @hloom.fft(%re, %im) {hloom.fft = {fft_type = "FFT", fft_length = array<i64: 512, 512>}}
      : (tensor<512x512xf32>, tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>)
  return %0#0, %0#1 : tensor<512x512xf32>, tensor<512x512xf32>
}

// -----

// Changed: A million is 1024 x 1024 in four steps: columns, roots of unity, a transposition, columns.
// CHECK-LABEL: func.func @long
// CHECK: stablehlo.custom_call @hloom.dft
// CHECK-SAME: tensor<1x1024x1024xf32>
// CHECK: stablehlo.multiply
// CHECK: stablehlo.transpose
// CHECK: stablehlo.custom_call @hloom.dft
// CHECK-SAME: tensor<1x1024x1024xf32>
func.func @long(%re: tensor<1048576xf32>, %im: tensor<1048576xf32>) -> (tensor<1048576xf32>, tensor<1048576xf32>) {
  %0:2 = stablehlo.custom_call @hloom.fft(%re, %im) {hloom.fft = {fft_type = "FFT", fft_length = array<i64: 1048576>}}
      : (tensor<1048576xf32>, tensor<1048576xf32>) -> (tensor<1048576xf32>, tensor<1048576xf32>)
  return %0#0, %0#1 : tensor<1048576xf32>, tensor<1048576xf32>
}

// -----

// Changed: A prime is a convolution of at least 2 * 97 - 1 elements.
// CHECK-LABEL: func.func @prime
// CHECK: stablehlo.pad
// CHECK: stablehlo.custom_call @hloom.dft
// CHECK-SAME: tensor<1x200xf64>
// CHECK: stablehlo.multiply
// CHECK: stablehlo.custom_call @hloom.dft
// CHECK: stablehlo.slice
func.func @prime(%re: tensor<97xf64>, %im: tensor<97xf64>) -> (tensor<97xf64>, tensor<97xf64>) {
  %0:2 = stablehlo.custom_call @hloom.fft(%re, %im) {hloom.fft = {fft_type = "FFT", fft_length = array<i64: 97>}}
      : (tensor<97xf64>, tensor<97xf64>) -> (tensor<97xf64>, tensor<97xf64>)
  return %0#0, %0#1 : tensor<97xf64>, tensor<97xf64>
}

// -----

// Changed: 512 reals are 256 complex numbers, whose transform is taken apart again.
// CHECK-LABEL: func.func @reals
// CHECK-DAG: stablehlo.slice %{{.*}} [0:256, 0:1]
// CHECK-DAG: stablehlo.slice %{{.*}} [0:256, 1:2]
// CHECK: stablehlo.custom_call @hloom.dft
// CHECK-SAME: extended = true
// CHECK-SAME: -> (tensor<1x257xf32>, tensor<1x257xf32>)
// CHECK: stablehlo.reverse
// CHECK-NOT: stablehlo.concatenate
func.func @reals(%x: tensor<512xf32>) -> (tensor<257xf32>, tensor<257xf32>) {
  %0:2 = stablehlo.custom_call @hloom.fft(%x) {hloom.fft = {fft_type = "RFFT", fft_length = array<i64: 512>}}
      : (tensor<512xf32>) -> (tensor<257xf32>, tensor<257xf32>)
  return %0#0, %0#1 : tensor<257xf32>, tensor<257xf32>
}

// -----

// Changed: Of an odd number of reals two rows are one of complex numbers; three rows are two, the middle one twice.
// CHECK-LABEL: func.func @odd_reals
// CHECK-SAME: (%[[X:.*]]: tensor<3x75xf32>)
// CHECK-DAG: %[[FIRST:.*]] = stablehlo.slice %[[X]] [0:2, 0:75]
// CHECK-DAG: %[[SECOND:.*]] = stablehlo.slice %[[X]] [1:3, 0:75]
// CHECK: stablehlo.custom_call @hloom.dft(%[[FIRST]], %[[SECOND]], %{{[a-z0-9_]+}})
// CHECK: stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 0 : (tensor<2x38xf32>, tensor<1x38xf32>) -> tensor<3x38xf32>
func.func @odd_reals(%x: tensor<3x75xf32>) -> (tensor<3x38xf32>, tensor<3x38xf32>) {
  %0:2 = stablehlo.custom_call @hloom.fft(%x) {hloom.fft = {fft_type = "RFFT", fft_length = array<i64: 75>}}
      : (tensor<3x75xf32>) -> (tensor<3x38xf32>, tensor<3x38xf32>)
  return %0#0, %0#1 : tensor<3x38xf32>, tensor<3x38xf32>
}

// -----

// Changed: A prime up to 37 is a radix.
// CHECK-LABEL: func.func @small_prime
// CHECK: stablehlo.custom_call @hloom.dft
// CHECK-SAME: radices = [array<i64: 16>, array<i64: 31>]
// CHECK-NOT: stablehlo.custom_call
func.func @small_prime(%re: tensor<4x496xf32>, %im: tensor<4x496xf32>) -> (tensor<4x496xf32>, tensor<4x496xf32>) {
  %0:2 = stablehlo.custom_call @hloom.fft(%re, %im) {hloom.fft = {fft_type = "FFT", fft_length = array<i64: 496>}}
      : (tensor<4x496xf32>, tensor<4x496xf32>) -> (tensor<4x496xf32>, tensor<4x496xf32>)
  return %0#0, %0#1 : tensor<4x496xf32>, tensor<4x496xf32>
}

// -----

// Changed: For CUDA a short transform is a product with a matrix.
// CHECK-LABEL: func.func @product
// CHECK-COUNT-4: stablehlo.dot_general
// CHECK-NOT: custom_call
module attributes {hloom.target = {kind = "cuda", name = "sm_90a"}} {
  func.func @product(%re: tensor<4x6xf32>, %im: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>) {
    %0:2 = stablehlo.custom_call @hloom.fft(%re, %im) {hloom.fft = {fft_type = "FFT", fft_length = array<i64: 6>}}
        : (tensor<4x6xf32>, tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>)
    return %0#0, %0#1 : tensor<4x6xf32>, tensor<4x6xf32>
  }
}

// -----

// Changed: A longer one is a library's, which wants the parts side by side, and does not scale.
// CHECK-LABEL: func.func @library
// CHECK: %[[Z:.*]] = stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 2 : (tensor<4x200x1xf32>, tensor<4x200x1xf32>) -> tensor<4x200x2xf32>
// CHECK: %[[W:.*]] = stablehlo.custom_call @hloom.cufft(%[[Z]]) {hloom.cufft = {lengths = array<i64: 200>, transform = "ifft"}}
// CHECK: stablehlo.slice %[[W]] [0:4, 0:200, 0:1]
// CHECK: stablehlo.slice %[[W]] [0:4, 0:200, 1:2]
// CHECK: stablehlo.multiply
module attributes {hloom.target = {kind = "cuda", name = "sm_90a"}} {
  func.func @library(%re: tensor<4x200xf32>, %im: tensor<4x200xf32>) -> (tensor<4x200xf32>, tensor<4x200xf32>) {
    %0:2 = stablehlo.custom_call @hloom.fft(%re, %im) {hloom.fft = {fft_type = "IFFT", fft_length = array<i64: 200>}}
        : (tensor<4x200xf32>, tensor<4x200xf32>) -> (tensor<4x200xf32>, tensor<4x200xf32>)
    return %0#0, %0#1 : tensor<4x200xf32>, tensor<4x200xf32>
  }
}

// -----

// Changed: Of one element there is nothing to do; of none there is nothing.
// CHECK-LABEL: func.func @least
// CHECK: stablehlo.constant dense<> : tensor<2x0xf32>
// CHECK-NOT: custom_call
// CHECK: return %arg0, %arg1
func.func @least(%re: tensor<3x1xf32>, %im: tensor<3x1xf32>, %e: tensor<2x0xf32>)
    -> (tensor<3x1xf32>, tensor<3x1xf32>, tensor<2x0xf32>, tensor<2x0xf32>) {
  %0:2 = stablehlo.custom_call @hloom.fft(%re, %im) {hloom.fft = {fft_type = "FFT", fft_length = array<i64: 1>}}
      : (tensor<3x1xf32>, tensor<3x1xf32>) -> (tensor<3x1xf32>, tensor<3x1xf32>)
  %1:2 = stablehlo.custom_call @hloom.fft(%e) {hloom.fft = {fft_type = "RFFT", fft_length = array<i64: 0>}}
      : (tensor<2x0xf32>) -> (tensor<2x0xf32>, tensor<2x0xf32>)
  return %0#0, %0#1, %1#0, %1#1 : tensor<3x1xf32>, tensor<3x1xf32>, tensor<2x0xf32>, tensor<2x0xf32>
}

// -----

// Declined: A custom call of another name.
// Unchanged: What is no Fourier transform.
// CHECK-LABEL: func.func @other
// CHECK-NEXT: stablehlo.custom_call @other(%arg0)
// CHECK-NEXT: stablehlo.tanh
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @other(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = stablehlo.tanh %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
