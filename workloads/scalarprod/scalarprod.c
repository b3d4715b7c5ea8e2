/* scalarprod: host side. */
#include "kit/kit.h"

#define BLOCK 256

int main(int argc, char **argv)
{
    kit_open("scalarprod", argc, argv);
    int vectors = (const int[]){16, 1024, 256}[kit_size()];
    int elements = (const int[]){4096, 4096, 4096}[kit_size()];
    unsigned blocks = (const unsigned[]){16, 256, 128}[kit_size()];
    size_t n = (size_t)vectors * elements;
    float *a = kit_floats(n, 0, 1), *b = kit_floats(n, 0, 1), *c = kit_host(vectors * sizeof *c);

    CUdeviceptr da = kit_upload(a, n * sizeof *a), db = kit_upload(b, n * sizeof *b);
    CUdeviceptr dc = kit_alloc(vectors * sizeof *c);
    KIT_LAUNCH("scalarProdGPU", KIT_DIM(blocks), KIT_DIM(BLOCK), 0, dc, da, db, vectors, elements);
    kit_download(c, dc, vectors * sizeof *c);

    if (kit_checking()) {
        float *want = kit_host(vectors * sizeof *want);
        for (int v = 0; v < vectors; v++) {
            const float *x = a + (size_t)v * elements, *y = b + (size_t)v * elements;
            double sum = 0;
            for (int i = 0; i < elements; i++) sum += (double)x[i] * y[i];
            want[v] = (float)sum;
        }
        kit_check_floats("c", c, want, vectors, 1e-6, 0); /* the original's tolerance */
    }
    return kit_close();
}
