// RUN: hloom-opt %s --tile-and-fuse --split-input-file | filecheck %s

// Changed: hloom.row_loop: a tile is one batch, and goes through its rows in blocks. What is summed over the rows begins as zeros, and each
// block adds to it; the block's rows of the other result are its own. hloom.live: values between have the columns of the block's last row.
// CHECK: #[[LEFT:.*]] = affine_map<(d0) -> (-d0 + 512, 60)>
// CHECK: #[[LIVE:.*]] = affine_map<(d0) -> (d0 + 60, 512)>
// CHECK-LABEL: func.func private @sums
// CHECK: scf.forall (%[[B:.*]]) in (12) shared_outs(%[[DK:.*]] = %{{.*}}, %[[DQ:.*]] = %{{.*}})
// CHECK: %[[K:.*]] = tensor.extract_slice %[[DK]][%[[B]], 0, 0] [1, 512, 64]
// CHECK: %[[ZERO:.*]] = linalg.fill {{.*}} outs(%[[K]]
// CHECK: %[[Q:.*]] = tensor.extract_slice %[[DQ]][%[[B]], 0, 0] [1, 512, 64]
// CHECK: %[[DONE:.*]]:2 = scf.for %[[M:.*]] = %{{.*}} to %{{.*}} step %{{.*}} iter_args(%[[KS:.*]] = %[[ZERO]], %[[QS:.*]] = %[[Q]])
// CHECK: %[[ROWS:.*]] = affine.min #[[LEFT]](%[[M]])
// CHECK: %[[COLUMNS:.*]] = affine.min #[[LIVE]](%[[M]])
// CHECK: tensor.empty(%[[ROWS]], %[[COLUMNS]]) : tensor<1x?x?xf32>
// CHECK: %[[SEEN:.*]] = tensor.extract_slice %[[KS]][0, 0, 0] [1, %[[COLUMNS]], 64]
// CHECK: %[[ADDED:.*]] = linalg.generic {{.*}} outs(%[[SEEN]]
// CHECK: tensor.extract_slice %[[QS]][0, %[[M]], 0] [1, %[[ROWS]], 64]
// CHECK: %[[KD:.*]] = tensor.insert_slice %[[ADDED]] into %[[KS]][0, 0, 0] [1, %[[COLUMNS]], 64]
// CHECK: %[[QD:.*]] = tensor.insert_slice %{{.*}} into %[[QS]][0, %[[M]], 0] [1, %[[ROWS]], 64]
// CHECK: scf.yield %[[KD]], %[[QD]]
// CHECK: tensor.parallel_insert_slice %[[DONE]]#0 into %[[DK]]
// CHECK: tensor.parallel_insert_slice %[[DONE]]#1 into %[[DQ]]

