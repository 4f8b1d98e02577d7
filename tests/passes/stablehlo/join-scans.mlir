// RUN: hloom-opt %s --join-scans --split-input-file | filecheck %s

// Changed: Maxima of five elements, in two levels: the scan of them all.
// CHECK-LABEL: func.func @maxima(
// CHECK-NOT: stablehlo.slice
// CHECK: %[[LOW:.*]] = stablehlo.constant dense<0xFF800000> : tensor<f32>
// CHECK: %[[S:.*]] = "stablehlo.reduce_window"(%arg0, %[[LOW]]) <{padding = dense<{{\[\[}}0, 0], [4, 0]]>{{.*}}window_dimensions = array<i64: 1, 5>
// CHECK: stablehlo.maximum
// CHECK: return %[[S]]
func.func @maxima(%arg0: tensor<2x5xf32>) -> (tensor<2x5xf32>) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.slice %arg0 [0:2, 0:4:2] : (tensor<2x5xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.slice %arg0 [0:2, 1:5:2] : (tensor<2x5xf32>) -> tensor<2x2xf32>
  %2 = stablehlo.maximum %0, %1 : tensor<2x2xf32>
  %3 = stablehlo.slice %2 [0:2, 0:1:2] : (tensor<2x2xf32>) -> tensor<2x1xf32>
  %4 = stablehlo.slice %2 [0:2, 1:2:2] : (tensor<2x2xf32>) -> tensor<2x1xf32>
  %5 = stablehlo.maximum %3, %4 : tensor<2x1xf32>
  %6 = stablehlo.slice %5 [0:2, 0:0] : (tensor<2x1xf32>) -> tensor<2x0xf32>
  %7 = stablehlo.slice %2 [0:2, 2:2:2] : (tensor<2x2xf32>) -> tensor<2x0xf32>
  %8 = stablehlo.maximum %6, %7 : tensor<2x0xf32>
  %9 = stablehlo.slice %2 [0:2, 0:1] : (tensor<2x2xf32>) -> tensor<2x1xf32>
  %10 = stablehlo.concatenate %9, %8, dim = 1 : (tensor<2x1xf32>, tensor<2x0xf32>) -> tensor<2x1xf32>
  %11 = stablehlo.pad %10, %cst, low = [0, 0], high = [0, 1], interior = [0, 1] : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x2xf32>
  %12 = stablehlo.pad %5, %cst, low = [0, 1], high = [0, 0], interior = [0, 1] : (tensor<2x1xf32>, tensor<f32>) -> tensor<2x2xf32>
  %13 = stablehlo.add %11, %12 : tensor<2x2xf32>
  %14 = stablehlo.slice %arg0 [0:2, 2:5:2] : (tensor<2x5xf32>) -> tensor<2x2xf32>
  %15 = stablehlo.maximum %13, %14 : tensor<2x2xf32>
  %16 = stablehlo.slice %arg0 [0:2, 0:1] : (tensor<2x5xf32>) -> tensor<2x1xf32>
  %17 = stablehlo.concatenate %16, %15, dim = 1 : (tensor<2x1xf32>, tensor<2x2xf32>) -> tensor<2x3xf32>
  %18 = stablehlo.pad %17, %cst, low = [0, 0], high = [0, 0], interior = [0, 1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x5xf32>
  %19 = stablehlo.pad %13, %cst, low = [0, 1], high = [0, 1], interior = [0, 1] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x5xf32>
  %20 = stablehlo.add %18, %19 : tensor<2x5xf32>
  return %20 : tensor<2x5xf32>
}

// -----

// Changed: A recurrence: the products of the factors, and the sums, are reduced together.
// CHECK-LABEL: func.func @recurrence(
// CHECK-NOT: stablehlo.slice
// CHECK: %[[S:.*]]:2 = "stablehlo.reduce_window"(%arg0, %arg1, %{{.*}}, %{{.*}}) <{padding = dense<{{\[\[}}3, 0]]>
// CHECK: ^bb0(%[[P:.*]]: tensor<f32>, %[[T:.*]]: tensor<f32>, %[[A:.*]]: tensor<f32>, %[[E:.*]]: tensor<f32>):
// CHECK-DAG: %[[Q:.*]] = stablehlo.multiply %[[P]], %[[A]]
// CHECK-DAG: %[[M:.*]] = stablehlo.multiply %[[A]], %[[T]]
// CHECK: %[[N:.*]] = stablehlo.add %[[M]], %[[E]]
// CHECK: stablehlo.return %[[Q]], %[[N]]
// CHECK: {hloom.associative}
// CHECK: return %[[S]]#1
func.func @recurrence(%arg0: tensor<4xf32>, %arg1: tensor<4xf32>) -> (tensor<4xf32>) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.slice %arg0 [0:3:2] : (tensor<4xf32>) -> tensor<2xf32>
  %1 = stablehlo.slice %arg1 [0:3:2] : (tensor<4xf32>) -> tensor<2xf32>
  %2 = stablehlo.slice %arg0 [1:4:2] : (tensor<4xf32>) -> tensor<2xf32>
  %3 = stablehlo.slice %arg1 [1:4:2] : (tensor<4xf32>) -> tensor<2xf32>
  %4 = stablehlo.multiply %0, %2 : tensor<2xf32>
  %5 = stablehlo.multiply %2, %1 : tensor<2xf32>
  %6 = stablehlo.add %5, %3 : tensor<2xf32>
  %7 = stablehlo.slice %6 [0:1:2] : (tensor<2xf32>) -> tensor<1xf32>
  %8 = stablehlo.slice %4 [1:2:2] : (tensor<2xf32>) -> tensor<1xf32>
  %9 = stablehlo.slice %6 [1:2:2] : (tensor<2xf32>) -> tensor<1xf32>
  %10 = stablehlo.multiply %8, %7 : tensor<1xf32>
  %11 = stablehlo.add %10, %9 : tensor<1xf32>
  %12 = stablehlo.slice %11 [0:0] : (tensor<1xf32>) -> tensor<0xf32>
  %13 = stablehlo.slice %4 [2:2:2] : (tensor<2xf32>) -> tensor<0xf32>
  %14 = stablehlo.slice %6 [2:2:2] : (tensor<2xf32>) -> tensor<0xf32>
  %15 = stablehlo.multiply %13, %12 : tensor<0xf32>
  %16 = stablehlo.add %15, %14 : tensor<0xf32>
  %17 = stablehlo.slice %6 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
  %18 = stablehlo.concatenate %17, %16, dim = 0 : (tensor<1xf32>, tensor<0xf32>) -> tensor<1xf32>
  %19 = stablehlo.pad %18, %cst, low = [0], high = [1], interior = [1] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
  %20 = stablehlo.pad %11, %cst, low = [1], high = [0], interior = [1] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
  %21 = stablehlo.add %19, %20 : tensor<2xf32>
  %22 = stablehlo.slice %21 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
  %23 = stablehlo.slice %arg0 [2:4:2] : (tensor<4xf32>) -> tensor<1xf32>
  %24 = stablehlo.slice %arg1 [2:4:2] : (tensor<4xf32>) -> tensor<1xf32>
  %25 = stablehlo.multiply %23, %22 : tensor<1xf32>
  %26 = stablehlo.add %25, %24 : tensor<1xf32>
  %27 = stablehlo.slice %arg1 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
  %28 = stablehlo.concatenate %27, %26, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  %29 = stablehlo.pad %28, %cst, low = [0], high = [1], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  %30 = stablehlo.pad %21, %cst, low = [1], high = [0], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  %31 = stablehlo.add %29, %30 : tensor<4xf32>
  return %31 : tensor<4xf32>
}

