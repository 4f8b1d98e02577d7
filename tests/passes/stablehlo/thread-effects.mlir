// RUN: hloom-opt %s --split-input-file --thread-effects | filecheck %s

// Changed: Each call takes the number that the one before gives, in a loop's body and a branch too; the last result waits for it.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[P:.*]]: tensor<i1>)
// CHECK: %[[START:.*]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK: %[[FIRST:.*]] = stablehlo.custom_call @hloom.effect(%[[START]], %[[X]]) {mhlo.backend_config = {callback = "a"}} : (tensor<i32>, tensor<4xf32>) -> tensor<i32>
// CHECK: %[[LOOP:.*]]:2 = stablehlo.while(%[[I:.*]] = %[[X]], %[[N:.*]] = %[[FIRST]]) : tensor<4xf32>, tensor<i32>
// CHECK: do {
// CHECK: %[[IN:.*]] = stablehlo.custom_call @hloom.effect(%[[N]], %[[I]])
// CHECK: stablehlo.return %{{.*}}, %[[IN]]
// CHECK: %[[BRANCH:.*]] = "stablehlo.if"(%[[P]])
// CHECK: %[[THEN:.*]] = stablehlo.custom_call @hloom.effect(%[[LOOP]]#1)
// CHECK: stablehlo.return %[[THEN]] : tensor<i32>
// CHECK: stablehlo.return %[[LOOP]]#1 : tensor<i32>
// CHECK: %[[FAILED:.*]] = stablehlo.compare LT, %[[BRANCH]],
// CHECK: %[[SEEN:.*]] = stablehlo.select %[[FAILED]], %{{.*}}, %[[LOOP]]#0
// CHECK: return %[[X]], %[[SEEN]]
func.func @main(%x: tensor<4xf32>, %p: tensor<i1>) -> (tensor<4xf32>, tensor<4xf32>) {
  stablehlo.custom_call @hloom.effect(%x) {has_side_effect = true, mhlo.backend_config = {callback = "a"}, operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = []} : (tensor<4xf32>) -> ()
  %0 = stablehlo.while(%i = %x) : tensor<4xf32> cond {
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.custom_call @hloom.effect(%i) {has_side_effect = true} : (tensor<4xf32>) -> ()
    %1 = stablehlo.add %i, %i : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }
  "stablehlo.if"(%p) ({
    stablehlo.custom_call @hloom.effect() {has_side_effect = true} : () -> ()
    stablehlo.return
  }, {
    stablehlo.return
  }) : (tensor<i1>) -> ()
  return %x, %0 : tensor<4xf32>, tensor<4xf32>
}

// -----

// Changed: A call that gives values gives them beside the number.
// CHECK-LABEL: func.func @main(
// CHECK: %[[CALL:.*]]:2 = stablehlo.custom_call @hloom.effect(%{{.*}}, %arg0) : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
// CHECK: stablehlo.compare LT, %[[CALL]]#0,
// CHECK: stablehlo.select %{{.*}}, %{{.*}}, %[[CALL]]#1
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.custom_call @hloom.effect(%x) {has_side_effect = true} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Declined: A call of something else is another pass's matter.
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: stablehlo.custom_call @mine(%arg0)
// CHECK-NEXT: return %arg0
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  stablehlo.custom_call @mine(%x) {has_side_effect = true} : (tensor<4xf32>) -> ()
  return %x : tensor<4xf32>
}

// -----

// Unchanged: Nobody is called.
// CHECK-LABEL: func.func @main(
// CHECK-NEXT: return %arg0
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
