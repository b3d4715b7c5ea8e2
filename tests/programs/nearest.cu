/* nearest: assigns points (34 features, point-major) to the nearest of five centres in constant memory;
 * counts members. */
#include "test_program.h"
#define KERNELS(K, V) K(kmeans) V(centres, 5 * 34 * sizeof(float)) V(members, 5 * sizeof(int))
PROGRAM(KERNELS)

#ifdef __CUDACC__
extern "C" {
__constant__ float centres[5 * 34];
__device__ int members[5];
}
extern "C" __global__ void kmeans(const float *points, int *nearest, int n)
{
    int p = blockIdx.x * blockDim.x + threadIdx.x;
    if (p >= n) return;
    int best = 0;
    float best_distance = 1e30f;
    for (int c = 0; c < 5; c++) {
        float d = 0;
        for (int f = 0; f < 34; f++) {
            float t = points[p * 34 + f] - centres[c * 34 + f];
            d += t * t;
        }
        if (d < best_distance) {
            best_distance = d;
            best = c;
        }
    }
    nearest[p] = best;
    atomicAdd(&members[best], 1);
}
#endif

int main(void)
{
    int n = 2000;
    float *points = (float *)malloc(n * 34 * 4), centre[5 * 34];
    int *want = (int *)malloc(n * 4), want_members[5] = {0}, got_members[5];
    for (int i = 0; i < n * 34; i++) points[i] = (float)(program_hash(i) & 15);
    for (int i = 0; i < 5 * 34; i++) centre[i] = (float)(program_hash(i + 12345678) & 15);
    for (int p = 0; p < n; p++) {
        float best = 1e30f;
        for (int c = 0; c < 5; c++) {
            float d = 0;
            for (int f = 0; f < 34; f++)
                d += (points[p * 34 + f] - centre[c * 34 + f]) * (points[p * 34 + f] - centre[c * 34 + f]);
            if (d < best) {
                best = d;
                want[p] = c;
            }
        }
        want_members[want[p]]++;
    }
    CHECK_CUDA(cudaMemcpyToSymbol(SYMBOL(centres), centre, sizeof centre));
    float *dp = (float *)program_device(points, n * 34 * 4);
    int *dn = (int *)program_device(NULL, n * 4);
    LAUNCH(kmeans, (n + 255) / 256, 256, 0, dp, dn, n);
    CHECK_CUDA(cudaMemcpyFromSymbol(got_members, SYMBOL(members), sizeof got_members));
    return program_end("nearest", program_same("nearest", program_fetch(dn, n * 4), want, n) &
                                      program_same("members", got_members, want_members, 5));
}
