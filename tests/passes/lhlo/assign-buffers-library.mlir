// RUN: hloom-opt %s --assign-buffers --split-input-file | filecheck %s --check-prefix=LHLO
// RUN: hloom-opt %s --assign-buffers --emit-thunks --split-input-file | filecheck %s --check-prefix=THUNK

// Channels last, 2 groups, stride 2; the strides follow the layout. The residual comes after the bias whatever the order of the additions.
module attributes {hloom.target = {kind = "cuda"}} {
  // LHLO-LABEL: func.func @main(
  // LHLO-SAME: %[[X:[a-z0-9]+]]: memref<2x9x9x8xf16>, %[[W:[a-z0-9]+]]: memref<6x3x3x4xf16>, %[[B:[a-z0-9]+]]: memref<6xf16>, %[[R:[a-z0-9]+]]: memref<2x5x5x6xf16>, %[[Y:[a-z0-9]+]]: memref
  // LHLO-DAG: %[[BR:.*]] = "lhlo.ref"(%[[B]])
  // LHLO-DAG: %[[RR:.*]] = "lhlo.ref"(%[[R]])
  // LHLO: "lhlo.conv"(%[[X]], %[[W]], %[[BR]], %[[RR]], %[[Y]]) {bias = 1 : i64, dilations = array<i64: 1, 1>, filter = array<i64: 6, 4, 3, 3>,
  // LHLO-SAME: filter_strides = array<i64: 36, 1, 12, 4>, groups = 2 : i64, input = array<i64: 2, 8, 9, 9>, input_strides = array<i64: 648, 1, 72, 8>,
  // LHLO-SAME: operandSegmentSizes = array<i32: 1, 1, 2, 1>, output = array<i64: 2, 6, 5, 5>, output_strides = array<i64: 150, 1, 30, 6>,
  // LHLO-SAME: padding_high = array<i64: 1, 1>, padding_low = array<i64: 1, 1>, relu = 1 : i64, residual = 1 : i64,
  // LHLO-SAME: source = ["convolution", "add", "broadcast_in_dim", "add", "maximum"], window_strides = array<i64: 2, 2>}
  // LHLO-NOT: @conv
  // THUNK: "thunk.conv"() {bias = 1 : i64, dilations = array<i64: 1, 1>, element = f16, filter = array<i64: 6, 4, 3, 3>
  // THUNK-SAME: reads = array<i64: 0, 0, 2592, 1, 0, 432, 2, 0, 12, 3, 0, 600>, relu = 1 : i64, residual = 1 : i64
  // THUNK-SAME: writes = array<i64: 4, 0, 600>}
  func.func @main(%x: tensor<2x9x9x8xf16>, %w: tensor<6x3x3x4xf16>, %b: tensor<6xf16>, %r: tensor<2x5x5x6xf16>) -> tensor<2x5x5x6xf16> {
    %0 = call @conv(%x, %w, %r, %b) : (tensor<2x9x9x8xf16>, tensor<6x3x3x4xf16>, tensor<2x5x5x6xf16>, tensor<6xf16>) -> tensor<2x5x5x6xf16>
    return %0 : tensor<2x5x5x6xf16>
  }
  func.func private @conv(%x: tensor<2x9x9x8xf16>, %w: tensor<6x3x3x4xf16>, %r: tensor<2x5x5x6xf16>, %b: tensor<6xf16>) -> tensor<2x5x5x6xf16>
      attributes {hloom.kind = "library", hloom.library = "conv"} {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f], window = {stride = [2, 2], pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<2x9x9x8xf16>, tensor<6x3x3x4xf16>) -> tensor<2x5x5x6xf16>
    %1 = stablehlo.add %r, %0 : tensor<2x5x5x6xf16>
    %2 = stablehlo.broadcast_in_dim %b, dims = [3] : (tensor<6xf16>) -> tensor<2x5x5x6xf16>
    %3 = stablehlo.add %1, %2 : tensor<2x5x5x6xf16>
    %zero = stablehlo.constant dense<0.0> : tensor<2x5x5x6xf16>
    %4 = stablehlo.maximum %3, %zero : tensor<2x5x5x6xf16>
    return %4 : tensor<2x5x5x6xf16>
  }
}

// -----

