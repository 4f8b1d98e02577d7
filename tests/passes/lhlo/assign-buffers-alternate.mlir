// RUN: hloom-opt %s --split-input-file --assign-buffers | filecheck %s

// Changed: A carry that a turn reads at other places than it writes alternates between two buffers; of 9 turns the first comes before.
// CHECK: code = "LOOP_ALTERNATES"{{.*}}reason = "9 turns, two at a time"
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<100xf32>, %[[OUT:[a-z0-9]+]]: memref<100xf32>
// CHECK-DAG: %[[RA:.*]] = "lhlo.ref"(%[[A]])
// CHECK-DAG: %[[ROUT:.*]] = "lhlo.ref"(%[[OUT]])
// CHECK-DAG: %[[TEMP:.*]] = "lhlo.ref"(%view
// CHECK: "lhlo.fusion"(%[[RA]], %[[ROUT]]) {callee = @turn
// CHECK-NOT: lhlo.copy
// CHECK: "lhlo.for"
// CHECK: "lhlo.fusion"(%[[ROUT]], %[[TEMP]]) {callee = @turn
// CHECK-NEXT: "lhlo.fusion"(%[[TEMP]], %[[ROUT]]) {callee = @turn
// CHECK-NEXT: trip_count = 4
// CHECK-NOT: lhlo.copy
func.func @main(%a: tensor<100xf32>) -> tensor<100xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c, %x = %a) : tensor<i32>, tensor<100xf32>
  cond {
    %1 = func.call @below(%i) : (tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = func.call @turn(%x) : (tensor<100xf32>) -> tensor<100xf32>
    %2 = func.call @next(%i) : (tensor<i32>) -> tensor<i32>
    stablehlo.return %2, %1 : tensor<i32>, tensor<100xf32>
  }
  return %0#1 : tensor<100xf32>
}
func.func private @below(%i: tensor<i32>) -> tensor<i1> attributes {hloom.kind = "loop"} {
  %c = stablehlo.constant dense<9> : tensor<i32>
  %0 = stablehlo.compare LT, %i, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @next(%i: tensor<i32>) -> tensor<i32> attributes {hloom.kind = "loop"} {
  %c = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.add %i, %c : tensor<i32>
  return %0 : tensor<i32>
}
func.func private @turn(%a: tensor<100xf32>) -> tensor<100xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.reverse %a, dims = [0] : tensor<100xf32>
  return %0 : tensor<100xf32>
}

// -----

// Changed: One carry hands another one on: two buffers are enough, and none is copied. Calls that share a launch share others in each turn.
// CHECK-LABEL: func.func @main(
// CHECK: "lhlo.for"
// CHECK-NOT: lhlo.copy
// CHECK: @wave{{.*}}hloom.launch = 7
// CHECK: @other{{.*}}hloom.launch = 7
// CHECK: @wave{{.*}}hloom.launch = 8
// CHECK: @other{{.*}}hloom.launch = 8
// CHECK-NOT: lhlo.copy
// CHECK: trip_count = 5
func.func @main(%a: tensor<100xf32>, %b: tensor<100xf32>, %c: tensor<100xf32>) -> (tensor<100xf32>, tensor<100xf32>, tensor<100xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:4 = stablehlo.while(%i = %zero, %x = %a, %y = %b, %z = %c) : tensor<i32>, tensor<100xf32>, tensor<100xf32>, tensor<100xf32>
  cond {
    %1 = func.call @below(%i) : (tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = func.call @wave(%x, %y) {hloom.launch = 6 : i64} : (tensor<100xf32>, tensor<100xf32>) -> tensor<100xf32>
    %3 = func.call @other(%z) {hloom.launch = 6 : i64} : (tensor<100xf32>) -> tensor<100xf32>
    %2 = func.call @next(%i) : (tensor<i32>) -> tensor<i32>
    stablehlo.return %2, %1, %x, %3 : tensor<i32>, tensor<100xf32>, tensor<100xf32>, tensor<100xf32>
  }
  return %0#1, %0#2, %0#3 : tensor<100xf32>, tensor<100xf32>, tensor<100xf32>
}
func.func private @below(%i: tensor<i32>) -> tensor<i1> attributes {hloom.kind = "loop"} {
  %c = stablehlo.constant dense<10> : tensor<i32>
  %0 = stablehlo.compare LT, %i, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @next(%i: tensor<i32>) -> tensor<i32> attributes {hloom.kind = "loop"} {
  %c = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.add %i, %c : tensor<i32>
  return %0 : tensor<i32>
}
func.func private @wave(%a: tensor<100xf32>, %b: tensor<100xf32>) -> tensor<100xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.reverse %a, dims = [0] : tensor<100xf32>
  %1 = stablehlo.subtract %0, %b : tensor<100xf32>
  return %1 : tensor<100xf32>
}
func.func private @other(%a: tensor<100xf32>) -> tensor<100xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.negate %a : tensor<100xf32>
  return %0 : tensor<100xf32>
}

