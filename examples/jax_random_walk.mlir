module @jit_program attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<2xui32>) -> (tensor<2x100xf32> {jax.result_info = "result[0]"}, tensor<40xi32> {jax.result_info = "result[1]"}) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<40> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x100xf32>
    %1 = call @_threefry_split(%arg0) : (tensor<2xui32>) -> tensor<40x2xui32>
    %2 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<i32>) -> tensor<40xi32>
    %3:4 = stablehlo.while(%iterArg = %1, %iterArg_2 = %c_1, %iterArg_3 = %0, %iterArg_4 = %2) : tensor<40x2xui32>, tensor<i32>, tensor<2x100xf32>, tensor<40xi32>
    cond {
      %4 = stablehlo.compare LT, %iterArg_2, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %4 : tensor<i1>
    } do {
      %4 = func.call @dynamic_index_in_dim(%iterArg, %iterArg_2) : (tensor<40x2xui32>, tensor<i32>) -> tensor<2xui32>
      %5:2 = func.call @closed_call_0(%iterArg_3, %4) : (tensor<2x100xf32>, tensor<2xui32>) -> (tensor<2x100xf32>, tensor<i32>)
      %6 = func.call @dynamic_update_index_in_dim(%iterArg_4, %5#1, %iterArg_2) : (tensor<40xi32>, tensor<i32>, tensor<i32>) -> tensor<40xi32>
      %7 = stablehlo.add %iterArg_2, %c : tensor<i32>
      stablehlo.return %iterArg, %7, %5#0, %6 : tensor<40x2xui32>, tensor<i32>, tensor<2x100xf32>, tensor<40xi32>
    }
    return %3#2, %3#3 : tensor<2x100xf32>, tensor<40xi32>
  }
  func.func private @_threefry_split(%arg0: tensor<2xui32>) -> tensor<40x2xui32> {
    %c = stablehlo.constant dense<32> : tensor<ui64>
    %c_0 = stablehlo.constant dense<1> : tensor<ui64>
    %0 = stablehlo.slice %arg0 [0:1] : (tensor<2xui32>) -> tensor<1xui32>
    %1 = stablehlo.reshape %0 : (tensor<1xui32>) -> tensor<ui32>
    %2 = stablehlo.slice %arg0 [1:2] : (tensor<2xui32>) -> tensor<1xui32>
    %3 = stablehlo.reshape %2 : (tensor<1xui32>) -> tensor<ui32>
    %4 = stablehlo.iota dim = 0 : tensor<40xui64>
    %5 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui64>) -> tensor<40xui64>
    %6 = stablehlo.multiply %5, %4 : tensor<40xui64>
    %7 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui64>) -> tensor<40xui64>
    %8 = stablehlo.shift_right_logical %6, %7 : tensor<40xui64>
    %9 = stablehlo.convert %6 : (tensor<40xui64>) -> tensor<40xui32>
    %10 = stablehlo.convert %8 : (tensor<40xui64>) -> tensor<40xui32>
    %11:2 = call @threefry2x32(%1, %3, %10, %9) : (tensor<ui32>, tensor<ui32>, tensor<40xui32>, tensor<40xui32>) -> (tensor<40xui32>, tensor<40xui32>)
    %12 = stablehlo.broadcast_in_dim %11#0, dims = [0] : (tensor<40xui32>) -> tensor<40x1xui32>
    %13 = stablehlo.broadcast_in_dim %11#1, dims = [0] : (tensor<40xui32>) -> tensor<40x1xui32>
    %14 = stablehlo.concatenate %12, %13, dim = 1 : (tensor<40x1xui32>, tensor<40x1xui32>) -> tensor<40x2xui32>
    return %14 : tensor<40x2xui32>
  }
  func.func private @threefry2x32(%arg0: tensor<ui32>, %arg1: tensor<ui32>, %arg2: tensor<40xui32>, %arg3: tensor<40xui32>) -> (tensor<40xui32>, tensor<40xui32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<5> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<466688986> : tensor<ui32>
    %c_3 = stablehlo.constant dense<[13, 15, 26, 6]> : tensor<4xui32>
    %c_4 = stablehlo.constant dense<[17, 29, 16, 24]> : tensor<4xui32>
    %0 = stablehlo.xor %arg0, %arg1 : tensor<ui32>
    %1 = stablehlo.xor %0, %c_2 : tensor<ui32>
    %2 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<ui32>) -> tensor<40xui32>
    %3 = stablehlo.add %arg2, %2 : tensor<40xui32>
    %4 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<ui32>) -> tensor<40xui32>
    %5 = stablehlo.add %arg3, %4 : tensor<40xui32>
    %6:9 = stablehlo.while(%iterArg = %c_1, %iterArg_5 = %c_1, %iterArg_6 = %3, %iterArg_7 = %5, %iterArg_8 = %arg1, %iterArg_9 = %1, %iterArg_10 = %arg0, %iterArg_11 = %c_3, %iterArg_12 = %c_4) : tensor<i32>, tensor<i32>, tensor<40xui32>, tensor<40xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    cond {
      %7 = stablehlo.compare LT, %iterArg, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %7:8 = func.call @closed_call(%iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %iterArg_9, %iterArg_10, %iterArg_11, %iterArg_12) : (tensor<i32>, tensor<40xui32>, tensor<40xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<40xui32>, tensor<40xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %8 = stablehlo.add %iterArg, %c : tensor<i32>
      stablehlo.return %8, %7#0, %7#1, %7#2, %7#3, %7#4, %7#5, %7#6, %7#7 : tensor<i32>, tensor<i32>, tensor<40xui32>, tensor<40xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    }
    return %6#2, %6#3 : tensor<40xui32>, tensor<40xui32>
  }
  func.func private @closed_call(%arg0: tensor<i32>, %arg1: tensor<40xui32>, %arg2: tensor<40xui32>, %arg3: tensor<ui32>, %arg4: tensor<ui32>, %arg5: tensor<ui32>, %arg6: tensor<4xui32>, %arg7: tensor<4xui32>) -> (tensor<i32>, tensor<40xui32>, tensor<40xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) {
    %c = stablehlo.constant dense<32> : tensor<ui32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg0, %c_0 : tensor<i32>
    %1 = stablehlo.slice %arg6 [0:1] : (tensor<4xui32>) -> tensor<1xui32>
    %2 = stablehlo.reshape %1 : (tensor<1xui32>) -> tensor<ui32>
    %3 = stablehlo.add %arg1, %arg2 : tensor<40xui32>
    %4 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<ui32>) -> tensor<40xui32>
    %5 = stablehlo.shift_left %arg2, %4 : tensor<40xui32>
    %6 = stablehlo.subtract %c, %2 : tensor<ui32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<ui32>) -> tensor<40xui32>
    %8 = stablehlo.shift_right_logical %arg2, %7 : tensor<40xui32>
    %9 = stablehlo.or %5, %8 : tensor<40xui32>
    %10 = stablehlo.xor %3, %9 : tensor<40xui32>
    %11 = stablehlo.slice %arg6 [1:2] : (tensor<4xui32>) -> tensor<1xui32>
    %12 = stablehlo.reshape %11 : (tensor<1xui32>) -> tensor<ui32>
    %13 = stablehlo.add %3, %10 : tensor<40xui32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<ui32>) -> tensor<40xui32>
    %15 = stablehlo.shift_left %10, %14 : tensor<40xui32>
    %16 = stablehlo.subtract %c, %12 : tensor<ui32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<ui32>) -> tensor<40xui32>
    %18 = stablehlo.shift_right_logical %10, %17 : tensor<40xui32>
    %19 = stablehlo.or %15, %18 : tensor<40xui32>
    %20 = stablehlo.xor %13, %19 : tensor<40xui32>
    %21 = stablehlo.slice %arg6 [2:3] : (tensor<4xui32>) -> tensor<1xui32>
    %22 = stablehlo.reshape %21 : (tensor<1xui32>) -> tensor<ui32>
    %23 = stablehlo.add %13, %20 : tensor<40xui32>
    %24 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<ui32>) -> tensor<40xui32>
    %25 = stablehlo.shift_left %20, %24 : tensor<40xui32>
    %26 = stablehlo.subtract %c, %22 : tensor<ui32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<ui32>) -> tensor<40xui32>
    %28 = stablehlo.shift_right_logical %20, %27 : tensor<40xui32>
    %29 = stablehlo.or %25, %28 : tensor<40xui32>
    %30 = stablehlo.xor %23, %29 : tensor<40xui32>
    %31 = stablehlo.slice %arg6 [3:4] : (tensor<4xui32>) -> tensor<1xui32>
    %32 = stablehlo.reshape %31 : (tensor<1xui32>) -> tensor<ui32>
    %33 = stablehlo.add %23, %30 : tensor<40xui32>
    %34 = stablehlo.broadcast_in_dim %32, dims = [] : (tensor<ui32>) -> tensor<40xui32>
    %35 = stablehlo.shift_left %30, %34 : tensor<40xui32>
    %36 = stablehlo.subtract %c, %32 : tensor<ui32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [] : (tensor<ui32>) -> tensor<40xui32>
    %38 = stablehlo.shift_right_logical %30, %37 : tensor<40xui32>
    %39 = stablehlo.or %35, %38 : tensor<40xui32>
    %40 = stablehlo.xor %33, %39 : tensor<40xui32>
    %41 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<ui32>) -> tensor<40xui32>
    %42 = stablehlo.add %33, %41 : tensor<40xui32>
    %43 = stablehlo.broadcast_in_dim %arg4, dims = [] : (tensor<ui32>) -> tensor<40xui32>
    %44 = stablehlo.add %40, %43 : tensor<40xui32>
    %45 = stablehlo.add %arg0, %c_0 : tensor<i32>
    %46 = stablehlo.convert %45 : (tensor<i32>) -> tensor<ui32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [] : (tensor<ui32>) -> tensor<40xui32>
    %48 = stablehlo.add %44, %47 : tensor<40xui32>
    return %0, %42, %48, %arg4, %arg5, %arg3, %arg7, %arg6 : tensor<i32>, tensor<40xui32>, tensor<40xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
  }
  func.func private @dynamic_index_in_dim(%arg0: tensor<40x2xui32>, %arg1: tensor<i32>) -> tensor<2xui32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_slice %arg0, %arg1, %c, sizes = [1, 2] : (tensor<40x2xui32>, tensor<i32>, tensor<i32>) -> tensor<1x2xui32>
    %1 = stablehlo.reshape %0 : (tensor<1x2xui32>) -> tensor<2xui32>
    return %1 : tensor<2xui32>
  }
  func.func private @closed_call_0(%arg0: tensor<2x100xf32>, %arg1: tensor<2xui32>) -> (tensor<2x100xf32>, tensor<i32>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>
    %cst_0 = stablehlo.constant dense<2.500000e+01> : tensor<f32>
    %cst_1 = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %cst_2 = stablehlo.constant dense<-1.000000e+00> : tensor<f32>
    %0 = stablehlo.slice %arg0 [0:1, 0:100] : (tensor<2x100xf32>) -> tensor<1x100xf32>
    %1 = stablehlo.reshape %0 : (tensor<1x100xf32>) -> tensor<100xf32>
    %2 = stablehlo.slice %arg0 [1:2, 0:100] : (tensor<2x100xf32>) -> tensor<1x100xf32>
    %3 = stablehlo.reshape %2 : (tensor<1x100xf32>) -> tensor<100xf32>
    %4 = call @_uniform(%arg1, %cst_2, %cst_1) : (tensor<2xui32>, tensor<f32>, tensor<f32>) -> tensor<2x100xf32>
    %5 = stablehlo.slice %4 [0:1, 0:100] : (tensor<2x100xf32>) -> tensor<1x100xf32>
    %6 = stablehlo.reshape %5 : (tensor<1x100xf32>) -> tensor<100xf32>
    %7 = stablehlo.slice %4 [1:2, 0:100] : (tensor<2x100xf32>) -> tensor<1x100xf32>
    %8 = stablehlo.reshape %7 : (tensor<1x100xf32>) -> tensor<100xf32>
    %9 = stablehlo.add %1, %6 : tensor<100xf32>
    %10 = stablehlo.add %3, %8 : tensor<100xf32>
    %11 = stablehlo.multiply %9, %9 : tensor<100xf32>
    %12 = stablehlo.multiply %10, %10 : tensor<100xf32>
    %13 = stablehlo.add %11, %12 : tensor<100xf32>
    %14 = stablehlo.broadcast_in_dim %cst_0, dims = [] : (tensor<f32>) -> tensor<100xf32>
    %15 = stablehlo.compare GT, %13, %14, FLOAT : (tensor<100xf32>, tensor<100xf32>) -> tensor<100xi1>
    %16 = stablehlo.broadcast_in_dim %9, dims = [1] : (tensor<100xf32>) -> tensor<1x100xf32>
    %17 = stablehlo.broadcast_in_dim %10, dims = [1] : (tensor<100xf32>) -> tensor<1x100xf32>
    %18 = stablehlo.concatenate %16, %17, dim = 0 : (tensor<1x100xf32>, tensor<1x100xf32>) -> tensor<2x100xf32>
    %19 = call @_where(%15, %cst, %18) : (tensor<100xi1>, tensor<f32>, tensor<2x100xf32>) -> tensor<2x100xf32>
    %20 = stablehlo.convert %15 : (tensor<100xi1>) -> tensor<100xi32>
    %21 = stablehlo.reduce(%20 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<100xi32>, tensor<i32>) -> tensor<i32>
    return %19, %21 : tensor<2x100xf32>, tensor<i32>
  }
  func.func private @_uniform(%arg0: tensor<2xui32>, %arg1: tensor<f32>, %arg2: tensor<f32>) -> tensor<2x100xf32> {
    %cst = stablehlo.constant dense<1.000000e+00> : tensor<f32>
    %c = stablehlo.constant dense<1065353216> : tensor<ui32>
    %c_0 = stablehlo.constant dense<9> : tensor<ui32>
    %c_1 = stablehlo.constant dense<32> : tensor<ui64>
    %c_2 = stablehlo.constant dense<1> : tensor<ui64>
    %c_3 = stablehlo.constant dense<100> : tensor<ui64>
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.convert %arg2 : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %3 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<1x1xf32>
    %4 = stablehlo.slice %arg0 [0:1] : (tensor<2xui32>) -> tensor<1xui32>
    %5 = stablehlo.reshape %4 : (tensor<1xui32>) -> tensor<ui32>
    %6 = stablehlo.slice %arg0 [1:2] : (tensor<2xui32>) -> tensor<1xui32>
    %7 = stablehlo.reshape %6 : (tensor<1xui32>) -> tensor<ui32>
    %8 = stablehlo.iota dim = 0 : tensor<2x100xui64>
    %9 = stablehlo.iota dim = 1 : tensor<2x100xui64>
    %10 = stablehlo.broadcast_in_dim %c_3, dims = [] : (tensor<ui64>) -> tensor<2x100xui64>
    %11 = stablehlo.multiply %10, %8 : tensor<2x100xui64>
    %12 = stablehlo.broadcast_in_dim %c_2, dims = [] : (tensor<ui64>) -> tensor<2x100xui64>
    %13 = stablehlo.multiply %12, %9 : tensor<2x100xui64>
    %14 = stablehlo.add %11, %13 : tensor<2x100xui64>
    %15 = stablehlo.broadcast_in_dim %c_1, dims = [] : (tensor<ui64>) -> tensor<2x100xui64>
    %16 = stablehlo.shift_right_logical %14, %15 : tensor<2x100xui64>
    %17 = stablehlo.convert %14 : (tensor<2x100xui64>) -> tensor<2x100xui32>
    %18 = stablehlo.convert %16 : (tensor<2x100xui64>) -> tensor<2x100xui32>
    %19:2 = call @threefry2x32_1(%5, %7, %18, %17) : (tensor<ui32>, tensor<ui32>, tensor<2x100xui32>, tensor<2x100xui32>) -> (tensor<2x100xui32>, tensor<2x100xui32>)
    %20 = stablehlo.xor %19#0, %19#1 : tensor<2x100xui32>
    %21 = stablehlo.broadcast_in_dim %c_0, dims = [] : (tensor<ui32>) -> tensor<2x100xui32>
    %22 = stablehlo.shift_right_logical %20, %21 : tensor<2x100xui32>
    %23 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<ui32>) -> tensor<2x100xui32>
    %24 = stablehlo.or %22, %23 : tensor<2x100xui32>
    %25 = stablehlo.bitcast_convert %24 : (tensor<2x100xui32>) -> tensor<2x100xf32>
    %26 = stablehlo.broadcast_in_dim %cst, dims = [] : (tensor<f32>) -> tensor<2x100xf32>
    %27 = stablehlo.subtract %25, %26 : tensor<2x100xf32>
    %28 = stablehlo.subtract %3, %2 : tensor<1x1xf32>
    %29 = stablehlo.broadcast_in_dim %28, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<2x100xf32>
    %30 = stablehlo.multiply %27, %29 : tensor<2x100xf32>
    %31 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<2x100xf32>
    %32 = stablehlo.add %30, %31 : tensor<2x100xf32>
    %33 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x1xf32>) -> tensor<2x100xf32>
    %34 = stablehlo.maximum %33, %32 : tensor<2x100xf32>
    return %34 : tensor<2x100xf32>
  }
  func.func private @threefry2x32_1(%arg0: tensor<ui32>, %arg1: tensor<ui32>, %arg2: tensor<2x100xui32>, %arg3: tensor<2x100xui32>) -> (tensor<2x100xui32>, tensor<2x100xui32>) {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %c_0 = stablehlo.constant dense<5> : tensor<i32>
    %c_1 = stablehlo.constant dense<0> : tensor<i32>
    %c_2 = stablehlo.constant dense<466688986> : tensor<ui32>
    %c_3 = stablehlo.constant dense<[13, 15, 26, 6]> : tensor<4xui32>
    %c_4 = stablehlo.constant dense<[17, 29, 16, 24]> : tensor<4xui32>
    %0 = stablehlo.xor %arg0, %arg1 : tensor<ui32>
    %1 = stablehlo.xor %0, %c_2 : tensor<ui32>
    %2 = stablehlo.broadcast_in_dim %arg0, dims = [] : (tensor<ui32>) -> tensor<2x100xui32>
    %3 = stablehlo.add %arg2, %2 : tensor<2x100xui32>
    %4 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<ui32>) -> tensor<2x100xui32>
    %5 = stablehlo.add %arg3, %4 : tensor<2x100xui32>
    %6:9 = stablehlo.while(%iterArg = %c_1, %iterArg_5 = %c_1, %iterArg_6 = %3, %iterArg_7 = %5, %iterArg_8 = %arg1, %iterArg_9 = %1, %iterArg_10 = %arg0, %iterArg_11 = %c_3, %iterArg_12 = %c_4) : tensor<i32>, tensor<i32>, tensor<2x100xui32>, tensor<2x100xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    cond {
      %7 = stablehlo.compare LT, %iterArg, %c_0, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %7 : tensor<i1>
    } do {
      %7:8 = func.call @closed_call_2(%iterArg_5, %iterArg_6, %iterArg_7, %iterArg_8, %iterArg_9, %iterArg_10, %iterArg_11, %iterArg_12) : (tensor<i32>, tensor<2x100xui32>, tensor<2x100xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) -> (tensor<i32>, tensor<2x100xui32>, tensor<2x100xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>)
      %8 = stablehlo.add %iterArg, %c : tensor<i32>
      stablehlo.return %8, %7#0, %7#1, %7#2, %7#3, %7#4, %7#5, %7#6, %7#7 : tensor<i32>, tensor<i32>, tensor<2x100xui32>, tensor<2x100xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
    }
    return %6#2, %6#3 : tensor<2x100xui32>, tensor<2x100xui32>
  }
  func.func private @closed_call_2(%arg0: tensor<i32>, %arg1: tensor<2x100xui32>, %arg2: tensor<2x100xui32>, %arg3: tensor<ui32>, %arg4: tensor<ui32>, %arg5: tensor<ui32>, %arg6: tensor<4xui32>, %arg7: tensor<4xui32>) -> (tensor<i32>, tensor<2x100xui32>, tensor<2x100xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>) {
    %c = stablehlo.constant dense<32> : tensor<ui32>
    %c_0 = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %arg0, %c_0 : tensor<i32>
    %1 = stablehlo.slice %arg6 [0:1] : (tensor<4xui32>) -> tensor<1xui32>
    %2 = stablehlo.reshape %1 : (tensor<1xui32>) -> tensor<ui32>
    %3 = stablehlo.add %arg1, %arg2 : tensor<2x100xui32>
    %4 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<ui32>) -> tensor<2x100xui32>
    %5 = stablehlo.shift_left %arg2, %4 : tensor<2x100xui32>
    %6 = stablehlo.subtract %c, %2 : tensor<ui32>
    %7 = stablehlo.broadcast_in_dim %6, dims = [] : (tensor<ui32>) -> tensor<2x100xui32>
    %8 = stablehlo.shift_right_logical %arg2, %7 : tensor<2x100xui32>
    %9 = stablehlo.or %5, %8 : tensor<2x100xui32>
    %10 = stablehlo.xor %3, %9 : tensor<2x100xui32>
    %11 = stablehlo.slice %arg6 [1:2] : (tensor<4xui32>) -> tensor<1xui32>
    %12 = stablehlo.reshape %11 : (tensor<1xui32>) -> tensor<ui32>
    %13 = stablehlo.add %3, %10 : tensor<2x100xui32>
    %14 = stablehlo.broadcast_in_dim %12, dims = [] : (tensor<ui32>) -> tensor<2x100xui32>
    %15 = stablehlo.shift_left %10, %14 : tensor<2x100xui32>
    %16 = stablehlo.subtract %c, %12 : tensor<ui32>
    %17 = stablehlo.broadcast_in_dim %16, dims = [] : (tensor<ui32>) -> tensor<2x100xui32>
    %18 = stablehlo.shift_right_logical %10, %17 : tensor<2x100xui32>
    %19 = stablehlo.or %15, %18 : tensor<2x100xui32>
    %20 = stablehlo.xor %13, %19 : tensor<2x100xui32>
    %21 = stablehlo.slice %arg6 [2:3] : (tensor<4xui32>) -> tensor<1xui32>
    %22 = stablehlo.reshape %21 : (tensor<1xui32>) -> tensor<ui32>
    %23 = stablehlo.add %13, %20 : tensor<2x100xui32>
    %24 = stablehlo.broadcast_in_dim %22, dims = [] : (tensor<ui32>) -> tensor<2x100xui32>
    %25 = stablehlo.shift_left %20, %24 : tensor<2x100xui32>
    %26 = stablehlo.subtract %c, %22 : tensor<ui32>
    %27 = stablehlo.broadcast_in_dim %26, dims = [] : (tensor<ui32>) -> tensor<2x100xui32>
    %28 = stablehlo.shift_right_logical %20, %27 : tensor<2x100xui32>
    %29 = stablehlo.or %25, %28 : tensor<2x100xui32>
    %30 = stablehlo.xor %23, %29 : tensor<2x100xui32>
    %31 = stablehlo.slice %arg6 [3:4] : (tensor<4xui32>) -> tensor<1xui32>
    %32 = stablehlo.reshape %31 : (tensor<1xui32>) -> tensor<ui32>
    %33 = stablehlo.add %23, %30 : tensor<2x100xui32>
    %34 = stablehlo.broadcast_in_dim %32, dims = [] : (tensor<ui32>) -> tensor<2x100xui32>
    %35 = stablehlo.shift_left %30, %34 : tensor<2x100xui32>
    %36 = stablehlo.subtract %c, %32 : tensor<ui32>
    %37 = stablehlo.broadcast_in_dim %36, dims = [] : (tensor<ui32>) -> tensor<2x100xui32>
    %38 = stablehlo.shift_right_logical %30, %37 : tensor<2x100xui32>
    %39 = stablehlo.or %35, %38 : tensor<2x100xui32>
    %40 = stablehlo.xor %33, %39 : tensor<2x100xui32>
    %41 = stablehlo.broadcast_in_dim %arg3, dims = [] : (tensor<ui32>) -> tensor<2x100xui32>
    %42 = stablehlo.add %33, %41 : tensor<2x100xui32>
    %43 = stablehlo.broadcast_in_dim %arg4, dims = [] : (tensor<ui32>) -> tensor<2x100xui32>
    %44 = stablehlo.add %40, %43 : tensor<2x100xui32>
    %45 = stablehlo.add %arg0, %c_0 : tensor<i32>
    %46 = stablehlo.convert %45 : (tensor<i32>) -> tensor<ui32>
    %47 = stablehlo.broadcast_in_dim %46, dims = [] : (tensor<ui32>) -> tensor<2x100xui32>
    %48 = stablehlo.add %44, %47 : tensor<2x100xui32>
    return %0, %42, %48, %arg4, %arg5, %arg3, %arg7, %arg6 : tensor<i32>, tensor<2x100xui32>, tensor<2x100xui32>, tensor<ui32>, tensor<ui32>, tensor<ui32>, tensor<4xui32>, tensor<4xui32>
  }
  func.func private @_where(%arg0: tensor<100xi1>, %arg1: tensor<f32>, %arg2: tensor<2x100xf32>) -> tensor<2x100xf32> {
    %0 = stablehlo.convert %arg1 : tensor<f32>
    %1 = stablehlo.broadcast_in_dim %arg0, dims = [1] : (tensor<100xi1>) -> tensor<2x100xi1>
    %2 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x100xf32>
    %3 = stablehlo.select %1, %2, %arg2 : tensor<2x100xi1>, tensor<2x100xf32>
    return %3 : tensor<2x100xf32>
  }
  func.func private @dynamic_update_index_in_dim(%arg0: tensor<40xi32>, %arg1: tensor<i32>, %arg2: tensor<i32>) -> tensor<40xi32> {
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<i32>) -> tensor<1xi32>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %arg2 : (tensor<40xi32>, tensor<1xi32>, tensor<i32>) -> tensor<40xi32>
    return %1 : tensor<40xi32>
  }
}
