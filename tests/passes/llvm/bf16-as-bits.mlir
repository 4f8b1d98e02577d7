// RUN: hloom-opt %s --bf16-as-bits --split-input-file | filecheck %s

// Changed: A shift of the bits.
// CHECK-LABEL: func.func @vector
// CHECK: %[[BITS:.*]] = arith.bitcast %arg0 : vector<16xbf16> to vector<16xi16>
// CHECK: %[[WIDE:.*]] = arith.extui %[[BITS]] : vector<16xi16> to vector<16xi32>
// CHECK: %[[SIXTEEN:.*]] = arith.constant dense<16> : vector<16xi32>
// CHECK: %[[HIGH:.*]] = arith.shli %[[WIDE]], %[[SIXTEEN]] : vector<16xi32>
// CHECK: arith.bitcast %[[HIGH]] : vector<16xi32> to vector<16xf32>
// CHECK-NOT: arith.extf
func.func @vector(%x: vector<16xbf16>) -> vector<16xf32> {
  %y = arith.extf %x : vector<16xbf16> to vector<16xf32>
  return %y : vector<16xf32>
}

// -----

// CHECK-LABEL: func.func @doubles
// CHECK: arith.shli
// CHECK-NEXT: %[[SINGLE:.*]] = arith.bitcast %{{.*}} : vector<16xi32> to vector<16xf32>
// CHECK-NEXT: arith.extf %[[SINGLE]] : vector<16xf32> to vector<16xf64>
// CHECK-NEXT: return
func.func @doubles(%x: vector<16xbf16>) -> vector<16xf64> {
  %y = arith.extf %x : vector<16xbf16> to vector<16xf64>
  return %y : vector<16xf64>
}

// -----

// CHECK-LABEL: func.func @reads
// CHECK: arith.shli
// CHECK: %[[A:.*]] = arith.bitcast %{{.*}} : vector<8xi32> to vector<8xf32>
// CHECK: arith.shli
// CHECK: %[[B:.*]] = arith.bitcast %{{.*}} : vector<8xi32> to vector<8xf32>
// CHECK: arith.cmpf une, %[[A]], %[[B]] : vector<8xf32>
// CHECK: %[[C:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK: arith.fptosi %[[C]] : f32 to i32
func.func @reads(%x: vector<8xbf16>, %y: bf16) -> (vector<8xi1>, i32) {
  %0 = arith.cmpf une, %x, %x : vector<8xbf16>
  %1 = arith.fptosi %y : bf16 to i32
  return %0, %1 : vector<8xi1>, i32
}

// -----

// Unchanged: f16 has instructions.
// CHECK-LABEL: func.func @others
// CHECK-NEXT: arith.extf %arg0 : f16 to f32
// CHECK-NEXT: return
func.func @others(%x: f16) -> f32 {
  %0 = arith.extf %x : f16 to f32
  return %0 : f32
}

// -----

// Changed: with AVX512-BF16, too.
// CHECK-LABEL: func.func @with_instructions
// CHECK: arith.shli
// CHECK-NOT: arith.extf
module attributes {hloom.target = {bf16_dot = true}} {
  func.func @with_instructions(%x: vector<16xbf16>) -> vector<16xf32> {
    %y = arith.extf %x : vector<16xbf16> to vector<16xf32>
    return %y : vector<16xf32>
  }
}

// -----

// Declined: Scalable vectors.
// CHECK-LABEL: func.func @scalable
// CHECK-NEXT: arith.extf %arg0 : vector<[4]xbf16> to vector<[4]xf32>
// CHECK-NEXT: return
func.func @scalable(%x: vector<[4]xbf16>) -> vector<[4]xf32> {
  %0 = arith.extf %x : vector<[4]xbf16> to vector<[4]xf32>
  return %0 : vector<[4]xf32>
}
