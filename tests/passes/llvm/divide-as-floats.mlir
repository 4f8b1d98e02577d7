// RUN: hloom-opt %s --split-input-file --divide-as-floats | filecheck %s

// Changed: f64 divides 32 bits, f32 fewer.

// CHECK-LABEL: @quotients
func.func @quotients(%x: vector<16xi32>, %y: vector<16xi32>) -> vector<16xi32> {
  // CHECK: %[[A:.*]] = arith.sitofp %{{.*}} : vector<16xi32> to vector<16xf64>
  // CHECK: %[[B:.*]] = arith.sitofp %{{.*}} : vector<16xi32> to vector<16xf64>
  // CHECK: %[[Q:.*]] = arith.divf %[[A]], %[[B]] : vector<16xf64>
  // CHECK: arith.fptosi %[[Q]] : vector<16xf64> to vector<16xi32>
  // CHECK-NOT: arith.divsi
  %0 = arith.divsi %x, %y : vector<16xi32>
  return %0 : vector<16xi32>
}

// -----

// CHECK-LABEL: @remainders
func.func @remainders(%x: vector<32xi16>, %y: vector<32xi16>) -> vector<32xi16> {
  // CHECK: arith.uitofp %{{.*}} : vector<32xi16> to vector<32xf32>
  // CHECK: %[[Q:.*]] = arith.fptoui %{{.*}} : vector<32xf32> to vector<32xi16>
  // CHECK: %[[P:.*]] = arith.muli %[[Q]], %arg1
  // CHECK: arith.subi %arg0, %[[P]]
  %0 = arith.remui %x, %y : vector<32xi16>
  return %0 : vector<32xi16>
}

// -----

// Declined: numbers of 64 bits, and indices.

// CHECK-LABEL: @wide
func.func @wide(%x: vector<8xi64>, %y: vector<8xi64>, %i: vector<8xindex>, %j: vector<8xindex>) -> (vector<8xi64>, vector<8xindex>) {
  // CHECK: arith.divsi
  // CHECK: arith.remui
  %0 = arith.divsi %x, %y : vector<8xi64>
  %1 = arith.remui %i, %j : vector<8xindex>
  return %0, %1 : vector<8xi64>, vector<8xindex>
}

// -----

// Declined: LLVM multiplies by what a constant's inverse is.

// CHECK-LABEL: @by_a_constant
func.func @by_a_constant(%x: vector<16xi32>) -> vector<16xi32> {
  // CHECK: arith.divsi
  %c7 = arith.constant dense<7> : vector<16xi32>
  %0 = arith.divsi %x, %c7 : vector<16xi32>
  return %0 : vector<16xi32>
}

// -----

// Unchanged: scalars, and floats.

// CHECK-LABEL: @scalars
func.func @scalars(%x: i32, %y: i32, %a: vector<16xf32>) -> (i32, vector<16xf32>) {
  // CHECK: arith.divui
  // CHECK: arith.divf %{{.*}} : vector<16xf32>
  %0 = arith.divui %x, %y : i32
  %1 = arith.divf %a, %a : vector<16xf32>
  return %0, %1 : i32, vector<16xf32>
}
