// RUN: hloom-opt %s --widen-narrow-types --split-input-file | filecheck %s

// Changed: Tensor cores multiply floats of 8 bits from sm_89 on: a dot reads the bytes as what they are, and sums in f32.
// CHECK-LABEL: func.func public @main
// CHECK-SAME: (%[[X:.*]]: tensor<32x64xui8>, %[[W:.*]]: tensor<64x16xui8>) -> tensor<32x16xbf16>
// CHECK: %[[A:.*]] = stablehlo.bitcast_convert %[[X]] : (tensor<32x64xui8>) -> tensor<32x64xf8E4M3FN>
// CHECK: %[[B:.*]] = stablehlo.bitcast_convert %[[W]] : (tensor<64x16xui8>) -> tensor<64x16xf8E5M2>
// CHECK: %[[S:.*]] = stablehlo.dot_general %[[A]], %[[B]], contracting_dims = [1] x [0] : {{.*}} -> tensor<32x16xf32>
// CHECK: %[[R:.*]] = stablehlo.convert %[[S]] : (tensor<32x16xf32>) -> tensor<32x16xbf16>
// CHECK: return %[[R]]
module attributes {hloom.target = {kind = "cuda", cpu = "sm_89", compute_capability = 89 : i64}} {
  func.func public @main(%x: tensor<32x64xf8E4M3FN>, %w: tensor<64x16xf8E5M2>) -> tensor<32x16xbf16> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<32x64xf8E4M3FN>, tensor<64x16xf8E5M2>) -> tensor<32x16xbf16>
    return %0 : tensor<32x16xbf16>
  }
}

// -----

// Declined: Who asks for more than the default precision, forbids an imprecise accumulation, or has floats that tensor cores lack, gets f32.
// CHECK-LABEL: func.func public @precise
// CHECK-COUNT-3: stablehlo.dot_general {{.*}} (tensor<32x64xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64}} {
  func.func public @precise(%x: tensor<32x64xf8E4M3FN>, %w: tensor<64x16xf8E5M2>, %y: tensor<32x64xf8E4M3>) -> (tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0], precision = [HIGHEST, DEFAULT] : (tensor<32x64xf8E4M3FN>, tensor<64x16xf8E5M2>) -> tensor<32x16xf32>
    %1 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0], algorithm = <lhs_precision_type = f8E4M3FN, rhs_precision_type = f8E5M2, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<32x64xf8E4M3FN>, tensor<64x16xf8E5M2>) -> tensor<32x16xf32>
    %2 = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<32x64xf8E4M3>, tensor<64x16xf8E5M2>) -> tensor<32x16xf32>
    return %0, %1, %2 : tensor<32x16xf32>, tensor<32x16xf32>, tensor<32x16xf32>
  }
}

// -----

// Declined: A target without such tensor cores.
// CHECK-LABEL: func.func public @before_sm_89
// CHECK: stablehlo.dot_general {{.*}} (tensor<32x64xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_86", compute_capability = 86 : i64}} {
  func.func public @before_sm_89(%x: tensor<32x64xf8E5M2>, %w: tensor<64x16xf8E5M2>) -> tensor<32x16xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<32x64xf8E5M2>, tensor<64x16xf8E5M2>) -> tensor<32x16xf32>
    return %0 : tensor<32x16xf32>
  }
}
