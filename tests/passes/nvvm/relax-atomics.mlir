// RUN: hloom-opt %s --relax-atomics | filecheck %s

// Changed: Both orderings of a compare and swap, and that of an addition; among the threads of the device.
// CHECK-LABEL: llvm.func @atomics
// CHECK: llvm.cmpxchg %{{.*}}, %{{.*}}, %{{.*}} syncscope("device") monotonic monotonic
// CHECK: llvm.atomicrmw add %{{.*}}, %{{.*}} syncscope("device") monotonic
llvm.func @atomics(%p: !llvm.ptr, %now: i32, %new: i32) {
  %0 = llvm.cmpxchg %p, %now, %new acq_rel monotonic : !llvm.ptr, i32
  %1 = llvm.atomicrmw add %p, %new acq_rel : !llvm.ptr, i32
  llvm.return
}

// Declined: A fence is no atomic access.
// CHECK-LABEL: llvm.func @fence
// CHECK: llvm.fence acq_rel
llvm.func @fence() {
  llvm.fence acq_rel
  llvm.return
}

// Unchanged: Plain accesses.
// CHECK-LABEL: llvm.func @plain
// CHECK-NEXT: llvm.store %{{.*}}, %{{.*}} : i32, !llvm.ptr
llvm.func @plain(%p: !llvm.ptr, %v: i32) {
  llvm.store %v, %p : i32, !llvm.ptr
  llvm.return
}
