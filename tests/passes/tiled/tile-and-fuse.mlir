// RUN: hloom-opt %s --tile-and-fuse --split-input-file | filecheck %s

// Changed: An elementwise op of two results: one loop, both results updated in place. 1021 is prime, so the last tile is cut.
// CHECK-LABEL: func.func private @two_results
// CHECK: %[[E:.*]] = tensor.empty() : tensor<1021x1000xf32>
// CHECK-NEXT: %[[B:.*]] = tensor.empty() : tensor<1021x1000xi1>
// CHECK-NEXT: %[[R:.*]]:2 = scf.forall (%[[I:.*]]) = (0) to (1021) step ({{[0-9]+}}) shared_outs(%[[O:.*]] = %[[E]], %[[P:.*]] = %[[B]])
// CHECK-NEXT: %[[ROWS:.*]] = affine.min {{.*}}(%[[I]])
// CHECK-NEXT: %[[X:.*]] = tensor.extract_slice %arg0[%[[I]], 0] [%[[ROWS]], 1000] [1, 1]
// CHECK-NEXT: %[[Y:.*]] = tensor.extract_slice %arg1[%[[I]], 0] [%[[ROWS]], 1000] [1, 1]
// CHECK-NEXT: %[[OS:.*]] = tensor.extract_slice %[[O]][%[[I]], 0] [%[[ROWS]], 1000] [1, 1]
// CHECK-NEXT: %[[PS:.*]] = tensor.extract_slice %[[P]][%[[I]], 0] [%[[ROWS]], 1000] [1, 1]
// CHECK-NEXT: %[[T:.*]]:2 = linalg.generic {{.*}} ins(%[[X]], %[[Y]] : {{.*}}) outs(%[[OS]], %[[PS]] :
// CHECK: scf.forall.in_parallel {
// CHECK-NEXT: tensor.parallel_insert_slice %[[T]]#0 into %[[O]][%[[I]], 0] [%[[ROWS]], 1000] [1, 1]
// CHECK-NEXT: tensor.parallel_insert_slice %[[T]]#1 into %[[P]][%[[I]], 0] [%[[ROWS]], 1000] [1, 1]
// CHECK-NEXT: }
// CHECK: return %[[R]]#0, %[[R]]#1
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func private @two_results(%x: tensor<1021x1000xf32>, %y: tensor<1021x1000xf32>) -> (tensor<1021x1000xf32>, tensor<1021x1000xi1>) attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<1021x1000xf32>
  %b = tensor.empty() : tensor<1021x1000xi1>
  %r:2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %y : tensor<1021x1000xf32>, tensor<1021x1000xf32>) outs(%e, %b : tensor<1021x1000xf32>, tensor<1021x1000xi1>) {
  ^bb0(%p: f32, %q: f32, %o: f32, %ob: i1):
    %0 = arith.addf %p, %q : f32
    %1 = arith.cmpf olt, %p, %q : f32
    linalg.yield %0, %1 : f32, i1
  } -> (tensor<1021x1000xf32>, tensor<1021x1000xi1>)
  return %r#0, %r#1 : tensor<1021x1000xf32>, tensor<1021x1000xi1>
}

// -----

