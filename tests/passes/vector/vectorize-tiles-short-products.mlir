// RUN: hloom-opt %s --tile-and-fuse --vectorize-tiles --canonicalize --cse --split-input-file | filecheck %s

// Changed: Points times a matrix of 3 × 3: sixteen rows a register, of which each column is loaded once; three sums, stored in turn.
// CHECK-LABEL: func.func private @points(
// CHECK: %[[X:.*]] = vector.load %arg2[%{{.*}}] : memref<192xf32>, vector<48xf32>
// CHECK: vector.shuffle %[[X]], %{{.*}} [0, 3, 6, 9,
// CHECK: memref.load %arg3[%c0] : memref<9xf32>
// CHECK: vector.shuffle %[[X]], %{{.*}} [1, 4, 7, 10,
// CHECK: vector.shuffle %[[X]], %{{.*}} [2, 5, 8, 11,
// CHECK-COUNT-5: math.fma %{{.*}} : vector<16xf32>
// CHECK-NOT: vector.reduction
// CHECK: vector.store %{{.*}}, %arg4[%{{.*}}] : memref<192xf32>, vector<48xf32>
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d1, d2)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func private @points(%x: tensor<64x3xf32>, %w: tensor<3x3xf32>) -> tensor<64x3xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x3xf32>) -> tensor<64x3xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x3xf32>, tensor<3x3xf32>) outs(%f : tensor<64x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %s = arith.addf %out, %p fastmath<contract> : f32
    linalg.yield %s : f32
  } -> tensor<64x3xf32>
  return %0 : tensor<64x3xf32>
}

// -----

// Changed: Matrices of 3 × 3 by vectors: a tile has all of them, and a lane one.
// CHECK-LABEL: func.func private @matrices(
// CHECK-SAME: hloom.tiles = 1 : i64
// CHECK: vector.shuffle %{{.*}} [0, 9, 18, 27,
// CHECK-NOT: vector.reduction
// CHECK: vector.store %{{.*}}, %arg4[%{{.*}}] : memref<192xf32>, vector<48xf32>
#a = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#v = affine_map<(d0, d1, d2) -> (d0, d2)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func private @matrices(%x: tensor<64x3x3xf32>, %w: tensor<64x3xf32>) -> tensor<64x3xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x3xf32>) -> tensor<64x3xf32>
  %0 = linalg.generic {indexing_maps = [#a, #v, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x3x3xf32>, tensor<64x3xf32>) outs(%f : tensor<64x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %s = arith.addf %out, %p fastmath<contract> : f32
    linalg.yield %s : f32
  } -> tensor<64x3xf32>
  return %0 : tensor<64x3xf32>
}

// -----

// Unchanged: Of rows of many steps columns fill a register.
// CHECK-LABEL: func.func private @deep(
// CHECK-NOT: vector<48xf32>
// CHECK: return
#x = affine_map<(d0, d1, d2) -> (d0, d2)>
#w = affine_map<(d0, d1, d2) -> (d1, d2)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func private @deep(%x: tensor<64x20xf32>, %w: tensor<3x20xf32>) -> tensor<64x3xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x3xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<64x3xf32>) -> tensor<64x3xf32>
  %0 = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<64x20xf32>, tensor<3x20xf32>) outs(%f : tensor<64x3xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %p = arith.mulf %a, %b fastmath<contract> : f32
    %s = arith.addf %out, %p fastmath<contract> : f32
    linalg.yield %s : f32
  } -> tensor<64x3xf32>
  return %0 : tensor<64x3xf32>
}
