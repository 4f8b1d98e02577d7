// RUN: hloom-opt %s --destination-passing-style --split-input-file | filecheck %s

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>
#lhs = affine_map<(d0, d1, d2) -> (d0, d2)>
#rhs = affine_map<(d0, d1, d2) -> (d2, d1)>
#acc = affine_map<(d0, d1, d2) -> (d0, d1)>

// Changed: The bias is added where the product is.
// CHECK-LABEL: func.func @epilogue
// CHECK: %[[ACC:.*]] = linalg.generic
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}} : tensor<6xf32>) outs(%[[ACC]] : tensor<4x6xf32>)
// CHECK: arith.addf %out, %in
func.func @epilogue(%x: tensor<4x5xf32>, %w: tensor<5x6xf32>, %b: tensor<6xf32>, %init: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = linalg.generic {indexing_maps = [#lhs, #rhs, #acc], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x5xf32>, tensor<5x6xf32>) outs(%init : tensor<4x6xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %2 = arith.mulf %in, %in_0 : f32
    %3 = arith.addf %out, %2 : f32
    linalg.yield %3 : f32
  } -> tensor<4x6xf32>
  %e = tensor.empty() : tensor<4x6xf32>
  %1 = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%0, %b : tensor<4x6xf32>, tensor<6xf32>) outs(%e : tensor<4x6xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %2 = arith.addf %in, %in_0 : f32
    linalg.yield %2 : f32
  } -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
#swap = affine_map<(d0) -> (-d0 + 3)>
// Declined: an argument, a tensor with another reader, another type, another map.
// CHECK-LABEL: func.func @declined
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4xf32>
// CHECK: %[[D:.*]] = tensor.empty() : tensor<4xf64>
// CHECK: ins(%arg0 : tensor<4xf32>) outs(%[[E]] : tensor<4xf32>)
// CHECK: outs(%[[E]] : tensor<4xf32>)
// CHECK: outs(%[[D]] : tensor<4xf64>)
// CHECK: outs(%[[E]] : tensor<4xf32>)
// CHECK: outs(%[[E]] : tensor<4xf32>)
func.func @declined(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf64>, tensor<4xf32>) {
  %e = tensor.empty() : tensor<4xf32>
  %d = tensor.empty() : tensor<4xf64>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %5 = arith.negf %in : f32
    linalg.yield %5 : f32
  } -> tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%0 : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %5 = arith.negf %in : f32
    linalg.yield %5 : f32
  } -> tensor<4xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%1 : tensor<4xf32>) outs(%d : tensor<4xf64>) {
  ^bb0(%in: f32, %out: f64):
    %5 = arith.extf %in : f32 to f64
    linalg.yield %5 : f64
  } -> tensor<4xf64>
  %3 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %5 = arith.addf %in, %in : f32
    linalg.yield %5 : f32
  } -> tensor<4xf32>
  %4 = linalg.generic {indexing_maps = [#swap, #id], iterator_types = ["parallel"]} ins(%3 : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %5 = arith.negf %in : f32
    linalg.yield %5 : f32
  } -> tensor<4xf32>
  return %0, %1, %2, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xf64>, tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
// Unchanged: The buffer is updated already.
// CHECK-LABEL: func.func @updates
// CHECK: %[[F:.*]] = linalg.fill
// CHECK-NEXT: %[[R:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<4xf32>) outs(%[[F]] : tensor<4xf32>)
// CHECK: arith.addf %out, %in
// CHECK: return %[[R]]
func.func @updates(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%one : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %1 = arith.addf %out, %in : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

#id = affine_map<(d0) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>
#whole = affine_map<(d0, d1) -> (d0, d1)>
// Declined: the result is written over %acc, which the sum would be in the place of before it is read.
// CHECK-LABEL: func.func @in_place
// CHECK: linalg.generic
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4xf32>
// CHECK: linalg.generic
// CHECK-SAME: outs(%[[E]] : tensor<4xf32>)
func.func @in_place(%acc: tensor<1x4xf32>, %x: tensor<2x4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> attributes {hloom.inplace = array<i64: 0, 0>} {
  %0 = linalg.generic {indexing_maps = [#whole, #col], iterator_types = ["reduction", "parallel"]} ins(%x : tensor<2x4xf32>) outs(%init : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %3 = arith.addf %out, %in : f32
    linalg.yield %3 : f32
  } -> tensor<4xf32>
  %1 = tensor.collapse_shape %acc [[0, 1]] : tensor<1x4xf32> into tensor<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %2 = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]} ins(%1, %0 : tensor<4xf32>, tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %3 = arith.addf %in, %in_0 : f32
    linalg.yield %3 : f32
  } -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
