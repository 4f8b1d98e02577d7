// RUN: hloom-opt %s --sort-rows | filecheck %s

// Changed: Words of a key and an element, which lie on the stack; if a key does not tell its element, of a key and a place.
// CHECK-LABEL: func.func private @pair
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<1024xi32>
// CHECK: %[[WORDS:.*]] = memref.alloca() {alignment = 64 : i64} : memref<1000xi64>
// CHECK: memref.alloca() {alignment = 64 : i64} : memref<1000xi64>
// CHECK: %[[DIFFER:.*]] = scf.for {{.*}} -> (i32)
// CHECK: arith.extui %{{.*}} : i32 to i64
// CHECK: arith.ori
// CHECK: memref.store %{{.*}}, %[[WORDS]]
// CHECK: %[[TOLD:.*]] = arith.cmpi eq, %[[DIFFER]]
// CHECK: scf.if %[[TOLD]]
// CHECK: else
// CHECK: arith.index_cast %{{.*}} : index to i64
// CHECK: scf.if %[[TOLD]]
func.func private @pair(%x: tensor<1000xf32>, %y: tensor<1000xi32>)
    -> (tensor<1000xf32>, tensor<1000xi32>) attributes {hloom.kind = "sort"} {
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %x0 = tensor.extract %a[] : tensor<f32>
    %y0 = tensor.extract %b[] : tensor<f32>
    %less = arith.cmpf olt, %x0, %y0 : f32
    %p = tensor.from_elements %less : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<1000xf32>, tensor<1000xi32>) -> (tensor<1000xf32>, tensor<1000xi32>)
  return %0#0, %0#1 : tensor<1000xf32>, tensor<1000xi32>
}

// Changed: In a longer row they lie in the scratch. An element of 64 bits has no room in them: places alone.
// CHECK-LABEL: func.func private @wide
// CHECK-SAME: %[[W:[^:]*]]: memref<9000xi64>, %[[O:[^:]*]]: memref<9000xi64>) attributes
// CHECK: arith.index_cast %{{.*}} : index to i64
// CHECK: memref.store %{{.*}}, %[[W]]
func.func private @wide(%x: tensor<9000xi32>, %y: tensor<9000xi64>)
    -> (tensor<9000xi32>, tensor<9000xi64>, tensor<9000xi64>, tensor<9000xi64>) attributes {hloom.kind = "sort"} {
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i64>, %d: tensor<i64>):
    %x0 = tensor.extract %a[] : tensor<i32>
    %y0 = tensor.extract %b[] : tensor<i32>
    %less = arith.cmpi slt, %x0, %y0 : i32
    %p = tensor.from_elements %less : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<9000xi32>, tensor<9000xi64>) -> (tensor<9000xi32>, tensor<9000xi64>)
  %e0 = tensor.empty() : tensor<9000xi64>
  %e1 = tensor.empty() : tensor<9000xi64>
  return %0#0, %0#1, %e0, %e1 : tensor<9000xi32>, tensor<9000xi64>, tensor<9000xi64>, tensor<9000xi64>
}

// Declined: Keys of 64 bits leave no room: each pass moves both arrays.
// CHECK-LABEL: func.func private @wide_keys
// CHECK-NOT: memref.alloca() {alignment = 64 : i64} : memref<1000xi64>
func.func private @wide_keys(%x: tensor<1000xi64>, %y: tensor<1000xi32>)
    -> (tensor<1000xi64>, tensor<1000xi32>, tensor<1000xi64>, tensor<1000xi32>) attributes {hloom.kind = "sort"} {
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>, %c: tensor<i32>, %d: tensor<i32>):
    %x0 = tensor.extract %a[] : tensor<i64>
    %y0 = tensor.extract %b[] : tensor<i64>
    %less = arith.cmpi slt, %x0, %y0 : i64
    %p = tensor.from_elements %less : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<1000xi64>, tensor<1000xi32>) -> (tensor<1000xi64>, tensor<1000xi32>)
  %e0 = tensor.empty() : tensor<1000xi64>
  %e1 = tensor.empty() : tensor<1000xi32>
  return %0#0, %0#1, %e0, %e1 : tensor<1000xi64>, tensor<1000xi32>, tensor<1000xi64>, tensor<1000xi32>
}

// Unchanged: Short rows go by ranks.
// CHECK-LABEL: func.func private @short
// CHECK-NOT: xi64>
func.func private @short(%x: tensor<40xf32>, %y: tensor<40xi32>)
    -> (tensor<40xf32>, tensor<40xi32>, tensor<40xf32>, tensor<40xi32>) attributes {hloom.kind = "sort"} {
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i32>, %d: tensor<i32>):
    %x0 = tensor.extract %a[] : tensor<f32>
    %y0 = tensor.extract %b[] : tensor<f32>
    %less = arith.cmpf olt, %x0, %y0 : f32
    %p = tensor.from_elements %less : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<40xf32>, tensor<40xi32>) -> (tensor<40xf32>, tensor<40xi32>)
  %e0 = tensor.empty() : tensor<40xf32>
  %e1 = tensor.empty() : tensor<40xi32>
  return %0#0, %0#1, %e0, %e1 : tensor<40xf32>, tensor<40xi32>, tensor<40xf32>, tensor<40xi32>
}
