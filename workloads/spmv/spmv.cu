/* spmv: Parboil's product of a sparse matrix in jagged-diagonal storage with a dense vector, one thread a
 * row. Rows are sorted by length; entry k of all rows lies together, so that values and columns are read
 * in full lines, while the vector is gathered. Where each diagonal starts and how long each warp's rows
 * are is in constant memory. */
#include "kit/device.h"

#define WARP_BITS 5

__constant__ int jds_ptr_int[5000];
__constant__ int sh_zcnt_int[5000];

KERNEL spmv_jds(float *dst_vector, const float *d_data, const int *d_index, const int *d_perm,
                const float *x_vec, int dim)
{
    int ix = blockIdx.x * blockDim.x + threadIdx.x;
    if (ix >= dim) return;
    int bound = sh_zcnt_int[ix >> WARP_BITS];
    /* Software pipeline: while product k-2 is added, value and element of k-1 and column of k are under
     * way. */
    int at = jds_ptr_int[0] + ix;
    float sum = 0, value = d_data[at], x = x_vec[d_index[at]];
    if (bound > 1) {
        at = jds_ptr_int[1] + ix;
        int column = d_index[at];
#pragma unroll 1 /* one static load each, as compilers of the time left it */
        for (int k = 2; k < bound; k++) {
            float next_value = d_data[at];
            at = jds_ptr_int[k] + ix;
            int next_column = d_index[at];
            float next_x = x_vec[column];
            sum += value * x;
            column = next_column;
            value = next_value;
            x = next_x;
        }
        float last_value = d_data[at], last_x = x_vec[column];
        sum += value * x;
        value = last_value;
        x = last_x;
    }
    sum += value * x;
    dst_vector[d_perm[ix]] = sum;
}
