// What is typed by habit of mlir-opt: one dash as good as two, =true and =false of flags, values with = alone where they may be left out; of IREE: underscores for dashes.
// RUN: hloom-opt -verify-each %s -pass-pipeline='builtin.module(func.func(cse))' -mlir-print-op-generic=false -o=- | filecheck %s --check-prefix=TEXT
// RUN: hloom-opt -stage-stablehlo -plan-fusion='max-instances=64' -cse -verify-each=0 %s -o - | filecheck %s --check-prefix=FUSED
// RUN: hloom-opt %s -mlir-print-op-generic -mlir-print-debuginfo -mlir-disable-threading | filecheck %s --check-prefix=GENERIC
// RUN: hloom-opt %s -plan-fusion{max-instances=64} -mlir-print-ir-after-all 2>&1 --o=/dev/null | filecheck %s --check-prefix=AFTER
// RUN: hloom-opt -split-input-file=//---- -output-split-marker="// ====" %s | filecheck %s --check-prefix=SPLIT
// RUN: not hloom-opt %s -pass-pipeline='builtin.module(cse)' -canonicalize 2>&1 | filecheck %s --check-prefix=BOTH
// RUN: not hloom-opt %s -verify-each=maybe 2>&1 | filecheck %s --check-prefix=MAYBE
// RUN: hloom-compile %s -target=cpu-avx2 -to=fused | filecheck %s --check-prefix=FUSED
// RUN: hloom-run %s -input=4xf32=1.5 -function main | filecheck %s --check-prefix=RESULT
// RUN: hloom-run %s --input=4xf32=1.5 --expected_output="4xf32=[3][3][3][3]" | filecheck %s --check-prefix=EXPECTED
// RUN: not hloom-run %s --inputs=random 2>&1 | filecheck %s --check-prefix=MEANT
// RUN: hloom-run --version | filecheck %s --check-prefix=VERSION
// RUN: hloom-opt %s --emit-bytecode -o %t.mlirbc
// RUN: head -c 90 %t.mlirbc > %t.short.mlirbc
// RUN: not hloom-opt %t.short.mlirbc 2>&1 | filecheck %s --check-prefix=SHORT
// RUN: hloom-explain %s -json=- | filecheck %s --check-prefix=JSON

// TEXT: func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
// TEXT-NEXT: stablehlo.add
// FUSED: func.func private @fusion_0
// GENERIC: "func.func"() <{function_type = (tensor<4xf32>) -> tensor<4xf32>, sym_name = "main"}>
// GENERIC: loc("{{.*}}habits.mlir":
// AFTER: IR Dump After plan-fusion
// SPLIT: func.func @main
// SPLIT: // ====
// SPLIT: module
// BOTH: --pass-pipeline and --<pass> exclude each other
// MAYBE: expected true or false, got 'maybe'
// RESULT: 3
// EXPECTED: expected result0 4xf32: ok
// MEANT: did you mean --input?
// VERSION: hloom-run 0.
// SHORT: short.mlirbc
// JSON: "groups"
func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.add %a, %a : tensor<4xf32>
  return %0 : tensor<4xf32>
}

//---- the marker
