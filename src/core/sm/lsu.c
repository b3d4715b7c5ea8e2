/* lsu.c: the load-store unit: a queue of memory instructions served in order, and the caches below it.
 *
 * The head of the queue offers lsu_ports accesses a cycle: a transaction to the L1, a word to the constant
 * cache, a line to the texture cache, or it takes one pass through shared memory. What a cache refuses blocks
 * all behind it (thesis 3.4.1: the structural hazard in the load-store unit). An instruction leaves when all
 * of its accesses are taken; a load is written back when all of its answers have come (lsu_reply.c). Stores
 * leave when they are sent; a fence waits for their acknowledgements where the L1 reports them. Kernel
 * parameters and what misses the constant cache come as reads of constants. Left out: constants are read word
 * by word, not broadcast to several words. */
#include "core/sm/sm_impl.h"

#include "base/hugepage.h"

/* ---- life ---- */

void lsu_init(struct sm *m, const struct sm_params *p)
{
    struct lsu *u = &m->memory;
    /* memory instructions before the queue, at most */
    const uint32_t before = m->collector.unit_count + 2 * p->mem_width * LATCH_MAX;
    /* those beside the queue: one of a warp at most */
    const uint32_t beside = MIN(m->mech->reexec_entries, m->residency.context_count);
    const uint32_t accesses = p->lsu_queue + MIN(before, 32u) + beside, atomics = MAX(p->lsu_pending, 64u);
    m->lsu = (struct lsu_hot){.queue_max = (uint16_t)p->lsu_queue,
                              .untaken_max = p->lsu_requests ? p->lsu_requests : UINT32_MAX,
                              .ports = (uint8_t)p->lsu_ports,
                              .replies = (uint8_t)p->lsu_replies,
                              .writebacks = (uint8_t)p->lsu_writebacks,
                              .writeback_head = SM_NONE};
    u->accesses = mem_zalloc_huge(accesses * sizeof *u->accesses);
    u->pendings = mem_zalloc_huge(p->lsu_pending * sizeof *u->pendings);
    u->atomics = mem_zalloc_huge(atomics * sizeof *u->atomics);
    u->bulks = mem_zalloc_huge(accesses * sizeof *u->bulks);
    u->queue = mem_zalloc_huge(p->lsu_queue * sizeof *u->queue);
    for (uint32_t i = 0; i < accesses; i++) u->accesses[i].next = i + 1 < accesses ? i + 1 : SM_NONE;
    for (uint32_t i = 0; i < p->lsu_pending; i++)
        u->pendings[i].next = i + 1 < p->lsu_pending ? i + 1 : SM_NONE;
    for (uint32_t i = 0; i < atomics; i++) u->atomics[i].next = i + 1 < atomics ? i + 1 : SM_NONE;
    lsu_reexec_init(m, m->mech->reexec_entries);
    lsu_sleep_init(m);
}

void lsu_free(struct sm *m)
{
    mem_free_huge(m->memory.accesses);
    mem_free_huge(m->memory.pendings);
    mem_free_huge(m->memory.atomics);
    mem_free_huge(m->memory.bulks);
    mem_free_huge(m->memory.queue);
    lsu_reexec_queue_free(&m->reexec.queue);
}

bool lsu_idle(const struct sm *m) { return !m->memory.pending_live && !m->memory.access_live; }

/* ---- the queue ---- */

static void access_del(struct sm *m, uint32_t id)
{
    sleep_look_if(&m->sleep, m->lsu.access_free == SM_NONE); /* there is room for one more */
    m->memory.accesses[id].next = m->lsu.access_free;
    m->lsu.access_free = id;
    m->memory.access_live--;
}

HOT bool lsu_enqueue(struct sm *m, uint32_t access)
{
    if (lsu_is_full(&m->lsu)) return false;
    const struct lsu_access *a = &m->memory.accesses[access];
    m->lsu.untaken += a->count;
    if (a->ro == RO_COUNT && a->ask.kind != REQ_WRITE)
        m->memory.pendings[a->pending].left += (uint16_t)a->count;
    if (!m->lsu.queue_count) m->memory.head = access;
    const uint32_t at = m->memory.queue_head + m->lsu.queue_count++;
    m->memory.queue[at >= m->lsu.queue_max ? at - m->lsu.queue_max : at] = access;
    return true;
}

