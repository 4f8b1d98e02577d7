// RUN: hloom-opt %s --split-input-file --assign-buffers | filecheck %s

// Changed: What dies is updated where it lies: no copy.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: lhlo.copy
// CHECK: "lhlo.fusion"(%{{.*}}, %[[OUT:.*]]) {callee = @negate
// CHECK: "lhlo.fusion"(%[[OUT]], %{{.*}}, %[[OUT]]) {callee = @scatter, inplace = array<i64: 0, 0>
// CHECK: func.func private @scatter({{.*}}hloom.inplace = array<i64: 0, 0>
func.func @main(%x: tensor<8xf32>, %i: tensor<3x1xi32>) -> tensor<8xf32> {
  %0 = call @negate(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @scatter(%0, %i) : (tensor<8xf32>, tensor<3x1xi32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @negate(%x: tensor<8xf32>) -> tensor<8xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.negate %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @scatter(%x: tensor<8xf32>, %i: tensor<3x1xi32>) -> tensor<8xf32> attributes {hloom.kind = "scatter"} {
  %u = stablehlo.constant dense<1.0> : tensor<3xf32>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<8xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Changed: What lives on is copied to the result first, and updated there; a splat is filled in, and needs no memory of its own.
// CHECK-NOT: memref.global
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<8xf32>, %{{[a-z0-9]+}}: memref<3x1xi32>, %[[A:[a-z0-9]+]]: memref<8xf32>, %[[B:[a-z0-9]+]]: memref<8xf32>
// CHECK-DAG: %[[RA:.*]] = "lhlo.ref"(%[[A]])
// CHECK-DAG: %[[RB:.*]] = "lhlo.ref"(%[[B]])
// CHECK: "lhlo.copy"(%[[X]], %[[A]])
// CHECK-NEXT: "lhlo.fusion"(%[[RA]], %{{.*}}, %[[RA]]) {callee = @scatter, inplace = array<i64: 0, 0>
// CHECK-NEXT: "lhlo.fill"(%[[B]])
// CHECK-NEXT: "lhlo.fusion"(%[[RB]], %{{.*}}, %[[RB]]) {callee = @scatter, inplace = array<i64: 0, 0>
func.func @main(%x: tensor<8xf32>, %i: tensor<3x1xi32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<8xf32>
  %0 = call @scatter(%x, %i) : (tensor<8xf32>, tensor<3x1xi32>) -> tensor<8xf32>
  %1 = call @scatter(%zero, %i) : (tensor<8xf32>, tensor<3x1xi32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
func.func private @scatter(%x: tensor<8xf32>, %i: tensor<3x1xi32>) -> tensor<8xf32> attributes {hloom.kind = "scatter"} {
  %u = stablehlo.constant dense<1.0> : tensor<3xf32>
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<8xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Declined: What is updated is read as the updates too: it dies, but must not change while it is read.
// CHECK-LABEL: func.func @main(
// CHECK: "lhlo.copy"(%[[OLD:.*]], %[[OUT:.*]])
// CHECK-NEXT: "lhlo.fusion"({{.*}} {callee = @self, inplace = array<i64>
func.func @main(%x: tensor<8xf32>, %i: tensor<8x1xi32>) -> tensor<8xf32> {
  %0 = call @negate(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @self(%0, %i) : (tensor<8xf32>, tensor<8x1xi32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @negate(%x: tensor<8xf32>) -> tensor<8xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.negate %x : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @self(%x: tensor<8xf32>, %i: tensor<8x1xi32>) -> tensor<8xf32> attributes {hloom.kind = "scatter"} {
  %0 = "stablehlo.scatter"(%x, %i, %x) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
      scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<8xf32>, tensor<8x1xi32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
