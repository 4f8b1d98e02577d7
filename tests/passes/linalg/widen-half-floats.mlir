// RUN: hloom-opt %s --widen-half-floats --split-input-file | filecheck %s

// Changed: bf16 is computed in f32 and rounded; a maximum is exact, so its reader takes the f32 and its bf16 is the upper half.
// CHECK-LABEL: func.func @bf16
// CHECK-DAG: %[[A:.*]] = arith.extf %arg0 : bf16 to f32
// CHECK-DAG: %[[B:.*]] = arith.extf %arg1 : bf16 to f32
// CHECK: %[[SUM:.*]] = arith.addf %[[A]], %[[B]] fastmath<contract> : f32
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[SUM]] : f32 to bf16
// CHECK: %[[AGAIN:.*]] = arith.extf %[[ROUNDED]] : bf16 to f32
// CHECK: %[[MAX:.*]] = arith.maximumf %[[AGAIN]], %{{.*}} : f32
// CHECK: %[[BITS:.*]] = arith.bitcast %[[MAX]] : f32 to i32
// CHECK: %[[UPPER:.*]] = arith.trunci %{{.*}} : i32 to i16
// CHECK: %[[BF16:.*]] = arith.bitcast %[[UPPER]] : i16 to bf16
// CHECK: arith.cmpf olt, %[[MAX]], %{{.*}} : f32
// CHECK: return %{{.*}}, %[[BF16]], %[[ROUNDED]] : i1, bf16, bf16
func.func @bf16(%a: bf16, %b: bf16) -> (i1, bf16, bf16) {
  %0 = arith.addf %a, %b fastmath<contract> : bf16
  %1 = arith.maximumf %0, %b : bf16
  %2 = arith.cmpf olt, %1, %b : bf16
  return %2, %1, %0 : i1, bf16, bf16
}

// -----

// Changed: What is rounded for a maximum and a minimum alone is rounded after them.
// CHECK-LABEL: func.func @clamp
// CHECK: %[[SUM:.*]] = arith.addf
// CHECK-NOT: arith.truncf
// CHECK: %[[MAX:.*]] = arith.maximumf %[[SUM]], %{{.*}} : f32
// CHECK-NOT: arith.truncf
// CHECK: %[[MIN:.*]] = arith.minimumf %[[MAX]], %{{.*}} : f32
// CHECK: %[[ROUNDED:.*]] = arith.truncf %[[MIN]] : f32 to bf16
// CHECK: return %[[ROUNDED]] : bf16
func.func @clamp(%a: bf16, %b: bf16, %c: bf16) -> bf16 {
  %0 = arith.addf %a, %b : bf16
  %1 = arith.maximumf %0, %b : bf16
  %2 = arith.minimumf %1, %c : bf16
  return %2 : bf16
}

// -----

// Changed: a clamp of f16 drops the rounding between its halves; what is made behind it is not taken for that.
// CHECK-LABEL: func.func @beside_a_clamp
// CHECK: %[[LESS:.*]] = arith.subf
// CHECK-NEXT: %[[ROUNDED:.*]] = arith.truncf %[[LESS]] : f32 to f16
// CHECK-NEXT: %[[EXTENDED:.*]] = arith.extf %[[ROUNDED]] : f16 to f32
// CHECK-NEXT: math.floor %[[EXTENDED]] : f32
func.func @beside_a_clamp(%a: f16, %b: f16, %c: f16) -> (f16, f16) {
  %0 = arith.maximumf %a, %b : f16
  %1 = arith.minimumf %0, %b : f16
  %2 = arith.subf %c, %a : f16
  %3 = math.floor %2 : f16
  return %1, %3 : f16, f16
}

// -----

// Changed: Not even a selection of bf16 is left.
// CHECK-LABEL: func.func @select
// CHECK: arith.select %arg0, %{{.*}}, %{{.*}} : f32
// CHECK-NOT: arith.truncf
func.func @select(%c: i1, %a: bf16, %b: bf16) -> bf16 {
  %0 = arith.select %c, %a, %b : bf16
  return %0 : bf16
}

// -----

