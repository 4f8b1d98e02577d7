// RUN: hloom-opt %s --distribute-sorts --canonicalize | filecheck %s

// Declined: Not a group.
// CHECK-LABEL: func.func @whole
// CHECK: stablehlo.sort
func.func @whole(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Unchanged: A group without a sort.
// CHECK-LABEL: func.func private @loop
// CHECK: arith.constant
func.func private @loop() -> f32 attributes {hloom.kind = "loop"} {
  %c = arith.constant 1.0 : f32
  return %c : f32
}

// Changed: A row of 1000 elements has 1024 places, eight in the registers of each thread: the key of an element and where it stood are one
// word. Steps within a thread need nothing, those of a warp shuffles, the rest shared memory. The elements move at the end.
// CHECK: memref.global "private" @rows_shared : memref<12288xi8
// CHECK-LABEL: gpu.func @rows
// CHECK-SAME: (%[[X:.*]]: memref<8000xf32> {{.*}}, %[[R:.*]]: memref<8000xf32>
// CHECK-SAME: hloom.layouts = {kernel = "bitonic", rows = 1 : i64, run = 1024 : i64}
// CHECK-SAME: known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 8, 1, 1>
// CHECK: memref.load %[[X]]
// CHECK-NOT: gpu.barrier
// CHECK: arith.cmpi ult, %{{.*}} : i64
// CHECK: scf.for
// CHECK: gpu.shuffle xor %{{.*}} : i64
// CHECK: scf.for
// CHECK: memref.store %{{.*}} : memref<1024xi64
// CHECK: gpu.barrier
// CHECK: memref.load %{{.*}} : memref<1024xi64
// CHECK: gpu.shuffle xor %{{.*}} : i64
// CHECK: gpu.barrier
// CHECK: memref.store %{{.*}}, %[[R]]
func.func private @rows(%x: tensor<8x1000xf32>) -> tensor<8x1000xf32> attributes {hloom.kind = "sort"} {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %x0 = tensor.extract %a[] : tensor<f32>
    %y0 = tensor.extract %b[] : tensor<f32>
    %c = arith.cmpf olt, %x0, %y0 : f32
    %p = tensor.from_elements %c : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<8x1000xf32>) -> tensor<8x1000xf32>
  return %0 : tensor<8x1000xf32>
}

// Changed: 64 rows of 8 places in a block, each of a thread. The comparator compares two values of each element: it is asked as it is.
// CHECK-LABEL: gpu.func @short
// CHECK-SAME: hloom.layouts = {kernel = "bitonic", rows = 64 : i64, run = 8 : i64}
// CHECK: arith.select
func.func private @short(%x: tensor<100x7xi32>, %y: tensor<100x7xi8>) -> (tensor<100x7xi32>, tensor<100x7xi8>) attributes {hloom.kind = "sort"} {
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i8>, %d: tensor<i8>):
    %x0 = tensor.extract %a[] : tensor<i32>
    %y0 = tensor.extract %b[] : tensor<i32>
    %x1 = tensor.extract %c[] : tensor<i8>
    %y1 = tensor.extract %d[] : tensor<i8>
    %same = arith.cmpi eq, %x0, %y0 : i32
    %first = arith.cmpi slt, %x0, %y0 : i32
    %second = arith.cmpi slt, %x1, %y1 : i8
    %less = arith.select %same, %second, %first : i1
    %p = tensor.from_elements %less : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<100x7xi32>, tensor<100x7xi8>) -> (tensor<100x7xi32>, tensor<100x7xi8>)
  return %0#0, %0#1 : tensor<100x7xi32>, tensor<100x7xi8>
}

// Changed: A merge: two warps find where the elements of a block begin and end, 32 places at a time; these come to shared memory, where a
// thread finds where its eight begin, and makes them.
// CHECK-LABEL: gpu.func @merge
// CHECK-SAME: hloom.layouts = {kernel = "merge path", run = 2048 : i64}
// CHECK-SAME: known_block_size = array<i32: 256, 1, 1>, known_grid_size = array<i32: 4, 1, 1>
// CHECK: scf.while
// CHECK-COUNT-5: gpu.shuffle xor
// CHECK: gpu.barrier
// CHECK: memref.load %arg0
// CHECK: gpu.barrier
// CHECK: scf.while
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK-COUNT-8: memref.store %{{.*}}, %arg1
func.func private @merge(%x: tensor<5000xi16>) -> tensor<5000xi16> attributes {hloom.kind = "sort"} {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i16>, %b: tensor<i16>):
    %x0 = tensor.extract %a[] : tensor<i16>
    %y0 = tensor.extract %b[] : tensor<i16>
    %c = arith.cmpi sgt, %x0, %y0 : i16
    %p = tensor.from_elements %c : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {hloom.merges = 2048 : i64} : (tensor<5000xi16>) -> tensor<5000xi16>
  return %0 : tensor<5000xi16>
}

// Changed: Forty elements are read: a merge makes no more, of forty of each run.
// CHECK-LABEL: gpu.func @few
// CHECK-SAME: hloom.updated = array<i64: 1>
// CHECK-SAME: known_grid_size = array<i32: 1, 1, 1>
// CHECK: arith.minui %{{.*}}, %c40 : index
func.func private @few(%x: tensor<4096xi16>) -> tensor<4096xi16> attributes {hloom.kind = "sort"} {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i16>, %b: tensor<i16>):
    %x0 = tensor.extract %a[] : tensor<i16>
    %y0 = tensor.extract %b[] : tensor<i16>
    %c = arith.cmpi slt, %x0, %y0 : i16
    %p = tensor.from_elements %c : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {hloom.first = 40 : i64, hloom.merges = 2048 : i64} : (tensor<4096xi16>) -> tensor<4096xi16>
  return %0 : tensor<4096xi16>
}
