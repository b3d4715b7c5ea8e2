/* lsu_reply.c: the answers to memory instructions, and their writeback.
 *
 * A pending instruction waits until it has left the load-store unit and each of its accesses was answered.
 * Then it is written back, lsu_writebacks a cycle, in the order in which they became ready. */
#include "core/sm/sm_impl.h"

static void pending_done(struct sm *m, uint32_t id)
{
    struct lsu *u = &m->memory;
    u->pendings[id].next = SM_NONE;
    if (m->lsu.writeback_head == SM_NONE)
        m->lsu.writeback_head = id;
    else
        u->pendings[u->writeback_tail].next = id;
    u->writeback_tail = id;
}

void lsu_part_done(struct sm *m, uint32_t id)
{
    struct lsu_pending *p = &m->memory.pendings[id];
    debug_assert(p->left > p->hits);
    if (--p->left == 0)
        pending_done(m, id);
    else if (UNLIKELY(p->left == p->hits))
        m->lsu.sleep.only_hits++;
}

void lsu_filled(void *sm, const uint32_t *pendings, uint32_t count)
{
    struct sm *m = sm;
    for (uint32_t i = 0; i < count; i++) lsu_part_done(m, pendings[i]);
    sleep_changed(&m->sleep);
}

void lsu_hit_done(struct sm *m, uint32_t id)
{
    struct lsu_pending *p = &m->memory.pendings[id];
    debug_assert(p->hits && p->left >= p->hits);
    p->hits--;
    if (--p->left) return;
    m->lsu.sleep.only_hits--;
    pending_done(m, id);
}

static void pending_end(struct sm *m, uint32_t id)
{
    const struct lsu_pending p = m->memory.pendings[id];
    struct context *x = context_at(&m->state, p.context);
    sleep_look_if(&m->sleep, m->lsu.pending_free == SM_NONE); /* there is room for one more */
    m->memory.pendings[id].next = m->lsu.pending_free;
    m->lsu.pending_free = id;
    m->memory.pending_live--;
    board_memory_done(m, x, p.op, p.group);
    if (p.is_timed) {
        grid_stats(x)->loads_done++;
        grid_stats(x)->load_cycles += m->sleep.cycle - p.issued;
    }
    if (m->exec.has_collector) collector_write(&m->collector, p.context, p.op, m->sleep.cycle);
    board_release(m, x, p.op);
}

static void answer(struct sm *m, uint32_t t)
{
    const uint32_t id = t & TOKEN_MASK;
    switch ((enum lsu_token)(t >> TOKEN_SHIFT)) {
    case TOKEN_LOAD: lsu_part_done(m, id); break;
    case TOKEN_ATOMIC:
        lsu_part_done(m, m->memory.atomics[id].pending);
        m->memory.atomics[id].next = m->memory.atomic_free;
        m->memory.atomic_free = id;
        break;
    }
}

static void write_back(struct sm *m)
{
    for (uint32_t n = 0; n < m->lsu.writebacks && m->lsu.writeback_head != SM_NONE; n++) {
        const uint32_t id = m->lsu.writeback_head;
        m->lsu.writeback_head = m->memory.pendings[id].next;
        pending_end(m, id);
    }
}

HOT NOINLINE void lsu_replies(struct sm *m)
{
    uint32_t t;
    for (uint32_t n = m->lsu.replies; n; n--) {
        const bool is_hit = l1_next_is_hit(m->l1) && m->lsu.sleep.past_hits;
        if (!l1_next_done(m->l1, m->sleep.now, &t)) break;
        if (is_hit)
            lsu_hit_done(m, t & TOKEN_MASK);
        else
            answer(m, t);
    }
    if (pipes_may_delay(&m->pipes, m->sleep.cycle))
        for (uint32_t id; (id = pipes_delayed(&m->pipes, m->sleep.cycle)) != PIPES_NONE;)
            lsu_part_done(m, id);
    if (m->lsu.writeback_head != SM_NONE) write_back(m);
}

/* ---- atomics ---- */

static void make_atomic(struct sm *m, const struct req *r,
                        void (*make)(struct emu_grid *, uint32_t, uint32_t))
{
    if (r->token >> TOKEN_SHIFT != TOKEN_ATOMIC) return;
    const struct lsu_atomic *a = &m->memory.atomics[r->token & TOKEN_MASK];
    const struct lsu_pending *p = &m->memory.pendings[a->pending];
    const struct context *x = context_at(&m->state, p->context);
    if (p->record != SM_NONE) make(m->residency.ctas[x->cta].grid, p->record, a->lanes);
}

void sm_apply_atomic(struct sm *m, const struct req *r) { make_atomic(m, r, emu_atomic_apply); }
void lsu_log_atomic(struct sm *m, const struct req *r) { make_atomic(m, r, emu_atomic_log); }
