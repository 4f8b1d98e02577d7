// RUN: hloom-opt %s --vectorize-tiles --canonicalize --cse --split-input-file | filecheck %s

// Changed: Twice the index is what is compared: the loop is cut at half the number. Neighbours are loaded, and every second of them is kept.
// CHECK-LABEL: func.func private @seconds_from_two_sides(
// CHECK-NOT: vector.gather
// CHECK-NOT: arith.cmpi
// CHECK: return
#y = affine_map<(d0) -> (d0)>
func.func private @seconds_from_two_sides(%a: tensor<128xf32>, %b: tensor<128xf32>) -> tensor<128xf32> attributes {hloom.kind = "loop"} {
  %zero = arith.constant 0 : index
  %two = arith.constant 2 : index
  %last = arith.constant 127 : index
  %half = arith.constant 128 : index
  %e = tensor.empty() : tensor<128xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<128xf32>) {
    %c = linalg.generic {indexing_maps = [#y], iterator_types = ["parallel"]} outs(%o : tensor<128xf32>) {
    ^bb0(%unused: f32):
      %i = linalg.index 0 : index
      %place = arith.muli %i, %two : index
      %0 = arith.minsi %place, %last : index
      %1 = tensor.extract %a[%0] : tensor<128xf32>
      %2 = arith.subi %place, %half : index
      %3 = arith.maxsi %2, %zero : index
      %4 = tensor.extract %b[%3] : tensor<128xf32>
      %5 = arith.cmpi slt, %place, %half : index
      %6 = arith.select %5, %1, %4 : f32
      linalg.yield %6 : f32
    } -> tensor<128xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0] [128] [1] : tensor<128xf32> into tensor<128xf32>
    }
  }
  return %r : tensor<128xf32>
}

// -----

// Changed: Nine pieces are many, but each has a third of the body: a plane computes what it stores, and nothing is chosen.
// CHECK-LABEL: func.func private @planes(
// CHECK-NOT: arith.select
// CHECK-NOT: arith.cmpi
// CHECK: math.sqrt
// CHECK-NOT: arith.select
// CHECK: math.floor
// CHECK-NOT: arith.select
// CHECK: math.ceil
// CHECK-NOT: arith.select
// CHECK: return
#row = affine_map<(d0, d1) -> (d1)>
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func private @planes(%x: tensor<192xf32>) -> tensor<3x192xf32> attributes {hloom.kind = "loop"} {
  %filling = arith.constant 2.0 : f32
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %low = arith.constant 64 : index
  %high = arith.constant 128 : index
  %e = tensor.empty() : tensor<3x192xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<3x192xf32>) {
    %c = linalg.generic {indexing_maps = [#row, #all], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<192xf32>) outs(%o : tensor<3x192xf32>) {
    ^bb0(%v: f32, %unused: f32):
      %plane = linalg.index 0 : index
      %column = linalg.index 1 : index
      %before = arith.cmpi slt, %column, %low : index
      %behind = arith.cmpi sge, %column, %high : index
      %outside = arith.ori %before, %behind : i1
      %root = math.sqrt %v : f32
      %floor = math.floor %v : f32
      %ceil = math.ceil %v : f32
      %first = arith.cmpi slt, %plane, %c1 : index
      %second = arith.cmpi slt, %plane, %c2 : index
      %0 = arith.select %second, %floor, %ceil : f32
      %1 = arith.select %first, %root, %0 : f32
      %2 = arith.select %before, %v, %1 : f32
      %3 = arith.select %behind, %filling, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<3x192xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0] [3, 192] [1, 1] : tensor<3x192xf32> into tensor<3x192xf32>
    }
  }
  return %r : tensor<3x192xf32>
}

// -----

// Changed: Pairs are read from two arrays, one behind the other: pairs are loaded, the middle of each half, no element at a place of its own.
// CHECK-LABEL: func.func private @pairs(
// CHECK-NOT: vector.gather
// CHECK-NOT: arith.select
// CHECK: vector.load %arg2{{.*}} vector<64xf32>
// CHECK-NOT: vector.gather
// CHECK: vector.load %arg3{{.*}} vector<64xf32>
// CHECK-NOT: vector.gather
// CHECK: return
#pairs = affine_map<(d0, d1) -> (d0, d1)>
func.func private @pairs(%a: tensor<32x2xf32>, %b: tensor<32x2xf32>) -> tensor<64x2xf32> attributes {hloom.kind = "loop"} {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %last = arith.constant 31 : index
  %half = arith.constant 32 : index
  %e = tensor.empty() : tensor<64x2xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<64x2xf32>) {
    %c = linalg.generic {indexing_maps = [#pairs], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<64x2xf32>) {
    ^bb0(%unused: f32):
      %i = linalg.index 0 : index
      %part = linalg.index 1 : index
      %other = arith.subi %one, %part : index
      %0 = arith.minsi %i, %last : index
      %1 = tensor.extract %a[%0, %other] : tensor<32x2xf32>
      %2 = arith.subi %i, %half : index
      %3 = arith.maxsi %2, %zero : index
      %4 = tensor.extract %b[%3, %other] : tensor<32x2xf32>
      %5 = arith.cmpi slt, %i, %half : index
      %6 = arith.select %5, %1, %4 : f32
      linalg.yield %6 : f32
    } -> tensor<64x2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0] [64, 2] [1, 1] : tensor<64x2xf32> into tensor<64x2xf32>
    }
  }
  return %r : tensor<64x2xf32>
}
