// RUN: hloom-opt %s --vectorize-tiles | filecheck %s

#x = affine_map<(h, u, c, kh, kw) -> (h + kh, u + kw, c)>
#w = affine_map<(h, u, c, kh, kw) -> (kh, kw, c)>
#y = affine_map<(h, u, c, kh, kw) -> (h, u, c)>
#images = affine_map<(kh, kw, c, n, h, u) -> (n, kh + h, kw + u, c)>
#gradient = affine_map<(kh, kw, c, n, h, u) -> (n, h, u, c)>
#taps = affine_map<(kh, kw, c, n, h, u) -> (kh, kw, c)>

// Changed: A convolution of one for each channel. What its windows read of a cache line of channels stays in the first cache: each such chunk
// goes over all lines of the tile. A block of one register has 14 pixels, which divide the line.
// CHECK-LABEL: func.func private @near(
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c64 step %c16
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c4{{.*}} step %c1
// CHECK-COUNT-14: arith.mulf {{.*}} : vector<16xf32>
// CHECK-NOT: arith.mulf
// CHECK: return
func.func private @near(%x: tensor<6x16x64xf32>, %w: tensor<3x3x64xf32>) -> tensor<4x14x64xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x14x64xf32>
  %r = scf.forall (%h) in (1) shared_outs(%o = %e) -> (tensor<4x14x64xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<4x14x64xf32>) -> tensor<4x14x64xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<6x16x64xf32>, tensor<3x3x64xf32>) outs(%f : tensor<4x14x64xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<4x14x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0, 0] [4, 14, 64] [1, 1, 1] : tensor<4x14x64xf32> into tensor<4x14x64xf32>
    }
  }
  return %r : tensor<4x14x64xf32>
}

// Changed: Windows of which two cache lines of channels fill more than half of the first cache, one after the other in a few of its sets: a
// chunk is one.
// CHECK-LABEL: func.func private @many(
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c128 step %c16
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c4{{.*}} step %c1
// CHECK: return
func.func private @many(%x: tensor<10x34x128xf32>, %w: tensor<7x7x128xf32>) -> tensor<4x28x128xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x28x128xf32>
  %r = scf.forall (%h) in (1) shared_outs(%o = %e) -> (tensor<4x28x128xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<4x28x128xf32>) -> tensor<4x28x128xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<10x34x128xf32>, tensor<7x7x128xf32>) outs(%f : tensor<4x28x128xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<4x28x128xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0, 0] [4, 28, 128] [1, 1, 1] : tensor<4x28x128xf32> into tensor<4x28x128xf32>
    }
  }
  return %r : tensor<4x28x128xf32>
}

// Changed: With zeros around the lines, blocks between them that reach into none are a loop, whose taps along a line are unrolled too: each
// pixel is loaded once for all of them.
// CHECK-LABEL: func.func private @surrounded(
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c64 step %c16
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c4{{.*}} step %c1
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c28{{.*}} step %c14
// CHECK: scf.for {{.*}} iter_args
// CHECK-NOT: scf.for
// CHECK-COUNT-42: arith.mulf {{.*}} : vector<16xf32>
// CHECK-NOT: arith.mulf
// CHECK: scf.yield
// CHECK: return
func.func private @surrounded(%x: tensor<6x56x64xf32>, %w: tensor<3x3x64xf32>) -> tensor<4x56x64xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 1, 0] high[0, 1, 0] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %zero : f32
  } : tensor<6x56x64xf32> to tensor<6x58x64xf32>
  %e = tensor.empty() : tensor<4x56x64xf32>
  %r = scf.forall (%h) in (1) shared_outs(%o = %e) -> (tensor<4x56x64xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<4x56x64xf32>) -> tensor<4x56x64xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%p, %w : tensor<6x58x64xf32>, tensor<3x3x64xf32>) outs(%f : tensor<4x56x64xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<4x56x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0, 0] [4, 56, 64] [1, 1, 1] : tensor<4x56x64xf32> into tensor<4x56x64xf32>
    }
  }
  return %r : tensor<4x56x64xf32>
}

// Changed: Pixels that are 1.5 KB apart: a chunk is two cache lines.
// CHECK-LABEL: func.func private @apart(
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c384 step %c32
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c4{{.*}} step %c1
// CHECK-COUNT-7: arith.mulf {{.*}} : vector<32xf32>
// CHECK-NOT: arith.mulf
// CHECK: return
func.func private @apart(%x: tensor<6x16x384xf32>, %w: tensor<3x3x384xf32>) -> tensor<4x14x384xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x14x384xf32>
  %r = scf.forall (%h) in (1) shared_outs(%o = %e) -> (tensor<4x14x384xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<4x14x384xf32>) -> tensor<4x14x384xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<6x16x384xf32>, tensor<3x3x384xf32>) outs(%f : tensor<4x14x384xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<4x14x384xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0, 0] [4, 14, 384] [1, 1, 1] : tensor<4x14x384xf32> into tensor<4x14x384xf32>
    }
  }
  return %r : tensor<4x14x384xf32>
}

