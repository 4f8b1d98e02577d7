// RUN: hloom-opt %s --split-input-file --insert-profiling | filecheck %s
// RUN: hloom-opt %s --split-input-file --pass-pipeline='builtin.module(insert-profiling{nested=true})' | filecheck %s --check-prefix=NESTED

// Changed: Every thunk is measured, loops as a whole; labels are the source ops', or the thunk's own name.
// CHECK: "thunk.profile_begin"() {id = 0 : i64, label = "add; tanh"}
// CHECK-NEXT: "thunk.kernel"
// CHECK-NEXT: "thunk.profile_end"() {id = 0 : i64}
// CHECK-NEXT: "thunk.profile_begin"() {id = 1 : i64, label = "for"}
// CHECK-NEXT: "thunk.for"
// CHECK-NEXT: "thunk.copy"
// CHECK-NEXT: }) {trip_count = 3 : i64}
// CHECK-NEXT: "thunk.profile_end"() {id = 1 : i64}
// CHECK: sym_name = "main"
// The numbers go on in the next program.
// CHECK: "thunk.profile_begin"() {id = 2 : i64, label = "fill"}
// CHECK: sym_name = "init"

// NESTED: "thunk.for"
// NESTED-NEXT: "thunk.profile_begin"() {id = 2 : i64, label = "copy"}
// NESTED-NEXT: "thunk.copy"
// NESTED-NEXT: "thunk.profile_end"() {id = 2 : i64}
// NESTED-NEXT: }) {trip_count = 3 : i64}
// NESTED-NEXT: "thunk.profile_end"() {id = 1 : i64}
module {
  func.func private @fusion_0(memref<8xf32>, memref<8xf32>)
  "thunk.program"() ({
    "thunk.kernel"() {callee = @fusion_0, reads = array<i64: 0, 0, 32>, writes = array<i64: 1, 0, 32>, cost_ps = 1 : i64, tiles = 1 : i64, grain = 0 : i64, source = ["add", "tanh"]} : () -> ()
    "thunk.for"() ({
      "thunk.copy"() {reads = array<i64: 0, 0, 32>, writes = array<i64: 1, 0, 32>} : () -> ()
    }) {trip_count = 3 : i64} : () -> ()
  }) {sym_name = "main", signature = (tensor<8xf32>) -> tensor<8xf32>, value_attributes = [{}, {}], argument_bytes = array<i64: 32>, result_bytes = array<i64: 32>, arena_bytes = 0 : i64, constants = []} : () -> ()
  "thunk.program"() ({
    "thunk.fill"() {writes = array<i64: 0, 0, 32>, pattern = array<i8: 0>} : () -> ()
  }) {sym_name = "init", signature = () -> tensor<8xf32>, value_attributes = [{}], argument_bytes = array<i64>, result_bytes = array<i64: 32>, arena_bytes = 0 : i64, constants = []} : () -> ()
}

// -----

// Declined: A program that is measured already is left alone: no second measurement.
// CHECK: "thunk.profile_begin"() {id = 7 : i64, label = "x"}
// CHECK-NEXT: "thunk.fill"
// CHECK-NEXT: "thunk.profile_end"() {id = 7 : i64}
// CHECK-NEXT: }) {
module {
  "thunk.program"() ({
    "thunk.profile_begin"() {id = 7 : i64, label = "x"} : () -> ()
    "thunk.fill"() {writes = array<i64: 0, 0, 32>, pattern = array<i8: 0>} : () -> ()
    "thunk.profile_end"() {id = 7 : i64} : () -> ()
  }) {sym_name = "main", signature = () -> tensor<8xf32>, value_attributes = [{}], argument_bytes = array<i64>, result_bytes = array<i64: 32>, arena_bytes = 0 : i64, constants = []} : () -> ()
}

// -----

// Unchanged: No program.
// CHECK: module {
// CHECK-NEXT: func.func private @f
// CHECK-NEXT: }
module {
  func.func private @f()
}
