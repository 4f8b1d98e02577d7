// RUN: hloom-opt %s --widen-weights --split-input-file | filecheck %s

// Changed: the weights of each channel are widened before the pixels are multiplied by them.
// CHECK-LABEL: func.func @depthwise
// CHECK: %[[W:.*]] = linalg.generic {{.*}} ins(%arg1 : tensor<8x3x3xbf16>)
// CHECK: arith.extf %{{.*}} : bf16 to f32
// CHECK: -> tensor<8x3x3xf32>
// CHECK: linalg.generic {{.*}} ins(%arg0, %[[W]] : tensor<2x8x16x18xbf16>, tensor<8x3x3xf32>)
// CHECK-NEXT: ^bb0(%[[A:.*]]: bf16, %[[B:.*]]: f32, %{{.*}}: f32):
// CHECK-NEXT: %[[C:.*]] = arith.extf %[[A]] : bf16 to f32
// CHECK-NEXT: arith.mulf %[[C]], %[[B]] : f32
#x = affine_map<(b, c, h, w, kh, kw) -> (b, c, h + kh, w + kw)>
#w = affine_map<(b, c, h, w, kh, kw) -> (c, kh, kw)>
#y = affine_map<(b, c, h, w, kh, kw) -> (b, c, h, w)>
module attributes {hloom.target = {vector_bits = 512, masked_bits = 8, bf16_dot = true}} {
func.func @depthwise(%x: tensor<2x8x16x18xbf16>, %w: tensor<8x3x3xbf16>, %start: tensor<2x8x14x16xf32>) -> tensor<2x8x14x16xf32> {
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%x, %w : tensor<2x8x16x18xbf16>, tensor<8x3x3xbf16>) outs(%start : tensor<2x8x14x16xf32>) {
  ^bb0(%a: bf16, %b: bf16, %acc: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %acc, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<2x8x14x16xf32>
  return %0 : tensor<2x8x14x16xf32>
}
}

// -----

// Declined: channels are summed, of which an instruction takes two at a time.
// CHECK-LABEL: func.func @dense
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<2x4x18xbf16>, tensor<8x4x3xbf16>)
// CHECK-NOT: linalg.generic
#x = affine_map<(b, f, w, kw, c) -> (b, c, w + kw)>
#w = affine_map<(b, f, w, kw, c) -> (f, c, kw)>
#y = affine_map<(b, f, w, kw, c) -> (b, f, w)>
module attributes {hloom.target = {vector_bits = 512, masked_bits = 8, bf16_dot = true}} {
func.func @dense(%x: tensor<2x4x18xbf16>, %w: tensor<8x4x3xbf16>, %start: tensor<2x8x16xf32>) -> tensor<2x8x16xf32> {
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%x, %w : tensor<2x4x18xbf16>, tensor<8x4x3xbf16>) outs(%start : tensor<2x8x16xf32>) {
  ^bb0(%a: bf16, %b: bf16, %acc: f32):
    %1 = arith.extf %a : bf16 to f32
    %2 = arith.extf %b : bf16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %acc, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<2x8x16xf32>
  return %0 : tensor<2x8x16xf32>
}
}

// -----

// Declined: the lanes are channels, of which each has its own weight.
// CHECK-LABEL: func.func @channels_last
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<18x16xf16>, tensor<3x16xf16>)
// CHECK-NOT: linalg.generic
#x = affine_map<(w, c, kw) -> (w + kw, c)>
#w = affine_map<(w, c, kw) -> (kw, c)>
#y = affine_map<(w, c, kw) -> (w, c)>
module attributes {hloom.target = {vector_bits = 512, masked_bits = 8}} {
func.func @channels_last(%x: tensor<18x16xf16>, %w: tensor<3x16xf16>, %start: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<18x16xf16>, tensor<3x16xf16>) outs(%start : tensor<16x16xf32>) {
  ^bb0(%a: f16, %b: f16, %acc: f32):
    %1 = arith.extf %a : f16 to f32
    %2 = arith.extf %b : f16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %acc, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}
}

// -----

// Declined: no masked accesses of 16 bits.
// CHECK-LABEL: func.func @without_masks
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<8x18xf16>, tensor<8x3xf16>)
// CHECK-NOT: linalg.generic
#x = affine_map<(c, w, kw) -> (c, w + kw)>
#w = affine_map<(c, w, kw) -> (c, kw)>
#y = affine_map<(c, w, kw) -> (c, w)>
module attributes {hloom.target = {vector_bits = 256, masked_bits = 32}} {
func.func @without_masks(%x: tensor<8x18xf16>, %w: tensor<8x3xf16>, %start: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<8x18xf16>, tensor<8x3xf16>) outs(%start : tensor<8x16xf32>) {
  ^bb0(%a: f16, %b: f16, %acc: f32):
    %1 = arith.extf %a : f16 to f32
    %2 = arith.extf %b : f16 to f32
    %3 = arith.mulf %1, %2 : f32
    %4 = arith.addf %acc, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
}

// -----

// Unchanged: weights of f32.
// CHECK-LABEL: func.func @f32
// CHECK: linalg.generic {{.*}} ins(%arg0, %arg1 : tensor<8x18xf32>, tensor<8x3xf32>)
// CHECK-NOT: linalg.generic
#x = affine_map<(c, w, kw) -> (c, w + kw)>
#w = affine_map<(c, w, kw) -> (c, kw)>
#y = affine_map<(c, w, kw) -> (c, w)>
func.func @f32(%x: tensor<8x18xf32>, %w: tensor<8x3xf32>, %start: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<8x18xf32>, tensor<8x3xf32>) outs(%start : tensor<8x16xf32>) {
  ^bb0(%a: f32, %b: f32, %acc: f32):
    %3 = arith.mulf %a, %b : f32
    %4 = arith.addf %acc, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<8x16xf32>
  return %0 : tensor<8x16xf32>
}
