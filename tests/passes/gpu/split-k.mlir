// RUN: hloom-opt %s --split-k --split-input-file | filecheck %s

// Changed: 64 x 64 results are a few tiles, of 65,536 products each.
// CHECK: module attributes {hloom.decisions = [{code = "SPLIT", edge = "tensor<64x64x64xf32>", groups = [@fusion_0_part_k, @fusion_0]
// CHECK-SAME: reason = "sums of 65536 products with few results are taken in 64 parts, which have a buffer"
// CHECK-LABEL: func.func public @main
// CHECK-SAME: memref<1048576xi8>) attributes {hloom.arena_bytes = 1048576 : i64
// CHECK: %[[VIEW:.*]] = memref.view %{{.*}} : memref<1048576xi8> to memref<64x64x64xf32>
// CHECK-NEXT: %[[P:.*]] = "lhlo.ref"(%[[VIEW]])
// CHECK: "lhlo.fusion"(%[[X:.*]], %[[W:.*]], %[[P]]) {callee = @fusion_0_part_k,
// CHECK-NEXT: "lhlo.fusion"(%[[R:.*]], %[[P]], %{{.*}}) {callee = @fusion_0,
// CHECK-LABEL: func.func private @fusion_0_part_k
// CHECK-SAME: hloom.kind = "matmul"
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "parallel", "reduction"]
// CHECK: arith.mulf
// CHECK: return {{.*}} : tensor<64x64x64xf32>
// CHECK-LABEL: func.func private @fusion_0
// CHECK-SAME: hloom.kind = "reduce"
// CHECK: linalg.generic
// CHECK-SAME: iterator_types = ["parallel", "parallel", "reduction"]
// CHECK-NOT: arith.mulf
// CHECK: math.tanh
#map = affine_map<(d0, d1, d2) -> (d2, d0)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, llc_bytes = 52428800 : i64, llc_bytes_per_second = 5500000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, threads_per_multiprocessor = 2048 : i64, blocks_per_multiprocessor = 32 : i64, registers_per_multiprocessor = 65536 : i64, shared_bytes_per_block = 232448 : i64, shared_bytes_per_multiprocessor = 233472 : i64}} {
  func.func public @main(%arg0: memref<65536x64xbf16>, %arg1: memref<65536x64xbf16>, %arg2: memref<64x64xbf16>, %arg3: memref<64x64xbf16>, %arg4: memref<0xi8>) attributes {hloom.arena_bytes = 0 : i64, hloom.live_bytes = 0 : i64, hloom.signature = (tensor<65536x64xbf16>, tensor<65536x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>} {
    %0 = "lhlo.ref"(%arg0) : (memref<65536x64xbf16>) -> !lhlo.buffer
    %1 = "lhlo.ref"(%arg1) : (memref<65536x64xbf16>) -> !lhlo.buffer
    %2 = "lhlo.ref"(%arg2) : (memref<64x64xbf16>) -> !lhlo.buffer
    %3 = "lhlo.ref"(%arg3) : (memref<64x64xbf16>) -> !lhlo.buffer
    "lhlo.fusion"(%0, %1, %2, %3) {callee = @fusion_0, inplace = array<i64>, operandSegmentSizes = array<i32: 3, 1>, source = ["dot_general", "add", "tanh"]} : (!lhlo.buffer, !lhlo.buffer, !lhlo.buffer, !lhlo.buffer) -> ()
    return
  }
  func.func private @fusion_0(%arg0: tensor<65536x64xbf16>, %arg1: tensor<65536x64xbf16>, %arg2: tensor<64x64xbf16>) -> tensor<64x64xbf16> attributes {hloom.bytes = 16793600 : i64, hloom.cost_ps = 5780314 : i64, hloom.flops = 536973312 : i64, hloom.kind = "matmul"} {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<64x64xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<65536x64xbf16>, tensor<65536x64xbf16>) outs(%1 : tensor<64x64xf32>) {
    ^bb0(%in: bf16, %in_0: bf16, %out: f32):
      %5 = arith.extf %in : bf16 to f32
      %6 = arith.extf %in_0 : bf16 to f32
      %7 = arith.mulf %5, %6 fastmath<contract> : f32
      %8 = arith.addf %out, %7 fastmath<contract> : f32
      linalg.yield %8 : f32
    } -> tensor<64x64xf32>
    %3 = tensor.empty() : tensor<64x64xbf16>
    %4 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%2, %arg2 : tensor<64x64xf32>, tensor<64x64xbf16>) outs(%3 : tensor<64x64xbf16>) {
    ^bb0(%in: f32, %in_0: bf16, %out: bf16):
      %5 = arith.truncf %in : f32 to bf16
      %6 = arith.extf %5 : bf16 to f32
      %7 = arith.extf %in_0 : bf16 to f32
      %8 = arith.addf %6, %7 : f32
      %9 = arith.truncf %8 : f32 to bf16
      %10 = arith.extf %9 : bf16 to f32
      %11 = math.tanh %10 : f32
      %12 = arith.truncf %11 : f32 to bf16
      linalg.yield %12 : bf16
    } -> tensor<64x64xbf16>
    return %4 : tensor<64x64xbf16>
  }
}

