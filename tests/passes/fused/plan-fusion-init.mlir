// RUN: hloom-opt %s --plan-fusion --split-input-file | filecheck %s

// Changed: In @init a merge that gains a little is made: it spares a buffer, memory that nobody has touched before.
// Declined: In @main it would be a hundredth of what is left.
// CHECK-LABEL: func.func public @main(
// CHECK: call @fusion_0(
// CHECK: call @fusion_1(
// CHECK-LABEL: func.func public @init(
// CHECK: %[[P:.*]] = call @fusion_2(
// CHECK: return %[[P]]
func.func public @main(%w: tensor<50257x768xf32>) -> tensor<786x768x64xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.pad %w, %zero, low = [0, 0], high = [47, 0], interior = [0, 0] : (tensor<50257x768xf32>, tensor<f32>) -> tensor<50304x768xf32>
  %r = stablehlo.reshape %p : (tensor<50304x768xf32>) -> tensor<786x64x768xf32>
  %t = stablehlo.transpose %r, dims = [0, 2, 1] : (tensor<786x64x768xf32>) -> tensor<786x768x64xf32>
  return %t : tensor<786x768x64xf32>
}
func.func public @init(%w: tensor<50257x768xf32> {hloom.argument = 0 : i64}) -> tensor<786x768x64xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %p = stablehlo.pad %w, %zero, low = [0, 0], high = [47, 0], interior = [0, 0] : (tensor<50257x768xf32>, tensor<f32>) -> tensor<50304x768xf32>
  %r = stablehlo.reshape %p : (tensor<50304x768xf32>) -> tensor<786x64x768xf32>
  %t = stablehlo.transpose %r, dims = [0, 2, 1] : (tensor<786x64x768xf32>) -> tensor<786x768x64xf32>
  return %t : tensor<786x768x64xf32>
}

// -----

// Changed: Numbers of places that fill more than the caches are made where they are used, not kept, though a kernel with as much arithmetic
// would hardly wait for them.
// CHECK-LABEL: func.func public @main(
// CHECK-NEXT: %[[R:.*]] = call @fusion_0(%arg0)
// CHECK-NEXT: return %[[R]]
module attributes {hloom.target = {f32_flops = 100000000000, dram_bytes_per_second = 40000000000, llc_bytes = 33554432}} {
  func.func public @main(%x: tensor<64x1024x1024xf32>) -> tensor<64x1024x1024xf32> {
    %i = stablehlo.iota dim = 0 : tensor<64x1024x1024xf32>
    %j = stablehlo.iota dim = 1 : tensor<64x1024x1024xf32>
    %n = stablehlo.constant dense<1024.0> : tensor<64x1024x1024xf32>
    %m = stablehlo.multiply %i, %n : tensor<64x1024x1024xf32>
    %p = stablehlo.add %m, %j : tensor<64x1024x1024xf32>
    %q = stablehlo.multiply %p, %p : tensor<64x1024x1024xf32>
    %r = stablehlo.subtract %q, %j : tensor<64x1024x1024xf32>
    %0 = stablehlo.sine %x : tensor<64x1024x1024xf32>
    %1 = stablehlo.power %0, %x : tensor<64x1024x1024xf32>
    %2 = stablehlo.power %1, %0 : tensor<64x1024x1024xf32>
    %3 = stablehlo.power %2, %1 : tensor<64x1024x1024xf32>
    %4 = stablehlo.add %3, %r : tensor<64x1024x1024xf32>
    return %4 : tensor<64x1024x1024xf32>
  }
}
