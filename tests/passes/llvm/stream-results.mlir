// RUN: hloom-opt %s --split-input-file --stream-results | filecheck %s

module attributes {hloom.target = {name = "cpu", kind = "cpu", triple = "x86_64-unknown-linux-gnu", vector_bits = 512 : i64, cache_line_bytes = 64 : i64, llc_bytes = 20000 : i64}} {
  // Changed: Two buffers that fill the last cache, of which one is written: whole lines go past it, two at a time; others are stored as they were, and asked for before.
  // CHECK-LABEL: func.func @large
  // CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<4096xf32>, %[[O:.*]]: memref<4096xf32>
  // CHECK: scf.for %[[I:.*]] = %{{.*}} to
  // CHECK: %[[V:.*]] = vector.load %[[X]][%[[I]]]
  // CHECK: %[[START:.*]] = arith.muli %[[I]], %c4
  // CHECK-NEXT: %[[BASE:.*]] = memref.extract_aligned_pointer_as_index %[[O]]
  // CHECK-NEXT: %[[AT:.*]] = arith.addi %[[BASE]], %[[START]]
  // CHECK: %[[INSIDE:.*]] = arith.andi %[[AT]], %c63
  // CHECK: %[[WHOLE:.*]] = arith.cmpi eq, %[[INSIDE]], %c0
  // CHECK-NEXT: scf.if %[[WHOLE]] {
  // CHECK-NEXT: vector.store %[[V]], %[[O]][%[[I]]] {alignment = 64 : i64, nontemporal = true}
  // CHECK-NEXT: } else {
  // CHECK-NEXT: memref.prefetch %[[O]]
  // CHECK-NEXT: vector.store %[[V]], %[[O]][%[[I]]] : memref<4096xf32>, vector<32xf32>
  // CHECK-NEXT: }
  // CHECK: llvm.call_intrinsic "llvm.x86.sse.sfence"() : () -> ()
  // CHECK-NEXT: return
  func.func @large(%lo: index, %hi: index, %x: memref<4096xf32>, %o: memref<4096xf32>) attributes {hloom.tiles = 128 : i64} {
    %c32 = arith.constant 32 : index
    %c128 = arith.constant 128 : index
    %first = arith.muli %lo, %c128 : index
    %end = arith.muli %hi, %c128 : index
    scf.for %i = %first to %end step %c32 {
      %v = vector.load %x[%i] : memref<4096xf32>, vector<32xf32>
      %next = arith.addi %i, %c128 : index
      memref.prefetch %o[%next], write, locality<3>, data : memref<4096xf32>
      vector.store %v, %o[%i] : memref<4096xf32>, vector<32xf32>
    }
    return
  }

  // Changed: The masked lanes at the end stay in the caches.
  // CHECK-LABEL: func.func @tail
  // CHECK: nontemporal
  // CHECK: vector.maskedstore
  // CHECK: sfence
  func.func @tail(%lo: index, %hi: index, %j: index, %o: memref<5000xf32>, %v: vector<16xf32>, %mask: vector<16xi1>) attributes {hloom.tiles = 1 : i64} {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    scf.for %i = %c0 to %hi step %c16 {
      vector.store %v, %o[%i] : memref<5000xf32>, vector<16xf32>
    }
    vector.maskedstore %o[%j], %mask, %v : memref<5000xf32>, vector<16xi1>, vector<16xf32>
    return
  }

  // Declined: Of rows of 56 elements every other begins at a multiple of a line.
  // CHECK-LABEL: func.func @every_other_row
  // CHECK-NOT: nontemporal
  // CHECK-NOT: sfence
  func.func @every_other_row(%i: index, %o: memref<5600xf32>, %v: vector<32xf32>) attributes {hloom.tiles = 50 : i64} {
    %c56 = arith.constant 56 : index
    %c112 = arith.constant 112 : index
    %even = arith.muli %i, %c112 : index
    %odd = arith.addi %even, %c56 : index
    vector.store %v, %o[%even] : memref<5600xf32>, vector<32xf32>
    vector.store %v, %o[%odd] : memref<5600xf32>, vector<32xf32>
    return
  }

  // Declined: What the kernel reads again.
  // CHECK-LABEL: func.func @read_again
  // CHECK-NOT: nontemporal
  // CHECK-NOT: sfence
  func.func @read_again(%i: index, %j: index, %o: memref<5000xf32>, %v: vector<16xf32>) attributes {hloom.tiles = 1 : i64} {
    %before = vector.load %o[%i] : memref<5000xf32>, vector<16xf32>
    %sum = arith.addf %before, %v : vector<16xf32>
    vector.store %sum, %o[%i] : memref<5000xf32>, vector<16xf32>
    return
  }

  // Declined: Half a line.
  // CHECK-LABEL: func.func @part_of_a_line
  // CHECK-NOT: nontemporal
  // CHECK-NOT: sfence
  func.func @part_of_a_line(%i: index, %j: index, %o: memref<5000xf32>, %v: vector<8xf32>) attributes {hloom.tiles = 1 : i64} {
    vector.store %v, %o[%i] : memref<5000xf32>, vector<8xf32>
    return
  }

  // Unchanged: The last cache holds all.
  // CHECK-LABEL: func.func @near
  // CHECK-NOT: nontemporal
  // CHECK-NOT: sfence
  func.func @near(%i: index, %j: index, %o: memref<4096xf32>, %v: vector<16xf32>) attributes {hloom.tiles = 1 : i64} {
    vector.store %v, %o[%i] : memref<4096xf32>, vector<16xf32>
    return
  }

  // Unchanged: Of a result of less than half of it, it keeps much.
  // CHECK-LABEL: func.func @small
  // CHECK-NOT: nontemporal
  // CHECK-NOT: sfence
  func.func @small(%i: index, %j: index, %x: memref<10000xf32>, %o: memref<2000xf32>, %v: vector<16xf32>) attributes {hloom.tiles = 1 : i64} {
    vector.store %v, %o[%i] : memref<2000xf32>, vector<16xf32>
    return
  }
}

// -----

// Declined: Registers of half a line.
module attributes {hloom.target = {name = "cpu-avx2", kind = "cpu", triple = "x86_64-unknown-linux-gnu", vector_bits = 256 : i64, cache_line_bytes = 64 : i64, llc_bytes = 20000 : i64}} {
  // CHECK-LABEL: func.func @narrow_registers
  // CHECK-NOT: nontemporal
  func.func @narrow_registers(%i: index, %j: index, %o: memref<5000xf32>, %v: vector<16xf32>) attributes {hloom.tiles = 1 : i64} {
    vector.store %v, %o[%i] : memref<5000xf32>, vector<16xf32>
    return
  }
}
