// RUN: hloom-opt %s --gather-words --split-input-file | filecheck %s

// Changed: The word that an element of 16 bits lies in, from where the words around the base begin.
// CHECK-LABEL: llvm.func @halves
// CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint %arg0 : !llvm.ptr to i64
// CHECK: %[[APART:.*]] = llvm.and %[[ADDRESS]], %{{.*}} : i64
// CHECK: %[[BACK:.*]] = llvm.sub %{{.*}}, %[[APART]] : i64
// CHECK: %[[WORDS:.*]] = llvm.getelementptr %arg0[%[[BACK]]] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK: %[[PLACE:.*]] = llvm.add %arg1, %{{.*}} : vector<16xi64>
// CHECK: %[[WORD:.*]] = llvm.ashr %[[PLACE]], %{{.*}} : vector<16xi64>
// CHECK: %[[AT:.*]] = llvm.getelementptr %[[WORDS]][%[[WORD]]] : (!llvm.ptr, vector<16xi64>) -> vector<16x!llvm.ptr>, i32
// CHECK: llvm.intr.masked.gather %[[AT]], %arg2, %{{.*}} {alignment = 4 : i32} : ({{.*}}) -> vector<16xi32>
// CHECK: llvm.lshr
// CHECK: %[[BITS:.*]] = llvm.trunc %{{.*}} : vector<16xi32> to vector<16xi16>
// CHECK: %[[ELEMENT:.*]] = llvm.bitcast %[[BITS]] : vector<16xi16> to vector<16xbf16>
// CHECK: %[[R:.*]] = llvm.select %arg2, %[[ELEMENT]], %arg3
// CHECK: llvm.return %[[R]]
llvm.func @halves(%x: !llvm.ptr, %i: vector<16xi64>, %mask: vector<16xi1>, %zeros: vector<16xbf16>) -> vector<16xbf16> {
  %at = llvm.getelementptr %x[%i] : (!llvm.ptr, vector<16xi64>) -> vector<16x!llvm.ptr>, bf16
  %y = llvm.intr.masked.gather %at, %mask, %zeros {alignment = 2 : i32} : (vector<16x!llvm.ptr>, vector<16xi1>, vector<16xbf16>) -> vector<16xbf16>
  llvm.return %y : vector<16xbf16>
}

// -----

// Bytes, four a word.
// CHECK-LABEL: llvm.func @bytes
// CHECK: llvm.intr.masked.gather {{.*}} -> vector<8xi32>
// CHECK: %[[R:.*]] = llvm.trunc %{{.*}} : vector<8xi32> to vector<8xi8>
// CHECK-NEXT: llvm.select %arg2, %[[R]], %arg3
llvm.func @bytes(%x: !llvm.ptr, %i: vector<8xi64>, %mask: vector<8xi1>, %zeros: vector<8xi8>) -> vector<8xi8> {
  %at = llvm.getelementptr %x[%i] : (!llvm.ptr, vector<8xi64>) -> vector<8x!llvm.ptr>, i8
  %y = llvm.intr.masked.gather %at, %mask, %zeros {alignment = 1 : i32} : (vector<8x!llvm.ptr>, vector<8xi1>, vector<8xi8>) -> vector<8xi8>
  llvm.return %y : vector<8xi8>
}

// -----

// Unchanged: Words; declined: addresses of another kind, two lanes.
// CHECK-LABEL: llvm.func @others
// CHECK-NOT: llvm.ptrtoint
// CHECK: llvm.return
llvm.func @others(%x: !llvm.ptr, %i: vector<8xi64>, %at: vector<8x!llvm.ptr>, %j: vector<2xi64>, %mask: vector<8xi1>, %two: vector<2xi1>,
                  %zeros: vector<8xf32>, %none: vector<8xi16>, %pair: vector<2xi16>) -> vector<8xi16> {
  %0 = llvm.getelementptr %x[%i] : (!llvm.ptr, vector<8xi64>) -> vector<8x!llvm.ptr>, f32
  %1 = llvm.intr.masked.gather %0, %mask, %zeros {alignment = 4 : i32} : (vector<8x!llvm.ptr>, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
  %2 = llvm.intr.masked.gather %at, %mask, %none {alignment = 2 : i32} : (vector<8x!llvm.ptr>, vector<8xi1>, vector<8xi16>) -> vector<8xi16>
  %3 = llvm.getelementptr %x[%j] : (!llvm.ptr, vector<2xi64>) -> vector<2x!llvm.ptr>, i16
  %4 = llvm.intr.masked.gather %3, %two, %pair {alignment = 2 : i32} : (vector<2x!llvm.ptr>, vector<2xi1>, vector<2xi16>) -> vector<2xi16>
  llvm.return %2 : vector<8xi16>
}

// -----

// Declined: A target without AVX-512.
// CHECK-LABEL: llvm.func @narrow_registers
// CHECK-NOT: llvm.ptrtoint
// CHECK: llvm.return
module attributes {hloom.target = {vector_bits = 256 : i64}} {
  llvm.func @narrow_registers(%x: !llvm.ptr, %i: vector<8xi64>, %mask: vector<8xi1>, %zeros: vector<8xi16>) -> vector<8xi16> {
    %at = llvm.getelementptr %x[%i] : (!llvm.ptr, vector<8xi64>) -> vector<8x!llvm.ptr>, i16
    %y = llvm.intr.masked.gather %at, %mask, %zeros {alignment = 2 : i32} : (vector<8x!llvm.ptr>, vector<8xi1>, vector<8xi16>) -> vector<8xi16>
    llvm.return %y : vector<8xi16>
  }
}
