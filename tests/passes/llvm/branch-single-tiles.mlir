// RUN: hloom-opt %s --branch-single-tiles | filecheck %s

// Changed: the loop of the one tile.
// CHECK-LABEL: func.func private @one_body
// CHECK-SAME: (%[[LO:.*]]: index, %[[HI:.*]]: index, %[[A:.*]]: memref<4xi32>)
// CHECK: %[[SOME:.*]] = arith.cmpi slt, %[[LO]], %[[HI]] : index
// CHECK-NEXT: scf.if %[[SOME]] {
// CHECK-NEXT: %[[X:.*]] = memref.load %[[A]][%[[LO]]] : memref<4xi32>
// CHECK-NEXT: memref.store %[[X]], %[[A]][%[[LO]]] : memref<4xi32>
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func private @one_body(%lo: index, %hi: index, %a: memref<4xi32>) attributes {hloom.tiles = 1 : i64} {
  %c1 = arith.constant 1 : index
  scf.for %tile = %lo to %hi step %c1 {
    %x = memref.load %a[%tile] : memref<4xi32>
    memref.store %x, %a[%tile] : memref<4xi32>
  }
  return
}

// Declined: another bound.
// CHECK-LABEL: func.func private @inner_body
// CHECK-NOT: scf.if
// CHECK: scf.for
func.func private @inner_body(%lo: index, %hi: index, %a: memref<4xi32>) attributes {hloom.tiles = 1 : i64} {
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.for %i = %lo to %c4 step %c1 {
    %x = memref.load %a[%i] : memref<4xi32>
    memref.store %x, %a[%i] : memref<4xi32>
  }
  return
}

// Unchanged: a kernel of several tiles, a function that is none.
// CHECK-LABEL: func.func private @several_body
// CHECK-NOT: scf.if
// CHECK: scf.for
// CHECK-LABEL: func.func private @other
// CHECK-NOT: scf.if
// CHECK: scf.for
func.func private @several_body(%lo: index, %hi: index, %a: memref<4xi32>) attributes {hloom.tiles = 4 : i64} {
  %c1 = arith.constant 1 : index
  scf.for %tile = %lo to %hi step %c1 {
    %x = memref.load %a[%tile] : memref<4xi32>
    memref.store %x, %a[%tile] : memref<4xi32>
  }
  return
}

func.func private @other(%lo: index, %hi: index, %a: memref<4xi32>) {
  %c1 = arith.constant 1 : index
  scf.for %tile = %lo to %hi step %c1 {
    %x = memref.load %a[%tile] : memref<4xi32>
    memref.store %x, %a[%tile] : memref<4xi32>
  }
  return
}
