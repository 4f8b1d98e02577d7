// RUN: hloom-opt %s --legalize-collectives | filecheck %s

// Changed: In a group of one each device has what it had; its number is 0.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<8xf32>
// CHECK-DAG: %[[ID:.*]] = stablehlo.constant dense<0> : tensor<ui32>
// CHECK-DAG: %[[Z:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK: return %[[ID]], %[[X]], %[[Z]]
func.func @main(%x: tensor<8xf32>) -> (tensor<ui32>, tensor<8xf32>, tensor<8xf32>) {
  %0 = stablehlo.replica_id : tensor<ui32>
  %1 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %3 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<> : tensor<0x2xi64>}> : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1, %2 : tensor<ui32>, tensor<8xf32>, tensor<8xf32>
}

// Changed: A sum in a wider type has that type.
// CHECK-LABEL: func.func @wider
// CHECK-NEXT: %[[R:.*]] = stablehlo.convert %arg0 : (tensor<8xf16>) -> tensor<8xf32>
// CHECK-NEXT: return %[[R]]
func.func @wider(%x: tensor<8xf16>) -> tensor<8xf32> {
  %0 = "stablehlo.all_reduce"(%x) <{replica_groups = dense<0> : tensor<1x1xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %3 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<8xf16>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// Changed: Zeros of a quantized type are the integers that stand for 0.
// CHECK-LABEL: func.func @quantized
// CHECK-NEXT: %[[Z:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<8xf32>
// CHECK-NEXT: %[[R:.*]] = stablehlo.uniform_quantize %[[Z]] : (tensor<8xf32>) -> tensor<8x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-NEXT: return %[[R]]
func.func @quantized(%x: tensor<8x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<8x!quant.uniform<i8:f32, 0.5:3>> {
  %0 = "stablehlo.collective_permute"(%x) <{source_target_pairs = dense<> : tensor<0x2xi64>}>
    : (tensor<8x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<8x!quant.uniform<i8:f32, 0.5:3>>
  return %0 : tensor<8x!quant.uniform<i8:f32, 0.5:3>>
}

// Unchanged: No collective.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: %[[R:.*]] = stablehlo.rsqrt %arg0
// CHECK-NEXT: return %[[R]]
func.func @none(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.rsqrt %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
