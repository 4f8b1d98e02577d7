// RUN: hloom-opt %s --split-input-file --join-phases | filecheck %s

// Changed: Two phases of a line and a bias are one group, which adds the bias before the phases are one dimension.
// CHECK: hloom.decisions = [{bytes_saved = 114688 : i64, code = "FUSED_PHASES", edge = "tensor<4x56x32xf32>", groups = [@phases_0], ops = [],
// CHECK-LABEL: func.func @main
// CHECK-SAME: %[[X:.*]]: tensor<4x56x16xf32>, %[[P:.*]]: tensor<1x16x32xf32>, %[[Q:.*]]: tensor<2x16x32xf32>, %[[B:.*]]: tensor<32xf32>
// CHECK-NEXT: %[[R:.*]] = call @phases_0(%[[X]], %[[P]], %[[Q]], %[[B]])
// CHECK-NEXT: return %[[R]]
// CHECK-NOT: @fusion
// CHECK: func.func private @phases_0(
// CHECK-SAME: hloom.flops = 11239424 : i64, hloom.kind = "conv"
// CHECK-COUNT-2: stablehlo.convolution
// CHECK: %[[C:.*]] = stablehlo.concatenate
// CHECK-SAME: -> tensor<4x56x2x32xf32>
// CHECK: %[[S:.*]] = stablehlo.broadcast_in_dim %{{.*}}, dims = [3] : (tensor<32xf32>) -> tensor<4x56x2x32xf32>
// CHECK: %[[A:.*]] = stablehlo.add %[[C]], %[[S]] : tensor<4x56x2x32xf32>
// CHECK: stablehlo.reshape %[[A]] : (tensor<4x56x2x32xf32>) -> tensor<4x112x32xf32>
// CHECK-NOT: @fusion
module attributes {hloom.target = {}} {
  func.func @main(%x: tensor<4x56x16xf32>, %p: tensor<1x16x32xf32>, %q: tensor<2x16x32xf32>, %b: tensor<32xf32>) -> tensor<4x112x32xf32> {
    %0 = call @fusion_0(%x, %p) : (tensor<4x56x16xf32>, tensor<1x16x32xf32>) -> tensor<4x56x32xf32>
    %1 = call @fusion_1(%x, %q) : (tensor<4x56x16xf32>, tensor<2x16x32xf32>) -> tensor<4x56x32xf32>
    %2 = call @fusion_2(%0, %1, %b) : (tensor<4x56x32xf32>, tensor<4x56x32xf32>, tensor<32xf32>) -> tensor<4x112x32xf32>
    return %2 : tensor<4x112x32xf32>
  }
  func.func private @fusion_0(%x: tensor<4x56x16xf32>, %w: tensor<1x16x32xf32>) -> tensor<4x56x32xf32> attributes {hloom.kind = "conv", hloom.cost_ps = 50000000 : i64, hloom.bytes = 45056 : i64, hloom.flops = 3670016 : i64} {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x56x16xf32>, tensor<1x16x32xf32>) -> tensor<4x56x32xf32>
    return %0 : tensor<4x56x32xf32>
  }
  func.func private @fusion_1(%x: tensor<4x56x16xf32>, %w: tensor<2x16x32xf32>) -> tensor<4x56x32xf32> attributes {hloom.kind = "conv", hloom.cost_ps = 90000000 : i64, hloom.bytes = 47104 : i64, hloom.flops = 7340032 : i64} {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[0, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x56x16xf32>, tensor<2x16x32xf32>) -> tensor<4x56x32xf32>
    return %0 : tensor<4x56x32xf32>
  }
  func.func private @fusion_2(%p: tensor<4x56x32xf32>, %q: tensor<4x56x32xf32>, %b: tensor<32xf32>) -> tensor<4x112x32xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 9000000 : i64, hloom.bytes = 114688 : i64, hloom.flops = 229376 : i64} {
    %0 = stablehlo.reshape %p : (tensor<4x56x32xf32>) -> tensor<4x56x1x32xf32>
    %1 = stablehlo.reshape %q : (tensor<4x56x32xf32>) -> tensor<4x56x1x32xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 2 : (tensor<4x56x1x32xf32>, tensor<4x56x1x32xf32>) -> tensor<4x56x2x32xf32>
    %3 = stablehlo.reshape %2 : (tensor<4x56x2x32xf32>) -> tensor<4x112x32xf32>
    %4 = stablehlo.broadcast_in_dim %b, dims = [2] : (tensor<32xf32>) -> tensor<4x112x32xf32>
    %5 = stablehlo.add %3, %4 : tensor<4x112x32xf32>
    return %5 : tensor<4x112x32xf32>
  }
}

// -----

