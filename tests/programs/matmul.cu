/* matmul: C = A B with 16x16 tiles in shared memory and barriers; sums are exact (small whole numbers). */
#include "test_program.h"
#define KERNELS(K, V) K(matmul)
PROGRAM(KERNELS)

#ifdef __CUDACC__
#define TILE 16
extern "C" __global__ void matmul(const float *A, const float *B, float *C, int n)
{
    __shared__ float a[TILE][TILE], b[TILE][TILE];
    int row = blockIdx.y * TILE + threadIdx.y, col = blockIdx.x * TILE + threadIdx.x;
    float sum = 0;
    for (int t = 0; t < (n + TILE - 1) / TILE; t++) {
        int k = t * TILE;
        a[threadIdx.y][threadIdx.x] = row < n && k + threadIdx.x < n ? A[row * n + k + threadIdx.x] : 0;
        b[threadIdx.y][threadIdx.x] = col < n && k + threadIdx.y < n ? B[(k + threadIdx.y) * n + col] : 0;
        __syncthreads();
        for (int i = 0; i < TILE; i++) sum += a[threadIdx.y][i] * b[i][threadIdx.x];
        __syncthreads();
    }
    if (row < n && col < n) C[row * n + col] = sum;
}
#endif

int main(void)
{
    int n = 100;
    size_t bytes = sizeof(float) * n * n;
    float *a = (float *)malloc(bytes), *b = (float *)malloc(bytes), *want = (float *)malloc(bytes);
    for (int i = 0; i < n * n; i++) {
        a[i] = (float)(program_hash(i) & 15);
        b[i] = (float)(program_hash(i + 77777) & 15);
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            float s = 0;
            for (int k = 0; k < n; k++) s += a[i * n + k] * b[k * n + j];
            want[i * n + j] = s;
        }
    float *da = (float *)program_device(a, bytes), *db = (float *)program_device(b, bytes),
          *dc = (float *)program_device(NULL, bytes);
    LAUNCH(matmul, GRID((n + 15) / 16, (n + 15) / 16, 1), GRID(16, 16, 1), 0, da, db, dc, n);
    return program_end("matmul", program_same("C", program_fetch(dc, bytes), want, n * n));
}
