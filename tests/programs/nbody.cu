/* nbody: accelerations with rsqrtf, float4 loads, shared tiles, structures passed by value. */
#include "test_program.h"
#define KERNELS(K, V) K(nbody)
PROGRAM(KERNELS)

struct nbody_settings { float softening; int n; float scale[3]; };

#ifdef __CUDACC__
extern "C" __global__ void nbody(const float *bodies, float *acc, struct nbody_settings s)
{
    extern __shared__ float4 tile[];
    const float4 *body = (const float4 *)bodies;
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 me = i < s.n ? body[i] : make_float4(0, 0, 0, 0);
    float ax = 0, ay = 0, az = 0;
    for (int base = 0; base < s.n; base += blockDim.x) {
        int j = base + threadIdx.x;
        tile[threadIdx.x] = j < s.n ? body[j] : make_float4(0, 0, 0, 0);
        __syncthreads();
        for (int k = 0; k < blockDim.x; k++) {
            float dx = tile[k].x - me.x, dy = tile[k].y - me.y, dz = tile[k].z - me.z;
            float inv = rsqrtf(dx * dx + dy * dy + dz * dz + s.softening);
            float f = tile[k].w * inv * inv * inv;
            ax += dx * f;
            ay += dy * f;
            az += dz * f;
        }
        __syncthreads();
    }
    if (i < s.n) {
        acc[3 * i] = ax * s.scale[0];
        acc[3 * i + 1] = ay * s.scale[1];
        acc[3 * i + 2] = az * s.scale[2];
    }
}
#endif

int main(void)
{
    int n = 300;
    struct nbody_settings s = {0.01f, n, {1.0f, 0.5f, 2.0f}};
    float *b = (float *)malloc(n * 16), *want = (float *)malloc(n * 12);
    for (int i = 0; i < 4 * n; i++) b[i] = program_unit(5, i);
    for (int i = 0; i < n; i++) {
        double a[3] = {0, 0, 0};
        for (int j = 0; j < n; j++) {
            double d[3], r = (double)s.softening;
            for (int c = 0; c < 3; c++) {
                d[c] = (double)b[4 * j + c] - (double)b[4 * i + c];
                r += d[c] * d[c];
            }
            for (int c = 0; c < 3; c++) a[c] += d[c] * (double)b[4 * j + 3] / (r * sqrt(r));
        }
        for (int c = 0; c < 3; c++) want[3 * i + c] = (float)(a[c] * (double)s.scale[c]);
    }
    float *db = (float *)program_device(b, n * 16), *da = (float *)program_device(NULL, n * 12);
    LAUNCH(nbody, (n + 63) / 64, 64, 64 * 16, db, da, s);
    return program_end("nbody", program_near("acc", (float *)program_fetch(da, n * 12), want, 3 * n, 2e-4f));
}
