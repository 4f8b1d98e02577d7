// RUN: hloom-opt %s --resolve-dynamic-calls | filecheck %s

func.func private @add(%a: tensor<f32>, %b: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %a, %b : tensor<f32>
  return %0 : tensor<f32>
}

// Changed: Windows that are constants, with the body of the called function.
// CHECK-LABEL: func.func @window
// CHECK: "stablehlo.reduce_window"(%{{.*}}, %{{.*}}) <{base_dilations = array<i64: 1, 1>, padding = dense<{{\[\[}}4, 0], [0, 0]]> : tensor<2x2xi64>, window_dilations = array<i64: 1, 1>, window_dimensions = array<i64: 5, 1>, window_strides = array<i64: 1, 1>}>
// CHECK: stablehlo.add
// CHECK: (tensor<5x8xf32>, tensor<f32>) -> tensor<5x8xf32>
func.func @window(%x: tensor<5x8xf32>, %zero: tensor<f32>) -> tensor<5x8xf32> {
  %one = stablehlo.constant dense<1> : tensor<2xi32>
  %size = stablehlo.constant dense<[5, 1]> : tensor<2xi32>
  %pads = stablehlo.constant dense<[[4, 0], [0, 0]]> : tensor<2x2xi32>
  %0 = stablehlo.custom_call @stablehlo.dynamic_reduce_window(%x, %zero, %size, %one, %one, %one, %pads) {called_computations = [@add]}
    : (tensor<5x8xf32>, tensor<f32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>, tensor<2x2xi32>) -> tensor<5x8xf32>
  return %0 : tensor<5x8xf32>
}

// Changed: The largest k, random bits, and the approximate largest.
// CHECK-LABEL: func.func @others
// CHECK: chlo.top_k(%{{.*}}, k = 3) : tensor<4x6xf32> -> (tensor<4x3xf32>, tensor<4x3xi32>)
// CHECK: stablehlo.rng_bit_generator %{{.*}}, algorithm = DEFAULT : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4x2xui32>)
// CHECK: stablehlo.custom_call @ApproxTopK(%arg0, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) {{.*}}mhlo.backend_config = {reduction_dim = 1 : i64, top_k = 3 : i64}
func.func @others(%x: tensor<4x6xf32>, %i: tensor<4x6xi32>, %s: tensor<2xui64>, %least: tensor<f32>, %none: tensor<i32>)
    -> (tensor<4x3xf32>, tensor<4x2xui32>, tensor<4x3xf32>) {
  %k = stablehlo.constant dense<3> : tensor<i32>
  %shape = stablehlo.constant dense<[4, 2]> : tensor<2xi32>
  %result = stablehlo.constant dense<[4, 3]> : tensor<2xi32>
  %0:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %k) : (tensor<4x6xf32>, tensor<i32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
  %1:2 = stablehlo.custom_call @stablehlo.dynamic_rng_bit_generator(%s, %shape) {rng_algorithm = #stablehlo<rng_algorithm DEFAULT>}
    : (tensor<2xui64>, tensor<2xi32>) -> (tensor<2xui64>, tensor<4x2xui32>)
  %2:2 = stablehlo.custom_call @stablehlo.dynamic_approx_top_k(%x, %i, %least, %none, %k, %result, %result)
    {mhlo.backend_config = {reduction_dim = 1 : i64}, indices_of_shape_operands = dense<[5, 6]> : tensor<2xi64>}
    : (tensor<4x6xf32>, tensor<4x6xi32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<4x3xf32>, tensor<4x3xi32>)
  return %0#0, %1#1, %2#0 : tensor<4x3xf32>, tensor<4x2xui32>, tensor<4x3xf32>
}

// Declined: A k that is no constant, an operand of unknown shape, and operands that are missing.
// CHECK-LABEL: func.func @declined
// CHECK-COUNT-3: stablehlo.custom_call @stablehlo.dynamic_top_k
func.func @declined(%x: tensor<4x6xf32>, %y: tensor<?x6xf32>, %k: tensor<i32>) -> (tensor<4x?xf32>, tensor<?x?xf32>) {
  %c = stablehlo.constant dense<3> : tensor<i32>
  %0:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%x, %k) : (tensor<4x6xf32>, tensor<i32>) -> (tensor<4x?xf32>, tensor<4x?xi32>)
  %1:2 = stablehlo.custom_call @stablehlo.dynamic_top_k(%y, %c) : (tensor<?x6xf32>, tensor<i32>) -> (tensor<?x?xf32>, tensor<?x?xi32>)
  %2:2 = stablehlo.custom_call @stablehlo.dynamic_top_k() {has_side_effect = true} : () -> (tensor<?xf32>, tensor<?xi32>)
  return %0#0, %1#0 : tensor<4x?xf32>, tensor<?x?xf32>
}

// Unchanged: Other calls.
// CHECK-LABEL: func.func @unchanged
// CHECK: stablehlo.custom_call @other
func.func @unchanged(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @other(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
