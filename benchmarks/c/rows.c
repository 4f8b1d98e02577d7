#include <math.h>

void softmax(const float *restrict x, float *restrict out, long rows, long columns) {
#pragma omp parallel for
  for (long i = 0; i < rows; i++) {
    const float *restrict in = x + i * columns;
    float *restrict to = out + i * columns;
    float largest = in[0], sum = 0;
    for (long j = 0; j < columns; j++) largest = in[j] > largest ? in[j] : largest;
    for (long j = 0; j < columns; j++) {
      to[j] = expf(in[j] - largest);
      sum += to[j];
    }
    float scale = 1 / sum;
    for (long j = 0; j < columns; j++) to[j] *= scale;
  }
}

void layernorm(const float *restrict x, const float *restrict scale, const float *restrict shift, float *restrict out, long rows,
               long columns) {
#pragma omp parallel for
  for (long i = 0; i < rows; i++) {
    const float *restrict in = x + i * columns;
    float *restrict to = out + i * columns;
    float sum = 0, squares = 0;
    for (long j = 0; j < columns; j++) sum += in[j];
    float mean = sum / columns;
    for (long j = 0; j < columns; j++) squares += (in[j] - mean) * (in[j] - mean);
    float factor = 1 / sqrtf(squares / columns + 1e-5f);
    for (long j = 0; j < columns; j++) to[j] = (in[j] - mean) * factor * scale[j] + shift[j];
  }
}
