/* figure_table.h: a figure's numbers as texts in columns, before it is known where they are printed. */
#ifndef HEDDLE_FIGURE_TABLE_H
#define HEDDLE_FIGURE_TABLE_H

#include "lab/figure_impl.h"

enum { TABLE_TEXT_BYTES = 96 };

struct text_column {
    /* Aligned at its left end. */
    bool left;
    uint32_t width;
    /* The heads first, then a cell for each row. */
    VEC(char *) cells;
};

struct text_table {
    VEC(struct text_column) columns;
    /* Lines of the head: 1 or 2. */
    uint32_t head;
};

/* The workloads, then for each column and measure our value, the paper's and how they agree, as far as
 * there are any. */
void figure_table(const struct plan *p, const struct figure_data *d, struct text_table *t);
/* The same of a figure with axes (figure_map.c): a row for each value of the second, from the largest on, a
 * column for each of the first. */
void figure_map(const struct plan *p, const struct figure_data *d, struct text_table *t);
/* "12 within a quarter, 5 on the same side, 2 different" over all cells; false and no text: nothing was to
 * agree. */
bool figure_agreements(const struct figure_data *d, struct strbuf *out);
void text_table_free(struct text_table *t);
/* For a terminal of `width` columns: a table that is too wide is continued below. As Markdown. */
void text_table_print(const struct text_table *t, uint32_t width, struct strbuf *out);
void text_table_markdown(const struct text_table *t, struct strbuf *out);

/* A new column at the right end, valid until the next one is added. */
struct text_column *text_table_add(struct text_table *t, bool left);
void text_column_put(struct text_column *c, const char *text);

/* A value of a measure as it is shown; "-" = open. `m` may be NULL. */
void figure_format(const struct lab_figure *f, const struct lab_measure *m, double v,
                   char out[TABLE_TEXT_BYTES]);

#endif
