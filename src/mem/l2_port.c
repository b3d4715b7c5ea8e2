/* l2_port.c: what moves data in a slice: the one data port, the fills and write-backs that share it with
 * reads and writes, and the path of replies to the response queue.
 *
 * With l2.fill_port, fills have a port of their own of the same width, as in GPGPU-Sim from 3.2.2 on, and a
 * write that misses goes into its line there; without it an ongoing fill keeps reads and writes waiting, as the thesis describes it (3.4.2).
 *
 * The port moves port_bytes in an L2 cycle (32 in the thesis's Table 3.1: a line of 128 bytes takes four). A
 * fill takes it before new accesses do. A reply of the tag stage waits in a latch until its data has passed
 * the port; requests that were merged with a miss get the data as it is filled and take no port time of their
 * own.
 *
 * Invariants. (1) The port does one thing at a time, and nothing is put on it while it is busy, but a write
 * behind the write-back that it causes. (2) At most one reply a cycle enters the
 * response queue; those of fills go first, and are finitely many, so that none waits for ever. (3) Atomics of
 * a chain take effect when the fill is complete, in the order of the chain: before any later access of the
 * line. */
#include "mem/l2_slice.h"

void l2_use_port(struct l2_slice *s, tick now, uint32_t cycles, uint64_t *counter)
{
    s->port_free =
        clock_after(&s->clock, MAX(now, s->port_free), cycles); /* a write goes behind its write-back */
    s->stats.port_busy_cycles += cycles;
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
    bool own = s->params.fill_port;
    if (s->fill.id != REQ_NONE || (!own && s->port_free > now) || !link_peek(s->from_dram, now, &id)) return;
    link_pop(s->from_dram, now);
    uint32_t cycles = l2_sector_cycles(s, req_at(s->pool, id)->sectors);
    if (own)
        s->stats.port_fill_cycles += cycles;
    else
        l2_use_port(s, now, cycles, &s->stats.port_fill_cycles);
    s->fill = (struct l2_timed){.id = id, .ready = own ? clock_after(&s->clock, now, cycles) : s->port_free};
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
    if (e->head == REQ_NONE) { /* only writes waited, and those are answered when they are accepted */
        mshr_release(&s->mshr, entry);
        return;
    }
    uint32_t at = s->drain_head + s->drain_count++;
    s->drain[at >= s->mshr.count ? at - s->mshr.count : at] = entry;
}

void l2_finish_fill(struct l2_slice *s, tick now)
{
    if (s->fill.id == REQ_NONE || s->fill.ready > now) return;
    struct req *r = req_at(s->pool, s->fill.id);
    uint32_t line = r->token, entry = mshr_find(&s->mshr, r->addr);
    assert(s->line_addr[line] == r->addr && entry != MSHR_NONE);
    cache_fill(&s->cache, line, r->sectors);
    s->is_probed = false;
    s->mshr.entries[entry].sectors &= ~r->sectors;
    if (!s->mshr.entries[entry].sectors) l2_queue_chain(s, entry);
    req_del(s->pool, s->fill.id);
    s->fill.id = REQ_NONE;
}

/* ---- replies ---- */
void l2_reply_left(struct l2_slice *s, uint32_t id, tick now)
{
    struct req *r = req_at(s->pool, id);
    s->stats.replies++;
    if (!r->l2_hit || r->kind != REQ_READ) return;
    s->stats.hit_latency += l2_cycles_in(now - r->at_l2, s->core.period);
    s->stats.hits_timed++;
}

static bool l2_push_reply(struct l2_slice *s, uint32_t id, tick now)
{
    if (!link_can_push(s->out, now)) return false; /* the link wakes us */
    l2_reply_left(s, id, now);
    link_push(s->out, now, id);
    s->replied = true;
    return true;
}

static void l2_drain_one(struct l2_slice *s, tick now)
{
    uint32_t entry = s->drain[s->drain_head];
    struct mshr_entry *e = &s->mshr.entries[entry];
    uint32_t id = e->head;
    struct req *r = req_at(s->pool, id);
    bool is_atomic = r->kind == REQ_ATOMIC;
    if (is_atomic && s->atomic_free > now) return;
    uint32_t next = r->next;
    if (!l2_can_reply(s, now) || !l2_push_reply(s, id, now)) return;
    if (is_atomic) s->atomic_free = clock_after(&s->clock, now, s->params.atomic_cycles);
    e->head = next;
    if (next != REQ_NONE) return;
    mshr_release(&s->mshr, entry);
    if (++s->drain_head == s->mshr.count) s->drain_head = 0;
    s->drain_count--;
}

void l2_send_reply(struct l2_slice *s, tick now)
{
    if (s->replied) return;
    if (s->drain_count) l2_drain_one(s, now);
    if (s->replied || s->latch.id == REQ_NONE || s->latch.ready > now) return;
    if (l2_push_reply(s, s->latch.id, now)) s->latch.id = REQ_NONE;
}

/* ---- write-backs: one at a time may wait for the miss queue, so that a queue of depth one is enough ---- */
void l2_send_victim(struct l2_slice *s, tick now)
{
    if (s->victim == REQ_NONE || !link_can_push(s->to_dram, now)) return;
    link_push(s->to_dram, now, s->victim);
    s->victim = REQ_NONE;
}
