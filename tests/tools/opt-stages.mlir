// The passes of whole stages by name, from StableHLO to linalg.
// RUN: hloom-opt %s --stage-stablehlo --stage-fused | filecheck %s --check-prefixes=FUSED,BOTH
// RUN: hloom-opt %s --pass-pipeline='builtin.module(stage-stablehlo,stage-fused,stage-lhlo,stage-linalg)' | filecheck %s --check-prefixes=LINALG,BOTH
// RUN: not hloom-opt %s --stage-nosuch 2>&1 | filecheck %s --check-prefix=UNKNOWN

// BOTH-LABEL: func.func {{.*}}@main
// FUSED: call @[[GROUP:.*]](%arg0)
// FUSED: func.func private @[[GROUP]](
// FUSED-SAME: hloom.kind = "loop"
// FUSED: stablehlo.exponential
// LINALG: "lhlo.fusion"
// LINALG-SAME: callee = @[[GROUP:[a-z_0-9]+]]
// LINALG: func.func private @[[GROUP]](
// LINALG: linalg.generic
// LINALG-NOT: stablehlo.
// UNKNOWN: error: [HL104] unknown pass 'stage-nosuch'
func.func @main(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = call @callee(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.exponential %0 : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
func.func private @callee(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = stablehlo.negate %a : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
