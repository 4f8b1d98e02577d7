// RUN: hloom-opt %s --pass-pipeline='builtin.module(plan-fusion{max-instances=64})' --split-input-file | filecheck %s

// Declined: A reduction that reads across its lanes takes a line for each element; after a transpose it reads along them.
// CHECK: code = "NO_GAIN"{{.*}}name = "stablehlo.reduce"
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0
// CHECK-NEXT: call @fusion_1
// CHECK: @fusion_0{{.*}}hloom.kind = "transpose"
// CHECK: @fusion_1{{.*}}hloom.kind = "reduce"
func.func @main(%x: tensor<1024x2048xf32>) -> tensor<2048xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<1024x2048xf32>) -> tensor<2048x1024xf32>
  %1 = stablehlo.abs %0 : tensor<2048x1024xf32>
  %2 = stablehlo.multiply %1, %0 : tensor<2048x1024xf32>
  %3 = stablehlo.reduce(%2 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2048x1024xf32>, tensor<f32>) -> tensor<2048xf32>
  return %3 : tensor<2048xf32>
}

// -----

// Declined: An exponential of a vector is not repeated for every row.
// CHECK: code = "RECOMPUTE_TOO_HIGH"{{.*}}rho = 4.096000e+03
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0
// CHECK-NEXT: call @fusion_1
func.func @main(%x: tensor<4096x1024xf32>, %b: tensor<1024xf32>) -> tensor<4096x1024xf32> {
  %0 = stablehlo.exponential %b : tensor<1024xf32>
  %1 = stablehlo.power %0, %b : tensor<1024xf32>
  %2 = stablehlo.tanh %1 : tensor<1024xf32>
  %3 = stablehlo.broadcast_in_dim %2, dims = [1] : (tensor<1024xf32>) -> tensor<4096x1024xf32>
  %4 = stablehlo.add %x, %3 : tensor<4096x1024xf32>
  return %4 : tensor<4096x1024xf32>
}

// -----

// Declined: A dot's operand is a buffer: what computes it is a kernel of its own.
// CHECK: code = "NOT_TILEABLE"
// CHECK-SAME: reason = "a contraction reads its operands as whole packed buffers"
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0
// CHECK-NEXT: call @fusion_1
// CHECK: @fusion_1{{.*}}hloom.kind = "matmul"
func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.tanh %x : tensor<64x64xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}

// -----

// Changed: But views of a buffer are read through, and half precision is read as it is.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0(%arg0, %arg1) : (tensor<4096xf16>, tensor<64x64xf32>) -> tensor<64x64xf32>
// CHECK-NEXT: return
func.func @main(%x: tensor<4096xf16>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.reshape %x : (tensor<4096xf16>) -> tensor<64x64xf16>
  %1 = stablehlo.convert %0 : (tensor<64x64xf16>) -> tensor<64x64xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}

// -----

// Declined: A row of a dot's result spans its tiles.
// CHECK: code = "GLOBAL_DEP"
// CHECK-SAME: reason = "a reduction over a contraction's result spans its tiles"
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0
// CHECK-NEXT: call @fusion_1
func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [1] : (tensor<64x64xf32>, tensor<f32>) -> tensor<64xf32>
  return %1 : tensor<64xf32>
}

// -----

// Declined: A full reduction that every tile needs, over more than stays in the cache.
// CHECK: code = "GLOBAL_DEP"
// CHECK-SAME: reason = "a row of 4194304 bytes does not stay in the cache"
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0
// CHECK-NEXT: call @fusion_1
func.func @main(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0, 1] : (tensor<1024x1024xf32>, tensor<f32>) -> tensor<f32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<1024x1024xf32>
  %2 = stablehlo.divide %x, %1 : tensor<1024x1024xf32>
  return %2 : tensor<1024x1024xf32>
}

// -----

// Declined: A row that does not stay in the cache.
// CHECK: code = "ROW_TOO_LARGE"
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0
// CHECK-NEXT: call @fusion_1
func.func @main(%x: tensor<4x1000000xf32>) -> tensor<4x1000000xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<4x1000000xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x1000000xf32>
  %2 = stablehlo.divide %x, %1 : tensor<4x1000000xf32>
  return %2 : tensor<4x1000000xf32>
}

// -----

