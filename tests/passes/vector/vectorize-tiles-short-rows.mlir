// RUN: hloom-opt %s --vectorize-tiles --canonicalize --cse --split-input-file | filecheck %s

// Changed: Thirty-two rows of three are six registers, beside which the numbers of their rows and of their columns lie by shuffles.
// CHECK-LABEL: func.func private @a_number_a_row(
// CHECK: scf.for %[[I:.*]] = %c0 to %c64 step %c32
// CHECK: vector.load %arg2[%{{.*}}] : memref<192xf32>, vector<16xf32>
// CHECK: %[[S:.*]] = vector.load %arg3[%[[I]]] : memref<64xf32>, vector<16xf32>
// CHECK: vector.shuffle %[[S]], %{{.*}} [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4, 4, 4, 5]
// CHECK: %[[B:.*]] = vector.load %arg4[%c0] : memref<3xf32>, vector<3xf32>
// CHECK: vector.shuffle %[[B]], %{{.*}} [0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0]
// CHECK-COUNT-6: vector.store %{{.*}}, %arg5[%{{.*}}] : memref<192xf32>, vector<16xf32>
// CHECK-NOT: vector.store
// CHECK-NOT: vector.masked
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#column = affine_map<(d0, d1) -> (d1)>
func.func private @a_number_a_row(%x: tensor<64x3xf32>, %s: tensor<64xf32>, %b: tensor<3xf32>) -> tensor<64x3xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<64x3xf32>
  %0 = scf.forall (%i) = (0) to (64) step (64) shared_outs(%o = %e) -> (tensor<64x3xf32>) {
    %1 = linalg.generic {indexing_maps = [#id, #row, #column, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x, %s, %b : tensor<64x3xf32>, tensor<64xf32>, tensor<3xf32>) outs(%o : tensor<64x3xf32>) {
    ^bb0(%in: f32, %scale: f32, %bias: f32, %out: f32):
      %p = arith.mulf %in, %scale : f32
      %v = arith.addf %p, %bias : f32
      linalg.yield %v : f32
    } -> tensor<64x3xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[%i, 0] [64, 3] [1, 1] : tensor<64x3xf32> into tensor<64x3xf32>
    }
  }
  return %0 : tensor<64x3xf32>
}

// -----

// Changed: Channels in the other order: what a register holds is in two, of which nothing lies before the first row or behind the last.
// What is left of the rows is a block of three.
// CHECK-LABEL: func.func private @turned(
// CHECK: %[[A:.*]] = vector.load %arg2[%c0] : memref<57xf32>, vector<16xf32>
// CHECK: %[[B:.*]] = vector.load %arg2[%{{.*}}] : memref<57xf32>, vector<16xf32>
// CHECK: vector.shuffle %[[A]], %[[B]] [2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9, 14, 13, 12, 17]
// CHECK: vector.load %arg2[%c41] : memref<57xf32>, vector<16xf32>
// CHECK: vector.maskedstore %arg3[%c48]
#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d0, -d1 + 2)>
func.func private @turned(%x: tensor<19x3xf32>) -> tensor<19x3xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<19x3xf32>
  %0 = scf.forall (%i) = (0) to (19) step (19) shared_outs(%o = %e) -> (tensor<19x3xf32>) {
    %1 = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
        ins(%x : tensor<19x3xf32>) outs(%o : tensor<19x3xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<19x3xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[%i, 0] [19, 3] [1, 1] : tensor<19x3xf32> into tensor<19x3xf32>
    }
  }
  return %0 : tensor<19x3xf32>
}

// -----

// Changed: Pixels that a constant tells: all four of the result are one register, which one load and a shuffle make.
// CHECK-LABEL: func.func private @pixels(
// CHECK: %[[X:.*]] = vector.load %arg2[%{{.*}}] : memref<24xf32>, vector<12xf32>
// CHECK: vector.shuffle %[[X]], %{{.*}} [0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]
// CHECK-NOT: vector.gather
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#at = affine_map<(d0, d1, d2) -> (d1)>
func.func private @pixels(%x: tensor<2x3x4xf32>) -> tensor<2x4x4xf32> attributes {hloom.kind = "loop"} {
  %places = arith.constant dense<[0, 0, 1, 2]> : tensor<4xi32>
  %e = tensor.empty() : tensor<2x4x4xf32>
  %0 = scf.forall (%i) = (0) to (2) step (2) shared_outs(%o = %e) -> (tensor<2x4x4xf32>) {
    %1 = linalg.generic {indexing_maps = [#at, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%places : tensor<4xi32>) outs(%o : tensor<2x4x4xf32>) {
    ^bb0(%p: i32, %out: f32):
      %j = arith.index_cast %p : i32 to index
      %n = linalg.index 0 : index
      %c = linalg.index 2 : index
      %v = tensor.extract %x[%n, %j, %c] : tensor<2x3x4xf32>
      linalg.yield %v : f32
    } -> tensor<2x4x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[%i, 0, 0] [2, 4, 4] [1, 1, 1] : tensor<2x4x4xf32> into tensor<2x4x4xf32>
    }
  }
  return %0 : tensor<2x4x4xf32>
}

// -----

