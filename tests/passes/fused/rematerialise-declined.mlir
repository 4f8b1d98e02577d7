// RUN: not hloom-opt %s --rematerialise 2>&1 | filecheck %s

// Declined: what one op reads and makes is there at once, whatever is made again.
// CHECK: [HL112] a call takes 262144 bytes for temporaries, the policy's memory_limit is 100000
// CHECK: remedy: raise memory_limit beyond 262144, which is what was reached, or give the program smaller batches; largest: tensor<256x256xf32> of
module attributes {hloom.target = {}, hloom.policy = {memory_limit = 100000 : i64}} {
  func.func @main(%x: tensor<256x256xf32>) -> tensor<256xf32> {
    %0 = call @early(%x) : (tensor<256x256xf32>) -> tensor<256x256xf32>
    %1 = call @late(%0) : (tensor<256x256xf32>) -> tensor<256xf32>
    return %1 : tensor<256xf32>
  }
  func.func private @early(%x: tensor<256x256xf32>) -> tensor<256x256xf32> attributes {hloom.kind = "loop", hloom.cost_ps = 9000000 : i64} {
    %0 = stablehlo.tanh %x : tensor<256x256xf32>
    return %0 : tensor<256x256xf32>
  }
  func.func private @late(%x: tensor<256x256xf32>) -> tensor<256xf32> attributes {hloom.kind = "reduce", hloom.cost_ps = 9000000 : i64} {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<256x256xf32>, tensor<f32>) -> tensor<256xf32>
    return %0 : tensor<256xf32>
  }
}
