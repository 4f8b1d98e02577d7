// RUN: hloom-opt %s --stage-stablehlo --stage-fused --stage-lhlo --stage-linalg --stage-tiled --stage-vector | filecheck %s

// Changed: Of rows of which several values are reduced at once, each has a lane: no register's lanes could be combined.
// CHECK-LABEL: func.func private @fusion_0
// CHECK: scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (vector<[[N:[0-9]+]]xf32>, vector<[[N]]xf32>)
// CHECK: vector.gather
// CHECK: arith.mulf %{{.*}}, %{{.*}} : vector<[[N]]xf32>
// CHECK: scf.yield
// CHECK: vector.store %{{.*}} : memref<64xf32>, vector<[[N]]xf32>
func.func @main(%x: tensor<64x203xf32>, %y: tensor<64x203xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0:2 = stablehlo.reduce(%x init: %one), (%y init: %zero) across dimensions = [1] : (tensor<64x203xf32>, tensor<64x203xf32>, tensor<f32>, tensor<f32>) -> (tensor<64xf32>, tensor<64xf32>)
    reducer(%a: tensor<f32>, %b: tensor<f32>) (%c: tensor<f32>, %d: tensor<f32>) {
      %1 = stablehlo.multiply %a, %b : tensor<f32>
      %2 = stablehlo.multiply %c, %b : tensor<f32>
      %3 = stablehlo.add %2, %d : tensor<f32>
      stablehlo.return %1, %3 : tensor<f32>, tensor<f32>
    }
  return %0#0, %0#1 : tensor<64xf32>, tensor<64xf32>
}
