/* print.c: which printer a file name asks for. */
#include "stats/print.h"

#include <string.h>

static bool ends_in(const char *path, const char *suffix)
{
    size_t n = path ? strlen(path) : 0, m = strlen(suffix);
    return n > m && !strcmp(path + n - m, suffix);
}

stats_printer *stats_printer_for(const char *path)
{
    if (ends_in(path, ".json")) return view_print_json;
    return ends_in(path, ".csv") ? view_print_series_csv : view_print_table;
}