/* Transactions are counted when their access leaves, or when statistics are read. Only the head of the queue
 * can have some that are taken. */
void lsu_count_taken(struct sm *m, struct lsu_access *a)
{
    if (a->ro != RO_COUNT) return;
    grid_stats(context_at(&m->state, a->ask.warp))->transactions += a->done - m->memory.counted;
    m->memory.counted = a->done;
}

void lsu_count(struct sm *m)
{
    if (m->lsu.queue_count) lsu_count_taken(m, &m->memory.accesses[m->memory.head]);
}

/* The fixed latency of an instruction after its last access, in cycles: of hits in small caches, of shared
 * memory, of filtered texels whichever cache has them. 0: none. */
static uint32_t fixed_latency(const struct sm *m, const struct lsu_access *a)
{
    if (a->ro == RO_CONST) return m->p->const_latency;
    if (a->ro == RO_TEX || a->is_texture) return m->p->tex_latency;
    return a->has_shared ? m->p->shared_latency : 0;
}

HOT void lsu_end_access(struct sm *m, uint32_t access)
{
    struct lsu_access *a = &m->memory.accesses[access];
    lsu_count_taken(m, a);
    m->memory.counted = 0;
    const uint32_t latency = fixed_latency(m, a);
    if (latency)
        pipes_delay(&m->pipes, a->pending, m->sleep.cycle, m->sleep.cycle + latency);
    else
        lsu_part_done(m, a->pending);
    access_del(m, access);
}

void lsu_pop_head(struct sm *m)
{
    if (++m->memory.queue_head == m->lsu.queue_max) m->memory.queue_head = 0;
    m->lsu.queue_count--;
    m->memory.head = m->memory.queue[m->memory.queue_head];
    debug_assert(m->lsu.queue_count || !m->lsu.untaken);
}

/* ---- offering accesses ---- */

/* Each transaction of an atomic has a record. It is filled in before the access, since an ideal L1 performs
 * the atomic at once, and leaves the free list when the L1 has taken it. */
static enum l1_answer offer_atomic(struct sm *m, const struct lsu_access *a, struct l1_txn *t)
{
    const uint32_t id = m->memory.atomic_free;
    if (id == SM_NONE) return L1_STALL_PORT; /* try again */
    struct lsu_atomic *record = &m->memory.atomics[id];
    record->pending = a->pending;
    record->lanes = a->txns[a->done].lanes;
    t->token = (uint32_t)TOKEN_ATOMIC << TOKEN_SHIFT | id;
    const enum l1_answer got = l1_access(m->l1, m->sleep.now, t);
    if (!l1_is_stall(got)) m->memory.atomic_free = record->next;
    return got;
}

static enum l1_answer offer_l1(struct sm *m, const struct lsu_access *a)
{
    struct l1_txn t;
    lsu_next_transaction(a, &t);
    const enum l1_answer got =
        a->ask.kind == REQ_ATOMIC ? offer_atomic(m, a, &t) : l1_access(m->l1, m->sleep.now, &t);
    if (a->is_texture && !l1_is_stall(got)) {
        m->stats.tex_accesses++;
        m->stats.tex_misses += got == L1_MISS;
    }
    return got;
}

static bool offer_read_only(struct sm *m, struct lsu_access *a)
{
    const enum rocache_answer got =
        readonly_ask(m, (enum sm_ro)a->ro, a->txns[a->done].line, a->pending, a->ask.warp, a->ask.pc);
    if (got == ROCACHE_STALL) return false;
    if (a->ro == RO_CONST) {
        m->stats.const_accesses++;
        m->stats.const_misses += got == ROCACHE_MISS;
    } else {
        m->stats.tex_accesses++;
        m->stats.tex_misses += got == ROCACHE_MISS;
    }
    if (got == ROCACHE_MISS) m->memory.pendings[a->pending].left++;
    return true;
}

/* A refused load may wait in the re-execution queue, unless it was refused for a port. */
static bool may_step_aside(const struct lsu_access *a, enum l1_answer refusal)
{
    return a->ask.kind == REQ_READ && refusal != L1_STALL_PORT && refusal != L1_STALL_STOLEN;
}

