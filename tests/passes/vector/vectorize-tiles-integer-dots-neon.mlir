// RUN: hloom-opt %s --tile-and-fuse --vectorize-tiles --canonicalize --split-input-file | filecheck %s

// Changed: quads of bytes that both have signs, and that both have none; no operand is moved.
// CHECK-LABEL: func.func private @signed(
// CHECK-NOT: arith.xori
// CHECK: llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"({{.*}}) : (vector<4xi32>, vector<16xi8>, vector<16xi8>) -> vector<4xi32>
// CHECK-LABEL: func.func private @unsigned(
// CHECK-NOT: arith.xori
// CHECK: llvm.call_intrinsic "llvm.aarch64.neon.udot.v4i32.v16i8"

// Changed: the left operand is moved to have the sign of the right one, for which the sums make up.
// CHECK-LABEL: func.func private @mixed(
// CHECK: arith.xori
// CHECK: llvm.call_intrinsic "llvm.aarch64.neon.sdot.v4i32.v16i8"
// CHECK: arith.subi

// Changed: pairs are multiplied half by half.
// CHECK-LABEL: func.func private @halves(
// CHECK: arith.trunci {{.*}} : vector<16xi32> to vector<16xi16>
// CHECK-NOT: call_intrinsic

// Unchanged: i32.
// CHECK-LABEL: func.func private @words(
// CHECK-NOT: arith.trunci
// CHECK: return
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {triple = "aarch64-unknown-linux-gnu", vector_bits = 128 : i64, int8_dot = true}} {
  func.func private @signed(%x: tensor<16x64xi8>, %w: tensor<64x32xi8>) -> tensor<16x32xi32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0 : i32
    %e = tensor.empty() : tensor<16x32xi32>
    %f = linalg.fill ins(%zero : i32) outs(%e : tensor<16x32xi32>) -> tensor<16x32xi32>
    %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<16x64xi8>, tensor<64x32xi8>) outs(%f : tensor<16x32xi32>) {
    ^bb0(%a: i8, %b: i8, %sum: i32):
      %0 = arith.extsi %a : i8 to i32
      %1 = arith.extsi %b : i8 to i32
      %2 = arith.muli %0, %1 : i32
      %3 = arith.addi %sum, %2 : i32
      linalg.yield %3 : i32
    } -> tensor<16x32xi32>
    return %r : tensor<16x32xi32>
  }
  func.func private @unsigned(%x: tensor<16x64xi8>, %w: tensor<64x32xi8>) -> tensor<16x32xi32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0 : i32
    %e = tensor.empty() : tensor<16x32xi32>
    %f = linalg.fill ins(%zero : i32) outs(%e : tensor<16x32xi32>) -> tensor<16x32xi32>
    %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<16x64xi8>, tensor<64x32xi8>) outs(%f : tensor<16x32xi32>) {
    ^bb0(%a: i8, %b: i8, %sum: i32):
      %0 = arith.extui %a : i8 to i32
      %1 = arith.extui %b : i8 to i32
      %2 = arith.muli %0, %1 : i32
      %3 = arith.addi %sum, %2 : i32
      linalg.yield %3 : i32
    } -> tensor<16x32xi32>
    return %r : tensor<16x32xi32>
  }
  func.func private @mixed(%x: tensor<16x64xi8>, %w: tensor<64x32xi8>) -> tensor<16x32xi32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0 : i32
    %e = tensor.empty() : tensor<16x32xi32>
    %f = linalg.fill ins(%zero : i32) outs(%e : tensor<16x32xi32>) -> tensor<16x32xi32>
    %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<16x64xi8>, tensor<64x32xi8>) outs(%f : tensor<16x32xi32>) {
    ^bb0(%a: i8, %b: i8, %sum: i32):
      %0 = arith.extui %a : i8 to i32
      %1 = arith.extsi %b : i8 to i32
      %2 = arith.muli %0, %1 : i32
      %3 = arith.addi %sum, %2 : i32
      linalg.yield %3 : i32
    } -> tensor<16x32xi32>
    return %r : tensor<16x32xi32>
  }
  func.func private @halves(%x: tensor<16x64xi16>, %w: tensor<64x32xi16>) -> tensor<16x32xi32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0 : i32
    %e = tensor.empty() : tensor<16x32xi32>
    %f = linalg.fill ins(%zero : i32) outs(%e : tensor<16x32xi32>) -> tensor<16x32xi32>
    %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<16x64xi16>, tensor<64x32xi16>) outs(%f : tensor<16x32xi32>) {
    ^bb0(%a: i16, %b: i16, %sum: i32):
      %0 = arith.extsi %a : i16 to i32
      %1 = arith.extsi %b : i16 to i32
      %2 = arith.muli %0, %1 : i32
      %3 = arith.addi %sum, %2 : i32
      linalg.yield %3 : i32
    } -> tensor<16x32xi32>
    return %r : tensor<16x32xi32>
  }
  func.func private @words(%x: tensor<16x64xi32>, %w: tensor<64x32xi32>) -> tensor<16x32xi32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0 : i32
    %e = tensor.empty() : tensor<16x32xi32>
    %f = linalg.fill ins(%zero : i32) outs(%e : tensor<16x32xi32>) -> tensor<16x32xi32>
    %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<16x64xi32>, tensor<64x32xi32>) outs(%f : tensor<16x32xi32>) {
    ^bb0(%a: i32, %b: i32, %sum: i32):
      %2 = arith.muli %a, %b : i32
      %3 = arith.addi %sum, %2 : i32
      linalg.yield %3 : i32
    } -> tensor<16x32xi32>
    return %r : tensor<16x32xi32>
  }
}

// -----

// Declined: quads, where the target has no instruction for them; bytes become pairs.
// CHECK-LABEL: func.func private @widened(
// CHECK-NOT: call_intrinsic
// CHECK: arith.trunci {{.*}} : vector<16xi32> to vector<16xi16>
// CHECK: return
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {triple = "aarch64-unknown-linux-gnu", vector_bits = 128 : i64}} {
  func.func private @widened(%x: tensor<16x64xi8>, %w: tensor<64x32xi8>) -> tensor<16x32xi32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0 : i32
    %e = tensor.empty() : tensor<16x32xi32>
    %f = linalg.fill ins(%zero : i32) outs(%e : tensor<16x32xi32>) -> tensor<16x32xi32>
    %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<16x64xi8>, tensor<64x32xi8>) outs(%f : tensor<16x32xi32>) {
    ^bb0(%a: i8, %b: i8, %sum: i32):
      %0 = arith.extsi %a : i8 to i32
      %1 = arith.extsi %b : i8 to i32
      %2 = arith.muli %0, %1 : i32
      %3 = arith.addi %sum, %2 : i32
      linalg.yield %3 : i32
    } -> tensor<16x32xi32>
    return %r : tensor<16x32xi32>
  }
}
