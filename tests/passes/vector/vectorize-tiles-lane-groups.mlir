// RUN: hloom-opt %s --vectorize-tiles | filecheck %s

#x = affine_map<(ow, g, f, kw, k) -> (ow + kw, g * 4 + k)>
#w = affine_map<(ow, g, f, kw, k) -> (kw, k, g, f)>
#y = affine_map<(ow, g, f, kw, k) -> (ow, g, f)>
#b = affine_map<(ow, g, f) -> (g, f)>
#p = affine_map<(ow, g, f) -> (ow, g, f)>

// Changed: Four groups of four channels are the lanes of a register. For each channel of a group a shuffle picks it for all four features of
// the group; channels and taps are unrolled: of each of 4 pixels 4 channels × 2 taps, and the 5th for the last tap. The bias follows in registers.
// CHECK-LABEL: func.func private @groups(
// CHECK-SAME: %[[LO:.*]]: index, %[[HI:.*]]: index, %[[X:.*]]: memref<80xf32>, %[[W:.*]]: memref<128xf32>, %[[B:.*]]: memref<16xf32>, %[[Y:.*]]: memref<64xf32>)
// CHECK: vector.load %[[X]]{{.*}} : memref<80xf32>, vector<16xf32>
// CHECK: vector.shuffle {{.*}} [0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12]
// CHECK: vector.shuffle {{.*}} [3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15]
// CHECK: vector.load %[[B]]
// CHECK-NOT: vector.gather
// CHECK: return
func.func private @groups(%x: tensor<5x16xf32>, %w: tensor<2x4x4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4x4xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4x4xf32>
  %r = scf.forall (%i) = (0) to (4) step (4) shared_outs(%o = %e) -> (tensor<4x4x4xf32>) {
    %s = tensor.extract_slice %x[%i, 0] [5, 16] [1, 1] : tensor<5x16xf32> to tensor<5x16xf32>
    %d = tensor.extract_slice %o[%i, 0, 0] [4, 4, 4] [1, 1, 1] : tensor<4x4x4xf32> to tensor<4x4x4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%d : tensor<4x4x4xf32>) -> tensor<4x4x4xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%s, %w : tensor<5x16xf32>, tensor<2x4x4x4xf32>) outs(%f : tensor<4x4x4xf32>) {
    ^bb0(%p: f32, %q: f32, %acc: f32):
      %m = arith.mulf %p, %q : f32
      %a = arith.addf %acc, %m : f32
      linalg.yield %a : f32
    } -> tensor<4x4x4xf32>
    %n = linalg.generic {indexing_maps = [#b, #p], iterator_types = ["parallel", "parallel", "parallel"]}
        ins(%b : tensor<4x4xf32>) outs(%c : tensor<4x4x4xf32>) {
    ^bb0(%p: f32, %acc: f32):
      %a = arith.addf %acc, %p : f32
      linalg.yield %a : f32
    } -> tensor<4x4x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %n into %o[%i, 0, 0] [4, 4, 4] [1, 1, 1] : tensor<4x4x4xf32> into tensor<4x4x4xf32>
    }
  }
  return %r : tensor<4x4x4xf32>
}

// Changed: Of groups of eight channels half of one, 16 bytes, is all that a shuffle within such parts picks from: a shuffle before puts it into
// both parts of its group, for four channels.
// CHECK-LABEL: func.func private @halves_of_groups(
// CHECK: vector.shuffle {{.*}} [0, 1, 2, 3, 0, 1, 2, 3, 8, 9, 10, 11, 8, 9, 10, 11]
// CHECK: vector.shuffle {{.*}} [0, 0, 0, 0, 4, 4, 4, 4, 8, 8, 8, 8, 12, 12, 12, 12]
// CHECK: vector.shuffle {{.*}} [4, 5, 6, 7, 4, 5, 6, 7, 12, 13, 14, 15, 12, 13, 14, 15]
// CHECK: vector.shuffle {{.*}} [3, 3, 3, 3, 7, 7, 7, 7, 11, 11, 11, 11, 15, 15, 15, 15]
// CHECK: return
func.func private @halves_of_groups(%x: tensor<20x16xf32>, %w: tensor<3x8x2x8xf32>) -> tensor<10x2x8xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[1, 0] high[1, 0] {
  ^bb0(%a: index, %b: index):
    tensor.yield %zero : f32
  } : tensor<20x16xf32> to tensor<22x16xf32>
  %e = tensor.empty() : tensor<10x2x8xf32>
  %r = scf.forall (%i) = (0) to (1) step (1) shared_outs(%o = %e) -> (tensor<10x2x8xf32>) {
    %s = tensor.extract_slice %p[%i, 0] [22, 16] [1, 1] : tensor<22x16xf32> to tensor<22x16xf32>
    %d = tensor.extract_slice %o[%i, 0, 0] [10, 2, 8] [1, 1, 1] : tensor<10x2x8xf32> to tensor<10x2x8xf32>
    %f = linalg.fill ins(%zero : f32) outs(%d : tensor<10x2x8xf32>) -> tensor<10x2x8xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(ow, g, f, kw, k) -> (ow * 2 + kw, g * 8 + k)>, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%s, %w : tensor<22x16xf32>, tensor<3x8x2x8xf32>) outs(%f : tensor<10x2x8xf32>) {
    ^bb0(%in: f32, %q: f32, %acc: f32):
      %m = arith.mulf %in, %q : f32
      %sum = arith.addf %acc, %m : f32
      linalg.yield %sum : f32
    } -> tensor<10x2x8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[%i, 0, 0] [10, 2, 8] [1, 1, 1] : tensor<10x2x8xf32> into tensor<10x2x8xf32>
    }
  }
  return %r : tensor<10x2x8xf32>
}

