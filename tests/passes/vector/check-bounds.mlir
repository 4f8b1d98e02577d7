// RUN: hloom-opt %s --split-input-file --check-bounds --verify-diagnostics | filecheck %s

// Changed: One element, and a whole vector: what begins too late to end in the buffer is outside.
// CHECK-LABEL: func.func private @hloom_out_of_bounds(index, index, index)
// CHECK: memref.global "private" constant @fusion_0_constant_access_0 : memref<{{.*}}xi8>
// CHECK-LABEL: func.func private @fusion_0
// CHECK-DAG: %[[C40:.*]] = arith.constant 40 : index
// CHECK: %[[IN:.*]] = arith.cmpi ult, %[[LO:.*]], %[[C40]] : index
// CHECK: %[[X:.*]] = scf.if %[[IN]] -> (f32) {
// CHECK-NEXT: %[[L:.*]] = memref.load %{{.*}}[%[[LO]]] : memref<40xf32>
// CHECK-NEXT: scf.yield %[[L]] : f32
// CHECK-NEXT: } else {
// CHECK: %[[S:.*]] = memref.get_global @fusion_0_constant_access_0
// CHECK: %[[P:.*]] = memref.extract_aligned_pointer_as_index %[[S]]
// CHECK: func.call @hloom_out_of_bounds(%[[P]], %[[LO]], %{{.*}}) : (index, index, index) -> ()
// CHECK: %[[C25:.*]] = arith.constant 25 : index
// CHECK: arith.cmpi ult, %{{.*}}, %[[C25]] : index
// CHECK: vector.store %{{.*}} : memref<40xf32>, vector<16xf32>
// A vector longer than its buffer is never inside.
// CHECK: %[[C0:.*]] = arith.constant 0 : index
// CHECK: arith.cmpi ult, %{{.*}}, %[[C0]] : index
// CHECK: vector.load %{{.*}} : memref<8xf32>, vector<16xf32>
module {
  func.func private @fusion_0(%lo: index, %hi: index, %a: memref<40xf32>, %o: memref<40xf32>) attributes {hloom.tiles = 1 : i64, hloom.inputs = 1 : i64} {
    %t = memref.alloca() : memref<8xf32>
    %x = memref.load %a[%lo] : memref<40xf32>
    %v = vector.broadcast %x : f32 to vector<16xf32>
    vector.store %v, %o[%lo] : memref<40xf32>, vector<16xf32>
    %w = vector.load %t[%lo] : memref<8xf32>, vector<16xf32>
    vector.store %w, %o[%lo] : memref<40xf32>, vector<16xf32>
    return
  }
}

// -----

// Of masked accesses and gathers the live lanes count. A prefetch is left alone.
// CHECK-LABEL: func.func private @lanes
// CHECK: memref.prefetch
// CHECK: %[[STEP:.*]] = vector.step : vector<16xindex>
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[STEP]] : vector<16xindex>
// CHECK: %[[INSIDE:.*]] = arith.cmpi ult, %[[AT]], %{{.*}} : vector<16xindex>
// CHECK: %[[LIVE:.*]] = arith.select %[[MASK:.*]], %[[AT]], %[[MOST:.*]] : vector<16xi1>, vector<16xindex>
// CHECK: %[[OUT:.*]] = arith.select %[[INSIDE]], %[[MOST]], %[[LIVE]] : vector<16xi1>, vector<16xindex>
// CHECK: vector.reduction <minsi>, %[[OUT]] : vector<16xindex> into index
// CHECK: vector.maskedload %{{.*}}, %[[MASK]]
// CHECK: arith.index_cast %{{.*}} : vector<16xi32> to vector<16xindex>
// CHECK: vector.gather
// CHECK: vector.maskedstore
func.func private @lanes(%lo: index, %hi: index, %a: memref<40xf32>, %m: vector<16xi1>, %at: vector<16xi32>) attributes {hloom.tiles = 1 : i64, hloom.inputs = 1 : i64} {
  %zero = arith.constant dense<0.0> : vector<16xf32>
  memref.prefetch %a[%hi], read, locality<3>, data : memref<40xf32>
  %x = vector.maskedload %a[%lo], %m, %zero : memref<40xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
  %y = vector.gather %a[%lo] [%at], %m, %x : memref<40xf32>, vector<16xi32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
  vector.maskedstore %a[%lo], %m, %y : memref<40xf32>, vector<16xi1>, vector<16xf32>
  return
}

