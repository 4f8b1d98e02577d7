#include "rows.cuh"

template <int COUNT, bool WIDE> __global__ void __launch_bounds__(LANES *WARPS) kernel(const float *x, float *out, int rows, int columns) {
  int row = blockIdx.x * WARPS + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;
  size_t start = static_cast<size_t>(row) * columns;
  Row<COUNT, WIDE> r;
  r.load(x + start, lane, columns, -INFINITY);
  float largest = r.at[0];
#pragma unroll
  for (int i = 1; i < COUNT; i++) largest = fmaxf(largest, r.at[i]);
  largest = warp_max(largest);
  float sum = 0;
#pragma unroll
  for (int i = 0; i < COUNT; i++) sum += r.at[i] = __expf(r.at[i] - largest);
  float scale = 1 / warp_sum(sum);
#pragma unroll
  for (int i = 0; i < COUNT; i++) r.at[i] *= scale;
  r.store(out + start, lane, columns);
}

// Returns a cudaError_t, or -1 for rows that are too long.
extern "C" int softmax(const float *x, float *out, long rows, long columns, cudaStream_t stream) {
  if (columns > MOST) return -1;
  dim3 block(LANES, WARPS);
  if (columns == MOST)
    kernel<MOST / LANES, true><<<blocks_of(rows), block, 0, stream>>>(x, out, rows, columns);
  else
    kernel<MOST / LANES, false><<<blocks_of(rows), block, 0, stream>>>(x, out, rows, columns);
  return cudaGetLastError();
}
