// RUN: hloom-opt %s --tensor-map-parameters | filecheck %s

!map = !nvgpu.tensormap.descriptor<tensor = memref<64x64xf16, #gpu.address_space<workgroup>>, swizzle = swizzle_128b, l2promo = none, oob = zero, interleave = none>

gpu.module @kernels {
  // Changed: A pointer, cast to what the ops take.
  // CHECK: gpu.func @with_a_map(%arg0: memref<64xf16>, %arg1: !llvm.ptr) kernel
  // CHECK-NEXT: %[[MAP:.*]] = builtin.unrealized_conversion_cast %arg1 : !llvm.ptr to !nvgpu.tensormap.descriptor
  // CHECK-NEXT: nvgpu.tma.prefetch.descriptor %[[MAP]]
  gpu.func @with_a_map(%out: memref<64xf16>, %m: !map) kernel {
    nvgpu.tma.prefetch.descriptor %m : !map
    gpu.return
  }
  // Declined: Parameters of other types.
  // CHECK: gpu.func @without(%arg0: memref<64xf16>) kernel {
  // CHECK-NEXT: gpu.return
  gpu.func @without(%out: memref<64xf16>) kernel {
    gpu.return
  }
}

// Unchanged: No parameter.
// CHECK: gpu.module @others {
// CHECK-NEXT: gpu.func @nothing() kernel {
// CHECK-NEXT: gpu.return
gpu.module @others {
  gpu.func @nothing() kernel {
    gpu.return
  }
}
