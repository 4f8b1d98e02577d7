// RUN: hloom-opt %s --masked-bf16-as-bits | filecheck %s

// Changed: bf16 under a mask; f32 beside it stays.
// CHECK-LABEL: llvm.func @moves
// CHECK: %[[L:.*]] = llvm.intr.masked.load %{{.*}}, %{{.*}}, %{{.*}} {alignment = 2 : i32} : (!llvm.ptr, vector<64xi1>, vector<64xi16>) -> vector<64xi16>
// CHECK: %[[X:.*]] = llvm.bitcast %[[L]] : vector<64xi16> to vector<64xbf16>
// CHECK: %[[S:.*]] = llvm.bitcast %[[X]] : vector<64xbf16> to vector<64xi16>
// CHECK: llvm.intr.masked.store %[[S]], %{{.*}}, %{{.*}} {alignment = 2 : i32} : vector<64xi16>, vector<64xi1> into !llvm.ptr
// CHECK: llvm.intr.masked.load {{.*}} -> vector<16xf32>
llvm.func @moves(%p: !llvm.ptr, %q: !llvm.ptr, %m: vector<64xi1>, %n: vector<16xi1>, %zero: vector<64xbf16>, %f: vector<16xf32>) -> vector<16xf32> {
  %x = llvm.intr.masked.load %p, %m, %zero {alignment = 2 : i32} : (!llvm.ptr, vector<64xi1>, vector<64xbf16>) -> vector<64xbf16>
  llvm.intr.masked.store %x, %q, %m {alignment = 2 : i32} : vector<64xbf16>, vector<64xi1> into !llvm.ptr
  %y = llvm.intr.masked.load %p, %n, %f {alignment = 4 : i32} : (!llvm.ptr, vector<16xi1>, vector<16xf32>) -> vector<16xf32>
  llvm.return %y : vector<16xf32>
}

// Unchanged: No mask.
// CHECK-LABEL: llvm.func @whole
// CHECK-NEXT: %[[X:.*]] = llvm.load %arg0 : !llvm.ptr -> vector<64xbf16>
// CHECK-NEXT: llvm.return %[[X]]
llvm.func @whole(%p: !llvm.ptr) -> vector<64xbf16> {
  %x = llvm.load %p : !llvm.ptr -> vector<64xbf16>
  llvm.return %x : vector<64xbf16>
}
