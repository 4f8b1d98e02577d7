#include <math.h>
#include <stdint.h>
#include <string.h>

enum { BLOCK = 512 }; /* environments whose state a thread holds in its first-level cache */

typedef struct {
  float x[BLOCK], v[BLOCK], angle[BLOCK], spin[BLOCK], ended[BLOCK], cosine[BLOCK];
} Block;

static void load(Block *s, const float *state, long first, long count) {
  float *to[4] = {s->x, s->v, s->angle, s->spin};
  for (int k = 0; k < 4; k++) memcpy(to[k], state + k * count + first, BLOCK * sizeof(float));
  memset(s->ended, 0, sizeof s->ended);
}

static void store(const Block *s, float *state, float *ended, long first, long count) {
  const float *from[4] = {s->x, s->v, s->angle, s->spin};
  for (int k = 0; k < 4; k++) memcpy(state + k * count + first, from[k], BLOCK * sizeof(float));
  memcpy(ended + first, s->ended, sizeof s->ended);
}

/* In a loop of its own: gcc would join it with the sine to a call of sincosf, which has no vector form. */
static inline void cosines(Block *s) {
#pragma omp simd
  for (long e = 0; e < BLOCK; e++) s->cosine[e] = cosf(s->angle[e]);
}

/* One environment's step; a macro, so that gcc sees one loop over plain arrays. Products with 0 and 1 are exact, and no branches. */
#define STEP(s, e, random, x0, v0, angle0, spin0)                                                                                 \
  do {                                                                                                                            \
    float x = (s).x[e], v = (s).v[e], angle = (s).angle[e], spin = (s).spin[e], cosine = (s).cosine[e], sine = sinf(angle);       \
    float force = (random) > 0.5f ? 10.0f : -10.0f;                                                                               \
    float push = (force + 0.05f * spin * spin * sine) / 1.1f;                                                                     \
    float torque = (9.8f * sine - cosine * push) / (0.5f * (4.0f / 3.0f - 0.1f * cosine * cosine / 1.1f));                        \
    float pull = push - 0.05f * torque * cosine / 1.1f;                                                                           \
    x += 0.02f * v, v += 0.02f * pull, angle += 0.02f * spin, spin += 0.02f * torque;                                             \
    float far = fabsf(x) > 2.4f ? 1.0f : 0.0f, done = fabsf(angle) > 0.20943951f ? 1.0f : far, alive = 1.0f - done;               \
    (s).x[e] = alive * x + done * (x0);                                                                                           \
    (s).v[e] = alive * v + done * (v0);                                                                                           \
    (s).angle[e] = alive * angle + done * (angle0);                                                                               \
    (s).spin[e] = alive * spin + done * (spin0);                                                                                  \
    (s).ended[e] += done;                                                                                                         \
  } while (0)

void cartpole(const float *state, const float *random, const float *reset, float *after, float *ended, long steps, long count) {
#pragma omp parallel for
  for (long first = 0; first < count; first += BLOCK) {
    Block s;
    load(&s, state, first, count);
    for (long t = 0; t < steps; t++) {
      const float *now = random + t * count + first, *r = reset + first;
      cosines(&s);
#pragma omp simd
      for (long e = 0; e < BLOCK; e++) STEP(s, e, now[e], r[e], r[count + e], r[2 * count + e], r[3 * count + e]);
    }
    store(&s, after, ended, first, count);
  }
}

static inline uint32_t rotate(uint32_t x, int by) { return x << by | x >> (32 - by); }

#define ROUNDS(a, b, c, d)                                                                                                        \
  x0 += x1, x1 = rotate(x1, a) ^ x0, x0 += x1, x1 = rotate(x1, b) ^ x0, x0 += x1, x1 = rotate(x1, c) ^ x0, x0 += x1,              \
      x1 = rotate(x1, d) ^ x0

/* threefry2x32 of the counter (0, low), as JAX has it. */
static inline void threefry(uint32_t k0, uint32_t k1, uint32_t low, uint32_t *out0, uint32_t *out1) {
  uint32_t k2 = k0 ^ k1 ^ 466688986u, x0 = k0, x1 = low + k1;
  ROUNDS(13, 15, 26, 6);
  x0 += k1, x1 += k2 + 1;
  ROUNDS(17, 29, 16, 24);
  x0 += k2, x1 += k0 + 2;
  ROUNDS(13, 15, 26, 6);
  x0 += k0, x1 += k1 + 3;
  ROUNDS(17, 29, 16, 24);
  x0 += k1, x1 += k2 + 4;
  ROUNDS(13, 15, 26, 6);
  *out0 = x0 + k2;
  *out1 = x1 + k0 + 5;
}

static inline float uniform(uint32_t k0, uint32_t k1, uint32_t at, float low, float high) {
  union {
    uint32_t bits;
    float value;
  } u;
  uint32_t a, b;
  threefry(k0, k1, at, &a, &b);
  u.bits = (a ^ b) >> 9 | 0x3f800000u;
  return fmaxf((u.value - 1.0f) * (high - low) + low, low);
}

void cartpole_rng(const float *state, const uint32_t *key, float *after, float *ended, long steps, long count) {
#pragma omp parallel for
  for (long first = 0; first < count; first += BLOCK) {
    Block s;
    uint32_t k0 = key[0], k1 = key[1], n = (uint32_t)count;
    load(&s, state, first, count);
    for (long t = 0; t < steps; t++) {
      uint32_t next0, next1, a0, a1, r0, r1;
      threefry(k0, k1, 0, &next0, &next1);
      threefry(k0, k1, 1, &a0, &a1);
      threefry(k0, k1, 2, &r0, &r1);
      cosines(&s);
#pragma omp simd
      for (uint32_t e = 0; e < BLOCK; e++) {
        uint32_t at = (uint32_t)first + e;
        STEP(s, e, uniform(a0, a1, at, 0, 1), uniform(r0, r1, at, -0.05f, 0.05f), uniform(r0, r1, n + at, -0.05f, 0.05f),
             uniform(r0, r1, 2 * n + at, -0.05f, 0.05f), uniform(r0, r1, 3 * n + at, -0.05f, 0.05f));
      }
      k0 = next0, k1 = next1;
    }
    store(&s, after, ended, first, count);
  }
}
