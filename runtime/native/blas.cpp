// Library thunks for contractions: row-major batched C = op(A) op(B) through a CBLAS whose entry points the loader hands over,
// or through plain loops where there is none.
#include <cstdint>
#include <cstring>

namespace {

// CBLAS with 32-bit integers. 101: row-major; 111, 112: as it lies, transposed.
template <typename T>
using Gemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, T alpha, const T *a, int lda, const T *b, int ldb, T beta, T *c,
                      int ldc);

Gemm<float> sgemm = nullptr;
Gemm<double> dgemm = nullptr;

constexpr int kRowMajor = 101, kNoTrans = 111, kTrans = 112;

template <typename T>
void plain(bool ta, bool tb, int64_t m, int64_t n, int64_t k, const T *a, int64_t lda, const T *b, int64_t ldb, T *c, int64_t ldc) {
  for (int64_t i = 0; i < m; ++i) {
    T *row = c + i * ldc;
    std::memset(row, 0, n * sizeof(T));
    for (int64_t p = 0; p < k; ++p) {
      T x = ta ? a[p * lda + i] : a[i * lda + p];
      for (int64_t j = 0; j < n; ++j) row[j] += x * (tb ? b[j * ldb + p] : b[p * ldb + j]);
    }
  }
}

template <typename T>
void batched(Gemm<T> gemm, int64_t ta, int64_t tb, int64_t batch, int64_t m, int64_t n, int64_t k, const T *a, int64_t lda, int64_t stride_a,
             const T *b, int64_t ldb, int64_t stride_b, T *c, int64_t ldc, int64_t stride_c) {
  if (m == 0 || n == 0) return;
  constexpr int64_t kInt32 = INT32_MAX;
  bool fits = m <= kInt32 && n <= kInt32 && k <= kInt32 && lda <= kInt32 && ldb <= kInt32 && ldc <= kInt32;
  for (int64_t i = 0; i < batch; ++i, a += stride_a, b += stride_b, c += stride_c) {
    if (gemm && fits && k > 0)
      gemm(kRowMajor, ta ? kTrans : kNoTrans, tb ? kTrans : kNoTrans, m, n, k, T(1), a, lda, b, ldb, T(0), c, ldc);
    else
      plain<T>(ta, tb, m, n, k, a, lda, b, ldb, c, ldc);
  }
}

}  // namespace

extern "C" {

void hloom_set_blas(void *single_gemm, void *double_gemm) {
  sgemm = reinterpret_cast<Gemm<float>>(single_gemm);
  dgemm = reinterpret_cast<Gemm<double>>(double_gemm);
}

// Leading dimensions and strides count elements; C is overwritten.
void hloom_gemm_f32(int64_t trans_a, int64_t trans_b, int64_t batch, int64_t m, int64_t n, int64_t k, const float *a, int64_t lda, int64_t stride_a,
                    const float *b, int64_t ldb, int64_t stride_b, float *c, int64_t ldc, int64_t stride_c) {
  batched<float>(sgemm, trans_a, trans_b, batch, m, n, k, a, lda, stride_a, b, ldb, stride_b, c, ldc, stride_c);
}

void hloom_gemm_f64(int64_t trans_a, int64_t trans_b, int64_t batch, int64_t m, int64_t n, int64_t k, const double *a, int64_t lda, int64_t stride_a,
                    const double *b, int64_t ldb, int64_t stride_b, double *c, int64_t ldc, int64_t stride_c) {
  batched<double>(dgemm, trans_a, trans_b, batch, m, n, k, a, lda, stride_a, b, ldb, stride_b, c, ldc, stride_c);
}

}
