/* issue.c: schedulers, and the way of an instruction from issue to writeback.
 *
 * Stages, as in GPGPU-Sim, for an instruction issued in cycle c whose n registers meet no conflict, one read
 * a cycle: collector c+1, reads c+2 .. c+1+n, output latch c+2+n, unit c+3+n, result after the unit's latency
 * L at c+4+n+L, writeback (scoreboard) c+5+n+L. A dependent instruction issues in the cycle of the writeback
 * or, with forwarding, so that it meets the result at the input of the unit: L cycles after its producer
 * where neither meets a conflict (4 at least, the stages before the unit). Without operand collectors the
 * unit takes the instruction at issue and a dependent one issues L cycles later. An instruction is executed
 * by the emulator when it issues. */
#include "core/sm_impl.h"

enum {
    STAGES_BEFORE_UNIT = 4, /* from issue to the unit, with one cycle of reads: what forwarding saves */
    STAGES_AFTER_UNIT = 2   /* into the pipeline, and out of it to the writeback */
};

static uint32_t flight_new(struct sm *m)
{
    uint32_t id = m->flight_free;
    assert(id != SM_NONE);
    m->flight_free = m->flights[id].next;
    return id;
}

static void flight_del(struct sm *m, uint32_t id)
{
    m->flights[id].next = m->flight_free;
    m->flight_free = id;
}

static const struct uop *flight_uop(void *ctx, uint32_t id, uint32_t *warp)
{
    const struct sm *m = ctx;
    *warp = m->flights[id].warp;
    return m->flights[id].op;
}

/* ---- readiness ---- */

static bool class_has_room(const struct sm *m, enum sm_class c)
{
    if (c == CLASS_MEM && !lsu_has_room(m)) return false;
    if (m->has_collector) return m->collector.room >> c & 1;
    if (c == CLASS_MEM) return !lsu_is_full(m);
    return m->flight_free != SM_NONE && pipes_accepts(&m->pipes, c, m->cycle);
}

uint64_t sm_room(const struct sm *m)
{
    uint64_t room = 0;
    if (m->has_collector) { /* classes that lack it are few */
        uint32_t full = m->collector.classes & ~m->collector.room;
        if (!lsu_has_room(m)) full |= 1u << CLASS_MEM;
        for (; full; full &= full - 1) room |= m->next[__builtin_ctz(full)];
        return ~room;
    }
    for (int c = 0; c < CLASS_COUNT; c++)
        if (m->next[c] && class_has_room(m, (enum sm_class)c)) room |= m->next[c];
    return room;
}

static uint64_t could_issue(const struct sm *m)
{
    return m->resident & m->buffered & ~m->done & ~m->held & ~m->asleep & ~m->hazard & m->votes.issue &
           (m->votes.memory | ~m->memory_next);
}

/* ---- one instruction ---- */

static void count_issue_in(struct sm_stats *s, const struct uop *u, const struct emu_access *e)
{
    s->warp_insts++;
    s->thread_insts += e->mask == UINT32_MAX ? ISA_LANES : (uint64_t)__builtin_popcount(e->mask);
    s->insts_by_unit[u->unit]++;
    s->barriers += (u->flags & UOP_BARRIER) != 0;
    s->branches += (u->flags & UOP_BRANCH) != 0;
}

static void count_issue(struct sm *m, uint32_t w, const struct uop *u, const struct emu_access *e)
{
    count_issue_in(&m->stats, u, e);
    count_issue_in(sm_own_of(m, w), u, e);
}

/* The instruction goes on its way. */
static void send(struct sm *m, uint32_t w, const struct uop *u, const struct emu_access *e)
{
    struct sm_warp *s = &m->warps[w];
    uint32_t access = u->cls == CLASS_MEM ? lsu_build(m, w, u, e) : SM_NONE;
    sm_warp_reserve(s, u);
    if (access != SM_NONE && !m->has_collector) {
        lsu_enqueue(m, access);
        return;
    }
    uint32_t id = flight_new(m);
    m->flights[id] = (struct sm_flight){.op = u, .warp = w, .access = access};
    if (access == SM_NONE) s->flights++;
    if (m->has_collector) {
        collector_put(&m->collector, (enum sm_class)u->cls, id);
        m->collects = true;
    } else if (!pipes_start(&m->pipes, u, id, m->cycle, 0))
        UNREACHABLE("more results than the calendar holds");
}

