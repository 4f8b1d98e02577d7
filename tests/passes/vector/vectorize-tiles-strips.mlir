// RUN: hloom-opt %s --vectorize-tiles | filecheck %s

#x = affine_map<(h, u, c, kh, kw) -> (h * 2 + kh, u * 2 + kw, c)>
#w = affine_map<(h, u, c, kh, kw) -> (kh, kw, c)>
#y = affine_map<(h, u, c, kh, kw) -> (h, u, c)>
#apart = affine_map<(h, u, c, kh, kw) -> (h * 2 + kh * 2, u * 2 + kw, c)>

// Changed: A convolution of one for each channel, of three taps two apart, over pixels that L2 does not hold: blocks of four pixels, of each all
// lines, of a line all channels. A block asks for the eight pixels of two lines that the block below adds.
// CHECK-LABEL: func.func private @strips(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:[a-z0-9]+]]: memref<3240000xf32>
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c112{{.*}} step %c4
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c112{{.*}} step %c1
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c64{{.*}} step %c16
// CHECK-COUNT-16: memref.prefetch %[[X]]
// CHECK-NOT: memref.prefetch
// CHECK-NOT: scf.for
// CHECK-COUNT-36: arith.mulf {{.*}} : vector<16xf32>
// CHECK-NOT: arith.mulf
// CHECK: return
func.func private @strips(%x: tensor<225x225x64xf32>, %w: tensor<3x3x64xf32>) -> tensor<112x112x64xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<112x112x64xf32>
  %r = scf.forall (%h) in (1) shared_outs(%o = %e) -> (tensor<112x112x64xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<112x112x64xf32>) -> tensor<112x112x64xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<225x225x64xf32>, tensor<3x3x64xf32>) outs(%f : tensor<112x112x64xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<112x112x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0, 0] [112, 112, 64] [1, 1, 1] : tensor<112x112x64xf32> into tensor<112x112x64xf32>
    }
  }
  return %r : tensor<112x112x64xf32>
}

// Changed: With zeros around the pixels, which are nowhere in memory, lines all of whose taps exist are code of their own.
// CHECK-LABEL: func.func private @surrounded(
// CHECK: scf.if
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c64{{.*}} step %c16
// CHECK: scf.for %{{.*}} = %{{.*}} to %{{.*}} step %c1{{.*}} iter_args
// CHECK: } else {
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c64{{.*}} step %c16
// CHECK-NOT: scf.for
// CHECK: }
// CHECK: return
func.func private @surrounded(%x: tensor<224x224x64xf32>, %w: tensor<3x3x64xf32>) -> tensor<112x112x64xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1, 1, 0] high[0, 0, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<224x224x64xf32> to tensor<225x225x64xf32>
  %e = tensor.empty() : tensor<112x112x64xf32>
  %r = scf.forall (%h) in (1) shared_outs(%o = %e) -> (tensor<112x112x64xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<112x112x64xf32>) -> tensor<112x112x64xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%p, %w : tensor<225x225x64xf32>, tensor<3x3x64xf32>) outs(%f : tensor<112x112x64xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<112x112x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0, 0] [112, 112, 64] [1, 1, 1] : tensor<112x112x64xf32> into tensor<112x112x64xf32>
    }
  }
  return %r : tensor<112x112x64xf32>
}

// Declined: Taps that are apart themselves: chunks of channels are outside the lines.
// CHECK-LABEL: func.func private @dilated(
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c4{{.*}} step %c1
// CHECK-NOT: step %c4
// CHECK: return
func.func private @dilated(%x: tensor<226x225x64xf32>, %w: tensor<3x3x64xf32>) -> tensor<4x112x64xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x112x64xf32>
  %xs = tensor.extract_slice %x[0, 0, 0] [11, 225, 64] [1, 1, 1] : tensor<226x225x64xf32> to tensor<11x225x64xf32>
  %r = scf.forall (%h) in (1) shared_outs(%o = %e) -> (tensor<4x112x64xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<4x112x64xf32>) -> tensor<4x112x64xf32>
    %c = linalg.generic {indexing_maps = [#apart, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%xs, %w : tensor<11x225x64xf32>, tensor<3x3x64xf32>) outs(%f : tensor<4x112x64xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<4x112x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0, 0] [4, 112, 64] [1, 1, 1] : tensor<4x112x64xf32> into tensor<4x112x64xf32>
    }
  }
  return %r : tensor<4x112x64xf32>
}
