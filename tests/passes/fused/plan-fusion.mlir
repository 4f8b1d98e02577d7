// RUN: hloom-opt %s --plan-fusion --split-input-file | filecheck %s

// Changed: A value used once is never written.
// CHECK: code = "FUSED_VERTICAL", edge = "tensor<4096x1024xf32>", gain_ps = {{[0-9]+}} : i64, groups = [@fusion_0]
// CHECK-SAME: verdict = "fused"
// CHECK-LABEL: func.func @main
// CHECK-NEXT: [[R:%.+]] = call @fusion_0(%arg0, %arg1)
// CHECK-NEXT: return [[R]]
// CHECK: func.func private @fusion_0(%arg0: tensor<4096x1024xf32>, %arg1: tensor<1024xf32>) -> tensor<4096x1024xf32>
// CHECK-SAME: hloom.bytes = 33558528 : i64
// CHECK-SAME: hloom.flops = 205520896 : i64, hloom.kind = "loop"
// CHECK-NEXT: stablehlo.broadcast_in_dim
// CHECK-NEXT: stablehlo.add
// CHECK-NEXT: stablehlo.tanh
// CHECK-NEXT: stablehlo.exponential
// CHECK-NOT: func.func
func.func @main(%x: tensor<4096x1024xf32>, %b: tensor<1024xf32>) -> tensor<4096x1024xf32> {
  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<1024xf32>) -> tensor<4096x1024xf32>
  %1 = stablehlo.add %x, %0 : tensor<4096x1024xf32>
  %2 = stablehlo.tanh %1 : tensor<4096x1024xf32>
  %3 = stablehlo.exponential %2 : tensor<4096x1024xf32>
  return %3 : tensor<4096x1024xf32>
}

// -----

// A value that is returned and used: one kernel of two results.
// CHECK: code = "FUSED_MULTI_OUTPUT"
// CHECK-LABEL: func.func @main
// CHECK-NEXT: [[R:%.+]]:2 = call @fusion_0(%arg0)
// CHECK-NEXT: return [[R]]#0, [[R]]#1
func.func @main(%x: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %0 = stablehlo.negate %x : tensor<512x512xf32>
  %1 = stablehlo.abs %0 : tensor<512x512xf32>
  return %0, %1 : tensor<512x512xf32>, tensor<512x512xf32>
}

// -----

// Two readers of one value: it is read once.
// CHECK: code = "FUSED_SIBLING"
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0(%arg0) : (tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512xf32>)
// CHECK-NEXT: return
// CHECK: hloom.kind = "multi_reduce"
func.func @main(%x: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.negate %x : tensor<512x512xf32>
  %1 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
  return %0, %1 : tensor<512x512xf32>, tensor<512xf32>
}

// -----

// Unchanged: readers of one number alone, as an optimiser's updates are of its step size, are kernels of their own. Numbers that read it join.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0(%arg0, %arg2)
// CHECK-NEXT: call @fusion_0(%arg1, %arg2)
// CHECK-NEXT: call @fusion_1(%arg2) : (tensor<f32>) -> (tensor<f32>, tensor<f32>)
// CHECK-NEXT: return
func.func @main(%x: tensor<512x512xf32>, %y: tensor<512x512xf32>, %s: tensor<f32>)
    -> (tensor<512x512xf32>, tensor<512x512xf32>, tensor<f32>, tensor<f32>) {
  %0 = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<512x512xf32>
  %1 = stablehlo.multiply %x, %0 : tensor<512x512xf32>
  %2 = stablehlo.multiply %y, %0 : tensor<512x512xf32>
  %3 = stablehlo.negate %s : tensor<f32>
  %4 = stablehlo.abs %s : tensor<f32>
  return %1, %2, %3, %4 : tensor<512x512xf32>, tensor<512x512xf32>, tensor<f32>, tensor<f32>
}

// -----

