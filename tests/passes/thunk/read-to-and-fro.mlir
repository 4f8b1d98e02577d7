// RUN: hloom-opt %s --split-input-file --read-to-and-fro | filecheck %s

// Changed: kernels of a loop that read more than half of L2, which is 2 MB here; some rows multiply for less than twice as long as they read.
// CHECK: callee = @large{{.*}}hloom.to_and_fro
// CHECK: callee = @rows{{.*}}hloom.to_and_fro
// CHECK: callee = @large{{.*}}hloom.to_and_fro
// Declined: what half of L2 serves, what computes for longer, what the loop writes itself, in part too; a loop of one turn, one whose turns are
// not counted, no loop.
// CHECK-NOT: hloom.to_and_fro
func.func private @large(tensor<275000xf32>) -> tensor<8xf32> attributes {hloom.bytes = 1100000 : i64, hloom.flops = 550000 : i64}
func.func private @rows(tensor<275000xf32>) -> tensor<8xf32> attributes {hloom.bytes = 1100000 : i64, hloom.flops = 8800000 : i64}
func.func private @small(tensor<275000xf32>) -> tensor<8xf32> attributes {hloom.bytes = 1000000 : i64, hloom.flops = 500000 : i64}
func.func private @busy(tensor<275000xf32>) -> tensor<8xf32> attributes {hloom.bytes = 1100000 : i64, hloom.flops = 22000000 : i64}
"thunk.program"() ({
  "thunk.for"() ({
    "thunk.kernel"() {callee = @large, cost_ps = 1 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64: 0, 0, 1100000>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
    "thunk.kernel"() {callee = @rows, cost_ps = 1 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64: 0, 0, 1100000>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
    "thunk.kernel"() {callee = @large, cost_ps = 1 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64: 2, 0, 1100000>, writes = array<i64: 2, 1100000, 32>, source = []} : () -> ()
    "thunk.kernel"() {callee = @small, cost_ps = 1 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64: 0, 0, 1100000>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
    "thunk.kernel"() {callee = @busy, cost_ps = 1 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64: 0, 0, 1100000>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
    "thunk.kernel"() {callee = @large, cost_ps = 1 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64: 2, 1100000, 1100000>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
    "thunk.while"() ({
    }, {
      "thunk.kernel"() {callee = @large, cost_ps = 1 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64: 0, 0, 1100000>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
    }) {reads = array<i64: 2, 0, 1>} : () -> ()
  }) {trip_count = 3 : i64} : () -> ()
  "thunk.for"() ({
    "thunk.kernel"() {callee = @large, cost_ps = 1 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64: 0, 0, 1100000>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
  }) {trip_count = 1 : i64} : () -> ()
  "thunk.kernel"() {callee = @large, cost_ps = 1 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64: 0, 0, 1100000>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
}) {arena_bytes = 2200000 : i64, argument_bytes = array<i64: 1100000>, constants = [], result_bytes = array<i64: 32>, signature = (tensor<275000xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()

// -----

// Unchanged: a GPU.
// CHECK-NOT: hloom.to_and_fro
module attributes {hloom.target = {kind = "cuda", compute_capability = 90 : i64}} {
func.func private @large(tensor<275000xf32>) -> tensor<8xf32> attributes {hloom.bytes = 1100000 : i64, hloom.flops = 550000 : i64}
"thunk.program"() ({
  "thunk.for"() ({
    "thunk.kernel"() {callee = @large, cost_ps = 1 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64: 0, 0, 1100000>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
  }) {trip_count = 3 : i64} : () -> ()
}) {arena_bytes = 2200000 : i64, argument_bytes = array<i64: 1100000>, constants = [], result_bytes = array<i64: 32>, signature = (tensor<275000xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()
}
