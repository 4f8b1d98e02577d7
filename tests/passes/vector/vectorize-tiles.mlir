// RUN: hloom-opt %s --vectorize-tiles --canonicalize --cse --split-input-file | filecheck %s

// Changed: A tile cut at the edge: whole vectors, then what is known to be left, 33 elements: half as many lanes, and one vector under a mask.
// Predicates are stored as bytes.
// CHECK-LABEL: func.func private @edge(
// CHECK-SAME: %[[LO:.*]]: index, %[[HI:.*]]: index, %[[X:.*]]: memref<20001xf32>, %[[Y:.*]]: memref<20001xf32>, %[[O:.*]]: memref<20001xf32>, %[[P:.*]]: memref<20001xi8>)
// CHECK-SAME: hloom.tiles = 20 : i64
// CHECK: scf.for %[[T:.*]] = %[[LO]] to %[[HI]]
// CHECK: %[[LEFT:.*]] = affine.min
// CHECK: scf.for
// CHECK-DAG: vector.load %[[X]]
// CHECK-DAG: vector.load %[[Y]]
// CHECK: %[[LESS:.*]] = arith.cmpf olt
// CHECK-DAG: vector.store %{{.*}}, %[[O]]
// CHECK-DAG: arith.extui %[[LESS]] : vector<[[N:[0-9]+]]xi1> to vector<[[N]]xi8>
// CHECK-DAG: vector.store %{{.*}}, %[[P]]
// CHECK: scf.if
// CHECK-NOT: vector.create_mask
// CHECK-DAG: vector.load %[[X]]{{.*}} vector<32xf32>
// CHECK-DAG: vector.store %{{.*}}, %[[P]]{{.*}} vector<32xi8>
// CHECK-DAG: vector.maskedload %[[X]][%{{.*}}], %[[MASK:.*]], %{{.*}} vector<16xf32>
// CHECK-DAG: vector.maskedload %[[Y]][%{{.*}}], %[[MASK]]
// CHECK-DAG: vector.maskedstore %[[O]][%{{.*}}], %[[MASK]]
// CHECK-DAG: vector.maskedstore %[[P]][%{{.*}}], %[[MASK]]
// CHECK-NOT: memref.alloca
// CHECK: return
#id = affine_map<(d0) -> (d0)>
func.func private @edge(%x: tensor<20001xf32>, %y: tensor<20001xf32>) -> (tensor<20001xf32>, tensor<20001xi1>) attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<20001xf32>
  %b = tensor.empty() : tensor<20001xi1>
  %r:2 = scf.forall (%i) = (0) to (20001) step (1024) shared_outs(%o = %e, %p = %b) -> (tensor<20001xf32>, tensor<20001xi1>) {
    %n = affine.min affine_map<(d0) -> (-d0 + 20001, 1024)>(%i)
    %xs = tensor.extract_slice %x[%i] [%n] [1] : tensor<20001xf32> to tensor<?xf32>
    %ys = tensor.extract_slice %y[%i] [%n] [1] : tensor<20001xf32> to tensor<?xf32>
    %os = tensor.extract_slice %o[%i] [%n] [1] : tensor<20001xf32> to tensor<?xf32>
    %ps = tensor.extract_slice %p[%i] [%n] [1] : tensor<20001xi1> to tensor<?xi1>
    %t:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel"]} ins(%xs, %ys : tensor<?xf32>, tensor<?xf32>) outs(%os, %ps : tensor<?xf32>, tensor<?xi1>) {
    ^bb0(%u: f32, %v: f32, %out: f32, %outp: i1):
      %0 = arith.addf %u, %v : f32
      %1 = arith.cmpf olt, %u, %v : f32
      linalg.yield %0, %1 : f32, i1
    } -> (tensor<?xf32>, tensor<?xi1>)
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t#0 into %o[%i] [%n] [1] : tensor<?xf32> into tensor<20001xf32>
      tensor.parallel_insert_slice %t#1 into %p[%i] [%n] [1] : tensor<?xi1> into tensor<20001xi1>
    }
  }
  return %r#0, %r#1 : tensor<20001xf32>, tensor<20001xi1>
}

// -----

