// Programs called by XLA, as handlers of its typed foreign functions (xla/ffi/api/c_api.h, version 0.x, whose structures these are).
//
// A handler is told the program's key; what the key stands for is registered here while the program lives.
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <unordered_map>
#include <vector>

extern "C" {
void *hloom_alloc(size_t bytes);
void hloom_free(void *block, size_t bytes);
const char *hloom_lapack_starved();
void *hloom_returning(const int64_t *slots, const uint64_t *bytes, int64_t count);
void hloom_returning_free(void *returning);
void hloom_returning_look(void *returning, void *const *frame);
}

namespace {

struct Extension {
  size_t struct_size;
  int type;
  Extension *next;
};
constexpr int kMetadata = 1;

struct Version {
  size_t struct_size;
  Extension *extensions;
  int major, minor;
};

struct ErrorArgs {
  size_t struct_size;
  Extension *extensions;
  const char *message;
  int code;
};
constexpr int kNotFound = 5, kExhausted = 8, kInvalid = 3, kInternal = 13;

struct Api {
  size_t struct_size;
  Extension *extensions;
  Version version;
  const void *internal;
  void *(*error)(ErrorArgs *);
};

struct Buffer {
  size_t struct_size;
  Extension *extensions;
  int dtype;
  void *data;
  int64_t rank;
  int64_t *dims;
};

struct Values {  // arguments and results
  size_t struct_size;
  Extension *extensions;
  int64_t size;
  int *types;
  void **values;
};

struct Name {
  const char *text;
  size_t length;
};

struct Scalar {
  int dtype;
  void *value;
};
constexpr int kScalar = 3;

struct Attributes {
  size_t struct_size;
  Extension *extensions;
  int64_t size;
  int *types;
  Name **names;
  void **values;
};

struct CallFrame {
  size_t struct_size;
  Extension *extensions;
  const Api *api;
  void *context;
  int stage;
  Values arguments, results;
  Attributes attributes;
};

struct Metadata {
  size_t struct_size;
  Version version;
  uint32_t traits;
  int64_t state_type;
};

struct MetadataExtension {
  Extension base;
  Metadata *metadata;
};

// A program's frame (runtime/cpu.py): pointers that never change, and where those of a call go.
struct Program {
  void (*entry)(void *);
  std::vector<void *> fixed;
  std::vector<int64_t> arguments, results;  // slots; -1: not read
  int64_t arena_slot;
  size_t arena_bytes;
  bool calls_functions;  // of Python's, perhaps (runtime/custom_calls.py)
  std::unique_ptr<void, void (*)(void *)> returning{nullptr, hloom_returning_free};
};

// What a Python function that this thread called has raised, which is told once; null for nothing.
using Raised = const char *(*)();
std::atomic<Raised> raised{nullptr};

std::shared_mutex lock;
std::unordered_map<int64_t, std::shared_ptr<Program>> programs;

void *failed(const CallFrame *frame, int code, const char *message) {
  ErrorArgs args{sizeof(ErrorArgs), nullptr, message, code};
  return frame->api->error(&args);
}

const int64_t *key_of(const Attributes &attributes) {
  for (int64_t i = 0; i < attributes.size; ++i) {
    const Name *name = attributes.names[i];
    if (attributes.types[i] == kScalar && name->length == 7 && !std::memcmp(name->text, "program", 7))
      return static_cast<const int64_t *>(static_cast<Scalar *>(attributes.values[i])->value);
  }
  return nullptr;
}

void place(std::vector<void *> &frame, const std::vector<int64_t> &slots, const Values &values) {
  for (size_t i = 0; i < slots.size(); ++i)
    if (slots[i] >= 0) frame[slots[i]] = static_cast<Buffer *>(values.values[i])->data;
}

}  // namespace

extern "C" {

void hloom_ffi_errors(Raised function) { raised = function; }

// The program of that key from now on. `slots`: of the arguments, then of the results. `bytes`: of the arguments.
void hloom_ffi_add(int64_t key, void (*entry)(void *), void **fixed, int64_t count, int64_t *slots, uint64_t *bytes, int64_t arguments,
                   int64_t results, int64_t arena_slot, size_t arena_bytes, int64_t calls_functions) {
  auto program = std::make_shared<Program>();
  program->entry = entry;
  program->fixed.assign(fixed, fixed + count);
  program->arguments.assign(slots, slots + arguments);
  program->results.assign(slots + arguments, slots + arguments + results);
  program->arena_slot = arena_slot;
  program->arena_bytes = arena_bytes;
  program->calls_functions = calls_functions;
  program->returning.reset(hloom_returning(slots, bytes, arguments));
  std::unique_lock<std::shared_mutex> guard(lock);
  programs[key] = std::move(program);
}

void hloom_ffi_remove(int64_t key) {
  std::unique_lock<std::shared_mutex> guard(lock);
  programs.erase(key);
}

// An XLA_FFI_Handler. Null, or an error of XLA's.
void *hloom_ffi_call(void *call_frame) {
  auto *frame = static_cast<CallFrame *>(call_frame);
  if (frame->extensions && frame->extensions->type == kMetadata) {
    Metadata *metadata = reinterpret_cast<MetadataExtension *>(frame->extensions)->metadata;
    metadata->version.major = frame->api->version.major;
    metadata->version.minor = frame->api->version.minor;
    metadata->traits = 0;
    return nullptr;
  }
  const int64_t *key = key_of(frame->attributes);
  std::shared_ptr<Program> program;
  if (key) {
    std::shared_lock<std::shared_mutex> guard(lock);
    auto found = programs.find(*key);
    if (found != programs.end()) program = found->second;
  }
  if (!program) return failed(frame, kNotFound, "hloom: the program belongs to another process; compile the function again");
  if (frame->arguments.size != static_cast<int64_t>(program->arguments.size()) ||
      frame->results.size != static_cast<int64_t>(program->results.size()))
    return failed(frame, kInvalid, "hloom: the program takes other numbers of arguments and results");
  std::vector<void *> pointers(program->fixed);
  place(pointers, program->arguments, frame->arguments);
  place(pointers, program->results, frame->results);
  if (program->returning) hloom_returning_look(program->returning.get(), pointers.data());
  void *arena = nullptr;
  if (program->arena_slot >= 0) {
    arena = hloom_alloc(program->arena_bytes);
    if (!arena) return failed(frame, kExhausted, "hloom: no memory for the program's arena");
    pointers[program->arena_slot] = arena;
  }
  program->entry(pointers.data());
  if (arena) hloom_free(arena, program->arena_bytes);
  const Raised told = program->calls_functions ? raised.load() : nullptr;
  if (const char *what = told ? told() : nullptr) return failed(frame, kInternal, what);
  if (hloom_lapack_starved()) return failed(frame, kExhausted, "hloom: no memory for the workspace of a LAPACK routine");
  return nullptr;
}
}
