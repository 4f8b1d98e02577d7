// RUN: hloom-opt %s --split-input-file --assign-buffers | filecheck %s

// Changed: An argument that a result updates is the result's memory: it is read there, and the chain works there in place.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[A:[a-z0-9]+]]: memref<8xf32> {hloom.updated_by = 0 : i64}, %[[OUT:[a-z0-9]+]]: memref<8xf32>, %{{.*}}: memref<0xi8>
// CHECK-NOT: "lhlo.ref"(%[[A]])
// CHECK: %[[R:.*]] = "lhlo.ref"(%[[OUT]])
// CHECK: "lhlo.fusion"(%[[R]], %[[R]]) {callee = @tanh, inplace = array<i64: 0, 0>
// CHECK-NEXT: "lhlo.fusion"(%[[R]], %[[R]]) {callee = @tanh, inplace = array<i64: 0, 0>
// CHECK-NEXT: return
func.func @main(%a: tensor<8xf32> {hloom.updated_by = 0 : i64}) -> tensor<8xf32> {
  %0 = call @tanh(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @tanh(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
func.func private @tanh(%a: tensor<8xf32>) -> tensor<8xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.tanh %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Not in place: the argument is read elsewhere than it is written, or after. The new value is computed in the arena and copied.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[OUT:[a-z0-9]+]]: memref<8xf32>, %[[MORE:[a-z0-9]+]]: memref<8xf32>, %[[ARENA:[a-z0-9]+]]: memref<64xi8>
// CHECK: %[[VIEW:.*]] = memref.view %[[ARENA]]
// CHECK: "lhlo.fusion"(%[[R:.*]], %[[T:.*]]) {callee = @turn, inplace = array<i64>
// CHECK-NEXT: "lhlo.fusion"(%[[R]], %{{.*}}) {callee = @tanh, inplace = array<i64>
// CHECK-NEXT: "lhlo.copy"(%[[VIEW]], %[[OUT]])
func.func @main(%a: tensor<8xf32> {hloom.updated_by = 0 : i64}) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = call @turn(%a) : (tensor<8xf32>) -> tensor<8xf32>
  %1 = call @tanh(%a) : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
func.func private @turn(%a: tensor<8xf32>) -> tensor<8xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.reverse %a, dims = [0] : tensor<8xf32>
  return %0 : tensor<8xf32>
}
func.func private @tanh(%a: tensor<8xf32>) -> tensor<8xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.tanh %a : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

// Two arguments that take each other's place go by way of the arena.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:[a-z0-9]+]]: memref<8xf32>, %[[Y:[a-z0-9]+]]: memref<8xf32>, %[[ARENA:[a-z0-9]+]]: memref<64xi8>
// CHECK: %[[VIEW:.*]] = memref.view %[[ARENA]]
// CHECK: "lhlo.copy"(%[[FROM:.*]], %[[VIEW]])
// CHECK-NEXT: "lhlo.copy"(%[[TO:.*]], %[[FROM]])
// CHECK-NEXT: "lhlo.copy"(%[[VIEW]], %[[TO]])
func.func @main(%a: tensor<8xf32> {hloom.updated_by = 0 : i64}, %b: tensor<8xf32> {hloom.updated_by = 1 : i64}) -> (tensor<8xf32>, tensor<8xf32>) {
  return %b, %a : tensor<8xf32>, tensor<8xf32>
}

// -----

// Declined: Marks that name no result, or one that another argument names, go; so do those of bound arguments.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: memref<8xf32> {hloom.updated_by = 0 : i64}, %{{[a-z0-9]+}}: memref<8xf32>, %{{[a-z0-9]+}}: memref<8xf32>, %{{[a-z0-9]+}}: memref<8xf32> {hloom.bound}
func.func @main(%a: tensor<8xf32> {hloom.updated_by = 0 : i64}, %b: tensor<8xf32> {hloom.updated_by = 0 : i64}, %c: tensor<8xf32> {hloom.updated_by = 7 : i64},
                %d: tensor<8xf32> {hloom.bound, hloom.updated_by = 1 : i64}) -> (tensor<8xf32>, tensor<8xf32>) {
  %0 = call @sum(%a, %b, %c, %d) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0, %0 : tensor<8xf32>, tensor<8xf32>
}
func.func private @sum(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>, %d: tensor<8xf32>) -> tensor<8xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.add %a, %b : tensor<8xf32>
  %1 = stablehlo.add %0, %c : tensor<8xf32>
  %2 = stablehlo.add %1, %d : tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// Declined: A result of another type has memory of its own; the mark goes.
// CHECK-LABEL: func.func @main(
// CHECK-NOT: hloom.updated_by
// CHECK: "lhlo.fusion"({{.*}}) {callee = @widen, inplace = array<i64>
func.func @main(%a: tensor<8xf32> {hloom.updated_by = 0 : i64}) -> tensor<8xf64> {
  %0 = call @widen(%a) : (tensor<8xf32>) -> tensor<8xf64>
  return %0 : tensor<8xf64>
}
func.func private @widen(%a: tensor<8xf32>) -> tensor<8xf64> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.convert %a : (tensor<8xf32>) -> tensor<8xf64>
  return %0 : tensor<8xf64>
}
