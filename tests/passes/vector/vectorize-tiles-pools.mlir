// RUN: hloom-opt %s --vectorize-tiles | filecheck %s

#x = affine_map<(oh, ow, kh, kw) -> (oh * 2 + kh, ow * 2 + kw)>
#k = affine_map<(oh, ow, kh, kw) -> (kh, kw)>
#y = affine_map<(oh, ow, kh, kw) -> (oh, ow)>

// Changed: Windows of 3 × 3, two apart, with one element of padding around. A line of neutral elements is written once. Of each line of
// results the rows that exist are combined first, vectors of the 32 columns, one further in the line on the stack; then three taps of each of
// the 16 results: the first two are the even and the odd elements of one vector, the third the odd ones of another, which begins an element
// earlier so that none behind the line is loaded.
// CHECK-LABEL: func.func private @padded(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<1024xf32>, %[[Y:[a-z0-9]+]]: memref<256xf32>
// CHECK: %[[LINE:.*]] = memref.alloca() {{.*}}xf32>
// CHECK: vector.store %{{.*}}, %[[LINE]]
// CHECK: %[[FIRST:.*]] = arith.minui
// CHECK: %[[LAST:.*]] = arith.minui
// CHECK: scf.for %{{.*}} = %[[FIRST]] to %[[LAST]]
// CHECK: vector.load %[[X]]{{.*}} vector<32xf32>
// CHECK-NEXT: arith.maximumf
// CHECK: vector.store %{{.*}}, %[[LINE]]{{.*}} vector<32xf32>
// CHECK: %[[A:.*]] = vector.load %[[LINE]]{{.*}} vector<32xf32>
// CHECK-NEXT: vector.shuffle %[[A]], %[[A]] [0, 2, 4, {{.*}}
// CHECK: vector.shuffle %[[A]], %[[A]] [1, 3, 5, {{.*}}
// CHECK: %[[B:.*]] = vector.load %[[LINE]]{{.*}} vector<32xf32>
// CHECK-NEXT: vector.shuffle %[[B]], %[[B]] [1, 3, 5, {{.*}}
// CHECK: vector.store %{{.*}}, %[[Y]]
func.func private @padded(%x: tensor<32x32xf32>) -> tensor<16x16xf32> attributes {hloom.kind = "reduce"} {
  %least = arith.constant 0xFF800000 : f32
  %p = tensor.pad %x low[1, 1] high[1, 1] {
  ^bb0(%a: index, %b: index):
    tensor.yield %least : f32
  } : tensor<32x32xf32> to tensor<34x34xf32>
  %window = tensor.empty() : tensor<3x3xf32>
  %e = tensor.empty() : tensor<16x16xf32>
  %r = scf.forall (%h) = (0) to (16) step (16) shared_outs(%o = %e) -> (tensor<16x16xf32>) {
    %f = linalg.fill ins(%least : f32) outs(%o : tensor<16x16xf32>) -> tensor<16x16xf32>
    %c = linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%p, %window : tensor<34x34xf32>, tensor<3x3xf32>) outs(%f : tensor<16x16xf32>) {
    ^bb0(%a: f32, %b: f32, %best: f32):
      %0 = arith.maximumf %best, %a : f32
      linalg.yield %0 : f32
    } -> tensor<16x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0] [16, 16] [1, 1] : tensor<16x16xf32> into tensor<16x16xf32>
    }
  }
  return %r : tensor<16x16xf32>
}

// Declined: A body whose op is not known to be associative: no line is made.
// CHECK-LABEL: func.func private @difference(
// CHECK-NOT: memref.alloca
// CHECK: arith.subf
// CHECK: return
func.func private @difference(%x: tensor<33x33xf32>) -> tensor<16x16xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %window = tensor.empty() : tensor<3x3xf32>
  %e = tensor.empty() : tensor<16x16xf32>
  %r = scf.forall (%h) = (0) to (16) step (16) shared_outs(%o = %e) -> (tensor<16x16xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<16x16xf32>) -> tensor<16x16xf32>
    %c = linalg.generic {indexing_maps = [#x, #k, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%x, %window : tensor<33x33xf32>, tensor<3x3xf32>) outs(%f : tensor<16x16xf32>) {
    ^bb0(%a: f32, %b: f32, %left: f32):
      %0 = arith.subf %left, %a : f32
      linalg.yield %0 : f32
    } -> tensor<16x16xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0] [16, 16] [1, 1] : tensor<16x16xf32> into tensor<16x16xf32>
    }
  }
  return %r : tensor<16x16xf32>
}

