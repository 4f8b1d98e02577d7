// RUN: hloom-opt %s --distribute-scatters --canonicalize | filecheck %s

// Declined: Not a group.
// CHECK-LABEL: func.func @whole
// CHECK: stablehlo.scatter
func.func @whole(%t: tensor<100xf32>, %i: tensor<1xi32>, %u: tensor<f32>) -> tensor<100xf32> {
  %r = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0]>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %b : tensor<f32>
  }) : (tensor<100xf32>, tensor<1xi32>, tensor<f32>) -> tensor<100xf32>
  return %r : tensor<100xf32>
}

// Unchanged: A group without a scatter.
// CHECK-LABEL: func.func private @loop
// CHECK: arith.constant
func.func private @loop() -> f32 attributes {hloom.kind = "loop"} {
  %c = arith.constant 1.0 : f32
  return %c : f32
}

// Changed: A sum of integers does not depend on the order of the updates: a thread an element, and atomics.
// CHECK-LABEL: gpu.func @sum
// CHECK-SAME: %[[T:.*]]: memref<6400xi32>, %[[I:.*]]: memref<32xi64> {llvm.noalias, llvm.readonly}, %[[U:.*]]: memref<2048xi32> {{.*}}, %[[R:.*]]: memref<6400xi32>)
// CHECK-SAME: hloom.layouts = {kernel = "atomics", updates = 2048 : i64}
// CHECK-SAME: hloom.updated = array<i64: 3>
// CHECK-SAME: known_grid_size = array<i32: 8, 1, 1>
// CHECK: %[[ROW:.*]] = memref.load %[[I]]
// CHECK: %[[AT:.*]] = arith.index_cast %[[ROW]] : i64 to index
// CHECK: %[[IN:.*]] = arith.cmpi ule, %[[AT]], %c99
// CHECK: scf.if %[[IN]]
// CHECK: %[[NEW:.*]] = memref.load %[[U]]
// CHECK: memref.atomic_rmw addi %[[NEW]], %[[R]]
func.func private @sum(%t: tensor<100x64xi32>, %i: tensor<32x1xi64>, %u: tensor<32x64xi32>) -> tensor<100x64xi32>
    attributes {hloom.kind = "scatter", hloom.inplace = array<i64: 0, 0>} {
  %r = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %x = tensor.extract %a[] : tensor<i32>
    %y = tensor.extract %b[] : tensor<i32>
    %s = arith.addi %x, %y : i32
    %z = tensor.from_elements %s : tensor<i32>
    stablehlo.return %z : tensor<i32>
  }) {hloom.order = "atomics"} : (tensor<100x64xi32>, tensor<32x1xi64>, tensor<32x64xi32>) -> tensor<100x64xi32>
  return %r : tensor<100x64xi32>
}

// Changed: Many updates of few elements: each block combines them in a copy of its own, and the copy with the table.
// CHECK-LABEL: gpu.func @counts
// CHECK-SAME: %[[R:[^:]*]]: memref<256xi32>) kernel
// CHECK-SAME: hloom.layouts = {copies = 1 : i64, kernel = "atomics", updates = 20000 : i64}
// CHECK-SAME: known_grid_size = array<i32: 1, 1, 1>
// CHECK: %[[COPY:.*]] = memref.view
// CHECK: memref.store %c-2147483648_i32, %[[COPY]]
// CHECK: gpu.barrier
// CHECK: scf.for %{{.*}} to %c20000 step %c512
// CHECK: memref.atomic_rmw maxs %{{.*}}, %[[COPY]]
// CHECK: gpu.barrier
// CHECK: %[[MOST:.*]] = memref.load %[[COPY]]
// CHECK: memref.atomic_rmw maxs %[[MOST]], %[[R]]
func.func private @counts(%t: tensor<256xi32>, %i: tensor<20000x1xi32>, %u: tensor<20000xi32>) -> tensor<256xi32>
    attributes {hloom.kind = "scatter", hloom.inplace = array<i64: 0, 0>} {
  %r = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %x = tensor.extract %a[] : tensor<i32>
    %y = tensor.extract %b[] : tensor<i32>
    %s = arith.maxsi %x, %y : i32
    %z = tensor.from_elements %s : tensor<i32>
    stablehlo.return %z : tensor<i32>
  }) {hloom.order = "atomics"} : (tensor<256xi32>, tensor<20000x1xi32>, tensor<20000xi32>) -> tensor<256xi32>
  return %r : tensor<256xi32>
}

