// RUN: hloom-opt %s --vectorize-tiles --canonicalize --cse --split-input-file | filecheck %s

// Changed: Both of each pair are computed by vectors along the pairs: one load and one store for 32 pairs, taken apart and put together.
// CHECK-LABEL: func.func private @swapped(
// CHECK: %[[X:.*]] = vector.load %arg2[%[[AT:.*]]] : memref<128xf32>, vector<64xf32>
// CHECK: %[[SECOND:.*]] = vector.shuffle %[[X]], %{{.*}} [1, 3, 5, {{.*}}, 63]
// CHECK: %[[FIRST:.*]] = vector.shuffle %[[X]], %{{.*}} [0, 2, 4, {{.*}}, 62]
// CHECK: %[[Y:.*]] = vector.interleave %[[SECOND]], %[[FIRST]]
// CHECK-NEXT: vector.store %[[Y]], %arg3[%[[AT]]] : memref<128xf32>, vector<64xf32>
// CHECK-NOT: vector.gather
#pairs = affine_map<(d0, d1) -> (d0, d1)>
#first = affine_map<(d0, d1) -> (d0, 0)>
#second = affine_map<(d0, d1) -> (d0, 1)>
func.func private @swapped(%x: tensor<64x2xf32>) -> tensor<64x2xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<64x2xf32>
  %0 = scf.forall (%i) = (0) to (64) step (32) shared_outs(%o = %e) -> (tensor<64x2xf32>) {
    %a = tensor.extract_slice %x[%i, 0] [32, 2] [1, 1] : tensor<64x2xf32> to tensor<32x2xf32>
    %b = tensor.extract_slice %o[%i, 0] [32, 2] [1, 1] : tensor<64x2xf32> to tensor<32x2xf32>
    %1 = linalg.generic {indexing_maps = [#first, #second, #pairs], iterator_types = ["parallel", "parallel"]}
        ins(%a, %a : tensor<32x2xf32>, tensor<32x2xf32>) outs(%b : tensor<32x2xf32>) {
    ^bb0(%re: f32, %im: f32, %out: f32):
      %n = linalg.index 1 : index
      %zero = arith.constant 0 : index
      %is = arith.cmpi eq, %n, %zero : index
      %v = arith.select %is, %im, %re : f32
      linalg.yield %v : f32
    } -> tensor<32x2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[%i, 0] [32, 2] [1, 1] : tensor<32x2xf32> into tensor<64x2xf32>
    }
  }
  return %0 : tensor<64x2xf32>
}

// -----

// Changed: Every second element of an even number is loaded with its neighbour; the mask of what is left holds for both.
// CHECK-LABEL: func.func private @seconds(
// CHECK: %[[X:.*]] = vector.maskedload %arg2[%c0], %{{.*}} : memref<102xf32>, vector<128xi1>
// CHECK: vector.shuffle %[[X]], %{{.*}} [1, 3, 5
#odd = affine_map<(d0) -> (d0 * 2 + 1)>
#id = affine_map<(d0) -> (d0)>
func.func private @seconds(%x: tensor<102xf32>) -> tensor<51xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<51xf32>
  %0 = scf.forall (%i) = (0) to (51) step (51) shared_outs(%o = %e) -> (tensor<51xf32>) {
    %b = tensor.extract_slice %o[%i] [51] [1] : tensor<51xf32> to tensor<51xf32>
    %1 = linalg.generic {indexing_maps = [#odd, #id], iterator_types = ["parallel"]} ins(%x : tensor<102xf32>) outs(%b : tensor<51xf32>) {
    ^bb0(%v: f32, %out: f32):
      %n = arith.negf %v : f32
      linalg.yield %n : f32
    } -> tensor<51xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[%i] [51] [1] : tensor<51xf32> into tensor<51xf32>
    }
  }
  return %0 : tensor<51xf32>
}

// -----

