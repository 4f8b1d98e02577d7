// RUN: hloom-opt %s --sort-rows | filecheck %s

// Changed: With 256 bits a table of permutations parts the keys.
// CHECK-LABEL: func.func private @long
// CHECK-SAME: hloom.effort = "full"
// CHECK: %[[ORDERS:.*]] = memref.get_global @long_constant_orders
// CHECK: scf.while
// CHECK: %[[ORDER:.*]] = vector.load %[[ORDERS]]
// CHECK: llvm.call_intrinsic "llvm.x86.avx2.permd"(%{{.*}}, %[[ORDER]])
// CHECK: memref.global "private" constant @long_constant_orders : memref<2048xi32>

// Changed: A row that eight registers hold is sorted in them, and never parted.
// CHECK-LABEL: func.func private @short
// CHECK-COUNT-8: vector.maskedload
// CHECK: arith.minsi %{{.*}} : vector<8xi32>
// CHECK: vector.shuffle
// CHECK-NOT: llvm.call_intrinsic

// Unchanged: Keys of eight bits go by ranks, as before.
// CHECK-LABEL: func.func private @bytes
// CHECK-NOT: vector.shuffle

// Declined: Keys that do not tell their elements, a second array: by radix.
// CHECK-LABEL: func.func private @pairs
// CHECK-NOT: vector.shuffle
module attributes {hloom.target = {name = "cpu-avx2", vector_bits = 256 : i64}} {
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

  func.func private @short(%x: tensor<3x60xi32>) -> (tensor<3x60xi32>, tensor<3x60xi32>) attributes {hloom.kind = "sort"} {
    %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %x0 = tensor.extract %a[] : tensor<i32>
      %y0 = tensor.extract %b[] : tensor<i32>
      %c = arith.cmpi slt, %x0, %y0 : i32
      %p = tensor.from_elements %c : tensor<i1>
      stablehlo.return %p : tensor<i1>
    }) : (tensor<3x60xi32>) -> tensor<3x60xi32>
    %1 = tensor.empty() : tensor<3x60xi32>
    return %0, %1 : tensor<3x60xi32>, tensor<3x60xi32>
  }

  func.func private @bytes(%x: tensor<60xi8>) -> (tensor<60xi8>, tensor<60xi8>) attributes {hloom.kind = "sort"} {
    %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
    ^bb0(%a: tensor<i8>, %b: tensor<i8>):
      %x0 = tensor.extract %a[] : tensor<i8>
      %y0 = tensor.extract %b[] : tensor<i8>
      %c = arith.cmpi slt, %x0, %y0 : i8
      %p = tensor.from_elements %c : tensor<i1>
      stablehlo.return %p : tensor<i1>
    }) : (tensor<60xi8>) -> tensor<60xi8>
    %1 = tensor.empty() : tensor<60xi8>
    return %0, %1 : tensor<60xi8>, tensor<60xi8>
  }

  func.func private @pairs(%x: tensor<5000xi64>, %y: tensor<5000xi32>)
      -> (tensor<5000xi64>, tensor<5000xi32>, tensor<5000xi64>, tensor<5000xi32>) attributes {hloom.kind = "sort"} {
    %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64}> ({
    ^bb0(%a: tensor<i64>, %b: tensor<i64>, %c: tensor<i32>, %d: tensor<i32>):
      %x0 = tensor.extract %a[] : tensor<i64>
      %y0 = tensor.extract %b[] : tensor<i64>
      %less = arith.cmpi slt, %x0, %y0 : i64
      %p = tensor.from_elements %less : tensor<i1>
      stablehlo.return %p : tensor<i1>
    }) : (tensor<5000xi64>, tensor<5000xi32>) -> (tensor<5000xi64>, tensor<5000xi32>)
    %1 = tensor.empty() : tensor<5000xi64>
    %2 = tensor.empty() : tensor<5000xi32>
    return %0#0, %0#1, %1, %2 : tensor<5000xi64>, tensor<5000xi32>, tensor<5000xi64>, tensor<5000xi32>
  }
}
