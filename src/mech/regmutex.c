/* regmutex.c: RegMutex (Khorasani et al., ISCA'18) with Virtual Thread, as FineReg (Oh et al., MICRO'18,
 * VI-A) compares with it. A warp owns a base set of its registers. While more are live than that, it holds a
 * section of a shared pool for the others; when none is free it does not issue.
 *
 * A share of the register file is the pool (SRP); base sets (BRS) share the rest, so that more CTAs fit.
 * Which split is best is found by a sweep over regmutex.base and regmutex.srp. CTAs beyond the slots are
 * exchanged as in vt.c.
 *
 * (1) A section is acquired before the first instruction before which more than the base set is live, and
 * released before the first one where that is no longer so; a load that is under way does not release it. (2)
 * A warp that waits at a barrier with a section could wait for one that waits for a section: such a split is
 * refused, with the PC. (3) A CTA that holds sections keeps its slots: else warps in slots could wait for
 * those without. (4) A free section goes to the oldest warp that waits. Left out: the moves that bring the
 * values of a section into the base set before its release. */
#include "mech/cost.h"
#include "mech/cta_table.h"

#include <stdio.h>

enum { CTA_WARPS = 64, NO_WARP = -1 };

struct regmutex_params {
    uint32_t base, srp, cycles_per_warp, stall_cycles;
};

/* A warp of a resident CTA. */
struct regmutex_warp {
    bool has_section, waits;
    /* its slot, or NO_WARP */
    int slot;
    uint64_t launch, waits_since;
};

struct regmutex {
    const struct regmutex_params *params;
    const struct mech_ports *ports;
    struct cta_table table;
    /* by CTA slot and index */
    struct regmutex_warp (*warps)[CTA_WARPS];
    /* sections of each CTA */
    uint32_t *held;
    /* by slot: the warp in it, NULL: not known yet; its next PC, and whether it needs a section there */
    struct regmutex_warp *of[MECH_WARPS_MAX];
    uint32_t pc[MECH_WARPS_MAX];
    bool needs[MECH_WARPS_MAX];
    uint64_t allowed[MECH_BANKS_MAX];
    /* registers of a thread in the base set and in a section; sections, and those that are free */
    uint32_t base, extended, sections, free;
    /* rows of the pool by regmutex.srp; a kernel whose base set is all of its registers has no pool */
    uint64_t pool_rows;
    uint32_t waiting;
    uint64_t waiting_since;
    uint64_t acquires, section_stalls, section_cycles, depleted_cycles, pool_max, sections_max;
};

static const struct param_row regmutex_params[] = {
    PARAM_FRACTION(regmutex_params, base, "regmutex.base", "of registers", "0.75", 1, 1000,
                   "of a thread that are in its base set, rounded up to 4"),
    PARAM_FRACTION(regmutex_params, srp, "regmutex.srp", "of registers", "0.25", 0, 999,
                   "of the register file that are the shared pool"),
    PARAM_NUMBER(regmutex_params, stall_cycles, "regmutex.stall_cycles", "cycles", "100", 0, 100000,
                 "for which a CTA waits before it counts as stalled: longer than a hit of the L1"),
    PARAM_NUMBER(regmutex_params, cycles_per_warp, "regmutex.cycles_per_warp", "cycles", "2", 0, 10000,
                 "to exchange the scheduling state of a warp for that of another"),
    {0},
};

#define COUNT(field, unit, help) STAT_COUNT(regmutex, field, "regmutex." #field, unit, help, NULL)
static const struct stat_row regmutex_stats[] = {
    CTA_TABLE_STATS(regmutex, "regmutex"),
    COUNT(acquires, "sections", "sections that warps acquired"),
    COUNT(section_stalls, "warps", "times that a warp found no free section"),
    COUNT(section_cycles, "warp-cycles", "warps that waited for a section, summed over cycles"),
    COUNT(depleted_cycles, "cycles", "cycles with such a warp, summed over SMs"),
    STAT_LARGEST(regmutex, pool_max, "regmutex.pool_rows", "rows",
                 "rows of the register file in the pool, the most of all kernels"),
    STAT_LARGEST(regmutex, sections_max, "regmutex.sections", "sections", "most sections that the pool had"),
    {0},
};

static const struct energy_row regmutex_energy[] = {
    ENERGY_PJ("regmutex.switching", "regmutex.swaps", COST_LARGE_TABLE_PJ,
              "access to the CTA switching logic"),
    ENERGY_PJ("regmutex.sections", "regmutex.acquires", COST_SMALL_TABLE_PJ,
              "section that is acquired and released"),
    {0},
};

