// RUN: hloom-opt %s --vectorize-tiles --canonicalize --split-input-file | filecheck %s

// Changed: A convolution of bf16 with zeros around its input, for a target without dot products of bf16. What a tile reads of the input, three
// lines of 36 pixels of 8 channels, is widened once, the lines that exist only; so are the weights. The product is one of f32, its taps on
// padding left out: 12 products in the blocks but for the first and the last tap of a line.
// CHECK-LABEL: func.func private @widened(
// CHECK-DAG: %[[PIECE:.*]] = memref.alloca() {alignment = 64 : i64} : memref<912xf32>
// CHECK-DAG: %[[PANEL:.*]] = memref.alloca() {alignment = 64 : i64} : memref<1152xf32>
// CHECK: %[[FIRST:.*]] = arith.maxsi
// CHECK: %[[END:.*]] = arith.minsi
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[END]]
// CHECK: arith.extf {{.*}} : vector<{{.*}}xbf16> to vector<{{.*}}xf32>
// CHECK: vector.store {{.*}}, %[[PIECE]]
// CHECK: arith.extf {{.*}} : vector<{{.*}}xbf16> to vector<{{.*}}xf32>
// CHECK: vector.store {{.*}}, %[[PANEL]]
// CHECK-NOT: arith.extf
// CHECK: memref.load %[[PIECE]]
// CHECK: vector.load %[[PANEL]]
// CHECK: math.fma
// CHECK-NOT: arith.extf
// CHECK: return
#x = affine_map<(oh, ow, o, kh, kw, i) -> (oh + kh, ow + kw, i)>
#w = affine_map<(oh, ow, o, kh, kw, i) -> (kh, kw, i, o)>
#y = affine_map<(oh, ow, o, kh, kw, i) -> (oh, ow, o)>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64}} {
  func.func private @widened(%x: tensor<8x36x8xbf16>, %w: tensor<3x3x8x16xbf16>) -> tensor<8x36x16xf32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0.0 : f32
    %none = arith.constant 0.0 : bf16
    %p = tensor.pad %x low[1, 1, 0] high[1, 1, 0] {
    ^bb0(%a: index, %b: index, %c: index):
      tensor.yield %none : bf16
    } : tensor<8x36x8xbf16> to tensor<10x38x8xbf16>
    %e = tensor.empty() : tensor<8x36x16xf32>
    %r = scf.forall (%h) = (0) to (8) step (1) shared_outs(%o = %e) -> (tensor<8x36x16xf32>) {
      %s = tensor.extract_slice %p[%h, 0, 0] [3, 38, 8] [1, 1, 1] : tensor<10x38x8xbf16> to tensor<3x38x8xbf16>
      %t = tensor.extract_slice %o[%h, 0, 0] [1, 36, 16] [1, 1, 1] : tensor<8x36x16xf32> to tensor<1x36x16xf32>
      %f = linalg.fill ins(%zero : f32) outs(%t : tensor<1x36x16xf32>) -> tensor<1x36x16xf32>
      %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
          ins(%s, %w : tensor<3x38x8xbf16>, tensor<3x3x8x16xbf16>) outs(%f : tensor<1x36x16xf32>) {
      ^bb0(%a: bf16, %b: bf16, %sum: f32):
        %0 = arith.extf %a : bf16 to f32
        %1 = arith.extf %b : bf16 to f32
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %sum, %2 : f32
        linalg.yield %3 : f32
      } -> tensor<1x36x16xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %c into %o[%h, 0, 0] [1, 36, 16] [1, 1, 1] : tensor<1x36x16xf32> into tensor<8x36x16xf32>
      }
    }
    return %r : tensor<8x36x16xf32>
  }
}

// -----

// Changed: A line of bytes with signs, dilated windows of stride 2, for VNNI: quads, without signs after 128 is added. What lies around the
// line becomes 128, too: the panel, 41 pixels of 2 quads, is filled before what exists is copied, and no tap is left out. It has
// room for the register that its last row is stored by.
// CHECK-LABEL: func.func private @moved(
// CHECK-DAG: %[[ZEROS:.*]] = arith.constant dense<-2139062144> : vector<32xi32>
// CHECK-DAG: %[[PIECE:.*]] = memref.alloca() {alignment = 64 : i64} : memref<90xi32>
// CHECK: vector.store %[[ZEROS]], %[[PIECE]]
// CHECK: arith.xori
// CHECK: vector.store {{.*}}, %[[PIECE]]
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.256"
// CHECK: return
#x = affine_map<(ow, o, kw, i) -> (ow * 2 + kw * 3, i)>
#w = affine_map<(ow, o, kw, i) -> (kw, i, o)>
#y = affine_map<(ow, o, kw, i) -> (ow, o)>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64, int8_dot = true}} {
  func.func private @moved(%x: tensor<37x8xi8>, %w: tensor<3x8x16xi8>) -> tensor<18x16xi32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0 : i32
    %none = arith.constant 0 : i8
    %p = tensor.pad %x low[2, 0] high[2, 0] {
    ^bb0(%a: index, %b: index):
      tensor.yield %none : i8
    } : tensor<37x8xi8> to tensor<41x8xi8>
    %e = tensor.empty() : tensor<18x16xi32>
    %r = scf.forall (%h) = (0) to (1) step (1) shared_outs(%o = %e) -> (tensor<18x16xi32>) {
      %t = tensor.extract_slice %o[0, 0] [18, 16] [1, 1] : tensor<18x16xi32> to tensor<18x16xi32>
      %f = linalg.fill ins(%zero : i32) outs(%t : tensor<18x16xi32>) -> tensor<18x16xi32>
      %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
          ins(%p, %w : tensor<41x8xi8>, tensor<3x8x16xi8>) outs(%f : tensor<18x16xi32>) {
      ^bb0(%a: i8, %b: i8, %sum: i32):
        %0 = arith.extsi %a : i8 to i32
        %1 = arith.extsi %b : i8 to i32
        %2 = arith.muli %0, %1 : i32
        %3 = arith.addi %sum, %2 : i32
        linalg.yield %3 : i32
      } -> tensor<18x16xi32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %c into %o[0, 0] [18, 16] [1, 1] : tensor<18x16xi32> into tensor<18x16xi32>
      }
    }
    return %r : tensor<18x16xi32>
  }
}

