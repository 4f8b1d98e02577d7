// RUN: hloom-opt %s --split-input-file --fence-spread-lanes | filecheck %s

module attributes {hloom.target = {name = "cpu-avx512", kind = "cpu", vector_bits = 512 : i64}} {
  // Changed: what a masked read gives is read by two lanes.
  // CHECK-LABEL: @spread
  func.func @spread(%m: memref<64xf32>, %i: index, %mask: vector<16xi1>, %other: vector<16xf32>) -> vector<32xf32> {
    // CHECK: %[[READ:.*]] = vector.maskedload
    // CHECK: %[[SPREAD:.*]] = vector.shuffle %[[READ]], %[[READ]]
    // CHECK: %[[KEPT:.*]] = llvm.call_intrinsic "llvm.arithmetic.fence"(%[[SPREAD]])
    // CHECK: return %[[KEPT]]
    %0 = vector.maskedload %m[%i], %mask, %other : memref<64xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
    %1 = vector.shuffle %0, %0 [0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9, 10, 10, 11, 11, 12, 12, 13, 13, 14, 14, 15, 15] : vector<16xf32>, vector<16xf32>
    return %1 : vector<32xf32>
  }

  // Declined: a read without a mask, and another order.
  // CHECK-LABEL: @others
  // CHECK-NOT: fence
  func.func @others(%m: memref<64xf32>, %i: index, %mask: vector<4xi1>, %other: vector<4xf32>) -> (vector<8xf32>, vector<8xf32>) {
    %0 = vector.load %m[%i] : memref<64xf32>, vector<4xf32>
    %1 = vector.shuffle %0, %0 [0, 0, 1, 1, 2, 2, 3, 3] : vector<4xf32>, vector<4xf32>
    %2 = vector.maskedload %m[%i], %mask, %other : memref<64xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    %3 = vector.shuffle %2, %2 [0, 1, 2, 3, 0, 1, 2, 3] : vector<4xf32>, vector<4xf32>
    return %1, %3 : vector<8xf32>, vector<8xf32>
  }

  // Unchanged: whole numbers.
  // CHECK-LABEL: @numbers
  // CHECK-NOT: fence
  func.func @numbers(%m: memref<64xi32>, %i: index, %mask: vector<4xi1>, %other: vector<4xi32>) -> vector<8xi32> {
    %0 = vector.maskedload %m[%i], %mask, %other : memref<64xi32>, vector<4xi1>, vector<4xi32> into vector<4xi32>
    %1 = vector.shuffle %0, %0 [0, 0, 1, 1, 2, 2, 3, 3] : vector<4xi32>, vector<4xi32>
    return %1 : vector<8xi32>
  }
}

// -----

module attributes {hloom.target = {name = "cpu-neon", kind = "cpu", vector_bits = 128 : i64, triple = "aarch64-unknown-linux-gnu"}} {
  // Unchanged: another machine.
  // CHECK-LABEL: @arm
  // CHECK-NOT: fence
  func.func @arm(%m: memref<64xf32>, %i: index, %mask: vector<2xi1>, %other: vector<2xf32>) -> vector<4xf32> {
    %0 = vector.maskedload %m[%i], %mask, %other : memref<64xf32>, vector<2xi1>, vector<2xf32> into vector<2xf32>
    %1 = vector.shuffle %0, %0 [0, 0, 1, 1] : vector<2xf32>, vector<2xf32>
    return %1 : vector<4xf32>
  }
}
