/* finereg.c: FineReg (Oh et al., MICRO'18): more CTAs by keeping only the live registers of those that wait.
 *
 * The register file is split (IV): CTAs start in the ACRF with all their registers; a CTA whose warps all
 * wait for memory moves its live registers to the PCRF (pcrf.c), and another takes its rows. What is live
 * comes from a vector for each instruction (live_vectors.c), for each PC at which a part of a warp goes on:
 * all diverged paths, lanes that wait at a reconvergence point, callers.
 *
 * Status (Table IV): a CTA's context is in the pipeline (2) or backed up (1), its registers in the ACRF (2)
 * or the PCRF (1). Active is 2/2. (1) A stalled CTA gives its slots to a ready one that is 1/2, which moves
 * nothing. (2) Else, where the PCRF has entries for its live rows and the grid has CTAs, it goes to the PCRF
 * and a new CTA starts (V-B); finereg.first=ready turns this and the next rule round (V-E). (3) Else it is
 * exchanged for the oldest ready CTA of the PCRF for which its rows fit the free entries and those of that
 * CTA. (4) Else it stays; if there was a CTA that could run, that is a depletion stall. (5) Room of a CTA
 * that has ended goes to a ready one, 1/2 before 1/1, else to a new one.
 *
 * Time (V-E): a vector that misses is read from memory; rows move one a cycle each way through their bank of
 * the ACRF, behind operands, and the last is there finereg.access_cycles - 1 later; contexts take
 * finereg.cycles_per_warp a warp meanwhile. One switch is under way at a time. Results that come for a CTA in
 * the PCRF are written to its entries, and counted. What is not saved is lost (cta_park).
 *
 * The ACRF is the first rows of the register file, entry i of the PCRF the i-th row behind them. Rows that
 * hold no registers, of both, are there for a mechanism that borrows rows, which loses them before registers
 * are written to them (registers_keep). In unified memory the PCRF has no rows.
 *
 * Left out: CTAs of cooperative grids are not switched. */
#include "mech/finereg.h"

#include <stdio.h>

enum {
    /* from the time at which the ACRF has room until it is known whether a CTA comes */
    ANSWER_CYCLES = 4
};

static void finereg_init(void *state, void *gpu_state, const void *params, const struct mech_ports *ports)
{
    struct finereg *f = state;
    f->params = params;
    f->ports = ports;
    f->status = ports->memory(ports->host, ports->ctas * sizeof *f->status);
    ports->stall_after(ports->host, f->params->stall_cycles);
    cta_table_init(&f->table, ports);
    pcrf_init(&f->pcrf, ports, finereg_pcrf_entries(f->params));
    ports->cta_rows(ports->host, finereg_acrf_rows(f->params));
    vectors_init(&f->vectors, ports, f->params->vectors, f->params->vector_bits / 8);
}

static void finereg_on_launch(void *state, const struct mech_launch *e)
{
    ((struct finereg *)state)->is_cooperative = e->is_cooperative;
}

/* ---- which CTAs may start ---- */

static bool finereg_admit(void *state, struct mech_admit *a)
{
    struct finereg *f = state;
    const uint64_t acrf = f->params->acrf / 4;
    char why[MECH_REASON_BYTES];
    if (a->thread_registers > f->params->vector_bits) {
        snprintf(why, sizeof why,
                 "a kernel has %u registers a thread, a live-register vector %u bits: set "
                 "finereg.vector_bits to %u",
                 a->thread_registers, f->params->vector_bits, (a->thread_registers + 63) / 64 * 64);
        f->ports->refuse(f->ports->host, why);
    }
    if (a->registers.asked > acrf) {
        snprintf(why, sizeof why, "a CTA needs %llu registers, the ACRF has %llu: %llu too few",
                 (unsigned long long)a->registers.asked, (unsigned long long)acrf,
                 (unsigned long long)(a->registers.asked - acrf));
        f->ports->refuse(f->ports->host, why);
    }
    f->shared_asked = a->shared.asked;
    f->shared_limit = a->shared.limit;
    f->asked_warps = a->cta_warps;
    return a->registers.in_use + a->registers.asked <= acrf;
}

