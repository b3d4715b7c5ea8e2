/* l2_port.c: the parts of a slice that move data: the one data port, the fills and write-backs that share it
 * with reads and writes, and the path of replies to the response queue.
 *
 * With l2.fill_port, fills have a port of their own of the same width, as in GPGPU-Sim from 3.2.2 on, and a
 * write that misses goes into its line through it; without it an ongoing fill keeps reads and writes waiting,
 * as the thesis describes (3.4.2).
 *
 * The port moves port_bytes in an L2 cycle (32 in the thesis's Table 3.1: a line of 128 bytes takes four). A
 * fill takes the port before new accesses do. A reply of the tag stage waits in a latch until its data has
 * passed the port; requests that were merged with a miss get the data as it is filled and take no port time
 * of their own.
 *
 * Invariants. (1) The port does one thing at a time, and nothing is put on it while it is busy, except a
 * write behind the write-back that it causes. (2) At most one reply a cycle enters the response queue.
 * Replies of fills go first; they are finitely many, so every reply leaves at some time. (3) Atomics of a
 * chain take effect when the fill is complete, in the order of the chain: before any later access of the
 * line. */
#include "mem/l2_admit.h"
#include "mem/l2_claim_impl.h"

void l2_use_port(struct l2_slice *s, tick now, uint32_t cycles, uint64_t *counter)
{
    s->port_free = MAX(now, s->port_free) + (tick)cycles * s->period; /* a write goes behind its write-back */
    *counter += cycles;
}

void l2_apply_atomic(struct l2_slice *s, const struct req *r)
{
    if (s->apply) s->apply(s->apply_ctx, r);
}

/* ---- fills ---- */
void l2_start_fill(struct l2_slice *s, tick now)
{
    uint32_t id;
    bool own = s->fill_port;
    if (l2_fill_at(s) > now || !link_peek(s->from_dram, now, &id)) return;
    if (UNLIKELY(l2_has_claims(s)) && l2_claim_fill(s, id, now)) return;
    link_pop(s->from_dram, now);
    s->has_fills = s->from_dram->count != 0;
    uint32_t cycles = l2_sector_cycles(s, req_at(s->pool, id)->sectors);
    if (own)
        s->counts.port_fill += cycles;
    else
        l2_use_port(s, now, cycles, &s->counts.port_fill);
    s->fill = id;
    s->fill_ready = own ? now + (tick)cycles * s->period : s->port_free;
}

static void l2_apply_chain(struct l2_slice *s, const struct mshr_entry *e)
{
    for (uint32_t id = e->head; id != REQ_NONE; id = req_at(s->pool, id)->next)
        if (req_at(s->pool, id)->kind == REQ_ATOMIC) l2_apply_atomic(s, req_at(s->pool, id));
}

static void l2_queue_chain(struct l2_slice *s, uint32_t entry)
{
    struct mshr_entry *e = &s->mshr.entries[entry];
    l2_apply_chain(s, e);
    if (e->head == REQ_NONE) { /* only writes waited, and writes are answered when they are accepted */
        mshr_release(&s->mshr, entry);
        return;
    }
    l2_drain_push(&s->drain, entry);
    s->drains = true;
}

void l2_finish_fill(struct l2_slice *s, tick now)
{
    assert(s->fill_ready <= now);
    struct req *r = req_at(s->pool, s->fill);
    uint32_t line = r->token, entry = mshr_find(&s->mshr, r->addr);
    assert(s->line_addr[line] == r->addr && entry != MSHR_NONE);
    cache_fill(&s->cache, line, r->sectors);
    s->is_probed = false;
    s->mshr.entries[entry].sectors &= ~r->sectors;
    if (!s->mshr.entries[entry].sectors) l2_queue_chain(s, entry);
    req_del(s->pool, s->fill);
    s->fill_ready = TICK_NEVER;
}

/* ---- replies ---- */
static inline void l2_time_hit(struct l2_slice *s, tick since, tick now)
{
    s->counts.hit_latency += clock_cycles(&s->core, now - since);
    s->counts.hits_timed++;
}

void l2_reply_left(struct l2_slice *s, uint32_t id, tick now)
{
    struct req *r = req_at(s->pool, id);
    s->counts.replies++;
    if (r->l2_hit && r->kind == REQ_READ) l2_time_hit(s, r->at_l2, now);
}

static bool l2_can_push_reply(struct l2_slice *s, tick now)
{
    if (link_can_push(s->out, now)) return true;
    s->awaits_reply = true; /* the link wakes the slice */
    return false;
}

static void l2_push_reply(struct l2_slice *s, uint32_t id, tick now)
{
    link_push(s->out, now, id);
    s->replied = true;
}

/* Sends the next reply of a chain whose line has come. */
void l2_drain_one(struct l2_slice *s, tick now)
{
    uint32_t entry = *l2_drain_front(&s->drain);
    struct mshr_entry *e = &s->mshr.entries[entry];
    uint32_t id = e->head;
    struct req *r = req_at(s->pool, id);
    bool is_atomic = r->kind == REQ_ATOMIC;
    uint32_t next = r->next;
    if (l2_drain_at(s, now) > now) return;
    if (!l2_out_has_room(s, now)) {
        l2_await_reply(s, now);
        return;
    }
    if (!l2_can_push_reply(s, now)) return;
    l2_reply_left(s, id, now);
    l2_push_reply(s, id, now);
    if (is_atomic) s->atomic_free = clock_after(&s->clock, now, s->params.atomic_cycles);
    e->head = next;
    if (next != REQ_NONE) return;
    mshr_release(&s->mshr, entry);
    l2_drain_pop(&s->drain);
    s->drains = s->drain.ring.count != 0;
}

/* Does not touch the request: the latch holds what is counted of it. */
void l2_send_latch(struct l2_slice *s, tick now)
{
    if (!l2_can_push_reply(s, now)) return;
    s->counts.replies++;
    if (s->latch_since != TICK_NEVER) l2_time_hit(s, s->latch_since, now);
    l2_push_reply(s, s->latch, now);
    s->latch_ready = TICK_NEVER;
}

/* ---- write-backs: at most one waits for the miss queue, so that a queue of depth one is enough ---- */
void l2_send_victim(struct l2_slice *s, tick now)
{
    if (!l2_dram_has_room(s, now)) {
        l2_await_dram(s, now);
        return;
    }
    l2_see_room(s, now);
    l2_send(s, s->victim, now);
    s->victim = REQ_NONE;
}