// Declined: The axis that was reduced is not the one that the consumer adds.
// CHECK: code = "AXIS_CONFLICT"
// CHECK-SAME: reason = "the consumer's axes are not the ones that were reduced"
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0
// CHECK-NEXT: call @fusion_1
func.func @main(%x: tensor<64x100xf32>, %y: tensor<64x300xf32>) -> tensor<64x300xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1] : (tensor<64x100xf32>, tensor<f32>) -> tensor<64xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<64xf32>) -> tensor<64x300xf32>
  %2 = stablehlo.multiply %y, %1 : tensor<64x300xf32>
  return %2 : tensor<64x300xf32>
}

// -----

// Declined: 64 columns of so many rows do not stay in the cache between their maximum and its use.
// CHECK: code = "ROW_TOO_LARGE"
// CHECK-SAME: reason = "64 columns of 2097152 bytes do not stay in the cache"
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0
// CHECK-NEXT: call @fusion_1
func.func @main(%x: tensor<4096x100xf32>) -> tensor<4096x100xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [0] : (tensor<4096x100xf32>, tensor<f32>) -> tensor<100xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<100xf32>) -> tensor<4096x100xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<4096x100xf32>
  return %2 : tensor<4096x100xf32>
}

// -----

// Declined: The transpose of rows has its elements side by side across rows, of which the cache keeps few.
// CHECK: code = "ROW_TOO_LARGE"
// CHECK-SAME: reason = "64 columns of 2097152 bytes do not stay in the cache"
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[Y:.*]] = call @fusion_0(%arg0) : (tensor<100x4096xf32>) -> tensor<100x4096xf32>
// CHECK-NEXT: call @fusion_1(%[[Y]]) : (tensor<100x4096xf32>) -> tensor<4096x100xf32>
func.func @main(%x: tensor<100x4096xf32>) -> (tensor<100x4096xf32>, tensor<4096x100xf32>) {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [1] : (tensor<100x4096xf32>, tensor<f32>) -> tensor<100xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<100xf32>) -> tensor<100x4096xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<100x4096xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<100x4096xf32>) -> tensor<4096x100xf32>
  return %2, %3 : tensor<100x4096xf32>, tensor<4096x100xf32>
}

// -----

// Declined: A path through a dot joins producer and consumer.
// CHECK: code = "CYCLE"
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0
// CHECK-NEXT: call @fusion_1
// CHECK-NEXT: call @fusion_2
// CHECK-NEXT: return
func.func @main(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.tanh %x : tensor<64x64xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = stablehlo.reverse %1, dims = [1] : tensor<64x64xf32>
  %3 = stablehlo.add %0, %2 : tensor<64x64xf32>
  return %3 : tensor<64x64xf32>
}

// -----

// Declined: A buffer that is updated in place is not read elsewhere in the same kernel.
// CHECK: code = "INPLACE_HAZARD"
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0
// CHECK-NEXT: call @fusion_1
func.func @main(%x: tensor<1024x64xf32>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<1024x64xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0 = stablehlo.dynamic_slice %x, %i, %c, sizes = [1, 64] : (tensor<1024x64xf32>, tensor<i32>, tensor<i32>) -> tensor<1x64xf32>
  %1 = stablehlo.negate %0 : tensor<1x64xf32>
  %2 = stablehlo.dynamic_update_slice %x, %1, %j, %c : (tensor<1024x64xf32>, tensor<1x64xf32>, tensor<i32>, tensor<i32>) -> tensor<1024x64xf32>
  return %2 : tensor<1024x64xf32>
}

// -----

