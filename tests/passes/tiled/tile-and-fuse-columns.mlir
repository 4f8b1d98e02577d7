// RUN: hloom-opt %s --tile-and-fuse --split-input-file | filecheck %s

// A sum over rows of what two operands give point by point is no product of matrices: its columns are cut into runs, not one by one.
// CHECK-LABEL: func.func private @variance(
// CHECK: scf.forall ({{.*}}) = (0) to (1024) step (256)
#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
func.func private @variance(%x: tensor<4096x1024xf32>, %mean: tensor<1024xf32>) -> tensor<1024xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1024xf32>) -> tensor<1024xf32>
  %r = linalg.generic {indexing_maps = [#id, #column, #column], iterator_types = ["reduction", "parallel"]} ins(%x, %mean : tensor<4096x1024xf32>, tensor<1024xf32>) outs(%f : tensor<1024xf32>) {
  ^bb0(%a: f32, %m: f32, %o: f32):
    %d = arith.subf %a, %m : f32
    %q = arith.mulf %d, %d : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<1024xf32>
  return %r : tensor<1024xf32>
}

// -----

// The input lies along the other axis than the result: tiles are squares, of the whole axis if it is short. A column that is broadcast lies in one piece: they are rows.
// CHECK-LABEL: func.func private @transposed(
// CHECK: scf.forall ({{.*}}) = (0, 0) to (1024, 4096) step (32, 32)
// CHECK-LABEL: func.func private @short(
// CHECK: scf.forall ({{.*}}) = (0, 0) to (64, 512) step (28, 32)
// CHECK-LABEL: func.func private @column(
// CHECK: scf.forall ({{.*}}) = (0) to (1024) step (2)
#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
#row = affine_map<(d0, d1) -> (d0)>
#three = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#swapped = affine_map<(d0, d1, d2) -> (d2, d1, d0)>
func.func private @transposed(%x: tensor<4096x1024xf32>) -> tensor<1024x4096xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<1024x4096xf32>
  %r = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4096x1024xf32>) outs(%e : tensor<1024x4096xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<1024x4096xf32>
  return %r : tensor<1024x4096xf32>
}
func.func private @short(%x: tensor<512x64x9xf32>) -> tensor<9x64x512xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<9x64x512xf32>
  %r = linalg.generic {indexing_maps = [#swapped, #three], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<512x64x9xf32>) outs(%e : tensor<9x64x512xf32>) {
  ^bb0(%a: f32, %o: f32):
    linalg.yield %a : f32
  } -> tensor<9x64x512xf32>
  return %r : tensor<9x64x512xf32>
}
func.func private @column(%x: tensor<1024x4096xf32>, %c: tensor<1024xf32>) -> tensor<1024x4096xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<1024x4096xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %c : tensor<1024x4096xf32>, tensor<1024xf32>) outs(%e : tensor<1024x4096xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<1024x4096xf32>
  return %r : tensor<1024x4096xf32>
}
