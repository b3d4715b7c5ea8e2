/* two_level.c: the two-level warp scheduler with an active set (Gebhart et al., ISCA'11; GPGPU-Sim's
 * two_level_active).
 *
 * Each scheduler has a small *active set* that it picks from, loose round robin; all other warps are
 * *pending*. A warp whose next instruction needs the result of a long-latency (memory) operation, or that
 * waits at a barrier, leaves the active set; the pending warp that has waited longest and waits for neither
 * replaces it. Pipelined arithmetic does not end an activity.
 *
 * (1) At most `active` warps of a scheduler are in its set. (2) Pending warps come back in the order in
 * which they left (or started). (3) A warp that the votes forbid is in no active set, so that a limit on
 * warps beside this policy cannot starve those that may run. (4) The set changes only in a pick, so it
 * does not depend on how often an idle machine is looked at. Left out: the operand register file cache
 * that the paper pairs with the active set; its group-wise relative by Narasiman et al. (MICRO'11). */
#include "mech/cost.h"
#include "mech/warps.h"

struct two_level_params {
    uint32_t active;
};

struct two_level {
    const struct two_level_params *params;
    /* by bank, of all schedulers: each looks at its own warps in it */
    uint64_t active_set[MECH_BANKS_MAX];
    /* by slot of a pending warp: its position in the queue */
    uint64_t queued[MECH_WARPS_MAX];
    uint64_t queue_end;
    uint64_t demotions, promotions, empty_slots;
};

static const struct param_row two_level_params[] = {
    PARAM_NUMBER(two_level_params, active, "two-level.active", "warps", "6", 1, MECH_BANK_WARPS,
                 "warps of one scheduler's active set (Gebhart et al.: 6 to 8; GPGPU-Sim: 6)"),
    {0},
};

static const struct stat_row two_level_stats[] = {
    STAT_COUNT(two_level, demotions, "two-level.demotions", "warps",
               "warps that left an active set to wait for memory or a barrier", NULL),
    STAT_COUNT(two_level, promotions, "two-level.promotions", "warps", "warps that entered an active set",
               NULL),
    STAT_COUNT(two_level, empty_slots, "two-level.empty_slots", "slots",
               "issue slots left empty while a pending warp was ready", NULL),
    {0},
};

static void two_level_cost(const void *params, const struct mech_machine *m, struct mech_cost *c)
{
    mech_cost_add(c, MECH_EACH_SM, "active", m->warps, 1, "the warps of active sets");
    mech_cost_add(c, MECH_EACH_SM, "pending", m->warps, cost_index_bits(m->warps), "queue of pending warps");
}

static void two_level_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct two_level *t = state;
    t->params = params;
}

static void two_level_on_warp(void *state, const struct mech_warp_event *e)
{
    struct two_level *t = state;
    t->active_set[mech_bank(e->warp)] &= ~mech_bit(e->warp);
    if (e->is_start) t->queued[e->warp] = t->queue_end++;
}

/* Warps that wait for something long go to the end of the pending queue, the longest in flight (by slot
 * order) first. */
static void two_level_demote(struct two_level *t, uint32_t bank, uint64_t warps)
{
    uint64_t *queued = &t->queued[bank * MECH_BANK_WARPS];
    t->active_set[bank] &= ~warps;
    for (; warps; warps &= warps - 1) {
        queued[warps_first(warps)] = t->queue_end++;
        t->demotions++;
    }
}

static uint64_t two_level_promote(struct two_level *t, uint32_t bank, uint64_t mine, uint64_t candidates)
{
    const uint64_t *queued = &t->queued[bank * MECH_BANK_WARPS];
    for (int room = (int)t->params->active - warps_count(mine); room > 0 && candidates; room--) {
        uint64_t warp = warp_bit(warps_least(candidates, queued));
        candidates &= ~warp;
        mine |= warp;
        t->promotions++;
    }
    t->active_set[bank] |= mine;
    return mine;
}

static int two_level_pick(void *state, const struct mech_sched_view *view)
{
    struct two_level *t = state;
    uint64_t may_run = view->allowed & ~(view->memory_wait | view->barrier_wait);
    uint64_t mine = t->active_set[view->bank] & view->resident;
    if (mine & ~may_run) two_level_demote(t, view->bank, mine & ~may_run);
    mine &= may_run;
    uint64_t candidates = view->resident & may_run & ~mine;
    if (candidates) mine = two_level_promote(t, view->bank, mine, candidates);
    if (view->ready & mine) return warps_after(view->ready & mine, view->last);
    t->empty_slots++;
    return MECH_NO_WARP;
}

const struct mechanism mechanism_two_level = {
    .api = HEDDLE_MECHANISM_API,
    .name = "two-level",
    .summary = "round robin in a small active set; warps that wait for memory leave it",
    .paper = "Gebhart et al., ISCA'11; baseline of Morpheus Table 1",
    .params = two_level_params,
    .param_bytes = sizeof(struct two_level_params),
    .stats = two_level_stats,
    .state_bytes = sizeof(struct two_level),
    .cost = two_level_cost,
    .init = two_level_init,
    .pick = two_level_pick,
    .on_warp = two_level_on_warp,
};
