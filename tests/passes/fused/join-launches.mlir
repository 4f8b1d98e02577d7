// RUN: hloom-opt %s --split-input-file --plan-fusion --join-launches | filecheck %s

// Changed: Six updates of different shapes, all in one launch.
// CHECK: code = "FUSED_HORIZONTAL", edge = "", gain_ps = 12500000 : i64
// CHECK-SAME: reason = "6 kernels that do not need each other are one launch"
// CHECK-SAME: verdict = "fused"
// CHECK-LABEL: func.func @main
// CHECK-COUNT-6: call @fusion_{{[0-9]+}}({{.*}}) {hloom.launch = 0 : i64}
// CHECK-NEXT: return
module attributes {hloom.target = {kind = "cuda", launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, f32_flops = 66900000000000 : i64, llc_bytes = 52428800 : i64}} {
  func.func @main(%a: tensor<1000xf32>, %b: tensor<64x48xf32>, %c: tensor<33xf32>, %d: tensor<7x5x3xf32>, %e: tensor<4096xf32>, %f: tensor<f32>)
      -> (tensor<1000xf32>, tensor<64x48xf32>, tensor<33xf32>, tensor<7x5x3xf32>, tensor<4096xf32>, tensor<f32>) {
    %0 = stablehlo.tanh %a : tensor<1000xf32>
    %1 = stablehlo.tanh %b : tensor<64x48xf32>
    %2 = stablehlo.tanh %c : tensor<33xf32>
    %3 = stablehlo.tanh %d : tensor<7x5x3xf32>
    %4 = stablehlo.tanh %e : tensor<4096xf32>
    %5 = stablehlo.tanh %f : tensor<f32>
    return %0, %1, %2, %3, %4, %5 : tensor<1000xf32>, tensor<64x48xf32>, tensor<33xf32>, tensor<7x5x3xf32>, tensor<4096xf32>, tensor<f32>
  }
}

// -----

// Changed: Two branches of two kernels each, one after the other in the program: their first ones share a launch, and their second ones.
// CHECK-LABEL: func.func @main
// CHECK: %[[A:.*]] = call @g({{.*}}) {hloom.launch = 0 : i64}
// CHECK: %[[C:.*]] = call @h({{.*}}) {hloom.launch = 0 : i64}
// CHECK: %[[B:.*]] = call @g(%[[A]]) {hloom.launch = 1 : i64}
// CHECK: %[[D:.*]] = call @h(%[[C]]) {hloom.launch = 1 : i64}
// CHECK: return %[[B]], %[[D]]
module attributes {hloom.target = {kind = "cuda", launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, f32_flops = 66900000000000 : i64, llc_bytes = 52428800 : i64}} {
  func.func @main(%x: tensor<64xf32>, %y: tensor<32xf32>) -> (tensor<64xf32>, tensor<32xf32>) {
    %a = call @g(%x) : (tensor<64xf32>) -> tensor<64xf32>
    %b = call @g(%a) : (tensor<64xf32>) -> tensor<64xf32>
    %c = call @h(%y) : (tensor<32xf32>) -> tensor<32xf32>
    %d = call @h(%c) : (tensor<32xf32>) -> tensor<32xf32>
    return %b, %d : tensor<64xf32>, tensor<32xf32>
  }
  func.func private @g(%x: tensor<64xf32>) -> tensor<64xf32> attributes {hloom.kind = "multi_reduce", hloom.cost_ps = 2500100 : i64} {
    %0 = stablehlo.sine %x : tensor<64xf32>
    return %0 : tensor<64xf32>
  }
  func.func private @h(%x: tensor<32xf32>) -> tensor<32xf32> attributes {hloom.kind = "multi_reduce", hloom.cost_ps = 2500100 : i64} {
    %0 = stablehlo.sine %x : tensor<32xf32>
    return %0 : tensor<32xf32>
  }
}

// -----

// Changed: A policy gives kernels that hold a sine launches of their own; what is left shares one.
// CHECK-LABEL: func.func @main
// CHECK-DAG: call @g({{[^)]*}}) : (tensor<64xf32>)
// CHECK-DAG: call @h({{.*}}) {hloom.launch = 0 : i64}
// CHECK-DAG: call @k({{.*}}) {hloom.launch = 0 : i64}
module attributes {hloom.target = {kind = "cuda", launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, f32_flops = 66900000000000 : i64, llc_bytes = 52428800 : i64}, hloom.policy = {kernel = [], fuse = [{op = "sine", action = "alone"}]}} {
  func.func @main(%x: tensor<64xf32>, %y: tensor<32xf32>) -> (tensor<64xf32>, tensor<32xf32>, tensor<32xf32>) {
    %a = call @g(%x) : (tensor<64xf32>) -> tensor<64xf32>
    %b = call @h(%y) : (tensor<32xf32>) -> tensor<32xf32>
    %c = call @k(%y) : (tensor<32xf32>) -> tensor<32xf32>
    return %a, %b, %c : tensor<64xf32>, tensor<32xf32>, tensor<32xf32>
  }
  func.func private @g(%x: tensor<64xf32>) -> tensor<64xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 2500100 : i64} {
    %0 = stablehlo.sine %x : tensor<64xf32>
    return %0 : tensor<64xf32>
  }
  func.func private @h(%x: tensor<32xf32>) -> tensor<32xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 2500100 : i64} {
    %0 = stablehlo.cosine %x : tensor<32xf32>
    return %0 : tensor<32xf32>
  }
  func.func private @k(%x: tensor<32xf32>) -> tensor<32xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 2500100 : i64} {
    %0 = stablehlo.tanh %x : tensor<32xf32>
    return %0 : tensor<32xf32>
  }
}

