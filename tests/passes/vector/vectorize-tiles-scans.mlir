// RUN: hloom-opt %s --vectorize-tiles --canonicalize --cse --split-input-file | filecheck %s

// Changed: A scan along the columns: a row is a chunk, whose totals the loop carries and every step stores.
// CHECK-LABEL: func.func private @columns(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<320xf32>, %[[O:.*]]: memref<320xf32>)
// CHECK: scf.for %{{.*}} iter_args(%[[T:.*]] = %{{.*}}) -> (vector<32xf32>)
// CHECK: %[[V:.*]] = vector.load %[[X]]
// CHECK: %[[S:.*]] = arith.addf %[[T]], %[[V]] : vector<32xf32>
// CHECK: vector.store %[[S]], %[[O]]
// CHECK: scf.yield %[[S]]
#all = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
func.func private @columns(%x: tensor<10x32xf32>) -> tensor<10x32xf32> attributes {hloom.kind = "multi_reduce"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<10x32xf32>
  %r = scf.forall (%i) = (0) to (32) step (32) shared_outs(%o = %e) -> (tensor<10x32xf32>) {
    %in = tensor.extract_slice %x[0, %i] [10, 32] [1, 1] : tensor<10x32xf32> to tensor<10x32xf32>
    %out = tensor.extract_slice %o[0, %i] [10, 32] [1, 1] : tensor<10x32xf32> to tensor<10x32xf32>
    %c = tensor.empty() : tensor<32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%c : tensor<32xf32>) -> tensor<32xf32>
    %s:2 = linalg.generic {indexing_maps = [#all, #column, #all], iterator_types = ["reduction", "parallel"]}
        ins(%in : tensor<10x32xf32>) outs(%f, %out : tensor<32xf32>, tensor<10x32xf32>) {
    ^bb0(%a: f32, %total: f32, %b: f32):
      %0 = arith.addf %total, %a : f32
      linalg.yield %0, %0 : f32, f32
    } -> (tensor<32xf32>, tensor<10x32xf32>)
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s#1 into %o[0, %i] [10, 32] [1, 1] : tensor<10x32xf32> into tensor<10x32xf32>
    }
  }
  return %r : tensor<10x32xf32>
}

// -----

// Changed: A scan along a row of 19: two registers and a masked one. Each is combined in three steps; the total comes last.
// CHECK-LABEL: func.func private @row(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<19xf32>, %[[O:.*]]: memref<19xf32>)
// CHECK: scf.for %{{.*}} iter_args(%[[T:.*]] = %{{.*}}) -> (vector<8xf32>)
// CHECK: %[[V:.*]] = vector.load %[[X]]
// CHECK: vector.shuffle %[[V]], %{{.*}} [0, 0, 1, 2, 3, 4, 5, 6]
// CHECK: vector.shuffle {{.*}} [0, 0, 0, 1, 2, 3, 4, 5]
// CHECK: vector.shuffle {{.*}} [0, 0, 0, 0, 0, 1, 2, 3]
// CHECK: %[[W:.*]] = arith.select
// CHECK: %[[S:.*]] = arith.maximumf %[[T]], %[[W]]
// CHECK: vector.store %[[S]], %[[O]]
// CHECK: %[[L:.*]] = vector.shuffle %[[W]], %{{.*}} [7, 7, 7, 7, 7, 7, 7, 7]
// CHECK: %[[N:.*]] = arith.maximumf %[[T]], %[[L]]
// CHECK: scf.yield %[[N]]
// CHECK: vector.maskedload
// CHECK: vector.maskedstore
#all = affine_map<(d0) -> (d0)>
#one = affine_map<(d0) -> ()>
module attributes {hloom.target = {vector_bits = 256 : i64}} {
  func.func private @row(%x: tensor<19xf32>) -> tensor<19xf32> attributes {hloom.kind = "multi_reduce"} {
    %low = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<19xf32>
    %r = scf.forall (%i) = (0) to (1) step (1) shared_outs(%o = %e) -> (tensor<19xf32>) {
      %c = tensor.empty() : tensor<f32>
      %f = linalg.fill ins(%low : f32) outs(%c : tensor<f32>) -> tensor<f32>
      %s:2 = linalg.generic {indexing_maps = [#all, #one, #all], iterator_types = ["reduction"]}
          ins(%x : tensor<19xf32>) outs(%f, %o : tensor<f32>, tensor<19xf32>) {
      ^bb0(%a: f32, %total: f32, %b: f32):
        %0 = arith.maximumf %total, %a : f32
        linalg.yield %0, %0 : f32, f32
      } -> (tensor<f32>, tensor<19xf32>)
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %s#1 into %o[0] [19] [1] : tensor<19xf32> into tensor<19xf32>
      }
    }
    return %r : tensor<19xf32>
  }
}

// -----

// Changed: A scan of rows by a body of many ops: eight rows side by side, of which each step reads a column.
// CHECK-LABEL: func.func private @long(
// CHECK: scf.for %{{.*}} iter_args(%[[T:.*]] = %{{.*}}) -> (vector<8xf32>)
// CHECK: %[[V:.*]] = vector.gather
// CHECK: arith.subf %[[T]], %[[V]] : vector<8xf32>
// CHECK: vector.scatter
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
module attributes {hloom.target = {vector_bits = 256 : i64}} {
  func.func private @long(%x: tensor<8x16xf32>) -> tensor<8x16xf32> attributes {hloom.kind = "multi_reduce"} {
    %low = arith.constant 0xFF800000 : f32
    %e = tensor.empty() : tensor<8x16xf32>
    %r = scf.forall (%i) = (0) to (1) step (1) shared_outs(%o = %e) -> (tensor<8x16xf32>) {
      %c = tensor.empty() : tensor<8xf32>
      %f = linalg.fill ins(%low : f32) outs(%c : tensor<8xf32>) -> tensor<8xf32>
      %s:2 = linalg.generic {indexing_maps = [#all, #row, #all], iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<8x16xf32>) outs(%f, %o : tensor<8xf32>, tensor<8x16xf32>) {
      ^bb0(%a: f32, %total: f32, %b: f32):
        %0 = arith.subf %total, %a : f32
        %1 = arith.mulf %0, %0 : f32
        %2 = arith.mulf %1, %1 : f32
        %3 = arith.mulf %2, %2 : f32
        %4 = arith.mulf %3, %3 : f32
        %5 = arith.mulf %4, %4 : f32
        %6 = arith.mulf %5, %5 : f32
        %7 = arith.mulf %6, %6 : f32
        %8 = arith.mulf %7, %7 : f32
        %9 = arith.mulf %8, %8 : f32
        %10 = arith.mulf %9, %9 : f32
        %11 = arith.mulf %10, %10 : f32
        %12 = arith.mulf %11, %11 : f32
        %13 = arith.mulf %12, %12 : f32
        %14 = arith.mulf %13, %13 : f32
        %15 = arith.mulf %14, %14 : f32
        %16 = arith.mulf %15, %15 : f32
        %17 = arith.maximumf %16, %total : f32
        linalg.yield %17, %17 : f32, f32
      } -> (tensor<8xf32>, tensor<8x16xf32>)
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %s#1 into %o[0, 0] [8, 16] [1, 1] : tensor<8x16xf32> into tensor<8x16xf32>
      }
    }
    return %r : tensor<8x16xf32>
  }
}
