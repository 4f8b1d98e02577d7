// RUN: hloom-opt %s --split-groups --split-input-file | filecheck %s

// Changed: The tile of the windows would hold all of %v, 1 MB on a target whose tiles hold 64 KB: %v gets a buffer behind the arena, and both calls
// of the group become two. What the second part alone takes (%b), the first does not.
// CHECK: module attributes {hloom.decisions = [{code = "SPLIT", edge = "tensor<512x512xf32>", groups = [@fusion_0_part_0, @fusion_0]
// CHECK-LABEL: func.func public @main
// CHECK-SAME: %[[ARENA:[a-z0-9]+]]: memref<1048704xi8>) attributes {hloom.arena_bytes = 1048704 : i64, hloom.live_bytes = 1048676 : i64
// CHECK: %[[AT:.*]] = arith.constant 128 : index
// CHECK-NEXT: %[[VIEW:.*]] = memref.view %[[ARENA]][%[[AT]]][] : memref<1048704xi8> to memref<512x512xf32>
// CHECK-NEXT: %[[V:.*]] = "lhlo.ref"(%[[VIEW]])
// CHECK: %[[X:.*]] = "lhlo.ref"(%arg0)
// CHECK: %[[B:.*]] = "lhlo.ref"(%arg1)
// CHECK: %[[OUT:.*]] = "lhlo.ref"(%arg2)
// CHECK: "lhlo.fusion"(%[[X]], %[[V]]) {callee = @fusion_0_part_0, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>
// CHECK-NEXT: "lhlo.fusion"(%[[B]], %[[V]], %[[OUT]]) {callee = @fusion_0, inplace = array<i64>, operandSegmentSizes = array<i32: 2, 1>
// CHECK: "lhlo.for"
// CHECK: "lhlo.fusion"(%[[X]], %[[V]]) {callee = @fusion_0_part_0,
// CHECK-NEXT: "lhlo.fusion"(%[[B]], %[[V]], %[[OUT]]) {callee = @fusion_0,
// CHECK-LABEL: func.func private @fusion_0_part_0
// CHECK-SAME: (%[[PX:.*]]: tensor<512x512xf32>) -> tensor<512x512xf32> attributes {hloom.bytes = 2097152 : i64, hloom.kind = "loop"}
// CHECK: %[[PV:.*]] = linalg.generic {{.*}} ins(%[[PX]] : tensor<512x512xf32>)
// CHECK: return %[[PV]]
// CHECK-LABEL: func.func private @fusion_0
// CHECK-SAME: (%[[SB:.*]]: tensor<510x510xf32>, %[[SV:.*]]: tensor<512x512xf32>) -> tensor<510x510xf32> attributes {{{.*}}hloom.kind = "reduce"}
// CHECK-NOT: math.exp
// CHECK: linalg.generic {{.*}} ins(%[[SV]], %{{.*}} : tensor<512x512xf32>, tensor<3x3xf32>) outs(%{{.*}} : tensor<510x510xf32>)
#id = affine_map<(d0, d1) -> (d0, d1)>
#window = affine_map<(d0, d1, d2, d3) -> (d0 + d2, d1 + d3)>
#place = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#out = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
module attributes {hloom.target = {l2_bytes = 65536 : i64, llc_bytes = 65536 : i64}} {
  func.func public @main(%arg0: memref<512x512xf32>, %arg1: memref<510x510xf32>, %arg2: memref<510x510xf32>, %arg3: memref<100xi8>) attributes {hloom.arena_bytes = 100 : i64, hloom.live_bytes = 100 : i64} {
    %0 = "lhlo.ref"(%arg0) : (memref<512x512xf32>) -> !lhlo.buffer
    %1 = "lhlo.ref"(%arg1) : (memref<510x510xf32>) -> !lhlo.buffer
    %2 = "lhlo.ref"(%arg2) : (memref<510x510xf32>) -> !lhlo.buffer
    "lhlo.fusion"(%0, %1, %2) {callee = @fusion_0, inplace = array<i64>, operandSegmentSizes = array<i32: 2, 1>, source = ["exponential"]} : (!lhlo.buffer, !lhlo.buffer, !lhlo.buffer) -> ()
    "lhlo.for"() ({
      "lhlo.fusion"(%0, %1, %2) {callee = @fusion_0, inplace = array<i64>, operandSegmentSizes = array<i32: 2, 1>, source = ["exponential"]} : (!lhlo.buffer, !lhlo.buffer, !lhlo.buffer) -> ()
    }) {trip_count = 3 : i64} : () -> ()
    return
  }
  func.func private @fusion_0(%x: tensor<512x512xf32>, %b: tensor<510x510xf32>) -> tensor<510x510xf32> attributes {hloom.cost_ps = 7 : i64, hloom.flops = 7 : i64, hloom.kind = "reduce"} {
    %zero = arith.constant 0.0 : f32
    %e1 = tensor.empty() : tensor<512x512xf32>
    %e2 = tensor.empty() : tensor<510x510xf32>
    %w = tensor.empty() : tensor<3x3xf32>
    %v = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<512x512xf32>) outs(%e1 : tensor<512x512xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = math.exp %in : f32
      linalg.yield %0 : f32
    } -> tensor<512x512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e2 : tensor<510x510xf32>) -> tensor<510x510xf32>
    %s = linalg.generic {indexing_maps = [#window, #place, #out], iterator_types = ["parallel", "parallel", "reduction", "reduction"]} ins(%v, %w : tensor<512x512xf32>, tensor<3x3xf32>) outs(%f : tensor<510x510xf32>) {
    ^bb0(%in: f32, %place: f32, %out: f32):
      %0 = arith.addf %out, %in : f32
      linalg.yield %0 : f32
    } -> tensor<510x510xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<510x510xf32>) outs(%s : tensor<510x510xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.mulf %out, %in : f32
      linalg.yield %0 : f32
    } -> tensor<510x510xf32>
    return %r : tensor<510x510xf32>
  }
}

// -----

// Declined: A tile of rows has room for a row.
// Unchanged: There is nothing to split (@whole).
// CHECK: module {
// CHECK-NOT: _part_
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
module {
  func.func private @rows(%x: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> attributes {hloom.kind = "multi_reduce"} {
    %zero = arith.constant 0.0 : f32
    %e1 = tensor.empty() : tensor<4096xf32>
    %e2 = tensor.empty() : tensor<4096x4096xf32>
    %v = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4096x4096xf32>) outs(%e2 : tensor<4096x4096xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = math.exp %in : f32
      linalg.yield %0 : f32
    } -> tensor<4096x4096xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4096xf32>) -> tensor<4096xf32>
    %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%v : tensor<4096x4096xf32>) outs(%f : tensor<4096xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %out, %in : f32
      linalg.yield %0 : f32
    } -> tensor<4096xf32>
    %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%v, %s : tensor<4096x4096xf32>, tensor<4096xf32>) outs(%e2 : tensor<4096x4096xf32>) {
    ^bb0(%in: f32, %sum: f32, %out: f32):
      %0 = arith.divf %in, %sum : f32
      linalg.yield %0 : f32
    } -> tensor<4096x4096xf32>
    return %r : tensor<4096x4096xf32>
  }
  func.func private @whole(%x: tensor<4096x4096xf32>) -> tensor<f32> attributes {hloom.kind = "reduce"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<f32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
    %s = linalg.generic {indexing_maps = [#id, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<4096x4096xf32>) outs(%f : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %out, %in : f32
      linalg.yield %0 : f32
    } -> tensor<f32>
    return %s : tensor<f32>
  }
}
