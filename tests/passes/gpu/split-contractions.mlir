// RUN: hloom-opt %s --split-contractions --split-input-file | filecheck %s

// Changed: no kernel of contractions reads a row twice as high. The product, and as much of what follows as its kernel takes (the conversion), has a
// buffer behind the arena.
// CHECK: module attributes {hloom.decisions = [{code = "SPLIT", edge = "tensor<128x128xf16>", groups = [@fusion_0_part_0, @fusion_0]
// CHECK-SAME: reason = "a contraction that no kernel takes with the rest has a buffer"
// CHECK-LABEL: func.func public @main
// CHECK-SAME: memref<32896xi8>) attributes {hloom.arena_bytes = 32896 : i64
// CHECK: %[[VIEW:.*]] = memref.view %{{.*}} : memref<32896xi8> to memref<128x128xf16>
// CHECK-NEXT: %[[P:.*]] = "lhlo.ref"(%[[VIEW]])
// CHECK: "lhlo.fusion"(%[[X:.*]], %[[W:.*]], %[[P]]) {callee = @fusion_0_part_0,
// CHECK-NEXT: "lhlo.fusion"(%[[R:.*]], %[[P]], %{{.*}}) {callee = @fusion_0,
// CHECK-LABEL: func.func private @fusion_0_part_0
// CHECK-SAME: hloom.kind = "matmul"
// CHECK: arith.mulf
// CHECK: arith.truncf
// CHECK: return
// CHECK-LABEL: func.func private @fusion_0
// CHECK-SAME: hloom.kind = "loop"
// CHECK-NOT: arith.mulf
// CHECK: arith.addf
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d1, d2)>
#o = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#half = affine_map<(d0, d1) -> (d0 floordiv 2, d1)>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64}} {
  func.func public @main(%arg0: memref<128x128xf16>, %arg1: memref<128x128xf16>, %arg2: memref<64x128xf16>, %arg3: memref<128x128xf16>, %arg4: memref<128xi8>) attributes {hloom.arena_bytes = 128 : i64, hloom.live_bytes = 128 : i64} {
    %0 = "lhlo.ref"(%arg0) : (memref<128x128xf16>) -> !lhlo.buffer
    %1 = "lhlo.ref"(%arg1) : (memref<128x128xf16>) -> !lhlo.buffer
    %2 = "lhlo.ref"(%arg2) : (memref<64x128xf16>) -> !lhlo.buffer
    %3 = "lhlo.ref"(%arg3) : (memref<128x128xf16>) -> !lhlo.buffer
    "lhlo.fusion"(%0, %1, %2, %3) {callee = @fusion_0, inplace = array<i64>, operandSegmentSizes = array<i32: 3, 1>, source = ["dot_general"]} : (!lhlo.buffer, !lhlo.buffer, !lhlo.buffer, !lhlo.buffer) -> ()
    return
  }
  func.func private @fusion_0(%x: tensor<128x128xf16>, %w: tensor<128x128xf16>, %r: tensor<64x128xf16>) -> tensor<128x128xf16> attributes {hloom.cost_ps = 7 : i64, hloom.flops = 7 : i64, hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e1 = tensor.empty() : tensor<128x128xf32>
    %e2 = tensor.empty() : tensor<128x128xf16>
    %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<128x128xf32>) -> tensor<128x128xf32>
    %p = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<128x128xf16>, tensor<128x128xf16>) outs(%f : tensor<128x128xf32>) {
    ^bb0(%a: f16, %b: f16, %out: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %out, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<128x128xf32>
    %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<128x128xf32>) outs(%e2 : tensor<128x128xf16>) {
    ^bb0(%a: f32, %out: f16):
      %0 = arith.truncf %a : f32 to f16
      linalg.yield %0 : f16
    } -> tensor<128x128xf16>
    %s = linalg.generic {indexing_maps = [#id, #half, #id], iterator_types = ["parallel", "parallel"]} ins(%h, %r : tensor<128x128xf16>, tensor<64x128xf16>) outs(%e2 : tensor<128x128xf16>) {
    ^bb0(%a: f16, %b: f16, %out: f16):
      %0 = arith.addf %a, %b : f16
      linalg.yield %0 : f16
    } -> tensor<128x128xf16>
    return %s : tensor<128x128xf16>
  }
}

