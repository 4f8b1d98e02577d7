// RUN: hloom-opt %s --vectorize-tiles | filecheck %s

// Changed: Windows of 2 x 2, two apart, that reach into padding, of 8 channels, which fill half a register: these are the lanes all the same.
// CHECK-LABEL: func.func private @half(
// CHECK: vector.load %arg2{{.*}} vector<8xf32>
// CHECK: arith.maximumf {{.*}} : vector<8xf32>
// CHECK: vector.store {{.*}} vector<8xf32>
#x = affine_map<(d0, d1, d2, d3, d4) -> (d0 * 2 + d3, d1 * 2 + d4, d2)>
#k = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4)>
#y = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
module attributes {hloom.target = {name = "cpu-avx512", vector_bits = 512 : i64}} {
func.func private @half(%x: tensor<31x31x8xf32>) -> tensor<16x16x8xf32> attributes {hloom.kind = "reduce"} {
  %least = arith.constant 0xFF800000 : f32
  %p = tensor.pad %x low[0, 0, 0] high[1, 1, 0] {
  ^bb0(%a: index, %b: index, %c: index):
    tensor.yield %least : f32
  } : tensor<31x31x8xf32> to tensor<32x32x8xf32>
  %window = tensor.empty() : tensor<2x2xf32>
  %e = tensor.empty() : tensor<16x16x8xf32>
  %r = scf.forall (%h) = (0) to (16) step (16) shared_outs(%o = %e) -> (tensor<16x16x8xf32>) {
    %f = linalg.fill ins(%least : f32) outs(%o : tensor<16x16x8xf32>) -> tensor<16x16x8xf32>
    %c = linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%p, %window : tensor<32x32x8xf32>, tensor<2x2xf32>) outs(%f : tensor<16x16x8xf32>) {
    ^bb0(%a: f32, %b: f32, %best: f32):
      %0 = arith.maximumf %best, %a : f32
      linalg.yield %0 : f32
    } -> tensor<16x16x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0, 0] [16, 16, 8] [1, 1, 1] : tensor<16x16x8xf32> into tensor<16x16x8xf32>
    }
  }
  return %r : tensor<16x16x8xf32>
}
}
