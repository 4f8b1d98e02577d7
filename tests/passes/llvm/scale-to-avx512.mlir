// RUN: hloom-opt %s --expand-math --scale-to-avx512 --canonicalize --split-input-file | filecheck %s

// Changed: Two registers of 16 lanes; the shifts and the second multiplication are gone.
// CHECK-LABEL: func.func @exp
// CHECK-NOT: arith.shli
// CHECK-NOT: arith.mulf
// CHECK: %[[Q:.*]] = vector.extract_strided_slice %{{.*}} {offsets = [0], sizes = [16], strides = [1]} : vector<32xf32> to vector<16xf32>
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"(%[[Q]],
// CHECK: vector.extract_strided_slice %{{.*}} {offsets = [16], sizes = [16], strides = [1]}
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"
// CHECK: %[[R:.*]] = vector.insert_strided_slice
// CHECK-NEXT: return %[[R]]
func.func @exp(%x: vector<32xf32>) -> vector<32xf32> {
  %y = math.exp %x : vector<32xf32>
  return %y : vector<32xf32>
}

// -----

// CHECK-LABEL: func.func @exp_f64
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.pd.512"
// CHECK-NOT: arith.shli
// CHECK: return
func.func @exp_f64(%x: vector<2x4xf64>) -> vector<2x4xf64> {
  %y = math.exp %x : vector<2x4xf64>
  return %y : vector<2x4xf64>
}

// -----

// Declined: Scalars and vectors that fill no register stay portable.
// CHECK-LABEL: func.func @too_short
// CHECK-NOT: call_intrinsic
// CHECK: return
func.func @too_short(%x: f32, %v: vector<8xf32>) -> (f32, vector<8xf32>) {
  %a = math.exp %x : f32
  %b = math.exp %v : vector<8xf32>
  return %a, %b : f32, vector<8xf32>
}

// -----

// Unchanged: Other products of products are none of its business.
// CHECK-LABEL: func.func @products
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: arith.mulf
// CHECK-NEXT: return
func.func @products(%q: vector<16xf32>, %a: vector<16xf32>) -> vector<16xf32> {
  %0 = arith.mulf %q, %a : vector<16xf32>
  %1 = arith.mulf %0, %a : vector<16xf32>
  return %1 : vector<16xf32>
}

// -----

// Declined: the target has no registers of 512 bits.
// CHECK-LABEL: func.func @avx2
// CHECK-NOT: call_intrinsic
// CHECK: return
module attributes {hloom.target = {vector_bits = 256 : i64}} {
  func.func @avx2(%x: vector<16xf32>) -> vector<16xf32> {
    %a = math.exp %x : vector<16xf32>
    return %a : vector<16xf32>
  }
}

// -----

// Declined: registers of 512 bits of another processor.
// CHECK-LABEL: func.func @aarch64
// CHECK-NOT: call_intrinsic
// CHECK: return
module attributes {hloom.target = {triple = "aarch64-unknown-linux-gnu", vector_bits = 512 : i64}} {
  func.func @aarch64(%x: vector<16xf32>) -> vector<16xf32> {
    %a = math.exp %x : vector<16xf32>
    return %a : vector<16xf32>
  }
}

// -----

// Changed: A weight's power is floored by vscalef, and its fraction is one vreduce.
// CHECK-LABEL: func.func @weight
// CHECK: %[[T:.*]] = arith.mulf
// CHECK-DAG: %[[F:.*]] = llvm.call_intrinsic "llvm.x86.avx512.mask.reduce.ps.512"(%[[T]], %{{.*}}
// CHECK: %[[Q:.*]] = arith.select
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"(%[[Q]], %[[T]],
// CHECK-NOT: arith.addf
// CHECK-NOT: arith.shli
// CHECK: return
func.func @weight(%x: vector<16xf32>) -> vector<16xf32> {
  %y = math.exp %x {hloom.weight} : vector<16xf32>
  return %y : vector<16xf32>
}

// -----

// Declined: An infinity less its floor is NaN, which vreduce would make 0.
// CHECK-LABEL: func.func @fraction
// CHECK: math.floor
// CHECK: arith.subf
// CHECK: return
func.func @fraction(%x: vector<16xf32>) -> vector<16xf32> {
  %n = math.floor %x : vector<16xf32>
  %f = arith.subf %x, %n : vector<16xf32>
  return %f : vector<16xf32>
}
