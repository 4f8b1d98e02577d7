// Times of measured parts of a program (thunk.profile_begin, thunk.profile_end), kept until they are read.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

namespace {

struct Event {
  int64_t id, begin_ns, end_ns;
};

constexpr size_t kMost = size_t{1} << 20;
std::mutex lock;
std::vector<Event> events;
thread_local std::vector<int64_t> open;

int64_t now() {
  using namespace std::chrono;
  return duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace

extern "C" {

void hloom_profile_begin(int64_t) { open.push_back(now()); }

void hloom_profile_end(int64_t id) {
  int64_t end = now();
  if (open.empty()) return;
  int64_t begin = open.back();
  open.pop_back();
  std::lock_guard<std::mutex> guard(lock);
  if (events.size() < kMost) events.push_back({id, begin, end});
}

// Moves up to `most` events, the oldest first, to `out` (id, begin, end of each) and returns how many.
int64_t hloom_profile_read(int64_t *out, int64_t most) {
  std::lock_guard<std::mutex> guard(lock);
  int64_t count = std::min<int64_t>(most, events.size());
  for (int64_t i = 0; i < count; ++i, out += 3) {
    out[0] = events[i].id;
    out[1] = events[i].begin_ns;
    out[2] = events[i].end_ns;
  }
  events.erase(events.begin(), events.begin() + count);
  return count;
}

}
