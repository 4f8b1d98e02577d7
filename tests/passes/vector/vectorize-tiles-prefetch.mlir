// RUN: hloom-opt %s --vectorize-tiles --canonicalize --cse --split-input-file | filecheck %s

// The second nest to read a row prefetches the next tile's row; loads from an argument and stores to a result, both beyond the cache,
// prefetch what comes next.
// CHECK-LABEL: func.func private @rows(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<4194304xf32>, %[[O:.*]]: memref<4194304xf32>)
// CHECK: scf.for
// CHECK: scf.for %[[I:.*]] = %{{.*}} iter_args
// CHECK: memref.prefetch %[[X]][%{{.*}}], read, locality<3>, data
// CHECK: vector.load %[[X]]
// CHECK: scf.for
// CHECK: memref.prefetch %[[X]][%{{.*}}], read, locality<3>, data
// CHECK: vector.load %[[X]]
// CHECK: memref.prefetch %[[O]][%{{.*}}], write, locality<3>, data
// CHECK: vector.store %{{.*}}, %[[O]]
// CHECK: return
#row = affine_map<(d0, d1) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @rows(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> attributes {hloom.kind = "multi_reduce"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096x1024xf32>
  %r = scf.forall (%i) = (0) to (4096) step (1) shared_outs(%o = %e) -> (tensor<4096x1024xf32>) {
    %xs = tensor.extract_slice %x[%i, 0] [1, 1024] [1, 1] : tensor<4096x1024xf32> to tensor<1x1024xf32>
    %os = tensor.extract_slice %o[%i, 0] [1, 1024] [1, 1] : tensor<4096x1024xf32> to tensor<1x1024xf32>
    %se = tensor.empty() : tensor<1xf32>
    %f = linalg.fill ins(%zero : f32) outs(%se : tensor<1xf32>) -> tensor<1xf32>
    %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%xs : tensor<1x1024xf32>) outs(%f : tensor<1xf32>) {
    ^bb0(%a: f32, %b: f32):
      %sum = arith.addf %a, %b : f32
      linalg.yield %sum : f32
    } -> tensor<1xf32>
    %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%xs, %s : tensor<1x1024xf32>, tensor<1xf32>) outs(%os : tensor<1x1024xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %sub = arith.subf %a, %b : f32
      linalg.yield %sub : f32
    } -> tensor<1x1024xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, 0] [1, 1024] [1, 1] : tensor<1x1024xf32> into tensor<4096x1024xf32>
    }
  }
  return %r : tensor<4096x1024xf32>
}

// -----

// One nest that reads each element once, and a result that fits the cache: nothing to prefetch.
// CHECK-LABEL: func.func private @once(
// CHECK-NOT: memref.prefetch
// CHECK: return
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @once(%x: tensor<64x1024xf32>) -> tensor<64x1024xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<64x1024xf32>
  %r = scf.forall (%i) = (0) to (64) step (1) shared_outs(%o = %e) -> (tensor<64x1024xf32>) {
    %xs = tensor.extract_slice %x[%i, 0] [1, 1024] [1, 1] : tensor<64x1024xf32> to tensor<1x1024xf32>
    %os = tensor.extract_slice %o[%i, 0] [1, 1024] [1, 1] : tensor<64x1024xf32> to tensor<1x1024xf32>
    %y = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%xs : tensor<1x1024xf32>) outs(%os : tensor<1x1024xf32>) {
    ^bb0(%a: f32, %c: f32):
      %n = arith.negf %a : f32
      linalg.yield %n : f32
    } -> tensor<1x1024xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, 0] [1, 1024] [1, 1] : tensor<1x1024xf32> into tensor<64x1024xf32>
    }
  }
  return %r : tensor<64x1024xf32>
}

// -----

// Windows of few taps, one for each channel, over lines that no near cache holds: what the next tap reads again is not prefetched for every
// tap, but the next tile's lines, share by share; and the result.
// CHECK-LABEL: func.func private @windows(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<4202496xf32>, %[[W:.*]]: memref<12288xf32>, %[[O:.*]]: memref<4194304xf32>)
// CHECK: scf.for %[[STEP:.*]] = %{{.*}} to %c3 step %{{.*}} iter_args
// CHECK: %[[SHARE:.*]] = arith.muli %[[STEP]], %c86
// CHECK: arith.addi %{{.*}}, %[[SHARE]]
// CHECK-COUNT-6: memref.prefetch %[[X]]
// CHECK-NOT: memref.prefetch
// CHECK: vector.load %[[W]]
// CHECK-NOT: memref.prefetch %[[X]]
// CHECK: scf.yield
// CHECK: memref.prefetch %[[O]]
// CHECK: return
#x = affine_map<(d0, d1, d2) -> (d0 + d2, d1)>
#w = affine_map<(d0, d1, d2) -> (d2, d1)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func private @windows(%x: tensor<1026x4096xf32>, %w: tensor<3x4096xf32>) -> tensor<1024x4096xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x4096xf32>
  %r = scf.forall (%i) = (0) to (1024) step (8) shared_outs(%o = %e) -> (tensor<1024x4096xf32>) {
    %xs = tensor.extract_slice %x[%i, 0] [10, 4096] [1, 1] : tensor<1026x4096xf32> to tensor<10x4096xf32>
    %os = tensor.extract_slice %o[%i, 0] [8, 4096] [1, 1] : tensor<1024x4096xf32> to tensor<8x4096xf32>
    %f = linalg.fill ins(%zero : f32) outs(%os : tensor<8x4096xf32>) -> tensor<8x4096xf32>
    %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%xs, %w : tensor<10x4096xf32>, tensor<3x4096xf32>) outs(%f : tensor<8x4096xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %c, %m : f32
      linalg.yield %s : f32
    } -> tensor<8x4096xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, 0] [8, 4096] [1, 1] : tensor<8x4096xf32> into tensor<1024x4096xf32>
    }
  }
  return %r : tensor<1024x4096xf32>
}

// -----

// Windows of many taps ask for less at each: 10 elements for each of 27.
// CHECK-LABEL: func.func private @many_taps(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<4300800xf32>, %{{.*}}: memref<110592xf32>, %[[O:.*]]: memref<4194304xf32>)
// CHECK: scf.for %[[STEP:.*]] = %{{.*}} to %c27 step %{{.*}} iter_args
// CHECK: memref.prefetch %[[X]]
// CHECK-NOT: memref.prefetch %[[X]]
// CHECK: memref.prefetch %[[O]]
// CHECK: return
#x = affine_map<(d0, d1, d2) -> (d0 + d2, d1)>
#w = affine_map<(d0, d1, d2) -> (d2, d1)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func private @many_taps(%x: tensor<1050x4096xf32>, %w: tensor<27x4096xf32>) -> tensor<1024x4096xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x4096xf32>
  %r = scf.forall (%i) = (0) to (1024) step (8) shared_outs(%o = %e) -> (tensor<1024x4096xf32>) {
    %xs = tensor.extract_slice %x[%i, 0] [34, 4096] [1, 1] : tensor<1050x4096xf32> to tensor<34x4096xf32>
    %os = tensor.extract_slice %o[%i, 0] [8, 4096] [1, 1] : tensor<1024x4096xf32> to tensor<8x4096xf32>
    %f = linalg.fill ins(%zero : f32) outs(%os : tensor<8x4096xf32>) -> tensor<8x4096xf32>
    %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]} ins(%xs, %w : tensor<34x4096xf32>, tensor<27x4096xf32>) outs(%f : tensor<8x4096xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %c, %m : f32
      linalg.yield %s : f32
    } -> tensor<8x4096xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, 0] [8, 4096] [1, 1] : tensor<8x4096xf32> into tensor<1024x4096xf32>
    }
  }
  return %r : tensor<1024x4096xf32>
}