// -----

// A tile of 16 rows that are 64 apart spans 15 * 64 + 32 of 1024 elements: it may begin at 0 to 32.
// CHECK-LABEL: func.func private @tiles
// CHECK: %[[C33:.*]] = arith.constant 33 : index
// CHECK: arith.cmpi ult, %arg0, %[[C33]] : index
// CHECK: scf.if %{{.*}} -> (!x86.amx.tile<16x32xbf16>) {
// CHECK: x86.amx.tile_load
// CHECK: } else {
// CHECK: x86.amx.tile_zero : !x86.amx.tile<16x32xbf16>
func.func private @tiles(%lo: index, %hi: index, %a: memref<1024xbf16>) attributes {hloom.tiles = 1 : i64, hloom.inputs = 1 : i64} {
  %c0 = arith.constant 0 : index
  %w = memref.reinterpret_cast %a to offset: [%lo], sizes: [16, 32], strides: [64, 1] : memref<1024xbf16> to memref<16x32xbf16, strided<[64, 1], offset: ?>>
  %t = x86.amx.tile_load %w[%c0, %c0] : memref<16x32xbf16, strided<[64, 1], offset: ?>> into !x86.amx.tile<16x32xbf16>
  return
}

// -----

// Unchanged: What is no kernel, and a module that is checked already.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: memref.load
// CHECK-NOT: scf.if
func.func @main(%a: memref<40xf32>, %i: index) -> f32 {
  %x = memref.load %a[%i] : memref<40xf32>
  return %x : f32
}
func.func private @hloom_out_of_bounds(index, index, index)
func.func private @fusion_0(%lo: index, %hi: index, %a: memref<40xf32>) attributes {hloom.tiles = 1 : i64, hloom.inputs = 1 : i64} {
  %x = memref.load %a[%lo] : memref<40xf32>
  return
}

// -----

// Declined: A copy, as no kernel makes one.
func.func private @unknown(%lo: index, %hi: index, %a: memref<40xf32>, %b: memref<40xf32>) attributes {hloom.tiles = 1 : i64, hloom.inputs = 1 : i64} {
  // expected-error @+1 {{the kernel @unknown accesses memory in a way that check-bounds does not know}}
  memref.copy %a, %b : memref<40xf32> to memref<40xf32>
  return
}

// -----

// A buffer of halves seen as one of lanes has as many as its type says, and is named as what it is seen from. The location is given:
// a text of more than 100 bytes, which a long path makes, is printed in hexadecimal.
// CHECK: memref.global "private" constant @seen_constant_access_0 : memref<{{.*}}xi8> = dense<[108, 111, 97, 100, 10, 49, 54, 10, 105, 110, 112, 117, 116, 32, 48, 10,
// CHECK-LABEL: func.func private @seen
// CHECK: %[[LANES:.*]] = builtin.unrealized_conversion_cast %{{.*}} : memref<64xbf16> to memref<32xi32>
// CHECK: %[[C17:.*]] = arith.constant 17 : index
// CHECK: arith.cmpi ult, %{{.*}}, %[[C17]] : index
// CHECK: vector.load %[[LANES]][%{{.*}}] : memref<32xi32>, vector<16xi32>
func.func private @seen(%lo: index, %hi: index, %a: memref<64xbf16>) attributes {hloom.tiles = 1 : i64, hloom.inputs = 1 : i64} {
  %lanes = builtin.unrealized_conversion_cast %a : memref<64xbf16> to memref<32xi32>
  %x = vector.load %lanes[%lo] : memref<32xi32>, vector<16xi32> loc("x")
  return
}