// Declined: No more than 64 instances in a kernel, as the option says.
// CHECK: code = "INSTANCE_LIMIT"
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0
// CHECK-NEXT: call @fusion_1
// CHECK-NEXT: return
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = stablehlo.add %x, %x : tensor<64x64xf32>
  %1 = stablehlo.add %0, %x : tensor<64x64xf32>
  %2 = stablehlo.add %1, %x : tensor<64x64xf32>
  %3 = stablehlo.add %2, %x : tensor<64x64xf32>
  %4 = stablehlo.add %3, %x : tensor<64x64xf32>
  %5 = stablehlo.add %4, %x : tensor<64x64xf32>
  %6 = stablehlo.add %5, %x : tensor<64x64xf32>
  %7 = stablehlo.add %6, %x : tensor<64x64xf32>
  %8 = stablehlo.add %7, %x : tensor<64x64xf32>
  %9 = stablehlo.add %8, %x : tensor<64x64xf32>
  %10 = stablehlo.add %9, %x : tensor<64x64xf32>
  %11 = stablehlo.add %10, %x : tensor<64x64xf32>
  %12 = stablehlo.add %11, %x : tensor<64x64xf32>
  %13 = stablehlo.add %12, %x : tensor<64x64xf32>
  %14 = stablehlo.add %13, %x : tensor<64x64xf32>
  %15 = stablehlo.add %14, %x : tensor<64x64xf32>
  %16 = stablehlo.add %15, %x : tensor<64x64xf32>
  %17 = stablehlo.add %16, %x : tensor<64x64xf32>
  %18 = stablehlo.add %17, %x : tensor<64x64xf32>
  %19 = stablehlo.add %18, %x : tensor<64x64xf32>
  %20 = stablehlo.add %19, %x : tensor<64x64xf32>
  %21 = stablehlo.add %20, %x : tensor<64x64xf32>
  %22 = stablehlo.add %21, %x : tensor<64x64xf32>
  %23 = stablehlo.add %22, %x : tensor<64x64xf32>
  %24 = stablehlo.add %23, %x : tensor<64x64xf32>
  %25 = stablehlo.add %24, %x : tensor<64x64xf32>
  %26 = stablehlo.add %25, %x : tensor<64x64xf32>
  %27 = stablehlo.add %26, %x : tensor<64x64xf32>
  %28 = stablehlo.add %27, %x : tensor<64x64xf32>
  %29 = stablehlo.add %28, %x : tensor<64x64xf32>
  %30 = stablehlo.add %29, %x : tensor<64x64xf32>
  %31 = stablehlo.add %30, %x : tensor<64x64xf32>
  %32 = stablehlo.add %31, %x : tensor<64x64xf32>
  %33 = stablehlo.add %32, %x : tensor<64x64xf32>
  %34 = stablehlo.add %33, %x : tensor<64x64xf32>
  %35 = stablehlo.add %34, %x : tensor<64x64xf32>
  %36 = stablehlo.add %35, %x : tensor<64x64xf32>
  %37 = stablehlo.add %36, %x : tensor<64x64xf32>
  %38 = stablehlo.add %37, %x : tensor<64x64xf32>
  %39 = stablehlo.add %38, %x : tensor<64x64xf32>
  %40 = stablehlo.add %39, %x : tensor<64x64xf32>
  %41 = stablehlo.add %40, %x : tensor<64x64xf32>
  %42 = stablehlo.add %41, %x : tensor<64x64xf32>
  %43 = stablehlo.add %42, %x : tensor<64x64xf32>
  %44 = stablehlo.add %43, %x : tensor<64x64xf32>
  %45 = stablehlo.add %44, %x : tensor<64x64xf32>
  %46 = stablehlo.add %45, %x : tensor<64x64xf32>
  %47 = stablehlo.add %46, %x : tensor<64x64xf32>
  %48 = stablehlo.add %47, %x : tensor<64x64xf32>
  %49 = stablehlo.add %48, %x : tensor<64x64xf32>
  %50 = stablehlo.add %49, %x : tensor<64x64xf32>
  %51 = stablehlo.add %50, %x : tensor<64x64xf32>
  %52 = stablehlo.add %51, %x : tensor<64x64xf32>
  %53 = stablehlo.add %52, %x : tensor<64x64xf32>
  %54 = stablehlo.add %53, %x : tensor<64x64xf32>
  %55 = stablehlo.add %54, %x : tensor<64x64xf32>
  %56 = stablehlo.add %55, %x : tensor<64x64xf32>
  %57 = stablehlo.add %56, %x : tensor<64x64xf32>
  %58 = stablehlo.add %57, %x : tensor<64x64xf32>
  %59 = stablehlo.add %58, %x : tensor<64x64xf32>
  %60 = stablehlo.add %59, %x : tensor<64x64xf32>
  %61 = stablehlo.add %60, %x : tensor<64x64xf32>
  %62 = stablehlo.add %61, %x : tensor<64x64xf32>
  %63 = stablehlo.add %62, %x : tensor<64x64xf32>
  %64 = stablehlo.add %63, %x : tensor<64x64xf32>
  %65 = stablehlo.add %64, %x : tensor<64x64xf32>
  %66 = stablehlo.add %65, %x : tensor<64x64xf32>
  %67 = stablehlo.add %66, %x : tensor<64x64xf32>
  %68 = stablehlo.add %67, %x : tensor<64x64xf32>
  %69 = stablehlo.add %68, %x : tensor<64x64xf32>
  %70 = stablehlo.add %69, %x : tensor<64x64xf32>
  %71 = stablehlo.add %70, %x : tensor<64x64xf32>
  %72 = stablehlo.add %71, %x : tensor<64x64xf32>
  %73 = stablehlo.add %72, %x : tensor<64x64xf32>
  %74 = stablehlo.add %73, %x : tensor<64x64xf32>
  %75 = stablehlo.add %74, %x : tensor<64x64xf32>
  %76 = stablehlo.add %75, %x : tensor<64x64xf32>
  %77 = stablehlo.add %76, %x : tensor<64x64xf32>
  %78 = stablehlo.add %77, %x : tensor<64x64xf32>
  %79 = stablehlo.add %78, %x : tensor<64x64xf32>
  return %79 : tensor<64x64xf32>
}

