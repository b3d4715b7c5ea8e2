/* half: f16 and bf16 arithmetic, packed pairs, conversions, dot products of bytes (dp4a); checked on whole
 * numbers, which are exact. */
#include "test_program.h"
#define KERNELS(K, V) K(half_axpy) K(bfloat_scale) K(byte_dot)
PROGRAM(KERNELS)

#ifdef __CUDACC__
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void half_axpy(const float *x, const float *y, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (2 * i + 1 >= n) return;
    __half2 a = __floats2half2_rn(x[2 * i], x[2 * i + 1]), b = __floats2half2_rn(y[2 * i], y[2 * i + 1]);
    __half2 r = __hfma2(a, __float2half2_rn(3.0f), b);
    r = __hadd2(r, __hneg2(__hmul2(a, __float2half2_rn(0.5f))));
    if (__hgt(__low2half(r), __high2half(r))) r = __lowhigh2highlow(r);
    float2 f = __half22float2(r);
    out[2 * i] = f.x;
    out[2 * i + 1] = f.y + (float)__half2int_rn(__low2half(b));
}
extern "C" __global__ void bfloat_scale(const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] =
            __bfloat162float(__float2bfloat16(x[i])) * 2 +
            __bfloat162float(__hfma(__float2bfloat16(x[i]), __float2bfloat16(2.0f), __float2bfloat16(1.0f)));
}
extern "C" __global__ void byte_dot(const int *a, const int *b, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = __dp4a(a[i], b[i], 7) + (int)__dp4a((unsigned)a[i], (unsigned)b[i], 1u) +
                 __dp2a_lo(a[i], b[i], 0);
}
#endif

int main(void)
{
    enum { N = 512 };
    float x[N], y[N], want[N], want_b[N];
    int a[N], b[N], want_dot[N];
    for (int i = 0; i < N; i++) {
        x[i] = 2.0f * (float)(program_hash(i) % 64) - 64.0f;
        y[i] = (float)(program_hash(i + N) % 100) - 50.0f;
        a[i] = (int)program_hash(i + 2 * N);
        b[i] = (int)program_hash(i + 3 * N);
        want_b[i] = 2 * x[i] + 2 * x[i] + 1;
        want_dot[i] = 8;
        for (int k = 0; k < 4; k++)
            want_dot[i] += (int8_t)(a[i] >> 8 * k) * (int8_t)(b[i] >> 8 * k) +
                           (uint8_t)(a[i] >> 8 * k) * (uint8_t)(b[i] >> 8 * k);
        for (int k = 0; k < 2; k++) want_dot[i] += (int16_t)(a[i] >> 16 * k) * (int8_t)(b[i] >> 8 * k);
    }
    for (int i = 0; i < N; i += 2) {
        float p = 3 * x[i] + y[i] - 0.5f * x[i], q = 3 * x[i + 1] + y[i + 1] - 0.5f * x[i + 1];
        want[i] = p > q ? q : p;
        want[i + 1] = (p > q ? p : q) + y[i];
    }
    int n = N;
    float *dx = (float *)program_device(x, sizeof x), *dy = (float *)program_device(y, sizeof y),
          *o = (float *)program_device(NULL, sizeof x), *ob = (float *)program_device(NULL, sizeof x);
    int *da = (int *)program_device(a, sizeof a), *db = (int *)program_device(b, sizeof b),
        *od = (int *)program_device(NULL, sizeof a);
    LAUNCH(half_axpy, 4, 64, 0, dx, dy, o, n);
    LAUNCH(bfloat_scale, 8, 64, 0, dx, ob, n);
    LAUNCH(byte_dot, 8, 64, 0, da, db, od, n);
    return program_end("half", program_same("half", program_fetch(o, sizeof x), want, N) &
                                   program_same("bfloat", program_fetch(ob, sizeof x), want_b, N) &
                                   program_same("dot", program_fetch(od, sizeof a), want_dot, N));
}
