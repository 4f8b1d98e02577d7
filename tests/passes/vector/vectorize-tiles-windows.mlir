// RUN: hloom-opt %s --vectorize-tiles | filecheck %s

#x = affine_map<(oh, ow, o, kh, kw, i) -> (oh + kh, ow + kw, i)>
#w = affine_map<(oh, ow, o, kh, kw, i) -> (kh, kw, i, o)>
#y = affine_map<(oh, ow, o, kh, kw, i) -> (oh, ow, o)>

// Changed: A convolution with zeros around its input. The taps of a column run between bounds that depend on the line. The first block of
// pixels lacks one tap of its first pixel: its three taps are unrolled, and the first has a product less. The last block lacks one likewise.
// The block between is a loop over the 3 × 8 taps and channels of a line, which lie in one piece. LLVM may leave such blocks as they are.
// CHECK-LABEL: func.func private @padded(
// CHECK-SAME: %[[LO:.*]]: index, %[[HI:.*]]: index, %[[X:.*]]: memref<2304xf32>, %[[W:.*]]: memref<1152xf32>, %[[Y:.*]]: memref<4608xf32>) attributes {hloom.effort = "least",
// CHECK: scf.for
// CHECK: %[[FIRST:.*]] = arith.minui
// CHECK: %[[LAST:.*]] = arith.minui
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[LAST]]
// CHECK-COUNT-11: arith.mulf
// CHECK: scf.yield
// CHECK-COUNT-12: arith.mulf
// CHECK: scf.yield
// CHECK-COUNT-12: arith.mulf
// CHECK: scf.yield
// CHECK: %c24 = arith.constant 24 : index
// CHECK-COUNT-12: arith.mulf
// CHECK: scf.yield
// CHECK-COUNT-12: arith.mulf
// CHECK: scf.yield
// CHECK-COUNT-12: arith.mulf
// CHECK: scf.yield
// CHECK-COUNT-11: arith.mulf
// CHECK-NOT: arith.mulf
// CHECK: return
func.func private @padded(%x: tensor<8x36x8xf32>, %w: tensor<3x3x8x16xf32>) -> tensor<8x36x16xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1, 1, 0] high[1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<8x36x8xf32> to tensor<10x38x8xf32>
  %e = tensor.empty() : tensor<8x36x16xf32>
  %r = scf.forall (%h) = (0) to (8) step (1) shared_outs(%o = %e) -> (tensor<8x36x16xf32>) {
    %s = tensor.extract_slice %p[%h, 0, 0] [3, 38, 8] [1, 1, 1] : tensor<10x38x8xf32> to tensor<3x38x8xf32>
    %t = tensor.extract_slice %o[%h, 0, 0] [1, 36, 16] [1, 1, 1] : tensor<8x36x16xf32> to tensor<1x36x16xf32>
    %f = linalg.fill ins(%zero : f32) outs(%t : tensor<1x36x16xf32>) -> tensor<1x36x16xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%s, %w : tensor<3x38x8xf32>, tensor<3x3x8x16xf32>) outs(%f : tensor<1x36x16xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<1x36x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[%h, 0, 0] [1, 36, 16] [1, 1, 1] : tensor<1x36x16xf32> into tensor<8x36x16xf32>
    }
  }
  return %r : tensor<8x36x16xf32>
}

#xd = affine_map<(ow, o, kw, i) -> (ow + kw, i)>
#wd = affine_map<(ow, o, kw, i) -> (kw, i, o)>
#yd = affine_map<(ow, o, kw, i) -> (ow, o)>