// Declined: Features that do not lie beside the groups in the result.
// CHECK-LABEL: func.func private @apart(
// CHECK-NOT: [0, 0, 0, 0, 4, 4, 4, 4
// CHECK: return
func.func private @apart(%x: tensor<5x16xf32>, %w: tensor<2x4x4x4xf32>) -> tensor<4x4x4xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4x4xf32>
  %r = scf.forall (%i) = (0) to (4) step (4) shared_outs(%o = %e) -> (tensor<4x4x4xf32>) {
    %s = tensor.extract_slice %x[%i, 0] [5, 16] [1, 1] : tensor<5x16xf32> to tensor<5x16xf32>
    %d = tensor.extract_slice %o[%i, 0, 0] [4, 4, 4] [1, 1, 1] : tensor<4x4x4xf32> to tensor<4x4x4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%d : tensor<4x4x4xf32>) -> tensor<4x4x4xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, affine_map<(ow, g, f, kw, k) -> (ow, f, g)>], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
        ins(%s, %w : tensor<5x16xf32>, tensor<2x4x4x4xf32>) outs(%f : tensor<4x4x4xf32>) {
    ^bb0(%p: f32, %q: f32, %acc: f32):
      %m = arith.mulf %p, %q : f32
      %a = arith.addf %acc, %m : f32
      linalg.yield %a : f32
    } -> tensor<4x4x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[%i, 0, 0] [4, 4, 4] [1, 1, 1] : tensor<4x4x4xf32> into tensor<4x4x4xf32>
    }
  }
  return %r : tensor<4x4x4xf32>
}

#image = affine_map<(kh, kw, k, g, f, n, h, w) -> (n, kh + h, kw + w, k + g * 2)>
#gradient = affine_map<(kh, kw, k, g, f, n, h, w) -> (n, h, w, g, f)>
#weight = affine_map<(kh, kw, k, g, f, n, h, w) -> (kh, kw, k, g, f)>
#each = affine_map<(kh, kw, k, g, f) -> (kh, kw, k, g, f)>

// Declined: A gradient by weights whose sums go image by image wait in memory for the next: what follows them, a step of an optimizer, is
// computed when all are done.
// CHECK-LABEL: func.func private @sums_of_images(
// CHECK: %[[RATE:.*]] = arith.constant -5.000000e-02
// CHECK: %[[IMAGES:.*]] = arith.constant 7 : index
// CHECK: scf.for %{{.*}} = %{{.*}} to %[[IMAGES]]
// CHECK-NOT: %[[RATE]]
// CHECK: {{^      }}}
// CHECK: vector.broadcast %[[RATE]]
// CHECK: return
func.func private @sums_of_images(%x: tensor<7x17x17x16xf32>, %g: tensor<7x15x15x8x2xf32>, %p: tensor<3x3x2x8x2xf32>) -> tensor<3x3x2x8x2xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %rate = arith.constant -0.05 : f32
  %e = tensor.empty() : tensor<3x3x2x8x2xf32>
  %r = scf.forall (%i) = (0) to (8) step (8) shared_outs(%o = %e) -> (tensor<3x3x2x8x2xf32>) {
    %d = tensor.extract_slice %o[0, 0, 0, %i, 0] [3, 3, 2, 8, 2] [1, 1, 1, 1, 1] : tensor<3x3x2x8x2xf32> to tensor<3x3x2x8x2xf32>
    %f = linalg.fill ins(%zero : f32) outs(%d : tensor<3x3x2x8x2xf32>) -> tensor<3x3x2x8x2xf32>
    %c = linalg.generic {indexing_maps = [#image, #gradient, #weight],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %g : tensor<7x17x17x16xf32>, tensor<7x15x15x8x2xf32>) outs(%f : tensor<3x3x2x8x2xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %acc, %m : f32
      linalg.yield %s : f32
    } -> tensor<3x3x2x8x2xf32>
    %n = linalg.generic {indexing_maps = [#each, #each, #each], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel"]}
        ins(%p, %c : tensor<3x3x2x8x2xf32>, tensor<3x3x2x8x2xf32>) outs(%d : tensor<3x3x2x8x2xf32>) {
    ^bb0(%a: f32, %b: f32, %acc: f32):
      %m = arith.mulf %b, %rate : f32
      %s = arith.addf %a, %m : f32
      linalg.yield %s : f32
    } -> tensor<3x3x2x8x2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %n into %o[0, 0, 0, %i, 0] [3, 3, 2, 8, 2] [1, 1, 1, 1, 1] : tensor<3x3x2x8x2xf32> into tensor<3x3x2x8x2xf32>
    }
  }
  return %r : tensor<3x3x2x8x2xf32>
}
