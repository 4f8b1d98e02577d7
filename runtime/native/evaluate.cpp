// What runs once and would take longer to compile than to interpret: copies in another order, and arithmetic on elements
// (dialects/evaluation.py says what the numbers of a program are). Elements are computed a block at a time, 16 rows of 64.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>
#include <vector>

extern "C" void hloom_parallel_for(void (*fn)(int64_t, int64_t, void **), int64_t tiles, int64_t grain, void **buffers);

// Loops that are compiled for several processors, of which the one that is there takes its own.
#if defined(__x86_64__) && defined(__gnu_linux__) && defined(__GNUC__) && !defined(__clang__)
#define HLOOM_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define HLOOM_WIDE
#endif

namespace {

constexpr int64_t kRows = 16, kColumns = 64, kSlot = kRows * kColumns;
constexpr int64_t kGrain = 64;  // blocks that are worth a thread

enum Opcode : int64_t { kLoad, kConstant, kSum, kStore, kConvert, kAdd, kSubtract, kMultiply, kDivide, kNegate, kAbs, kSqrt, kRsqrt };
enum Type : int64_t { kF32, kF64, kBits8, kBits16, kBits32, kBits64 };

// Where a load or a store is, and how far apart its elements are, in bytes: of the outer dimensions, of rows, of columns, of the sum.
struct Instruction {
  int64_t opcode, type, a, b, c;
  const int64_t *strides;
};

struct Program {
  int64_t dims, repeated;  // the last two loops are rows and columns, those before run within a block of these
  int64_t terms;
  const int64_t *extents;
  std::vector<Instruction> code;

  explicit Program(const int64_t *numbers)
      : dims(numbers[0]), repeated(numbers[1]), terms(numbers[2]), extents(numbers + 4), code(numbers[3]) {
    const int64_t *next = extents + dims;
    for (auto &each : code) {
      each = {next[0], next[1], next[2], next[3], next[4], next + 5};
      next += 5 + dims + 1;
    }
  }

  int64_t rows() const { return (extents[dims - 2] + kRows - 1) / kRows; }
  int64_t columns() const { return (extents[dims - 1] + kColumns - 1) / kColumns; }
};

struct Block {
  int64_t rows, columns;  // of which it holds so many
  int64_t size() const { return rows * columns; }
};

// Where the elements are that a load wants: `to`, or where they were if they lie as a block does.
template <typename T>
const void *load(const char *from, int64_t row, int64_t column, Block block, T *to) {
  const int64_t width = sizeof(T);
  if (column == width && (block.rows == 1 || row == block.columns * width)) return from;
  if (column == width) {
    for (int64_t r = 0; r < block.rows; ++r) std::memcpy(to + r * block.columns, from + r * row, block.columns * width);
    return to;
  }
  if (column == 0) {
    for (int64_t r = 0; r < block.rows; ++r) {
      const T value = *reinterpret_cast<const T *>(from + r * row);
      for (int64_t c = 0; c < block.columns; ++c) to[r * block.columns + c] = value;
    }
    return to;
  }
  for (int64_t c = 0; c < block.columns; ++c)
    for (int64_t r = 0; r < block.rows; ++r) to[r * block.columns + c] = *reinterpret_cast<const T *>(from + r * row + c * column);
  return to;
}

template <typename T>
void store(char *to, int64_t row, int64_t column, Block block, const T *from) {
  if (column == sizeof(T)) {
    for (int64_t r = 0; r < block.rows; ++r) std::memcpy(to + r * row, from + r * block.columns, block.columns * sizeof(T));
    return;
  }
  for (int64_t r = 0; r < block.rows; ++r)
    for (int64_t c = 0; c < block.columns; ++c) *reinterpret_cast<T *>(to + r * row + c * column) = from[r * block.columns + c];
}

template <typename T>
HLOOM_WIDE void compute(int64_t opcode, const T *a, const T *b, int64_t count, T *to) {
  switch (opcode) {
    case kAdd: for (int64_t i = 0; i < count; ++i) to[i] = a[i] + b[i]; break;
    case kSubtract: for (int64_t i = 0; i < count; ++i) to[i] = a[i] - b[i]; break;
    case kMultiply: for (int64_t i = 0; i < count; ++i) to[i] = a[i] * b[i]; break;
    case kDivide: for (int64_t i = 0; i < count; ++i) to[i] = a[i] / b[i]; break;
    case kNegate: for (int64_t i = 0; i < count; ++i) to[i] = -a[i]; break;
    case kAbs: for (int64_t i = 0; i < count; ++i) to[i] = std::fabs(a[i]); break;
    case kSqrt: for (int64_t i = 0; i < count; ++i) to[i] = std::sqrt(a[i]); break;
    case kRsqrt: for (int64_t i = 0; i < count; ++i) to[i] = T(1) / std::sqrt(a[i]); break;
  }
}

template <typename From, typename To>
HLOOM_WIDE void convert(const From *from, int64_t count, To *to) {
  for (int64_t i = 0; i < count; ++i) to[i] = static_cast<To>(from[i]);
}

// Calls `fn` with a null pointer to the type.
template <typename Fn>
void by_type(int64_t type, Fn fn) {
  switch (type) {
    case kF32: fn(static_cast<float *>(nullptr)); break;
    case kF64: fn(static_cast<double *>(nullptr)); break;
    case kBits8: fn(static_cast<uint8_t *>(nullptr)); break;
    case kBits16: fn(static_cast<uint16_t *>(nullptr)); break;
    case kBits32: fn(static_cast<uint32_t *>(nullptr)); break;
    default: fn(static_cast<uint64_t *>(nullptr));
  }
}

class Run {
 public:
  Run(const Program &program, void **buffers)
      : program(program), buffers(buffers), slots(new double[program.code.size() * kSlot]), values(program.code.size()), at(program.dims) {}