/* Offers the next transaction of an access to the L1. False: refused; *steps_aside: it may move to the
 * re-execution queue. Where there is such a queue, a refused load is offered in every cycle. */
static inline bool offer(struct sm *m, struct lsu_access *a, bool *steps_aside)
{
    const enum l1_answer got = offer_l1(m, a);
    *steps_aside = l1_is_stall(got) && may_step_aside(a, got);
    m->lsu.sleep.blocked = l1_is_stall(got) && got != L1_STALL_PORT && got != L1_STALL_HELD &&
                           (LIKELY(!m->lsu.reexecutes) || a->ask.kind != REQ_READ);
    if (l1_is_stall(got)) return false;
    if (got == L1_HIT && m->lsu.sleep.past_hits && a->ask.kind == REQ_READ)
        m->memory.pendings[a->pending].hits++;
    a->done++;
    return true;
}

COLD bool lsu_offer(struct sm *m, struct lsu_access *a, bool *steps_aside)
{
    return offer(m, a, steps_aside);
}

/* Makes the next transactions of a bulk copy, when the L1 has taken the ones before. False: there are no
 * more. */
COLD static bool refill(struct sm *m, uint32_t id)
{
    struct lsu_access *a = &m->memory.accesses[id];
    lsu_count_taken(m, a);
    m->memory.counted = a->done = 0;
    a->count = (uint16_t)lsu_bulk_next(m, &m->memory.bulks[id], a);
    m->lsu.untaken += a->count;
    if (a->ask.kind != REQ_READ) return a->count;
    m->memory.pendings[a->pending].left += a->count;
    return a->count;
}

/* Serves one access of the head. False: nothing more can be done in this cycle. */
static bool serve_head(struct sm *m)
{
    const uint32_t id = m->memory.head;
    struct lsu_access *a = &m->memory.accesses[id];
    bool goes_on = true;
    if (a->passes) {
        a->passes--;
        goes_on = false; /* a pass through shared memory takes the unit for the cycle */
    } else if (a->done < a->count) {
        bool steps_aside = false;
        if (a->ro == RO_COUNT) {
            if (!offer(m, a, &steps_aside)) return steps_aside && m->lsu.reexecutes && lsu_reexec_take(m);
        } else {
            if (!offer_read_only(m, a)) return false;
            a->done++;
        }
        m->lsu.untaken--;
    }
    if (!a->passes && a->done == a->count) {
        if (UNLIKELY(a->is_bulk) && refill(m, id)) return goes_on;
        lsu_end_access(m, id);
        lsu_pop_head(m);
    }
    return goes_on;
}

/* While the L1 refuses the head, only what mechanisms have beside the queue may go on. */
HOT NOINLINE static void serve(struct sm *m)
{
    uint32_t ports = m->lsu.sleep.blocked ? 0 : m->lsu.ports;
    if (UNLIKELY(m->prefetches.has_work)) prefetch_before(m);
    if (UNLIKELY(m->lsu.has_transfer)) transfer_before(m);
    if (UNLIKELY(m->lsu.has_reexec) && ports && lsu_reexec_is_next(m)) {
        lsu_reexec_serve(m);
        ports = lsu_reexec_is_full(m) ? 0 : ports - 1;
    }
    while (ports && m->lsu.queue_count) {
        ports--;
        if (!serve_head(m)) ports = 0;
    }
    if (UNLIKELY(m->prefetches.has_work)) prefetch_after(m);
    if (UNLIKELY(m->lsu.has_transfer)) transfer_after(m);
    if (m->lsu.queue_count && !m->lsu.sleep.blocked && l1_is_full(m->l1))
        m->lsu.sleep.blocked = lsu_is_refusal_ahead(m);
}

HOT NOINLINE void lsu_cycle(struct sm *m)
{
    m->lsu.sleep.blocked = m->lsu.sleep.blocked && l1_still_refuses(m->l1, m->sleep.now);
    if (!m->lsu.sleep.blocked || UNLIKELY(m->lsu.has_transfer | (m->prefetches.has_work != 0))) serve(m);
}
