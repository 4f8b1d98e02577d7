// RUN: hloom-opt %s --pass-pipeline='builtin.module(plan-fusion{library-percent=300})' --split-input-file | filecheck %s

// A gemm library of three times the generated kernel's speed: it takes the dot, a loop what follows.
// CHECK: code = "KERNEL_CHOSEN"
// CHECK-SAME: reason = "gemm: gemm and what follows it
// CHECK-LABEL: func.func @main
// CHECK-NEXT: [[D:%.+]] = call @fusion_0(%arg0, %arg1)
// CHECK-NEXT: [[R:%.+]] = call @fusion_1([[D]], %arg2)
// CHECK-NEXT: return [[R]]
// CHECK: @fusion_0{{.*}}hloom.kind = "library", hloom.library = "gemm"
// CHECK-NEXT: stablehlo.dot_general
// CHECK-NEXT: return
// CHECK: @fusion_1{{.*}}hloom.kind = "loop"
func.func @main(%x: tensor<512x1024xf32>, %w: tensor<1024x1024xf32>, %b: tensor<1024xf32>) -> tensor<512x1024xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<512x1024xf32>, tensor<1024x1024xf32>) -> tensor<512x1024xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<1024xf32>) -> tensor<512x1024xf32>
  %2 = stablehlo.add %0, %1 : tensor<512x1024xf32>
  return %2 : tensor<512x1024xf32>
}

// -----

// No gemm for half precision, nor where the operands are read through a view.
// CHECK: reason = "generated: no library takes it, its types are none of the library's"
// CHECK-SAME: reason = "generated: no library takes it, an operand is no buffer as it lies"
// CHECK-LABEL: func.func @main
// CHECK-COUNT-2: hloom.kind = "matmul"
func.func @main(%x: tensor<512x512xf16>, %y: tensor<262144xf32>, %w: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<512x512xf16>, tensor<512x512xf16>) -> tensor<512x512xf32>
  %1 = stablehlo.reshape %y : (tensor<262144xf32>) -> tensor<512x512xf32>
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0, %2 : tensor<512x512xf32>, tensor<512x512xf32>
}

// -----

// Nor an outer product, however many dimensions its operands have.
// CHECK: reason = "generated: no library takes it, its dimensions are none of the library's"
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<6xf32>, %y: tensor<2x3x4x5xf32>) -> tensor<6x2x3x4x5xf32> {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [] x [] : (tensor<6xf32>, tensor<2x3x4x5xf32>) -> tensor<6x2x3x4x5xf32>
  return %0 : tensor<6x2x3x4x5xf32>
}

// -----

// A small dot is not worth entering a library.
// CHECK: code = "KERNEL_CHOSEN"
// CHECK-SAME: reason = "generated:
// CHECK-LABEL: func.func @main
// CHECK: hloom.kind = "matmul"
func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
