// RUN: hloom-opt %s --vectorize-tiles --canonicalize --cse --split-input-file | filecheck %s

// Changed: A row that an index tells is summed along itself, not one element of each row in a lane.
// CHECK-LABEL: func.func private @rows(
// CHECK: vector.load %{{.*}} : memref<320000xf32>, vector<64xf32>
// CHECK: vector.reduction <add>
// CHECK-NOT: vector.gather
// CHECK: return
func.func private @rows(%i: tensor<16xi32>, %x: tensor<5000x64xf32>) -> tensor<16xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c4999 = arith.constant 4999 : index
  %lent = tensor.empty() : tensor<64xf32>
  %sums = tensor.empty() : tensor<16xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %sums) -> (tensor<16xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<16xf32>) -> tensor<16xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
        ins(%i, %lent : tensor<16xi32>, tensor<64xf32>) outs(%f : tensor<16xf32>) {
    ^bb0(%in: i32, %none: f32, %out: f32):
      %0 = arith.index_cast %in : i32 to index
      %1 = arith.maxsi %0, %c0 : index
      %2 = arith.minsi %1, %c4999 : index
      %3 = linalg.index 1 : index
      %4 = tensor.extract %x[%2, %3] : tensor<5000x64xf32>
      %5 = arith.addf %out, %4 : f32
      linalg.yield %5 : f32
    } -> tensor<16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[0] [16] [1] : tensor<16xf32> into tensor<16xf32>
    }
  }
  return %r : tensor<16xf32>
}

// -----

// Changed: So is a window that begins where a table says.
// CHECK-LABEL: func.func private @windows(
// CHECK: vector.load %{{.*}} : memref<9000xf32>, vector<64xf32>
// CHECK-NOT: vector.gather
// CHECK: return
func.func private @windows(%i: tensor<16xi32>, %x: tensor<9000xf32>) -> tensor<16xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c8936 = arith.constant 8936 : index
  %lent = tensor.empty() : tensor<64xf32>
  %sums = tensor.empty() : tensor<16xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %sums) -> (tensor<16xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<16xf32>) -> tensor<16xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
        ins(%i, %lent : tensor<16xi32>, tensor<64xf32>) outs(%f : tensor<16xf32>) {
    ^bb0(%in: i32, %none: f32, %out: f32):
      %0 = arith.index_cast %in : i32 to index
      %1 = arith.maxsi %0, %c0 : index
      %2 = arith.minsi %1, %c8936 : index
      %3 = linalg.index 1 : index
      %4 = arith.addi %2, %3 : index
      %5 = tensor.extract %x[%4] : tensor<9000xf32>
      %6 = arith.addf %out, %5 : f32
      linalg.yield %6 : f32
    } -> tensor<16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[0] [16] [1] : tensor<16xf32> into tensor<16xf32>
    }
  }
  return %r : tensor<16xf32>
}

// -----

// Unchanged: Elements that an index tells one by one are gathered.
// CHECK-LABEL: func.func private @elements(
// CHECK: vector.gather
func.func private @elements(%i: tensor<16xi32>, %x: tensor<9000xf32>) -> tensor<16xf32> attributes {hloom.kind = "loop"} {
  %c0 = arith.constant 0 : index
  %c8999 = arith.constant 8999 : index
  %found = tensor.empty() : tensor<16xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %found) -> (tensor<16xf32>) {
    %s = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%i : tensor<16xi32>) outs(%o : tensor<16xf32>) {
    ^bb0(%in: i32, %out: f32):
      %0 = arith.index_cast %in : i32 to index
      %1 = arith.maxsi %0, %c0 : index
      %2 = arith.minsi %1, %c8999 : index
      %3 = tensor.extract %x[%2] : tensor<9000xf32>
      linalg.yield %3 : f32
    } -> tensor<16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[0] [16] [1] : tensor<16xf32> into tensor<16xf32>
    }
  }
  return %r : tensor<16xf32>
}
