// RUN: hloom-opt %s --share-kernels=least=1 --split-input-file | filecheck %s

// Changed: Two kernels that differ in numbers and in sizes of arguments are one. The product and the sum come from one number.
// Declined: A number of ops alone does not make two kernels equal.
// CHECK-LABEL: module @kernels {
// CHECK-NEXT: func.func private @one_body(%[[LO:[^:]*]]: index, %{{[^:]*}}: index, %[[A:[^:]*]]: memref<64xf32> {llvm.noalias}, %[[N:[^:]*]]: index)
// CHECK-SAME: attributes {hloom.effort = "least", hloom.shared = {one = {numbers = array<i64: 4>, tiles = 2 : i64}, two = {numbers = array<i64: 6>, tiles = 3 : i64}}, hloom.tiles = 2 : i64} {
// CHECK-NEXT: %[[TWICE:.*]] = arith.constant 2 : index
// CHECK-NEXT: %[[PRODUCT:.*]] = arith.muli %[[N]], %[[TWICE]]
// CHECK-NEXT: %[[ONE:.*]] = arith.constant 1 : index
// CHECK-NEXT: %[[SUM:.*]] = arith.addi %[[PRODUCT]], %[[ONE]]
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %[[N]] step
// CHECK: arith.addi %[[I]], %[[SUM]]
// CHECK-NOT: @two_body
// CHECK: func.func private @other_body
func.func private @host()
module @kernels {
  func.func private @one_body(%lo: index, %hi: index, %a: memref<64xf32> {llvm.noalias}) attributes {hloom.effort = "least", hloom.tiles = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c9 = arith.constant 9 : index
    scf.for %i = %c0 to %c4 step %c1 {
      %at = arith.addi %i, %c9 : index
      %x = memref.load %a[%i] : memref<64xf32>
      memref.store %x, %a[%at] : memref<64xf32>
    }
    return
  }
  func.func private @two_body(%lo: index, %hi: index, %a: memref<96xf32> {llvm.noalias}) attributes {hloom.effort = "least", hloom.tiles = 3 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c6 = arith.constant 6 : index
    %c13 = arith.constant 13 : index
    scf.for %i = %c0 to %c6 step %c1 {
      %at = arith.addi %i, %c13 : index
      %x = memref.load %a[%i] : memref<96xf32>
      memref.store %x, %a[%at] : memref<96xf32>
    }
    return
  }
  func.func private @other_body(%lo: index, %hi: index, %a: memref<96xf32> {llvm.noalias}) attributes {hloom.effort = "least", hloom.tiles = 3 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c6 = arith.constant 6 : index
    %c13 = arith.constant 13 : index
    scf.for %i = %c0 to %c6 step %c1 {
      %at = arith.muli %i, %c13 : index
      %x = memref.load %a[%i] : memref<96xf32>
      memref.store %x, %a[%at] : memref<96xf32>
    }
    return
  }
}

// -----

// Declined: LLVM unrolls or vectorises a loop over scalars by its bound, in a kernel that gets all passes; an offset may differ there.
// CHECK-LABEL: module @kernels {
// CHECK: @bound_4_body
// CHECK: @bound_6_body
// CHECK: @offset_4_body
// CHECK-SAME: hloom.shared = {offset_4 = {numbers = array<i64: 4>, tiles = 2 : i64}, offset_6 = {numbers = array<i64: 6>, tiles = 2 : i64}}
// CHECK-NOT: @offset_6_body
func.func private @host()
module @kernels {
  func.func private @bound_4_body(%lo: index, %hi: index, %a: memref<64xf32>) attributes {hloom.tiles = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    scf.for %i = %c0 to %c4 step %c1 {
      %x = memref.load %a[%i] : memref<64xf32>
      memref.store %x, %a[%i] : memref<64xf32>
    }
    return
  }
  func.func private @bound_6_body(%lo: index, %hi: index, %a: memref<64xf32>) attributes {hloom.tiles = 2 : i64} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c6 = arith.constant 6 : index
    scf.for %i = %c0 to %c6 step %c1 {
      %x = memref.load %a[%i] : memref<64xf32>
      memref.store %x, %a[%i] : memref<64xf32>
    }
    return
  }
  func.func private @offset_4_body(%lo: index, %hi: index, %a: memref<64xf32>) attributes {hloom.tiles = 2 : i64} {
    %c4 = arith.constant 4 : index
    %at = arith.addi %lo, %c4 : index
    %x = memref.load %a[%at] : memref<64xf32>
    memref.store %x, %a[%lo] : memref<64xf32>
    return
  }
  func.func private @offset_6_body(%lo: index, %hi: index, %a: memref<64xf32>) attributes {hloom.tiles = 2 : i64} {
    %c6 = arith.constant 6 : index
    %at = arith.addi %lo, %c6 : index
    %x = memref.load %a[%at] : memref<64xf32>
    memref.store %x, %a[%lo] : memref<64xf32>
    return
  }
}

// -----

// Declined: Division by a register is slow. A buffer of a kernel's own keeps its size. One tile is another loop than several.
// CHECK-LABEL: module @kernels {
// CHECK: @by_4_body
// CHECK: @by_6_body
// CHECK: @room_8_body
// CHECK: @room_9_body
// CHECK: @one_tile_body
// CHECK: @two_tiles_body
func.func private @host()
module @kernels {
  func.func private @by_4_body(%lo: index, %hi: index, %a: memref<64xf32>) attributes {hloom.effort = "least", hloom.tiles = 2 : i64} {
    %c4 = arith.constant 4 : index
    %at = arith.divui %lo, %c4 : index
    %x = memref.load %a[%at] : memref<64xf32>
    memref.store %x, %a[%lo] : memref<64xf32>
    return
  }
  func.func private @by_6_body(%lo: index, %hi: index, %a: memref<64xf32>) attributes {hloom.effort = "least", hloom.tiles = 2 : i64} {
    %c6 = arith.constant 6 : index
    %at = arith.divui %lo, %c6 : index
    %x = memref.load %a[%at] : memref<64xf32>
    memref.store %x, %a[%lo] : memref<64xf32>
    return
  }
  func.func private @room_8_body(%lo: index, %hi: index, %a: memref<64xf32>) attributes {hloom.effort = "least", hloom.tiles = 2 : i64} {
    %room = memref.alloca() : memref<8xf32>
    %x = memref.load %room[%lo] : memref<8xf32>
    memref.store %x, %a[%lo] : memref<64xf32>
    return
  }
  func.func private @room_9_body(%lo: index, %hi: index, %a: memref<64xf32>) attributes {hloom.effort = "least", hloom.tiles = 2 : i64} {
    %room = memref.alloca() : memref<9xf32>
    %x = memref.load %room[%lo] : memref<9xf32>
    memref.store %x, %a[%lo] : memref<64xf32>
    return
  }
  func.func private @one_tile_body(%lo: index, %hi: index, %a: memref<64xf32>) attributes {hloom.tiles = 1 : i64} {
    return
  }
  func.func private @two_tiles_body(%lo: index, %hi: index, %a: memref<64xf32>) attributes {hloom.tiles = 2 : i64} {
    return
  }
}

// -----

// Unchanged: Without isolate-kernels there is no module of kernels.
// CHECK-LABEL: func.func private @alone
// CHECK-NEXT: return
func.func private @alone(%lo: index, %hi: index) attributes {hloom.tiles = 2 : i64} {
  return
}
