// RUN: hloom-opt %s --lower-to-linalg --split-input-file | filecheck %s
// RUN: hloom-opt %s --lower-to-linalg --canonicalize-ingress --tile-and-fuse --split-input-file | filecheck %s

// Changed: Rows are added one after the other, each where its index says, if it is in bounds: negative ones are large as unsigned. The
// window lies along the second dimension whole, so that is tiled; a tile has four cache lines of a row at least.
// CHECK-LABEL: func.func private @rows(
// CHECK-SAME: %[[X:.*]]: tensor<1000x128xf32>, %[[I:.*]]: tensor<300x1xi32>, %[[U:.*]]: tensor<300x128xf32>)
// CHECK-DAG: %[[LAST:.*]] = arith.constant 999 : index
// CHECK: %[[R:.*]] = scf.forall (%[[J:.*]]) = (0) to (128) step (64) shared_outs(%[[O:.*]] = %[[X]])
// CHECK: %[[PART:.*]] = tensor.extract_slice %[[O]][0, %[[J]]] [1000, 64] [1, 1]
// CHECK: %[[DONE:.*]] = scf.for %[[N:.*]] = {{.*}} iter_args(%[[T:.*]] = %[[PART]])
// CHECK: %[[E:.*]] = tensor.extract %[[I]][%[[N]], %{{.*}}]
// CHECK: %[[AT:.*]] = arith.index_cast %[[E]] : i32 to index
// CHECK: %[[INSIDE:.*]] = arith.cmpi ule, %[[AT]], %[[LAST]]
// CHECK: scf.if %[[INSIDE]]
// CHECK-DAG: %[[OLD:.*]] = tensor.extract_slice %[[T]][%[[AT]], 0] [1, 64] [1, 1]
// CHECK-DAG: %[[NEW:.*]] = tensor.extract_slice %[[U]][%[[N]], %[[J]]] [1, 64] [1, 1]
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}}"parallel", "parallel"{{.*}} ins(%[[NEW]] : {{.*}}) outs(%[[OLD]]
// CHECK: arith.addf %out, %in
// CHECK: tensor.insert_slice %[[SUM]] into %[[T]][%[[AT]], 0]
// CHECK: else
// CHECK: scf.yield %[[T]]
// CHECK: tensor.parallel_insert_slice %[[DONE]] into %[[O]][0, %[[J]]]
// CHECK: return %[[R]]
func.func private @rows(%x: tensor<1000x128xf32>, %i: tensor<300x1xi32>, %u: tensor<300x128xf32>) -> tensor<1000x128xf32> attributes {hloom.kind = "scatter"} {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<1000x128xf32>, tensor<300x1xi32>, tensor<300x128xf32>) -> tensor<1000x128xf32>
  return %0 : tensor<1000x128xf32>
}

// -----

// Changed: A batch has its own indices: a tile a batch. Unsigned indices beyond what an index holds become its maximum. A splat is a constant.
// CHECK-LABEL: func.func private @batches(
// CHECK-SAME: %[[X:.*]]: tensor<4x1000xi8>, %[[I:.*]]: tensor<4x30xi64>)
// CHECK-DAG: %[[ONE:.*]] = arith.constant 1 : i8
// CHECK: scf.forall (%[[J:.*]]) in (4) shared_outs(%[[O:.*]] = %[[X]])
// CHECK: tensor.extract_slice %[[O]][%[[J]], 0] [1, 1000] [1, 1]
// CHECK: arith.minui
// CHECK: arith.index_castui
// CHECK: linalg.generic {{.*}} outs(
// CHECK: arith.addi %out, %[[ONE]]
func.func private @batches(%x: tensor<4x1000xui8>, %i: tensor<4x30xui64>) -> tensor<4x1000xui8> attributes {hloom.kind = "scatter"} {
  %u = stablehlo.constant dense<1> : tensor<4x30xui8>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0],
      scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
    %1 = stablehlo.add %a, %b : tensor<ui8>
    stablehlo.return %1 : tensor<ui8>
  }) : (tensor<4x1000xui8>, tensor<4x30xui64>, tensor<4x30xui8>) -> tensor<4x1000xui8>
  return %0 : tensor<4x1000xui8>
}

// -----

