/* run_stats.c: the longest kernel and the loads with the most references of a run. */
#include "lab/run_stats.h"

#include "base/map.h"

#include <math.h>

/* Loads whose numbers have names: load1 to load4. */
enum { LOADS = 4 };

/* Slots for warps, threads and CTAs come first, then what CTAs take of the SM. */
const char *const run_limit_names[] = {"warps", "threads", "ctas", "registers", "shared", NULL};

static const char *const names[] = {
    /* of the run, which the store writes itself */
    "cycles", "ipc", "thread_ipc", "host.seconds", "host.peak_bytes",
    /* of the longest kernel */
    "longest.cycles", "longest.registers", "longest.warps", "longest.ctas", "longest.ctas_per_sm",
    "longest.limit",
    /* of the kernel with the most warps on an SM */
    "resident.warps"};

static const char *const load_fields[] = {"share",      "lines",  "unique",       "miss_rate",
                                          "merge_rate", "stride", "stride_share", "pc"};
enum { LOAD_FIELDS = ARRAY_LEN(load_fields), NAME_BYTES = 32 };

const char *run_stat_name(uint32_t i)
{
    static char load_names[LOADS * LOAD_FIELDS][NAME_BYTES];
    if (i < ARRAY_LEN(names)) return names[i];
    i -= ARRAY_LEN(names);
    if (i >= ARRAY_LEN(load_names)) return NULL;
    snprintf(load_names[i], NAME_BYTES, "load%u.%s", i / LOAD_FIELDS + 1, load_fields[i % LOAD_FIELDS]);
    return load_names[i];
}

/* ---- the longest kernel ---- */

static const struct json_node *longest_kernel(const struct json_node *kernels)
{
    const struct json_node *longest = NULL;
    for (uint32_t i = 0; i < kernels->count; i++)
        if (!longest ||
            json_get_number(&kernels->items[i], "cycles", 0) > json_get_number(longest, "cycles", 0))
            longest = &kernels->items[i];
    return longest;
}

/* Warps of a CTA. */
static double warps_of(const struct json_node *kernel)
{
    enum { LANES = 32 };
    const struct json_node *block = json_get(kernel, "block");
    double threads = 1;
    for (uint32_t i = 0; block && i < block->count; i++) threads *= block->items[i].number;
    return block && block->count ? ceil(threads / LANES) : NAN;
}

static double limit_position(const struct json_node *kernel)
{
    const char *limit = json_get_text(kernel, "limit", "");
    for (uint32_t i = 0; run_limit_names[i]; i++)
        if (!strcmp(run_limit_names[i], limit)) return i;
    return NAN;
}

static bool put_longest(const struct json_node *kernels, run_stat_put put, void *context)
{
    const struct json_node *k = longest_kernel(kernels);
    if (!k) return true;
    return put(context, "longest.cycles", json_get_number(k, "cycles", NAN)) &&
           put(context, "longest.registers", json_get_number(k, "registers", NAN)) &&
           put(context, "longest.warps", warps_of(k)) &&
           put(context, "longest.ctas", json_get_number(k, "ctas", NAN)) &&
           put(context, "longest.ctas_per_sm", json_get_number(k, "ctas_per_sm", NAN)) &&
           put(context, "longest.limit", limit_position(k));
}

/* ---- warps on an SM ---- */

/* As many as fit, and as the grid has for each SM. */
static double resident_of(const struct json_node *kernel, double sms)
{
    const double fit = json_get_number(kernel, "ctas_per_sm", NAN),
                 ctas = json_get_number(kernel, "ctas", NAN);
    return MIN(fit, ceil(ctas / sms)) * warps_of(kernel);
}

static bool put_resident(const struct json_node *root, const struct json_node *kernels, run_stat_put put,
                         void *context)
{
    const struct json_node *machine = json_get(root, "machine");
    const double sms = machine ? json_get_number(machine, "sms", NAN) : NAN;
    double most = NAN;
    for (uint32_t i = 0; i < kernels->count; i++) most = fmax(most, resident_of(&kernels->items[i], sms));
    return isnan(most) || put(context, "resident.warps", most);
}