/* Would a CTA of the grid start if it got rows of the ACRF? */
static bool finereg_has_new(const struct finereg *f)
{
    const uint64_t ctas = f->table.active + f->table.inactive + 1;
    return f->ports->ctas_left(f->ports->host) && ctas <= CTAS_MAX && ctas * f->asked_warps <= WARPS_MAX &&
           ctas * f->shared_asked <= f->shared_limit;
}

/* ---- depletion ---- */

static void finereg_deplete(struct finereg *f, uint32_t cta, bool is_depleted, uint64_t cycle)
{
    if (f->status[cta].is_depleted == is_depleted) return;
    f->status[cta].is_depleted = is_depleted;
    f->depletions += is_depleted;
    if (f->depleted) f->depleted_cycles += cycle - f->depleted_since;
    f->depleted += is_depleted ? 1u : -1u;
    f->depleted_since = cycle;
}

/* ---- who is next ---- */

/* Rows of the ACRF that are free when a CTA has left it (MECH_NO_CTA: none does). */
static uint32_t finereg_acrf_room(const struct finereg *f, uint32_t out)
{
    uint64_t used = 0;
    for (uint32_t i = 0; i < f->table.slots; i++)
        if (i != out && f->table.ctas[i].is_used && f->status[i].registers == AT_WORK)
            used += f->table.ctas[i].rows;
    const uint32_t rows = finereg_acrf_rows(f->params);
    return used < rows ? rows - (uint32_t)used : 0;
}

/* What a CTA must have to be chosen: registers in the PCRF or the ACRF, at most these rows, at least these
 * entries. */
struct finereg_wanted {
    uint8_t registers;
    uint32_t rows_max, entries_min;
};

/* The oldest ready CTA that has what is wanted. */
static uint32_t finereg_oldest(const struct finereg *f, const struct finereg_wanted *w)
{
    uint32_t best = MECH_NO_CTA;
    for (uint32_t i = 0; i < f->table.slots; i++) {
        const struct cta_entry *c = &f->table.ctas[i];
        if (c->is_used && !c->is_active && c->is_ready && f->status[i].registers == w->registers &&
            c->rows <= w->rows_max && f->pcrf.chains[i].count >= w->entries_min &&
            (best == MECH_NO_CTA || c->age < f->table.ctas[best].age))
            best = i;
    }
    return best;
}

/* The oldest ready CTA whose registers are there. */
static uint32_t finereg_ready(const struct finereg *f, uint8_t registers)
{
    return finereg_oldest(f, &(struct finereg_wanted){.registers = registers, .rows_max = UINT32_MAX});
}

/* The active CTA that stalled first; `may_wait`: also one that stays for want of entries. */
static uint32_t finereg_stalled(const struct finereg *f, bool may_wait)
{
    uint32_t best = MECH_NO_CTA;
    for (uint32_t i = 0; i < f->table.slots; i++) {
        const struct cta_entry *c = &f->table.ctas[i];
        if (c->is_used && c->is_active && c->is_stalled && (may_wait || !f->status[i].is_depleted) &&
            (best == MECH_NO_CTA || c->since < f->table.ctas[best].since))
            best = i;
    }
    return best;
}

static uint32_t finereg_context_cycles(const struct finereg *f, uint32_t cta)
{
    return cta == MECH_NO_CTA ? 0 : f->params->cycles_per_warp * f->table.ctas[cta].warps;
}

/* Rules (1) and (5): a ready CTA in the ACRF gets slots, free ones or those of a stalled CTA. */
static bool finereg_swap_contexts(struct finereg *f, uint64_t cycle)
{
    const uint32_t in = finereg_ready(f, AT_WORK), out = finereg_stalled(f, true);
    if (in == MECH_NO_CTA) return false;
    const uint32_t cycles = finereg_context_cycles(f, in);
    bool is_done = f->ports->cta_swap(f->ports->host, MECH_NO_CTA, in, cycles);
    if (!is_done && out != MECH_NO_CTA) {
        is_done = f->ports->cta_swap(f->ports->host, out, in, cycles);
        if (is_done) finereg_deplete(f, out, false, cycle);
        f->table.ctas[out].is_stalled = false;
    }
    if (is_done) f->table.ctas[in].is_ready = false;
    f->context_swaps += is_done;
    return is_done;
}

/* ---- moving rows ---- */

