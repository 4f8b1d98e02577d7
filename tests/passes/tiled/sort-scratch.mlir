// RUN: hloom-opt %s --sort-scratch | filecheck %s

// Changed: The sort's operand has a second buffer behind the arena, which the group returns without writing it.
// CHECK-LABEL: func.func public @main
// CHECK-SAME: %[[ARENA:[a-z0-9]+]]: memref<1664xi8>) attributes {hloom.arena_bytes = 1664 : i64, hloom.live_bytes = 1600 : i64
// CHECK: %[[VIEW:.*]] = memref.view %[[ARENA]]{{.*}} to memref<4x100xf32>
// CHECK: %[[S:.*]] = "lhlo.ref"(%[[VIEW]])
// CHECK: "lhlo.fusion"(%{{.*}}, %{{.*}}, %[[S]]) {callee = @fusion_0, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 2>
// CHECK-LABEL: func.func private @fusion_0
// CHECK-SAME: -> (tensor<4x100xf32>, tensor<4x100xf32>)
// CHECK: %[[R:.*]] = "stablehlo.sort"
// CHECK: %[[E:.*]] = tensor.empty() : tensor<4x100xf32>
// CHECK: return %[[R]], %[[E]]
func.func public @main(%x: memref<4x100xf32>, %out: memref<4x100xf32>, %arena: memref<64xi8>)
    attributes {hloom.arena_bytes = 64 : i64, hloom.live_bytes = 0 : i64, hloom.signature = (tensor<4x100xf32>) -> tensor<4x100xf32>} {
  %0 = "lhlo.ref"(%x) : (memref<4x100xf32>) -> !lhlo.buffer
  %1 = "lhlo.ref"(%out) : (memref<4x100xf32>) -> !lhlo.buffer
  "lhlo.fusion"(%0, %1) {callee = @fusion_0, inplace = array<i64>, source = ["sort"], operandSegmentSizes = array<i32: 1, 1>}
    : (!lhlo.buffer, !lhlo.buffer) -> ()
  "lhlo.fusion"(%0, %1) {callee = @fusion_1, inplace = array<i64>, source = ["id"], operandSegmentSizes = array<i32: 1, 1>}
    : (!lhlo.buffer, !lhlo.buffer) -> ()
  return
}
func.func private @fusion_0(%x: tensor<4x100xf32>) -> tensor<4x100xf32> attributes {hloom.kind = "sort"} {
  %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %x0 = tensor.extract %a[] : tensor<f32>
    %y0 = tensor.extract %b[] : tensor<f32>
    %c = arith.cmpf olt, %x0, %y0 : f32
    %p = tensor.from_elements %c : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4x100xf32>) -> tensor<4x100xf32>
  return %0 : tensor<4x100xf32>
}

// Declined: A group without a sort needs none.
// Unchanged: Its calls stay as they are.
// CHECK-LABEL: func.func private @fusion_1
// CHECK-SAME: -> tensor<4x100xf32> attributes
func.func private @fusion_1(%x: tensor<4x100xf32>) -> tensor<4x100xf32> attributes {hloom.kind = "loop"} {
  return %x : tensor<4x100xf32>
}

// Changed: Two arrays by one key of 32 bits, in rows too long for the stack: two buffers of words. Of shorter rows, none.
// CHECK-LABEL: func.func private @fusion_2
// CHECK-SAME: -> (tensor<2x5000xf32>, tensor<2x5000xi8>, tensor<2x5000xi64>, tensor<2x5000xi64>)
func.func private @fusion_2(%x: tensor<2x5000xf32>, %y: tensor<2x5000xi8>) -> (tensor<2x5000xf32>, tensor<2x5000xi8>)
    attributes {hloom.kind = "sort"} {
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i8>, %d: tensor<i8>):
    %x0 = tensor.extract %a[] : tensor<f32>
    %y0 = tensor.extract %b[] : tensor<f32>
    %less = arith.cmpf olt, %x0, %y0 : f32
    %p = tensor.from_elements %less : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<2x5000xf32>, tensor<2x5000xi8>) -> (tensor<2x5000xf32>, tensor<2x5000xi8>)
  return %0#0, %0#1 : tensor<2x5000xf32>, tensor<2x5000xi8>
}

// CHECK-LABEL: func.func private @fusion_3
// CHECK-SAME: -> (tensor<4x300xf32>, tensor<4x300xi8>)
func.func private @fusion_3(%x: tensor<4x300xf32>, %y: tensor<4x300xi8>) -> (tensor<4x300xf32>, tensor<4x300xi8>)
    attributes {hloom.kind = "sort"} {
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 1 : i64}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %c: tensor<i8>, %d: tensor<i8>):
    %x0 = tensor.extract %a[] : tensor<f32>
    %y0 = tensor.extract %b[] : tensor<f32>
    %less = arith.cmpf olt, %x0, %y0 : f32
    %p = tensor.from_elements %less : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4x300xf32>, tensor<4x300xi8>) -> (tensor<4x300xf32>, tensor<4x300xi8>)
  return %0#0, %0#1 : tensor<4x300xf32>, tensor<4x300xi8>
}
