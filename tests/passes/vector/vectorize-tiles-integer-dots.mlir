// RUN: hloom-opt %s --tile-and-fuse --vectorize-tiles --canonicalize --split-input-file | filecheck %s

// Changed: pairs of depth are packed into lanes of 32 bits, those of the left operand row by row, those of the right one interleaved; the step
// of the product is pmaddwd, of 8 lanes with AVX2.
// CHECK-LABEL: func.func private @pairs(
// CHECK: vector.load {{.*}} : memref<1024xi8>, vector<32xi8>
// CHECK: arith.extui {{.*}} : vector<32xi8> to vector<32xi16>
// CHECK: vector.interleave {{.*}} : vector<16xi8> -> vector<32xi8>
// CHECK: arith.extsi {{.*}} : vector<32xi8> to vector<32xi16>
// CHECK: scf.for {{.*}} iter_args
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.pmadd.wd"({{.*}}) : (vector<16xi16>, vector<16xi16>) -> vector<8xi32>
// CHECK: arith.addi {{.*}} : vector<16xi32>
// CHECK: return
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64}} {
  func.func private @pairs(%x: tensor<16x64xi8>, %w: tensor<64x32xi8>) -> tensor<16x32xi32> attributes {hloom.kind = "matmul"} {
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
}

// -----

// i16 with AVX-512, both operands with depth innermost: 16 lanes; squares of the right one are transposed.
// CHECK-LABEL: func.func private @halves(
// CHECK: vector.load {{.*}} : memref<2048xi16>, vector<32xi16>
// CHECK: vector.shuffle {{.*}} : vector<16xi32>, vector<16xi32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.pmaddw.d.512"({{.*}}) : (vector<32xi16>, vector<32xi16>) -> vector<16xi32>
// CHECK: return

// Unchanged: i32, and sums in i64.
// CHECK-LABEL: func.func private @words(
// CHECK-NOT: pmadd
// CHECK-LABEL: func.func private @wide_sums(
// CHECK-NOT: pmadd

// Declined: three rows; unsigned i16.
// CHECK-LABEL: func.func private @few_rows(
// CHECK-NOT: pmadd
// CHECK-LABEL: func.func private @unsigned_halves(
// CHECK-NOT: pmadd
// CHECK: return
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#bt = affine_map<(d0, d1, d2) -> (d1, d2)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {}} {
  func.func private @halves(%x: tensor<16x64xi16>, %w: tensor<32x64xi16>) -> tensor<16x32xi32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0 : i32
    %e = tensor.empty() : tensor<16x32xi32>
    %f = linalg.fill ins(%zero : i32) outs(%e : tensor<16x32xi32>) -> tensor<16x32xi32>
    %r = linalg.generic {indexing_maps = [#a, #bt, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<16x64xi16>, tensor<32x64xi16>) outs(%f : tensor<16x32xi32>) {
    ^bb0(%a: i16, %b: i16, %sum: i32):
      %0 = arith.extsi %a : i16 to i32
      %1 = arith.extsi %b : i16 to i32
      %2 = arith.muli %0, %1 : i32
      %3 = arith.addi %sum, %2 : i32
      linalg.yield %3 : i32
    } -> tensor<16x32xi32>
    return %r : tensor<16x32xi32>
  }
  func.func private @words(%x: tensor<16x64xi32>, %w: tensor<32x64xi32>) -> tensor<16x32xi32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0 : i32
    %e = tensor.empty() : tensor<16x32xi32>
    %f = linalg.fill ins(%zero : i32) outs(%e : tensor<16x32xi32>) -> tensor<16x32xi32>
    %r = linalg.generic {indexing_maps = [#a, #bt, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<16x64xi32>, tensor<32x64xi32>) outs(%f : tensor<16x32xi32>) {
    ^bb0(%a: i32, %b: i32, %sum: i32):
      %2 = arith.muli %a, %b : i32
      %3 = arith.addi %sum, %2 : i32
      linalg.yield %3 : i32
    } -> tensor<16x32xi32>
    return %r : tensor<16x32xi32>
  }
  func.func private @wide_sums(%x: tensor<16x64xi8>, %w: tensor<32x64xi8>) -> tensor<16x32xi64> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0 : i64
    %e = tensor.empty() : tensor<16x32xi64>
    %f = linalg.fill ins(%zero : i64) outs(%e : tensor<16x32xi64>) -> tensor<16x32xi64>
    %r = linalg.generic {indexing_maps = [#a, #bt, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<16x64xi8>, tensor<32x64xi8>) outs(%f : tensor<16x32xi64>) {
    ^bb0(%a: i8, %b: i8, %sum: i64):
      %0 = arith.extsi %a : i8 to i64
      %1 = arith.extsi %b : i8 to i64
      %2 = arith.muli %0, %1 : i64
      %3 = arith.addi %sum, %2 : i64
      linalg.yield %3 : i64
    } -> tensor<16x32xi64>
    return %r : tensor<16x32xi64>
  }
  func.func private @few_rows(%x: tensor<3x64xi8>, %w: tensor<32x64xi8>) -> tensor<3x32xi32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0 : i32
    %e = tensor.empty() : tensor<3x32xi32>
    %f = linalg.fill ins(%zero : i32) outs(%e : tensor<3x32xi32>) -> tensor<3x32xi32>
    %r = linalg.generic {indexing_maps = [#a, #bt, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<3x64xi8>, tensor<32x64xi8>) outs(%f : tensor<3x32xi32>) {
    ^bb0(%a: i8, %b: i8, %sum: i32):
      %0 = arith.extsi %a : i8 to i32
      %1 = arith.extsi %b : i8 to i32
      %2 = arith.muli %0, %1 : i32
      %3 = arith.addi %sum, %2 : i32
      linalg.yield %3 : i32
    } -> tensor<3x32xi32>
    return %r : tensor<3x32xi32>
  }
  func.func private @unsigned_halves(%x: tensor<16x64xi16>, %w: tensor<32x64xi16>) -> tensor<16x32xi32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0 : i32
    %e = tensor.empty() : tensor<16x32xi32>
    %f = linalg.fill ins(%zero : i32) outs(%e : tensor<16x32xi32>) -> tensor<16x32xi32>
    %r = linalg.generic {indexing_maps = [#a, #bt, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<16x64xi16>, tensor<32x64xi16>) outs(%f : tensor<16x32xi32>) {
    ^bb0(%a: i16, %b: i16, %sum: i32):
      %0 = arith.extui %a : i16 to i32
      %1 = arith.extsi %b : i16 to i32
      %2 = arith.muli %0, %1 : i32
      %3 = arith.addi %sum, %2 : i32
      linalg.yield %3 : i32
    } -> tensor<16x32xi32>
    return %r : tensor<16x32xi32>
  }
}

