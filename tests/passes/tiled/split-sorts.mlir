// RUN: hloom-opt %s --split-input-file --split-sorts | filecheck %s

// Changed: 5000 elements are three runs of 2048 elements, which two merges make one: to the results, behind the arena, to the results.
// CHECK-LABEL: func.func @main
// CHECK-SAME: %arg3: memref<20096xi8>
// CHECK-SAME: hloom.arena_bytes = 20096 : i64
// CHECK: %[[V:.*]] = memref.view %arg3[%c64]
// CHECK: %[[S:.*]] = "lhlo.ref"(%[[V]])
// CHECK: %[[X:.*]] = "lhlo.ref"(%arg0)
// CHECK: %[[R:.*]] = "lhlo.ref"(%arg1)
// CHECK: "lhlo.fusion"(%[[X]], %[[R]]) {callee = @fusion_0_runs
// CHECK: "lhlo.fusion"(%[[R]], %[[S]]) {callee = @fusion_0_merge_2048
// CHECK: "lhlo.fusion"(%[[S]], %[[R]]) {callee = @fusion_0,
// CHECK-LABEL: func.func private @fusion_0_runs
// CHECK: hloom.runs = 2048 : i64
// CHECK-LABEL: func.func private @fusion_0_merge_2048
// CHECK: hloom.merges = 2048 : i64
// CHECK-LABEL: func.func private @fusion_0(
// CHECK-SAME: %[[A:.*]]: tensor<5000xf32>) -> tensor<5000xf32>
// CHECK: "stablehlo.sort"(%[[A]])
// CHECK: hloom.merges = 4096 : i64
module attributes {hloom.target = {kind = "cuda"}} {
  func.func @main(%x: memref<5000xf32>, %out: memref<5000xf32>, %y: memref<4xf32>, %arena: memref<10xi8>)
      attributes {hloom.arena_bytes = 10 : i64, hloom.live_bytes = 10 : i64} {
    %0 = "lhlo.ref"(%x) : (memref<5000xf32>) -> !lhlo.buffer
    %1 = "lhlo.ref"(%out) : (memref<5000xf32>) -> !lhlo.buffer
    "lhlo.fusion"(%0, %1) {callee = @fusion_0, inplace = array<i64>, operandSegmentSizes = array<i32: 1, 1>, source = ["sort"]}
        : (!lhlo.buffer, !lhlo.buffer) -> ()
    return
  }
  func.func private @fusion_0(%x: tensor<5000xf32>) -> tensor<5000xf32> attributes {hloom.kind = "sort"} {
    %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %x0 = tensor.extract %a[] : tensor<f32>
      %y0 = tensor.extract %b[] : tensor<f32>
      %c = arith.cmpf olt, %x0, %y0 : f32
      %p = tensor.from_elements %c : tensor<i1>
      stablehlo.return %p : tensor<i1>
    }) : (tensor<5000xf32>) -> tensor<5000xf32>
    return %0 : tensor<5000xf32>
  }
}

// -----

// Declined: A block has room for rows of 2048 elements of f32.
// CHECK-LABEL: func.func private @short
// CHECK-NOT: hloom.runs
// CHECK-NOT: hloom.merges
module attributes {hloom.target = {kind = "cuda"}} {
  func.func private @short(%x: tensor<9x2048xf32>) -> tensor<9x2048xf32> attributes {hloom.kind = "sort"} {
    %0 = "stablehlo.sort"(%x) <{dimension = 1 : i64}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %x0 = tensor.extract %a[] : tensor<f32>
      %y0 = tensor.extract %b[] : tensor<f32>
      %c = arith.cmpf olt, %x0, %y0 : f32
      %p = tensor.from_elements %c : tensor<i1>
      stablehlo.return %p : tensor<i1>
    }) : (tensor<9x2048xf32>) -> tensor<9x2048xf32>
    return %0 : tensor<9x2048xf32>
  }
}

// -----

// Unchanged: A CPU sorts rows of any length.
// CHECK-LABEL: func.func private @on_a_cpu
// CHECK-NOT: hloom.runs
func.func private @on_a_cpu(%x: tensor<5000xi8>) -> tensor<5000xi8> attributes {hloom.kind = "sort"} {
  %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i8>, %b: tensor<i8>):
    %x0 = tensor.extract %a[] : tensor<i8>
    %y0 = tensor.extract %b[] : tensor<i8>
    %c = arith.cmpi slt, %x0, %y0 : i8
    %p = tensor.from_elements %c : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<5000xi8>) -> tensor<5000xi8>
  return %0 : tensor<5000xi8>
}
