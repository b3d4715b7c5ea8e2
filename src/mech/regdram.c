/* regdram.c: Reg+DRAM, as FineReg (Oh et al., MICRO'18, VI-A) compares with it: Virtual Thread (vt.c), and up
 * to regdram.ctas CTAs more, whose registers are in memory. It stands for Zorua (Vijaykumar et al.,
 * MICRO'16), and the number is the best of a sweep.
 *
 * (1) A stalled CTA gives its slots to a ready one whose registers are on the SM, as in Virtual Thread. (2)
 * Else, while fewer than regdram.ctas CTAs are in memory and the grid has CTAs, its registers go to memory,
 * and a new CTA starts in their rows. (3) Else it is exchanged for the oldest ready CTA of memory: its
 * registers leave, then those of the other come. All registers of a CTA travel, one row of 128 bytes a cycle
 * each way, through the SM's queue to the crossbar (cta_registers). A result that comes for a CTA whose
 * registers are in memory is written there, as a row (sm.rows_late). One CTA moves at a time.
 *
 * CTAs of cooperative grids do not move. */
#include "mech/cost.h"
#include "mech/cta_table.h"

struct regdram_params {
    uint32_t ctas, cycles_per_warp, stall_cycles, buffer;
};

enum regdram_where { REGS_HERE, REGS_LEAVE, REGS_AWAY, REGS_COME };

struct regdram {
    const struct regdram_params *params;
    const struct mech_ports *ports;
    struct cta_table table;
    /* by CTA slot: enum regdram_where */
    uint8_t *where;
    uint32_t away;
    /* the CTA that leaves, and the one that comes after it; MECH_NO_CTA: none */
    uint32_t out, in;
    bool is_moving, is_cooperative, expects;
    uint64_t shared_asked, shared_limit;
    uint64_t launches, exchanges, context_swaps, rows_out, rows_in, results;
};

static const struct param_row regdram_params[] = {
    PARAM_NUMBER(regdram_params, ctas, "regdram.ctas", "CTAs", "4", 0, 64,
                 "CTAs of an SM whose registers may be in memory; the best of a sweep"),
    PARAM_NUMBER(regdram_params, stall_cycles, "regdram.stall_cycles", "cycles", "100", 0, 100000,
                 "for which a CTA waits before it counts as stalled: longer than a hit of the L1"),
    PARAM_NUMBER(regdram_params, cycles_per_warp, "regdram.cycles_per_warp", "cycles", "2", 0, 10000,
                 "to exchange the scheduling state of a warp for that of another"),
    PARAM_NUMBER(regdram_params, buffer, "regdram.buffer", "rows", "64", 1, MECH_TRANSFER_BUFFER_MAX,
                 "that the transfer engine holds between a bank and the queue to the crossbar"),
    {0},
};

#define COUNT(field, unit, help) STAT_COUNT(regdram, field, "regdram." #field, unit, help, NULL)
static const struct stat_row regdram_stats[] = {
    CTA_TABLE_STATS(regdram, "regdram"),
    COUNT(launches, "switches", "CTAs that went to memory for a new one"),
    COUNT(exchanges, "switches", "CTAs that were exchanged for one of memory"),
    COUNT(context_swaps, "switches", "CTAs that got slots with their registers on the SM"),
    COUNT(rows_out, "rows", "rows of registers that went to memory"),
    COUNT(rows_in, "rows", "rows of registers that came back"),
    COUNT(results, "results", "that came for a CTA whose registers were in memory"),
    {0},
};

static const struct energy_row regdram_energy[] = {
    ENERGY_PJ("regdram.switching", "regdram.swaps", COST_LARGE_TABLE_PJ, "access to the CTA switching logic"),
    ENERGY_LIKE("regdram.backup", "regdram.rows_out", COST_ROW_LANES, "register_read",
                "row of a CTA that goes to memory"),
    ENERGY_LIKE("regdram.restore", "regdram.rows_in", COST_ROW_LANES, "register_write",
                "row of a CTA that comes back"),
    {0},
};

static void regdram_cost(const void *params, const struct mech_machine *m, struct mech_cost *c)
{
    enum { ADDRESS = 32 };
    const struct regdram_params *p = params;
    mech_cost_add(c, MECH_EACH_SM, "switching", 1, CTA_SWITCHING_BITS,
                  "CTA switching logic, Virtual Thread's");
    mech_cost_add(c, MECH_EACH_SM, "buffer", p->buffer, ADDRESS + 8 * MECH_ROW_BYTES,
                  "buffer of the transfer engine: address, row");
}

static void regdram_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct regdram *r = state;
    r->params = params;
    r->ports = ports;
    r->where = ports->memory(ports->host, ports->ctas);
    r->out = r->in = MECH_NO_CTA;
    ports->stall_after(ports->host, r->params->stall_cycles);
    cta_table_init(&r->table, ports);
}

static void regdram_on_launch(void *state, const struct mech_launch *e)
{
    ((struct regdram *)state)->is_cooperative = e->is_cooperative;
}

/* Registers and shared memory are the host's to check. */
static bool regdram_admit(void *state, struct mech_admit *a)
{
    struct regdram *r = state;
    r->shared_asked = a->shared.asked;
    r->shared_limit = a->shared.limit;
    return true;
}

static bool regdram_has_new(const struct regdram *r)
{
    const uint64_t ctas = r->table.active + r->table.inactive + 1;
    return r->ports->ctas_left(r->ports->host) && ctas <= r->table.slots &&
           ctas * r->shared_asked <= r->shared_limit;
}

