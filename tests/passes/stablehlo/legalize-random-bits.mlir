// RUN: hloom-opt %s --legalize-random-bits | filecheck %s

// Changed: Four words for each of two counters, which then are two further.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[S:.*]]: tensor<3xui64>
// CHECK: stablehlo.slice %[[S]] [0:1]
// CHECK: stablehlo.iota dim = 0 : tensor<2xui64>
// CHECK-COUNT-20: stablehlo.multiply %{{.*}} : tensor<2xui64>
// CHECK-NOT: stablehlo.multiply
// CHECK: stablehlo.concatenate {{.*}} dim = 1 : (tensor<2x1xui32>, tensor<2x1xui32>, tensor<2x1xui32>, tensor<2x1xui32>) -> tensor<2x4xui32>
// CHECK: %[[W:.*]] = stablehlo.slice %{{.*}} [0:6]
// CHECK: %[[TWO:.*]] = stablehlo.constant dense<2> : tensor<ui64>
// CHECK: stablehlo.add %{{.*}}, %[[TWO]]
// CHECK: stablehlo.reshape %[[W]] : (tensor<6xui32>) -> tensor<2x3xui32>
// CHECK: stablehlo.concatenate {{.*}} -> tensor<3xui64>
func.func @main(%s: tensor<3xui64>) -> (tensor<3xui64>, tensor<2x3xui32>) {
  %0:2 = "stablehlo.rng_bit_generator"(%s) <{rng_algorithm = #stablehlo<rng_algorithm PHILOX>}>
    : (tensor<3xui64>) -> (tensor<3xui64>, tensor<2x3xui32>)
  return %0#0, %0#1 : tensor<3xui64>, tensor<2x3xui32>
}

// Changed: Both words of a counter stand beside each other along the first even dimension.
// CHECK-LABEL: func.func @threefry
// CHECK: stablehlo.iota dim = 0 : tensor<6xui64>
// CHECK: stablehlo.concatenate {{.*}} dim = 2 : (tensor<3x2x1xui32>, tensor<3x2x1xui32>) -> tensor<3x2x2xui32>
// CHECK: stablehlo.reshape %{{.*}} : (tensor<3x2x2xui32>) -> tensor<3x4xui32>
func.func @threefry(%s: tensor<2xui64>) -> tensor<3x4xui32> {
  %0:2 = "stablehlo.rng_bit_generator"(%s) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}>
    : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3x4xui32>)
  return %0#1 : tensor<3x4xui32>
}

// Declined: THREE_FRY has no state of three words.
// CHECK-LABEL: func.func @three
// CHECK: stablehlo.rng_bit_generator
func.func @three(%s: tensor<3xui64>) -> tensor<4xui32> {
  %0:2 = "stablehlo.rng_bit_generator"(%s) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}>
    : (tensor<3xui64>) -> (tensor<3xui64>, tensor<4xui32>)
  return %0#1 : tensor<4xui32>
}

// Unchanged: No generator.
// CHECK-LABEL: func.func @none
// CHECK-NEXT: %[[R:.*]] = stablehlo.rsqrt %arg0
// CHECK-NEXT: return %[[R]]
func.func @none(%x: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.rsqrt %x : tensor<3xf32>
  return %0 : tensor<3xf32>
}