// Declined: f16 where there are instructions for it.
// CHECK-LABEL: func.func @f16
// CHECK-NEXT: arith.mulf %{{.*}} : f16
// CHECK-NEXT: return
module attributes {hloom.target = {f16_arithmetic = true}} {
  func.func @f16(%a: f16, %b: f16) -> f16 {
    %0 = arith.mulf %a, %b : f16
    return %0 : f16
  }
}

// -----

// CHECK-LABEL: func.func @f16_without
// CHECK: arith.mulf %{{.*}} : f32
// CHECK: arith.truncf %{{.*}} : f32 to f16
// CHECK: arith.select %{{.*}} : f16
func.func @f16_without(%a: f16, %b: f16, %c: i1) -> f16 {
  %0 = arith.mulf %a, %b : f16
  %1 = arith.select %c, %0, %b : f16
  return %1 : f16
}

// -----

// Changed: From f64: rounded to odd in between. Other conversions and f32 arithmetic stay.
// CHECK-LABEL: func.func @from_f64
// CHECK: %[[NEAR:.*]] = arith.truncf %arg0 : f64 to f32
// CHECK: arith.cmpf one, %{{.*}}, %arg0 : f64
// CHECK: %[[ODD:.*]] = arith.bitcast %{{.*}} : i32 to f32
// CHECK: arith.truncf %[[ODD]] : f32 to bf16
// CHECK-NEXT: arith.extf %arg1 : bf16 to f32
// CHECK-NEXT: arith.addf %{{.*}} : f32
// CHECK-NEXT: return
func.func @from_f64(%x: f64, %a: bf16) -> (bf16, f32) {
  %0 = arith.truncf %x : f64 to bf16
  %1 = arith.extf %a : bf16 to f32
  %2 = arith.addf %1, %1 : f32
  return %0, %2 : bf16, f32
}

// -----

// Declined: The combination of a reduction stays in its type; what feeds it does not.
// CHECK-LABEL: func.func @reduction
// CHECK: ^bb0(%[[IN:.*]]: bf16, %[[OUT:.*]]: bf16):
// CHECK: arith.subf %{{.*}} : f32
// CHECK: %[[ROUNDED:.*]] = arith.truncf
// CHECK-NEXT: %[[MAX:.*]] = arith.maximumf %[[OUT]], %[[ROUNDED]] : bf16
// CHECK-NEXT: linalg.yield %[[MAX]] : bf16
func.func @reduction(%x: tensor<8x64xbf16>, %init: tensor<8xbf16>, %c: bf16) -> tensor<8xbf16> {
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<8x64xbf16>) outs(%init : tensor<8xbf16>) {
  ^bb0(%a: bf16, %max: bf16):
    %1 = arith.subf %a, %c : bf16
    %2 = arith.maximumf %max, %1 : bf16
    linalg.yield %2 : bf16
  } -> tensor<8xbf16>
  return %0 : tensor<8xbf16>
}

// -----

// Declined: The select that a scan of several values begins with.
// CHECK-LABEL: func.func @scan
// CHECK: arith.mulf %{{.*}} : f32
// CHECK: arith.select %{{.*}} : bf16
// CHECK-NOT: arith.bitcast
// CHECK: linalg.yield
func.func @scan(%x: tensor<64xbf16>, %init: tensor<bf16>, %out: tensor<64xbf16>) -> tensor<64xbf16> {
  %c0 = arith.constant 0 : index
  %0:2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["reduction"]}
      ins(%x : tensor<64xbf16>) outs(%init, %out : tensor<bf16>, tensor<64xbf16>) {
  ^bb0(%a: bf16, %sum: bf16, %each: bf16):
    %1 = arith.mulf %a, %a : bf16
    %2 = arith.addf %sum, %1 : bf16
    %3 = linalg.index 0 : index
    %4 = arith.cmpi eq, %3, %c0 : index
    %5 = arith.select %4, %1, %2 : bf16
    linalg.yield %5, %5 : bf16, bf16
  } -> (tensor<bf16>, tensor<64xbf16>)
  return %0#1 : tensor<64xbf16>
}

// -----

// Unchanged: f32.
// CHECK-LABEL: func.func @f32
// CHECK-NEXT: %[[S:.*]] = arith.addf %arg0, %arg0 : f32
// CHECK-NEXT: return %[[S]]
func.func @f32(%a: f32) -> f32 {
  %0 = arith.addf %a, %a : f32
  return %0 : f32
}
