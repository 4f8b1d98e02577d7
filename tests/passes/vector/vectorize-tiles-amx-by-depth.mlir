// RUN: hloom-opt %s --tile-and-fuse --vectorize-tiles --canonicalize | filecheck %s

// Changed: A gradient by the weights of a convolution of two groups. The right operand is transposed once; pairs of the left one's steps
// serve all taps across lines, of lines that are filled up from 14 to 16; squares of results are transposed back.
// CHECK-LABEL: func.func private @groups
// CHECK: vector.shuffle
// CHECK: vector.interleave
// CHECK: scf.for %[[TAP:.*]] = %c0{{.*}} to %c3
// CHECK: arith.muli %[[TAP]], %c512
// CHECK-COUNT-4: x86.amx.tile_mulf
// CHECK-COUNT-4: x86.amx.tile_store
// CHECK: vector.shuffle
// CHECK: return
#x = affine_map<(kh, kw, c, g, f, b, oh, ow) -> (b, kh + oh, kw + ow, g, c)>
#y = affine_map<(kh, kw, c, g, f, b, oh, ow) -> (b, oh, ow, g, f)>
#o = affine_map<(kh, kw, c, g, f, b, oh, ow) -> (kh, kw, c, g, f)>
#x2 = affine_map<(kh, kw, c, f, oh, ow) -> (kh + oh * 2, kw + ow * 2, c)>
#y2 = affine_map<(kh, kw, c, f, oh, ow) -> (oh, ow, f)>
#o2 = affine_map<(kh, kw, c, f, oh, ow) -> (kh, kw, c, f)>
module attributes {hloom.target = {amx_bf16 = true}} {
  func.func private @groups(%x: tensor<2x16x16x2x32xbf16>, %y: tensor<2x14x14x2x32xbf16>) -> tensor<3x3x32x2x32xf32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<3x3x32x2x32xf32>
    %s = linalg.fill ins(%zero : f32) outs(%e : tensor<3x3x32x2x32xf32>) -> tensor<3x3x32x2x32xf32>
    %r = linalg.generic {indexing_maps = [#x, #y, #o],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %y : tensor<2x16x16x2x32xbf16>, tensor<2x14x14x2x32xbf16>) outs(%s : tensor<3x3x32x2x32xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<3x3x32x2x32xf32>
    return %r : tensor<3x3x32x2x32xf32>
  }

// Changed: Of three channels the taps of a line are rows together, 15 of them.
// CHECK-LABEL: func.func private @few_channels
// CHECK: vector.maskedload
// CHECK-SAME: vector<32xbf16>
// CHECK-COUNT-4: x86.amx.tile_mulf
// CHECK: return
  func.func private @few_channels(%x: tensor<20x21x3xbf16>, %y: tensor<8x9x32xbf16>) -> tensor<5x5x3x32xf32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<5x5x3x32xf32>
    %s = linalg.fill ins(%zero : f32) outs(%e : tensor<5x5x3x32xf32>) -> tensor<5x5x3x32xf32>
    %r = linalg.generic {indexing_maps = [#x2, #y2, #o2],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %y : tensor<20x21x3xbf16>, tensor<8x9x32xbf16>) outs(%s : tensor<5x5x3x32xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<5x5x3x32xf32>
    return %r : tensor<5x5x3x32xf32>
  }

// Declined: a single tap of three channels, whose rows leave tiles nearly empty.
// CHECK-LABEL: func.func private @few_rows
// CHECK-NOT: x86.amx
// CHECK: return
  func.func private @few_rows(%x: tensor<18x19x3xbf16>, %y: tensor<8x9x32xbf16>) -> tensor<3x1x3x32xf32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<3x1x3x32xf32>
    %s = linalg.fill ins(%zero : f32) outs(%e : tensor<3x1x3x32xf32>) -> tensor<3x1x3x32xf32>
    %r = linalg.generic {indexing_maps = [#x2, #y2, #o2],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %y : tensor<18x19x3xbf16>, tensor<8x9x32xbf16>) outs(%s : tensor<3x1x3x32xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<3x1x3x32xf32>
    return %r : tensor<3x1x3x32xf32>
  }
}
