/* nw: host side. */
#include "kit/kit.h"

#define TILE    16
#define LETTERS 10 /* the original draws letters 1 .. 10 of BLOSUM62's alphabet */

/* BLOSUM62 (Henikoff and Henikoff 1992), rows and columns R N D C Q E G H I L. */
static const int blosum62[LETTERS][LETTERS] = {
    {5, 0, -2, -3, 1, 0, -2, 0, -3, -2},    {0, 6, 1, -3, 0, 0, 0, 1, -3, -3},
    {-2, 1, 6, -3, 0, 2, -1, -1, -3, -4},   {-3, -3, -3, 9, -3, -4, -3, -3, -1, -1},
    {1, 0, 0, -3, 5, 2, -2, 0, -3, -2},     {0, 0, 2, -4, 2, 5, -2, 0, -3, -3},
    {-2, 0, -1, -3, -2, -2, 6, -2, -4, -4}, {0, 1, -1, -3, 0, 0, -2, 8, -3, -3},
    {-3, -3, -3, -1, -3, -3, -4, -3, 4, 2}, {-2, -3, -4, -1, -2, -3, -4, -3, 2, 4},
};

/* Row by row over the whole matrix, scores looked up from the letters. */
static void nw_cpu(const int *down, const int *across, int *matrix, int n, int penalty)
{
    int cols = n + 1;
    for (int j = 0; j < cols; j++) matrix[j] = -j * penalty;
    for (int i = 1; i < cols; i++) {
        int *row = matrix + (size_t)i * cols, *above = row - cols;
        row[0] = -i * penalty;
        for (int j = 1; j < cols; j++) {
            int best = above[j - 1] + blosum62[down[i - 1]][across[j - 1]];
            int gap = (row[j - 1] > above[j] ? row[j - 1] : above[j]) - penalty;
            row[j] = best > gap ? best : gap;
        }
    }
}

static const struct size {
    const char *name;
    int side;
} sizes[] = {{"tiny", 128}, {"small", 1024}, {"paper", 2048}};

int main(int argc, char **argv)
{
    kit_open("nw", argc, argv);
    const struct size *size = KIT_CHOOSE(sizes);
    int n = size->side, penalty = 10;
    int cols = n + 1, tiles = n / TILE;
    size_t bytes = (size_t)cols * cols * sizeof(int);
    int *down = kit_ints(n, 0, LETTERS - 1), *across = kit_ints(n, 0, LETTERS - 1);
    int *reference = kit_host(bytes), *matrix = kit_host(bytes);
    for (int i = 1; i < cols; i++)
        for (int j = 1; j < cols; j++) reference[(size_t)i * cols + j] = blosum62[down[i - 1]][across[j - 1]];
    for (int i = 1; i < cols; i++) matrix[i] = matrix[(size_t)i * cols] = -i * penalty;

    CUdeviceptr dreference = kit_upload(reference, bytes), dmatrix = kit_upload(matrix, bytes);
    struct kit_dim block = KIT_DIM(TILE);
    for (int i = 1; i <= tiles; i++)
        KIT_LAUNCH("needle_cuda_shared_1", KIT_DIM(i), block, 0, dreference, dmatrix, cols, penalty, i,
                   tiles);
    for (int i = tiles - 1; i >= 1; i--)
        KIT_LAUNCH("needle_cuda_shared_2", KIT_DIM(i), block, 0, dreference, dmatrix, cols, penalty, i,
                   tiles);
    kit_download(matrix, dmatrix, bytes);
    kit_note("%d x %d, score %d", n, n, matrix[(size_t)cols * cols - 1]);

    if (kit_checking()) {
        int *want = kit_host(bytes);
        nw_cpu(down, across, want, n, penalty);
        kit_check_ints("matrix", matrix, want, (size_t)cols * cols);
    }
    return kit_close();
}
