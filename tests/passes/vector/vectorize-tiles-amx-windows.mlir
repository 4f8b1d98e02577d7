// RUN: hloom-opt %s --tile-and-fuse --vectorize-tiles --canonicalize --split-input-file | filecheck %s

// Lines of the image and zeros around them are a panel, whose rows of three taps overlap: 64 elements on from row to row. The last tile of a line
// begins at its thirteenth pixel. What follows the sums is computed from a copy of each block.
// CHECK-LABEL: func.func private @windows(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<5376xbf16>, %[[W:[a-z0-9]+]]: memref<9216xbf16>
// CHECK: %[[PANEL:.*]] = memref.alloca() {{.*}} : memref<5312xbf16>
// CHECK: vector.store {{.*}}, %[[PANEL]]
// CHECK: x86.amx.tile_zero : !x86.amx.tile<16x16xf32>
// CHECK: memref.reinterpret_cast %[[PANEL]] to offset: [%{{.*}}], sizes: [16, 32], strides: [32, 1]
// CHECK: memref.reinterpret_cast %[[W]] to offset: [%{{.*}}], sizes: [16, 32], strides: [64, 1]
// CHECK-COUNT-4: x86.amx.tile_mulf
// CHECK-COUNT-4: x86.amx.tile_store
// CHECK: arith.maximumf
// CHECK: return
#x = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0 + d3, d1 + d4, d5, d6)>
#w = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d3, d4, d5, d2, d6)>
#y = affine_map<(d0, d1, d2, d3, d4, d5, d6) -> (d0, d1, d2)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
module attributes {hloom.target = {amx_bf16 = true}} {
  func.func private @windows(%x: tensor<6x28x32xbf16>, %w: tensor<3x3x16x32x2xbf16>) -> tensor<6x28x32xf32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0.0 : f32
    %outside = arith.constant 0.0 : bf16
    %padded = tensor.pad %x low[1, 1, 0] high[1, 1, 0] {
    ^bb0(%i: index, %j: index, %k: index):
      tensor.yield %outside : bf16
    } : tensor<6x28x32xbf16> to tensor<8x30x32xbf16>
    %p = tensor.expand_shape %padded [[0], [1], [2, 3]] output_shape [8, 30, 16, 2] : tensor<8x30x32xbf16> into tensor<8x30x16x2xbf16>
    %e = tensor.empty() : tensor<6x28x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x28x32xf32>) -> tensor<6x28x32xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y],
                         iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction", "reduction"]}
        ins(%p, %w : tensor<8x30x16x2xbf16>, tensor<3x3x16x32x2xbf16>) outs(%f : tensor<6x28x32xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<6x28x32xf32>
    %o = tensor.empty() : tensor<6x28x32xf32>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%c : tensor<6x28x32xf32>) outs(%o : tensor<6x28x32xf32>) {
    ^bb0(%a: f32, %b: f32):
      %0 = arith.maximumf %a, %zero : f32
      linalg.yield %0 : f32
    } -> tensor<6x28x32xf32>
    return %r : tensor<6x28x32xf32>
  }
}

// -----

// A convolution of pixels two apart without zeros around it is read where it lies.
// CHECK-LABEL: func.func private @in_place(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<17408xbf16>
// CHECK: memref.reinterpret_cast %[[X]] to offset: [%{{.*}}], sizes: [16, 32], strides: [64, 1]
// CHECK: x86.amx.tile_mulf
// CHECK: return
#x = affine_map<(d0, d1, d2, d3, d4) -> (d0 * 2, d1 * 2, d3, d4)>
#w = affine_map<(d0, d1, d2, d3, d4) -> (d3, d2, d4)>
#y = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
module attributes {hloom.target = {amx_bf16 = true}} {
  func.func private @in_place(%x: tensor<16x34x16x2xbf16>, %w: tensor<16x32x2xbf16>) -> tensor<8x17x32xf32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8x17x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x17x32xf32>) -> tensor<8x17x32xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<16x34x16x2xbf16>, tensor<16x32x2xbf16>) outs(%f : tensor<8x17x32xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<8x17x32xf32>
    return %c : tensor<8x17x32xf32>
  }
}

// -----

// Both operands lie by depth: squares of the left one are transposed, pairs of the right one's rows are interleaved, sums are added to.
// CHECK-LABEL: func.func private @by_depth(
// CHECK: vector.interleave %{{.*}} : vector<32xbf16> -> vector<64xbf16>
// CHECK: vector.shuffle
// CHECK-COUNT-8: x86.amx.tile_load
// CHECK-COUNT-4: x86.amx.tile_mulf
// CHECK: x86.amx.tile_store
// CHECK: return
#a = affine_map<(d0, d1, d2) -> (d2, d0)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {amx_bf16 = true}} {
  func.func private @by_depth(%x: tensor<700x64xbf16>, %w: tensor<700x64xbf16>) -> tensor<64x64xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x64xf32>) -> tensor<64x64xf32>
    %c = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<700x64xbf16>, tensor<700x64xbf16>) outs(%f : tensor<64x64xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<64x64xf32>
    return %c : tensor<64x64xf32>
  }
}

// -----

// Declined: sums that go on from others than zero.
// CHECK-LABEL: func.func private @from_others(
// CHECK-NOT: x86.amx
// CHECK: return
#a = affine_map<(d0, d1, d2) -> (d2, d0)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {amx_bf16 = true}} {
  func.func private @from_others(%x: tensor<700x64xbf16>, %w: tensor<700x64xbf16>, %s: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {hloom.kind = "matmul"} {
    %c = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<700x64xbf16>, tensor<700x64xbf16>) outs(%s : tensor<64x64xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<64x64xf32>
    return %c : tensor<64x64xf32>
  }
}