// -----

// Patches, read by pieces of two lines each, of lines that no near cache holds: a block of 10 patches and 32 features asks for its share
// of the 10,752 elements behind the tile's, 10 at each of 192 steps; a block of 8 patches for 8.
// CHECK-LABEL: func.func private @patches(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<2752512xf32>, %[[W:.*]]: memref<6144xf32>
// CHECK: scf.for
// CHECK-NOT: memref.prefetch %[[X]]
// CHECK: scf.for %[[STEP:.*]] = %{{.*}} to %c96 step %{{.*}} iter_args
// CHECK: %[[SHARE:.*]] = arith.muli %[[STEP]], %c10 : index
// CHECK: %[[PLACE:.*]] = arith.addi %{{.*}}, %[[SHARE]] : index
// CHECK: %[[BEHIND:.*]] = arith.addi %[[PLACE]], %c10752 : index
// CHECK: memref.prefetch %[[X]][%[[BEHIND]]], read, locality<3>, data
// CHECK-NOT: memref.prefetch
// CHECK: vector.load %[[W]]
// CHECK: scf.for %[[STEP:.*]] = %{{.*}} to %c96 step %{{.*}} iter_args
// CHECK: arith.muli %[[STEP]], %c8 : index
// CHECK: memref.prefetch %[[X]]
// CHECK-NOT: memref.prefetch %[[X]]
// CHECK: return
#x = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d1, d4)>
#w = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4, d2)>
#y = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
func.func private @patches(%x: tensor<512x2x28x96xf32>, %w: tensor<2x96x32xf32>) -> tensor<512x28x32xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x28x32xf32>
  %r = scf.forall (%i) = (0) to (512) step (2) shared_outs(%o = %e) -> (tensor<512x28x32xf32>) {
    %xs = tensor.extract_slice %x[%i, 0, 0, 0] [2, 2, 28, 96] [1, 1, 1, 1] : tensor<512x2x28x96xf32> to tensor<2x2x28x96xf32>
    %os = tensor.extract_slice %o[%i, 0, 0] [2, 28, 32] [1, 1, 1] : tensor<512x28x32xf32> to tensor<2x28x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%os : tensor<2x28x32xf32>) -> tensor<2x28x32xf32>
    %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%xs, %w : tensor<2x2x28x96xf32>, tensor<2x96x32xf32>) outs(%f : tensor<2x28x32xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %c, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x28x32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, 0, 0] [2, 28, 32] [1, 1, 1] : tensor<2x28x32xf32> into tensor<512x28x32xf32>
    }
  }
  return %r : tensor<512x28x32xf32>
}

// -----

// A tile that leaves the last patch of each line out: what it reads lies in pieces, which it asks for itself, before its first product.
// CHECK-LABEL: func.func private @some_patches(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<2752512xf32>, %[[W:.*]]: memref<6144xf32>
// CHECK: scf.for
// CHECK: memref.prefetch %[[X]]
// CHECK: vector.load %[[W]]
// CHECK-NOT: memref.prefetch %[[X]]
// CHECK: return
#x = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d1, d4)>
#w = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4, d2)>
#y = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
func.func private @some_patches(%x: tensor<512x2x28x96xf32>, %w: tensor<2x96x32xf32>) -> tensor<512x27x32xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x27x32xf32>
  %r = scf.forall (%i) = (0) to (512) step (2) shared_outs(%o = %e) -> (tensor<512x27x32xf32>) {
    %xs = tensor.extract_slice %x[%i, 0, 0, 0] [2, 2, 27, 96] [1, 1, 1, 1] : tensor<512x2x28x96xf32> to tensor<2x2x27x96xf32>
    %os = tensor.extract_slice %o[%i, 0, 0] [2, 27, 32] [1, 1, 1] : tensor<512x27x32xf32> to tensor<2x27x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%os : tensor<2x27x32xf32>) -> tensor<2x27x32xf32>
    %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%xs, %w : tensor<2x2x27x96xf32>, tensor<2x96x32xf32>) outs(%f : tensor<2x27x32xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %c, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x27x32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, 0, 0] [2, 27, 32] [1, 1, 1] : tensor<2x27x32xf32> into tensor<512x27x32xf32>
    }
  }
  return %r : tensor<512x27x32xf32>
}

// -----

// Every second pixel of every second line, for 64 features in two tiles of a block each: the block asks for one half of the channels of
// its pixels in the next two lines, before it sums.
// CHECK-LABEL: func.func private @pixels_apart(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<3670016xf32>, %[[W:.*]]: memref<4096xf32>
// CHECK: %[[HALF:.*]] = arith.remui %{{.*}}, %c2
// CHECK: %[[LINES:.*]] = arith.divui %{{.*}}, %c2
// CHECK: scf.for %[[ROW:.*]] = %{{.*}} to %c10 step
// CHECK: arith.muli %[[LINES]], %c14336
// CHECK: arith.muli %[[HALF]], %c32
// CHECK: arith.muli %[[ROW]], %c128
// CHECK: %[[AHEAD:.*]] = arith.addi %{{.*}}, %c14336
// CHECK: memref.prefetch %[[X]][%[[AHEAD]]], read, locality<3>, data
// CHECK: memref.prefetch %[[X]]
// CHECK-NOT: memref.prefetch %[[X]]
// CHECK: scf.for {{.*}} iter_args
// CHECK: vector.load %[[W]]
// CHECK: return
#x = affine_map<(d0, d1, d2, d3) -> (d0 * 2, d1 * 2, d3)>
#w = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
#y = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
func.func private @pixels_apart(%x: tensor<1024x56x64xf32>, %w: tensor<64x64xf32>) -> tensor<512x28x64xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x28x64xf32>
  %r = scf.forall (%i, %j) = (0, 0) to (512, 64) step (2, 32) shared_outs(%o = %e) -> (tensor<512x28x64xf32>) {
    %two = arith.constant 2 : index
    %first = arith.muli %i, %two : index
    %xs = tensor.extract_slice %x[%first, 0, 0] [3, 55, 64] [1, 1, 1] : tensor<1024x56x64xf32> to tensor<3x55x64xf32>
    %ws = tensor.extract_slice %w[0, %j] [64, 32] [1, 1] : tensor<64x64xf32> to tensor<64x32xf32>
    %os = tensor.extract_slice %o[%i, 0, %j] [2, 28, 32] [1, 1, 1] : tensor<512x28x64xf32> to tensor<2x28x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%os : tensor<2x28x32xf32>) -> tensor<2x28x32xf32>
    %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%xs, %ws : tensor<3x55x64xf32>, tensor<64x32xf32>) outs(%f : tensor<2x28x32xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %c, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x28x32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, 0, %j] [2, 28, 32] [1, 1, 1] : tensor<2x28x32xf32> into tensor<512x28x64xf32>
    }
  }
  return %r : tensor<512x28x64xf32>
}