// Changed: Of an odd number the last has no neighbour: none is loaded behind it.
// CHECK-LABEL: func.func private @firsts_of_101(
// CHECK: %[[X:.*]] = vector.maskedload %arg2[%c0], %{{.*}} : memref<101xf32>, vector<128xi1>
// CHECK: vector.shuffle %[[X]], %{{.*}} [0, 2, 4
#even = affine_map<(d0) -> (d0 * 2)>
#id = affine_map<(d0) -> (d0)>
func.func private @firsts_of_101(%x: tensor<101xf32>) -> tensor<51xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<51xf32>
  %0 = scf.forall (%i) = (0) to (51) step (51) shared_outs(%o = %e) -> (tensor<51xf32>) {
    %b = tensor.extract_slice %o[%i] [51] [1] : tensor<51xf32> to tensor<51xf32>
    %1 = linalg.generic {indexing_maps = [#even, #id], iterator_types = ["parallel"]} ins(%x : tensor<101xf32>) outs(%b : tensor<51xf32>) {
    ^bb0(%v: f32, %out: f32):
      %n = arith.negf %v : f32
      linalg.yield %n : f32
    } -> tensor<51xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[%i] [51] [1] : tensor<51xf32> into tensor<51xf32>
    }
  }
  return %0 : tensor<51xf32>
}

// -----

// Changed: Rows become turns of three: a vector of each row, put together by shuffles; what lies in turns already is taken apart.
// CHECK-LABEL: func.func private @of_three_rows(
// CHECK-COUNT-3: vector.load %arg2[%{{.*}}] : memref<192xf32>, vector<16xf32>
// CHECK: %[[Y:.*]] = vector.shuffle %{{.*}}, %{{.*}} [0, 1, 32, 2, 3, 33, {{.*}}, 47]
// CHECK-NEXT: vector.store %[[Y]], %arg4[%{{.*}}] : memref<192xf32>, vector<48xf32>
// CHECK-NOT: vector.gather
// CHECK: return
#turned = affine_map<(d0, d1) -> (d1, d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @of_three_rows(%x: tensor<3x64xf32>, %y: tensor<64x3xf32>) -> tensor<64x3xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<64x3xf32>
  %0 = scf.forall (%i) = (0) to (64) step (32) shared_outs(%o = %e) -> (tensor<64x3xf32>) {
    %a = tensor.extract_slice %x[0, %i] [3, 32] [1, 1] : tensor<3x64xf32> to tensor<3x32xf32>
    %c = tensor.extract_slice %y[%i, 0] [32, 3] [1, 1] : tensor<64x3xf32> to tensor<32x3xf32>
    %b = tensor.extract_slice %o[%i, 0] [32, 3] [1, 1] : tensor<64x3xf32> to tensor<32x3xf32>
    %1 = linalg.generic {indexing_maps = [#turned, #id, #id], iterator_types = ["parallel", "parallel"]}
        ins(%a, %c : tensor<3x32xf32>, tensor<32x3xf32>) outs(%b : tensor<32x3xf32>) {
    ^bb0(%u: f32, %v: f32, %out: f32):
      %s = arith.addf %u, %v : f32
      linalg.yield %s : f32
    } -> tensor<32x3xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[%i, 0] [32, 3] [1, 1] : tensor<32x3xf32> into tensor<64x3xf32>
    }
  }
  return %0 : tensor<64x3xf32>
}

// -----

// Declined: Sixteen rows are squares of registers, which are transposed; so are twelve, which are most of a register.
// CHECK-LABEL: func.func private @of_twelve_rows(
// CHECK-NOT: vector.gather
// CHECK-COUNT-12: vector.load %arg2
// CHECK-COUNT-48: vector.shuffle
// CHECK-NOT: vector.gather
// CHECK: return
#turned = affine_map<(d0, d1) -> (d1, d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @of_twelve_rows(%x: tensor<12x64xf32>) -> tensor<64x12xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<64x12xf32>
  %0 = scf.forall (%i) = (0) to (64) step (32) shared_outs(%o = %e) -> (tensor<64x12xf32>) {
    %a = tensor.extract_slice %x[0, %i] [12, 32] [1, 1] : tensor<12x64xf32> to tensor<12x32xf32>
    %b = tensor.extract_slice %o[%i, 0] [32, 12] [1, 1] : tensor<64x12xf32> to tensor<32x12xf32>
    %1 = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<12x32xf32>) outs(%b : tensor<32x12xf32>) {
    ^bb0(%u: f32, %out: f32):
      %s = arith.negf %u : f32
      linalg.yield %s : f32
    } -> tensor<32x12xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[%i, 0] [32, 12] [1, 1] : tensor<32x12xf32> into tensor<64x12xf32>
    }
  }
  return %0 : tensor<64x12xf32>
}

