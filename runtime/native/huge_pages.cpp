// Huge pages for what kernels read where the caller has it: bound weights, and inputs that come again and again.
//
// malloc's memory has pages of 4 KB, and a stream of reads stops at the end of each: on a virtual machine, which looks a page up in two
// tables, it runs at half of what memory gives. Linux (6.1 and later) moves the pages of a range into huge ones, at the same addresses.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

constexpr uintptr_t kSmallPage = 4096;
constexpr uintptr_t kPage = uintptr_t{2} << 20;
constexpr uint64_t kFrom = 2 * kPage;
constexpr uintptr_t kAtOnce = 16 * kPage;  // what else wants the process's memory map waits meanwhile
constexpr int kCollapse = 25;              // MADV_COLLAPSE, which glibc has since 2.37
constexpr int kCalls = 8;                  // as many gain what a move takes; memory of one batch is rarely there in so many
constexpr int kMoves = 4;                  // of one input, whose memory may be other memory at the same address

using Ranges = std::vector<std::pair<uintptr_t, uintptr_t>>;  // starts and ends

bool allowed() {
#ifdef __linux__
  static const bool found = [] {
    const char *wish = std::getenv("HLOOM_HUGE_PAGES");
    std::string setting;
    std::getline(std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"), setting);
    const bool wanted = !(wish && !std::strcmp(wish, "0")) && sysconf(_SC_PAGESIZE) == long{kSmallPage};
    return wanted && !setting.empty() && setting.find("[never]") == std::string::npos;
  }();
  return found;
#else
  return false;
#endif
}

// Whether most of the small pages at a huge page's place are there and this process's alone. Moving others would take memory: of zeros that
// nobody wrote, which are one page for all, and of what a forked process shares.
bool is_own(int pagemap, uintptr_t place) {
  constexpr uint64_t kPresent = uint64_t{1} << 63, kExclusive = uint64_t{1} << 56;
  uint64_t pages[kPage / kSmallPage];
  if (pread(pagemap, pages, sizeof pages, place / kSmallPage * sizeof *pages) != sizeof pages) return false;
  const auto own = std::count_if(std::begin(pages), std::end(pages), [](uint64_t page) { return page & kPresent && page & kExclusive; });
  return own >= std::end(pages) - std::begin(pages) - own;
}

void collapse_own(const Ranges &ranges) {
  const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  if (pagemap < 0) return;
  for (auto [start, end] : ranges) {
    while (start < end) {
      uintptr_t next = start;
      while (next < end && next - start < kAtOnce && is_own(pagemap, next)) next += kPage;
      if (next > start) madvise(reinterpret_cast<void *>(start), next - start, kCollapse);
      start = std::max(next, start + kPage);
    }
  }
  close(pagemap);
}

// On a thread of its own, while the memory is read and written as ever. What the kernel declines stays as it is: a file's pages, shared or
// pinned memory, what is freed meanwhile.
void collapse(Ranges ranges) {
  if (ranges.empty()) return;
  try {
    std::thread([ranges = std::move(ranges)] { collapse_own(ranges); }).detach();
  } catch (const std::system_error &) {  // no thread to be had
  }
}

void add(Ranges &ranges, uintptr_t start, uint64_t bytes) {
  if (bytes >= kFrom) ranges.emplace_back((start + kPage - 1) / kPage * kPage, (start + bytes) / kPage * kPage);
}

struct Input {
  int64_t slot;  // among a frame's pointers
  uint64_t bytes;
  void *place = nullptr;
  int calls = 0, moves = 0;
};

// The inputs of a program that are large, and where they were in the calls before.
struct Returning {
  std::mutex lock;
  std::vector<Input> inputs;
};

}  // namespace

extern "C" {

// Moves memory at so many addresses, each with its bytes.
void hloom_move_to_huge_pages(const uint64_t *addresses, const uint64_t *bytes, int64_t count) {
  if (!allowed()) return;
  Ranges ranges;
  for (int64_t i = 0; i < count; ++i) add(ranges, addresses[i], bytes[i]);
  collapse(std::move(ranges));
}

// What hloom_returning_look takes for a program whose inputs lie at `slots` of its frames (-1: not read); null if there is nothing to see.
void *hloom_returning(const int64_t *slots, const uint64_t *bytes, int64_t count) {
  if (!allowed()) return nullptr;
  std::vector<Input> large;
  for (int64_t i = 0; i < count; ++i)
    if (slots[i] >= 0 && bytes[i] >= kFrom) large.push_back({slots[i], bytes[i]});
  if (large.empty()) return nullptr;
  auto *made = new Returning;
  made->inputs = std::move(large);
  return made;
}

void hloom_returning_free(void *returning) { delete static_cast<Returning *>(returning); }

// Takes note of a call, and moves the inputs that were where they are in the calls before.
void hloom_returning_look(void *returning, void *const *frame) {
  auto *seen = static_cast<Returning *>(returning);
  std::lock_guard<std::mutex> guard(seen->lock);
  Ranges now;
  for (Input &input : seen->inputs) {
    if (frame[input.slot] != input.place) {
      input.place = frame[input.slot];
      input.calls = 0;
    }
    if (input.calls < kCalls && ++input.calls == kCalls && input.moves++ < kMoves)
      add(now, reinterpret_cast<uintptr_t>(input.place), input.bytes);
  }
  collapse(std::move(now));
}
}
