// RUN: hloom-opt %s --vectorize-tiles | filecheck %s

#x = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (k, n)>
#y = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#column = affine_map<(m, n) -> (n)>
#turned = affine_map<(m, n) -> (n, m)>

// Changed: A product whose results get a bias and a relu: both are computed in registers, and each result is stored once and never loaded.
// CHECK-LABEL: func.func private @bias_relu(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<256xf32>, %[[W:[a-z0-9]+]]: memref<256xf32>, %[[B:[a-z0-9]+]]: memref<16xf32>, %[[Y:[a-z0-9]+]]: memref<256xf32>
// CHECK: scf.for
// CHECK: scf.yield
// CHECK: vector.load %[[B]]
// CHECK: arith.addf
// CHECK: arith.maximumf
// CHECK: vector.store %{{.*}}, %[[Y]]
// CHECK-NOT: vector.load %[[Y]]
// CHECK: return
func.func private @bias_relu(%x: tensor<16x16xf32>, %w: tensor<16x16xf32>, %bias: tensor<16xf32>) -> tensor<16x16xf32> attributes {hloom.kind = "dot"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %r = scf.forall (%i) = (0) to (16) step (16) shared_outs(%o = %e) -> (tensor<16x16xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<16x16xf32>) -> tensor<16x16xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<16x16xf32>
    %d = linalg.generic {indexing_maps = [#column, #id], iterator_types = ["parallel", "parallel"]}
        ins(%bias : tensor<16xf32>) outs(%c : tensor<16x16xf32>) {
    ^bb0(%a: f32, %sum: f32):
      %0 = arith.addf %sum, %a : f32
      %1 = arith.maximumf %0, %zero : f32
      linalg.yield %1 : f32
    } -> tensor<16x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %d into %o[0, 0] [16, 16] [1, 1] : tensor<16x16xf32> into tensor<16x16xf32>
    }
  }
  return %r : tensor<16x16xf32>
}

// Declined: A residual that lies by columns: it would be gathered. The results are stored, and loaded again by a nest of their own.
// CHECK-LABEL: func.func private @turned(
// CHECK-SAME: %{{.*}}: memref<256xf32>, %{{.*}}: memref<256xf32>, %{{.*}}: memref<256xf32>, %[[Y:.*]]: memref<256xf32>) attributes
// CHECK: vector.store %{{.*}}, %[[Y]]
// CHECK: vector.load %[[Y]]
// CHECK: return
func.func private @turned(%x: tensor<16x16xf32>, %w: tensor<16x16xf32>, %s: tensor<16x16xf32>) -> tensor<16x16xf32> attributes {hloom.kind = "dot"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %r = scf.forall (%i) = (0) to (16) step (16) shared_outs(%o = %e) -> (tensor<16x16xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<16x16xf32>) -> tensor<16x16xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<16x16xf32>
    %d = linalg.generic {indexing_maps = [#turned, #id], iterator_types = ["parallel", "parallel"]}
        ins(%s : tensor<16x16xf32>) outs(%c : tensor<16x16xf32>) {
    ^bb0(%a: f32, %sum: f32):
      %0 = arith.addf %sum, %a : f32
      linalg.yield %0 : f32
    } -> tensor<16x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %d into %o[0, 0] [16, 16] [1, 1] : tensor<16x16xf32> into tensor<16x16xf32>
    }
  }
  return %r : tensor<16x16xf32>
}

// Unchanged: A product alone.
// CHECK-LABEL: func.func private @alone(
// CHECK-NOT: arith.maximumf
// CHECK: return
func.func private @alone(%x: tensor<16x16xf32>, %w: tensor<16x16xf32>) -> tensor<16x16xf32> attributes {hloom.kind = "dot"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %r = scf.forall (%i) = (0) to (16) step (16) shared_outs(%o = %e) -> (tensor<16x16xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<16x16xf32>) -> tensor<16x16xf32>
    %c = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %w : tensor<16x16xf32>, tensor<16x16xf32>) outs(%f : tensor<16x16xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<16x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0] [16, 16] [1, 1] : tensor<16x16xf32> into tensor<16x16xf32>
    }
  }
  return %r : tensor<16x16xf32>
}

#xl = affine_map<(o, t, i, k) -> (i, t + k)>
#wl = affine_map<(o, t, i, k) -> (o, i, k)>
#yl = affine_map<(o, t, i, k) -> (o, t)>
#row = affine_map<(o, t) -> (o)>

// Changed: A convolution whose lanes are pixels of a line. Its pixels are more than its weights: pieces of the line go outside blocks of
// channels, and so are read once. A bias for each line is added in registers.
// CHECK-LABEL: func.func private @line_bias(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<512xf32>, %[[W:[a-z0-9]+]]: memref<288xf32>, %[[B:[a-z0-9]+]]: memref<24xf32>, %[[Y:[a-z0-9]+]]: memref<3024xf32>
// CHECK: %c96 = arith.constant 96 : index
// CHECK: scf.for %{{.*}} to %c96
// CHECK: %c24{{.*}} = arith.constant 24 : index
// CHECK: scf.for %{{.*}} to %c24
// CHECK: memref.load %[[B]]
// CHECK: vector.store %{{.*}}, %[[Y]]
// CHECK-NOT: vector.load %[[Y]]
// CHECK: return
func.func private @line_bias(%x: tensor<4x128xf32>, %w: tensor<24x4x3xf32>, %bias: tensor<24xf32>) -> tensor<24x126xf32> attributes {hloom.kind = "conv"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<24x126xf32>
  %r = scf.forall (%i) = (0) to (24) step (24) shared_outs(%o = %e) -> (tensor<24x126xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<24x126xf32>) -> tensor<24x126xf32>
    %c = linalg.generic {indexing_maps = [#xl, #wl, #yl], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %w : tensor<4x128xf32>, tensor<24x4x3xf32>) outs(%f : tensor<24x126xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %sum, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<24x126xf32>
    %d = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]}
        ins(%bias : tensor<24xf32>) outs(%c : tensor<24x126xf32>) {
    ^bb0(%a: f32, %sum: f32):
      %0 = arith.addf %sum, %a : f32
      linalg.yield %0 : f32
    } -> tensor<24x126xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %d into %o[0, 0] [24, 126] [1, 1] : tensor<24x126xf32> into tensor<24x126xf32>
    }
  }
  return %r : tensor<24x126xf32>
}
