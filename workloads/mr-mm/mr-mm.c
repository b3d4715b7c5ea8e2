/* mr-mm: host side. */
#include "kit/mars.h"

struct mm_key {
    CUdeviceptr first, second;
};
struct mm_value {
    int row, column, rows, columns;
};

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
static void multiply_row(const float *a, const float *b, int row, int rows, int columns, int *out)
{
    memset(out, 0, rows * sizeof *out);
    for (int k = 0; k < columns; k++) {
        int factor = (int)a[row * columns + k];
        for (int j = 0; j < rows; j++) out[j] += factor * (int)b[k * rows + j];
    }
}

static void check(const struct mars_result *r, const float *a, const float *b, int rows, int columns)
{
    kit_check(r->n == rows * rows, "%d records, not %d", r->n, rows * rows);
    int *want = kit_host(rows * sizeof *want);
    for (int i = 0; i < r->n && r->n == rows * rows; i++) {
        if (i % rows == 0) multiply_row(a, b, i / rows, rows, columns, want);
        float value;
        int place[2];
        memcpy(&value, r->keys + r->index[i].key_at, sizeof value);
        memcpy(place, r->values + r->index[i].value_at, sizeof place);
        if (place[0] == i / rows && place[1] == i % rows && value == (float)want[i % rows]) continue;
        kit_check(false, "record %d is %g at (%d, %d), the CPU says %d", i, value, place[0], place[1],
                  want[i % rows]);
        return;
    }
}

int main(int argc, char **argv)
{
    kit_open("mr-mm", argc, argv);
    int rows = (const int[]){32, 176, 768}[kit_size()], columns = (const int[]){128, 768, 768}[kit_size()];
    size_t bytes = (size_t)rows * columns * sizeof(float);
    float *a = whole_numbers(rows * columns), *b = whole_numbers(columns * rows);

    struct mars m = {0};
    struct mm_key key = {kit_upload(a, bytes), kit_upload(transposed(b, columns, rows), bytes)};
    struct mm_value value = {.rows = rows, .columns = columns};
    for (value.row = 0; value.row < rows; value.row++)
        for (value.column = 0; value.column < rows; value.column++)
            mars_add(&m, &key, sizeof key, &value, sizeof value);
    mars_map(&m);

    if (kit_checking()) {
        struct mars_result r = mars_result(&m);
        check(&r, a, b, rows, columns);
    }
    mars_close(&m);
    return kit_close();
}
