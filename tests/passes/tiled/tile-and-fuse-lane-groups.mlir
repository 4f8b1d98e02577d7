// RUN: hloom-opt %s --tile-and-fuse --split-input-file | filecheck %s

// Declined: Four channels to four features a group: a register of sums is four groups, so a tile is lines of all of them, with AMX too.
// CHECK-LABEL: func.func private @registers(
// CHECK: scf.forall (%{{.*}}) in (56)
// CHECK: tensor.extract_slice %arg0{{.*}} [3, 58, 128] [1, 1, 1]
#x = affine_map<(h, w, g, f, i, j, c) -> (h + i, w + j, g * 4 + c)>
#w = affine_map<(h, w, g, f, i, j, c) -> (i, j, c, g, f)>
#y = affine_map<(h, w, g, f, i, j, c) -> (h, w, g, f)>
module attributes {hloom.target = {amx_bf16 = true}} {
  func.func private @registers(%x: tensor<58x58x128xbf16>, %w: tensor<3x3x4x32x4xbf16>) -> tensor<56x56x32x4xf32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<56x56x32x4xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<56x56x32x4xf32>) -> tensor<56x56x32x4xf32>
    %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %w : tensor<58x58x128xbf16>, tensor<3x3x4x32x4xbf16>) outs(%f : tensor<56x56x32x4xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<56x56x32x4xf32>
    return %r : tensor<56x56x32x4xf32>
  }
}

// -----

// Changed: Of six channels a group, which no register is whole groups of, a tile of the program is one group's.
// CHECK-LABEL: func.func private @tiles(
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (56, 8) step ({{[0-9]+}}, 1)
#x = affine_map<(h, w, g, f, i, j, c) -> (h + i, w + j, g * 6 + c)>
#w = affine_map<(h, w, g, f, i, j, c) -> (i, j, c, g, f)>
#y = affine_map<(h, w, g, f, i, j, c) -> (h, w, g, f)>
module attributes {hloom.target = {amx_bf16 = true}} {
  func.func private @tiles(%x: tensor<58x58x48xbf16>, %w: tensor<3x3x6x8x6xbf16>) -> tensor<56x56x8x6xf32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<56x56x8x6xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<56x56x8x6xf32>) -> tensor<56x56x8x6xf32>
    %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %w : tensor<58x58x48xbf16>, tensor<3x3x6x8x6xbf16>) outs(%f : tensor<56x56x8x6xf32>) {
    ^bb0(%a: bf16, %b: bf16, %sum: f32):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.extf %b : bf16 to f32
      %2 = arith.mulf %0, %1 : f32
      %3 = arith.addf %sum, %2 : f32
      linalg.yield %3 : f32
    } -> tensor<56x56x8x6xf32>
    return %r : tensor<56x56x8x6xf32>
  }
}
