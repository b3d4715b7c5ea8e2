/* streams: asynchronous copies from pinned memory in two streams, events, managed memory read by the host;
 * then a chain through two streams that do not block, ordered by events alone, with a source that is changed
 * right after its copy. */
#include "test_program.h"
#define KERNELS(K, V) K(scale)
PROGRAM(KERNELS)

#ifdef __CUDACC__
extern "C" __global__ void scale(int *data, int factor, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) data[i] *= factor;
}
#endif

/* pageable -> s1 -> (event) -> s2 -> (event) -> s1 -> pinned: each number times 3, 5 and 3 again. */
static int chain(int *host, int *device, int n)
{
    cudaStream_t s1, s2;
    cudaEvent_t first, second;
    int three = 3, five = 5, *pageable = (int *)malloc(n * 4), ok = 1;
    CHECK_CUDA(cudaStreamCreateWithFlags(&s1, cudaStreamNonBlocking));
    CHECK_CUDA(cudaStreamCreateWithFlags(&s2, cudaStreamNonBlocking));
    CHECK_CUDA(cudaEventCreate(&first));
    CHECK_CUDA(cudaEventCreate(&second));
    for (int i = 0; i < n; i++) pageable[i] = i + 5, host[i] = -1;
    CHECK_CUDA(cudaMemsetAsync(device, 0xff, n * 4, s1));
    CHECK_CUDA(cudaMemcpyAsync(device, pageable, n * 4, cudaMemcpyHostToDevice, s1));
    memset(pageable, 0, n * 4); /* it was taken when the call returned */
    LAUNCH_STREAM(scale, 4, 128, 0, s1, device, three, n);
    CHECK_CUDA(cudaEventRecord(first, s1));
    CHECK_CUDA(cudaStreamWaitEvent(s2, first, 0));
    LAUNCH_STREAM(scale, 4, 128, 0, s2, device, five, n);
    CHECK_CUDA(cudaEventRecord(second, s2));
    CHECK_CUDA(cudaStreamWaitEvent(s1, second, 0));
    LAUNCH_STREAM(scale, 4, 128, 0, s1, device, three, n);
    CHECK_CUDA(cudaMemcpyAsync(host, device, n * 4, cudaMemcpyDeviceToHost, s1));
    CHECK_CUDA(cudaStreamSynchronize(s1));
    for (int i = 0; i < n && ok; i++)
        if (host[i] != (i + 5) * 45) {
            printf("chain [%d]: got %d\n", i, host[i]);
            ok = 0;
        }
    float ms = -1;
    CHECK_CUDA(cudaEventElapsedTime(&ms, first, second));
    if (!(ms > 0)) {
        printf("the time between the events, %g, is not positive\n", (double)ms);
        ok = 0;
    }
    CHECK_CUDA(cudaStreamDestroy(s1));
    CHECK_CUDA(cudaStreamDestroy(s2));
    CHECK_CUDA(cudaEventDestroy(first));
    CHECK_CUDA(cudaEventDestroy(second));
    free(pageable);
    return ok;
}

int main(void)
{
    int n = 10000, half = n / 2, three = 3, five = 5, ok = 1;
    void *pinned, *managed;
    CHECK_CUDA(cudaMallocHost(&pinned, n * 4));
    CHECK_CUDA(cudaMallocManaged(&managed, n * 4));
    int *host = (int *)pinned, *shared = (int *)managed, *device = (int *)program_device(NULL, n * 4),
        *upper = device + half;
    for (int i = 0; i < n; i++) host[i] = shared[i] = i - 777;
    cudaStream_t s1, s2;
    cudaEvent_t begin, end;
    CHECK_CUDA(cudaStreamCreate(&s1));
    CHECK_CUDA(cudaStreamCreate(&s2));
    CHECK_CUDA(cudaEventCreate(&begin));
    CHECK_CUDA(cudaEventCreate(&end));
    CHECK_CUDA(cudaEventRecord(begin));
    CHECK_CUDA(cudaMemcpyAsync(device, host, half * 4, cudaMemcpyHostToDevice, s1));
    CHECK_CUDA(cudaMemcpyAsync(upper, host + half, (n - half) * 4, cudaMemcpyHostToDevice, s2));
    LAUNCH_STREAM(scale, 4, 128, 0, s1, device, three, half);
    LAUNCH_STREAM(scale, 4, 128, 0, s2, upper, five, half);
    CHECK_CUDA(cudaMemcpyAsync(host, device, half * 4, cudaMemcpyDeviceToHost, s1));
    CHECK_CUDA(cudaMemcpyAsync(host + half, upper, half * 4, cudaMemcpyDeviceToHost, s2));
    CHECK_CUDA(cudaStreamSynchronize(s1));
    CHECK_CUDA(cudaStreamSynchronize(s2));
    LAUNCH(scale, 8, 64, 0, shared, three, n);
    CHECK_CUDA(cudaEventRecord(end));
    CHECK_CUDA(cudaEventSynchronize(end));
    CHECK_CUDA(cudaDeviceSynchronize());
    float ms = -1;
    CHECK_CUDA(cudaEventElapsedTime(&ms, begin, end));
    if (!(ms > 0)) {
        printf("the event time %g is not positive\n", (double)ms);
        ok = 0;
    }
    for (int i = 0; i < n && ok; i++)
        if (host[i] != (i - 777) * (i < half ? 3 : 5) || shared[i] != (i - 777) * 3) {
            printf("[%d]: got %d and %d\n", i, host[i], shared[i]);
            ok = 0;
        }
    ok = ok && chain(host, device, half);
    CHECK_CUDA(cudaStreamDestroy(s1));
    CHECK_CUDA(cudaStreamDestroy(s2));
    CHECK_CUDA(cudaEventDestroy(begin));
    CHECK_CUDA(cudaFreeHost(pinned));
    CHECK_CUDA(cudaFree(managed));
    return program_end("streams", ok);
}
