// RUN: hloom-opt %s --plan-fusion --split-input-file | filecheck %s

module attributes {hloom.target = {kind = "cuda", multiprocessors = 132, launch_ps = 2500000, f16_flops = 989000000000000, bf16_flops = 989000000000000,
    f32_flops = 67000000000000, dram_bytes_per_second = 3350000000000, llc_bytes_per_second = 5500000000000, llc_bytes = 50000000}} {
  // A padded convolution with bias, residual and relu is the library's; a generated kernel would need a padded copy first.
  // CHECK: code = "KERNEL_CHOSEN"
  // CHECK-SAME: reason = "conv: conv and what follows it {{[0-9]+}} ps, the generated kernel
  // CHECK-LABEL: func.func @conv
  // CHECK-NEXT: %[[R:.*]] = call @fusion_0(%arg0, %arg1, %arg2, %arg3)
  // CHECK-NEXT: return %[[R]]
  // CHECK: func.func private @fusion_0({{.*}}hloom.kind = "library", hloom.library = "conv"
  // CHECK-NEXT: stablehlo.convolution
  // CHECK: stablehlo.add
  // CHECK: stablehlo.add
  // CHECK: stablehlo.maximum
  // CHECK-NEXT: return
  func.func @conv(%x: tensor<1x16x16x8xf16>, %w: tensor<8x3x3x8xf16>, %b: tensor<8xf16>, %r: tensor<1x16x16x8xf16>) -> tensor<1x16x16x8xf16> {
    %zero = stablehlo.constant dense<0.0> : tensor<1x16x16x8xf16>
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x16x8xf16>, tensor<8x3x3x8xf16>) -> tensor<1x16x16x8xf16>
    %1 = stablehlo.broadcast_in_dim %b, dims = [3] : (tensor<8xf16>) -> tensor<1x16x16x8xf16>
    %2 = stablehlo.add %0, %1 : tensor<1x16x16x8xf16>
    %3 = stablehlo.add %r, %2 : tensor<1x16x16x8xf16>
    %4 = stablehlo.maximum %3, %zero : tensor<1x16x16x8xf16>
    return %4 : tensor<1x16x16x8xf16>
  }
}

// -----

module attributes {hloom.target = {kind = "cuda", multiprocessors = 132, launch_ps = 2500000, f16_flops = 989000000000000, bf16_flops = 989000000000000,
    f32_flops = 67000000000000, dram_bytes_per_second = 3350000000000, llc_bytes_per_second = 5500000000000, llc_bytes = 50000000}} {
  // A window of one element needs no padding: the generated kernel is as fast, and the weights are read as they lie.
  // CHECK: code = "KERNEL_CHOSEN"
  // CHECK-SAME: reason = "generated: conv and what follows it {{[0-9]+}} ps, the generated kernel
  // CHECK-LABEL: func.func @pointwise
  // CHECK-NEXT: %[[R:.*]] = call @fusion_0(%arg0, %arg1)
  // CHECK-NEXT: return %[[R]]
  // CHECK: func.func private @fusion_0({{.*}}hloom.kind = "conv"
  // CHECK-NEXT: stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]
  // CHECK-NOT: kernel_chosen
  func.func @pointwise(%x: tensor<1x16x16x8xf16>, %w: tensor<1x1x8x8xf16>) -> tensor<1x16x16x8xf16> {
    %t = stablehlo.transpose %w, dims = [3, 0, 1, 2] : (tensor<1x1x8x8xf16>) -> tensor<8x1x1x8xf16>
    %0 = stablehlo.convolution(%x, %t) dim_numbers = [b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x16x8xf16>, tensor<8x1x1x8xf16>) -> tensor<1x16x16x8xf16>
    return %0 : tensor<1x16x16x8xf16>
  }
}

// -----

