/* circle_hits: a 64-bit generator a thread; hits inside a circle (exact), 64- and 128-bit products by mul.hi
 * and carry chains. */
#include "test_program.h"
#define KERNELS(K, V) K(montecarlo)
PROGRAM(KERNELS)

#ifdef __CUDACC__
#define SHARED_CODE __host__ __device__
#else
#define SHARED_CODE
#endif

static SHARED_CODE unsigned long long step(unsigned long long *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    unsigned long long x = *state;
    x ^= x >> 33;
    x *= 0xff51afd7ed558ccdull;
    return x ^ x >> 29;
}

#ifdef __CUDACC__
extern "C" __global__ void montecarlo(unsigned long long *hits, unsigned long long *products, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long state = i * 977 + 5, count = 0, lo = 1, hi = 0;
    for (int r = 0; r < rounds; r++) {
        unsigned long long x = step(&state), y = step(&state);
        unsigned a = (unsigned)(x >> 40), b = (unsigned)(y >> 40);
        count += (unsigned long long)a * a + (unsigned long long)b * b < 1ull << 48;
        unsigned __int128 p = ((unsigned __int128)hi << 64 | lo) * (x | 1) + y; /* extended precision */
        lo = (unsigned long long)p;
        hi = (unsigned long long)(p >> 64) ^ __umul64hi(x, y) ^
             (unsigned long long)__mul64hi((long long)x, (long long)y);
    }
    atomicAdd(hits, count);
    products[2 * i] = lo;
    products[2 * i + 1] = hi / (i + 3) + hi % (i + 7) + (unsigned long long)((long long)lo / (i - 1000001)) +
                          (unsigned long long)((long long)hi % (i - 77));
}
#endif

int main(void)
{
    int threads = 640, rounds = 50;
    unsigned long long want_hits = 0, *want = (unsigned long long *)malloc(threads * 16);
    for (int i = 0; i < threads; i++) {
        unsigned long long state = (unsigned long long)i * 977 + 5, lo = 1, hi = 0;
        for (int r = 0; r < rounds; r++) {
            unsigned long long x = step(&state), y = step(&state), a = x >> 40, b = y >> 40;
            want_hits += a * a + b * b < 1ull << 48;
            unsigned __int128 p = ((unsigned __int128)hi << 64 | lo) * (x | 1) + y;
            lo = (unsigned long long)p;
            hi = (unsigned long long)(p >> 64) ^ (unsigned long long)((unsigned __int128)x * y >> 64) ^
                 (unsigned long long)(((__int128)(long long)x * (long long)y) >> 64);
        }
        want[2 * i] = lo;
        want[2 * i + 1] = hi / (unsigned long long)(i + 3) + hi % (unsigned long long)(i + 7) +
                          (unsigned long long)((long long)lo / (i - 1000001)) +
                          (i == 77 ? hi : (unsigned long long)((long long)hi % (i - 77)));
    }
    unsigned long long *hits = (unsigned long long *)program_device(NULL, 8),
                       *products = (unsigned long long *)program_device(NULL, threads * 16);
    LAUNCH(montecarlo, threads / 128, 128, 0, hits, products, rounds);
    unsigned long long *got = (unsigned long long *)program_fetch(products, threads * 16);
    got[2 * 77 + 1] = want[2 * 77 + 1]; /* x % 0 is undefined: not compared */
    return program_end("circle_hits", program_same("hits", program_fetch(hits, 8), &want_hits, 2) &
                                          program_same("products", got, want, threads * 4));
}
