// The CPU's parallel-for. A kernel is `fn(lo, hi, buffers)`: it runs tiles [lo, hi) of its linearised tile loop.
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>

#include <omp.h>
#include <pthread.h>

using TileFn = void (*)(int64_t lo, int64_t hi, void **buffers);

namespace {
// OpenMP keeps its thread count per calling thread; hloom's is one for the process, whichever thread calls an executable.
std::atomic<int> thread_limit{0};

// On a machine that others use too, a thread of the team may have to wait for a processor, and all wait for it at the end of the region:
// a call of 0.1 ms then takes 30. Where one begins so late that the calling thread could have done its part, regions run on the calling
// thread for so many times that delay: at most one part in so many is lost.
constexpr double kLeastDelay = 200e-6;  // seconds: less is a wake-up
constexpr double kAlone = 16;
std::atomic<double> alone_until{0};  // by omp_get_wtime

// One contiguous chunk a thread.
void run_parallel(TileFn fn, int64_t tiles, int threads, void **buffers) {
  const double start = omp_get_wtime();
  double own = 0, late = 0;  // when the calling thread was done, and the last one began
#pragma omp parallel num_threads(threads) reduction(max : late)
  {
    int64_t t = omp_get_thread_num(), n = omp_get_num_threads();
    int64_t lo = tiles * t / n, hi = tiles * (t + 1) / n;
    if (t) late = omp_get_wtime() - start;
    if (lo < hi) fn(lo, hi, buffers);
    if (!t) own = omp_get_wtime() - start;
  }
  if (late > kLeastDelay && late > own) alone_until.store(omp_get_wtime() + kAlone * late, std::memory_order_relaxed);
}

// libgomp keeps a pool of threads for each thread that starts parallel regions. A fork copies the forking thread with its record of the
// pool, but not the pool: in the child it would wait for threads that are not there. So there it has its regions started by another
// thread, which makes a pool of its own.
class Deputy {
 public:
  // Never joined: it waits for work until the process ends.
  Deputy() { std::thread(&Deputy::serve, this).detach(); }

  void run(TileFn fn, int64_t tiles, int threads, void **buffers) {
    std::unique_lock<std::mutex> guard(lock);
    job = {fn, tiles, threads, buffers};
    changed.notify_all();
    changed.wait(guard, [this] { return !job.fn; });
  }

 private:
  struct Job {
    TileFn fn = nullptr;
    int64_t tiles = 0;
    int threads = 0;
    void **buffers = nullptr;
  };

  void serve() {
    std::unique_lock<std::mutex> guard(lock);
    for (;;) {
      changed.wait(guard, [this] { return job.fn; });
      run_parallel(job.fn, job.tiles, job.threads, job.buffers);
      job.fn = nullptr;
      changed.notify_all();
    }
  }

  std::mutex lock;
  std::condition_variable changed;
  Job job;
};

thread_local bool forked = false;          // this thread is the one that a child began with
thread_local Deputy *deputy = nullptr;  // of a forked thread, made when it first wants one

// In the child, after each fork: a deputy of the parent's is not there either.
void after_fork() {
  forked = true;
  deputy = nullptr;
}

const int registered = pthread_atfork(nullptr, nullptr, after_fork);
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
  if (threads == 1 || omp_get_wtime() < alone_until.load(std::memory_order_relaxed)) {
    fn(0, tiles, buffers);
    return;
  }
  if (!forked) {
    run_parallel(fn, tiles, threads, buffers);
    return;
  }
  try {
    if (!deputy) deputy = new Deputy;
  } catch (const std::system_error &) {  // no thread to be had
    fn(0, tiles, buffers);
    return;
  }
  deputy->run(fn, tiles, threads, buffers);
}

}
