// RUN: hloom-opt %s --split-input-file --assign-buffers --verify-lhlo | filecheck %s

// Changed: A group that only reshapes is dropped. The argument that a scatter updates is its memory, seen in the scatter's shape.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %{{.*}}: memref<4x2xf32> {hloom.updated_by = 0 : i64}, %{{.*}}, %{{.*}}, %[[OUT:[a-z0-9]+]]: memref<4x2xf32>, %{{.*}}: memref<0xi8>
// CHECK: %[[SEEN:.*]] = memref.reinterpret_cast %[[OUT]] to offset: [0], sizes: [8], strides: [1] : memref<4x2xf32> to memref<8xf32>
// CHECK: %[[R:.*]] = "lhlo.ref"(%[[SEEN]])
// CHECK-NOT: lhlo.copy
// CHECK: "lhlo.fusion"(%[[R]], %{{.*}}, %{{.*}}, %[[R]]) {callee = @scatter, inplace = array<i64: 0, 0>
// CHECK-NEXT: return
// CHECK-NOT: @flat
func.func @main(%x: tensor<4x2xf32> {hloom.updated_by = 0 : i64}, %i: tensor<3x1xi32>, %u: tensor<3xf32>) -> tensor<4x2xf32> {
  %0 = call @flat(%x) : (tensor<4x2xf32>) -> tensor<8xf32>
  %1 = call @scatter(%0, %i, %u) : (tensor<8xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<8xf32>
  %2 = call @back(%1) : (tensor<8xf32>) -> tensor<4x2xf32>
  return %2 : tensor<4x2xf32>
}
func.func private @flat(%x: tensor<4x2xf32>) -> tensor<8xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.reshape %x : (tensor<4x2xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @back(%x: tensor<8xf32>) -> tensor<4x2xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.reshape %x : (tensor<8xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
func.func private @scatter(%x: tensor<8xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>) -> tensor<8xf32> attributes {hloom.kind = "scatter"} {
  %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%old: tensor<f32>, %new: tensor<f32>):
    stablehlo.return %new : tensor<f32>
  }) : (tensor<8xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Changed: An argument that stays as it is goes to the result by one copy, of one shape.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<4x2xf32>, %[[OUT:[a-z0-9]+]]: memref<8xf32>
// CHECK: %[[SEEN:.*]] = memref.reinterpret_cast %[[X]] to offset: [0], sizes: [8], strides: [1]
// CHECK: "lhlo.copy"(%[[SEEN]], %[[OUT]])
// CHECK-NEXT: return
func.func @main(%x: tensor<4x2xf32>) -> tensor<8xf32> {
  %0 = call @flat(%x) : (tensor<4x2xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @flat(%x: tensor<4x2xf32>) -> tensor<8xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.reshape %x : (tensor<4x2xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Unchanged: One number in another shape has a buffer of its own.
// CHECK-LABEL: func.func @main(
// CHECK: "lhlo.fusion"({{.*}}) {callee = @number
func.func @main(%x: tensor<1xf32>) -> tensor<f32> {
  %0 = call @number(%x) : (tensor<1xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @number(%x: tensor<1xf32>) -> tensor<f32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.reshape %x : (tensor<1xf32>) -> tensor<f32>
  return %0 : tensor<f32>
}
