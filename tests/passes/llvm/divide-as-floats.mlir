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

// Changed: f64 divides numbers of 64 bits in two steps, the second one of which divides what the first one left.

// CHECK-LABEL: @wide
func.func @wide(%x: vector<8xi64>, %y: vector<8xi64>) -> vector<8xi64> {
  // CHECK: %[[Y:.*]] = arith.sitofp %arg1 : vector<8xi64> to vector<8xf64>
  // CHECK: %[[INVERSE:.*]] = arith.divf %{{.*}}, %[[Y]] : vector<8xf64>
  // CHECK: %[[X:.*]] = arith.sitofp %arg0
  // CHECK: arith.mulf %[[X]], %[[INVERSE]]
  // CHECK: arith.minnumf
  // CHECK: math.roundeven
  // CHECK: %[[Q:.*]] = arith.fptosi
  // CHECK: %[[P:.*]] = arith.muli %[[Q]], %arg1
  // CHECK: %[[R:.*]] = arith.subi %arg0, %[[P]]
  // CHECK: %[[REST:.*]] = arith.sitofp %[[R]]
  // CHECK: arith.mulf %[[REST]], %[[INVERSE]]
  // CHECK: %[[SECOND:.*]] = arith.fptosi
  // CHECK: arith.addi %[[Q]], %[[SECOND]]
  // CHECK-NOT: arith.divsi
  %0 = arith.divsi %x, %y : vector<8xi64>
  return %0 : vector<8xi64>
}

// -----

// Changed: what is left of numbers without signs has one; a divisor of 2^63 or more is there once, or not.

// CHECK-LABEL: @wide_remainders
func.func @wide_remainders(%x: vector<8xi64>, %y: vector<8xi64>) -> vector<8xi64> {
  // CHECK: arith.fptoui
  // CHECK: arith.sitofp
  // CHECK: arith.cmpi uge, %arg0, %arg1
  // CHECK: %[[Q:.*]] = arith.select
  // CHECK: %[[P:.*]] = arith.muli %[[Q]], %arg1
  // CHECK: arith.subi %arg0, %[[P]]
  %0 = arith.remui %x, %y : vector<8xi64>
  return %0 : vector<8xi64>
}

// -----

// Declined: indices, and numbers of 64 bits where no register of them becomes floats.

module attributes {hloom.target = {name = "cpu-avx2", kind = "cpu", vector_bits = 256 : i64}} {
  // CHECK-LABEL: @without_conversions
  func.func @without_conversions(%x: vector<8xi64>, %y: vector<8xi64>, %i: vector<8xindex>, %j: vector<8xindex>) -> (vector<8xi64>, vector<8xindex>) {
    // CHECK: arith.divsi
    // CHECK: arith.remui
    %0 = arith.divsi %x, %y : vector<8xi64>
    %1 = arith.remui %i, %j : vector<8xindex>
    return %0, %1 : vector<8xi64>, vector<8xindex>
  }
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
