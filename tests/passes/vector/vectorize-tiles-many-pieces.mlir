// RUN: hloom-opt %s --vectorize-tiles | filecheck %s

#y = affine_map<(d0, d1) -> (d0, d1)>

// Changed: a concatenation of nine operands of 16 columns. Its body mostly chooses, and little of it is left in each of the nine pieces.
// CHECK-LABEL: func.func private @nine(
// CHECK-NOT: vector.gather
// CHECK-NOT: arith.select
// CHECK-COUNT-9: vector.store %{{.*}} : memref<576xf32>, vector<16xf32>
// CHECK-NOT: arith.select
// CHECK: return
func.func private @nine(%p0: tensor<4x16xf32>, %p1: tensor<4x16xf32>, %p2: tensor<4x16xf32>, %p3: tensor<4x16xf32>, %p4: tensor<4x16xf32>, %p5: tensor<4x16xf32>, %p6: tensor<4x16xf32>, %p7: tensor<4x16xf32>, %p8: tensor<4x16xf32>) -> tensor<4x144xf32> attributes {hloom.kind = "loop"} {
  %zero = arith.constant 0 : index
  %last = arith.constant 15 : index
  %s1 = arith.constant 16 : index
  %s2 = arith.constant 32 : index
  %s3 = arith.constant 48 : index
  %s4 = arith.constant 64 : index
  %s5 = arith.constant 80 : index
  %s6 = arith.constant 96 : index
  %s7 = arith.constant 112 : index
  %s8 = arith.constant 128 : index
  %e = tensor.empty() : tensor<4x144xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<4x144xf32>) {
    %c = linalg.generic {indexing_maps = [#y], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<4x144xf32>) {
    ^bb0(%unused: f32):
      %row = linalg.index 0 : index
      %column = linalg.index 1 : index
      %l8 = arith.subi %column, %s8 : index
      %m8 = arith.maxsi %l8, %zero : index
      %n8 = arith.minsi %m8, %last : index
      %x8 = tensor.extract %p8[%row, %n8] : tensor<4x16xf32>
      %l7 = arith.subi %column, %s7 : index
      %m7 = arith.maxsi %l7, %zero : index
      %n7 = arith.minsi %m7, %last : index
      %x7 = tensor.extract %p7[%row, %n7] : tensor<4x16xf32>
      %b7 = arith.cmpi slt, %column, %s8 : index
      %v7 = arith.select %b7, %x7, %x8 : f32
      %l6 = arith.subi %column, %s6 : index
      %m6 = arith.maxsi %l6, %zero : index
      %n6 = arith.minsi %m6, %last : index
      %x6 = tensor.extract %p6[%row, %n6] : tensor<4x16xf32>
      %b6 = arith.cmpi slt, %column, %s7 : index
      %v6 = arith.select %b6, %x6, %v7 : f32
      %l5 = arith.subi %column, %s5 : index
      %m5 = arith.maxsi %l5, %zero : index
      %n5 = arith.minsi %m5, %last : index
      %x5 = tensor.extract %p5[%row, %n5] : tensor<4x16xf32>
      %b5 = arith.cmpi slt, %column, %s6 : index
      %v5 = arith.select %b5, %x5, %v6 : f32
      %l4 = arith.subi %column, %s4 : index
      %m4 = arith.maxsi %l4, %zero : index
      %n4 = arith.minsi %m4, %last : index
      %x4 = tensor.extract %p4[%row, %n4] : tensor<4x16xf32>
      %b4 = arith.cmpi slt, %column, %s5 : index
      %v4 = arith.select %b4, %x4, %v5 : f32
      %l3 = arith.subi %column, %s3 : index
      %m3 = arith.maxsi %l3, %zero : index
      %n3 = arith.minsi %m3, %last : index
      %x3 = tensor.extract %p3[%row, %n3] : tensor<4x16xf32>
      %b3 = arith.cmpi slt, %column, %s4 : index
      %v3 = arith.select %b3, %x3, %v4 : f32
      %l2 = arith.subi %column, %s2 : index
      %m2 = arith.maxsi %l2, %zero : index
      %n2 = arith.minsi %m2, %last : index
      %x2 = tensor.extract %p2[%row, %n2] : tensor<4x16xf32>
      %b2 = arith.cmpi slt, %column, %s3 : index
      %v2 = arith.select %b2, %x2, %v3 : f32
      %l1 = arith.subi %column, %s1 : index
      %m1 = arith.maxsi %l1, %zero : index
      %n1 = arith.minsi %m1, %last : index
      %x1 = tensor.extract %p1[%row, %n1] : tensor<4x16xf32>
      %b1 = arith.cmpi slt, %column, %s2 : index
      %v1 = arith.select %b1, %x1, %v2 : f32
      %m0 = arith.maxsi %column, %zero : index
      %n0 = arith.minsi %m0, %last : index
      %x0 = tensor.extract %p0[%row, %n0] : tensor<4x16xf32>
      %b0 = arith.cmpi slt, %column, %s1 : index
      %v0 = arith.select %b0, %x0, %v1 : f32
      linalg.yield %v0 : f32
    } -> tensor<4x144xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0] [4, 144] [1, 1] : tensor<4x144xf32> into tensor<4x144xf32>
    }
  }
  return %r : tensor<4x144xf32>
}

