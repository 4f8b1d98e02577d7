// RUN: not hloom-opt %s --distribute-sorts 2>&1 | filecheck %s

// Declined: split-sorts has not run.
// CHECK: [HL105] a sort of 5000 elements, for which a block has no room
// CHECK: run split-sorts first
func.func private @fusion_0(%x: tensor<5000xi32>) -> tensor<5000xi32> attributes {hloom.kind = "sort"} {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %x0 = tensor.extract %a[] : tensor<i32>
    %y0 = tensor.extract %b[] : tensor<i32>
    %c = arith.cmpi slt, %x0, %y0 : i32
    %p = tensor.from_elements %c : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<5000xi32>) -> tensor<5000xi32>
  return %0 : tensor<5000xi32>
}