// Changed: A window that lies across the lines of what is updated: row by row of a tile, each with the loop over all indices.
// CHECK-LABEL: func.func private @columns(
// CHECK-SAME: %[[X:.*]]: tensor<64x1000xf32>, %[[I:.*]]: tensor<300x1xi32>, %[[U:.*]]: tensor<64x300xf32>)
// CHECK: scf.forall (%[[J:.*]]) = (0) to (64) step (4) shared_outs(%[[O:.*]] = %[[X]])
// CHECK: tensor.extract_slice %[[O]][%[[J]], 0] [4, 1000] [1, 1]
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %{{.*}} step
// CHECK: scf.for %[[N:.*]] = %{{.*}} to %{{.*}} step
// CHECK: tensor.extract %[[I]][%[[N]], %{{.*}}]
// CHECK: tensor.extract_slice %{{.*}}[%[[ROW]], %{{.*}}] [1, 1] [1, 1]
// CHECK: %[[AT:.*]] = arith.addi %[[J]], %[[ROW]]
// CHECK: tensor.extract_slice %[[U]][%[[AT]], %[[N]]] [1, 1] [1, 1]
// CHECK: tensor.insert_slice {{.*}}[%[[ROW]], %{{.*}}] [1, 1] [1, 1]
func.func private @columns(%x: tensor<64x1000xf32>, %i: tensor<300x1xi32>, %u: tensor<64x300xf32>) -> tensor<64x1000xf32>
    attributes {hloom.kind = "scatter"} {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [0], inserted_window_dims = [1],
      scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<64x1000xf32>, tensor<300x1xi32>, tensor<64x300xf32>) -> tensor<64x1000xf32>
  return %0 : tensor<64x1000xf32>
}

// -----

// Changed: Windows that an index moves may overlap: one tile. The last place at which a window begins is such that all of it lies inside.
// CHECK-LABEL: func.func private @overlapping(
// CHECK-DAG: %[[LAST:.*]] = arith.constant 15 : index
// CHECK: scf.forall (%{{.*}}) in (1)
// CHECK: arith.cmpi ule, %{{.*}}, %[[LAST]]
// CHECK: tensor.insert_slice {{.*}} [5] [1]
func.func private @overlapping(%x: tensor<20xf32>, %i: tensor<30x1xi32>, %u: tensor<30x5xf32>) -> tensor<20xf32> attributes {hloom.kind = "scatter"} {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<20xf32>, tensor<30x1xi32>, tensor<30x5xf32>) -> tensor<20xf32>
  return %0 : tensor<20xf32>
}

// -----

// Changed: For a GPU the op stays up to its kernel, its body in scalar code; that indices had no sign is told by an attribute.
// CHECK-LABEL: func.func private @on_a_gpu(
// CHECK-SAME: %[[X:.*]]: tensor<20xi8>, %[[I:.*]]: tensor<30x1xi32>, %[[U:.*]]: tensor<30xi8>)
// CHECK: %[[R:.*]] = "stablehlo.scatter"(%[[X]], %[[I]], %[[U]])
// CHECK-SAME: unique_indices = true
// CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<i8>, %[[B:.*]]: tensor<i8>):
// CHECK: %[[C:.*]] = tensor.extract %[[A]][]
// CHECK: %[[D:.*]] = tensor.extract %[[B]][]
// CHECK: arith.maxui %[[C]], %[[D]] : i8
// CHECK: hloom.unsigned_indices
module attributes {hloom.target = {kind = "cuda"}} {
  func.func private @on_a_gpu(%x: tensor<20xui8>, %i: tensor<30x1xui32>, %u: tensor<30xui8>) -> tensor<20xui8> attributes {hloom.kind = "scatter"} {
    %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
    ^bb0(%a: tensor<ui8>, %b: tensor<ui8>):
      %m = stablehlo.maximum %a, %b : tensor<ui8>
      stablehlo.return %m : tensor<ui8>
    }) : (tensor<20xui8>, tensor<30x1xui32>, tensor<30xui8>) -> tensor<20xui8>
    return %0 : tensor<20xui8>
  }
}

// -----

// Changed: Of a maximum the update is the first operand: LLVM asks its sign, and waits for the other, which the update before may have written.
// CHECK-LABEL: func.func private @maxima
// CHECK: linalg.generic
// CHECK-NEXT: ^bb0(%[[UPDATE:.*]]: f32, %[[BEFORE:.*]]: f32):
// CHECK-NEXT: arith.maximumf %[[UPDATE]], %[[BEFORE]] : f32
func.func private @maxima(%x: tensor<20xf32>, %i: tensor<30x1xi32>, %u: tensor<30xf32>) -> tensor<20xf32> attributes {hloom.kind = "scatter"} {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %1 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %1 : tensor<f32>
  }) : (tensor<20xf32>, tensor<30x1xi32>, tensor<30xf32>) -> tensor<20xf32>
  return %0 : tensor<20xf32>
}
