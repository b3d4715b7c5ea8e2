/* scheduler.c: each scheduler asks the policy for one of its warps that can issue, and issues from that warp.
 *
 * A warp can issue when it is resident, its instruction buffer begins with its next instruction, it has not
 * ended, waits neither at a barrier nor for a result, does not sleep, its next instruction finds room in its
 * unit, and all votes of mechanisms allow it. The emulator executes an instruction when it issues; all later
 * stages only model time (execute.c, lsu.c). */
#include "core/sm/sm_impl.h"

#include "base/bitset.h"

void sched_init(struct sm *m, const struct sm_params *p, uint32_t banks)
{
    struct sched *s = &m->scheduler;
    m->sched.count = (uint8_t)p->schedulers;
    s->issue_width = (uint8_t)p->issue_width;
    s->turns_by_cycle = p->turns_by_cycle;
    s->timer = UINT64_MAX;
    s->cta_limit = s->l1_lines = UINT32_MAX;
    for (uint32_t i = 0; i < p->schedulers; i++) {
        s->last[i] = MECH_NO_WARP;
        s->cause[i] = SLOT_IDLE;
        s->bank[i] = banks > 1 ? (uint8_t)i : 0;
        const uint32_t first = banks > 1 ? 0 : i, step = banks > 1 ? 1 : p->schedulers;
        for (uint32_t k = first; k < SM_BANK_SLOTS; k += step) s->slots[i] |= 1ull << k;
    }
}

/* ---- votes and alarms ---- */

void sched_set_alarm(struct sm *m)
{
    m->alarm = m->swaps.is_on ? 0 : MIN(warps_awake_at(m), m->scheduler.timer); /* 0: it watches CTAs */
}

COLD void sched_hear_votes(struct sm *m)
{
    m->scheduler.timer = m->mech->next_timer;
    for (uint32_t i = 0; i < m->state.bank_count; i++) m->banks[i].votes = m->mech->masks[i];
    sched_set_alarm(m);
    if (m->mech->cta_limit > m->scheduler.cta_limit) residency_has_room(m);
    m->scheduler.cta_limit = m->mech->cta_limit;
    if (m->mech->l1_lines != m->scheduler.l1_lines) residency_size_l1(m);
    m->scheduler.l1_lines = m->mech->l1_lines;
}

/* ---- readiness ---- */

HOT uint64_t sched_room(const struct sm *m, const struct bank *b)
{
    uint64_t room = 0;
    if (m->exec.has_collector) { /* classes that lack it are few */
        for (uint32_t full = execute_full(m); full; full &= full - 1)
            room |= b->next.cls[__builtin_ctz(full)];
        return ~room;
    }
    for (int c = 0; c < CLASS_COUNT; c++)
        if (b->next.cls[c] && execute_has_room(m, (enum sm_class)c)) room |= b->next.cls[c];
    return room;
}

/* Warps that hold their next instruction and wait neither at a barrier nor in nanosleep. */
static uint64_t has_instruction(const struct bank *b)
{
    return b->warp.resident & b->fetch.buffered & ~(b->warp.done | b->warp.held | b->warp.asleep);
}

/* The warps among them that wait for no result and that all votes allow. */
static uint64_t is_free(const struct bank *b, uint64_t warps)
{
    return warps & ~b->board.hazard & votes_allow(&b->votes, b->next.memory, b->next.load);
}

bool sched_may_see(const struct sm *m)
{
    for (uint32_t i = 0; i < m->state.bank_count; i++) {
        const struct bank *b = &m->banks[i];
        const uint64_t sees = b->next.sees & has_instruction(b) & ~b->board.hazard;
        if (sees && sees & sched_room(m, b)) return true;
    }
    return false;
}

/* ---- one instruction ---- */

static void count_issue(struct sm_program *p, uint32_t pc, uint32_t mask)
{
    const uint32_t lanes = LIKELY(mask == UINT32_MAX) ? ISA_LANES : bits_count(mask);
    struct issue_count *c = &p->issued[pc];
    c->issues++;
    c->lanes += lanes;
    p->own.sm.thread_insts += lanes;
}

/* The issue of rare instructions. */
COLD static void issue_special(struct sm *m, struct context *x, const struct uop *u,
                               const struct emu_access *e)
{
    if (u->flags & UOP_FENCE) board_fence(m, x);
    if (u->flags & UOP_COMMIT) board_commit(x);
    if (e->arrives) board_arrival(m, x);
    if (u->flags & UOP_SLEEP) warps_sleep(m, x, e->sleep_ns);
}

