// RUN: hloom-opt %s --vectorize-tiles --split-input-file | filecheck %s

#all = affine_map<(d0, d1) -> (d0, d1)>
#group = affine_map<(d0, d1) -> (d1 floordiv 16)>
#digits = affine_map<(d0, d1) -> (d1 floordiv 16, d1 mod 16)>

// Changed: Sixteen channels have one number: a chunk of lanes loads the numbers that it needs, and spreads them. What lies dense in two
// dimensions is read along its lanes.
// CHECK-LABEL: func.func private @groups(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<1024xf32>, %[[G:[a-z0-9]+]]: memref<8xf32>, %[[D:[a-z0-9]+]]: memref<128xf32>
// CHECK-NOT: vector.gather
// CHECK: %[[A:.*]] = vector.load %[[G]]{{.*}} vector<4xf32>
// CHECK-NEXT: vector.shuffle %[[A]], %[[A]] [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,
// CHECK: vector.load %[[D]]{{.*}} vector<64xf32>
// CHECK-NOT: vector.gather
// CHECK: return
module attributes {hloom.target = {name = "cpu-avx512", vector_bits = 512 : i64}} {
func.func private @groups(%x: tensor<8x128xf32>, %g: tensor<8xf32>, %d: tensor<8x16xf32>) -> tensor<8x128xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<8x128xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<8x128xf32>) {
    %c = linalg.generic {indexing_maps = [#all, #group, #digits, #all], iterator_types = ["parallel", "parallel"]}
        ins(%x, %g, %d : tensor<8x128xf32>, tensor<8xf32>, tensor<8x16xf32>) outs(%o : tensor<8x128xf32>) {
    ^bb0(%a: f32, %b: f32, %k: f32, %unused: f32):
      %0 = arith.mulf %a, %b : f32
      %1 = arith.addf %0, %k : f32
      linalg.yield %1 : f32
    } -> tensor<8x128xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0] [8, 128] [1, 1] : tensor<8x128xf32> into tensor<8x128xf32>
    }
  }
  return %r : tensor<8x128xf32>
}
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#wide = affine_map<(d0, d1) -> (d1 floordiv 128)>

// Changed: All lanes of a chunk have one number.
// CHECK-LABEL: func.func private @wide(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<2048xf32>, %[[G:[a-z0-9]+]]: memref<2xf32>
// CHECK-NOT: vector.gather
// CHECK: %[[AT:.*]] = arith.divui
// CHECK: memref.load %[[G]][%[[AT]]]
// CHECK-NOT: vector.gather
// CHECK: return
module attributes {hloom.target = {name = "cpu-avx512", vector_bits = 512 : i64}} {
func.func private @wide(%x: tensor<8x256xf32>, %g: tensor<2xf32>) -> tensor<8x256xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<8x256xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<8x256xf32>) {
    %c = linalg.generic {indexing_maps = [#all, #wide, #all], iterator_types = ["parallel", "parallel"]}
        ins(%x, %g : tensor<8x256xf32>, tensor<2xf32>) outs(%o : tensor<8x256xf32>) {
    ^bb0(%a: f32, %b: f32, %unused: f32):
      %0 = arith.mulf %a, %b : f32
      linalg.yield %0 : f32
    } -> tensor<8x256xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0] [8, 256] [1, 1] : tensor<8x256xf32> into tensor<8x256xf32>
    }
  }
  return %r : tensor<8x256xf32>
}
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#odd = affine_map<(d0, d1) -> (d1 floordiv 24)>

// Changed: Groups that chunks of lanes cross, alike in every third chunk: three chunks are one turn.
// CHECK-LABEL: func.func private @three(
// CHECK-NOT: vector.gather
// CHECK: scf.for {{.*}} to %{{.*}} step %c192
// CHECK: vector.load %arg3{{.*}} vector<2xf32>
// CHECK: vector.shuffle
// CHECK: vector.load %arg3{{.*}} vector<4xf32>
// CHECK-NOT: vector.gather
module attributes {hloom.target = {name = "cpu-avx512", vector_bits = 512 : i64}} {
func.func private @three(%x: tensor<8x384xf32>, %g: tensor<16xf32>) -> tensor<8x384xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<8x384xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<8x384xf32>) {
    %c = linalg.generic {indexing_maps = [#all, #odd, #all], iterator_types = ["parallel", "parallel"]}
        ins(%x, %g : tensor<8x384xf32>, tensor<16xf32>) outs(%o : tensor<8x384xf32>) {
    ^bb0(%a: f32, %b: f32, %unused: f32):
      %0 = arith.mulf %a, %b : f32
      linalg.yield %0 : f32
    } -> tensor<8x384xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0] [8, 384] [1, 1] : tensor<8x384xf32> into tensor<8x384xf32>
    }
  }
  return %r : tensor<8x384xf32>
}
}

// -----

#all = affine_map<(d0, d1) -> (d0, d1)>
#odd = affine_map<(d0, d1) -> (d1 floordiv 46)>

// Declined: Groups that chunks of lanes cross otherwise each time, up to the 23rd.
// CHECK-LABEL: func.func private @odd(
// CHECK: vector.gather
module attributes {hloom.target = {name = "cpu-avx512", vector_bits = 512 : i64}} {
func.func private @odd(%x: tensor<8x368xf32>, %g: tensor<8xf32>) -> tensor<8x368xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<8x368xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<8x368xf32>) {
    %c = linalg.generic {indexing_maps = [#all, #odd, #all], iterator_types = ["parallel", "parallel"]}
        ins(%x, %g : tensor<8x368xf32>, tensor<8xf32>) outs(%o : tensor<8x368xf32>) {
    ^bb0(%a: f32, %b: f32, %unused: f32):
      %0 = arith.mulf %a, %b : f32
      linalg.yield %0 : f32
    } -> tensor<8x368xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0] [8, 368] [1, 1] : tensor<8x368xf32> into tensor<8x368xf32>
    }
  }
  return %r : tensor<8x368xf32>
}
}
