// RUN: hloom-opt %s --emit-thunks="profile=true" | filecheck %s

// CHECK: "thunk.profile_begin"() {id = 0 : i64, label = "add x; tanh"}
// CHECK-NEXT: "thunk.kernel"()
// CHECK-NEXT: "thunk.profile_end"() {id = 0 : i64}
// CHECK-NEXT: "thunk.profile_begin"() {id = 1 : i64, label = "lhlo.copy"}
// CHECK-NEXT: "thunk.copy"()
// CHECK-NEXT: "thunk.profile_end"() {id = 1 : i64}
func.func @main(%a: memref<8xf32>, %out: memref<8xf32>, %arena: memref<0xi8>) attributes {hloom.signature = (tensor<8xf32>) -> tensor<8xf32>} {
  %0 = "lhlo.ref"(%out) : (memref<8xf32>) -> !lhlo.buffer
  "lhlo.fusion"(%0) {callee = @make, inplace = array<i64>, source = ["add x", "tanh"], operandSegmentSizes = array<i32: 0, 1>} : (!lhlo.buffer) -> ()
  "lhlo.copy"(%a, %out) : (memref<8xf32>, memref<8xf32>) -> ()
  return
}
func.func private @make(index, index, memref<8xf32>)
