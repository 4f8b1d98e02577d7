// RUN: hloom-opt %s --vectorize-tiles --split-input-file | filecheck %s

// Changed: A row is updated from where an index tells on: the lanes that lie in the update load it, masked.
// CHECK-LABEL: func.func private @update(
// CHECK-NOT: vector.gather
// CHECK: vector.create_mask
// CHECK: vector.create_mask
// CHECK: vector.maskedload %arg3
// CHECK: arith.select {{.*}} : vector<64xi1>, vector<64xf32>
// CHECK-NOT: vector.gather
module attributes {hloom.target = {name = "cpu-avx512", vector_bits = 512 : i64, masked_bits = 8 : i64}} {
func.func private @update(%x: tensor<8x256xf32>, %u: tensor<8x100xf32>, %s: tensor<i32>) -> tensor<8x256xf32> attributes {hloom.kind = "loop"} {
  %zero = arith.constant 0 : index
  %last = arith.constant 99 : index
  %e = tensor.empty() : tensor<8x256xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<8x256xf32>) {
    %c = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>],
        iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<8x256xf32>, tensor<i32>) outs(%o : tensor<8x256xf32>) {
    ^bb0(%in: f32, %number: i32, %unused: f32):
      %start = arith.index_cast %number : i32 to index
      %row = linalg.index 0 : index
      %column = linalg.index 1 : index
      %0 = arith.subi %column, %start : index
      %1 = arith.maxsi %0, %zero : index
      %2 = arith.minsi %1, %last : index
      %3 = arith.cmpi eq, %0, %2 : index
      %4 = tensor.extract %u[%row, %2] : tensor<8x100xf32>
      %5 = arith.select %3, %4, %in : f32
      linalg.yield %5 : f32
    } -> tensor<8x256xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0] [8, 256] [1, 1] : tensor<8x256xf32> into tensor<8x256xf32>
    }
  }
  return %r : tensor<8x256xf32>
}
}

// -----

// Changed: Two rows that are joined, from where an index tells on: of each the lanes are loaded that lie in it, the second one's scaled.
// CHECK-LABEL: func.func private @joined(
// CHECK-NOT: vector.gather
// CHECK: vector.maskedload %arg2
// CHECK-NOT: vector.gather
// CHECK: vector.maskedload %arg3
// CHECK-NOT: vector.gather
module attributes {hloom.target = {name = "cpu-avx512", vector_bits = 512 : i64, masked_bits = 8 : i64}} {
func.func private @joined(%a: tensor<100xf32>, %b: tensor<100xf32>, %s: tensor<i32>) -> tensor<100xf32> attributes {hloom.kind = "loop"} {
  %zero = arith.constant 0 : index
  %last = arith.constant 99 : index
  %all = arith.constant 100 : index
  %e = tensor.empty() : tensor<100xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<100xf32>) {
    %c = linalg.generic {indexing_maps = [affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>],
        iterator_types = ["parallel"]} ins(%s : tensor<i32>) outs(%o : tensor<100xf32>) {
    ^bb0(%number: i32, %unused: f32):
      %start = arith.index_cast %number : i32 to index
      %column = linalg.index 0 : index
      %0 = arith.addi %column, %start : index
      %1 = arith.minsi %0, %last : index
      %2 = tensor.extract %a[%1] : tensor<100xf32>
      %3 = arith.subi %0, %all : index
      %4 = arith.maxsi %3, %zero : index
      %5 = tensor.extract %b[%4] : tensor<100xf32>
      %6 = arith.mulf %5, %5 : f32
      %7 = arith.cmpi slt, %0, %all : index
      %8 = arith.select %7, %2, %6 : f32
      linalg.yield %8 : f32
    } -> tensor<100xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0] [100] [1] : tensor<100xf32> into tensor<100xf32>
    }
  }
  return %r : tensor<100xf32>
}
}

// -----

// Declined: What lies before and behind is the first and the last element, which lanes take.
// CHECK-LABEL: func.func private @edges(
// CHECK: vector.gather
module attributes {hloom.target = {name = "cpu-avx512", vector_bits = 512 : i64, masked_bits = 8 : i64}} {
func.func private @edges(%u: tensor<8x100xf32>, %s: tensor<i32>) -> tensor<8x256xf32> attributes {hloom.kind = "loop"} {
  %zero = arith.constant 0 : index
  %last = arith.constant 99 : index
  %e = tensor.empty() : tensor<8x256xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<8x256xf32>) {
    %c = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> (d0, d1)>],
        iterator_types = ["parallel", "parallel"]} ins(%s : tensor<i32>) outs(%o : tensor<8x256xf32>) {
    ^bb0(%number: i32, %unused: f32):
      %start = arith.index_cast %number : i32 to index
      %row = linalg.index 0 : index
      %column = linalg.index 1 : index
      %0 = arith.subi %column, %start : index
      %1 = arith.maxsi %0, %zero : index
      %2 = arith.minsi %1, %last : index
      %4 = tensor.extract %u[%row, %2] : tensor<8x100xf32>
      linalg.yield %4 : f32
    } -> tensor<8x256xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0] [8, 256] [1, 1] : tensor<8x256xf32> into tensor<8x256xf32>
    }
  }
  return %r : tensor<8x256xf32>
}
}
