/* print.c: the printers for a timed GPU: gather a view, print it. */
#include "stats/print.h"

#include <string.h>

static void print_with(struct timed_gpu *g, struct strbuf *out,
                       void (*print)(const struct stats_view *, struct strbuf *))
{
    struct stats_view v;
    view_init(&v, g);
    print(&v, out);
    view_free(&v, g);
}

void stats_print_table(struct timed_gpu *g, struct strbuf *out) { print_with(g, out, view_print_table); }
void stats_print_json(struct timed_gpu *g, struct strbuf *out) { print_with(g, out, view_print_json); }
void stats_print_gpgpusim(struct timed_gpu *g, struct strbuf *out)
{
    print_with(g, out, view_print_gpgpusim);
}
void stats_print_series_csv(struct timed_gpu *g, struct strbuf *out)
{
    print_with(g, out, view_print_series_csv);
}
void stats_print_series_json(struct timed_gpu *g, struct strbuf *out)
{
    print_with(g, out, view_print_series_json);
}

static bool ends_in(const char *path, const char *suffix)
{
    size_t n = path ? strlen(path) : 0, m = strlen(suffix);
    return n > m && !strcmp(path + n - m, suffix);
}

void stats_print_for(struct timed_gpu *g, const char *path, struct strbuf *out)
{
    if (ends_in(path, ".json"))
        stats_print_json(g, out);
    else if (ends_in(path, ".csv"))
        stats_print_series_csv(g, out);
    else
        stats_print_table(g, out);
}
