/* srrip.c: SRRIP-HP, static re-reference interval prediction with hit priority (Jaleel et al., ISCA'10,
 * section 4.2), as the replacement policy of the L1.
 *
 * Each line has an M-bit prediction of when it will be used again, its RRPV: 0 is the near future, 2^M - 1
 * the distant one. A line that comes in gets 2^M - 2, so that a scan, whose lines are used once, leaves
 * before lines that were used twice. A hit sets 0. The victim is the lowest way with 2^M - 1; where there is
 * none, the RRPVs of the set grow until there is one.
 *
 * (1) The RRPV of a way that may not be replaced grows with the others, but never beyond 2^M - 1. (2) With M
 * = 1 a line comes in with 0: not-recently-used replacement, as in the paper. Open in the paper: a load that
 * finds its line under way counts as a hit. */
#include "heddle/mechanism.h"

struct srrip_params {
    uint32_t bits;
};

struct srrip {
    const struct srrip_params *params;
    /* by set and way */
    uint8_t *rrpv;
    uint32_t ways;
    uint8_t distant;
    uint64_t hits, inserts, victims, agings;
};

static const struct param_row srrip_params[] = {
    PARAM_NUMBER(srrip_params, bits, "srrip.bits", "bits", "2", 1, 8, "M: width of an RRPV"),
    {0},
};

static const struct stat_row srrip_stats[] = {
    STAT_COUNT(srrip, hits, "srrip.hits", "hits", "hits that set the RRPV of a line to 0", NULL),
    STAT_COUNT(srrip, inserts, "srrip.inserts", "lines", "lines that came in", NULL),
    STAT_COUNT(srrip, victims, "srrip.victims", "lines", "lines that were chosen to leave", NULL),
    STAT_COUNT(srrip, agings, "srrip.agings", "steps", "times that the RRPVs of a set grew by one", NULL),
    {0},
};

static void srrip_cost(const void *params, const struct mech_machine *m, struct mech_cost *c)
{
    mech_cost_add(c, MECH_EACH_SM, "rrpv", (uint64_t)m->l1_sets * m->l1_ways,
                  ((const struct srrip_params *)params)->bits, "RRPV of each line of the L1");
}

static void srrip_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct srrip *s = state;
    s->params = params;
    s->distant = (uint8_t)((1u << s->params->bits) - 1);
    s->ways = mech_l1_ways_max(ports);
    s->rrpv = ports->memory(ports->host, (size_t)ports->l1_sets * s->ways);
}

static uint8_t *srrip_set(const struct srrip *s, uint32_t set) { return &s->rrpv[(size_t)set * s->ways]; }

static void srrip_line_inserted(void *state, uint32_t set, uint32_t way)
{
    struct srrip *s = state;
    srrip_set(s, set)[way] = s->distant - 1;
    s->inserts++;
}

static void srrip_line_touched(void *state, uint32_t set, uint32_t way)
{
    struct srrip *s = state;
    srrip_set(s, set)[way] = 0;
    s->hits++;
}

/* The candidate whose RRPV is the largest; of equals the lowest. */
static uint32_t srrip_most_distant(const uint8_t *rrpv, const struct mech_victim_view *view)
{
    uint32_t best = view->ways;
    for (uint32_t way = 0; way < view->ways; way++) {
        if (!(view->candidates[way / 64] >> way % 64 & 1)) continue;
        if (best == view->ways || rrpv[way] > rrpv[best]) best = way;
    }
    return best;
}

/* The first candidate that reaches 2^M - 1 when all grow together is the one that is largest now. */
static uint32_t srrip_victim(void *state, const struct mech_victim_view *view)
{
    struct srrip *s = state;
    uint8_t *rrpv = srrip_set(s, view->set);
    const uint32_t victim = srrip_most_distant(rrpv, view);
    const uint8_t steps = s->distant - rrpv[victim];
    for (uint32_t way = 0; steps && way < view->ways; way++)
        rrpv[way] = rrpv[way] > s->distant - steps ? s->distant : rrpv[way] + steps;
    s->agings += steps;
    s->victims++;
    return victim;
}

const struct mechanism mechanism_srrip = {
    .api = HEDDLE_MECHANISM_API,
    .name = "srrip",
    .summary = "L1 replacement by re-reference interval prediction: scans leave first",
    .paper = "Jaleel et al., ISCA'10",
    .params = srrip_params,
    .param_bytes = sizeof(struct srrip_params),
    .stats = srrip_stats,
    .state_bytes = sizeof(struct srrip),
    .cost = srrip_cost,
    .init = srrip_init,
    .victim = srrip_victim,
    .line_touched = srrip_line_touched,
    .line_inserted = srrip_line_inserted,
};