// Changed: More taps than pixels. What a block of 10 pixels leaves out stands as far from its first pixel as in any other: all 5 blocks are one
// loop. Its taps are 9 that some pixels have, 40 that all have, in a loop, and 9 others; the next block's begin 10 taps earlier. They load
// rows of registers, some of them twice: LLVM looks for those.
// CHECK-LABEL: func.func private @deep(
// CHECK-SAME: attributes {hloom.effort = "some",
// CHECK: scf.for %[[PASSED:.*]] = %c0{{.*}} to %c50{{.*}} step %c10
// CHECK: arith.muli %[[PASSED]], %c-768
// CHECK-COUNT-100: arith.mulf
// CHECK-NOT: arith.mulf
// CHECK: return
func.func private @deep(%x: tensor<49x48xf32>, %w: tensor<128x48x16xf32>) -> tensor<50x16xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[64, 0] high[64, 0] {
  ^bb0(%a: index, %b: index):
    tensor.yield %zero : f32
  } : tensor<49x48xf32> to tensor<177x48xf32>
  %e = tensor.empty() : tensor<50x16xf32>
  %r = scf.forall (%h) = (0) to (16) step (16) shared_outs(%out = %e) -> (tensor<50x16xf32>) {
    %v = tensor.extract_slice %w[0, 0, %h] [128, 48, 16] [1, 1, 1] : tensor<128x48x16xf32> to tensor<128x48x16xf32>
    %t = tensor.extract_slice %out[0, %h] [50, 16] [1, 1] : tensor<50x16xf32> to tensor<50x16xf32>
    %f = linalg.fill ins(%zero : f32) outs(%t : tensor<50x16xf32>) -> tensor<50x16xf32>
    %c = linalg.generic {indexing_maps = [#xd, #wd, #yd], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%p, %v : tensor<177x48xf32>, tensor<128x48x16xf32>) outs(%f : tensor<50x16xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<50x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %out[0, %h] [50, 16] [1, 1] : tensor<50x16xf32> into tensor<50x16xf32>
    }
  }
  return %r : tensor<50x16xf32>
}

#xl = affine_map<(c, oh, ow, kh, kw) -> (c, oh + kh, ow + kw)>
#wl = affine_map<(c, oh, ow, kh, kw) -> (c, kh, kw)>
#yl = affine_map<(c, oh, ow, kh, kw) -> (c, oh, ow)>

// Changed: A convolution that is one for each channel, its lanes 14 pixels of a line, its rows blocks of 8: the first and the last lack the
// taps of a line in the padding, the loop between has all 72 products of 8 rows × 9 taps. A vector of pixels is loaded once for all rows that
// it serves: 30 of 10 lines, with zeros for lanes in the padding. LLVM gives it all passes.
// CHECK-LABEL: func.func private @each(
// CHECK-SAME: attributes {hloom.inputs =
// CHECK: scf.for
// CHECK: scf.for
// CHECK-COUNT-69: arith.mulf
// CHECK-COUNT-8: vector.maskedstore
// CHECK: scf.for
// CHECK-COUNT-30: vector.maskedload
// CHECK-NOT: vector.maskedload
// CHECK-COUNT-8: vector.maskedstore
// CHECK-COUNT-69: arith.mulf
// CHECK-NOT: arith.mulf
// CHECK: return
func.func private @each(%x: tensor<16x32x14xf32>, %w: tensor<16x3x3xf32>) -> tensor<16x32x14xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 1] high[0, 1, 1] {
  ^bb0(%a: index, %b: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<16x32x14xf32> to tensor<16x34x16xf32>
  %e = tensor.empty() : tensor<16x32x14xf32>
  %r = scf.forall (%h) = (0) to (16) step (8) shared_outs(%o = %e) -> (tensor<16x32x14xf32>) {
    %s = tensor.extract_slice %p[%h, 0, 0] [8, 34, 16] [1, 1, 1] : tensor<16x34x16xf32> to tensor<8x34x16xf32>
    %v = tensor.extract_slice %w[%h, 0, 0] [8, 3, 3] [1, 1, 1] : tensor<16x3x3xf32> to tensor<8x3x3xf32>
    %t = tensor.extract_slice %o[%h, 0, 0] [8, 32, 14] [1, 1, 1] : tensor<16x32x14xf32> to tensor<8x32x14xf32>
    %f = linalg.fill ins(%zero : f32) outs(%t : tensor<8x32x14xf32>) -> tensor<8x32x14xf32>
    %c = linalg.generic {indexing_maps = [#xl, #wl, #yl], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%s, %v : tensor<8x34x16xf32>, tensor<8x3x3xf32>) outs(%f : tensor<8x32x14xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<8x32x14xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[%h, 0, 0] [8, 32, 14] [1, 1, 1] : tensor<8x32x14xf32> into tensor<16x32x14xf32>
    }
  }
  return %r : tensor<16x32x14xf32>
}
