// RUN: hloom-opt %s --split-input-file --join-regions | filecheck %s

// Changed: Two kernels of one launch: a function that runs both, in shares of what they cost. What both read is one buffer of it.
// CHECK: "lhlo.fusion"(%[[X:[0-9]+]], %{{.*}}, %{{.*}}) {callee = @launch_0, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 2>, source = ["sine", "tanh"]}
// CHECK-NEXT: return
// CHECK: func.func private @launch_0(index, index, memref<64xf32>, memref<64xf32>, memref<64xf32>)
// CHECK-SAME: hloom.cost_ps = 4000 : i64
// CHECK-SAME: hloom.joins = [{buffers = array<i64: 0, 1>, callee = @f, share = 256 : i64, tiles = 4 : i64}, {buffers = array<i64: 0, 2>, callee = @g, share = 768 : i64, tiles = 8 : i64}]
// CHECK-SAME: hloom.members = ["f", "g"], hloom.tiles = 1024 : i64
// CHECK: func.func private @f
// CHECK: func.func private @g
func.func @main(%x: memref<64xf32>, %p: memref<64xf32>, %q: memref<64xf32>, %arena: memref<0xi8>)
    attributes {hloom.arena_bytes = 0 : i64, hloom.live_bytes = 0 : i64} {
  %0 = "lhlo.ref"(%x) : (memref<64xf32>) -> !lhlo.buffer
  %1 = "lhlo.ref"(%p) : (memref<64xf32>) -> !lhlo.buffer
  %2 = "lhlo.ref"(%q) : (memref<64xf32>) -> !lhlo.buffer
  "lhlo.fusion"(%0, %1) {callee = @f, hloom.launch = 0 : i64, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["sine"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
  "lhlo.fusion"(%0, %2) {callee = @g, hloom.launch = 0 : i64, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["tanh"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
  return
}
func.func private @f(%lo: index, %hi: index, %x: memref<64xf32>, %y: memref<64xf32>) attributes {hloom.kind = "loop", hloom.cost_ps = 1000 : i64, hloom.tiles = 4 : i64} {
  return
}
func.func private @g(%lo: index, %hi: index, %x: memref<64xf32>, %y: memref<64xf32>) attributes {hloom.kind = "loop", hloom.cost_ps = 3000 : i64, hloom.tiles = 8 : i64} {
  return
}

// -----

// Unchanged: A kernel whose companions were taken apart loses its mark.
// CHECK: "lhlo.fusion"({{.*}}) {callee = @f, inplace = array<i64>
// CHECK-NOT: @launch
func.func @main(%x: memref<64xf32>, %p: memref<64xf32>, %arena: memref<0xi8>) attributes {hloom.arena_bytes = 0 : i64, hloom.live_bytes = 0 : i64} {
  %0 = "lhlo.ref"(%x) : (memref<64xf32>) -> !lhlo.buffer
  %1 = "lhlo.ref"(%p) : (memref<64xf32>) -> !lhlo.buffer
  "lhlo.fusion"(%0, %1) {callee = @f, hloom.launch = 0 : i64, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["sine"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
  return
}
func.func private @f(%lo: index, %hi: index, %x: memref<64xf32>, %y: memref<64xf32>) attributes {hloom.kind = "loop", hloom.cost_ps = 1000 : i64, hloom.tiles = 4 : i64} {
  return
}