// Declined: The consumer takes a part of the joined dimension.
// CHECK-NOT: FUSED_PHASES
// CHECK-LABEL: func.func @main
// CHECK-COUNT-3: call @fusion
module attributes {hloom.target = {}} {
  func.func @main(%x: tensor<4x56x16xf32>, %p: tensor<1x16x32xf32>, %q: tensor<2x16x32xf32>) -> tensor<4x111x32xf32> {
    %0 = call @fusion_0(%x, %p) : (tensor<4x56x16xf32>, tensor<1x16x32xf32>) -> tensor<4x56x32xf32>
    %1 = call @fusion_1(%x, %q) : (tensor<4x56x16xf32>, tensor<2x16x32xf32>) -> tensor<4x56x32xf32>
    %2 = call @fusion_2(%0, %1) : (tensor<4x56x32xf32>, tensor<4x56x32xf32>) -> tensor<4x111x32xf32>
    return %2 : tensor<4x111x32xf32>
  }
  func.func private @fusion_0(%x: tensor<4x56x16xf32>, %w: tensor<1x16x32xf32>) -> tensor<4x56x32xf32> attributes {hloom.kind = "conv", hloom.cost_ps = 50000000 : i64, hloom.bytes = 45056 : i64, hloom.flops = 3670016 : i64} {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x56x16xf32>, tensor<1x16x32xf32>) -> tensor<4x56x32xf32>
    return %0 : tensor<4x56x32xf32>
  }
  func.func private @fusion_1(%x: tensor<4x56x16xf32>, %w: tensor<2x16x32xf32>) -> tensor<4x56x32xf32> attributes {hloom.kind = "conv", hloom.cost_ps = 90000000 : i64, hloom.bytes = 47104 : i64, hloom.flops = 7340032 : i64} {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[0, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x56x16xf32>, tensor<2x16x32xf32>) -> tensor<4x56x32xf32>
    return %0 : tensor<4x56x32xf32>
  }
  func.func private @fusion_2(%p: tensor<4x56x32xf32>, %q: tensor<4x56x32xf32>) -> tensor<4x111x32xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 9000000 : i64, hloom.bytes = 114688 : i64, hloom.flops = 0 : i64} {
    %0 = stablehlo.reshape %p : (tensor<4x56x32xf32>) -> tensor<4x56x1x32xf32>
    %1 = stablehlo.reshape %q : (tensor<4x56x32xf32>) -> tensor<4x56x1x32xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 2 : (tensor<4x56x1x32xf32>, tensor<4x56x1x32xf32>) -> tensor<4x56x2x32xf32>
    %3 = stablehlo.reshape %2 : (tensor<4x56x2x32xf32>) -> tensor<4x112x32xf32>
    %4 = stablehlo.slice %3 [0:4, 0:111, 0:32] : (tensor<4x112x32xf32>) -> tensor<4x111x32xf32>
    return %4 : tensor<4x111x32xf32>
  }
}

// -----

// Declined: One phase's result is read by another group, too, so that only one is left.
// CHECK-NOT: FUSED_PHASES
// CHECK-LABEL: func.func @main
// CHECK-COUNT-3: call @fusion
module attributes {hloom.target = {}} {
  func.func @main(%x: tensor<4x56x16xf32>, %p: tensor<1x16x32xf32>, %q: tensor<2x16x32xf32>) -> (tensor<4x112x32xf32>, tensor<4x56x32xf32>) {
    %0 = call @fusion_0(%x, %p) : (tensor<4x56x16xf32>, tensor<1x16x32xf32>) -> tensor<4x56x32xf32>
    %1 = call @fusion_1(%x, %q) : (tensor<4x56x16xf32>, tensor<2x16x32xf32>) -> tensor<4x56x32xf32>
    %2 = call @fusion_2(%0, %1) : (tensor<4x56x32xf32>, tensor<4x56x32xf32>) -> tensor<4x112x32xf32>
    return %2, %1 : tensor<4x112x32xf32>, tensor<4x56x32xf32>
  }
  func.func private @fusion_0(%x: tensor<4x56x16xf32>, %w: tensor<1x16x32xf32>) -> tensor<4x56x32xf32> attributes {hloom.kind = "conv", hloom.cost_ps = 50000000 : i64, hloom.bytes = 45056 : i64, hloom.flops = 3670016 : i64} {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x56x16xf32>, tensor<1x16x32xf32>) -> tensor<4x56x32xf32>
    return %0 : tensor<4x56x32xf32>
  }
  func.func private @fusion_1(%x: tensor<4x56x16xf32>, %w: tensor<2x16x32xf32>) -> tensor<4x56x32xf32> attributes {hloom.kind = "conv", hloom.cost_ps = 90000000 : i64, hloom.bytes = 47104 : i64, hloom.flops = 7340032 : i64} {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[0, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x56x16xf32>, tensor<2x16x32xf32>) -> tensor<4x56x32xf32>
    return %0 : tensor<4x56x32xf32>
  }
  func.func private @fusion_2(%p: tensor<4x56x32xf32>, %q: tensor<4x56x32xf32>) -> tensor<4x112x32xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 9000000 : i64, hloom.bytes = 114688 : i64, hloom.flops = 0 : i64} {
    %0 = stablehlo.reshape %p : (tensor<4x56x32xf32>) -> tensor<4x56x1x32xf32>
    %1 = stablehlo.reshape %q : (tensor<4x56x32xf32>) -> tensor<4x56x1x32xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 2 : (tensor<4x56x1x32xf32>, tensor<4x56x1x32xf32>) -> tensor<4x56x2x32xf32>
    %3 = stablehlo.reshape %2 : (tensor<4x56x2x32xf32>) -> tensor<4x112x32xf32>
    return %3 : tensor<4x112x32xf32>
  }
}

