/* cta_swap.c: see cta_swap.h.
 *
 * A CTA is *active* while its warps have slots. One that is not keeps its contexts: its results come back,
 * its barriers, stores and local memory stay what they are, but it issues nothing. A mechanism that fills
 * `admit` lets more CTAs in than there are slots for, and exchanges one that is stalled for one that could go
 * on (Virtual Thread, Yoon et al., ISCA'16; FineReg, Oh et al., MICRO'18).
 *
 * (1) A CTA leaves at the moment it is told to, and its slots are taken until it has left; those of a CTA
 * that enters are reserved from that moment on. (2) Only a stalled CTA leaves: none of its instructions is
 * under way but memory instructions, and none of its warps sleeps. (3) Room for other CTAs becomes visible to
 * the dispatcher at the end of the machine's step, as that of a CTA that has ended does. */
#include "core/sm/sm_impl.h"

#include "base/bitset.h"
#include "base/hugepage.h"

/* CTA slots that hold a CTA, in order. A list, since they are few among all slots and are visited in every
 * cycle. */
#define FOR_CTAS(i, m) for (uint32_t i = next_cta(m, 0); i < (m)->residency.cta_slots; i = next_cta(m, i + 1))

static uint32_t next_cta(const struct sm *m, uint32_t from)
{
    return bitset_next(m->swaps.used, m->residency.cta_slots, from);
}

void swap_init(struct sm *m)
{
    m->swaps.is_on = m->mech->hears_stalls || m->mech->has_admit;
    m->swaps.ctas = mem_zalloc_huge(m->residency.cta_slots * sizeof *m->swaps.ctas);
    m->swaps.used = mem_zalloc(bitset_words(m->residency.cta_slots) * sizeof *m->swaps.used);
    m->swaps.due = UINT64_MAX;
}

void swap_free(struct sm *m)
{
    mem_free_huge(m->swaps.ctas);
    free(m->swaps.used);
}

static bool is_used(const struct sm *m, uint32_t cta) { return bitset_has(m->swaps.used, cta); }

/* ---- stalled and ready ---- */

/* Warps that could issue, if nothing came back from memory. */
static uint64_t running_of(const struct bank *b)
{
    return b->warp.resident & ~b->warp.done & (~(b->board.hazard_mem | b->warp.held) | b->warp.asleep);
}

static uint64_t awaiting_of(const struct bank *b)
{
    return b->warp.resident & ~b->warp.done & b->board.hazard_mem;
}

/* Does the CTA do nothing but wait for memory? */
static bool waits(const struct sm *m, const struct sm_cta *c)
{
    uint64_t running = 0, awaiting = 0;
    for (uint32_t i = 0; i < m->state.bank_count; i++) {
        running |= c->slots[i] & running_of(&m->banks[i]);
        awaiting |= c->slots[i] & awaiting_of(&m->banks[i]);
    }
    return !running && awaiting;
}

static bool has_flights(const struct sm *m, const struct sm_cta *c)
{
    for (uint32_t id = c->first; id != SM_NO_CONTEXT; id = context_at(&m->state, id)->sibling)
        if (context_at(&m->state, id)->board_flights) return true;
    return false;
}

static bool is_stalled(const struct sm *m, const struct sm_cta *c)
{
    return waits(m, c) && !has_flights(m, c);
}

void swap_result(struct sm *m, const struct context *x)
{
    m->swaps.ctas[x->cta].results += !m->residency.ctas[x->cta].has_rows;
    if (!board_is_free(x)) return;
    m->swaps.ctas[x->cta].could_go_on = true;
    m->swaps.is_settled = false;
    sleep_changed(&m->sleep);
}

/* Tells mechanisms of a stall that has lasted long enough, and of the end of a stall that they were told. */
static void watch_stall(struct sm *m, struct swap_cta *s, uint32_t cta)
{
    const struct sm_cta *c = &m->residency.ctas[cta];
    if (!is_stalled(m, c)) {
        const bool was = s->is_stalled;
        if (waits(m, c)) m->swaps.is_settled = false; /* look again until its flights have ended */
        s->is_stalled = false;
        s->due = UINT64_MAX;
        if (was) sm_mech_cta(m, cta, MECH_CTA_RESUMED);
        return;
    }
    if (s->is_stalled) return;
    if (s->due == UINT64_MAX) s->due = m->sleep.cycle + m->mech->stall_cycles;
    m->swaps.due = MIN(m->swaps.due, s->due);
    if (s->due > m->sleep.cycle) return;
    s->is_stalled = true;
    s->due = UINT64_MAX;
    sm_mech_cta(m, cta, MECH_CTA_STALLED);
}

