// RUN: hloom-opt %s --round-to-bf16 --split-input-file | filecheck %s

// Changed: To the nearest, ties to even, in integers.
// CHECK-LABEL: func.func @vector
// CHECK-DAG: %[[BITS:.*]] = arith.bitcast %arg0 : vector<16xf32> to vector<16xi32>
// CHECK-DAG: %[[HALF:.*]] = arith.constant dense<32767> : vector<16xi32>
// CHECK: %[[NAN:.*]] = arith.cmpf uno, %arg0, %arg0 : vector<16xf32>
// CHECK: arith.select %[[NAN]]
// CHECK: %[[HIGH:.*]] = arith.trunci %{{.*}} : vector<16xi32> to vector<16xi16>
// CHECK: arith.bitcast %[[HIGH]] : vector<16xi16> to vector<16xbf16>
// CHECK-NOT: arith.truncf
func.func @vector(%x: vector<16xf32>) -> vector<16xbf16> {
  %y = arith.truncf %x : vector<16xf32> to vector<16xbf16>
  return %y : vector<16xbf16>
}

// -----

// CHECK-LABEL: func.func @scalar
// CHECK: arith.trunci %{{.*}} : i32 to i16
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @scalar(%x: f32) -> bf16 {
  %y = arith.truncf %x : f32 to bf16
  return %y : bf16
}

// -----

// Unchanged: Other roundings are instructions.
// CHECK-LABEL: func.func @others
// CHECK: arith.truncf %arg0 : vector<16xf32> to vector<16xf16>
// CHECK: arith.truncf %arg1 : f64 to f32
func.func @others(%x: vector<16xf32>, %y: f64) -> (vector<16xf16>, f32) {
  %0 = arith.truncf %x : vector<16xf32> to vector<16xf16>
  %1 = arith.truncf %y : f64 to f32
  return %0, %1 : vector<16xf16>, f32
}

// -----

// Changed: Arithmetic goes by way of f32; a change of sign needs no rounding.
// CHECK-LABEL: func.func @sum
// CHECK: %[[A:.*]] = arith.extf %arg0 : vector<8xbf16> to vector<8xf32>
// CHECK: %[[B:.*]] = arith.extf %arg1 : vector<8xbf16> to vector<8xf32>
// CHECK: arith.addf %[[A]], %[[B]] : vector<8xf32>
// CHECK-NOT: arith.truncf
// CHECK: arith.negf %{{.*}} : vector<8xbf16>
func.func @sum(%x: vector<8xbf16>, %y: vector<8xbf16>) -> vector<8xbf16> {
  %0 = arith.addf %x, %y : vector<8xbf16>
  %1 = arith.negf %0 : vector<8xbf16>
  return %1 : vector<8xbf16>
}

// -----

// CHECK-LABEL: func.func @largest
// CHECK: %[[X:.*]] = arith.extf %arg0 : vector<8xbf16> to vector<8xf32>
// CHECK: vector.reduction <maximumf>, %[[X]] : vector<8xf32> into f32
// CHECK-NOT: arith.truncf
// CHECK: return
func.func @largest(%x: vector<8xbf16>) -> bf16 {
  %0 = vector.reduction <maximumf>, %x : vector<8xbf16> into bf16
  return %0 : bf16
}

// -----

// Declined: From f64, which widen-half-floats rounds by way of f32.
// CHECK-LABEL: func.func @doubles
// CHECK-NEXT: arith.truncf %arg0 : f64 to bf16
// CHECK-NEXT: return
func.func @doubles(%x: f64) -> bf16 {
  %0 = arith.truncf %x : f64 to bf16
  return %0 : bf16
}

// -----

module attributes {hloom.target = {bf16_dot = true}} {
  // Changed: Whole registers by an instruction, where no element is a NaN or below the normal numbers.
  // CHECK-LABEL: func.func @by_instruction
  // CHECK-DAG: %[[LOWER:.*]] = vector.extract_strided_slice %{{.*}} {offsets = [0], sizes = [16]
  // CHECK-DAG: %[[UPPER:.*]] = vector.extract_strided_slice %{{.*}} {offsets = [16], sizes = [16]
  // CHECK-DAG: %[[A:.*]] = llvm.call_intrinsic "llvm.x86.avx512.fpclass.ps.512"(%[[LOWER]], %c161_i32)
  // CHECK-DAG: %[[B:.*]] = llvm.call_intrinsic "llvm.x86.avx512.fpclass.ps.512"(%[[UPPER]], %c161_i32)
  // CHECK: %[[EITHER:.*]] = arith.ori %[[A]], %[[B]] : vector<16xi1>
  // CHECK: %[[RARE:.*]] = vector.reduction <or>, %[[EITHER]]
  // CHECK: scf.if %[[RARE]]
  // CHECK: arith.cmpf uno
  // CHECK: } else {
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.cvtne2ps2bf16.512"(%[[UPPER]], %[[LOWER]])
  func.func @by_instruction(%x: vector<32xf32>) -> vector<32xbf16> {
    %y = arith.truncf %x : vector<32xf32> to vector<32xbf16>
    return %y : vector<32xbf16>
  }

