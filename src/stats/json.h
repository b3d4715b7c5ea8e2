/* json.h: the pieces of JSON that the printers write. */
#ifndef HEDDLE_STATS_JSON_H
#define HEDDLE_STATS_JSON_H

#include "stats/stat.h"

/* Quoted and escaped; bytes that are not UTF-8 become U+FFFD. */
void json_string(struct strbuf *out, const char *text);
/* Null when it is not finite. */
void json_number(struct strbuf *out, double v);
/* The value of a row: a count as an integer, a ratio as a number, a histogram as an array. */
void json_stat(struct strbuf *out, const struct stat_row *row, const void *stats);
/* {"name": value, ...} of a table; a row without name or help ends it. */
void json_stats(struct strbuf *out, const struct stat_row *rows, const void *stats);

#endif
