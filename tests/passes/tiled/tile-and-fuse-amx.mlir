// RUN: hloom-opt %s --tile-and-fuse --split-input-file | filecheck %s

// Changed: L2 holds the results: a tile has a panel of 32 columns and as many rows as L2 holds beside two panels.
// CHECK-LABEL: func.func private @near(
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (512, 512) step (256, 32)
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
module attributes {hloom.target = {amx_bf16 = true, l2_bytes = 524288 : i64}} {
  func.func private @near(%x: tensor<512x256xbf16>, %w: tensor<256x512xbf16>) -> tensor<512x512xf32> attributes {hloom.kind = "contraction"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
    %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<512x256xbf16>, tensor<256x512xbf16>) outs(%f : tensor<512x512xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<512x512xf32>
    return %r : tensor<512x512xf32>
  }
}

// -----

// Changed: L2 does not hold them: a tile has two panels, so that a row of results is two cache lines, and half as many rows.
// CHECK-LABEL: func.func private @far(
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (512, 512) step (96, 64)
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
module attributes {hloom.target = {amx_bf16 = true, l2_bytes = 262144 : i64}} {
  func.func private @far(%x: tensor<512x256xbf16>, %w: tensor<256x512xbf16>) -> tensor<512x512xf32> attributes {hloom.kind = "contraction"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<512x512xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
    %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<512x256xbf16>, tensor<256x512xbf16>) outs(%f : tensor<512x512xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<512x512xf32>
    return %r : tensor<512x512xf32>
  }
}
