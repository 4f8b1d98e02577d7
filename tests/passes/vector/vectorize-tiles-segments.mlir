// RUN: hloom-opt %s --vectorize-tiles | filecheck %s

#y = affine_map<(d0, d1) -> (d0, d1)>

// Changed: A concatenation of two operands of 64 columns: a loop over each, which loads neighbours. What was chosen between is gone.
// CHECK-LABEL: func.func private @both(
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<512xf32>, %[[B:[a-z0-9]+]]: memref<512xf32>
// CHECK-NOT: vector.gather
// CHECK: %[[LEFT:.*]] = vector.load %[[A]]{{.*}} vector<64xf32>
// CHECK: vector.store %[[LEFT]]
// CHECK: %[[RIGHT:.*]] = vector.load %[[B]]{{.*}} vector<64xf32>
// CHECK: vector.store %[[RIGHT]]
// CHECK-NOT: arith.select
func.func private @both(%a: tensor<8x64xf32>, %b: tensor<8x64xf32>) -> tensor<8x128xf32> attributes {hloom.kind = "loop"} {
  %zero = arith.constant 0 : index
  %last = arith.constant 63 : index
  %half = arith.constant 64 : index
  %e = tensor.empty() : tensor<8x128xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<8x128xf32>) {
    %c = linalg.generic {indexing_maps = [#y], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<8x128xf32>) {
    ^bb0(%unused: f32):
      %row = linalg.index 0 : index
      %column = linalg.index 1 : index
      %0 = arith.minsi %column, %last : index
      %1 = tensor.extract %a[%row, %0] : tensor<8x64xf32>
      %2 = arith.subi %column, %half : index
      %3 = arith.maxsi %2, %zero : index
      %4 = tensor.extract %b[%row, %3] : tensor<8x64xf32>
      %5 = arith.cmpi slt, %column, %half : index
      %6 = arith.select %5, %1, %4 : f32
      linalg.yield %6 : f32
    } -> tensor<8x128xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0] [8, 128] [1, 1] : tensor<8x128xf32> into tensor<8x128xf32>
    }
  }
  return %r : tensor<8x128xf32>
}

// Changed: A pad by three on both sides: in the middle neighbours are loaded, at the ends there is but the filling.
// CHECK-LABEL: func.func private @padded(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<512xf32>
// CHECK-NOT: vector.gather
// CHECK: vector.maskedstore
// CHECK: vector.load %[[X]]{{.*}} vector<64xf32>
// CHECK: vector.maskedstore
// CHECK-NOT: vector.gather
func.func private @padded(%x: tensor<8x64xf32>) -> tensor<8x70xf32> attributes {hloom.kind = "loop"} {
  %filling = arith.constant 2.0 : f32
  %zero = arith.constant 0 : index
  %last = arith.constant 63 : index
  %low = arith.constant 3 : index
  %e = tensor.empty() : tensor<8x70xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<8x70xf32>) {
    %c = linalg.generic {indexing_maps = [#y], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<8x70xf32>) {
    ^bb0(%unused: f32):
      %row = linalg.index 0 : index
      %column = linalg.index 1 : index
      %0 = arith.subi %column, %low : index
      %1 = arith.maxsi %0, %zero : index
      %2 = arith.minsi %1, %last : index
      %3 = arith.cmpi eq, %0, %2 : index
      %4 = tensor.extract %x[%row, %2] : tensor<8x64xf32>
      %5 = arith.select %3, %4, %filling : f32
      linalg.yield %5 : f32
    } -> tensor<8x70xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0] [8, 70] [1, 1] : tensor<8x70xf32> into tensor<8x70xf32>
    }
  }
  return %r : tensor<8x70xf32>
}

// Declined: The extent is known at run time alone.
// CHECK-LABEL: func.func private @cut(
// CHECK: arith.select
func.func private @cut(%x: tensor<100xf32>) -> tensor<100xf32> attributes {hloom.kind = "loop"} {
  %zero = arith.constant 0.0 : f32
  %half = arith.constant 32 : index
  %e = tensor.empty() : tensor<100xf32>
  %r = scf.forall (%t) = (0) to (100) step (64) shared_outs(%o = %e) -> (tensor<100xf32>) {
    %n = affine.min affine_map<(d0) -> (-d0 + 100, 64)>(%t)
    %i = tensor.extract_slice %x[%t] [%n] [1] : tensor<100xf32> to tensor<?xf32>
    %s = tensor.extract_slice %o[%t] [%n] [1] : tensor<100xf32> to tensor<?xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%i : tensor<?xf32>) outs(%s : tensor<?xf32>) {
    ^bb0(%a: f32, %unused: f32):
      %column = linalg.index 0 : index
      %0 = arith.cmpi slt, %column, %half : index
      %1 = arith.select %0, %a, %zero : f32
      linalg.yield %1 : f32
    } -> tensor<?xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[%t] [%n] [1] : tensor<?xf32> into tensor<100xf32>
    }
  }
  return %r : tensor<100xf32>
}

