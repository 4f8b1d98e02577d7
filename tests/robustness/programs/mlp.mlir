func.func @main(%x: tensor<6x20xf32>, %w: tensor<12x20xf32>, %b: tensor<12xf32>) -> tensor<6x12xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<6x12xf32>
  %t = stablehlo.transpose %w, dims = [1, 0] : (tensor<12x20xf32>) -> tensor<20x12xf32>
  %m = stablehlo.dot_general %x, %t, contracting_dims = [1] x [0] : (tensor<6x20xf32>, tensor<20x12xf32>) -> tensor<6x12xf32>
  %bb = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<12xf32>) -> tensor<6x12xf32>
  %a = stablehlo.add %m, %bb : tensor<6x12xf32>
  %r = stablehlo.maximum %a, %zero : tensor<6x12xf32>
  return %r : tensor<6x12xf32>
}