// Declined: nine columns, each of another operand: nine pieces of one element are more than registers that choose.
// CHECK-LABEL: func.func private @columns(
// CHECK: arith.select
// CHECK: return
func.func private @columns(%p0: tensor<4x1xf32>, %p1: tensor<4x1xf32>, %p2: tensor<4x1xf32>, %p3: tensor<4x1xf32>, %p4: tensor<4x1xf32>, %p5: tensor<4x1xf32>, %p6: tensor<4x1xf32>, %p7: tensor<4x1xf32>, %p8: tensor<4x1xf32>) -> tensor<4x9xf32> attributes {hloom.kind = "loop"} {
  %zero = arith.constant 0 : index
  %last = arith.constant 0 : index
  %s1 = arith.constant 1 : index
  %s2 = arith.constant 2 : index
  %s3 = arith.constant 3 : index
  %s4 = arith.constant 4 : index
  %s5 = arith.constant 5 : index
  %s6 = arith.constant 6 : index
  %s7 = arith.constant 7 : index
  %s8 = arith.constant 8 : index
  %e = tensor.empty() : tensor<4x9xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<4x9xf32>) {
    %c = linalg.generic {indexing_maps = [#y], iterator_types = ["parallel", "parallel"]} outs(%o : tensor<4x9xf32>) {
    ^bb0(%unused: f32):
      %row = linalg.index 0 : index
      %column = linalg.index 1 : index
      %l8 = arith.subi %column, %s8 : index
      %x8 = tensor.extract %p8[%row, %zero] : tensor<4x1xf32>
      %l7 = arith.subi %column, %s7 : index
      %x7 = tensor.extract %p7[%row, %zero] : tensor<4x1xf32>
      %b7 = arith.cmpi slt, %column, %s8 : index
      %v7 = arith.select %b7, %x7, %x8 : f32
      %l6 = arith.subi %column, %s6 : index
      %x6 = tensor.extract %p6[%row, %zero] : tensor<4x1xf32>
      %b6 = arith.cmpi slt, %column, %s7 : index
      %v6 = arith.select %b6, %x6, %v7 : f32
      %l5 = arith.subi %column, %s5 : index
      %x5 = tensor.extract %p5[%row, %zero] : tensor<4x1xf32>
      %b5 = arith.cmpi slt, %column, %s6 : index
      %v5 = arith.select %b5, %x5, %v6 : f32
      %l4 = arith.subi %column, %s4 : index
      %x4 = tensor.extract %p4[%row, %zero] : tensor<4x1xf32>
      %b4 = arith.cmpi slt, %column, %s5 : index
      %v4 = arith.select %b4, %x4, %v5 : f32
      %l3 = arith.subi %column, %s3 : index
      %x3 = tensor.extract %p3[%row, %zero] : tensor<4x1xf32>
      %b3 = arith.cmpi slt, %column, %s4 : index
      %v3 = arith.select %b3, %x3, %v4 : f32
      %l2 = arith.subi %column, %s2 : index
      %x2 = tensor.extract %p2[%row, %zero] : tensor<4x1xf32>
      %b2 = arith.cmpi slt, %column, %s3 : index
      %v2 = arith.select %b2, %x2, %v3 : f32
      %l1 = arith.subi %column, %s1 : index
      %x1 = tensor.extract %p1[%row, %zero] : tensor<4x1xf32>
      %b1 = arith.cmpi slt, %column, %s2 : index
      %v1 = arith.select %b1, %x1, %v2 : f32
      %x0 = tensor.extract %p0[%row, %zero] : tensor<4x1xf32>
      %b0 = arith.cmpi slt, %column, %s1 : index
      %v0 = arith.select %b0, %x0, %v1 : f32
      linalg.yield %v0 : f32
    } -> tensor<4x9xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0] [4, 9] [1, 1] : tensor<4x9xf32> into tensor<4x9xf32>
    }
  }
  return %r : tensor<4x9xf32>
}
