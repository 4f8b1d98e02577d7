// RUN: hloom-opt %s --split-input-file --join-kernels | filecheck %s

// Changed: Three kernels of one launch. What two of them read is one parameter; shared memory is one room for all; the one with fewer
// threads idles the others; block numbers begin at 0 for each.
// CHECK-LABEL: func.func @main
// CHECK: "lhlo.fusion"(%[[X:[0-9]+]], %[[Y:[0-9]+]], %{{.*}}, %{{.*}}, %{{.*}}) {callee = @launch_0, inplace = array<i64>, operandSegmentSizes = array<i32: 2, 3>, source = ["sine", "tanh"]}
// CHECK-NEXT: return
// CHECK: memref.global "private" @launch_0_shared : memref<128xi8, #gpu.address_space<workgroup>> {alignment = 128 : i64}
// CHECK: gpu.func @launch_0(%[[A:.*]]: memref<64xf32> {llvm.noalias, llvm.readonly}, %[[B:.*]]: memref<64xf32> {llvm.noalias, llvm.readonly}, %[[P:.*]]: memref<64xf32> {llvm.noalias}, %[[Q:.*]]: memref<64xf32> {llvm.noalias}, %[[R:.*]]: memref<64xf32> {llvm.noalias}) kernel
// CHECK-SAME: hloom.bytes = 30 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 6 : i64
// CHECK-SAME: hloom.members = ["f", "g", "h"]
// CHECK-SAME: known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 7, 1, 1>
// CHECK: %[[BLOCK:.*]] = gpu.block_id x
// CHECK: %[[FIRST:.*]] = arith.cmpi ult, %[[BLOCK]], %c2
// CHECK: scf.if %[[FIRST]] {
// CHECK: memref.store %{{.*}}, %[[P]][%[[BLOCK]]]
// CHECK: } else {
// CHECK: %[[SECOND:.*]] = arith.cmpi ult, %[[BLOCK]], %c5
// CHECK: scf.if %[[SECOND]] {
// CHECK: arith.cmpi ult, %{{.*}}, %c32
// CHECK: scf.if
// CHECK: %[[OWN:.*]] = arith.subi %[[BLOCK]], %c2
// CHECK: memref.store %{{.*}}, %[[Q]][%[[OWN]]]
// CHECK: } else {
// CHECK: memref.view %{{.*}} : memref<128xi8, #gpu.address_space<workgroup>> to memref<16xf32, #gpu.address_space<workgroup>>
// CHECK: gpu.barrier
// CHECK-NOT: gpu.func @f
module attributes {gpu.container_module, hloom.target = {kind = "cuda", launch_ps = 2500000 : i64, multiprocessors = 132 : i64, threads_per_multiprocessor = 2048 : i64, blocks_per_multiprocessor = 32 : i64, shared_bytes_per_multiprocessor = 233472 : i64}} {
  func.func @main(%x: memref<64xf32>, %y: memref<64xf32>, %p: memref<64xf32>, %q: memref<64xf32>, %r: memref<64xf32>, %arena: memref<0xi8>)
      attributes {hloom.arena_bytes = 0 : i64, hloom.live_bytes = 0 : i64} {
    %0 = "lhlo.ref"(%x) : (memref<64xf32>) -> !lhlo.buffer
    %1 = "lhlo.ref"(%y) : (memref<64xf32>) -> !lhlo.buffer
    %2 = "lhlo.ref"(%p) : (memref<64xf32>) -> !lhlo.buffer
    %3 = "lhlo.ref"(%q) : (memref<64xf32>) -> !lhlo.buffer
    %4 = "lhlo.ref"(%r) : (memref<64xf32>) -> !lhlo.buffer
    "lhlo.fusion"(%0, %2) {callee = @f, hloom.launch = 0 : i64, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["sine"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    "lhlo.fusion"(%0, %3) {callee = @g, hloom.launch = 0 : i64, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["tanh"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    "lhlo.fusion"(%1, %4) {callee = @h, hloom.launch = 0 : i64, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["sine"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    return
  }
  gpu.module @kernels {
    gpu.func @f(%a: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      %b = gpu.block_id x
      %v = memref.load %a[%b] : memref<64xf32>
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
    gpu.func @g(%a: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 3, 1, 1>} {
      %b = gpu.block_id x
      %v = memref.load %a[%b] : memref<64xf32>
      memref.store %v, %o[%b] : memref<64xf32>
      gpu.return
    }
    gpu.func @h(%a: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) workgroup(%s: memref<16xf32, #gpu.address_space<workgroup>>) kernel attributes {hloom.bytes = 10 : i64, hloom.cost_ps = 2600000 : i64, hloom.flops = 2 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      %b = gpu.block_id x
      %c0 = arith.constant 0 : index
      %v = memref.load %a[%b] : memref<64xf32>
      memref.store %v, %s[%c0] : memref<16xf32, #gpu.address_space<workgroup>>
      gpu.barrier
      %w = memref.load %s[%c0] : memref<16xf32, #gpu.address_space<workgroup>>
      memref.store %w, %o[%b] : memref<64xf32>
      gpu.return
    }
  }
}

// -----

// Declined: Blocks of 32 threads and of 128, more than there are multiprocessors.
// CHECK: code = "OCCUPANCY"
// CHECK-SAME: reason = "blocks of 128 threads and of 32"
// CHECK-LABEL: func.func @main
// CHECK: callee = @f, inplace
// CHECK: callee = @g, inplace
module attributes {gpu.container_module, hloom.target = {kind = "cuda", launch_ps = 2500000 : i64, multiprocessors = 132 : i64, threads_per_multiprocessor = 2048 : i64, blocks_per_multiprocessor = 32 : i64, shared_bytes_per_multiprocessor = 233472 : i64}} {
  func.func @main(%x: memref<64xf32>, %p: memref<64xf32>, %q: memref<64xf32>, %arena: memref<0xi8>)
      attributes {hloom.arena_bytes = 0 : i64, hloom.live_bytes = 0 : i64} {
    %0 = "lhlo.ref"(%x) : (memref<64xf32>) -> !lhlo.buffer
    %2 = "lhlo.ref"(%p) : (memref<64xf32>) -> !lhlo.buffer
    %3 = "lhlo.ref"(%q) : (memref<64xf32>) -> !lhlo.buffer
    "lhlo.fusion"(%0, %2) {callee = @f, hloom.launch = 0 : i64, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["sine"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    "lhlo.fusion"(%0, %3) {callee = @g, hloom.launch = 0 : i64, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["tanh"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    return
  }
  gpu.module @kernels {
    gpu.func @f(%a: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.cost_ps = 2600000 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 130, 1, 1>} {
      gpu.return
    }
    gpu.func @g(%a: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.cost_ps = 2600000 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 32, 1, 1>, known_grid_size = array<i32: 3, 1, 1>} {
      gpu.return
    }
  }
}

// -----

// Declined: One kernel's shared memory leaves a multiprocessor 4 blocks; of the other, which has many, it holds 32 alone.
// CHECK: code = "OCCUPANCY"
// CHECK-SAME: reason = "4 blocks a multiprocessor, of which @g alone has 32"
// CHECK-LABEL: func.func @main
// CHECK: callee = @f, inplace
// CHECK: callee = @g, inplace
module attributes {gpu.container_module, hloom.target = {kind = "cuda", launch_ps = 2500000 : i64, multiprocessors = 132 : i64, threads_per_multiprocessor = 2048 : i64, blocks_per_multiprocessor = 32 : i64, shared_bytes_per_multiprocessor = 233472 : i64}} {
  func.func @main(%x: memref<64xf32>, %p: memref<64xf32>, %q: memref<64xf32>, %arena: memref<0xi8>)
      attributes {hloom.arena_bytes = 0 : i64, hloom.live_bytes = 0 : i64} {
    %0 = "lhlo.ref"(%x) : (memref<64xf32>) -> !lhlo.buffer
    %2 = "lhlo.ref"(%p) : (memref<64xf32>) -> !lhlo.buffer
    %3 = "lhlo.ref"(%q) : (memref<64xf32>) -> !lhlo.buffer
    "lhlo.fusion"(%0, %2) {callee = @f, hloom.launch = 0 : i64, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["sine"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    "lhlo.fusion"(%0, %3) {callee = @g, hloom.launch = 0 : i64, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["tanh"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    return
  }
  gpu.module @kernels {
    gpu.func @f(%a: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.cost_ps = 2600000 : i64, hloom.layouts = {}, hloom.shared_bytes = 49152 : i64, known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      gpu.return
    }
    gpu.func @g(%a: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.cost_ps = 2600000 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 64, 1, 1>, known_grid_size = array<i32: 5000, 1, 1>} {
      gpu.return
    }
  }
}

// -----

// Unchanged: Kernels with launches of their own.
// CHECK-LABEL: func.func @main
// CHECK: callee = @f, inplace
// CHECK: callee = @f, inplace
module attributes {gpu.container_module} {
  func.func @main(%x: memref<64xf32>, %p: memref<64xf32>, %q: memref<64xf32>, %arena: memref<0xi8>)
      attributes {hloom.arena_bytes = 0 : i64, hloom.live_bytes = 0 : i64} {
    %0 = "lhlo.ref"(%x) : (memref<64xf32>) -> !lhlo.buffer
    %2 = "lhlo.ref"(%p) : (memref<64xf32>) -> !lhlo.buffer
    %3 = "lhlo.ref"(%q) : (memref<64xf32>) -> !lhlo.buffer
    "lhlo.fusion"(%0, %2) {callee = @f, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["sine"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    "lhlo.fusion"(%0, %3) {callee = @f, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["sine"]} : (!lhlo.buffer, !lhlo.buffer) -> ()
    return
  }
  gpu.module @kernels {
    gpu.func @f(%a: memref<64xf32> {llvm.noalias, llvm.readonly}, %o: memref<64xf32> {llvm.noalias}) kernel attributes {hloom.cost_ps = 2600000 : i64, hloom.layouts = {}, hloom.shared_bytes = 0 : i64, known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 2, 1, 1>} {
      gpu.return
    }
  }
}
