// LAPACK's routines as custom calls: one C function for each routine and type, over batches of column-major matrices. The routines are
// OpenBLAS's, whose entry points the loader hands over.
//
//   void hloom_lapack_sgetrf(void **buffers, const int64_t *numbers, const char *config)
//
// `buffers` are the operands, then the results; results that start from an operand hold it already. `numbers` are the batch, the extents
// of each operand, then the call's own options (passes/common/calls/lapack.py).
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace {

#define ROUTINES(X) \
  X(potrf) X(trsm) X(getrf) X(geqrf) X(orgqr) X(ormqr) X(geqp3) X(gesdd) X(gesvd) X(syevd) X(geev) X(gees) X(gehrd) X(sytrd) X(gtsv)
#define NUMBER(name) k_##name,
enum Routine { ROUTINES(NUMBER) kRoutines };

void *table[4][kRoutines];  // by type (s, d, c, z) and routine

template <typename T> constexpr int kType = -1;
template <> constexpr int kType<float> = 0;
template <> constexpr int kType<double> = 1;
template <> constexpr int kType<std::complex<float>> = 2;
template <> constexpr int kType<std::complex<double>> = 3;

template <typename T> struct RealOf { using type = T; };
template <typename T> struct RealOf<std::complex<T>> { using type = T; };
template <typename T> using Real = typename RealOf<T>::type;
template <typename T> constexpr bool kComplex = !std::is_same_v<T, Real<T>>;

// Calls a routine; characters come first in LAPACK's lists, their lengths last: `chars` of them.
template <typename T, int chars, typename... A> void fortran(Routine routine, A... a) {
  void *f = table[kType<T>][routine];
  if constexpr (chars == 0) reinterpret_cast<void (*)(A...)>(f)(a...);
  if constexpr (chars == 1) reinterpret_cast<void (*)(A..., size_t)>(f)(a..., 1);
  if constexpr (chars == 2) reinterpret_cast<void (*)(A..., size_t, size_t)>(f)(a..., 1, 1);
  if constexpr (chars == 4) reinterpret_cast<void (*)(A..., size_t, size_t, size_t, size_t)>(f)(a..., 1, 1, 1, 1);
}

// The routine that could not get its memory on this thread, until somebody asks.
thread_local const char *starved = nullptr;

// Scratch memory, not set.
template <typename T> class Scratch {
 public:
  explicit Scratch(int64_t count) : data_(static_cast<T *>(std::malloc(std::max<int64_t>(count, 1) * sizeof(T)))) {
    if (!data_) throw std::bad_alloc();
  }
  ~Scratch() { std::free(data_); }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;
  T *get() const { return data_; }

 private:
  T *data_;
};

template <typename T> T *at(void **buffers, int index) { return static_cast<T *>(buffers[index]); }

// What a routine answers when it is asked how much memory it wants.
template <typename T> int asked(T answer) { return std::max(1, static_cast<int>(std::real(answer))); }

template <typename T> bool finite(const T *values, int64_t count) {
  return std::all_of(values, values + count, [](T x) { return std::isfinite(std::real(x)) && std::isfinite(std::imag(x)); });
}

// The same of a triangle of a square matrix.
template <typename T> bool finite(const T *a, int n, char uplo) {
  for (int64_t j = 0; j < n; ++j)
    if (!(uplo == 'L' ? finite(a + j * n + j, n - j) : finite(a + j * n, j + 1))) return false;
  return true;
}

constexpr int kNotFinite = -4;  // info, as gesdd says it of a NaN; others would not end, or give no sign

// numbers: batch, n, n, uplo. A -> A, info.
template <typename T> void potrf(void **b, const int64_t *k) {
  int n = k[1], lead = std::max(1, n);
  char uplo = k[3];
  T *a = at<T>(b, 1);
  for (int64_t i = 0; i < k[0]; ++i, a += int64_t(n) * n) fortran<T, 1>(k_potrf, &uplo, &n, a, &lead, at<int>(b, 2) + i);
}

// Matrices up to this size are done by the loops below: OpenBLAS takes longer to begin than to compute. Real numbers alone.
constexpr int kSmall = 16;
constexpr int kSmallFromRight = 8;

// A singular triangle is left to BLAS: which of the infinities are NaN follows from its order.
template <typename T> bool has_zero_on_diagonal(int m, const T *a) {
  for (int i = 0; i < m; ++i)
    if (a[i * m + i] == T(0)) return true;
  return false;
}

// op(A) X = B, a column of X after the other.
template <typename T> void small_trsm(int m, int n, bool lower, bool transposed, bool unit, const T *a, T *x) {
  const bool forward = lower != transposed;
  for (int column = 0; column < n; ++column, x += m)
    for (int step = 0; step < m; ++step) {
      const int i = forward ? step : m - 1 - step, first = forward ? i + 1 : 0, last = forward ? m : i;
      if (!unit) x[i] /= a[i * m + i];
      const T known = x[i];
      for (int r = first; r < last; ++r) x[r] -= known * (transposed ? a[r * m + i] : a[i * m + r]);
    }
}

// X op(A) = B, a column of X after the other, all of its rows at once.
template <typename T> void small_trsm_from_right(int m, int n, bool lower, bool transposed, bool unit, const T *a, T *x) {
  const bool forward = lower == transposed;
  for (int step = 0; step < n; ++step) {
    const int i = forward ? step : n - 1 - step, first = forward ? i + 1 : 0, last = forward ? n : i;
    T *known = x + i * m;
    for (int row = 0; row < m && !unit; ++row) known[row] /= a[i * n + i];
    for (int c = first; c < last; ++c) {
      const T factor = transposed ? a[i * n + c] : a[c * n + i];
      for (int row = 0; row < m; ++row) x[c * m + row] -= known[row] * factor;
    }
  }
}

// As LAPACK's getf2; the info of a matrix, the number of its first pivot that is zero.
template <typename T> int small_getrf(int m, int n, T *a, int *pivots) {
  int info = 0;
  for (int j = 0; j < std::min(m, n); ++j) {
    T *column = a + j * m;
    int pivot = j;
    for (int i = j + 1; i < m; ++i)
      if (std::abs(column[i]) > std::abs(column[pivot])) pivot = i;
    pivots[j] = pivot + 1;
    if (column[pivot] == T(0)) {
      if (!info) info = j + 1;
    } else {
      if (pivot != j)
        for (int c = 0; c < n; ++c) std::swap(a[c * m + j], a[c * m + pivot]);
      for (int i = j + 1; i < m; ++i) column[i] /= column[j];
    }
    for (int c = j + 1; c < n; ++c) {
      const T factor = a[c * m + j];
      for (int i = j + 1; i < m; ++i) a[c * m + i] -= column[i] * factor;
    }
  }
  return info;
}

// numbers: batch, a, a, m, n, side, uplo, trans, diag. A, B -> X.
template <typename T> void trsm(void **b, const int64_t *k) {
  int order = k[1], m = k[3], n = k[4], lead = std::max(1, order), lead_x = std::max(1, m);
  char side = k[5], uplo = k[6], trans = k[7], diag = k[8];
  T one = 1, *a = at<T>(b, 0), *x = at<T>(b, 2);
  for (int64_t i = 0; i < k[0]; ++i, a += int64_t(order) * order, x += int64_t(m) * n) {
    if constexpr (!kComplex<T>)
      if (order <= (side == 'L' ? kSmall : kSmallFromRight) && (side == 'L' || m <= kSmall) && (diag == 'U' || !has_zero_on_diagonal(order, a))) {
        (side == 'L' ? small_trsm<T> : small_trsm_from_right<T>)(m, n, uplo == 'L', trans != 'N', diag == 'U', a, x);
        continue;
      }
    fortran<T, 4>(k_trsm, &side, &uplo, &trans, &diag, &m, &n, &one, a, &lead, x, &lead_x);
  }
}

// numbers: batch, m, n. A -> LU, pivots, info.
template <typename T> void getrf(void **b, const int64_t *k) {
  int m = k[1], n = k[2], lead = std::max(1, m), *pivots = at<int>(b, 2);
  T *a = at<T>(b, 1);
  if constexpr (!kComplex<T>)
    if (std::max(m, n) <= kSmall) {
      for (int64_t i = 0; i < k[0]; ++i, a += m * n, pivots += std::min(m, n)) at<int>(b, 3)[i] = small_getrf(m, n, a, pivots);
      return;
    }
  for (int64_t i = 0; i < k[0]; ++i, a += int64_t(m) * n, pivots += std::min(m, n))
    fortran<T, 0>(k_getrf, &m, &n, a, &lead, pivots, at<int>(b, 3) + i);
}

// numbers: batch, m, n. A -> A, tau.
template <typename T> void geqrf(void **b, const int64_t *k) {
  int m = k[1], n = k[2], lead = std::max(1, m), info, query = -1;
  T *a = at<T>(b, 1), *tau = at<T>(b, 2), answer;
  fortran<T, 0>(k_geqrf, &m, &n, a, &lead, tau, &answer, &query, &info);
  int size = asked(answer);
  Scratch<T> work(size);
  for (int64_t i = 0; i < k[0]; ++i, a += int64_t(m) * n, tau += std::min(m, n))
    fortran<T, 0>(k_geqrf, &m, &n, a, &lead, tau, work.get(), &size, &info);
}

// numbers: batch, m, n, k. A, tau -> Q.
template <typename T> void orgqr(void **b, const int64_t *k) {
  int m = k[1], n = k[2], count = k[3], lead = std::max(1, m), info, query = -1;
  T *tau = at<T>(b, 1), *q = at<T>(b, 2), answer;
  fortran<T, 0>(k_orgqr, &m, &n, &count, q, &lead, tau, &answer, &query, &info);
  int size = asked(answer);
  Scratch<T> work(size);
  for (int64_t i = 0; i < k[0]; ++i, q += int64_t(m) * n, tau += count)
    fortran<T, 0>(k_orgqr, &m, &n, &count, q, &lead, tau, work.get(), &size, &info);
}

// numbers: batch, rows, k, k, m, n, left, transpose. A, tau, C -> C.
template <typename T> void ormqr(void **b, const int64_t *k) {
  int rows = k[1], count = k[3], m = k[4], n = k[5], lead = std::max(1, rows), lead_c = std::max(1, m), info, query = -1;
  char side = k[6] ? 'L' : 'R', trans = k[7] ? (kComplex<T> ? 'C' : 'T') : 'N';
  T *a = at<T>(b, 0), *tau = at<T>(b, 1), *c = at<T>(b, 3), answer;
  fortran<T, 2>(k_ormqr, &side, &trans, &m, &n, &count, a, &lead, tau, c, &lead_c, &answer, &query, &info);
  int size = asked(answer);
  Scratch<T> work(size);
  for (int64_t i = 0; i < k[0]; ++i, a += int64_t(rows) * k[2], tau += count, c += int64_t(m) * n)
    fortran<T, 2>(k_ormqr, &side, &trans, &m, &n, &count, a, &lead, tau, c, &lead_c, work.get(), &size, &info);
}

// numbers: batch, m, n, n. A, pivots -> A, pivots, tau.
template <typename T> void geqp3(void **b, const int64_t *k) {
  int m = k[1], n = k[2], lead = std::max(1, m), info, query = -1, *pivots = at<int>(b, 3);
  T *a = at<T>(b, 2), *tau = at<T>(b, 4), answer;
  Scratch<Real<T>> real_work(2 * int64_t(n));
  auto run = [&](T *work, int *size) {
    if constexpr (kComplex<T>)
      fortran<T, 0>(k_geqp3, &m, &n, a, &lead, pivots, tau, work, size, real_work.get(), &info);
    else
      fortran<T, 0>(k_geqp3, &m, &n, a, &lead, pivots, tau, work, size, &info);
  };
  run(&answer, &query);
  int size = asked(answer);
  Scratch<T> work(size);
  for (int64_t i = 0; i < k[0]; ++i, a += int64_t(m) * n, pivots += n, tau += std::min(m, n)) run(work.get(), &size);
}

// The strides of U and VT, whose extents the mode decides (A all, S as many as there are singular values, N none).
struct Factors {
  int m, n, least, lead, lead_u, lead_vt;
  int64_t u, vt;
  Factors(int m, int n, char mode) : m(m), n(n), least(std::min(m, n)), lead(std::max(1, m)), lead_u(lead) {
    lead_vt = std::max(1, mode == 'S' ? least : n);
    u = int64_t(m) * (mode == 'S' ? least : m);
    vt = int64_t(mode == 'S' ? least : n) * n;
  }
};

// numbers: batch, m, n, mode. A -> A, S, U, VT, info. `run` is (work, size, info).
template <typename T, typename Run> void singular(void **b, const int64_t *k, const Factors &f, Run run) {
  T *a = at<T>(b, 1), *u = at<T>(b, 3), *vt = at<T>(b, 4), answer;
  Real<T> *s = at<Real<T>>(b, 2);
  int query = -1, *info = at<int>(b, 5);
  run(a, s, u, vt, &answer, &query, info);
  int size = asked(answer);
  Scratch<T> work(size);
  for (int64_t i = 0; i < k[0]; ++i, a += int64_t(f.m) * f.n, s += f.least, u += f.u, vt += f.vt, ++info)
    if (finite(a, int64_t(f.m) * f.n))
      run(a, s, u, vt, work.get(), &size, info);
    else
      *info = kNotFinite;
}

template <typename T> void gesdd(void **b, const int64_t *k) {
  char mode = k[3];
  Factors f(k[1], k[2], mode);
  int64_t least = f.least, most = std::max(f.m, f.n);
  Scratch<int> integers(8 * least);
  Scratch<Real<T>> reals(kComplex<T> ? std::max(5 * least * least + 7 * least, 2 * most * least + 2 * least * least + least) : 0);
  singular<T>(b, k, f, [&](T *a, Real<T> *s, T *u, T *vt, T *work, int *size, int *info) {
    if constexpr (kComplex<T>)
      fortran<T, 1>(k_gesdd, &mode, &f.m, &f.n, a, &f.lead, s, u, &f.lead_u, vt, &f.lead_vt, work, size, reals.get(), integers.get(), info);
    else
      fortran<T, 1>(k_gesdd, &mode, &f.m, &f.n, a, &f.lead, s, u, &f.lead_u, vt, &f.lead_vt, work, size, integers.get(), info);
  });
}

template <typename T> void gesvd(void **b, const int64_t *k) {
  char mode = k[3];
  Factors f(k[1], k[2], mode);
  Scratch<Real<T>> reals(5 * int64_t(f.least));
  singular<T>(b, k, f, [&](T *a, Real<T> *s, T *u, T *vt, T *work, int *size, int *info) {
    if constexpr (kComplex<T>)
      fortran<T, 2>(k_gesvd, &mode, &mode, &f.m, &f.n, a, &f.lead, s, u, &f.lead_u, vt, &f.lead_vt, work, size, reals.get(), info);
    else
      fortran<T, 2>(k_gesvd, &mode, &mode, &f.m, &f.n, a, &f.lead, s, u, &f.lead_u, vt, &f.lead_vt, work, size, info);
  });
}

// numbers: batch, n, n, mode, uplo. A -> V, w, info. heevd for complex numbers.
template <typename T> void syevd(void **b, const int64_t *k) {
  int n = k[1], lead = std::max(1, n), query = -1, integer_answer, *info = at<int>(b, 3);
  char mode = k[3], uplo = k[4];
  T *a = at<T>(b, 1), answer;
  Real<T> *w = at<Real<T>>(b, 2), real_answer = 1;
  auto run = [&](T *work, int *size, Real<T> *reals, int *real_size, int *integers, int *integer_size) {
    if constexpr (kComplex<T>)
      fortran<T, 2>(k_syevd, &mode, &uplo, &n, a, &lead, w, work, size, reals, real_size, integers, integer_size, info);
    else
      fortran<T, 2>(k_syevd, &mode, &uplo, &n, a, &lead, w, work, size, integers, integer_size, info);
  };
  run(&answer, &query, &real_answer, &query, &integer_answer, &query);
  int size = asked(answer), real_size = asked(real_answer), integer_size = integer_answer;
  Scratch<T> work(size);
  Scratch<Real<T>> reals(real_size);
  Scratch<int> integers(integer_size);
  for (int64_t i = 0; i < k[0]; ++i, a += int64_t(n) * n, w += n, ++info)
    if (finite(a, n, uplo))
      run(work.get(), &size, reals.get(), &real_size, integers.get(), &integer_size);
    else
      *info = kNotFinite;
}

// A real matrix's eigenvectors as LAPACK packs them, pairs of conjugates as two real columns, into complex ones.
template <typename R> void unpack(int n, const R *imaginary, const R *packed, std::complex<R> *vectors) {
  for (int j = 0; j < n; ++j) {
    const R *re = packed + int64_t(j) * n, *im = re + n;
    std::complex<R> *to = vectors + int64_t(j) * n;
    bool pair = imaginary[j] != R(0) && j + 1 < n;
    for (int i = 0; i < n; ++i) to[i] = pair ? std::complex<R>(re[i], im[i]) : std::complex<R>(re[i], 0);
    if (!pair) continue;
    for (int i = 0; i < n; ++i) to[n + i] = std::conj(to[i]);
    ++j;
  }
}

// numbers: batch, n, n, left, right. A -> wr, wi, VL, VR, info; the vectors are complex.
template <typename R> void geev_real(void **b, const int64_t *k) {
  int n = k[1], lead = std::max(1, n), query = -1, *info = at<int>(b, 5);
  char left = k[3], right = k[4];
  int64_t square = int64_t(n) * n;
  R *from = at<R>(b, 0), *wr = at<R>(b, 1), *wi = at<R>(b, 2), answer;
  auto *vl = at<std::complex<R>>(b, 3), *vr = at<std::complex<R>>(b, 4);
  Scratch<R> a(square), l(left == 'V' ? square : 1), r(right == 'V' ? square : 1);
  auto run = [&](R *work, int *size) {
    fortran<R, 2>(k_geev, &left, &right, &n, a.get(), &lead, wr, wi, l.get(), &lead, r.get(), &lead, work, size, info);
  };
  run(&answer, &query);
  int size = asked(answer);
  Scratch<R> work(size);
  for (int64_t i = 0; i < k[0]; ++i, from += square, wr += n, wi += n, vl += square, vr += square, ++info) {
    if (!finite(from, square)) {
      *info = kNotFinite;
      continue;
    }
    std::copy(from, from + square, a.get());
    run(work.get(), &size);
    if (left == 'V') unpack(n, wi, l.get(), vl);
    if (right == 'V') unpack(n, wi, r.get(), vr);
  }
}

// numbers: batch, n, n, left, right. A -> w, VL, VR, info.
template <typename T> void geev_complex(void **b, const int64_t *k) {
  int n = k[1], lead = std::max(1, n), query = -1, *info = at<int>(b, 4);
  char left = k[3], right = k[4];
  int64_t square = int64_t(n) * n;
  T *from = at<T>(b, 0), *w = at<T>(b, 1), *vl = at<T>(b, 2), *vr = at<T>(b, 3), answer;
  Scratch<T> a(square);
  Scratch<Real<T>> reals(2 * int64_t(n));
  auto run = [&](T *work, int *size) {
    fortran<T, 2>(k_geev, &left, &right, &n, a.get(), &lead, w, vl, &lead, vr, &lead, work, size, reals.get(), info);
  };
  run(&answer, &query);
  int size = asked(answer);
  Scratch<T> work(size);
  for (int64_t i = 0; i < k[0]; ++i, from += square, w += n, vl += square, vr += square, ++info) {
    if (!finite(from, square)) {
      *info = kNotFinite;
      continue;
    }
    std::copy(from, from + square, a.get());
    run(work.get(), &size);
  }
}

template <typename T> void geev(void **b, const int64_t *k) {
  if constexpr (kComplex<T>)
    geev_complex<T>(b, k);
  else
    geev_real<T>(b, k);
}

// numbers: batch, n, n, mode, sort. A -> T, VS, wr, wi (or w), sdim, info. Nothing is sorted.
template <typename T> void gees(void **b, const int64_t *k) {
  int n = k[1], lead = std::max(1, n), query = -1;
  char mode = k[3], sort = 'N';
  int64_t square = int64_t(n) * n;
  constexpr int after = kComplex<T> ? 4 : 5;
  T *a = at<T>(b, 1), *vs = at<T>(b, 2), *wr = at<T>(b, 3), *wi = at<T>(b, 4), answer;
  int *sdim = at<int>(b, after), *info = at<int>(b, after + 1);
  Scratch<Real<T>> reals(n);
  Scratch<int> unused(n);
  void *select = nullptr;
  auto run = [&](T *work, int *size) {
    if constexpr (kComplex<T>)
      fortran<T, 2>(k_gees, &mode, &sort, select, &n, a, &lead, sdim, wr, vs, &lead, work, size, reals.get(), unused.get(), info);
    else
      fortran<T, 2>(k_gees, &mode, &sort, select, &n, a, &lead, sdim, wr, wi, vs, &lead, work, size, unused.get(), info);
  };
  run(&answer, &query);
  int size = asked(answer);
  Scratch<T> work(size);
  for (int64_t i = 0; i < k[0]; ++i, a += square, vs += square, wr += n, wi += n, ++sdim, ++info)
    if (finite(a, square)) {
      run(work.get(), &size);
    } else {
      *sdim = 0;
      *info = kNotFinite;
    }
}

// numbers: batch, n, n, low, high. A -> A, tau, info.
template <typename T> void gehrd(void **b, const int64_t *k) {
  int n = k[1], lead = std::max(1, n), low = k[3], high = k[4], query = -1, *info = at<int>(b, 3);
  T *a = at<T>(b, 1), *tau = at<T>(b, 2), answer;
  fortran<T, 0>(k_gehrd, &n, &low, &high, a, &lead, tau, &answer, &query, info);
  int size = asked(answer);
  Scratch<T> work(size);
  for (int64_t i = 0; i < k[0]; ++i, a += int64_t(n) * n, tau += std::max(0, n - 1), ++info)
    fortran<T, 0>(k_gehrd, &n, &low, &high, a, &lead, tau, work.get(), &size, info);
}

// numbers: batch, n, n, uplo. A -> A, d, e, tau, info. hetrd for complex numbers.
template <typename T> void sytrd(void **b, const int64_t *k) {
  int n = k[1], lead = std::max(1, n), query = -1, less = std::max(0, n - 1), *info = at<int>(b, 5);
  char uplo = k[3];
  T *a = at<T>(b, 1), *tau = at<T>(b, 4), answer;
  Real<T> *d = at<Real<T>>(b, 2), *e = at<Real<T>>(b, 3);
  fortran<T, 1>(k_sytrd, &uplo, &n, a, &lead, d, e, tau, &answer, &query, info);
  int size = asked(answer);
  Scratch<T> work(size);
  for (int64_t i = 0; i < k[0]; ++i, a += int64_t(n) * n, d += n, e += less, tau += less, ++info)
    fortran<T, 1>(k_sytrd, &uplo, &n, a, &lead, d, e, tau, work.get(), &size, info);
}

// numbers: batch, n, n, n, n, columns. dl, d, du, B -> dl, d, du, X, info. The first of dl and the last of du are none of the matrix.
template <typename T> void gtsv(void **b, const int64_t *k) {
  int n = k[1], columns = k[5], lead = std::max(1, n), *info = at<int>(b, 8);
  T *dl = at<T>(b, 4), *d = at<T>(b, 5), *du = at<T>(b, 6), *x = at<T>(b, 7);
  for (int64_t i = 0; i < k[0]; ++i, dl += n, d += n, du += n, x += int64_t(n) * columns, ++info)
    fortran<T, 0>(k_gtsv, &n, &columns, dl + (n > 0), d, du, x, &lead, info);
}

}  // namespace

// The routine with its entry points: the symbol hloom_lapack_<letter><routine>, which a program calls under whatever name.
#define ENTRY(letter, type, routine) \
  void hloom_lapack_##letter##routine(void **buffers, const int64_t *numbers, const char *) { \
    try {                                                                                       \
      routine<type>(buffers, numbers);                                                          \
    } catch (const std::bad_alloc &) {                                                          \
      starved = #letter #routine;                                                               \
    }                                                                                           \
  }
#define ENTRIES(routine)                           \
  ENTRY(s, float, routine)                         \
  ENTRY(d, double, routine)                        \
  ENTRY(c, std::complex<float>, routine)           \
  ENTRY(z, std::complex<double>, routine)
#define NAME(name) #name,

extern "C" {

ROUTINES(ENTRIES)

// The routines by number, for hloom_set_lapack; null past the last.
const char *hloom_lapack_routine(int number) {
  static const char *const names[] = {ROUTINES(NAME) nullptr};
  return names[number];
}

// The name of a routine that found no memory on this thread since this was last called, or null.
const char *hloom_lapack_starved() { return std::exchange(starved, nullptr); }

void hloom_set_lapack(int type, int number, void *function) { table[type][number] = function; }

}
