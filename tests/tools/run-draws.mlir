// RUN: hloom-run %s --input=f32=0 --input=f32=1 | filecheck %s
// RUN: hloom-compile %s -o %t.hloom && hloom-run %t.hloom --input=f32=0 --input=f32=1 | filecheck %s
// RUN: not hloom-compile %s -o %t.hloom --verify 2>&1 | filecheck %s --check-prefix=VERIFY

// The state of the generator is no input: each program starts at the seed 0.
// CHECK: result0: 2xf32 = [0.947{{.*}}, 0.563{{.*}}]
// VERIFY: [HL100] a program that draws random numbers has no reference
func.func @main(%a: tensor<f32>, %b: tensor<f32>) -> tensor<2xf32> {
  %s = stablehlo.constant dense<2> : tensor<1xi64>
  %0 = "stablehlo.rng"(%a, %b, %s) <{rng_distribution = #stablehlo<rng_distribution UNIFORM>}>
    : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
