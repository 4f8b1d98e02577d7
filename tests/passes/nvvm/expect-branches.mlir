// RUN: hloom-opt %s --expect-branches | filecheck %s

// Changed: What is marked is expected.
// CHECK-LABEL: func.func @marked
// CHECK: %[[E:.*]] = llvm.intr.expect %arg0, %true : i1
// CHECK: scf.if %[[E]]
// CHECK-NOT: hloom.likely
func.func @marked(%c: i1, %x: f32, %y: f32) -> f32 {
  %r = scf.if %c -> f32 {
    scf.yield %x : f32
  } else {
    %q = arith.divf %x, %y : f32
    scf.yield %q : f32
  } {hloom.likely}
  return %r : f32
}

// Declined: Another branch.
// CHECK-LABEL: func.func @another
// CHECK-NOT: llvm.intr.expect
// CHECK: scf.if %arg0
func.func @another(%c: i1, %x: f32, %y: f32) -> f32 {
  %r = scf.if %c -> f32 {
    scf.yield %x : f32
  } else {
    scf.yield %y : f32
  }
  return %r : f32
}

// Unchanged: No branch.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: return
func.func @none() {
  return
}
