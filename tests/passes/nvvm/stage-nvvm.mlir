// RUN: hloom-opt %s --stage-nvvm | filecheck %s

// The host program beside the kernels is left alone.
// CHECK: func.func private @host(memref<4xf32>)
func.func private @host(memref<4xf32>)

// CHECK-LABEL: gpu.module @kernels
// CHECK: llvm.mlir.global external @__dynamic_shmem__{{.*}}() {addr_space = 3 : i32, alignment = 1024 : i64
gpu.module @kernels {
  // 128-bit accesses keep their alignment, exp is libdevice's, the attributes of the arguments and the bounds of the launch stay.
  // CHECK-LABEL: llvm.func @elementwise(
  // CHECK-SAME: %{{.*}}: !llvm.ptr {llvm.noalias, llvm.readonly}, %{{.*}}: !llvm.ptr {llvm.noalias})
  // CHECK-SAME: hloom.shared_bytes = 0
  // CHECK-SAME: nvvm.kernel
  // CHECK-SAME: nvvm.maxntid = array<i32: 128, 1, 1>
  // CHECK: nvvm.read.ptx.sreg.ctaid.x range <i32, 0, 8>
  // CHECK: llvm.load %{{.*}} {alignment = 16 : i64} : !llvm.ptr -> vector<4xf32>
  // CHECK-COUNT-4: llvm.call @__nv_expf
  // CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64} : vector<4xf32>, !llvm.ptr
  gpu.func @elementwise(%a: memref<4096xf32> {llvm.noalias, llvm.readonly}, %out: memref<4096xf32> {llvm.noalias}) kernel
      attributes {known_block_size = array<i32: 128, 1, 1>, known_grid_size = array<i32: 8, 1, 1>, hloom.shared_bytes = 0 : i64} {
    %b = gpu.block_id x
    %t = gpu.thread_id x
    %c512 = arith.constant 512 : index
    %c4 = arith.constant 4 : index
    %0 = arith.muli %b, %c512 : index
    %1 = arith.muli %t, %c4 : index
    %2 = arith.addi %0, %1 : index
    %v = vector.load %a[%2] {alignment = 16 : i64} : memref<4096xf32>, vector<4xf32>
    %e = math.exp %v : vector<4xf32>
    vector.store %e, %out[%2] {alignment = 16 : i64} : memref<4096xf32>, vector<4xf32>
    gpu.return
  }

  // A reduction over the lanes of a warp, in bf16: shuffled as words.
  // CHECK-LABEL: llvm.func @warp(
  // CHECK: nvvm.shfl.sync bfly {{.*}} : i32 -> i32
  // CHECK: llvm.fadd %{{.*}}, %{{.*}} : bf16
  gpu.func @warp(%a: memref<32xbf16>, %out: memref<32xbf16>) kernel attributes {known_block_size = array<i32: 32, 1, 1>} {
    %t = gpu.thread_id x
    %v = memref.load %a[%t] : memref<32xbf16>
    %one = arith.constant 1 : i32
    %width = arith.constant 32 : i32
    %s, %ok = gpu.shuffle xor %v, %one, %width : bf16
    %r = arith.addf %v, %s : bf16
    memref.store %r, %out[%t] : memref<32xbf16>
    gpu.return
  }

  // Dynamic shared memory is an external symbol (above); a sine has no table in local memory.
  // CHECK-LABEL: llvm.func @sine(
  // CHECK: llvm.mlir.addressof @__dynamic_shmem__
  // CHECK: nvvm.barrier
  // CHECK-NOT: __nv_sinf
  // CHECK: llvm.return
  gpu.func @sine(%a: memref<128xf32>, %out: memref<128xf32>) kernel attributes {known_block_size = array<i32: 128, 1, 1>} {
    %t = gpu.thread_id x
    %c0 = arith.constant 0 : index
    %all = gpu.dynamic_shared_memory : memref<?xi8, #gpu.address_space<workgroup>>
    %s = memref.view %all[%c0][] : memref<?xi8, #gpu.address_space<workgroup>> to memref<128xf32, #gpu.address_space<workgroup>>
    %v = memref.load %a[%t] : memref<128xf32>
    %y = math.sin %v : f32
    memref.store %y, %s[%t] : memref<128xf32, #gpu.address_space<workgroup>>
    gpu.barrier
    %w = memref.load %s[%c0] : memref<128xf32, #gpu.address_space<workgroup>>
    memref.store %w, %out[%t] : memref<128xf32>
    gpu.return
  }
}