// -----

// Unchanged: a residual that is read where the result is written.
// CHECK-LABEL: func.func public @main
// CHECK: "lhlo.fusion"
// CHECK-NOT: "lhlo.fusion"
// CHECK: func.func private @fusion_0
// CHECK: arith.mulf
// CHECK: arith.addf
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d1, d2)>
#o = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#half = affine_map<(d0, d1) -> (d0 floordiv 2, d1)>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64}} {
  func.func public @main(%arg0: memref<128x128xf16>, %arg1: memref<128x128xf16>, %arg2: memref<128x128xf16>, %arg3: memref<128x128xf16>, %arg4: memref<128xi8>) attributes {hloom.arena_bytes = 128 : i64, hloom.live_bytes = 128 : i64} {
    %0 = "lhlo.ref"(%arg0) : (memref<128x128xf16>) -> !lhlo.buffer
    %1 = "lhlo.ref"(%arg1) : (memref<128x128xf16>) -> !lhlo.buffer
    %2 = "lhlo.ref"(%arg2) : (memref<128x128xf16>) -> !lhlo.buffer
    %3 = "lhlo.ref"(%arg3) : (memref<128x128xf16>) -> !lhlo.buffer
    "lhlo.fusion"(%0, %1, %2, %3) {callee = @fusion_0, inplace = array<i64>, operandSegmentSizes = array<i32: 3, 1>, source = ["dot_general"]} : (!lhlo.buffer, !lhlo.buffer, !lhlo.buffer, !lhlo.buffer) -> ()
    return
  }
  func.func private @fusion_0(%x: tensor<128x128xf16>, %w: tensor<128x128xf16>, %r: tensor<128x128xf16>) -> tensor<128x128xf16> attributes {hloom.cost_ps = 7 : i64, hloom.flops = 7 : i64, hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e1 = tensor.empty() : tensor<128x128xf32>
    %e2 = tensor.empty() : tensor<128x128xf16>
    %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<128x128xf32>) -> tensor<128x128xf32>
    %p = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<128x128xf16>, tensor<128x128xf16>) outs(%f : tensor<128x128xf32>) {
    ^bb0(%a: f16, %b: f16, %out: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %out, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<128x128xf32>
    %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<128x128xf32>) outs(%e2 : tensor<128x128xf16>) {
    ^bb0(%a: f32, %out: f16):
      %0 = arith.truncf %a : f32 to f16
      linalg.yield %0 : f16
    } -> tensor<128x128xf16>
    %s = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%h, %r : tensor<128x128xf16>, tensor<128x128xf16>) outs(%e2 : tensor<128x128xf16>) {
    ^bb0(%a: f16, %b: f16, %out: f16):
      %0 = arith.addf %a, %b : f16
      linalg.yield %0 : f16
    } -> tensor<128x128xf16>
    return %s : tensor<128x128xf16>
  }
}

// -----