// -----

// Declined: Twelve pixels, which are too few to widen them first.
// CHECK-LABEL: func.func private @few_pixels(
// CHECK-NOT: memref.alloca
// CHECK: return
#x = affine_map<(ow, o, kw, i) -> (ow + kw, i)>
#w = affine_map<(ow, o, kw, i) -> (kw, i, o)>
#y = affine_map<(ow, o, kw, i) -> (ow, o)>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64}} {
  func.func private @few_pixels(%x: tensor<14x8xf16>, %w: tensor<3x8x16xf16>) -> tensor<12x16xf32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<12x16xf32>
    %r = scf.forall (%h) = (0) to (1) step (1) shared_outs(%o = %e) -> (tensor<12x16xf32>) {
      %t = tensor.extract_slice %o[0, 0] [12, 16] [1, 1] : tensor<12x16xf32> to tensor<12x16xf32>
      %f = linalg.fill ins(%zero : f32) outs(%t : tensor<12x16xf32>) -> tensor<12x16xf32>
      %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
          ins(%x, %w : tensor<14x8xf16>, tensor<3x8x16xf16>) outs(%f : tensor<12x16xf32>) {
      ^bb0(%a: f16, %b: f16, %sum: f32):
        %0 = arith.extf %a : f16 to f32
        %1 = arith.extf %b : f16 to f32
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %sum, %2 : f32
        linalg.yield %3 : f32
      } -> tensor<12x16xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %c into %o[0, 0] [12, 16] [1, 1] : tensor<12x16xf32> into tensor<12x16xf32>
      }
    }
    return %r : tensor<12x16xf32>
  }
}

// -----

// Changed: Three channels of bf16 for pairs: five taps and three channels are one depth of 15, eight lanes. The panel has each of 10 windows of a
// line as a row, in order those that reach into no padding, then the first and the last one with zeros.
// CHECK-LABEL: func.func private @few_channels(
// CHECK-DAG: %[[PANEL:.*]] = memref.alloca() {alignment = 64 : i64} : memref<256xi32>
// CHECK: scf.for %{{.*}} = %c1 to %c9
// CHECK: vector.store %{{.*}}, %[[PANEL]]
// CHECK: vector.insert_strided_slice %{{.*}}, %{{.*}} {offsets = [6], strides = [1]} : vector<8xbf16> into vector<16xbf16>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
#x = affine_map<(oh, ow, o, kh, kw, i) -> (oh + kh, 2 * ow + kw, i)>
#w = affine_map<(oh, ow, o, kh, kw, i) -> (kh, kw, i, o)>
#y = affine_map<(oh, ow, o, kh, kw, i) -> (oh, ow, o)>
module attributes {hloom.target = {bf16_dot = true}} {
  func.func private @few_channels(%x: tensor<10x20x3xbf16>, %w: tensor<3x5x3x16xbf16>) -> tensor<8x10x16xf32> attributes {hloom.kind = "conv"} {
    %zero = arith.constant 0.0 : f32
    %none = arith.constant 0.0 : bf16
    %p = tensor.pad %x low[0, 2, 0] high[0, 1, 0] {
    ^bb0(%a: index, %b: index, %c: index):
      tensor.yield %none : bf16
    } : tensor<10x20x3xbf16> to tensor<10x23x3xbf16>
    %e = tensor.empty() : tensor<8x10x16xf32>
    %r = scf.forall (%h) = (0) to (8) step (1) shared_outs(%o = %e) -> (tensor<8x10x16xf32>) {
      %s = tensor.extract_slice %p[%h, 0, 0] [3, 23, 3] [1, 1, 1] : tensor<10x23x3xbf16> to tensor<3x23x3xbf16>
      %t = tensor.extract_slice %o[%h, 0, 0] [1, 10, 16] [1, 1, 1] : tensor<8x10x16xf32> to tensor<1x10x16xf32>
      %f = linalg.fill ins(%zero : f32) outs(%t : tensor<1x10x16xf32>) -> tensor<1x10x16xf32>
      %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
          ins(%s, %w : tensor<3x23x3xbf16>, tensor<3x5x3x16xbf16>) outs(%f : tensor<1x10x16xf32>) {
      ^bb0(%a: bf16, %b: bf16, %sum: f32):
        %0 = arith.extf %a : bf16 to f32
        %1 = arith.extf %b : bf16 to f32
        %2 = arith.mulf %0, %1 : f32
        %3 = arith.addf %sum, %2 : f32
        linalg.yield %3 : f32
      } -> tensor<1x10x16xf32>
      scf.forall.in_parallel {
        tensor.parallel_insert_slice %c into %o[%h, 0, 0] [1, 10, 16] [1, 1, 1] : tensor<1x10x16xf32> into tensor<8x10x16xf32>
      }
    }
    return %r : tensor<8x10x16xf32>
  }
}
