// RUN: hloom-opt %s --lower-to-linalg --inline-producers --sink-updates --split-input-file | filecheck %s

// Changed: Updates that are computed element by element, of rows and of numbers that a row has, and of where they lie in a row.
// CHECK-LABEL: func.func private @rows(
// CHECK-SAME: %[[X:.*]]: tensor<1000x128xf32>, %[[I:.*]]: tensor<300x1xi32>, %[[U:.*]]: tensor<300x128xf32>, %[[W:.*]]: tensor<300xf32>)
// CHECK-NOT: linalg.generic
// CHECK: scf.forall (%[[J:[a-z0-9]+]]) = (0) to (128) step (64)
// CHECK: scf.for %[[N:[a-z0-9]+]] =
// CHECK: scf.if
// CHECK-DAG: %[[A:.*]] = tensor.extract_slice %[[U]][%[[N]], %[[J]]] [1, 64] [1, 1]
// CHECK-DAG: %[[B:.*]] = tensor.extract_slice %[[W]][%[[N]]] [1] [1]
// CHECK: linalg.generic {{.*}} ins(%[[A]], %[[B]] :
// CHECK: arith.mulf
// CHECK: %[[AT:.*]] = linalg.index 1
// CHECK: arith.addi %[[AT]], %[[J]]
// CHECK: arith.addf %out
// CHECK-NOT: linalg.generic
func.func private @rows(%x: tensor<1000x128xf32>, %i: tensor<300x1xi32>, %u: tensor<300x128xf32>, %w: tensor<300xf32>) -> tensor<1000x128xf32>
    attributes {hloom.kind = "scatter"} {
  %b = stablehlo.broadcast_in_dim %w, dims = [0] : (tensor<300xf32>) -> tensor<300x128xf32>
  %m = stablehlo.multiply %u, %b : tensor<300x128xf32>
  %n = stablehlo.iota dim = 1 : tensor<300x128xf32>
  %k = stablehlo.add %m, %n : tensor<300x128xf32>
  %0 = "stablehlo.scatter"(%x, %i, %k) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %c: tensor<f32>):
    %1 = stablehlo.add %a, %c : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<1000x128xf32>, tensor<300x1xi32>, tensor<300x128xf32>) -> tensor<1000x128xf32>
  return %0 : tensor<1000x128xf32>
}

// -----

// Changed: Updates that lie transposed, and numbers of a row one by one: a slice has the input's own order.
// CHECK-LABEL: func.func private @transposed(
// CHECK-SAME: %[[X:.*]]: tensor<64x1000xf32>, %[[I:.*]]: tensor<300x1xi32>, %[[U:.*]]: tensor<300x64xf32>)
// CHECK-NOT: linalg.generic
// CHECK: scf.forall (%[[J:[a-z0-9]+]]) = (0) to (64) step (4)
// CHECK: tensor.extract_slice %[[U]][%{{.*}}, %{{.*}}] [1, 1] [1, 1]
// CHECK: linalg.generic
// CHECK: math.absf
// CHECK: arith.addf
func.func private @transposed(%x: tensor<64x1000xf32>, %i: tensor<300x1xi32>, %u: tensor<300x64xf32>) -> tensor<64x1000xf32>
    attributes {hloom.kind = "scatter"} {
  %t = stablehlo.transpose %u, dims = [1, 0] : (tensor<300x64xf32>) -> tensor<64x300xf32>
  %k = stablehlo.abs %t : tensor<64x300xf32>
  %0 = "stablehlo.scatter"(%x, %i, %k) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1],
      scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %c: tensor<f32>):
    %1 = stablehlo.add %a, %c : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<64x1000xf32>, tensor<300x1xi32>, tensor<64x300xf32>) -> tensor<64x1000xf32>
  return %0 : tensor<64x1000xf32>
}

// -----

// Declined: Updates that are returned as well.
// CHECK-LABEL: func.func private @kept(
// CHECK: %[[U:.*]] = linalg.generic
// CHECK: scf.forall
// CHECK: tensor.extract_slice %[[U]]
func.func private @kept(%x: tensor<1000xf32>, %i: tensor<300x1xi32>, %u: tensor<300xf32>) -> (tensor<1000xf32>, tensor<300xf32>)
    attributes {hloom.kind = "scatter"} {
  %k = stablehlo.abs %u : tensor<300xf32>
  %0 = "stablehlo.scatter"(%x, %i, %k) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %c: tensor<f32>):
    %1 = stablehlo.add %a, %c : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<1000xf32>, tensor<300x1xi32>, tensor<300xf32>) -> tensor<1000xf32>
  return %0, %k : tensor<1000xf32>, tensor<300xf32>
}

