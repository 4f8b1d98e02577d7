// RUN: hloom-opt %s --tile-and-fuse | filecheck %s
// RUN: hloom-opt %s --tile-and-fuse --vectorize-tiles --canonicalize --cse | filecheck %s --check-prefix=VECTOR

// Packed columns, read by `n floordiv 16` and `n mod 16`, beside an epilogue: a tile has several panels, the last tile fewer.
// CHECK-DAG: #[[W:.*]] = affine_map<(d0, d1, d2) -> (d1 floordiv 16, d2, d1 mod 16)>
// CHECK-LABEL: func.func @several(
// CHECK: scf.forall (%[[N:.*]]) = (0) to (200) step (64)
// CHECK: %[[COLUMNS:.*]] = affine.min
// CHECK: %[[FIRST:.*]] = arith.divui %[[N]], %{{.*}}
// CHECK: %[[LAST:.*]] = arith.addi %[[COLUMNS]], %{{.*}}
// CHECK: %[[PANELS:.*]] = arith.divui %[[LAST]], %{{.*}}
// CHECK: tensor.extract_slice %arg1[%[[FIRST]], 0, 0] [%[[PANELS]], 64, 16]
// CHECK: linalg.generic {indexing_maps = [#{{.*}}, #[[W]], #{{.*}}]

