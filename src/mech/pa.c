/* pa.c: the prefetch-aware two-level warp scheduler (Jog et al., Orchestrated Scheduling and Prefetching for
 * GPGPUs, ISCA'13), on the fetch groups of Narasiman et al. (MICRO'11).
 *
 * Each scheduler divides its warps into *fetch groups* and issues from one of them, loose round robin, until
 * all of its warps wait for memory; then the next group has its turn. In the plain two-level scheduler a
 * group is a run of consecutive warps. Here it holds non-consecutive ones: consecutive warps, which touch
 * neighbouring lines, run at different times, so that what one group brings (or makes a spatial prefetcher
 * bring) is there when the next group asks for it, and the lines that are asked for at one time spread over
 * the banks of DRAM.
 *
 * Warps are numbered as their scheduler sees them: the *local index* of a warp is its slot divided by the
 * schedulers that share the bank. Of G groups, warp i is in group i modulo G. G is the smallest number that
 * keeps groups within pa.group_warps: 24 warps of a scheduler are three groups of 8. (The slot modulo a
 * number of groups would not do: slots alternate between schedulers, and a group would lie on one of them.)
 *
 * (1) Two warps with consecutive local indices are in one group only where there is one group. (2) A warp
 * that waits at a barrier, sleeps, or is forbidden by the votes cannot keep its group the current one: those
 * that it waits for may be in another. (3) The current group changes only in a pick, so it does not depend on
 * how often an idle machine is looked at.
 *
 * Open in the paper: what happens to an issue slot in which no warp of the current group is ready, though
 * some wait for arithmetic alone. It stays empty, as groups are what is fetched; with pa.fill the next groups
 * get it and the current group stays. */
#include "mech/cost.h"
#include "mech/warps.h"

struct pa_params {
    uint32_t group_warps;
    bool fill;
};

struct pa {
    const struct pa_params *params;
    /* fetch groups of a scheduler; the warps of each in a bank, of all schedulers that share it */
    uint32_t groups;
    uint64_t members[MECH_BANK_WARPS];
    /* by scheduler */
    uint32_t current[MECH_SCHEDULERS_MAX];
    uint64_t changes, group_issues, fill_issues, empty_slots;
};

static const struct param_row pa_params[] = {
    PARAM_NUMBER(pa_params, group_warps, "pa.group_warps", "warps", "8", 1, MECH_BANK_WARPS,
                 "most warps of one fetch group (Narasiman et al., Jog et al.: 8)"),
    PARAM_FLAG(pa_params, fill, "pa.fill", "false",
               "a slot that the current group cannot use goes to the groups behind it"),
    {0},
};

static const struct stat_row pa_stats[] = {
    STAT_COUNT(pa, changes, "pa.group_changes", "changes",
               "times that a scheduler went on to another fetch group", NULL),
    STAT_COUNT(pa, group_issues, "pa.group_issues", "picks", "picks of a warp of the current group", NULL),
    STAT_COUNT(pa, fill_issues, "pa.fill_issues", "picks", "picks of a warp of another group (pa.fill)",
               NULL),
    STAT_COUNT(pa, empty_slots, "pa.empty_slots", "slots",
               "issue slots left empty while a warp of another group was ready", NULL),
    {0},
};

/* ---- groups ---- */

static uint32_t pa_warps(uint32_t warps, uint32_t schedulers)
{
    return (warps + schedulers - 1) / schedulers;
}

static uint32_t pa_groups(const struct pa_params *p, uint32_t warps)
{
    return (warps + p->group_warps - 1) / p->group_warps;
}

static void pa_cost(const void *params, const struct mech_machine *m, struct mech_cost *c)
{
    const uint32_t warps = pa_warps(m->warps, m->schedulers);
    mech_cost_add(c, MECH_EACH_SM, "group", m->schedulers, cost_index_bits(pa_groups(params, warps)),
                  "the current fetch group of each scheduler");
    mech_cost_add(c, MECH_EACH_SM, "last", m->schedulers, cost_index_bits(warps),
                  "the warp of each scheduler that issued last");
}

static void pa_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct pa *p = state;
    p->params = params;
    const uint32_t sharers = ports->banks > 1 ? 1 : ports->schedulers;
    p->groups = pa_groups(p->params, pa_warps(ports->warps, ports->schedulers));
    for (uint32_t slot = 0; slot < MECH_BANK_WARPS; slot++)
        p->members[slot / sharers % p->groups] |= warp_bit((int)slot);
}

/* The first group after this one that has some of these warps; itself, if no other has. */
static uint32_t pa_next_with(const struct pa *p, uint32_t group, uint64_t warps)
{
    for (uint32_t i = 0; i < p->groups; i++) {
        group = group + 1 == p->groups ? 0 : group + 1;
        if (p->members[group] & warps) break;
    }
    return group;
}

/* ---- the pick ---- */

/* The current group of the scheduler has its turn until none of its warps can run. */
static uint32_t pa_take_turns(struct pa *p, const struct mech_sched_view *view)
{
    const uint64_t may_run = view->resident & view->allowed & ~(view->memory_wait | view->barrier_wait);
    uint32_t *current = &p->current[view->scheduler];
    if (p->members[*current] & may_run) return *current;
    *current = pa_next_with(p, *current, may_run);
    p->changes++;
    return *current;
}

static int pa_pick(void *state, const struct mech_sched_view *view)
{
    struct pa *p = state;
    uint32_t group = pa_take_turns(p, view);
    uint64_t ready = view->ready & p->members[group];
    if (ready) {
        p->group_issues++;
    } else if (p->params->fill) {
        ready = view->ready & p->members[pa_next_with(p, group, view->ready)];
        p->fill_issues++;
    } else {
        p->empty_slots++;
        return MECH_NO_WARP;
    }
    return warps_after(ready, view->last);
}

const struct mechanism mechanism_pa = {
    .api = HEDDLE_MECHANISM_API,
    .name = "pa",
    .summary = "two-level, prefetch-aware: groups of non-consecutive warps take turns",
    .paper = "Jog et al., ISCA'13; as compared in APRES, ISCA'16 (section III-C)",
    .params = pa_params,
    .param_bytes = sizeof(struct pa_params),
    .stats = pa_stats,
    .state_bytes = sizeof(struct pa),
    .cost = pa_cost,
    .init = pa_init,
    .pick = pa_pick,
};
