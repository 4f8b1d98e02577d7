// A thread an environment, the loop over time inside, the state in registers. Few environments: a warp a block spreads them over the
// multiprocessors, and what counts is the latency of a step.
#include <cstdint>
#include <cuda_runtime.h>

constexpr int THREADS = 32;
constexpr int AHEAD = 20; // steps whose random numbers are loaded before those of the steps before are used

struct State {
  float x, v, angle, spin, ended;
};

__device__ __forceinline__ State load(const float *state, long e, long count) {
  return {state[e], state[count + e], state[2 * count + e], state[3 * count + e], 0};
}

__device__ __forceinline__ void store(const State &s, float *state, float *ended, long e, long count) {
  state[e] = s.x, state[count + e] = s.v, state[2 * count + e] = s.angle, state[3 * count + e] = s.spin, ended[e] = s.ended;
}

__device__ __forceinline__ void step(State &s, float random, float4 reset) {
  float sine, cosine;
  sincosf(s.angle, &sine, &cosine);
  float force = random > 0.5f ? 10.0f : -10.0f;
  float push = (force + 0.05f * s.spin * s.spin * sine) * (1 / 1.1f);
  float torque = __fdividef(9.8f * sine - cosine * push, 0.5f * (4.0f / 3.0f - (0.1f / 1.1f) * cosine * cosine));
  float pull = push - (0.05f / 1.1f) * torque * cosine;
  s.x += 0.02f * s.v, s.v += 0.02f * pull, s.angle += 0.02f * s.spin, s.spin += 0.02f * torque;
  bool done = fabsf(s.x) > 2.4f || fabsf(s.angle) > 0.20943951f;
  s.x = done ? reset.x : s.x, s.v = done ? reset.y : s.v, s.angle = done ? reset.z : s.angle, s.spin = done ? reset.w : s.spin;
  s.ended += done ? 1.0f : 0.0f;
}

__device__ __forceinline__ void fetch(float (&to)[AHEAD], const float *random, long first, long steps, long count) {
#pragma unroll
  for (int i = 0; i < AHEAD; i++) to[i] = first + i < steps ? __ldg(random + (first + i) * count) : 0;
}

__global__ void __launch_bounds__(THREADS)
    given(const float *state, const float *random, const float *reset, float *after, float *ended, long steps, long count) {
  long e = static_cast<long>(blockIdx.x) * THREADS + threadIdx.x;
  if (e >= count) return;
  State s = load(state, e, count);
  float4 fresh = make_float4(reset[e], reset[count + e], reset[2 * count + e], reset[3 * count + e]);
  float now[AHEAD], next[AHEAD];
  fetch(now, random + e, 0, steps, count);
  for (long t = 0; t < steps; t += AHEAD) {
    fetch(next, random + e, t + AHEAD, steps, count);
#pragma unroll
    for (int i = 0; i < AHEAD; i++)
      if (t + i < steps) step(s, now[i], fresh);
#pragma unroll
    for (int i = 0; i < AHEAD; i++) now[i] = next[i];
  }
  store(s, after, ended, e, count);
}

__device__ __forceinline__ void rounds(uint32_t &x0, uint32_t &x1, int a, int b, int c, int d) {
  x0 += x1, x1 = __funnelshift_l(x1, x1, a) ^ x0;
  x0 += x1, x1 = __funnelshift_l(x1, x1, b) ^ x0;
  x0 += x1, x1 = __funnelshift_l(x1, x1, c) ^ x0;
  x0 += x1, x1 = __funnelshift_l(x1, x1, d) ^ x0;
}

// threefry2x32 of the counter (0, low), as JAX has it.
__device__ __forceinline__ uint2 threefry(uint2 key, uint32_t low) {
  uint32_t k2 = key.x ^ key.y ^ 466688986u, x0 = key.x, x1 = low + key.y;
  rounds(x0, x1, 13, 15, 26, 6);
  x0 += key.y, x1 += k2 + 1;
  rounds(x0, x1, 17, 29, 16, 24);
  x0 += k2, x1 += key.x + 2;
  rounds(x0, x1, 13, 15, 26, 6);
  x0 += key.x, x1 += key.y + 3;
  rounds(x0, x1, 17, 29, 16, 24);
  x0 += key.y, x1 += k2 + 4;
  rounds(x0, x1, 13, 15, 26, 6);
  return make_uint2(x0 + k2, x1 + key.x + 5);
}

__device__ __forceinline__ float uniform(uint2 key, uint32_t at, float low, float high) {
  uint2 bits = threefry(key, at);
  float value = __uint_as_float((bits.x ^ bits.y) >> 9 | 0x3f800000u) - 1;
  return fmaxf(value * (high - low) + low, low);
}

__device__ __forceinline__ uint2 of_lane(uint2 value, int lane) {
  return make_uint2(__shfl_sync(~0u, value.x, lane), __shfl_sync(~0u, value.y, lane));
}

__global__ void __launch_bounds__(THREADS)
    generated(const float *state, const uint32_t *first_key, float *after, float *ended, long steps, long count) {
  uint32_t e = blockIdx.x * THREADS + threadIdx.x, n = count, from = min(e, n - 1); // lanes past the end help with the keys
  State s = load(state, from, count);
  uint2 key = make_uint2(first_key[0], first_key[1]);
  for (long t = 0; t < steps; t++) {
    uint2 split = threefry(key, threadIdx.x % 3);
    uint2 action = of_lane(split, 1), reset = of_lane(split, 2);
    key = of_lane(split, 0);
    float4 fresh = make_float4(uniform(reset, from, -0.05f, 0.05f), uniform(reset, n + from, -0.05f, 0.05f),
                               uniform(reset, 2 * n + from, -0.05f, 0.05f), uniform(reset, 3 * n + from, -0.05f, 0.05f));
    step(s, uniform(action, from, 0, 1), fresh);
  }
  if (e < n) store(s, after, ended, e, count);
}

static unsigned blocks_of(long count) { return static_cast<unsigned>((count + THREADS - 1) / THREADS); }

extern "C" int cartpole(const float *state, const float *random, const float *reset, float *after, float *ended, long steps, long count,
                        cudaStream_t stream) {
  given<<<blocks_of(count), THREADS, 0, stream>>>(state, random, reset, after, ended, steps, count);
  return cudaGetLastError();
}

extern "C" int cartpole_rng(const float *state, const uint32_t *key, float *after, float *ended, long steps, long count,
                            cudaStream_t stream) {
  generated<<<blocks_of(count), THREADS, 0, stream>>>(state, key, after, ended, steps, count);
  return cudaGetLastError();
}
