// Accesses out of bounds, reported by kernels that check them (the pass check-bounds) and kept until the host reads them.
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string>

namespace {

std::mutex lock;
bool found = false;
std::string first_site;
int64_t first_index, first_extent;

}  // namespace

extern "C" {

// `site` says what accesses what and where, as the pass wrote it. The first report since the last read is kept.
void hloom_out_of_bounds(const char *site, int64_t index, int64_t extent) {
  std::lock_guard<std::mutex> guard(lock);
  if (found) return;
  found = true;
  first_site = site;
  first_index = index;
  first_extent = extent;
}

// Moves the report kept to `site` (of `size` bytes, cut off there) and `numbers` (index, extent). 0 if there is none.
int hloom_read_out_of_bounds(char *site, int64_t size, int64_t *numbers) {
  std::lock_guard<std::mutex> guard(lock);
  if (!found) return 0;
  found = false;
  std::strncpy(site, first_site.c_str(), size - 1);
  site[size - 1] = 0;
  numbers[0] = first_index;
  numbers[1] = first_extent;
  return 1;
}

}
