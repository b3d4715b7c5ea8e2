/* mri-gridding: samples of k-space onto a regular grid with a Kaiser-Bessel window, as in Parboil's CUDA
 * version: each sample's bin (the grid point it lies at), a radix sort of the samples by bin, the samples
 * in that order, where each bin begins, and then every grid point gathers from the bins around it. */
#include "sort.cuh"

struct sample {
    float real, imag, kX, kY, kZ, sdc;
};

__constant__ int gridSize_c[3];
__constant__ int size_xy_c;
__constant__ float cutoff_c, cutoff2_c, _1overCutoff2_c;

/* ---- bins ---- */

/* A bin that is full leaves the sample to the CPU: its key is beyond the last bin. */
KERNEL binning_kernel(unsigned n, const struct sample *samples, unsigned *keys, unsigned *values,
                      unsigned *bin_count, unsigned bin_size, unsigned bins)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const struct sample s = samples[i];
    const unsigned bin = (unsigned)s.kZ * size_xy_c + (unsigned)s.kY * gridSize_c[0] + (unsigned)s.kX;
    unsigned key = bins;
    if (bin_count[bin] < bin_size) {
        if (atomicAdd(bin_count + bin, 1u) < bin_size)
            key = bin;
        else
            atomicSub(bin_count + bin, 1u);
    }
    keys[i] = key;
    values[i] = i;
}

/* Samples by bin, and as a struct of arrays: value (real, imag) and place (x, y, z, density compensation). */
KERNEL reorder_kernel(int n, const unsigned *values, const struct sample *samples, float2 *data,
                      float4 *place)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const struct sample s = samples[values[i]];
    data[i] = make_float2(s.real, s.imag);
    place[i] = make_float4(s.kX, s.kY, s.kZ, s.sdc);
}

/* ---- gridding ---- */

#define TILE 64

/* The modified Bessel function I0 by a rational approximation, with the original's coefficients. */
KIT_INLINE float kernel_value(float v)
{
    const float z = v * v;
    float num = 0.210580722890567e-22f;
    num = num * z + 0.380715242345326e-19f;
    num = num * z + 0.479440257548300e-16f;
    num = num * z + 0.435125971262668e-13f;
    num = num * z + 0.300931127112960e-10f;
    num = num * z + 0.160224679395361e-7f;
    num = num * z + 0.654858370096785e-5f;
    num = num * z + 0.202591084143397e-2f;
    num = num * z + 0.463076284721000e0f;
    num = num * z + 0.754337328948189e2f;
    num = num * z + 0.830792541809429e4f;
    num = num * z + 0.571661130563785e6f;
    num = num * z + 0.216415572361227e8f;
    num = num * z + 0.356644482244025e9f;
    num = num * z + 0.144048298227235e10f;
    float den = z * (z * (z - 0.307646912682801e4f) + 0.347626332405882e7f) - 0.144048298227235e10f;
    return __fdividef(-num, den);
}

/* The sample's part in the point at height Z. */
#define ADD(Z, sum, density)                                                                                 \
    {                                                                                                        \
        const float v = flat + (kz_s[j] - (Z)) * (kz_s[j] - (Z));                                            \
        if (v < cutoff2_c) {                                                                                 \
            const float w = kernel_value(beta * sqrtf(1.0f - v * _1overCutoff2_c)) * sdc;                    \
            sum.x += w * real;                                                                               \
            sum.y += w * imag;                                                                               \
            density += 1.0f;                                                                                 \
        }                                                                                                    \
    }

/* A block of 8 x 4 x 2 threads has 8 x 4 x 8 points, a thread four of them two apart in z. It goes through
 * the rows of bins around them: the bins of a row from end to end are one run of samples, which comes
 * through shared memory 64 at a time. */
KERNEL gridding_GPU(const float2 *data, const float4 *place, const unsigned *bin_start, float2 *grid,
                    float *density, float beta)
{
    __shared__ float real_s[TILE], imag_s[TILE], kx_s[TILE], ky_s[TILE], kz_s[TILE], sdc_s[TILE];
    const int me = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
    const int tiles_y = gridSize_c[1] / blockDim.y, dz = blockDim.z;
    const int x0 = blockIdx.x * blockDim.x, y0 = blockDim.y * (blockIdx.y % tiles_y),
              z0 = 4 * dz * (blockIdx.y / tiles_y);
    const int X = x0 + threadIdx.x, Y = y0 + threadIdx.y, Z = z0 + threadIdx.z;

    const int reach = (int)ceilf(cutoff_c);
    const int x_low = max(x0 - reach, 0), x_high = min((int)(x0 + blockDim.x + cutoff_c), gridSize_c[0] - 1);
    const int y_low = max(y0 - reach, 0), y_high = min((int)(y0 + blockDim.y + cutoff_c), gridSize_c[1] - 1);
    const int z_low = max(z0 - reach, 0), z_high = min((int)(z0 + 4 * dz + cutoff_c), gridSize_c[2] - 1);

    float2 sum0 = make_float2(0, 0), sum1 = sum0, sum2 = sum0, sum3 = sum0;
    float density0 = 0, density1 = 0, density2 = 0, density3 = 0;
    for (int z = z_low; z <= z_high; z++)
        for (int y = y_low; y <= y_high; y++) {
            const unsigned *row = bin_start + z * size_xy_c + y * gridSize_c[0];
            const unsigned start = row[x_low], samples = row[x_high + 1] - start;
            for (unsigned tile = 0; tile < samples; tile += TILE) {
                const int n = (int)min(samples - tile, (unsigned)TILE);
                __syncthreads();
                if (me < n) {
                    const float2 value = data[start + tile + me];
                    const float4 at = place[start + tile + me];
                    real_s[me] = value.x;
                    imag_s[me] = value.y;
                    kx_s[me] = at.x;
                    ky_s[me] = at.y;
                    kz_s[me] = at.z;
                    sdc_s[me] = at.w;
                }
                __syncthreads();
                for (int j = 0; j < n; j++) {
                    const float real = real_s[j], imag = imag_s[j], sdc = sdc_s[j];
                    if ((real == 0 && imag == 0) || sdc == 0) continue;
                    const float flat = (kx_s[j] - X) * (kx_s[j] - X) + (ky_s[j] - Y) * (ky_s[j] - Y);
                    ADD(Z, sum0, density0);
                    ADD(Z + dz, sum1, density1);
                    ADD(Z + 2 * dz, sum2, density2);
                    ADD(Z + 3 * dz, sum3, density3);
                }
            }
        }

    const int at = Z * size_xy_c + Y * gridSize_c[0] + X, step = dz * size_xy_c;
    grid[at] = sum0;
    density[at] = density0;
    grid[at + step] = sum1;
    density[at + step] = density1;
    grid[at + 2 * step] = sum2;
    density[at + 2 * step] = density2;
    grid[at + 3 * step] = sum3;
    density[at + 3 * step] = density3;
}
