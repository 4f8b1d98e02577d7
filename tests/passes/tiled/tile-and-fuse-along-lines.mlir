// RUN: hloom-opt %s --tile-and-fuse --split-input-file | filecheck %s

// Changed: Panels of 32 columns, in pairs of rows: 32 pairs of each panel in turn, so that the rows are read from front to back, and so many
// that a part of L2 holds them.
// CHECK-LABEL: func.func private @panels
// CHECK: scf.forall (%[[PAIR:.*]], %[[PANEL:.*]]) = (0, 0) to (2048, 16) step (32, 1)
// CHECK: tensor.extract_slice %{{.*}}[%[[PAIR]], 0, %[[PANEL]], 0] [32, 2, 1, 32]
#from = affine_map<(p, k, n, q) -> (k, q, p, n)>
#to = affine_map<(p, k, n, q) -> (p, k, n, q)>
module attributes {hloom.target = {l2_bytes = 2097152 : i64}} {
  func.func private @panels(%w: tensor<2048x2x16x32xbf16>) -> tensor<16x2048x32x2xbf16> attributes {hloom.kind = "transpose"} {
    %e = tensor.empty() : tensor<16x2048x32x2xbf16>
    %r = linalg.generic {indexing_maps = [#from, #to], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%w : tensor<2048x2x16x32xbf16>) outs(%e : tensor<16x2048x32x2xbf16>) {
    ^bb0(%x: bf16, %o: bf16):
      linalg.yield %x : bf16
    } -> tensor<16x2048x32x2xbf16>
    return %r : tensor<16x2048x32x2xbf16>
  }
}

// -----

// Of many panels a tile writes at least 512 bytes in one piece: four pairs.
// CHECK-LABEL: func.func private @many
// CHECK: scf.forall (%[[PAIR:.*]], %[[PANEL:.*]]) = (0, 0) to (2048, 1024) step (4, 1)
#from = affine_map<(p, k, n, q) -> (k, q, p, n)>
#to = affine_map<(p, k, n, q) -> (p, k, n, q)>
module attributes {hloom.target = {l2_bytes = 2097152 : i64}} {
  func.func private @many(%w: tensor<2048x2x1024x32xbf16>) -> tensor<1024x2048x32x2xbf16> attributes {hloom.kind = "transpose"} {
    %e = tensor.empty() : tensor<1024x2048x32x2xbf16>
    %r = linalg.generic {indexing_maps = [#from, #to], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%w : tensor<2048x2x1024x32xbf16>) outs(%e : tensor<1024x2048x32x2xbf16>) {
    ^bb0(%x: bf16, %o: bf16):
      linalg.yield %x : bf16
    } -> tensor<1024x2048x32x2xbf16>
    return %r : tensor<1024x2048x32x2xbf16>
  }
}

// -----

// Declined: Rows are side by side in the result, as heads have their tokens when they are transposed: a tile of one row would write single ones.
// CHECK-LABEL: func.func private @heads
// CHECK: scf.forall (%[[HEAD:.*]], %[[TOKEN:.*]]) = (0, 0) to (16, 2048) step (8, 32)
#from = affine_map<(h, f, t) -> (t, h, f)>
#to = affine_map<(h, f, t) -> (h, f, t)>
module attributes {hloom.target = {l2_bytes = 2097152 : i64}} {
  func.func private @heads(%x: tensor<2048x16x32xbf16>) -> tensor<16x32x2048xbf16> attributes {hloom.kind = "transpose"} {
    %e = tensor.empty() : tensor<16x32x2048xbf16>
    %r = linalg.generic {indexing_maps = [#from, #to], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<2048x16x32xbf16>) outs(%e : tensor<16x32x2048xbf16>) {
    ^bb0(%v: bf16, %o: bf16):
      linalg.yield %v : bf16
    } -> tensor<16x32x2048xbf16>
    return %r : tensor<16x32x2048xbf16>
  }
}
