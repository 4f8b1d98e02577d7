// RUN: hloom-opt %s --vectorize-tiles --canonicalize --cse --split-input-file | filecheck %s

// The keys of a head lie within rows of all heads: they are transposed in registers into a panel on the stack, unless the tile before
// this one read the same panel. The product then reads the panel front to back.
// CHECK-LABEL: func.func private @scores(
// CHECK-SAME: %[[LO:.*]]: index, %[[HI:.*]]: index, %[[Q:.*]]: memref<49152xf32>, %[[K:.*]]: memref<49152xf32>, %[[O:.*]]: memref<98304xf32>)
// CHECK-DAG: %[[NONE:.*]] = arith.constant -4611686018427387904 : index
// CHECK-DAG: %[[PANEL:.*]] = memref.alloca() {alignment = 64 : i64} : memref<2048xf32>
// CHECK-DAG: %[[LAST:.*]] = memref.alloca() {{.*}}: memref<1xindex>
// CHECK: memref.store %[[NONE]], %[[LAST]]
// CHECK: scf.for %{{.*}} = %[[LO]] to %[[HI]]
// CHECK: %[[BEFORE:.*]] = memref.load %[[LAST]]
// CHECK: %[[NEW:.*]] = arith.cmpi ne, %[[BEFORE]], %[[START:.*]] : index
// CHECK: scf.if %[[NEW]]
// CHECK: memref.store %[[START]], %[[LAST]]
// CHECK: vector.load %[[K]]
// CHECK: vector.shuffle
// CHECK: vector.store %{{.*}}, %[[PANEL]]
// CHECK-NOT: %[[K]]
// CHECK: memref.load %[[Q]]
// CHECK-NOT: %[[K]]
// CHECK: return
#q = affine_map<(h, m, n, k) -> (m, h * 32 + k)>
#k = affine_map<(h, m, n, k) -> (n, h * 32 + k)>
#d = affine_map<(h, m, n, k) -> (k)>
#o = affine_map<(h, m, n, k) -> (h, m, n)>
func.func private @scores(%q: tensor<128x384xf32>, %k: tensor<128x384xf32>) -> tensor<12x128x64xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %depth = tensor.empty() : tensor<32xf32>
  %e = tensor.empty() : tensor<12x128x64xf32>
  %r = scf.forall (%h, %m) = (0, 0) to (12, 128) step (1, 32) shared_outs(%o = %e) -> (tensor<12x128x64xf32>) {
    %c32 = arith.constant 32 : index
    %at = arith.muli %h, %c32 : index
    %os = tensor.extract_slice %o[%h, %m, 0] [1, 32, 64] [1, 1, 1] : tensor<12x128x64xf32> to tensor<1x32x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%os : tensor<1x32x64xf32>) -> tensor<1x32x64xf32>
    %qs = tensor.extract_slice %q[%m, %at] [32, 32] [1, 1] : tensor<128x384xf32> to tensor<32x32xf32>
    %ks = tensor.extract_slice %k[0, %at] [64, 32] [1, 1] : tensor<128x384xf32> to tensor<64x32xf32>
    %t = linalg.generic {indexing_maps = [#q, #k, #d, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]}
      ins(%qs, %ks, %depth : tensor<32x32xf32>, tensor<64x32xf32>, tensor<32xf32>) outs(%f : tensor<1x32x64xf32>) {
    ^bb0(%a: f32, %b: f32, %d: f32, %c: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %c, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<1x32x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%h, %m, 0] [1, 32, 64] [1, 1, 1] : tensor<1x32x64xf32> into tensor<12x128x64xf32>
    }
  }
  return %r : tensor<12x128x64xf32>
}

// -----

// Overlapping windows are read where they are: a copy of each would be larger than what it copies.
// CHECK-LABEL: func.func private @windows(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<5376xf32>
// CHECK-NOT: memref.alloca
// CHECK: vector.load %[[X]]
// CHECK: return
#x = affine_map<(f, w, k, c) -> (c, w + k)>
#w = affine_map<(f, w, k, c) -> (f, c, k)>
#y = affine_map<(f, w, k, c) -> (f, w)>
func.func private @windows(%x: tensor<16x336xf32>, %w: tensor<32x16x3xf32>) -> tensor<32x334xf32> attributes {hloom.kind = "convolution"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x334xf32>
  %r = scf.forall (%i) in (1) shared_outs(%o = %e) -> (tensor<32x334xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<32x334xf32>) -> tensor<32x334xf32>
    %t = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<16x336xf32>, tensor<32x16x3xf32>) outs(%f : tensor<32x334xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %c, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<32x334xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[0, 0] [32, 334] [1, 1] : tensor<32x334xf32> into tensor<32x334xf32>
    }
  }
  return %r : tensor<32x334xf32>
}

