// RUN: hloom-opt %s --vectorize-tiles | filecheck %s

#image = affine_map<(kh, kw, c, f, n, h, u) -> (n, kh + h, kw + u, c)>
#gradient = affine_map<(kh, kw, c, f, n, h, u) -> (n, h, u, f)>
#weight = affine_map<(kh, kw, c, f, n, h, u) -> (kh, kw, c, f)>

// Changed: A gradient by the weights of one group of four. All taps sum one image before the next; what the pixels of that image have of the
// group lies on the stack, side by side.
// CHECK-LABEL: func.func private @group(
// CHECK-DAG: %[[X:.*]] = memref.alloca() {{.*}} : memref<4096xf32>
// CHECK-DAG: %[[G:.*]] = memref.alloca() {{.*}} : memref<3136xf32>
// CHECK: vector.store {{.*}}, %[[X]]
// CHECK: vector.store {{.*}}, %[[G]]
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c3{{.*}} step %c1
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c3{{.*}} step %c1
// CHECK: memref.load %[[X]]
// CHECK: scf.for %[[N:.*]] = %c1{{.*}} to %c6{{.*}} step %c1
// CHECK: vector.store {{.*}}, %[[X]]
// CHECK: vector.store {{.*}}, %[[G]]
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c3{{.*}} step %c1
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c3{{.*}} step %c1
// CHECK: memref.load %[[X]]
// CHECK: vector.load %arg4
// CHECK: return
func.func private @group(%x: tensor<6x16x16x64xf32>, %g: tensor<6x14x14x64xf32>) -> tensor<3x3x16x16xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x3x16x16xf32>
  %r = scf.forall (%i) in (1) shared_outs(%o = %e) -> (tensor<3x3x16x16xf32>) {
    %a = tensor.extract_slice %x[0, 0, 0, 16] [6, 16, 16, 16] [1, 1, 1, 1] : tensor<6x16x16x64xf32> to tensor<6x16x16x16xf32>
    %b = tensor.extract_slice %g[0, 0, 0, 16] [6, 14, 14, 16] [1, 1, 1, 1] : tensor<6x14x14x64xf32> to tensor<6x14x14x16xf32>
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<3x3x16x16xf32>) -> tensor<3x3x16x16xf32>
    %c = linalg.generic {indexing_maps = [#image, #gradient, #weight],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%a, %b : tensor<6x16x16x16xf32>, tensor<6x14x14x16xf32>) outs(%f : tensor<3x3x16x16xf32>) {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      %0 = arith.mulf %p, %q : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<3x3x16x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0, 0, 0] [3, 3, 16, 16] [1, 1, 1, 1] : tensor<3x3x16x16xf32> into tensor<3x3x16x16xf32>
    }
  }
  return %r : tensor<3x3x16x16xf32>
}

// Declined: Pixels whose channels lie side by side are read where they are, of one image before the next.
// CHECK-LABEL: func.func private @alone(
// CHECK-NOT: memref.alloca
// CHECK: scf.for %[[N:.*]] = %c1{{.*}} to %c6{{.*}} step %c1
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c3{{.*}} step %c1
// CHECK: vector.load %arg4
// CHECK: return
func.func private @alone(%x: tensor<6x16x16x16xf32>, %g: tensor<6x14x14x16xf32>) -> tensor<3x3x16x16xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x3x16x16xf32>
  %r = scf.forall (%i) in (1) shared_outs(%o = %e) -> (tensor<3x3x16x16xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<3x3x16x16xf32>) -> tensor<3x3x16x16xf32>
    %c = linalg.generic {indexing_maps = [#image, #gradient, #weight],
        iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"]}
        ins(%x, %g : tensor<6x16x16x16xf32>, tensor<6x14x14x16xf32>) outs(%f : tensor<3x3x16x16xf32>) {
    ^bb0(%p: f32, %q: f32, %sum: f32):
      %0 = arith.mulf %p, %q : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<3x3x16x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0, 0, 0] [3, 3, 16, 16] [1, 1, 1, 1] : tensor<3x3x16x16xf32> into tensor<3x3x16x16xf32>
    }
  }
  return %r : tensor<3x3x16x16xf32>
}