// -----

// Declined: Updates that sum rows; that read their inputs backwards.
// CHECK-LABEL: func.func private @others(
// CHECK: linalg.generic
// CHECK: linalg.generic
// CHECK: scf.forall
func.func private @others(%x: tensor<1000xf32>, %i: tensor<300x1xi32>, %u: tensor<300xf32>, %w: tensor<300x9xf32>) -> tensor<1000xf32>
    attributes {hloom.kind = "scatter"} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<300x9xf32>, tensor<f32>) -> tensor<300xf32>
  %r = stablehlo.reverse %u, dims = [0] : tensor<300xf32>
  %0:2 = "stablehlo.scatter"(%x, %x, %i, %s, %r) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<f32>, %d: tensor<f32>):
    %1 = stablehlo.add %a, %c : tensor<f32>
    %2 = stablehlo.add %b, %d : tensor<f32>
    stablehlo.return %1, %2 : tensor<f32>, tensor<f32>
  }) : (tensor<1000xf32>, tensor<1000xf32>, tensor<300x1xi32>, tensor<300xf32>, tensor<300xf32>) -> (tensor<1000xf32>, tensor<1000xf32>)
  %1 = stablehlo.add %0#0, %0#1 : tensor<1000xf32>
  return %1 : tensor<1000xf32>
}

// -----

// Unchanged: Updates that nothing computes.
// CHECK-LABEL: func.func private @given(
// CHECK-SAME: %[[U:[a-z0-9]*]]: tensor<300xf32>)
// CHECK: scf.forall
// CHECK: tensor.extract_slice %[[U]]
func.func private @given(%x: tensor<1000xf32>, %i: tensor<300x1xi32>, %u: tensor<300xf32>) -> tensor<1000xf32> attributes {hloom.kind = "scatter"} {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %c: tensor<f32>):
    %1 = stablehlo.add %a, %c : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<1000xf32>, tensor<300x1xi32>, tensor<300xf32>) -> tensor<1000xf32>
  return %0 : tensor<1000xf32>
}

// -----

// Changed: updates that are made of the first rows of what is read in one piece.
// CHECK-LABEL: func.func private @behind_a_view(
// CHECK-SAME: %[[Y:[a-z0-9]*]]: tensor<129x16xf32>
// CHECK-NOT: linalg.generic
// CHECK: scf.forall
// CHECK: tensor.extract_slice %[[Y]]
// CHECK: math.absf
func.func private @behind_a_view(%y: tensor<129x16xf32>, %x: tensor<129x16xf32>, %i: tensor<31x1xi32>) -> tensor<129x16xf32> attributes {hloom.kind = "scatter"} {
  %0 = stablehlo.reshape %y : (tensor<129x16xf32>) -> tensor<2064xf32>
  %1 = stablehlo.slice %0 [0:496] : (tensor<2064xf32>) -> tensor<496xf32>
  %2 = stablehlo.reshape %1 : (tensor<496xf32>) -> tensor<31x16xf32>
  %3 = stablehlo.abs %2 : tensor<31x16xf32>
  %4 = "stablehlo.scatter"(%x, %i, %3) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %5 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %5 : tensor<f32>
  }) : (tensor<129x16xf32>, tensor<31x1xi32>, tensor<31x16xf32>) -> tensor<129x16xf32>
  return %4 : tensor<129x16xf32>
}

// -----

// Changed: One element, which lies somewhere in an array: its loop has one trip.
// CHECK-LABEL: func.func private @one_of_many(
// CHECK-SAME: %[[Y:[a-z0-9]*]]: tensor<5xf32>
// CHECK-NOT: linalg.generic
// CHECK: scf.forall
// CHECK: tensor.extract_slice %[[Y]][2] [1] [1]
// CHECK: arith.addf
func.func private @one_of_many(%y: tensor<5xf32>, %x: tensor<4xf32>, %i: tensor<1x1xi32>) -> tensor<4xf32> attributes {hloom.kind = "scatter"} {
  %0 = stablehlo.slice %y [2:3] : (tensor<5xf32>) -> tensor<1xf32>
  %1 = "stablehlo.scatter"(%x, %i, %0) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %2 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }) : (tensor<4xf32>, tensor<1x1xi32>, tensor<1xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