// -----

// Declined: A window that leaves its padding out reads what is in memory.
// CHECK: code = "RECOMPUTE_TOO_HIGH"{{.*}}reason = "a window that leaves its padding out reads what is in memory"
// CHECK-LABEL: func.func @main
// CHECK: call @fusion_0
// CHECK: call @fusion_1
func.func @main(%x: tensor<16x256x256xf32>) -> tensor<16x256x256xf32> {
  %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.abs %x : tensor<16x256x256xf32>
  %1 = "stablehlo.reduce_window"(%0, %c) <{window_dimensions = array<i64: 1, 3, 3>, padding = dense<[[0, 0], [1, 1], [1, 1]]> : tensor<3x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %3 = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %3 : tensor<f32>
  }) : (tensor<16x256x256xf32>, tensor<f32>) -> tensor<16x256x256xf32>
  return %1 : tensor<16x256x256xf32>
}

// -----

// Declined: A reversed result follows no tiles, transposed or not.
// CHECK: code = "NOT_TILEABLE"{{.*}}reason = "the reduced value is read at an index that does not follow the tiles"
// CHECK-LABEL: func.func @main
// CHECK: call @fusion_0
// CHECK: call @fusion_1
func.func @main(%x: tensor<300x512xf32>, %w: tensor<512x256xf32>) -> tensor<256x300xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<300x512xf32>, tensor<512x256xf32>) -> tensor<300x256xf32>
  %1 = stablehlo.reverse %0, dims = [0] : tensor<300x256xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<300x256xf32>) -> tensor<256x300xf32>
  return %2 : tensor<256x300xf32>
}

// -----

// Declined: A sum and its transpose need each result at two places.
// CHECK: code = "RECOMPUTE_TOO_HIGH"{{.*}}reason = "a reduced value is needed at several indices"
// CHECK-LABEL: func.func @main
// CHECK: call @fusion_0
// CHECK: call @fusion_1
func.func @main(%x: tensor<256x512xf32>, %w: tensor<512x256xf32>) -> tensor<256x256xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<256x512xf32>, tensor<512x256xf32>) -> tensor<256x256xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<256x256xf32>) -> tensor<256x256xf32>
  %2 = stablehlo.add %0, %1 : tensor<256x256xf32>
  return %2 : tensor<256x256xf32>
}

// -----

// Declined: Neighbours' products are chosen by their place, zero at the end of each row; a transposed loop would gather them.
// CHECK: code = "NOT_TILEABLE"{{.*}}reason = "what is chosen by its place would be gathered across the lanes"
// CHECK-LABEL: func.func @main
// CHECK: call @fusion_0
// CHECK: call @fusion_1
func.func @main(%x: tensor<300x512xf32>) -> tensor<512x300xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %zero, low = [0, -1], high = [0, 1], interior = [0, 0] : (tensor<300x512xf32>, tensor<f32>) -> tensor<300x512xf32>
  %1 = stablehlo.multiply %0, %x : tensor<300x512xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<300x512xf32>) -> tensor<512x300xf32>
  return %2 : tensor<512x300xf32>
}

// -----

