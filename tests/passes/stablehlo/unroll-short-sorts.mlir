// RUN: hloom-opt %s --split-input-file --unroll-short-sorts --cse | filecheck %s

// Changed: Three rows of columns: neighbours are compared from behind, the least first; integers are their own keys.
// CHECK-LABEL: func.func @keys
// CHECK: %[[A:.*]] = stablehlo.slice %arg0 [0:1, 0:1000]
// CHECK: %[[B:.*]] = stablehlo.slice %arg0 [1:2, 0:1000]
// CHECK: %[[C:.*]] = stablehlo.slice %arg0 [2:3, 0:1000]
// CHECK: %[[S:.*]] = stablehlo.compare LT, %[[C]], %[[B]]
// CHECK: %[[B1:.*]] = stablehlo.select %[[S]], %[[C]], %[[B]]
// CHECK: %[[C1:.*]] = stablehlo.select %[[S]], %[[B]], %[[C]]
// CHECK: %[[T:.*]] = stablehlo.compare LT, %[[B1]], %[[A]]
// CHECK: %[[LEAST:.*]] = stablehlo.select %[[T]], %[[B1]], %[[A]]
// CHECK: %[[B2:.*]] = stablehlo.select %[[T]], %[[A]], %[[B1]]
// CHECK: %[[U:.*]] = stablehlo.compare LT, %[[C1]], %[[B2]]
// CHECK: %[[MIDDLE:.*]] = stablehlo.select %[[U]], %[[C1]], %[[B2]]
// CHECK: %[[GREATEST:.*]] = stablehlo.select %[[U]], %[[B2]], %[[C1]]
// CHECK: stablehlo.concatenate %[[LEAST]], %[[MIDDLE]], %[[GREATEST]], dim = 0
func.func @keys(%x: tensor<3x1000xi32>) -> tensor<3x1000xi32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<3x1000xi32>) -> tensor<3x1000xi32>
  return %0 : tensor<3x1000xi32>
}

// -----

// Changed: What floats are compared by is computed once for each, as integers that ascend with them, and moves with the places.
// CHECK-LABEL: func.func @total
// CHECK-DAG: %[[X:.*]] = stablehlo.slice %arg0 [0:1000, 0:1]
// CHECK-DAG: %[[I:.*]] = stablehlo.slice %arg1 [0:1000, 0:1]
// CHECK-DAG: %[[J:.*]] = stablehlo.slice %arg1 [0:1000, 1:2]
// CHECK: stablehlo.add %[[X]]
// CHECK: stablehlo.bitcast_convert
// CHECK: %[[K:.*]] = stablehlo.xor
// CHECK: stablehlo.bitcast_convert
// CHECK: %[[L:.*]] = stablehlo.xor
// CHECK: %[[SWAP:.*]] = stablehlo.compare GT, %[[L]], %[[K]]
// CHECK: stablehlo.select %[[SWAP]], %[[J]], %[[I]]
// CHECK: stablehlo.select %[[SWAP]], %[[I]], %[[J]]
// CHECK-NOT: stablehlo.compare
func.func @total(%x: tensor<1000x2xf32>, %i: tensor<1000x2xi32>) -> tensor<1000x2xi32> {
  %0:2 = "stablehlo.sort"(%x, %i) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %i0: tensor<i32>, %j0: tensor<i32>):
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %a0 = stablehlo.add %a, %z : tensor<f32>
    %b0 = stablehlo.add %b, %z : tensor<f32>
    %c = stablehlo.compare GT, %a0, %b0, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<1000x2xf32>, tensor<1000x2xi32>) -> (tensor<1000x2xf32>, tensor<1000x2xi32>)
  return %0#1 : tensor<1000x2xi32>
}

// -----