// In the kernel a chunk of columns is a panel: its first element is as far as the first column times the depth, the lanes lie side by side.
// Where registers are 16, four steps of the depth are a turn of its loop.
// VECTOR-LABEL: func.func private @several(
// VECTOR: scf.for %[[N:.*]] = %c0 to %{{.*}} step %c16 {
// VECTOR: scf.for %[[K:.*]] = %c0 to %c64 step %c4 iter_args
// VECTOR: %[[PANEL:.*]] = arith.muli %[[N]], %c64
// VECTOR: memref.prefetch %arg3
// VECTOR: %[[ROW:.*]] = arith.muli %[[K]], %c16
// VECTOR: %[[AT:.*]] = arith.addi %{{.*}}, %[[ROW]]
// VECTOR: %[[B:.*]] = arith.addi %[[AT]], %[[PANEL]]
// VECTOR: vector.load %arg3[%[[B]]] : memref<13312xf32>, vector<16xf32>
#a = affine_map<(m, n, k) -> (m, k)>
#w = affine_map<(m, n, k) -> (n floordiv 16, k, n mod 16)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(m, n) -> (m, n)>
#row = affine_map<(m, n) -> (n)>
#k = affine_map<(p, c, k) -> (k)>
#pkc = affine_map<(p, c, k) -> (p, k, c)>
#kpc = affine_map<(p, c, k) -> (k, p, c)>
#pc = affine_map<(p, c, k) -> (p, c)>
module attributes {hloom.target = {name = "cpu-avx2", vector_bits = 256 : i64, vector_registers = 16 : i64}} {
  func.func @several(%x: tensor<12x64xf32>, %w: tensor<13x64x16xf32>, %b: tensor<200xf32>) -> tensor<12x200xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<12x200xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<12x200xf32>) -> tensor<12x200xf32>
    %m = linalg.generic {indexing_maps = [#a, #w, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<12x64xf32>, tensor<13x64x16xf32>) outs(%f : tensor<12x200xf32>) {
    ^bb0(%p: f32, %q: f32, %acc: f32):
      %0 = arith.mulf %p, %q : f32
      %1 = arith.addf %acc, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<12x200xf32>
    %r = linalg.generic {indexing_maps = [#row, #id], iterator_types = ["parallel", "parallel"]} ins(%b : tensor<200xf32>) outs(%m : tensor<12x200xf32>) {
    ^bb0(%bias: f32, %y: f32):
      %0 = arith.addf %y, %bias : f32
      linalg.yield %0 : f32
    } -> tensor<12x200xf32>
    return %r : tensor<12x200xf32>
  }

  // Columns that one tile holds are whole in it: what is left after whole panels is a block of its own width, 8 of 40.
  // CHECK-LABEL: func.func @whole(
  // CHECK: scf.forall (%{{.*}}) = (0) to (300) step (78)
  // CHECK: tensor.extract_slice %{{.*}} [%{{.*}}, 40] [1, 1] : tensor<300x40xf32> to tensor<?x40xf32>
  // VECTOR-LABEL: func.func private @whole(
  // VECTOR: vector.load %arg3{{.*}} vector<16xf32>
  // VECTOR-NOT: vector.create_mask
  // VECTOR: vector.load %arg3{{.*}} vector<8xf32>
  func.func @whole(%x: tensor<300x64xf32>, %w: tensor<3x64x16xf32>) -> tensor<300x40xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<300x40xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<300x40xf32>) -> tensor<300x40xf32>
    %m = linalg.generic {indexing_maps = [#a, #w, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<300x64xf32>, tensor<3x64x16xf32>) outs(%f : tensor<300x40xf32>) {
    ^bb0(%p: f32, %q: f32, %acc: f32):
      %0 = arith.mulf %p, %q : f32
      %1 = arith.addf %acc, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<300x40xf32>
    return %m : tensor<300x40xf32>
  }

  // Rows that the last-level cache does not hold beside much else are read once: all panels of each tile of rows.
  // CHECK-LABEL: func.func @far_rows(
  // CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (40000, 400)
  func.func @far_rows(%x: tensor<40000x64xf32>, %w: tensor<25x64x16xf32>) -> tensor<40000x400xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<40000x400xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<40000x400xf32>) -> tensor<40000x400xf32>
    %m = linalg.generic {indexing_maps = [#a, #w, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<40000x64xf32>, tensor<25x64x16xf32>) outs(%f : tensor<40000x400xf32>) {
    ^bb0(%p: f32, %q: f32, %acc: f32):
      %0 = arith.mulf %p, %q : f32
      %1 = arith.addf %acc, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<40000x400xf32>
    return %m : tensor<40000x400xf32>
  }

  // So are those whose results L2 does not hold: a tile's lie together, where all rows of a panel would be spread over all of them.
  // CHECK-LABEL: func.func @spread_results(
  // CHECK: scf.forall (%{{.*}}, %{{.*}}) = (0, 0) to (20000, 400)
  func.func @spread_results(%x: tensor<20000x64xf32>, %w: tensor<25x64x16xf32>) -> tensor<20000x400xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<20000x400xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<20000x400xf32>) -> tensor<20000x400xf32>
    %m = linalg.generic {indexing_maps = [#a, #w, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<20000x64xf32>, tensor<25x64x16xf32>) outs(%f : tensor<20000x400xf32>) {
    ^bb0(%p: f32, %q: f32, %acc: f32):
      %0 = arith.mulf %p, %q : f32
      %1 = arith.addf %acc, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<20000x400xf32>
    return %m : tensor<20000x400xf32>
  }

  // Others are read again for each block of columns.
  // CHECK-LABEL: func.func @near_rows(
  // CHECK: scf.forall (%{{.*}}) = (0) to (400)
  func.func @near_rows(%x: tensor<160x64xf32>, %w: tensor<25x64x16xf32>) -> tensor<160x400xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<160x400xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<160x400xf32>) -> tensor<160x400xf32>
    %m = linalg.generic {indexing_maps = [#a, #w, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<160x64xf32>, tensor<25x64x16xf32>) outs(%f : tensor<160x400xf32>) {
    ^bb0(%p: f32, %q: f32, %acc: f32):
      %0 = arith.mulf %p, %q : f32
      %1 = arith.addf %acc, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<160x400xf32>
    return %m : tensor<160x400xf32>
  }

  // One row has a panel in each tile, where the result has these as an axis of its own. Of a matrix that is stored by rows a tile takes all columns.
  // CHECK-LABEL: func.func @one_row(
  // CHECK: scf.forall (%{{.*}}) in (6)
  // CHECK: tensor.extract_slice %arg1[%{{.*}}, 0, 0] [1, 64, 128]
  // CHECK-LABEL: func.func @by_rows(
  // CHECK: scf.forall (%{{.*}}) in (1)
  func.func @one_row(%x: tensor<64xf32>, %w: tensor<6x64x128xf32>) -> tensor<6x128xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<6x128xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x128xf32>) -> tensor<6x128xf32>
    %m = linalg.generic {indexing_maps = [#k, #pkc, #pc], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64xf32>, tensor<6x64x128xf32>) outs(%f : tensor<6x128xf32>) {
    ^bb0(%p: f32, %q: f32, %acc: f32):
      %0 = arith.mulf %p, %q : f32
      %1 = arith.addf %acc, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<6x128xf32>
    return %m : tensor<6x128xf32>
  }
  func.func @by_rows(%x: tensor<64xf32>, %w: tensor<64x6x128xf32>) -> tensor<6x128xf32> {
    %zero = arith.constant 0.0 : f32
    %e = tensor.empty() : tensor<6x128xf32>
    %f = linalg.fill ins(%zero : f32) outs(%e : tensor<6x128xf32>) -> tensor<6x128xf32>
    %m = linalg.generic {indexing_maps = [#k, #kpc, #pc], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x, %w : tensor<64xf32>, tensor<64x6x128xf32>) outs(%f : tensor<6x128xf32>) {
    ^bb0(%p: f32, %q: f32, %acc: f32):
      %0 = arith.mulf %p, %q : f32
      %1 = arith.addf %acc, %0 : f32
      linalg.yield %1 : f32
    } -> tensor<6x128xf32>
    return %m : tensor<6x128xf32>
  }
}
