// RUN: hloom-opt %s --split-input-file --split-complex | filecheck %s

// Changed: An entry keeps one argument and one result, of pairs; within, there are real and imaginary parts.
// CHECK-LABEL: func.func @main
// CHECK-SAME: (%arg0: tensor<8x2xf32> {hloom.bound}) -> tensor<8x2xf32>
// CHECK: %[[A:.*]] = stablehlo.reshape %{{.*}} : (tensor<8x1xf32>) -> tensor<8xf32>
// CHECK: %[[B:.*]] = stablehlo.reshape %{{.*}} : (tensor<8x1xf32>) -> tensor<8xf32>
// CHECK: %[[AA:.*]] = stablehlo.multiply %[[A]], %[[A]]
// CHECK: %[[BB:.*]] = stablehlo.multiply %[[B]], %[[B]]
// CHECK: stablehlo.subtract %[[AA]], %[[BB]]
// CHECK: stablehlo.concatenate
// CHECK-SAME: -> tensor<8x2xf32>
func.func @main(%z: tensor<8xcomplex<f32>> {hloom.bound}) -> tensor<8xcomplex<f32>> {
  %0 = stablehlo.multiply %z, %z : tensor<8xcomplex<f32>>
  return %0 : tensor<8xcomplex<f32>>
}

// -----

// Changed: Constants are two, parts are what they are, and what moves elements moves both.
// CHECK-LABEL: func.func @parts
// CHECK-SAME: (%arg0: tensor<2xf64>, %arg1: tensor<2xf64>) -> (tensor<2xf64>, tensor<4xf64>)
// CHECK: %[[RE:.*]] = stablehlo.constant dense<[1.000000e+00, 0x7FF8000000000000]>
// CHECK: %[[IM:.*]] = stablehlo.constant dense<[-2.000000e+00, -0.000000e+00]>
// CHECK: stablehlo.concatenate %arg0, %[[RE]]
// CHECK: %[[C:.*]] = stablehlo.concatenate %arg1, %[[IM]]
// CHECK: return %arg0, %[[C]]
func.func @parts(%z: tensor<2xcomplex<f64>>) -> (tensor<2xf64>, tensor<4xf64>) {
  %0 = stablehlo.constant dense<[(1.0, -2.0), (0x7FF8000000000000, -0.0)]> : tensor<2xcomplex<f64>>
  %1 = stablehlo.real %z : (tensor<2xcomplex<f64>>) -> tensor<2xf64>
  %2 = stablehlo.concatenate %z, %0, dim = 0 : (tensor<2xcomplex<f64>>, tensor<2xcomplex<f64>>) -> tensor<4xcomplex<f64>>
  %3 = stablehlo.imag %2 : (tensor<4xcomplex<f64>>) -> tensor<4xf64>
  return %1, %3 : tensor<2xf64>, tensor<4xf64>
}

// -----

// Changed: A contraction is four, of which one is subtracted.
// CHECK-LABEL: func.func @dot
// CHECK: %[[AC:.*]] = stablehlo.dot_general %arg0, %arg2
// CHECK: %[[BD:.*]] = stablehlo.dot_general %arg1, %arg3
// CHECK: stablehlo.subtract %[[AC]], %[[BD]]
// CHECK-COUNT-2: stablehlo.dot_general
// CHECK: stablehlo.add
func.func @dot(%x: tensor<2x3xcomplex<f32>>, %y: tensor<3x4xcomplex<f32>>) -> tensor<2x4xcomplex<f32>> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x3xcomplex<f32>>, tensor<3x4xcomplex<f32>>) -> tensor<2x4xcomplex<f32>>
  return %0 : tensor<2x4xcomplex<f32>>
}

// -----

