// RUN: hloom-opt %s --maximum-to-avx512 --canonicalize --split-input-file | filecheck %s

// Changed: Two registers of 16 lanes; vrange is asked for the maximum (5), both operands' NaN stay.
// CHECK-LABEL: func.func @maximum
// CHECK-SAME: (%[[A:.*]]: vector<32xf32>, %[[B:.*]]: vector<32xf32>)
// CHECK-DAG: %[[WHICH:.*]] = arith.constant 5 : i32
// CHECK-DAG: %[[TABLE:.*]] = arith.constant dense<33> : vector<16xi32>
// CHECK: %[[A0:.*]] = vector.extract_strided_slice %[[A]] {offsets = [0], sizes = [16], strides = [1]}
// CHECK: %[[B0:.*]] = vector.extract_strided_slice %[[B]] {offsets = [0], sizes = [16], strides = [1]}
// CHECK: %[[M:.*]] = llvm.call_intrinsic "llvm.x86.avx512.mask.range.ps.512"(%[[A0]], %[[B0]], %[[WHICH]],
// CHECK: %[[N:.*]] = llvm.call_intrinsic "llvm.x86.avx512.mask.fixupimm.ps.512"(%[[M]], %[[A0]], %[[TABLE]],
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.fixupimm.ps.512"(%[[N]], %[[B0]], %[[TABLE]],
// CHECK: llvm.x86.avx512.mask.range.ps.512
// CHECK-NOT: arith.maximumf
// CHECK: return
func.func @maximum(%a: vector<32xf32>, %b: vector<32xf32>) -> vector<32xf32> {
  %0 = arith.maximumf %a, %b : vector<32xf32>
  return %0 : vector<32xf32>
}

// -----

// Changed: Minima (4) of f64, and half a register.
// CHECK-LABEL: func.func @minimum
// CHECK: %[[WHICH:.*]] = arith.constant 4 : i32
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.range.pd.512"(%{{.*}}, %{{.*}}, %[[WHICH]],
// CHECK: llvm.call_intrinsic "llvm.x86.avx512.mask.range.ps.256"(%{{.*}}, %{{.*}}, %[[WHICH]],
// CHECK: return
func.func @minimum(%a: vector<2x4xf64>, %b: vector<8xf32>, %c: vector<2x4xf64>, %d: vector<8xf32>) -> (vector<2x4xf64>, vector<8xf32>) {
  %0 = arith.minimumf %a, %c : vector<2x4xf64>
  %1 = arith.minimumf %b, %d : vector<8xf32>
  return %0, %1 : vector<2x4xf64>, vector<8xf32>
}

// -----

// Changed: A reduction by halves, from what it starts from.
// CHECK-LABEL: func.func @reduction
// CHECK-SAME: (%[[A:.*]]: vector<16xf32>, %[[S:.*]]: f32)
// CHECK: llvm.x86.avx512.mask.range.ps.256
// CHECK: llvm.x86.avx512.mask.range.ps.128
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [2, 3, 0, 1]
// CHECK: llvm.x86.avx512.mask.range.ps.128
// CHECK: vector.shuffle %{{.*}}, %{{.*}} [1, 2, 3, 0]
// CHECK: llvm.x86.avx512.mask.range.ps.128
// CHECK: %[[R:.*]] = vector.extract %{{.*}}[0] : f32 from vector<4xf32>
// CHECK: arith.maximumf %[[S]], %[[R]] : f32
func.func @reduction(%a: vector<16xf32>, %s: f32) -> f32 {
  %0 = vector.reduction <maximumf>, %a, %s : vector<16xf32> into f32
  return %0 : f32
}

// -----

// Changed: A zero is no NaN, and stays so.
// CHECK-LABEL: func.func @relu
// CHECK-SAME: (%[[A:.*]]: vector<16xf32>)
// CHECK: %[[M:.*]] = llvm.call_intrinsic "llvm.x86.avx512.mask.range.ps.512"(%[[A]],
// CHECK: %[[R:.*]] = llvm.call_intrinsic "llvm.x86.avx512.mask.fixupimm.ps.512"(%[[M]], %[[A]],
// CHECK-NEXT: return %[[R]]
func.func @relu(%a: vector<16xf32>) -> vector<16xf32> {
  %0 = arith.constant 0.0 : f32
  %zero = vector.broadcast %0 : f32 to vector<16xf32>
  %1 = arith.maximumf %a, %zero : vector<16xf32>
  return %1 : vector<16xf32>
}

// -----

// Declined: Another constant, of which LLVM knows the sign, scalars, no whole register, and what is no NaN.
// CHECK-LABEL: func.func @declined
// CHECK-NOT: call_intrinsic
// CHECK: return
func.func @declined(%a: vector<16xf32>, %b: f32, %c: vector<12xf32>, %d: vector<16xf32>)
    -> (vector<16xf32>, f32, vector<12xf32>, vector<16xf32>, f32) {
  %one = arith.constant dense<1.0> : vector<16xf32>
  %0 = arith.maximumf %a, %one : vector<16xf32>
  %1 = arith.maximumf %b, %b : f32
  %2 = arith.maximumf %c, %c : vector<12xf32>
  %3 = arith.maximumf %a, %d fastmath<nnan> : vector<16xf32>
  %4 = vector.reduction <maximumf>, %c : vector<12xf32> into f32
  return %0, %1, %2, %3, %4 : vector<16xf32>, f32, vector<12xf32>, vector<16xf32>, f32
}

// -----

// Changed: Of numbers alone, vrange is all: it gives the other operand where one is NaN.
// CHECK-LABEL: func.func @of_numbers
// CHECK-SAME: (%[[A:.*]]: vector<16xf32>, %[[B:.*]]: vector<16xf32>)
// CHECK: %[[M:.*]] = llvm.call_intrinsic "llvm.x86.avx512.mask.range.ps.512"(%[[A]], %[[B]],
// CHECK-NOT: fixupimm
// CHECK-NOT: arith.maxnumf
// CHECK: return %[[M]]
func.func @of_numbers(%a: vector<16xf32>, %b: vector<16xf32>) -> (vector<16xf32>, f32) {
  %0 = arith.maxnumf %a, %b : vector<16xf32>
  %1 = vector.reduction <maxnumf>, %a : vector<16xf32> into f32
  return %0, %1 : vector<16xf32>, f32
}

// -----

// Unchanged: Sums.
// CHECK-LABEL: func.func @others
// CHECK-NEXT: vector.reduction <add>
func.func @others(%a: vector<16xf32>) -> f32 {
  %0 = vector.reduction <add>, %a : vector<16xf32> into f32
  return %0 : f32
}

// -----

// Declined: the target has no registers of 512 bits.
// CHECK-LABEL: func.func @avx2
// CHECK-NOT: call_intrinsic
// CHECK: return
module attributes {hloom.target = {vector_bits = 256 : i64}} {
  func.func @avx2(%x: vector<16xf32>, %y: vector<16xf32>) -> vector<16xf32> {
    %a = arith.maximumf %x, %y : vector<16xf32>
    return %a : vector<16xf32>
  }
}
