// RUN: hloom-opt %s --split-input-file --pack-weights | filecheck %s

// Tiles of bf16: blocks of 32 columns with pairs of depth side by side; the left operand is seen in pairs.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<16x64xbf16>, %[[W:.*]]: tensor<64x40xbf16> {hloom.bound}
// CHECK: %[[P:.*]] = stablehlo.pad %[[W]], %{{.*}}, low = [0, 0], high = [0, 24]
// CHECK: stablehlo.reshape %[[P]] : (tensor<64x64xbf16>) -> tensor<64x2x32xbf16>
// CHECK: stablehlo.transpose
// CHECK: stablehlo.reshape %{{.*}} : (tensor<2x64x32xbf16>) -> tensor<2x32x2x32xbf16>
// CHECK: %[[T:.*]] = stablehlo.transpose %{{.*}}, dims = [0, 1, 3, 2] : (tensor<2x32x2x32xbf16>) -> tensor<2x32x32x2xbf16>
// CHECK: %[[L:.*]] = stablehlo.reshape %[[X]] : (tensor<16x64xbf16>) -> tensor<16x32x2xbf16>
// CHECK: %[[D:.*]] = stablehlo.dot_general %[[L]], %[[T]], contracting_dims = [1, 2] x [1, 3] : {{.*}} -> tensor<16x2x32xf32>
// CHECK: stablehlo.slice %{{.*}} [0:16, 0:40]
module attributes {hloom.target = {amx_bf16 = true}} {
  func.func @main(%x: tensor<16x64xbf16>, %w: tensor<64x40xbf16> {hloom.bound}) -> tensor<16x40xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x64xbf16>, tensor<64x40xbf16>) -> tensor<16x40xf32>
    return %0 : tensor<16x40xf32>
  }
}

// -----

// A depth that is no multiple of 32 and f16 are packed as elsewhere, in blocks of 64.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.dot_general {{.*}} -> tensor<16x1x64xf32>
// CHECK: stablehlo.dot_general {{.*}} -> tensor<16x1x64xf32>
module attributes {hloom.target = {amx_bf16 = true}} {
  func.func @main(%x: tensor<16x40xbf16>, %w: tensor<40x64xbf16> {hloom.bound}, %y: tensor<16x64xf16>, %v: tensor<64x64xf16> {hloom.bound})
      -> (tensor<16x64xf32>, tensor<16x64xf32>) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x40xbf16>, tensor<40x64xbf16>) -> tensor<16x64xf32>
    %1 = stablehlo.dot_general %y, %v, contracting_dims = [1] x [0] : (tensor<16x64xf16>, tensor<64x64xf16>) -> tensor<16x64xf32>
    return %0, %1 : tensor<16x64xf32>, tensor<16x64xf32>
  }
}

// -----

// No tiles, nor an instruction for pairs: they lie side by side all the same, and are split in registers. One row has twice the columns, as
// many sums as wait for each other.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.dot_general {{.*}} contracting_dims = [1, 2] x [1, 3] : (tensor<16x32x2xbf16>, tensor<4x32x16x2xbf16>) -> tensor<16x4x16xf32>
// CHECK: stablehlo.dot_general {{.*}} contracting_dims = [1, 2] x [1, 3] : (tensor<1x32x2xbf16>, tensor<2x32x32x2xbf16>) -> tensor<1x2x32xf32>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64}} {
  func.func @main(%x: tensor<16x64xbf16>, %y: tensor<1x64xbf16>, %w: tensor<64x64xbf16> {hloom.bound}) -> (tensor<16x64xf32>, tensor<1x64xf32>) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x64xbf16>, tensor<64x64xbf16>) -> tensor<16x64xf32>
    %1 = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<1x64xbf16>, tensor<64x64xbf16>) -> tensor<1x64xf32>
    return %0, %1 : tensor<16x64xf32>, tensor<1x64xf32>
  }
}

// -----

// f16 is widened: blocks of 64.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.dot_general {{.*}} contracting_dims = [1] x [1] : {{.*}} -> tensor<16x1x64xf32>
func.func @main(%x: tensor<16x64xf16>, %w: tensor<64x64xf16> {hloom.bound}) -> tensor<16x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<16x64xf16>, tensor<64x64xf16>) -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// -----

// Tiles of bytes: quads. One row, and a depth that is no whole tiles, are packed as elsewhere, or not at all.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.dot_general {{.*}} contracting_dims = [1, 2] x [1, 3] : (tensor<3x32x4xi8>, tensor<2x32x32x4xi8>) -> tensor<3x2x32xi32>
// CHECK: stablehlo.dot_general {{.*}} contracting_dims = [1] x [0] : (tensor<1x128xi8>, tensor<128x64xi8>) -> tensor<1x64xi32>
// CHECK: stablehlo.dot_general {{.*}} contracting_dims = [1] x [1] : (tensor<16x96xi8>, tensor<1x96x64xi8>) -> tensor<16x1x64xi32>
module attributes {hloom.target = {amx_int8 = true}} {
  func.func @main(%x: tensor<3x128xi8>, %y: tensor<1x128xi8>, %z: tensor<16x96xi8>, %w: tensor<128x64xi8> {hloom.bound}, %v: tensor<96x64xi8> {hloom.bound})
      -> (tensor<3x64xi32>, tensor<1x64xi32>, tensor<16x64xi32>) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<3x128xi8>, tensor<128x64xi8>) -> tensor<3x64xi32>
    %1 = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<1x128xi8>, tensor<128x64xi8>) -> tensor<1x64xi32>
    %2 = stablehlo.dot_general %z, %v, contracting_dims = [1] x [0] : (tensor<16x96xi8>, tensor<96x64xi8>) -> tensor<16x64xi32>
    return %0, %1, %2 : tensor<3x64xi32>, tensor<1x64xi32>, tensor<16x64xi32>
  }
}

