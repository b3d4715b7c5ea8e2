/* warp_status.c: what each warp does next. The emulator says which instruction comes next, or that the warp
 * waits at a barrier or for some of its lanes, or has ended; nanosleep keeps it from issuing for a time. The
 * masks are kept by events, never found by scanning warps. */
#include "core/sm/sm_impl.h"

/* ---- the next instruction ---- */

static struct mech_warp_event event_of(const struct sm *m, const struct context *x, bool is_start)
{
    const struct sm_cta *c = &m->residency.ctas[x->cta];
    return (struct mech_warp_event){.cycle = m->sleep.cycle,
                                    .warp = x->slot,
                                    .cta_slot = x->cta,
                                    .cta = c->linear,
                                    .is_start = is_start,
                                    .scheduler = sched_of(m, x->slot),
                                    .index = x->index,
                                    .cta_warps = c->warps,
                                    .launch = x->launch};
}

static void clear_next(struct bank *b, const struct context *x, uint64_t bit)
{
    if (x->next) b->next.cls[x->next->cls] &= ~bit;
    b->next.memory &= ~bit;
    b->next.load &= ~bit;
    b->next.sees &= ~bit;
    b->warp.held &= ~bit;
}

/* The host fetches what the next instruction will read. It issues in a later cycle, and by then the other SMs
 * have used the host's caches. */
static inline void expect(const struct context *x)
{
    const struct uop *u = x->next;
    emu_warp_expect(x->emu, u->reads, u->read_count);
    if ((u->flags & UOP_DEVICE) && (u->flags & UOP_LOAD)) emu_warp_expect_load(x->emu);
}

static void set_next(struct bank *b, struct context *x, uint64_t bit)
{
    uint32_t mask;
    emu_warp_peek(x->emu, &x->next_pc, &mask);
    x->next = &x->program->uops[x->next_pc];
    b->next.cls[x->next->cls] |= bit;
    if (x->next->flags & UOP_DEVICE) {
        b->next.memory |= bit;
        if (x->next->flags & UOP_LOAD) b->next.load |= bit;
    }
    if (x->next->flags & UOP_SEES) b->next.sees |= bit;
    expect(x);
}

/* Mechanisms are told of the end here, not when the warp's last stores are done and its slot is free, since
 * it has nothing left to schedule. */
COLD static void end(struct sm *m, struct bank *b, struct context *x)
{
    const uint64_t bit = slot_bit(x->slot);
    if (!(b->warp.done & bit)) {
        const struct mech_warp_event e = event_of(m, x, false);
        mech_on_warp(m->mech, &e);
    }
    b->warp.done |= bit;
    x->stage = WARP_ENDED;
    board_await_writes(m);
    fetch_end(m, x);
}

HOT void warps_next(struct sm *m, struct context *x)
{
    struct bank *b = bank_at(m, x->slot);
    const uint64_t bit = slot_bit(x->slot);
    const enum emu_warp_state state = emu_warp_state(x->emu);
    clear_next(b, x, bit);
    x->next = NULL;
    if (state == EMU_WARP_READY) {
        set_next(b, x, bit);
        fetch_check(m, x);
        if (UNLIKELY(m->mech->has_next)) sm_mech_next(m, x);
    } else {
        fetch_wait(m, x);
        if (state == EMU_WARP_DONE)
            end(m, b, x);
        else
            b->warp.held |= bit;
    }
    board_refresh(m, x);
}

/* ---- start and end ---- */

void warps_start(struct sm *m, struct context *x)
{
    bank_at(m, x->slot)->warp.resident |= slot_bit(x->slot);
    x->stage = WARP_RUNS;
    fetch_clear(m, x);
    warps_next(m, x);
    fetch_begin(x);
    const struct mech_warp_event e = event_of(m, x, true);
    mech_on_warp(m->mech, &e);
}

void warps_leave(struct sm *m, struct context *x)
{
    if (x->stage != WARP_ENDED || x->board_flights || board_writes(m, x)) return;
    x->stage = WARP_LEFT;
    if (x->slot != SM_NO_SLOT) {
        struct bank *b = bank_at(m, x->slot);
        b->warp.resident &= ~slot_bit(x->slot);
        b->warp.done &= ~slot_bit(x->slot);
        board_forget(m, x->slot);
    }
    residency_warp_left(m, x);
    sleep_changed(&m->sleep);
}

