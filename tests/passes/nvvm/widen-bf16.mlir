// RUN: hloom-opt %s --widen-bf16 | filecheck %s

// Changed: What is rounded and read again: two at a time. The rounded vector itself stays for who stores it.
// CHECK-LABEL: llvm.func @rounded
// CHECK: %[[R:.*]] = llvm.fptrunc %arg0
// CHECK: %[[P:.*]] = llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn"(%{{.*}}, %{{.*}}) : (f32, f32) -> vector<2xbf16>
// CHECK: llvm.bitcast %[[P]] : vector<2xbf16> to i32
// CHECK: llvm.call_intrinsic
// CHECK: %[[LOW:.*]] = llvm.shl
// CHECK: %[[HIGH:.*]] = llvm.and
// CHECK: llvm.shufflevector %{{.*}}, %{{.*}} [0, 2, 1, 3] : vector<2xf32>
// CHECK: llvm.store %[[R]]
llvm.func @rounded(%x: vector<4xf32>, %p: !llvm.ptr) -> vector<4xf32> {
  %r = llvm.fptrunc %x : vector<4xf32> to vector<4xbf16>
  %y = llvm.fpext %r : vector<4xbf16> to vector<4xf32>
  llvm.store %r, %p : vector<4xbf16>, !llvm.ptr
  llvm.return %y : vector<4xf32>
}

// Changed: What is read, from its words.
// CHECK-LABEL: llvm.func @read
// CHECK: llvm.bitcast %{{.*}} : vector<4xbf16> to vector<2xi32>
// CHECK-NOT: llvm.fpext
llvm.func @read(%p: !llvm.ptr) -> vector<4xf32> {
  %x = llvm.load %p : !llvm.ptr -> vector<4xbf16>
  %y = llvm.fpext %x : vector<4xbf16> to vector<4xf32>
  llvm.return %y : vector<4xf32>
}

// Declined: Single elements, odd vectors, other types.
// CHECK-LABEL: llvm.func @others
// CHECK-COUNT-3: llvm.fpext
llvm.func @others(%a: bf16, %b: vector<3xbf16>, %c: vector<4xf16>) -> (vector<4xf32>) {
  %x = llvm.fpext %a : bf16 to f32
  %y = llvm.fpext %b : vector<3xbf16> to vector<3xf32>
  %z = llvm.fpext %c : vector<4xf16> to vector<4xf32>
  llvm.return %z : vector<4xf32>
}

// Unchanged: No bf16.
// CHECK-LABEL: llvm.func @none
// CHECK-NEXT: llvm.return
llvm.func @none() {
  llvm.return
}
