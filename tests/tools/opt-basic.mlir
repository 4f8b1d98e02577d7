// RUN: hloom-opt %s --cse | filecheck %s
// RUN: hloom-opt < %s --pass-pipeline='builtin.module(func.func(cse))' | filecheck %s
// RUN: hloom-opt %s -o %t --cse && filecheck %s < %t
// RUN: hloom-opt %s --emit-bytecode -o %t.mlirbc && hloom-opt %t.mlirbc -cse | filecheck %s
// RUN: hloom-opt %s | filecheck %s --check-prefix=NOOP
// RUN: hloom-opt %s --mlir-print-op-generic | filecheck %s --check-prefix=GENERIC
// RUN: hloom-opt %s --mlir-print-debuginfo | filecheck %s --check-prefix=LOC

// CHECK-LABEL: func.func @f
// CHECK: stablehlo.add
// CHECK-NOT: stablehlo.add
// CHECK: stablehlo.multiply %0, %0

// NOOP: stablehlo.add
// NOOP: stablehlo.add
// GENERIC: "stablehlo.add"(%
// LOC: loc("{{.*}}opt-basic.mlir":{{[0-9]+}}:{{[0-9]+}})
func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  %1 = stablehlo.add %a, %a : tensor<4xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
