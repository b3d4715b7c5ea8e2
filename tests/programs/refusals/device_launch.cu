/* A kernel that launches another from the device, beside one that does not. */
#include <cstdio>
__global__ void child(int *x) { atomicAdd(x, 1); }
__global__ void parent(int *x) { child<<<1, 32>>>(x); }
__global__ void plain(int *x) { *x += 5; }

int main()
{
    int *x, sum = 0;
    cudaMalloc(&x, sizeof *x);
    cudaMemset(x, 0, sizeof *x);
    plain<<<1, 1>>>(x);
    parent<<<1, 1>>>(x);
    bool refused = cudaGetLastError() == cudaErrorNotSupported;
    plain<<<1, 1>>>(x);
    cudaMemcpy(&sum, x, sizeof sum, cudaMemcpyDeviceToHost);
    printf("device_launch: %s\n", refused && sum == 10 ? "PASS" : "FAIL");
}