// -----

// Windows that share few elements are copied tap by tap, so that lanes are pixels: for 32 channels one copy of 10 taps by 334 pixels, in panels of
// as many as are read at once.
// CHECK-LABEL: func.func private @far_windows(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<1675xf32>
// CHECK: %[[PANEL:.*]] = memref.alloca() {alignment = 64 : i64} : memref<6144xf32>
// CHECK: vector.maskedload %[[X]]
// CHECK: vector.shuffle
// CHECK: vector.store %{{.*}}, %[[PANEL]]
// CHECK-NOT: %[[X]]
// CHECK: vector.load %[[PANEL]]
// CHECK: return
#x = affine_map<(f, w, k) -> (w * 5 + k)>
#w = affine_map<(f, w, k) -> (f, k)>
#y = affine_map<(f, w, k) -> (f, w)>
func.func private @far_windows(%x: tensor<1675xf32>, %w: tensor<32x10xf32>) -> tensor<32x334xf32> attributes {hloom.kind = "convolution"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x334xf32>
  %r = scf.forall (%i) in (1) shared_outs(%o = %e) -> (tensor<32x334xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<32x334xf32>) -> tensor<32x334xf32>
    %t = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<1675xf32>, tensor<32x10xf32>) outs(%f : tensor<32x334xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %c, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<32x334xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[0, 0] [32, 334] [1, 1] : tensor<32x334xf32> into tensor<32x334xf32>
    }
  }
  return %r : tensor<32x334xf32>
}

// -----

// A transposition: squares of the tile are turned in registers into a buffer on the stack, which is then read along the vector loop.
// CHECK-LABEL: func.func private @transposed(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<4096xf32>, %[[O:.*]]: memref<4096xf32>)
// CHECK-SAME: attributes {hloom.effort = "least"
// CHECK: %[[TURNED:.*]] = memref.alloca() {alignment = 64 : i64} : memref<1024xf32>
// CHECK: vector.load %[[X]]
// CHECK: vector.shuffle
// CHECK: vector.store %{{.*}}, %[[TURNED]]
// CHECK-NOT: %[[X]]
// CHECK: %[[ROW:.*]] = vector.load %[[TURNED]]
// CHECK: vector.store %[[ROW]], %[[O]]
// CHECK: return
#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
func.func private @transposed(%x: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<64x64xf32>
  %r = scf.forall (%i, %j) = (0, 0) to (64, 64) step (32, 32) shared_outs(%o = %e) -> (tensor<64x64xf32>) {
    %xs = tensor.extract_slice %x[%j, %i] [32, 32] [1, 1] : tensor<64x64xf32> to tensor<32x32xf32>
    %os = tensor.extract_slice %o[%i, %j] [32, 32] [1, 1] : tensor<64x64xf32> to tensor<32x32xf32>
    %t = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%xs : tensor<32x32xf32>) outs(%os : tensor<32x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<32x32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, %j] [32, 32] [1, 1] : tensor<32x32xf32> into tensor<64x64xf32>
    }
  }
  return %r : tensor<64x64xf32>
}

// -----

// Changed: So are those of a tile cut at the edge, as many rows and columns as it has, all under a mask.
// CHECK-LABEL: func.func private @edge(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<4480xf32>, %[[O:.*]]: memref<4480xf32>)
// CHECK: %[[TURNED:.*]] = memref.alloca() {alignment = 64 : i64} : memref<1024xf32>
// CHECK-NOT: vector.gather
// CHECK: vector.maskedload %[[X]]
// CHECK: vector.shuffle
// CHECK: vector.store %{{.*}}, %[[TURNED]]
// CHECK: %[[ROW:.*]] = vector.load %[[TURNED]]
// CHECK: vector.store %[[ROW]], %[[O]]
// CHECK: return
#id = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>
func.func private @edge(%x: tensor<64x70xf32>) -> tensor<70x64xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<70x64xf32>
  %r = scf.forall (%i, %j) = (0, 0) to (70, 64) step (32, 32) shared_outs(%o = %e) -> (tensor<70x64xf32>) {
    %n = affine.min affine_map<(d0) -> (-d0 + 70, 32)>(%i)
    %xs = tensor.extract_slice %x[%j, %i] [32, %n] [1, 1] : tensor<64x70xf32> to tensor<32x?xf32>
    %os = tensor.extract_slice %o[%i, %j] [%n, 32] [1, 1] : tensor<70x64xf32> to tensor<?x32xf32>
    %t = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]} ins(%xs : tensor<32x?xf32>) outs(%os : tensor<?x32xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<?x32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%i, %j] [%n, 32] [1, 1] : tensor<?x32xf32> into tensor<70x64xf32>
    }
  }
  return %r : tensor<70x64xf32>
}

