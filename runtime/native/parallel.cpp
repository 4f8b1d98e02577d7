// The CPU's parallel-for. A kernel is `fn(lo, hi, buffers)`: it runs tiles [lo, hi) of its linearised tile loop.
#include <cstdint>
#include <omp.h>

using TileFn = void (*)(int64_t lo, int64_t hi, void **buffers);

extern "C" {

// Splits [0, tiles) into one contiguous chunk a thread, each at least `grain` tiles.
void hloom_parallel_for(TileFn fn, int64_t tiles, int64_t grain, void **buffers) {
  int64_t wanted = grain > 0 ? tiles / grain : tiles;
  int64_t limit = omp_get_max_threads();
  int threads = static_cast<int>(wanted < limit ? (wanted < 1 ? 1 : wanted) : limit);
  if (threads == 1) {
    fn(0, tiles, buffers);
    return;
  }
#pragma omp parallel num_threads(threads)
  {
    int64_t t = omp_get_thread_num(), n = omp_get_num_threads();
    int64_t lo = tiles * t / n, hi = tiles * (t + 1) / n;
    if (lo < hi) fn(lo, hi, buffers);
  }
}

void hloom_set_threads(int threads) { omp_set_num_threads(threads); }
int hloom_get_threads() { return omp_get_max_threads(); }
}