// Changed: Of a tile with at most 12 columns a chunk has no more lanes than hold them.
// CHECK-LABEL: func.func private @narrow(
// CHECK: vector.load %{{.*}} : memref<9001xf32>, vector<16xf32>
// CHECK: vector.create_mask
// CHECK: vector.maskedload %{{.*}} : memref<9001xf32>, vector<16xi1>
// CHECK: return
#at = affine_map<(d0) -> (d0)>
func.func private @narrow(%x: tensor<9001xf32>) -> tensor<9001xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<9001xf32>
  %r = scf.forall (%i) = (0) to (9001) step (12) shared_outs(%o = %e) -> (tensor<9001xf32>) {
    %n = affine.min affine_map<(d0) -> (-d0 + 9001, 12)>(%i)
    %xs = tensor.extract_slice %x[%i] [%n] [1] : tensor<9001xf32> to tensor<?xf32>
    %os = tensor.extract_slice %o[%i] [%n] [1] : tensor<9001xf32> to tensor<?xf32>
    %t = linalg.generic {indexing_maps = [#at, #at], iterator_types = ["parallel"]} ins(%xs : tensor<?xf32>) outs(%os : tensor<?xf32>) {
    ^bb0(%u: f32, %out: f32):
      %0 = arith.addf %u, %u : f32
      linalg.yield %0 : f32
    } -> tensor<?xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i] [%n] [1] : tensor<?xf32> into tensor<9001xf32>
    }
  }
  return %r : tensor<9001xf32>
}

// -----

// A predicate that is read is a byte compared with zero.
// CHECK-LABEL: func.func private @predicate(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[P:.*]]: memref<64xi8>, %[[X:.*]]: memref<64xf32>, %[[O:.*]]: memref<64xf32>)
// CHECK: %[[BYTES:.*]] = vector.load %[[P]]
// CHECK: %[[MASK:.*]] = arith.{{cmpi ne|trunci}}{{.*}} %[[BYTES]]
// CHECK: arith.select %[[MASK]]
#id = affine_map<(d0) -> (d0)>
func.func private @predicate(%p: tensor<64xi1>, %x: tensor<64xf32>) -> tensor<64xf32> attributes {hloom.kind = "loop"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64xf32>
  %r = scf.forall (%i) in (1) shared_outs(%o = %e) -> (tensor<64xf32>) {
    %t = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%p, %x : tensor<64xi1>, tensor<64xf32>) outs(%o : tensor<64xf32>) {
    ^bb0(%c: i1, %v: f32, %out: f32):
      %0 = arith.select %c, %v, %zero : f32
      linalg.yield %0 : f32
    } -> tensor<64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[0] [64] [1] : tensor<64xf32> into tensor<64xf32>
    }
  }
  return %r : tensor<64xf32>
}

// -----

// Two sums along the row share one nest, so the row is read once; each ends in a horizontal reduction. LLVM reduces strength in its loops.
// CHECK-LABEL: func.func private @two_sums(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<1048576xf32>, %[[S:.*]]: memref<1024xf32>, %[[Q:.*]]: memref<1024xf32>)
// CHECK-SAME: hloom.effort = "more"
// CHECK-SAME: hloom.tiles = 1024 : i64
// CHECK: scf.for {{.*}} iter_args(%{{.*}}, %{{.*}}) ->
// CHECK: %[[V:.*]] = vector.load %[[X]]
// CHECK-NOT: vector.load %[[X]]
// CHECK: vector.reduction <add>
// CHECK: vector.reduction <add>
// CHECK-NOT: vector.load %[[X]]
// CHECK: return
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func private @two_sums(%x: tensor<1024x1024xf32>) -> (tensor<1024xf32>, tensor<1024xf32>) attributes {hloom.kind = "multi_reduce"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024xf32>
  %r:2 = scf.forall (%i) in (1024) shared_outs(%a = %e, %b = %e) -> (tensor<1024xf32>, tensor<1024xf32>) {
    %xs = tensor.extract_slice %x[%i, 0] [1, 1024] [1, 1] : tensor<1024x1024xf32> to tensor<1x1024xf32>
    %as = tensor.extract_slice %a[%i] [1] [1] : tensor<1024xf32> to tensor<1xf32>
    %fa = linalg.fill ins(%zero : f32) outs(%as : tensor<1xf32>) -> tensor<1xf32>
    %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%xs : tensor<1x1024xf32>) outs(%fa : tensor<1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    } -> tensor<1xf32>
    %bs = tensor.extract_slice %b[%i] [1] [1] : tensor<1024xf32> to tensor<1xf32>
    %fb = linalg.fill ins(%zero : f32) outs(%bs : tensor<1xf32>) -> tensor<1xf32>
    %q = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%xs : tensor<1x1024xf32>) outs(%fb : tensor<1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.mulf %in, %in : f32
      %1 = arith.addf %0, %out : f32
      linalg.yield %1 : f32
    } -> tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %a[%i] [1] [1] : tensor<1xf32> into tensor<1024xf32>
      tensor.parallel_insert_slice %q into %b[%i] [1] [1] : tensor<1xf32> into tensor<1024xf32>
    }
  }
  return %r#0, %r#1 : tensor<1024xf32>, tensor<1024xf32>
}

