// RUN: hloom-opt %s --vectorize-tiles --canonicalize --cse --split-input-file | filecheck %s

// Changed: 12 columns of 8 lanes are three registers for two steps, in place of two for each. The rows of the weights are packed once.
// CHECK-LABEL: func.func private @pairs(
// CHECK: scf.for %{{.*}} = %c0 to %c24 step %c1
// CHECK-COUNT-2: vector.load %arg3[{{.*}}] : memref<576xf32>, vector<4xf32>
// CHECK: vector.interleave %{{.*}}, %{{.*}} : vector<4xf32> -> vector<8xf32>
// CHECK: vector.store %{{.*}}, %[[P:.*]][%{{.*}}] : memref<576xf32>, vector<8xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c16 step %c4
// CHECK: %[[SUMS:.*]]:12 = scf.for %{{.*}} = %c0 to %c24 step %c4
// CHECK: %[[X:.*]] = vector.load %arg2[{{.*}}] : memref<768xf32>, vector<2xf32>
// CHECK: %[[TWO:.*]] = vector.shuffle %[[X]], %{{.*}} [0, 1, 0, 1, 0, 1, 0, 1]
// CHECK-COUNT-3: vector.load %[[P]][{{.*}}] : memref<576xf32>, vector<8xf32>
// CHECK: %[[NEXT:.*]] = vector.shuffle %[[SUMS]]#0, %{{.*}} [1, 0, 3, 2, 5, 4, 7, 6]
// CHECK: %[[SUM:.*]] = arith.addf %[[SUMS]]#0, %[[NEXT]]
// CHECK: vector.shuffle %[[SUM]], %{{.*}} [0, 2, 4, 6]
// CHECK: vector.store %{{.*}}, %arg4[{{.*}}] : memref<192xf32>, vector<4xf32>
#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 1048576 : i64}} {
  func.func private @pairs(%x: tensor<16x48xf32>, %w: tensor<48x12xf32>) -> tensor<16x12xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<16x12xf32>
    %r = scf.forall (%i) = (0) to (1) step (1) shared_outs(%o = %e) -> (tensor<16x12xf32>) {
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<16x12xf32>) -> tensor<16x12xf32>
      %s = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x, %w : tensor<16x48xf32>, tensor<48x12xf32>) outs(%f : tensor<16x12xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %0 = arith.mulf %a, %b : f32
        %1 = arith.addf %c, %0 : f32
        linalg.yield %1 : f32
      } -> tensor<16x12xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %s into %o[0, 0] [16, 12] [1, 1] : tensor<16x12xf32> into tensor<16x12xf32>
      }
    }
    return %r : tensor<16x12xf32>
  }
}

// -----

// Changed: Two whole registers are a block of their own; 18 columns are those, and a register in which each of two columns takes four steps.
// CHECK-LABEL: func.func private @fours(
// CHECK: vector.store %{{.*}}, %{{.*}}[%{{.*}}] : memref<96xf32>, vector<8xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c12 step %c4
// CHECK: %[[X:.*]] = vector.load %arg2[{{.*}}] : memref<768xf32>, vector<4xf32>
// CHECK: vector.shuffle %[[X]], %{{.*}} [0, 1, 2, 3, 0, 1, 2, 3]
#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 1048576 : i64}} {
  func.func private @fours(%x: tensor<16x48xf32>, %w: tensor<48x18xf32>) -> tensor<16x18xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<16x18xf32>
    %r = scf.forall (%i) = (0) to (1) step (1) shared_outs(%o = %e) -> (tensor<16x18xf32>) {
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<16x18xf32>) -> tensor<16x18xf32>
      %s = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x, %w : tensor<16x48xf32>, tensor<48x18xf32>) outs(%f : tensor<16x18xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %0 = arith.mulf %a, %b : f32
        %1 = arith.addf %c, %0 : f32
        linalg.yield %1 : f32
      } -> tensor<16x18xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %s into %o[0, 0] [16, 18] [1, 1] : tensor<16x18xf32> into tensor<16x18xf32>
      }
    }
    return %r : tensor<16x18xf32>
  }
}

// -----

