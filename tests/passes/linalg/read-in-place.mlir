// RUN: hloom-opt %s --read-in-place --split-input-file | filecheck %s

#id = affine_map<(d0) -> (d0)>
#first = affine_map<(d0) -> (0)>
module attributes {hloom.target = {kind = "cuda"}} {
  // Changed: The first element alone, and all behind it with something added, are read where they are written.
  // CHECK-DAG: #[[ID:.*]] = affine_map<(d0) -> (d0)>
  // CHECK-LABEL: func.func private @behind_the_first
  // CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ID]]], {{.*}} ins(%arg0 : tensor<8xf32>)
  // CHECK-NEXT: ^bb0(%[[IN:.*]]: f32, %{{.*}}: f32):
  // CHECK: %[[Y:.*]] = tensor.extract %arg1
  // CHECK-NOT: tensor.extract
  // CHECK: %[[ADD:.*]] = arith.addf %[[IN]], %[[Y]]
  // CHECK: arith.select %{{.*}}, %[[IN]], %[[ADD]]
  func.func private @behind_the_first(%x: tensor<8xf32>, %y: tensor<7xf32>) -> tensor<8xf32> attributes {hloom.inplace = array<i64: 0, 0>, hloom.kind = "loop"} {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %e = tensor.empty() : tensor<8xf32>
    %0 = linalg.generic {indexing_maps = [#first, #id], iterator_types = ["parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %i = linalg.index 0 : index
      %shifted = arith.subi %i, %c1 : index
      %j = arith.maxsi %shifted, %c0 : index
      %k = arith.addi %j, %c1 : index
      %a = tensor.extract %x[%k] : tensor<8xf32>
      %b = tensor.extract %y[%j] : tensor<7xf32>
      %c = arith.addf %a, %b : f32
      %before = arith.cmpi slt, %i, %c1 : index
      %chosen = arith.select %before, %in, %c : f32
      linalg.yield %chosen : f32
    } -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }

  // Changed: It was no input of the generic, and is one now.
  // CHECK-LABEL: func.func private @extracted
  // CHECK: linalg.generic {indexing_maps = [#[[ID]], #[[ID]], #[[ID]]], {{.*}} ins(%arg1, %arg0 : tensor<8xf32>, tensor<8xf32>)
  // CHECK-NEXT: ^bb0(%[[Y:.*]]: f32, %[[X:.*]]: f32, %{{.*}}: f32):
  // CHECK-NEXT: %[[M:.*]] = arith.mulf %[[X]], %[[Y]]
  // CHECK-NEXT: linalg.yield %[[M]]
  func.func private @extracted(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<8xf32> attributes {hloom.inplace = array<i64: 0, 0>, hloom.kind = "loop"} {
    %e = tensor.empty() : tensor<8xf32>
    %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel"]} ins(%y : tensor<8xf32>) outs(%e : tensor<8xf32>) {
    ^bb0(%in: f32, %out: f32):
      %i = linalg.index 0 : index
      %a = tensor.extract %x[%i] : tensor<8xf32>
      %b = arith.mulf %a, %in : f32
      linalg.yield %b : f32
    } -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }

  // Unchanged: Nothing is written over what is read elsewhere.
  // CHECK-LABEL: func.func private @apart
  // CHECK: tensor.extract %arg0
  func.func private @apart(%x: tensor<8xf32>) -> tensor<8xf32> attributes {hloom.kind = "loop"} {
    %c0 = arith.constant 0 : index
    %e = tensor.empty() : tensor<8xf32>
    %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<8xf32>) {
    ^bb0(%out: f32):
      %a = tensor.extract %x[%c0] : tensor<8xf32>
      linalg.yield %a : f32
    } -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }

  // Declined: The generic makes what the result is made of, a half of it.
  // CHECK-LABEL: func.func private @half
  // CHECK: tensor.extract %arg0
  // CHECK: return
  func.func private @half(%x: tensor<8xf32>) -> tensor<8xf32> attributes {hloom.inplace = array<i64: 0, 0>, hloom.kind = "loop"} {
    %c4 = arith.constant 4 : index
    %h = tensor.empty() : tensor<4xf32>
    %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%h : tensor<4xf32>) {
    ^bb0(%out: f32):
      %i = linalg.index 0 : index
      %k = arith.addi %i, %c4 : index
      %a = tensor.extract %x[%k] : tensor<8xf32>
      linalg.yield %a : f32
    } -> tensor<4xf32>
    %1 = tensor.insert_slice %0 into %x[4] [4] [1] : tensor<4xf32> into tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}

// -----

#id = affine_map<(d0) -> (d0)>
// Declined: a processor.
// CHECK-LABEL: func.func private @processor
// CHECK: tensor.extract %arg0
func.func private @processor(%x: tensor<8xf32>) -> tensor<8xf32> attributes {hloom.inplace = array<i64: 0, 0>, hloom.kind = "loop"} {
  %e = tensor.empty() : tensor<8xf32>
  %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<8xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %a = tensor.extract %x[%i] : tensor<8xf32>
    linalg.yield %a : f32
  } -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
