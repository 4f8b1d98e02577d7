// RUN: hloom-compile %s --function=rows --target=sm_90a --to=ptx | filecheck %s --check-prefix=ROWS
// RUN: hloom-compile %s --function=elementwise --target=sm_90a --to=ptx | filecheck %s --check-prefix=ELEMENTWISE
// RUN: hloom-compile %s --function=product --target=sm_80 --to=ptx | filecheck %s --check-prefix=PRODUCT
// RUN: hloom-compile %s --function=product --target=sm_90a --to=ptx | filecheck %s --check-prefix=WARPGROUP
// RUN: hloom-compile %s --function=unaligned --target=sm_90a --to=ptx | filecheck %s --check-prefix=BY-THREADS
// RUN: hloom-compile %s --function=transposed --target=sm_80 --to=ptx | filecheck %s --check-prefix=TRANSPOSED
// RUN: hloom-compile %s --function=one_row --target=sm_90a --to=ptx | filecheck %s --check-prefix=ONE-ROW

// 16 bytes a load and a store, the sum of a row by shuffles, nothing in local memory.
// ROWS: .target sm_90a
// ROWS: .entry fusion_0
// ROWS-NOT: .local
// ROWS: ld.global{{(\.nc)?}}.v{{[24]}}
// ROWS: shfl.sync.bfly
// ROWS: st.global.v{{[24]}}
// ROWS-NOT: .local
func.func @rows(%x: tensor<4096x1024xf32>) -> tensor<4096x1024xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4096x1024xf32>, tensor<f32>) -> tensor<4096xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4096xf32>) -> tensor<4096x1024xf32>
  %r = stablehlo.subtract %x, %b : tensor<4096x1024xf32>
  return %r : tensor<4096x1024xf32>
}

// ELEMENTWISE: ld.global{{(\.nc)?}}.v{{[24]}}
// ELEMENTWISE: st.global.v{{[24]}}
func.func @elementwise(%x: tensor<4096x1024xf16>, %y: tensor<4096x1024xf16>) -> tensor<4096x1024xf16> {
  %r = stablehlo.multiply %x, %y : tensor<4096x1024xf16>
  return %r : tensor<4096x1024xf16>
}

// Tensor cores fed by asynchronous copies, the bias in the epilogue: one kernel.
// PRODUCT: cp.async.cg.shared.global
// PRODUCT: ldmatrix.sync.aligned.m8n8.x4
// PRODUCT: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
// PRODUCT-NOT: .entry
// On sm_90a by warp groups, from tiles that TMA fetches: tensor maps are parameters by value; the left operand is contiguous along k, the
// right one is not, which is the last number of the instruction.
// WARPGROUP: .param .align 64 .b8 fusion_0_param_4[128]
// WARPGROUP: .shared .align 1024
// WARPGROUP-NOT: .local
// WARPGROUP: cvta.param.u64
// WARPGROUP: mbarrier.init.shared
// WARPGROUP: fence.mbarrier_init.release.cluster;
// WARPGROUP: bar.sync 0;
// WARPGROUP: mbarrier.arrive.expect_tx.shared
// WARPGROUP: cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes
// WARPGROUP: mbarrier.try_wait.parity.shared
// WARPGROUP: wgmma.fence.sync.aligned;
// WARPGROUP: wgmma.mma_async.sync.aligned.m64n32k16.f32.f16.f16 {{.*}}, p, 1, 1, 0, 1;
// WARPGROUP: wgmma.commit_group.sync.aligned;
// WARPGROUP: wgmma.wait_group.sync.aligned 1;
// WARPGROUP: wgmma.wait_group.sync.aligned 0;
// WARPGROUP: st.global
// WARPGROUP-NOT: mma.sync
// Rows of 132 bytes are copied by the threads: what they wrote is shown to the async proxy, through which wgmma reads.
// BY-THREADS: cp.async.wait_group
// BY-THREADS-NEXT: fence.proxy.async.shared::cta;
// BY-THREADS-NEXT: bar.sync 0;
// BY-THREADS: wgmma.mma_async
func.func @product(%x: tensor<64x128xf16>, %w: tensor<128x64xf16>, %b: tensor<64xf32>) -> tensor<64x64xf32> {
  %d = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x128xf16>, tensor<128x64xf16>) -> tensor<64x64xf32>
  %c = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<64xf32>) -> tensor<64x64xf32>
  %r = stablehlo.add %d, %c : tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

func.func @unaligned(%x: tensor<64x66xf16>, %w: tensor<66x66xf16>) -> tensor<64x66xf32> {
  %d = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x66xf16>, tensor<66x66xf16>) -> tensor<64x66xf32>
  return %d : tensor<64x66xf32>
}

// Through shared memory, both ways whole sectors.
// TRANSPOSED: .target sm_80
// TRANSPOSED: ld.global
// TRANSPOSED: st.shared
// TRANSPOSED: bar.sync
// TRANSPOSED: ld.shared
// TRANSPOSED: st.global
func.func @transposed(%x: tensor<512x768xf32>) -> tensor<768x512xf32> {
  %r = stablehlo.transpose %x, dims = [1, 0] : (tensor<512x768xf32>) -> tensor<768x512xf32>
  return %r : tensor<768x512xf32>
}

// Half-precision weights are read as they are, 16 bytes a load.
// ONE-ROW: ld.global{{(\.nc)?}}.v{{[24]}}
// ONE-ROW: shfl.sync
func.func @one_row(%x: tensor<1x1024xf16>, %w: tensor<512x1024xf16>) -> tensor<1x512xf32> {
  %d = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<1x1024xf16>, tensor<512x1024xf16>) -> tensor<1x512xf32>
  return %d : tensor<1x512xf32>
}
