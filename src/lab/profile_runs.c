/* profile_runs.c: from the summaries of runs in a store to a profile: see profile_runs.h. */
#include "lab/profile_runs.h"

#include "base/json_tree.h"
#include "core/machine.h"

#include <inttypes.h>

enum { WARP_THREADS = 32 };

/* ---- a run's summary ---- */

struct summary {
    struct strbuf text;
    struct json_tree tree;
    const struct json_node *kernels;
};

/* False: the store does not have it (no diagnostics), or it cannot be read. */
static bool summary_open(struct summary *s, struct store *store, const char *key, struct diag_list *diags)
{
    *s = (struct summary){0};
    if (!store_document(store, key, &s->text)) return false;
    if (!json_tree_parse(&s->tree, key, strbuf_text(&s->text), s->text.len, diags)) return false;
    s->kernels = json_get(s->tree.root, "kernels");
    return s->kernels && s->kernels->kind == JSON_LIST;
}

static void summary_close(struct summary *s)
{
    json_tree_free(&s->tree);
    strbuf_free(&s->text);
}

static uint64_t count_of(const struct json_node *map, const char *key)
{
    const struct json_node *n = json_get(map, key);
    return n && n->kind == JSON_NUMBER && n->is_integer && n->integer > 0 ? (uint64_t)n->integer : 0;
}

static uint64_t stat_of(const struct json_node *kernel, const char *group, const char *name)
{
    return count_of(json_get(json_get(kernel, "stats"), group), name);
}

static struct poise_window window_of(const struct json_node *kernel)
{
    return (struct poise_window){.issued = stat_of(kernel, "sm", "sm.warp_insts"),
                                 .loads = stat_of(kernel, "sm", "sm.loads"),
                                 .accesses = stat_of(kernel, "l1", "l1.load_accesses"),
                                 .misses = stat_of(kernel, "l1", "l1.load_misses"),
                                 .intra_warp_hits = stat_of(kernel, "l1", "l1.intra_warp_hits"),
                                 .latency_sum = stat_of(kernel, "l1", "l1.miss_latency_sum"),
                                 .latency_count = stat_of(kernel, "l1", "l1.miss_latency_count")};
}

static bool is_true(const struct json_node *map, const char *key)
{
    const struct json_node *n = json_get(map, key);
    return n && n->kind == JSON_BOOL && n->number != 0;
}

/* Does the launch count? The cycles of a launch that overlaps others are not known. */
static bool takes(const struct profile_ask *ask, const struct json_node *kernel)
{
    return count_of(kernel, "cycles") >= MAX(ask->cycles_min, 1u) && !is_true(kernel, "overlapped") &&
           !is_true(kernel, "partial") &&
           (!ask->kernel || !strcmp(json_get_text(kernel, "name", ""), ask->kernel));
}

/* The warps of the scheduler that has most, as CTAs go round the SMs and warps round the schedulers. */
static uint32_t warps_of(const struct json_node *kernel, const struct machine *m)
{
    const struct json_node *block = json_get(kernel, "block");
    uint64_t threads = 1, schedulers = m->sm.schedulers;
    for (uint32_t i = 0; block && block->kind == JSON_LIST && i < block->count; i++)
        threads *= (uint64_t)MAX(block->items[i].integer, 1);
    const uint64_t ctas = (count_of(kernel, "ctas") + m->sm_count - 1) / m->sm_count;
    const uint64_t warps =
        (threads + WARP_THREADS - 1) / WARP_THREADS * MIN(ctas, count_of(kernel, "ctas_per_sm"));
    return (uint32_t)MIN(MAX((warps + schedulers - 1) / schedulers, 1u), m->sm_warps / schedulers);
}

uint32_t profile_bound(struct store *s, const struct lab_job *baseline, const struct profile_ask *ask,
                       struct diag_list *diags)
{
    struct machine m;
    struct summary run;
    uint32_t most = 0;
    if (!run_options_machine(&baseline->run, &m, diags)) return 0;
    if (summary_open(&run, s, baseline->key, diags))
        for (uint32_t i = 0; i < run.kernels->count; i++) {
            const struct json_node *kernel = &run.kernels->items[i];
            if (takes(ask, kernel)) most = MAX(most, warps_of(kernel, &m));
        }
    summary_close(&run);
    return most;
}

/* ---- the profile ---- */

/* The launches of a workload, those of the profile from `first` on. */
struct gathering {
    struct profile *profile;
    const struct profile_ask *ask;
    struct machine machine;
    uint32_t first;
    /* by kernel: its (1, 1) was seen */
    VEC(bool) has_one;
};

