// RUN: hloom-opt %s --align-weights --split-input-file | filecheck %s

// Changed: A bound weight whose lines are 2 bytes past a multiple of 16.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<8x16xbf16>, %[[W:.*]]: tensor<16x77xbf16> {hloom.bound})
// CHECK: %[[P:.*]] = stablehlo.pad %[[W]], %{{.*}}, low = [0, 0], high = [0, 3], interior = [0, 0]
// CHECK: %[[B:.*]] = stablehlo.optimization_barrier %[[P]] : tensor<16x80xbf16>
// CHECK: %[[S:.*]] = stablehlo.slice %[[B]] [0:16, 0:77]
// CHECK: stablehlo.dot_general %[[X]], %[[S]], contracting_dims = [1] x [0]
module attributes {hloom.target = {kind = "cuda"}} {
  func.func @main(%x: tensor<8x16xbf16>, %w: tensor<16x77xbf16> {hloom.bound}) -> tensor<8x77xf32> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xbf16>, tensor<16x77xbf16>) -> tensor<8x77xf32>
    return %0 : tensor<8x77xf32>
  }
}

// -----

// Declined: Lines of multiples of 16 bytes, lines along what is summed, short ones, f32, and what is not bound.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: stablehlo.pad
module attributes {hloom.target = {kind = "cuda"}} {
  func.func @main(%x: tensor<8x16xf16>, %a: tensor<16x80xf16> {hloom.bound}, %y: tensor<8x77xf16>, %b: tensor<16x77xf16> {hloom.bound},
      %c: tensor<16x9xf16> {hloom.bound}, %z: tensor<8x16xf32>, %d: tensor<16x77xf32> {hloom.bound}, %e: tensor<16x77xf16>)
      -> (tensor<8x80xf32>, tensor<8x16xf32>, tensor<8x9xf32>, tensor<8x77xf32>, tensor<8x77xf32>) {
    %0 = stablehlo.dot_general %x, %a, contracting_dims = [1] x [0] : (tensor<8x16xf16>, tensor<16x80xf16>) -> tensor<8x80xf32>
    %1 = stablehlo.dot_general %y, %b, contracting_dims = [1] x [1] : (tensor<8x77xf16>, tensor<16x77xf16>) -> tensor<8x16xf32>
    %2 = stablehlo.dot_general %x, %c, contracting_dims = [1] x [0] : (tensor<8x16xf16>, tensor<16x9xf16>) -> tensor<8x9xf32>
    %3 = stablehlo.dot_general %z, %d, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x77xf32>) -> tensor<8x77xf32>
    %4 = stablehlo.dot_general %x, %e, contracting_dims = [1] x [0] : (tensor<8x16xf16>, tensor<16x77xf16>) -> tensor<8x77xf32>
    return %0, %1, %2, %3, %4 : tensor<8x80xf32>, tensor<8x16xf32>, tensor<8x9xf32>, tensor<8x77xf32>, tensor<8x77xf32>
  }
}

// -----

// Unchanged: Another target.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: stablehlo.pad
func.func @main(%x: tensor<8x16xbf16>, %w: tensor<16x77xbf16> {hloom.bound}) -> tensor<8x77xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<8x16xbf16>, tensor<16x77xbf16>) -> tensor<8x77xf32>
  return %0 : tensor<8x77xf32>
}