// -----

// With VNNI: quads of bytes, unsigned ones times signed ones. Two signed operands: the left one is moved by 128, the sums start from minus 128 times
// those of the right one's columns.
// CHECK-LABEL: func.func private @signed_quads(
// CHECK: arith.constant dense<-2139062144> : vector<16xi32>
// CHECK: arith.xori {{.*}} : vector<128xi8>
// CHECK-COUNT-3: vector.interleave
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"({{.*}}) : (vector<16xi32>, vector<64xi8>, vector<64xi8>) -> vector<16xi32>
// CHECK: arith.subi
// CHECK: scf.for {{.*}} iter_args
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.vpdpbusd.512"
// CHECK: return

// Signed bytes times unsigned ones: nothing is moved.
// CHECK-LABEL: func.func private @mixed_quads(
// CHECK-NOT: arith.xori
// CHECK: %[[LEFT:.*]] = vector.bitcast %{{.*}} : vector<16xi32> to vector<64xi8>
// CHECK: %[[RIGHT:.*]] = vector.bitcast %{{.*}} : vector<16xi32> to vector<64xi8>
// CHECK: "llvm.x86.avx512.vpdpbusd.512"(%{{.*}}, %[[RIGHT]], %[[LEFT]])
// CHECK: return
#a = affine_map<(d0, d1, d2) -> (d0, d2)>
#b = affine_map<(d0, d1, d2) -> (d2, d1)>
#c = affine_map<(d0, d1, d2) -> (d0, d1)>
module attributes {hloom.target = {int8_dot = true}} {
  func.func private @signed_quads(%x: tensor<16x128xi8>, %w: tensor<128x32xi8>) -> tensor<16x32xi32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0 : i32
    %e = tensor.empty() : tensor<16x32xi32>
    %f = linalg.fill ins(%zero : i32) outs(%e : tensor<16x32xi32>) -> tensor<16x32xi32>
    %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<16x128xi8>, tensor<128x32xi8>) outs(%f : tensor<16x32xi32>) {
    ^bb0(%a: i8, %b: i8, %sum: i32):
      %0 = arith.extsi %a : i8 to i32
      %1 = arith.extsi %b : i8 to i32
      %2 = arith.muli %0, %1 : i32
      %3 = arith.addi %sum, %2 : i32
      linalg.yield %3 : i32
    } -> tensor<16x32xi32>
    return %r : tensor<16x32xi32>
  }
  func.func private @mixed_quads(%x: tensor<16x128xi8>, %w: tensor<128x32xi8>) -> tensor<16x32xi32> attributes {hloom.kind = "matmul"} {
    %zero = arith.constant 0 : i32
    %e = tensor.empty() : tensor<16x32xi32>
    %f = linalg.fill ins(%zero : i32) outs(%e : tensor<16x32xi32>) -> tensor<16x32xi32>
    %r = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<16x128xi8>, tensor<128x32xi8>) outs(%f : tensor<16x32xi32>) {
    ^bb0(%a: i8, %b: i8, %sum: i32):
      %0 = arith.extsi %a : i8 to i32
      %1 = arith.extui %b : i8 to i32
      %2 = arith.muli %0, %1 : i32
      %3 = arith.addi %sum, %2 : i32
      linalg.yield %3 : i32
    } -> tensor<16x32xi32>
    return %r : tensor<16x32xi32>
  }
}