// -----

// Of an input that the last-level cache holds the processor itself prefetches lines of a page and more.
// CHECK-LABEL: func.func private @patches_in_the_last_cache(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<1376256xf32>, %[[W:.*]]: memref<6144xf32>
// CHECK-NOT: memref.prefetch %[[X]]
// CHECK: return
#x = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d1, d4)>
#w = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4, d2)>
#y = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
func.func private @patches_in_the_last_cache(%x: tensor<256x2x28x96xf32>, %w: tensor<2x96x32xf32>) -> tensor<256x28x32xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x28x32xf32>
  %r = scf.forall (%i) = (0) to (256) step (2) shared_outs(%o = %e) -> (tensor<256x28x32xf32>) {
    %xs = tensor.extract_slice %x[%i, 0, 0, 0] [2, 2, 28, 96] [1, 1, 1, 1] : tensor<256x2x28x96xf32> to tensor<2x2x28x96xf32>
    %os = tensor.extract_slice %o[%i, 0, 0] [2, 28, 32] [1, 1, 1] : tensor<256x28x32xf32> to tensor<2x28x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%os : tensor<2x28x32xf32>) -> tensor<2x28x32xf32>
    %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%xs, %w : tensor<2x2x28x96xf32>, tensor<2x96x32xf32>) outs(%f : tensor<2x28x32xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %c, %m : f32
      linalg.yield %s : f32
    } -> tensor<2x28x32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, 0, 0] [2, 28, 32] [1, 1, 1] : tensor<2x28x32xf32> into tensor<256x28x32xf32>
    }
  }
  return %r : tensor<256x28x32xf32>
}

// -----

// Two sums of one row: it is loaded and prefetched once. The rows of a product's right side, read again for each row of the left, are not.
// CHECK-LABEL: func.func private @two_sums(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<4194304xf32>, %{{.*}}: memref<4096xf32>, %{{.*}}: memref<4096xf32>)
// CHECK: scf.for {{.*}} iter_args(%{{.*}}, %{{.*}}) ->
// CHECK: memref.prefetch %[[X]]
// CHECK: vector.load %[[X]]
// CHECK-NOT: memref.prefetch
// CHECK-NOT: vector.load
// CHECK: scf.yield
// CHECK-LABEL: func.func private @product(
// CHECK-NOT: memref.prefetch
// CHECK: return
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func private @two_sums(%x: tensor<4096x1024xf32>) -> (tensor<4096xf32>, tensor<4096xf32>) attributes {hloom.kind = "multi_reduce"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096xf32>
  %r:2 = scf.forall (%i) in (4096) shared_outs(%a = %e, %b = %e) -> (tensor<4096xf32>, tensor<4096xf32>) {
    %xs = tensor.extract_slice %x[%i, 0] [1, 1024] [1, 1] : tensor<4096x1024xf32> to tensor<1x1024xf32>
    %as = tensor.extract_slice %a[%i] [1] [1] : tensor<4096xf32> to tensor<1xf32>
    %fa = linalg.fill ins(%zero : f32) outs(%as : tensor<1xf32>) -> tensor<1xf32>
    %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%xs : tensor<1x1024xf32>) outs(%fa : tensor<1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %in, %out : f32
      linalg.yield %0 : f32
    } -> tensor<1xf32>
    %bs = tensor.extract_slice %b[%i] [1] [1] : tensor<4096xf32> to tensor<1xf32>
    %fb = linalg.fill ins(%zero : f32) outs(%bs : tensor<1xf32>) -> tensor<1xf32>
    %q = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%xs : tensor<1x1024xf32>) outs(%fb : tensor<1xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.mulf %in, %in : f32
      %1 = arith.addf %0, %out : f32
      linalg.yield %1 : f32
    } -> tensor<1xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %a[%i] [1] [1] : tensor<1xf32> into tensor<4096xf32>
      tensor.parallel_insert_slice %q into %b[%i] [1] [1] : tensor<1xf32> into tensor<4096xf32>
    }
  }
  return %r#0, %r#1 : tensor<4096xf32>, tensor<4096xf32>
}
#lhs = affine_map<(m, n, k) -> (m, k)>
#rhs = affine_map<(m, n, k) -> (k, n)>
#out = affine_map<(m, n, k) -> (m, n)>
func.func private @product(%x: tensor<64x2048xf32>, %w: tensor<2048x1024xf32>) -> tensor<64x1024xf32> attributes {hloom.kind = "dot"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<64x1024xf32>
  %r = scf.forall (%i) = (0) to (64) step (16) shared_outs(%o = %e) -> (tensor<64x1024xf32>) {
    %xs = tensor.extract_slice %x[%i, 0] [16, 2048] [1, 1] : tensor<64x2048xf32> to tensor<16x2048xf32>
    %os = tensor.extract_slice %o[%i, 0] [16, 1024] [1, 1] : tensor<64x1024xf32> to tensor<16x1024xf32>
    %f = linalg.fill ins(%zero : f32) outs(%os : tensor<16x1024xf32>) -> tensor<16x1024xf32>
    %p = linalg.generic {indexing_maps = [#lhs, #rhs, #out], iterator_types = ["parallel", "parallel", "reduction"]} ins(%xs, %w : tensor<16x2048xf32>, tensor<2048x1024xf32>) outs(%f : tensor<16x1024xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %m, %c : f32
      linalg.yield %s : f32
    } -> tensor<16x1024xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %p into %o[%i, 0] [16, 1024] [1, 1] : tensor<16x1024xf32> into tensor<64x1024xf32>
    }
  }
  return %r : tensor<64x1024xf32>
}

// -----

// A sum of columns prefetches eight rows below, where it will be soon.
// CHECK-LABEL: func.func private @columns(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<4194304xf32>, %{{.*}}: memref<1024xf32>)
// CHECK-DAG: %[[ROWS:.*]] = arith.constant 8192 : index
// CHECK: %[[AT:.*]] = arith.addi %[[HERE:.*]], %[[ROWS]] : index
// CHECK: memref.prefetch %[[X]][%[[AT]]], read
// CHECK: vector.load %[[X]][%[[HERE]]]
// CHECK: return
#id = affine_map<(d0, d1) -> (d0, d1)>
#column = affine_map<(d0, d1) -> (d1)>
func.func private @columns(%x: tensor<4096x1024xf32>) -> tensor<1024xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024xf32>
  %r = scf.forall (%i) = (0) to (1024) step (256) shared_outs(%o = %e) -> (tensor<1024xf32>) {
    %xs = tensor.extract_slice %x[0, %i] [4096, 256] [1, 1] : tensor<4096x1024xf32> to tensor<4096x256xf32>
    %os = tensor.extract_slice %o[%i] [256] [1] : tensor<1024xf32> to tensor<256xf32>
    %f = linalg.fill ins(%zero : f32) outs(%os : tensor<256xf32>) -> tensor<256xf32>
    %s = linalg.generic {indexing_maps = [#id, #column], iterator_types = ["reduction", "parallel"]} ins(%xs : tensor<4096x256xf32>) outs(%f : tensor<256xf32>) {
    ^bb0(%a: f32, %b: f32):
      %0 = arith.addf %a, %b : f32
      linalg.yield %0 : f32
    } -> tensor<256xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[%i] [256] [1] : tensor<256xf32> into tensor<1024xf32>
    }
  }
  return %r : tensor<1024xf32>
}

