// RUN: hloom-opt %s --split-input-file --repeat-reductions | filecheck %s

// Changed: The sum of parts is read by every tile of a loop, which computes it for itself. The number of x - m is a CPU's thread's, once.
// CHECK: hloom.decisions = [{code = "FUSED_REPEATED", edge = "tensor<f32>", gain_ps = {{.*}} : i64, groups = [@fusion_2], ops = [],
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[P:.*]] = call @parts(%[[X:.*]]) : (tensor<4096x4096xf32>) -> tensor<2048xf32>
// CHECK-NEXT: %[[R:.*]] = call @fusion_2(%[[X]], %[[P]])
// CHECK-NEXT: return %[[R]]
// CHECK-NOT: func.func private @fusion_0
// CHECK: func.func private @fusion_2(%[[X:.*]]: tensor<4096x4096xf32>, %[[P:.*]]: tensor<2048xf32>)
// CHECK-SAME: hloom.bytes = 134225920 : i64, hloom.cost_ps = {{.*}} : i64, hloom.flops = 16779264 : i64, hloom.kind = "loop"
// CHECK: stablehlo.reduce(%[[P]]
// CHECK: stablehlo.subtract %[[X]]
module attributes {hloom.target = {}} {
  func.func @main(%x: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
    %p = call @parts(%x) : (tensor<4096x4096xf32>) -> tensor<2048xf32>
    %m = call @fusion_0(%p) : (tensor<2048xf32>) -> tensor<f32>
    %r = call @fusion_1(%x, %m) : (tensor<4096x4096xf32>, tensor<f32>) -> tensor<4096x4096xf32>
    return %r : tensor<4096x4096xf32>
  }
  func.func private @parts(%x: tensor<4096x4096xf32>) -> tensor<2048xf32> attributes {hloom.kind = "reduce", hloom.cost_ps = 5000000000 : i64, hloom.bytes = 67117056 : i64, hloom.flops = 16777216 : i64} {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reshape %x : (tensor<4096x4096xf32>) -> tensor<2048x8192xf32>
    %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2048x8192xf32>, tensor<f32>) -> tensor<2048xf32>
    return %1 : tensor<2048xf32>
  }
  func.func private @fusion_0(%p: tensor<2048xf32>) -> tensor<f32> attributes {hloom.kind = "reduce", hloom.cost_ps = 500000 : i64, hloom.bytes = 8196 : i64, hloom.flops = 2048 : i64} {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2048xf32>, tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @fusion_1(%x: tensor<4096x4096xf32>, %m: tensor<f32>) -> tensor<4096x4096xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 7000000000 : i64, hloom.bytes = 134217732 : i64, hloom.flops = 16777216 : i64} {
    %0 = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f32>) -> tensor<4096x4096xf32>
    %1 = stablehlo.subtract %x, %0 : tensor<4096x4096xf32>
    return %1 : tensor<4096x4096xf32>
  }
}

// -----

// Changed: Two readers, one of them a reduction: each gets a copy. What goes into the second reader is then a reduction that is read by the
// last, and too large for every tile.
// CHECK: groups = [@fusion_3, @fusion_4]
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[S:.*]] = call @fusion_3(%[[X:.*]], %[[P:.*]]) : (tensor<8x65536xf32>, tensor<8x32xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[R:.*]] = call @fusion_4(%[[X]], %[[S]], %[[P]])
// CHECK-NEXT: return %[[R]]
// CHECK: func.func private @fusion_3
// CHECK-SAME: hloom.kind = "reduce"
// CHECK-COUNT-2: stablehlo.reduce
// CHECK: func.func private @fusion_4
// CHECK-SAME: hloom.kind = "loop"
module attributes {hloom.target = {kind = "cuda", launch_ps = 2500000 : i64, min_gain_ps = 100000 : i64, llc_bytes_per_second = 5500000000000 : i64, f32_flops = 66900000000000 : i64}} {
  func.func @main(%x: tensor<8x65536xf32>, %p: tensor<8x32xf32>) -> tensor<8x65536xf32> {
    %m = call @fusion_0(%p) : (tensor<8x32xf32>) -> tensor<8xf32>
    %s = call @fusion_1(%x, %m) : (tensor<8x65536xf32>, tensor<8xf32>) -> tensor<8xf32>
    %r = call @fusion_2(%x, %m, %s) : (tensor<8x65536xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x65536xf32>
    return %r : tensor<8x65536xf32>
  }
  func.func private @fusion_0(%p: tensor<8x32xf32>) -> tensor<8xf32> attributes {hloom.kind = "reduce", hloom.cost_ps = 2500000 : i64, hloom.bytes = 1056 : i64, hloom.flops = 256 : i64} {
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.reduce(%p init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<8x32xf32>, tensor<f32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
  func.func private @fusion_1(%x: tensor<8x65536xf32>, %m: tensor<8xf32>) -> tensor<8xf32> attributes {hloom.kind = "reduce", hloom.cost_ps = 4000000 : i64, hloom.bytes = 2097216 : i64, hloom.flops = 13631488 : i64} {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<8xf32>) -> tensor<8x65536xf32>
    %1 = stablehlo.subtract %x, %0 : tensor<8x65536xf32>
    %2 = stablehlo.exponential %1 : tensor<8x65536xf32>
    %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x65536xf32>, tensor<f32>) -> tensor<8xf32>
    return %3 : tensor<8xf32>
  }
  func.func private @fusion_2(%x: tensor<8x65536xf32>, %m: tensor<8xf32>, %s: tensor<8xf32>) -> tensor<8x65536xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 4000000 : i64, hloom.bytes = 4194368 : i64, hloom.flops = 13631488 : i64} {
    %0 = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<8xf32>) -> tensor<8x65536xf32>
    %1 = stablehlo.subtract %x, %0 : tensor<8x65536xf32>
    %2 = stablehlo.exponential %1 : tensor<8x65536xf32>
    %3 = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<8xf32>) -> tensor<8x65536xf32>
    %4 = stablehlo.divide %2, %3 : tensor<8x65536xf32>
    return %4 : tensor<8x65536xf32>
  }
}