  // Changed: One register alone.
  // CHECK-LABEL: func.func @one_register
  // CHECK: llvm.call_intrinsic "llvm.x86.avx512bf16.cvtneps2bf16.512"(%{{.*}}) : (vector<16xf32>) -> vector<16xbf16>
  func.func @one_register(%x: vector<16xf32>) -> vector<16xbf16> {
    %y = arith.truncf %x : vector<16xf32> to vector<16xbf16>
    return %y : vector<16xbf16>
  }

  // Changed: One branch for two vectors that are stored after both are rounded; another one for what is rounded behind a store.
  // CHECK-LABEL: func.func @together
  // CHECK: %[[BOTH:.*]]:2 = scf.if
  // CHECK: cvtneps2bf16
  // CHECK-NEXT: vector.shape_cast
  // CHECK-NEXT: cvtneps2bf16
  // CHECK: vector.store %[[BOTH]]#0
  // CHECK: vector.store %[[BOTH]]#1
  // CHECK: scf.if
  func.func @together(%x: vector<16xf32>, %y: vector<16xf32>, %m: memref<48xbf16>) {
    %c0 = arith.constant 0 : index
    %c16 = arith.constant 16 : index
    %c32 = arith.constant 32 : index
    %0 = arith.truncf %x : vector<16xf32> to vector<16xbf16>
    %sum = arith.addf %x, %y : vector<16xf32>
    %1 = arith.truncf %sum : vector<16xf32> to vector<16xbf16>
    vector.store %0, %m[%c0] : memref<48xbf16>, vector<16xbf16>
    vector.store %1, %m[%c16] : memref<48xbf16>, vector<16xbf16>
    %2 = arith.truncf %y : vector<16xf32> to vector<16xbf16>
    vector.store %2, %m[%c32] : memref<48xbf16>, vector<16xbf16>
    return
  }

  // Declined: By the instruction, part of a register, and what is extended again.
  // CHECK-LABEL: func.func @by_integers
  // CHECK-NOT: llvm.call_intrinsic
  // CHECK: return
  func.func @by_integers(%x: vector<12xf32>, %y: vector<16xf32>) -> (vector<12xbf16>, vector<16xf32>) {
    %0 = arith.truncf %x : vector<12xf32> to vector<12xbf16>
    %1 = arith.truncf %y : vector<16xf32> to vector<16xbf16>
    %2 = arith.extf %1 : vector<16xbf16> to vector<16xf32>
    return %0, %2 : vector<12xbf16>, vector<16xf32>
  }
}

// -----

// Changed: A NaN that bf16 or an operation made is its own rounding: sums of bf16 on the stack, scaled by a power of two, are not asked for one.
// CHECK-LABEL: func.func @short_nans
// CHECK-NOT: arith.cmpf
// CHECK: arith.trunci %{{.*}} : vector<8xi32> to vector<8xi16>
// CHECK: return
func.func @short_nans(%x: memref<8xbf16>, %y: memref<8xbf16>) {
  %c0 = arith.constant 0 : index
  %c23 = arith.constant dense<23> : vector<8xi32>
  %stack = memref.alloca() : memref<8xf32>
  %0 = vector.load %x[%c0] : memref<8xbf16>, vector<8xbf16>
  %1 = arith.extf %0 : vector<8xbf16> to vector<8xf32>
  vector.store %1, %stack[%c0] : memref<8xf32>, vector<8xf32>
  %2 = vector.load %stack[%c0] : memref<8xf32>, vector<8xf32>
  %3 = arith.fptosi %2 : vector<8xf32> to vector<8xi32>
  %4 = arith.shli %3, %c23 : vector<8xi32>
  %5 = arith.bitcast %4 : vector<8xi32> to vector<8xf32>
  %6 = arith.mulf %1, %5 : vector<8xf32>
  %7 = arith.truncf %6 : vector<8xf32> to vector<8xbf16>
  vector.store %7, %y[%c0] : memref<8xbf16>, vector<8xbf16>
  return
}

// -----

// Declined: A NaN of an f32 in memory, or of an f16, may hold what becomes no NaN by the rounding.
// CHECK-LABEL: func.func @long_nans
// CHECK: arith.cmpf uno
// CHECK-LABEL: func.func @long_nans_of_f16
// CHECK: arith.cmpf uno
// CHECK-LABEL: func.func @long_nans_of_bits
// CHECK: arith.cmpf uno
func.func @long_nans(%x: memref<8xf32>, %y: memref<8xbf16>) {
  %c0 = arith.constant 0 : index
  %0 = vector.load %x[%c0] : memref<8xf32>, vector<8xf32>
  %1 = arith.addf %0, %0 : vector<8xf32>
  %2 = arith.truncf %1 : vector<8xf32> to vector<8xbf16>
  vector.store %2, %y[%c0] : memref<8xbf16>, vector<8xbf16>
  return
}
func.func @long_nans_of_f16(%x: vector<8xf16>) -> vector<8xbf16> {
  %0 = arith.extf %x : vector<8xf16> to vector<8xf32>
  %1 = arith.truncf %0 : vector<8xf32> to vector<8xbf16>
  return %1 : vector<8xbf16>
}
func.func @long_nans_of_bits(%x: vector<8xi32>) -> vector<8xbf16> {
  %0 = arith.bitcast %x : vector<8xi32> to vector<8xf32>
  %1 = arith.truncf %0 : vector<8xf32> to vector<8xbf16>
  return %1 : vector<8xbf16>
}
