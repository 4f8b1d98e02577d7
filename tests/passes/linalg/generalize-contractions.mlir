// RUN: hloom-opt %s --generalize-contractions --split-input-file | filecheck %s

// Changed: Named ops become generics; the product may contract.
// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[C:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @matmul
// CHECK-NOT: linalg.transpose
// CHECK-NOT: linalg.matmul
// CHECK: linalg.fill
// CHECK: linalg.generic {indexing_maps = [#[[A]], #[[B]], #[[C]]]
// CHECK: arith.mulf %{{.*}} fastmath<contract> : f32
// CHECK: arith.addf %out, %{{.*}} fastmath<contract> : f32
func.func @matmul(%x: tensor<4x5xf32>, %w: tensor<6x5xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<5x6xf32>
  %t = linalg.transpose ins(%w : tensor<6x5xf32>) outs(%e : tensor<5x6xf32>) permutation = [1, 0]
  %d = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%d : tensor<4x6xf32>) -> tensor<4x6xf32>
  %0 = linalg.matmul ins(%x, %t : tensor<4x5xf32>, tensor<5x6xf32>) outs(%f : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

// Changed: The accumulator comes first.
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d1, d2)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @hand_written
// CHECK: %[[P:.*]] = arith.mulf %in, %in_0 fastmath<contract> : f32
// CHECK: arith.addf %out, %[[P]] fastmath<contract> : f32
func.func @hand_written(%x: tensor<4x5xf32>, %w: tensor<6x5xf32>, %acc: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x5xf32>, tensor<6x5xf32>) outs(%acc : tensor<4x6xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %1 = arith.mulf %in, %in_0 : f32
    %2 = arith.addf %1, %out : f32
    linalg.yield %2 : f32
  } -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

// Declined: No contraction: neither a sum of one input nor an elementwise multiply-add may round differently.
#id = affine_map<(d0) -> (d0)>
#r = affine_map<(d0) -> ()>
// CHECK-LABEL: func.func @others
// CHECK-NOT: fastmath
func.func @others(%x: tensor<4xf32>, %y: tensor<4xf32>, %acc: tensor<f32>) -> (tensor<f32>, tensor<4xf32>) {
  %0 = linalg.generic {indexing_maps = [#id, #r], iterator_types = ["reduction"]} ins(%x : tensor<4xf32>) outs(%acc : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %3 = arith.addf %in, %out : f32
    linalg.yield %3 : f32
  } -> tensor<f32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) {
  ^bb0(%in: f32, %out: f32):
    %3 = arith.mulf %in, %in : f32
    %4 = arith.addf %3, %out : f32
    linalg.yield %4 : f32
  } -> tensor<4xf32>
  return %0, %1 : tensor<f32>, tensor<4xf32>
}

// -----

// Unchanged: The form that it makes.
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d1, d2)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @made
// CHECK-NEXT: %[[R:.*]] = linalg.generic
// CHECK: %[[P:.*]] = arith.mulf %in, %in_0 fastmath<contract> : f32
// CHECK-NEXT: %[[S:.*]] = arith.addf %out, %[[P]] fastmath<contract> : f32
// CHECK-NEXT: linalg.yield %[[S]]
// CHECK: return %[[R]]
func.func @made(%x: tensor<4x5xf32>, %w: tensor<6x5xf32>, %acc: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<4x5xf32>, tensor<6x5xf32>) outs(%acc : tensor<4x6xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %1 = arith.mulf %in, %in_0 fastmath<contract> : f32
    %2 = arith.addf %out, %1 fastmath<contract> : f32
    linalg.yield %2 : f32
  } -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
