/* query_table.h: rows of a query, gathered and then printed: as a table that fits the terminal, CSV or
 * JSON. */
#ifndef HEDDLE_QUERY_TABLE_H
#define HEDDLE_QUERY_TABLE_H

#include "lab/store.h"

enum query_format { QUERY_TABLE, QUERY_CSV, QUERY_JSON };

struct query_table {
    VEC(char *) names;
    /* Row by row; NULL = null. */
    VEC(char *) cells;
};

/* For store_query; context is a struct query_table. */
bool query_table_row(void *context, int columns, const char *const *values, const char *const *names);
uint32_t query_table_rows(const struct query_table *t);
/* width 0: as wide as it is. */
void query_table_print(const struct query_table *t, enum query_format format, uint32_t width, FILE *to);
void query_table_free(struct query_table *t);
/* Columns of the terminal behind standard output; 0 where it is not a terminal. */
uint32_t query_terminal_width(void);

#endif
