/* cerf.c: CERF, the cache-emulated register file (Jing et al., MICRO'16), as Linebacker (Oh et al., ISCA'19,
 * section 5) compares with it: registers and L1 are one storage. Rows of the register file that no CTA owns,
 * and rows of registers that are dead or were not used for a while, hold lines of the L1: the same sets, more
 * ways. All loads allocate; nothing is filtered.
 *
 * (1) The L1 shrinks when a CTA starts, and follows what warps use every `period` cycles. (2) Every hit and
 * every fill take a bank, those of the L1's own ways as well, because the storage is one (Linebacker, 5.6); a
 * hit that finds its bank taken is a cycle late. (3) A live register whose row holds a line is in the L2: a
 * warp that reads it issues nothing for `restore` cycles. It waits behind the instruction that reads, not
 * before: which one comes next is known when it issues. The available text does not give the rule for rarely
 * used registers: `idle` cycles without a use stand for the compiler's marks and the hardware of the paper.
 * Left out: the renaming of registers (a line's row is its number, from the top of the file), and the traffic
 * of registers to the L2 and back. */
#include "mech/cost.h"

#include "heddle/mechanism.h"

enum { CERF_WORDS = MECH_REGISTER_WORDS, CERF_REGISTERS = 64 * CERF_WORDS, CERF_TAG_BITS = 18 };

struct cerf_params {
    uint32_t period, idle, restore;
};

/* A warp: the registers that are live next; those of them whose rows hold lines; when each was used last;
 * when it may issue again. */
struct cerf_warp {
    bool is_here;
    const uint64_t *live;
    uint64_t away[CERF_WORDS];
    uint64_t held_until;
    uint64_t used[CERF_REGISTERS];
};

struct cerf {
    const struct cerf_params *params;
    const struct mech_ports *ports;
    struct cerf_warp *warps;
    /* registers of a thread of the newest kernel; rows that CTAs own */
    uint32_t registers, owned;
    uint64_t next_sample;
    /* [bank]: warps that may issue */
    uint64_t vote[MECH_BANKS_MAX];
    uint64_t restores, restore_waits, hits, reads, writes, conflicts, resizes, lines_max, dormant_rows,
        samples;
};

static const struct param_row cerf_params[] = {
    PARAM_NUMBER(cerf_params, period, "cerf.period", "cycles", "10000", 100, 100000000,
                 "how often the capacity follows what warps use"),
    PARAM_NUMBER(cerf_params, idle, "cerf.idle", "cycles", "10000", 0, 100000000,
                 "a register that was not used for longer makes room for a line; 0: only dead ones do"),
    PARAM_NUMBER(
        cerf_params, restore, "cerf.restore", "cycles", "200", 0, 100000,
        "for which a warp issues nothing when it reads a register that made room: an access to the L2 at "
        "the least (Linebacker, 5.3)"),
    {0},
};

#define COUNT(field, unit, help) STAT_COUNT(cerf, field, "cerf." #field, unit, help, NULL)
static const struct stat_row cerf_stats[] = {
    COUNT(hits, "hits", "hits on lines, wherever they lie"),
    COUNT(reads, "hits", "of these, on lines in rows of the register file"),
    COUNT(writes, "lines", "lines that were put into rows"),
    COUNT(conflicts, "accesses", "hits and fills that found their bank taken"),
    COUNT(restores, "registers", "registers that were read while their rows held lines"),
    COUNT(restore_waits, "instructions",
          "instructions that read such registers, and after which their warps waited"),
    COUNT(resizes, "resizes", "changes of the capacity"),
    COUNT(dormant_rows, "rows", "rows of dead or unused registers of resident warps, summed over samples"),
    COUNT(samples, "samples", "samples of these"),
    STAT_LARGEST(cerf, lines_max, "cerf.lines", "lines", "most lines of the L1 that lay in registers"),
    {0},
};

static const struct energy_row cerf_energy[] = {
    ENERGY_PJ("cerf.tags", "l1.load_accesses", COST_LARGE_TABLE_PJ, "access to the tags of the rows"),
    COST_LINES_IN_ROWS("cerf", "reads", "writes"),
    {0},
};

static void cerf_cost(const void *params, const struct mech_machine *m, struct mech_cost *c)
{
    cost_row_tags(c, m, CERF_TAG_BITS, m->l1_ways);
}

