// RUN: hloom-opt %s --sort-rows | filecheck %s

// Changed: One float is compared, and tells its element: a quicksort of vectors, whose upper parts are stored under a mask. Work that runs
// out leaves the row to a radix sort by its bits, four digits of eight bits, counted in one walk over the row.
// CHECK-LABEL: func.func private @keyed
// CHECK-SAME: (%[[LO:.*]]: index, %[[HI:.*]]: index, %[[X:.*]]: memref<1200xf32>, %[[R:.*]]: memref<1200xf32>, %[[E:.*]]: memref<1200xf32>)
// CHECK-SAME: hloom.inputs = 1 : i64, hloom.kind = "sort", hloom.tiles = 4 : i64
// CHECK: %[[COUNTS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<1024xi32>
// CHECK: scf.for %{{.*}} = %[[LO]] to %[[HI]]
// CHECK: arith.bitcast %{{.*}} : f32 to i32
// CHECK: scf.while
// CHECK: vector.maskedload
// CHECK: llvm.call_intrinsic "llvm.experimental.vector.compress"
// CHECK: vector.maskedstore
// CHECK: %[[DONE:.*]] = scf.if %{{.*}} -> (i1)
// CHECK: scf.if %[[DONE]]
// CHECK: else
// CHECK: scf.if
// CHECK: memref.store %{{.*}}, %[[E]]
// CHECK: scf.if
// CHECK: memref.store %{{.*}}, %[[R]]
// CHECK-NOT: scf.while
func.func private @keyed(%x: tensor<4x300xf32>) -> (tensor<4x300xf32>, tensor<4x300xf32>) attributes {hloom.kind = "sort"} {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %x0 = tensor.extract %a[] : tensor<f32>
    %y0 = tensor.extract %b[] : tensor<f32>
    %c = arith.cmpf olt, %x0, %y0 : f32
    %p = tensor.from_elements %c : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4x300xf32>) -> tensor<4x300xf32>
  %1 = tensor.empty() : tensor<4x300xf32>
  return %0, %1 : tensor<4x300xf32>, tensor<4x300xf32>
}

// Changed: So is a short row, where all keys are compared with all: a register of keys with one.
// CHECK-LABEL: func.func private @short
// CHECK-SAME: hloom.tiles = 1 : i64
// CHECK: %[[KEYS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<16xi32>
// CHECK: %[[PLACES:.*]] = memref.alloca() {alignment = 64 : i64} : memref<16xi32>
// CHECK: memref.store %{{.*}}, %[[KEYS]]
// CHECK: vector.load %[[KEYS]]
// CHECK: arith.cmpi sgt, %{{.*}} : vector<16xi32>
// CHECK: vector.store %{{.*}}, %[[PLACES]]
func.func private @short(%x: tensor<5xi8>) -> (tensor<5xi8>, tensor<5xi8>) attributes {hloom.kind = "sort"} {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    %x0 = tensor.extract %a[] : tensor<i8>
    %y0 = tensor.extract %b[] : tensor<i8>
    %c = arith.cmpi ugt, %x0, %y0 : i8
    %p = tensor.from_elements %c : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<5xi8>) -> tensor<5xi8>
  %1 = tensor.empty() : tensor<5xi8>
  return %0, %1 : tensor<5xi8>, tensor<5xi8>
}

// Changed: Sixteen rows of one array are sorted together, one a lane, by a network; those of a block that it cannot sort, one by one.
// CHECK-LABEL: func.func private @together
// CHECK-SAME: hloom.tiles = 2 : i64
// CHECK: %[[KEYS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<128xi32>
// CHECK: %[[PLAIN:.*]] = scf.if %{{.*}} -> (i1)
// CHECK: scf.if %[[PLAIN]]
// CHECK: scf.while
// CHECK: arith.minsi %{{.*}} : vector<16xi32>
// CHECK: arith.maxsi %{{.*}} : vector<16xi32>
// CHECK: } else {
// CHECK: scf.for
func.func private @together(%x: tensor<20x5xi32>) -> (tensor<20x5xi32>, tensor<20x5xi32>) attributes {hloom.kind = "sort"} {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %x0 = tensor.extract %a[] : tensor<i32>
    %y0 = tensor.extract %b[] : tensor<i32>
    %c = arith.cmpi slt, %x0, %y0 : i32
    %p = tensor.from_elements %c : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<20x5xi32>) -> tensor<20x5xi32>
  %1 = tensor.empty() : tensor<20x5xi32>
  return %0, %1 : tensor<20x5xi32>, tensor<20x5xi32>
}

