// RUN: hloom-opt %s --vectorize-tiles --canonicalize --cse --split-input-file | filecheck %s

// Changed: A sum of 576 products as three of 192, each from zero.
// CHECK-LABEL: func.func private @pieces(
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<-0.000000e+00> : vector<8xf32>
// CHECK: %[[TOTALS:.*]]:2 = scf.for %[[P:.*]] = %c0 to %c576 step %c192 iter_args(%[[T:.*]] = %[[ZERO]], %{{.*}} = %[[ZERO]])
// CHECK: %[[END:.*]] = arith.addi %[[P]], %c192
// CHECK: %[[PIECE:.*]]:2 = scf.for %{{.*}} = %[[P]] to %[[END]] step %c1 iter_args(%{{.*}} = %[[ZERO]], %{{.*}} = %[[ZERO]])
// CHECK: %[[NEXT:.*]] = arith.addf %[[T]], %[[PIECE]]#0
// CHECK: scf.yield %[[NEXT]]
// CHECK: arith.addf %[[TOTALS]]#0
// CHECK: vector.store
#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 1048576 : i64}} {
  func.func private @pieces(%x: tensor<2x576xf32>, %w: tensor<576x8xf32>) -> tensor<2x8xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x8xf32>
    %r = scf.forall (%i) = (0) to (1) step (1) shared_outs(%o = %e) -> (tensor<2x8xf32>) {
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<2x8xf32>) -> tensor<2x8xf32>
      %s = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x, %w : tensor<2x576xf32>, tensor<576x8xf32>) outs(%f : tensor<2x8xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %0 = arith.mulf %a, %b : f32
        %1 = arith.addf %c, %0 : f32
        linalg.yield %1 : f32
      } -> tensor<2x8xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %s into %o[0, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<2x8xf32>
      }
    }
    return %r : tensor<2x8xf32>
  }
}

// -----

// Changed: No number near 192 divides 509: what two pieces leave is a third.
// CHECK-LABEL: func.func private @rest(
// CHECK: scf.for %{{.*}} = %c0 to %c384 step %c192
// CHECK: scf.for %{{.*}} = %c384 to %c509 step %c1
// CHECK: vector.store
#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 1048576 : i64}} {
  func.func private @rest(%x: tensor<2x509xf32>, %w: tensor<509x8xf32>) -> tensor<2x8xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x8xf32>
    %r = scf.forall (%i) = (0) to (1) step (1) shared_outs(%o = %e) -> (tensor<2x8xf32>) {
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<2x8xf32>) -> tensor<2x8xf32>
      %s = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x, %w : tensor<2x509xf32>, tensor<509x8xf32>) outs(%f : tensor<2x8xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %0 = arith.mulf %a, %b : f32
        %1 = arith.addf %c, %0 : f32
        linalg.yield %1 : f32
      } -> tensor<2x8xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %s into %o[0, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<2x8xf32>
      }
    }
    return %r : tensor<2x8xf32>
  }
}

// -----

// Changed: Of two loops the inner one, long enough, is a piece each time.
// CHECK-LABEL: func.func private @inner(
// CHECK-DAG: %[[ZERO:.*]] = arith.constant dense<-0.000000e+00> : vector<8xf32>
// CHECK: scf.for %{{.*}} = %c0 to %c5 step %c1 iter_args(%[[T:.*]] = %[[ZERO]], %{{.*}} = %[[ZERO]])
// CHECK: %[[PIECE:.*]]:2 = scf.for %{{.*}} = %c0 to %c100 step %c1 iter_args(%{{.*}} = %[[ZERO]], %{{.*}} = %[[ZERO]])
// CHECK: arith.addf %[[T]], %[[PIECE]]#0
#left = affine_map<(d0, d1, d2, d3) -> (d2, d0, d3)>
#right = affine_map<(d0, d1, d2, d3) -> (d3, d2, d1)>
#out = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 1048576 : i64}} {
  func.func private @inner(%x: tensor<5x2x100xf32>, %w: tensor<100x5x8xf32>) -> tensor<2x8xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x8xf32>
    %r = scf.forall (%i) = (0) to (1) step (1) shared_outs(%o = %e) -> (tensor<2x8xf32>) {
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<2x8xf32>) -> tensor<2x8xf32>
      %s = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
          ins(%x, %w : tensor<5x2x100xf32>, tensor<100x5x8xf32>) outs(%f : tensor<2x8xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %0 = arith.mulf %a, %b : f32
        %1 = arith.addf %c, %0 : f32
        linalg.yield %1 : f32
      } -> tensor<2x8xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %s into %o[0, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<2x8xf32>
      }
    }
    return %r : tensor<2x8xf32>
  }
}

// -----

// Unchanged: 256 products are one chain.
// CHECK-LABEL: func.func private @short(
// CHECK: scf.for %{{.*}} = %c0 to %c256 step %c1
// CHECK-NOT: scf.for
// CHECK: vector.store
#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 1048576 : i64}} {
  func.func private @short(%x: tensor<2x256xf32>, %w: tensor<256x8xf32>) -> tensor<2x8xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<2x8xf32>
    %r = scf.forall (%i) = (0) to (1) step (1) shared_outs(%o = %e) -> (tensor<2x8xf32>) {
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<2x8xf32>) -> tensor<2x8xf32>
      %s = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x, %w : tensor<2x256xf32>, tensor<256x8xf32>) outs(%f : tensor<2x8xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %0 = arith.mulf %a, %b : f32
        %1 = arith.addf %c, %0 : f32
        linalg.yield %1 : f32
      } -> tensor<2x8xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %s into %o[0, 0] [2, 8] [1, 1] : tensor<2x8xf32> into tensor<2x8xf32>
      }
    }
    return %r : tensor<2x8xf32>
  }
}

// -----

// Declined: Sums of integers are exact.
// CHECK-LABEL: func.func private @integers(
// CHECK: scf.for %{{.*}} = %c0 to %c576 step %c1
// CHECK-NOT: scf.for
// CHECK: vector.store
#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 1048576 : i64}} {
  func.func private @integers(%x: tensor<2x576xi32>, %w: tensor<576x8xi32>) -> tensor<2x8xi32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0 : i32
    %e = tensor.empty() : tensor<2x8xi32>
    %r = scf.forall (%i) = (0) to (1) step (1) shared_outs(%o = %e) -> (tensor<2x8xi32>) {
      %f = linalg.fill ins(%zero : i32) outs(%o : tensor<2x8xi32>) -> tensor<2x8xi32>
      %s = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x, %w : tensor<2x576xi32>, tensor<576x8xi32>) outs(%f : tensor<2x8xi32>) {
      ^bb0(%a: i32, %b: i32, %c: i32):
        %0 = arith.muli %a, %b : i32
        %1 = arith.addi %c, %0 : i32
        linalg.yield %1 : i32
      } -> tensor<2x8xi32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %s into %o[0, 0] [2, 8] [1, 1] : tensor<2x8xi32> into tensor<2x8xi32>
      }
    }
    return %r : tensor<2x8xi32>
  }
}
