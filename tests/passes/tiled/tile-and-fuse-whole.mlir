// RUN: hloom-opt %s --tile-and-fuse --split-input-file | filecheck %s

// Changed: A tile of a CPU has all of a small reduction that tiles along another axis would repeat, and reads its part of the result.
// CHECK-LABEL: func.func private @on_cpu
// CHECK: scf.forall (%[[I:.*]], %{{.*}}) = (0, 0) to (8, 65536) step (1, 8192)
// CHECK: linalg.generic {{.*}} ins(%arg1 : tensor<8x32xf32>) outs(%{{.*}} : tensor<8xf32>)
// CHECK: tensor.extract_slice %{{.*}}[%[[I]]] [1] [1] : tensor<8xf32> to tensor<1xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<1x8192xf32>, tensor<1xf32>)
#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func private @on_cpu(%x: tensor<8x65536xf32>, %p: tensor<8x32xf32>) -> tensor<8x65536xf32> attributes {hloom.kind = "loop"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
  %s = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<8x32xf32>) outs(%f : tensor<8xf32>) {
  ^bb0(%a: f32, %sum: f32):
    %0 = arith.addf %sum, %a : f32
    linalg.yield %0 : f32
  } -> tensor<8xf32>
  %g = tensor.empty() : tensor<8x65536xf32>
  %r = linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<8x65536xf32>, tensor<8xf32>) outs(%g : tensor<8x65536xf32>) {
  ^bb0(%a: f32, %b: f32, %out: f32):
    %0 = arith.subf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<8x65536xf32>
  return %r : tensor<8x65536xf32>
}

// -----

// Unchanged: A block of a GPU has that of its own row.
// CHECK-LABEL: func.func private @on_gpu
// CHECK: tensor.extract_slice %arg1
// CHECK: linalg.generic {{.*}} : tensor<1x32xf32>) outs(%{{.*}} : tensor<1xf32>)
#rows = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
module attributes {hloom.target = {kind = "cuda", multiprocessors = 132 : i64}} {
  func.func private @on_gpu(%x: tensor<8x65536xf32>, %p: tensor<8x32xf32>) -> tensor<8x65536xf32> attributes {hloom.kind = "loop"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8xf32>) -> tensor<8xf32>
    %s = linalg.generic {indexing_maps = [#rows, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<8x32xf32>) outs(%f : tensor<8xf32>) {
    ^bb0(%a: f32, %sum: f32):
      %0 = arith.addf %sum, %a : f32
      linalg.yield %0 : f32
    } -> tensor<8xf32>
    %g = tensor.empty() : tensor<8x65536xf32>
    %r = linalg.generic {indexing_maps = [#rows, #row, #rows], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<8x65536xf32>, tensor<8xf32>) outs(%g : tensor<8x65536xf32>) {
    ^bb0(%a: f32, %b: f32, %out: f32):
      %0 = arith.subf %a, %b : f32
      linalg.yield %0 : f32
    } -> tensor<8x65536xf32>
    return %r : tensor<8x65536xf32>
  }
}
