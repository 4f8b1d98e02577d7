// RUN: hloom-opt %s --vectorize-tiles | filecheck %s

#y = affine_map<(d0, d1) -> (d0, d1)>
#columns = affine_map<(d0, d1) -> (d1)>
#rows = affine_map<(d0, d1) -> (d0)>

// Changed: The places are a constant. The first sixteen lie in one register, which is loaded and shuffled; so do the last four, whose
// load begins where the row's last four elements do.
// CHECK-LABEL: func.func private @near(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<512xf32>
// CHECK-NOT: vector.gather
// CHECK: %[[A:.*]] = vector.load %[[X]]{{.*}} vector<16xf32>
// CHECK-NEXT: vector.shuffle %[[A]], %[[A]] [0, 0, 1, 1, 2, 3, 3, 5, 6, 7, 8, 8, 8, 9, 10, 15]
// CHECK: %[[B:.*]] = vector.load %[[X]]{{.*}} vector<4xf32>
// CHECK-NEXT: vector.shuffle %[[B]], %[[B]] [2, 2, 3, 3]
// CHECK-NOT: vector.gather
func.func private @near(%x: tensor<8x64xf32>) -> tensor<8x20xf32> attributes {hloom.kind = "loop"} {
  %places = arith.constant dense<[3, 3, 4, 4, 5, 6, 6, 8, 9, 10, 11, 11, 11, 12, 13, 18, 62, 62, 63, 64]> : tensor<20xi32>
  %zero = arith.constant 0 : index
  %last = arith.constant 63 : index
  %e = tensor.empty() : tensor<8x20xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<8x20xf32>) {
    %c = linalg.generic {indexing_maps = [#columns, #y], iterator_types = ["parallel", "parallel"]}
        ins(%places : tensor<20xi32>) outs(%o : tensor<8x20xf32>) {
    ^bb0(%place: i32, %unused: f32):
      %row = linalg.index 0 : index
      %0 = arith.index_cast %place : i32 to index
      %1 = arith.maxsi %0, %zero : index
      %2 = arith.minsi %1, %last : index
      %3 = tensor.extract %x[%row, %2] : tensor<8x64xf32>
      linalg.yield %3 : f32
    } -> tensor<8x20xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0] [8, 20] [1, 1] : tensor<8x20xf32> into tensor<8x20xf32>
    }
  }
  return %r : tensor<8x20xf32>
}

// Declined: Places that lie further apart than two registers are gathered.
// CHECK-LABEL: func.func private @far(
// CHECK: vector.gather
func.func private @far(%x: tensor<8x64xf32>) -> tensor<8x8xf32> attributes {hloom.kind = "loop"} {
  %places = arith.constant dense<[0, 8, 16, 24, 32, 40, 48, 56]> : tensor<8xi32>
  %e = tensor.empty() : tensor<8x8xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<8x8xf32>) {
    %c = linalg.generic {indexing_maps = [#columns, #y], iterator_types = ["parallel", "parallel"]}
        ins(%places : tensor<8xi32>) outs(%o : tensor<8x8xf32>) {
    ^bb0(%place: i32, %unused: f32):
      %row = linalg.index 0 : index
      %0 = arith.index_cast %place : i32 to index
      %1 = tensor.extract %x[%row, %0] : tensor<8x64xf32>
      linalg.yield %1 : f32
    } -> tensor<8x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0] [8, 8] [1, 1] : tensor<8x8xf32> into tensor<8x8xf32>
    }
  }
  return %r : tensor<8x8xf32>
}

// Declined: The rows are another in each lane.
// CHECK-LABEL: func.func private @other_rows(
// CHECK: vector.gather
func.func private @other_rows(%x: tensor<8x8xf32>, %rows: tensor<8x8xi32>) -> tensor<8x8xf32> attributes {hloom.kind = "loop"} {
  %places = arith.constant dense<[0, 1, 1, 2, 3, 4, 5, 5]> : tensor<8xi32>
  %e = tensor.empty() : tensor<8x8xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<8x8xf32>) {
    %c = linalg.generic {indexing_maps = [#columns, #y, #y], iterator_types = ["parallel", "parallel"]}
        ins(%places, %rows : tensor<8xi32>, tensor<8x8xi32>) outs(%o : tensor<8x8xf32>) {
    ^bb0(%place: i32, %row: i32, %unused: f32):
      %0 = arith.index_cast %row : i32 to index
      %1 = arith.index_cast %place : i32 to index
      %2 = tensor.extract %x[%0, %1] : tensor<8x8xf32>
      linalg.yield %2 : f32
    } -> tensor<8x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0] [8, 8] [1, 1] : tensor<8x8xf32> into tensor<8x8xf32>
    }
  }
  return %r : tensor<8x8xf32>
}

// Changed: Sums of rows whose means and sums lie side by side: along the columns, where all of the rows' elements do.
// CHECK-LABEL: func.func private @rows(
// CHECK-NOT: vector.gather
// CHECK: vector.reduction <add>
func.func private @rows(%x: tensor<10x96xf32>, %means: tensor<10xf32>) -> tensor<10xf32> attributes {hloom.kind = "reduce"} {
  %none = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<10xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<10xf32>) {
    %f = linalg.fill ins(%none : f32) outs(%o : tensor<10xf32>) -> tensor<10xf32>
    %c = linalg.generic {indexing_maps = [#y, #rows, #rows], iterator_types = ["parallel", "reduction"]}
        ins(%x, %means : tensor<10x96xf32>, tensor<10xf32>) outs(%f : tensor<10xf32>) {
    ^bb0(%a: f32, %mean: f32, %sum: f32):
      %0 = arith.subf %a, %mean : f32
      %1 = arith.mulf %0, %0 : f32
      %2 = arith.addf %sum, %1 : f32
      linalg.yield %2 : f32
    } -> tensor<10xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0] [10] [1] : tensor<10xf32> into tensor<10xf32>
    }
  }
  return %r : tensor<10xf32>
}