// Declined: a small contraction, which a launch would cost more.
// CHECK-LABEL: func.func public @main
// CHECK: "lhlo.fusion"
// CHECK-NOT: "lhlo.fusion"
// CHECK: func.func private @fusion_0
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d1, d2)>
#o = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#half = affine_map<(d0, d1) -> (d0 floordiv 2, d1)>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64}} {
  func.func public @main(%arg0: memref<64x64xf16>, %arg1: memref<64x64xf16>, %arg2: memref<32x64xf16>, %arg3: memref<64x64xf16>, %arg4: memref<128xi8>) attributes {hloom.arena_bytes = 128 : i64, hloom.live_bytes = 128 : i64} {
    %0 = "lhlo.ref"(%arg0) : (memref<64x64xf16>) -> !lhlo.buffer
    %1 = "lhlo.ref"(%arg1) : (memref<64x64xf16>) -> !lhlo.buffer
    %2 = "lhlo.ref"(%arg2) : (memref<32x64xf16>) -> !lhlo.buffer
    %3 = "lhlo.ref"(%arg3) : (memref<64x64xf16>) -> !lhlo.buffer
    "lhlo.fusion"(%0, %1, %2, %3) {callee = @fusion_0, inplace = array<i64>, operandSegmentSizes = array<i32: 3, 1>, source = ["dot_general"]} : (!lhlo.buffer, !lhlo.buffer, !lhlo.buffer, !lhlo.buffer) -> ()
    return
  }
  func.func private @fusion_0(%x: tensor<64x64xf16>, %w: tensor<64x64xf16>, %r: tensor<32x64xf16>) -> tensor<64x64xf16> attributes {hloom.cost_ps = 7 : i64, hloom.flops = 7 : i64, hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e1 = tensor.empty() : tensor<64x64xf32>
    %e2 = tensor.empty() : tensor<64x64xf16>
    %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %p = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64x64xf16>, tensor<64x64xf16>) outs(%f : tensor<64x64xf32>) {
    ^bb0(%a: f16, %b: f16, %out: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %out, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<64x64xf32>
    %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<64x64xf32>) outs(%e2 : tensor<64x64xf16>) {
    ^bb0(%a: f32, %out: f16):
      %0 = arith.truncf %a : f32 to f16
      linalg.yield %0 : f16
    } -> tensor<64x64xf16>
    %s = linalg.generic {indexing_maps = [#id, #half, #id], iterator_types = ["parallel", "parallel"]} ins(%h, %r : tensor<64x64xf16>, tensor<32x64xf16>) outs(%e2 : tensor<64x64xf16>) {
    ^bb0(%a: f16, %b: f16, %out: f16):
      %0 = arith.addf %a, %b : f16
      linalg.yield %0 : f16
    } -> tensor<64x64xf16>
    return %s : tensor<64x64xf16>
  }
}

// -----

// Declined: a CPU, whose tiles multiply as its kernels do.
// CHECK-LABEL: func.func public @main
// CHECK: "lhlo.fusion"
// CHECK-NOT: "lhlo.fusion"
// CHECK: func.func private @fusion_0
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d1, d2)>
#o = affine_map<(d0, d1, d2) -> (d0, d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#half = affine_map<(d0, d1) -> (d0 floordiv 2, d1)>
module attributes {hloom.target = {kind = "cpu", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64}} {
  func.func public @main(%arg0: memref<128x128xf16>, %arg1: memref<128x128xf16>, %arg2: memref<64x128xf16>, %arg3: memref<128x128xf16>, %arg4: memref<128xi8>) attributes {hloom.arena_bytes = 128 : i64, hloom.live_bytes = 128 : i64} {
    %0 = "lhlo.ref"(%arg0) : (memref<128x128xf16>) -> !lhlo.buffer
    %1 = "lhlo.ref"(%arg1) : (memref<128x128xf16>) -> !lhlo.buffer
    %2 = "lhlo.ref"(%arg2) : (memref<64x128xf16>) -> !lhlo.buffer
    %3 = "lhlo.ref"(%arg3) : (memref<128x128xf16>) -> !lhlo.buffer
    "lhlo.fusion"(%0, %1, %2, %3) {callee = @fusion_0, inplace = array<i64>, operandSegmentSizes = array<i32: 3, 1>, source = ["dot_general"]} : (!lhlo.buffer, !lhlo.buffer, !lhlo.buffer, !lhlo.buffer) -> ()
    return
  }
  func.func private @fusion_0(%x: tensor<128x128xf16>, %w: tensor<128x128xf16>, %r: tensor<64x128xf16>) -> tensor<128x128xf16> attributes {hloom.cost_ps = 7 : i64, hloom.flops = 7 : i64, hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e1 = tensor.empty() : tensor<128x128xf32>
    %e2 = tensor.empty() : tensor<128x128xf16>
    %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<128x128xf32>) -> tensor<128x128xf32>
    %p = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<128x128xf16>, tensor<128x128xf16>) outs(%f : tensor<128x128xf32>) {
    ^bb0(%a: f16, %b: f16, %out: f32):
      %0 = arith.extf %a : f16 to f32
      %1 = arith.extf %b : f16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %out, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<128x128xf32>
    %h = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%p : tensor<128x128xf32>) outs(%e2 : tensor<128x128xf16>) {
    ^bb0(%a: f32, %out: f16):
      %0 = arith.truncf %a : f32 to f16
      linalg.yield %0 : f16
    } -> tensor<128x128xf16>
    %s = linalg.generic {indexing_maps = [#id, #half, #id], iterator_types = ["parallel", "parallel"]} ins(%h, %r : tensor<128x128xf16>, tensor<64x128xf16>) outs(%e2 : tensor<128x128xf16>) {
    ^bb0(%a: f16, %b: f16, %out: f16):
      %0 = arith.addf %a, %b : f16
      linalg.yield %0 : f16
    } -> tensor<128x128xf16>
    return %s : tensor<128x128xf16>
  }
}

