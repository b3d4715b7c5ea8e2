/* gridsync: Jacobi iterations in one cooperative launch, a grid-wide barrier between the steps. */
#include "test_program.h"
#define KERNELS(K, V) K(jacobi)
PROGRAM(KERNELS)

#ifdef __CUDACC__
#include <cooperative_groups.h>
extern "C" __global__ void jacobi(float *a, float *b, int n, int steps)
{
    cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int s = 0; s < steps; s++) {
        if (i < n) b[i] = (i ? a[i - 1] : 0) * 0.5f + (i + 1 < n ? a[i + 1] : 0) * 0.5f;
        grid.sync();
        float *t = a;
        a = b;
        b = t;
    }
}
#endif

int main(void)
{
    int n = 1000, steps = 9;
    float *a = (float *)calloc(n, 4), *b = (float *)calloc(n, 4), *start = (float *)malloc(n * 4);
    for (int i = 0; i < n; i++) start[i] = a[i] = (float)(program_hash(i) % 4096);
    for (int s = 0; s < steps; s++) {
        for (int i = 0; i < n; i++) b[i] = (i ? a[i - 1] : 0) * 0.5f + (i + 1 < n ? a[i + 1] : 0) * 0.5f;
        float *t = a;
        a = b;
        b = t;
    }
    float *da = (float *)program_device(start, n * 4), *db = (float *)program_device(NULL, n * 4);
    LAUNCH_COOPERATIVE(jacobi, 8, 128, 0, da, db, n, steps);
    return program_end("gridsync",
                       program_near("a", (float *)program_fetch(steps & 1 ? db : da, n * 4), a, n, 1e-6f));
}