// -----

// Declined: sums of 1,024 products are done before a second kernel would start.
// CHECK-LABEL: func.func public @main
// CHECK: memref<0xi8>) attributes {hloom.arena_bytes = 0
// CHECK-NOT: _part_k
#map = affine_map<(d0, d1, d2) -> (d2, d0)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, llc_bytes = 52428800 : i64, llc_bytes_per_second = 5500000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, threads_per_multiprocessor = 2048 : i64, blocks_per_multiprocessor = 32 : i64, registers_per_multiprocessor = 1024 : i64, shared_bytes_per_block = 232448 : i64, shared_bytes_per_multiprocessor = 233472 : i64}} {
  func.func public @main(%arg0: memref<1024x64xbf16>, %arg1: memref<1024x64xbf16>, %arg2: memref<64x64xbf16>, %arg3: memref<64x64xbf16>, %arg4: memref<0xi8>) attributes {hloom.arena_bytes = 0 : i64, hloom.live_bytes = 0 : i64, hloom.signature = (tensor<1024x64xbf16>, tensor<1024x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>} {
    %0 = "lhlo.ref"(%arg0) : (memref<1024x64xbf16>) -> !lhlo.buffer
    %1 = "lhlo.ref"(%arg1) : (memref<1024x64xbf16>) -> !lhlo.buffer
    %2 = "lhlo.ref"(%arg2) : (memref<64x64xbf16>) -> !lhlo.buffer
    %3 = "lhlo.ref"(%arg3) : (memref<64x64xbf16>) -> !lhlo.buffer
    "lhlo.fusion"(%0, %1, %2, %3) {callee = @fusion_0, inplace = array<i64>, operandSegmentSizes = array<i32: 3, 1>, source = ["dot_general", "add", "tanh"]} : (!lhlo.buffer, !lhlo.buffer, !lhlo.buffer, !lhlo.buffer) -> ()
    return
  }
  func.func private @fusion_0(%arg0: tensor<1024x64xbf16>, %arg1: tensor<1024x64xbf16>, %arg2: tensor<64x64xbf16>) -> tensor<64x64xbf16> attributes {hloom.bytes = 16793600 : i64, hloom.cost_ps = 5780314 : i64, hloom.flops = 536973312 : i64, hloom.kind = "matmul"} {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<64x64xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<1024x64xbf16>, tensor<1024x64xbf16>) outs(%1 : tensor<64x64xf32>) {
    ^bb0(%in: bf16, %in_0: bf16, %out: f32):
      %5 = arith.extf %in : bf16 to f32
      %6 = arith.extf %in_0 : bf16 to f32
      %7 = arith.mulf %5, %6 fastmath<contract> : f32
      %8 = arith.addf %out, %7 fastmath<contract> : f32
      linalg.yield %8 : f32
    } -> tensor<64x64xf32>
    %3 = tensor.empty() : tensor<64x64xbf16>
    %4 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%2, %arg2 : tensor<64x64xf32>, tensor<64x64xbf16>) outs(%3 : tensor<64x64xbf16>) {
    ^bb0(%in: f32, %in_0: bf16, %out: bf16):
      %5 = arith.truncf %in : f32 to bf16
      %6 = arith.extf %5 : bf16 to f32
      %7 = arith.extf %in_0 : bf16 to f32
      %8 = arith.addf %6, %7 : f32
      %9 = arith.truncf %8 : f32 to bf16
      %10 = arith.extf %9 : bf16 to f32
      %11 = math.tanh %10 : f32
      %12 = arith.truncf %11 : f32 to bf16
      linalg.yield %12 : bf16
    } -> tensor<64x64xbf16>
    return %4 : tensor<64x64xbf16>
  }
}