// -----

// A panel of columns that all rows of a tile read: each block of six rows prefetches its half of the panel behind it, a line or two at each step.
// CHECK-LABEL: func.func private @panels(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %{{.*}}: memref<384xf32>, %[[W:.*]]: memref<16384xf32>
// CHECK: scf.for %[[ROW:.*]] = %c0 to %c12 step %c6
// CHECK: scf.for %[[K:.*]] = %c0 to %c32 step %c1 iter_args
// CHECK: %[[STEP:.*]] = arith.muli %[[K]], %c32
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[STEP]]
// CHECK: %[[SHARE:.*]] = arith.muli %[[ROW]], %c171
// CHECK: %[[HERE:.*]] = arith.addi %[[AT]], %[[SHARE]]
// CHECK: %[[BEHIND:.*]] = arith.addi %[[HERE]], %c2048
// CHECK: memref.prefetch %[[W]][%[[BEHIND]]], read, locality<3>, data
// CHECK: memref.prefetch %[[W]]
// CHECK-NOT: memref.prefetch
// CHECK: return
// A second panel of this depth would not fit L2.
// CHECK-LABEL: func.func private @deep(
// CHECK-NOT: memref.prefetch
// CHECK: return
#a = affine_map<(p, m, n, k) -> (m, k)>
#w = affine_map<(p, m, n, k) -> (p, k, n)>
#c = affine_map<(p, m, n, k) -> (m, p, n)>
module attributes {hloom.target = {l2_bytes = 24576 : i64}} {
  func.func private @panels(%x: tensor<12x32xf32>, %w: tensor<8x32x64xf32>) -> tensor<12x8x64xf32> attributes {hloom.kind = "contraction"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<12x8x64xf32>
    %r = scf.forall (%i) = (0) to (8) step (1) shared_outs(%o = %e) -> (tensor<12x8x64xf32>) {
      %ws = tensor.extract_slice %w[%i, 0, 0] [1, 32, 64] [1, 1, 1] : tensor<8x32x64xf32> to tensor<1x32x64xf32>
      %os = tensor.extract_slice %o[0, %i, 0] [12, 1, 64] [1, 1, 1] : tensor<12x8x64xf32> to tensor<12x1x64xf32>
      %f = linalg.fill ins(%zero : f32) outs(%os : tensor<12x1x64xf32>) -> tensor<12x1x64xf32>
      %y = linalg.generic {indexing_maps = [#a, #w, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %ws : tensor<12x32xf32>, tensor<1x32x64xf32>) outs(%f : tensor<12x1x64xf32>) {
      ^bb0(%a: f32, %b: f32, %s: f32):
        %p = arith.mulf %a, %b : f32
        %t = arith.addf %s, %p : f32
        linalg.yield %t : f32
      } -> tensor<12x1x64xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %y into %o[0, %i, 0] [12, 1, 64] [1, 1, 1] : tensor<12x1x64xf32> into tensor<12x8x64xf32>
      }
    }
    return %r : tensor<12x8x64xf32>
  }

  func.func private @deep(%x: tensor<12x64xf32>, %w: tensor<8x64x64xf32>) -> tensor<12x8x64xf32> attributes {hloom.kind = "contraction"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<12x8x64xf32>
    %r = scf.forall (%i) = (0) to (8) step (1) shared_outs(%o = %e) -> (tensor<12x8x64xf32>) {
      %ws = tensor.extract_slice %w[%i, 0, 0] [1, 64, 64] [1, 1, 1] : tensor<8x64x64xf32> to tensor<1x64x64xf32>
      %os = tensor.extract_slice %o[0, %i, 0] [12, 1, 64] [1, 1, 1] : tensor<12x8x64xf32> to tensor<12x1x64xf32>
      %f = linalg.fill ins(%zero : f32) outs(%os : tensor<12x1x64xf32>) -> tensor<12x1x64xf32>
      %y = linalg.generic {indexing_maps = [#a, #w, #c], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%x, %ws : tensor<12x64xf32>, tensor<1x64x64xf32>) outs(%f : tensor<12x1x64xf32>) {
      ^bb0(%a: f32, %b: f32, %s: f32):
        %p = arith.mulf %a, %b : f32
        %t = arith.addf %s, %p : f32
        linalg.yield %t : f32
      } -> tensor<12x1x64xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %y into %o[0, %i, 0] [12, 1, 64] [1, 1, 1] : tensor<12x1x64xf32> into tensor<12x8x64xf32>
      }
    }
    return %r : tensor<12x8x64xf32>
  }
}

// -----

// Changed: The windows of each channel, which the cache does not hold: every block of four lines asks for its share of the next tile's pixels,
// 56 of them.
// CHECK-LABEL: func.func private @windows(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<7168xf32>, %[[W:.*]]: memref<144xf32>, %{{.*}}: memref<7168xf32>)
// CHECK: scf.for %{{.*}} = %c0 to %c4
// CHECK-NOT: scf.for
// CHECK-COUNT-4: memref.prefetch %[[X]][%{{.*}}], read
// CHECK-NOT: memref.prefetch %[[X]]
// CHECK: vector.maskedload %[[X]]
// CHECK: scf.for %{{.*}} = %c4 to %c28 step %c4
// CHECK-COUNT-4: memref.prefetch %[[X]][%{{.*}}], read
// CHECK: return
#xl = affine_map<(c, oh, ow, kh, kw) -> (c, oh + kh, ow + kw)>
#wl = affine_map<(c, oh, ow, kh, kw) -> (c, kh, kw)>
#yl = affine_map<(c, oh, ow, kh, kw) -> (c, oh, ow)>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 24000 : i64}} {
  func.func private @windows(%x: tensor<16x32x14xf32>, %w: tensor<16x3x3xf32>) -> tensor<16x32x14xf32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0.0 : f32
    %p = tensor.pad %x low[0, 1, 1] high[0, 1, 1] {
    ^bb0(%a: index, %b: index, %c: index):
      tensor.yield %zero : f32
    } : tensor<16x32x14xf32> to tensor<16x34x16xf32>
    %e = tensor.empty() : tensor<16x32x14xf32>
    %r = scf.forall (%h) = (0) to (16) step (4) shared_outs(%o = %e) -> (tensor<16x32x14xf32>) {
      %s = tensor.extract_slice %p[%h, 0, 0] [4, 34, 16] [1, 1, 1] : tensor<16x34x16xf32> to tensor<4x34x16xf32>
      %v = tensor.extract_slice %w[%h, 0, 0] [4, 3, 3] [1, 1, 1] : tensor<16x3x3xf32> to tensor<4x3x3xf32>
      %t = tensor.extract_slice %o[%h, 0, 0] [4, 32, 14] [1, 1, 1] : tensor<16x32x14xf32> to tensor<4x32x14xf32>
      %f = linalg.fill ins(%zero : f32) outs(%t : tensor<4x32x14xf32>) -> tensor<4x32x14xf32>
      %c = linalg.generic {indexing_maps = [#xl, #wl, #yl], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
          ins(%s, %v : tensor<4x34x16xf32>, tensor<4x3x3xf32>) outs(%f : tensor<4x32x14xf32>) {
      ^bb0(%a: f32, %b: f32, %sum: f32):
        %0 = arith.mulf %a, %b : f32
        %1 = arith.addf %sum, %0 : f32
        linalg.yield %1 : f32
      } -> tensor<4x32x14xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %c into %o[%h, 0, 0] [4, 32, 14] [1, 1, 1] : tensor<4x32x14xf32> into tensor<16x32x14xf32>
      }
    }
    return %r : tensor<16x32x14xf32>
  }
}