// A cheap producer of consumers that cannot be one kernel is evaluated in each of them.
// CHECK: code = "FUSED_DUPLICATED"
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0
// CHECK-NEXT: call @fusion_1
// CHECK-NEXT: return
// CHECK: @fusion_0
// CHECK: stablehlo.abs
// CHECK: @fusion_1
// CHECK: stablehlo.abs
func.func @main(%x: tensor<512x512xf32>) -> (tensor<512xf32>, tensor<512xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.abs %x : tensor<512x512xf32>
  %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
  %2 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<512x512xf32>, tensor<f32>) -> tensor<512xf32>
  return %1, %2 : tensor<512xf32>, tensor<512xf32>
}

// -----

// A gather evaluates its producer where it gathers, if that is cheap enough.
// CHECK: code = "FUSED_DEMAND"
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0
// CHECK-NEXT: return
func.func @main(%x: tensor<100000xf32>, %i: tensor<64x1xi32>) -> tensor<64xf32> {
  %0 = stablehlo.exponential %x : tensor<100000xf32>
  %1 = "stablehlo.gather"(%0, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
      indices_are_sorted = false, slice_sizes = array<i64: 1>}> : (tensor<100000xf32>, tensor<64x1xi32>) -> tensor<64xf32>
  return %1 : tensor<64xf32>
}

// -----

// Column sums with an elementwise producer and an epilogue over the kept axis.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0
// CHECK-NEXT: return
// CHECK: hloom.kind = "reduce"
func.func @main(%x: tensor<512x300xf32>) -> tensor<300xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.abs %x : tensor<512x300xf32>
  %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [0] : (tensor<512x300xf32>, tensor<f32>) -> tensor<300xf32>
  %2 = stablehlo.sqrt %1 : tensor<300xf32>
  return %2 : tensor<300xf32>
}

// -----

// A convolution takes bias, activation and a reshape that splits a dimension; the pad before it stays a kernel of its own.
// CHECK: code = "FUSED_EPILOGUE"
// CHECK-LABEL: func.func @main
// CHECK-NEXT: [[P:%.+]] = call @fusion_0(%arg0)
// CHECK-NEXT: [[R:%.+]] = call @fusion_1([[P]], %arg1, %arg2)
// CHECK-NEXT: return [[R]]
// CHECK: @fusion_0{{.*}}hloom.kind = "loop"
// CHECK: @fusion_1{{.*}}hloom.kind = "conv"
// CHECK: stablehlo.reshape
func.func @main(%x: tensor<1x3x32x32xf32>, %w: tensor<16x3x3x3xf32>, %b: tensor<16xf32>) -> tensor<16x1024xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %z = stablehlo.constant dense<0.0> : tensor<1x16x32x32xf32>
  %0 = stablehlo.pad %x, %c, low = [0, 0, 1, 1], high = [0, 0, 1, 1], interior = [0, 0, 0, 0] : (tensor<1x3x32x32xf32>, tensor<f32>) -> tensor<1x3x34x34xf32>
  %1 = stablehlo.convolution(%0, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x34x34xf32>, tensor<16x3x3x3xf32>) -> tensor<1x16x32x32xf32>
  %2 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<16xf32>) -> tensor<1x16x32x32xf32>
  %3 = stablehlo.add %1, %2 : tensor<1x16x32x32xf32>
  %4 = stablehlo.maximum %3, %z : tensor<1x16x32x32xf32>
  %5 = stablehlo.reshape %4 : (tensor<1x16x32x32xf32>) -> tensor<16x1024xf32>
  return %5 : tensor<16x1024xf32>
}

// -----

// Views, splats, scalar chains and widening converts are cloned, not planned: f16 is read as f16.
// CHECK: code = "FREE_CLONED", groups = [@fusion_0]
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0(%arg0, %arg1) : (tensor<64x64xf16>, tensor<i32>) -> tensor<64x64xf32>
// CHECK-NEXT: return
func.func @main(%x: tensor<64x64xf16>, %i: tensor<i32>) -> tensor<64x64xf32> {
  %c = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.convert %x : (tensor<64x64xf16>) -> tensor<64x64xf32>
  %1 = stablehlo.add %i, %c : tensor<i32>
  %2 = stablehlo.convert %1 : (tensor<i32>) -> tensor<f32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [] : (tensor<f32>) -> tensor<64x64xf32>
  %4 = stablehlo.multiply %0, %3 : tensor<64x64xf32>
  return %4 : tensor<64x64xf32>
}

