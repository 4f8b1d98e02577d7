// RUN: hloom-opt %s --split-input-file --verify-diagnostics --verify-thunk

// Unchanged: Nothing to object to.
func.func private @f(tensor<8xf32>) -> tensor<8xf32>
"thunk.program"() ({
  "thunk.kernel"() {callee = @f, cost_ps = 1 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64: 0, 0, 32>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
}) {arena_bytes = 64 : i64, argument_bytes = array<i64: 32>, constants = [], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()

// -----

// Unchanged: A constant is a buffer after the arena.
memref.global "private" constant @c : memref<2xf32> = dense<1.0>
"thunk.program"() ({
  "thunk.copy"() {reads = array<i64: 3, 4, 4>, writes = array<i64: 2, 60, 4>} : () -> ()
}) {arena_bytes = 64 : i64, argument_bytes = array<i64: 32>, constants = [@c], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()

// -----

// Declined: A kernel that is not there.
"thunk.program"() ({
  // expected-error @+1 {{runs @f, which is not a function of this module}}
  "thunk.kernel"() {callee = @f, cost_ps = 1 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64: 0, 0, 32>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
}) {arena_bytes = 64 : i64, argument_bytes = array<i64: 32>, constants = [], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()

// -----

func.func private @f(tensor<8xf32>) -> tensor<8xf32>
"thunk.program"() ({
  // expected-error @+1 {{slices of [16, 32] bytes for @f, which takes [32, 32]}}
  "thunk.kernel"() {callee = @f, cost_ps = 1 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64: 0, 0, 16>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
}) {arena_bytes = 64 : i64, argument_bytes = array<i64: 32>, constants = [], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()

// -----

func.func private @f(tensor<8xf32>) -> tensor<8xf32>
"thunk.program"() ({
  // expected-error @+1 {{reads buffer 3 of 3}}
  "thunk.kernel"() {callee = @f, cost_ps = 1 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64: 3, 0, 32>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
}) {arena_bytes = 64 : i64, argument_bytes = array<i64: 32>, constants = [], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()

// -----

func.func private @f(tensor<8xf32>) -> tensor<8xf32>
"thunk.program"() ({
  // expected-error @+1 {{reads holds no slices of three numbers (and 1 more)}}
  "thunk.kernel"() {callee = @f, cost_ps = 1 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64: 0, 0>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
}) {arena_bytes = 64 : i64, argument_bytes = array<i64: 32>, constants = [], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()

// -----

"thunk.program"() ({
  // expected-error @+1 {{reads bytes 40 to 72 of buffer 2, which has 64}}
  "thunk.copy"() {reads = array<i64: 2, 40, 32>, writes = array<i64: 1, 0, 32>} : () -> ()
}) {arena_bytes = 64 : i64, argument_bytes = array<i64: 32>, constants = [], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()

// -----

"thunk.program"() ({
  // expected-error @+1 {{reads bytes -4 to 28 of buffer 2, which has 64}}
  "thunk.copy"() {reads = array<i64: 2, -4, 32>, writes = array<i64: 1, 0, 32>} : () -> ()
}) {arena_bytes = 64 : i64, argument_bytes = array<i64: 32>, constants = [], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()

// -----

"thunk.program"() ({
  // expected-error @+1 {{writes buffer 0, an argument or a constant}}
  "thunk.copy"() {reads = array<i64: 1, 0, 32>, writes = array<i64: 0, 0, 32>} : () -> ()
}) {arena_bytes = 64 : i64, argument_bytes = array<i64: 32>, constants = [], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()

// -----

"thunk.program"() ({
  // expected-error @+1 {{copies between slices of different sizes}}
  "thunk.copy"() {reads = array<i64: 0, 0, 32>, writes = array<i64: 1, 0, 16>} : () -> ()
}) {arena_bytes = 64 : i64, argument_bytes = array<i64: 32>, constants = [], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()

// -----

"thunk.program"() ({
  // expected-error @+1 {{a pattern of 3 bytes does not fill the slice}}
  "thunk.fill"() {pattern = array<i8: 0, 0, 0>, writes = array<i64: 1, 0, 32>} : () -> ()
}) {arena_bytes = 64 : i64, argument_bytes = array<i64: 32>, constants = [], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()

// -----

"thunk.program"() ({
  // expected-error @+1 {{the predicate is no slice of one byte}}
  "thunk.while"() ({}, {}) {reads = array<i64: 0, 0, 4>} : () -> ()
}) {arena_bytes = 64 : i64, argument_bytes = array<i64: 32>, constants = [], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()

// -----

"thunk.program"() ({
  // expected-error @+1 {{holds something else than one thunk.sequence or more}}
  "thunk.case"() ({}) {reads = array<i64: 0, 0, 4>} : () -> ()
}) {arena_bytes = 64 : i64, argument_bytes = array<i64: 32>, constants = [], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()

// -----

"thunk.program"() ({
  // expected-error @+1 {{the index is no slice of 1, 2, 4 or 8 bytes}}
  "thunk.case"() ({"thunk.sequence"() ({}) : () -> ()}) {reads = array<i64: 0, 0, 3>} : () -> ()
}) {arena_bytes = 64 : i64, argument_bytes = array<i64: 32>, constants = [], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()

// -----

"thunk.program"() ({
  // expected-error @+1 {{C reaches past its slice of 16 bytes}}
  "thunk.gemm"() {accumulate = 0 : i64, element = f32, epilogue = "none", result = f32, leading = array<i64: 2, 2, 3>, reads = array<i64: 0, 0, 16, 0, 0, 16>, sizes = array<i64: 1, 2, 2, 2>, strides = array<i64: 4, 4, 4>, transposed = array<i64: 0, 0>, source = [], writes = array<i64: 1, 0, 16>} : () -> ()
}) {arena_bytes = 64 : i64, argument_bytes = array<i64: 32>, constants = [], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()

// -----

// expected-error @+1 {{the constant @gone is not in this module}}
"thunk.program"() ({
  "thunk.fill"() {pattern = array<i8: 0>, writes = array<i64: 1, 0, 32>} : () -> ()
}) {arena_bytes = 64 : i64, argument_bytes = array<i64: 32>, constants = [@gone], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()
