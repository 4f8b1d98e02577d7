// RUN: hloom-opt %s --tile-and-fuse | filecheck %s

#x1 = affine_map<(n, h, u, c, kh, kw) -> (n, h + kh, u + kw, c)>
#x2 = affine_map<(n, h, u, c, kh, kw) -> (n, h * 2 + kh, u * 2 + kw, c)>
#xd = affine_map<(n, d, h, u, c, kd, kh, kw) -> (n, d + kd, h + kh, u + kw, c)>
#wd = affine_map<(n, d, h, u, c, kd, kh, kw) -> (kd, kh, kw, c)>
#yd = affine_map<(n, d, h, u, c, kd, kh, kw) -> (n, d, h, u, c)>
#xp = affine_map<(h, u, c, kh, kw) -> (h, kh, u, kw, c)>
#wp = affine_map<(h, u, c, kh, kw) -> (kh, kw, c)>
#yp = affine_map<(h, u, c, kh, kw) -> (h, u, c)>
#w = affine_map<(n, h, u, c, kh, kw) -> (kh, kw, c)>
#y = affine_map<(n, h, u, c, kh, kw) -> (n, h, u, c)>

// Changed: A convolution of one for each channel: eight lines of all channels, whose pixels lie in one piece.
// CHECK-LABEL: func.func private @lines(
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (16, 56) step (1, 8)
// CHECK: tensor.extract_slice %arg0{{.*}} [1, 10, 58, 96] [1, 1, 1, 1]
func.func private @lines(%x: tensor<16x58x58x96xf32>, %w: tensor<3x3x96xf32>) -> tensor<16x56x56x96xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x56x56x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x56x56x96xf32>) -> tensor<16x56x56x96xf32>
  %r = linalg.generic {indexing_maps = [#x1, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<16x58x58x96xf32>, tensor<3x3x96xf32>) outs(%f : tensor<16x56x56x96xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<16x56x56x96xf32>
  return %r : tensor<16x56x56x96xf32>
}

// Changed: As many as five eighths of L2 hold the pixels of, beside the next tile's: 11 lines and 8.
// CHECK-LABEL: func.func private @large(
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (16, 28) step (1, 4)
// CHECK: tensor.extract_slice %arg0{{.*}} [1, 11, 59, 288] [1, 1, 1, 1]
func.func private @large(%x: tensor<16x59x59x288xf32>, %w: tensor<5x5x288xf32>) -> tensor<16x28x28x288xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x28x28x288xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x28x28x288xf32>) -> tensor<16x28x28x288xf32>
  %r = linalg.generic {indexing_maps = [#x2, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<16x59x59x288xf32>, tensor<5x5x288xf32>) outs(%f : tensor<16x28x28x288xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<16x28x28x288xf32>
  return %r : tensor<16x28x28x288xf32>
}

// Changed: Windows of three, two apart: strips of pixels, of all lines of an image.
// CHECK-LABEL: func.func private @strips(
// CHECK: scf.forall (%{{.*}}) in (16)
func.func private @strips(%x: tensor<16x113x113x96xf32>, %w: tensor<3x3x96xf32>) -> tensor<16x56x56x96xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x56x56x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x56x56x96xf32>) -> tensor<16x56x56x96xf32>
  %r = linalg.generic {indexing_maps = [#x2, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<16x113x113x96xf32>, tensor<3x3x96xf32>) outs(%f : tensor<16x56x56x96xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<16x56x56x96xf32>
  return %r : tensor<16x56x56x96xf32>
}

// Changed: Of halves, which are widened, some lines.
// CHECK-LABEL: func.func private @halves(
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (16, 56) step (1, 2)
func.func private @halves(%x: tensor<16x113x113x96xbf16>, %w: tensor<3x3x96xbf16>) -> tensor<16x56x56x96xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x56x56x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x56x56x96xf32>) -> tensor<16x56x56x96xf32>
  %r = linalg.generic {indexing_maps = [#x2, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<16x113x113x96xbf16>, tensor<3x3x96xbf16>) outs(%f : tensor<16x56x56x96xf32>) {
  ^bb0(%a: bf16, %b: bf16, %sum: f32):
    %l = arith.extf %a : bf16 to f32
    %r = arith.extf %b : bf16 to f32
    %0 = arith.mulf %l, %r : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<16x56x56x96xf32>
  return %r : tensor<16x56x56x96xf32>
}

// Changed: Patches, which share no pixels, of all channels.
// CHECK-LABEL: func.func private @patches(
// CHECK: scf.forall (%{{.*}}) = (0) to (896) step (2)
// CHECK: tensor.extract_slice %arg0{{.*}} [2, 2, 56, 2, 96] [1, 1, 1, 1, 1]
func.func private @patches(%x: tensor<896x2x56x2x96xf32>, %w: tensor<2x2x96xf32>) -> tensor<896x56x96xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<896x56x96xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<896x56x96xf32>) -> tensor<896x56x96xf32>
  %r = linalg.generic {indexing_maps = [#xp, #wp, #yp], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<896x2x56x2x96xf32>, tensor<2x2x96xf32>) outs(%f : tensor<896x56x96xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<896x56x96xf32>
  return %r : tensor<896x56x96xf32>
}

// Declined: So few lines that each would be read again by the next tile: whole pictures of some channels.
// CHECK-LABEL: func.func private @small(
// CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (2, 768) step (1, 128)
func.func private @small(%x: tensor<2x13x13x768xf32>, %w: tensor<7x7x768xf32>) -> tensor<2x7x7x768xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2x7x7x768xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x7x7x768xf32>) -> tensor<2x7x7x768xf32>
  %r = linalg.generic {indexing_maps = [#x1, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<2x13x13x768xf32>, tensor<7x7x768xf32>) outs(%f : tensor<2x7x7x768xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<2x7x7x768xf32>
  return %r : tensor<2x7x7x768xf32>
}

// Declined: Pixels that are no whole cache lines, of an image that the last cache holds: one line.
// CHECK-LABEL: func.func private @parts_of_lines(
// CHECK: scf.forall (%{{.*}}, %{{.*}}) in (16, 56)
func.func private @parts_of_lines(%x: tensor<16x58x58x24xf32>, %w: tensor<3x3x24xf32>) -> tensor<16x56x56x24xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x56x56x24xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<16x56x56x24xf32>) -> tensor<16x56x56x24xf32>
  %r = linalg.generic {indexing_maps = [#x1, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<16x58x58x24xf32>, tensor<3x3x24xf32>) outs(%f : tensor<16x56x56x24xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<16x56x56x24xf32>
  return %r : tensor<16x56x56x24xf32>
}

// Declined: Windows over three planes, whose lines do not lie in one piece: three lines.
// CHECK-LABEL: func.func private @planes(
// CHECK: scf.forall (%{{.*}}, %{{.*}}, %{{.*}}) = (0, 0, 0) to (4, 28, 13) step (1, 3, 1)
func.func private @planes(%x: tensor<4x15x30x30x64xf32>, %w: tensor<3x3x3x64xf32>) -> tensor<4x13x28x28x64xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x13x28x28x64xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x13x28x28x64xf32>) -> tensor<4x13x28x28x64xf32>
  %r = linalg.generic {indexing_maps = [#xd, #wd, #yd], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
      ins(%x, %w : tensor<4x15x30x30x64xf32>, tensor<3x3x3x64xf32>) outs(%f : tensor<4x13x28x28x64xf32>) {
  ^bb0(%a: f32, %b: f32, %sum: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %sum, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<4x13x28x28x64xf32>
  return %r : tensor<4x13x28x28x64xf32>
}
