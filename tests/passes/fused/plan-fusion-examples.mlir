// RUN: hloom-opt %s --plan-fusion --split-input-file | filecheck %s

// Softmax is one group. The row joins its reduction first; the quotient can follow only when the sum has joined.
// CHECK: code = "FUSED_MULTI_REDUCE"
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0(%arg0)
// CHECK-NEXT: return
// CHECK: @fusion_0{{.*}}hloom.bytes = 33554432 : i64{{.*}}hloom.kind = "multi_reduce"
// CHECK-NOT: func.func
func.func @main(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<4096x1024xf32>, tensor<f32>) -> tensor<4096xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4096xf32>) -> tensor<4096x1024xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<4096x1024xf32>
  %3 = stablehlo.exponential %2 : tensor<4096x1024xf32>
  %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4096x1024xf32>, tensor<f32>) -> tensor<4096xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4096xf32>) -> tensor<4096x1024xf32>
  %6 = stablehlo.divide %3, %5 : tensor<4096x1024xf32>
  return %6 : tensor<4096x1024xf32>
}

// -----

// Residual and layernorm with the sum returned: one group, three results, each input read once.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: [[R:%.+]]:3 = call @fusion_0(%arg0, %arg1, %arg2)
// CHECK-NEXT: return [[R]]#0, [[R]]#2, [[R]]#1
// CHECK: @fusion_0{{.*}}hloom.bytes = 67129344 : i64{{.*}}hloom.kind = "multi_reduce"
// CHECK-NOT: func.func
func.func @main(%x: tensor<4096x1024xf32>, %r: tensor<4096x1024xf32>, %g: tensor<1024xf32>)
    -> (tensor<4096x1024xf32>, tensor<4096x1024xf32>, tensor<4096xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<1.024000e+03> : tensor<4096xf32>
  %e = stablehlo.constant dense<1.0e-5> : tensor<4096xf32>
  %0 = stablehlo.add %x, %r : tensor<4096x1024xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4096x1024xf32>, tensor<f32>) -> tensor<4096xf32>
  %mean = stablehlo.divide %1, %n : tensor<4096xf32>
  %2 = stablehlo.broadcast_in_dim %mean, dims = [0] : (tensor<4096xf32>) -> tensor<4096x1024xf32>
  %3 = stablehlo.subtract %0, %2 : tensor<4096x1024xf32>
  %4 = stablehlo.multiply %3, %3 : tensor<4096x1024xf32>
  %5 = stablehlo.reduce(%4 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4096x1024xf32>, tensor<f32>) -> tensor<4096xf32>
  %6 = stablehlo.divide %5, %n : tensor<4096xf32>
  %7 = stablehlo.add %6, %e : tensor<4096xf32>
  %8 = stablehlo.rsqrt %7 : tensor<4096xf32>
  %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<4096xf32>) -> tensor<4096x1024xf32>
  %10 = stablehlo.multiply %3, %9 : tensor<4096x1024xf32>
  %11 = stablehlo.broadcast_in_dim %g, dims = [1] : (tensor<1024xf32>) -> tensor<4096x1024xf32>
  %12 = stablehlo.multiply %10, %11 : tensor<4096x1024xf32>
  return %0, %12, %mean : tensor<4096x1024xf32>, tensor<4096x1024xf32>, tensor<4096xf32>
}

// -----

// Two equal MLP layers: one group each, one function.
// CHECK: code = "FUSED_EPILOGUE"
// CHECK-LABEL: func.func @main
// CHECK-NEXT: [[A:%.+]] = call @fusion_0(%arg0, %arg1, %arg2)
// CHECK-NEXT: [[B:%.+]] = call @fusion_0([[A]], %arg3, %arg4)
// CHECK-NEXT: return [[B]]
// CHECK: @fusion_0{{.*}}hloom.kind = "matmul"
// CHECK-NEXT: stablehlo.dot_general
// CHECK: stablehlo.maximum
// CHECK-NOT: func.func
func.func @main(%x: tensor<256x1024xf32>, %w: tensor<1024x1024xf32>, %b: tensor<1024xf32>, %v: tensor<1024x1024xf32>, %c: tensor<1024xf32>)
    -> tensor<256x1024xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<256x1024xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<256x1024xf32>, tensor<1024x1024xf32>) -> tensor<256x1024xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<1024xf32>) -> tensor<256x1024xf32>
  %2 = stablehlo.add %0, %1 : tensor<256x1024xf32>
  %3 = stablehlo.maximum %2, %z : tensor<256x1024xf32>
  %4 = stablehlo.dot_general %3, %v, contracting_dims = [1] x [1] : (tensor<256x1024xf32>, tensor<1024x1024xf32>) -> tensor<256x1024xf32>
  %5 = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<1024xf32>) -> tensor<256x1024xf32>
  %6 = stablehlo.add %4, %5 : tensor<256x1024xf32>
  %7 = stablehlo.maximum %6, %z : tensor<256x1024xf32>
  return %7 : tensor<256x1024xf32>
}