/* Tells mechanisms of changes of a CTA that is active or inactive. */
static void tell_edges(struct sm *m, uint32_t cta)
{
    struct swap_cta *s = &m->swaps.ctas[cta];
    if (s->place == CTA_INACTIVE) {
        if (!s->could_go_on || s->is_ready) return;
        s->is_ready = true;
        sm_mech_cta(m, cta, MECH_CTA_READY);
    } else if (s->place == CTA_ACTIVE) {
        watch_stall(m, s, cta);
    }
}

/* ---- start and end ---- */

void swap_started(struct sm *m, uint32_t cta, bool is_active)
{
    m->swaps.ctas[cta] = (struct swap_cta){
        .place = is_active ? CTA_ACTIVE : CTA_INACTIVE, .could_go_on = !is_active, .due = UINT64_MAX};
    bitset_add(m->swaps.used, cta);
    m->swaps.is_settled = false;
}

void swap_ended(struct sm *m, uint32_t cta)
{
    m->swaps.ctas[cta] = (struct swap_cta){0};
    bitset_del(m->swaps.used, cta);
}

/* ---- out and in ---- */

static void find_due(struct sm *m)
{
    m->swaps.due = UINT64_MAX;
    FOR_CTAS(i, m)
    {
        const struct swap_cta *s = &m->swaps.ctas[i];
        if (s->place != CTA_INACTIVE) m->swaps.due = MIN(m->swaps.due, s->due);
    }
}

/* A CTA may leave its slots, or enter some, only while its registers are not being moved: transfer_hold holds
 * warps back by slot. */
static bool has_registers(const struct sm *m, uint32_t cta)
{
    return m->residency.ctas[cta].has_rows && transfer_where(m, cta) == REGISTERS_HERE;
}

static bool may_leave(const struct sm *m, uint32_t cta)
{
    const struct swap_cta *s = &m->swaps.ctas[cta];
    return is_used(m, cta) && s->place == CTA_ACTIVE && has_registers(m, cta) &&
           is_stalled(m, &m->residency.ctas[cta]);
}

static bool may_enter(const struct sm *m, uint32_t out, uint32_t in)
{
    const struct swap_cta *s = &m->swaps.ctas[in];
    return is_used(m, in) && s->place == CTA_INACTIVE && has_registers(m, in) &&
           residency_has_slots(m, in, out);
}

static void leave(struct sm *m, uint32_t cta, uint64_t due, bool keeps_slots)
{
    struct swap_cta *s = &m->swaps.ctas[cta];
    const struct sm_cta *c = &m->residency.ctas[cta];
    s->place = CTA_LEAVING;
    s->is_stalled = s->could_go_on = s->is_ready = false;
    s->due = due;
    for (uint32_t id = c->first; id != SM_NO_CONTEXT; id = context_at(&m->state, id)->sibling)
        warps_out(m, context_at(&m->state, id));
    residency_unseat(m, cta);
    if (!keeps_slots) residency_give_slots(m, cta);
}

bool swap_begin(struct sm *m, uint32_t out, uint32_t in, uint32_t cycles)
{
    const bool has_out = out != MECH_NO_CTA, has_in = in != MECH_NO_CTA;
    if ((has_out && !may_leave(m, out)) || (has_in && !may_enter(m, out, in))) return false;
    const uint64_t due = m->sleep.cycle + MAX(cycles, 1);
    if (has_out) leave(m, out, due, !has_in);
    if (has_in) {
        residency_reserve_slots(m, in);
        m->swaps.ctas[in].place = CTA_ENTERING;
        m->swaps.ctas[in].due = due;
    }
    find_due(m);
    m->swaps.is_settled = false;
    sleep_disturb(m);
    sleep_wake_at(&m->sleep, clock_after(&m->clock, m->sleep.now, 1));
    return true;
}