// Changed: A comparator of two keys is evaluated for each pair.
// CHECK-LABEL: func.func @two_keys
// CHECK-DAG: %[[X:.*]] = stablehlo.slice %arg0 [0:1000, 0:1]
// CHECK-DAG: %[[Y:.*]] = stablehlo.slice %arg0 [0:1000, 1:2]
// CHECK-DAG: %[[LESS:.*]] = stablehlo.compare LT, %[[Y]], %[[X]]
// CHECK-DAG: %[[LIKE:.*]] = stablehlo.compare EQ, %[[Y]], %[[X]]
// CHECK: %[[AND:.*]] = stablehlo.and %[[LIKE]]
// CHECK: %[[SWAP:.*]] = stablehlo.or %[[LESS]], %[[AND]]
// CHECK: stablehlo.select %[[SWAP]]
func.func @two_keys(%x: tensor<1000x2xi32>, %y: tensor<1000x2xi32>) -> tensor<1000x2xi32> {
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %0 = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %1 = stablehlo.compare EQ, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.compare LT, %c, %d : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %3 = stablehlo.and %1, %2 : tensor<i1>
    %4 = stablehlo.or %0, %3 : tensor<i1>
    stablehlo.return %4 : tensor<i1>
  }) : (tensor<1000x2xi32>, tensor<1000x2xi32>) -> (tensor<1000x2xi32>, tensor<1000x2xi32>)
  return %0#1 : tensor<1000x2xi32>
}

// -----

// Changed: Of rows of 16 two elements are read.
// CHECK-LABEL: func.func @two_of_sixteen
// CHECK-NOT: stablehlo.sort
// CHECK: return
func.func @two_of_sixteen(%x: tensor<1000x16xi32>) -> tensor<1000x2xi32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<1000x16xi32>) -> tensor<1000x16xi32>
  %1 = stablehlo.slice %0 [0:1000, 0:2] : (tensor<1000x16xi32>) -> tensor<1000x2xi32>
  return %1 : tensor<1000x2xi32>
}

// Declined: All of them are.
// CHECK-LABEL: func.func @all_of_sixteen
// CHECK: stablehlo.sort
func.func @all_of_sixteen(%x: tensor<1000x16xi32>) -> tensor<1000x16xi32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<1000x16xi32>) -> tensor<1000x16xi32>
  return %0 : tensor<1000x16xi32>
}

// Declined: Few rows.
// CHECK-LABEL: func.func @few_rows
// CHECK: stablehlo.sort
func.func @few_rows(%x: tensor<100x3xi32>) -> tensor<100x3xi32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<100x3xi32>) -> tensor<100x3xi32>
  return %0 : tensor<100x3xi32>
}

// -----

// Declined: A comparator of more than scalars.
// CHECK-LABEL: func.func @not_elementwise
// CHECK: stablehlo.sort
func.func @not_elementwise(%x: tensor<1000x3xi32>, %t: tensor<2xi32>) -> tensor<1000x3xi32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %s = stablehlo.slice %t [0:1] : (tensor<2xi32>) -> tensor<1xi32>
    %m = stablehlo.reshape %s : (tensor<1xi32>) -> tensor<i32>
    %c = stablehlo.multiply %a, %m : tensor<i32>
    %d = stablehlo.compare LT, %c, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %d : tensor<i1>
  }) : (tensor<1000x3xi32>) -> tensor<1000x3xi32>
  return %0 : tensor<1000x3xi32>
}

// -----

// Declined: GPUs.
module attributes {hloom.target = {name = "sm_90a", kind = "cuda"}} {
  // CHECK-LABEL: func.func @on_a_gpu
  // CHECK: stablehlo.sort
  func.func @on_a_gpu(%x: tensor<1000x3xi32>) -> tensor<1000x3xi32> {
    %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %c = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }) : (tensor<1000x3xi32>) -> tensor<1000x3xi32>
    return %0 : tensor<1000x3xi32>
  }
}

// -----

// Unchanged: Long rows.
// CHECK-LABEL: func.func @long_rows
// CHECK-NEXT: stablehlo.sort
func.func @long_rows(%x: tensor<1000x17xi32>) -> tensor<1000x17xi32> {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<1000x17xi32>) -> tensor<1000x17xi32>
  return %0 : tensor<1000x17xi32>
}
