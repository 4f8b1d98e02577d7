// RUN: hloom-opt %s --split-input-file --read-to-and-fro | filecheck %s

// Changed: a kernel of a loop that reads more than half of L2, which is 2 MB here.
// CHECK: callee = @large{{.*}}hloom.to_and_fro
// Declined: what half of L2 serves, what computes more than an operation a byte, a loop of one turn, one whose turns are not counted, no loop.
// CHECK-NOT: hloom.to_and_fro
func.func private @large(tensor<8xf32>) -> tensor<8xf32> attributes {hloom.bytes = 1100000 : i64, hloom.flops = 550000 : i64}
func.func private @small(tensor<8xf32>) -> tensor<8xf32> attributes {hloom.bytes = 1000000 : i64, hloom.flops = 500000 : i64}
func.func private @busy(tensor<8xf32>) -> tensor<8xf32> attributes {hloom.bytes = 1100000 : i64, hloom.flops = 2200000 : i64}
"thunk.program"() ({
  "thunk.for"() ({
    "thunk.kernel"() {callee = @large, cost_ps = 1 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64: 0, 0, 32>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
    "thunk.kernel"() {callee = @small, cost_ps = 1 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64: 0, 0, 32>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
    "thunk.kernel"() {callee = @busy, cost_ps = 1 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64: 0, 0, 32>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
    "thunk.while"() ({
    }, {
      "thunk.kernel"() {callee = @large, cost_ps = 1 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64: 0, 0, 32>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
    }) {reads = array<i64: 2, 0, 1>} : () -> ()
  }) {trip_count = 3 : i64} : () -> ()
  "thunk.for"() ({
    "thunk.kernel"() {callee = @large, cost_ps = 1 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64: 0, 0, 32>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
  }) {trip_count = 1 : i64} : () -> ()
  "thunk.kernel"() {callee = @large, cost_ps = 1 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64: 0, 0, 32>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
}) {arena_bytes = 64 : i64, argument_bytes = array<i64: 32>, constants = [], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()

// -----

// Unchanged: a GPU.
// CHECK-NOT: hloom.to_and_fro
module attributes {hloom.target = {kind = "cuda", compute_capability = 90 : i64}} {
func.func private @large(tensor<8xf32>) -> tensor<8xf32> attributes {hloom.bytes = 1100000 : i64, hloom.flops = 550000 : i64}
"thunk.program"() ({
  "thunk.for"() ({
    "thunk.kernel"() {callee = @large, cost_ps = 1 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64: 0, 0, 32>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
  }) {trip_count = 3 : i64} : () -> ()
}) {arena_bytes = 64 : i64, argument_bytes = array<i64: 32>, constants = [], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()
}
