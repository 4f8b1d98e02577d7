// RUN: hloom-opt %s --tile-and-fuse --vectorize-tiles --canonicalize --split-input-file | filecheck %s

// Changed: bf16 is computed in f32 with the lanes of even numbers first, by AVX2.
// CHECK-LABEL: func.func private @avx2(
// CHECK: %[[X:.*]] = vector.load {{.*}} vector<32xbf16>
// CHECK: %[[E:.*]] = vector.shuffle %[[X]], %{{.*}} [0, 2, 4,
// CHECK: arith.extf %[[E]] : vector<32xbf16> to vector<32xf32>
// CHECK: %[[Y:.*]] = arith.truncf
// CHECK: %[[T:.*]] = vector.shuffle %[[Y]], %{{.*}} [0, 16, 1, 17,
// CHECK: vector.store %[[T]]
#id = affine_map<(d0) -> (d0)>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64}} {
  func.func private @avx2(%x: tensor<64xbf16>) -> tensor<64xbf16> attributes {hloom.kind = "loop"} {
    %e = tensor.empty() : tensor<64xbf16>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xbf16>) outs(%e : tensor<64xbf16>) {
    ^bb0(%a: bf16, %b: bf16):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.addf %0, %0 : f32
      %2 = arith.truncf %1 : f32 to bf16
      linalg.yield %2 : bf16
    } -> tensor<64xbf16>
    return %r : tensor<64xbf16>
  }
}

// -----

// Changed: bf16 is computed in f32 with the lanes of even numbers first, by AVX-512 too.
// CHECK-LABEL: func.func private @avx512(
// CHECK: %[[X:.*]] = vector.load {{.*}} vector<64xbf16>
// CHECK: %[[E:.*]] = vector.shuffle %[[X]], %{{.*}} [0, 2, 4,
// CHECK: arith.extf %[[E]] : vector<64xbf16> to vector<64xf32>
// CHECK: %[[Y:.*]] = arith.truncf
// CHECK: %[[T:.*]] = vector.shuffle %[[Y]], %{{.*}} [0, 32, 1, 33,
// CHECK: vector.store %[[T]]
#id = affine_map<(d0) -> (d0)>
module {
  func.func private @avx512(%x: tensor<64xbf16>) -> tensor<64xbf16> attributes {hloom.kind = "loop"} {
    %e = tensor.empty() : tensor<64xbf16>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xbf16>) outs(%e : tensor<64xbf16>) {
    ^bb0(%a: bf16, %b: bf16):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.addf %0, %0 : f32
      %2 = arith.truncf %1 : f32 to bf16
      linalg.yield %2 : bf16
    } -> tensor<64xbf16>
    return %r : tensor<64xbf16>
  }
}

// -----

// Declined: processors whose instruction rounds in turn, and nests with f32 in memory.
// CHECK-LABEL: func.func private @rounded_by_instruction(
// CHECK-NOT: vector.shuffle
// CHECK: return
#id = affine_map<(d0) -> (d0)>
module attributes {hloom.target = {bf16_dot = true}} {
  func.func private @rounded_by_instruction(%x: tensor<64xbf16>) -> tensor<64xbf16> attributes {hloom.kind = "loop"} {
    %e = tensor.empty() : tensor<64xbf16>
    %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%x : tensor<64xbf16>) outs(%e : tensor<64xbf16>) {
    ^bb0(%a: bf16, %b: bf16):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.addf %0, %0 : f32
      %2 = arith.truncf %1 : f32 to bf16
      linalg.yield %2 : bf16
    } -> tensor<64xbf16>
    return %r : tensor<64xbf16>
  }
}

// -----

// CHECK-LABEL: func.func private @f32_too(
// CHECK-NOT: vector.shuffle
// CHECK: return
#id = affine_map<(d0) -> (d0)>
module attributes {hloom.target = {vector_bits = 256 : i64, vector_registers = 16 : i64}} {
  func.func private @f32_too(%x: tensor<64xbf16>, %y: tensor<64xf32>) -> tensor<64xbf16> attributes {hloom.kind = "loop"} {
    %e = tensor.empty() : tensor<64xbf16>
    %r = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel"]}
        ins(%x, %y : tensor<64xbf16>, tensor<64xf32>) outs(%e : tensor<64xbf16>) {
    ^bb0(%a: bf16, %b: f32, %c: bf16):
      %0 = arith.extf %a : bf16 to f32
      %1 = arith.addf %0, %b : f32
      %2 = arith.truncf %1 : f32 to bf16
      linalg.yield %2 : bf16
    } -> tensor<64xbf16>
    return %r : tensor<64xbf16>
  }
}