// -----

// A small transpose joins its consumer.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0
// CHECK-NEXT: return
// CHECK: hloom.kind = "transpose"
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.add %x, %0 : tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}

// -----

// The generated kernel with its epilogue against a library's gemm and a loop.
// CHECK: code = "KERNEL_CHOSEN"
// CHECK-SAME: reason = "generated:
// CHECK-LABEL: func.func @main
// CHECK: @fusion_0{{.*}}hloom.kind = "matmul"
func.func @main(%x: tensor<256x512xf64>, %w: tensor<512x512xf64>) -> tensor<256x512xf64> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x512xf64>, tensor<512x512xf64>) -> tensor<256x512xf64>
  %1 = stablehlo.tanh %0 : tensor<256x512xf64>
  return %1 : tensor<256x512xf64>
}

// -----

// Pooling over windows that do not overlap takes its producer and what follows.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0
// CHECK-NEXT: return
// CHECK: hloom.kind = "reduce"
func.func @main(%x: tensor<1x16x32x32xf32>) -> tensor<1x16x16x16xf32> {
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.tanh %x : tensor<1x16x32x32xf32>
  %1 = "stablehlo.reduce_window"(%0, %c) <{window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %3 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<1x16x32x32xf32>, tensor<f32>) -> tensor<1x16x16x16xf32>
  %2 = stablehlo.abs %1 : tensor<1x16x16x16xf32>
  return %2 : tensor<1x16x16x16xf32>
}

// -----

// Where windows overlap nine times, a dear producer is not evaluated nine times.
// CHECK: code = "RECOMPUTE_TOO_HIGH"{{.*}}rho = 8.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0
// CHECK-NEXT: call @fusion_1
func.func @main(%x: tensor<16x256x256xf32>) -> tensor<16x254x254xf32> {
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.tanh %x : tensor<16x256x256xf32>
  %1 = "stablehlo.reduce_window"(%0, %c) <{window_dimensions = array<i64: 1, 3, 3>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %3 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<16x256x256xf32>, tensor<f32>) -> tensor<16x254x254xf32>
  return %1 : tensor<16x254x254xf32>
}

// -----

// A reduction of two operands is one op of two results.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: [[R:%.+]]:2 = call @fusion_0(%arg0)
// CHECK-NEXT: return [[R]]#0, [[R]]#1
func.func @main(%x: tensor<64x100xf32>) -> (tensor<64xf32>, tensor<64xi32>) {
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %i = stablehlo.iota dim = 1 : tensor<64x100xi32>
  %0:2 = stablehlo.reduce(%x init: %c), (%i init: %z) across dimensions = [1] : (tensor<64x100xf32>, tensor<64x100xi32>, tensor<f32>, tensor<i32>) -> (tensor<64xf32>, tensor<64xi32>)
   reducer(%a: tensor<f32>, %b: tensor<f32>) (%j: tensor<i32>, %k: tensor<i32>) {
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %v = stablehlo.select %p, %a, %b : tensor<i1>, tensor<f32>
    %n = stablehlo.select %p, %j, %k : tensor<i1>, tensor<i32>
    stablehlo.return %v, %n : tensor<f32>, tensor<i32>
  }
  return %0#0, %0#1 : tensor<64xf32>, tensor<64xi32>
}

// -----

// Declined: One value reduced along its rows and along its columns is read twice; the record says how much.
// CHECK: bytes_again = 2048000 : i64, code = "AXIS_CONFLICT", edge = "tensor<1000x512xf32>", groups = [@fusion_0, @fusion_1]
// CHECK-SAME: reason = "both reduce one value, along different axes"
// CHECK-LABEL: func.func @both_axes
// CHECK: call @fusion_0
// CHECK: call @fusion_1
func.func @both_axes(%x: tensor<1000x512xf32>) -> (tensor<1000xf32>, tensor<512xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<1000x512xf32>, tensor<f32>) -> tensor<1000xf32>
  %1 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<1000x512xf32>, tensor<f32>) -> tensor<512xf32>
  return %0, %1 : tensor<1000xf32>, tensor<512xf32>
}