// Changed: All lanes read the same column of the indices, then the next one: nothing is chosen, and the columns are joined nowhere.
// CHECK-LABEL: func.func @main
// CHECK: call @fusion_0
// CHECK-NOT: call @fusion_1
func.func @main(%x: tensor<33x35xf32>, %a: tensor<5003x1xi32>, %b: tensor<5003x1xi32>) -> tensor<5003xf32> {
  %c = stablehlo.constant dense<3> : tensor<5003x1xi32>
  %0 = stablehlo.add %a, %c : tensor<5003x1xi32>
  %1 = stablehlo.concatenate %0, %b, dim = 1 : (tensor<5003x1xi32>, tensor<5003x1xi32>) -> tensor<5003x2xi32>
  %2 = "stablehlo.gather"(%x, %1) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<33x35xf32>, tensor<5003x2xi32>) -> tensor<5003xf32>
  return %2 : tensor<5003xf32>
}

// -----

// Changed: Of a few columns each is chosen for many lanes at once, as cross products are.
// CHECK-LABEL: func.func @main
// CHECK: call @fusion_0
// CHECK-NOT: call @fusion_1
func.func @main(%x: tensor<3x512xf32>) -> tensor<512x3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %zero, low = [-1, 0], high = [1, 0], interior = [0, 0] : (tensor<3x512xf32>, tensor<f32>) -> tensor<3x512xf32>
  %1 = stablehlo.multiply %0, %x : tensor<3x512xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<3x512xf32>) -> tensor<512x3xf32>
  return %2 : tensor<512x3xf32>
}

// -----

// Changed: They are one number for all lanes where a loop repeats each along its rows.
// CHECK-LABEL: func.func @main
// CHECK: call @fusion_0
// CHECK-NOT: call @fusion_1
func.func @main(%x: tensor<512xf32>) -> tensor<512x4xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %zero, low = [-1], high = [1], interior = [0] : (tensor<512xf32>, tensor<f32>) -> tensor<512xf32>
  %1 = stablehlo.multiply %0, %x : tensor<512xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<512xf32>) -> tensor<512x4xf32>
  return %2 : tensor<512x4xf32>
}

// -----

// Declined: A step of Adam behind the gradient of weights stays a loop, which writes over what it updates: a contraction's kernel cannot, and
// all three would be copied.
// CHECK-LABEL: func.func public @main
// CHECK-NEXT: %[[GRADIENT:.*]] = call @fusion_0
// CHECK-NEXT: call @fusion_1({{.*}}%[[GRADIENT]]
// CHECK: @fusion_0{{.*}}hloom.kind = "matmul"
// CHECK: @fusion_1{{.*}}hloom.kind = "loop"
func.func public @main(%x: tensor<64x1024xf32>, %g: tensor<64x1024xf32>, %m: tensor<1024x1024xf32> {hloom.updated_by = 0 : i64}, %v: tensor<1024x1024xf32> {hloom.updated_by = 1 : i64}, %w: tensor<1024x1024xf32> {hloom.updated_by = 2 : i64}) -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
  %d = stablehlo.dot_general %x, %g, contracting_dims = [0] x [0] : (tensor<64x1024xf32>, tensor<64x1024xf32>) -> tensor<1024x1024xf32>
  %c = stablehlo.constant dense<0.9> : tensor<1024x1024xf32>
  %a = stablehlo.multiply %m, %c : tensor<1024x1024xf32>
  %n = stablehlo.add %a, %d : tensor<1024x1024xf32>
  %q = stablehlo.multiply %d, %d : tensor<1024x1024xf32>
  %b = stablehlo.multiply %v, %c : tensor<1024x1024xf32>
  %o = stablehlo.add %b, %q : tensor<1024x1024xf32>
  %r = stablehlo.sqrt %o : tensor<1024x1024xf32>
  %s = stablehlo.divide %n, %r : tensor<1024x1024xf32>
  %p = stablehlo.subtract %w, %s : tensor<1024x1024xf32>
  return %n, %o, %p : tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>
}

// -----