/* Sections are as many as warps at most. */
static void regmutex_cost(const void *params, const struct mech_machine *m, struct mech_cost *c)
{
    mech_cost_add(c, MECH_EACH_SM, "switching", 1, CTA_SWITCHING_BITS,
                  "CTA switching logic, Virtual Thread's");
    mech_cost_add(c, MECH_EACH_SM, "holders", m->warps, 1, "the warps that hold a section");
    mech_cost_add(c, MECH_EACH_SM, "sections", m->warps, 1, "the sections that are taken");
    mech_cost_add(c, MECH_EACH_SM, "lookup", m->warps, cost_index_bits(m->warps), "the section of each warp");
}

static void regmutex_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct regmutex *x = state;
    x->params = params;
    x->ports = ports;
    x->warps = ports->memory(ports->host, ports->ctas * sizeof *x->warps);
    x->held = ports->memory(ports->host, ports->ctas * sizeof *x->held);
    x->pool_rows = (uint64_t)ports->register_rows * x->params->srp / 1000;
    for (uint32_t i = 0; i < ports->banks; i++) x->allowed[i] = UINT64_MAX;
    ports->stall_after(ports->host, x->params->stall_cycles);
    cta_table_init(&x->table, ports);
}

/* ---- the split ---- */

static void regmutex_on_launch(void *state, const struct mech_launch *e)
{
    struct regmutex *x = state;
    const uint32_t base = (e->registers * x->params->base + 999) / 1000, rounded = (base + 3) / 4 * 4;
    if (x->table.active + x->table.inactive) return; /* the split of the kernel that runs */
    x->base = rounded < e->registers ? rounded : e->registers;
    x->extended = e->registers - x->base;
    x->sections = x->extended ? (uint32_t)(x->pool_rows / x->extended) : 0;
    x->free = x->sections;
    if (x->extended && x->pool_rows > x->pool_max) x->pool_max = x->pool_rows;
    if (x->sections > x->sections_max) x->sections_max = x->sections;
    if (x->sections || !x->extended) return;
    char why[MECH_REASON_BYTES];
    snprintf(why, sizeof why, "kernel '%.80s': a section of %u registers does not fit a pool of %llu rows",
             e->kernel, x->extended, (unsigned long long)x->pool_rows);
    x->ports->refuse(x->ports->host, why);
}

/* A CTA gets base sets alone, of what the pool leaves. */
static bool regmutex_admit(void *state, struct mech_admit *a)
{
    const struct regmutex *x = state;
    const uint64_t pool = x->extended ? x->pool_rows * 32 : 0;
    uint64_t gets = (uint64_t)x->base * 32 * a->cta_warps;
    if (gets > a->registers.asked) gets = a->registers.asked;
    a->gets_registers = gets;
    return a->registers.in_use + gets + pool <= a->registers.limit;
}

/* ---- sections ---- */

static void regmutex_allow(struct regmutex *x, int slot, bool may_issue)
{
    uint64_t *mask = &x->allowed[mech_bank(slot)];
    *mask = may_issue ? *mask | mech_bit(slot) : *mask & ~mech_bit(slot);
    x->ports->allow_issue(x->ports->host, mech_bank(slot), *mask);
}

static void regmutex_wait(struct regmutex *x, struct regmutex_warp *w, bool waits, uint64_t cycle)
{
    if (w->waits == waits) return;
    w->waits = waits;
    if (x->waiting) x->depleted_cycles += cycle - x->waiting_since;
    x->waiting_since = cycle;
    x->waiting += waits ? 1u : -1u;
    x->section_stalls += waits;
    if (!waits) x->section_cycles += cycle - w->waits_since;
    w->waits_since = cycle;
    if (w->slot != NO_WARP) regmutex_allow(x, w->slot, !waits);
}

static uint32_t regmutex_cta_of(const struct regmutex *x, const struct regmutex_warp *w)
{
    return (uint32_t)((w - x->warps[0]) / CTA_WARPS);
}

static void regmutex_acquire(struct regmutex *x, struct regmutex_warp *w, uint64_t cycle)
{
    x->free--;
    w->has_section = true;
    x->held[regmutex_cta_of(x, w)]++;
    x->acquires++;
    regmutex_wait(x, w, false, cycle);
}

static struct regmutex_warp *regmutex_oldest_waiting(struct regmutex *x)
{
    struct regmutex_warp *best = NULL;
    for (uint32_t i = 0; i < x->ports->warps; i++) {
        struct regmutex_warp *w = x->of[i];
        if (w && w->waits && (!best || w->launch < best->launch)) best = w;
    }
    return best;
}

static void regmutex_release(struct regmutex *x, struct regmutex_warp *w, uint64_t cycle)
{
    if (!w->has_section) return;
    w->has_section = false;
    x->held[regmutex_cta_of(x, w)]--;
    x->free++;
    struct regmutex_warp *next = x->waiting ? regmutex_oldest_waiting(x) : NULL;
    if (next) regmutex_acquire(x, next, cycle);
}

