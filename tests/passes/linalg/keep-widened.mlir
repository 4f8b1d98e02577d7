// RUN: hloom-opt %s --keep-widened --split-input-file | filecheck %s

// Changed: what is rounded is kept as f32, and multiplied as it lies.
// CHECK-LABEL: func.func @weights
// CHECK: %[[W:.*]] = linalg.generic
// CHECK: %[[H:.*]] = arith.truncf %{{.*}} : f32 to bf16
// CHECK: arith.extf %[[H]] : bf16 to f32
// CHECK: -> tensor<8x32xf32>
// CHECK: linalg.generic {{.*}} ins(%[[W]], %{{.*}} : tensor<8x32xf32>, tensor<32x16xbf16>)
// CHECK-NEXT: ^bb0(%[[A:.*]]: f32, %[[B:.*]]: bf16, %{{.*}}: f32):
// CHECK-NEXT: %[[C:.*]] = arith.extf %[[B]] : bf16 to f32
// CHECK-NEXT: arith.mulf %[[A]], %[[C]] : f32
#all = affine_map<(d0, d1) -> (d0, d1)>
#w = affine_map<(d0, d1, d2) -> (d0, d2)>
#v = affine_map<(d0, d1, d2) -> (d2, d1)>
#o = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @weights(%e: tensor<8x32xf32>, %v: tensor<32x16xbf16>, %start: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = tensor.empty() : tensor<8x32xbf16>
  %w = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%e : tensor<8x32xf32>) outs(%0 : tensor<8x32xbf16>) {
  ^bb0(%a: f32, %out: bf16):
    %1 = arith.truncf %a : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<8x32xbf16>
  %o = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%w, %v : tensor<8x32xbf16>, tensor<32x16xbf16>) outs(%start : tensor<8x16xf32>) {
  ^bb0(%a: bf16, %b: bf16, %acc: f32):
    %2 = arith.extf %a : bf16 to f32
    %3 = arith.extf %b : bf16 to f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.addf %acc, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<8x16xf32>
  return %o : tensor<8x16xf32>
}

// -----

// Declined: the halves are returned.
// CHECK-LABEL: func.func @returned
// CHECK-NOT: -> tensor<8x32xf32>
// CHECK: return
#all = affine_map<(d0, d1) -> (d0, d1)>
#w = affine_map<(d0, d1, d2) -> (d0, d2)>
#v = affine_map<(d0, d1, d2) -> (d2, d1)>
#o = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func @returned(%e: tensor<8x32xf32>, %v: tensor<32x16xf16>, %start: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x32xf16>) {
  %0 = tensor.empty() : tensor<8x32xf16>
  %w = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%e : tensor<8x32xf32>) outs(%0 : tensor<8x32xf16>) {
  ^bb0(%a: f32, %out: f16):
    %1 = arith.truncf %a : f32 to f16
    linalg.yield %1 : f16
  } -> tensor<8x32xf16>
  %o = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%w, %v : tensor<8x32xf16>, tensor<32x16xf16>) outs(%start : tensor<8x16xf32>) {
  ^bb0(%a: f16, %b: f16, %acc: f32):
    %2 = arith.extf %a : f16 to f32
    %3 = arith.extf %b : f16 to f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.addf %acc, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<8x16xf32>
  return %o, %w : tensor<8x16xf32>, tensor<8x32xf16>
}

// -----

// Declined: the target multiplies pairs of bf16.
// CHECK-LABEL: func.func @pairs
// CHECK-NOT: -> tensor<8x32xf32>
// CHECK: return
#all = affine_map<(d0, d1) -> (d0, d1)>
#w = affine_map<(d0, d1, d2) -> (d0, d2)>
#v = affine_map<(d0, d1, d2) -> (d2, d1)>
#o = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {bf16_dot = true}} {
  func.func @pairs(%e: tensor<8x32xf32>, %v: tensor<32x16xbf16>, %start: tensor<8x16xf32>) -> tensor<8x16xf32> {
    %0 = tensor.empty() : tensor<8x32xbf16>
    %w = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%e : tensor<8x32xf32>) outs(%0 : tensor<8x32xbf16>) {
    ^bb0(%a: f32, %out: bf16):
      %1 = arith.truncf %a : f32 to bf16
      linalg.yield %1 : bf16
    } -> tensor<8x32xbf16>
    %o = linalg.generic {indexing_maps = [#w, #v, #o], iterator_types = ["parallel", "parallel", "reduction"]} ins(%w, %v : tensor<8x32xbf16>, tensor<32x16xbf16>) outs(%start : tensor<8x16xf32>) {
    ^bb0(%a: bf16, %b: bf16, %acc: f32):
      %2 = arith.extf %a : bf16 to f32
      %3 = arith.extf %b : bf16 to f32
      %4 = arith.mulf %2, %3 : f32
      %5 = arith.addf %acc, %4 : f32
      linalg.yield %5 : f32
    } -> tensor<8x16xf32>
    return %o : tensor<8x16xf32>
  }
}

// -----

// Unchanged: halves that are rounded on the way out.
// CHECK-LABEL: func.func @out
// CHECK: linalg.yield %{{.*}} : bf16
// CHECK-NEXT: } -> tensor<8x32xbf16>
#all = affine_map<(d0, d1) -> (d0, d1)>
func.func @out(%e: tensor<8x32xf32>) -> tensor<8x32xbf16> {
  %0 = tensor.empty() : tensor<8x32xbf16>
  %w = linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]} ins(%e : tensor<8x32xf32>) outs(%0 : tensor<8x32xbf16>) {
  ^bb0(%a: f32, %out: bf16):
    %1 = arith.truncf %a : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<8x32xbf16>
  return %w : tensor<8x32xbf16>
}