#flat = affine_map<(d0) -> (d0)>
#rest = affine_map<(d0) -> (-d0 + 1000, 256)>

// Changed: A concatenation of 300 and 700 elements in tiles of 256: of each operand the tile has a part, of neighbours.
// CHECK-LABEL: func.func private @tiled(
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<300xf32>, %[[B:[a-z0-9]+]]: memref<700xf32>
// CHECK-NOT: vector.gather
// CHECK: arith.minsi
// CHECK: scf.for
// CHECK: %[[LEFT:.*]] = vector.load %[[A]]{{.*}} vector<64xf32>
// CHECK: vector.store %[[LEFT]]
// CHECK: scf.for
// CHECK: %[[RIGHT:.*]] = vector.load %[[B]]{{.*}} vector<64xf32>
// CHECK: vector.store %[[RIGHT]]
// CHECK-NOT: arith.select
// CHECK: return
func.func private @tiled(%a: tensor<300xf32>, %b: tensor<700xf32>) -> tensor<1000xf32> attributes {hloom.kind = "loop"} {
  %zero = arith.constant 0 : index
  %last = arith.constant 299 : index
  %half = arith.constant 300 : index
  %e = tensor.empty() : tensor<1000xf32>
  %r = scf.forall (%t) = (0) to (1000) step (256) shared_outs(%o = %e) -> (tensor<1000xf32>) {
    %n = affine.min #rest(%t)
    %s = tensor.extract_slice %o[%t] [%n] [1] : tensor<1000xf32> to tensor<?xf32>
    %c = linalg.generic {indexing_maps = [#flat], iterator_types = ["parallel"]} outs(%s : tensor<?xf32>) {
    ^bb0(%unused: f32):
      %i = linalg.index 0 : index
      %place = arith.addi %i, %t : index
      %0 = arith.minsi %place, %last : index
      %1 = tensor.extract %a[%0] : tensor<300xf32>
      %2 = arith.subi %place, %half : index
      %3 = arith.maxsi %2, %zero : index
      %4 = tensor.extract %b[%3] : tensor<700xf32>
      %5 = arith.cmpi slt, %place, %half : index
      %6 = arith.select %5, %1, %4 : f32
      linalg.yield %6 : f32
    } -> tensor<?xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[%t] [%n] [1] : tensor<?xf32> into tensor<1000xf32>
    }
  }
  return %r : tensor<1000xf32>
}

// Changed: A concatenation along the rows: the loop over the rows is cut, and a row is loaded from one operand.
// CHECK-LABEL: func.func private @rows(
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<192xf32>, %[[B:[a-z0-9]+]]: memref<320xf32>
// CHECK: scf.for
// CHECK: %[[UPPER:.*]] = vector.load %[[A]]
// CHECK: vector.store %[[UPPER]]
// CHECK: scf.for
// CHECK: %[[LOWER:.*]] = vector.load %[[B]]
// CHECK-NOT: arith.select
// CHECK: return
func.func private @rows(%a: tensor<3x64xf32>, %b: tensor<5x64xf32>) -> tensor<8x64xf32> attributes {hloom.kind = "loop"} {
  %zero = arith.constant 0 : index
  %last = arith.constant 2 : index
  %three = arith.constant 3 : index
  %e = tensor.empty() : tensor<8x64xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<8x64xf32>) {
    %c = linalg.generic {indexing_maps = [#y], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<8x64xf32>) {
    ^bb0(%unused: f32):
      %row = linalg.index 0 : index
      %column = linalg.index 1 : index
      %0 = arith.minsi %row, %last : index
      %1 = tensor.extract %a[%0, %column] : tensor<3x64xf32>
      %2 = arith.subi %row, %three : index
      %3 = arith.maxsi %2, %zero : index
      %4 = tensor.extract %b[%3, %column] : tensor<5x64xf32>
      %5 = arith.cmpi slt, %row, %three : index
      %6 = arith.select %5, %1, %4 : f32
      linalg.yield %6 : f32
    } -> tensor<8x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0] [8, 64] [1, 1] : tensor<8x64xf32> into tensor<8x64xf32>
    }
  }
  return %r : tensor<8x64xf32>
}

