// RUN: hloom-opt %s --tile-and-fuse | filecheck %s

// Changed: Columns of which three have one quotient: tiles are a multiple of three wide, and divide all columns if they can.
// CHECK-LABEL: func.func private @thrice(
// CHECK: scf.forall {{.*}} = (0) to (768) step (192)
#third = affine_map<(d0, d1) -> (d0, d1 floordiv 3)>
#columns = affine_map<(d0, d1) -> (d1)>
func.func private @thrice(%x: tensor<512x256xf32>) -> tensor<768xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %lend = tensor.empty() : tensor<768xf32>
  %e = tensor.empty() : tensor<768xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<768xf32>) -> tensor<768xf32>
  %r = linalg.generic {indexing_maps = [#third, #columns, #columns], iterator_types = ["reduction", "parallel"]}
      ins(%x, %lend : tensor<512x256xf32>, tensor<768xf32>) outs(%f : tensor<768xf32>) {
  ^bb0(%p: f32, %unused: f32, %o: f32):
    %0 = arith.addf %o, %p : f32
    linalg.yield %0 : f32
  } -> tensor<768xf32>
  return %r : tensor<768xf32>
}
