// RUN: hloom-opt %s --split-input-file --copy-narrow-tails | filecheck %s

module attributes {hloom.target = {name = "cpu-avx2", kind = "cpu", vector_bits = 256 : i64, masked_bits = 32 : i64}} {
  // Changed: The first lanes of i16, loaded and stored by one buffer.
  // CHECK-LABEL: func.func @tail
  // CHECK-NEXT: %[[ROOM:.*]] = memref.alloca() {alignment = 64 : i64} : memref<64xi16>
  // CHECK: %[[MASK:.*]] = vector.create_mask %[[N:.*]] : vector<64xi1>
  // CHECK: %[[LIVE:.*]] = arith.minsi %[[N]], %{{.*}} : index
  // CHECK: scf.for %[[K:.*]] = %{{.*}} to %[[LIVE]] step
  // CHECK-NEXT: %[[FROM:.*]] = arith.addi %[[I:.*]], %[[K]] : index
  // CHECK-NEXT: %[[ONE:.*]] = memref.load %{{.*}}[%[[FROM]]] : memref<100xi16>
  // CHECK-NEXT: memref.store %[[ONE]], %[[ROOM]][%[[K]]] : memref<64xi16>
  // CHECK: %[[ALL:.*]] = vector.load %[[ROOM]][%{{.*}}] : memref<64xi16>, vector<64xi16>
  // CHECK: %[[X:.*]] = arith.select %[[MASK]], %[[ALL]], %{{.*}} : vector<64xi1>, vector<64xi16>
  // CHECK: vector.store %[[X]], %[[ROOM]][%{{.*}}] : memref<64xi16>, vector<64xi16>
  // CHECK: scf.for
  // CHECK: memref.store %{{.*}}, %{{.*}} : memref<100xi16>
  // CHECK-NOT: vector.masked
  func.func @tail(%a: memref<100xi16>, %b: memref<100xi16>, %i: index, %n: index) {
    %zero = arith.constant dense<0> : vector<64xi16>
    %mask = vector.create_mask %n : vector<64xi1>
    %x = vector.maskedload %a[%i], %mask, %zero : memref<100xi16>, vector<64xi1>, vector<64xi16> into vector<64xi16>
    vector.maskedstore %b[%i], %mask, %x : memref<100xi16>, vector<64xi1>, vector<64xi16>
    return
  }

  // Changed: bf16; a buffer for each type of vector.
  // CHECK-LABEL: func.func @half
  // CHECK-DAG: memref.alloca() {alignment = 64 : i64} : memref<32xbf16>
  // CHECK-DAG: memref.alloca() {alignment = 64 : i64} : memref<64xi8>
  // CHECK-NOT: vector.masked
  func.func @half(%a: memref<100xbf16>, %b: memref<100xi8>, %n: index, %zero: vector<32xbf16>, %y: vector<64xi8>) -> vector<32xbf16> {
    %mask = vector.create_mask %n : vector<32xi1>
    %wide = vector.create_mask %n : vector<64xi1>
    %x = vector.maskedload %a[%n], %mask, %zero : memref<100xbf16>, vector<32xi1>, vector<32xbf16> into vector<32xbf16>
    vector.maskedstore %b[%n], %wide, %y : memref<100xi8>, vector<64xi1>, vector<64xi8>
    return %x : vector<32xbf16>
  }

  // Declined: Elements of 32 bits.
  // CHECK-LABEL: func.func @wide
  // CHECK: vector.maskedload
  func.func @wide(%a: memref<100xf32>, %i: index, %n: index, %zero: vector<16xf32>) -> vector<16xf32> {
    %mask = vector.create_mask %n : vector<16xi1>
    %x = vector.maskedload %a[%i], %mask, %zero : memref<100xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
    return %x : vector<16xf32>
  }

  // Declined: A mask of any lanes.
  // CHECK-LABEL: func.func @any
  // CHECK: vector.maskedload
  func.func @any(%a: memref<100xi8>, %i: index, %mask: vector<64xi1>, %zero: vector<64xi8>) -> vector<64xi8> {
    %x = vector.maskedload %a[%i], %mask, %zero : memref<100xi8>, vector<64xi1>, vector<64xi8> into vector<64xi8>
    return %x : vector<64xi8>
  }

  // Declined: One register.
  // CHECK-LABEL: func.func @one
  // CHECK: vector.maskedload
  func.func @one(%a: memref<100xi8>, %i: index, %n: index, %zero: vector<32xi8>) -> vector<32xi8> {
    %mask = vector.create_mask %n : vector<32xi1>
    %x = vector.maskedload %a[%i], %mask, %zero : memref<100xi8>, vector<32xi1>, vector<32xi8> into vector<32xi8>
    return %x : vector<32xi8>
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

module attributes {hloom.target = {name = "cpu-avx512", kind = "cpu", vector_bits = 512 : i64}} {
  // Declined: AVX-512 has these masks.
  // CHECK-LABEL: func.func @masks
  // CHECK: vector.maskedload
  func.func @masks(%a: memref<100xi8>, %i: index, %n: index, %zero: vector<128xi8>) -> vector<128xi8> {
    %mask = vector.create_mask %n : vector<128xi1>
    %x = vector.maskedload %a[%i], %mask, %zero : memref<100xi8>, vector<128xi1>, vector<128xi8> into vector<128xi8>
    return %x : vector<128xi8>
  }
}

// -----

module attributes {hloom.target = {name = "cpu-neon", kind = "cpu", vector_bits = 128 : i64, masked_bits = 0 : i64}} {
  // Changed: NEON has no masks at all: f32, too.
  // CHECK-LABEL: func.func @no_masks
  // CHECK-NEXT: memref.alloca() {alignment = 64 : i64} : memref<16xf32>
  // CHECK-NOT: vector.maskedload
  // CHECK: scf.for
  func.func @no_masks(%a: memref<100xf32>, %i: index, %n: index, %zero: vector<16xf32>) -> vector<16xf32> {
    %mask = vector.create_mask %n : vector<16xi1>
    %x = vector.maskedload %a[%i], %mask, %zero : memref<100xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
    return %x : vector<16xf32>
  }
}
