// RUN: hloom-opt %s --lower-kernels --split-input-file | filecheck %s

// Changed: A kernel becomes a body over pointers that alias nothing, and a function of the common signature that loads them from the array of buffers.
// Its constants go with it.
// Declined: The host's functions and constants.
// CHECK-LABEL: memref.global "private" constant @table
// CHECK: func.func @host(%{{.*}}: memref<8xf32>)
// CHECK: memref.get_global @table
// CHECK: llvm.mlir.global private constant @scaled_constant_0(dense<{{.*}}>
// CHECK: llvm.func internal @scaled_body(%[[LO:.*]]: i64, %[[HI:.*]]: i64, %{{.*}}: !llvm.ptr {llvm.noalias}, %{{.*}}: !llvm.ptr {llvm.noalias})
// CHECK-NOT: hloom
// CHECK: llvm.icmp "slt" %{{.*}}, %[[HI]] : i64
// CHECK: llvm.cond_br
// CHECK: llvm.load %{{.*}} : !llvm.ptr -> vector<16xf32>
// CHECK: llvm.fadd %{{.*}} : vector<16xf32>
// CHECK: llvm.store
// CHECK: llvm.func @scaled(%[[A:.*]]: i64, %[[B:.*]]: i64, %[[BUFFERS:.*]]: !llvm.ptr) attributes {hloom.tiles = 4 : i64} {
// CHECK-NEXT: %[[P0:.*]] = llvm.getelementptr %[[BUFFERS]][0] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
// CHECK-NEXT: %[[X:.*]] = llvm.load %[[P0]] : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT: %[[P1:.*]] = llvm.getelementptr %[[BUFFERS]][1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
// CHECK-NEXT: %[[O:.*]] = llvm.load %[[P1]] : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT: llvm.call @scaled_body(%[[A]], %[[B]], %[[X]], %[[O]]) : (i64, i64, !llvm.ptr, !llvm.ptr) -> ()
// CHECK-NEXT: llvm.return
memref.global "private" constant @table : memref<2xf32> = dense<[1.0, 2.0]>
memref.global "private" constant @scaled_constant_0 : memref<16xf32> = dense<[0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0, 13.0, 14.0, 15.0]>
func.func private @scaled(%lo: index, %hi: index, %x: memref<64xf32>, %o: memref<64xf32>) attributes {hloom.inputs = 1 : i64, hloom.kind = "loop", hloom.tiles = 4 : i64} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c16 = arith.constant 16 : index
  %k = memref.get_global @scaled_constant_0 : memref<16xf32>
  scf.for %t = %lo to %hi step %c1 {
    %at = arith.muli %t, %c16 : index
    %v = vector.load %x[%at] : memref<64xf32>, vector<16xf32>
    %c = vector.load %k[%c0] : memref<16xf32>, vector<16xf32>
    %w = arith.addf %v, %c : vector<16xf32>
    vector.store %w, %o[%at] : memref<64xf32>, vector<16xf32>
  }
  return
}
func.func @host(%x: memref<8xf32>) {
  %0 = memref.get_global @table : memref<2xf32>
  return
}

// -----

// Masks stay vectors of bits: the edge of a tile is one masked load and store.
// CHECK-LABEL: llvm.func internal @masked_body(
// CHECK: llvm.intr.masked.load {{.*}} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
// CHECK: llvm.intr.masked.store {{.*}} : vector<16xf32>, vector<16xi1> into !llvm.ptr
func.func private @masked(%lo: index, %hi: index, %x: memref<5xf32>, %o: memref<5xf32>) attributes {hloom.inputs = 1 : i64, hloom.tiles = 1 : i64} {
  %c0 = arith.constant 0 : index
  %c5 = arith.constant 5 : index
  %zero = arith.constant dense<0.0> : vector<16xf32>
  %mask = vector.create_mask %c5 : vector<16xi1>
  %v = vector.maskedload %x[%c0], %mask, %zero : memref<5xf32>, vector<16xi1>, vector<16xf32> into vector<16xf32>
  %w = arith.negf %v : vector<16xf32>
  vector.maskedstore %o[%c0], %mask, %w : memref<5xf32>, vector<16xi1>, vector<16xf32>
  return
}

// -----

// Unchanged: No kernel.
// CHECK-LABEL: func.func @host(%arg0: memref<8xf32>, %arg1: vector<8xf32>)
// CHECK-NEXT: arith.constant
// CHECK-NEXT: vector.store
// CHECK-NEXT: return
func.func @host(%x: memref<8xf32>, %v: vector<8xf32>) {
  %c0 = arith.constant 0 : index
  vector.store %v, %x[%c0] : memref<8xf32>, vector<8xf32>
  return
}
