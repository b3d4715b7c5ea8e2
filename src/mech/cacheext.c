/* cacheext.c: CacheExt, the ideal machine of Linebacker's Figure 5 (Oh et al., ISCA'19, section 2.4): the L1
 * has the registers that the CTAs of a kernel cannot have (SUR), in whole ways, at no cost in time or banks.
 *
 * With as many CTAs on the SM as fit, rows are left over; `warps` and `ctas`, the limits of a static limit
 * (swl.warps, swl.ctas) beside it, count the rows of the warps that it holds back as well (DUR). (1) The
 * capacity changes when a kernel's first CTA starts. Left out: several kernels on the SM at the same time;
 * the newest one sets the capacity. */
#include "heddle/mechanism.h"

struct cacheext_params {
    uint32_t warps, ctas;
};

struct cacheext {
    const struct cacheext_params *params;
    const struct mech_ports *ports;
    /* of the newest kernel: CTAs that fit, warps of one; 0: no CTA was seen yet */
    uint32_t ctas_fit, cta_warps;
    bool is_new;
    uint64_t lines_max, resizes;
};

static const struct param_row cacheext_params[] = {
    PARAM_NUMBER(
        cacheext_params, warps, "cacheext.warps", "warps", "0", 0, MECH_BANK_WARPS,
        "warps of each scheduler that may issue (swl.warps): rows of the others are idle too; 0 = all"),
    PARAM_NUMBER(cacheext_params, ctas, "cacheext.ctas", "CTAs", "0", 0, MECH_WARPS_MAX,
                 "CTAs of an SM that may run (swl.ctas): rows of the others are idle too; 0 = all"),
    {0},
};

static const struct stat_row cacheext_stats[] = {
    STAT_LARGEST(cacheext, lines_max, "cacheext.lines", "lines",
                 "most lines of the L1 that lay in registers"),
    STAT_COUNT(cacheext, resizes, "cacheext.resizes", "kernels", "kernels, SM by SM, that set the capacity",
               NULL),
    {0},
};

static uint32_t least(uint32_t a, uint32_t b) { return a < b ? a : b; }

static void cacheext_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct cacheext *c = state;
    c->params = params;
    c->ports = ports;
    ports->l1_lines_max(ports->host, ports->l1_sets * mech_l1_ways_max(ports));
}

static void cacheext_on_launch(void *state, const struct mech_launch *e)
{
    struct cacheext *c = state;
    const uint32_t threads = e->block[0] * e->block[1] * e->block[2];
    c->ctas_fit = e->ctas_fit;
    c->cta_warps = (threads + 31) / 32;
    c->is_new = true;
}

/* Rows of the warps that may issue, of a CTA of `rows` rows. */
static uint32_t cacheext_busy_rows(const struct cacheext *c, uint32_t rows)
{
    const uint32_t ctas = c->params->ctas ? least(c->params->ctas, c->ctas_fit) : c->ctas_fit;
    const uint32_t resident = ctas * c->cta_warps;
    const uint32_t limit = c->params->warps ? c->params->warps * c->ports->schedulers : resident;
    return least(resident, limit) * (rows / c->cta_warps);
}

static void cacheext_on_cta(void *state, const struct mech_cta *e)
{
    struct cacheext *c = state;
    const struct mech_ports *m = c->ports;
    if (e->kind != MECH_CTA_START || !c->is_new) return;
    c->is_new = false;
    const uint32_t idle = m->register_rows - least(cacheext_busy_rows(c, e->rows), m->register_rows);
    const uint64_t idle_lines = (uint64_t)idle * MECH_ROW_BYTES / m->line_bytes;
    const uint32_t ways = (uint32_t)(idle_lines / m->l1_sets);
    m->l1_lines(m->host, m->l1_sets * (m->l1_ways + ways));
    c->resizes++;
    if (ways * m->l1_sets > c->lines_max) c->lines_max = ways * m->l1_sets;
}

const struct mechanism mechanism_cacheext = {
    .api = HEDDLE_MECHANISM_API,
    .name = "cacheext",
    .summary = "ideal: the L1 has the registers that no CTA can have",
    .paper = "CacheExt of Linebacker, ISCA'19",
    .params = cacheext_params,
    .param_bytes = sizeof(struct cacheext_params),
    .stats = cacheext_stats,
    .state_bytes = sizeof(struct cacheext),
    .init = cacheext_init,
    .on_launch = cacheext_on_launch,
    .on_cta = cacheext_on_cta,
};
