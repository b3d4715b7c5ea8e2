/* swl.c: static warp limiting (Rogers et al., MICRO'12; GPGPU-Sim's warp_limiting; thesis 5.3.1).
 *
 * Only the N oldest warps of each scheduler may issue; among them the policy picks. Best-SWL is the N that a
 * sweep finds best for a program. Fewer warps share the L1, and less latency is hidden.
 *
 * (1) At most N warps of a scheduler are in the vote. (2) A warp that waits at a barrier holds no place: the
 * warps that it waits for may be younger, and would never get there (GPGPU-Sim orders waiting warps last for
 * the same reason). Left out: programs whose warps wait for each other by spinning on memory can hang under a
 * limit, here as on the real thing. */
#include "mech/warps.h"

struct swl_params {
    uint32_t warps;
};

struct swl {
    const struct swl_params *params;
    const struct mech_ports *ports;
    uint64_t mine[MECH_SCHEDULERS_MAX]; /* resident warps of each scheduler */
    uint64_t at_barrier;
    uint64_t order[MECH_WARPS_MAX]; /* launch order */
    uint64_t launches;
    uint64_t vote;
    uint64_t changes;
};

static const struct param_row swl_params[] = {
    PARAM_NUMBER(swl_params, warps, "swl.warps", "warps", "64", 1, MECH_WARPS_MAX,
                 "N: the oldest warps of each scheduler that may issue; at 64 nobody is held back"),
    {0},
};

static const struct stat_row swl_stats[] = {
    STAT_COUNT(swl, changes, "swl.changes", "votes", "changes of the set of warps that may issue", NULL),
    {0},
};

static uint64_t swl_oldest(const struct swl *s, uint64_t warps)
{
    uint64_t out = 0;
    if (warps_count(warps) <= (int)s->params->warps) return warps;
    for (uint32_t n = 0; n < s->params->warps; n++) {
        uint64_t warp = warp_bit(warps_least(warps, s->order));
        out |= warp;
        warps &= ~warp;
    }
    return out;
}

static void swl_vote(struct swl *s)
{
    uint64_t vote = 0;
    for (uint32_t i = 0; i < s->ports->schedulers; i++) vote |= swl_oldest(s, s->mine[i] & ~s->at_barrier);
    if (vote == s->vote) return;
    s->vote = vote;
    s->changes++;
    s->ports->allow_issue(s->ports->host, vote);
}

static void swl_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct swl *s = state;
    s->params = params;
    s->ports = ports;
    ports->allow_issue(ports->host, 0); /* as there is no warp yet */
}

static void swl_on_warp(void *state, const struct mech_warp_event *e)
{
    struct swl *s = state;
    s->at_barrier &= ~warp_bit(e->warp);
    if (e->is_start) {
        s->mine[e->scheduler] |= warp_bit(e->warp);
        s->order[e->warp] = s->launches++;
    } else {
        s->mine[e->scheduler] &= ~warp_bit(e->warp);
    }
    swl_vote(s);
}

static void swl_on_barrier(void *state, const struct mech_barrier *e)
{
    struct swl *s = state;
    s->at_barrier = e->is_wait ? s->at_barrier | e->warps : s->at_barrier & ~e->warps;
    swl_vote(s);
}

const struct mechanism mechanism_swl = {
    .api = HEDDLE_MECHANISM_API,
    .name = "swl",
    .summary = "static warp limit: only the N oldest warps of a scheduler issue",
    .paper = "Rogers et al., MICRO'12; thesis 5.3.1",
    .params = swl_params,
    .param_bytes = sizeof(struct swl_params),
    .stats = swl_stats,
    .state_bytes = sizeof(struct swl),
    .init = swl_init,
    .on_warp = swl_on_warp,
    .on_barrier = swl_on_barrier,
};
