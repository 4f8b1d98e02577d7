func.func @main(%x: tensor<3x4x10xbf16>, %y: tensor<3x10x7xbf16>) -> tensor<3x4x7xf32> {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<3x4x10xbf16>, tensor<3x10x7xbf16>) -> tensor<3x4x7xf32>
  return %0 : tensor<3x4x7xf32>
}
