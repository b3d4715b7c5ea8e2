/* lsu.c: the load-store unit: a queue of memory instructions served in order, the caches below it, the
 * answers.
 *
 * The head of the queue offers lsu_ports accesses a cycle: a transaction to the L1, a word to the constant
 * cache, a line to the texture cache, or it takes one pass through shared memory. What a cache refuses blocks
 * all behind it (thesis 3.4.1: the structural hazard in the load-store unit). An instruction leaves when all
 * of its accesses are taken; a load is written back when all of its answers have come. Stores leave when they
 * are sent; a fence waits for their acknowledgements where the L1 reports them. Kernel parameters and what
 * misses the constant cache come as reads of constants. Left out: constants are read word by word, not
 * broadcast to several words.
 *
 * Two kinds of cycles need not come, for what happens in them is known before: those in which the L1 will
 * refuse the head (is_refusal_ahead), and those in which hits come that end no load (lsu_catch_up). */
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
    if (a->ro == RO_COUNT && a->ask.kind != REQ_WRITE) m->pendings[a->pending].left += (uint16_t)a->count;
    if (!m->queue_count) m->head = access;
    uint32_t at = m->queue_head + m->queue_count++;
    m->queue[at >= m->queue_max ? at - m->queue_max : at] = access;
    return true;
}

/* ---- answers ---- */

static void pending_done(struct sm *m, uint32_t id)
{
    m->pendings[id].next = SM_NONE;
    if (m->writeback_head == SM_NONE)
        m->writeback_head = id;
    else
        m->pendings[m->writeback_tail].next = id;
    m->writeback_tail = id;
}

static void pending_part_done(struct sm *m, uint32_t id)
{
    struct sm_pending *p = &m->pendings[id];
    assert(p->left > p->hits);
    if (--p->left == 0)
        pending_done(m, id);
    else if (UNLIKELY(p->left == p->hits))
        m->only_hits++;
}

static void pending_hit_done(struct sm *m, uint32_t id)
{
    struct sm_pending *p = &m->pendings[id];
    assert(p->hits && p->left >= p->hits);
    p->hits--;
    if (--p->left) return;
    m->only_hits--;
    pending_done(m, id);
}

static void pending_end(struct sm *m, uint32_t id)
{
    struct sm_pending p = m->pendings[id];
    struct sm_warp *s = &m->warps[p.warp];
    m->must_look |= m->pending_free == SM_NONE; /* there is room for one more */
    m->pendings[id].next = m->pending_free;
    m->pending_free = id;
    m->pending_live--;
    s->memory--;
    if (p.op->flags & UOP_ASYNC) s->groups[p.group]--;
    if (p.is_timed) {
        m->stats.loads_done++;
        m->stats.load_cycles += m->cycle - p.issued;
        sm_own_of(m, p.warp)->loads_done++;
        sm_own_of(m, p.warp)->load_cycles += m->cycle - p.issued;
    }
    if (m->has_collector) collector_write(&m->collector, p.warp, p.op);
    sm_warp_release(m, p.warp, p.op);
}

