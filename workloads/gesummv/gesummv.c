/* gesummv: host side. */
#include "kit/kit.h"

#define BLOCK 256

/* Of each row, `stride` elements long, the first `columns` are summed. */
static const struct size {
    const char *name;
    int rows, columns, stride;
} sizes[] = {
    {"tiny", 501, 101, 101}, {"small", 4096, 512, 4096}, {"paper", 4096, 4096, 4096},
    {"fill", 81920, 96, 96}, {"long", 49152, 96, 96},
};

/* (alpha A + beta B) x: the matrices are summed before the product. */
static void gesummv_cpu(const float *A, const float *B, const float *x, float *y, double alpha, double beta,
                        const struct size *size)
{
    for (int i = 0; i < size->rows; i++) {
        const float *a = A + (size_t)i * size->stride, *b = B + (size_t)i * size->stride;
        double sum = 0;
        for (int j = 0; j < size->columns; j++) sum += (alpha * a[j] + beta * b[j]) * x[j];
        y[i] = (float)sum;
    }
}

int main(int argc, char **argv)
{
    kit_open("gesummv", argc, argv);
    const struct size *size = KIT_CHOOSE(sizes);
    int rows = size->rows, columns = size->columns, stride = size->stride;
    float alpha = 43532, beta = 12313; /* PolyBench's */
    size_t n = (size_t)rows * stride, matrix = n * sizeof(float), result = rows * sizeof(float);
    float *A = kit_floats(n, 0, 1), *B = kit_floats(n, 0, 1), *x = kit_floats(columns, 0, 1),
          *y = kit_host(result);

    CUdeviceptr dA = kit_upload(A, matrix), dB = kit_upload(B, matrix),
                dx = kit_upload(x, columns * sizeof *x);
    CUdeviceptr dtmp = kit_zeros(result), dy = kit_zeros(result);
    KIT_LAUNCH("gesummv_kernel", KIT_DIM((rows + BLOCK - 1) / BLOCK), KIT_DIM(BLOCK), 0, dA, dB, dtmp, dx, dy,
               alpha, beta, rows, columns, stride);
    kit_download(y, dy, result);

    if (kit_checking()) {
        float *want = kit_host(result);
        gesummv_cpu(A, B, x, want, alpha, beta, size);
        kit_check_floats("y", y, want, rows, 1e-4, 0);
    }
    return kit_close();
}