// -----

// Declined: sums of products that read each element once are no work for tensor cores: both sums of columns stay in one group.
// CHECK-LABEL: func.func public @main
// CHECK: "lhlo.fusion"
// CHECK-NOT: "lhlo.fusion"
// CHECK: func.func private @fusion_0
#all = affine_map<(d0, d1) -> (d1, d0)>
#kept = affine_map<(d0, d1) -> (d0)>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64}} {
  func.func public @main(%arg0: memref<4096x512xf32>, %arg1: memref<4096x512xf32>, %arg2: memref<512xf32>, %arg3: memref<512xf32>, %arg4: memref<0xi8>) attributes {hloom.arena_bytes = 0 : i64, hloom.live_bytes = 0 : i64} {
    %0 = "lhlo.ref"(%arg0) : (memref<4096x512xf32>) -> !lhlo.buffer
    %1 = "lhlo.ref"(%arg1) : (memref<4096x512xf32>) -> !lhlo.buffer
    %2 = "lhlo.ref"(%arg2) : (memref<512xf32>) -> !lhlo.buffer
    %3 = "lhlo.ref"(%arg3) : (memref<512xf32>) -> !lhlo.buffer
    "lhlo.fusion"(%0, %1, %2, %3) {callee = @fusion_0, inplace = array<i64>, operandSegmentSizes = array<i32: 2, 2>, source = ["reduce"]} : (!lhlo.buffer, !lhlo.buffer, !lhlo.buffer, !lhlo.buffer) -> ()
    return
  }
  func.func private @fusion_0(%x: tensor<4096x512xf32>, %d: tensor<4096x512xf32>) -> (tensor<512xf32>, tensor<512xf32>) attributes {hloom.kind = "multi_reduce"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512xf32>) -> tensor<512xf32>
    %p = linalg.generic {indexing_maps = [#all, #all, #kept], iterator_types = ["parallel", "reduction"]} ins(%x, %d : tensor<4096x512xf32>, tensor<4096x512xf32>) outs(%f : tensor<512xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %out, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<512xf32>
    %s = linalg.generic {indexing_maps = [#all, #kept], iterator_types = ["parallel", "reduction"]} ins(%d : tensor<4096x512xf32>) outs(%f : tensor<512xf32>) {
    ^bb0(%a: f32, %out: f32):
      %0 = arith.addf %out, %a : f32
      linalg.yield %0 : f32
    } -> tensor<512xf32>
    return %p, %s : tensor<512xf32>, tensor<512xf32>
  }
}