static COLD void tell_issue(struct sm *m, uint32_t w, uint32_t scheduler, const struct uop *u,
                            const struct emu_access *e)
{
    mech_on_issue(m->mech, &(struct mech_issue){.cycle = m->cycle,
                                                .warp = (int)w,
                                                .pc = e->pc,
                                                .is_load = (u->flags & UOP_LOAD) != 0,
                                                .is_store = (u->flags & UOP_STORE) != 0,
                                                .is_global = e->mask && e->space == ISA_GLOBAL,
                                                .scheduler = scheduler,
                                                .lanes = e->mask});
}

static void issue_one(struct sm *m, uint32_t w, uint32_t scheduler)
{
    struct sm_warp *s = &m->warps[w];
    const struct uop *u = s->next;
    struct emu_access e;
    assert(s->buffered && s->buffer_pc == s->next_pc);
    if (!emu_warp_step(s->emu, true, &e)) {
        sm_fault(m);
        return;
    }
    s->since = m->cycle;
    s->fetch_pc = ++s->buffer_pc;
    if (--s->buffered == 0) {
        m->buffered &= ~bit(w);
        m->empty |= bit(w);
        m->wants_fetch = true;
    }
    count_issue(m, w, u, &e);
    send(m, w, u, &e);
    if (u->flags & UOP_FENCE) {
        m->fenced |= bit(w);
        m->awaits_writes = true;
    }
    if (u->flags & UOP_COMMIT) s->group++;
    if (u->flags & UOP_SLEEP) sm_warp_sleep(m, w, e.sleep_ns);
    if (m->mech->has_issue) tell_issue(m, w, scheduler, u, &e);
    sm_warp_next(m, w);
    if (m->held & bit(w))
        mech_on_barrier(m->mech, &(struct mech_barrier){.cycle = m->cycle, .warps = bit(w), .is_wait = true});
    if (u->flags & UOP_SYNCS) sm_cta_recheck(m, s->cta);
    m->changed = true;
}

/* ---- schedulers ---- */

static int pick(struct sm *m, uint32_t scheduler, uint64_t ready)
{
    uint64_t mine = m->slots_of[scheduler];
    struct mech_sched_view v = {.ready = ready,
                                .resident = m->resident & ~m->done & mine,
                                .memory_next = m->memory_next & mine,
                                .age = m->age,
                                .cta = m->cta_of,
                                .last = m->last[scheduler],
                                .scheduler = scheduler,
                                .scheduler_count = m->schedulers,
                                .cycle = m->cycle,
                                .memory_wait = m->hazard_mem & mine,
                                .barrier_wait = (m->held | m->asleep) & mine};
    return mech_pick(m->mech, &v);
}

static void issue_from(struct sm *m, uint32_t scheduler, uint32_t w)
{
    m->last[scheduler] = (int)w;
    bool alone = m->warps[w].next->flags & UOP_ALONE;
    issue_one(m, w, scheduler);
    for (uint32_t n = 1; n < m->issue_width && !alone && !m->faulted; n++) {
        if (m->mech_news) sm_hear_votes(m);
        if (!(could_issue(m) & sm_room(m) & bit(w))) break;
        alone = m->warps[w].next->flags & UOP_ALONE;
        issue_one(m, w, scheduler);
        m->stats.extra_issues++;
    }
}

/* Where a latch has room for one alone, the scheduler that took it is the last in the cycles to come. (Turns by the number of the cycle are not
 * fair: replies come at edges of the crossbar's clock, so that room is made in cycles of the same parity.) */