/* The oldest ready CTA whose registers are there. */
static uint32_t regdram_ready(const struct regdram *r, enum regdram_where where)
{
    uint32_t best = MECH_NO_CTA;
    for (uint32_t i = 0; i < r->table.slots; i++) {
        const struct cta_entry *c = &r->table.ctas[i];
        if (c->is_used && !c->is_active && c->is_ready && r->where[i] == where &&
            (best == MECH_NO_CTA || c->age < r->table.ctas[best].age))
            best = i;
    }
    return best;
}

static uint32_t regdram_cycles(const struct regdram *r, uint32_t cta)
{
    return r->params->cycles_per_warp * r->table.ctas[cta].warps;
}

/* Rule (1). */
static bool regdram_swap_contexts(struct regdram *r)
{
    const uint32_t in = regdram_ready(r, REGS_HERE), out = cta_table_stalled(&r->table);
    if (in == MECH_NO_CTA) return false;
    bool is_done = r->ports->cta_swap(r->ports->host, MECH_NO_CTA, in, regdram_cycles(r, in));
    if (!is_done && out != MECH_NO_CTA) {
        is_done = r->ports->cta_swap(r->ports->host, out, in, regdram_cycles(r, in));
        r->table.ctas[out].is_stalled = false;
    }
    if (is_done) r->table.ctas[in].is_ready = false;
    r->context_swaps += is_done;
    return is_done;
}

/* Registers that come back, if there are rows for them. True: they are on their way. */
static bool regdram_bring(struct regdram *r, uint32_t in)
{
    const struct mech_transfer t = {.cta_slot = in, .is_out = false, .buffer = r->params->buffer};
    if (!r->ports->cta_registers(r->ports->host, &t)) return false;
    r->where[in] = REGS_COME;
    r->table.ctas[in].is_ready = false;
    r->is_moving = true;
    r->in = in;
    return true;
}

/* Rules (2) and (3). False: nothing moves. */
static bool regdram_begin(struct regdram *r)
{
    const uint32_t ready = regdram_ready(r, REGS_AWAY), out = cta_table_stalled(&r->table);
    if (ready != MECH_NO_CTA && !r->expects && regdram_bring(r, ready)) return true;
    const bool takes_new = r->away < r->params->ctas && regdram_has_new(r);
    if (out == MECH_NO_CTA || (!takes_new && ready == MECH_NO_CTA)) return false;
    r->table.ctas[out].is_stalled = false;
    if (!r->ports->cta_swap(r->ports->host, out, MECH_NO_CTA, regdram_cycles(r, out))) return true;
    r->where[out] = REGS_LEAVE;
    r->is_moving = true;
    r->out = out;
    r->in = takes_new ? MECH_NO_CTA : ready;
    r->launches += takes_new;
    r->exchanges += !takes_new;
    if (!takes_new) r->table.ctas[ready].is_ready = false;
    return true;
}

static void regdram_serve(struct regdram *r)
{
    while (!r->is_moving && !r->is_cooperative)
        if (!regdram_swap_contexts(r) && !regdram_begin(r)) return;
}

/* The CTA that leaves has lost its slots: its registers follow. */
static void regdram_send(struct regdram *r, uint32_t out)
{
    const struct mech_transfer t = {
        .cta_slot = out, .is_out = true, .rows = UINT32_MAX, .buffer = r->params->buffer};
    if (r->ports->cta_registers(r->ports->host, &t)) return;
    r->where[out] = REGS_HERE;
    r->is_moving = false;
    r->out = MECH_NO_CTA;
}

static void regdram_is_out(struct regdram *r, const struct mech_cta *e)
{
    r->where[e->cta_slot] = REGS_AWAY;
    r->away++;
    r->rows_out += e->rows;
    r->is_moving = false;
    r->expects = r->in == MECH_NO_CTA;
    r->out = MECH_NO_CTA;
    if (r->in == MECH_NO_CTA) return;
    r->table.ctas[r->in].is_ready = !regdram_bring(r, r->in);
}

static void regdram_is_in(struct regdram *r, const struct mech_cta *e)
{
    r->where[e->cta_slot] = REGS_HERE;
    r->away--;
    r->rows_in += e->rows;
    r->results += e->results;
    r->is_moving = false;
    r->in = MECH_NO_CTA;
    r->table.ctas[e->cta_slot].is_ready = !r->ports->cta_swap(r->ports->host, MECH_NO_CTA, e->cta_slot, 1);
}

static void regdram_on_cta(void *state, const struct mech_cta *e)
{
    struct regdram *r = state;
    cta_table_hear(&r->table, e);
    if (e->kind == MECH_CTA_START) r->expects = false;
    if (e->kind == MECH_CTA_OUT && e->cta_slot == r->out) regdram_send(r, e->cta_slot);
    if (e->kind == MECH_CTA_REGISTERS_OUT) regdram_is_out(r, e);
    if (e->kind == MECH_CTA_REGISTERS_IN) regdram_is_in(r, e);
    if (r->expects) r->expects = r->ports->ctas_left(r->ports->host);
    if (e->kind != MECH_CTA_START) regdram_serve(r);
}

const struct mechanism mechanism_regdram = {
    .api = HEDDLE_MECHANISM_API,
    .name = "regdram",
    .summary = "Virtual Thread with more CTAs, whose registers are in memory",
    .paper = "Zorua, MICRO'16, as in FineReg, MICRO'18",
    .params = regdram_params,
    .param_bytes = sizeof(struct regdram_params),
    .stats = regdram_stats,
    .energy = regdram_energy,
    .state_bytes = sizeof(struct regdram),
    .cost = regdram_cost,
    .init = regdram_init,
    .admit = regdram_admit,
    .on_launch = regdram_on_launch,
    .on_cta = regdram_on_cta,
};