// -----

// Columns that are reduced and used again stay in the tile: a maximum over the channels, and what is left of each.
// CHECK: code = "FUSED_MULTI_REDUCE"
// CHECK-LABEL: func.func @columns
// CHECK-NEXT: [[R:%.+]] = call @fusion_0(%arg0)
// CHECK-NEXT: return [[R]]
// CHECK: func.func private @fusion_0
// CHECK-SAME: hloom.kind = "multi_reduce"
func.func @columns(%x: tensor<2x21x1000xf32>) -> tensor<2x21x1000xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [1] : (tensor<2x21x1000xf32>, tensor<f32>) -> tensor<2x1000xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 2] : (tensor<2x1000xf32>) -> tensor<2x21x1000xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<2x21x1000xf32>
  return %2 : tensor<2x21x1000xf32>
}

// -----

// The rows of a group norm, whose result has another shape: the consumer's axes are those of the rows.
// CHECK-LABEL: func.func @reshaped_rows
// CHECK-NEXT: [[R:%.+]] = call @fusion_0(%arg0, %arg1)
// CHECK-NEXT: return [[R]]
// CHECK: func.func private @fusion_0({{.*}}) -> tensor<1x32x8x8xf32>
// CHECK-SAME: hloom.kind = "multi_reduce"
func.func @reshaped_rows(%x: tensor<1x32x8x8xf32>, %r: tensor<1x32x8x8xf32>) -> tensor<1x32x8x8xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reshape %x : (tensor<1x32x8x8xf32>) -> tensor<4x8x64xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.maximum across dimensions = [1, 2] : (tensor<4x8x64xf32>, tensor<f32>) -> tensor<4xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<4xf32>) -> tensor<4x8x64xf32>
  %3 = stablehlo.subtract %0, %2 : tensor<4x8x64xf32>
  %4 = stablehlo.reshape %3 : (tensor<4x8x64xf32>) -> tensor<1x32x8x8xf32>
  %5 = stablehlo.add %4, %r : tensor<1x32x8x8xf32>
  return %5 : tensor<1x32x8x8xf32>
}

// -----

// Changed: What reads a contraction's result transposed, here after a sum, takes the contraction's axes: the tile is stored transposed.
// CHECK: code = "FUSED_VERTICAL", edge = "tensor<300x256xf32>"
// CHECK-SAME: name = "stablehlo.transpose"
// CHECK-SAME: code = "FUSED_EPILOGUE", edge = "tensor<300x256xf32>"
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0
// CHECK-NEXT: return
func.func @main(%x: tensor<300x512xf32>, %w: tensor<512x256xf32>, %b: tensor<256xf32>) -> tensor<256x300xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<300x512xf32>, tensor<512x256xf32>) -> tensor<300x256xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<256xf32>) -> tensor<300x256xf32>
  %2 = stablehlo.add %0, %1 : tensor<300x256xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<300x256xf32>) -> tensor<256x300xf32>
  return %3 : tensor<256x300xf32>
}

// -----

// Changed: A part of one element has no dimension along which lanes could choose.
// CHECK-LABEL: func.func @one_of_two
// CHECK-NEXT: call @fusion_0
// CHECK-NEXT: return
func.func @one_of_two(%x: tensor<2xf32>, %z: tensor<9xf32>) -> tensor<9xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %zero, low = [-1], high = [0], interior = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<1xf32>
  %1 = stablehlo.exponential %0 : tensor<1xf32>
  %2 = stablehlo.pad %1, %zero, low = [0], high = [8], interior = [0] : (tensor<1xf32>, tensor<f32>) -> tensor<9xf32>
  %3 = stablehlo.add %2, %z : tensor<9xf32>
  return %3 : tensor<9xf32>
}