static void cerf_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct cerf *c = state;
    c->params = params;
    c->ports = ports;
    c->warps = ports->memory(ports->host, (size_t)ports->banks * MECH_BANK_WARPS * sizeof *c->warps);
    ports->l1_lines_max(ports->host, ports->l1_sets * mech_l1_ways_max(ports));
    c->next_sample = c->params->period;
    for (uint32_t bank = 0; bank < ports->banks; bank++) c->vote[bank] = UINT64_MAX;
    ports->set_timer(ports->host, 0, c->params->period);
}

/* ---- what registers are used for ---- */

static void cerf_on_launch(void *state, const struct mech_launch *e)
{
    ((struct cerf *)state)->registers = e->registers < CERF_REGISTERS ? e->registers : CERF_REGISTERS;
}

static void cerf_allow(struct cerf *c, int warp, bool may_issue)
{
    const uint32_t bank = mech_bank(warp);
    const uint64_t vote = may_issue ? c->vote[bank] | mech_bit(warp) : c->vote[bank] & ~mech_bit(warp);
    if (vote == c->vote[bank]) return;
    c->vote[bank] = vote;
    c->ports->allow_issue(c->ports->host, bank, vote);
}

static void cerf_on_warp(void *state, const struct mech_warp_event *e)
{
    struct cerf *c = state;
    struct cerf_warp *w = &c->warps[e->warp];
    *w = (struct cerf_warp){.is_here = e->is_start};
    for (uint32_t r = 0; e->is_start && r < CERF_REGISTERS; r++) w->used[r] = e->cycle;
    cerf_allow(c, e->warp, true);
}

static void cerf_on_next(void *state, const struct mech_next *e)
{
    ((struct cerf *)state)->warps[e->warp].live = e->live;
}

/* The timer is that of the next sample, or of the next warp that may issue again. */
static void cerf_set_timer(struct cerf *c, uint64_t cycle)
{
    uint64_t next = c->next_sample;
    for (uint32_t i = 0; i < c->ports->banks * MECH_BANK_WARPS; i++)
        if (c->warps[i].held_until && c->warps[i].held_until < next) next = c->warps[i].held_until;
    c->ports->set_timer(c->ports->host, cycle, next > cycle ? (uint32_t)(next - cycle) : 1);
}

/* Registers that the instruction reads come back from the L2. */
static void cerf_restore(struct cerf *c, const struct mech_issue *e)
{
    struct cerf_warp *w = &c->warps[e->warp];
    uint32_t registers = 0;
    for (uint32_t i = 0; i < CERF_WORDS; i++) {
        registers += (uint32_t)__builtin_popcountll(w->away[i] & e->reads[i]);
        w->away[i] &= ~(e->reads[i] | e->writes[i]);
    }
    if (!registers) return;
    c->restores += registers;
    c->restore_waits++;
    if (!c->params->restore) return;
    w->held_until = e->cycle + c->params->restore;
    cerf_allow(c, e->warp, false);
    cerf_set_timer(c, e->cycle);
}

static void cerf_on_issue(void *state, const struct mech_issue *e)
{
    struct cerf_warp *w = &((struct cerf *)state)->warps[e->warp];
    cerf_restore(state, e);
    for (uint32_t i = 0; i < MECH_REGISTER_WORDS; i++)
        for (uint64_t rest = e->reads[i] | e->writes[i]; rest; rest &= rest - 1)
            w->used[64 * i + (uint32_t)__builtin_ctzll(rest)] = e->cycle;
}

/* Registers of a warp whose rows may hold lines: dead ones, and those that were not used for a while, which
 * go to the L2. */
static uint32_t cerf_send_away(const struct cerf *c, struct cerf_warp *w, uint64_t cycle)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < CERF_WORDS; i++) w->away[i] = 0;
    for (uint32_t r = 0; r < c->registers; r++) {
        const bool is_live = !w->live || w->live[r / 64] >> r % 64 & 1;
        const bool is_idle = c->params->idle && cycle - w->used[r] > c->params->idle;
        rows += !is_live || is_idle;
        w->away[r / 64] |= (uint64_t)(is_live && is_idle) << r % 64;
    }
    return rows;
}