/* ---- loads ---- */

/* A load over all launches of its kernel. Shares and rates are weighted by references; the stride is that
 * of the launch with the most. */
struct load {
    double lines, unique_lines, missed_lines, merged_lines, stride, stride_share, heaviest, pc;
    /* its position in the order in which loads were met */
    uint32_t order;
};

struct loads {
    /* "kernel pc" -> position in all + 1 */
    struct map by_name;
    VEC(struct load) all;
    double lines;
};

static void add_load(struct loads *l, const char *kernel, const struct json_node *n)
{
    struct strbuf name = {0};
    double pc = json_get_number(n, "pc", NAN), lines = json_get_number(n, "lines", 0);
    strbuf_printf(&name, "%s %.0f", kernel, pc);
    uintptr_t at = (uintptr_t)map_get(&l->by_name, strbuf_text(&name));
    if (!at) {
        vec_push(&l->all, (struct load){.pc = pc, .order = l->all.len});
        at = l->all.len;
        map_put(&l->by_name, strbuf_text(&name), (void *)at);
    }
    struct load *load = &l->all.data[at - 1];
    load->lines += lines;
    load->unique_lines += lines * json_get_number(n, "unique_share", 0);
    load->missed_lines += lines * json_get_number(n, "miss_rate", 0);
    load->merged_lines += lines * json_get_number(n, "merge_rate", 0);
    if (lines > load->heaviest) {
        load->heaviest = lines;
        load->stride = json_get_number(n, "stride", NAN);
        load->stride_share = json_get_number(n, "stride_share", NAN);
    }
    l->lines += lines;
    strbuf_free(&name);
}

static int by_lines(const void *a, const void *b)
{
    const struct load *x = a, *y = b;
    if (x->lines != y->lines) return x->lines < y->lines ? 1 : -1;
    return (x->order > y->order) - (x->order < y->order);
}

static bool put_load(uint32_t rank, const struct load *load, double all_lines, run_stat_put put,
                     void *context)
{
    const double values[LOAD_FIELDS] = {load->lines / all_lines,
                                        load->lines,
                                        load->unique_lines / load->lines,
                                        load->missed_lines / load->lines,
                                        load->merged_lines / load->lines,
                                        load->stride,
                                        load->stride_share,
                                        load->pc};
    bool ok = true;
    for (uint32_t i = 0; i < LOAD_FIELDS && ok; i++)
        ok = put(context, run_stat_name(ARRAY_LEN(names) + rank * LOAD_FIELDS + i), values[i]);
    return ok;
}

static bool put_loads(const struct json_node *kernels, run_stat_put put, void *context)
{
    struct loads l = {0};
    for (uint32_t k = 0; k < kernels->count; k++) {
        const struct json_node *list = json_get(&kernels->items[k], "loads");
        const char *kernel = json_get_text(&kernels->items[k], "name", "");
        for (uint32_t i = 0; list && list->kind == JSON_LIST && i < list->count; i++)
            add_load(&l, kernel, &list->items[i]);
    }
    if (l.all.len) qsort(l.all.data, l.all.len, sizeof *l.all.data, by_lines);
    bool ok = true;
    for (uint32_t i = 0; i < MIN(l.all.len, (uint32_t)LOADS) && ok && l.all.data[i].lines > 0; i++)
        ok = put_load(i, &l.all.data[i], l.lines, put, context);
    map_free(&l.by_name);
    vec_free(&l.all);
    return ok;
}

bool run_stats_each(const struct json_node *root, run_stat_put put, void *context)
{
    const struct json_node *kernels = json_get(root, "kernels");
    if (!kernels || kernels->kind != JSON_LIST) return true;
    return put_longest(kernels, put, context) && put_resident(root, kernels, put, context) &&
           put_loads(kernels, put, context);
}