// -----

// Declined: A result that the program returns, and one that costs more to add up in every tile than in a kernel of its own.
// CHECK: hloom.decisions = [{code = "NO_GAIN", edge = "tensor<f32>", {{.*}}groups = [@small, @loop],
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @small
// CHECK-NEXT: call @loop
// CHECK-NEXT: call @small
module attributes {hloom.target = {kind = "cuda", launch_ps = 1000 : i64, min_gain_ps = 100000 : i64}} {
  func.func @main(%x: tensor<65536xf32>, %p: tensor<1024xf32>, %q: tensor<1024xf32>) -> (tensor<65536xf32>, tensor<f32>) {
    %m = call @small(%p) : (tensor<1024xf32>) -> tensor<f32>
    %r = call @loop(%x, %m) : (tensor<65536xf32>, tensor<f32>) -> tensor<65536xf32>
    %n = call @small(%q) : (tensor<1024xf32>) -> tensor<f32>
    return %r, %n : tensor<65536xf32>, tensor<f32>
  }
  func.func private @small(%p: tensor<1024xf32>) -> tensor<f32> attributes {hloom.kind = "reduce", hloom.cost_ps = 101000 : i64, hloom.bytes = 4100 : i64, hloom.flops = 1024 : i64} {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<1024xf32>, tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
  func.func private @loop(%x: tensor<65536xf32>, %m: tensor<f32>) -> tensor<65536xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 101000 : i64, hloom.bytes = 524292 : i64, hloom.flops = 65536 : i64} {
    %0 = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f32>) -> tensor<65536xf32>
    %1 = stablehlo.subtract %x, %0 : tensor<65536xf32>
    return %1 : tensor<65536xf32>
  }
}

// -----

// Unchanged: A reduction of more elements than a tile repeats.
// CHECK-NOT: hloom.decisions
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @sum
// CHECK-NEXT: call @loop
func.func @main(%x: tensor<65536xf32>, %p: tensor<8192xf32>) -> tensor<65536xf32> {
  %m = call @sum(%p) : (tensor<8192xf32>) -> tensor<f32>
  %r = call @loop(%x, %m) : (tensor<65536xf32>, tensor<f32>) -> tensor<65536xf32>
  return %r : tensor<65536xf32>
}
func.func private @sum(%p: tensor<8192xf32>) -> tensor<f32> attributes {hloom.kind = "reduce", hloom.cost_ps = 1000000 : i64, hloom.bytes = 32772 : i64, hloom.flops = 8192 : i64} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8192xf32>, tensor<f32>) -> tensor<f32>
  return %0 : tensor<f32>
}
func.func private @loop(%x: tensor<65536xf32>, %m: tensor<f32>) -> tensor<65536xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 1000000 : i64, hloom.bytes = 524292 : i64, hloom.flops = 65536 : i64} {
  %0 = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f32>) -> tensor<65536xf32>
  %1 = stablehlo.subtract %x, %0 : tensor<65536xf32>
  return %1 : tensor<65536xf32>
}

// -----

// Declined: The reduction has eleven more ops, each a loop of its own, which two readers would run again: more than one kernel less saves.
// CHECK: hloom.decisions = [{code = "NO_GAIN", edge = "tensor<4xf32>"
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0
// CHECK-NEXT: call @fusion_1
// CHECK-NEXT: call @fusion_2
module attributes {hloom.target = {}} {
  func.func @main(%x: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>) {
    %m = call @fusion_0(%x) : (tensor<4x4xf32>) -> tensor<4xf32>
    %r = call @fusion_1(%m) : (tensor<4xf32>) -> tensor<4xf32>
    %s = call @fusion_2(%x, %m) : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32>
    return %r, %s : tensor<4xf32>, tensor<4x4xf32>
  }
  func.func private @fusion_0(%x: tensor<4x4xf32>) -> tensor<4xf32> attributes {hloom.kind = "reduce", hloom.cost_ps = 210000 : i64, hloom.bytes = 80 : i64, hloom.flops = 60 : i64} {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
    %1 = stablehlo.add %0, %0 : tensor<4xf32>
    %2 = stablehlo.add %1, %1 : tensor<4xf32>
    %3 = stablehlo.add %2, %2 : tensor<4xf32>
    %4 = stablehlo.add %3, %3 : tensor<4xf32>
    %5 = stablehlo.add %4, %4 : tensor<4xf32>
    %6 = stablehlo.add %5, %5 : tensor<4xf32>
    %7 = stablehlo.add %6, %6 : tensor<4xf32>
    %8 = stablehlo.add %7, %7 : tensor<4xf32>
    %9 = stablehlo.add %8, %8 : tensor<4xf32>
    %10 = stablehlo.add %9, %9 : tensor<4xf32>
    %11 = stablehlo.add %10, %10 : tensor<4xf32>
    return %11 : tensor<4xf32>
  }
  func.func private @fusion_1(%m: tensor<4xf32>) -> tensor<4xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 200000 : i64, hloom.bytes = 32 : i64, hloom.flops = 4 : i64} {
    %0 = stablehlo.negate %m : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @fusion_2(%x: tensor<4x4xf32>, %m: tensor<4xf32>) -> tensor<4x4xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 200000 : i64, hloom.bytes = 144 : i64, hloom.flops = 16 : i64} {
    %0 = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>
    %1 = stablehlo.subtract %x, %0 : tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  }
}