// -----

// Changed: The pixels that a tile's windows read, a cache line of each row after the other, before the first of them, where sums go over
// channels too; the cache does not hold all of the input, but twice what a tile reads of it.
// CHECK-LABEL: func.func private @windows_over_channels(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<7168xf32>, %[[W:.*]]: memref<72xf32>, %{{.*}}: memref<14336xf32>)
// CHECK: scf.for %{{.*}} = %c0 to %c2
// CHECK: scf.for %{{.*}} = %c0 to %c34
// CHECK: memref.prefetch %[[X]][%{{.*}}], read
// CHECK: vector.maskedload %[[X]]
// CHECK-NOT: memref.prefetch %[[X]]
// CHECK: return
#xl = affine_map<(n, o, oh, ow, c, kh, kw) -> (n, c, oh + kh, ow + kw)>
#wl = affine_map<(n, o, oh, ow, c, kh, kw) -> (o, c, kh, kw)>
#yl = affine_map<(n, o, oh, ow, c, kh, kw) -> (n, o, oh, ow)>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 24000 : i64}} {
  func.func private @windows_over_channels(%x: tensor<8x2x32x14xf32>, %w: tensor<4x2x3x3xf32>) -> tensor<8x4x32x14xf32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0.0 : f32
    %p = tensor.pad %x low[0, 0, 1, 1] high[0, 0, 1, 1] {
    ^bb0(%n: index, %a: index, %b: index, %c: index):
      tensor.yield %zero : f32
    } : tensor<8x2x32x14xf32> to tensor<8x2x34x16xf32>
    %e = tensor.empty() : tensor<8x4x32x14xf32>
    %r = scf.forall (%h) = (0) to (8) step (1) shared_outs(%o = %e) -> (tensor<8x4x32x14xf32>) {
      %s = tensor.extract_slice %p[%h, 0, 0, 0] [1, 2, 34, 16] [1, 1, 1, 1] : tensor<8x2x34x16xf32> to tensor<1x2x34x16xf32>
      %t = tensor.extract_slice %o[%h, 0, 0, 0] [1, 4, 32, 14] [1, 1, 1, 1] : tensor<8x4x32x14xf32> to tensor<1x4x32x14xf32>
      %f = linalg.fill ins(%zero : f32) outs(%t : tensor<1x4x32x14xf32>) -> tensor<1x4x32x14xf32>
      %c = linalg.generic {indexing_maps = [#xl, #wl, #yl], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
          ins(%s, %w : tensor<1x2x34x16xf32>, tensor<4x2x3x3xf32>) outs(%f : tensor<1x4x32x14xf32>) {
      ^bb0(%a: f32, %b: f32, %sum: f32):
        %0 = arith.mulf %a, %b : f32
        %1 = arith.addf %sum, %0 : f32
        linalg.yield %1 : f32
      } -> tensor<1x4x32x14xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %c into %o[%h, 0, 0, 0] [1, 4, 32, 14] [1, 1, 1, 1] : tensor<1x4x32x14xf32> into tensor<8x4x32x14xf32>
      }
    }
    return %r : tensor<8x4x32x14xf32>
  }
}

// -----

// Changed: A row of pixels of three channels lies in one piece: it is prefetched by cache lines, not by pixels.
// CHECK-LABEL: func.func private @few_channels(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<7800xf32>, %[[W:.*]]: memref<216xf32>
// CHECK-DAG: %[[LINE:.*]] = arith.constant 16 : index
// CHECK-DAG: %[[ROW:.*]] = arith.constant 99 : index
// CHECK: scf.for %{{.*}} = %c0 to %c3 step %c1
// CHECK-NEXT: scf.for %{{.*}} = %c0 to %[[ROW]] step %[[LINE]]
// CHECK: memref.prefetch %[[X]][%{{.*}}], read
// CHECK: vector.load %[[W]]
// CHECK-NOT: memref.prefetch %[[X]]
// CHECK: return
#xp = affine_map<(oh, ow, c, kh, kw, ci) -> (oh * 2 + kh, ow * 2 + kw, ci)>
#wp = affine_map<(oh, ow, c, kh, kw, ci) -> (kh, kw, ci, c)>
#yp = affine_map<(oh, ow, c, kh, kw, ci) -> (oh, ow, c)>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 24000 : i64}} {
  func.func private @few_channels(%x: tensor<65x40x3xf32>, %w: tensor<3x3x3x8xf32>) -> tensor<32x16x8xf32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<32x16x8xf32>
    %r = scf.forall (%h) = (0) to (32) step (1) shared_outs(%o = %e) -> (tensor<32x16x8xf32>) {
      %h2 = affine.apply affine_map<(d0) -> (d0 * 2)>(%h)
      %s = tensor.extract_slice %x[%h2, 0, 0] [3, 33, 3] [1, 1, 1] : tensor<65x40x3xf32> to tensor<3x33x3xf32>
      %t = tensor.extract_slice %o[%h, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<32x16x8xf32> to tensor<1x16x8xf32>
      %f = linalg.fill ins(%zero : f32) outs(%t : tensor<1x16x8xf32>) -> tensor<1x16x8xf32>
      %c = linalg.generic {indexing_maps = [#xp, #wp, #yp], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
          ins(%s, %w : tensor<3x33x3xf32>, tensor<3x3x3x8xf32>) outs(%f : tensor<1x16x8xf32>) {
      ^bb0(%a: f32, %b: f32, %sum: f32):
        %0 = arith.mulf %a, %b : f32
        %1 = arith.addf %sum, %0 : f32
        linalg.yield %1 : f32
      } -> tensor<1x16x8xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %c into %o[%h, 0, 0] [1, 16, 8] [1, 1, 1] : tensor<1x16x8xf32> into tensor<32x16x8xf32>
      }
    }
    return %r : tensor<32x16x8xf32>
  }
}

// -----

// Declined: Behind a short row of a table lies one that nobody asks for.
// CHECK-LABEL: func.func private @short_rows_of_a_table(
// CHECK-NOT: memref.prefetch
// CHECK: return
#row = affine_map<(d0, d1) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @short_rows_of_a_table(%table: tensor<100000x64xf32>, %places: tensor<8xi64>) -> tensor<8x64xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<8x64xf32>
  %r = scf.forall (%i) = (0) to (8) step (8) shared_outs(%o = %e) -> (tensor<8x64xf32>) {
    %y = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%places : tensor<8xi64>) outs(%o : tensor<8x64xf32>) {
    ^bb0(%p: i64, %b: f32):
      %place = arith.index_cast %p : i64 to index
      %column = linalg.index 1 : index
      %v = tensor.extract %table[%place, %column] : tensor<100000x64xf32>
      linalg.yield %v : f32
    } -> tensor<8x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[0, 0] [8, 64] [1, 1] : tensor<8x64xf32> into tensor<8x64xf32>
    }
  }
  return %r : tensor<8x64xf32>
}