// -----

// Declined: A policy keeps the convolutions apart.
// CHECK: POLICY_FORBIDDEN
// CHECK-LABEL: func.func @main
// CHECK-COUNT-3: call @fusion
module attributes {hloom.target = {}, hloom.policy = {kernel = [{op = "convolution", use = "apart"}]}} {
  func.func @main(%x: tensor<4x56x16xf32>, %p: tensor<1x16x32xf32>, %q: tensor<2x16x32xf32>) -> tensor<4x112x32xf32> {
    %0 = call @fusion_0(%x, %p) : (tensor<4x56x16xf32>, tensor<1x16x32xf32>) -> tensor<4x56x32xf32>
    %1 = call @fusion_1(%x, %q) : (tensor<4x56x16xf32>, tensor<2x16x32xf32>) -> tensor<4x56x32xf32>
    %2 = call @fusion_2(%0, %1) : (tensor<4x56x32xf32>, tensor<4x56x32xf32>) -> tensor<4x112x32xf32>
    return %2 : tensor<4x112x32xf32>
  }
  func.func private @fusion_0(%x: tensor<4x56x16xf32>, %w: tensor<1x16x32xf32>) -> tensor<4x56x32xf32> attributes {hloom.kind = "conv", hloom.cost_ps = 50000000 : i64, hloom.bytes = 45056 : i64, hloom.flops = 3670016 : i64} {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x56x16xf32>, tensor<1x16x32xf32>) -> tensor<4x56x32xf32>
    return %0 : tensor<4x56x32xf32>
  }
  func.func private @fusion_1(%x: tensor<4x56x16xf32>, %w: tensor<2x16x32xf32>) -> tensor<4x56x32xf32> attributes {hloom.kind = "conv", hloom.cost_ps = 90000000 : i64, hloom.bytes = 47104 : i64, hloom.flops = 7340032 : i64} {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[0, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x56x16xf32>, tensor<2x16x32xf32>) -> tensor<4x56x32xf32>
    return %0 : tensor<4x56x32xf32>
  }
  func.func private @fusion_2(%p: tensor<4x56x32xf32>, %q: tensor<4x56x32xf32>) -> tensor<4x112x32xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 9000000 : i64, hloom.bytes = 114688 : i64, hloom.flops = 0 : i64} {
    %0 = stablehlo.reshape %p : (tensor<4x56x32xf32>) -> tensor<4x56x1x32xf32>
    %1 = stablehlo.reshape %q : (tensor<4x56x32xf32>) -> tensor<4x56x1x32xf32>
    %2 = stablehlo.concatenate %0, %1, dim = 2 : (tensor<4x56x1x32xf32>, tensor<4x56x1x32xf32>) -> tensor<4x56x2x32xf32>
    %3 = stablehlo.reshape %2 : (tensor<4x56x2x32xf32>) -> tensor<4x112x32xf32>
    return %3 : tensor<4x112x32xf32>
  }
}

// -----

// Unchanged: A convolution and what follows it, which puts nothing in turn.
// CHECK-NOT: FUSED_PHASES
// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: call @fusion
module attributes {hloom.target = {}} {
  func.func @main(%x: tensor<4x56x16xf32>, %p: tensor<1x16x32xf32>) -> tensor<4x56x32xf32> {
    %0 = call @fusion_0(%x, %p) : (tensor<4x56x16xf32>, tensor<1x16x32xf32>) -> tensor<4x56x32xf32>
    %1 = call @fusion_1(%0) : (tensor<4x56x32xf32>) -> tensor<4x56x32xf32>
    return %1 : tensor<4x56x32xf32>
  }
  func.func private @fusion_0(%x: tensor<4x56x16xf32>, %w: tensor<1x16x32xf32>) -> tensor<4x56x32xf32> attributes {hloom.kind = "conv", hloom.cost_ps = 50000000 : i64, hloom.bytes = 45056 : i64, hloom.flops = 3670016 : i64} {
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<4x56x16xf32>, tensor<1x16x32xf32>) -> tensor<4x56x32xf32>
    return %0 : tensor<4x56x32xf32>
  }
  func.func private @fusion_1(%p: tensor<4x56x32xf32>) -> tensor<4x56x32xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 9000000 : i64, hloom.bytes = 57344 : i64, hloom.flops = 28672 : i64} {
    %0 = stablehlo.negate %p : tensor<4x56x32xf32>
    return %0 : tensor<4x56x32xf32>
  }
}
