// RUN: hloom-opt %s --lower-to-linalg --canonicalize-ingress --cse --split-input-file | filecheck %s

// An MLP layer as PyTorch hands it over in linalg, as one writes it by hand, and in StableHLO: the same IR.
// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @torch
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<256x1024xf32>
// CHECK-NEXT: %[[F:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%[[E]] : tensor<256x1024xf32>)
// CHECK-NEXT: %[[M:.*]] = linalg.generic {indexing_maps = [#[[X]], #[[W]], #[[Y]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<256x512xf32>, tensor<1024x512xf32>) outs(%[[F]] : tensor<256x1024xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.mulf %in, %in_0 fastmath<contract> : f32
// CHECK-NEXT: arith.addf %out, %{{.*}} fastmath<contract> : f32
// CHECK-NEXT: linalg.yield
// CHECK-NEXT: }
// CHECK-NEXT: %[[R:.*]] = linalg.generic {{.*}} ins(%arg2 : tensor<1024xf32>) outs(%[[M]] : tensor<256x1024xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: %[[A:.*]] = arith.addf %out, %in : f32
// CHECK-NEXT: arith.maximumf %[[A]], %[[ZERO]] : f32
// CHECK-NEXT: linalg.yield
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]
#map = affine_map<(d0, d1) -> (d1)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @torch(%x: tensor<256x512xf32>, %w: tensor<1024x512xf32>, %b: tensor<1024xf32>) -> tensor<256x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e0 = tensor.empty() : tensor<512x1024xf32>
  %t = linalg.transpose ins(%w : tensor<1024x512xf32>) outs(%e0 : tensor<512x1024xf32>) permutation = [1, 0]
  %e1 = tensor.empty() : tensor<256x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<256x1024xf32>) -> tensor<256x1024xf32>
  %m = linalg.matmul ins(%x, %t : tensor<256x512xf32>, tensor<512x1024xf32>) outs(%f : tensor<256x1024xf32>) -> tensor<256x1024xf32>
  %a = linalg.generic {indexing_maps = [#id, #map, #id], iterator_types = ["parallel", "parallel"]} ins(%m, %b : tensor<256x1024xf32>, tensor<1024xf32>) outs(%e1 : tensor<256x1024xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %0 = arith.addf %in, %in_0 : f32
    linalg.yield %0 : f32
  } -> tensor<256x1024xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%a : tensor<256x1024xf32>) outs(%e1 : tensor<256x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.cmpf ugt, %in, %zero : f32
    %1 = arith.select %0, %in, %zero : f32
    linalg.yield %1 : f32
  } -> tensor<256x1024xf32>
  return %r : tensor<256x1024xf32>
}

// -----

// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @by_hand
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<256x1024xf32>
// CHECK-NEXT: %[[F:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%[[E]] : tensor<256x1024xf32>)
// CHECK-NEXT: %[[M:.*]] = linalg.generic {indexing_maps = [#[[X]], #[[W]], #[[Y]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<256x512xf32>, tensor<1024x512xf32>) outs(%[[F]] : tensor<256x1024xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.mulf %in, %in_0 fastmath<contract> : f32
// CHECK-NEXT: arith.addf %out, %{{.*}} fastmath<contract> : f32
// CHECK-NEXT: linalg.yield
// CHECK-NEXT: }
// CHECK-NEXT: %[[R:.*]] = linalg.generic {{.*}} ins(%arg2 : tensor<1024xf32>) outs(%[[M]] : tensor<256x1024xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: %[[A:.*]] = arith.addf %out, %in : f32
// CHECK-NEXT: arith.maximumf %[[A]], %[[ZERO]] : f32
// CHECK-NEXT: linalg.yield
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]
func.func @by_hand(%x: tensor<256x512xf32>, %w: tensor<1024x512xf32>, %b: tensor<1024xf32>) -> tensor<256x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<256x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<256x1024xf32>) -> tensor<256x1024xf32>
  %m = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<256x512xf32>, tensor<1024x512xf32>) outs(%f : tensor<256x1024xf32>) {
  ^bb0(%in: f32, %in_0: f32, %out: f32):
    %0 = arith.mulf %in, %in_0 : f32
    %1 = arith.addf %0, %out : f32
    linalg.yield %1 : f32
  } -> tensor<256x1024xf32>
  %a = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<1024xf32>) outs(%m : tensor<256x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %out, %in : f32
    linalg.yield %0 : f32
  } -> tensor<256x1024xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%a : tensor<256x1024xf32>) {
  ^bb0(%out: f32):
    %0 = arith.maximumf %out, %zero : f32
    linalg.yield %0 : f32
  } -> tensor<256x1024xf32>
  return %r : tensor<256x1024xf32>
}

// -----

// CHECK-DAG: #[[X:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2) -> (d1, d2)>
// CHECK-DAG: #[[Y:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func @stablehlo
// CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<256x1024xf32>
// CHECK-NEXT: %[[F:.*]] = linalg.fill ins(%[[ZERO]] : f32) outs(%[[E]] : tensor<256x1024xf32>)
// CHECK-NEXT: %[[M:.*]] = linalg.generic {indexing_maps = [#[[X]], #[[W]], #[[Y]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%arg0, %arg1 : tensor<256x512xf32>, tensor<1024x512xf32>) outs(%[[F]] : tensor<256x1024xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.mulf %in, %in_0 fastmath<contract> : f32
// CHECK-NEXT: arith.addf %out, %{{.*}} fastmath<contract> : f32
// CHECK-NEXT: linalg.yield
// CHECK-NEXT: }
// CHECK-NEXT: %[[R:.*]] = linalg.generic {{.*}} ins(%arg2 : tensor<1024xf32>) outs(%[[M]] : tensor<256x1024xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: %[[A:.*]] = arith.addf %out, %in : f32
// CHECK-NEXT: arith.maximumf %[[A]], %[[ZERO]] : f32
// CHECK-NEXT: linalg.yield
// CHECK-NEXT: }
// CHECK-NEXT: return %[[R]]
func.func @stablehlo(%x: tensor<256x512xf32>, %w: tensor<1024x512xf32>, %b: tensor<1024xf32>) -> tensor<256x1024xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<256x1024xf32>
  %t = stablehlo.transpose %w, dims = [1, 0] : (tensor<1024x512xf32>) -> tensor<512x1024xf32>
  %m = stablehlo.dot_general %x, %t, contracting_dims = [1] x [0] : (tensor<256x512xf32>, tensor<512x1024xf32>) -> tensor<256x1024xf32>
  %bb = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<1024xf32>) -> tensor<256x1024xf32>
  %a = stablehlo.add %m, %bb : tensor<256x1024xf32>
  %r = stablehlo.maximum %a, %zero : tensor<256x1024xf32>
  return %r : tensor<256x1024xf32>
}
