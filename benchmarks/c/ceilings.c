// What a processor can do at most: FMAs in registers, and reading and writing memory once, by so many threads.

#ifdef __AVX512F__
typedef float lanes __attribute__((vector_size(64), aligned(4), may_alias));
#else
typedef float lanes __attribute__((vector_size(32), aligned(4), may_alias));
#endif
enum { WIDTH = sizeof(lanes) / sizeof(float), CHAINS = 12 };

// Twelve chains, each in a register of its own, hide the latency of two FMA units. The empty asm keeps the compiler from reassociating.
#define EACH(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#define BEGIN(i) lanes sum##i = terms * (float)i;
#define STEP(i) sum##i = sum##i * factors + terms; __asm__ volatile("" : "+v"(sum##i));
#define END(i) +sum##i[0]

static float chains(long flops, float factor, float term)
{
    lanes factors = factor - (lanes){}, terms = term - (lanes){};
    EACH(BEGIN)
    for (long left = flops / (2 * CHAINS * WIDTH); left > 0; left--) {
        EACH(STEP)
    }
    return 0 EACH(END);
}

static float once(const char *source, long read, char *target, long written)
{
    lanes sums[8] = {};
    long step = sizeof(lanes) * 8, i = 0;
    for (; i + step <= read; i += step)
#pragma GCC unroll 8
        for (int k = 0; k < 8; k++)
            sums[k] += *(const lanes *)(source + i + k * sizeof(lanes));
    lanes sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
    for (i = 0; i + (long)sizeof(lanes) <= written; i += sizeof(lanes)) {
        *(lanes *)(target + i) = sum;
        __asm__ volatile("" ::: "memory");  // no memset, which would write past the caches
    }
    return sum[0];
}

// Returns what nobody can foresee, so that nothing is left out.
float fma_chains(long flops, int threads, float factor, float term)
{
    float sum = 0;
#pragma omp parallel num_threads(threads) reduction(+ : sum) if (threads > 1)
    sum += chains(flops / threads, factor, term);
    return sum;
}

// Reads `read` bytes and writes `written` ones, each thread its part.
float stream(const char *source, long read, char *target, long written, int threads)
{
    float sum = 0;
    read /= threads, written /= threads;
#pragma omp parallel for num_threads(threads) reduction(+ : sum) if (threads > 1)
    for (int i = 0; i < threads; i++)
        sum += once(source + i * read, read, target + i * written, written);
    return sum;
}
