// RUN: hloom-opt %s --pair-bf16-lanes --split-input-file | filecheck %s

// Changed: Lanes of even numbers first are a shift and a mask of lanes of 32 bits.
// CHECK-LABEL: func.func @widened
// CHECK: %[[PAIRS:.*]] = vector.bitcast %arg0 : vector<16xbf16> to vector<8xi32>
// CHECK: %[[LOW:.*]] = arith.shli %[[PAIRS]]
// CHECK: %[[HIGH:.*]] = arith.andi %[[PAIRS]]
// CHECK: %[[BOTH:.*]] = vector.shuffle %[[LOW]], %[[HIGH]] [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]
// CHECK: arith.bitcast %[[BOTH]] : vector<16xi32> to vector<16xf32>
// CHECK-NOT: arith.extf
func.func @widened(%x: vector<16xbf16>) -> vector<16xf32> {
  %0 = vector.shuffle %x, %x [0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15] : vector<16xbf16>, vector<16xbf16>
  %1 = arith.extf %0 : vector<16xbf16> to vector<16xf32>
  return %1 : vector<16xf32>
}

// -----

// Changed: and what is rounded is put together in lanes of 32 bits.
// CHECK-LABEL: func.func @rounded
// CHECK-DAG: %[[A:.*]] = vector.extract_strided_slice %arg0 {offsets = [0]
// CHECK-DAG: %[[B:.*]] = vector.extract_strided_slice %arg0 {offsets = [8]
// CHECK-DAG: %[[LOW:.*]] = arith.shrui %[[A]]
// CHECK-DAG: %[[HIGH:.*]] = arith.andi %[[B]]
// CHECK: %[[BOTH:.*]] = arith.ori %[[LOW]], %[[HIGH]]
// CHECK: vector.bitcast %[[BOTH]] : vector<8xi32> to vector<16xbf16>
func.func @rounded(%bits: vector<16xi32>) -> vector<16xbf16> {
  %c16 = arith.constant dense<16> : vector<16xi32>
  %0 = arith.shrui %bits, %c16 : vector<16xi32>
  %1 = arith.trunci %0 : vector<16xi32> to vector<16xi16>
  %2 = arith.bitcast %1 : vector<16xi16> to vector<16xbf16>
  %poison = ub.poison : vector<16xbf16>
  %3 = vector.shuffle %2, %poison [0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15] : vector<16xbf16>, vector<16xbf16>
  return %3 : vector<16xbf16>
}

// -----

// Declined: Other orders, and what no rounding made.
// CHECK-LABEL: func.func @others
// CHECK-NEXT: vector.shuffle
// CHECK-NEXT: arith.extf
// CHECK-NEXT: vector.shuffle
// CHECK-NEXT: return
func.func @others(%x: vector<4xbf16>) -> (vector<4xf32>, vector<4xbf16>) {
  %0 = vector.shuffle %x, %x [3, 2, 1, 0] : vector<4xbf16>, vector<4xbf16>
  %1 = arith.extf %0 : vector<4xbf16> to vector<4xf32>
  %2 = vector.shuffle %x, %x [0, 2, 1, 3] : vector<4xbf16>, vector<4xbf16>
  return %1, %2 : vector<4xf32>, vector<4xbf16>
}

// -----

// Unchanged: Lanes in their own order.
// CHECK-LABEL: func.func @in_order
// CHECK-NEXT: arith.extf
// CHECK-NEXT: return
func.func @in_order(%x: vector<16xbf16>) -> vector<16xf32> {
  %0 = arith.extf %x : vector<16xbf16> to vector<16xf32>
  return %0 : vector<16xf32>
}