// Several reductions along the rows and what lies between them: one loop over rows, which are whole in every tile.
// CHECK-LABEL: func.func private @rows
// CHECK: scf.forall (%[[I:[^)]*]]) {{.*}}(4096) {{.*}}shared_outs(%[[O:[^ ]*]] = %{{.*}}) -> (tensor<4096x1024xf32>) {
// CHECK-NOT: scf.forall
// CHECK: %[[X:.*]] = tensor.extract_slice %arg0[%[[I]], 0] {{\[}}[[STEP:[0-9]+]], 1024] [1, 1]
// CHECK: %[[MAX:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<[[STEP]]x1024xf32>) outs(%{{.*}} : tensor<[[STEP]]xf32>)
// CHECK: %[[D:.*]] = linalg.generic {{.*}} ins(%{{.*}}, %[[MAX]] : tensor<[[STEP]]x1024xf32>, tensor<[[STEP]]xf32>)
// CHECK: %[[SUM:.*]] = linalg.generic {{.*}} ins(%[[D]] : tensor<[[STEP]]x1024xf32>) outs(%{{.*}} : tensor<[[STEP]]xf32>)
// CHECK: %[[S:.*]] = tensor.extract_slice %[[O]][%[[I]], 0] {{\[}}[[STEP]], 1024] [1, 1]
// CHECK: %[[R:.*]] = linalg.generic {{.*}} ins(%[[D]], %[[SUM]] : {{.*}}) outs(%[[S]] :
// CHECK: scf.forall.in_parallel {
// CHECK-NEXT: tensor.parallel_insert_slice %[[R]] into %[[O]][%[[I]], 0]
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func private @rows(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> attributes {hloom.kind = "multi_reduce"} {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %e1 = tensor.empty() : tensor<4096xf32>
  %e2 = tensor.empty() : tensor<4096x1024xf32>
  %f = linalg.fill ins(%low : f32) outs(%e1 : tensor<4096xf32>) -> tensor<4096xf32>
  %m = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4096x1024xf32>) outs(%f : tensor<4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.maximumf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<4096xf32>
  %d = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %m : tensor<4096x1024xf32>, tensor<4096xf32>) outs(%e2 : tensor<4096x1024xf32>) {
  ^bb0(%in: f32, %max: f32, %out: f32):
    %0 = arith.subf %in, %max : f32
    linalg.yield %0 : f32
  } -> tensor<4096x1024xf32>
  %g = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4096xf32>) -> tensor<4096xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%d : tensor<4096x1024xf32>) outs(%g : tensor<4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<4096xf32>
  %r = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%d, %s : tensor<4096x1024xf32>, tensor<4096xf32>) outs(%e2 : tensor<4096x1024xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %0 = arith.divf %in, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<4096x1024xf32>
  return %r : tensor<4096x1024xf32>
}

// -----

// A reversal along the tiled axis is no slice: the body reads the whole source at a computed index.
// CHECK-LABEL: func.func private @reversed
// CHECK: scf.forall (%[[I:.*]]) = (0) to (20000)
// CHECK-NOT: tensor.extract_slice %arg0
// CHECK: linalg.generic {indexing_maps = [#{{.*}}], iterator_types = ["parallel"]} outs(
// CHECK: %[[K:.*]] = linalg.index 0
// CHECK: %[[AT:.*]] = arith.addi %[[K]], %[[I]]
// CHECK: tensor.extract %arg0[%{{.*}}]
// CHECK: tensor.parallel_insert_slice
func.func private @reversed(%x: tensor<20000xf32>) -> tensor<20000xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<20000xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (-d0 + 19999)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<20000xf32>) outs(%e : tensor<20000xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<20000xf32>
  return %r : tensor<20000xf32>
}

// -----

// A gather keeps its source whole; its indices are sliced, and linalg.index of a tiled loop counts from the tile's offset.
// CHECK-LABEL: func.func private @gathered
// CHECK: scf.forall (%[[I:.*]]) = (0) to (1021)
// CHECK: %[[K:.*]] = tensor.extract_slice %arg1[%[[I]]]
// CHECK: linalg.generic {{.*}} ins(%[[K]] :
// CHECK: %[[ROW:.*]] = linalg.index 0
// CHECK-NEXT: %[[GLOBAL:.*]] = arith.addi %[[ROW]], %[[I]]
// CHECK: linalg.index 1
// CHECK-NEXT: tensor.extract %arg0[
func.func private @gathered(%x: tensor<70x1000xi32>, %i: tensor<1021xi32>) -> tensor<1021x1000xi32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<1021x1000xi32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%i : tensor<1021xi32>) outs(%e : tensor<1021x1000xi32>) {
  ^bb0(%in: i32, %out: i32):
    %j = arith.index_cast %in : i32 to index
    %n = linalg.index 0 : index
    %m = arith.index_cast %n : index to i32
    %c = linalg.index 1 : index
    %v = tensor.extract %x[%j, %c] : tensor<70x1000xi32>
    %s = arith.addi %v, %m : i32
    linalg.yield %s : i32
  } -> tensor<1021x1000xi32>
  return %r : tensor<1021x1000xi32>
}

