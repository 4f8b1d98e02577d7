// Python and C++ passes in one pipeline, options, nesting, bundles.
// RUN: hloom-opt %s --pass-pipeline='builtin.module(canonicalize{max-iterations=3 top-down=false},func.func(cse),expand-math)' --dump-pass-pipeline 2>&1 | filecheck %s
// RUN: hloom-opt %s --canonicalize="max-iterations=3" '--cse{}' --expand-math --llvm-request-c-wrappers --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=FLAGS
// RUN: hloom-opt %s --pass-pipeline=' builtin.module( cse , func.func( canonicalize ) ) ' | filecheck %s --check-prefix=CSE
// RUN: hloom-opt %s --pass-pipeline='builtin.module()' | filecheck %s --check-prefix=NONE
// RUN: hloom-opt %s --pass-pipeline='builtin.module(inline{op-pipelines={func.func(canonicalize,cse)}})' --dump-pass-pipeline 2>&1 | filecheck %s --check-prefix=INLINE

// CHECK: Pass Manager with 3 passes:
// CHECK-NEXT: builtin.module(canonicalize{{{.*}}max-iterations=3{{.*}}top-down=false},func.func(cse),expand-math)
// CHECK: math.absf
// CHECK-NOT: math.absf

// FLAGS: Pass Manager with 4 passes:
// FLAGS-NEXT: builtin.module(canonicalize{{{.*}}max-iterations=3{{.*}}},cse,expand-math,func.func(llvm-request-c-wrappers))
// FLAGS: llvm.emit_c_interface

// CSE: math.absf
// CSE-NOT: math.absf

// NONE: math.absf
// NONE: math.absf

// INLINE: op-pipelines={func.func(canonicalize{{.*}},cse)}
func.func @f(%a: f32) -> f32 {
  %0 = math.absf %a : f32
  %1 = math.absf %a : f32
  %2 = arith.addf %0, %1 : f32
  return %2 : f32
}