HOT static void issue_one(struct sm *m, struct context *x, uint32_t scheduler)
{
    const struct uop *u = x->next;
    struct emu_access e;
    if (!emu_warp_step(x->emu, true, &e)) {
        residency_fault(m);
        return;
    }
    x->issue_cycle = m->sleep.cycle;
    fetch_consume(m, x);
    count_issue(x->program, e.pc, e.mask);
    const uint32_t access = u->cls == CLASS_MEM ? lsu_build(m, x, u, &e) : SM_NONE;
    execute_start(m, x, u, access, e.indirect);
    if (UNLIKELY(u->flags & (UOP_FENCE | UOP_COMMIT | UOP_SLEEP) || e.arrives)) issue_special(m, x, u, &e);
    if (UNLIKELY(m->mech->has_issue)) sm_mech_issue(m, x, scheduler, u, &e, access);
    warps_next(m, x);
    const uint64_t bit = slot_bit(x->slot);
    if (UNLIKELY(bank_at(m, x->slot)->warp.held & bit)) sm_mech_barrier(m, slot_bank(x->slot), bit, true);
    if (u->flags & UOP_SYNCS) warps_recheck(m, x->cta);
    sleep_changed(&m->sleep);
}

static int pick(struct sm *m, uint32_t scheduler, const struct bank *b, uint64_t ready)
{
    const struct sched *s = &m->scheduler;
    const uint64_t mine = s->slots[scheduler];
    const uint32_t first = s->bank[scheduler] * SM_BANK_SLOTS;
    struct mech_sched_view v = {.ready = ready,
                                .resident = b->warp.resident & ~b->warp.done & mine,
                                .memory_next = b->next.memory & mine,
                                .load_next = b->next.load & mine,
                                .age = m->residency.age + first,
                                .cta = m->residency.cta_of + first,
                                .last = s->last[scheduler],
                                .bank = s->bank[scheduler],
                                .scheduler = scheduler,
                                .scheduler_count = m->sched.count,
                                .cycle = m->sleep.cycle,
                                .memory_wait = b->board.hazard_mem & mine,
                                .barrier_wait = (b->warp.held | b->warp.asleep) & mine};
    return mech_pick(m->mech, &v);
}

static void issue_from(struct sm *m, uint32_t scheduler, const struct bank *b, struct context *x, uint32_t w)
{
    m->scheduler.last[scheduler] = (int)w;
    bool alone = x->next->flags & UOP_ALONE;
    issue_one(m, x, scheduler);
    for (uint32_t n = 1; n < m->scheduler.issue_width && !alone && !m->state.faulted; n++) {
        if (m->sleep.votes_changed) sched_hear_votes(m);
        if (!(is_free(b, has_instruction(b)) & sched_room(m, b) & 1ull << w)) break;
        alone = x->next->flags & UOP_ALONE;
        issue_one(m, x, scheduler);
        m->stats.extra_issues++;
    }
}

/* ---- the stage ---- */

static struct chances chances_of(const struct sm *m, const struct bank *b)
{
    const uint64_t all = has_instruction(b), free = is_free(b, all);
    return (struct chances){b, all, free, free ? free & sched_room(m, b) : 0};
}

/* Without a branch: the host cannot predict whose turn it is. */
static inline uint32_t next_scheduler(uint32_t i, uint32_t count) { return (i + 1) * (i + 1 < count); }

/* Where a latch has room for only one, the scheduler that took the room is the last one in the following
 * cycles. (Turns by the number of the cycle are not fair: replies come at edges of the crossbar's clock, so
 * room is made in cycles of the same parity.) */
static void ask_schedulers(struct sm *m)
{
    struct sched *s = &m->scheduler;
    const uint32_t count = m->sched.count;
    uint32_t i = s->turns_by_cycle ? (uint32_t)(m->sleep.cycle % count) : s->turn;
    struct chances c = {0};
    m->sched.awaits_unit = false;
    for (uint32_t n = 0; n < count; n++, i = next_scheduler(i, count)) {
        const struct bank *b = &m->banks[s->bank[i]];
        if (c.bank != b) c = chances_of(m, b);
        const uint64_t ready = c.ready & s->slots[i];
        const int w = ready && !m->state.faulted ? pick(m, i, b, ready) : MECH_NO_WARP;
        if (w == MECH_NO_WARP) {
            s->cause[i] = (uint8_t)account_cause(m, i, &c);
            m->sched.awaits_unit |= s->cause[i] == SLOT_STR_ALU;
            sleep_changed_if(&m->sleep, ready != 0); /* the policy left the slot empty: ask again */
            continue;
        }
        debug_assert(ready >> w & 1);
        s->cause[i] = SLOT_ISSUED;
        struct context *x = slot_context(&m->state, s->bank[i] * SM_BANK_SLOTS + (uint32_t)w);
        const enum sm_class cls = (enum sm_class)x->next->cls;
        issue_from(m, i, b, x, (uint32_t)w);
        if (!execute_has_room(m, cls)) s->turn = (uint8_t)next_scheduler(i, count);
        if (UNLIKELY(m->sleep.votes_changed)) sched_hear_votes(m);
        c.bank = NULL;
    }
}

HOT NOINLINE void sched_issue(struct sm *m)
{
    if (UNLIKELY(m->sleep.votes_changed)) sched_hear_votes(m);
    sleep_looked(&m->sleep);
    account_slots(m, m->sleep.cycle);
    fetch_correct(m);
    ask_schedulers(m);
}