static void add_launch(struct gathering *g, const struct json_node *kernel, const struct lab_job *job)
{
    struct arena *a = &g->profile->arena;
    struct profile_kernel k = {.workload = arena_strdup(a, job->workload->name),
                               .size = arena_strdup(a, job->size),
                               .name = arena_strdup(a, json_get_text(kernel, "name", "?")),
                               .launch = count_of(kernel, "id"),
                               .warps = warps_of(kernel, &g->machine),
                               .cycles = count_of(kernel, "cycles"),
                               .all = window_of(kernel)};
    profile_add_point(&k, (struct profile_point){k.warps, k.warps, k.cycles});
    vec_push(&g->profile->kernels, k);
    vec_push(&g->has_one, false);
}

static const struct json_node *find_launch(const struct json_node *kernels, const struct profile_kernel *k)
{
    for (uint32_t i = 0; i < kernels->count; i++) {
        const struct json_node *at = &kernels->items[i];
        if (count_of(at, "id") == k->launch && !strcmp(json_get_text(at, "name", ""), k->name)) return at;
    }
    return NULL;
}

/* Adds the results of a run at (n, p) to all launches. For a kernel with fewer warps the first run at a tuple
 * counts. */
static void add_run(struct gathering *g, const struct json_node *kernels, uint32_t n, uint32_t p)
{
    for (uint32_t i = g->first; i < g->profile->kernels.len; i++) {
        struct profile_kernel *k = &g->profile->kernels.data[i];
        const struct json_node *at = find_launch(kernels, k);
        const uint64_t cycles = at ? count_of(at, "cycles") : 0;
        if (!cycles) continue;
        const uint32_t own_n = MIN(n, k->warps), own_p = MIN(p, own_n);
        profile_add_point(k, (struct profile_point){own_n, own_p, cycles});
        if (n != 1 || p != 1) continue;
        k->one = window_of(at);
        g->has_one.data[i - g->first] = true;
    }
}

/* Kernels that ran differently at (1, 1), so that it is not known what they counted there. */
static void drop_incomplete(struct gathering *g)
{
    struct profile *p = g->profile;
    uint32_t kept = g->first;
    for (uint32_t i = g->first; i < p->kernels.len; i++) {
        struct profile_kernel *k = &p->kernels.data[i];
        if (k->warps == 1) k->one = k->all;
        if (k->warps > 1 && !g->has_one.data[i - g->first])
            vec_free(&k->points);
        else
            p->kernels.data[kept++] = *k;
    }
    p->kernels.len = kept;
}

static bool gather_runs(struct gathering *g, struct store *s, const struct plan *grid, uint32_t *missing,
                        struct diag_list *diags)
{
    const uint32_t errors = diags->errors;
    for (uint32_t c = 0; c < grid->experiment->column_count && diags->errors == errors; c++) {
        const char *column = grid->experiment->columns[c].name;
        const struct lab_job *job = &grid->jobs[plan_job(grid, 0, c)];
        unsigned n = 0, p = 0;
        struct summary run;
        const bool is_all = !strcmp(column, PROFILE_ALL);
        if (!is_all && sscanf(column, "%u,%u", &n, &p) != 2) continue; /* Poise */
        const bool is_there = summary_open(&run, s, job->key, diags);
        *missing += !is_there;
        for (uint32_t i = 0; is_there && is_all && i < run.kernels->count; i++)
            if (takes(g->ask, &run.kernels->items[i])) add_launch(g, &run.kernels->items[i], job);
        if (is_there && !is_all) add_run(g, run.kernels, n, p);
        summary_close(&run);
    }
    return diags->errors == errors;
}

static void describe(struct gathering *g)
{
    struct profile *p = g->profile;
    struct strbuf name = {0};
    strbuf_puts(&name, g->ask->machine);
    for (uint32_t i = 0; i < g->ask->set_count; i++) strbuf_printf(&name, " %s", g->ask->sets[i]);
    p->machine = arena_strdup(&p->arena, strbuf_text(&name));
    p->simulator = arena_strdup(&p->arena, job_simulator());
    p->warps = g->machine.sm_warps / g->machine.sm.schedulers;
    strbuf_free(&name);
}

bool profile_gather(struct profile *p, struct store *s, const struct plan *grid,
                    const struct profile_ask *ask, uint32_t *missing, struct diag_list *diags)
{
    struct gathering g = {.profile = p, .ask = ask, .first = p->kernels.len};
    if (!run_options_machine(&grid->jobs[plan_job(grid, 0, 0)].run, &g.machine, diags)) return false;
    describe(&g);
    const bool ok = gather_runs(&g, s, grid, missing, diags);
    drop_incomplete(&g);
    vec_free(&g.has_one);
    return ok;
}
