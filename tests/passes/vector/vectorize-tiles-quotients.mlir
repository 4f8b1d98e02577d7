// RUN: hloom-opt %s --vectorize-tiles --split-input-file | filecheck %s

// Changed: What was put in turn and cut, so that no loop of turns is left: half as many neighbours are loaded as there are lanes, and one
// more where the lanes begin within a turn, and moved to the lanes. Which of the two a lane takes is known.
// CHECK-LABEL: func.func private @in_turn(
// CHECK-NOT: vector.gather
// CHECK: vector.load %arg2{{.*}} vector<32xf32>
// CHECK: vector.shuffle
// CHECK: arith.constant dense<[false, true, false, true,
// CHECK: arith.select {{.*}} : vector<64xi1>, vector<64xf32>
// CHECK-NOT: vector.gather
module attributes {hloom.target = {name = "cpu-avx512", vector_bits = 512 : i64}} {
func.func private @in_turn(%x: tensor<8x300xf32>) -> tensor<8x249xf32> attributes {hloom.kind = "loop"} {
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  %half = arith.constant 150 : index
  %e = tensor.empty() : tensor<8x249xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<8x249xf32>) {
    %c = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        outs(%o : tensor<8x249xf32>) {
    ^bb0(%unused: f32):
      %row = linalg.index 0 : index
      %column = linalg.index 1 : index
      %i = arith.addi %column, %one : index
      %quotient = arith.divui %i, %two : index
      %a = tensor.extract %x[%row, %quotient] : tensor<8x300xf32>
      %behind = arith.addi %quotient, %half : index
      %b = tensor.extract %x[%row, %behind] : tensor<8x300xf32>
      %turn = arith.remui %i, %two : index
      %first = arith.cmpi slt, %turn, %one : index
      %0 = arith.select %first, %a, %b : f32
      linalg.yield %0 : f32
    } -> tensor<8x249xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0] [8, 249] [1, 1] : tensor<8x249xf32> into tensor<8x249xf32>
    }
  }
  return %r : tensor<8x249xf32>
}
}

// -----

// Changed: Rows side by side are cut where the next one begins: between, the quotient is one number, and what remains lies along the lanes.
// CHECK-LABEL: func.func private @side_by_side(
// CHECK-NOT: vector.gather
// CHECK: vector.load %arg2{{.*}} vector<64xf32>
// CHECK-NOT: vector.gather
// CHECK: vector.load %arg2{{.*}} vector<64xf32>
// CHECK-NOT: vector.gather
module attributes {hloom.target = {name = "cpu-avx512", vector_bits = 512 : i64}} {
func.func private @side_by_side(%x: tensor<8x130xf32>) -> tensor<8x260xf32> attributes {hloom.kind = "loop"} {
  %width = arith.constant 130 : index
  %e = tensor.empty() : tensor<8x260xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<8x260xf32>) {
    %c = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        outs(%o : tensor<8x260xf32>) {
    ^bb0(%unused: f32):
      %row = linalg.index 0 : index
      %column = linalg.index 1 : index
      %i = arith.remui %column, %width : index
      %0 = tensor.extract %x[%row, %i] : tensor<8x130xf32>
      linalg.yield %0 : f32
    } -> tensor<8x260xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0] [8, 260] [1, 1] : tensor<8x260xf32> into tensor<8x260xf32>
    }
  }
  return %r : tensor<8x260xf32>
}
}

// -----

// Declined: Quotients of what a program reads.
// CHECK-LABEL: func.func private @unknown(
// CHECK: vector.gather
module attributes {hloom.target = {name = "cpu-avx512", vector_bits = 512 : i64}} {
func.func private @unknown(%x: tensor<300xf32>, %at: tensor<256xindex>) -> tensor<256xf32> attributes {hloom.kind = "loop"} {
  %two = arith.constant 2 : index
  %e = tensor.empty() : tensor<256xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<256xf32>) {
    %c = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
        ins(%at : tensor<256xindex>) outs(%o : tensor<256xf32>) {
    ^bb0(%i: index, %unused: f32):
      %place = arith.divui %i, %two : index
      %0 = tensor.extract %x[%place] : tensor<300xf32>
      linalg.yield %0 : f32
    } -> tensor<256xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0] [256] [1] : tensor<256xf32> into tensor<256xf32>
    }
  }
  return %r : tensor<256xf32>
}
}
