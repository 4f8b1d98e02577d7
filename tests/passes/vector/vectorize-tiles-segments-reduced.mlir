// RUN: hloom-opt %s --vectorize-tiles | filecheck %s

// Changed: Two pieces of every third column, side by side, are summed along rows: in each a register of neighbours is loaded for a third of it.
// CHECK-LABEL: func.func private @strided(
// CHECK-NOT: vector.gather
// CHECK: vector.maskedload {{.*}} vector<192xf32>
// CHECK: vector.shuffle
// CHECK: vector.maskedload {{.*}} vector<192xf32>
// CHECK-NOT: vector.gather
// CHECK: vector.reduction
func.func private @strided(%a: tensor<8x200xf32>) -> tensor<8xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %last = arith.constant 63 : index
  %half = arith.constant 64 : index
  %e = tensor.empty() : tensor<8xf32>
  %lend = tensor.empty() : tensor<8x128xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<8xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<8xf32>) -> tensor<8xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
        iterator_types = ["parallel", "reduction"]} ins(%lend : tensor<8x128xf32>) outs(%f : tensor<8xf32>) {
    ^bb0(%unused: f32, %total: f32):
      %row = linalg.index 0 : index
      %column = linalg.index 1 : index
      %0 = arith.minsi %column, %last : index
      %1 = arith.muli %0, %c3 : index
      %2 = tensor.extract %a[%row, %1] : tensor<8x200xf32>
      %3 = arith.subi %column, %half : index
      %4 = arith.maxsi %3, %c0 : index
      %5 = arith.muli %4, %c3 : index
      %6 = arith.addi %5, %c1 : index
      %7 = tensor.extract %a[%row, %6] : tensor<8x200xf32>
      %8 = arith.cmpi slt, %column, %half : index
      %9 = arith.select %8, %2, %7 : f32
      %10 = arith.addf %total, %9 : f32
      linalg.yield %10 : f32
    } -> tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[0] [8] [1] : tensor<8xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}

// Changed: Rows of 128 that were two pieces of 320 in one row: rows before the third and behind it are loaded; of the third the lanes of each piece.
// CHECK-LABEL: func.func private @rows(
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<320xf32>, %[[B:[a-z0-9]+]]: memref<320xf32>
// CHECK: vector.load %[[A]]{{.*}} vector<64xf32>
// CHECK: vector.maskedload %[[A]]
// CHECK: vector.maskedload %[[B]]
// CHECK: vector.load %[[B]]{{.*}} vector<64xf32>
// CHECK-NOT: vector.gather
func.func private @rows(%a: tensor<320xf32>, %b: tensor<320xf32>) -> tensor<5xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %width = arith.constant 128 : index
  %last = arith.constant 319 : index
  %half = arith.constant 320 : index
  %e = tensor.empty() : tensor<5xf32>
  %lend = tensor.empty() : tensor<5x128xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<5xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<5xf32>) -> tensor<5xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>],
        iterator_types = ["parallel", "reduction"]} ins(%lend : tensor<5x128xf32>) outs(%f : tensor<5xf32>) {
    ^bb0(%unused: f32, %total: f32):
      %row = linalg.index 0 : index
      %column = linalg.index 1 : index
      %start = arith.muli %row, %width : index
      %at = arith.addi %start, %column : index
      %0 = arith.minsi %at, %last : index
      %1 = tensor.extract %a[%0] : tensor<320xf32>
      %2 = arith.subi %at, %half : index
      %3 = arith.maxsi %2, %c0 : index
      %4 = tensor.extract %b[%3] : tensor<320xf32>
      %5 = arith.cmpi slt, %at, %half : index
      %6 = arith.select %5, %1, %4 : f32
      %7 = arith.addf %total, %6 : f32
      linalg.yield %7 : f32
    } -> tensor<5xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[0] [5] [1] : tensor<5xf32> into tensor<5xf32>
    }
  }
  return %r : tensor<5xf32>
}

// Changed: Of two in turn that are summed each is a loop of its own along what follows one another.
// CHECK-LABEL: func.func private @turns(
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<512xf32>, %[[B:[a-z0-9]+]]: memref<512xf32>
// CHECK: vector.load %[[A]]{{.*}} vector<64xf32>
// CHECK-NOT: arith.select
// CHECK: vector.load %[[B]]{{.*}} vector<64xf32>
// CHECK-NOT: arith.select
func.func private @turns(%a: tensor<8x64xf32>, %b: tensor<8x64xf32>) -> tensor<8xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %e = tensor.empty() : tensor<8xf32>
  %lend = tensor.empty() : tensor<2xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<8xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<8xf32>) -> tensor<8xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>,
        affine_map<(d0, d1, d2) -> (d2)>, affine_map<(d0, d1, d2) -> (d0)>],
        iterator_types = ["parallel", "reduction", "reduction"]}
        ins(%a, %b, %lend : tensor<8x64xf32>, tensor<8x64xf32>, tensor<2xf32>) outs(%f : tensor<8xf32>) {
    ^bb0(%x: f32, %y: f32, %unused: f32, %total: f32):
      %turn = linalg.index 2 : index
      %0 = arith.cmpi slt, %turn, %c1 : index
      %1 = arith.select %0, %x, %y : f32
      %2 = arith.addf %total, %1 : f32
      linalg.yield %2 : f32
    } -> tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[0] [8] [1] : tensor<8xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}

// Changed: A scan along the rows of a concatenation goes piece by piece.
// CHECK-LABEL: func.func private @scanned(
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<512xf32>, %[[B:[a-z0-9]+]]: memref<512xf32>
// CHECK-NOT: vector.gather
// CHECK: vector.load %[[A]]{{.*}} vector<16xf32>
// CHECK: vector.load %[[B]]{{.*}} vector<16xf32>
// CHECK-NOT: vector.gather
func.func private @scanned(%a: tensor<8x64xf32>, %b: tensor<8x64xf32>) -> tensor<8x128xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %last = arith.constant 63 : index
  %half = arith.constant 64 : index
  %e = tensor.empty() : tensor<8x128xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<8x128xf32>) {
    %g = tensor.empty() : tensor<8xf32>
    %f = linalg.fill ins(%zero : f32) outs(%g : tensor<8xf32>) -> tensor<8xf32>
    %s:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>],
        iterator_types = ["parallel", "reduction"]} outs(%f, %o : tensor<8xf32>, tensor<8x128xf32>) {
    ^bb0(%total: f32, %unused: f32):
      %row = linalg.index 0 : index
      %column = linalg.index 1 : index
      %0 = arith.minsi %column, %last : index
      %1 = tensor.extract %a[%row, %0] : tensor<8x64xf32>
      %2 = arith.subi %column, %half : index
      %3 = arith.maxsi %2, %c0 : index
      %4 = tensor.extract %b[%row, %3] : tensor<8x64xf32>
      %5 = arith.cmpi slt, %column, %half : index
      %6 = arith.select %5, %1, %4 : f32
      %7 = arith.addf %total, %6 : f32
      linalg.yield %7, %7 : f32, f32
    } -> (tensor<8xf32>, tensor<8x128xf32>)
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s#1 into %o[0, 0] [8, 128] [1, 1] : tensor<8x128xf32> into tensor<8x128xf32>
    }
  }
  return %r : tensor<8x128xf32>
}
