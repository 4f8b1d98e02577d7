// RUN: hloom-opt %s --split-input-file --lower-launches | filecheck %s

// Changed: A kernel runs the tiles of its part of a share; the second one's share begins at 256. What it takes lies in an array.
// CHECK: llvm.func @launch_0(%[[LO:.*]]: i64, %[[HI:.*]]: i64, %[[BUFFERS:.*]]: !llvm.ptr) attributes {hloom.tiles = 1024 : i64}
// CHECK: %[[OWN:.*]] = llvm.alloca %{{.*}} x !llvm.ptr
// CHECK: llvm.udiv
// CHECK: llvm.call @f(%{{.*}}, %{{.*}}, %[[OWN]])
// CHECK: llvm.mlir.constant(256 : i64)
// CHECK: llvm.mlir.constant(768 : i64)
// CHECK: llvm.mlir.constant(8 : i64)
// CHECK: %[[A:.*]] = llvm.udiv
// CHECK: %[[B:.*]] = llvm.udiv
// CHECK: %[[ANY:.*]] = llvm.icmp "ult" %[[A]], %[[B]]
// CHECK: llvm.cond_br %[[ANY]]
// CHECK: llvm.getelementptr %[[BUFFERS]][2]
// CHECK: llvm.call @g(%[[A]], %[[B]], %[[OWN]])
llvm.func @f(i64, i64, !llvm.ptr)
llvm.func @g(i64, i64, !llvm.ptr)
func.func private @launch_0(index, index, memref<64xf32>, memref<64xf32>, memref<64xf32>) attributes {hloom.tiles = 1024 : i64, hloom.joins = [
  {buffers = array<i64: 0, 1>, callee = @f, share = 256 : i64, tiles = 4 : i64}, {buffers = array<i64: 0, 2>, callee = @g, share = 768 : i64, tiles = 8 : i64}]}

// -----

// Unchanged: A declaration of what kernels call.
// CHECK: func.func private @hloom_other(index)
func.func private @hloom_other(index)
