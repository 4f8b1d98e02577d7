// RUN: hloom-opt %s --split-input-file --join-chains | filecheck %s

// Changed: three kernels, of which each needs what the one before made. The last one writes where the first one's result lay; g has
// fewer blocks, and h fewer threads. What kernels hand on has no marks.
// CHECK: code = "FUSED_GRID"
// CHECK-SAME: gain_ps = 2600000 : i64
// CHECK-SAME: t_after_ps = 5200000 : i64, t_before_ps = 7800000 : i64
// CHECK-LABEL: func.func @main
// CHECK-COUNT-1: "lhlo.fusion"(%[[X:[0-9]+]], %[[Y:[0-9]+]], %{{.*}}, %{{.*}}) {callee = @chain_0, inplace = array<i64>, operandSegmentSizes = array<i32: 2, 2>, source = ["f", "g", "h"]}
// CHECK-NEXT: return
// CHECK: gpu.func @chain_0(%[[A:.*]]: memref<64xf32> {llvm.noalias, llvm.readonly}, %[[B:.*]]: memref<64xf32> {llvm.noalias, llvm.readonly}, %[[P:.*]]: memref<64xf32>, %[[Q:.*]]: memref<64xf32>) kernel
// CHECK-SAME: hloom.cost_ps = 5200000 : i64
// CHECK-SAME: hloom.in_turn
// CHECK-SAME: hloom.members = ["f", "g", "h"]
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 4, 1, 1>
// CHECK: memref.load %[[A]]
// CHECK: memref.store %{{.*}}, %[[P]]
// CHECK-NEXT: "grid.barrier"()
// CHECK: %[[FEW:.*]] = arith.cmpi ult, %{{.*}}, %c2
// CHECK: scf.if %[[FEW]] {
// CHECK: memref.load %[[P]]
// CHECK: memref.store %{{.*}}, %[[Q]]
// CHECK: "grid.barrier"()
// CHECK: arith.cmpi ult, %{{.*}}, %c32
// CHECK: memref.load %[[Q]]
// CHECK: memref.store %{{.*}}, %[[P]]
// CHECK-NOT: gpu.func @f
module attributes {gpu.container_module, hloom.target = {kind = "cuda", launch_ps = 2500000 : i64, grid_barrier_ps = 1200000 : i64, min_gain_ps = 250000 : i64, multiprocessors = 132 : i64, threads_per_multiprocessor = 2048 : i64, blocks_per_multiprocessor = 32 : i64, shared_bytes_per_multiprocessor = 233472 : i64}} {
  func.func @main(%x: memref<64xf32>, %y: memref<64xf32>, %r: memref<64xf32>, %arena: memref<512xi8>)
      attributes {hloom.arena_bytes = 512 : i64, hloom.live_bytes = 512 : i64, hloom.signature = (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>} {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %t = memref.view %arena[%c0][] : memref<512xi8> to memref<64xf32>
    %u = memref.view %arena[%c256][] : memref<512xi8> to memref<64xf32>
    %0 = "lhlo.ref"(%x) : (memref<64xf32>) -> !lhlo.buffer
    %1 = "lhlo.ref"(%y) : (memref<64xf32>) -> !lhlo.buffer
    %2 = "lhlo.ref"(%t) : (memref<64xf32>) -> !lhlo.buffer
    %3 = "lhlo.ref"(%u) : (memref<64xf32>) -> !lhlo.buffer
    %4 = "lhlo.ref"(%r) : (memref<64xf32>) -> !lhlo.buffer
    "lhlo.fusion"(%0, %2) {callee = @f, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["f"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    "lhlo.fusion"(%2, %1, %3) {callee = @g, inplace = array<i64>, operandSegmentSizes = array<i32: 2, 1>, source = ["g"]} : (!lhlo.buffer, !lhlo.buffer, !lhlo.buffer) -> ()
    "lhlo.fusion"(%3, %2) {callee = @h, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["h"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    return
  }
  gpu.module @kernels {
    gpu.func @f(%a0: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
      %b = gpu.block_id x
      %v = memref.load %a0[%b] : memref<64xf32>
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
    gpu.func @g(%a0: memref<64xf32> {llvm.noalias, llvm.readonly}, %a1: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) workgroup(%s: memref<16xf32, #gpu.address_space<workgroup>>) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      %b = gpu.block_id x
      %v = memref.load %a0[%b] : memref<64xf32>
      %c0 = arith.constant 0 : index
      memref.store %v, %s[%c0] : memref<16xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
    gpu.func @h(%a0: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 4, 1, 1>} {
      %b = gpu.block_id x
      %v = memref.load %a0[%b] : memref<64xf32>
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
  }
}

// -----

// Changed: blocks wait for each other only where one needs what another wrote, and a single block waits for itself.
// CHECK-LABEL: func.func @main
// CHECK: callee = @chain_0
// CHECK: gpu.func @chain_0
// CHECK-NOT: grid.barrier
// CHECK: gpu.barrier
// CHECK: gpu.barrier
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return
module attributes {gpu.container_module, hloom.target = {kind = "cuda", launch_ps = 2500000 : i64, grid_barrier_ps = 1200000 : i64, min_gain_ps = 250000 : i64, multiprocessors = 132 : i64, threads_per_multiprocessor = 2048 : i64, blocks_per_multiprocessor = 32 : i64, shared_bytes_per_multiprocessor = 233472 : i64}} {
  func.func @main(%x: memref<64xf32>, %y: memref<64xf32>, %r: memref<64xf32>, %arena: memref<512xi8>)
      attributes {hloom.arena_bytes = 512 : i64, hloom.live_bytes = 512 : i64, hloom.signature = (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>} {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %t = memref.view %arena[%c0][] : memref<512xi8> to memref<64xf32>
    %u = memref.view %arena[%c256][] : memref<512xi8> to memref<64xf32>
    %0 = "lhlo.ref"(%x) : (memref<64xf32>) -> !lhlo.buffer
    %1 = "lhlo.ref"(%y) : (memref<64xf32>) -> !lhlo.buffer
    %2 = "lhlo.ref"(%t) : (memref<64xf32>) -> !lhlo.buffer
    %3 = "lhlo.ref"(%u) : (memref<64xf32>) -> !lhlo.buffer
    %4 = "lhlo.ref"(%r) : (memref<64xf32>) -> !lhlo.buffer
    "lhlo.fusion"(%0, %2) {callee = @f, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["f"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    "lhlo.fusion"(%0, %3) {callee = @g, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["g"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    "lhlo.fusion"(%3, %4) {callee = @h, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["h"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    return
  }
  gpu.module @kernels {
    gpu.func @f(%a0: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %b = gpu.block_id x
      %v = memref.load %a0[%b] : memref<64xf32>
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
    gpu.func @g(%a0: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %b = gpu.block_id x
      %v = memref.load %a0[%b] : memref<64xf32>
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
    gpu.func @h(%a0: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 1, 1, 1>} {
      %b = gpu.block_id x
      %v = memref.load %a0[%b] : memref<64xf32>
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
  }
}

// -----

// Changed: f and g need nothing of each other; all blocks come before h alone.
// CHECK: t_after_ps = 4000000 : i64, t_before_ps = 7800000 : i64
// CHECK-LABEL: func.func @main
// CHECK: gpu.func @chain_0
// CHECK: memref.store
// CHECK-NEXT: gpu.barrier
// CHECK: memref.store
// CHECK-NEXT: "grid.barrier"()
// CHECK: memref.store
// CHECK-NOT: grid.barrier
// CHECK: gpu.return
module attributes {gpu.container_module, hloom.target = {kind = "cuda", launch_ps = 2500000 : i64, grid_barrier_ps = 1200000 : i64, min_gain_ps = 250000 : i64, multiprocessors = 132 : i64, threads_per_multiprocessor = 2048 : i64, blocks_per_multiprocessor = 32 : i64, shared_bytes_per_multiprocessor = 233472 : i64}} {
  func.func @main(%x: memref<64xf32>, %y: memref<64xf32>, %r: memref<64xf32>, %arena: memref<512xi8>)
      attributes {hloom.arena_bytes = 512 : i64, hloom.live_bytes = 512 : i64, hloom.signature = (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>} {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %t = memref.view %arena[%c0][] : memref<512xi8> to memref<64xf32>
    %u = memref.view %arena[%c256][] : memref<512xi8> to memref<64xf32>
    %0 = "lhlo.ref"(%x) : (memref<64xf32>) -> !lhlo.buffer
    %1 = "lhlo.ref"(%y) : (memref<64xf32>) -> !lhlo.buffer
    %2 = "lhlo.ref"(%t) : (memref<64xf32>) -> !lhlo.buffer
    %3 = "lhlo.ref"(%u) : (memref<64xf32>) -> !lhlo.buffer
    %4 = "lhlo.ref"(%r) : (memref<64xf32>) -> !lhlo.buffer
    "lhlo.fusion"(%0, %2) {callee = @f, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["f"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    "lhlo.fusion"(%0, %3) {callee = @g, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["g"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    "lhlo.fusion"(%3, %4) {callee = @h, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["h"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    return
  }
  gpu.module @kernels {
    gpu.func @f(%a0: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      %b = gpu.block_id x
      %v = memref.load %a0[%b] : memref<64xf32>
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
    gpu.func @g(%a0: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      %b = gpu.block_id x
      %v = memref.load %a0[%b] : memref<64xf32>
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
    gpu.func @h(%a0: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      %b = gpu.block_id x
      %v = memref.load %a0[%b] : memref<64xf32>
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
  }
}

// -----

// Changed: a warp that synchronises in blocks of two waits for itself alone.
// CHECK-LABEL: func.func @main
// CHECK: gpu.func @chain_0
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>
// CHECK: "grid.barrier"
// CHECK: %[[WARP:.*]] = arith.cmpi ult, %thread_id_x, %c32
// CHECK: scf.if %[[WARP]] {
// CHECK: nvvm.barrier id = %c1{{.*}} number_of_threads = %c32
// CHECK-NOT: gpu.barrier
// CHECK: gpu.return
module attributes {gpu.container_module, hloom.target = {kind = "cuda", launch_ps = 2500000 : i64, grid_barrier_ps = 1200000 : i64, min_gain_ps = 250000 : i64, multiprocessors = 132 : i64, threads_per_multiprocessor = 2048 : i64, blocks_per_multiprocessor = 32 : i64, shared_bytes_per_multiprocessor = 233472 : i64}} {
  func.func @main(%x: memref<64xf32>, %y: memref<64xf32>, %r: memref<64xf32>, %arena: memref<512xi8>)
      attributes {hloom.arena_bytes = 512 : i64, hloom.live_bytes = 512 : i64, hloom.signature = (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>} {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %t = memref.view %arena[%c0][] : memref<512xi8> to memref<64xf32>
    %u = memref.view %arena[%c256][] : memref<512xi8> to memref<64xf32>
    %0 = "lhlo.ref"(%x) : (memref<64xf32>) -> !lhlo.buffer
    %1 = "lhlo.ref"(%y) : (memref<64xf32>) -> !lhlo.buffer
    %2 = "lhlo.ref"(%t) : (memref<64xf32>) -> !lhlo.buffer
    %3 = "lhlo.ref"(%u) : (memref<64xf32>) -> !lhlo.buffer
    %4 = "lhlo.ref"(%r) : (memref<64xf32>) -> !lhlo.buffer
    "lhlo.fusion"(%0, %2) {callee = @f, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["f"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    "lhlo.fusion"(%2, %4) {callee = @g, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["g"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    return
  }
  gpu.module @kernels {
    gpu.func @f(%a0: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      %b = gpu.block_id x
      %v = memref.load %a0[%b] : memref<64xf32>
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
    gpu.func @g(%a0: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) workgroup(%s: memref<16xf32, #gpu.address_space<workgroup>>) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      %b = gpu.block_id x
      %v = memref.load %a0[%b] : memref<64xf32>
      %c0 = arith.constant 0 : index
      memref.store %v, %s[%c0] : memref<16xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
  }
}

// -----

// Declined: parts of warps that synchronise in larger blocks.
// CHECK: code = "OCCUPANCY"
// CHECK-SAME: reason = "blocks of 64 threads, and of 24 that synchronise"
// CHECK-LABEL: func.func @main
// CHECK: callee = @f
// CHECK: callee = @g
module attributes {gpu.container_module, hloom.target = {kind = "cuda", launch_ps = 2500000 : i64, grid_barrier_ps = 1200000 : i64, min_gain_ps = 250000 : i64, multiprocessors = 132 : i64, threads_per_multiprocessor = 2048 : i64, blocks_per_multiprocessor = 32 : i64, shared_bytes_per_multiprocessor = 233472 : i64}} {
  func.func @main(%x: memref<64xf32>, %y: memref<64xf32>, %r: memref<64xf32>, %arena: memref<512xi8>)
      attributes {hloom.arena_bytes = 512 : i64, hloom.live_bytes = 512 : i64, hloom.signature = (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>} {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %t = memref.view %arena[%c0][] : memref<512xi8> to memref<64xf32>
    %u = memref.view %arena[%c256][] : memref<512xi8> to memref<64xf32>
    %0 = "lhlo.ref"(%x) : (memref<64xf32>) -> !lhlo.buffer
    %1 = "lhlo.ref"(%y) : (memref<64xf32>) -> !lhlo.buffer
    %2 = "lhlo.ref"(%t) : (memref<64xf32>) -> !lhlo.buffer
    %3 = "lhlo.ref"(%u) : (memref<64xf32>) -> !lhlo.buffer
    %4 = "lhlo.ref"(%r) : (memref<64xf32>) -> !lhlo.buffer
    "lhlo.fusion"(%0, %2) {callee = @f, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["f"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    "lhlo.fusion"(%2, %4) {callee = @g, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["g"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    return
  }
  gpu.module @kernels {
    gpu.func @f(%a0: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      %b = gpu.block_id x
      %v = memref.load %a0[%b] : memref<64xf32>
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
    gpu.func @g(%a0: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) workgroup(%s: memref<16xf32, #gpu.address_space<workgroup>>) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 24, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      %b = gpu.block_id x
      %v = memref.load %a0[%b] : memref<64xf32>
      %c0 = arith.constant 0 : index
      memref.store %v, %s[%c0] : memref<16xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
  }
}

// -----

// Declined: products by warp groups, which all threads of all blocks begin together.
// CHECK-LABEL: func.func @main
// CHECK: callee = @f
// CHECK: callee = @g
// CHECK-NOT: chain
module attributes {gpu.container_module, hloom.target = {kind = "cuda", launch_ps = 2500000 : i64, grid_barrier_ps = 1200000 : i64, min_gain_ps = 250000 : i64, multiprocessors = 132 : i64, threads_per_multiprocessor = 2048 : i64, blocks_per_multiprocessor = 32 : i64, shared_bytes_per_multiprocessor = 233472 : i64}} {
  func.func @main(%x: memref<64xf32>, %y: memref<64xf32>, %r: memref<64xf32>, %arena: memref<512xi8>)
      attributes {hloom.arena_bytes = 512 : i64, hloom.live_bytes = 512 : i64, hloom.signature = (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>} {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %t = memref.view %arena[%c0][] : memref<512xi8> to memref<64xf32>
    %u = memref.view %arena[%c256][] : memref<512xi8> to memref<64xf32>
    %0 = "lhlo.ref"(%x) : (memref<64xf32>) -> !lhlo.buffer
    %1 = "lhlo.ref"(%y) : (memref<64xf32>) -> !lhlo.buffer
    %2 = "lhlo.ref"(%t) : (memref<64xf32>) -> !lhlo.buffer
    %3 = "lhlo.ref"(%u) : (memref<64xf32>) -> !lhlo.buffer
    %4 = "lhlo.ref"(%r) : (memref<64xf32>) -> !lhlo.buffer
    "lhlo.fusion"(%0, %2) {callee = @f, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["f"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    "lhlo.fusion"(%2, %4) {callee = @g, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["g"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    return
  }
  gpu.module @kernels {
    gpu.func @f(%a0: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      %b = gpu.block_id x
      %v = memref.load %a0[%b] : memref<64xf32>
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
    gpu.func @g(%a0: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      nvvm.wgmma.fence.aligned
      %b = gpu.block_id x
      %v = memref.load %a0[%b] : memref<64xf32>
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
  }
}

// -----

// Declined: more blocks than multiprocessors; a kernel that takes longer than two launches; one that a policy's rule keeps alone.
// CHECK-LABEL: func.func @main
// CHECK: callee = @f
// CHECK: callee = @g
// CHECK: callee = @h
// CHECK: callee = @i
// CHECK: callee = @f
// CHECK-NOT: chain
module attributes {gpu.container_module, hloom.target = {kind = "cuda", launch_ps = 2500000 : i64, grid_barrier_ps = 1200000 : i64, min_gain_ps = 250000 : i64, multiprocessors = 132 : i64, threads_per_multiprocessor = 2048 : i64, blocks_per_multiprocessor = 32 : i64, shared_bytes_per_multiprocessor = 233472 : i64}} {
  func.func @main(%x: memref<64xf32>, %y: memref<64xf32>, %r: memref<64xf32>, %arena: memref<512xi8>)
      attributes {hloom.arena_bytes = 512 : i64, hloom.live_bytes = 512 : i64, hloom.signature = (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>} {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %t = memref.view %arena[%c0][] : memref<512xi8> to memref<64xf32>
    %u = memref.view %arena[%c256][] : memref<512xi8> to memref<64xf32>
    %0 = "lhlo.ref"(%x) : (memref<64xf32>) -> !lhlo.buffer
    %1 = "lhlo.ref"(%y) : (memref<64xf32>) -> !lhlo.buffer
    %2 = "lhlo.ref"(%t) : (memref<64xf32>) -> !lhlo.buffer
    %3 = "lhlo.ref"(%u) : (memref<64xf32>) -> !lhlo.buffer
    %4 = "lhlo.ref"(%r) : (memref<64xf32>) -> !lhlo.buffer
    "lhlo.fusion"(%0, %2) {callee = @f, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["f"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    "lhlo.fusion"(%2, %3) {callee = @g, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["g"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    "lhlo.fusion"(%3, %2) {callee = @h, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["h"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    "lhlo.fusion"(%2, %3) {callee = @i, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["i"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    "lhlo.fusion"(%3, %4) {callee = @f, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["f"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    return
  }
  gpu.module @kernels {
    gpu.func @f(%a0: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 133, 1, 1>} {
      %b = gpu.block_id x
      %v = memref.load %a0[%b] : memref<64xf32>
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
    gpu.func @g(%a0: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      %b = gpu.block_id x
      %v = memref.load %a0[%b] : memref<64xf32>
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
    gpu.func @h(%a0: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 5100000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      %b = gpu.block_id x
      %v = memref.load %a0[%b] : memref<64xf32>
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
    gpu.func @i(%a0: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 2, 1, 1>, hloom.alone} {
      %b = gpu.block_id x
      %v = memref.load %a0[%b] : memref<64xf32>
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
  }
}

// -----

// Unchanged: a library's work between them.
// CHECK-LABEL: func.func @main
// CHECK: callee = @f
// CHECK: lhlo.copy
// CHECK: callee = @g
module attributes {gpu.container_module, hloom.target = {kind = "cuda", launch_ps = 2500000 : i64, grid_barrier_ps = 1200000 : i64, min_gain_ps = 250000 : i64, multiprocessors = 132 : i64, threads_per_multiprocessor = 2048 : i64, blocks_per_multiprocessor = 32 : i64, shared_bytes_per_multiprocessor = 233472 : i64}} {
  func.func @main(%x: memref<64xf32>, %y: memref<64xf32>, %r: memref<64xf32>, %arena: memref<512xi8>)
      attributes {hloom.arena_bytes = 512 : i64, hloom.live_bytes = 512 : i64, hloom.signature = (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>} {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %t = memref.view %arena[%c0][] : memref<512xi8> to memref<64xf32>
    %u = memref.view %arena[%c256][] : memref<512xi8> to memref<64xf32>
    %0 = "lhlo.ref"(%x) : (memref<64xf32>) -> !lhlo.buffer
    %1 = "lhlo.ref"(%y) : (memref<64xf32>) -> !lhlo.buffer
    %2 = "lhlo.ref"(%t) : (memref<64xf32>) -> !lhlo.buffer
    %3 = "lhlo.ref"(%u) : (memref<64xf32>) -> !lhlo.buffer
    %4 = "lhlo.ref"(%r) : (memref<64xf32>) -> !lhlo.buffer
    "lhlo.fusion"(%0, %2) {callee = @f, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["f"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    "lhlo.copy"(%t, %u) : (memref<64xf32>, memref<64xf32>) -> ()
    "lhlo.fusion"(%3, %4) {callee = @g, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["g"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    return
  }
  gpu.module @kernels {
    gpu.func @f(%a0: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      %b = gpu.block_id x
      %v = memref.load %a0[%b] : memref<64xf32>
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
    gpu.func @g(%a0: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      %b = gpu.block_id x
      %v = memref.load %a0[%b] : memref<64xf32>
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
  }
}

// -----

// Changed: f bounds its registers for eight blocks on a multiprocessor, but g's shared memory lets two in.
// CHECK-LABEL: func.func @main
// CHECK: callee = @chain_0
// CHECK: gpu.func @chain_0
// CHECK-SAME: hloom.shared_bytes = 90112 : i64
// CHECK-SAME: nvvm.minctasm = 2 : i32
module attributes {gpu.container_module, hloom.target = {kind = "cuda", launch_ps = 2500000 : i64, grid_barrier_ps = 1200000 : i64, min_gain_ps = 250000 : i64, multiprocessors = 132 : i64, threads_per_multiprocessor = 2048 : i64, blocks_per_multiprocessor = 32 : i64, shared_bytes_per_multiprocessor = 233472 : i64}} {
  func.func @main(%x: memref<64xf32>, %y: memref<64xf32>, %r: memref<64xf32>, %arena: memref<512xi8>)
      attributes {hloom.arena_bytes = 512 : i64, hloom.live_bytes = 512 : i64, hloom.signature = (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>} {
    %c0 = arith.constant 0 : index
    %c256 = arith.constant 256 : index
    %t = memref.view %arena[%c0][] : memref<512xi8> to memref<64xf32>
    %u = memref.view %arena[%c256][] : memref<512xi8> to memref<64xf32>
    %0 = "lhlo.ref"(%x) : (memref<64xf32>) -> !lhlo.buffer
    %1 = "lhlo.ref"(%y) : (memref<64xf32>) -> !lhlo.buffer
    %2 = "lhlo.ref"(%t) : (memref<64xf32>) -> !lhlo.buffer
    %3 = "lhlo.ref"(%u) : (memref<64xf32>) -> !lhlo.buffer
    %4 = "lhlo.ref"(%r) : (memref<64xf32>) -> !lhlo.buffer
    "lhlo.fusion"(%0, %2) {callee = @f, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["f"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    "lhlo.fusion"(%2, %4) {callee = @g, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["g"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    return
  }
  gpu.module @kernels {
    gpu.func @f(%a0: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, nvvm.minctasm = 8 : i32, known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      %b = gpu.block_id x
      %v = memref.load %a0[%b] : memref<64xf32>
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
    gpu.func @g(%a0: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 90112 : i64, known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      %b = gpu.block_id x
      %v = memref.load %a0[%b] : memref<64xf32>
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
  }
}
