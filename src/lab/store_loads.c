/* store_loads.c: the loads of a run for its page: each over all launches of its kernel, those with the most
 * references first. They come from the run's document, which tells more of them than the table `load`: who
 * evicts their lines, their prefetches, their lines of the source. */
#include "lab/store_impl.h"

#include "base/map.h"
#include "stats/json.h"

enum { LOADS_MAX = 16 };

/* A load that replaced lines of another one. */
struct evictor {
    double pc, lines;
};

struct load_sum {
    const char *kernel;
    double pc, executions, lines, missed, merged, different;
    /* The stride of the launch with the most references. */
    double most, stride, stride_share;
    double evicted, prefetches, useful, late;
    double ptx_line, cuda_line;
    VEC(struct evictor) evictors;
};
typedef VEC(struct load_sum) sum_list;

/* ---- launches are added up ---- */

static double number(const struct json_node *load, const char *name)
{
    return json_get_number(load, name, 0);
}

static struct load_sum *sum_of(sum_list *all, struct map *by_name, const char *kernel, double pc)
{
    struct strbuf name = {0};
    strbuf_printf(&name, "%.0f %s", pc, kernel);
    uintptr_t at = (uintptr_t)map_get(by_name, strbuf_text(&name));
    if (!at) {
        vec_push(all, (struct load_sum){.kernel = kernel, .pc = pc});
        at = all->len;
        map_put(by_name, strbuf_text(&name), (void *)at);
    }
    strbuf_free(&name);
    return &all->data[at - 1];
}

/* A launch names the load that evicted most, and its share. */
static void add_evictor(struct load_sum *sum, const struct json_node *load)
{
    const double evicted = number(load, "evicted"), pc = number(load, "evictor_pc"),
                 lines = evicted * number(load, "evictor_share");
    sum->evicted += evicted;
    if (evicted <= 0) return;
    for (uint32_t i = 0; i < sum->evictors.len; i++)
        if (sum->evictors.data[i].pc == pc) {
            sum->evictors.data[i].lines += lines;
            return;
        }
    vec_push(&sum->evictors, (struct evictor){pc, lines});
}

static void add_load(struct load_sum *sum, const struct json_node *load)
{
    const double lines = number(load, "lines");
    sum->executions += number(load, "executions");
    sum->lines += lines;
    sum->missed += lines * number(load, "miss_rate");
    sum->merged += lines * number(load, "merge_rate");
    sum->different += lines * number(load, "unique_share");
    sum->prefetches += number(load, "prefetches");
    sum->useful += number(load, "prefetch_useful");
    sum->late += number(load, "prefetch_late");
    sum->ptx_line = number(load, "ptx_line");
    sum->cuda_line = number(load, "cuda_line");
    add_evictor(sum, load);
    if (lines <= sum->most) return;
    sum->most = lines;
    sum->stride = number(load, "stride");
    sum->stride_share = number(load, "stride_share");
}

static void sum_launches(const struct json_node *kernels, sum_list *all)
{
    struct map by_name = {0};
    for (uint32_t i = 0; kernels && i < kernels->count; i++) {
        const struct json_node *k = &kernels->items[i], *loads = json_get(k, "loads");
        const char *kernel = json_get_text(k, "name", "");
        for (uint32_t l = 0; loads && loads->kind == JSON_LIST && l < loads->count; l++)
            add_load(sum_of(all, &by_name, kernel, number(&loads->items[l], "pc")), &loads->items[l]);
    }
    map_free(&by_name);
}

/* ---- JSON ---- */

static int by_references(const void *a, const void *b)
{
    const struct load_sum *x = a, *y = b;
    if (x->lines != y->lines) return x->lines > y->lines ? -1 : 1;
    const int names = strcmp(x->kernel, y->kernel);
    return names ? names : (x->pc > y->pc) - (x->pc < y->pc);
}

static void put_member(const char *name, double value, struct strbuf *out)
{
    strbuf_printf(out, ",\"%s\":", name);
    json_number(out, value);
}

static double ratio(double part, double all) { return all > 0 ? part / all : 0; }

static void put_evictor(const struct load_sum *l, struct strbuf *out)
{
    struct evictor most = {0};
    for (uint32_t i = 0; i < l->evictors.len; i++)
        if (l->evictors.data[i].lines > most.lines) most = l->evictors.data[i];
    put_member("evicted", l->evicted, out);
    put_member("evictor_pc", most.pc, out);
    put_member("evictor_share", most.lines / l->evicted, out);
}

/* Members without a value (evicted lines, prefetches, the source) are left out, to keep the page small. */
static void put_load(const struct load_sum *l, double references, struct strbuf *out)
{
    strbuf_puts(out, "{\"kernel\":");
    json_string(out, l->kernel);
    put_member("pc", l->pc, out);
    put_member("executions", l->executions, out);
    put_member("lines", l->lines, out);
    put_member("share", ratio(l->lines, references), out);
    put_member("lines_per_load", ratio(l->lines, l->executions), out);
    put_member("miss_rate", ratio(l->missed, l->lines), out);
    put_member("merge_rate", ratio(l->merged, l->lines), out);
    put_member("unique_share", ratio(l->different, l->lines), out);
    put_member("stride", l->stride, out);
    put_member("stride_share", l->stride_share, out);
    if (l->evicted > 0) put_evictor(l, out);
    if (l->prefetches > 0) {
        put_member("prefetches", l->prefetches, out);
        put_member("prefetch_useful", l->useful, out);
        put_member("prefetch_late", l->late, out);
    }
    if (l->cuda_line > 0)
        put_member("cuda_line", l->cuda_line, out);
    else if (l->ptx_line > 0)
        put_member("ptx_line", l->ptx_line, out);
    strbuf_putc(out, '}');
}

void store_put_loads(struct store *s, const char *key, struct strbuf *out)
{
    sum_list all = {0};
    double references = 0;
    sum_launches(json_get(store_document_root(s, key), "kernels"), &all);
    for (uint32_t i = 0; i < all.len; i++) references += all.data[i].lines;
    if (all.len) qsort(all.data, all.len, sizeof *all.data, by_references);
    strbuf_puts(out, ",\"loads\":[");
    for (uint32_t i = 0; i < MIN(all.len, (uint32_t)LOADS_MAX); i++) {
        if (i) strbuf_putc(out, ',');
        put_load(&all.data[i], references, out);
    }
    strbuf_putc(out, ']');
    for (uint32_t i = 0; i < all.len; i++) vec_free(&all.data[i].evictors);
    vec_free(&all);
}
