/* bad.cu: kernels that do wrong, each in one way. bad.ptx: nvcc -ptx -lineinfo -arch=compute_75 bad.cu */
extern "C" __global__ void past_end(int *p, int n) { p[blockIdx.x * blockDim.x + threadIdx.x] = n; }
extern "C" __global__ void null_read(int *p, int n) { p[threadIdx.x] = *(int *)(size_t)(n * 4); }
extern "C" __global__ void misaligned(int *p, int n) { *(int *)((char *)p + n) = 1; }
extern "C" __global__ void shared_past(int *p, int n)
{
    __shared__ int s[32];
    s[threadIdx.x + n] = 1;
    __syncthreads();
    p[threadIdx.x] = s[31 - threadIdx.x];
}
extern "C" __global__ void local_past(int *p, int n)
{
    int a[8];
    for (int i = 0; i < 8; i++) a[i] = p[i];
    a[n] = 5;
    p[threadIdx.x] = a[p[0] & 7];
}
extern "C" __global__ void stuck_barrier(int *p, int n)
{
    if ((int)threadIdx.x < n)
        asm volatile("bar.sync 1, 64;");
    else
        asm volatile("bar.sync 2, 64;");
    p[threadIdx.x] = 1;
}
extern "C" __global__ void endless(int *p, int n)
{
    while (*(volatile int *)p != n) {}
}
extern "C" __global__ void bad_pointer_call(int *p, int n)
{
    ((void (*)(int *))(size_t)n)(p);
}
extern "C" __device__ __noinline__ int down(int *p, int n)
{
    int a[16];
    a[n & 15] = n;
    p[0] += a[3 & n];
    return n ? down(p, n - 1) + a[n & 7] : 0;
}
extern "C" __global__ void deep(int *p, int n) { p[1] = down(p, n); }
extern "C" __global__ void trapping(int *p, int n)
{
    if ((int)threadIdx.x == n) __trap();
}
