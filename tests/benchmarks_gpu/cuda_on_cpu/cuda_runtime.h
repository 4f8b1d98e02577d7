// As much of CUDA as the hand-written kernels use, on the CPU: a warp at a time, a thread a lane, shuffles through memory between barriers.
// For g++ -std=c++20. Launches have to be rewritten to `emulate` first.
#pragma once
#include <algorithm>
#include <barrier>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

using std::min;
using cudaStream_t = void *;
constexpr int cudaMemcpyDeviceToDevice = 3;
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  dim3(unsigned x = 1, unsigned y = 1) : x(x), y(y) {}
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct uint2 {
  uint32_t x, y;
};
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline uint2 make_uint2(uint32_t x, uint32_t y) { return {x, y}; }

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)

inline thread_local dim3 threadIdx, blockIdx;
inline thread_local int lane;
inline std::barrier<> *together;
inline uint32_t slots[32];

template <typename T> T shuffle(T value, int from) {
  std::memcpy(&slots[lane], &value, 4);
  together->arrive_and_wait();
  std::memcpy(&value, &slots[from], 4);
  together->arrive_and_wait();
  return value;
}
template <typename T> T __shfl_xor_sync(unsigned, T value, int mask) { return shuffle(value, lane ^ mask); }
template <typename T> T __shfl_sync(unsigned, T value, int from) { return shuffle(value, from); }
template <typename T> T __ldg(const T *from) { return *from; }
template <typename T> T __ldcs(const T *from) { return *from; }
template <typename T> void __stcs(T *to, T value) { *to = value; }
inline float __expf(float x) { return expf(x); }
inline float __fdividef(float a, float b) { return a / b; }
inline float rsqrtf(float x) { return 1 / sqrtf(x); }
inline uint32_t __funnelshift_l(uint32_t low, uint32_t high, int by) { return high << by | low >> (32 - by); }
inline float __uint_as_float(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  return value;
}
inline int cudaGetLastError() { return 0; }
inline int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int, cudaStream_t) { return std::memcpy(to, from, bytes), 0; }

template <typename Body> void emulate(dim3 grid, dim3 block, Body body) {
  for (unsigned b = 0; b < grid.x; b++)
    for (unsigned warp = 0; warp < block.x * block.y / 32; warp++) {
      std::barrier<> all(32);
      together = &all;
      std::vector<std::thread> threads;
      for (int l = 0; l < 32; l++)
        threads.emplace_back([&, l] {
          unsigned number = warp * 32 + l;
          lane = l, blockIdx.x = b, threadIdx.x = number % block.x, threadIdx.y = number / block.x;
          body();
          all.arrive_and_drop();
        });
      for (auto &thread : threads) thread.join();
    }
}
