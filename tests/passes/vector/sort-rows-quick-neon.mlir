// RUN: hloom-opt %s --sort-rows | filecheck %s

// Changed: With NEON a table of bytes parts the keys.
// CHECK-LABEL: func.func private @long
// CHECK: %[[ORDERS:.*]] = memref.get_global @long_constant_orders
// CHECK: %[[ORDER:.*]] = vector.load %[[ORDERS]]{{.*}}, vector<16xi8>
// CHECK: llvm.call_intrinsic "llvm.aarch64.neon.tbl1.v16i8"(%{{.*}}, %[[ORDER]])
// CHECK: memref.global "private" constant @long_constant_orders : memref<256xi8>

// Unchanged: A row that eight registers hold is sorted in them, and never parted.
// CHECK-LABEL: func.func private @short
// CHECK: arith.minsi %{{.*}} : vector<4xi32>
// CHECK-NOT: llvm.call_intrinsic
module attributes {hloom.target = {triple = "aarch64-unknown-linux-gnu", vector_bits = 128 : i64}} {
  func.func private @long(%x: tensor<5000xi32>) -> (tensor<5000xi32>, tensor<5000xi32>) attributes {hloom.kind = "sort"} {
    %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %x0 = tensor.extract %a[] : tensor<i32>
      %y0 = tensor.extract %b[] : tensor<i32>
      %c = arith.cmpi slt, %x0, %y0 : i32
      %p = tensor.from_elements %c : tensor<i1>
      stablehlo.return %p : tensor<i1>
    }) : (tensor<5000xi32>) -> tensor<5000xi32>
    %1 = tensor.empty() : tensor<5000xi32>
    return %0, %1 : tensor<5000xi32>, tensor<5000xi32>
  }

  func.func private @short(%x: tensor<3x30xi32>) -> (tensor<3x30xi32>, tensor<3x30xi32>) attributes {hloom.kind = "sort"} {
    %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %x0 = tensor.extract %a[] : tensor<i32>
      %y0 = tensor.extract %b[] : tensor<i32>
      %c = arith.cmpi slt, %x0, %y0 : i32
      %p = tensor.from_elements %c : tensor<i1>
      stablehlo.return %p : tensor<i1>
    }) : (tensor<3x30xi32>) -> tensor<3x30xi32>
    %1 = tensor.empty() : tensor<3x30xi32>
    return %0, %1 : tensor<3x30xi32>, tensor<3x30xi32>
  }
}
