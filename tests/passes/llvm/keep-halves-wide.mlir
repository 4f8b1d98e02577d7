// RUN: hloom-opt %s --split-input-file --keep-halves-wide | filecheck %s

module attributes {hloom.target = {name = "cpu-avx2", kind = "cpu", vector_bits = 256 : i64, f16_arithmetic = false}} {
  // Changed: the floor stays one of f32.
  // CHECK-LABEL: @floor
  func.func @floor(%x: vector<16xf16>) -> vector<16xf16> {
    // CHECK: %[[WIDE:.*]] = arith.extf %arg0
    // CHECK: %[[KEPT:.*]] = llvm.call_intrinsic "llvm.arithmetic.fence"(%[[WIDE]])
    // CHECK: math.floor %[[KEPT]]
    %0 = arith.extf %x : vector<16xf16> to vector<16xf32>
    %1 = math.floor %0 : vector<16xf32>
    %2 = arith.truncf %1 : vector<16xf32> to vector<16xf16>
    return %2 : vector<16xf16>
  }

  // Declined: what is only compared, and scalars.
  // CHECK-LABEL: @compared
  // CHECK-NOT: fence
  func.func @compared(%x: vector<16xf16>, %s: f16) -> (vector<16xi1>, f32) {
    %0 = arith.extf %x : vector<16xf16> to vector<16xf32>
    %1 = arith.cmpf uno, %0, %0 : vector<16xf32>
    %2 = arith.extf %s : f16 to f32
    return %1, %2 : vector<16xi1>, f32
  }

  // Unchanged: bf16.
  // CHECK-LABEL: @bf16
  // CHECK-NOT: fence
  func.func @bf16(%b: vector<16xbf16>) -> vector<16xf32> {
    %0 = arith.extf %b : vector<16xbf16> to vector<16xf32>
    return %0 : vector<16xf32>
  }
}

// -----

// Declined: a processor that computes with f16.
module attributes {hloom.target = {name = "cpu-avx512", kind = "cpu", vector_bits = 512 : i64, f16_arithmetic = true}} {
  // CHECK-LABEL: @with_instructions
  // CHECK-NOT: fence
  func.func @with_instructions(%x: vector<16xf16>) -> vector<16xf32> {
    %0 = arith.extf %x : vector<16xf16> to vector<16xf32>
    %1 = math.floor %0 : vector<16xf32>
    return %1 : vector<16xf32>
  }
}