// Declined: More than half of the last register has a column.
// CHECK-LABEL: func.func private @full(
// CHECK-NOT: vector<2xf32>
// CHECK: return
#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 1048576 : i64}} {
  func.func private @full(%x: tensor<16x48xf32>, %w: tensor<48x13xf32>) -> tensor<16x13xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<16x13xf32>
    %r = scf.forall (%i) = (0) to (1) step (1) shared_outs(%o = %e) -> (tensor<16x13xf32>) {
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<16x13xf32>) -> tensor<16x13xf32>
      %s = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x, %w : tensor<16x48xf32>, tensor<48x13xf32>) outs(%f : tensor<16x13xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %0 = arith.mulf %a, %b : f32
        %1 = arith.addf %c, %0 : f32
        linalg.yield %1 : f32
      } -> tensor<16x13xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %s into %o[0, 0] [16, 13] [1, 1] : tensor<16x13xf32> into tensor<16x13xf32>
      }
    }
    return %r : tensor<16x13xf32>
  }
}

// -----

// Declined: An odd number of steps.
// CHECK-LABEL: func.func private @odd(
// CHECK-NOT: vector<2xf32>
// CHECK: return
#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 1048576 : i64}} {
  func.func private @odd(%x: tensor<16x49xf32>, %w: tensor<49x12xf32>) -> tensor<16x12xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<16x12xf32>
    %r = scf.forall (%i) = (0) to (1) step (1) shared_outs(%o = %e) -> (tensor<16x12xf32>) {
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<16x12xf32>) -> tensor<16x12xf32>
      %s = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x, %w : tensor<16x49xf32>, tensor<49x12xf32>) outs(%f : tensor<16x12xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %0 = arith.mulf %a, %b : f32
        %1 = arith.addf %c, %0 : f32
        linalg.yield %1 : f32
      } -> tensor<16x12xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %s into %o[0, 0] [16, 12] [1, 1] : tensor<16x12xf32> into tensor<16x12xf32>
      }
    }
    return %r : tensor<16x12xf32>
  }
}

// -----

// Declined: So few steps that adding up the lanes would take as long as is saved.
// CHECK-LABEL: func.func private @short(
// CHECK-NOT: vector<2xf32>
// CHECK: return
#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 1048576 : i64}} {
  func.func private @short(%x: tensor<16x24xf32>, %w: tensor<24x12xf32>) -> tensor<16x12xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<16x12xf32>
    %r = scf.forall (%i) = (0) to (1) step (1) shared_outs(%o = %e) -> (tensor<16x12xf32>) {
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<16x12xf32>) -> tensor<16x12xf32>
      %s = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x, %w : tensor<16x24xf32>, tensor<24x12xf32>) outs(%f : tensor<16x12xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %0 = arith.mulf %a, %b : f32
        %1 = arith.addf %c, %0 : f32
        linalg.yield %1 : f32
      } -> tensor<16x12xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %s into %o[0, 0] [16, 12] [1, 1] : tensor<16x12xf32> into tensor<16x12xf32>
      }
    }
    return %r : tensor<16x12xf32>
  }
}

// -----

// Declined: Few rows, for which packing does not pay.
// CHECK-LABEL: func.func private @few(
// CHECK-NOT: vector<2xf32>
// CHECK: return
#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 1048576 : i64}} {
  func.func private @few(%x: tensor<8x48xf32>, %w: tensor<48x12xf32>) -> tensor<8x12xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8x12xf32>
    %r = scf.forall (%i) = (0) to (1) step (1) shared_outs(%o = %e) -> (tensor<8x12xf32>) {
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<8x12xf32>) -> tensor<8x12xf32>
      %s = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x, %w : tensor<8x48xf32>, tensor<48x12xf32>) outs(%f : tensor<8x12xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %0 = arith.mulf %a, %b : f32
        %1 = arith.addf %c, %0 : f32
        linalg.yield %1 : f32
      } -> tensor<8x12xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %s into %o[0, 0] [8, 12] [1, 1] : tensor<8x12xf32> into tensor<8x12xf32>
      }
    }
    return %r : tensor<8x12xf32>
  }
}
