// A failing pass leaves the program and the pipeline; the reproducer fails in the same way. Success leaves none.
// RUN: not hloom-opt %s --cse --one-shot-bufferize --allow-unregistered-dialect --mlir-pass-pipeline-crash-reproducer=%t.repro --mlir-print-ir-after-failure 2>&1 | filecheck %s
// RUN: filecheck %s --check-prefix=REPRO < %t.repro
// RUN: not hloom-opt %t.repro --run-reproducer --allow-unregistered-dialect 2>&1 | filecheck %s --check-prefix=AGAIN
// RUN: not hloom-opt %s --cse --one-shot-bufferize --allow-unregistered-dialect --mlir-pass-pipeline-crash-reproducer=%t.local --mlir-pass-pipeline-local-reproducer
// RUN: filecheck %s --check-prefix=LOCAL < %t.local
// RUN: hloom-opt %s --cse --allow-unregistered-dialect --mlir-pass-pipeline-crash-reproducer=%t.none -o /dev/null && not test -e %t.none

// CHECK: IR Dump After one-shot-bufferize Failed
// CHECK: error: [HL105] pass 'one-shot-bufferize' failed: {{.*}}op was not bufferized
// CHECK-NEXT: op: {{.*}}"unknown.op"(
// CHECK-NEXT: at: loc("{{.*}}opt-reproducer.mlir":{{[0-9]+}}:8)
// AGAIN: error: [HL105] pass 'one-shot-bufferize' failed: {{.*}}op was not bufferized

// REPRO: func.func @f
// REPRO: "unknown.op"
// REPRO: "unknown.op"
// REPRO: mlir_reproducer: {
// REPRO-NEXT: pipeline: "builtin.module(cse,one-shot-bufferize{{.*}})"

// LOCAL: "unknown.op"
// LOCAL: mlir_reproducer: {
// LOCAL-NEXT: pipeline: "builtin.module(one-shot-bufferize{{.*}})"
func.func @f(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = "unknown.op"(%a) {weights = dense_resource<w> : tensor<1xf32>} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "unknown.op"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F"
    }
  }
#-}