// -----

// Declined: Squares of seven columns would be empty for the most part: lanes are loaded with what is between them.
// CHECK-LABEL: func.func private @of_seven_columns(
// CHECK-NOT: vector.gather
// CHECK: vector.maskedload %arg2{{.*}} vector<224xi1>
// CHECK: vector.shuffle {{.*}} [0, 7, 14
// CHECK: return
#turned = affine_map<(d0, d1) -> (d1, d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @of_seven_columns(%x: tensor<64x7xf32>) -> tensor<7x64xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<7x64xf32>
  %0 = scf.forall (%i) = (0) to (64) step (32) shared_outs(%o = %e) -> (tensor<7x64xf32>) {
    %a = tensor.extract_slice %x[%i, 0] [32, 7] [1, 1] : tensor<64x7xf32> to tensor<32x7xf32>
    %b = tensor.extract_slice %o[0, %i] [7, 32] [1, 1] : tensor<7x64xf32> to tensor<7x32xf32>
    %1 = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<32x7xf32>) outs(%b : tensor<7x32xf32>) {
    ^bb0(%u: f32, %out: f32):
      %s = arith.negf %u : f32
      linalg.yield %s : f32
    } -> tensor<7x32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[0, %i] [7, 32] [1, 1] : tensor<7x32xf32> into tensor<7x64xf32>
    }
  }
  return %0 : tensor<7x64xf32>
}

// -----

// Declined: Lanes that are thirteen elements, more than 48 bytes, apart are gathered.
// CHECK-LABEL: func.func private @every_13th(
// CHECK-NOT: vector.shuffle
// CHECK: vector.gather
// CHECK: return
#apart = affine_map<(d0) -> (d0 * 13)>
#id = affine_map<(d0) -> (d0)>
func.func private @every_13th(%x: tensor<651xf32>) -> tensor<51xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<51xf32>
  %0 = scf.forall (%i) = (0) to (51) step (51) shared_outs(%o = %e) -> (tensor<51xf32>) {
    %b = tensor.extract_slice %o[%i] [51] [1] : tensor<51xf32> to tensor<51xf32>
    %1 = linalg.generic {indexing_maps = [#apart, #id], iterator_types = ["parallel"]} ins(%x : tensor<651xf32>) outs(%b : tensor<51xf32>) {
    ^bb0(%v: f32, %out: f32):
      %n = arith.negf %v : f32
      linalg.yield %n : f32
    } -> tensor<51xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[%i] [51] [1] : tensor<51xf32> into tensor<51xf32>
    }
  }
  return %0 : tensor<51xf32>
}

// -----

// Changed: A transposition whose columns are read backwards is one of squares too: they are copied as they lie, and read from the last row
// of the copy on.
// CHECK-LABEL: func.func private @turned_by_90_degrees(
// CHECK-NOT: vector.gather
// CHECK: vector.load %arg2{{.*}} vector<16xf32>
// CHECK: vector.shuffle
// CHECK-NOT: vector.gather
// CHECK: return
#backwards = affine_map<(d0, d1) -> (d1, -d0 + 31)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @turned_by_90_degrees(%x: tensor<64x32xf32>) -> tensor<32x64xf32> attributes {hloom.kind = "transpose"} {
  %e = tensor.empty() : tensor<32x64xf32>
  %0 = scf.forall (%i) = (0) to (64) step (32) shared_outs(%o = %e) -> (tensor<32x64xf32>) {
    %a = tensor.extract_slice %x[%i, 0] [32, 32] [1, 1] : tensor<64x32xf32> to tensor<32x32xf32>
    %b = tensor.extract_slice %o[0, %i] [32, 32] [1, 1] : tensor<32x64xf32> to tensor<32x32xf32>
    %1 = linalg.generic {indexing_maps = [#backwards, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<32x32xf32>) outs(%b : tensor<32x32xf32>) {
    ^bb0(%u: f32, %out: f32):
      %s = arith.negf %u : f32
      linalg.yield %s : f32
    } -> tensor<32x32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[0, %i] [32, 32] [1, 1] : tensor<32x32xf32> into tensor<32x64xf32>
    }
  }
  return %0 : tensor<32x64xf32>
}