#blocks = affine_map<(oh, ow, kh, kw) -> (oh, kh, ow, kw)>
#i = affine_map<(d0, d1) -> (d0, d1)>

// Changed: What follows a pool is computed of its results in registers: those are stored once. The line is
// stored whole, with neutral elements behind it, since a store of some lanes must reach the cache before they can be loaded.
// CHECK-LABEL: func.func private @followed(
// CHECK-SAME: %{{.*}}: memref<3136xf32>, %[[R:[a-z0-9]+]]: memref<784xf32>, %[[Y:[a-z0-9]+]]: memref<784xf32>
// CHECK: arith.select
// CHECK: vector.store
// CHECK: vector.shuffle
// CHECK: arith.addf
// CHECK: vector.maskedload %[[R]]
// CHECK: arith.mulf
// CHECK: vector.maskedstore %[[Y]]
// CHECK-NOT: vector.maskedstore
// CHECK: return
func.func private @followed(%x: tensor<28x2x28x2xf32>, %residual: tensor<28x28xf32>) -> tensor<28x28xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %quarter = arith.constant 0.25 : f32
  %e = tensor.empty() : tensor<28x28xf32>
  %r = scf.forall (%h) = (0) to (28) step (28) shared_outs(%o = %e) -> (tensor<28x28xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<28x28xf32>) -> tensor<28x28xf32>
    %c = linalg.generic {indexing_maps = [#blocks, #y], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
        ins(%x : tensor<28x2x28x2xf32>) outs(%f : tensor<28x28xf32>) {
    ^bb0(%a: f32, %sum: f32):
      %0 = arith.addf %sum, %a : f32
      linalg.yield %0 : f32
    } -> tensor<28x28xf32>
    %d = linalg.generic {indexing_maps = [#i, #i], iterator_types = ["parallel", "parallel"]}
        ins(%residual : tensor<28x28xf32>) outs(%c : tensor<28x28xf32>) {
    ^bb0(%a: f32, %sum: f32):
      %0 = arith.mulf %sum, %quarter : f32
      %1 = arith.addf %0, %a : f32
      linalg.yield %1 : f32
    } -> tensor<28x28xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %d into %o[0, 0] [28, 28] [1, 1] : tensor<28x28xf32> into tensor<28x28xf32>
    }
  }
  return %r : tensor<28x28xf32>
}

#line = affine_map<(r, o, k) -> (r, o * 2 + k)>
#taps = affine_map<(r, o, k) -> (k)>
#of_line = affine_map<(r, o, k) -> (r, o)>

// Changed: A line of any length, of which columns are only loaded: those of both turns of two taps are added as they lie, then the even
// and the odd ones.
// CHECK-LABEL: func.func private @in_place(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<64000xf32>, %[[Y:[a-z0-9]+]]: memref<31996xf32>
// CHECK-NOT: memref.alloca
// CHECK: %[[A:.*]] = vector.load %[[X]]{{.*}} vector<64xf32>
// CHECK: %[[A0:.*]] = arith.addf %{{.*}}, %[[A]]
// CHECK: %[[B:.*]] = vector.load %[[X]]{{.*}} vector<64xf32>
// CHECK: %[[B0:.*]] = arith.addf %{{.*}}, %[[B]]
// CHECK: %[[SUM:.*]] = arith.addf %[[A0]], %[[B0]] : vector<64xf32>
// CHECK: vector.shuffle %[[SUM]], %[[SUM]] [0, 2, 4, {{.*}}
// CHECK: vector.shuffle %[[SUM]], %[[SUM]] [1, 3, 5, {{.*}}
// CHECK: vector.store %{{.*}}, %[[Y]]
func.func private @in_place(%x: tensor<4x16000xf32>) -> tensor<4x7999xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %window = tensor.empty() : tensor<4xf32>
  %e = tensor.empty() : tensor<4x7999xf32>
  %r = scf.forall (%h) = (0) to (4) step (4) shared_outs(%o = %e) -> (tensor<4x7999xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<4x7999xf32>) -> tensor<4x7999xf32>
    %c = linalg.generic {indexing_maps = [#line, #taps, #of_line], iterator_types = ["parallel", "parallel", "reduction"]}
        ins(%x, %window : tensor<4x16000xf32>, tensor<4xf32>) outs(%f : tensor<4x7999xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.addf %sum, %a : f32
      linalg.yield %0 : f32
    } -> tensor<4x7999xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0] [4, 7999] [1, 1] : tensor<4x7999xf32> into tensor<4x7999xf32>
    }
  }
  return %r : tensor<4x7999xf32>
}