/* The warp of a slot and what its next instruction needs are known. */
static void regmutex_judge(struct regmutex *x, int slot, uint64_t cycle)
{
    struct regmutex_warp *w = x->of[slot];
    if (!x->needs[slot]) {
        regmutex_wait(x, w, false, cycle);
        regmutex_release(x, w, cycle);
    } else if (!w->has_section) {
        if (x->free)
            regmutex_acquire(x, w, cycle);
        else
            regmutex_wait(x, w, true, cycle);
    }
}

/* ---- events of warps ---- */

static void regmutex_on_next(void *state, const struct mech_next *e)
{
    struct regmutex *x = state;
    uint32_t live = 0;
    for (int i = 0; i < MECH_REGISTER_WORDS; i++) live += (uint32_t)__builtin_popcountll(e->live[i]);
    x->pc[e->warp] = e->pc;
    x->needs[e->warp] = x->extended && live > x->base;
    if (x->of[e->warp]) regmutex_judge(x, e->warp, e->cycle);
}

static void regmutex_on_warp(void *state, const struct mech_warp_event *e)
{
    struct regmutex *x = state;
    struct regmutex_warp *w = &x->warps[e->cta_slot][e->index];
    if (e->is_start) {
        if (!e->is_swap) *w = (struct regmutex_warp){.launch = e->launch};
        w->slot = e->warp;
        x->of[e->warp] = w;
        regmutex_judge(x, e->warp, e->cycle);
        return;
    }
    regmutex_wait(x, w, false, e->cycle);
    if (!e->is_swap) regmutex_release(x, w, e->cycle);
    w->slot = NO_WARP;
    x->of[e->warp] = NULL;
}

static void regmutex_on_barrier(void *state, const struct mech_barrier *e)
{
    struct regmutex *x = state;
    for (uint64_t rest = e->is_wait ? e->warps : 0; rest; rest &= rest - 1) {
        const uint32_t slot = e->bank * MECH_BANK_WARPS + (uint32_t)__builtin_ctzll(rest);
        char why[MECH_REASON_BYTES];
        if (!x->of[slot] || !x->of[slot]->has_section) continue;
        snprintf(
            why, sizeof why,
            "a warp waits at the barrier at PC %u with a section, and could wait for a warp that waits for "
            "one: more than its base set of %u registers is live there",
            x->pc[slot], x->base);
        x->ports->refuse(x->ports->host, why);
    }
}

/* ---- CTAs ---- */

static bool regmutex_exchange(struct regmutex *x, uint32_t out, uint32_t in)
{
    const uint32_t cycles = x->params->cycles_per_warp * x->table.ctas[in].warps;
    return x->ports->cta_swap(x->ports->host, out, in, cycles);
}

/* The CTA that stalled first, of those without sections. */
static uint32_t regmutex_stalled(const struct regmutex *x)
{
    uint32_t best = MECH_NO_CTA;
    for (uint32_t i = 0; i < x->table.slots; i++) {
        const struct cta_entry *c = &x->table.ctas[i];
        if (c->is_used && c->is_active && c->is_stalled && !x->held[i] &&
            (best == MECH_NO_CTA || c->since < x->table.ctas[best].since))
            best = i;
    }
    return best;
}

static void regmutex_serve(struct regmutex *x)
{
    for (uint32_t in; (in = cta_table_ready(&x->table)) != MECH_NO_CTA;) {
        bool has_entered = regmutex_exchange(x, MECH_NO_CTA, in);
        for (uint32_t out; !has_entered && (out = regmutex_stalled(x)) != MECH_NO_CTA;) {
            has_entered = regmutex_exchange(x, out, in);
            x->table.ctas[out].is_stalled = false;
        }
        if (!has_entered) return;
        x->table.ctas[in].is_ready = false;
    }
}

static void regmutex_on_cta(void *state, const struct mech_cta *e)
{
    struct regmutex *x = state;
    cta_table_hear(&x->table, e);
    if (e->kind != MECH_CTA_START) regmutex_serve(x);
}

const struct mechanism mechanism_regmutex = {
    .api = HEDDLE_MECHANISM_API,
    .name = "regmutex",
    .summary = "RegMutex with Virtual Thread: base sets of registers, sections of a pool for the others",
    .paper = "Khorasani et al., ISCA'18, as in FineReg, MICRO'18",
    .params = regmutex_params,
    .param_bytes = sizeof(struct regmutex_params),
    .stats = regmutex_stats,
    .energy = regmutex_energy,
    .state_bytes = sizeof(struct regmutex),
    .owns = MECH_OWNS_REGISTERS | MECH_KEEPS_REGISTERS, /* the pool: rows that no CTA owns */
    .cost = regmutex_cost,
    .init = regmutex_init,
    .admit = regmutex_admit,
    .on_launch = regmutex_on_launch,
    .on_next = regmutex_on_next,
    .on_warp = regmutex_on_warp,
    .on_barrier = regmutex_on_barrier,
    .on_cta = regmutex_on_cta,
};
