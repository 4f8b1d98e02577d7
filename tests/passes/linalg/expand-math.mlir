// RUN: hloom-opt %s --expand-math --split-input-file | filecheck %s

// Changed: One scalar op a step inside the linalg body; no call and no math op without an instruction is left.
// CHECK-LABEL: func.func @exp
// CHECK: linalg.generic
// CHECK-NOT: math.exp
// CHECK-NOT: call
// CHECK: arith.cmpf olt
// CHECK-NEXT: arith.select
// CHECK-NEXT: arith.cmpf ogt
// CHECK-NEXT: arith.select
// CHECK-NEXT: math.fma
// CHECK: arith.bitcast
// CHECK: %[[S:.*]] = arith.mulf
// CHECK-NEXT: %[[R:.*]] = arith.mulf %[[S]]
// CHECK-NEXT: linalg.yield %[[R]] : f32
#id = affine_map<(d0) -> (d0)>
func.func @exp(%a: tensor<100xf32>) -> tensor<100xf32> {
  %empty = tensor.empty() : tensor<100xf32>
  %r = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%a : tensor<100xf32>) outs(%empty : tensor<100xf32>) {
  ^bb0(%x: f32, %out: f32):
    %y = math.exp %x : f32
    linalg.yield %y : f32
  } -> tensor<100xf32>
  return %r : tensor<100xf32>
}

// -----

// Changed: Large arguments are reduced in a branch for rare lanes; its region holds integer arithmetic and no call.
// CHECK-LABEL: func.func @sin
// CHECK: %[[LARGE:.*]] = arith.cmpf oge
// CHECK: scf.if %[[LARGE]] -> (f32, i32) {
// CHECK-NOT: call
// CHECK: arith.muli {{.*}} : i64
// CHECK: } else {
// CHECK-NEXT: scf.yield
// CHECK-NOT: math.sin
// CHECK: return
func.func @sin(%x: f32) -> f32 {
  %y = math.sin %x : f32
  return %y : f32
}

// -----

// On vectors the branch is taken if any lane needs it, and each lane picks.
// CHECK-LABEL: func.func @cos_of_vector
// CHECK: %[[LARGE:.*]] = arith.cmpf oge, {{.*}} : vector<2x8xf32>
// CHECK-NEXT: %[[FLAT:.*]] = vector.shape_cast %[[LARGE]] : vector<2x8xi1> to vector<16xi1>
// CHECK-NEXT: %[[ANY:.*]] = vector.reduction <or>, %[[FLAT]] : vector<16xi1> into i1
// CHECK-NEXT: scf.if %[[ANY]] -> (vector<2x8xf32>, vector<2x8xi32>) {
// CHECK: arith.select %[[LARGE]], {{.*}} : vector<2x8xi1>, vector<2x8xf32>
// CHECK: } else {
func.func @cos_of_vector(%x: vector<2x8xf32>) -> vector<2x8xf32> {
  %y = math.cos %x : vector<2x8xf32>
  return %y : vector<2x8xf32>
}

// -----

// Half precision goes by way of f32.
// CHECK-LABEL: func.func @half
// CHECK: %[[X:.*]] = arith.extf %{{.*}} : bf16 to f32
// CHECK-NOT: math.tanh
// CHECK: arith.divf {{.*}} : f32
// CHECK: %[[Y:.*]] = arith.truncf %{{.*}} : f32 to bf16
// CHECK-NEXT: return %[[Y]] : bf16
func.func @half(%x: bf16) -> bf16 {
  %y = math.tanh %x : bf16
  return %y : bf16
}

// -----

// Two operands, of which the exponent is widened.
// CHECK-LABEL: func.func @fpowi
// CHECK: arith.extsi %arg1 : i32 to i64
// CHECK-NOT: math.fpowi
// CHECK: return
func.func @fpowi(%x: f32, %n: i32) -> f32 {
  %y = math.fpowi %x, %n : f32, i32
  return %y : f32
}

// -----

// A square is a multiplication, whichever width.
// CHECK-LABEL: func.func @square
// CHECK: %[[S:.*]] = arith.mulf %arg0, %arg0 : f32
// CHECK-NOT: math
// CHECK: arith.mulf %arg1, %arg1 : vector<4xf64>
// CHECK-NEXT: return
func.func @square(%x: f32, %y: vector<4xf64>) -> (f32, vector<4xf64>) {
  %two = arith.constant 2.0 : f32
  %twos = arith.constant dense<2.0> : vector<4xf64>
  %a = math.powf %x, %two : f32
  %b = math.powf %y, %twos : vector<4xf64>
  return %a, %b : f32, vector<4xf64>
}

// -----

// A power of two is 2^x, on which no logarithm is taken.
// CHECK-LABEL: func.func @power_of_two
// CHECK-NOT: math.powf
// CHECK: %[[N:.*]] = arith.subf
// CHECK-NEXT: arith.subf %{{.*}}, %[[N]] : f32
// CHECK-NOT: math.powf
// CHECK: return
func.func @power_of_two(%x: f32) -> f32 {
  %two = arith.constant 2.0 : f32
  %a = math.powf %two, %x : f32
  return %a : f32
}

// -----

// The remainder of a large quotient stays a remainder, marked, so that a second run leaves it.
// CHECK-LABEL: func.func @remainder
// CHECK: math.trunc
// CHECK: scf.if
// CHECK-NEXT: arith.remf %arg0, %arg1 {hloom.native} : f32
// CHECK-NEXT: scf.yield
// CHECK-NOT: arith.remf
// CHECK: return
func.func @remainder(%x: f32, %y: f32) -> f32 {
  %r = arith.remf %x, %y : f32
  return %r : f32
}

// -----

// Declined: What is an instruction, and what the library leaves to libm, stay as they are.
// CHECK-LABEL: func.func @left_alone
// CHECK-NEXT: math.sqrt %arg0 : f32
// CHECK-NEXT: math.fma
// CHECK-NEXT: math.floor
// CHECK-NEXT: math.copysign
// CHECK-NEXT: math.absf
// CHECK-NEXT: math.roundeven
// CHECK-NEXT: math.sin %arg1 {hloom.native} : f64
// CHECK-NEXT: math.ctpop %arg2 : i32
// CHECK-NEXT: math.exp %arg3 : tensor<4xf32>
// CHECK-NEXT: math.exp %arg4 : vector<[4]xf32>
// CHECK-NEXT: arith.remsi
// CHECK-NEXT: return
func.func @left_alone(%x: f32, %d: f64, %i: i32, %t: tensor<4xf32>, %s: vector<[4]xf32>) {
  %0 = math.sqrt %x : f32
  %1 = math.fma %x, %x, %0 : f32
  %2 = math.floor %1 : f32
  %3 = math.copysign %2, %x : f32
  %4 = math.absf %3 : f32
  %5 = math.roundeven %4 : f32
  %7 = math.sin %d {hloom.native} : f64
  %8 = math.ctpop %i : i32
  %9 = math.exp %t : tensor<4xf32>
  %10 = math.exp %s : vector<[4]xf32>
  %11 = arith.remsi %i, %i : i32
  return
}

// -----

// Unchanged: Nothing to do: no op is added.
// CHECK-LABEL: func.func @no_math
// CHECK-NEXT: %[[R:.*]] = arith.addf %arg0, %arg0 : f32
// CHECK-NEXT: return %[[R]] : f32
func.func @no_math(%x: f32) -> f32 {
  %r = arith.addf %x, %x : f32
  return %r : f32
}
