// --verify-diagnostics fails on what was expected and did not come, and on what came and was not expected.
// RUN: not hloom-opt %s --split-input-file --verify-diagnostics 2>&1 | filecheck %s
// RUN: hloom-opt %S/Inputs/expected.mlir --split-input-file --verify-diagnostics --one-shot-bufferize --allow-unregistered-dialect

// CHECK: {{.*}}opt-verify-diagnostics.mlir:9: expected error "never comes" was not produced
// CHECK: {{.*}}opt-verify-diagnostics.mlir:15: unexpected error: custom op 'nonsense' is unknown
// CHECK: {{.*}}opt-verify-diagnostics.mlir:19: expected warning "an error is no warning" was not produced
func.func @f() {
  // expected-error@+1 {{never comes}}
  return
}

// -----

nonsense

// -----

// expected-warning@+1 {{an error is no warning}}
nonsense
