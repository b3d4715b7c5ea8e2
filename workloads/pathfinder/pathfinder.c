/* pathfinder: host side. */
#include "kit/kit.h"

#define BLOCK 256
#define HALO  1

/* The cost of the cheapest way to each cell of the last row, row by row over the whole width. */
static void pathfinder_cpu(const int *grid, int *best, int rows, int cols)
{
    int *next = malloc(cols * sizeof *next);
    memcpy(best, grid, cols * sizeof *best);
    for (int r = 1; r < rows; r++) {
        for (int c = 0; c < cols; c++) {
            int least = best[c];
            if (c > 0 && best[c - 1] < least) least = best[c - 1];
            if (c < cols - 1 && best[c + 1] < least) least = best[c + 1];
            next[c] = grid[(size_t)r * cols + c] + least;
        }
        memcpy(best, next, cols * sizeof *best);
    }
    free(next);
}

int main(int argc, char **argv)
{
    kit_open("pathfinder", argc, argv);
    int cols = (const int[]){2000, 100000, 100000}[kit_size()];
    int rows = (const int[]){21, 41, 100}[kit_size()];
    int height = (const int[]){10, 20, 20}[kit_size()];
    size_t row = cols * sizeof(int);
    int *grid = kit_ints((size_t)rows * cols, 0, 9), *result = kit_host(row), *want = kit_host(row);

    int border = height * HALO, inner = BLOCK - height * HALO * 2;
    struct kit_dim blocks = KIT_DIM((cols + inner - 1) / inner), block = KIT_DIM(BLOCK);
    CUdeviceptr dwall = kit_upload(grid + cols, (rows - 1) * row);
    CUdeviceptr dresult[2] = {kit_upload(grid, row), kit_alloc(row)};
    int from = 1, to = 0;
    for (int t = 0; t < rows - 1; t += height) {
        int steps = rows - t - 1 < height ? rows - t - 1 : height;
        from = !from, to = !to;
        KIT_LAUNCH("dynproc_kernel", blocks, block, 0, steps, dwall, dresult[from], dresult[to], cols, rows,
                   t, border);
    }
    kit_download(result, dresult[to], row);

    if (kit_checking()) {
        pathfinder_cpu(grid, want, rows, cols);
        kit_check_ints("result", result, want, cols);
    }
    return kit_close();
}
