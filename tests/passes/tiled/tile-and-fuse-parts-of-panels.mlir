// RUN: hloom-opt %s --tile-and-fuse | filecheck %s

#x = affine_map<(m, h, n, k) -> (m, h floordiv 8, k)>
#w = affine_map<(m, h, n, k) -> (h mod 8, k, n)>
#o = affine_map<(m, h, n, k) -> (m, h, n)>
module attributes {hloom.target = {name = "cpu-avx2", vector_bits = 256 : i64, vector_registers = 16 : i64}} {
  // A tile that is a part of a panel, here one of eight heads: the panel's number and the place in it are the slice's.
  // CHECK-LABEL: func.func @heads(
  // CHECK: scf.forall (%[[H:.*]], %{{.*}}) = (0, 0) to (32, 128) step (1,
  // CHECK: %[[BATCH:.*]] = arith.divui %[[H]], %{{.*}}
  // CHECK: tensor.extract_slice %arg0[%{{.*}}, %[[BATCH]], 0] [%{{.*}}, 1, 256]
  // CHECK: %[[HEAD:.*]] = arith.remui %[[H]], %{{.*}}
  // CHECK: tensor.extract_slice %arg1[%[[HEAD]], 0, 0] [1, 256, 64]
  // CHECK-NOT: tensor.extract %
  func.func @heads(%x: tensor<128x4x256xf32>, %w: tensor<8x256x64xf32>) -> tensor<128x32x64xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<128x32x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<128x32x64xf32>) -> tensor<128x32x64xf32>
    %m = linalg.generic {indexing_maps = [#x, #w, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<128x4x256xf32>, tensor<8x256x64xf32>) outs(%f : tensor<128x32x64xf32>) {
    ^bb0(%p: f32, %q: f32, %acc: f32):
      %0 = arith.mulf %p, %q : f32
      %1 = arith.addf %acc, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<128x32x64xf32>
    return %m : tensor<128x32x64xf32>
  }
}