// -----

// Changed: Four of a turn that the body chooses by their number: one load of each input for 64 turns of four, and one store.
// CHECK-LABEL: func.func private @chosen(
// CHECK: %[[A:.*]] = vector.load %arg2[%{{.*}}] : memref<64xf32>, vector<16xf32>
// CHECK: %[[B:.*]] = arith.negf %[[A]]
// CHECK: vector.store %{{.*}}, %arg3[%{{.*}}] : memref<256xf32>, vector<64xf32>
// CHECK-NOT: vector.scatter
#turn = affine_map<(d0, d1) -> (d0)>
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func private @chosen(%x: tensor<64xf32>) -> tensor<64x4xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<64x4xf32>
  %0 = scf.forall (%i) = (0) to (64) step (64) shared_outs(%o = %e) -> (tensor<64x4xf32>) {
    %b = tensor.extract_slice %o[%i, 0] [64, 4] [1, 1] : tensor<64x4xf32> to tensor<64x4xf32>
    %1 = linalg.generic {indexing_maps = [#turn, #all], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64xf32>) outs(%b : tensor<64x4xf32>) {
    ^bb0(%v: f32, %out: f32):
      %n = linalg.index 1 : index
      %two = arith.constant 2 : index
      %is = arith.cmpi slt, %n, %two : index
      %m = arith.negf %v : f32
      %w = arith.select %is, %m, %v : f32
      linalg.yield %w : f32
    } -> tensor<64x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[%i, 0] [64, 4] [1, 1] : tensor<64x4xf32> into tensor<64x4xf32>
    }
  }
  return %0 : tensor<64x4xf32>
}

// -----

// Changed: Pixels from the last to the first: those of a chunk are loaded once, taken apart from the last one on, and stored at once.
// CHECK-LABEL: func.func private @reversed(
// CHECK: %[[X:.*]] = vector.load %arg2[%{{.*}}] : memref<192xf32>, vector<48xf32>
// CHECK: vector.shuffle %[[X]], %{{.*}} [0, 3, 6
// CHECK: vector.store %{{.*}}, %arg3[%{{.*}}] : memref<192xf32>, vector<48xf32>
// CHECK-NOT: vector.gather
#back = affine_map<(d0, d1) -> (-d0 + 63, d1)>
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func private @reversed(%x: tensor<64x3xf32>) -> tensor<64x3xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<64x3xf32>
  %0 = scf.forall (%i) = (0) to (64) step (64) shared_outs(%o = %e) -> (tensor<64x3xf32>) {
    %b = tensor.extract_slice %o[%i, 0] [64, 3] [1, 1] : tensor<64x3xf32> to tensor<64x3xf32>
    %1 = linalg.generic {indexing_maps = [#back, #all], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<64x3xf32>) outs(%b : tensor<64x3xf32>) {
    ^bb0(%v: f32, %out: f32):
      %m = arith.negf %v : f32
      linalg.yield %m : f32
    } -> tensor<64x3xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[%i, 0] [64, 3] [1, 1] : tensor<64x3xf32> into tensor<64x3xf32>
    }
  }
  return %0 : tensor<64x3xf32>
}

// -----

