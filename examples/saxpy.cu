/* saxpy.cu: the kernel of the README; saxpy.ptx is made with nvcc -ptx -arch=compute_75. */
extern "C" __global__ void saxpy(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
