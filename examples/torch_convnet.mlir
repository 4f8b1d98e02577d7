module {
  func.func public @main(%arg0: tensor<16x3x3x3xf32>, %arg1: tensor<16xf32>, %arg2: tensor<16xf32>, %arg3: tensor<16xf32>, %arg4: tensor<32x16x3x3xf32>, %arg5: tensor<32xf32>, %arg6: tensor<10x1568xf32>, %arg7: tensor<10xf32>, %arg8: tensor<16xf32>, %arg9: tensor<16xf32>, %arg10: tensor<1x3x32x32xf32>) -> tensor<1x10xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<16xf32>
    %cst_0 = stablehlo.constant dense<0.000000e+00> : tensor<1x16x32x32xf32>
    %cst_1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<1x32x7x7xf32>
    %cst_3 = arith.constant dense<1.000000e-05> : tensor<1xf64>
    %cst_4 = arith.constant dense<1> : tensor<1xi64>
    %0 = stablehlo.convolution(%arg10, %arg0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [1, 1], pad = [[1, 1], [1, 1]], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x32x32xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x32x32xf32>
    %1 = stablehlo.reshape %arg1 : (tensor<16xf32>) -> tensor<16x1x1xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [1, 2, 3] : (tensor<16x1x1xf32>) -> tensor<1x16x32x32xf32>
    %3 = stablehlo.add %0, %2 : tensor<1x16x32x32xf32>
    %4 = stablehlo.convert %cst_3 : (tensor<1xf64>) -> tensor<1xf32>
    %5 = stablehlo.reshape %4 : (tensor<1xf32>) -> tensor<f32>
    %6 = stablehlo.broadcast_in_dim %5, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %7 = stablehlo.add %arg9, %6 : tensor<16xf32>
    %8 = stablehlo.sqrt %7 : tensor<16xf32>
    %9 = stablehlo.divide %cst, %8 : tensor<16xf32>
    %10 = stablehlo.convert %cst_4 : (tensor<1xi64>) -> tensor<1xf32>
    %11 = stablehlo.reshape %10 : (tensor<1xf32>) -> tensor<f32>
    %12 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<f32>) -> tensor<16xf32>
    %13 = stablehlo.multiply %9, %12 : tensor<16xf32>
    %14 = stablehlo.reshape %arg8 : (tensor<16xf32>) -> tensor<16x1xf32>
    %15 = stablehlo.reshape %14 : (tensor<16x1xf32>) -> tensor<16x1x1xf32>
    %16 = stablehlo.reshape %13 : (tensor<16xf32>) -> tensor<16x1xf32>
    %17 = stablehlo.reshape %16 : (tensor<16x1xf32>) -> tensor<16x1x1xf32>
    %18 = stablehlo.broadcast_in_dim %15, dims = [1, 2, 3] : (tensor<16x1x1xf32>) -> tensor<1x16x32x32xf32>
    %19 = stablehlo.subtract %3, %18 : tensor<1x16x32x32xf32>
    %20 = stablehlo.broadcast_in_dim %17, dims = [1, 2, 3] : (tensor<16x1x1xf32>) -> tensor<1x16x32x32xf32>
    %21 = stablehlo.multiply %19, %20 : tensor<1x16x32x32xf32>
    %22 = stablehlo.reshape %arg2 : (tensor<16xf32>) -> tensor<16x1xf32>
    %23 = stablehlo.reshape %22 : (tensor<16x1xf32>) -> tensor<16x1x1xf32>
    %24 = stablehlo.broadcast_in_dim %23, dims = [1, 2, 3] : (tensor<16x1x1xf32>) -> tensor<1x16x32x32xf32>
    %25 = stablehlo.multiply %21, %24 : tensor<1x16x32x32xf32>
    %26 = stablehlo.reshape %arg3 : (tensor<16xf32>) -> tensor<16x1xf32>
    %27 = stablehlo.reshape %26 : (tensor<16x1xf32>) -> tensor<16x1x1xf32>
    %28 = stablehlo.broadcast_in_dim %27, dims = [1, 2, 3] : (tensor<16x1x1xf32>) -> tensor<1x16x32x32xf32>
    %29 = stablehlo.add %25, %28 : tensor<1x16x32x32xf32>
    %30 = stablehlo.maximum %29, %cst_0 : tensor<1x16x32x32xf32>
    %31 = "stablehlo.reduce_window"(%30, %cst_1) <{padding = dense<0> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
    ^bb0(%arg11: tensor<f32>, %arg12: tensor<f32>):
      %46 = stablehlo.maximum %arg11, %arg12 : tensor<f32>
      stablehlo.return %46 : tensor<f32>
    }) : (tensor<1x16x32x32xf32>, tensor<f32>) -> tensor<1x16x16x16xf32>
    %32 = stablehlo.convolution(%31, %arg4) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], pad = [[0, 0], [0, 0]], rhs_dilate = [1, 1]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x16x16x16xf32>, tensor<32x16x3x3xf32>) -> tensor<1x32x7x7xf32>
    %33 = stablehlo.reshape %arg5 : (tensor<32xf32>) -> tensor<32x1x1xf32>
    %34 = stablehlo.broadcast_in_dim %33, dims = [1, 2, 3] : (tensor<32x1x1xf32>) -> tensor<1x32x7x7xf32>
    %35 = stablehlo.add %32, %34 : tensor<1x32x7x7xf32>
    %36 = stablehlo.maximum %35, %cst_2 : tensor<1x32x7x7xf32>
    %37 = stablehlo.reshape %36 : (tensor<1x32x7x7xf32>) -> tensor<1x1568xf32>
    %38 = stablehlo.transpose %arg6, dims = [1, 0] : (tensor<10x1568xf32>) -> tensor<1568x10xf32>
    %39 = stablehlo.dot_general %37, %38, contracting_dims = [1] x [0] : (tensor<1x1568xf32>, tensor<1568x10xf32>) -> tensor<1x10xf32>
    %40 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<f32>) -> tensor<1x10xf32>
    %41 = stablehlo.multiply %39, %40 : tensor<1x10xf32>
    %42 = stablehlo.broadcast_in_dim %11, dims = [] : (tensor<f32>) -> tensor<10xf32>
    %43 = stablehlo.multiply %arg7, %42 : tensor<10xf32>
    %44 = stablehlo.broadcast_in_dim %43, dims = [1] : (tensor<10xf32>) -> tensor<1x10xf32>
    %45 = stablehlo.add %41, %44 : tensor<1x10xf32>
    return %45 : tensor<1x10xf32>
  }
}