static void has_left(struct sm *m, uint32_t cta)
{
    const struct sm_cta *c = &m->residency.ctas[cta];
    m->swaps.ctas[cta].place = CTA_INACTIVE;
    if (c->has_slots) {
        residency_give_slots(m, cta);
        residency_has_room(m);
    }
    sm_mech_cta(m, cta, MECH_CTA_OUT);
}

static void has_entered(struct sm *m, uint32_t cta)
{
    struct swap_cta *s = &m->swaps.ctas[cta];
    const struct sm_cta *c = &m->residency.ctas[cta];
    s->place = CTA_ACTIVE;
    s->due = UINT64_MAX;
    s->is_ready = s->could_go_on = false;
    residency_seat(m, cta);
    for (uint32_t id = c->first; id != SM_NO_CONTEXT; id = context_at(&m->state, id)->sibling)
        warps_in(m, context_at(&m->state, id));
    sm_mech_cta(m, cta, MECH_CTA_IN);
}

/* CTAs that leave are handled first, so that a mechanism is told OUT before IN. */
static void end_swaps(struct sm *m, enum cta_place place, void (*end)(struct sm *, uint32_t))
{
    FOR_CTAS(i, m)
    {
        const struct swap_cta *s = &m->swaps.ctas[i];
        if (s->place == place && s->due <= m->sleep.cycle) end(m, i);
    }
}

/* ---- registers ---- */

COLD void swap_lost_rows(struct sm *m, uint32_t cta) { m->swaps.ctas[cta].results = 0; }

bool swap_park(struct sm *m, uint32_t cta, const isa_live_set *kept)
{
    const struct sm_cta *c = &m->residency.ctas[cta];
    if (!is_used(m, cta) || c->has_slots || !c->has_rows) return false;
    for (uint32_t i = 0; i < c->warps; i++) emu_warp_lose(emu_cta_warp(c->emu, i), &kept[i]);
    residency_give_rows(m, cta);
    swap_lost_rows(m, cta);
    sm_mech_cta(m, cta, MECH_CTA_PARKED);
    return true;
}

bool swap_unpark(struct sm *m, uint32_t cta)
{
    if (!is_used(m, cta) || m->residency.ctas[cta].has_rows || !residency_take_rows(m, cta)) return false;
    sm_mech_cta(m, cta, MECH_CTA_UNPARKED);
    return true;
}

/* ---- the stage ---- */

/* Notes which warps could issue and which await memory. True: they are others than in the last cycle. */
static bool has_changed(struct sm *m)
{
    uint64_t differ = 0;
    for (uint32_t i = 0; i < m->state.bank_count; i++) {
        const uint64_t running = running_of(&m->banks[i]), awaiting = awaiting_of(&m->banks[i]);
        differ |= (running ^ m->swaps.running[i]) | (awaiting ^ m->swaps.awaiting[i]);
        m->swaps.running[i] = running;
        m->swaps.awaiting[i] = awaiting;
    }
    return differ;
}

/* Checks is_settled: mechanisms were told of every CTA that has stalled, resumed or become ready. */
static bool has_nothing_to_tell(const struct sm *m)
{
    FOR_CTAS(i, m)
    {
        const struct swap_cta *s = &m->swaps.ctas[i];
        const bool is_noted = s->is_stalled || s->due != UINT64_MAX;
        if (s->place == CTA_INACTIVE && s->could_go_on && !s->is_ready) return false;
        if (s->place == CTA_ACTIVE && is_stalled(m, &m->residency.ctas[i]) != is_noted) return false;
    }
    return true;
}

void swap_cycle(struct sm *m)
{
    const bool is_due = m->swaps.due <= m->sleep.cycle;
    if (is_due) {
        end_swaps(m, CTA_LEAVING, has_left);
        end_swaps(m, CTA_ENTERING, has_entered);
        find_due(m);
        sleep_changed(&m->sleep);
    }
    if (!has_changed(m) && !is_due && m->swaps.is_settled) {
        debug_assert(has_nothing_to_tell(m));
        return;
    }
    m->swaps.is_settled = true;
    FOR_CTAS(i, m) tell_edges(m, i);
    if (m->swaps.due <= m->sleep.cycle) find_due(m);
}