// Unchanged: Nothing is written over: the step is an epilogue of the product.
// CHECK-LABEL: func.func public @main
// CHECK-NEXT: call @fusion_0
// CHECK-NEXT: return
func.func public @main(%x: tensor<64x1024xf32>, %g: tensor<64x1024xf32>, %m: tensor<1024x1024xf32>, %v: tensor<1024x1024xf32>, %w: tensor<1024x1024xf32>) -> (tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>) {
  %d = stablehlo.dot_general %x, %g, contracting_dims = [0] x [0] : (tensor<64x1024xf32>, tensor<64x1024xf32>) -> tensor<1024x1024xf32>
  %c = stablehlo.constant dense<0.9> : tensor<1024x1024xf32>
  %a = stablehlo.multiply %m, %c : tensor<1024x1024xf32>
  %n = stablehlo.add %a, %d : tensor<1024x1024xf32>
  %q = stablehlo.multiply %d, %d : tensor<1024x1024xf32>
  %b = stablehlo.multiply %v, %c : tensor<1024x1024xf32>
  %o = stablehlo.add %b, %q : tensor<1024x1024xf32>
  %r = stablehlo.sqrt %o : tensor<1024x1024xf32>
  %s = stablehlo.divide %n, %r : tensor<1024x1024xf32>
  %p = stablehlo.subtract %w, %s : tensor<1024x1024xf32>
  return %n, %o, %p : tensor<1024x1024xf32>, tensor<1024x1024xf32>, tensor<1024x1024xf32>
}

// -----

// Declined: Features 5 to 60 of four groups of 16: the kernel has a loop of groups, which starts between two.
// CHECK: code = "NOT_TILEABLE"{{.*}}a part of the features of several groups
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0
// CHECK-NEXT: call @fusion_1
func.func @main(%x: tensor<2x14x14x32xf32>, %w: tensor<3x3x8x64xf32>) -> tensor<2x12x12x55xf32> {
  %y = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<2x14x14x32xf32>, tensor<3x3x8x64xf32>) -> tensor<2x12x12x64xf32>
  %s = stablehlo.slice %y [0:2, 0:12, 0:12, 5:60] : (tensor<2x12x12x64xf32>) -> tensor<2x12x12x55xf32>
  %a = stablehlo.abs %s : tensor<2x12x12x55xf32>
  return %a : tensor<2x12x12x55xf32>
}

// -----

// Changed: Two whole groups.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: call @fusion_0
// CHECK-NEXT: return
func.func @main(%x: tensor<2x14x14x32xf32>, %w: tensor<3x3x8x64xf32>) -> tensor<2x12x12x32xf32> {
  %y = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {}
      {batch_group_count = 1 : i64, feature_group_count = 4 : i64} : (tensor<2x14x14x32xf32>, tensor<3x3x8x64xf32>) -> tensor<2x12x12x64xf32>
  %s = stablehlo.slice %y [0:2, 0:12, 0:12, 32:64] : (tensor<2x12x12x64xf32>) -> tensor<2x12x12x32xf32>
  %a = stablehlo.abs %s : tensor<2x12x12x32xf32>
  return %a : tensor<2x12x12x32xf32>
}

// -----

