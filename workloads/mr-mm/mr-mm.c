/* mr-mm: host side. */
#include "kit/mars.h"

struct mm_key {
    CUdeviceptr first, second;
};
struct mm_value {
    int row, column, rows, columns;
};

/* The first matrix is rows x inner, the second inner x columns. */
static const struct size {
    const char *name;
    int rows, inner, columns;
} sizes[] = {{"tiny", 32, 128, 32}, {"small", 48, 768, 768}, {"paper", 768, 768, 768}};

static float *whole_numbers(int n)
{
    float *values = kit_host(n * sizeof *values);
    for (int i = 0; i < n; i++) values[i] = (float)kit_below(100);
    return values;
}

/* The second matrix is handed to the device with rows and columns exchanged. */
static float *transposed(const float *from, int rows, int columns)
{
    float *to = kit_host(rows * columns * sizeof *to);
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++) to[j * rows + i] = from[i * columns + j];
    return to;
}

/* Row by row of the plain second matrix, in integers: sums stay below 2^24, so the device's floats are exact
 * too. */
static void multiply_row(const float *a, const float *b, int row, const struct size *size, int *out)
{
    memset(out, 0, size->columns * sizeof *out);
    for (int k = 0; k < size->inner; k++) {
        int factor = (int)a[row * size->inner + k];
        for (int j = 0; j < size->columns; j++) out[j] += factor * (int)b[k * size->columns + j];
    }
}

static void check(const struct mars_result *r, const float *a, const float *b, const struct size *size)
{
    int columns = size->columns, n = size->rows * columns;
    kit_check(r->n == n, "%d records, not %d", r->n, n);
    int *want = kit_host(columns * sizeof *want);
    for (int i = 0; i < r->n && r->n == n; i++) {
        if (i % columns == 0) multiply_row(a, b, i / columns, size, want);
        float value;
        int place[2];
        memcpy(&value, r->keys + r->index[i].key_at, sizeof value);
        memcpy(place, r->values + r->index[i].value_at, sizeof place);
        if (place[0] == i / columns && place[1] == i % columns && value == (float)want[i % columns]) continue;
        kit_check(false, "record %d is %g at (%d, %d), the CPU says %d", i, value, place[0], place[1],
                  want[i % columns]);
        return;
    }
}

int main(int argc, char **argv)
{
    kit_open("mr-mm", argc, argv);
    const struct size *size = KIT_CHOOSE(sizes);
    int a_count = size->rows * size->inner, b_count = size->inner * size->columns;
    float *a = whole_numbers(a_count), *b = whole_numbers(b_count);

    struct mars m = {0};
    struct mm_key key = {kit_upload(a, a_count * sizeof *a),
                         kit_upload(transposed(b, size->inner, size->columns), b_count * sizeof *b)};
    struct mm_value value = {.rows = size->rows, .columns = size->inner};
    for (value.row = 0; value.row < size->rows; value.row++)
        for (value.column = 0; value.column < size->columns; value.column++)
            mars_add(&m, &key, sizeof key, &value, sizeof value);
    mars_map(&m);

    if (kit_checking()) {
        struct mars_result r = mars_result(&m);
        check(&r, a, b, size);
    }
    mars_close(&m);
    return kit_close();
}
