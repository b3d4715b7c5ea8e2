/* cutcp: the Coulomb potential of atoms within a cutoff on a lattice of points, as Parboil's optimized
 * CUDA version computes it. Atoms are in bins of 4 A and eight places each; a block takes a region of 8 x
 * 8 x 8 lattice points, brings up to 32 bins of its neighbourhood (a list of offsets in constant memory)
 * into shared memory at a time, and every thread adds what their atoms give to its four points. */
#include "kit/device.h"

#define BIN_DEPTH  8  /* atoms */
#define BIN_FLOATS 32 /* x, y, z, charge of each; a charge of 0 ends the bin */
#define CACHE_BINS 32
#define LIST_MAX   (11 * 11 * 11)
#define BIN_PER_A  0.25f
#define REGION     512

__constant__ int NbrListLen;
__constant__ struct int3 NbrList[LIST_MAX];

/* The atom's part in the energy of the point at distance squared r2. */
#define ADD(energy)                                                                                          \
    if (r2 < cutoff2) {                                                                                      \
        float s = 1.0f - r2 * inv_cutoff2;                                                                   \
        energy += charge * rsqrtf(r2) * s * s;                                                               \
    }

/* bins: that of the origin; the ones with negative indices lie before it. One launch is a layer of
 * regions. */
KERNEL cuda_cutoff_potential_lattice6overlap(int bin_nx, int bin_ny, const float *bins, float h,
                                             float cutoff2, float inv_cutoff2, float *regions, int region_z)
{
    __shared__ float cache[CACHE_BINS * BIN_FLOATS];
    const int me = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x; /* of 8 x 2 x 8 */
    const int half_warp = me >> 4, lane = me & 15;
    const float x = (8 * blockIdx.x + threadIdx.x) * h;
    const float y = (8 * blockIdx.y + threadIdx.y) * h; /* and three more, two rows apart */
    const float z = (8 * region_z + threadIdx.z) * h;
    const int bin_x = (int)floorf((8 * blockIdx.x + 4) * h * BIN_PER_A); /* of the region's middle */
    const int bin_y = (int)floorf((8 * blockIdx.y + 4) * h * BIN_PER_A);
    const int bin_z = (int)floorf((8 * region_z + 4) * h * BIN_PER_A);
    float energy0 = 0, energy1 = 0, energy2 = 0, energy3 = 0;

    int neighbour = half_warp; /* the next one for this half warp to bring in */
    for (int done = 0; done < NbrListLen; done += CACHE_BINS) {
        for (int i = 0; i < 4 && neighbour < NbrListLen; i++, neighbour += 8) {
            int bx = bin_x + NbrList[neighbour].x, by = bin_y + NbrList[neighbour].y,
                bz = bin_z + NbrList[neighbour].z;
            const float *from = bins + ((bz * bin_ny + by) * bin_nx + bx) * BIN_FLOATS;
            float *to = cache + (half_warp + 8 * i) * BIN_FLOATS;
            to[lane] = from[lane];
            to[lane + 16] = from[lane + 16];
        }
        __syncthreads();
        const int here = min(NbrListLen - done, CACHE_BINS);
        for (int bin = 0; bin < here * BIN_FLOATS; bin += BIN_FLOATS) {
            for (int i = 0; i < BIN_DEPTH; i++) {
                const float *atom = cache + bin + 4 * i;
                const float charge = atom[3];
                if (charge == 0) break;
                const float dx = atom[0] - x, dz = atom[2] - z, dxz2 = dx * dx + dz * dz;
                float dy = atom[1] - y, r2 = dy * dy + dxz2;
                ADD(energy0);
                dy -= 2 * h;
                r2 = dy * dy + dxz2;
                ADD(energy1);
                dy -= 2 * h;
                r2 = dy * dy + dxz2;
                ADD(energy2);
                dy -= 2 * h;
                r2 = dy * dy + dxz2;
                ADD(energy3);
            }
        }
        __syncthreads();
    }

    float *region = regions + ((region_z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x) * REGION;
    region[half_warp * 64 + lane] = energy0;
    region[half_warp * 64 + lane + 16] = energy1;
    region[half_warp * 64 + lane + 32] = energy2;
    region[half_warp * 64 + lane + 48] = energy3;
}