// Changed: Each lane has a row of three: the columns are taken apart in registers, and no sum goes across the lanes.
// CHECK-LABEL: func.func private @rows(
// CHECK: %[[X:.*]] = vector.load %arg2[%{{.*}}] : memref<192xf32>, vector<96xf32>
// CHECK: %[[S:.*]] = arith.mulf %[[X]], %[[X]]
// CHECK: vector.shuffle %[[S]], %{{.*}} [0, 3, 6, {{.*}}, 93]
// CHECK: vector.shuffle %[[S]], %{{.*}} [1, 4, 7, {{.*}}, 94]
// CHECK: vector.shuffle %[[S]], %{{.*}} [2, 5, 8, {{.*}}, 95]
// CHECK-NOT: vector.reduction
// CHECK: vector.store %{{.*}}, %arg3[%{{.*}}] : memref<64xf32>, vector<32xf32>
#all = affine_map<(d0, d1) -> (d0, d1)>
#kept = affine_map<(d0, d1) -> (d0)>
func.func private @rows(%x: tensor<64x3xf32>) -> tensor<64xf32> attributes {hloom.kind = "loop"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %0 = scf.forall (%i) = (0) to (64) step (32) shared_outs(%o = %e) -> (tensor<64xf32>) {
    %a = tensor.extract_slice %x[%i, 0] [32, 3] [1, 1] : tensor<64x3xf32> to tensor<32x3xf32>
    %b = tensor.extract_slice %o[%i] [32] [1] : tensor<64xf32> to tensor<32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%b : tensor<32xf32>) -> tensor<32xf32>
    %1 = linalg.generic {indexing_maps = [#all, #kept], iterator_types = ["parallel", "reduction"]}
        ins(%a : tensor<32x3xf32>) outs(%f : tensor<32xf32>) {
    ^bb0(%v: f32, %sum: f32):
      %s = arith.mulf %v, %v : f32
      %t = arith.addf %sum, %s : f32
      linalg.yield %t : f32
    } -> tensor<32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[%i] [32] [1] : tensor<32xf32> into tensor<64xf32>
    }
  }
  return %0 : tensor<64xf32>
}

// -----

// Unchanged: Of rows of twelve a register has most of one: it is summed along the row, and across the lanes at the end.
// CHECK-LABEL: func.func private @longer(
// CHECK: vector.reduction
#all = affine_map<(d0, d1) -> (d0, d1)>
#kept = affine_map<(d0, d1) -> (d0)>
func.func private @longer(%x: tensor<64x12xf32>) -> tensor<64xf32> attributes {hloom.kind = "loop"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %0 = scf.forall (%i) = (0) to (64) step (32) shared_outs(%o = %e) -> (tensor<64xf32>) {
    %a = tensor.extract_slice %x[%i, 0] [32, 12] [1, 1] : tensor<64x12xf32> to tensor<32x12xf32>
    %b = tensor.extract_slice %o[%i] [32] [1] : tensor<64xf32> to tensor<32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%b : tensor<32xf32>) -> tensor<32xf32>
    %1 = linalg.generic {indexing_maps = [#all, #kept], iterator_types = ["parallel", "reduction"]}
        ins(%a : tensor<32x12xf32>) outs(%f : tensor<32xf32>) {
    ^bb0(%v: f32, %sum: f32):
      %t = arith.addf %sum, %v : f32
      linalg.yield %t : f32
    } -> tensor<32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[%i] [32] [1] : tensor<32xf32> into tensor<64xf32>
    }
  }
  return %0 : tensor<64xf32>
}

// -----

// Truth values are bytes before they are put in turn: a register of masks would be taken apart.
// CHECK-LABEL: func.func private @flags(
// CHECK-NOT: vector.shuffle {{.*}}xi1>
// CHECK: arith.extui %{{.*}} : vector<[[N:.*]]xi1> to vector<[[N]]xi8>
// CHECK-NOT: vector.shuffle {{.*}}xi1>
// CHECK: vector.store %{{.*}}, %arg3[%{{.*}}] : memref<192xi8>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#rows = affine_map<(d0, d1) -> (d0, d1)>
func.func private @flags(%x: tensor<3x64xf32>) -> tensor<64x3xi1> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<64x3xi1>
  %0 = scf.forall (%i) = (0) to (64) step (32) shared_outs(%o = %e) -> (tensor<64x3xi1>) {
    %a = tensor.extract_slice %x[0, %i] [3, 32] [1, 1] : tensor<3x64xf32> to tensor<3x32xf32>
    %b = tensor.extract_slice %o[%i, 0] [32, 3] [1, 1] : tensor<64x3xi1> to tensor<32x3xi1>
    %1 = linalg.generic {indexing_maps = [#turned, #rows], iterator_types = ["parallel", "parallel"]}
        ins(%a : tensor<3x32xf32>) outs(%b : tensor<32x3xi1>) {
    ^bb0(%v: f32, %out: i1):
      %c = arith.constant 0.5 : f32
      %l = arith.cmpf olt, %v, %c : f32
      linalg.yield %l : i1
    } -> tensor<32x3xi1>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[%i, 0] [32, 3] [1, 1] : tensor<32x3xi1> into tensor<64x3xi1>
    }
  }
  return %0 : tensor<64x3xi1>
}