// -----

// Declined: the group belongs to a library.
// CHECK-LABEL: func.func public @main
// CHECK: memref<0xi8>) attributes {hloom.arena_bytes = 0
// CHECK-NOT: _part_k
#map = affine_map<(d0, d1, d2) -> (d2, d0)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", name = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, llc_bytes = 52428800 : i64, llc_bytes_per_second = 5500000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, threads_per_multiprocessor = 2048 : i64, blocks_per_multiprocessor = 32 : i64, registers_per_multiprocessor = 65536 : i64, shared_bytes_per_block = 232448 : i64, shared_bytes_per_multiprocessor = 233472 : i64}} {
  func.func public @main(%arg0: memref<65536x64xbf16>, %arg1: memref<65536x64xbf16>, %arg2: memref<64x64xbf16>, %arg3: memref<64x64xbf16>, %arg4: memref<0xi8>) attributes {hloom.arena_bytes = 0 : i64, hloom.live_bytes = 0 : i64, hloom.signature = (tensor<65536x64xbf16>, tensor<65536x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>} {
    %0 = "lhlo.ref"(%arg0) : (memref<65536x64xbf16>) -> !lhlo.buffer
    %1 = "lhlo.ref"(%arg1) : (memref<65536x64xbf16>) -> !lhlo.buffer
    %2 = "lhlo.ref"(%arg2) : (memref<64x64xbf16>) -> !lhlo.buffer
    %3 = "lhlo.ref"(%arg3) : (memref<64x64xbf16>) -> !lhlo.buffer
    "lhlo.fusion"(%0, %1, %2, %3) {callee = @fusion_0, inplace = array<i64>, operandSegmentSizes = array<i32: 3, 1>, source = ["dot_general", "add", "tanh"]} : (!lhlo.buffer, !lhlo.buffer, !lhlo.buffer, !lhlo.buffer) -> ()
    return
  }
  func.func private @fusion_0(%arg0: tensor<65536x64xbf16>, %arg1: tensor<65536x64xbf16>, %arg2: tensor<64x64xbf16>) -> tensor<64x64xbf16> attributes {hloom.bytes = 16793600 : i64, hloom.cost_ps = 5780314 : i64, hloom.flops = 536973312 : i64, hloom.kind = "matmul", hloom.library = "gemm"} {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<64x64xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<65536x64xbf16>, tensor<65536x64xbf16>) outs(%1 : tensor<64x64xf32>) {
    ^bb0(%in: bf16, %in_0: bf16, %out: f32):
      %5 = arith.extf %in : bf16 to f32
      %6 = arith.extf %in_0 : bf16 to f32
      %7 = arith.mulf %5, %6 fastmath<contract> : f32
      %8 = arith.addf %out, %7 fastmath<contract> : f32
      linalg.yield %8 : f32
    } -> tensor<64x64xf32>
    %3 = tensor.empty() : tensor<64x64xbf16>
    %4 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%2, %arg2 : tensor<64x64xf32>, tensor<64x64xbf16>) outs(%3 : tensor<64x64xbf16>) {
    ^bb0(%in: f32, %in_0: bf16, %out: bf16):
      %5 = arith.truncf %in : f32 to bf16
      %6 = arith.extf %5 : bf16 to f32
      %7 = arith.extf %in_0 : bf16 to f32
      %8 = arith.addf %6, %7 : f32
      %9 = arith.truncf %8 : f32 to bf16
      %10 = arith.extf %9 : bf16 to f32
      %11 = math.tanh %10 : f32
      %12 = arith.truncf %11 : f32 to bf16
      linalg.yield %12 : bf16
    } -> tensor<64x64xbf16>
    return %4 : tensor<64x64xbf16>
  }
}

// -----

