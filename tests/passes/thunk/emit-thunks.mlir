// RUN: hloom-opt %s --split-input-file --emit-thunks --verify-thunk | filecheck %s

// Changed: Arguments are buffers 0 and 1, the result 2, the arena 3, the constant 4.
// CHECK: memref.global "private" constant @constant_0
// CHECK: "thunk.program"() ({
// CHECK-NEXT: "thunk.kernel"() {callee = @add, cost_ps = 42 : i64, grain = 0 : i64, reads = array<i64: 0, 0, 32, 4, 0, 32>, source = ["add layer"], tiles = -1 : i64, writes = array<i64: 3, 64, 32>}
// CHECK-NEXT: "thunk.while"() ({
// CHECK-NEXT: "thunk.fill"() {pattern = array<i8: 0>, writes = array<i64: 3, 0, 1>}
// CHECK-NEXT: }, {
// CHECK-NEXT: "thunk.for"() ({
// CHECK-NEXT: "thunk.copy"() {reads = array<i64: 3, 64, 32>, writes = array<i64: 2, 0, 32>}
// CHECK-NEXT: }) {trip_count = 3 : i64}
// CHECK-NEXT: }) {reads = array<i64: 3, 0, 1>}
// CHECK-NEXT: "thunk.case"() ({
// CHECK-NEXT: "thunk.sequence"() ({
// CHECK-NEXT: "thunk.copy"() {reads = array<i64: 0, 0, 32>, writes = array<i64: 2, 0, 32>}
// CHECK-NEXT: }) : () -> ()
// CHECK-NEXT: }) {reads = array<i64: 1, 0, 4>}
// CHECK-NEXT: }) {arena_bytes = 128 : i64, argument_bytes = array<i64: 32, 4>, constants = [@constant_0], result_bytes = array<i64: 32>,
// CHECK-SAME: signature = (tensor<8xf32>, tensor<i32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{hloom.bound}, {}, {}]}
// CHECK-NOT: @main
memref.global "private" constant @constant_0 : memref<8xf32> = dense<[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]>
func.func @main(%a: memref<8xf32> {hloom.bound}, %i: memref<i32>, %out: memref<8xf32>, %arena: memref<128xi8>) attributes {
    hloom.signature = (tensor<8xf32>, tensor<i32>) -> tensor<8xf32>} {
  %c0 = arith.constant 0 : index
  %c64 = arith.constant 64 : index
  %p = memref.view %arena[%c0][] : memref<128xi8> to memref<i8>
  %t = memref.view %arena[%c64][] : memref<128xi8> to memref<8xf32>
  %g = memref.get_global @constant_0 : memref<8xf32>
  %0 = "lhlo.ref"(%a) : (memref<8xf32>) -> !lhlo.buffer
  %1 = "lhlo.ref"(%g) : (memref<8xf32>) -> !lhlo.buffer
  %2 = "lhlo.ref"(%t) : (memref<8xf32>) -> !lhlo.buffer
  "lhlo.fusion"(%0, %1, %2) {callee = @add, inplace = array<i64>, source = ["add layer"], operandSegmentSizes = array<i32: 2, 1>} : (!lhlo.buffer, !lhlo.buffer, !lhlo.buffer) -> ()
  "lhlo.while"(%p) ({
    "lhlo.fill"(%p) {pattern = array<i8: 0>} : (memref<i8>) -> ()
  }, {
    "lhlo.for"() ({
      "lhlo.copy"(%t, %out) : (memref<8xf32>, memref<8xf32>) -> ()
    }) {trip_count = 3 : i64} : () -> ()
  }) : (memref<i8>) -> ()
  "lhlo.case"(%i) ({
    "lhlo.branch"() ({
      "lhlo.copy"(%a, %out) : (memref<8xf32>, memref<8xf32>) -> ()
    }) : () -> ()
  }) : (memref<i32>) -> ()
  return
}
func.func private @add(%a: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<8xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 42 : i64} {
  %0 = stablehlo.add %a, %b : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// A kernel that has its tiles by now: 40 µs in 100 tiles are worth sharing, 23 tiles (9 µs) a thread at least. Matrices: Aᵀ·B.
// CHECK: "thunk.kernel"() {{{.*}}cost_ps = 40000000 : i64, grain = 23 : i64,{{.*}}tiles = 100 : i64
// CHECK: "thunk.gemm"() {accumulate = 0 : i64, element = f32, epilogue = "none", leading = array<i64: 3, 7, 7>, reads = array<i64: 0, 0, 60, 1, 0, 140>, result = f32, sizes = array<i64: 1, 3, 7, 5>,
// CHECK-SAME: strides = array<i64: 1, 1, 21>, transposed = array<i64: 1, 0>, writes = array<i64: 2, 0, 84>}
func.func @main(%a: memref<5x3xf32>, %b: memref<5x7xf32>, %c: memref<3x7xf32>, %arena: memref<0xi8>) attributes {
    hloom.signature = (tensor<5x3xf32>, tensor<5x7xf32>) -> tensor<3x7xf32>} {
  %0 = "lhlo.ref"(%c) : (memref<3x7xf32>) -> !lhlo.buffer
  "lhlo.fusion"(%0) {callee = @make, inplace = array<i64>, source = [], operandSegmentSizes = array<i32: 0, 1>} : (!lhlo.buffer) -> ()
  "lhlo.gemm"(%a, %b, %c) {accumulate = 0 : i64, epilogue = "none", operandSegmentSizes = array<i32: 1, 1, 0, 1>, sizes = array<i64: 1, 3, 7, 5>, strides = array<i64: 1, 1, 3, 1, 7, 1, 21, 7, 1>, source = []} : (memref<5x3xf32>, memref<5x7xf32>, memref<3x7xf32>) -> ()
  return
}
func.func private @make(index, index, memref<3x7xf32>) attributes {hloom.tiles = 100 : i64, hloom.cost_ps = 40000000 : i64}

// -----

// Changed: Where opening a parallel region takes 10 µs, the same kernel runs on one thread.
// CHECK: "thunk.kernel"() {{{.*}}cost_ps = 40000000 : i64, grain = 0 : i64,{{.*}}tiles = 100 : i64
module attributes {hloom.target = {kind = "cpu", parallel_region_ps = 10000000 : i64}} {
  func.func @main(%c: memref<3x7xf32>, %arena: memref<0xi8>) attributes {hloom.signature = () -> tensor<3x7xf32>} {
    %0 = "lhlo.ref"(%c) : (memref<3x7xf32>) -> !lhlo.buffer
    "lhlo.fusion"(%0) {callee = @make, inplace = array<i64>, source = [], operandSegmentSizes = array<i32: 0, 1>} : (!lhlo.buffer) -> ()
    return
  }
  func.func private @make(index, index, memref<3x7xf32>) attributes {hloom.tiles = 100 : i64, hloom.cost_ps = 40000000 : i64}
}

// -----

// Unchanged: No host function: nothing to do.
// CHECK: module {
// CHECK-NEXT: func.func private @make
// CHECK-NOT: thunk
func.func private @make(index, index, memref<3x7xf32>)
