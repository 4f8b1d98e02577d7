// RUN: hloom-opt %s --split-input-file --verify-diagnostics --verify-lhlo

// Unchanged: Nothing to object to: i1 in bytes, an input and an output in one buffer that say so.
func.func private @f(tensor<4xi1>, tensor<4xui8>) -> tensor<4xui8>
func.func @main(%p: memref<4xi8>, %a: memref<4xi8>, %arena: memref<64xi8>) {
  %c0 = arith.constant 0 : index
  %t = memref.view %arena[%c0][] : memref<64xi8> to memref<4xi8>
  %0 = "lhlo.ref"(%p) : (memref<4xi8>) -> !lhlo.buffer
  %1 = "lhlo.ref"(%a) : (memref<4xi8>) -> !lhlo.buffer
  "lhlo.fusion"(%0, %1, %1) {callee = @f, inplace = array<i64: 1, 0>, source = [], operandSegmentSizes = array<i32: 2, 1>} : (!lhlo.buffer, !lhlo.buffer, !lhlo.buffer) -> ()
  "lhlo.copy"(%a, %t) : (memref<4xi8>, memref<4xi8>) -> ()
  return
}

// -----

// Declined: A group that is not there.
func.func @main(%a: memref<4xf32>, %arena: memref<0xi8>) {
  %0 = "lhlo.ref"(%a) : (memref<4xf32>) -> !lhlo.buffer
  // expected-error @+1 {{calls @gone, which is not a function of this module}}
  "lhlo.fusion"(%0) {callee = @gone, inplace = array<i64>, source = [], operandSegmentSizes = array<i32: 0, 1>} : (!lhlo.buffer) -> ()
  return
}

// -----

func.func private @f(tensor<4xi32>) -> tensor<4xi1>
func.func @main(%a: memref<4xf32>, %b: memref<4xi8>, %arena: memref<0xi8>) {
  %0 = "lhlo.ref"(%a) : (memref<4xf32>) -> !lhlo.buffer
  %1 = "lhlo.ref"(%b) : (memref<4xi8>) -> !lhlo.buffer
  // expected-error @+1 {{buffer 0 for @f is memref<4xf32>, expected memref<4xi32>}}
  "lhlo.fusion"(%0, %1) {callee = @f, inplace = array<i64>, source = [], operandSegmentSizes = array<i32: 1, 1>} : (!lhlo.buffer, !lhlo.buffer) -> ()
  return
}

// -----

// From the vector stage on the callee is a kernel over tile bounds and memrefs.
func.func private @f(index, index, memref<4xi32>)
func.func @main(%a: memref<4xf32>, %arena: memref<0xi8>) {
  %0 = "lhlo.ref"(%a) : (memref<4xf32>) -> !lhlo.buffer
  // expected-error @+1 {{buffer 0 for @f is memref<4xf32>, expected memref<4xi32>}}
  "lhlo.fusion"(%0) {callee = @f, inplace = array<i64>, source = [], operandSegmentSizes = array<i32: 0, 1>} : (!lhlo.buffer) -> ()
  return
}

// -----

func.func private @f(tensor<4xf32>) -> tensor<4xf32>
func.func @main(%a: memref<4xf32>, %b: memref<4xf32>, %arena: memref<0xi8>) {
  %0 = "lhlo.ref"(%a) : (memref<4xf32>) -> !lhlo.buffer
  %1 = "lhlo.ref"(%b) : (memref<4xf32>) -> !lhlo.buffer
  // expected-error @+1 {{input 0 and output 0 are declared in place, but are not one buffer}}
  "lhlo.fusion"(%0, %1) {callee = @f, inplace = array<i64: 0, 0>, source = [], operandSegmentSizes = array<i32: 1, 1>} : (!lhlo.buffer, !lhlo.buffer) -> ()
  return
}

// -----

func.func @main(%arena: memref<128xi8>) {
  %c96 = arith.constant 96 : index
  // expected-error @+1 {{offset 96 is not aligned to 64 bytes (and 1 more)}}
  %t = memref.view %arena[%c96][] : memref<128xi8> to memref<16xf32>
  return
}

// -----

func.func @main(%arena: memref<128xi8>) {
  %c64 = arith.constant 64 : index
  // expected-error @+1 {{bytes 64 to 132 lie outside the arena of 128}}
  %t = memref.view %arena[%c64][] : memref<128xi8> to memref<17xf32>
  return
}

// -----

func.func @main(%a: memref<4xf32>, %b: memref<4xi32>, %arena: memref<0xi8>) {
  // expected-error @+1 {{copies memref<4xf32> to memref<4xi32>}}
  "lhlo.copy"(%a, %b) : (memref<4xf32>, memref<4xi32>) -> ()
  return
}

// -----

func.func @main(%a: memref<4xf32>, %arena: memref<0xi8>) {
  // expected-error @+1 {{pattern of 2 bytes for elements of 4}}
  "lhlo.fill"(%a) {pattern = array<i8: 0, 0>} : (memref<4xf32>) -> ()
  return
}

// -----

func.func @main(%a: memref<i1>, %arena: memref<0xi8>) {
  // expected-error @+1 {{the predicate is memref<i1>, not memref<i8>}}
  "lhlo.while"(%a) ({}, {}) : (memref<i1>) -> ()
  return
}

// -----

func.func @main(%a: memref<i32>, %arena: memref<0xi8>) {
  // expected-error @+1 {{holds something else than one lhlo.branch or more}}
  "lhlo.case"(%a) ({}) : (memref<i32>) -> ()
  return
}

// -----

func.func @main(%arena: memref<0xi8>) {
  // expected-error @+1 {{stands outside of an lhlo.case}}
  "lhlo.branch"() ({}) : () -> ()
  return
}

// -----

func.func @main(%a: memref<2x3xf32>, %b: memref<3x4xf32>, %c: memref<2x4xf32>, %arena: memref<0xi8>) {
  // expected-error @+1 {{B reaches past its buffer memref<3x4xf32>}}
  "lhlo.gemm"(%a, %b, %c) {accumulate = 0 : i64, epilogue = "none", operandSegmentSizes = array<i32: 1, 1, 0, 1>, sizes = array<i64: 1, 2, 4, 3>, strides = array<i64: 1, 3, 1, 1, 5, 1, 8, 4, 1>, source = []} : (memref<2x3xf32>, memref<3x4xf32>, memref<2x4xf32>) -> ()
  return
}
