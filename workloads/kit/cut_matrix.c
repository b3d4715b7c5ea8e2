/* cut_matrix.c: a matrix in memory as far as it is used. */
#include "cut_matrix.h"

static int smaller(int a, int b) { return a < b ? a : b; }

/* The corner that both have is the same in both. */
static float *top_of(const struct cut_matrix *m)
{
    float *top = kit_floats((size_t)m->down * m->columns, 0, 1);
    for (int i = 0; i < m->down; i++)
        memcpy(top + (size_t)i * m->columns, m->left + (size_t)i * m->stride, m->across * sizeof *top);
    return top;
}

struct cut_matrix cut_matrix_new(struct cut_shape shape)
{
    struct cut_matrix m = {.rows = shape.rows,
                           .columns = shape.columns,
                           .across = smaller(shape.terms, shape.columns),
                           .down = smaller(shape.terms, shape.rows)};
    m.stride = shape.apart ? m.across : m.columns;
    size_t count = (size_t)m.rows * m.stride;
    m.left = kit_floats(count, 0, 1);
    m.left_device = kit_upload(m.left, count * sizeof *m.left);
    m.top = shape.apart ? top_of(&m) : m.left;
    m.top_device =
        shape.apart ? kit_upload(m.top, (size_t)m.down * m.columns * sizeof *m.top) : m.left_device;
    return m;
}
