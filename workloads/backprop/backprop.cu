/* backprop: Rodinia's training of a perceptron with one hidden layer of 16, the two kernels between input
 * and hidden layer. A block of 16 x 16 owns 16 input nodes: it multiplies their weights (rows of 17, the
 * first of which is the bias) and sums the products over the inputs in shared memory. Rows of 68 bytes put
 * a warp's two rows across a line's edge now and then. */
#include "kit/device.h"

#define HEIGHT   16
#define WIDTH    16
#define ETA      0.3f
#define MOMENTUM 0.3f

KERNEL bpnn_layerforward_CUDA(const float *input, float *output_hidden, float *weights, float *partial_sum,
                              int in, int hid)
{
    int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int index = (hid + 1) * HEIGHT * by + (hid + 1) * ty + tx + 1 + (hid + 1);
    __shared__ float node[HEIGHT];
    __shared__ float product[HEIGHT][WIDTH];

    if (tx == 0) node[ty] = input[HEIGHT * by + ty + 1];
    __syncthreads();
    product[ty][tx] = weights[index];
    __syncthreads();
    product[ty][tx] = product[ty][tx] * node[ty];
    __syncthreads();
    /* Steps and distances by the special-function unit, as the original has them. Rolled, as we suppose
     * the compilers of its day left it: unrolled, the powers and remainders fold away, which are much of
     * the work here. */
#pragma unroll 1
    for (int i = 1; i <= __log2f(HEIGHT); i++) {
        int power_two = (int)__powf(2, i);
        if (ty % power_two == 0) product[ty][tx] = product[ty][tx] + product[ty + power_two / 2][tx];
        __syncthreads();
    }
    weights[index] = product[ty][tx];
    __syncthreads();
    if (tx == 0) partial_sum[by * hid + ty] = product[tx][ty];
}

KERNEL bpnn_adjust_weights_cuda(const float *delta, int hid, const float *ly, int in, float *w, float *oldw)
{
    int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int index = (hid + 1) * HEIGHT * by + (hid + 1) * ty + tx + 1 + (hid + 1);
    int y = HEIGHT * by + ty + 1, x = tx + 1;

    w[index] += ETA * delta[x] * ly[y] + MOMENTUM * oldw[index];
    oldw[index] = ETA * delta[x] * ly[y] + MOMENTUM * oldw[index];
    __syncthreads();
    if (ty == 0 && by == 0) { /* the bias's row */
        w[x] += ETA * delta[x] + MOMENTUM * oldw[x];
        oldw[x] = ETA * delta[x] + MOMENTUM * oldw[x];
    }
}
