// RUN: hloom-opt %s --split-input-file --compact-sums | filecheck %s

// Changed: Sums among zeros. Each row's first update has the slot in which its row is summed; what has none goes to row 5000.
// CHECK-LABEL: func.func @zeros
// CHECK-SAME: (%[[I:.*]]: tensor<8x10x1xi32>, %[[U:.*]]: tensor<8x10x64xf32>)
// CHECK-DAG: %[[N:.*]] = stablehlo.iota dim = 0 : tensor<80xi32>
// CHECK-DAG: %[[P:.*]] = stablehlo.convert %{{.*}} : (tensor<80xi32>) -> tensor<80xi64>
// CHECK: %[[F:.*]] = "stablehlo.scatter"(%{{.*}}, %[[P]], %[[N]])
// CHECK: stablehlo.minimum
// CHECK: %[[G:.*]] = "stablehlo.gather"(%[[F]], %[[P]])
// CHECK: %[[S:.*]] = stablehlo.select %{{.*}}, %[[G]], %{{.*}} : tensor<80xi1>, tensor<80xi32>
// CHECK: %[[A:.*]] = "stablehlo.scatter"(%{{.*}}, %[[S]], %{{.*}}) <{{.*}}> ({
// CHECK: stablehlo.add
// CHECK: (tensor<80x64xf32>, tensor<80xi32>, tensor<80x64xf32>) -> tensor<80x64xf32>
// CHECK: %[[C:.*]] = stablehlo.convert %[[A]] : (tensor<80x64xf32>) -> tensor<80x64xbf16>
// CHECK: %[[E:.*]] = stablehlo.compare EQ, %[[S]], %[[N]]
// CHECK: %[[O:.*]] = stablehlo.select %[[E]], %[[P]], %{{.*}} : tensor<80xi1>, tensor<80xi64>
// CHECK: "stablehlo.scatter"(%{{.*}}, %[[O]], %[[C]])
// CHECK-NOT: stablehlo.add
// CHECK: -> tensor<5000x64xbf16>
module attributes {hloom.target = {kind = "cpu"}} {
  func.func @zeros(%i: tensor<8x10x1xi32>, %u: tensor<8x10x64xf32>) -> tensor<5000x64xbf16> {
    %z = stablehlo.constant dense<0.0> : tensor<5000x64xf32>
    %0 = "stablehlo.scatter"(%z, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
        update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<5000x64xf32>, tensor<8x10x1xi32>, tensor<8x10x64xf32>) -> tensor<5000x64xf32>
    %1 = stablehlo.convert %0 : (tensor<5000x64xf32>) -> tensor<5000x64xbf16>
    return %1 : tensor<5000x64xbf16>
  }
}

// -----

// Changed: The sums start from the rows of the table, whose other rows are not read.
// CHECK-LABEL: func.func @columns
// CHECK-SAME: (%[[T:.*]]: tensor<64x5000xf16>
// CHECK: "stablehlo.gather"(%[[T]], %{{.*}}) {{.*}} -> tensor<64x80xf16>
// CHECK-NOT: tensor<64x5000xf32>
module attributes {hloom.target = {kind = "cpu"}} {
  func.func @columns(%t: tensor<64x5000xf16>, %i: tensor<80xi64>, %u: tensor<64x80xf32>) -> tensor<64x5000xf16> {
    %w = stablehlo.convert %t : (tensor<64x5000xf16>) -> tensor<64x5000xf32>
    %0 = "stablehlo.scatter"(%w, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
        update_window_dims = [0], inserted_window_dims = [1], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<64x5000xf32>, tensor<80xi64>, tensor<64x80xf32>) -> tensor<64x5000xf32>
    %1 = stablehlo.convert %0 : (tensor<64x5000xf32>) -> tensor<64x5000xf16>
    return %1 : tensor<64x5000xf16>
  }
}

// -----

// Declined: As many updates as half the rows.
// CHECK-LABEL: func.func @many
// CHECK-COUNT-1: "stablehlo.scatter"
// CHECK-NOT: "stablehlo.scatter"
module attributes {hloom.target = {kind = "cpu"}} {
  func.func @many(%i: tensor<80x1xi32>, %u: tensor<80x64xf32>) -> tensor<150x64xbf16> {
    %z = stablehlo.constant dense<0.0> : tensor<150x64xf32>
    %0 = "stablehlo.scatter"(%z, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
        update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<150x64xf32>, tensor<80x1xi32>, tensor<80x64xf32>) -> tensor<150x64xf32>
    %1 = stablehlo.convert %0 : (tensor<150x64xf32>) -> tensor<150x64xbf16>
    return %1 : tensor<150x64xbf16>
  }
}

// -----

// Unchanged: Sums that are asked for in f32, too; those that are no sums; GPUs.
// CHECK-LABEL: func.func @read
// CHECK-COUNT-1: "stablehlo.scatter"
// CHECK-NOT: "stablehlo.scatter"
// CHECK-LABEL: func.func @largest
// CHECK-COUNT-1: "stablehlo.scatter"
// CHECK-NOT: "stablehlo.scatter"
module attributes {hloom.target = {kind = "cpu"}} {
  func.func @read(%i: tensor<80x1xi32>, %u: tensor<80x64xf32>) -> (tensor<5000x64xbf16>, tensor<5000x64xf32>) {
    %z = stablehlo.constant dense<0.0> : tensor<5000x64xf32>
    %0 = "stablehlo.scatter"(%z, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
        update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<5000x64xf32>, tensor<80x1xi32>, tensor<80x64xf32>) -> tensor<5000x64xf32>
    %1 = stablehlo.convert %0 : (tensor<5000x64xf32>) -> tensor<5000x64xbf16>
    return %1, %0 : tensor<5000x64xbf16>, tensor<5000x64xf32>
  }
  func.func @largest(%i: tensor<80x1xi32>, %u: tensor<80x64xf32>) -> tensor<5000x64xbf16> {
    %z = stablehlo.constant dense<0.0> : tensor<5000x64xf32>
    %0 = "stablehlo.scatter"(%z, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
        update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.maximum %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<5000x64xf32>, tensor<80x1xi32>, tensor<80x64xf32>) -> tensor<5000x64xf32>
    %1 = stablehlo.convert %0 : (tensor<5000x64xf32>) -> tensor<5000x64xbf16>
    return %1 : tensor<5000x64xbf16>
  }
}

// -----

// CHECK-LABEL: func.func @on_a_gpu
// CHECK-COUNT-1: "stablehlo.scatter"
// CHECK-NOT: "stablehlo.scatter"
module attributes {hloom.target = {kind = "cuda"}} {
  func.func @on_a_gpu(%i: tensor<80x1xi32>, %u: tensor<80x64xf32>) -> tensor<5000x64xbf16> {
    %z = stablehlo.constant dense<0.0> : tensor<5000x64xf32>
    %0 = "stablehlo.scatter"(%z, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
        update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<5000x64xf32>, tensor<80x1xi32>, tensor<80x64xf32>) -> tensor<5000x64xf32>
    %1 = stablehlo.convert %0 : (tensor<5000x64xf32>) -> tensor<5000x64xbf16>
    return %1 : tensor<5000x64xbf16>
  }
}
