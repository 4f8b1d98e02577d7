// RUN: hloom-opt %s --cse --expand-math --mlir-print-ir-after-all -o /dev/null 2>&1 | filecheck %s --check-prefix=ALL
// RUN: hloom-opt %s --cse --expand-math --mlir-print-ir-before-all -o /dev/null 2>&1 | filecheck %s --check-prefix=BEFORE
// RUN: hloom-opt %s --cse --canonicalize --mlir-print-ir-after=canonicalize --mlir-print-ir-before=cse -o /dev/null 2>&1 | filecheck %s --check-prefix=NAMED
// RUN: hloom-opt %s --canonicalize --cse --cse --mlir-print-ir-after-change -o /dev/null 2>&1 | filecheck %s --check-prefix=CHANGE
// RUN: env HLOOM_DEBUG=print-after=cse hloom-opt %s --canonicalize --cse -o /dev/null 2>&1 | filecheck %s --check-prefix=CHANGE
// RUN: rm -rf %t.tree && hloom-opt %s --cse --expand-math --mlir-print-ir-tree-dir=%t.tree | filecheck %s --check-prefix=OUT
// RUN: filecheck %s --check-prefix=OUT < %t.tree/00-cse.mlir
// RUN: filecheck %s --check-prefix=OUT < %t.tree/01-expand-math.mlir
// RUN: hloom-opt %s --mlir-elide-elementsattrs-if-larger=4 | filecheck %s --check-prefix=ELIDE

// ALL: IR Dump After cse
// ALL-NEXT: module {
// ALL: IR Dump After expand-math
// ALL-NEXT: module {
// ALL-NOT: IR Dump

// BEFORE: IR Dump Before cse
// BEFORE: arith.negf
// BEFORE: arith.negf
// BEFORE: IR Dump Before expand-math
// BEFORE: arith.negf
// BEFORE-NOT: arith.negf

// NAMED: IR Dump Before cse
// NAMED: IR Dump After canonicalize
// NAMED-NOT: IR Dump

// CHANGE-NOT: IR Dump After canonicalize
// CHANGE: IR Dump After cse
// CHANGE-NOT: IR Dump

// OUT: arith.negf
// OUT-NOT: arith.negf

// ELIDE: {{dense.*}}<__elided__>
func.func @f(%a: f32) -> (f32, tensor<8xf32>) {
  %c = arith.constant dense<[1., 2., 3., 4., 5., 6., 7., 8.]> : tensor<8xf32>
  %0 = arith.negf %a : f32
  %1 = arith.negf %a : f32
  %2 = arith.maximumf %0, %1 : f32
  return %2, %c : f32, tensor<8xf32>
}