// -----

// Changed: A vector times a matrix larger than L2: eight rows of it at a time, after the first eight added to the sums so far.
// CHECK-LABEL: func.func private @streamed(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<24xf32>, %[[W:.*]]: memref<1536xf32>, %[[O:.*]]: memref<64xf32>)
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c32
// CHECK: scf.for %{{.*}} = %c0 to %c8 step %c1 iter_args(%{{.*}} = %cst{{.*}}) -> (vector<32xf32>)
// CHECK: scf.for %[[P:.*]] = %c8 to %c24 step %c8
// CHECK: scf.for %{{.*}} = %c0 to %c64 step %c32
// CHECK: %[[PART:.*]] = scf.for %{{.*}} = %[[P]] to %{{.*}} step %c1 iter_args(%{{.*}} = %cst{{.*}}) -> (vector<32xf32>)
// CHECK-NOT: memref.prefetch
// CHECK: %[[S:.*]] = vector.load %[[O]]
// CHECK: %[[SUM:.*]] = arith.addf %[[S]], %[[PART]]
// CHECK: vector.store %[[SUM]], %[[O]]
#depth = affine_map<(d0, d1) -> (d1)>
#matrix = affine_map<(d0, d1) -> (d1, d0)>
#column = affine_map<(d0, d1) -> (d0)>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 4096 : i64}} {
  func.func private @streamed(%x: tensor<24xf32>, %w: tensor<24x64xf32>) -> tensor<64xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<64xf32>
    %r = scf.forall (%i) = (0) to (1) step (1) shared_outs(%o = %e) -> (tensor<64xf32>) {
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<64xf32>) -> tensor<64xf32>
      %s = linalg.generic {indexing_maps = [#depth, #matrix, #column], iterator_types = ["parallel", "reduction"]}
          ins(%x, %w : tensor<24xf32>, tensor<24x64xf32>) outs(%f : tensor<64xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %0 = arith.mulf %a, %b : f32
        %1 = arith.addf %c, %0 : f32
        linalg.yield %1 : f32
      } -> tensor<64xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %s into %o[0] [64] [1] : tensor<64xf32> into tensor<64xf32>
      }
    }
    return %r : tensor<64xf32>
  }
}

// -----

// Changed: Sums of two steps: all of four lines is stored before the next four are begun.
// CHECK-LABEL: func.func private @shallow(
// CHECK: scf.for %[[R:.*]] = %c0 to %c8 step %c4
// CHECK: scf.for %[[C:.*]] = %c0 to %c64 step %c16
// CHECK-COUNT-4: vector.store
#left = affine_map<(d0, d1, d2) -> (d0, d2)>
#right = affine_map<(d0, d1, d2) -> (d2, d1)>
#out = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64, l2_bytes = 65536 : i64}} {
  func.func private @shallow(%x: tensor<8x2xf32>, %w: tensor<2x64xf32>) -> tensor<8x64xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<8x64xf32>
    %r = scf.forall (%i) = (0) to (1) step (1) shared_outs(%o = %e) -> (tensor<8x64xf32>) {
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<8x64xf32>) -> tensor<8x64xf32>
      %s = linalg.generic {indexing_maps = [#left, #right, #out], iterator_types = ["parallel", "parallel", "reduction"]}
          ins(%x, %w : tensor<8x2xf32>, tensor<2x64xf32>) outs(%f : tensor<8x64xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %0 = arith.mulf %a, %b : f32
        %1 = arith.addf %c, %0 : f32
        linalg.yield %1 : f32
      } -> tensor<8x64xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %s into %o[0, 0] [8, 64] [1, 1] : tensor<8x64xf32> into tensor<8x64xf32>
      }
    }
    return %r : tensor<8x64xf32>
  }
}

// -----

