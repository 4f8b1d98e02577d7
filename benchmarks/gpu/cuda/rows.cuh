// What softmax.cu and layernorm.cu share: a warp holds a row in its registers.
#pragma once
#include <cuda_runtime.h>

constexpr int LANES = 32, WARPS = 4; // warps of a block, a row each
constexpr int MOST = 1024;           // columns

__device__ __forceinline__ float warp_sum(float x) {
#pragma unroll
  for (int step = LANES / 2; step; step /= 2) x += __shfl_xor_sync(~0u, x, step);
  return x;
}

__device__ __forceinline__ float warp_max(float x) {
#pragma unroll
  for (int step = LANES / 2; step; step /= 2) x = fmaxf(x, __shfl_xor_sync(~0u, x, step));
  return x;
}

// A lane's part of a row. WIDE: COUNT / 4 accesses of 128 bits (columns == 32 * COUNT); else COUNT of 32 bits, masked at the row's end.
template <int COUNT, bool WIDE> struct Row {
  float at[COUNT];

  __device__ __forceinline__ void load(const float *from, int lane, int columns, float otherwise) {
    if constexpr (WIDE) {
#pragma unroll
      for (int i = 0; i < COUNT / 4; i++) {
        float4 four = __ldg(reinterpret_cast<const float4 *>(from) + i * LANES + lane);
        at[4 * i] = four.x, at[4 * i + 1] = four.y, at[4 * i + 2] = four.z, at[4 * i + 3] = four.w;
      }
    } else {
#pragma unroll
      for (int i = 0; i < COUNT; i++) at[i] = i * LANES + lane < columns ? __ldg(from + i * LANES + lane) : otherwise;
    }
  }

  __device__ __forceinline__ void store(float *to, int lane, int columns) const {
    if constexpr (WIDE) {
#pragma unroll
      for (int i = 0; i < COUNT / 4; i++)
        reinterpret_cast<float4 *>(to)[i * LANES + lane] = make_float4(at[4 * i], at[4 * i + 1], at[4 * i + 2], at[4 * i + 3]);
    } else {
#pragma unroll
      for (int i = 0; i < COUNT; i++)
        if (i * LANES + lane < columns) to[i * LANES + lane] = at[i];
    }
  }

  // Whether element i of this lane belongs to the row.
  __device__ __forceinline__ static bool inside(int i, int lane, int columns) { return WIDE || i * LANES + lane < columns; }
};

inline unsigned blocks_of(long rows) { return static_cast<unsigned>((rows + WARPS - 1) / WARPS); }