// -----

// Declined: Differences are not associative: the tree stays.
// CHECK-LABEL: func.func @differences(
// CHECK-NOT: reduce_window
func.func @differences(%arg0: tensor<4xf32>) -> (tensor<4xf32>) {
  %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
  %0 = stablehlo.slice %arg0 [0:3:2] : (tensor<4xf32>) -> tensor<2xf32>
  %1 = stablehlo.slice %arg0 [1:4:2] : (tensor<4xf32>) -> tensor<2xf32>
  %2 = stablehlo.subtract %0, %1 : tensor<2xf32>
  %3 = stablehlo.slice %2 [0:1:2] : (tensor<2xf32>) -> tensor<1xf32>
  %4 = stablehlo.slice %2 [1:2:2] : (tensor<2xf32>) -> tensor<1xf32>
  %5 = stablehlo.subtract %3, %4 : tensor<1xf32>
  %6 = stablehlo.slice %5 [0:0] : (tensor<1xf32>) -> tensor<0xf32>
  %7 = stablehlo.slice %2 [2:2:2] : (tensor<2xf32>) -> tensor<0xf32>
  %8 = stablehlo.subtract %6, %7 : tensor<0xf32>
  %9 = stablehlo.slice %2 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
  %10 = stablehlo.concatenate %9, %8, dim = 0 : (tensor<1xf32>, tensor<0xf32>) -> tensor<1xf32>
  %11 = stablehlo.pad %10, %cst, low = [0], high = [1], interior = [1] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
  %12 = stablehlo.pad %5, %cst, low = [1], high = [0], interior = [1] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
  %13 = stablehlo.add %11, %12 : tensor<2xf32>
  %14 = stablehlo.slice %13 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
  %15 = stablehlo.slice %arg0 [2:4:2] : (tensor<4xf32>) -> tensor<1xf32>
  %16 = stablehlo.subtract %14, %15 : tensor<1xf32>
  %17 = stablehlo.slice %arg0 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
  %18 = stablehlo.concatenate %17, %16, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  %19 = stablehlo.pad %18, %cst, low = [0], high = [1], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  %20 = stablehlo.pad %13, %cst, low = [1], high = [0], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  %21 = stablehlo.add %19, %20 : tensor<4xf32>
  return %21 : tensor<4xf32>
}