// A sum so long that no panel of all its steps fits the cache: 512 steps are packed at a time, and added to the results of those before.
// Of 8704 steps the first 512 begin the sums.
// CHECK-LABEL: func.func private @long(
// CHECK-DAG: %[[FIRST:.*]] = memref.alloca() {alignment = 64 : i64} : memref<32768xf32>
// CHECK-DAG: %[[NEXT:.*]] = memref.alloca() {alignment = 64 : i64} : memref<32768xf32>
// CHECK-DAG: %[[STEPS:.*]] = arith.constant 512 : index
// CHECK-DAG: %[[DEPTH:.*]] = arith.constant 8704 : index
// CHECK: vector.store %{{.*}}, %[[FIRST]]
// CHECK: arith.addf
// CHECK: scf.for %{{.*}} = %[[STEPS]] to %[[DEPTH]] step %[[STEPS]]
// CHECK: vector.store %{{.*}}, %[[NEXT]]
// CHECK: arith.addf
// CHECK: return
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func private @long(%x: tensor<32x8704xf32>, %y: tensor<64x8704xf32>) -> tensor<32x64xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<32x64xf32>
  %r = scf.forall (%m) = (0) to (32) step (16) shared_outs(%o = %e) -> (tensor<32x64xf32>) {
    %os = tensor.extract_slice %o[%m, 0] [16, 64] [1, 1] : tensor<32x64xf32> to tensor<16x64xf32>
    %f = linalg.fill ins(%zero : f32) outs(%os : tensor<16x64xf32>) -> tensor<16x64xf32>
    %xs = tensor.extract_slice %x[%m, 0] [16, 8704] [1, 1] : tensor<32x8704xf32> to tensor<16x8704xf32>
    %t = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%xs, %y : tensor<16x8704xf32>, tensor<64x8704xf32>) outs(%f : tensor<16x64xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %c, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<16x64xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%m, 0] [16, 64] [1, 1] : tensor<16x64xf32> into tensor<32x64xf32>
    }
  }
  return %r : tensor<32x64xf32>
}

// -----

// Rows of a weight's gradient lie in one piece, and the steps of its sum 4 KB apart: those of a tile are packed, which several blocks of columns read.
// CHECK-LABEL: func.func private @gradient(
// CHECK-SAME: %[[LO:.*]]: index, %[[HI:.*]]: index, %[[X:.*]]: memref<65536xf32>, %[[Y:.*]]: memref<8192xf32>
// CHECK: %[[ROWS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<6144xf32>
// CHECK: scf.for %{{.*}} = %[[LO]] to %[[HI]]
// CHECK: scf.if
// CHECK: vector.load %[[X]]
// CHECK: vector.store %{{.*}}, %[[ROWS]]
// CHECK: scf.for
// CHECK-NOT: %[[X]]
// CHECK: memref.load %[[ROWS]]
// CHECK-NOT: %[[X]]
// CHECK: return
#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func private @gradient(%x: tensor<64x1024xf32>, %y: tensor<64x128xf32>) -> tensor<1024x128xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1024x128xf32>
  %r = scf.forall (%m) = (0) to (1024) step (96) shared_outs(%o = %e) -> (tensor<1024x128xf32>) {
    %s = affine.min affine_map<(d0) -> (-d0 + 1024, 96)>(%m)
    %os = tensor.extract_slice %o[%m, 0] [%s, 128] [1, 1] : tensor<1024x128xf32> to tensor<?x128xf32>
    %f = linalg.fill ins(%zero : f32) outs(%os : tensor<?x128xf32>) -> tensor<?x128xf32>
    %xs = tensor.extract_slice %x[0, %m] [64, %s] [1, 1] : tensor<64x1024xf32> to tensor<64x?xf32>
    %t = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%xs, %y : tensor<64x?xf32>, tensor<64x128xf32>) outs(%f : tensor<?x128xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %c, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<?x128xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%m, 0] [%s, 128] [1, 1] : tensor<?x128xf32> into tensor<1024x128xf32>
    }
  }
  return %r : tensor<1024x128xf32>
}

// -----

// Declined: Steps that are 1 KB apart share pages: rows are read where they are.
// CHECK-LABEL: func.func private @near(
// CHECK-NOT: memref.alloca
// CHECK: return
#a = affine_map<(m, n, k) -> (k, m)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func private @near(%x: tensor<64x256xf32>, %y: tensor<64x128xf32>) -> tensor<256x128xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<256x128xf32>
  %r = scf.forall (%m) = (0) to (256) step (96) shared_outs(%o = %e) -> (tensor<256x128xf32>) {
    %s = affine.min affine_map<(d0) -> (-d0 + 256, 96)>(%m)
    %os = tensor.extract_slice %o[%m, 0] [%s, 128] [1, 1] : tensor<256x128xf32> to tensor<?x128xf32>
    %f = linalg.fill ins(%zero : f32) outs(%os : tensor<?x128xf32>) -> tensor<?x128xf32>
    %xs = tensor.extract_slice %x[0, %m] [64, %s] [1, 1] : tensor<64x256xf32> to tensor<64x?xf32>
    %t = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%xs, %y : tensor<64x?xf32>, tensor<64x128xf32>) outs(%f : tensor<?x128xf32>) {
    ^bb0(%a: f32, %b: f32, %c: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %c, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<?x128xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %t into %o[%m, 0] [%s, 128] [1, 1] : tensor<?x128xf32> into tensor<256x128xf32>
    }
  }
  return %r : tensor<256x128xf32>
}

