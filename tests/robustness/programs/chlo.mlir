func.func @main(%x: tensor<6x5xf32>, %scale: tensor<5xf32>) -> tensor<6x5xf32> {
  %0 = chlo.erf %x : tensor<6x5xf32> -> tensor<6x5xf32>
  %1 = chlo.broadcast_multiply %0, %scale {broadcast_dimensions = array<i64: 1>} : (tensor<6x5xf32>, tensor<5xf32>) -> tensor<6x5xf32>
  %2 = stablehlo.composite "hloom.id" %1 {decomposition = @id, version = 1 : i32} : (tensor<6x5xf32>) -> tensor<6x5xf32>
  %3 = stablehlo.custom_call @Sharding(%2) {backend_config = "", has_side_effect = false} : (tensor<6x5xf32>) -> tensor<6x5xf32>
  return %3 : tensor<6x5xf32>
}
func.func private @id(%x: tensor<6x5xf32>) -> tensor<6x5xf32> {
  return %x : tensor<6x5xf32>
}
