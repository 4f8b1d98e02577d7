// RUN: hloom-opt %s --split-input-file --split-known-tails | filecheck %s

module attributes {hloom.target = {name = "cpu-neon", kind = "cpu", vector_bits = 128 : i64, masked_bits = 0 : i64}} {
  // Changed: Seven lanes are four, two and one.
  // CHECK-LABEL: func.func @seven
  // CHECK: %[[FOUR:.*]] = vector.load %{{.*}}[%{{.*}}] : memref<100xf32>, vector<4xf32>
  // CHECK: %[[A:.*]] = vector.insert_strided_slice %[[FOUR]], %{{.*}} {offsets = [0], strides = [1]}
  // CHECK: %[[TWO:.*]] = vector.load %{{.*}}[%{{.*}}] : memref<100xf32>, vector<2xf32>
  // CHECK: %[[B:.*]] = vector.insert_strided_slice %[[TWO]], %[[A]] {offsets = [4], strides = [1]}
  // CHECK: %[[ONE:.*]] = memref.load
  // CHECK: %[[X:.*]] = vector.insert %[[ONE]], %[[B]] [6]
  // CHECK: vector.extract_strided_slice %[[X]] {offsets = [0], sizes = [4], strides = [1]}
  // CHECK: vector.store %{{.*}} : memref<100xf32>, vector<4xf32>
  // CHECK: vector.extract_strided_slice %[[X]] {offsets = [4], sizes = [2], strides = [1]}
  // CHECK: vector.store %{{.*}} : memref<100xf32>, vector<2xf32>
  // CHECK: memref.store
  // CHECK-NOT: vector.masked
  func.func @seven(%a: memref<100xf32>, %b: memref<100xf32>, %i: index, %zero: vector<8xf32>) {
    %mask = arith.constant dense<[true, true, true, true, true, true, true, false]> : vector<8xi1>
    %x = vector.maskedload %a[%i], %mask, %zero : memref<100xf32>, vector<8xi1>, vector<8xf32> into vector<8xf32>
    vector.maskedstore %b[%i], %mask, %x : memref<100xf32>, vector<8xi1>, vector<8xf32>
    return
  }

  // Changed: No lane, and all of them.
  // CHECK-LABEL: func.func @none_and_all
  // CHECK-NEXT: %[[ALL:.*]] = arith.constant dense<true>
  // CHECK-NOT: vector.masked
  // CHECK: %[[X:.*]] = vector.load %{{.*}} : memref<100xi8>, vector<4xi8>
  // CHECK-NOT: vector.masked
  // CHECK: return
  func.func @none_and_all(%a: memref<100xi8>, %i: index, %other: vector<4xi8>) -> (vector<4xi8>, vector<4xi8>) {
    %all = arith.constant dense<true> : vector<4xi1>
    %none = arith.constant dense<false> : vector<4xi1>
    %x = vector.maskedload %a[%i], %all, %other : memref<100xi8>, vector<4xi1>, vector<4xi8> into vector<4xi8>
    %y = vector.maskedload %a[%i], %none, %other : memref<100xi8>, vector<4xi1>, vector<4xi8> into vector<4xi8>
    return %x, %y : vector<4xi8>, vector<4xi8>
  }

  // Declined: Lanes that are not the first ones; a mask that is not known.
  // CHECK-LABEL: func.func @others
  // CHECK-COUNT-2: vector.maskedload
  func.func @others(%a: memref<100xf32>, %i: index, %n: index, %zero: vector<4xf32>) -> (vector<4xf32>, vector<4xf32>) {
    %last = arith.constant dense<[false, true, true, true]> : vector<4xi1>
    %some = vector.create_mask %n : vector<4xi1>
    %x = vector.maskedload %a[%i], %last, %zero : memref<100xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    %y = vector.maskedload %a[%i], %some, %zero : memref<100xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
    return %x, %y : vector<4xf32>, vector<4xf32>
  }

  // Unchanged: No mask.
  // CHECK-LABEL: func.func @whole
  // CHECK-NEXT: vector.load
  // CHECK-NEXT: return
  func.func @whole(%a: memref<100xi8>, %i: index) -> vector<16xi8> {
    %x = vector.load %a[%i] : memref<100xi8>, vector<16xi8>
    return %x : vector<16xi8>
  }
}

// -----

module attributes {hloom.target = {name = "cpu-avx2", kind = "cpu", vector_bits = 256 : i64, masked_bits = 32 : i64}} {
  // Declined: AVX2 has masks, though none of eight bits.
  // CHECK-LABEL: func.func @bytes
  // CHECK: vector.maskedload
  func.func @bytes(%a: memref<100xi8>, %i: index, %zero: vector<4xi8>) -> vector<4xi8> {
    %mask = arith.constant dense<[true, true, true, false]> : vector<4xi1>
    %x = vector.maskedload %a[%i], %mask, %zero : memref<100xi8>, vector<4xi1>, vector<4xi8> into vector<4xi8>
    return %x : vector<4xi8>
  }

  // Changed: A store of one lane. A load of one stays, and so does a store of two.
  // CHECK-LABEL: func.func @one_lane
  // CHECK: vector.maskedload
  // CHECK: %[[X:.*]] = vector.extract %{{.*}}[0] : i32 from vector<4xi32>
  // CHECK: memref.store %[[X]], %{{.*}}[%{{.*}}] : memref<100xi32>
  // CHECK: vector.maskedstore
  func.func @one_lane(%a: memref<100xi32>, %i: index, %zero: vector<4xi32>) {
    %one = arith.constant dense<[true, false, false, false]> : vector<4xi1>
    %two = arith.constant dense<[true, true, false, false]> : vector<4xi1>
    %x = vector.maskedload %a[%i], %one, %zero : memref<100xi32>, vector<4xi1>, vector<4xi32> into vector<4xi32>
    vector.maskedstore %a[%i], %one, %x : memref<100xi32>, vector<4xi1>, vector<4xi32>
    vector.maskedstore %a[%i], %two, %x : memref<100xi32>, vector<4xi1>, vector<4xi32>
    return
  }
}
