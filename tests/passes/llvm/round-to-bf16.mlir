// RUN: hloom-opt %s --round-to-bf16 --split-input-file | filecheck %s

// Changed: To the nearest, ties to even, in integers.
// CHECK-LABEL: func.func @vector
// CHECK-DAG: %[[BITS:.*]] = arith.bitcast %arg0 : vector<16xf32> to vector<16xi32>
// CHECK-DAG: %[[HALF:.*]] = arith.constant dense<32767> : vector<16xi32>
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %arg0, %arg0 : vector<16xf32>
// CHECK: arith.select %[[NAN]]
// CHECK: %[[HIGH:.*]] = arith.trunci %{{.*}} : vector<16xi32> to vector<16xi16>
// CHECK: arith.bitcast %[[HIGH]] : vector<16xi16> to vector<16xbf16>
// CHECK-NOT: arith.truncf
func.func @vector(%x: vector<16xf32>) -> vector<16xbf16> {
  %y = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  return %y : vector<16xbf16>
}

// -----

// CHECK-LABEL: func.func @scalar
// CHECK: arith.trunci %{{.*}} : i32 to i16
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @scalar(%x: f32) -> bf16 {
  %y = arith.truncf %x : f32 to bf16
  return %y : bf16
}

// -----

// Unchanged: Other roundings are instructions.
// CHECK-LABEL: func.func @others
// CHECK: arith.truncf %arg0 : vector<16xf32> to vector<16xf16>
// CHECK: arith.truncf %arg1 : f64 to f32
func.func @others(%x: vector<16xf32>, %y: f64) -> (vector<16xf16>, f32) {
  %0 = arith.truncf %x : vector<16xf32> to vector<16xf16>
  %1 = arith.truncf %y : f64 to f32
  return %0, %1 : vector<16xf16>, f32
}

// -----

// Changed: Arithmetic goes by way of f32; a change of sign needs no rounding.
// CHECK-LABEL: func.func @sum
// CHECK: %[[A:.*]] = arith.extf %arg0 : vector<8xbf16> to vector<8xf32>
// CHECK: %[[B:.*]] = arith.extf %arg1 : vector<8xbf16> to vector<8xf32>
// CHECK: arith.addf %[[A]], %[[B]] : vector<8xf32>
// CHECK-NOT: arith.truncf
// CHECK: arith.negf %{{.*}} : vector<8xbf16>
func.func @sum(%x: vector<8xbf16>, %y: vector<8xbf16>) -> vector<8xbf16> {
  %0 = arith.addf %x, %y : vector<8xbf16>
  %1 = arith.negf %0 : vector<8xbf16>
  return %1 : vector<8xbf16>
}

// -----

// CHECK-LABEL: func.func @largest
// CHECK: %[[X:.*]] = arith.extf %arg0 : vector<8xbf16> to vector<8xf32>
// CHECK: vector.reduction <maximumf>, %[[X]] : vector<8xf32> into f32
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @largest(%x: vector<8xbf16>) -> bf16 {
  %0 = vector.reduction <maximumf>, %x : vector<8xbf16> into bf16
  return %0 : bf16
}

// -----

// Declined: From f64, which widen-half-floats rounds by way of f32.
// CHECK-LABEL: func.func @doubles
// CHECK-NEXT: arith.truncf %arg0 : f64 to bf16
// CHECK-NEXT: return
func.func @doubles(%x: f64) -> bf16 {
  %0 = arith.truncf %x : f64 to bf16
  return %0 : bf16
}
