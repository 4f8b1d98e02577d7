func.func @main(%x: tensor<6x10xf32>, %y: tensor<6x4xf32>) -> tensor<9x16xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %c = stablehlo.concatenate %x, %y, dim = 1 : (tensor<6x10xf32>, tensor<6x4xf32>) -> tensor<6x14xf32>
  %s = stablehlo.slice %c [0:6:2, 1:13] : (tensor<6x14xf32>) -> tensor<3x12xf32>
  %r = stablehlo.reverse %s, dims = [1] : tensor<3x12xf32>
  %t = stablehlo.transpose %r, dims = [1, 0] : (tensor<3x12xf32>) -> tensor<12x3xf32>
  %v = stablehlo.reshape %t : (tensor<12x3xf32>) -> tensor<6x6xf32>
  %p = stablehlo.pad %v, %zero, low = [2, 1], high = [1, 4], interior = [0, 1] : (tensor<6x6xf32>, tensor<f32>) -> tensor<9x16xf32>
  return %p : tensor<9x16xf32>
}