/* ---- out of a slot, and into one again ---- */

static void tell_swap(struct sm *m, const struct context *x, bool is_in)
{
    struct mech_warp_event e = event_of(m, x, is_in);
    e.is_swap = true;
    mech_on_warp(m->mech, &e);
}

COLD void warps_out(struct sm *m, struct context *x)
{
    struct bank *b = bank_at(m, x->slot);
    const uint64_t bit = slot_bit(x->slot);
    debug_assert(!(b->warp.asleep & bit));
    if (x->stage == WARP_LEFT) return;
    if (x->stage == WARP_RUNS) tell_swap(m, x, false);
    fetch_out(m, x);
    board_out(m, x);
    clear_next(b, x, bit);
    b->warp.resident &= ~bit;
    b->warp.done &= ~bit;
}

COLD void warps_in(struct sm *m, struct context *x)
{
    struct bank *b = bank_at(m, x->slot);
    const uint64_t bit = slot_bit(x->slot);
    if (x->stage == WARP_LEFT) return;
    if (x->stage == WARP_NEW) {
        warps_start(m, x);
        return;
    }
    b->warp.resident |= bit;
    fetch_in(m, x);
    board_in(m, x);
    if (x->stage == WARP_ENDED) {
        b->warp.done |= bit;
        board_await_writes(m);
        fetch_end(m, x);
        return;
    }
    warps_next(m, x);
    fetch_begin(x);
    tell_swap(m, x, true);
    if (b->warp.held & bit) sm_mech_barrier(m, slot_bank(x->slot), bit, true);
}

/* ---- barriers ---- */

void warps_recheck(struct sm *m, uint32_t cta)
{
    for (uint32_t i = 0; i < m->state.bank_count; i++) {
        struct bank *b = &m->banks[i];
        uint64_t released = 0;
        FOR_BITS(k, m->residency.ctas[cta].slots[i] & b->warp.held)
        {
            struct context *x = slot_context(&m->state, i * SM_BANK_SLOTS + k);
            if (emu_warp_state(x->emu) == EMU_WARP_AT_BARRIER) continue;
            warps_next(m, x);
            if (!(b->warp.held >> k & 1)) released |= 1ull << k;
            warps_leave(m, x);
        }
        if (released) sm_mech_barrier(m, i, released, false);
    }
}

/* ---- nanosleep ---- */

/* PTX ISA, "nanosleep": a warp may sleep from nothing to twice what it asks for, which is a millisecond at
 * most. */
enum { SLEEP_NS_MAX = 1000000 };

COLD void warps_sleep(struct sm *m, struct context *x, uint32_t ns)
{
    uint64_t cycles = (uint64_t)MIN(ns, (uint32_t)SLEEP_NS_MAX) * m->p->nanosleep_percent *
                      m->setup.machine->core_clock_khz / 100000000;
    if (!cycles) return;
    x->sleep_until = m->sleep.cycle + cycles;
    bank_at(m, x->slot)->warp.asleep |= slot_bit(x->slot);
    m->stats.sleeps++;
    sched_set_alarm(m);
}

COLD uint64_t warps_awake_at(const struct sm *m)
{
    uint64_t first = UINT64_MAX;
    for (uint32_t i = 0; i < m->state.bank_count; i++) FOR_BITS(k, m->banks[i].warp.asleep)
    first = MIN(first, slot_context(&m->state, i * SM_BANK_SLOTS + k)->sleep_until);
    return first;
}

COLD void warps_awake(struct sm *m)
{
    if (warps_awake_at(m) > m->sleep.cycle) return;
    for (uint32_t i = 0; i < m->state.bank_count; i++) FOR_BITS(k, m->banks[i].warp.asleep)
    if (slot_context(&m->state, i * SM_BANK_SLOTS + k)->sleep_until <= m->sleep.cycle)
        m->banks[i].warp.asleep &= ~(1ull << k);
    sleep_changed(&m->sleep);
    sched_set_alarm(m);
}
