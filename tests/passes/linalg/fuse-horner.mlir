// RUN: hloom-opt %s --fuse-horner --split-input-file | filecheck %s

// Changed: Four steps by one factor, whatever the order of the operands.
// CHECK-LABEL: func.func @polynomial
// CHECK-SAME: (%[[S:.*]]: f32)
// CHECK: %[[C:.*]] = arith.constant 5.000000e-01
// CHECK: %[[A:.*]] = math.fma %[[C]], %[[S]], %{{.*}} : f32
// CHECK-NEXT: %[[B:.*]] = math.fma %[[A]], %[[S]],
// CHECK-NEXT: %[[D:.*]] = math.fma %[[B]], %[[S]],
// CHECK-NEXT: %[[E:.*]] = math.fma %[[D]], %[[S]],
// CHECK-NEXT: return %[[E]]
func.func @polynomial(%s: f32) -> f32 {
  %c = arith.constant 5.000000e-01 : f32
  %d = arith.constant 0.3 : f32
  %0 = arith.mulf %s, %c : f32
  %1 = arith.addf %0, %d : f32
  %2 = arith.mulf %1, %s : f32
  %3 = arith.addf %c, %2 : f32
  %4 = arith.mulf %s, %3 : f32
  %5 = arith.addf %4, %d : f32
  %6 = arith.mulf %5, %s : f32
  %7 = arith.addf %6, %d : f32
  return %7 : f32
}

// -----

// Declined: Three steps.
// CHECK-LABEL: func.func @short
// CHECK-NOT: math.fma
// CHECK: return
func.func @short(%s: f32) -> f32 {
  %c = arith.constant 5.000000e-01 : f32
  %0 = arith.mulf %s, %c : f32
  %1 = arith.addf %0, %c : f32
  %2 = arith.mulf %1, %s : f32
  %3 = arith.addf %2, %c : f32
  %4 = arith.mulf %3, %s : f32
  %5 = arith.addf %4, %c : f32
  return %5 : f32
}

// -----

// Declined: Two factors; a step that is used elsewhere; a coefficient that is computed.
// CHECK-LABEL: func.func @others
// CHECK-NOT: math.fma
// CHECK: return
func.func @others(%s: f32, %t: f32) -> (f32, f32, f32) {
  %c = arith.constant 5.000000e-01 : f32
  %0 = arith.mulf %s, %c : f32
  %1 = arith.addf %0, %c : f32
  %2 = arith.mulf %1, %s : f32
  %3 = arith.addf %2, %c : f32
  %4 = arith.mulf %3, %t : f32
  %5 = arith.addf %4, %c : f32
  %6 = arith.mulf %5, %t : f32
  %7 = arith.addf %6, %c : f32
  %8 = arith.mulf %7, %s : f32
  %9 = arith.addf %8, %t : f32
  return %3, %7, %9 : f32, f32, f32
}

// -----

// Declined: bf16 is rounded after each op.
// CHECK-LABEL: func.func @half
// CHECK-NOT: math.fma
// CHECK: return
func.func @half(%s: bf16) -> bf16 {
  %c = arith.constant 5.000000e-01 : bf16
  %0 = arith.mulf %s, %c : bf16
  %1 = arith.addf %0, %c : bf16
  %2 = arith.mulf %1, %s : bf16
  %3 = arith.addf %2, %c : bf16
  %4 = arith.mulf %3, %s : bf16
  %5 = arith.addf %4, %c : bf16
  %6 = arith.mulf %5, %s : bf16
  %7 = arith.addf %6, %c : bf16
  return %7 : bf16
}

// -----

// Unchanged: A product and a sum of a program.
// CHECK-LABEL: func.func @product
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.addf
// CHECK-NEXT: return
func.func @product(%x: f32, %y: f32) -> f32 {
  %0 = arith.mulf %x, %x : f32
  %1 = arith.addf %0, %y : f32
  return %1 : f32
}
