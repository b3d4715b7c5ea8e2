/* execute.c: from issue to writeback.
 *
 * Stages, as in GPGPU-Sim, for an instruction issued in cycle c whose n registers meet no conflict, one read
 * a cycle: collector c+1, reads c+2 .. c+1+n, output latch c+2+n, unit c+3+n, result after the unit's latency
 * L at c+4+n+L, writeback (scoreboard) c+5+n+L. A dependent instruction issues in the cycle of the writeback
 * or, with forwarding, so that it meets the result at the input of the unit: L cycles after its producer
 * where neither meets a conflict (4 at least, the stages before the unit). Without operand collectors the
 * unit takes the instruction at issue and a dependent one issues L cycles later. */
#include "core/sm/sm_impl.h"

#include "base/hugepage.h"

enum {
    /* from issue to the unit, with one cycle of reads: what forwarding saves */
    STAGES_BEFORE_UNIT = 4,
    /* into the pipeline, and out of it to the writeback */
    STAGES_AFTER_UNIT = 2
};

void execute_init(struct sm *m, const struct sm_params *p)
{
    struct execute *e = &m->execute;
    m->exec.has_collector = p->operand_collector;
    e->forwards = p->forwarding;
    collector_init(&m->collector, p);
    const uint32_t flights = pipes_capacity(p) + m->collector.unit_count + 2 * LATCH_MAX * CLASS_COUNT;
    pipes_init(&m->pipes, p, flights, p->lsu_pending);
    e->flights = mem_zalloc_huge(flights * sizeof *e->flights);
    for (uint32_t i = 0; i < flights; i++) e->flights[i].next = i + 1 < flights ? i + 1 : SM_NONE;
}

void execute_free(struct sm *m)
{
    pipes_free(&m->pipes);
    mem_free_huge(m->execute.flights);
}

/* ---- flights ---- */

static uint32_t flight_new(struct execute *e, const struct flight *f)
{
    const uint32_t id = e->flight_free;
    debug_assert(id != SM_NONE);
    e->flight_free = e->flights[id].next;
    e->flights[id] = *f;
    return id;
}

static void flight_del(struct execute *e, uint32_t id)
{
    e->flights[id].next = e->flight_free;
    e->flight_free = id;
}

static const struct uop *flight_uop(void *ctx, uint32_t id, struct collector_reader *reader)
{
    const struct execute *e = ctx;
    *reader = (struct collector_reader){.warp = e->flights[id].context, .indirect = e->flights[id].indirect};
    return e->flights[id].op;
}

/* ---- issue ---- */

HOT bool execute_has_room(const struct sm *m, enum sm_class c)
{
    if (m->exec.has_collector) return !(execute_full(m) >> c & 1);
    if (c == CLASS_MEM) return lsu_has_room(&m->lsu) && !lsu_is_full(&m->lsu);
    return m->execute.flight_free != SM_NONE && pipes_accepts(&m->pipes, c, m->sleep.cycle);
}

void execute_start(struct sm *m, struct context *x, const struct uop *u, uint32_t access, uint32_t indirect)
{
    board_reserve(x, u);
    if (access != SM_NONE && !m->exec.has_collector) {
        lsu_enqueue(m, access);
        return;
    }
    const uint32_t id = flight_new(
        &m->execute, &(struct flight){.op = u, .context = x->id, .access = access, .indirect = indirect});
    if (access == SM_NONE) board_flight(x);
    if (m->exec.has_collector) {
        collector_put(&m->collector, (enum sm_class)u->cls, id);
        m->exec.collects = true;
    } else if (!pipes_start(&m->pipes, u, id, m->sleep.cycle, 0))
        UNREACHABLE("more results than the calendar holds");
}

/* ---- collectors to units ---- */

/* The flight at the head of an output latch goes into its unit. False: no result bus in reach. */
static bool start_unit(struct sm *m, uint32_t id)
{
    const int32_t extra = m->execute.forwards ? -STAGES_BEFORE_UNIT : STAGES_AFTER_UNIT;
    return pipes_start(&m->pipes, m->execute.flights[id].op, id, m->sleep.cycle, extra);
}

/* True: something moved, or may in the next cycle. */
static bool execute_class(struct sm *m, enum sm_class c)
{
    struct latch *out = &m->collector.out[c];
    bool moved = false;
    while (out->count) {
        const uint32_t id = latch_oldest(out);
        if (c == CLASS_MEM) {
            if (!lsu_enqueue(m, m->execute.flights[id].access)) return moved;
            flight_del(&m->execute, id);
        } else {
            if (!pipes_accepts(&m->pipes, c, m->sleep.cycle)) return moved;
            if (!start_unit(m, id)) return true;
        }
        collector_take(&m->collector, c);
        moved = true;
    }
    return moved;
}

HOT NOINLINE void execute_cycle(struct sm *m)
{
    uint32_t rest = m->collector.leaving, room = m->collector.room;
    bool moved = false;
    if (lsu_is_full(&m->lsu)) rest &= ~(1u << CLASS_MEM);
    if (rest) {
        for (; rest; rest &= rest - 1) moved |= execute_class(m, (enum sm_class)__builtin_ctz(rest));
        execute_writeback(m); /* results that are forwarded in this very cycle */
    }
    moved |= collector_cycle(&m->collector, m->sleep.cycle, flight_uop, &m->execute);
    sleep_look_if(&m->sleep, m->collector.room & ~room);
    m->exec.moved = moved && m->collector.work;
    m->exec.awaits_queue = m->collector.is_stuck && m->collector.leaving == 1u << CLASS_MEM;
    m->exec.collects = m->collector.work && !m->exec.awaits_queue;
}

/* ---- writeback ---- */

static void finish(struct sm *m, uint32_t id)
{
    const struct flight f = m->execute.flights[id];
    struct context *x = context_at(&m->state, f.context);
    flight_del(&m->execute, id);
    if (m->exec.has_collector) collector_write(&m->collector, f.context, f.op, m->sleep.cycle);
    board_flight_done(x);
    board_release(m, x, f.op);
}

HOT void execute_write_results(struct sm *m)
{
    for (uint32_t id; (id = pipes_result(&m->pipes, m->sleep.cycle)) != PIPES_NONE;) finish(m, id);
}
