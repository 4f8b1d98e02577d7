// RUN: hloom-opt %s --split-input-file --assign-buffers | filecheck %s

// Changed: What the kernels of a launch make is live at once: two values between the launches have a place each, where one after the
// other they would share one. In the second launch each works in place on what it alone reads.
// CHECK-LABEL: func.func @main
// CHECK-SAME: hloom.arena_bytes = 512 : i64
// CHECK-DAG: %[[A:.*]] = memref.view %{{.*}}[%c0{{.*}}][] : memref<512xi8> to memref<64xf32>
// CHECK-DAG: %[[B:.*]] = memref.view %{{.*}}[%c256{{.*}}][] : memref<512xi8> to memref<64xf32>
// CHECK: "lhlo.fusion"({{.*}}) {callee = @f, hloom.launch = 0 : i64, inplace = array<i64>
// CHECK: "lhlo.fusion"({{.*}}) {callee = @f, hloom.launch = 0 : i64, inplace = array<i64>
// CHECK: "lhlo.fusion"({{.*}}) {callee = @f_buffers_0, hloom.launch = 1 : i64, inplace = array<i64: 0, 0>
// CHECK: "lhlo.fusion"({{.*}}) {callee = @f_buffers_0, hloom.launch = 1 : i64, inplace = array<i64: 0, 0>
func.func @main(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> {
  %a = call @f(%x) {hloom.launch = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  %b = call @f(%y) {hloom.launch = 0 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  %c = call @f(%a) {hloom.launch = 1 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  %d = call @f(%b) {hloom.launch = 1 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  %e = call @g(%c, %d) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %e : tensor<64xf32>
}
func.func private @f(%x: tensor<64xf32>) -> tensor<64xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.sine %x : tensor<64xf32>
  return %0 : tensor<64xf32>
}
func.func private @g(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> attributes {hloom.kind = "reduce"} {
  %0 = stablehlo.add %x, %y : tensor<64xf32>
  return %0 : tensor<64xf32>
}

// -----

// Unchanged: %a dies in a launch of which two kernels read it: neither works in place.
// CHECK-LABEL: func.func @main
// CHECK: "lhlo.fusion"({{.*}}) {callee = @f, hloom.launch = 1 : i64, inplace = array<i64>
// CHECK: "lhlo.fusion"({{.*}}) {callee = @h, hloom.launch = 1 : i64, inplace = array<i64>
func.func @main(%x: tensor<64xf32>) -> (tensor<64xf32>) {
  %a = call @f(%x) : (tensor<64xf32>) -> tensor<64xf32>
  %c = call @f(%a) {hloom.launch = 1 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  %d = call @h(%a) {hloom.launch = 1 : i64} : (tensor<64xf32>) -> tensor<64xf32>
  %e = call @g(%c, %d) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %e : tensor<64xf32>
}
func.func private @f(%x: tensor<64xf32>) -> tensor<64xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.sine %x : tensor<64xf32>
  return %0 : tensor<64xf32>
}
func.func private @h(%x: tensor<64xf32>) -> tensor<64xf32> attributes {hloom.kind = "loop"} {
  %0 = stablehlo.cosine %x : tensor<64xf32>
  return %0 : tensor<64xf32>
}
func.func private @g(%x: tensor<64xf32>, %y: tensor<64xf32>) -> tensor<64xf32> attributes {hloom.kind = "reduce"} {
  %0 = stablehlo.add %x, %y : tensor<64xf32>
  return %0 : tensor<64xf32>
}