module attributes {hloom.target = {kind = "cuda", multiprocessors = 132, launch_ps = 2500000, f16_flops = 989000000000000, bf16_flops = 989000000000000,
    f32_flops = 67000000000000, dram_bytes_per_second = 3350000000000, llc_bytes_per_second = 5500000000000, llc_bytes = 50000000}} {
  // A large product in half precision with a bias and relu is the library's, tanh is left for a loop, which is said. The f32 sum is rounded by the library.
  // CHECK: reason = "gemm: gemm and what follows it
  // CHECK-SAME: ; gemm does bias, residual, relu, gelu by tanh (not by erf) beside the product, a loop the other ops
  // CHECK-LABEL: func.func @gemm
  // CHECK-NEXT: %[[C:.*]] = call @fusion_0(%arg0, %arg1, %arg2)
  // CHECK-NEXT: call @fusion_1(%[[C]])
  // CHECK: func.func private @fusion_0({{.*}} -> tensor<8192x4096xbf16> attributes {{.*}}hloom.library = "gemm"
  // CHECK-NOT: tanh
  // CHECK: stablehlo.maximum
  // CHECK-NEXT: return
  // CHECK: func.func private @fusion_1({{.*}}hloom.kind = "loop"
  // CHECK-NEXT: stablehlo.tanh
  func.func @gemm(%x: tensor<8192x4096xbf16>, %w: tensor<4096x4096xbf16>, %b: tensor<4096xbf16>) -> tensor<8192x4096xbf16> {
    %zero = stablehlo.constant dense<0.0> : tensor<8192x4096xbf16>
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8192x4096xbf16>, tensor<4096x4096xbf16>) -> tensor<8192x4096xf32>
    %1 = stablehlo.convert %0 : (tensor<8192x4096xf32>) -> tensor<8192x4096xbf16>
    %2 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4096xbf16>) -> tensor<8192x4096xbf16>
    %3 = stablehlo.add %1, %2 : tensor<8192x4096xbf16>
    %4 = stablehlo.maximum %3, %zero : tensor<8192x4096xbf16>
    %5 = stablehlo.tanh %4 : tensor<8192x4096xbf16>
    return %5 : tensor<8192x4096xbf16>
  }
}

// -----

module attributes {hloom.target = {kind = "cuda", multiprocessors = 132, launch_ps = 2500000, f16_flops = 989000000000000, bf16_flops = 989000000000000,
    f32_flops = 67000000000000, dram_bytes_per_second = 3350000000000, llc_bytes_per_second = 5500000000000, llc_bytes = 50000000}} {
  // A product of one row: the library would split its sum and add the parts in a second kernel. Weights stay in f16.
  // Integers: no library.
  // CHECK: reason = "generated: gemm and what follows it
  // CHECK: reason = "generated: no library takes it, its types, layout or window is none of the library's"
  // CHECK: hloom.kind = "matmul"
  // CHECK-NOT: tensor<4096x4096xf32>
  // CHECK: hloom.kind = "matmul"
  func.func @declined(%x: tensor<1x4096xf16>, %w: tensor<4096x4096xf16>, %i: tensor<64x64xi32>) -> (tensor<1x4096xf16>, tensor<64x64xi32>) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<1x4096xf16>, tensor<4096x4096xf16>) -> tensor<1x4096xf16>
    %1 = stablehlo.dot_general %i, %i, contracting_dims = [1] x [1] : (tensor<64x64xi32>, tensor<64x64xi32>) -> tensor<64x64xi32>
    return %0, %1 : tensor<1x4096xf16>, tensor<64x64xi32>
  }
}

// -----

module attributes {hloom.target = {kind = "cuda", compute_capability = 90 : i64, multiprocessors = 132 : i64}} {
  // Bytes that two dots see as floats: each group has a view of its own, and no buffer holds the floats.
  // CHECK-LABEL: func.func @floats_seen_in_bytes
  // CHECK-NOT: xf8E5M2>
  // CHECK: func.func private @fusion_0(%arg0: tensor<64x64xui8>, %arg1: tensor<64x64xui8>)
  // CHECK-COUNT-2: stablehlo.bitcast_convert {{.*}} -> tensor<64x64xf8E5M2>
  // CHECK: stablehlo.dot_general
  // CHECK: func.func private @fusion_1(%arg0: tensor<64x64xui8>, %arg1: tensor<64x64xui8>)
  // CHECK-COUNT-2: stablehlo.bitcast_convert {{.*}} -> tensor<64x64xf8E5M2>
  func.func @floats_seen_in_bytes(%x: tensor<64x64xui8>, %w: tensor<64x64xui8>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
    %0 = stablehlo.bitcast_convert %x : (tensor<64x64xui8>) -> tensor<64x64xf8E5M2>
    %1 = stablehlo.bitcast_convert %w : (tensor<64x64xui8>) -> tensor<64x64xf8E5M2>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<64x64xf8E5M2>, tensor<64x64xf8E5M2>) -> tensor<64x64xf32>
    %3 = stablehlo.dot_general %0, %1, contracting_dims = [0] x [0] : (tensor<64x64xf8E5M2>, tensor<64x64xf8E5M2>) -> tensor<64x64xf32>
    return %2, %3 : tensor<64x64xf32>, tensor<64x64xf32>
  }
}

// -----