// Changed: Windows of long lines, which the first cache does not hold but L2 does: the pixels of a block share what they load.
// CHECK-LABEL: func.func private @long(
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c96 step %c16
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c2{{.*}} step %c1
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c120{{.*}} step %c12
// CHECK-COUNT-12: arith.mulf {{.*}} : vector<16xf32>
// CHECK-NOT: arith.mulf
// CHECK: return
func.func private @long(%x: tensor<8x126x96xf32>, %w: tensor<7x7x96xf32>) -> tensor<2x120x96xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x120x96xf32>
  %r = scf.forall (%h) in (1) shared_outs(%o = %e) -> (tensor<2x120x96xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<2x120x96xf32>) -> tensor<2x120x96xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<8x126x96xf32>, tensor<7x7x96xf32>) outs(%f : tensor<2x120x96xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<2x120x96xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0, 0] [2, 120, 96] [1, 1, 1] : tensor<2x120x96xf32> into tensor<2x120x96xf32>
    }
  }
  return %r : tensor<2x120x96xf32>
}

// Declined: Lines of which half of L2 does not hold a tile's: the chunks of a line are next to each other, as of other products.
// CHECK-LABEL: func.func private @longer(
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c2 step %c1
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c360{{.*}} step %c6
// CHECK-COUNT-6: arith.mulf {{.*}} : vector<64xf32>
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c360{{.*}} step %c12
// CHECK-COUNT-12: arith.mulf {{.*}} : vector<32xf32>
// CHECK-NOT: arith.mulf
// CHECK: return
func.func private @longer(%x: tensor<8x366x96xf32>, %w: tensor<7x7x96xf32>) -> tensor<2x360x96xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x360x96xf32>
  %r = scf.forall (%h) in (1) shared_outs(%o = %e) -> (tensor<2x360x96xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<2x360x96xf32>) -> tensor<2x360x96xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<8x366x96xf32>, tensor<7x7x96xf32>) outs(%f : tensor<2x360x96xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<2x360x96xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0, 0] [2, 360, 96] [1, 1, 1] : tensor<2x360x96xf32> into tensor<2x360x96xf32>
    }
  }
  return %r : tensor<2x360x96xf32>
}

// Changed: A gradient by weights of one channel a group, images of which L2 does not hold: as many lines as a quarter of it holds are summed at a
// time, of which the taps of all columns are there again, in four registers. What they are added to is stored first.
// CHECK-LABEL: func.func private @gradient(
// CHECK: vector.store %{{.*}}, %arg4[{{.*}}] : memref<576xf32>, vector<16xf32>
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c3{{.*}} step %c1
// CHECK: scf.for %[[LINE:.*]] = %c0{{.*}} to %c110 step %c10
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c3{{.*}} step %c1
// CHECK: scf.for %{{.*}} = %[[LINE]] to %{{.*}} step %c1
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c100 step %c1
// CHECK-COUNT-3: arith.mulf {{.*}} : vector<64xf32>
// CHECK-NOT: arith.mulf
// CHECK: vector.load %arg4
// CHECK: return
func.func private @gradient(%x: tensor<3x112x102x64xf32>, %g: tensor<3x110x100x64xf32>) -> tensor<3x3x64xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x3x64xf32>
  %r = scf.forall (%i) in (1) shared_outs(%o = %e) -> (tensor<3x3x64xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<3x3x64xf32>) -> tensor<3x3x64xf32>
    %c = linalg.generic {indexing_maps = [#images, #gradient, #taps], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %g : tensor<3x112x102x64xf32>, tensor<3x110x100x64xf32>) outs(%f : tensor<3x3x64xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<3x3x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0, 0] [3, 3, 64] [1, 1, 1] : tensor<3x3x64xf32> into tensor<3x3x64xf32>
    }
  }
  return %r : tensor<3x3x64xf32>
}

// Unchanged: Images that L2 holds are summed one after the other.
// CHECK-LABEL: func.func private @small_gradient(
// CHECK-NOT: vector.store
// CHECK: arith.mulf
// CHECK-NOT: vector.load %arg4
// CHECK: return
func.func private @small_gradient(%x: tensor<3x16x16x64xf32>, %g: tensor<3x14x14x64xf32>) -> tensor<3x3x64xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x3x64xf32>
  %r = scf.forall (%i) in (1) shared_outs(%o = %e) -> (tensor<3x3x64xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<3x3x64xf32>) -> tensor<3x3x64xf32>
    %c = linalg.generic {indexing_maps = [#images, #gradient, #taps], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %g : tensor<3x16x16x64xf32>, tensor<3x14x14x64xf32>) outs(%f : tensor<3x3x64xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<3x3x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0, 0] [3, 3, 64] [1, 1, 1] : tensor<3x3x64xf32> into tensor<3x3x64xf32>
    }
  }
  return %r : tensor<3x3x64xf32>
}
