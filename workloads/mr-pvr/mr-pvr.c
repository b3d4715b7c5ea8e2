/* mr-pvr: host side. */
#include "kit/mars.h"

struct page {
    /* where the page's line starts in the log */
    int views, line_at;
};

/* The log's lines are "http://www.abcdefg.com/PAGE.html<tab>VIEWS": only the count and the line's place reach the
 * device. */
static struct page *pages_of_log(int n)
{
    struct page *pages = kit_host(n * sizeof *pages);
    int at = 0;
    for (int i = 0; i < n; i++) {
        char line[80];
        uint32_t page = kit_below(1024), views = kit_random() >> 1;
        pages[i] = (struct page){(int)views, at};
        at += snprintf(line, sizeof line, "http://www.abcdefg.com/%u.html\t%u\n", page, views);
    }
    kit_note("%d lines, %d bytes of log", n, at);
    return pages;
}

static int more_views_first(const void *a, const void *b)
{
    const struct page *x = a, *y = b;
    if (x->views != y->views) return x->views < y->views ? 1 : -1;
    return (x->line_at > y->line_at) - (x->line_at < y->line_at);
}

/* Every change of the count starts a group. */
static void check_groups(const struct mars_result *r, const struct page *sorted, int n)
{
    int groups = 0;
    for (int i = 0; i < n; i++) {
        if (i > 0 && sorted[i].views == sorted[i - 1].views) continue;
        if (groups < r->n_groups && r->ranges[groups].first != i) {
            kit_check(false, "group %d starts at %d, not %d", groups, r->ranges[groups].first, i);
            return;
        }
        groups++;
    }
    kit_check(groups == r->n_groups, "%d groups, the CPU says %d", r->n_groups, groups);
}

static void check(const struct mars_result *r, struct page *pages, int n)
{
    kit_check(r->n == n, "%d records of %d", r->n, n);
    if (r->n != n) return;
    struct page *got = kit_host(n * sizeof *got);
    int *views = kit_host(n * sizeof *views), *want_views = kit_host(n * sizeof *want_views);
    qsort(pages, n, sizeof *pages, more_views_first);
    for (int i = 0; i < n; i++) {
        memcpy(&got[i].views, r->keys + r->index[i].key_at, sizeof(int));
        memcpy(&got[i].line_at, r->values + r->index[i].value_at, sizeof(int));
        views[i] = got[i].views;
        want_views[i] = pages[i].views;
    }
    kit_check_ints("views", views, want_views, n);
    check_groups(r, pages, n);
    qsort(got, n, sizeof *got, more_views_first); /* pages with the same count may stand in any order */
    kit_check_bytes("pages", got, pages, n * sizeof *got);
}

static const struct size {
    const char *name;
    int lines;
} sizes[] = {{"tiny", 1000}, {"small", 32000}, {"paper", 500000}, {"long", 128000}};

int main(int argc, char **argv)
{
    kit_open("mr-pvr", argc, argv);
    int n = ((const struct size *)KIT_CHOOSE(sizes))->lines;
    struct page *pages = pages_of_log(n);

    /* The paper's data set is sorted by the chunked kernels; so are the smaller ones. */
    struct mars m = {.chunked_sort_above = 256};
    for (int i = 0; i < n; i++) mars_add(&m, &pages[i].views, sizeof(int), &pages[i].line_at, sizeof(int));
    mars_map(&m);
    mars_group(&m);

    if (kit_checking()) {
        struct mars_result r = mars_result(&m);
        check(&r, pages, n);
    }
    mars_close(&m);
    return kit_close();
}
