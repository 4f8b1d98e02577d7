// The CPU's parallel-for. A kernel is `fn(lo, hi, buffers)`: it runs tiles [lo, hi) of its linearised tile loop.
#include <atomic>
#include <cstdint>
#include <omp.h>

using TileFn = void (*)(int64_t lo, int64_t hi, void **buffers);

namespace {
// OpenMP keeps its thread count per calling thread; hloom's is one for the process, whichever thread calls an executable.
std::atomic<int> thread_limit{0};
}  // namespace

extern "C" {

int hloom_get_threads() {
  int limit = thread_limit.load(std::memory_order_relaxed);
  return limit > 0 ? limit : omp_get_max_threads();
}

// 0 goes back to OpenMP's own choice (OMP_NUM_THREADS, or the CPUs this process may run on).
void hloom_set_threads(int threads) { thread_limit.store(threads, std::memory_order_relaxed); }

// Splits [0, tiles) into one contiguous chunk a thread, each at least `grain` tiles.
void hloom_parallel_for(TileFn fn, int64_t tiles, int64_t grain, void **buffers) {
  int64_t wanted = grain > 0 ? tiles / grain : tiles;
  int64_t limit = hloom_get_threads();
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

}