// Changed: A reduction has two operands for one, and its body four arguments.
// CHECK-LABEL: func.func @product
// CHECK: stablehlo.reduce(%arg0 init: %arg2), (%arg1 init: %arg3) across dimensions = [0]
// CHECK: stablehlo.return %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32>
func.func @product(%x: tensor<8xcomplex<f32>>, %y: tensor<complex<f32>>) -> tensor<complex<f32>> {
  %0 = stablehlo.reduce(%x init: %y) applies stablehlo.multiply across dimensions = [0] : (tensor<8xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  return %0 : tensor<complex<f32>>
}

// -----

// Changed: A sum is two sums.
// CHECK-LABEL: func.func @sum
// CHECK: %[[A:.*]] = stablehlo.reduce(%arg0 init: %arg2) applies stablehlo.add across dimensions = [0]
// CHECK: %[[B:.*]] = stablehlo.reduce(%arg1 init: %arg3) applies stablehlo.add across dimensions = [0]
// CHECK: return %[[A]], %[[B]]
func.func @sum(%x: tensor<8xcomplex<f32>>, %y: tensor<complex<f32>>) -> tensor<complex<f32>> {
  %0 = stablehlo.reduce(%x init: %y) applies stablehlo.add across dimensions = [0] : (tensor<8xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  return %0 : tensor<complex<f32>>
}

// -----

// Changed: A cumulative product has two operands for one, and is known as a scan; a product over other windows is none.
// CHECK-LABEL: func.func @cumulative_product
// CHECK: "stablehlo.reduce_window"(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) <{{.*}}> ({
// CHECK: }) {hloom.associative} : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK: "stablehlo.reduce_window"
// CHECK: }) : (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<f32>) -> (tensor<7xf32>, tensor<7xf32>)
func.func @cumulative_product(%z: tensor<8xcomplex<f32>>) -> (tensor<8xcomplex<f32>>, tensor<7xcomplex<f32>>) {
  %one = stablehlo.constant dense<(1.000000e+00,0.000000e+00)> : tensor<complex<f32>>
  %0 = "stablehlo.reduce_window"(%z, %one) <{padding = dense<[[7, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 8>}> ({
  ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
    %2 = stablehlo.multiply %a, %b : tensor<complex<f32>>
    stablehlo.return %2 : tensor<complex<f32>>
  }) : (tensor<8xcomplex<f32>>, tensor<complex<f32>>) -> tensor<8xcomplex<f32>>
  %1 = "stablehlo.reduce_window"(%z, %one) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<complex<f32>>, %b: tensor<complex<f32>>):
    %2 = stablehlo.multiply %a, %b : tensor<complex<f32>>
    stablehlo.return %2 : tensor<complex<f32>>
  }) : (tensor<8xcomplex<f32>>, tensor<complex<f32>>) -> tensor<7xcomplex<f32>>
  return %0, %1 : tensor<8xcomplex<f32>>, tensor<7xcomplex<f32>>
}

// -----

// Changed: A custom call sees the bytes, in its layout too; the types that it had are kept.
// CHECK-LABEL: func.func @call
// CHECK: %[[Z:.*]] = stablehlo.concatenate
// CHECK-SAME: -> tensor<3x3x2xf32>
// CHECK: stablehlo.custom_call @f(%[[Z]], %arg2)
// CHECK-SAME: hloom.types = (tensor<3x3xcomplex<f32>>, tensor<i32>) -> tensor<3x3xcomplex<f32>>
// CHECK-SAME: operand_layouts = [dense<[2, 0, 1]> : tensor<3xindex>, dense<> : tensor<0xindex>]
// CHECK-SAME: -> tensor<3x3x2xf32>
func.func @call(%x: tensor<3x3xcomplex<f32>>, %n: tensor<i32>) -> tensor<3x3xcomplex<f32>> {
  %0 = "stablehlo.custom_call"(%x, %n) {call_target_name = "f", operand_layouts = [dense<[0, 1]> : tensor<2xindex>, dense<> : tensor<0xindex>],
    result_layouts = [dense<[0, 1]> : tensor<2xindex>]} : (tensor<3x3xcomplex<f32>>, tensor<i32>) -> tensor<3x3xcomplex<f32>>
  return %0 : tensor<3x3xcomplex<f32>>
}

// -----

// Changed: A Fourier transform is a call on planar parts.
// CHECK-LABEL: func.func @transform
// CHECK: %[[F:.*]]:2 = stablehlo.custom_call @hloom.fft(%arg0)
// CHECK-SAME: hloom.fft = {fft_length = array<i64: 8>, fft_type = "RFFT"}
// CHECK-SAME: : (tensor<8xf32>) -> (tensor<5xf32>, tensor<5xf32>)
// CHECK: return %[[F]]#0, %[[F]]#1
func.func @transform(%x: tensor<8xf32>) -> tensor<5xcomplex<f32>> {
  %0 = stablehlo.fft %x, type = RFFT, length = [8] : (tensor<8xf32>) -> tensor<5xcomplex<f32>>
  return %0 : tensor<5xcomplex<f32>>
}

// -----

// Changed: The elements of a constant whose data is a resource of the module.
// CHECK-LABEL: func.func @resource
// CHECK: stablehlo.constant dense<[1.000000e+00, 7.500000e-01]> : tensor<2xf32>
// CHECK: stablehlo.constant dense<-2.000000e+00> : tensor<2xf32>
func.func @resource() -> tensor<2xcomplex<f32>> {
  %0 = stablehlo.constant dense_resource<numbers> : tensor<2xcomplex<f32>>
  return %0 : tensor<2xcomplex<f32>>
}

{-#
  dialect_resources: {
    builtin: {
      numbers: "0x080000000000803F000000C00000403F000000C0"
    }
  }
#-}

// -----

// Unchanged: Nothing is complex.
// CHECK-LABEL: func.func @real
// CHECK-NEXT: %0 = stablehlo.custom_call @f(%arg0) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: return %0
func.func @real(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = stablehlo.custom_call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
