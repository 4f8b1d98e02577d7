// RUN: hloom-opt %s --vectorize-tiles --canonicalize --cse --split-input-file | filecheck %s

// Changed: A loop over updates in a tile, which adds each row in place, in the buffer of the result; a row is one vector loop.
// CHECK-LABEL: func.func private @rows(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %{{.*}}: memref<64000xf32>, %[[I:.*]]: memref<300xi32>, %[[U:.*]]: memref<19200xf32>, %[[O:.*]]: memref<64000xf32>)
// CHECK: scf.for
// CHECK: scf.for
// CHECK: %[[E:.*]] = memref.load %[[I]]
// CHECK: %[[AT:.*]] = arith.index_cast %[[E]]
// CHECK: scf.if
// CHECK-DAG: %[[NEW:.*]] = vector.load %[[U]][%{{.*}}] : memref<19200xf32>, vector<32xf32>
// CHECK-DAG: %[[OLD:.*]] = vector.load %[[O]][%[[PLACE:.*]]] : memref<64000xf32>, vector<32xf32>
// CHECK: %[[SUM:.*]] = arith.addf %[[OLD]], %[[NEW]]
// CHECK: vector.store %[[SUM]], %[[O]][%[[PLACE]]]
// CHECK-NOT: vector.store
// CHECK: return
func.func private @rows(%x: tensor<1000x64xf32>, %i: tensor<300xi32>, %u: tensor<300x64xf32>) -> tensor<1000x64xf32> attributes {hloom.inplace = array<i64: 0, 0>, hloom.kind = "scatter"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c300 = arith.constant 300 : index
  %c999 = arith.constant 999 : index
  %r = scf.forall (%j) = (0) to (64) step (32) shared_outs(%o = %x) -> (tensor<1000x64xf32>) {
    %part = tensor.extract_slice %o[0, %j] [1000, 32] [1, 1] : tensor<1000x64xf32> to tensor<1000x32xf32>
    %done = scf.for %n = %c0 to %c300 step %c1 iter_args(%t = %part) -> (tensor<1000x32xf32>) {
      %e = tensor.extract %i[%n] : tensor<300xi32>
      %at = arith.index_cast %e : i32 to index
      %inside = arith.cmpi ule, %at, %c999 : index
      %next = scf.if %inside -> (tensor<1000x32xf32>) {
        %old = tensor.extract_slice %t[%at, 0] [1, 32] [1, 1] : tensor<1000x32xf32> to tensor<1x32xf32>
        %new = tensor.extract_slice %u[%n, %j] [1, 32] [1, 1] : tensor<300x64xf32> to tensor<1x32xf32>
        %sum = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
            ins(%new : tensor<1x32xf32>) outs(%old : tensor<1x32xf32>) {
        ^bb0(%in: f32, %out: f32):
          %s = arith.addf %out, %in : f32
          linalg.yield %s : f32
        } -> tensor<1x32xf32>
        %all = tensor.insert_slice %sum into %t[%at, 0] [1, 32] [1, 1] : tensor<1x32xf32> into tensor<1000x32xf32>
        scf.yield %all : tensor<1000x32xf32>
      } else {
        scf.yield %t : tensor<1000x32xf32>
      }
      scf.yield %next : tensor<1000x32xf32>
    }
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %done into %o[0, %j] [1000, 32] [1, 1] : tensor<1000x32xf32> into tensor<1000x64xf32>
    }
  }
  return %r : tensor<1000x64xf32>
}

// -----

// Declined: A sum of each row and the sum of all are no nest together: the rows' accumulators start anew at each row.
// CHECK-LABEL: func.func private @rows_and_all(
// CHECK-SAME: %{{.*}}: index, %{{.*}}: index, %[[X:.*]]: memref<752xf32>, %[[ROWS:.*]]: memref<47xf32>, %[[ALL:.*]]: memref<1xf32>)
// CHECK: scf.for %[[I:.*]] = %{{.*}} to %c47
// CHECK: %[[LOADED:.*]] = vector.load %[[X]]
// CHECK: %[[ROW:.*]] = vector.reduction <add>, %[[LOADED]]
// CHECK: %[[FROM:.*]] = arith.addf %[[ROW]]
// CHECK: memref.store %[[FROM]], %[[ROWS]][%[[I]]]
// CHECK: %[[TOTAL:.*]] = scf.for {{.*}} iter_args
// CHECK: vector.load %[[X]]
// CHECK: scf.yield
// CHECK: vector.reduction <add>, %[[TOTAL]]
// CHECK: memref.store %{{.*}}, %[[ALL]]
func.func private @rows_and_all(%x: tensor<47x16xf32>) -> (tensor<47xf32>, tensor<f32>) attributes {hloom.kind = "multi_reduce"} {
  %zero = arith.constant 0.0 : f32
  %rows = tensor.empty() : tensor<47xf32>
  %one = tensor.empty() : tensor<f32>
  %r:2 = scf.forall (%i) in (1) shared_outs(%a = %rows, %b = %one) -> (tensor<47xf32>, tensor<f32>) {
    %fa = linalg.fill ins(%zero : f32) outs(%a : tensor<47xf32>) -> tensor<47xf32>
    %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<47x16xf32>) outs(%fa : tensor<47xf32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %out, %in : f32
      linalg.yield %0 : f32
    } -> tensor<47xf32>
    %fb = linalg.fill ins(%zero : f32) outs(%b : tensor<f32>) -> tensor<f32>
    %t = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%x : tensor<47x16xf32>) outs(%fb : tensor<f32>) {
    ^bb0(%in: f32, %out: f32):
      %0 = arith.addf %out, %in : f32
      linalg.yield %0 : f32
    } -> tensor<f32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %s into %a[0] [47] [1] : tensor<47xf32> into tensor<47xf32>
      tensor.parallel_insert_slice %t into %b[] [] [] : tensor<f32> into tensor<f32>
    }
  }
  return %r#0, %r#1 : tensor<47xf32>, tensor<f32>
}

