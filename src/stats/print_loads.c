/* print_loads.c: the loads of a run, one a line: each over all launches of its kernel, those with the most
 * references first. */
#include "base/map.h"
#include "stats/loads.h"
#include "stats/print.h"

enum { NAME_WIDTH = 24 };

/* A kernel, over all of its launches. */
struct kernel_loads {
    const char *name;
    struct pc_load_stats *loads;
    uint32_t count;
};
typedef VEC(struct kernel_loads) kernel_list;

/* A line of the page. */
struct row {
    const char *kernel;
    struct load_line load;
};
typedef VEC(struct row) row_list;

static struct kernel_loads *kernel_of(kernel_list *all, struct map *by_name, const struct timed_kernel *k)
{
    uintptr_t at = (uintptr_t)map_get(by_name, k->name);
    if (!at || all->data[at - 1].count != k->load_count) {
        vec_push(all, (struct kernel_loads){k->name,
                                            mem_zalloc(sizeof(struct pc_load_stats) * (k->load_count + 1)),
                                            k->load_count});
        at = all->len;
        map_put(by_name, k->name, (void *)at);
    }
    return &all->data[at - 1];
}

static void sum_launches(const struct stats_view *v, kernel_list *all)
{
    struct map by_name = {0};
    for (uint32_t i = 0; i < v->kernel_count; i++) {
        const struct timed_kernel *k = v->kernels[i];
        if (k->loads) loads_add(kernel_of(all, &by_name, k)->loads, k->loads, k->load_count);
    }
    map_free(&by_name);
}

static int by_references(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    if (x->load.lines != y->load.lines) return x->load.lines > y->load.lines ? -1 : 1;
    const int names = strcmp(x->kernel, y->kernel);
    return names ? names : (x->load.pc > y->load.pc) - (x->load.pc < y->load.pc);
}

static void gather_rows(const kernel_list *all, row_list *rows)
{
    for (uint32_t i = 0; i < all->len; i++) {
        const struct kernel_loads *k = &all->data[i];
        struct load_line *lines = mem_alloc(sizeof *lines * ((size_t)k->count + 1));
        const uint32_t n = loads_sorted(k->loads, k->count, lines, k->count);
        for (uint32_t l = 0; l < n; l++) vec_push(rows, (struct row){k->name, lines[l]});
        free(lines);
    }
    if (rows->len) qsort(rows->data, rows->len, sizeof *rows->data, by_references);
}

/* ---- text ---- */

static double percent(double part, double all) { return all > 0 ? 100 * part / all : 0; }

/* "12" of the CUDA source, "ptx 40" where only that is known. */
static void print_place(const struct load_line *l, struct strbuf *out)
{
    char place[24] = "-";
    if (l->cuda_line)
        snprintf(place, sizeof place, "%u", l->cuda_line);
    else if (l->ptx_line)
        snprintf(place, sizeof place, "ptx %u", l->ptx_line);
    strbuf_printf(out, " %9s", place);
}

static void print_row(const struct row *r, double references, struct strbuf *out)
{
    const struct load_line *l = &r->load;
    const double used = (double)(l->prefetch_useful + l->prefetch_late);
    strbuf_printf(out, "%-*.*s %5u", NAME_WIDTH, NAME_WIDTH, r->kernel, l->pc);
    print_place(l, out);
    strbuf_printf(out, " %-9s %6.1f %10llu %6.2f %6.2f %6.1f %6.1f %12lld %6.1f",
                  load_class_names[loads_class(l)], percent((double)l->lines, references),
                  (unsigned long long)l->executions, l->lines_per_load, l->unique, 100 * l->miss_rate,
                  100 * l->merge_rate, (long long)l->stride, 100 * l->stride_share);
    strbuf_printf(out, " %10llu %6.1f %6.1f %9llu", (unsigned long long)l->prefetches,
                  percent(used, (double)l->prefetches), percent((double)l->prefetch_late, used),
                  (unsigned long long)l->evicted);
    if (l->evicted) strbuf_printf(out, "  %u (%.0f%%)", l->evictor_pc, 100 * l->evictor_share);
    strbuf_putc(out, '\n');
}

void view_print_loads(const struct stats_view *v, struct strbuf *out)
{
    kernel_list all = {0};
    row_list rows = {0};
    double references = 0;
    sum_launches(v, &all);
    gather_rows(&all, &rows);
    for (uint32_t i = 0; i < rows.len; i++) references += (double)rows.data[i].load.lines;
    strbuf_printf(out, "%-*s %5s %9s %-9s %6s %10s %6s %6s %6s %6s %12s %6s %10s %6s %6s %9s  %s\n",
                  NAME_WIDTH, "kernel", "pc", "line", "class", "share%", "executions", "lines", "#L/#R",
                  "miss%", "merge%", "stride", "pairs%", "prefetches", "used%", "late%", "evicted", "by pc");
    for (uint32_t i = 0; i < rows.len; i++) print_row(&rows.data[i], references, out);
    for (uint32_t i = 0; i < all.len; i++) free(all.data[i].loads);
    vec_free(&all);
    vec_free(&rows);
}
