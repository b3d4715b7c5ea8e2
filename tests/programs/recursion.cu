/* recursion: real calls: recursion with lanes at different depths, function pointers, a virtual method, a
 * switch table. */
#include "test_program.h"
#define KERNELS(K, V) K(recursion) K(pointers) K(virtuals) K(machine)
PROGRAM(KERNELS)

#ifdef __CUDACC__
#define SHARED_CODE __host__ __device__
#else
#define SHARED_CODE
#endif

static SHARED_CODE int ackermann(int m, int n)
{
    if (m == 0) return n + 1;
    return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}
static SHARED_CODE int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }

static SHARED_CODE int run_machine(unsigned program)
{
    unsigned acc = 1;
    for (int i = 0; i < 8; i++, program >>= 4) {
        switch (program & 15) {
        case 0: acc += 3; break;
        case 1: acc *= 5; break;
        case 2: acc ^= 0x55; break;
        case 3: acc -= 17; break;
        case 4: acc <<= 1; break;
        case 5: acc = 0 - acc; break;
        case 6: acc |= 8; break;
        case 7: acc &= ~2u; break;
        case 8: acc += (unsigned)((int)acc >> 3); break;
        case 9: acc = ~acc; break;
        case 10: acc *= acc; break;
        case 11: return (int)acc;
        default: acc++;
        }
    }
    return (int)acc;
}

#ifdef __CUDACC__
extern "C" __global__ void recursion(int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = fibonacci(i % 11) * 1000 + ackermann(i % 3, i % 5);
}
__device__ __noinline__ static float twice(float x) { return x * 2; }
__device__ __noinline__ static float square(float x) { return x * x; }
__device__ __noinline__ static float minus(float x) { return x - 100; }
__device__ float (*const table[3])(float) = {twice, square, minus};
extern "C" __global__ void pointers(float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = table[i % 3]((float)i) + table[(i / 3) % 3]((float)(i & 7));
}
struct shape {
    __device__ virtual int area(int n) const = 0;
};
struct box : shape {
    int w;
    __device__ box(int v) : w(v) {}
    __device__ int area(int n) const override { return w * n; }
};
struct disc : shape {
    int r;
    __device__ disc(int v) : r(v) {}
    __device__ int area(int n) const override { return 3 * r * r + n; }
};
extern "C" __global__ void virtuals(int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    box b(i);
    disc d(i + 1);
    shape *s = out[i] & 1 ? (shape *)&b : (shape *)&d;
    out[i] = s->area(i & 15);
}
extern "C" __global__ void machine(const unsigned *programs, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = run_machine(programs[i]);
}
#endif

static float apply(int f, float x) { return f == 0 ? x * 2 : f == 1 ? x * x : x - 100; }

int main(void)
{
    int n = 128, ok = 1;
    int want[128], want_virtual[128], start[128], want_machine[128];
    float want_pointers[128];
    unsigned programs[128];
    for (int i = 0; i < n; i++) {
        want[i] = fibonacci(i % 11) * 1000 + ackermann(i % 3, i % 5);
        want_pointers[i] = apply(i % 3, (float)i) + apply(i / 3 % 3, (float)(i & 7));
        start[i] = (int)(program_hash(i) & 1);
        want_virtual[i] = start[i] ? i * (i & 15) : 3 * (i + 1) * (i + 1) + (i & 15);
        programs[i] = program_hash(i * 7 + 3);
        want_machine[i] = run_machine(programs[i]);
    }
    int *a = (int *)program_device(NULL, n * 4), *c = (int *)program_device(start, n * 4),
        *e = (int *)program_device(NULL, n * 4);
    float *b = (float *)program_device(NULL, n * 4);
    unsigned *p = (unsigned *)program_device(programs, n * 4);
    LAUNCH(recursion, 2, 64, 0, a);
    LAUNCH(pointers, 1, 128, 0, b);
    LAUNCH(virtuals, 4, 32, 0, c);
    LAUNCH(machine, 2, 64, 0, p, e);
    ok &= program_same("recursion", program_fetch(a, n * 4), want, n);
    ok &= program_same("pointers", program_fetch(b, n * 4), want_pointers, n);
    ok &= program_same("virtuals", program_fetch(c, n * 4), want_virtual, n);
    ok &= program_same("machine", program_fetch(e, n * 4), want_machine, n);
    return program_end("recursion", ok);
}