// -----

// A row taken by tensor.extract is contiguous, a column is gathered.
// CHECK-LABEL: func.func private @rows_taken(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<4480xf32>, %[[K:.*]]: memref<16xi32>, %[[O:.*]]: memref<1024xf32>)
// CHECK: memref.load %[[K]]
// CHECK: vector.load %[[X]]
// CHECK-NOT: vector.gather
// CHECK-LABEL: func.func private @columns_taken(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<4480xf32>, %[[K:.*]]: memref<64xi32>, %[[O:.*]]: memref<1024xf32>)
// CHECK: vector.load %[[K]]
// CHECK: vector.gather %[[X]]
func.func private @rows_taken(%x: tensor<70x64xf32>, %k: tensor<16xi32>) -> tensor<16x64xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<16x64xf32>
  %r = scf.forall (%i) in (1) shared_outs(%o = %e) -> (tensor<16x64xf32>) {
    %t = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%k : tensor<16xi32>) outs(%o : tensor<16x64xf32>) {
    ^bb0(%in: i32, %out: f32):
      %row = arith.index_cast %in : i32 to index
      %column = linalg.index 1 : index
      %v = tensor.extract %x[%row, %column] : tensor<70x64xf32>
      linalg.yield %v : f32
    } -> tensor<16x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[0, 0] [16, 64] [1, 1] : tensor<16x64xf32> into tensor<16x64xf32>
    }
  }
  return %r : tensor<16x64xf32>
}
func.func private @columns_taken(%x: tensor<64x70xf32>, %k: tensor<64xi32>) -> tensor<16x64xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<16x64xf32>
  %r = scf.forall (%i) in (1) shared_outs(%o = %e) -> (tensor<16x64xf32>) {
    %t = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%k : tensor<64xi32>) outs(%o : tensor<16x64xf32>) {
    ^bb0(%in: i32, %out: f32):
      %column = arith.index_cast %in : i32 to index
      %row = linalg.index 0 : index
      %v = tensor.extract %x[%row, %column] : tensor<64x70xf32>
      linalg.yield %v : f32
    } -> tensor<16x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[0, 0] [16, 64] [1, 1] : tensor<16x64xf32> into tensor<16x64xf32>
    }
  }
  return %r : tensor<16x64xf32>
}

// -----

// An integer sum has no tail lanes that count: the mask keeps what was summed before.
// CHECK-LABEL: func.func private @odd_row(
// CHECK: vector.maskedload
// CHECK: arith.addi
// CHECK: arith.select
// CHECK: vector.reduction <add>
func.func private @odd_row(%x: tensor<1001xi32>) -> tensor<i32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0 : i32
  %e = tensor.empty() : tensor<i32>
  %r = scf.forall (%i) in (1) shared_outs(%o = %e) -> (tensor<i32>) {
    %f = linalg.fill ins(%zero : i32) outs(%o : tensor<i32>) -> tensor<i32>
    %t = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<1001xi32>) outs(%f : tensor<i32>) {
    ^bb0(%in: i32, %out: i32):
      %0 = arith.addi %in, %out : i32
      linalg.yield %0 : i32
    } -> tensor<i32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[] [] [] : tensor<i32> into tensor<i32>
    }
  }
  return %r : tensor<i32>
}

// -----

