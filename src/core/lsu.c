/* lsu.c: the load-store unit: a queue of memory instructions served in order, the caches below it, the
 * answers.
 *
 * The head of the queue offers lsu_ports accesses a cycle: a transaction to the L1, a word to the constant
 * cache, a line to the texture cache, or it takes one pass through shared memory. What a cache refuses blocks
 * all behind it (thesis 3.4.1: the structural hazard in the load-store unit). An instruction leaves when all
 * of its accesses are taken; a load is written back when all of its answers have come. Stores leave when they
 * are sent; a fence waits for their acknowledgements where the L1 reports them. Kernel parameters and what
 * misses the constant cache come as reads of constants. Left out: constants are read word by word, not
 * broadcast to several words. */
#include "core/sm_impl.h"

static uint32_t token(enum sm_token kind, uint32_t id) { return (uint32_t)kind << TOKEN_SHIFT | id; }

/* ---- pools ---- */

static void access_del(struct sm *m, uint32_t id)
{
    m->must_look |= m->access_free == SM_NONE; /* there is room for one more */
    m->accesses[id].next = m->access_free;
    m->access_free = id;
    m->access_live--;
}

bool lsu_enqueue(struct sm *m, uint32_t access)
{
    if (lsu_is_full(m)) return false;
    const struct sm_access *a = &m->accesses[access];
    m->untaken += a->count;
    if (a->ro == RO_COUNT && a->kind != REQ_WRITE) m->pendings[a->pending].left += (uint16_t)a->count;
    if (!m->queue_count) m->head = access;
    uint32_t at = m->queue_head + m->queue_count++;
    m->queue[at >= m->queue_max ? at - m->queue_max : at] = access;
    return true;
}

/* ---- answers ---- */

static void pending_part_done(struct sm *m, uint32_t id)
{
    struct sm_pending *p = &m->pendings[id];
    assert(p->left);
    if (--p->left) return;
    p->next = SM_NONE;
    if (m->writeback_head == SM_NONE)
        m->writeback_head = id;
    else
        m->pendings[m->writeback_tail].next = id;
    m->writeback_tail = id;
}

static void pending_end(struct sm *m, uint32_t id)
{
    struct sm_pending p = m->pendings[id];
    struct sm_warp *s = &m->warps[p.warp];
    m->pendings[id].next = m->pending_free;
    m->pending_free = id;
    m->pending_live--;
    s->memory--;
    if (p.op->flags & UOP_ASYNC) s->groups[p.group % ASYNC_GROUPS]--;
    if (p.is_timed) {
        m->stats.loads_done++;
        m->stats.load_cycles += m->cycle - p.issued;
        sm_own_of(m, p.warp)->loads_done++;
        sm_own_of(m, p.warp)->load_cycles += m->cycle - p.issued;
    }
    if (m->has_collector) collector_write(&m->collector, p.warp, p.op);
    sm_warp_release(m, p.warp, p.op);
}

void lsu_read_only_reply(struct sm *m, const struct req *r)
{
    static const uint8_t of_class[REQ_CLASS_COUNT] = {
        [REQ_CONST] = RO_CONST, [REQ_TEX] = RO_TEX, [REQ_INST] = RO_INST};
    uint32_t which = of_class[r->cls];
    const uint32_t *waiters;
    uint32_t count = rocache_fill(&m->ro[which], r->token, &waiters);
    m->changed = true;
    for (uint32_t i = 0; i < count; i++) {
        if (which == RO_INST)
            sm_fetch_filled(m, waiters[i]);
        else
            pending_part_done(m, waiters[i]);
    }
}

static void answer(struct sm *m, uint32_t t)
{
    uint32_t id = t & TOKEN_MASK;
    switch ((enum sm_token)(t >> TOKEN_SHIFT)) {
    case TOKEN_LOAD: pending_part_done(m, id); break;
    case TOKEN_ATOMIC:
        pending_part_done(m, m->atomics[id].pending);
        m->atomics[id].next = m->atomic_free;
        m->atomic_free = id;
        break;
    }
}

void lsu_replies(struct sm *m)
{
    uint32_t t;
    for (uint32_t n = 0; n < m->replies && l1_next_done(m->l1, m->now, &t); n++) answer(m, t);
    if (pipes_due(&m->pipes, m->cycle))
        for (uint32_t id; (id = pipes_delayed(&m->pipes, m->cycle)) != PIPES_NONE;) pending_part_done(m, id);
    for (uint32_t n = 0; n < m->writebacks && m->writeback_head != SM_NONE; n++) {
        uint32_t id = m->writeback_head;
        m->writeback_head = m->pendings[id].next;
        pending_end(m, id);
    }
}