// -----

// No axis to tile: a loop of one tile. A fill and a reduction that updates it are the result itself.
// CHECK-LABEL: func.func private @sum
// CHECK: scf.forall (%{{.*}}) in (1) shared_outs(%[[O:.*]] = %{{.*}}) -> (tensor<f32>) {
// CHECK-NEXT: %[[F:.*]] = linalg.fill ins(%{{.*}}) outs(%[[O]] : tensor<f32>)
// CHECK-NEXT: %[[S:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<1000xf32>) outs(%[[F]] : tensor<f32>)
// CHECK: tensor.parallel_insert_slice %[[S]] into %[[O]][] [] []
func.func private @sum(%x: tensor<1000xf32>) -> tensor<f32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]} ins(%x : tensor<1000xf32>) outs(%f : tensor<f32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<f32>
  return %r : tensor<f32>
}

// -----

// A group that hands back its argument copies it.
// CHECK-LABEL: func.func private @argument
// CHECK: scf.forall (%{{.*}}) in (1) shared_outs(%[[O:.*]] = %{{.*}})
// CHECK-NEXT: %[[C:.*]] = linalg.generic {{.*}} ins(%arg0 : tensor<4xf32>) outs(%[[O]] : tensor<4xf32>)
// CHECK: tensor.parallel_insert_slice %[[C]] into %[[O]]
func.func private @argument(%x: tensor<4xf32>) -> tensor<4xf32> attributes {hloom.kind = "loop"} {
  return %x : tensor<4xf32>
}

// -----

// Views at the function's edge stay outside the loop.
// CHECK-LABEL: func.func private @viewed
// CHECK: %[[F:.*]] = scf.forall
// CHECK: %[[V:.*]] = tensor.expand_shape %[[F]] {{.*}} : tensor<40000xf32> into tensor<200x200xf32>
// CHECK-NEXT: return %[[V]]
func.func private @viewed(%x: tensor<40000xf32>) -> tensor<200x200xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<40000xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<40000xf32>) outs(%e : tensor<40000xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.negf %in : f32
    linalg.yield %0 : f32
  } -> tensor<40000xf32>
  %v = tensor.expand_shape %r [[0, 1]] output_shape [200, 200] : tensor<40000xf32> into tensor<200x200xf32>
  return %v : tensor<200x200xf32>
}

// -----

// Declined: A library group.
// Unchanged: A function that is no group, one that is tiled already.
// CHECK-LABEL: func.func private @library
// CHECK-NOT: scf.forall
// CHECK-LABEL: func.func @host
// CHECK-NEXT: return
// CHECK-LABEL: func.func private @tiled
// CHECK: scf.forall (%{{.*}}) in (2)
// CHECK-NOT: scf.forall (
func.func private @library(%x: tensor<8x8xf32>) -> tensor<8x8xf32> attributes {hloom.kind = "library", hloom.library = "gemm"} {
  %e = tensor.empty() : tensor<8x8xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    linalg.yield %in : f32
  } -> tensor<8x8xf32>
  return %r : tensor<8x8xf32>
}
func.func @host(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
func.func private @tiled(%x: tensor<8xf32>) -> tensor<8xf32> attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<8xf32>
  %r = scf.forall (%i) in (2) shared_outs(%o = %e) -> tensor<8xf32> {
    %k = affine.apply affine_map<(d0) -> (d0 * 4)>(%i)
    %s = tensor.extract_slice %x[%k] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %d = tensor.extract_slice %o[%k] [4] [1] : tensor<8xf32> to tensor<4xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%s : tensor<4xf32>) outs(%d : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    } -> tensor<4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[%k] [4] [1] : tensor<4xf32> into tensor<8xf32>
    }
  }
  return %r : tensor<8xf32>
}

// -----

