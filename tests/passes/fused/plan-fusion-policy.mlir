// RUN: hloom-opt %s --plan-fusion --split-input-file --mlir-print-debuginfo | filecheck %s

// The first rule that matches an op decides: a small dot becomes a library's, the one beside it a generated kernel, at any price.
// CHECK: code = "POLICY_FORCED"
// CHECK-SAME: policy_rule = "kernel 1: op = 'dot_*', loc = '\22fc1\22*', use = 'library'"
// CHECK-SAME: reason = "gemm: gemm and what follows it {{[0-9]+}} ps, the generated kernel {{[0-9]+}} ps, against the price"
// CHECK-SAME: code = "POLICY_FORBIDDEN"
// CHECK-SAME: policy_rule = "kernel 2: op = 'dot_general', use = 'generated'"
// CHECK-SAME: reason = "generated: gemm and what follows it {{[0-9]+}} ps, the generated kernel {{[0-9]+}} ps"
// CHECK-NOT: POLICY_UNMET
// CHECK: hloom.policy =
// CHECK-LABEL: func.func @main
// CHECK: @fusion_0{{.*}}hloom.kind = "library", hloom.library = "gemm"
// CHECK: @fusion_1{{.*}}hloom.kind = "matmul"
module attributes {hloom.policy = {kernel = [
    {op = "dot_*", loc = "\"fc1\"*", use = "library"}, {op = "dot_general", use = "generated"}]}} {
  func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> loc("fc1")
    %1 = stablehlo.dot_general %x, %w, contracting_dims = [0] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32> loc("fc2")
    return %0, %1 : tensor<8x8xf32>, tensor<8x8xf32>
  }
}

// -----

// What cannot be is told, and so are rules that decide nothing.
// CHECK: code = "POLICY_UNMET"
// CHECK-SAME: name = "stablehlo.dot_general"
// CHECK-SAME: policy_rule = "kernel 1: use = 'library'"
// CHECK-SAME: reason = "generated: no library takes it, its types are none of the library's"
// CHECK-SAME: code = "POLICY_UNMET"
// CHECK-SAME: name = "stablehlo.reduce"
// CHECK-SAME: reason = "generated: no library computes reductions"
// CHECK-SAME: code = "POLICY_UNMET"
// CHECK-SAME: ops = []
// CHECK-SAME: policy_rule = "kernel 2: op = 'reduce', use = 'generated'"
// CHECK-SAME: reason = "it matches no dot, convolution, reduction or scatter that earlier rules leave"
// CHECK-SAME: policy_rule = "kernel 3: op = 'add', use = 'generated'"
// CHECK-SAME: reason = "it matches no dot, convolution, reduction or scatter{{[^"]*}}"
// CHECK-LABEL: func.func @main
module attributes {hloom.policy = {kernel = [{use = "library"}, {op = "reduce", use = "generated"}, {op = "add", use = "generated"}]}} {
  func.func @main(%x: tensor<8x8xf16>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<8x8xf16>, tensor<8x8xf16>) -> tensor<8x8xf32>
    %1 = stablehlo.add %y, %y : tensor<8x8xf32>
    %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8xf32>
    return %0, %2 : tensor<8x8xf32>, tensor<8xf32>
  }
}

// -----

// A rule may leave its ops to the price.
// CHECK: code = "KERNEL_CHOSEN"
// CHECK-SAME: policy_rule = "kernel 1: op = 'dot_general', use = 'cost'"
// CHECK-SAME: reason = "generated:
// CHECK-LABEL: func.func @main
module attributes {hloom.policy = {kernel = [{op = "dot_general", use = "cost"}, {use = "library"}]}} {
  func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
    return %0 : tensor<8x8xf32>
  }
}

// -----

// On a GPU: a padded convolution that the policy keeps from the library gives back its padding, and the rule is still told.
// CHECK: code = "POLICY_FORBIDDEN"
// CHECK-SAME: policy_rule = "kernel 1: op = 'convolution', use = 'generated'"
// CHECK-SAME: reason = "generated: conv and what follows it {{[0-9]+}} ps, the generated kernel {{[0-9]+}} ps, against the price"
// CHECK-LABEL: func.func @conv
// CHECK: stablehlo.pad
// CHECK: hloom.kind = "conv"
module attributes {hloom.policy = {kernel = [{op = "convolution", use = "generated"}]},
    hloom.target = {kind = "cuda", multiprocessors = 132, launch_ps = 2500000, f16_flops = 989000000000000,
    f32_flops = 67000000000000, dram_bytes_per_second = 3350000000000, llc_bytes_per_second = 5500000000000, llc_bytes = 50000000}} {
  func.func @conv(%x: tensor<1x16x16x8xf16>, %w: tensor<8x3x3x8xf16>) -> tensor<1x16x16x8xf16> {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x16x8xf16>, tensor<8x3x3x8xf16>) -> tensor<1x16x16x8xf16>
    return %0 : tensor<1x16x16x8xf16>
  }
}