// Declined: Sums of six lines, then of six pixels, of every second: of pixels of three channels each is put together in registers, and
// thirty-six for each pixel take longer than the lines' sums do in a memory that is fast.
// CHECK: code = "RECOMPUTE_TOO_HIGH"
// CHECK-LABEL: func.func @main
// CHECK: call @fusion_0
// CHECK: call @fusion_1
module attributes {hloom.target = {dram_bytes_per_second = 60000000000 : i64, llc_bytes_per_second = 60000000000 : i64}} {
func.func @main(%x: tensor<8x224x224x3xf32>) -> tensor<8x110x110x3xf32> {
  %h0 = stablehlo.slice %x [0:8, 0:219:2, 0:224, 0:3] : (tensor<8x224x224x3xf32>) -> tensor<8x110x224x3xf32>
  %h1 = stablehlo.slice %x [0:8, 1:220:2, 0:224, 0:3] : (tensor<8x224x224x3xf32>) -> tensor<8x110x224x3xf32>
  %h2 = stablehlo.slice %x [0:8, 2:221:2, 0:224, 0:3] : (tensor<8x224x224x3xf32>) -> tensor<8x110x224x3xf32>
  %h3 = stablehlo.slice %x [0:8, 3:222:2, 0:224, 0:3] : (tensor<8x224x224x3xf32>) -> tensor<8x110x224x3xf32>
  %h4 = stablehlo.slice %x [0:8, 4:223:2, 0:224, 0:3] : (tensor<8x224x224x3xf32>) -> tensor<8x110x224x3xf32>
  %h5 = stablehlo.slice %x [0:8, 5:224:2, 0:224, 0:3] : (tensor<8x224x224x3xf32>) -> tensor<8x110x224x3xf32>
  %hs1 = stablehlo.add %h0, %h1 : tensor<8x110x224x3xf32>
  %hs2 = stablehlo.add %hs1, %h2 : tensor<8x110x224x3xf32>
  %hs3 = stablehlo.add %hs2, %h3 : tensor<8x110x224x3xf32>
  %hs4 = stablehlo.add %hs3, %h4 : tensor<8x110x224x3xf32>
  %hs5 = stablehlo.add %hs4, %h5 : tensor<8x110x224x3xf32>
  %w0 = stablehlo.slice %hs5 [0:8, 0:110, 0:219:2, 0:3] : (tensor<8x110x224x3xf32>) -> tensor<8x110x110x3xf32>
  %w1 = stablehlo.slice %hs5 [0:8, 0:110, 1:220:2, 0:3] : (tensor<8x110x224x3xf32>) -> tensor<8x110x110x3xf32>
  %w2 = stablehlo.slice %hs5 [0:8, 0:110, 2:221:2, 0:3] : (tensor<8x110x224x3xf32>) -> tensor<8x110x110x3xf32>
  %w3 = stablehlo.slice %hs5 [0:8, 0:110, 3:222:2, 0:3] : (tensor<8x110x224x3xf32>) -> tensor<8x110x110x3xf32>
  %w4 = stablehlo.slice %hs5 [0:8, 0:110, 4:223:2, 0:3] : (tensor<8x110x224x3xf32>) -> tensor<8x110x110x3xf32>
  %w5 = stablehlo.slice %hs5 [0:8, 0:110, 5:224:2, 0:3] : (tensor<8x110x224x3xf32>) -> tensor<8x110x110x3xf32>
  %ws1 = stablehlo.add %w0, %w1 : tensor<8x110x110x3xf32>
  %ws2 = stablehlo.add %ws1, %w2 : tensor<8x110x110x3xf32>
  %ws3 = stablehlo.add %ws2, %w3 : tensor<8x110x110x3xf32>
  %ws4 = stablehlo.add %ws3, %w4 : tensor<8x110x110x3xf32>
  %ws5 = stablehlo.add %ws4, %w5 : tensor<8x110x110x3xf32>
  return %ws5 : tensor<8x110x110x3xf32>
}
}

// -----

// Declined: Rows cut from a transpose in other lengths than its own have their elements lines apart, and no tiles: 800 of them are no turns
// of 403.
// Changed: Turns of 403 are loops of their own, which are tiled.
// CHECK: code = "NOT_TILEABLE"{{.*}}reason = "lines would be read in pieces, element by element"
// CHECK-LABEL: func.func @main
// CHECK: call @fusion_0
// CHECK: call @fusion_1
// CHECK: @fusion_0{{.*}}hloom.kind = "transpose"
// CHECK: @fusion_1{{.*}}hloom.kind = "reduce"
func.func @main(%x: tensor<403x501xf32>) -> tensor<250xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<403x501xf32>) -> tensor<501x403xf32>
  %1 = stablehlo.reshape %0 : (tensor<501x403xf32>) -> tensor<201903xf32>
  %2 = stablehlo.slice %1 [0:200000] : (tensor<201903xf32>) -> tensor<200000xf32>
  %3 = stablehlo.reshape %2 : (tensor<200000xf32>) -> tensor<250x800xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<250x800xf32>, tensor<f32>) -> tensor<250xf32>
  return %4 : tensor<250xf32>
}

// -----

// CHECK-LABEL: func.func @main
// CHECK: call @fusion_0
// CHECK-NOT: call @fusion_1
func.func @main(%x: tensor<403x501xf32>) -> tensor<201903xf32> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<403x501xf32>) -> tensor<501x403xf32>
  %1 = stablehlo.reshape %0 : (tensor<501x403xf32>) -> tensor<201903xf32>
  %2 = stablehlo.add %1, %1 : tensor<201903xf32>
  return %2 : tensor<201903xf32>
}

// -----

