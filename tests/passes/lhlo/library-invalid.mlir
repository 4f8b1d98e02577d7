// RUN: hloom-opt %s --split-input-file --verify-diagnostics --verify-lhlo --verify-thunk

func.func @main(%a: memref<2x3xf16>, %b: memref<3x4xf16>, %c: memref<2x4xf16>) {
  %0 = "lhlo.ref"(%c) : (memref<2x4xf16>) -> !lhlo.buffer
  // expected-error @+1 {{takes 1 buffers for its bias and residual}}
  "lhlo.gemm"(%a, %b, %0, %c) {accumulate = 1 : i64, epilogue = "bias_relu", operandSegmentSizes = array<i32: 1, 1, 1, 1>, sizes = array<i64: 1, 2, 4, 3>, strides = array<i64: 1, 3, 1, 1, 4, 1, 8, 4, 1>, source = []} : (memref<2x3xf16>, memref<3x4xf16>, !lhlo.buffer, memref<2x4xf16>) -> ()
  return
}

// -----

func.func @main(%x: memref<1x2x8xf16>, %w: memref<3x2x3xf16>, %y: memref<1x3x5xf16>) {
  // expected-error @+1 {{y reaches past its buffer memref<1x3x5xf16>}}
  "lhlo.conv"(%x, %w, %y) {bias = 0 : i64, dilations = array<i64: 1>, filter = array<i64: 3, 2, 3>, filter_strides = array<i64: 6, 3, 1>, groups = 1 : i64, input = array<i64: 1, 2, 8>, input_strides = array<i64: 16, 8, 1>, makes = "output", operandSegmentSizes = array<i32: 1, 1, 0, 1>, output = array<i64: 1, 3, 6>, output_strides = array<i64: 18, 6, 1>, padding_high = array<i64: 0>, padding_low = array<i64: 0>, relu = 0 : i64, residual = 0 : i64, source = [], window_strides = array<i64: 1>} : (memref<1x2x8xf16>, memref<3x2x3xf16>, memref<1x3x5xf16>) -> ()
  return
}

// -----

"thunk.program"() ({
  // expected-error @+1 {{wants A, B, the bias and the residual to read}}
  "thunk.gemm"() {accumulate = 0 : i64, element = f16, epilogue = "bias", leading = array<i64: 2, 2, 2>, reads = array<i64: 0, 0, 8, 0, 0, 8>, result = f16, sizes = array<i64: 1, 2, 2, 2>, source = [], strides = array<i64: 4, 4, 4>, transposed = array<i64: 0, 0>, writes = array<i64: 1, 0, 8>} : () -> ()
}) {arena_bytes = 64 : i64, argument_bytes = array<i64: 32>, constants = [], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()

// -----

"thunk.program"() ({
  // expected-error @+1 {{multiplies f32 to f16}}
  "thunk.gemm"() {accumulate = 0 : i64, element = f32, epilogue = "none", leading = array<i64: 2, 2, 2>, reads = array<i64: 0, 0, 16, 0, 0, 16>, result = f16, sizes = array<i64: 1, 2, 2, 2>, source = [], strides = array<i64: 4, 4, 4>, transposed = array<i64: 0, 0>, writes = array<i64: 1, 0, 8>} : () -> ()
}) {arena_bytes = 64 : i64, argument_bytes = array<i64: 32>, constants = [], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()

// -----

"thunk.program"() ({
  // expected-error @+1 {{a window of 3 over 8 elements gives no 5}}
  "thunk.conv"() {bias = 0 : i64, dilations = array<i64: 1>, element = f16, filter = array<i64: 1, 1, 3>, filter_strides = array<i64: 3, 3, 1>, groups = 1 : i64, input = array<i64: 1, 1, 8>, input_strides = array<i64: 8, 8, 1>, makes = "output", output = array<i64: 1, 1, 5>, output_strides = array<i64: 5, 5, 1>, padding_high = array<i64: 0>, padding_low = array<i64: 0>, reads = array<i64: 0, 0, 16, 0, 0, 16>, relu = 0 : i64, residual = 0 : i64, source = [], window_strides = array<i64: 1>, writes = array<i64: 1, 0, 16>} : () -> ()
}) {arena_bytes = 64 : i64, argument_bytes = array<i64: 32>, constants = [], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()

// -----

"thunk.program"() ({
  // expected-error @+1 {{2 groups do not take 1 to 1 channels}}
  "thunk.conv"() {bias = 0 : i64, dilations = array<i64: 1>, element = f16, filter = array<i64: 1, 1, 3>, filter_strides = array<i64: 3, 3, 1>, groups = 2 : i64, input = array<i64: 1, 1, 8>, input_strides = array<i64: 8, 8, 1>, makes = "output", output = array<i64: 1, 1, 6>, output_strides = array<i64: 6, 6, 1>, padding_high = array<i64: 0>, padding_low = array<i64: 0>, reads = array<i64: 0, 0, 16, 0, 0, 16>, relu = 0 : i64, residual = 0 : i64, source = [], window_strides = array<i64: 1>, writes = array<i64: 1, 0, 16>} : () -> ()
}) {arena_bytes = 64 : i64, argument_bytes = array<i64: 32>, constants = [], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()

// -----

"thunk.program"() ({
  // expected-error @+1 {{computes filter, or adds to a gradient}}
  "thunk.conv"() {bias = 0 : i64, dilations = array<i64: 1>, element = f16, filter = array<i64: 1, 1, 3>, filter_strides = array<i64: 3, 3, 1>, groups = 1 : i64, input = array<i64: 1, 1, 8>, input_strides = array<i64: 8, 8, 1>, makes = "filter", output = array<i64: 1, 1, 6>, output_strides = array<i64: 6, 6, 1>, padding_high = array<i64: 0>, padding_low = array<i64: 0>, reads = array<i64: 0, 0, 16, 0, 16, 12>, relu = 1 : i64, residual = 0 : i64, source = [], window_strides = array<i64: 1>, writes = array<i64: 1, 0, 6>} : () -> ()
}) {arena_bytes = 64 : i64, argument_bytes = array<i64: 32>, constants = [], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()