// -----

// Unchanged: Pads that are no level of a scan: the odd places hold the elements themselves.
// CHECK-LABEL: func.func @interleaved(
// CHECK-NOT: reduce_window
func.func @interleaved(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %zero, low = [0], high = [1], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.pad %y, %zero, low = [1], high = [0], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Changed: For a GPU, too.
// CHECK-LABEL: func.func @for_a_gpu(
// CHECK: "stablehlo.reduce_window"(%arg0
module attributes {hloom.target = {kind = "cuda"}} {
  func.func @for_a_gpu(%arg0: tensor<4xf32>) -> (tensor<4xf32>) {
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.slice %arg0 [0:3:2] : (tensor<4xf32>) -> tensor<2xf32>
    %1 = stablehlo.slice %arg0 [1:4:2] : (tensor<4xf32>) -> tensor<2xf32>
    %2 = stablehlo.add %0, %1 : tensor<2xf32>
    %3 = stablehlo.slice %2 [0:1:2] : (tensor<2xf32>) -> tensor<1xf32>
    %4 = stablehlo.slice %2 [1:2:2] : (tensor<2xf32>) -> tensor<1xf32>
    %5 = stablehlo.add %3, %4 : tensor<1xf32>
    %6 = stablehlo.slice %5 [0:0] : (tensor<1xf32>) -> tensor<0xf32>
    %7 = stablehlo.slice %2 [2:2:2] : (tensor<2xf32>) -> tensor<0xf32>
    %8 = stablehlo.add %6, %7 : tensor<0xf32>
    %9 = stablehlo.slice %2 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    %10 = stablehlo.concatenate %9, %8, dim = 0 : (tensor<1xf32>, tensor<0xf32>) -> tensor<1xf32>
    %11 = stablehlo.pad %10, %cst, low = [0], high = [1], interior = [1] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
    %12 = stablehlo.pad %5, %cst, low = [1], high = [0], interior = [1] : (tensor<1xf32>, tensor<f32>) -> tensor<2xf32>
    %13 = stablehlo.add %11, %12 : tensor<2xf32>
    %14 = stablehlo.slice %13 [0:1] : (tensor<2xf32>) -> tensor<1xf32>
    %15 = stablehlo.slice %arg0 [2:4:2] : (tensor<4xf32>) -> tensor<1xf32>
    %16 = stablehlo.add %14, %15 : tensor<1xf32>
    %17 = stablehlo.slice %arg0 [0:1] : (tensor<4xf32>) -> tensor<1xf32>
    %18 = stablehlo.concatenate %17, %16, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
    %19 = stablehlo.pad %18, %cst, low = [0], high = [1], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
    %20 = stablehlo.pad %13, %cst, low = [1], high = [0], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
    %21 = stablehlo.add %19, %20 : tensor<4xf32>
    return %21 : tensor<4xf32>
  }
}
