// RUN: hloom-opt %s --lower-to-linalg --split-input-file | filecheck %s

// Changed: A scan has two results, the total so far and what it is at each element; the scanned loop is a reduction's.
// CHECK-DAG: #[[ALL:.*]] = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-DAG: #[[ROW:.*]] = affine_map<(d0, d1) -> (d0)>
// CHECK-LABEL: func.func private @rows(
// CHECK: %[[ZEROS:.*]] = linalg.fill
// CHECK: %[[S:.*]]:2 = linalg.generic {indexing_maps = [#[[ALL]], #[[ROW]], #[[ALL]]], iterator_types = ["parallel", "reduction"]} ins(%arg0 : tensor<4x16xf32>) outs(%[[ZEROS]], %{{.*}} : tensor<4xf32>, tensor<4x16xf32>)
// CHECK: ^bb0(%[[X:.*]]: f32, %[[TOTAL:.*]]: f32, %{{.*}}: f32):
// CHECK: %[[SUM:.*]] = arith.addf %[[TOTAL]], %[[X]]
// CHECK: linalg.yield %[[SUM]], %[[SUM]]
// CHECK: return %[[S]]#1
func.func private @rows(%x: tensor<4x16xf32>) -> tensor<4x16xf32> attributes {hloom.kind = "multi_reduce"} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[0, 0], [15, 0]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 16>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<4x16xf32>, tensor<f32>) -> tensor<4x16xf32>
  return %0 : tensor<4x16xf32>
}

// -----

// Changed: A longer body, of which whoever built it says that it is associative.
// CHECK-LABEL: func.func private @said(
// CHECK: linalg.generic {{.*}}iterator_types = ["reduction"]} ins(%arg0 : tensor<16xf32>) outs(%{{.*}}, %{{.*}} : tensor<f32>, tensor<16xf32>)
func.func private @said(%x: tensor<16xf32>) -> tensor<16xf32> attributes {hloom.kind = "multi_reduce"} {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %zero) <{padding = dense<[[15, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 16>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.abs %a : tensor<f32>
    %d = stablehlo.abs %b : tensor<f32>
    %s = stablehlo.add %c, %d : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {hloom.associative} : (tensor<16xf32>, tensor<f32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// Unchanged: A window that starts from 1, which adding does not leave as it is.
// CHECK-LABEL: func.func private @window(
// CHECK-NOT: linalg.generic {{.*}}outs({{.*}}, {{.*}})
// CHECK: return
func.func private @window(%x: tensor<19xf32>) -> tensor<16xf32> attributes {hloom.kind = "reduce"} {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = "stablehlo.reduce_window"(%x, %one) <{window_dimensions = array<i64: 4>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<19xf32>, tensor<f32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// Changed: A recurrence, of which the sums alone are read: two totals, one result; the first elements are results as they are.
// CHECK-LABEL: func.func private @recurrence(
// CHECK: %[[S:.*]]:3 = linalg.generic {{.*}}iterator_types = ["reduction"]} ins(%arg0, %arg1 : tensor<16xf32>, tensor<16xf32>)
// CHECK: ^bb0(%[[A:.*]]: f32, %[[E:.*]]: f32, %[[P:.*]]: f32, %[[T:.*]]: f32, %{{.*}}: f32):
// CHECK: %[[Q:.*]] = arith.mulf %[[P]], %[[A]]
// CHECK: %[[N:.*]] = arith.addf
// CHECK: %[[FIRST:.*]] = arith.cmpi eq
// CHECK: %[[U:.*]] = arith.select %[[FIRST]], %[[A]], %[[Q]]
// CHECK: %[[V:.*]] = arith.select %[[FIRST]], %[[E]], %[[N]]
// CHECK: linalg.yield %[[U]], %[[V]], %[[V]] : f32, f32, f32
// CHECK: return %[[S]]#2
func.func private @recurrence(%a: tensor<16xf32>, %e: tensor<16xf32>) -> tensor<16xf32> attributes {hloom.kind = "multi_reduce"} {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %zero = stablehlo.constant dense<-0.0> : tensor<f32>
  %0:2 = "stablehlo.reduce_window"(%a, %e, %one, %zero) <{padding = dense<[[15, 0]]> : tensor<1x2xi64>, window_dimensions = array<i64: 16>}> ({
  ^bb0(%p: tensor<f32>, %t: tensor<f32>, %f: tensor<f32>, %v: tensor<f32>):
    %1 = stablehlo.multiply %p, %f : tensor<f32>
    %2 = stablehlo.multiply %f, %t : tensor<f32>
    %3 = stablehlo.add %2, %v : tensor<f32>
    stablehlo.return %1, %3 : tensor<f32>, tensor<f32>
  }) {hloom.associative} : (tensor<16xf32>, tensor<16xf32>, tensor<f32>, tensor<f32>) -> (tensor<16xf32>, tensor<16xf32>)
  return %0#1 : tensor<16xf32>
}
