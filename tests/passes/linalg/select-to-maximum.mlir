// RUN: hloom-opt %s --select-to-maximum | filecheck %s

// Changed: Any x, NaN included, gives the maximum.
// CHECK-LABEL: func.func @relu
// CHECK-NOT: arith.cmpf
// CHECK: arith.maximumf %{{.*}}, %{{.*}} : f32
func.func @relu(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.cmpf ugt, %x, %zero : f32
  %1 = arith.select %0, %x, %zero : f32
  return %1 : f32
}

// Changed: Exchanged branches and operands: not (0 >= x or ...) is x > 0.
// CHECK-LABEL: func.func @relu_exchanged
// CHECK: arith.maximumf
func.func @relu_exchanged(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.cmpf oge, %zero, %x : f32
  %1 = arith.select %0, %zero, %x : f32
  return %1 : f32
}

// CHECK-LABEL: func.func @min_six
// CHECK: arith.minimumf
func.func @min_six(%x: f16) -> f16 {
  %six = arith.constant 6.0 : f16
  %0 = arith.cmpf ult, %x, %six : f16
  %1 = arith.select %0, %x, %six : f16
  return %1 : f16
}

// Declined: NaN would become 0.
// CHECK-LABEL: func.func @ordered
// CHECK: arith.select
func.func @ordered(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.cmpf ogt, %x, %zero : f32
  %1 = arith.select %0, %x, %zero : f32
  return %1 : f32
}

// Declined: -0 >= +0 keeps -0, the maximum is +0.
// CHECK-LABEL: func.func @not_strict
// CHECK: arith.select
func.func @not_strict(%x: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.cmpf uge, %x, %zero : f32
  %1 = arith.select %0, %x, %zero : f32
  return %1 : f32
}

// Declined: +0 > -0 does not hold and -0 is chosen, the maximum is +0.
// CHECK-LABEL: func.func @minus_zero
// CHECK: arith.select
func.func @minus_zero(%x: f32) -> f32 {
  %zero = arith.constant -0.0 : f32
  %0 = arith.cmpf ugt, %x, %zero : f32
  %1 = arith.select %0, %x, %zero : f32
  return %1 : f32
}

// Declined: Whichever is not chosen when the other is NaN would have to be.
// CHECK-LABEL: func.func @two_variables
// CHECK: arith.select
func.func @two_variables(%x: f32, %y: f32) -> f32 {
  %0 = arith.cmpf ugt, %x, %y : f32
  %1 = arith.select %0, %x, %y : f32
  return %1 : f32
}

// CHECK-LABEL: func.func @nan_constant
// CHECK: arith.select
func.func @nan_constant(%x: f32) -> f32 {
  %nan = arith.constant 0x7FC00000 : f32
  %0 = arith.cmpf ugt, %x, %nan : f32
  %1 = arith.select %0, %x, %nan : f32
  return %1 : f32
}

// CHECK-LABEL: func.func @other_branch
// CHECK: arith.select
func.func @other_branch(%x: f32, %y: f32) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = arith.cmpf ugt, %x, %zero : f32
  %1 = arith.select %0, %y, %zero : f32
  return %1 : f32
}

// CHECK-LABEL: func.func @not_equal
// CHECK: arith.select
func.func @not_equal(%x: f32) -> f32 {
  %one = arith.constant 1.0 : f32
  %0 = arith.cmpf une, %x, %one : f32
  %1 = arith.select %0, %x, %one : f32
  return %1 : f32
}

// Changed: The comparison stays where something else needs it.
// CHECK-LABEL: func.func @shared
// CHECK: arith.cmpf
// CHECK: arith.maximumf
func.func @shared(%x: f32) -> (f32, i1) {
  %zero = arith.constant 0.0 : f32
  %0 = arith.cmpf ugt, %x, %zero : f32
  %1 = arith.select %0, %x, %zero : f32
  return %1, %0 : f32, i1
}

// Unchanged: No select.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: %[[C:.*]] = arith.cmpf ugt, %arg0, %arg1 : f32
// CHECK-NEXT: return %[[C]]
func.func @none(%x: f32, %y: f32) -> i1 {
  %0 = arith.cmpf ugt, %x, %y : f32
  return %0 : i1
}
