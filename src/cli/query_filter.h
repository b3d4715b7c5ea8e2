/* query_filter.h: `heddle query` words as SQL: workload=bfs l1.aml>400 set:l1.mshrs=128. */
#ifndef HEDDLE_QUERY_FILTER_H
#define HEDDLE_QUERY_FILTER_H

#include "cli/cli.h"
#include "lab/store.h"

/* A field is a column of run (workload, state, ...), `with` (settings and mechanisms), `mech`,
 * set:PARAMETER, or a statistic. */
/* Where an error points. */
struct query_place {
    int argc;
    char **argv;
    int arg, offset;
};
/* The SQL expression of a field of the table run. False: an error was printed. */
bool query_field(struct store *s, const struct query_place *at, const char *name, size_t len,
                 struct strbuf *out);
/* A condition such as "l1.aml>400". False: an error was printed. */
bool query_term(struct store *s, const struct query_place *at, const char *term, struct strbuf *out);
/* 'text' with its quotes doubled. */
void query_quote(const char *text, size_t len, struct strbuf *out);

#endif