static void make_atomic(struct sm *m, const struct req *r,
                        void (*make)(struct emu_grid *, uint32_t, uint32_t))
{
    if (r->token >> TOKEN_SHIFT != TOKEN_ATOMIC) return;
    const struct sm_atomic *a = &m->atomics[r->token & TOKEN_MASK];
    const struct sm_pending *p = &m->pendings[a->pending];
    if (p->record != SM_NONE) make(m->ctas[m->warps[p->warp].cta].grid, p->record, a->lanes);
}

void sm_apply_atomic(struct sm *m, const struct req *r) { make_atomic(m, r, emu_atomic_apply); }
void lsu_log_atomic(struct sm *m, const struct req *r) { make_atomic(m, r, emu_atomic_log); }

/* ---- offering accesses ---- */

static bool is_refused(enum l1_answer a) { return a >= L1_STALL_LINE; }

/* Transactions are counted when their access leaves, or somebody wants to know. Of those in the queue only the head has any that
 * are taken. */
static void count_taken(struct sm *m, struct sm_access *a)
{
    if (a->ro != RO_COUNT) return;
    m->stats.transactions += a->done - m->counted;
    a->own->sm.transactions += a->done - m->counted;
    m->counted = a->done;
}

void lsu_count(struct sm *m)
{
    if (m->queue_count) count_taken(m, &m->accesses[m->head]);
}

/* What is the same for all transactions of an access. */
static void offer_access(struct sm *m, uint32_t id, const struct sm_access *a)
{
    m->offered = id;
    m->offer_at = SM_NONE;
    m->offer = (struct l1_txn){.kind = a->kind,
                               .bypass = a->bypass,
                               .warp = (uint16_t)a->warp,
                               .owner = a->owner,
                               .own = &a->own->l1,
                               .load = a->load,
                               .pc = a->pc,
                               .lane_address = a->lane_address,
                               .token = a->kind == REQ_WRITE ? UINT32_MAX : token(TOKEN_LOAD, a->pending)};
}

static void offer_transaction(struct sm *m, const struct sm_access *a)
{
    const struct coalesce_txn *c = &a->txns[a->done];
    struct l1_txn *t = &m->offer;
    bool is_local = a->done >= a->local_from; /* textures have no such part */
    m->offer_at = a->done;
    t->addr = c->line;
    t->sectors = c->sectors;
    t->write_bytes = c->write_bytes;
    t->partial = c->partial;
    t->cls = is_local ? REQ_LOCAL : a->is_texture ? REQ_TEX : REQ_GLOBAL;
    t->is_first = a->done == 0;
}

/* What was refused is offered again as it is. */
static void prepare_offer(struct sm *m, uint32_t id, const struct sm_access *a)
{
    if (m->offered != id) offer_access(m, id, a);
    if (m->offer_at != a->done) offer_transaction(m, a);
}

/* False: refused. */
static bool offer_l1(struct sm *m, uint32_t id, struct sm_access *a)
{
    uint32_t atomic = m->atomic_free;
    m->refusal = L1_STALL_PORT; /* no record for an atomic is free: try again */
    if (a->kind == REQ_ATOMIC && atomic == SM_NONE) return false;
    prepare_offer(m, id, a);
    if (a->kind ==
        REQ_ATOMIC) { /* an ideal L1 performs it at once; it is taken off the free list when it was accepted */
        m->atomics[atomic].pending = a->pending;
        m->atomics[atomic].lanes = a->txns[a->done].lanes;
        m->offer.token = token(TOKEN_ATOMIC, atomic);
    }
    enum l1_answer got = l1_access(m->l1, m->now, &m->offer);
    m->refusal = (uint8_t)got;
    if (is_refused(got)) return false;
    if (a->kind == REQ_ATOMIC) m->atomic_free = m->atomics[atomic].next;
    if (a->is_texture) {
        m->stats.tex_accesses++;
        m->stats.tex_misses += got == L1_MISS;
    }
    return true;
}

enum rocache_answer lsu_ask_read_only(struct sm *m, enum sm_ro which, uint64_t addr, uint32_t waiter,
                                      uint32_t w, uint32_t pc)
{
    struct rocache *c = &m->ro[which];
    uint32_t before = c->unsent;
    enum rocache_answer a = rocache_access(c, addr, waiter, (uint16_t)w, pc);
    m->unsent += c->unsent - before;
    return a;
}

static bool offer_read_only(struct sm *m, struct sm_access *a)
{
    uint32_t latency = a->ro == RO_CONST ? m->p->const_latency : m->p->tex_latency;
    enum rocache_answer got =
        lsu_ask_read_only(m, (enum sm_ro)a->ro, a->txns[a->done].line, a->pending, a->warp, a->pc);
    if (got == ROCACHE_STALL) return false;
    if (a->ro == RO_CONST) {
        m->stats.const_accesses++;
        m->stats.const_misses += got == ROCACHE_MISS;
    } else {
        m->stats.tex_accesses++;
        m->stats.tex_misses += got == ROCACHE_MISS;
    }
    if (got == ROCACHE_MISS) m->pendings[a->pending].left++;
    a->latest = m->cycle + latency;
    return true;
}

