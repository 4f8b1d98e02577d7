// RUN: hloom-opt %s --split-input-file --verify-diagnostics --lower-thunks

// Declined: A kernel without tiles.
llvm.func @k(i64, i64, !llvm.ptr)
"thunk.program"() ({
  // expected-error @+1 {{the kernel @k has no hloom.tiles}}
  "thunk.kernel"() {callee = @k, cost_ps = 1 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64>, writes = array<i64: 0, 0, 4>, source = []} : () -> ()
}) {arena_bytes = 0 : i64, argument_bytes = array<i64>, constants = [], result_bytes = array<i64: 4>, signature = () -> tensor<i32>, sym_name = "main", value_attributes = [{}]} : () -> ()

// -----

// Declined: A kernel that is not lowered.
func.func private @k(index, index, memref<i32>) attributes {hloom.tiles = 1 : i64}
"thunk.program"() ({
  // expected-error @+1 {{the kernel @k is not an llvm.func yet}}
  "thunk.kernel"() {callee = @k, cost_ps = 1 : i64, grain = 0 : i64, tiles = 1 : i64, reads = array<i64>, writes = array<i64: 0, 0, 4>, source = []} : () -> ()
}) {arena_bytes = 0 : i64, argument_bytes = array<i64>, constants = [], result_bytes = array<i64: 4>, signature = () -> tensor<i32>, sym_name = "main", value_attributes = [{}]} : () -> ()