// -----

// Attention at these sizes, on this target: each dot a group, the softmax between them one.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0
// CHECK-NEXT: call @fusion_1
// CHECK-NEXT: call @fusion_2
// CHECK-NEXT: return
// CHECK: @fusion_0{{.*}}hloom.kind = "matmul"
// CHECK: @fusion_1{{.*}}hloom.kind = "multi_reduce"
// CHECK: @fusion_2{{.*}}hloom.kind = "matmul"
func.func @main(%q: tensor<8x128x64xf32>, %k: tensor<8x128x64xf32>, %v: tensor<8x128x64xf32>) -> tensor<8x128x64xf32> {
  %i = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<8x128x64xf32>, tensor<8x128x64xf32>) -> tensor<8x128x128xf32>
  %0 = stablehlo.reduce(%s init: %i) applies stablehlo.maximum across dimensions = [2] : (tensor<8x128x128xf32>, tensor<f32>) -> tensor<8x128xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x128xf32>
  %2 = stablehlo.subtract %s, %1 : tensor<8x128x128xf32>
  %3 = stablehlo.exponential %2 : tensor<8x128x128xf32>
  %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [2] : (tensor<8x128x128xf32>, tensor<f32>) -> tensor<8x128xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<8x128xf32>) -> tensor<8x128x128xf32>
  %6 = stablehlo.divide %3, %5 : tensor<8x128x128xf32>
  %7 = stablehlo.dot_general %6, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<8x128x128xf32>, tensor<8x128x64xf32>) -> tensor<8x128x64xf32>
  return %7 : tensor<8x128x64xf32>
}

// -----

// A simulation step: the vector update with its row of actions is one group, both counters another.
// CHECK-LABEL: func.func @main
// CHECK: do
// CHECK-NEXT: {{.*}} = func.call @fusion_1({{.*}}) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
// CHECK-NEXT: {{.*}} = func.call @fusion_2({{.*}}) : ({{.*}}) -> (tensor<2048xf32>, tensor<2048xf32>)
// CHECK-NEXT: stablehlo.return
func.func @main(%x: tensor<2048xf32>, %v: tensor<2048xf32>, %actions: tensor<1000x2048xf32>) -> (tensor<2048xf32>, tensor<2048xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %n = stablehlo.constant dense<1000> : tensor<i32>
  %dt = stablehlo.constant dense<2.0e-2> : tensor<2048xf32>
  %w:4 = stablehlo.while(%i = %zero, %k = %zero, %a = %x, %b = %v) : tensor<i32>, tensor<i32>, tensor<2048xf32>, tensor<2048xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %i1 = stablehlo.add %i, %one : tensor<i32>
    %k1 = stablehlo.add %k, %one : tensor<i32>
    %neg = stablehlo.compare LT, %k, %zero, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %wrap = stablehlo.add %k, %n : tensor<i32>
    %at = stablehlo.select %neg, %wrap, %k : tensor<i1>, tensor<i32>
    %row = stablehlo.dynamic_slice %actions, %at, %zero, sizes = [1, 2048] : (tensor<1000x2048xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2048xf32>
    %act = stablehlo.reshape %row : (tensor<1x2048xf32>) -> tensor<2048xf32>
    %s = stablehlo.sine %a : tensor<2048xf32>
    %acc = stablehlo.add %s, %act : tensor<2048xf32>
    %dv = stablehlo.multiply %acc, %dt : tensor<2048xf32>
    %b1 = stablehlo.add %b, %dv : tensor<2048xf32>
    %dx = stablehlo.multiply %b, %dt : tensor<2048xf32>
    %a1 = stablehlo.add %a, %dx : tensor<2048xf32>
    stablehlo.return %i1, %k1, %a1, %b1 : tensor<i32>, tensor<i32>, tensor<2048xf32>, tensor<2048xf32>
  }
  return %w#2, %w#3 : tensor<2048xf32>, tensor<2048xf32>
}