// A product of three dimensions through reshapes, its bias and residual in the result's type, which is rounded to once.
module attributes {hloom.target = {kind = "cuda"}} {
  // LHLO-LABEL: func.func @main(
  // LHLO: "lhlo.gemm"({{.*}}) {accumulate = 1 : i64, epilogue = "bias", operandSegmentSizes = array<i32: 1, 1, 2, 1>, sizes = array<i64: 1, 6, 5, 4>
  // LHLO-SAME: strides = array<i64: 1, 4, 1, 1, 1, 4, 30, 5, 1>}
  // THUNK: "thunk.gemm"() {accumulate = 1 : i64, element = bf16, epilogue = "bias", leading = array<i64: 4, 4, 5>,
  // THUNK-SAME: reads = array<i64: 0, 0, 48, 1, 0, 40, 2, 0, 10, 3, 0, 60>, result = bf16, {{.*}}transposed = array<i64: 0, 1>, writes = array<i64: 4, 0, 60>}
  func.func @main(%x: tensor<2x3x4xbf16>, %w: tensor<5x4xbf16>, %b: tensor<5xbf16>, %r: tensor<2x3x5xbf16>) -> tensor<2x3x5xbf16> {
    %0 = call @dot(%x, %w, %b, %r) : (tensor<2x3x4xbf16>, tensor<5x4xbf16>, tensor<5xbf16>, tensor<2x3x5xbf16>) -> tensor<2x3x5xbf16>
    return %0 : tensor<2x3x5xbf16>
  }
  func.func private @dot(%x: tensor<2x3x4xbf16>, %w: tensor<5x4xbf16>, %b: tensor<5xbf16>, %r: tensor<2x3x5xbf16>) -> tensor<2x3x5xbf16>
      attributes {hloom.kind = "library", hloom.library = "gemm"} {
    %0 = stablehlo.reshape %x : (tensor<2x3x4xbf16>) -> tensor<6x4xbf16>
    %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [1] : (tensor<6x4xbf16>, tensor<5x4xbf16>) -> tensor<6x5xf32>
    %2 = stablehlo.reshape %1 : (tensor<6x5xf32>) -> tensor<2x3x5xf32>
    %3 = stablehlo.broadcast_in_dim %b, dims = [2] : (tensor<5xbf16>) -> tensor<2x3x5xbf16>
    %4 = stablehlo.convert %3 : (tensor<2x3x5xbf16>) -> tensor<2x3x5xf32>
    %5 = stablehlo.add %2, %4 : tensor<2x3x5xf32>
    %6 = stablehlo.convert %5 : (tensor<2x3x5xf32>) -> tensor<2x3x5xbf16>
    %7 = stablehlo.add %6, %r : tensor<2x3x5xbf16>
    return %7 : tensor<2x3x5xbf16>
  }
}

// -----

// Bytes whose product is a float are f8E4M3FN; bytes whose product is an integer are integers.
module attributes {hloom.target = {kind = "cuda"}} {
  // LHLO-LABEL: func.func @main(%arg0: memref<16x32xi8>, %arg1: memref<48x32xi8>, %arg2: memref<16x48xf16>, %arg3: memref<16x48xi32>
  // LHLO: "lhlo.gemm"(%arg0, %arg1, %arg2) {{.*}} : (memref<16x32xi8>, memref<48x32xi8>, memref<16x48xf16>) -> ()
  // LHLO: "lhlo.gemm"(%arg0, %arg1, %arg3) {{.*}} : (memref<16x32xi8>, memref<48x32xi8>, memref<16x48xi32>) -> ()
  // THUNK: "thunk.gemm"() {accumulate = 0 : i64, element = f8E4M3FN, {{.*}} result = f16, {{.*}} transposed = array<i64: 0, 1>
  // THUNK: "thunk.gemm"() {accumulate = 0 : i64, element = i8, {{.*}} result = i32, {{.*}} transposed = array<i64: 0, 1>
  func.func @main(%x: tensor<16x32xi8>, %w: tensor<48x32xi8>) -> (tensor<16x48xf16>, tensor<16x48xi32>) {
    %0 = call @floats(%x, %w) : (tensor<16x32xi8>, tensor<48x32xi8>) -> tensor<16x48xf16>
    %1 = call @integers(%x, %w) : (tensor<16x32xi8>, tensor<48x32xi8>) -> tensor<16x48xi32>
    return %0, %1 : tensor<16x48xf16>, tensor<16x48xi32>
  }
  func.func private @floats(%x: tensor<16x32xi8>, %w: tensor<48x32xi8>) -> tensor<16x48xf16> attributes {hloom.kind = "library", hloom.library = "gemm"} {
    %0 = stablehlo.bitcast_convert %x : (tensor<16x32xi8>) -> tensor<16x32xf8E4M3FN>
    %1 = stablehlo.bitcast_convert %w : (tensor<48x32xi8>) -> tensor<48x32xf8E4M3FN>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [1] : (tensor<16x32xf8E4M3FN>, tensor<48x32xf8E4M3FN>) -> tensor<16x48xf32>
    %3 = stablehlo.convert %2 : (tensor<16x48xf32>) -> tensor<16x48xf16>
    return %3 : tensor<16x48xf16>
  }
  func.func private @integers(%x: tensor<16x32xi8>, %w: tensor<48x32xi8>) -> tensor<16x48xi32> attributes {hloom.kind = "library", hloom.library = "gemm"} {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<16x32xi8>, tensor<48x32xi8>) -> tensor<16x48xi32>
    return %0 : tensor<16x48xi32>
  }
}