  // Blocks [lo, hi): loops that are repeated within a block change fastest, then rows, the other loops from the last on, and columns.
  void blocks(int64_t lo, int64_t hi) {
    const int64_t rows = program.dims - 2, outer = rows - program.repeated;
    for (int64_t number = lo; number < hi; ++number) {
      int64_t left = number;
      for (int64_t d = rows - 1; d >= outer; --d) at[d] = next(left, program.extents[d]);
      at[rows] = next(left, program.rows()) * kRows;
      for (int64_t d = outer - 1; d >= 0; --d) at[d] = next(left, program.extents[d]);
      at[rows + 1] = left * kColumns;
      run({std::min(kRows, program.extents[rows] - at[rows]), std::min(kColumns, program.extents[rows + 1] - at[rows + 1])});
    }
  }

 private:
  const Program &program;
  void **buffers;
  std::unique_ptr<double[]> slots;   // of each instruction room for what it computes, of its own type
  std::vector<const void *> values;  // of each instruction where that is
  std::vector<int64_t> at;

  static int64_t next(int64_t &left, int64_t count) {
    int64_t digit = left % count;
    left /= count;
    return digit;
  }

  void run(Block block) {
    size_t done = 0;
    for (size_t i = 0; i < program.code.size(); ++i) {
      if (program.code[i].opcode != kSum) continue;
      for (int64_t term = 0; term < program.terms; ++term) {
        for (size_t j = 0; j < i; ++j) step(j, term, block);
        if (program.code[i].type == kF64) add<double>(i, term, block.size());
        else add<float>(i, term, block.size());
      }
      done = i + 1;
    }
    for (; done < program.code.size(); ++done) step(done, 0, block);
  }

  template <typename T>
  void add(size_t i, int64_t term, int64_t count) {
    T *sum = room<T>(i);
    const T *value = of<T>(program.code[i].a);
    if (term == 0) std::memcpy(sum, value, count * sizeof(T));
    else compute(kAdd, sum, value, count, sum);
    values[i] = sum;
  }

  template <typename T>
  T *room(size_t i) { return reinterpret_cast<T *>(slots.get() + i * kSlot); }

  template <typename T>
  const T *of(int64_t i) { return static_cast<const T *>(values[i]); }

  char *place(const Instruction &it, int64_t term) {
    int64_t offset = it.b + term * it.strides[program.dims];
    for (int64_t d = 0; d < program.dims; ++d) offset += at[d] * it.strides[d];
    return static_cast<char *>(buffers[it.a]) + offset;
  }

  void step(size_t i, int64_t term, Block block) {
    const Instruction &it = program.code[i];
    by_type(it.type, [&](auto *type) { values[i] = typed<std::remove_pointer_t<decltype(type)>>(i, it, term, block); });
  }

  // Where the value is.
  template <typename T>
  const void *typed(size_t i, const Instruction &it, int64_t term, Block block) {
    const int64_t row = it.strides[program.dims - 2], column = it.strides[program.dims - 1];
    T *to = room<T>(i);
    switch (it.opcode) {
      case kLoad: return load(place(it, term), row, column, block, to);
      case kStore: store(place(it, 0), row, column, block, of<T>(it.c)); return nullptr;
      case kConstant: return load(reinterpret_cast<const char *>(&it.a), 0, 0, block, to);
      case kConvert:
        if constexpr (std::is_same_v<T, double>) convert(of<float>(it.a), block.size(), to);
        if constexpr (std::is_same_v<T, float>) convert(of<double>(it.a), block.size(), to);
        return to;
      default:
        if constexpr (std::is_floating_point_v<T>) compute(it.opcode, of<T>(it.a), of<T>(it.b), block.size(), to);
        return to;
    }
  }
};

int64_t read(const uint8_t *&bytes) {
  uint64_t number = 0;
  for (int shift = 0;; shift += 7) {
    uint8_t byte = *bytes++;
    number |= uint64_t(byte & 127) << shift;
    if (byte < 128) break;
  }
  return static_cast<int64_t>(number >> 1) ^ -static_cast<int64_t>(number & 1);
}

struct Task {
  const Program &program;
  void **buffers;
};

void run_blocks(int64_t lo, int64_t hi, void **task) {
  auto &given = *reinterpret_cast<Task *>(task);
  Run(given.program, given.buffers).blocks(lo, hi);
}

}  // namespace

// Runs programs one after the other: how many numbers there are, how many programs, then each with its length before it. A number has
// seven bits a byte, the lowest first, its sign in the lowest bit.
extern "C" void hloom_evaluate(void **buffers, const uint8_t *bytes) {
  std::vector<int64_t> numbers(read(bytes));
  for (int64_t &number : numbers) number = read(bytes);
  const int64_t *next = numbers.data() + 1;
  for (int64_t i = 0; i < numbers[0]; ++i, next += 1 + next[0]) {
    Program program(next + 1);
    int64_t blocks = program.rows() * program.columns();
    for (int64_t d = 0; d < program.dims - 2; ++d) blocks *= program.extents[d];
    Task task{program, buffers};
    hloom_parallel_for(run_blocks, blocks, kGrain, reinterpret_cast<void **>(&task));
  }
}
