// RUN: hloom-opt %s --tile-and-fuse --split-input-file | filecheck %s

// Changed: Transformed weights of 38 MB, which no cache holds, are read twice: a tile has four lines of Winograd tiles, as many as the stack takes.
// CHECK-LABEL: func.func private @from_memory(
// CHECK: scf.forall (%{{.*}}) = (0) to (28) step (16)
#x = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0 + d3, d1 + d4, d5)>
#w = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d4, d5, d2)>
#y = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2)>
module attributes {hloom.target = {l2_bytes = 2097152 : i64, llc_bytes = 33554432 : i64}} {
  func.func private @from_memory(%x: tensor<30x30x512xf32>, %t: tensor<16x6x6x512x32xf32>) -> tensor<28x28x512xf32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0.0 : f32
    %w = stablehlo.custom_call @hloom.winograd_filter(%t) : (tensor<16x6x6x512x32xf32>) -> tensor<3x3x512x512xf32>
    %e = tensor.empty() : tensor<28x28x512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<28x28x512xf32>) -> tensor<28x28x512xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %w : tensor<30x30x512xf32>, tensor<3x3x512x512xf32>) outs(%f : tensor<28x28x512xf32>) {
    ^bb0(%u: f32, %v: f32, %s: f32):
      %0 = arith.mulf %u, %v fastmath<contract> : f32
      %1 = arith.addf %s, %0 fastmath<contract> : f32
      linalg.yield %1 : f32
    } -> tensor<28x28x512xf32>
    return %c : tensor<28x28x512xf32>
  }
}

// -----

// Declined: The last cache holds them: a tile's transformed inputs fit half of L2, and they are read four times.
// CHECK-LABEL: func.func private @from_the_last_cache(
// CHECK: scf.forall (%{{.*}}) = (0) to (28) step (8)
#x = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0 + d3, d1 + d4, d5)>
#w = affine_map<(d0, d1, d2, d3, d4, d5) -> (d3, d4, d5, d2)>
#y = affine_map<(d0, d1, d2, d3, d4, d5) -> (d0, d1, d2)>
module attributes {hloom.target = {l2_bytes = 2097152 : i64, llc_bytes = 268435456 : i64}} {
  func.func private @from_the_last_cache(%x: tensor<30x30x512xf32>, %t: tensor<16x6x6x512x32xf32>) -> tensor<28x28x512xf32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0.0 : f32
    %w = stablehlo.custom_call @hloom.winograd_filter(%t) : (tensor<16x6x6x512x32xf32>) -> tensor<3x3x512x512xf32>
    %e = tensor.empty() : tensor<28x28x512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<28x28x512xf32>) -> tensor<28x28x512xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %w : tensor<30x30x512xf32>, tensor<3x3x512x512xf32>) outs(%f : tensor<28x28x512xf32>) {
    ^bb0(%u: f32, %v: f32, %s: f32):
      %0 = arith.mulf %u, %v fastmath<contract> : f32
      %1 = arith.addf %s, %0 fastmath<contract> : f32
      linalg.yield %1 : f32
    } -> tensor<28x28x512xf32>
    return %c : tensor<28x28x512xf32>
  }
}

// -----

// Changed: Groups are outermost, and tiles of images of four Winograd tiles are of four images each, where L2 has room beside the weights.
// CHECK-LABEL: func.func private @groups(
// CHECK: scf.forall (%[[G:.*]], %[[N:.*]]) = (0, 0) to (2, 8) step (1, 4)
// CHECK: tensor.extract_slice %{{.*}}[%[[N]], 0, 0, %{{.*}}] [4, 9, 9, 32]
// CHECK: tensor.extract_slice %{{.*}}[0, 0, 0, %[[G]], 0] [3, 3, 32, 1, 32]
#x = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1 + d5, d2 + d6, d3 * 32 + d7)>
#w = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d5, d6, d7, d3, d4)>
#y = affine_map<(d0, d1, d2, d3, d4, d5, d6, d7) -> (d0, d1, d2, d3, d4)>
module attributes {hloom.target = {l2_bytes = 1048576 : i64}} {
  func.func private @groups(%x: tensor<8x9x9x64xf32>, %t: tensor<2x1x6x6x32x32xf32>) -> tensor<8x7x7x2x32xf32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0.0 : f32
    %w = stablehlo.custom_call @hloom.winograd_filter(%t) : (tensor<2x1x6x6x32x32xf32>) -> tensor<3x3x32x2x32xf32>
    %e = tensor.empty() : tensor<8x7x7x2x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x7x7x2x32xf32>) -> tensor<8x7x7x2x32xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %w : tensor<8x9x9x64xf32>, tensor<3x3x32x2x32xf32>) outs(%f : tensor<8x7x7x2x32xf32>) {
    ^bb0(%u: f32, %v: f32, %s: f32):
      %0 = arith.mulf %u, %v fastmath<contract> : f32
      %1 = arith.addf %s, %0 fastmath<contract> : f32
      linalg.yield %1 : f32
    } -> tensor<8x7x7x2x32xf32>
    return %c : tensor<8x7x7x2x32xf32>
  }
}