// A value read by tensor.extract is tiled along the loops at whose own index it is read, here the rows; along the others it is whole.
// CHECK-LABEL: func.func private @extracted
// CHECK: scf.forall (%[[I:[^)]*]]) in (4096)
// CHECK-NEXT: %[[X:.*]] = tensor.extract_slice %arg0[%[[I]], 0] [1, 1024]
// CHECK: %[[V:.*]] = linalg.generic {{.*}} ins(%[[X]] : tensor<1x1024xf32>) outs(%{{.*}} : tensor<1x1024xf32>)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x1024xf32>)
// CHECK: linalg.index 1
// CHECK: %[[ROW:.*]] = linalg.index 0
// CHECK-NEXT: tensor.extract %[[V]][%[[ROW]], %{{.*}}] : tensor<1x1024xf32>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func private @extracted(%x: tensor<4096x1024xf32>) -> tensor<4096xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %c1 = arith.constant 1 : index
  %c1023 = arith.constant 1023 : index
  %e1 = tensor.empty() : tensor<4096xf32>
  %e2 = tensor.empty() : tensor<4096x1024xf32>
  %v = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4096x1024xf32>) outs(%e2 : tensor<4096x1024xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.exp %in : f32
    linalg.yield %0 : f32
  } -> tensor<4096x1024xf32>
  %p = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e2 : tensor<4096x1024xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %0 = arith.addi %j, %c1 : index
    %1 = arith.minsi %0, %c1023 : index
    %2 = tensor.extract %v[%i, %1] : tensor<4096x1024xf32>
    linalg.yield %2 : f32
  } -> tensor<4096x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<4096xf32>) -> tensor<4096xf32>
  %r = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%p : tensor<4096x1024xf32>) outs(%f : tensor<4096xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = arith.addf %in, %out : f32
    linalg.yield %0 : f32
  } -> tensor<4096xf32>
  return %r : tensor<4096xf32>
}

// -----

// A window is no contraction, though its second input lends the window's extents: whole lines of results are a tile, not eight of them.
// CHECK-LABEL: func.func private @window
// CHECK: scf.forall (%{{.*}}) in (64)
#read = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1 * 2 + d3, d2 * 2 + d4)>
#place = affine_map<(d0, d1, d2, d3, d4) -> (d3, d4)>
#out = affine_map<(d0, d1, d2, d3, d4) -> (d0, d1, d2)>
func.func private @window(%x: tensor<64x111x111xf32>) -> tensor<64x55x55xf32> attributes {hloom.kind = "reduce"} {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<64x55x55xf32>
  %w = tensor.empty() : tensor<3x3xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<64x55x55xf32>) -> tensor<64x55x55xf32>
  %r = linalg.generic {indexing_maps = [#read, #place, #out], iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%x, %w : tensor<64x111x111xf32>, tensor<3x3xf32>) outs(%f : tensor<64x55x55xf32>) {
  ^bb0(%in: f32, %place: f32, %out: f32):
    %0 = arith.maximumf %out, %in : f32
    linalg.yield %0 : f32
  } -> tensor<64x55x55xf32>
  return %r : tensor<64x55x55xf32>
}

// -----