// -----

// Of long rows most of what lies ahead is wanted.
// CHECK-LABEL: func.func private @long_rows_of_a_table(
// CHECK: memref.prefetch
// CHECK: return
#row = affine_map<(d0, d1) -> (d0)>
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @long_rows_of_a_table(%table: tensor<4096x4096xf32>, %places: tensor<8xi64>) -> tensor<8x4096xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<8x4096xf32>
  %r = scf.forall (%i) = (0) to (8) step (8) shared_outs(%o = %e) -> (tensor<8x4096xf32>) {
    %y = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%places : tensor<8xi64>) outs(%o : tensor<8x4096xf32>) {
    ^bb0(%p: i64, %b: f32):
      %place = arith.index_cast %p : i64 to index
      %column = linalg.index 1 : index
      %v = tensor.extract %table[%place, %column] : tensor<4096x4096xf32>
      linalg.yield %v : f32
    } -> tensor<8x4096xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[0, 0] [8, 4096] [1, 1] : tensor<8x4096xf32> into tensor<8x4096xf32>
    }
  }
  return %r : tensor<8x4096xf32>
}

// -----

// A matrix times a vector, of rows that share pages: they are read one after the other, and two pages ahead they are prefetched.
// CHECK-LABEL: func.func private @short_rows(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<256xf32>, %[[W:.*]]: memref<1048576xf32>
// CHECK-DAG: %[[PAGE:.*]] = arith.constant 2048 : index
// CHECK: %[[AT:.*]] = arith.addi
// CHECK: %[[AHEAD:.*]] = arith.addi %{{.*}}, %[[PAGE]]
// CHECK: memref.prefetch %[[W]][%[[AHEAD]]]
// CHECK: vector.load %[[W]]
// CHECK: vector.reduction
// CHECK-NOT: vector.reduction
// CHECK: return
#x = affine_map<(d0, d1) -> (d1)>
#w = affine_map<(d0, d1) -> (d0, d1)>
#y = affine_map<(d0, d1) -> (d0)>
func.func private @short_rows(%x: tensor<256xf32>, %w: tensor<4096x256xf32>) -> tensor<4096xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4096xf32>
  %r = scf.forall (%i) = (0) to (4096) step (8) shared_outs(%o = %e) -> (tensor<4096xf32>) {
    %ws = tensor.extract_slice %w[%i, 0] [8, 256] [1, 1] : tensor<4096x256xf32> to tensor<8x256xf32>
    %os = tensor.extract_slice %o[%i] [8] [1] : tensor<4096xf32> to tensor<8xf32>
    %f = linalg.fill ins(%zero : f32) outs(%os : tensor<8xf32>) -> tensor<8xf32>
    %t = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]} ins(%x, %ws : tensor<256xf32>, tensor<8x256xf32>) outs(%f : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %c, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i] [8] [1] : tensor<8xf32> into tensor<4096xf32>
    }
  }
  return %r : tensor<4096xf32>
}

// -----

// Rows of a page: four at a time, and of the next four the same place is prefetched.
// CHECK-LABEL: func.func private @long_rows(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<1024xf32>, %[[W:.*]]: memref<1048576xf32>
// CHECK: arith.constant 4096 : index
// CHECK-COUNT-4: vector.load %[[W]]
// CHECK-COUNT-4: vector.reduction
// CHECK: return
#x = affine_map<(d0, d1) -> (d1)>
#w = affine_map<(d0, d1) -> (d0, d1)>
#y = affine_map<(d0, d1) -> (d0)>
func.func private @long_rows(%x: tensor<1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<1024xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024xf32>
  %r = scf.forall (%i) = (0) to (1024) step (8) shared_outs(%o = %e) -> (tensor<1024xf32>) {
    %ws = tensor.extract_slice %w[%i, 0] [8, 1024] [1, 1] : tensor<1024x1024xf32> to tensor<8x1024xf32>
    %os = tensor.extract_slice %o[%i] [8] [1] : tensor<1024xf32> to tensor<8xf32>
    %f = linalg.fill ins(%zero : f32) outs(%os : tensor<8xf32>) -> tensor<8xf32>
    %t = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "reduction"]} ins(%x, %ws : tensor<1024xf32>, tensor<8x1024xf32>) outs(%f : tensor<8xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %c, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<8xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i] [8] [1] : tensor<8xf32> into tensor<1024xf32>
    }
  }
  return %r : tensor<1024xf32>
}

// -----

// Pieces of 512 bytes, each on a page of its own: the one below is prefetched, a row of 1024 elements further on.
// CHECK-LABEL: func.func private @pieces(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:[^:]+]]: memref<524288xf32>
// CHECK-DAG: %[[ROW:.*]] = arith.constant 1024 : index
// CHECK: %[[BELOW:.*]] = arith.addi %[[HERE:.*]], %[[ROW]] : index
// CHECK: memref.prefetch %[[X]][%[[BELOW]]], read, locality<3>, data
// CHECK: vector.load %[[X]][%[[HERE]]]
// CHECK: return
#map = affine_map<(i, j) -> (i, j)>
func.func private @pieces(%x: tensor<512x1024xf32>, %y: tensor<512x1024xf32>) -> tensor<512x1024xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<512x1024xf32>
  %r = scf.forall (%j) = (0) to (1024) step (128) shared_outs(%o = %e) -> (tensor<512x1024xf32>) {
    %xs = tensor.extract_slice %x[0, %j] [512, 128] [1, 1] : tensor<512x1024xf32> to tensor<512x128xf32>
    %ys = tensor.extract_slice %y[0, %j] [512, 128] [1, 1] : tensor<512x1024xf32> to tensor<512x128xf32>
    %os = tensor.extract_slice %o[0, %j] [512, 128] [1, 1] : tensor<512x1024xf32> to tensor<512x128xf32>
    %s = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%xs, %ys : tensor<512x128xf32>, tensor<512x128xf32>) outs(%os : tensor<512x128xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %0 = arith.mulf %a, %b : f32
      linalg.yield %0 : f32
    } -> tensor<512x128xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[0, %j] [512, 128] [1, 1] : tensor<512x128xf32> into tensor<512x1024xf32>
    }
  }
  return %r : tensor<512x1024xf32>
}

// -----

// Declined: Rows half a page apart in memory that a near cache may hold.
// CHECK-LABEL: func.func private @small(
// CHECK-NOT: memref.prefetch
// CHECK: return
#map = affine_map<(i, j) -> (i, j)>
func.func private @small(%x: tensor<64x1024xf32>, %y: tensor<64x1024xf32>) -> tensor<64x1024xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<64x1024xf32>
  %r = scf.forall (%j) = (0) to (1024) step (128) shared_outs(%o = %e) -> (tensor<64x1024xf32>) {
    %xs = tensor.extract_slice %x[0, %j] [64, 128] [1, 1] : tensor<64x1024xf32> to tensor<64x128xf32>
    %ys = tensor.extract_slice %y[0, %j] [64, 128] [1, 1] : tensor<64x1024xf32> to tensor<64x128xf32>
    %os = tensor.extract_slice %o[0, %j] [64, 128] [1, 1] : tensor<64x1024xf32> to tensor<64x128xf32>
    %s = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%xs, %ys : tensor<64x128xf32>, tensor<64x128xf32>) outs(%os : tensor<64x128xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %0 = arith.mulf %a, %b : f32
      linalg.yield %0 : f32
    } -> tensor<64x128xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[0, %j] [64, 128] [1, 1] : tensor<64x128xf32> into tensor<64x1024xf32>
    }
  }
  return %r : tensor<64x1024xf32>
}

