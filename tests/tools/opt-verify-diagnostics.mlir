// --verify-diagnostics fails on what was expected and did not come, and on what came and was not expected.
// RUN: not hloom-opt %s --split-input-file --verify-diagnostics 2>&1 | filecheck %s
// RUN: hloom-opt %S/Inputs/expected.mlir --split-input-file --verify-diagnostics --one-shot-bufferize --allow-unregistered-dialect
// Errors that a failing upstream pass emitted are heard, on ops and on the module as a whole (line 0 of its part of the file).
// RUN: hloom-opt -split-input-file -verify-diagnostics %S/Inputs/failing_passes.mlir --stablehlo-legalize-to-vhlo --vhlo-to-version='target=0.9.0'
// With only-expected, what comes beside is no fault; what does not come still is.
// RUN: not hloom-opt %s -split-input-file -verify-diagnostics=only-expected 2>&1 | filecheck %s --check-prefix=ONLY

// ONLY-NOT: unexpected
// ONLY: expected error "never comes" was not produced
// CHECK: {{.*}}opt-verify-diagnostics.mlir:15: expected error "never comes" was not produced
// CHECK: {{.*}}opt-verify-diagnostics.mlir:21: unexpected error: custom op 'nonsense' is unknown
// CHECK: {{.*}}opt-verify-diagnostics.mlir:25: expected warning "an error is no warning" was not produced
func.func @f() {
  // expected-error@+1 {{never comes}}
  return
}

// -----

nonsense

// -----

// expected-warning@+1 {{an error is no warning}}
nonsense
