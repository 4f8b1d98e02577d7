func.func @main(%x: tensor<2048x2048xf16>, %w: tensor<2048x2048xf16>, %b: tensor<2048xf16>) -> tensor<2048x2048xf16> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2048x2048xf16>, tensor<2048x2048xf16>) -> tensor<2048x2048xf16>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<2048xf16>) -> tensor<2048x2048xf16>
  %2 = stablehlo.add %0, %1 : tensor<2048x2048xf16>
  return %2 : tensor<2048x2048xf16>
}