// Changed: Rows that numbers in memory find are copied one by one, each in one piece.
// CHECK-LABEL: func.func private @found(
// CHECK-NOT: vector.gather
// CHECK: vector.maskedload %arg3[%{{.*}}], %{{.*}} : memref<24xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
#id = affine_map<(d0, d1) -> (d0, d1)>
#at = affine_map<(d0, d1) -> (d0)>
func.func private @found(%places: tensor<64xi32>, %x: tensor<8x3xf32>) -> tensor<64x3xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<64x3xf32>
  %0 = scf.forall (%i) = (0) to (64) step (64) shared_outs(%o = %e) -> (tensor<64x3xf32>) {
    %1 = linalg.generic {indexing_maps = [#at, #id], iterator_types = ["parallel", "parallel"]}
        ins(%places : tensor<64xi32>) outs(%o : tensor<64x3xf32>) {
    ^bb0(%p: i32, %out: f32):
      %j = arith.index_cast %p : i32 to index
      %c = linalg.index 1 : index
      %v = tensor.extract %x[%j, %c] : tensor<8x3xf32>
      linalg.yield %v : f32
    } -> tensor<64x3xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[%i, 0] [64, 3] [1, 1] : tensor<64x3xf32> into tensor<64x3xf32>
    }
  }
  return %0 : tensor<64x3xf32>
}

// -----

// Changed: Two times 1,000 rows, joined: blocks of 32 between two cuts, of which each copies what it joins, and one of the eight that are left.
// CHECK-LABEL: func.func private @many_joined(
// CHECK: scf.for %[[I:.*]] = %c0 to %c992 step %c32
// CHECK-COUNT-6: vector.store %{{.*}}, %arg4[%{{.*}}] : memref<6000xf32>, vector<16xf32>
// CHECK: }
// CHECK: %[[X:.*]] = vector.load %arg2[%c2976] : memref<3000xf32>, vector<16xf32>
// CHECK: vector.store %[[X]], %arg4[%c2976] : memref<6000xf32>, vector<16xf32>
// CHECK: vector.store %{{.*}}, %arg4[%c2992] : memref<6000xf32>, vector<8xf32>
// CHECK: scf.for %[[J:.*]] = %c1000 to %c1992 step %c32
// CHECK: %[[P:.*]] = arith.muli %[[J]], %c3
// CHECK: %[[Q:.*]] = arith.addi %[[P]], %c-3000
// CHECK: %[[Y:.*]] = vector.load %arg3[%[[Q]]] : memref<3000xf32>, vector<16xf32>
// CHECK: vector.store %[[Y]], %arg4[%[[P]]] : memref<6000xf32>, vector<16xf32>
// CHECK-COUNT-7: vector.store
// CHECK-NOT: vector.store
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @many_joined(%x: tensor<1000x3xf32>, %y: tensor<1000x3xf32>) -> tensor<2000x3xf32> attributes {hloom.kind = "loop"} {
  %zero = arith.constant 0 : index
  %last = arith.constant 999 : index
  %rows = arith.constant 1000 : index
  %back = arith.constant -1000 : index
  %e = tensor.empty() : tensor<2000x3xf32>
  %0 = scf.forall (%i) in (1) shared_outs(%o = %e) -> (tensor<2000x3xf32>) {
    %1 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<2000x3xf32>) {
    ^bb0(%out: f32):
      %r = linalg.index 0 : index
      %c = linalg.index 1 : index
      %first = arith.minsi %r, %last : index
      %a = tensor.extract %x[%first, %c] : tensor<1000x3xf32>
      %less = arith.addi %r, %back : index
      %second = arith.maxsi %less, %zero : index
      %b = tensor.extract %y[%second, %c] : tensor<1000x3xf32>
      %is_first = arith.cmpi slt, %r, %rows : index
      %v = arith.select %is_first, %a, %b : f32
      linalg.yield %v : f32
    } -> tensor<2000x3xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[0, 0] [2000, 3] [1, 1] : tensor<2000x3xf32> into tensor<2000x3xf32>
    }
  }
  return %0 : tensor<2000x3xf32>
}

// -----

// Declined: Two times four rows are one block, of which a register has rows of both.
// CHECK-LABEL: func.func private @few_joined(
// CHECK: scf.for %{{.*}} = %arg0 to %arg1
// CHECK-NOT: scf.for
// CHECK: arith.select
// CHECK: vector.store %{{.*}}, %arg4[%c0] : memref<24xf32>, vector<16xf32>
// CHECK: vector.store %{{.*}}, %arg4[%c16] : memref<24xf32>, vector<8xf32>
// CHECK-NOT: vector.store
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @few_joined(%x: tensor<4x3xf32>, %y: tensor<4x3xf32>) -> tensor<8x3xf32> attributes {hloom.kind = "loop"} {
  %zero = arith.constant 0 : index
  %last = arith.constant 3 : index
  %rows = arith.constant 4 : index
  %back = arith.constant -4 : index
  %e = tensor.empty() : tensor<8x3xf32>
  %0 = scf.forall (%i) in (1) shared_outs(%o = %e) -> (tensor<8x3xf32>) {
    %1 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<8x3xf32>) {
    ^bb0(%out: f32):
      %r = linalg.index 0 : index
      %c = linalg.index 1 : index
      %first = arith.minsi %r, %last : index
      %a = tensor.extract %x[%first, %c] : tensor<4x3xf32>
      %less = arith.addi %r, %back : index
      %second = arith.maxsi %less, %zero : index
      %b = tensor.extract %y[%second, %c] : tensor<4x3xf32>
      %is_first = arith.cmpi slt, %r, %rows : index
      %v = arith.select %is_first, %a, %b : f32
      linalg.yield %v : f32
    } -> tensor<8x3xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[0, 0] [8, 3] [1, 1] : tensor<8x3xf32> into tensor<8x3xf32>
    }
  }
  return %0 : tensor<8x3xf32>
}
