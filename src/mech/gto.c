/* gto.c: greedy-then-oldest (Rogers, O'Connor, Aamodt: Cache-Conscious Wavefront Scheduling, MICRO'12).
 *
 * Issues from one warp until it cannot issue, then from the oldest ready one, which becomes the greedy one.
 * Keeps the working set of few warps in the L1. (1) The pick is always a bit of view->ready. (2) Age is
 * launch order, not slot number. (3) Greed is for a warp, not for its slot: when the greedy warp has ended
 * and its slot holds another, the oldest ready warp is next. */
#include "mech/warps.h"

/* The warp that a scheduler issued from last. */
struct gto_greedy {
    /* tells it from a later warp in the same slot */
    uint64_t age;
    int warp;
    bool is_set;
};

struct gto {
    struct gto_greedy greedy[MECH_SCHEDULERS_MAX];
    uint64_t greedy_issues, oldest_issues;
};

static const struct stat_row gto_stats[] = {
    STAT_COUNT(gto, greedy_issues, "gto.greedy_issues", "picks",
               "picks that stayed on the warp that issued last", NULL),
    STAT_COUNT(gto, oldest_issues, "gto.oldest_issues", "picks", "picks that went to the oldest ready warp",
               NULL),
    {0},
};

static int gto_pick(void *state, const struct mech_sched_view *view)
{
    struct gto *g = state;
    struct gto_greedy *greedy = &g->greedy[view->scheduler];
    if (greedy->is_set && warps_have(view->ready, greedy->warp) && view->age[greedy->warp] == greedy->age) {
        g->greedy_issues++;
        return greedy->warp;
    }
    int warp = warps_least(view->ready, view->age);
    *greedy = (struct gto_greedy){.age = view->age[warp], .warp = warp, .is_set = true};
    g->oldest_issues++;
    return warp;
}

const struct mechanism mechanism_gto = {
    .api = HEDDLE_MECHANISM_API,
    .name = "gto",
    .summary = "greedy-then-oldest: one warp until it stalls, then the oldest",
    .paper = "Rogers et al., MICRO'12; baseline of thesis Tables 3.1 and 5.1",
    .stats = gto_stats,
    .state_bytes = sizeof(struct gto),
    .pick = gto_pick,
};