module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, int8_flops = 1979000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  // Products of bytes that lie along what is summed, by sixteens: the library's; of floats with the type that they become.
  // CHECK-LABEL: func.func @bytes
  // CHECK: func.func private @fusion_0({{.*}}hloom.library = "gemm"
  // CHECK-NEXT: stablehlo.dot_general {{.*}} -> tensor<4096x4096xi32>
  // CHECK: func.func private @fusion_1({{.*}}hloom.library = "gemm"
  // CHECK-NEXT: stablehlo.bitcast_convert
  // CHECK-NEXT: stablehlo.dot_general
  // CHECK-NEXT: stablehlo.convert {{.*}} -> tensor<4096x4096xbf16>
  func.func @bytes(%x: tensor<4096x4096xi8>, %y: tensor<4096x4096xui8>) -> (tensor<4096x4096xi32>, tensor<4096x4096xbf16>) {
    %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<4096x4096xi8>, tensor<4096x4096xi8>) -> tensor<4096x4096xi32>
    %1 = stablehlo.bitcast_convert %y : (tensor<4096x4096xui8>) -> tensor<4096x4096xf8E4M3FN>
    %2 = stablehlo.dot_general %1, %1, contracting_dims = [1] x [1] : (tensor<4096x4096xf8E4M3FN>, tensor<4096x4096xf8E4M3FN>) -> tensor<4096x4096xf32>
    %3 = stablehlo.convert %2 : (tensor<4096x4096xf32>) -> tensor<4096x4096xbf16>
    return %0, %3 : tensor<4096x4096xi32>, tensor<4096x4096xbf16>
  }
}

// -----

module attributes {hloom.target = {kind = "cuda", cpu = "sm_90a", compute_capability = 90 : i64, multiprocessors = 132 : i64, launch_ps = 2500000 : i64, int8_flops = 1979000000000000 : i64, f32_flops = 67000000000000 : i64, dram_bytes_per_second = 3350000000000 : i64, llc_bytes_per_second = 5500000000000 : i64, llc_bytes = 50000000 : i64}} {
  // Not the library's: bytes along their columns, sizes that are no sixteens, bytes without sign, f8E5M2.
  // CHECK-DAG: "generated: no library takes it, the library multiplies bytes that lie along what is summed"
  // CHECK-DAG: "generated: no library takes it, the library multiplies bytes by 16"
  // CHECK-DAG: "generated: no library takes it, its types, layout or window is none of the library's"
  // CHECK-LABEL: func.func @other_bytes
  // CHECK-NOT: hloom.library
  func.func @other_bytes(%x: tensor<4096x4096xi8>, %y: tensor<4000x4000xui8>, %z: tensor<4088x4096xi8>) -> (tensor<4096x4096xi32>, tensor<4088x4088xi32>, tensor<4000x4000xi32>, tensor<4000x4000xf32>) {
    %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<4096x4096xi8>, tensor<4096x4096xi8>) -> tensor<4096x4096xi32>
    %1 = stablehlo.dot_general %z, %z, contracting_dims = [1] x [1] : (tensor<4088x4096xi8>, tensor<4088x4096xi8>) -> tensor<4088x4088xi32>
    %2 = stablehlo.dot_general %y, %y, contracting_dims = [1] x [1] : (tensor<4000x4000xui8>, tensor<4000x4000xui8>) -> tensor<4000x4000xi32>
    %3 = stablehlo.bitcast_convert %y : (tensor<4000x4000xui8>) -> tensor<4000x4000xf8E5M2>
    %4 = stablehlo.dot_general %3, %3, contracting_dims = [1] x [1] : (tensor<4000x4000xf8E5M2>, tensor<4000x4000xf8E5M2>) -> tensor<4000x4000xf32>
    return %0, %1, %2, %4 : tensor<4096x4096xi32>, tensor<4088x4088xi32>, tensor<4000x4000xi32>, tensor<4000x4000xf32>
  }
}

// -----

// Declined: a GPU's kernel keeps rows in its tile, no columns.
module attributes {hloom.target = {kind = "cuda", multiprocessors = 132, launch_ps = 2500000, f16_flops = 989000000000000, bf16_flops = 989000000000000,
    f32_flops = 67000000000000, dram_bytes_per_second = 3350000000000, llc_bytes_per_second = 5500000000000, llc_bytes = 50000000}} {
  // CHECK: code = "AXIS_CONFLICT"
  // CHECK-SAME: reason = "a reduction over an outer axis has no row to keep in the tile"
  // CHECK-LABEL: func.func @columns
  // CHECK-NEXT: call @fusion_0
  // CHECK-NEXT: call @fusion_1
  func.func @columns(%x: tensor<2x21x1000xf32>) -> tensor<2x21x1000xf32> {
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [1] : (tensor<2x21x1000xf32>, tensor<f32>) -> tensor<2x1000xf32>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 2] : (tensor<2x1000xf32>) -> tensor<2x21x1000xf32>
    %2 = stablehlo.subtract %x, %1 : tensor<2x21x1000xf32>
    return %2 : tensor<2x21x1000xf32>
  }
}
