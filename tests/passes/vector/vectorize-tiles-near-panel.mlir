// RUN: hloom-opt %s --vectorize-tiles --canonicalize --split-input-file | filecheck %s

// Changed: a panel of 16 KB, which the first cache does not hold, comes from L2 with each block of six rows. Each step asks for the four
// lines that are read four steps later.
// CHECK-LABEL: func.func private @far(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %{{.*}}: memref<768xf32>, %[[W:.*]]: memref<32768xf32>
// CHECK: scf.for %[[K:.*]] = %c0 to %c64 step %c1 iter_args
// CHECK: %[[STEP:.*]] = arith.muli %[[K]], %c64
// CHECK: %[[AT:.*]] = arith.addi %{{.*}}, %[[STEP]]
// CHECK: %[[A:.*]] = arith.addi %[[AT]], %c256
// CHECK: memref.prefetch %[[W]][%[[A]]], read, locality<3>, data
// CHECK: %[[B:.*]] = arith.addi %[[AT]], %c272
// CHECK: memref.prefetch %[[W]][%[[B]]], read, locality<3>, data
// CHECK: %[[C:.*]] = arith.addi %[[AT]], %c288
// CHECK: memref.prefetch %[[W]][%[[C]]], read, locality<3>, data
// CHECK: %[[D:.*]] = arith.addi %[[AT]], %c304
// CHECK: memref.prefetch %[[W]][%[[D]]], read, locality<3>, data
// CHECK-NOT: memref.prefetch
// CHECK: return
#a = affine_map<(p, m, n, k) -> (m, k)>
#w = affine_map<(p, m, n, k) -> (p, k, n)>
#c = affine_map<(p, m, n, k) -> (m, p, n)>
module attributes {hloom.target = {l1_bytes = 8192 : i64, l2_bytes = 24576 : i64}} {
  func.func private @far(%x: tensor<12x64xf32>, %w: tensor<8x64x64xf32>) -> tensor<12x8x64xf32> attributes {hloom.kind = "contraction"} {
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

// Declined: The first cache holds the panel.
// CHECK-LABEL: func.func private @near(
// CHECK-NOT: memref.prefetch
// CHECK: return
#a = affine_map<(p, m, n, k) -> (m, k)>
#w = affine_map<(p, m, n, k) -> (p, k, n)>
#c = affine_map<(p, m, n, k) -> (m, p, n)>
module attributes {hloom.target = {l1_bytes = 16384 : i64, l2_bytes = 24576 : i64}} {
  func.func private @near(%x: tensor<12x64xf32>, %w: tensor<8x64x64xf32>) -> tensor<12x8x64xf32> attributes {hloom.kind = "contraction"} {
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

// Declined: Two loads of a register each find one cache line.
// CHECK-LABEL: func.func private @half_lines(
// CHECK-NOT: memref.prefetch
// CHECK: return
#a = affine_map<(p, m, n, k) -> (m, k)>
#w = affine_map<(p, m, n, k) -> (p, k, n)>
#c = affine_map<(p, m, n, k) -> (m, p, n)>
module attributes {hloom.target = {name = "cpu-avx2", vector_bits = 256 : i64, vector_registers = 16 : i64, l1_bytes = 8192 : i64, l2_bytes = 24576 : i64}} {
  func.func private @half_lines(%x: tensor<12x64xf32>, %w: tensor<8x64x64xf32>) -> tensor<12x8x64xf32> attributes {hloom.kind = "contraction"} {
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
