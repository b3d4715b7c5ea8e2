/* cta_stalls.c: an observer: how long CTAs run until all of their warps wait for memory (FineReg, Oh et al.,
 * MICRO'18, Table III): from the first instruction that a warp of the CTA issues to the first complete stall.
 * A CTA that ends without one is not counted. It changes nothing. */
#include "heddle/mechanism.h"

enum stalls_stage { CTA_STARTED, CTA_RUNS, CTA_HAS_STALLED };

struct stalls_cta {
    enum stalls_stage stage;
    uint64_t first_issue;
};

struct cta_stalls {
    struct stalls_cta *ctas;
    uint32_t cta_of[MECH_WARPS_MAX];
    uint64_t cycles, stalled, ended;
};

static const struct stat_row cta_stalls_stats[] = {
    STAT_COUNT(cta_stalls, cycles, "cta-stalls.cycles", "cycles",
               "from the first issue of a CTA to its first complete stall, summed over CTAs", NULL),
    STAT_COUNT(cta_stalls, stalled, "cta-stalls.stalled", "CTAs", "CTAs that have stalled completely", NULL),
    STAT_COUNT(cta_stalls, ended, "cta-stalls.ended", "CTAs", "CTAs that have ended", NULL),
    STAT_RATIO(cta_stalls, cycles, stalled, "cta-stalls.until_stall", "cycles",
               "from the first issue of a CTA to its first complete stall", NULL),
    {0},
};

static void cta_stalls_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct cta_stalls *s = state;
    s->ctas = ports->memory(ports->host, ports->ctas * sizeof *s->ctas);
}

static void cta_stalls_on_warp(void *state, const struct mech_warp_event *e)
{
    if (e->is_start) ((struct cta_stalls *)state)->cta_of[e->warp] = e->cta_slot;
}

static void cta_stalls_on_issue(void *state, const struct mech_issue *e)
{
    struct cta_stalls *s = state;
    struct stalls_cta *c = &s->ctas[s->cta_of[e->warp]];
    if (c->stage == CTA_STARTED) *c = (struct stalls_cta){CTA_RUNS, e->cycle};
}

static void cta_stalls_on_cta(void *state, const struct mech_cta *e)
{
    struct cta_stalls *s = state;
    struct stalls_cta *c = &s->ctas[e->cta_slot];
    if (e->kind == MECH_CTA_START) *c = (struct stalls_cta){CTA_STARTED, 0};
    if (e->kind == MECH_CTA_END) s->ended++;
    if (e->kind != MECH_CTA_STALLED || c->stage != CTA_RUNS) return;
    c->stage = CTA_HAS_STALLED;
    s->cycles += e->cycle - c->first_issue;
    s->stalled++;
}

const struct mechanism mechanism_cta_stalls = {
    .api = HEDDLE_MECHANISM_API,
    .name = "cta-stalls",
    .summary = "observer: cycles until all warps of a CTA wait for memory",
    .paper = "FineReg, MICRO'18, Table III",
    .stats = cta_stalls_stats,
    .state_bytes = sizeof(struct cta_stalls),
    .hears_stalls = true,
    .init = cta_stalls_init,
    .on_warp = cta_stalls_on_warp,
    .on_issue = cta_stalls_on_issue,
    .on_cta = cta_stalls_on_cta,
};
