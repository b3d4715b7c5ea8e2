/* mri-q: the matrix Q of a non-Cartesian MRI reconstruction as Parboil's CUDA version computes it: a
 * thread a voxel, which runs through up to 1024 samples of k-space in constant memory a launch, two at a
 * time, and adds to its sums in global memory. */
#include "kit/device.h"

#define CHUNK  1024 /* samples that constant memory holds */
#define TWO_PI 6.2831853071795864769f

struct __attribute__((aligned(16))) sample {
    float kx, ky, kz, magnitude;
};
__constant__ struct sample ck[CHUNK];

KERNEL ComputePhiMag_GPU(const float *phi_real, const float *phi_imag, float *magnitude, int samples)
{
    int k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < samples) magnitude[k] = phi_real[k] * phi_real[k] + phi_imag[k] * phi_imag[k];
}

/* The special-function unit's sine and cosine: the original is meant for them. */
#define ADD(k)                                                                                               \
    {                                                                                                        \
        float angle = TWO_PI * (ck[k].kx * my_x + ck[k].ky * my_y + ck[k].kz * my_z);                        \
        real += ck[k].magnitude * __cosf(angle);                                                             \
        imag += ck[k].magnitude * __sinf(angle);                                                             \
    }

/* first: which sample of all `samples` is the chunk's first. */
KERNEL ComputeQ_GPU(int samples, int first, const float *x, const float *y, const float *z, float *q_real,
                    float *q_imag)
{
    const int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    const float my_x = x[voxel], my_y = y[voxel], my_z = z[voxel];
    float real = q_real[voxel], imag = q_imag[voxel];
    int k = 0;
    if (samples % 2) {
        ADD(0);
        k++;
        first++;
    }
    for (; k < CHUNK && first < samples; k += 2, first += 2) {
        ADD(k);
        ADD(k + 1);
    }
    q_real[voxel] = real;
    q_imag[voxel] = imag;
}