static void ask_schedulers(struct sm *m)
{
    uint32_t first = m->turns_by_cycle ? (uint32_t)(m->cycle % m->schedulers) : m->turn;
    uint64_t all = could_issue(m), room = all ? sm_room(m) : 0; /* the same for all until one issues */
    m->awaits_unit = false;
    for (uint32_t i = 0, s = first; i < m->schedulers; i++, s++) {
        if (s == m->schedulers) s = 0;
        uint64_t free = all & m->slots_of[s], ready = free & room;
        int w = ready && !m->faulted ? pick(m, s, ready) : MECH_NO_WARP;
        if (w == MECH_NO_WARP) {
            m->cause[s] = (uint8_t)account_cause(m, s, free, ready);
            m->awaits_unit |= m->cause[s] == SLOT_STR_ALU;
            m->changed |= ready != 0; /* the policy left the slot empty: ask again */
            continue;
        }
        assert(ready & bit((uint32_t)w));
        m->cause[s] = SLOT_ISSUED;
        enum sm_class c = (enum sm_class)m->warps[w].next->cls;
        issue_from(m, s, (uint32_t)w);
        if (!class_has_room(m, c)) m->turn = s + 1 == m->schedulers ? 0 : s + 1;
        if (UNLIKELY(m->mech_news)) sm_hear_votes(m);
        all = could_issue(m);
        room = all ? sm_room(m) : 0;
    }
}

/* Votes may change in the middle of the cycle: they do not count. */
bool sm_may_see(const struct sm *m)
{
    return m->sees_next & m->resident & m->buffered & ~(m->done | m->held | m->asleep | m->hazard) &
           sm_room(m);
}

/* Schedulers that found nothing to issue find the same until something moves. Without operand collectors a unit's time is enough;
 * warps that have ended wait for acknowledgements. Those astray came so by a change. */
void sm_issue(struct sm *m)
{
    bool must_look =
        m->must_look || m->changed || m->mech_news || (m->has_reply && m->awaits_writes && m->done);
    if (UNLIKELY(m->mech_news)) sm_hear_votes(m);
    m->changed = m->must_look = m->mech_news = false;
    if (!must_look && m->has_collector) return;
    account_slots(m, m->cycle);
    if (m->astray) sm_warps_set_right(m);
    ask_schedulers(m);
}

/* ---- behind issue ---- */

static void finish(struct sm *m, uint32_t id)
{
    struct sm_flight f = m->flights[id];
    flight_del(m, id);
    if (m->has_collector) collector_write(&m->collector, f.warp, f.op);
    m->warps[f.warp].flights--;
    sm_warp_release(m, f.warp, f.op);
}

/* The flight at the head of an output latch goes into its unit. False: no result bus in reach. */
static bool start_unit(struct sm *m, uint32_t id)
{
    const struct uop *u = m->flights[id].op;
    if (!m->forwards) return pipes_start(&m->pipes, u, id, m->cycle, STAGES_AFTER_UNIT);
    return pipes_start(&m->pipes, u, id, m->cycle, -STAGES_BEFORE_UNIT);
}

/* True: something moved, or may in the next cycle. */
static bool execute_class(struct sm *m, enum sm_class c)
{
    struct latch *out = &m->collector.out[c];
    bool moved = false;
    while (out->count) {
        uint32_t id = latch_oldest(out);
        if (c == CLASS_MEM) {
            if (!lsu_enqueue(m, m->flights[id].access)) return moved;
            flight_del(m, id);
        } else {
            if (!pipes_accepts(&m->pipes, c, m->cycle)) return moved;
            if (!start_unit(m, id)) return true;
        }
        collector_take(&m->collector, c);
        moved = true;
    }
    return moved;
}

void sm_execute(struct sm *m)
{
    uint32_t rest = m->collector.leaving, room = m->collector.room;
    bool moved = false;
    if (lsu_is_full(m)) rest &= ~(1u << CLASS_MEM);
    if (rest) {
        for (; rest; rest &= rest - 1) moved |= execute_class(m, (enum sm_class)__builtin_ctz(rest));
        sm_writeback(m); /* results that are forwarded in this very cycle */
    }
    moved |= collector_cycle(&m->collector, m->cycle, flight_uop, m);
    m->must_look |= m->collector.room & ~room;
    m->moved = moved && m->collector.work;
    m->awaits_queue = m->collector.is_stuck && m->collector.leaving == 1u << CLASS_MEM;
    m->collects = m->collector.work && !m->awaits_queue;
}

void sm_write_results(struct sm *m)
{
    for (uint32_t id; (id = pipes_result(&m->pipes, m->cycle)) != PIPES_NONE;) finish(m, id);
}
