/* lavaMD: forces between the particles of neighbouring boxes, as Rodinia's kernel_gpu_cuda: a CTA of 128
 * threads a home box of 100 particles. The home box and, one after the other, its up to 26 neighbours are
 * copied into shared memory; the force on each particle is added up in global memory, pair by pair. Lanes
 * sit 32 bytes apart in the arrays of four doubles. */
#include "kit/device.h"

#define THREADS   128
#define PARTICLES 100

/* The original adds up in memory, component by component, and its compilers computed the address of each
 * access from its own index. So index and memory are unknown after each sum: the next one is loaded after
 * this store. */
#define ADD(index, sum, value)                                                                              \
    do {                                                                                                    \
        (sum) += (value);                                                                                   \
        asm volatile("" : "+r"(index)::"memory");                                                           \
    } while (0)

struct FOUR_VECTOR {
    double v, x, y, z;
};
struct nei_str {
    int x, y, z, number;
    long offset;
};
struct box_str {
    int x, y, z, number;
    long offset;
    int nn; /* neighbours */
    nei_str nei[26];
};

KERNEL kernel_gpu_cuda(double alpha, long boxes, const box_str *box, const FOUR_VECTOR *rv, const double *qv,
                       FOUR_VECTOR *fv)
{
    __shared__ FOUR_VECTOR home[PARTICLES], other[PARTICLES];
    __shared__ double charge[PARTICLES];
    int bx = blockIdx.x, tx = threadIdx.x;
    if (bx >= boxes) return;

    double a2 = 2.0 * alpha * alpha;
    FOUR_VECTOR *force = fv + box[bx].offset;
    for (int i = tx; i < PARTICLES; i += THREADS) home[i] = rv[box[bx].offset + i];
    __syncthreads();

    for (int k = 0; k < 1 + box[bx].nn; k++) {
        int from = k == 0 ? bx : box[bx].nei[k - 1].number;
        long first = box[from].offset;
        for (int i = tx; i < PARTICLES; i += THREADS) {
            other[i] = rv[first + i];
            charge[i] = qv[first + i];
        }
        __syncthreads();

        for (int i = tx; i < PARTICLES; i += THREADS) {
#pragma unroll 1
            for (int j = 0; j < PARTICLES; j++) {
                double r2 = home[i].v + other[j].v -
                            (home[i].x * other[j].x + home[i].y * other[j].y + home[i].z * other[j].z);
                double vij = exp(-(a2 * r2)), fs = 2 * vij;
                double dx = home[i].x - other[j].x, dy = home[i].y - other[j].y, dz = home[i].z - other[j].z;
                ADD(i, force[i].v, charge[j] * vij);
                ADD(i, force[i].x, charge[j] * (fs * dx));
                ADD(i, force[i].y, charge[j] * (fs * dy));
                ADD(i, force[i].z, charge[j] * (fs * dz));
            }
        }
        __syncthreads();
    }
}
