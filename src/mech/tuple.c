/* tuple.c: a warp tuple {N, p} for each kernel, set beforehand (thesis 5.3.2 and 5.7.3: static PCAL and
 * Static-Best).
 *
 * The N oldest warps of each scheduler issue, the p oldest of these allocate in the L1 (warp_tuple.h). N = p
 * is swl; N = p = all warps is the scheduler below. The tuple is tuple.n and tuple.p, or, where tuple.file
 * has a row for the kernel and the launch, that of the row: from the launch on, until the next. */
#include "mech/warp_tuple.h"

#include <stdio.h>

struct tuple_params {
    uint32_t n, p;
    char file[PARAM_PATH_BYTES];
};

struct tuple {
    /* first: its hooks get the state */
    struct warp_tuple warps;
    const struct tuple_params *params;
    struct tuple_row *rows;
    uint32_t row_count;
    /* launches, and those for which the file has a row */
    uint64_t launches, listed;
    /* loads of the p oldest warps: those that looked into the L1, and those that missed */
    uint64_t polluting_accesses, polluting_misses;
};

static const struct param_row tuple_params[] = {
    PARAM_NUMBER(tuple_params, n, "tuple.n", "warps", "64", 1, TUPLE_ALL,
                 "N: the oldest warps of each scheduler that may issue; 64 holds none back"),
    PARAM_NUMBER(tuple_params, p, "tuple.p", "warps", "64", 1, TUPLE_ALL,
                 "p: the oldest of these that allocate in the L1, at most N; 64: all of them"),
    PARAM_PATH(tuple_params, file, "tuple.file",
               "rows KERNEL LAUNCH N p, * for any; a launch without a row has tuple.n and tuple.p"),
    {0},
};

static const struct stat_row tuple_stats[] = {
    STAT_COUNT(tuple, warps.changes, "tuple.changes", "votes", "changes of the set of warps that may issue",
               NULL),
    STAT_COUNT(tuple, warps.bypasses, "tuple.bypasses", "misses",
               "misses of warps beyond the p oldest, which took no line", NULL),
    STAT_COUNT(tuple, polluting_accesses, "tuple.polluting_accesses", "transactions",
               "loads of the p oldest warps that looked into the L1", NULL),
    STAT_COUNT(tuple, polluting_misses, "tuple.polluting_misses", "transactions",
               "loads of the p oldest warps that missed, pending hits not counted", NULL),
    STAT_COUNT(tuple, launches, "tuple.launches", "launches", "launches, summed over SMs", NULL),
    STAT_COUNT(tuple, listed, "tuple.listed", "launches",
               "those for which tuple.file has a row, summed over SMs: 0 where it names other kernels", NULL),
    {0},
};

static enum mech_fit tuple_check(const void *params, const struct mech_machine *machine, char *reason)
{
    const struct tuple_params *p = params;
    if (p->p > p->n && p->p != TUPLE_ALL) {
        snprintf(reason, MECH_REASON_BYTES, "tuple.p is %u and tuple.n is %u: p warps are among the N", p->p,
                 p->n);
        return MECH_MISFIT;
    }
    return *p->file && tuple_rows_read(NULL, 0, p->file, reason) < 0 ? MECH_MISFIT : MECH_FITS;
}

static void tuple_cost(const void *params, const struct mech_machine *m, struct mech_cost *c)
{
    warp_tuple_cost(m, c);
}

static void tuple_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct tuple *t = state;
    t->params = params;
    warp_tuple_init(&t->warps, ports);
    warp_tuple_set(&t->warps, t->params->n, t->params->p);
    if (*t->params->file) t->rows = tuple_rows_keep(ports, t->params->file, &t->row_count);
}

static void tuple_on_launch(void *state, const struct mech_launch *e)
{
    struct tuple *t = state;
    const struct tuple_row *row = tuple_rows_find(t->rows, t->row_count, e->kernel, e->launch);
    t->launches++;
    t->listed += row != NULL;
    warp_tuple_set(&t->warps, row ? row->n : t->params->n, row ? row->p : t->params->p);
}

static void tuple_on_l1_access(void *state, const struct mech_l1_access *a)
{
    struct tuple *t = state;
    const bool is_load = !a->is_store && !a->is_atomic && !a->is_prefetch && a->outcome != MECH_L1_SENT;
    if (!is_load || !warp_tuple_pollutes(&t->warps, a)) return;
    t->polluting_accesses++;
    t->polluting_misses += a->outcome == MECH_L1_MISS;
}

const struct mechanism mechanism_tuple = {
    .api = HEDDLE_MECHANISM_API,
    .name = "tuple",
    .summary = "warp tuple {N, p}: N warps of a scheduler issue, p of them allocate in the L1",
    .paper = "Li et al., HPCA'15; thesis 5.3.2",
    .params = tuple_params,
    .param_bytes = sizeof(struct tuple_params),
    .stats = tuple_stats,
    .state_bytes = sizeof(struct tuple),
    .check = tuple_check,
    .cost = tuple_cost,
    .init = tuple_init,
    .on_launch = tuple_on_launch,
    .on_warp = warp_tuple_on_warp,
    .on_barrier = warp_tuple_on_barrier,
    .on_issue = warp_tuple_on_issue,
    .may_allocate = warp_tuple_may_allocate,
    .on_l1_access = tuple_on_l1_access,
};