// Unchanged without the mark: all of a batch is between the contractions.
// CHECK-LABEL: func.func private @plain
// CHECK-NOT: scf.for %
// CHECK: return
#q = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#k = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#o = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#v = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
#t = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1)>
func.func private @sums(%q: tensor<12x512x64xf32>, %k: tensor<12x512x64xf32>) -> (tensor<12x512x64xf32>, tensor<12x512x64xf32>) attributes {hloom.kind = "matmul", hloom.row_loop = 1 : i64, hloom.live = array<i64: 512, 512, 1>} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12x512x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<12x512x512xf32>) -> tensor<12x512x512xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<12x512x64xf32>, tensor<12x512x64xf32>) outs(%f : tensor<12x512x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12x512x512xf32>
  %e2 = tensor.empty() : tensor<12x512x64xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<12x512x64xf32>) -> tensor<12x512x64xf32>
  %dk = linalg.generic {indexing_maps = [#t, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%s, %q : tensor<12x512x512xf32>, tensor<12x512x64xf32>) outs(%f2 : tensor<12x512x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12x512x64xf32>
  %e3 = tensor.empty() : tensor<12x512x64xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<12x512x64xf32>) -> tensor<12x512x64xf32>
  %dq = linalg.generic {indexing_maps = [#q, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%s, %k : tensor<12x512x512xf32>, tensor<12x512x64xf32>) outs(%f3 : tensor<12x512x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12x512x64xf32>
  return %dk, %dq : tensor<12x512x64xf32>, tensor<12x512x64xf32>
}

func.func private @plain(%q: tensor<12x512x64xf32>, %k: tensor<12x512x64xf32>) -> (tensor<12x512x64xf32>, tensor<12x512x64xf32>) attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12x512x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<12x512x512xf32>) -> tensor<12x512x512xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<12x512x64xf32>, tensor<12x512x64xf32>) outs(%f : tensor<12x512x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12x512x512xf32>
  %e2 = tensor.empty() : tensor<12x512x64xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<12x512x64xf32>) -> tensor<12x512x64xf32>
  %dk = linalg.generic {indexing_maps = [#t, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%s, %q : tensor<12x512x512xf32>, tensor<12x512x64xf32>) outs(%f2 : tensor<12x512x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12x512x64xf32>
  %e3 = tensor.empty() : tensor<12x512x64xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<12x512x64xf32>) -> tensor<12x512x64xf32>
  %dq = linalg.generic {indexing_maps = [#q, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%s, %k : tensor<12x512x512xf32>, tensor<12x512x64xf32>) outs(%f3 : tensor<12x512x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12x512x64xf32>
  return %dk, %dq : tensor<12x512x64xf32>, tensor<12x512x64xf32>
}

// -----

// Changed: Rows of several axes: a loop over one of them around that over blocks of the other.
// CHECK-LABEL: func.func private @rows_of_heads
// CHECK: scf.for %[[H:.*]] = %{{.*}} iter_args(%[[KH:.*]] = %{{.*}}, %[[QH:.*]] = %{{.*}})
// CHECK: scf.for %[[M:.*]] = %{{.*}} iter_args(%[[KS:.*]] = %[[KH]], %[[QS:.*]] = %[[QH]])
// CHECK: tensor.extract_slice %{{.*}}[%{{.*}}, %[[H]], %[[M]], 0] [1, 1, %{{.*}}, 64]
// CHECK: linalg.generic {{.*}} outs(%[[KS]]
// CHECK: tensor.insert_slice %{{.*}} into %[[QS]][0, %[[H]], %[[M]], 0]
#qh = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>
#kh = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d4)>
#sh = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2, d3)>
#ts = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d4, d1)>
#tq = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d4, d2)>
#tk = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
#vh = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d4)>
func.func private @rows_of_heads(%q: tensor<12x3x512x64xf32>, %k: tensor<12x512x64xf32>) -> (tensor<12x512x64xf32>, tensor<12x3x512x64xf32>) attributes {hloom.kind = "matmul", hloom.row_loop = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12x3x512x512xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<12x3x512x512xf32>) -> tensor<12x3x512x512xf32>
  %s = linalg.generic {indexing_maps = [#qh, #kh, #sh], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<12x3x512x64xf32>, tensor<12x512x64xf32>) outs(%f : tensor<12x3x512x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12x3x512x512xf32>
  %e2 = tensor.empty() : tensor<12x512x64xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<12x512x64xf32>) -> tensor<12x512x64xf32>
  %dk = linalg.generic {indexing_maps = [#ts, #tq, #tk], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%s, %q : tensor<12x3x512x512xf32>, tensor<12x3x512x64xf32>) outs(%f2 : tensor<12x512x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12x512x64xf32>
  %e3 = tensor.empty() : tensor<12x3x512x64xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<12x3x512x64xf32>) -> tensor<12x3x512x64xf32>
  %dq = linalg.generic {indexing_maps = [#sh, #vh, #qh], iterator_types = ["parallel", "parallel", "parallel", "reduction", "parallel"]} ins(%s, %k : tensor<12x3x512x512xf32>, tensor<12x512x64xf32>) outs(%f3 : tensor<12x3x512x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12x3x512x64xf32>
  return %dk, %dq : tensor<12x512x64xf32>, tensor<12x3x512x64xf32>
}

// -----

// Changed: A sum over the rows of an argument, which another of the ops reads, too: both go through the same rows.
// CHECK-LABEL: func.func private @of_what_was_saved
// CHECK: scf.for %[[M:.*]] = %{{.*}} iter_args(%[[VS:.*]] = %{{.*}}, %[[KS:.*]] = %{{.*}})
// CHECK: tensor.extract_slice %arg0[%{{.*}}, %[[M]],
// CHECK: linalg.generic {{.*}} outs(%[[VS]]
// CHECK: linalg.generic {{.*}} outs(%[[KS]]
// CHECK: scf.yield
#q1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#k1 = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#o1 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#v1 = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
#t1 = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1)>
#id = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
func.func private @of_what_was_saved(%p: tensor<12x512x512xf32>, %do: tensor<12x512x64xf32>, %v: tensor<12x512x64xf32>, %q: tensor<12x512x64xf32>) -> (tensor<12x512x64xf32>, tensor<12x64x512xf32>) attributes {hloom.kind = "matmul", hloom.row_loop = 2 : i64} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12x512x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<12x512x64xf32>) -> tensor<12x512x64xf32>
  %dv = linalg.generic {indexing_maps = [#t1, #v1, #o1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%p, %do : tensor<12x512x512xf32>, tensor<12x512x64xf32>) outs(%f : tensor<12x512x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12x512x64xf32>
  %e2 = tensor.empty() : tensor<12x512x512xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<12x512x512xf32>) -> tensor<12x512x512xf32>
  %dw = linalg.generic {indexing_maps = [#q1, #k1, #o1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%do, %v : tensor<12x512x64xf32>, tensor<12x512x64xf32>) outs(%f2 : tensor<12x512x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12x512x512xf32>
  %e3 = tensor.empty() : tensor<12x512x512xf32>
  %ds = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel", "parallel"]} ins(%dw, %p : tensor<12x512x512xf32>, tensor<12x512x512xf32>) outs(%e3 : tensor<12x512x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    linalg.yield %0 : f32
  } -> tensor<12x512x512xf32>
  %e4 = tensor.empty() : tensor<12x64x512xf32>
  %f4 = linalg.fill ins(%zero : f32) outs(%e4 : tensor<12x64x512xf32>) -> tensor<12x64x512xf32>
  %dk = linalg.generic {indexing_maps = [#t1, #v1, #o1], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %ds : tensor<12x512x64xf32>, tensor<12x512x512xf32>) outs(%f4 : tensor<12x64x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12x64x512xf32>
  return %dv, %dk : tensor<12x512x64xf32>, tensor<12x64x512xf32>
}

// -----

// Changed: One block has all rows: no loop, and what is summed over the rows and the block's own rows are whole.
// CHECK-LABEL: func.func private @one_block
// CHECK: scf.forall
// CHECK-NOT: scf.for %
// CHECK: tensor.parallel_insert_slice
#q = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#k = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#o = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
#v = affine_map<(d0, d1, d2, d3) -> (d0, d3, d2)>
#t = affine_map<(d0, d1, d2, d3) -> (d0, d3, d1)>
func.func private @one_block(%q: tensor<12x60x64xf32>, %k: tensor<12x60x64xf32>) -> (tensor<12x60x64xf32>, tensor<12x60x64xf32>) attributes {hloom.kind = "matmul", hloom.row_loop = 1 : i64} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<12x60x60xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<12x60x60xf32>) -> tensor<12x60x60xf32>
  %s = linalg.generic {indexing_maps = [#q, #k, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%q, %k : tensor<12x60x64xf32>, tensor<12x60x64xf32>) outs(%f : tensor<12x60x60xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12x60x60xf32>
  %e2 = tensor.empty() : tensor<12x60x64xf32>
  %f2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<12x60x64xf32>) -> tensor<12x60x64xf32>
  %dk = linalg.generic {indexing_maps = [#t, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%s, %q : tensor<12x60x60xf32>, tensor<12x60x64xf32>) outs(%f2 : tensor<12x60x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12x60x64xf32>
  %e3 = tensor.empty() : tensor<12x60x64xf32>
  %f3 = linalg.fill ins(%zero : f32) outs(%e3 : tensor<12x60x64xf32>) -> tensor<12x60x64xf32>
  %dq = linalg.generic {indexing_maps = [#q, #v, #o], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%s, %k : tensor<12x60x60xf32>, tensor<12x60x64xf32>) outs(%f3 : tensor<12x60x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<12x60x64xf32>
  return %dk, %dq : tensor<12x60x64xf32>, tensor<12x60x64xf32>
}
