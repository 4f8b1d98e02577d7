// RUN: hloom-opt %s --split-input-file --lower-thunks | filecheck %s

// Changed: Small kernels are called, large ones shared among threads; in a loop the pointers are set up before it.
// CHECK-NOT: memref.global
// CHECK: llvm.func @small(i64, i64, !llvm.ptr)
// CHECK: llvm.func @large(i64, i64, !llvm.ptr)
// CHECK: llvm.func @hloom_parallel_for(!llvm.ptr, i64, i64, !llvm.ptr)
// CHECK: llvm.func @hloom_main(%[[BUFFERS:.*]]: !llvm.ptr) {
// CHECK-COUNT-2: llvm.alloca
// CHECK: llvm.br ^[[START:.*]]
// CHECK-NEXT: ^[[START]]:
// CHECK-NOT: llvm.alloca
// CHECK: llvm.store volatile
// CHECK: llvm.call @small(%{{.*}}, %{{.*}}, %{{.*}}) {no_inline} : (i64, i64, !llvm.ptr) -> ()
// CHECK: ^[[TEST:.*]](%[[I:.*]]: i64):
// CHECK-NEXT: %[[MORE:.*]] = llvm.icmp "slt" %[[I]]
// CHECK-NEXT: llvm.cond_br %[[MORE]], ^[[BODY:.*]], ^[[AFTER:.*]]
// CHECK-NEXT: ^[[BODY]]:
// CHECK-NEXT: llvm.call @hloom_parallel_for(
// CHECK-NEXT: %[[NEXT:.*]] = llvm.add %[[I]]
// CHECK-NEXT: llvm.br ^[[TEST]](%[[NEXT]] : i64)
// CHECK-NEXT: ^[[AFTER]]:
// CHECK-NEXT: llvm.return
// CHECK-NOT: thunk
memref.global "private" constant @constant_0 : memref<8xf32> = dense<1.0>
llvm.func @small(i64, i64, !llvm.ptr) attributes {hloom.tiles = 1 : i64}
llvm.func @large(i64, i64, !llvm.ptr) attributes {hloom.tiles = 64 : i64}
"thunk.program"() ({
  "thunk.kernel"() {callee = @small, cost_ps = 100 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64: 0, 0, 32>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
  "thunk.for"() ({
    "thunk.kernel"() {callee = @large, cost_ps = 80000000 : i64, grain = 0 : i64, tiles = -1 : i64, reads = array<i64: 3, 0, 32>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
  }) {trip_count = 3 : i64} : () -> ()
}) {arena_bytes = 0 : i64, argument_bytes = array<i64: 32>, constants = [@constant_0], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()

// -----

// Changed: A while reads its predicate from memory, a case its index; the last branch is the default.
// CHECK: llvm.func @hloom_init
// CHECK: llvm.br
// CHECK: llvm.br ^[[TEST:.*]]
// CHECK-NEXT: ^[[TEST]]:
// CHECK-NEXT: "llvm.intr.memset"
// CHECK-NEXT: %[[P:.*]] = llvm.load {{.*}} -> i8
// CHECK-NEXT: %[[HOLDS:.*]] = llvm.icmp "ne" %[[P]]
// CHECK-NEXT: llvm.cond_br %[[HOLDS]], ^[[BODY:.*]], ^[[AFTER:.*]]
// CHECK-NEXT: ^[[BODY]]:
// CHECK-NEXT: "llvm.intr.memcpy"
// CHECK-NEXT: llvm.br ^[[TEST]]
// CHECK-NEXT: ^[[AFTER]]:
// CHECK-NEXT: %[[INDEX:.*]] = llvm.load {{.*}} -> i32
// CHECK-NEXT: llvm.switch %[[INDEX]] : i32, ^[[LAST:.*]] [
// CHECK-NEXT: 0: ^[[FIRST:.*]]
// CHECK-NEXT: ]
// CHECK: ^[[LAST]]:
"thunk.program"() ({
  "thunk.while"() ({
    "thunk.fill"() {pattern = array<i8: 0, 0>, writes = array<i64: 2, 0, 2>} : () -> ()
  }, {
    "thunk.copy"() {reads = array<i64: 0, 0, 4>, writes = array<i64: 1, 0, 4>} : () -> ()
  }) {reads = array<i64: 2, 0, 1>} : () -> ()
  "thunk.case"() ({
    "thunk.sequence"() ({
    }) : () -> ()
    "thunk.sequence"() ({
      "thunk.copy"() {reads = array<i64: 0, 0, 4>, writes = array<i64: 1, 0, 4>} : () -> ()
    }) : () -> ()
  }) {reads = array<i64: 0, 0, 4>} : () -> ()
}) {arena_bytes = 64 : i64, argument_bytes = array<i64: 4>, constants = [], result_bytes = array<i64: 4>, signature = (tensor<i32>) -> tensor<i32>, sym_name = "init", value_attributes = [{}, {}]} : () -> ()

// -----

// Unchanged: No program: nothing to do.
// CHECK: module {
// CHECK-NEXT: llvm.func @small(i64, i64, !llvm.ptr)
// CHECK-NEXT: }
llvm.func @small(i64, i64, !llvm.ptr)

// -----

// Changed: odd turns run the tiles of what is read to and fro from the last to the first, one at a time, alone or each thread its share.
// CHECK: llvm.func @alone.back(%[[LOW:.*]]: i64, %[[HIGH:.*]]: i64, %[[BUFFERS:.*]]: !llvm.ptr) {
// CHECK: llvm.br ^[[TEST:.*]](%[[HIGH]] : i64)
// CHECK: ^[[TEST]](%[[END:.*]]: i64):
// CHECK: llvm.icmp "slt" %[[LOW]], %[[END]]
// CHECK: %[[START:.*]] = llvm.sub %[[END]]
// CHECK: llvm.call @alone(%[[START]], %[[END]], %[[BUFFERS]])
// CHECK: llvm.br ^[[TEST]](%[[START]] : i64)
// CHECK: llvm.func @shared.back
// CHECK: llvm.func @hloom_main
// CHECK: %[[ODD:.*]] = llvm.trunc %{{.*}} : i64 to i1
// CHECK: %[[ONE:.*]] = llvm.select %[[ODD]]
// CHECK: llvm.call %[[ONE]](
// CHECK: %[[OTHER:.*]] = llvm.select
// CHECK: llvm.call @hloom_parallel_for(%[[OTHER]],
// Unchanged: of one tile.
// CHECK: llvm.call @single(
llvm.func @alone(i64, i64, !llvm.ptr) attributes {hloom.tiles = 64 : i64}
llvm.func @shared(i64, i64, !llvm.ptr) attributes {hloom.tiles = 64 : i64}
llvm.func @single(i64, i64, !llvm.ptr) attributes {hloom.tiles = 1 : i64}
"thunk.program"() ({
  "thunk.for"() ({
    "thunk.kernel"() {callee = @alone, cost_ps = 100 : i64, grain = 0 : i64, tiles = -1 : i64, hloom.to_and_fro, reads = array<i64: 0, 0, 32>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
    "thunk.kernel"() {callee = @shared, cost_ps = 80000000 : i64, grain = 0 : i64, tiles = -1 : i64, hloom.to_and_fro, reads = array<i64: 0, 0, 32>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
    "thunk.kernel"() {callee = @single, cost_ps = 100 : i64, grain = 0 : i64, tiles = -1 : i64, hloom.to_and_fro, reads = array<i64: 0, 0, 32>, writes = array<i64: 1, 0, 32>, source = []} : () -> ()
  }) {trip_count = 3 : i64} : () -> ()
}) {arena_bytes = 0 : i64, argument_bytes = array<i64: 32>, constants = [], result_bytes = array<i64: 32>, signature = (tensor<8xf32>) -> tensor<8xf32>, sym_name = "main", value_attributes = [{}, {}]} : () -> ()
