// RUN: hloom-opt %s --split-input-file --assign-buffers | filecheck %s

// Changed: A chain works in place in the result's own memory: no arena, no copy. Calls that share buffers differently call different functions.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<8xf32>, %[[OUT:[a-z0-9]+]]: memref<8xf32>, %{{.*}}: memref<0xi8>
// CHECK-SAME: hloom.arena_bytes = 0 : i64, hloom.live_bytes = 0 : i64, hloom.signature = (tensor<8xf32>) -> tensor<8xf32>
// CHECK-DAG: %[[RA:.*]] = "lhlo.ref"(%[[A]])
// CHECK-DAG: %[[ROUT:.*]] = "lhlo.ref"(%[[OUT]])
// CHECK: "lhlo.fusion"(%[[RA]], %[[ROUT]]) {callee = @tanh, inplace = array<i64>,
// CHECK-SAME: source = ["tanh layer"]
// CHECK-NEXT: "lhlo.fusion"(%[[ROUT]], %[[ROUT]]) {callee = @tanh_buffers_0, inplace = array<i64: 0, 0>,
// CHECK-NEXT: return
// CHECK: func.func private @tanh_buffers_0
// CHECK-SAME: hloom.inplace = array<i64: 0, 0>
// CHECK: func.func private @tanh(
// CHECK-NOT: hloom.inplace
func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = call @tanh(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @tanh(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @tanh(%a: tensor<8xf32>) -> tensor<8xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.tanh %a : tensor<8xf32> loc("layer")
  return %0 : tensor<8xf32>
}

// -----

// Not in place: a group that reads elsewhere than it writes, and a group of another kind. Two temporaries take turns.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: memref<192xi8>
// CHECK-SAME: hloom.arena_bytes = 192 : i64, hloom.live_bytes = 192 : i64
// CHECK-COUNT-4: inplace = array<i64>,
// CHECK-NOT: hloom.inplace
func.func @main(%a: tensor<16xf32>) -> tensor<16xf32> {
  %0 = call @turn(%a) : (tensor<16xf32>) -> tensor<16xf32>
  %1 = call @turn(%0) : (tensor<16xf32>) -> tensor<16xf32>
  %2 = call @softmax(%1) : (tensor<16xf32>) -> tensor<16xf32>
  %3 = call @three(%1, %2, %0) : (tensor<16xf32>, tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return %3 : tensor<16xf32>
}
func.func private @turn(%a: tensor<16xf32>) -> tensor<16xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.reverse %a, dims = [0] : tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func private @softmax(%a: tensor<16xf32>) -> tensor<16xf32> attributes {hloom.kind = "multi_reduce"} {
  %0 = stablehlo.negate %a : tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func private @three(%a: tensor<16xf32>, %b: tensor<16xf32>, %c: tensor<16xf32>) -> tensor<16xf32> attributes {hloom.kind = "reduce"} {
  %0 = stablehlo.add %a, %b : tensor<16xf32>
  %1 = stablehlo.add %0, %c : tensor<16xf32>
  return %1 : tensor<16xf32>
}

// -----

// A result that is an argument, a constant, or another result, is copied or filled; constants are globals, i1 bytes, unsigned integers signless.
// CHECK: memref.global "private" constant @constant_0 : memref<3xi8> = dense<[1, 0, 1]>
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<4xi8> {hloom.bound}, %[[R0:[a-z0-9]+]]: memref<4xi8> {jax.result_info = "a"},
// CHECK-SAME: %[[R1:[a-z0-9]+]]: memref<3xi8>, %[[R2:[a-z0-9]+]]: memref<2xbf16>, %[[R3:[a-z0-9]+]]: memref<4xi8>
// CHECK: %[[G:.*]] = memref.get_global @constant_0
// CHECK-DAG: "lhlo.copy"(%[[A]], %[[R0]])
// CHECK-DAG: "lhlo.copy"(%[[G]], %[[R1]])
// CHECK-DAG: "lhlo.fill"(%[[R2]]) {pattern = array<i8: -64, 63>}
// CHECK-DAG: "lhlo.copy"(%[[A]], %[[R3]])
func.func @main(%a: tensor<4xui8> {hloom.bound}) -> (tensor<4xui8> {jax.result_info = "a"}, tensor<3xi1>, tensor<2xbf16>, tensor<4xui8>) {
  %0 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
  %1 = stablehlo.constant dense<1.5> : tensor<2xbf16>
  return %a, %0, %1, %a : tensor<4xui8>, tensor<3xi1>, tensor<2xbf16>, tensor<4xui8>
}

// -----

// A counted loop: its trip count is known, its condition and its counter are gone; the accumulator is updated in place, the swap goes by a temporary.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<8xf32>, %[[Y:[a-z0-9]+]]: memref<8xf32>, %[[RX:[a-z0-9]+]]: memref<8xf32>, %[[RY:[a-z0-9]+]]: memref<8xf32>
// CHECK: %[[T:.*]] = memref.view
// CHECK-DAG: "lhlo.copy"(%[[X]], %[[RX]])
// CHECK-DAG: "lhlo.copy"(%[[Y]], %[[RY]])
// CHECK: "lhlo.for"() ({
// CHECK-NEXT: "lhlo.copy"(%[[RX]], %[[T]])
// CHECK-NEXT: "lhlo.copy"(%[[RY]], %[[RX]])
// CHECK-NEXT: "lhlo.copy"(%[[T]], %[[RY]])
// CHECK-NEXT: }) {trip_count = 5 : i64}
// CHECK-NOT: lhlo.
// CHECK-NOT: func.func private
func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%a = %x, %b = %y, %i = %zero) : tensor<8xf32>, tensor<8xf32>, tensor<i32>
  cond {
    %limit = stablehlo.constant dense<10> : tensor<i32>
    %p = func.call @less(%i, %limit) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %j = func.call @inc(%i) : (tensor<i32>) -> tensor<i32>
    stablehlo.return %b, %a, %j : tensor<8xf32>, tensor<8xf32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<8xf32>, tensor<8xf32>
}
func.func private @less(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i1> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @inc(%a: tensor<i32>) -> tensor<i32> attributes {hloom.kind = "loop"} {
  %1 = stablehlo.constant dense<2> : tensor<i32>
  %0 = stablehlo.add %a, %1 : tensor<i32>
  return %0 : tensor<i32>
}

// -----

// A buffer updated row by row in a loop that ends when the data says so: copied once before the loop, then updated in place, only the window of it.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[M:[a-z0-9]+]]: memref<4x8xf32>, %[[N:[a-z0-9]+]]: memref<i32>, %[[OUT:[a-z0-9]+]]: memref<4x8xf32>
// CHECK-DAG: %[[ROUT:.*]] = "lhlo.ref"(%[[OUT]])
// CHECK: "lhlo.copy"(%[[M]], %[[OUT]])
// CHECK: "lhlo.while"(%[[P:.*]]) ({
// CHECK-NEXT: "lhlo.fusion"({{.*}}) {callee = @less
// CHECK-NEXT: }, {
// CHECK-NEXT: "lhlo.fusion"(%[[ROUT]], %[[I:.*]], %[[ROUT]]) {callee = @row, inplace = array<i64: 0, 0>
// CHECK-NEXT: "lhlo.fusion"(%[[I]], %[[I]]) {callee = @inc, inplace = array<i64: 0, 0>
// CHECK-NEXT: }) : (memref<i8>) -> ()
// CHECK-NEXT: return
// CHECK: func.func private @row
// CHECK-SAME: hloom.window_update = array<i64: 0, 0>
func.func @main(%m: tensor<4x8xf32>, %n: tensor<i32>) -> tensor<4x8xf32> {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:3 = stablehlo.while(%a = %m, %i = %zero, %same = %n) : tensor<4x8xf32>, tensor<i32>, tensor<i32>
  cond {
    %p = func.call @less(%i, %same) : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %b = func.call @row(%a, %i) : (tensor<4x8xf32>, tensor<i32>) -> tensor<4x8xf32>
    %j = func.call @inc(%i) : (tensor<i32>) -> tensor<i32>
    stablehlo.return %b, %j, %same : tensor<4x8xf32>, tensor<i32>, tensor<i32>
  }
  return %0#0 : tensor<4x8xf32>
}
func.func private @less(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i1> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.compare LT, %a, %b, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @inc(%a: tensor<i32>) -> tensor<i32> attributes {hloom.kind = "loop"} {
  %1 = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.add %a, %1 : tensor<i32>
  return %0 : tensor<i32>
}
func.func private @row(%a: tensor<4x8xf32>, %i: tensor<i32>) -> tensor<4x8xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.dynamic_slice %a, %i, %0, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
  %2 = stablehlo.negate %1 : tensor<1x8xf32>
  %3 = stablehlo.dynamic_update_slice %a, %2, %i, %0 : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// -----

// The same, but the row that is read is not the row that is written: not in place.
// CHECK-LABEL: func.func @main(
// CHECK: callee = @row, inplace = array<i64>
// CHECK-NOT: hloom.window_update
func.func @main(%m: tensor<4x8xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<4x8xf32> {
  %0 = call @copy(%m) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = call @row(%0, %i, %j) : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
func.func private @copy(%a: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.abs %a : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func private @row(%a: tensor<4x8xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<4x8xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.dynamic_slice %a, %j, %0, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
  %3 = stablehlo.dynamic_update_slice %a, %1, %i, %0 : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// -----

// A row that is turned on its way is written in place, too, where nothing reads what it writes over.
// CHECK-LABEL: func.func @main(
// CHECK: callee = @turned, inplace = array<i64: 0, 0>
// CHECK: func.func private @turned
// CHECK-SAME: hloom.window_update = array<i64: 0, 0>
func.func @main(%m: tensor<4x8xf32>, %u: tensor<8x1xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = call @copy(%m) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = call @turned(%0, %u, %i) : (tensor<4x8xf32>, tensor<8x1xf32>, tensor<i32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
func.func private @copy(%a: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.abs %a : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func private @turned(%a: tensor<4x8xf32>, %u: tensor<8x1xf32>, %i: tensor<i32>) -> tensor<4x8xf32> attributes {hloom.kind = "transpose"} {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.transpose %u, dims = [1, 0] : (tensor<8x1xf32>) -> tensor<1x8xf32>
  %2 = stablehlo.dynamic_update_slice %a, %1, %i, %0 : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// The same, but what is written depends on the row that was there: not in place.
// CHECK-LABEL: func.func @main(
// CHECK: callee = @turned, inplace = array<i64>
// CHECK-NOT: hloom.window_update
func.func @main(%m: tensor<4x8xf32>, %u: tensor<8x1xf32>, %i: tensor<i32>) -> tensor<4x8xf32> {
  %0 = call @copy(%m) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = call @turned(%0, %u, %i) : (tensor<4x8xf32>, tensor<8x1xf32>, tensor<i32>) -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}
func.func private @copy(%a: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.abs %a : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
func.func private @turned(%a: tensor<4x8xf32>, %u: tensor<8x1xf32>, %i: tensor<i32>) -> tensor<4x8xf32> attributes {hloom.kind = "transpose"} {
  %0 = stablehlo.constant dense<0> : tensor<i32>
  %1 = stablehlo.transpose %u, dims = [1, 0] : (tensor<8x1xf32>) -> tensor<1x8xf32>
  %3 = stablehlo.dynamic_slice %a, %i, %0, sizes = [1, 8] : (tensor<4x8xf32>, tensor<i32>, tensor<i32>) -> tensor<1x8xf32>
  %4 = stablehlo.add %1, %3 : tensor<1x8xf32>
  %2 = stablehlo.dynamic_update_slice %a, %4, %i, %0 : (tensor<4x8xf32>, tensor<1x8xf32>, tensor<i32>, tensor<i32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// An if: the predicate counts false as branch 0. Both branches write the result's memory.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[P:[a-z0-9]+]]: memref<i8>, %[[A:[a-z0-9]+]]: memref<8xf32>, %[[OUT:[a-z0-9]+]]: memref<8xf32>, %{{.*}}: memref<0xi8>
// CHECK: "lhlo.case"(%[[P]]) ({
// CHECK-NEXT: "lhlo.branch"() ({
// CHECK-NEXT: "lhlo.copy"(%[[A]], %[[OUT]])
// CHECK-NEXT: }) : () -> ()
// CHECK-NEXT: "lhlo.branch"() ({
// CHECK-NEXT: "lhlo.fusion"({{.*}}) {callee = @tanh
// CHECK-NEXT: }) : () -> ()
// CHECK-NEXT: }) : (memref<i8>) -> ()
func.func @main(%p: tensor<i1>, %a: tensor<8xf32>) -> tensor<8xf32> {
  %0 = "stablehlo.if"(%p) ({
    %1 = func.call @tanh(%a) : (tensor<8xf32>) -> tensor<8xf32>
    stablehlo.return %1 : tensor<8xf32>
  }, {
    stablehlo.return %a : tensor<8xf32>
  }) : (tensor<i1>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @tanh(%a: tensor<8xf32>) -> tensor<8xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.tanh %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Tensors without elements take no memory, and what only makes such tensors is not run.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: hloom.arena_bytes = 0 : i64
// CHECK-NOT: callee = @none
// CHECK: callee = @sum
func.func @main(%a: tensor<0x4xf32>) -> (tensor<0x4xf32>, tensor<4xf32>) {
  %0 = call @none(%a) : (tensor<0x4xf32>) -> tensor<0x4xf32>
  %1 = call @sum(%0) : (tensor<0x4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<0x4xf32>, tensor<4xf32>
}
func.func private @none(%a: tensor<0x4xf32>) -> tensor<0x4xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.tanh %a : tensor<0x4xf32>
  return %0 : tensor<0x4xf32>
}
func.func private @sum(%a: tensor<0x4xf32>) -> tensor<4xf32> attributes {hloom.kind = "reduce"} {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions = [0] : (tensor<0x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// A library group becomes a library op and its function goes: here Aᵀ·B in batches of 2.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<2x5x3xf32>, %[[B:[a-z0-9]+]]: memref<2x5x7xf32>, %[[C:[a-z0-9]+]]: memref<2x3x7xf32>
// CHECK: "lhlo.gemm"(%[[A]], %[[B]], %[[C]]) {accumulate = 0 : i64, epilogue = "none", operandSegmentSizes = array<i32: 1, 1, 0, 1>, sizes = array<i64: 2, 3, 7, 5>, source = ["dot_general"], strides = array<i64: 15, 1, 3, 35, 7, 1, 21, 7, 1>}
// CHECK-NOT: @dot
func.func @main(%a: tensor<2x5x3xf32>, %b: tensor<2x5x7xf32>) -> tensor<2x3x7xf32> {
  %0 = call @dot(%a, %b) : (tensor<2x5x3xf32>, tensor<2x5x7xf32>) -> tensor<2x3x7xf32>
  return %0 : tensor<2x3x7xf32>
}
func.func private @dot(%a: tensor<2x5x3xf32>, %b: tensor<2x5x7xf32>) -> tensor<2x3x7xf32> attributes {hloom.kind = "library", hloom.library = "gemm"} {
  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (tensor<2x5x3xf32>, tensor<2x5x7xf32>) -> tensor<2x3x7xf32>
  return %0 : tensor<2x3x7xf32>
}

// -----

// Unchanged: No host function: nothing to do.
// CHECK: module {
// CHECK-NEXT: func.func private @tanh(%arg0: tensor<8xf32>) -> tensor<8xf32> attributes {hloom.kind = "loop"}
func.func private @tanh(%a: tensor<8xf32>) -> tensor<8xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.tanh %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// In place: slices that a concatenation puts where they were, and that an update writes back. Not in place: the same pieces exchanged.
// CHECK-LABEL: func.func @main(
// CHECK: callee = @pieces{{.*}}, inplace = array<i64: 0, 0>
// CHECK: callee = @window{{.*}}, inplace = array<i64: 0, 0>
// CHECK: callee = @exchanged, inplace = array<i64>
func.func @main(%a: tensor<16xf32>) -> tensor<16xf32> {
  %0 = call @start(%a) : (tensor<16xf32>) -> tensor<16xf32>
  %1 = call @pieces(%0) : (tensor<16xf32>) -> tensor<16xf32>
  %2 = call @window(%1) : (tensor<16xf32>) -> tensor<16xf32>
  %3 = call @exchanged(%2) : (tensor<16xf32>) -> tensor<16xf32>
  return %3 : tensor<16xf32>
}
func.func private @start(%a: tensor<16xf32>) -> tensor<16xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.negate %a : tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func private @pieces(%a: tensor<16xf32>) -> tensor<16xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.tanh %a : tensor<16xf32>
  %1 = stablehlo.slice %0 [0:3] : (tensor<16xf32>) -> tensor<3xf32>
  %2 = stablehlo.slice %a [3:16] : (tensor<16xf32>) -> tensor<13xf32>
  %3 = stablehlo.negate %2 : tensor<13xf32>
  %4 = stablehlo.concatenate %1, %3, dim = 0 : (tensor<3xf32>, tensor<13xf32>) -> tensor<16xf32>
  return %4 : tensor<16xf32>
}
func.func private @window(%a: tensor<16xf32>) -> tensor<16xf32> attributes {hloom.kind = "loop"} {
  %c = stablehlo.constant dense<2> : tensor<i32>
  %0 = stablehlo.slice %a [2:6] : (tensor<16xf32>) -> tensor<4xf32>
  %1 = stablehlo.negate %0 : tensor<4xf32>
  %2 = stablehlo.dynamic_update_slice %a, %1, %c : (tensor<16xf32>, tensor<4xf32>, tensor<i32>) -> tensor<16xf32>
  return %2 : tensor<16xf32>
}
func.func private @exchanged(%a: tensor<16xf32>) -> tensor<16xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.slice %a [0:8] : (tensor<16xf32>) -> tensor<8xf32>
  %1 = stablehlo.slice %a [8:16] : (tensor<16xf32>) -> tensor<8xf32>
  %2 = stablehlo.concatenate %1, %0, dim = 0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  return %2 : tensor<16xf32>
}

// -----

// Not in place: an update out of bounds is brought into them, a slice is not; a window of a slice is not that of the whole.
// CHECK-LABEL: func.func @main(
// CHECK: callee = @clamped, inplace = array<i64>
// CHECK: callee = @of_a_slice, inplace = array<i64>
func.func @main(%a: tensor<16xf32>, %i: tensor<i32>) -> tensor<16xf32> {
  %0 = call @start(%a) : (tensor<16xf32>) -> tensor<16xf32>
  %1 = call @clamped(%0) : (tensor<16xf32>) -> tensor<16xf32>
  %2 = call @of_a_slice(%1, %i) : (tensor<16xf32>, tensor<i32>) -> tensor<16xf32>
  return %2 : tensor<16xf32>
}
func.func private @start(%a: tensor<16xf32>) -> tensor<16xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.negate %a : tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func private @clamped(%a: tensor<16xf32>) -> tensor<16xf32> attributes {hloom.kind = "loop"} {
  %c = stablehlo.constant dense<14> : tensor<i32>
  %0 = stablehlo.slice %a [12:16] : (tensor<16xf32>) -> tensor<4xf32>
  %1 = stablehlo.negate %0 : tensor<4xf32>
  %2 = stablehlo.dynamic_update_slice %a, %1, %c : (tensor<16xf32>, tensor<4xf32>, tensor<i32>) -> tensor<16xf32>
  return %2 : tensor<16xf32>
}
func.func private @of_a_slice(%a: tensor<16xf32>, %i: tensor<i32>) -> tensor<16xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.slice %a [0:8] : (tensor<16xf32>) -> tensor<8xf32>
  %1 = stablehlo.dynamic_slice %0, %i, sizes = [4] : (tensor<8xf32>, tensor<i32>) -> tensor<4xf32>
  %2 = stablehlo.dynamic_update_slice %a, %1, %i : (tensor<16xf32>, tensor<4xf32>, tensor<i32>) -> tensor<16xf32>
  return %2 : tensor<16xf32>
}

// -----

// Declined: A result in the place of what another result still reads: the window is written there, and the negation elsewhere.
// CHECK-LABEL: func.func @main(
// CHECK: "lhlo.fusion"(%{{.*}}) {callee = @both, inplace = array<i64: 1, 1>
func.func @main(%x: tensor<16xf32>, %i: tensor<i32>) -> tensor<16xf32> {
  %0 = call @turn(%x) : (tensor<16xf32>) -> tensor<16xf32>
  %1:2 = call @both(%x, %0, %i) : (tensor<16xf32>, tensor<16xf32>, tensor<i32>) -> (tensor<16xf32>, tensor<16xf32>)
  %2 = call @sum(%1#0, %1#1) : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return %2 : tensor<16xf32>
}
func.func private @turn(%a: tensor<16xf32>) -> tensor<16xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.reverse %a, dims = [0] : tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func private @both(%a: tensor<16xf32>, %b: tensor<16xf32>, %i: tensor<i32>) -> (tensor<16xf32>, tensor<16xf32>) attributes {hloom.kind = "loop"} {
  %0 = stablehlo.negate %a : tensor<16xf32>
  %1 = stablehlo.slice %a [2:6] : (tensor<16xf32>) -> tensor<4xf32>
  %2 = stablehlo.dynamic_update_slice %b, %1, %i : (tensor<16xf32>, tensor<4xf32>, tensor<i32>) -> tensor<16xf32>
  return %0, %2 : tensor<16xf32>, tensor<16xf32>
}
func.func private @sum(%a: tensor<16xf32>, %b: tensor<16xf32>) -> tensor<16xf32> attributes {hloom.kind = "multi_reduce"} {
  %0 = stablehlo.add %a, %b : tensor<16xf32>
  return %0 : tensor<16xf32>
}
