// Runs an entry of a program that was compiled for AArch64:
//
//     runner program.so symbol buffers results
//
// The file `buffers` holds the count of the entry's buffers, then for each its size in bytes and what it is (0: nothing to begin with, 1:
// its contents follow, 2: its contents are wanted afterwards, in the file `results`), all of them numbers of 64 bits. Each buffer ends at
// a page that nobody may touch, or close before it.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

namespace {

enum What : int64_t { kScratch, kGiven, kWanted };

struct Buffer {
  int64_t bytes, what;
};

[[noreturn]] void fail(const char *what) {
  std::fprintf(stderr, "runner: %s\n", what);
  std::exit(1);
}

void *guarded(int64_t bytes) {
  int64_t page = sysconf(_SC_PAGESIZE), room = (bytes + page - 1) / page * page;
  char *pages = static_cast<char *>(mmap(nullptr, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  if (pages == MAP_FAILED || mprotect(pages + room, page, PROT_NONE)) fail("no memory");
  return pages + (room - bytes) / 64 * 64;
}

void read(void *to, int64_t bytes, FILE *file) {
  if (bytes && std::fread(to, bytes, 1, file) != 1) fail("the file of buffers is too short");
}

}  // namespace

int main(int argc, char **argv) {
  if (argc != 5) fail("usage: runner program.so symbol buffers results");
  void *program = dlopen(argv[1], RTLD_NOW);
  if (!program) fail(dlerror());
  auto entry = reinterpret_cast<void (*)(void **)>(dlsym(program, argv[2]));
  if (!entry) fail(dlerror());
  FILE *given = std::fopen(argv[3], "rb"), *wanted = std::fopen(argv[4], "wb");
  if (!given || !wanted) fail("cannot open the files of buffers");
  int64_t count;
  read(&count, sizeof(count), given);
  std::vector<Buffer> buffers(count);
  std::vector<void *> pointers(count + 1);
  for (int64_t i = 0; i < count; ++i) {
    read(&buffers[i], sizeof(Buffer), given);
    pointers[i] = guarded(buffers[i].bytes);
    if (buffers[i].what == kGiven) read(pointers[i], buffers[i].bytes, given);
  }
  entry(pointers.data());
  for (int64_t i = 0; i < count; ++i)
    if (buffers[i].what == kWanted && buffers[i].bytes && std::fwrite(pointers[i], buffers[i].bytes, 1, wanted) != 1) fail("cannot write");
  return std::fclose(wanted) ? 1 : 0;
}