// -----

// Declined: On a CPU two kernels that together are not worth a parallel region.
// CHECK: code = "NO_GAIN"
// CHECK-SAME: reason = "one launch of 2 kernels is not faster"
// CHECK-LABEL: func.func @main
// CHECK-NOT: hloom.launch
func.func @main(%x: tensor<64xf32>, %y: tensor<32xf32>) -> (tensor<64xf32>, tensor<32xf32>) {
  %a = call @g(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %b = call @h(%y) : (tensor<32xf32>) -> tensor<32xf32>
  return %a, %b : tensor<64xf32>, tensor<32xf32>
}
func.func private @g(%x: tensor<64xf32>) -> tensor<64xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 8000000 : i64} {
  %0 = stablehlo.sine %x : tensor<64xf32>
  return %0 : tensor<64xf32>
}
func.func private @h(%x: tensor<32xf32>) -> tensor<32xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 8000000 : i64} {
  %0 = stablehlo.cosine %x : tensor<32xf32>
  return %0 : tensor<32xf32>
}

// -----

// Declined: Both sums have large inputs, which would be in memory at once.
// CHECK: code = "PEAK_MEMORY"
// CHECK-SAME: reason = "more than 4000256 bytes, what the program's order takes, would be live at once"
// CHECK-LABEL: func.func @main
// CHECK-NOT: hloom.launch
module attributes {hloom.target = {kind = "cuda", launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, f32_flops = 66900000000000 : i64, llc_bytes = 52428800 : i64}} {
  func.func @main(%x: tensor<64xf32>) -> tensor<64xf32> {
    %a = call @large(%x) : (tensor<64xf32>) -> tensor<1000000xf32>
    %b = call @small(%a) : (tensor<1000000xf32>) -> tensor<32xf32>
    %c = call @large(%x) : (tensor<64xf32>) -> tensor<1000000xf32>
    %d = call @small(%c) : (tensor<1000000xf32>) -> tensor<32xf32>
    %e = call @both(%b, %d) : (tensor<32xf32>, tensor<32xf32>) -> tensor<64xf32>
    return %e : tensor<64xf32>
  }
  func.func private @large(%x: tensor<64xf32>) -> tensor<1000000xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 2600000 : i64} {
    %0 = stablehlo.constant dense<1.0> : tensor<1000000xf32>
    return %0 : tensor<1000000xf32>
  }
  func.func private @small(%x: tensor<1000000xf32>) -> tensor<32xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 2600000 : i64} {
    %0 = stablehlo.slice %x [0:32] : (tensor<1000000xf32>) -> tensor<32xf32>
    return %0 : tensor<32xf32>
  }
  func.func private @both(%x: tensor<32xf32>, %y: tensor<32xf32>) -> tensor<64xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 2600000 : i64} {
    %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<32xf32>, tensor<32xf32>) -> tensor<64xf32>
    return %0 : tensor<64xf32>
  }
}

// -----

// Unchanged: A kernel that takes longer than two launches, and one that needs what the other makes.
// CHECK-LABEL: func.func @main
// CHECK-NOT: hloom.launch
module attributes {hloom.target = {kind = "cuda", launch_ps = 2500000 : i64, min_gain_ps = 250000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, f32_flops = 66900000000000 : i64, llc_bytes = 52428800 : i64}} {
  func.func @main(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
    %a = call @long(%x) : (tensor<64xf32>) -> tensor<64xf32>
    %b = call @short(%x) : (tensor<64xf32>) -> tensor<64xf32>
    %c = call @short(%b) : (tensor<64xf32>) -> tensor<64xf32>
    return %a, %c : tensor<64xf32>, tensor<64xf32>
  }
  func.func private @long(%x: tensor<64xf32>) -> tensor<64xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 5000001 : i64} {
    %0 = stablehlo.sine %x : tensor<64xf32>
    return %0 : tensor<64xf32>
  }
  func.func private @short(%x: tensor<64xf32>) -> tensor<64xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 2600000 : i64} {
    %0 = stablehlo.cosine %x : tensor<64xf32>
    return %0 : tensor<64xf32>
  }
}
