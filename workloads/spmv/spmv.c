/* spmv: host side. */
#include "kit/kit.h"

#define WARP  32
#define BLOCK 192 /* Parboil's choice on Fermi: 1536 threads of an SM over 8 blocks */

/* A sparse matrix by rows. */
struct matrix {
    int rows, entries;
    int *row, *column;
    float *value;
};

/* ---- the matrix: cubic finite elements on a square, as Dubcova3 of Parboil's large data set ---- `cells` x
 * `cells` square elements of 4 x 4 nodes each, those on the border left out. Two nodes are tied where they
 * share an element: 49 ties of a corner node, 28 of one on an edge, 16 of one inside; 25 on average. With 128
 * cells the count of rows and of entries is that of Dubcova3. Numbers go to the corners first, then edges,
 * then insides. */
static int node_kind(int x, int y) { return (x % 3 != 0) + (y % 3 != 0); }

static int *number_nodes(int side)
{
    int *number = malloc((size_t)side * side * sizeof *number), next = 0;
    for (int kind = 0; kind < 3; kind++)
        for (int cell = 0; cell < (side / 3 + 1) * (side / 3 + 1); cell++)
            for (int k = 0; k < 9; k++) {
                int x = cell % (side / 3 + 1) * 3 + k % 3, y = cell / (side / 3 + 1) * 3 + k / 3;
                if (x < side && y < side && x > 0 && y > 0 && node_kind(x, y) == kind)
                    number[y * side + x] = next++;
            }
    return number;
}

/* First and last node that share an element with node x along one axis; 0 and 3*cells are the border. */
static int reach_low(int x) { return x % 3 ? x / 3 * 3 : x - 3; }
static int reach_high(int x) { return x % 3 ? x / 3 * 3 + 3 : x + 3; }

static int compare_ints(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static struct matrix cubic_elements(int cells)
{
    int side = 3 * cells, inner = side - 1;
    struct matrix m = {.rows = inner * inner, .row = kit_host((inner * inner + 1) * sizeof(int))};
    m.column = kit_host((size_t)m.rows * 25 * sizeof(int));
    m.value = kit_host((size_t)m.rows * 25 * sizeof(float));
    int *number = number_nodes(side), *place = malloc(m.rows * sizeof *place);
    for (int y = 1; y < side; y++)
        for (int x = 1; x < side; x++) place[number[y * side + x]] = y * side + x;
    for (int v = 0; v < m.rows; v++) {
        int x = place[v] % side, y = place[v] / side, first = m.entries;
        for (int ny = reach_low(y); ny <= reach_high(y); ny++)
            for (int nx = reach_low(x); nx <= reach_high(x); nx++)
                if (nx > 0 && ny > 0 && nx < side && ny < side)
                    m.column[m.entries++] = number[ny * side + nx];
        qsort(m.column + first, m.entries - first, sizeof(int), compare_ints);
        for (int e = first; e < m.entries; e++) m.value[e] = (float)kit_uniform(-1, 1);
        m.row[v + 1] = m.entries;
    }
    free(number), free(place);
    return m;
}

/* ---- jagged diagonals ---- */
struct jds {
    int diagonals, warps, entries;
    /* of each diagonal */
    int *start;
    /* of each warp's rows: the longest of them, the others are padded with zeros */
    int *length;
    /* the row that a thread has */
    int *perm;
    int *index;
    float *data;
};

/* Rows by falling length, those of one length in their order. */
static int *sort_rows(const struct matrix *m)
{
    int *perm = kit_host(m->rows * sizeof *perm), next = 0, longest = 0;
    for (int v = 0; v < m->rows; v++)
        if (m->row[v + 1] - m->row[v] > longest) longest = m->row[v + 1] - m->row[v];
    for (int length = longest; length >= 0; length--)
        for (int v = 0; v < m->rows; v++)
            if (m->row[v + 1] - m->row[v] == length) perm[next++] = v;
    return perm;
}

static struct jds jds_of(const struct matrix *m)
{
    struct jds j = {.warps = (m->rows + WARP - 1) / WARP, .perm = sort_rows(m)};
    j.length = kit_host(j.warps * sizeof(int));
    for (int w = 0; w < j.warps; w++) {
        int longest = j.perm[w * WARP]; /* the first row of a warp is its longest */
        j.length[w] = m->row[longest + 1] - m->row[longest];
        j.entries += j.length[w] * WARP;
    }
    j.diagonals = j.length[0];
    j.start = kit_host(j.diagonals * sizeof(int));
    j.index = kit_host(j.entries * sizeof(int));
    j.data = kit_host(j.entries * sizeof(float));
    for (int k = 0, at = 0; k < j.diagonals; k++) {
        j.start[k] = at;
        for (int i = 0; i < j.warps * WARP && j.length[i / WARP] > k; i++, at++) {
            int e = i < m->rows ? m->row[j.perm[i]] + k : m->entries;
            if (i >= m->rows || e >= m->row[j.perm[i] + 1]) continue;
            j.index[at] = m->column[e];
            j.data[at] = m->value[e];
        }
    }
    return j;
}

static void spmv_cpu(const struct matrix *m, const float *x, float *y)
{
    for (int v = 0; v < m->rows; v++) {
        double sum = 0;
        for (int e = m->row[v]; e < m->row[v + 1]; e++) sum += (double)m->value[e] * x[m->column[e]];
        y[v] = (float)sum;
    }
}

int main(int argc, char **argv)
{
    kit_open("spmv", argc, argv);
    int cells = (const int[]){16, 128, 128}[kit_size()], rounds = (const int[]){2, 2, 50}[kit_size()];
    struct matrix m = cubic_elements(cells);
    struct jds j = jds_of(&m);
    int dim = m.rows;
    size_t bytes = dim * sizeof(float);
    float *x = kit_floats(dim, 0, 1), *y = kit_host(bytes), *want = kit_host(bytes);

    kit_set_symbol("jds_ptr_int", j.start, j.diagonals * sizeof *j.start);
    kit_set_symbol("sh_zcnt_int", j.length, j.warps * sizeof *j.length);
    CUdeviceptr ddata = kit_upload(j.data, j.entries * sizeof *j.data);
    CUdeviceptr dindex = kit_upload(j.index, j.entries * sizeof *j.index);
    CUdeviceptr dperm = kit_upload(j.perm, dim * sizeof *j.perm), dx = kit_upload(x, bytes),
                dy = kit_zeros(bytes);
    struct kit_dim grid = KIT_DIM((j.warps * WARP + BLOCK - 1) / BLOCK);
    for (int r = 0; r < rounds; r++)
        KIT_LAUNCH("spmv_jds", grid, KIT_DIM(BLOCK), 0, dy, ddata, dindex, dperm, dx, dim);
    kit_download(y, dy, bytes);
    kit_note("%d rows, %d entries, %d stored, %d rounds", dim, m.entries, j.entries, rounds);

    if (kit_checking()) {
        spmv_cpu(&m, x, want);
        kit_check_floats("y", y, want, dim, 1e-4, 1e-4);
    }
    return kit_close();
}
