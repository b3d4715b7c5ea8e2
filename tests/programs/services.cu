/* services: printf, malloc and free on the device; lists built by threads, walked by another kernel. */
#include "test_program.h"
#define KERNELS(K, V) K(build) K(walk) K(speak)
PROGRAM(KERNELS)

#ifdef __CUDACC__
#include <assert.h>
struct node { int value; struct node *next; };
extern "C" __global__ void build(void **heads)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    struct node *head = NULL;
    for (int k = 0; k <= i % 5; k++) {
        struct node *n = (struct node *)malloc(sizeof(struct node));
        assert(n);
        n->value = i * 10 + k;
        n->next = head;
        head = n;
    }
    heads[i] = head;
}
extern "C" __global__ void walk(void **heads, int *sums)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (struct node *n = (struct node *)heads[i], *next; n; n = next) {
        sum += n->value;
        next = n->next;
        free(n);
    }
    sums[i] = sum;
}
extern "C" __global__ void speak(int n, double x)
{
    if (threadIdx.x == 0 && blockIdx.x == 0) {
        const char *text = "text";
        int count = printf("device says %d %5.2f %s %c %llu 0x%08x %%\n", n, x, text, 'q', 123456789012345ull,
                           0xbeefu);
        printf("%d items, %-6d|%+d|%e\n", count, 42, 7, 1.5);
    }
}
#endif

int main(void)
{
    int threads = 64, want[64], n = -7;
    double x = 2.5;
    for (int i = 0; i < threads; i++) {
        want[i] = 0;
        for (int k = 0; k <= i % 5; k++) want[i] += i * 10 + k;
    }
    void **heads = (void **)program_device(NULL, threads * 8);
    int *sums = (int *)program_device(NULL, threads * 4);
    LAUNCH(build, 2, 32, 0, heads);
    LAUNCH(walk, 1, 64, 0, heads, sums);
    LAUNCH(speak, 2, 32, 0, n, x);
    return program_end("services", program_same("sums", program_fetch(sums, threads * 4), want, threads));
}