// Changed: Minima of floats by compare and swap: NaN wins, which no atomic of the hardware knows. Indices without sign are none below 0.
// CHECK-LABEL: gpu.func @least
// CHECK: arith.index_castui %{{.*}} : i32 to index
// CHECK: memref.generic_atomic_rmw
// CHECK: arith.minimumf
func.func private @least(%t: tensor<100xf32>, %i: tensor<32x1xi32>, %u: tensor<32xf32>) -> tensor<100xf32>
    attributes {hloom.kind = "scatter", hloom.inplace = array<i64: 0, 0>} {
  %r = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %x = tensor.extract %a[] : tensor<f32>
    %y = tensor.extract %b[] : tensor<f32>
    %s = arith.minimumf %y, %x : f32
    %z = tensor.from_elements %s : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }) {hloom.order = "atomics", hloom.unsigned_indices} : (tensor<100xf32>, tensor<32x1xi32>, tensor<32xf32>) -> tensor<100xf32>
  return %r : tensor<100xf32>
}

// Changed: Indices that are unique need no atomics.
// CHECK-LABEL: gpu.func @unique
// CHECK-SAME: kernel = "stores"
// CHECK: %[[OLD:.*]] = memref.load %arg3
// CHECK: %[[NEW:.*]] = arith.addf %[[OLD]]
// CHECK: memref.store %[[NEW]], %arg3
func.func private @unique(%t: tensor<100xf32>, %i: tensor<32x1xi32>, %u: tensor<32xf32>) -> tensor<100xf32>
    attributes {hloom.kind = "scatter", hloom.inplace = array<i64: 0, 0>} {
  %r = "stablehlo.scatter"(%t, %i, %u) <{unique_indices = true, scatter_dimension_numbers = #stablehlo.scatter<
      inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %x = tensor.extract %a[] : tensor<f32>
    %y = tensor.extract %b[] : tensor<f32>
    %s = arith.addf %x, %y : f32
    %z = tensor.from_elements %s : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }) {hloom.order = "stores"} : (tensor<100xf32>, tensor<32x1xi32>, tensor<32xf32>) -> tensor<100xf32>
  return %r : tensor<100xf32>
}

// Changed: A sum of floats depends on the order: a thread has a column of the table, and applies the updates one after the other.
// CHECK-LABEL: gpu.func @rows
// CHECK-SAME: hloom.layouts = {columns = 64 : i64, kernel = "in order"}
// CHECK: scf.for %{{.*}} = %c0 to %c32
// CHECK: scf.if
// CHECK: arith.addf
// CHECK: memref.store
// CHECK-NOT: gpu.barrier
func.func private @rows(%t: tensor<100x64xf32>, %i: tensor<32x1xi32>, %u: tensor<32x64xf32>) -> tensor<100x64xf32>
    attributes {hloom.kind = "scatter", hloom.inplace = array<i64: 0, 0>} {
  %r = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %x = tensor.extract %a[] : tensor<f32>
    %y = tensor.extract %b[] : tensor<f32>
    %s = arith.addf %x, %y : f32
    %z = tensor.from_elements %s : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }) {hloom.order = "in order"} : (tensor<100x64xf32>, tensor<32x1xi32>, tensor<32x64xf32>) -> tensor<100x64xf32>
  return %r : tensor<100x64xf32>
}

// Changed: Windows that overlap are shared by the threads of a block, which wait for each other after each.
// CHECK-LABEL: gpu.func @windows
// CHECK-SAME: hloom.layouts = {columns = 1 : i64, kernel = "in order", window = 5 : i64}
// CHECK: scf.for %{{.*}} = %c0 to %c8
// CHECK: memref.store
// CHECK: gpu.barrier
func.func private @windows(%t: tensor<100xf32>, %i: tensor<8x1xi32>, %u: tensor<8x5xf32>) -> tensor<100xf32>
    attributes {hloom.kind = "scatter", hloom.inplace = array<i64: 0, 0>} {
  %r = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %y = tensor.extract %b[] : tensor<f32>
    %z = tensor.from_elements %y : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }) {hloom.order = "in order"} : (tensor<100xf32>, tensor<8x1xi32>, tensor<8x5xf32>) -> tensor<100xf32>
  return %r : tensor<100xf32>
}

// Changed: Indices that are sorted: the thread at the first update of an index applies all of them, in a register.
// CHECK-LABEL: gpu.func @sorted
// CHECK-SAME: hloom.layouts = {kernel = "sorted", updates = 2048 : i64}
// CHECK: %[[OLD:.*]] = memref.load %arg3
// CHECK: scf.while (%{{.*}} = %{{.*}}, %[[SUM:.*]] = %[[OLD]])
// CHECK: arith.addf
// CHECK: memref.store %{{.*}}, %arg3
func.func private @sorted(%t: tensor<100x64xf32>, %i: tensor<32x1xi32>, %u: tensor<32x64xf32>) -> tensor<100x64xf32>
    attributes {hloom.kind = "scatter", hloom.inplace = array<i64: 0, 0>} {
  %r = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
      update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %x = tensor.extract %a[] : tensor<f32>
    %y = tensor.extract %b[] : tensor<f32>
    %s = arith.addf %x, %y : f32
    %z = tensor.from_elements %s : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }) {hloom.order = "sorted"} : (tensor<100x64xf32>, tensor<32x1xi32>, tensor<32x64xf32>) -> tensor<100x64xf32>
  return %r : tensor<100x64xf32>
}
