/* cut_matrix.h: the matrix A of PolyBench's products A x and A^T y, for runs that compute only the first
 * terms of each sum. One product has a thread for each row of A, the other a thread for each column: a
 * matrix with enough threads for a whole machine in both has sums too long to simulate. */
#ifndef WORKLOAD_CUT_MATRIX_H
#define WORKLOAD_CUT_MATRIX_H

#include "kit.h"

struct cut_shape {
    int rows, columns;
    /* of each sum: the first ones, or all, where there are fewer */
    int terms;
    /* the elements that are used are all that exists of A */
    bool apart;
};

/* `left` has the first `across` elements of each row, `stride` elements from row to row; `top` has the first
 * `down` rows. They are two views of one array of rows x columns, or, apart, an array each. */
struct cut_matrix {
    int rows, columns, across, down, stride;
    float *left, *top;
    CUdeviceptr left_device, top_device;
};

/* Random elements between 0 and 1. */
struct cut_matrix cut_matrix_new(struct cut_shape shape);

#endif