// Changed: Of 900 elements 2 are read: those of a block that come before the last of the best are appended, where there is any.
// CHECK-LABEL: func.func private @first
// CHECK-SAME: hloom.effort = "full"
// CHECK: scf.for %[[START:.*]] = %c52{{.*}} to %c948 step %c32 iter_args(%[[COUNT:.*]] = %c52{{.*}}, %{{.*}}) -> (index, i32)
// CHECK: %[[FIRST:.*]] = arith.minsi %[[START]], %c868
// CHECK: %[[FULL:.*]] = arith.cmpi ugt, %[[COUNT]], %c20
// CHECK: %[[LAST:.*]] = arith.cmpi uge, %[[START]], %c900{{.*}} : index
// CHECK: arith.ori %[[FULL]], %[[LAST]]
// CHECK: scf.if %{{.*}} -> (index, i32)
// CHECK: %[[ANY:.*]] = scf.for {{.*}} -> (i1)
// CHECK: arith.cmpi ult
// CHECK: %[[NEW:.*]] = arith.cmpi ult, %[[START]], %c900{{.*}} : index
// CHECK: %[[FOUND:.*]] = arith.andi %[[ANY]], %[[NEW]]
// CHECK: scf.if %[[FOUND]] -> (index)
// CHECK: %[[BITS:.*]] = scf.for {{.*}} -> (i32)
// CHECK: arith.shli
// CHECK: %[[READ:.*]] = arith.subi %[[START]], %[[FIRST]]
// CHECK: arith.andi %[[BITS]]
// CHECK: scf.while
// CHECK: math.cttz
func.func private @first(%x: tensor<4x900xf32>) -> (tensor<4x900xf32>, tensor<4x900xf32>) attributes {hloom.kind = "sort"} {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %x0 = tensor.extract %a[] : tensor<f32>
    %y0 = tensor.extract %b[] : tensor<f32>
    %c = arith.cmpf olt, %x0, %y0 : f32
    %p = tensor.from_elements %c : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {hloom.first = 2 : i64} : (tensor<4x900xf32>) -> tensor<4x900xf32>
  %1 = tensor.empty() : tensor<4x900xf32>
  return %0, %1 : tensor<4x900xf32>, tensor<4x900xf32>
}

// Changed: An element of one operand is compared with one of the other: no key orders such rows, so they are merged.
// CHECK-LABEL: func.func private @merged
// CHECK-NOT: memref.alloca
// CHECK: scf.while
// CHECK: arith.cmpi slt
func.func private @merged(%x: tensor<4x100xi32>, %y: tensor<4x100xi32>)
    -> (tensor<4x100xi32>, tensor<4x100xi32>, tensor<4x100xi32>, tensor<4x100xi32>) attributes {hloom.kind = "sort"} {
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %x0 = tensor.extract %a[] : tensor<i32>
    %y0 = tensor.extract %d[] : tensor<i32>
    %less = arith.cmpi slt, %x0, %y0 : i32
    %p = tensor.from_elements %less : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4x100xi32>, tensor<4x100xi32>) -> (tensor<4x100xi32>, tensor<4x100xi32>)
  %1 = tensor.empty() : tensor<4x100xi32>
  %2 = tensor.empty() : tensor<4x100xi32>
  return %0#0, %0#1, %1, %2 : tensor<4x100xi32>, tensor<4x100xi32>, tensor<4x100xi32>, tensor<4x100xi32>
}

// Declined: A group without a sort is for vectorize-tiles.
// Unchanged: It stays over tensors.
// CHECK-LABEL: func.func private @other
// CHECK-SAME: (%{{.*}}: tensor<4xf32>) -> tensor<4xf32>
func.func private @other(%x: tensor<4xf32>) -> tensor<4xf32> attributes {hloom.kind = "loop"} {
  return %x : tensor<4xf32>
}