static void finereg_begin_move(struct finereg *f, uint32_t out, uint32_t in, uint64_t cycle)
{
    struct finereg_switch *s = &f->now;
    const uint32_t cycles =
        out != MECH_NO_CTA ? finereg_context_cycles(f, out) : finereg_context_cycles(f, in);
    s->stage = SWITCH_MOVE;
    s->out = out;
    s->in = in;
    s->warp = s->next = 0;
    s->contexts_at = cycle + cycles;
    s->rows_at = UINT64_MAX;
    if (in != MECH_NO_CTA) f->table.ctas[in].is_ready = false;
    f->ports->set_timer(f->ports->host, cycle, 1);
}

/* Rule (5): a CTA comes from the PCRF into free rows. */
static bool finereg_restore(struct finereg *f, uint64_t cycle)
{
    const uint32_t in = finereg_ready(f, AT_REST);
    if (in == MECH_NO_CTA || f->expects || f->table.active >= f->table.slots) return false;
    if (f->table.ctas[in].rows > finereg_acrf_room(f, MECH_NO_CTA)) return false;
    if (!f->ports->cta_unpark(f->ports->host, in)) return false;
    f->status[in].registers = AT_WORK;
    f->restores++;
    finereg_begin_move(f, MECH_NO_CTA, in, cycle);
    return true;
}

static void finereg_end_move(struct finereg *f, uint64_t cycle)
{
    struct finereg_switch *s = &f->now;
    const uint32_t left = s->contexts_at > cycle ? (uint32_t)(s->contexts_at - cycle) : 1;
    s->stage = SWITCH_NONE;
    f->ports->set_timer(f->ports->host, cycle, 0);
    if (s->out != MECH_NO_CTA) {
        f->ports->cta_park(f->ports->host, s->out, s->kept[0]);
        f->status[s->out].registers = AT_REST;
        f->expects = s->in == MECH_NO_CTA;
    }
    if (f->expects) f->ports->set_timer(f->ports->host, cycle, ANSWER_CYCLES);
    if (s->in == MECH_NO_CTA) return;
    if (s->out != MECH_NO_CTA && f->ports->cta_unpark(f->ports->host, s->in))
        f->status[s->in].registers = AT_WORK;
    f->table.ctas[s->in].is_ready = !f->ports->cta_swap(f->ports->host, MECH_NO_CTA, s->in, left);
}

/* ---- a stalled CTA ---- */

/* Rules (2) to (4), when it is known which registers are live. */
static void finereg_decide(struct finereg *f, uint64_t cycle)
{
    struct finereg_switch *s = &f->now;
    const uint32_t lacks = s->rows > f->pcrf.free ? s->rows - f->pcrf.free : 0;
    const struct finereg_wanted fits = {AT_REST, finereg_acrf_room(f, s->out), lacks};
    const uint32_t ready = finereg_oldest(f, &fits);
    const bool has_new = finereg_has_new(f), has_ready = finereg_ready(f, AT_REST) != MECH_NO_CTA;
    const bool new_fits = has_new && !lacks, ready_fits = ready != MECH_NO_CTA;
    const bool takes_new = new_fits && !(ready_fits && f->params->first == FIRST_READY);
    s->stage = SWITCH_NONE;
    if (!new_fits && !ready_fits) {
        finereg_deplete(f, s->out, has_new || has_ready, cycle);
        return;
    }
    if (!f->ports->cta_swap(f->ports->host, s->out, MECH_NO_CTA, finereg_context_cycles(f, s->out))) {
        f->table.ctas[s->out].is_stalled = false;
        f->resumed++;
        return;
    }
    finereg_deplete(f, s->out, false, cycle);
    f->table.ctas[s->out].is_stalled = false;
    f->launches += takes_new;
    f->exchanges += !takes_new;
    finereg_begin_move(f, s->out, takes_new ? MECH_NO_CTA : ready, cycle);
}

static void finereg_begin_switch(struct finereg *f, uint32_t out, uint64_t cycle)
{
    struct finereg_switch *s = &f->now;
    *s = (struct finereg_switch){.stage = SWITCH_VECTORS, .out = out, .in = MECH_NO_CTA};
    if (finereg_find_live(f, cycle, false)) finereg_decide(f, cycle);
}