// -----

// Pixels of all lines read a block of weights, of two taps: each asks for its share of the block behind, for the second cache where the first
// has no room for it.
// CHECK-LABEL: func.func private @block_behind(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %{{.*}}: memref<8064xf32>, %[[W:.*]]: memref<16384xf32>, %{{.*}}: memref<3136xf32>)
// CHECK: scf.for %{{.*}} = %{{.*}} to %c2 step
// CHECK: scf.for %{{.*}} = %{{.*}} to %c128 step
// CHECK: memref.prefetch %[[W]][%{{.*}}], read, locality<2>, data
// CHECK: vector.load %[[W]]
// CHECK: return
#x = affine_map<(l, p, o, t, c) -> (l, p + t * 2, c)>
#w = affine_map<(l, p, o, t, c) -> (o floordiv 32, t, c, o mod 32)>
#y = affine_map<(l, p, o, t, c) -> (l, p, o)>
func.func private @block_behind(%x: tensor<7x9x128xf32>, %w: tensor<2x2x128x32xf32>) -> tensor<7x7x64xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %c32 = arith.constant 32 : index
  %e = tensor.empty() : tensor<7x7x64xf32>
  %r = scf.forall (%i) = (0) to (64) step (32) shared_outs(%o = %e) -> (tensor<7x7x64xf32>) {
    %b = arith.divui %i, %c32 : index
    %ws = tensor.extract_slice %w[%b, 0, 0, 0] [1, 2, 128, 32] [1, 1, 1, 1] : tensor<2x2x128x32xf32> to tensor<1x2x128x32xf32>
    %os = tensor.extract_slice %o[0, 0, %i] [7, 7, 32] [1, 1, 1] : tensor<7x7x64xf32> to tensor<7x7x32xf32>
    %f = linalg.fill ins(%zero : f32) outs(%os : tensor<7x7x32xf32>) -> tensor<7x7x32xf32>
    %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %ws : tensor<7x9x128xf32>, tensor<1x2x128x32xf32>) outs(%f : tensor<7x7x32xf32>) {
    ^bb0(%a: f32, %v: f32, %c: f32):
      %m = arith.mulf %a, %v : f32
      %s = arith.addf %c, %m : f32
      linalg.yield %s : f32
    } -> tensor<7x7x32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[0, 0, %i] [7, 7, 32] [1, 1, 1] : tensor<7x7x32xf32> into tensor<7x7x64xf32>
    }
  }
  return %r : tensor<7x7x64xf32>
}

// -----

// Rows that L2 does not hold follow each other: a block of six asks for those of the next one, six elements a step, as it has six rows. It asks
// for its share of what lies behind the panel too, though the last tile has fewer rows than the others.
// CHECK-LABEL: func.func private @next_rows(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<802816xf32>, %[[W:.*]]: memref<16384xf32>, %{{.*}}: memref<200704xf32>)
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %c256 step
// CHECK-DAG: memref.prefetch %[[X]][%{{.*}}], read, locality<3>, data
// CHECK-DAG: memref.prefetch %[[W]][%{{.*}}], read, locality<2>, data
// CHECK: return

// Declined: half of L2 holds these.
// CHECK-LABEL: func.func private @near_rows(
// CHECK-NOT: memref.prefetch {{.*}} : memref<50176xf32>
// CHECK: return
#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
func.func private @next_rows(%x: tensor<3136x256xf32>, %w: tensor<256x64xf32>) -> tensor<3136x64xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3136x64xf32>
  %r = scf.forall (%i) = (0) to (3136) step (96) shared_outs(%o = %e) -> (tensor<3136x64xf32>) {
    %n = affine.min affine_map<(d0) -> (96, 3136 - d0)>(%i)
    %xs = tensor.extract_slice %x[%i, 0] [%n, 256] [1, 1] : tensor<3136x256xf32> to tensor<?x256xf32>
    %os = tensor.extract_slice %o[%i, 0] [%n, 64] [1, 1] : tensor<3136x64xf32> to tensor<?x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%os : tensor<?x64xf32>) -> tensor<?x64xf32>
    %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%xs, %w : tensor<?x256xf32>, tensor<256x64xf32>) outs(%f : tensor<?x64xf32>) {
    ^bb0(%a: f32, %v: f32, %c: f32):
      %m = arith.mulf %a, %v : f32
      %s = arith.addf %c, %m : f32
      linalg.yield %s : f32
    } -> tensor<?x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, 0] [%n, 64] [1, 1] : tensor<?x64xf32> into tensor<3136x64xf32>
    }
  }
  return %r : tensor<3136x64xf32>
}
func.func private @near_rows(%x: tensor<196x256xf32>, %w: tensor<256x64xf32>) -> tensor<196x64xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<196x64xf32>
  %r = scf.forall (%i) = (0) to (196) step (98) shared_outs(%o = %e) -> (tensor<196x64xf32>) {
    %xs = tensor.extract_slice %x[%i, 0] [98, 256] [1, 1] : tensor<196x256xf32> to tensor<98x256xf32>
    %os = tensor.extract_slice %o[%i, 0] [98, 64] [1, 1] : tensor<196x64xf32> to tensor<98x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%os : tensor<98x64xf32>) -> tensor<98x64xf32>
    %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%xs, %w : tensor<98x256xf32>, tensor<256x64xf32>) outs(%f : tensor<98x64xf32>) {
    ^bb0(%a: f32, %v: f32, %c: f32):
      %m = arith.mulf %a, %v : f32
      %s = arith.addf %c, %m : f32
      linalg.yield %s : f32
    } -> tensor<98x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, 0] [98, 64] [1, 1] : tensor<98x64xf32> into tensor<196x64xf32>
    }
  }
  return %r : tensor<196x64xf32>
}

// -----

// Windows of a line that share a pixel with the next: a block of six asks for the twelve pixels that the next one reads first, four elements a step.
// CHECK-LABEL: func.func private @next_windows(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<818688xf32>, %{{.*}}: memref<98304xf32>, %{{.*}}: memref<51136xf32>)
// CHECK: scf.for %[[K:.*]] = %{{.*}} to %{{.*}} step
// CHECK: memref.prefetch %[[X]][%{{.*}}], read, locality<3>, data
// CHECK: return