// -----

// What is stored transposed is turned in registers, as what is read would be: no result is scattered.
// CHECK-LABEL: func.func private @transposed(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<4096xf32>, %[[B:.*]]: memref<64xf32>, %[[R:.*]]: memref<4096xf32>)
// CHECK: %[[TURNED:.*]] = memref.alloca
// CHECK: vector.load %[[X]]
// CHECK: vector.shuffle
// CHECK: vector.store %{{.*}}, %[[TURNED]]
// CHECK: vector.load %[[TURNED]]
// CHECK-NOT: vector.scatter
// CHECK: vector.store %{{.*}}, %[[R]]
#x = affine_map<(c, p) -> (p, c)>
#b = affine_map<(c, p) -> (c)>
#r = affine_map<(c, p) -> (c, p)>
func.func private @transposed(%x: tensor<64x64xf32>, %b: tensor<64xf32>) -> tensor<64x64xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<64x64xf32>
  %t = scf.forall (%p) = (0) to (64) step (32) shared_outs(%o = %e) -> (tensor<64x64xf32>) {
    %xs = tensor.extract_slice %x[%p, 0] [32, 64] [1, 1] : tensor<64x64xf32> to tensor<32x64xf32>
    %os = tensor.extract_slice %o[0, %p] [64, 32] [1, 1] : tensor<64x64xf32> to tensor<64x32xf32>
    %s = linalg.generic {indexing_maps = [#x, #b, #r], iterator_types = ["parallel", "parallel"]}
      ins(%xs, %b : tensor<32x64xf32>, tensor<64xf32>) outs(%os : tensor<64x32xf32>) {
    ^bb0(%a: f32, %c: f32, %d: f32):
      %0 = arith.addf %a, %c : f32
      linalg.yield %0 : f32
    } -> tensor<64x32xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %o[0, %p] [64, 32] [1, 1] : tensor<64x32xf32> into tensor<64x64xf32>
    }
  }
  return %t : tensor<64x64xf32>
}

// -----

// A sum over images and pixels, along which both operands lie: no panel of an image's pixels fits the cache. It is packed for 512 of
// them after the other, and the results, which begin as zeros, wait in memory.
// CHECK-LABEL: func.func private @pixels(
// CHECK: %[[PANEL:.*]] = memref.alloca() {{.*}} : memref<32768xf32>
// CHECK: scf.for %[[IMAGE:.*]] = %c0 to %c3 step %c1 {
// CHECK: scf.for %[[P:.*]] = %c0 to %c3072 step %c512 {
// CHECK: vector.store %{{.*}}, %[[PANEL]]
// CHECK: scf.for %{{.*}} = %[[IMAGE]] to
// CHECK-NEXT: scf.for %{{.*}} = %[[P]] to
// CHECK: vector.load %[[PANEL]]
// CHECK: scf.for %{{.*}} = %c3072 to %c3136 step %c1
// CHECK: return
#a = affine_map<(m, n, b, k) -> (b, m, k)>
#b = affine_map<(m, n, b, k) -> (b, n, k)>
#c = affine_map<(m, n, b, k) -> (m, n)>
module attributes {hloom.target = {vector_bits = 512 : i64, vector_registers = 32 : i64, l2_bytes = 1048576 : i64, llc_bytes = 1048576 : i64}} {
  func.func private @pixels(%x: tensor<3x32x3136xf32>, %y: tensor<3x64x3136xf32>) -> tensor<32x64xf32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<32x64xf32>
    %r = scf.forall (%i) = (0) to (1) step (1) shared_outs(%o = %e) -> (tensor<32x64xf32>) {
      %f = linalg.fill ins(%zero : f32) outs(%o : tensor<32x64xf32>) -> tensor<32x64xf32>
      %t = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %y : tensor<3x32x3136xf32>, tensor<3x64x3136xf32>) outs(%f : tensor<32x64xf32>) {
      ^bb0(%a: f32, %b: f32, %c: f32):
        %0 = arith.mulf %a, %b : f32
        %1 = arith.addf %c, %0 : f32
        linalg.yield %1 : f32
      } -> tensor<32x64xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %t into %o[0, 0] [32, 64] [1, 1] : tensor<32x64xf32> into tensor<32x64xf32>
      }
    }
    return %r : tensor<32x64xf32>
  }
}
