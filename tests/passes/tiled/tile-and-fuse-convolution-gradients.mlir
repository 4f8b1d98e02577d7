// RUN: hloom-opt %s --tile-and-fuse | filecheck %s

#x = affine_map<(i, kh, kw, o, h, w, n) -> (i, h + kh, w + kw, n)>
#g = affine_map<(i, kh, kw, o, h, w, n) -> (h, w, n, o)>
#y = affine_map<(i, kh, kw, o, h, w, n) -> (i, kh, kw, o)>

// Changed: A gradient by the weights of 33 channels: tiles of 11, which divide them, so that each knows its rows.
// CHECK-LABEL: func.func private @third(
// CHECK: scf.forall (%{{.*}}) = (0) to (33) step (11)
func.func private @third(%x: tensor<33x30x30x4xf32>, %g: tensor<28x28x4x33xf32>) -> tensor<33x3x3x33xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<33x3x3x33xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<33x3x3x33xf32>) -> tensor<33x3x3x33xf32>
  %r = linalg.generic {indexing_maps = [#x, #g, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %g : tensor<33x30x30x4xf32>, tensor<28x28x4x33xf32>) outs(%f : tensor<33x3x3x33xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<33x3x3x33xf32>
  return %r : tensor<33x3x3x33xf32>
}

// Unchanged: No number near 10 divides 37.
// CHECK-LABEL: func.func private @prime(
// CHECK: scf.forall (%{{.*}}) = (0) to (37) step (10)
func.func private @prime(%x: tensor<37x30x30x4xf32>, %g: tensor<28x28x4x33xf32>) -> tensor<37x3x3x33xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<37x3x3x33xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<37x3x3x33xf32>) -> tensor<37x3x3x33xf32>
  %r = linalg.generic {indexing_maps = [#x, #g, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %g : tensor<37x30x30x4xf32>, tensor<28x28x4x33xf32>) outs(%f : tensor<37x3x3x33xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<37x3x3x33xf32>
  return %r : tensor<37x3x3x33xf32>
}

#xl = affine_map<(kh, kw, i, o, n, h, w) -> (n, h + kh, w + kw, i)>
#gl = affine_map<(kh, kw, i, o, n, h, w) -> (n, h, w, o)>
#yl = affine_map<(kh, kw, i, o, n, h, w) -> (kh, kw, i, o)>

// Changed: Channels last, and a result that L2 does not hold: tiles have all taps of some channels, whose weights lie beside each other.
// CHECK-LABEL: func.func private @all_taps(
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (512, 512) step (128, 64)
func.func private @all_taps(%x: tensor<8x6x6x512xf32>, %g: tensor<8x4x4x512xf32>) -> tensor<3x3x512x512xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x3x512x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x3x512x512xf32>) -> tensor<3x3x512x512xf32>
  %r = linalg.generic {indexing_maps = [#xl, #gl, #yl], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %g : tensor<8x6x6x512xf32>, tensor<8x4x4x512xf32>) outs(%f : tensor<3x3x512x512xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<3x3x512x512xf32>
  return %r : tensor<3x3x512x512xf32>
}

// Unchanged: L2 holds the result: a tile of each tap.
// CHECK-LABEL: func.func private @each_tap(
// CHECK: scf.forall (%{{.*}}, %{{.*}}) in (3, 3)
func.func private @each_tap(%x: tensor<8x18x18x64xf32>, %g: tensor<8x16x16x64xf32>) -> tensor<3x3x64x64xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x3x64x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x3x64x64xf32>) -> tensor<3x3x64x64xf32>
  %r = linalg.generic {indexing_maps = [#xl, #gl, #yl], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %g : tensor<8x18x18x64xf32>, tensor<8x16x16x64xf32>) outs(%f : tensor<3x3x64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<3x3x64x64xf32>
  return %r : tensor<3x3x64x64xf32>
}

#xg = affine_map<(kh, kw, i, g, o, n, h, w) -> (n, h + kh, w + kw, i + g * 32)>
#gg = affine_map<(kh, kw, i, g, o, n, h, w) -> (n, h, w, g, o)>
#yg = affine_map<(kh, kw, i, g, o, n, h, w) -> (kh, kw, i, g, o)>

// Changed: Groups, whose images a tile copies: all taps of a group are one tile, though L2 holds the result.
// CHECK-LABEL: func.func private @groups(
// CHECK: scf.forall (%{{.*}}) in (4)
// CHECK: tensor<3x3x32x1x64xf32>
func.func private @groups(%x: tensor<8x18x18x128xf32>, %g: tensor<8x16x16x4x64xf32>) -> tensor<3x3x32x4x64xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x3x32x4x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x3x32x4x64xf32>) -> tensor<3x3x32x4x64xf32>
  %r = linalg.generic {indexing_maps = [#xg, #gg, #yg], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %g : tensor<8x18x18x128xf32>, tensor<8x16x16x4x64xf32>) outs(%f : tensor<3x3x32x4x64xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<3x3x32x4x64xf32>
  return %r : tensor<3x3x32x4x64xf32>
}
