// What the cost model takes for granted: a node of a graph, a barrier of all blocks, arithmetic.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

__global__ void nothing() {}

__global__ void barriers(long count) {
  auto grid = cooperative_groups::this_grid();
  for (long i = 0; i < count; i++) grid.sync();
}

__global__ void __launch_bounds__(256) fmas(float *out, long count) {
  float a[8];
  for (int i = 0; i < 8; i++) a[i] = threadIdx.x + i;
  for (long j = 0; j < count; j++)
#pragma unroll
    for (int i = 0; i < 8; i++) a[i] = __fmaf_rn(a[i], 0.999f, 0.5f);
  float sum = 0;
  for (int i = 0; i < 8; i++) sum += a[i];
  if (sum == -1.0f) *out = sum;
}

// each: a function of (memory, a count, a stream)
extern "C" int launch_nothing(float *, long count, cudaStream_t stream) {
  for (long i = 0; i < count; i++) nothing<<<1, 32, 0, stream>>>();
  return cudaGetLastError();
}

extern "C" int launch_barriers(float *, long count, cudaStream_t stream) {
  int device, multiprocessors;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  void *arguments[] = {&count};
  return cudaLaunchCooperativeKernel(reinterpret_cast<void *>(barriers), dim3(multiprocessors), dim3(256), arguments, 0, stream);
}

extern "C" int launch_fmas(float *out, long count, cudaStream_t stream) {
  int device, multiprocessors;
  cudaGetDevice(&device);
  cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  fmas<<<8 * multiprocessors, 256, 0, stream>>>(out, count);
  return cudaGetLastError();
}