static uint32_t cerf_dormant(struct cerf *c, uint64_t cycle)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < c->ports->banks * MECH_BANK_WARPS; i++)
        if (c->warps[i].is_here) rows += cerf_send_away(c, &c->warps[i], cycle);
    return rows;
}

/* ---- capacity ---- */

static void cerf_resize(struct cerf *c, uint32_t dormant)
{
    const struct mech_ports *m = c->ports;
    const uint32_t idle = m->register_rows - c->owned + (dormant < c->owned ? dormant : c->owned);
    const uint64_t lines = (uint64_t)idle * MECH_ROW_BYTES / m->line_bytes;
    const uint32_t extra = (uint32_t)(lines / m->l1_sets * m->l1_sets);
    m->l1_lines(m->host, m->l1_sets * m->l1_ways + extra);
    c->resizes++;
    if (extra > c->lines_max) c->lines_max = extra;
}

static void cerf_on_cta(void *state, const struct mech_cta *e)
{
    struct cerf *c = state;
    if (e->kind == MECH_CTA_START || e->kind == MECH_CTA_REGISTERS_IN) c->owned += e->rows;
    if (e->kind == MECH_CTA_END || e->kind == MECH_CTA_REGISTERS_OUT) c->owned -= e->rows;
    if (e->kind == MECH_CTA_START) cerf_resize(c, cerf_dormant(c, e->cycle));
}

static void cerf_sample(struct cerf *c, uint64_t cycle)
{
    const uint32_t dormant = cerf_dormant(c, cycle);
    c->next_sample = cycle + c->params->period;
    c->dormant_rows += dormant;
    c->samples++;
    cerf_resize(c, dormant);
}

static void cerf_on_timer(void *state, uint64_t cycle)
{
    struct cerf *c = state;
    for (uint32_t i = 0; i < c->ports->banks * MECH_BANK_WARPS; i++) {
        struct cerf_warp *w = &c->warps[i];
        if (!w->held_until || w->held_until > cycle) continue;
        w->held_until = 0;
        cerf_allow(c, (int)i, true);
    }
    if (cycle >= c->next_sample) cerf_sample(c, cycle);
    cerf_set_timer(c, cycle);
}

/* ---- banks ---- */

/* Cycles for which the bank of a row is taken: 0 or 1. Lines lie in rows from the top of the file down, those
 * of the L1's own ways in rows of their own, of which only the banks matter. */
static uint32_t cerf_access(struct cerf *c, uint32_t index, bool is_write)
{
    const struct mech_ports *m = c->ports;
    if (m->bank_access(m->host, m->register_rows - 1 - index % m->register_rows, is_write)) return 0;
    c->conflicts++;
    return 1;
}

static uint32_t cerf_extra_hit(void *state, uint32_t set, uint32_t way)
{
    struct cerf *c = state;
    const uint32_t own = c->ports->l1_ways;
    c->hits++;
    c->reads += way >= own;
    return cerf_access(c, (way >= own ? way - own : way) * c->ports->l1_sets + set, false);
}

/* It does not matter which of the rows the line fills: all banks are equally likely. */
static void cerf_on_l1_fill(void *state, const struct mech_l1_fill *e)
{
    struct cerf *c = state;
    if (!e->kept) return;
    c->writes += e->is_extra;
    cerf_access(c, (uint32_t)(e->line / c->ports->line_bytes), true);
}

const struct mechanism mechanism_cerf = {
    .api = HEDDLE_MECHANISM_API,
    .name = "cerf",
    .summary = "registers and L1 in one storage: idle and unused registers hold lines",
    .paper = "Jing et al., MICRO'16; CERF of Linebacker, ISCA'19",
    .params = cerf_params,
    .param_bytes = sizeof(struct cerf_params),
    .stats = cerf_stats,
    .energy = cerf_energy,
    .state_bytes = sizeof(struct cerf),
    .owns = MECH_OWNS_REGISTERS | MECH_KEEPS_REGISTERS, /* all rows that no CTA owns */
    .cost = cerf_cost,
    .init = cerf_init,
    .on_launch = cerf_on_launch,
    .on_warp = cerf_on_warp,
    .on_next = cerf_on_next,
    .on_issue = cerf_on_issue,
    .on_cta = cerf_on_cta,
    .on_timer = cerf_on_timer,
    .extra_hit = cerf_extra_hit,
    .on_l1_fill = cerf_on_l1_fill,
};