// -----

// Declined: Carries of a few bytes; turns that nobody counts.
// CHECK-NOT: LOOP_ALTERNATES
// CHECK-LABEL: func.func @main(
// CHECK: "lhlo.for"
// CHECK: lhlo.copy
// CHECK: trip_count = 10
// CHECK: "lhlo.while"
// CHECK: lhlo.copy
func.func @main(%a: tensor<10xf32>, %b: tensor<100xf32>, %n: tensor<i32>) -> (tensor<10xf32>, tensor<100xf32>) {
  %zero = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %zero, %x = %a) : tensor<i32>, tensor<10xf32>
  cond {
    %1 = func.call @below(%i) : (tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = func.call @short(%x) : (tensor<10xf32>) -> tensor<10xf32>
    %2 = func.call @next(%i) : (tensor<i32>) -> tensor<i32>
    stablehlo.return %2, %1 : tensor<i32>, tensor<10xf32>
  }
  %3:2 = stablehlo.while(%i = %n, %x = %b) : tensor<i32>, tensor<100xf32>
  cond {
    %1 = func.call @below(%i) : (tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    %1 = func.call @turn(%x) : (tensor<100xf32>) -> tensor<100xf32>
    %2 = func.call @next(%i) : (tensor<i32>) -> tensor<i32>
    stablehlo.return %2, %1 : tensor<i32>, tensor<100xf32>
  }
  return %0#1, %3#1 : tensor<10xf32>, tensor<100xf32>
}
func.func private @below(%i: tensor<i32>) -> tensor<i1> attributes {hloom.kind = "loop"} {
  %c = stablehlo.constant dense<10> : tensor<i32>
  %0 = stablehlo.compare LT, %i, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
  return %0 : tensor<i1>
}
func.func private @next(%i: tensor<i32>) -> tensor<i32> attributes {hloom.kind = "loop"} {
  %c = stablehlo.constant dense<1> : tensor<i32>
  %0 = stablehlo.add %i, %c : tensor<i32>
  return %0 : tensor<i32>
}
func.func private @short(%a: tensor<10xf32>) -> tensor<10xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.reverse %a, dims = [0] : tensor<10xf32>
  return %0 : tensor<10xf32>
}
func.func private @turn(%a: tensor<100xf32>) -> tensor<100xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.reverse %a, dims = [0] : tensor<100xf32>
  return %0 : tensor<100xf32>
}

// -----

// Declined: A policy that keeps a loop's turns.
// CHECK-LABEL: func.func @main(
// CHECK: lhlo.copy
// CHECK: trip_count = 10
module attributes {hloom.policy = {loop = [{unroll = false}]}} {
  func.func @main(%a: tensor<100xf32>) -> tensor<100xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%i = %c, %x = %a) : tensor<i32>, tensor<100xf32>
    cond {
      %1 = func.call @below(%i) : (tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = func.call @turn(%x) : (tensor<100xf32>) -> tensor<100xf32>
      %2 = func.call @next(%i) : (tensor<i32>) -> tensor<i32>
      stablehlo.return %2, %1 : tensor<i32>, tensor<100xf32>
    }
    return %0#1 : tensor<100xf32>
  }
  func.func private @below(%i: tensor<i32>) -> tensor<i1> attributes {hloom.kind = "loop"} {
    %c = stablehlo.constant dense<10> : tensor<i32>
    %0 = stablehlo.compare LT, %i, %c, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    return %0 : tensor<i1>
  }
  func.func private @next(%i: tensor<i32>) -> tensor<i32> attributes {hloom.kind = "loop"} {
    %c = stablehlo.constant dense<1> : tensor<i32>
    %0 = stablehlo.add %i, %c : tensor<i32>
    return %0 : tensor<i32>
  }
  func.func private @turn(%a: tensor<100xf32>) -> tensor<100xf32> attributes {hloom.kind = "loop"} {
    %0 = stablehlo.reverse %a, dims = [0] : tensor<100xf32>
    return %0 : tensor<100xf32>
  }
}