// Unchanged: a target that is no GPU.
// CHECK-LABEL: func.func public @main
// CHECK: memref<0xi8>) attributes {hloom.arena_bytes = 0
// CHECK-NOT: _part_k
#map = affine_map<(d0, d1, d2) -> (d2, d0)>
#map1 = affine_map<(d0, d1, d2) -> (d2, d1)>
#map2 = affine_map<(d0, d1, d2) -> (d0, d1)>
#map3 = affine_map<(d0, d1) -> (d0, d1)>
module attributes {hloom.target = {kind = "cpu", cpu = "haswell", name = "haswell", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, llc_bytes = 52428800 : i64, llc_bytes_per_second = 5500000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, threads_per_multiprocessor = 2048 : i64, blocks_per_multiprocessor = 32 : i64, registers_per_multiprocessor = 65536 : i64, shared_bytes_per_block = 232448 : i64, shared_bytes_per_multiprocessor = 233472 : i64}} {
  func.func public @main(%arg0: memref<65536x64xbf16>, %arg1: memref<65536x64xbf16>, %arg2: memref<64x64xbf16>, %arg3: memref<64x64xbf16>, %arg4: memref<0xi8>) attributes {hloom.arena_bytes = 0 : i64, hloom.live_bytes = 0 : i64, hloom.signature = (tensor<65536x64xbf16>, tensor<65536x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16>} {
    %0 = "lhlo.ref"(%arg0) : (memref<65536x64xbf16>) -> !lhlo.buffer
    %1 = "lhlo.ref"(%arg1) : (memref<65536x64xbf16>) -> !lhlo.buffer
    %2 = "lhlo.ref"(%arg2) : (memref<64x64xbf16>) -> !lhlo.buffer
    %3 = "lhlo.ref"(%arg3) : (memref<64x64xbf16>) -> !lhlo.buffer
    "lhlo.fusion"(%0, %1, %2, %3) {callee = @fusion_0, inplace = array<i64>, operandSegmentSizes = array<i32: 3, 1>, source = ["dot_general", "add", "tanh"]} : (!lhlo.buffer, !lhlo.buffer, !lhlo.buffer, !lhlo.buffer) -> ()
    return
  }
  func.func private @fusion_0(%arg0: tensor<65536x64xbf16>, %arg1: tensor<65536x64xbf16>, %arg2: tensor<64x64xbf16>) -> tensor<64x64xbf16> attributes {hloom.bytes = 16793600 : i64, hloom.cost_ps = 5780314 : i64, hloom.flops = 536973312 : i64, hloom.kind = "matmul"} {
    %cst = arith.constant 0.000000e+00 : f32
    %0 = tensor.empty() : tensor<64x64xf32>
    %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = linalg.generic {indexing_maps = [#map, #map1, #map2], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<65536x64xbf16>, tensor<65536x64xbf16>) outs(%1 : tensor<64x64xf32>) {
    ^bb0(%in: bf16, %in_0: bf16, %out: f32):
      %5 = arith.extf %in : bf16 to f32
      %6 = arith.extf %in_0 : bf16 to f32
      %7 = arith.mulf %5, %6 fastmath<contract> : f32
      %8 = arith.addf %out, %7 fastmath<contract> : f32
      linalg.yield %8 : f32
    } -> tensor<64x64xf32>
    %3 = tensor.empty() : tensor<64x64xbf16>
    %4 = linalg.generic {indexing_maps = [#map3, #map3, #map3], iterator_types = ["parallel", "parallel"]} ins(%2, %arg2 : tensor<64x64xf32>, tensor<64x64xbf16>) outs(%3 : tensor<64x64xbf16>) {
    ^bb0(%in: f32, %in_0: bf16, %out: bf16):
      %5 = arith.truncf %in : f32 to bf16
      %6 = arith.extf %5 : bf16 to f32
      %7 = arith.extf %in_0 : bf16 to f32
      %8 = arith.addf %6, %7 : f32
      %9 = arith.truncf %8 : f32 to bf16
      %10 = arith.extf %9 : bf16 to f32
      %11 = math.tanh %10 : f32
      %12 = arith.truncf %11 : f32 to bf16
      linalg.yield %12 : bf16
    } -> tensor<64x64xbf16>
    return %4 : tensor<64x64xbf16>
  }
}