// Declined: A scan along rows of a window: it would read at quotients of its steps. A loop of its own puts them in one piece.
// CHECK: code = "NOT_TILEABLE"{{.*}}reason = "a scan would read its row in pieces, element by element"
// CHECK-LABEL: func.func @main
// CHECK: call @fusion_0
// CHECK: call @fusion_1
func.func @main(%x: tensor<64x48x44xf32>) -> tensor<32x528xf32> {
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.reshape %x : (tensor<64x48x44xf32>) -> tensor<64x8x6x4x11xf32>
  %1 = stablehlo.transpose %0, dims = [1, 3, 0, 2, 4] : (tensor<64x8x6x4x11xf32>) -> tensor<8x4x64x6x11xf32>
  %2 = stablehlo.slice %1 [0:8, 0:4, 0:8, 0:6, 0:11] : (tensor<8x4x64x6x11xf32>) -> tensor<8x4x8x6x11xf32>
  %3 = stablehlo.reshape %2 : (tensor<8x4x8x6x11xf32>) -> tensor<32x528xf32>
  %4 = "stablehlo.reduce_window"(%3, %c) <{window_dimensions = array<i64: 1, 528>, padding = dense<[[0, 0], [527, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %5 = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %5 : tensor<f32>
  }) : (tensor<32x528xf32>, tensor<f32>) -> tensor<32x528xf32>
  return %4 : tensor<32x528xf32>
}

// -----

// Declined: A reshape whose dims have no factor in common with those of what was padded: a row of 302 has parts of two of 306. A pad of its
// own puts them in one piece.
// CHECK: code = "NOT_TILEABLE"{{.*}}reason = "lines would be read in pieces, element by element"
// CHECK-LABEL: func.func @main
// CHECK: call @fusion_0
// CHECK: call @fusion_1
func.func @main(%x: tensor<300x301xf32>) -> tensor<306xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %zero, low = [1, 2], high = [1, 3], interior = [0, 0] : (tensor<300x301xf32>, tensor<f32>) -> tensor<302x306xf32>
  %1 = stablehlo.reshape %0 : (tensor<302x306xf32>) -> tensor<306x302xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<306x302xf32>, tensor<f32>) -> tensor<306xf32>
  return %2 : tensor<306xf32>
}

// -----

// A plain loop that has all lines, one after the other, computes them (split-loops).
// CHECK-LABEL: func.func @main
// CHECK: call @fusion_0
// CHECK-NOT: call @fusion_1
func.func @main(%x: tensor<300x301xf32>, %y: tensor<306x302xf32>) -> tensor<306x302xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %zero, low = [1, 2], high = [1, 3], interior = [0, 0] : (tensor<300x301xf32>, tensor<f32>) -> tensor<302x306xf32>
  %1 = stablehlo.reshape %0 : (tensor<302x306xf32>) -> tensor<306x302xf32>
  %2 = stablehlo.add %1, %y : tensor<306x302xf32>
  return %2 : tensor<306x302xf32>
}

// -----

// Declined: One that needs its own dims.
// CHECK: code = "NOT_TILEABLE"{{.*}}reason = "lines would be read in pieces, element by element"
// CHECK-LABEL: func.func @main
// CHECK: call @fusion_0
// CHECK: call @fusion_1
func.func @main(%x: tensor<300x301xf32>, %y: tensor<302xf32>) -> tensor<306x302xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %zero, low = [1, 2], high = [1, 3], interior = [0, 0] : (tensor<300x301xf32>, tensor<f32>) -> tensor<302x306xf32>
  %1 = stablehlo.reshape %0 : (tensor<302x306xf32>) -> tensor<306x302xf32>
  %2 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<302xf32>) -> tensor<306x302xf32>
  %3 = stablehlo.add %1, %2 : tensor<306x302xf32>
  return %3 : tensor<306x302xf32>
}

// -----

// A few rows are computed where they are summed: what is padded has thirty times as many elements.
// CHECK-LABEL: func.func @main
// CHECK: call @fusion_0
// CHECK-NOT: call @fusion_1
func.func @main(%x: tensor<300x301xf32>) -> tensor<10xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.pad %x, %zero, low = [1, 2], high = [1, 3], interior = [0, 0] : (tensor<300x301xf32>, tensor<f32>) -> tensor<302x306xf32>
  %1 = stablehlo.reshape %0 : (tensor<302x306xf32>) -> tensor<306x302xf32>
  %2 = stablehlo.slice %1 [40:50, 0:302] : (tensor<306x302xf32>) -> tensor<10x302xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<10x302xf32>, tensor<f32>) -> tensor<10xf32>
  return %3 : tensor<10xf32>
}