/* Switches CTAs until rows have to move or a vector has to come from memory. */
static void finereg_serve(struct finereg *f, uint64_t cycle)
{
    while (f->now.stage == SWITCH_NONE && !f->is_cooperative) {
        if (finereg_swap_contexts(f, cycle) || finereg_restore(f, cycle)) continue;
        const uint32_t out = finereg_stalled(f, false);
        if (out == MECH_NO_CTA || (!finereg_has_new(f) && finereg_ready(f, AT_REST) == MECH_NO_CTA)) return;
        finereg_begin_switch(f, out, cycle);
    }
}

/* ---- events ---- */

static void finereg_on_timer(void *state, uint64_t cycle)
{
    struct finereg *f = state;
    struct finereg_switch *s = &f->now;
    if (s->stage == SWITCH_MOVE) {
        finereg_move_rows(f, cycle);
        if (s->rows_at > cycle || (s->out != MECH_NO_CTA && f->table.ctas[s->out].is_active)) return;
        finereg_end_move(f, cycle);
    } else {
        f->ports->set_timer(f->ports->host, cycle, 0);
        if (s->stage == SWITCH_VECTORS && !f->vectors.is_waiting && finereg_find_live(f, cycle, false))
            finereg_decide(f, cycle);
        if (f->expects) f->expects = f->ports->ctas_left(f->ports->host);
    }
    finereg_serve(f, cycle);
}

static void finereg_on_memory_read(void *state, uint64_t cycle, uint32_t token)
{
    struct finereg *f = state;
    if (!vectors_arrived(&f->vectors, token) || f->now.stage != SWITCH_VECTORS) return;
    if (finereg_find_live(f, cycle, true)) f->ports->set_timer(f->ports->host, cycle, 1);
}

/* Entries have become free, or a CTA has become ready: stalled CTAs that stayed may leave. */
static void finereg_retry(struct finereg *f, uint64_t cycle)
{
    for (uint32_t i = 0; f->depleted && i < f->table.slots; i++) finereg_deplete(f, i, false, cycle);
}

static void finereg_on_cta(void *state, const struct mech_cta *e)
{
    struct finereg *f = state;
    struct finereg_status *status = &f->status[e->cta_slot];
    if (e->kind == MECH_CTA_PARKED || e->kind == MECH_CTA_UNPARKED) return; /* an event of its own switch */
    cta_table_hear(&f->table, e);
    finereg_count_rows(f, e->cycle);
    switch (e->kind) {
    case MECH_CTA_START:
        *status = (struct finereg_status){.context = AT_WORK, .registers = AT_WORK};
        f->expects = false;
        break;
    case MECH_CTA_READY: status->context = AT_REST; break;
    case MECH_CTA_OUT: status->context = AT_REST; break;
    case MECH_CTA_IN:
        status->context = AT_WORK;
        f->results += e->results;
        break;
    case MECH_CTA_END:
    case MECH_CTA_RESUMED:
        finereg_deplete(f, e->cta_slot, false, e->cycle);
        if (f->now.stage == SWITCH_VECTORS && f->now.out == e->cta_slot) {
            f->now.stage = SWITCH_NONE;
            f->resumed++;
            vectors_forget(&f->vectors);
        }
        break;
    default: break;
    }
    if (e->kind == MECH_CTA_READY || e->kind == MECH_CTA_END || e->kind == MECH_CTA_IN)
        finereg_retry(f, e->cycle);
    if (e->kind != MECH_CTA_START) finereg_serve(f, e->cycle);
}

const struct mechanism mechanism_finereg = {
    .api = HEDDLE_MECHANISM_API,
    .name = "finereg",
    .summary = "FineReg: pending CTAs keep only their live registers, in a part of the register file",
    .paper = "Oh et al., MICRO'18",
    .params = finereg_param_rows,
    .param_bytes = sizeof(struct finereg_params),
    .stats = finereg_stat_rows,
    .energy = finereg_energy_rows,
    .state_bytes = sizeof(struct finereg),
    .owns = MECH_KEEPS_REGISTERS, /* the PCRF */
    .check = finereg_check,
    .cost = finereg_cost,
    .init = finereg_init,
    .admit = finereg_admit,
    .on_launch = finereg_on_launch,
    .on_cta = finereg_on_cta,
    .on_memory_read = finereg_on_memory_read,
    .on_timer = finereg_on_timer,
};