// -----

// Of a right operand that is not bound the kernel would pack each panel for three tiles of 384 rows: it is packed once. Of two it is not, nor
// where it lies along the sum.
// CHECK-LABEL: func.func @main(
// CHECK: %[[T:.*]] = stablehlo.transpose %{{.*}}, dims = [0, 1, 3, 2] : (tensor<2x512x2x32xbf16>) -> tensor<2x512x32x2xbf16>
// CHECK: stablehlo.dot_general %{{.*}}, %[[T]], contracting_dims = [1, 2] x [1, 3] : {{.*}} -> tensor<769x2x32xf32>
// CHECK: stablehlo.dot_general {{.*}} contracting_dims = [1] x [0] : (tensor<768x1024xbf16>, tensor<1024x64xbf16>) -> tensor<768x64xf32>
// CHECK: stablehlo.dot_general {{.*}} contracting_dims = [1] x [1] : (tensor<769x1024xbf16>, tensor<64x1024xbf16>) -> tensor<769x64xf32>
module attributes {hloom.target = {amx_bf16 = true, l2_bytes = 2097152 : i64}} {
  func.func @main(%x: tensor<769x1024xbf16>, %y: tensor<768x1024xbf16>, %w: tensor<1024x64xbf16>, %v: tensor<64x1024xbf16>)
      -> (tensor<769x64xf32>, tensor<768x64xf32>, tensor<769x64xf32>) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<769x1024xbf16>, tensor<1024x64xbf16>) -> tensor<769x64xf32>
    %1 = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<768x1024xbf16>, tensor<1024x64xbf16>) -> tensor<768x64xf32>
    %2 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [1] : (tensor<769x1024xbf16>, tensor<64x1024xbf16>) -> tensor<769x64xf32>
    return %0, %1, %2 : tensor<769x64xf32>, tensor<768x64xf32>, tensor<769x64xf32>
  }
}

// -----

// The first cache does not hold a panel of 1,024 rows, nor L2 all of them: they are packed for 64 rows. They are not for fewer, nor where either
// cache holds what the kernel reads.
// CHECK-LABEL: func.func @main(
// CHECK: %[[T:.*]] = stablehlo.transpose %{{.*}}, dims = [0, 1, 3, 2] : (tensor<32x512x2x32xbf16>) -> tensor<32x512x32x2xbf16>
// CHECK: stablehlo.dot_general %{{.*}}, %[[T]], contracting_dims = [1, 2] x [1, 3] : {{.*}} -> tensor<64x32x32xf32>
// CHECK: stablehlo.dot_general {{.*}} : (tensor<63x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<63x1024xf32>
// CHECK: stablehlo.dot_general {{.*}} : (tensor<64x1024xbf16>, tensor<1024x992xbf16>) -> tensor<64x992xf32>
// CHECK: stablehlo.dot_general {{.*}} : (tensor<64x768xbf16>, tensor<768x2048xbf16>) -> tensor<64x2048xf32>
module attributes {hloom.target = {amx_bf16 = true, l1_bytes = 49152 : i64, l2_bytes = 2097152 : i64}} {
  func.func @main(%x: tensor<64x1024xbf16>, %y: tensor<63x1024xbf16>, %z: tensor<64x768xbf16>, %w: tensor<1024x1024xbf16>, %v: tensor<1024x992xbf16>,
      %u: tensor<768x2048xbf16>) -> (tensor<64x1024xf32>, tensor<63x1024xf32>, tensor<64x992xf32>, tensor<64x2048xf32>) {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<64x1024xf32>
    %1 = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] : (tensor<63x1024xbf16>, tensor<1024x1024xbf16>) -> tensor<63x1024xf32>
    %2 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<64x1024xbf16>, tensor<1024x992xbf16>) -> tensor<64x992xf32>
    %3 = stablehlo.dot_general %z, %u, contracting_dims = [1] x [0] : (tensor<64x768xbf16>, tensor<768x2048xbf16>) -> tensor<64x2048xf32>
    return %0, %1, %2, %3 : tensor<64x1024xf32>, tensor<63x1024xf32>, tensor<64x992xf32>, tensor<64x2048xf32>
  }
}

// -----

// Declined: The left operand is a softmax, of whose two products one kernel may be made.
// CHECK-LABEL: func.func @main(
// CHECK: stablehlo.dot_general {{.*}} contracting_dims = [1] x [0] : (tensor<1024x1024xbf16>, tensor<1024x64xbf16>) -> tensor<1024x64xf32>
module attributes {hloom.target = {amx_bf16 = true, l2_bytes = 2097152 : i64}} {
  func.func @main(%q: tensor<1024x64xbf16>, %k: tensor<1024x64xbf16>, %v: tensor<1024x64xbf16>) -> tensor<1024x64xf32> {
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %0 = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<1024x64xbf16>, tensor<1024x64xbf16>) -> tensor<1024x1024xf32>
    %1 = stablehlo.reduce(%0 init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<1024xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<1024xf32>) -> tensor<1024x1024xf32>
    %3 = stablehlo.subtract %0, %2 : tensor<1024x1024xf32>
    %4 = stablehlo.exponential %3 : tensor<1024x1024xf32>
    %5 = stablehlo.convert %4 : (tensor<1024x1024xf32>) -> tensor<1024x1024xbf16>
    %6 = stablehlo.dot_general %5, %v, contracting_dims = [1] x [0] : (tensor<1024x1024xbf16>, tensor<1024x64xbf16>) -> tensor<1024x64xf32>
    return %6 : tensor<1024x64xf32>
  }
}