#x = affine_map<(d0, d1) -> (d1)>
#sums = affine_map<(d0, d1) -> (d0)>

// Changed: Sums of rows that are concatenated: lanes are neighbours of a row, which is cut too, whatever few rows the tile has.
// CHECK-LABEL: func.func private @sums_of_rows(
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<128xf32>, %[[B:[a-z0-9]+]]: memref<128xf32>
// CHECK-NOT: vector.gather
// CHECK: %[[LEFT:.*]] = vector.load %[[A]]
// CHECK: arith.addf %{{.*}}, %[[LEFT]]
// CHECK: %[[RIGHT:.*]] = vector.load %[[B]]
// CHECK: arith.addf %{{.*}}, %[[RIGHT]]
// CHECK: vector.reduction <add>
// CHECK-NOT: vector.gather
// CHECK: return
func.func private @sums_of_rows(%a: tensor<2x64xf32>, %b: tensor<2x64xf32>) -> tensor<2xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0 : index
  %last = arith.constant 63 : index
  %half = arith.constant 64 : index
  %start = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %columns = tensor.empty() : tensor<128xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<2xf32>) {
    %f = linalg.fill ins(%start : f32) outs(%o : tensor<2xf32>) -> tensor<2xf32>
    %c = linalg.generic {indexing_maps = [#x, #sums], iterator_types = ["parallel", "reduction"]} ins(%columns : tensor<128xf32>) outs(%f : tensor<2xf32>) {
    ^bb0(%unused: f32, %sum: f32):
      %row = linalg.index 0 : index
      %column = linalg.index 1 : index
      %0 = arith.minsi %column, %last : index
      %1 = tensor.extract %a[%row, %0] : tensor<2x64xf32>
      %2 = arith.subi %column, %half : index
      %3 = arith.maxsi %2, %zero : index
      %4 = tensor.extract %b[%row, %3] : tensor<2x64xf32>
      %5 = arith.cmpi slt, %column, %half : index
      %6 = arith.select %5, %1, %4 : f32
      %7 = arith.addf %sum, %6 : f32
      linalg.yield %7 : f32
    } -> tensor<2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0] [2] [1] : tensor<2xf32> into tensor<2xf32>
    }
  }
  return %r : tensor<2xf32>
}

// Changed: Sums of their columns: a loop over each operand's, inside which rows are added up.
// CHECK-LABEL: func.func private @sums_of_columns(
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<2560xf32>, %[[B:[a-z0-9]+]]: memref<2560xf32>
// CHECK-NOT: vector.gather
// CHECK: %[[LEFT:.*]] = vector.load %[[A]]
// CHECK: arith.addf %{{.*}}, %[[LEFT]]
// CHECK: %[[RIGHT:.*]] = vector.load %[[B]]
// CHECK: arith.addf %{{.*}}, %[[RIGHT]]
// CHECK-NOT: vector.gather
// CHECK: return
func.func private @sums_of_columns(%a: tensor<40x64xf32>, %b: tensor<40x64xf32>) -> tensor<128xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0 : index
  %last = arith.constant 63 : index
  %half = arith.constant 64 : index
  %start = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<128xf32>
  %rows = tensor.empty() : tensor<40xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<128xf32>) {
    %f = linalg.fill ins(%start : f32) outs(%o : tensor<128xf32>) -> tensor<128xf32>
    %c = linalg.generic {indexing_maps = [#x, #sums], iterator_types = ["parallel", "reduction"]} ins(%rows : tensor<40xf32>) outs(%f : tensor<128xf32>) {
    ^bb0(%unused: f32, %sum: f32):
      %column = linalg.index 0 : index
      %row = linalg.index 1 : index
      %0 = arith.minsi %column, %last : index
      %1 = tensor.extract %a[%row, %0] : tensor<40x64xf32>
      %2 = arith.subi %column, %half : index
      %3 = arith.maxsi %2, %zero : index
      %4 = tensor.extract %b[%row, %3] : tensor<40x64xf32>
      %5 = arith.cmpi slt, %column, %half : index
      %6 = arith.select %5, %1, %4 : f32
      %7 = arith.addf %sum, %6 : f32
      linalg.yield %7 : f32
    } -> tensor<128xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0] [128] [1] : tensor<128xf32> into tensor<128xf32>
    }
  }
  return %r : tensor<128xf32>
}
