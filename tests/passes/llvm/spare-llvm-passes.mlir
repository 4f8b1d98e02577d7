// RUN: hloom-opt %s '--spare-llvm-passes=long=3' --split-input-file | filecheck %s

// Changed: A kernel that @init alone runs is marked.
// Unchanged: One that vectorize-tiles marked stays so; one of @main's is not marked, even where @init runs it too.
// CHECK-LABEL: func.func private @packs(
// CHECK-SAME: attributes {hloom.effort = "least", hloom.tiles = 2 : i64}
// CHECK-LABEL: func.func private @blocks(
// CHECK-SAME: attributes {hloom.effort = "least", hloom.tiles = 2 : i64}
// CHECK-LABEL: func.func private @both(
// CHECK-SAME: attributes {hloom.tiles = 2 : i64}
func.func private @packs(%lo: index, %hi: index, %o: memref<8xf32>) attributes {hloom.tiles = 2 : i64} {
  return
}
func.func private @blocks(%lo: index, %hi: index, %o: memref<8xf32>) attributes {hloom.effort = "least", hloom.tiles = 2 : i64} {
  return
}
func.func private @both(%lo: index, %hi: index, %o: memref<8xf32>) attributes {hloom.tiles = 2 : i64} {
  return
}
"thunk.program"() ({
  "thunk.kernel"() {callee = @packs, reads = array<i64>, writes = array<i64: 0, 0, 32>, cost_ps = 1 : i64, tiles = 2 : i64, grain = 0 : i64, source = []} : () -> ()
  "thunk.kernel"() {callee = @both, reads = array<i64>, writes = array<i64: 0, 0, 32>, cost_ps = 1 : i64, tiles = 2 : i64, grain = 0 : i64, source = []} : () -> ()
}) {sym_name = "init", signature = () -> tensor<8xf32>, value_attributes = [{}], argument_bytes = array<i64>, result_bytes = array<i64: 32>, arena_bytes = 0 : i64, constants = []} : () -> ()
"thunk.program"() ({
  "thunk.kernel"() {callee = @blocks, reads = array<i64>, writes = array<i64: 0, 0, 32>, cost_ps = 1 : i64, tiles = 2 : i64, grain = 0 : i64, source = []} : () -> ()
  "thunk.kernel"() {callee = @both, reads = array<i64>, writes = array<i64: 0, 0, 32>, cost_ps = 1 : i64, tiles = 2 : i64, grain = 0 : i64, source = []} : () -> ()
}) {sym_name = "main", signature = () -> tensor<8xf32>, value_attributes = [{}], argument_bytes = array<i64>, result_bytes = array<i64: 32>, arena_bytes = 0 : i64, constants = []} : () -> ()

// -----

// Declined: What a loop of the host's runs is inlined there and wants all passes, whoever marked it; what no program runs stays as it is.
// CHECK-LABEL: func.func private @again(
// CHECK-SAME: attributes {hloom.tiles = 2 : i64}
// CHECK-LABEL: func.func private @idle(
// CHECK-SAME: attributes {hloom.tiles = 2 : i64}
func.func private @again(%lo: index, %hi: index, %o: memref<8xf32>) attributes {hloom.effort = "least", hloom.tiles = 2 : i64} {
  return
}
func.func private @idle(%lo: index, %hi: index, %o: memref<8xf32>) attributes {hloom.tiles = 2 : i64} {
  return
}
"thunk.program"() ({
  "thunk.for"() ({
    "thunk.kernel"() {callee = @again, reads = array<i64>, writes = array<i64: 0, 0, 32>, cost_ps = 1 : i64, tiles = 2 : i64, grain = 0 : i64, source = []} : () -> ()
  }) {trip_count = 10 : i64} : () -> ()
}) {sym_name = "main", signature = () -> tensor<8xf32>, value_attributes = [{}], argument_bytes = array<i64>, result_bytes = array<i64: 32>, arena_bytes = 0 : i64, constants = []} : () -> ()

// -----

// Changed: A long kernel is marked, a shorter one beside it is not.
// Declined: A long one that says that LLVM shall optimise it.
// CHECK-LABEL: func.func private @long(
// CHECK-SAME: attributes {hloom.effort = "least", hloom.tiles = 2 : i64}
// CHECK-LABEL: func.func private @short(
// CHECK-SAME: attributes {hloom.tiles = 2 : i64}
// CHECK-LABEL: func.func private @loops(
// CHECK-SAME: attributes {hloom.effort = "full", hloom.tiles = 2 : i64}
func.func private @long(%lo: index, %hi: index, %o: memref<8xf32>) attributes {hloom.tiles = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  memref.store %zero, %o[%lo] : memref<8xf32>
  return
}
func.func private @short(%lo: index, %hi: index, %o: memref<8xf32>) attributes {hloom.tiles = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  return
}
func.func private @loops(%lo: index, %hi: index, %o: memref<8xf32>) attributes {hloom.effort = "full", hloom.tiles = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  memref.store %zero, %o[%lo] : memref<8xf32>
  return
}
"thunk.program"() ({
  "thunk.kernel"() {callee = @long, reads = array<i64>, writes = array<i64: 0, 0, 32>, cost_ps = 1 : i64, tiles = 2 : i64, grain = 0 : i64, source = []} : () -> ()
  "thunk.kernel"() {callee = @short, reads = array<i64>, writes = array<i64: 0, 0, 32>, cost_ps = 1 : i64, tiles = 2 : i64, grain = 0 : i64, source = []} : () -> ()
  "thunk.kernel"() {callee = @loops, reads = array<i64>, writes = array<i64: 0, 0, 32>, cost_ps = 1 : i64, tiles = 2 : i64, grain = 0 : i64, source = []} : () -> ()
}) {sym_name = "main", signature = () -> tensor<8xf32>, value_attributes = [{}], argument_bytes = array<i64>, result_bytes = array<i64: 32>, arena_bytes = 0 : i64, constants = []} : () -> ()
