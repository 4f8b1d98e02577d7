// RUN: hloom-opt %s --wrap-kernels --split-input-file | filecheck %s

// Changed: A body gets a function that loads its pointers from the array of buffers; the module goes.
// Declined: What has no tiles moves as it is.
// CHECK-LABEL: llvm.func @host()
// CHECK-NOT: module
// CHECK: llvm.func @hloom_helper()
// CHECK-NEXT: llvm.func internal @scaled_body(%{{.*}}: i64, %{{.*}}: i64, %{{.*}}: !llvm.ptr {llvm.noalias}) {
// CHECK: llvm.func @scaled(%[[LO:.*]]: i64, %[[HI:.*]]: i64, %[[BUFFERS:.*]]: !llvm.ptr) attributes {hloom.tiles = 4 : i64} {
// CHECK-NEXT: %[[AT:.*]] = llvm.getelementptr %[[BUFFERS]][0] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
// CHECK-NEXT: %[[X:.*]] = llvm.load %[[AT]] : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT: llvm.call @scaled_body(%[[LO]], %[[HI]], %[[X]]) : (i64, i64, !llvm.ptr) -> ()
// CHECK-NEXT: llvm.return
llvm.func @host() {
  llvm.return
}
module @kernels {
  llvm.func @hloom_helper()
  llvm.func @scaled_body(%lo: i64, %hi: i64, %x: !llvm.ptr {llvm.noalias}) attributes {hloom.tiles = 4 : i64} {
    llvm.return
  }
}

// -----

// Changed: A body that two kernels share gets a function for each, with its number, and is inlined into none.
// CHECK-LABEL: llvm.func internal @one_body(
// CHECK-SAME: attributes {no_inline} {
// CHECK: llvm.func @one(
// CHECK: %[[FOUR:.*]] = llvm.mlir.constant(4 : i64) : i64
// CHECK-NEXT: llvm.call @one_body(%{{.*}}, %{{.*}}, %{{.*}}, %[[FOUR]]) : (i64, i64, !llvm.ptr, i64) -> ()
// CHECK: llvm.func @two(%{{.*}}: i64, %{{.*}}: i64, %{{.*}}: !llvm.ptr) attributes {hloom.tiles = 3 : i64} {
// CHECK: %[[SIX:.*]] = llvm.mlir.constant(6 : i64) : i64
// CHECK-NEXT: llvm.call @one_body(%{{.*}}, %{{.*}}, %{{.*}}, %[[SIX]]) : (i64, i64, !llvm.ptr, i64) -> ()
llvm.func @host()
module @kernels {
  llvm.func @one_body(%lo: i64, %hi: i64, %x: !llvm.ptr {llvm.noalias}, %n: i64)
      attributes {hloom.shared = {one = {numbers = array<i64: 4>, tiles = 2 : i64}, two = {numbers = array<i64: 6>, tiles = 3 : i64}}, hloom.tiles = 2 : i64} {
    llvm.return
  }
}

// -----

// Unchanged: No kernels were set apart.
// CHECK-LABEL: llvm.func @alone() {
// CHECK-NEXT: llvm.return
llvm.func @alone() {
  llvm.return
}