// So is one that an input's map reads at an index that no slice has: places count from the tile's start where it is tiled, from 0 elsewhere.
// CHECK-LABEL: func.func private @reshaped
// CHECK: scf.forall (%[[I:[^,]*]], %[[J:[^)]*]]) = (0, 0) to (4, 48) step (1, 5)
// CHECK: %[[V:.*]] = linalg.generic {{.*}} outs(%{{.*}} : tensor<1x4x12xf32>)
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<1x?xf32>) outs(
// CHECK: %[[ROW:.*]] = linalg.index 0
// CHECK-NEXT: %[[K:.*]] = linalg.index 1
// CHECK-NEXT: %[[COLUMN:.*]] = arith.addi %[[K]], %[[J]]
// CHECK: tensor.extract %[[V]][%[[ROW]], %{{.*}}, %{{.*}}] : tensor<1x4x12xf32>
#same = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#read = affine_map<(d0, d1) -> (d0, d1 floordiv 12, d1 mod 12)>
#own = affine_map<(d0, d1) -> (d0, d1)>
func.func private @reshaped(%x: tensor<4x4x12xf32>, %y: tensor<4x48xf32>) -> tensor<4x48xf32>
    attributes {hloom.kind = "loop", hloom.tile = array<i64: 1, 5>, hloom.tile_rule = "tile 1"} {
  %e = tensor.empty() : tensor<4x4x12xf32>
  %s = linalg.generic {indexing_maps = [#same, #same], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<4x4x12xf32>) outs(%e : tensor<4x4x12xf32>) {
  ^bb0(%in: f32, %out: f32):
    %0 = math.absf %in : f32
    linalg.yield %0 : f32
  } -> tensor<4x4x12xf32>
  %o = tensor.empty() : tensor<4x48xf32>
  %r = linalg.generic {indexing_maps = [#own, #read, #own], iterator_types = ["parallel", "parallel"]} ins(%y, %s : tensor<4x48xf32>, tensor<4x4x12xf32>) outs(%o : tensor<4x48xf32>) {
  ^bb0(%in: f32, %sum: f32, %out: f32):
    %0 = arith.mulf %in, %sum : f32
    linalg.yield %0 : f32
  } -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}

// -----

// Rows that are lanes are cut in whole blocks of columns: of 3,136 pixels 128, not 96, a third of whose lanes would be half idle.
// CHECK-LABEL: func.func private @pixels(
// CHECK: scf.forall (%{{.*}}) = (0) to (3136) step (128)
#x = affine_map<(d0, d1, d2) -> (d2, d1)>
#w = affine_map<(d0, d1, d2) -> (d0, d2)>
#y = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func private @pixels(%x: tensor<144x3136xf32>, %w: tensor<24x144xf32>) -> tensor<24x3136xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<24x3136xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<24x3136xf32>) -> tensor<24x3136xf32>
  %r = linalg.generic {indexing_maps = [#x, #w, #y], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<144x3136xf32>, tensor<24x144xf32>) outs(%f : tensor<24x3136xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<24x3136xf32>
  return %r : tensor<24x3136xf32>
}

// -----

// A matrix times a vector: lines enough that what follows their sums fills registers.
// CHECK-LABEL: func.func private @lines
// CHECK: scf.forall {{.*}}(65536) step (64)
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<64xf32>)
#m = affine_map<(d0, d1) -> (d0, d1)>
#v = affine_map<(d0, d1) -> (d1)>
#s = affine_map<(d0, d1) -> (d0)>
func.func private @lines(%x: tensor<65536x32xf32>, %w: tensor<32xf32>) -> tensor<65536xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<65536xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<65536xf32>) -> tensor<65536xf32>
  %r = linalg.generic {indexing_maps = [#m, #v, #s], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<65536x32xf32>, tensor<32xf32>) outs(%f : tensor<65536xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<65536xf32>
  return %r : tensor<65536xf32>
}

// -----

// Few lines: no more to a tile than leave some for each core.
// CHECK-LABEL: func.func private @few_lines
// CHECK: scf.forall {{.*}}(40) step (8)
#m = affine_map<(d0, d1) -> (d0, d1)>
#v = affine_map<(d0, d1) -> (d1)>
#s = affine_map<(d0, d1) -> (d0)>
func.func private @few_lines(%x: tensor<40x32xf32>, %w: tensor<32xf32>) -> tensor<40xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<40xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<40xf32>) -> tensor<40xf32>
  %r = linalg.generic {indexing_maps = [#m, #v, #s], iterator_types = ["parallel", "reduction"]}
      ins(%x, %w : tensor<40x32xf32>, tensor<32xf32>) outs(%f : tensor<40xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.mulf %a, %b : f32
    %1 = arith.addf %c, %0 : f32
    linalg.yield %1 : f32
  } -> tensor<40xf32>
  return %r : tensor<40xf32>
}

// -----

// Changed: two results that share nothing but what they read: their loops are those by which they read it, in whatever order they write.
// CHECK-LABEL: func.func private @in_other_orders
// CHECK: scf.forall (%[[B:.*]], %[[M:.*]]) = (0, 0) to (4, 512) step (1, {{[0-9]+}})
// CHECK: parallel_insert_slice {{.*}}[%[[B]], %[[M]], 0]
// CHECK: parallel_insert_slice {{.*}}[%[[M]], %[[B]], 0]
#at = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#turned = affine_map<(d0, d1, d2) -> (d1, d0, d2)>
func.func private @in_other_orders(%x: tensor<4x512x640xf32>) -> (tensor<4x512x640xf32>, tensor<512x4x640xf32>) attributes {hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<4x512x640xf32>
  %0 = linalg.generic {indexing_maps = [#at, #at], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<4x512x640xf32>) outs(%e : tensor<4x512x640xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = arith.mulf %a, %a : f32
    linalg.yield %y : f32
  } -> tensor<4x512x640xf32>
  %f = tensor.empty() : tensor<512x4x640xf32>
  %1 = linalg.generic {indexing_maps = [#turned, #at], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x : tensor<4x512x640xf32>) outs(%f : tensor<512x4x640xf32>) {
  ^bb0(%a: f32, %o: f32):
    %y = arith.mulf %a, %a : f32
    linalg.yield %y : f32
  } -> tensor<512x4x640xf32>
  return %0, %1 : tensor<4x512x640xf32>, tensor<512x4x640xf32>
}

// -----

// Changed: groups of channels, read at `4 * g + c`, whose rows are summed: a tile a group, as where the groups are a dimension.
// CHECK-LABEL: func.func private @groups_of_channels
// CHECK: scf.forall (%[[B:.*]], %[[G:.*]]) in (3, 4)
// CHECK: parallel_insert_slice {{.*}}[%[[B]], %[[G]]]
#group = affine_map<(d0, d1, d2, d3) -> (d0, d1 * 4 + d2, d3)>
#within = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#sum = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
func.func private @groups_of_channels(%x: tensor<3x17x2499xf32>) -> tensor<3x4xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %w = tensor.empty() : tensor<4x2499xf32>
  %r = linalg.generic {indexing_maps = [#group, #within, #sum], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<3x17x2499xf32>, tensor<4x2499xf32>) outs(%f : tensor<3x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.addf %c, %a : f32
    linalg.yield %0 : f32
  } -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}

// -----

// Unchanged: windows along a line: a line of results is whole, and many lines a tile.
// CHECK-LABEL: func.func private @windows_of_a_line
// CHECK: scf.forall ({{.*}}) in (1)
#window = affine_map<(d0, d1, d2) -> (d0, d1 * 4 + d2)>
#tap = affine_map<(d0, d1, d2) -> (d2)>
#pooled = affine_map<(d0, d1, d2) -> (d0, d1)>
func.func private @windows_of_a_line(%x: tensor<3x4096xf32>) -> tensor<3x1024xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x1024xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x1024xf32>) -> tensor<3x1024xf32>
  %w = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [#window, #tap, #pooled], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<3x4096xf32>, tensor<4xf32>) outs(%f : tensor<3x1024xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.addf %c, %a : f32
    linalg.yield %0 : f32
  } -> tensor<3x1024xf32>
  return %r : tensor<3x1024xf32>
}

// -----

// Changed: so are groups of channels of whose rows every second element is summed.
// CHECK-LABEL: func.func private @every_second
// CHECK: scf.forall (%[[B:.*]], %[[G:.*]]) in (3, 4)
#second = affine_map<(d0, d1, d2, d3) -> (d0, d1 * 4 + d2, d3 * 2)>
#within = affine_map<(d0, d1, d2, d3) -> (d2, d3)>
#sum = affine_map<(d0, d1, d2, d3) -> (d0, d1)>
func.func private @every_second(%x: tensor<3x17x4998xf32>) -> tensor<3x4xf32> attributes {hloom.kind = "reduce"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<3x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<3x4xf32>) -> tensor<3x4xf32>
  %w = tensor.empty() : tensor<4x2499xf32>
  %r = linalg.generic {indexing_maps = [#second, #within, #sum], iterator_types = ["parallel", "parallel", "reduction", "reduction"]}
      ins(%x, %w : tensor<3x17x4998xf32>, tensor<4x2499xf32>) outs(%f : tensor<3x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %0 = arith.addf %c, %a : f32
    linalg.yield %0 : f32
  } -> tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}