// -----

// Changed: Both parts of complex numbers lie two apart along the sum, and far apart along the rows: lanes are steps of the sum, whose
// numbers are loaded with what lies between.
// CHECK-LABEL: func.func private @real_parts(
// CHECK-NOT: vector.gather
// CHECK: vector.reduction <add>
#part = affine_map<(d0, d1) -> (d0, d1, 0)>
#rows = affine_map<(d0, d1) -> (d0)>
func.func private @real_parts(%x: tensor<2x512x2xf32>, %y: tensor<2x512x2xf32>) -> tensor<2xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<2xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<2xf32>) -> tensor<2xf32>
    %c = linalg.generic {indexing_maps = [#part, #part, #rows], iterator_types = ["parallel", "reduction"]}
        ins(%x, %y : tensor<2x512x2xf32>, tensor<2x512x2xf32>) outs(%f : tensor<2xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b fastmath<contract> : f32
      %1 = arith.addf %sum, %0 fastmath<contract> : f32
      linalg.yield %1 : f32
    } -> tensor<2xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0] [2] [1] : tensor<2xf32> into tensor<2xf32>
    }
  }
  return %r : tensor<2xf32>
}

// -----

// Changed: Four columns of a right operand that lies along them are the lanes, four steps of the sum beside each other. Steps alone as lanes
// would take every fourth element of it, at each row again.
// CHECK-LABEL: func.func private @four_columns(
// CHECK: vector.interleave {{.*}} : vector<8xf32> -> vector<16xf32>
// CHECK-NOT: vector.reduction
// CHECK: math.fma {{.*}} : vector<16xf32>
// CHECK-NOT: vector.reduction
// CHECK: return
func.func private @four_columns(%x: tensor<96x128xf32>, %w: tensor<128x4xf32>) -> tensor<96x4xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x4xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<96x4xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<96x4xf32>) -> tensor<96x4xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d2, d1)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
        iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<96x128xf32>, tensor<128x4xf32>) outs(%f : tensor<96x4xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b fastmath<contract> : f32
      %1 = arith.addf %sum, %0 fastmath<contract> : f32
      linalg.yield %1 : f32
    } -> tensor<96x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0] [96, 4] [1, 1] : tensor<96x4xf32> into tensor<96x4xf32>
    }
  }
  return %r : tensor<96x4xf32>
}

// -----

// Declined: Of a right operand that lies along the sum, steps of this are the lanes.
// CHECK-LABEL: func.func private @four_columns_along_the_sum(
// CHECK: vector.reduction <add>
func.func private @four_columns_along_the_sum(%x: tensor<96x128xf32>, %w: tensor<4x128xf32>) -> tensor<96x4xf32> attributes {hloom.kind = "matmul"} {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<96x4xf32>
  %r = scf.forall (%t) in (1) shared_outs(%o = %e) -> (tensor<96x4xf32>) {
    %f = linalg.fill ins(%zero : f32) outs(%o : tensor<96x4xf32>) -> tensor<96x4xf32>
    %c = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d2)>, affine_map<(d0, d1, d2) -> (d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>],
        iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<96x128xf32>, tensor<4x128xf32>) outs(%f : tensor<96x4xf32>) {
    ^bb0(%a: f32, %b: f32, %sum: f32):
      %0 = arith.mulf %a, %b fastmath<contract> : f32
      %1 = arith.addf %sum, %0 fastmath<contract> : f32
      linalg.yield %1 : f32
    } -> tensor<96x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %c into %o[0, 0] [96, 4] [1, 1] : tensor<96x4xf32> into tensor<96x4xf32>
    }
  }
  return %r : tensor<96x4xf32>
}
