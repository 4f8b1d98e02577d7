// RUN: hloom-opt %s --split-contractions --split-input-file | filecheck %s

// Changed: Weight gradients of a small layer: one tile of results, sums of 65536. Parts are f32, in the order batch, part, rows, columns.
// CHECK-LABEL: func.func @long_sums
// CHECK: %[[X:.*]] = stablehlo.reshape %arg0 : (tensor<65536x32xf16>) -> tensor<[[P:[0-9]+]]x[[K:[0-9]+]]x32xf16>
// CHECK: %[[Y:.*]] = stablehlo.reshape %arg1 : (tensor<65536x48xf16>) -> tensor<[[P]]x[[K]]x48xf16>
// CHECK: %[[D:.*]] = stablehlo.dot_general %[[X]], %[[Y]], batching_dims = [0] x [0], contracting_dims = [1] x [1] : {{.*}} -> tensor<[[P]]x32x48xf32>
// CHECK: %[[S:.*]] = stablehlo.reduce(%[[D]] init: {{.*}}) applies stablehlo.add across dimensions = [0]
// CHECK: %[[R:.*]] = stablehlo.convert %[[S]] : (tensor<32x48xf32>) -> tensor<32x48xf16>
// CHECK: return %[[R]]
module attributes {hloom.target = {kind = "cuda", multiprocessors = 108 : i64}} {
  func.func @long_sums(%x: tensor<65536x32xf16>, %y: tensor<65536x48xf16>) -> tensor<32x48xf16> {
    %0 = stablehlo.dot_general %x, %y, contracting_dims = [0] x [0] : (tensor<65536x32xf16>, tensor<65536x48xf16>) -> tensor<32x48xf16>
    return %0 : tensor<32x48xf16>
  }
}

// -----

// Changed: Two batches of one row: the part stands after the batch.
// CHECK-LABEL: func.func @batched_row
// CHECK: stablehlo.dot_general {{.*}}, batching_dims = [0, 1] x [0, 2], contracting_dims = [2] x [3] : (tensor<2x[[P:[0-9]+]]x[[K:[0-9]+]]xf32>, tensor<2x[[P]]x8x[[K]]xf32>) -> tensor<2x[[P]]x8xf32>
// CHECK: stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [1] : {{.*}} -> tensor<2x8xf32>
module attributes {hloom.target = {kind = "cuda", multiprocessors = 108 : i64}} {
  func.func @batched_row(%x: tensor<2x32768xf32>, %w: tensor<2x8x32768xf32>) -> tensor<2x8xf32> {
    %0 = stablehlo.dot_general %x, %w, batching_dims = [0] x [0], contracting_dims = [1] x [2] : (tensor<2x32768xf32>, tensor<2x8x32768xf32>) -> tensor<2x8xf32>
    return %0 : tensor<2x8xf32>
  }
}

// -----

// Declined: blocks enough; short sums; integers.
// CHECK-LABEL: func.func @declined
// CHECK-NOT: stablehlo.reshape
// CHECK-NOT: stablehlo.reduce
module attributes {hloom.target = {kind = "cuda", multiprocessors = 108 : i64}} {
  func.func @declined(%x: tensor<1024x8192xf16>, %y: tensor<64x1024xf32>, %z: tensor<16x65536xi32>) -> (tensor<1024x1024xf16>, tensor<64x64xf32>, tensor<16x16xi32>) {
    %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<1024x8192xf16>, tensor<1024x8192xf16>) -> tensor<1024x1024xf16>
    %1 = stablehlo.dot_general %y, %y, contracting_dims = [1] x [1] : (tensor<64x1024xf32>, tensor<64x1024xf32>) -> tensor<64x64xf32>
    %2 = stablehlo.dot_general %z, %z, contracting_dims = [1] x [1] : (tensor<16x65536xi32>, tensor<16x65536xi32>) -> tensor<16x16xi32>
    return %0, %1, %2 : tensor<1024x1024xf16>, tensor<64x64xf32>, tensor<16x16xi32>
  }
}

// -----

// Unchanged: No GPU: nothing to do.
// CHECK-LABEL: func.func @on_a_cpu
// CHECK-NOT: stablehlo.reduce
module {
  func.func @on_a_cpu(%x: tensor<16x65536xf32>) -> tensor<16x16xf32> {
    %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<16x65536xf32>, tensor<16x65536xf32>) -> tensor<16x16xf32>
    return %0 : tensor<16x16xf32>
  }
}