// Declined: Windows of several lines, which are not in one piece.
// CHECK-LABEL: func.func private @windows_of_lines(
// CHECK-NOT: memref.prefetch {{.*}} : memref<818688xf32>
// CHECK: return
#x = affine_map<(p, o, t, c) -> (p * 2 + t, c)>
#w = affine_map<(p, o, t, c) -> (t, c, o)>
#y = affine_map<(p, o, t, c) -> (p, o)>
#images = affine_map<(p, o, h, t, c) -> (h, p * 2 + t, c)>
#taps = affine_map<(p, o, h, t, c) -> (h, t, c, o)>
#line = affine_map<(p, o, h, t, c) -> (p, o)>
func.func private @next_windows(%x: tensor<1599x512xf32>, %w: tensor<3x512x64xf32>) -> tensor<799x64xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<799x64xf32>
  %r = scf.forall (%i) = (0) to (1) step (1) shared_outs(%o = %e) -> (tensor<799x64xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<799x64xf32>) -> tensor<799x64xf32>
    %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<1599x512xf32>, tensor<3x512x64xf32>) outs(%f : tensor<799x64xf32>) {
    ^bb0(%a: f32, %v: f32, %c: f32):
      %m = arith.mulf %a, %v : f32
      %s = arith.addf %c, %m : f32
      linalg.yield %s : f32
    } -> tensor<799x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[0, 0] [799, 64] [1, 1] : tensor<799x64xf32> into tensor<799x64xf32>
    }
  }
  return %r : tensor<799x64xf32>
}
func.func private @windows_of_lines(%x: tensor<3x533x512xf32>, %w: tensor<3x3x512x64xf32>) -> tensor<266x64xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<266x64xf32>
  %r = scf.forall (%i) = (0) to (1) step (1) shared_outs(%o = %e) -> (tensor<266x64xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<266x64xf32>) -> tensor<266x64xf32>
    %y = linalg.generic {indexing_maps = [#images, #taps, #line], iterator_types = ["parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<3x533x512xf32>, tensor<3x3x512x64xf32>) outs(%f : tensor<266x64xf32>) {
    ^bb0(%a: f32, %v: f32, %c: f32):
      %m = arith.mulf %a, %v : f32
      %s = arith.addf %c, %m : f32
      linalg.yield %s : f32
    } -> tensor<266x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[0, 0] [266, 64] [1, 1] : tensor<266x64xf32> into tensor<266x64xf32>
    }
  }
  return %r : tensor<266x64xf32>
}

// -----

// Changed: Pieces of lines, of which each channel's is on pages of its own: a piece asks for the 32 pixels that the next but one reads, 64
// further on, of the last tap.
// CHECK-LABEL: func.func private @next_piece(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<1048832xf32>, %[[W:.*]]: memref<8192xf32>, %{{.*}}: memref<1048576xf32>)
// CHECK: vector.load %[[X]][%{{.*}}] : memref<1048832xf32>, vector<32xf32>
// CHECK: memref.load %[[W]]
// CHECK: %[[AHEAD:.*]] = arith.addi %{{.*}}, %c65
// CHECK-NEXT: memref.prefetch %[[X]][%[[AHEAD]]], read, locality<3>, data
// CHECK: memref.prefetch %[[X]][%{{.*}}], read, locality<3>, data
// CHECK-NEXT: scf.yield
// CHECK: return
#x = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d2 + d4)>
#w = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4)>
#y = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
func.func private @next_piece(%x: tensor<4x64x4097xf32>, %w: tensor<64x64x2xf32>) -> tensor<4x64x4096xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64x4096xf32>
  %r = scf.forall (%i) = (0) to (4) step (1) shared_outs(%o = %e) -> (tensor<4x64x4096xf32>) {
    %xs = tensor.extract_slice %x[%i, 0, 0] [1, 64, 4097] [1, 1, 1] : tensor<4x64x4097xf32> to tensor<1x64x4097xf32>
    %os = tensor.extract_slice %o[%i, 0, 0] [1, 64, 4096] [1, 1, 1] : tensor<4x64x4096xf32> to tensor<1x64x4096xf32>
    %f = linalg.fill ins(%zero : f32) outs(%os : tensor<1x64x4096xf32>) -> tensor<1x64x4096xf32>
    %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%xs, %w : tensor<1x64x4097xf32>, tensor<64x64x2xf32>) outs(%f : tensor<1x64x4096xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %c, %m : f32
      linalg.yield %s : f32
    } -> tensor<1x64x4096xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, 0, 0] [1, 64, 4096] [1, 1, 1] : tensor<1x64x4096xf32> into tensor<4x64x4096xf32>
    }
  }
  return %r : tensor<4x64x4096xf32>
}

// -----

// Declined: The second cache holds the lines of a tile beside what else is read.
// CHECK-LABEL: func.func private @piece_in_l2(
// CHECK-NOT: memref.prefetch %{{.*}}, read
// CHECK: return
#x = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d2 + d4)>
#w = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4)>
#y = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
func.func private @piece_in_l2(%x: tensor<4x16x4097xf32>, %w: tensor<64x16x2xf32>) -> tensor<4x64x4096xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64x4096xf32>
  %r = scf.forall (%i) = (0) to (4) step (1) shared_outs(%o = %e) -> (tensor<4x64x4096xf32>) {
    %xs = tensor.extract_slice %x[%i, 0, 0] [1, 16, 4097] [1, 1, 1] : tensor<4x16x4097xf32> to tensor<1x16x4097xf32>
    %os = tensor.extract_slice %o[%i, 0, 0] [1, 64, 4096] [1, 1, 1] : tensor<4x64x4096xf32> to tensor<1x64x4096xf32>
    %f = linalg.fill ins(%zero : f32) outs(%os : tensor<1x64x4096xf32>) -> tensor<1x64x4096xf32>
    %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%xs, %w : tensor<1x16x4097xf32>, tensor<64x16x2xf32>) outs(%f : tensor<1x64x4096xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %c, %m : f32
      linalg.yield %s : f32
    } -> tensor<1x64x4096xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, 0, 0] [1, 64, 4096] [1, 1, 1] : tensor<1x64x4096xf32> into tensor<4x64x4096xf32>
    }
  }
  return %r : tensor<4x64x4096xf32>
}

// -----

// Unchanged: Lines shorter than a page.
// CHECK-LABEL: func.func private @pieces_near_each_other(
// CHECK-NOT: memref.prefetch %{{.*}}, read
// CHECK: return
#x = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d2 + d4)>
#w = affine_map<(d0, d1, d2, d3, d4) -> (d1, d3, d4)>
#y = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
func.func private @pieces_near_each_other(%x: tensor<4x512x1001xf32>, %w: tensor<64x512x2xf32>) -> tensor<4x64x1000xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x64x1000xf32>
  %r = scf.forall (%i) = (0) to (4) step (1) shared_outs(%o = %e) -> (tensor<4x64x1000xf32>) {
    %xs = tensor.extract_slice %x[%i, 0, 0] [1, 512, 1001] [1, 1, 1] : tensor<4x512x1001xf32> to tensor<1x512x1001xf32>
    %os = tensor.extract_slice %o[%i, 0, 0] [1, 64, 1000] [1, 1, 1] : tensor<4x64x1000xf32> to tensor<1x64x1000xf32>
    %f = linalg.fill ins(%zero : f32) outs(%os : tensor<1x64x1000xf32>) -> tensor<1x64x1000xf32>
    %y = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%xs, %w : tensor<1x512x1001xf32>, tensor<64x512x2xf32>) outs(%f : tensor<1x64x1000xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %m = arith.mulf %a, %b : f32
      %s = arith.addf %c, %m : f32
      linalg.yield %s : f32
    } -> tensor<1x64x1000xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %y into %o[%i, 0, 0] [1, 64, 1000] [1, 1, 1] : tensor<1x64x1000xf32> into tensor<4x64x1000xf32>
    }
  }
  return %r : tensor<4x64x1000xf32>
}