// Declined: Library groups.
// Unchanged: A function without a tile loop.
// CHECK-LABEL: func.func private @library(%{{.*}}: tensor<8xf32>)
// CHECK: scf.forall
// CHECK-LABEL: func.func @host(%{{.*}}: tensor<8xf32>)
// CHECK-NEXT: return
func.func private @library(%x: tensor<8xf32>) -> tensor<8xf32> attributes {hloom.kind = "library", hloom.library = "gemm"} {
  %e = tensor.empty() : tensor<8xf32>
  %r = scf.forall (%i) in (8) shared_outs(%o = %e) -> (tensor<8xf32>) {
    %s = tensor.extract_slice %x[%i] [1] [1] : tensor<8xf32> to tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [1] [1] : tensor<1xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}
func.func @host(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}

// -----

// A sum of bytes that are gathered: 64 lanes, for their indices are vectors of 64 bits, not the 1,024 that 16 registers of bytes hold.
// CHECK-LABEL: func.func private @gathered(
// CHECK: vector.gather {{.*}} vector<64xindex>, vector<64xi1>, vector<64xi8> into vector<64xi8>
func.func private @gathered(%x: tensor<3x700x50xi8>) -> tensor<2000xi8> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0 : i8
  %c7 = arith.constant 7 : index
  %e = tensor.empty() : tensor<2000xi8>
  %r = scf.forall (%i) = (0) to (2000) step (2000) shared_outs(%o = %e) -> (tensor<2000xi8>) {
    %f = linalg.fill ins(%zero : i8) outs(%o : tensor<2000xi8>) -> tensor<2000xi8>
    %extent = tensor.empty() : tensor<3xi8>
    %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
        ins(%extent : tensor<3xi8>) outs(%f : tensor<2000xi8>) {
    ^bb0(%a: i8, %sum: i8):
      %row = linalg.index 0 : index
      %k = linalg.index 1 : index
      %p = arith.divui %row, %c7 : index
      %q = arith.remui %row, %c7 : index
      %v = tensor.extract %x[%k, %p, %q] : tensor<3x700x50xi8>
      %0 = arith.addi %sum, %v : i8
      linalg.yield %0 : i8
    } -> tensor<2000xi8>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[0] [2000] [1] : tensor<2000xi8> into tensor<2000xi8>
    }
  }
  return %r : tensor<2000xi8>
}

// -----

// The same of bytes nine apart.
// CHECK-LABEL: func.func private @strided(
// CHECK: vector.gather {{.*}} vector<64xindex>, vector<64xi1>, vector<64xi8> into vector<64xi8>
func.func private @strided(%x: tensor<4x2000x9xi8>) -> tensor<2000xi8> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0 : i8
  %e = tensor.empty() : tensor<2000xi8>
  %r = scf.forall (%i) = (0) to (2000) step (2000) shared_outs(%o = %e) -> (tensor<2000xi8>) {
    %f = linalg.fill ins(%zero : i8) outs(%o : tensor<2000xi8>) -> tensor<2000xi8>
    %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0, 0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
        ins(%x : tensor<4x2000x9xi8>) outs(%f : tensor<2000xi8>) {
    ^bb0(%a: i8, %sum: i8):
      %0 = arith.addi %sum, %a : i8
      linalg.yield %0 : i8
    } -> tensor<2000xi8>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[0] [2000] [1] : tensor<2000xi8> into tensor<2000xi8>
    }
  }
  return %r : tensor<2000xi8>
}

// -----

// Changed: A row turned around: a register is loaded from the last lane's element on and turned; so is the masked rest.
// CHECK-LABEL: func.func private @turned(
// CHECK: %[[V:.*]] = vector.load %{{.*}} : memref<19xf32>, vector<16xf32>
// CHECK: vector.shuffle %[[V]], %{{.*}} [15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]
// CHECK: %[[W:.*]] = vector.maskedload %{{.*}}[%c0
// CHECK: vector.shuffle %[[W]], %{{.*}} [2, 1, 0, 0,
// CHECK-NOT: vector.gather
#all = affine_map<(d0) -> (d0)>
module attributes {hloom.target = {vector_bits = 256 : i64}} {
  func.func private @turned(%x: tensor<19xf32>) -> tensor<19xf32> attributes {hloom.kind = "loop"} {
    %c18 = arith.constant 18 : index
    %e = tensor.empty() : tensor<19xf32>
    %r = scf.forall (%i) = (0) to (1) step (1) shared_outs(%o = %e) -> (tensor<19xf32>) {
      %s = linalg.generic {indexing_maps = [#all], iterator_types = ["parallel"]} outs(%o : tensor<19xf32>) {
      ^bb0(%out: f32):
        %at = linalg.index 0 : index
        %back = arith.subi %c18, %at : index
        %v = tensor.extract %x[%back] : tensor<19xf32>
        linalg.yield %v : f32
      } -> tensor<19xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %s into %o[0] [19] [1] : tensor<19xf32> into tensor<19xf32>
      }
    }
    return %r : tensor<19xf32>
  }
}