/* All accesses are taken: it gives its place up. */
static void leave_queue(struct sm *m, uint32_t id)
{
    struct sm_access *a = &m->accesses[id];
    count_taken(m, a);
    m->counted = 0;
    if (a->has_shared) a->latest = MAX(a->latest, m->cycle + m->p->shared_latency);
    if (a->is_texture)
        a->latest = m->cycle + m->p->tex_latency; /* filtering, whichever cache has the texels */
    if (a->latest > m->cycle)
        pipes_delay(&m->pipes, a->pending, m->cycle, a->latest);
    else
        pending_part_done(m, a->pending);
    access_del(m, id);
    m->offered = SM_NONE;
    if (++m->queue_head == m->queue_max) m->queue_head = 0;
    m->queue_count--;
    m->head = m->queue[m->queue_head];
    assert(m->queue_count || !m->untaken);
}

/* One access of the head. False: nothing more can be done in this cycle. */
static bool serve_head(struct sm *m)
{
    uint32_t id = m->head;
    struct sm_access *a = &m->accesses[id];
    bool goes_on = true;
    if (a->passes) {
        a->passes--;
        goes_on = false; /* a pass takes the whole unit */
    } else if (a->done < a->count) {
        bool is_l1 = a->ro == RO_COUNT;
        if (!(is_l1 ? offer_l1(m, id, a) : offer_read_only(m, a))) {
            m->blocked = is_l1 && m->refusal != L1_STALL_PORT;
            return false;
        }
        a->done++;
        m->untaken--;
    }
    if (!a->passes && a->done == a->count) leave_queue(m, id);
    return goes_on;
}

static COLD void send_misses(struct sm *m)
{
    static const uint8_t cls[RO_COUNT] = {[RO_INST] = REQ_INST, [RO_CONST] = REQ_CONST, [RO_TEX] = REQ_TEX};
    for (uint32_t i = 0; i < RO_COUNT; i++) {
        if (!m->ro[i].unsent) continue;
        uint32_t miss = rocache_unsent(&m->ro[i]);
        uint64_t line = m->ro[i].misses[miss].line, base = line / m->line_bytes * m->line_bytes;
        uint32_t sectors = MAX(m->ro[i].line_bytes / COALESCE_SECTOR_BYTES, 1u);
        struct req r = {.addr = base,
                        .sectors = (uint32_t)((1ull << sectors) - 1) << (line - base) / COALESCE_SECTOR_BYTES,
                        .kind = REQ_READ,
                        .cls = cls[i],
                        .sm = (uint16_t)m->setup.index,
                        .warp = m->ro[i].misses[miss].warp,
                        .pc = m->ro[i].misses[miss].pc,
                        .token = miss,
                        .born = m->now};
        uint32_t id = req_new(m->setup.pool, &r);
        if (l1_send(m->l1, m->now, id)) {
            rocache_sent(&m->ro[i], miss);
            m->unsent--;
        } else
            req_del(m->setup.pool, id);
    }
}

/* Prefetches take what the instructions leave of the L1's accesses; one that is refused is dropped (mem/l1.h
 * counts it). */
static COLD void send_prefetch(struct sm *m)
{
    struct sm_prefetch f = m->prefetches[m->prefetch_head];
    struct l1_txn t = {.addr = f.line,
                       .sectors = (uint32_t)((1ull << m->line_bytes / COALESCE_SECTOR_BYTES) - 1),
                       .kind = REQ_READ,
                       .cls = REQ_GLOBAL,
                       .is_prefetch = true,
                       .warp = (uint16_t)f.warp,
                       .pc = f.pc,
                       .lane_address = f.line,
                       .token = UINT32_MAX};
    l1_access(m->l1, m->now, &t);
    m->stats.prefetches++;
    m->prefetch_head = (m->prefetch_head + 1) % m->p->prefetch_queue;
    m->prefetch_count--;
}

/* The head's next load is offered in the next cycle. Where the L1 can tell that it will refuse it, that cycle need not come. */
static bool is_refusal_ahead(struct sm *m)
{
    const struct sm_access *a = &m->accesses[m->head];
    if (a->passes || a->done == a->count || a->ro != RO_COUNT || a->kind != REQ_READ) return false;
    prepare_offer(m, m->head, a);
    return l1_refuses_ahead(m->l1, m->now, &m->offer);
}

void lsu_cycle(struct sm *m)
{
    uint32_t ports = m->ports;
    m->blocked = m->blocked && l1_still_refuses(m->l1, m->now);
    if (m->blocked) ports = 0;
    while (ports && m->queue_count) {
        ports--;
        if (!serve_head(m)) ports = 0;
    }
    if (UNLIKELY(m->unsent)) send_misses(m);
    if (ports && m->prefetch_count) send_prefetch(m);
    if (m->queue_count && !m->blocked && l1_is_full(m->l1)) m->blocked = is_refusal_ahead(m);
}
