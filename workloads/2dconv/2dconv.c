/* 2dconv: host side. */
#include "kit/kit.h"

#define BLOCK_X 32
#define BLOCK_Y 8

/* The weight of the neighbour at row i + di, column j + dj is weight[di + 1][dj + 1]. */
static const double weight[3][3] = {{0.2, 0.5, -0.8}, {-0.3, 0.6, -0.9}, {0.4, 0.7, 0.1}};

/* Scatters each element of A to the nine results that it takes part in; the border stays as it was. */
static void convolve(const float *A, double *B, int rows, int columns)
{
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < columns; j++) {
            for (int di = -1; di <= 1; di++) {
                for (int dj = -1; dj <= 1; dj++) {
                    int to_i = i - di, to_j = j - dj;
                    bool inside = to_i > 0 && to_i < rows - 1 && to_j > 0 && to_j < columns - 1;
                    if (inside)
                        B[(size_t)to_i * columns + to_j] +=
                            weight[di + 1][dj + 1] * A[(size_t)i * columns + j];
                }
            }
        }
    }
}

int main(int argc, char **argv)
{
    kit_open("2dconv", argc, argv);
    int rows = (const int[]){66, 1568, 4096}[kit_size()];
    int columns = (const int[]){100, 1568, 4096}[kit_size()];
    size_t n = (size_t)rows * columns;
    float *A = kit_floats(n, 0, 1), *B = kit_host(n * sizeof *B);

    CUdeviceptr dA = kit_upload(A, n * sizeof *A), dB = kit_zeros(n * sizeof *B);
    struct kit_dim grid = KIT_DIM((columns + BLOCK_X - 1) / BLOCK_X, (rows + BLOCK_Y - 1) / BLOCK_Y);
    KIT_LAUNCH("convolution2D_kernel", grid, KIT_DIM(BLOCK_X, BLOCK_Y), 0, dA, dB, rows, columns);
    kit_download(B, dB, n * sizeof *B);

    if (kit_checking()) {
        double *sum = kit_host(n * sizeof *sum);
        float *want = kit_host(n * sizeof *want);
        convolve(A, sum, rows, columns);
        for (size_t i = 0; i < n; i++) want[i] = (float)sum[i];
        kit_check_floats("B", B, want, n, 1e-5, 1e-6);
    }
    return kit_close();
}
