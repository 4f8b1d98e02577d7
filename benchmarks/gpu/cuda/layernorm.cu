#include "rows.cuh"

template <int COUNT, bool WIDE>
__global__ void __launch_bounds__(LANES *WARPS)
    kernel(const float *x, const float *scale, const float *shift, float *out, int rows, int columns) {
  int row = blockIdx.x * WARPS + threadIdx.y, lane = threadIdx.x;
  if (row >= rows) return;
  size_t start = static_cast<size_t>(row) * columns;
  using Part = Row<COUNT, WIDE>;
  Part r;
  r.load(x + start, lane, columns, 0);
  float sum = 0, squares = 0;
#pragma unroll
  for (int i = 0; i < COUNT; i++) sum += r.at[i];
  float mean = warp_sum(sum) / columns;
#pragma unroll
  for (int i = 0; i < COUNT; i++) {
    r.at[i] = Part::inside(i, lane, columns) ? r.at[i] - mean : 0;
    squares += r.at[i] * r.at[i];
  }
  float factor = rsqrtf(warp_sum(squares) / columns + 1e-5f);
  Part s, b; // from the first-level cache: every row of the block reads the same
  s.load(scale, lane, columns, 0);
  b.load(shift, lane, columns, 0);
#pragma unroll
  for (int i = 0; i < COUNT; i++) r.at[i] = r.at[i] * factor * s.at[i] + b.at[i];
  r.store(out + start, lane, columns);
}

// Returns a cudaError_t, or -1 for rows that are too long.
extern "C" int layernorm(const float *x, const float *scale, const float *shift, float *out, long rows, long columns, cudaStream_t stream) {
  if (columns > MOST) return -1;
  dim3 block(LANES, WARPS);
  if (columns == MOST)
    kernel<MOST / LANES, true><<<blocks_of(rows), block, 0, stream>>>(x, scale, shift, out, rows, columns);
  else
    kernel<MOST / LANES, false><<<blocks_of(rows), block, 0, stream>>>(x, scale, shift, out, rows, columns);
  return cudaGetLastError();
}