void lsu_filled(void *sm, const uint32_t *pendings, uint32_t count)
{
    struct sm *m = sm;
    m->changed = true;
    for (uint32_t i = 0; i < count; i++) pending_part_done(m, pendings[i]);
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

static void write_back(struct sm *m)
{
    for (uint32_t n = 0; n < m->writebacks && m->writeback_head != SM_NONE; n++) {
        uint32_t id = m->writeback_head;
        m->writeback_head = m->pendings[id].next;
        pending_end(m, id);
    }
}

void lsu_catch_up(struct sm *m, tick now)
{
    if (!m->sleeps_past_hits) return;
    for (uint32_t t; l1_missed_hit(m->l1, now, &t);) pending_hit_done(m, t & TOKEN_MASK);
}

void lsu_replies(struct sm *m)
{
    uint32_t t;
    for (uint32_t n = m->replies; n; n--) {
        bool is_hit = l1_next_is_hit(m->l1) && m->sleeps_past_hits;
        if (!l1_next_done(m->l1, m->now, &t)) break;
        if (is_hit)
            pending_hit_done(m, t & TOKEN_MASK);
        else
            answer(m, t);
    }
    if (pipes_due(&m->pipes, m->cycle))
        for (uint32_t id; (id = pipes_delayed(&m->pipes, m->cycle)) != PIPES_NONE;) pending_part_done(m, id);
    if (m->writeback_head != SM_NONE) write_back(m);
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
    sm_own_of(m, a->ask.warp)->transactions += a->done - m->counted;
    m->counted = a->done;
}

void lsu_count(struct sm *m)
{
    if (m->queue_count) count_taken(m, &m->accesses[m->head]);
}

/* What the L1 is asked: the access's next transaction. */
static inline void next_transaction(const struct sm_access *a, struct l1_txn *t)
{
    const struct coalesce_txn *c = &a->txns[a->done];
    *t = a->ask;
    t->addr = c->line;
    t->sectors = c->sectors;
    t->write_bytes = c->write_bytes;
    t->partial = c->partial;
    t->is_first = a->done == 0;
    if (a->done >= a->local_from) t->cls = REQ_LOCAL; /* textures have no such part */
}

/* With a record of its own, which is taken off the free list when the L1 has taken it: an ideal L1 performs it at once. */
static enum l1_answer offer_atomic(struct sm *m, const struct sm_access *a, struct l1_txn *t)
{
    uint32_t id = m->atomic_free;
    if (id == SM_NONE) return L1_STALL_PORT; /* try again */
    struct sm_atomic *record = &m->atomics[id];
    record->pending = a->pending;
    record->lanes = a->txns[a->done].lanes;
    t->token = token(TOKEN_ATOMIC, id);
    enum l1_answer got = l1_access(m->l1, m->now, t);
    if (!is_refused(got)) m->atomic_free = record->next;
    return got;
}

static enum l1_answer offer_l1(struct sm *m, const struct sm_access *a)
{
    struct l1_txn t;
    next_transaction(a, &t);
    enum l1_answer got = a->ask.kind == REQ_ATOMIC ? offer_atomic(m, a, &t) : l1_access(m->l1, m->now, &t);
    if (a->is_texture && !is_refused(got)) {
        m->stats.tex_accesses++;
        m->stats.tex_misses += got == L1_MISS;
    }
    return got;
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
    enum rocache_answer got =
        lsu_ask_read_only(m, (enum sm_ro)a->ro, a->txns[a->done].line, a->pending, a->ask.warp, a->ask.pc);
    if (got == ROCACHE_STALL) return false;
    if (a->ro == RO_CONST) {
        m->stats.const_accesses++;
        m->stats.const_misses += got == ROCACHE_MISS;
    } else {
        m->stats.tex_accesses++;
        m->stats.tex_misses += got == ROCACHE_MISS;
    }
    if (got == ROCACHE_MISS) m->pendings[a->pending].left++;
    return true;
}

/* Cycles from the last access of an instruction to what has a fixed latency: hits in read-only caches, shared memory, texels that are filtered,
 * whichever cache has them. */
static uint32_t fixed_latency(const struct sm *m, const struct sm_access *a)
{
    if (a->ro == RO_CONST) return m->p->const_latency;
    if (a->ro == RO_TEX || a->is_texture) return m->p->tex_latency;
    return a->has_shared ? m->p->shared_latency : 0;
}

/* All accesses are taken: it gives its place up. */
static void leave_queue(struct sm *m, uint32_t id)
{
    struct sm_access *a = &m->accesses[id];
    count_taken(m, a);
    m->counted = 0;
    uint32_t latency = fixed_latency(m, a);
    if (latency)
        pipes_delay(&m->pipes, a->pending, m->cycle, m->cycle + latency);
    else
        pending_part_done(m, a->pending);
    access_del(m, id);
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
        if (a->ro == RO_COUNT) {
            enum l1_answer got = offer_l1(m, a);
            m->blocked = is_refused(got) && got != L1_STALL_PORT;
            if (is_refused(got)) return false;
            if (got == L1_HIT && m->sleeps_past_hits && a->ask.kind == REQ_READ)
                m->pendings[a->pending].hits++;
        } else if (!offer_read_only(m, a))
            return false;
        a->done++;
        m->untaken--;
    }
    if (!a->passes && a->done == a->count) leave_queue(m, id);
    return goes_on;
}

static COLD void send_misses(struct sm *m)
{
    for (uint32_t i = 0; i < RO_COUNT; i++) m->unsent -= rocache_send(&m->ro[i], m->now);
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
                       .launch = (uint32_t)m->age[f.warp],
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
    if (a->passes || a->done == a->count || a->ro != RO_COUNT || a->ask.kind != REQ_READ) return false;
    struct l1_txn t;
    next_transaction(a, &t);
    return l1_refuses_ahead(m->l1, m->now, &t);
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
