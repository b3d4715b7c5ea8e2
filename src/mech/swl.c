/* swl.c: static warp limiting (Rogers et al., MICRO'12; GPGPU-Sim's warp_limiting; thesis 5.3.1).
 *
 * Only the N oldest warps of each scheduler may issue; among them the policy picks. Best-SWL is the N that a
 * sweep finds best for a program. Fewer warps share the L1, and less latency is hidden.
 *
 * swl.ctas limits CTAs instead: the others of the grid come when one has ended.
 *
 * (1) At most N warps of a scheduler are in the vote. (2) A warp that waits at a barrier takes none of the
 * N: the warps that it waits for may be younger, and would never get there (GPGPU-Sim orders waiting warps
 * last for the same reason). Left out: programs whose warps wait for each other by spinning on memory can
 * hang under a limit, here as on the real thing. */
#include "mech/warps.h"

struct swl_params {
    uint32_t warps, ctas;
};

struct swl {
    const struct swl_params *params;
    const struct mech_ports *ports;
    /* resident warps of each bank, by scheduler; a scheduler's warps all lie in one bank */
    uint64_t mine[MECH_BANKS_MAX][MECH_SCHEDULERS_MAX];
    uint64_t at_barrier[MECH_BANKS_MAX];
    uint64_t vote[MECH_BANKS_MAX];
    /* launch order, by slot */
    uint64_t order[MECH_WARPS_MAX];
    uint64_t launches;
    uint64_t changes;
};

static const struct param_row swl_params[] = {
    PARAM_NUMBER(swl_params, warps, "swl.warps", "warps", "64", 1, MECH_BANK_WARPS,
                 "N: the oldest warps of each scheduler that may issue; 64 holds none back"),
    PARAM_NUMBER(swl_params, ctas, "swl.ctas", "CTAs", "0", 0, MECH_WARPS_MAX,
                 "of an SM, at most; 0: as many as fit (Linebacker's section 5 counts CTAs)"),
    {0},
};

static const struct stat_row swl_stats[] = {
    STAT_COUNT(swl, changes, "swl.changes", "votes", "changes of the set of warps that may issue", NULL),
    {0},
};

static uint64_t swl_oldest(const struct swl *s, uint32_t bank, uint64_t warps)
{
    const uint64_t *order = &s->order[bank * MECH_BANK_WARPS];
    uint64_t out = 0;
    if (warps_count(warps) <= (int)s->params->warps) return warps;
    for (uint32_t n = 0; n < s->params->warps; n++) {
        uint64_t warp = warp_bit(warps_least(warps, order));
        out |= warp;
        warps &= ~warp;
    }
    return out;
}

static void swl_vote(struct swl *s, uint32_t bank)
{
    uint64_t vote = 0;
    for (uint32_t i = 0; i < s->ports->schedulers; i++)
        vote |= swl_oldest(s, bank, s->mine[bank][i] & ~s->at_barrier[bank]);
    if (vote == s->vote[bank]) return;
    s->vote[bank] = vote;
    s->changes++;
    s->ports->allow_issue(s->ports->host, bank, vote);
}

static void swl_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct swl *s = state;
    s->params = params;
    s->ports = ports;
    if (s->params->ctas) ports->limit_ctas(ports->host, s->params->ctas);
    /* there is no warp yet */
    for (uint32_t bank = 0; bank < ports->banks; bank++) ports->allow_issue(ports->host, bank, 0);
}

static void swl_on_warp(void *state, const struct mech_warp_event *e)
{
    struct swl *s = state;
    const uint32_t bank = mech_bank(e->warp);
    s->at_barrier[bank] &= ~mech_bit(e->warp);
    if (e->is_start) {
        s->mine[bank][e->scheduler] |= mech_bit(e->warp);
        s->order[e->warp] = s->launches++;
    } else {
        s->mine[bank][e->scheduler] &= ~mech_bit(e->warp);
    }
    swl_vote(s, bank);
}

static void swl_on_barrier(void *state, const struct mech_barrier *e)
{
    struct swl *s = state;
    uint64_t *waiting = &s->at_barrier[e->bank];
    *waiting = e->is_wait ? *waiting | e->warps : *waiting & ~e->warps;
    swl_vote(s, e->bank);
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
