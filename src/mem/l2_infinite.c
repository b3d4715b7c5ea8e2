/* l2_infinite.c: the slice of the thesis's P_inf (3.3): the tags decide hit or miss, but there are no queues,
 * ports or MSHRs, and DRAM is a fixed latency. A request takes as long as on an idle machine: the latency and
 * the time of its data on the port, and infinite_miss core cycles more for a miss. A request for a line that
 * is under way waits for it. */
#include "mem/l2_slice.h"

/* Lines are replaced at once, also those that are under way. */
COLD static uint32_t l2_infinite_allocate(struct l2_slice *s, uint64_t local)
{
    uint32_t line = cache_victim(&s->cache, local);
    s->stats.writebacks += s->cache.lines[line].used && s->cache.lines[line].dirty;
    cache_reserve(&s->cache, line, local, 0);
    s->line_ready[line] = 0;
    return line;
}

COLD static void l2_infinite_take(struct l2_slice *s, uint32_t id, tick now)
{
    struct req *r = req_at(s->pool, id);
    uint64_t local = l2_local_of(s, r);
    uint32_t line = CACHE_NO_LINE;
    enum cache_outcome outcome =
        s->params.perfect ? CACHE_HIT : cache_probe(&s->cache, local, r->sectors, &line);
    tick tags = l2_at_tags(s, now), there = tags;
    r->at_l2 = now;
    if (outcome == CACHE_HIT && line != CACHE_NO_LINE && s->line_ready[line] > tags)
        outcome = CACHE_HIT_RESERVED;
    if (outcome == CACHE_MISS && r->kind == REQ_WRITE) s->stats.write_allocs++;
    if (outcome == CACHE_MISS) line = l2_infinite_allocate(s, local);
    if ((outcome == CACHE_MISS || outcome == CACHE_SECTOR_MISS) && r->kind != REQ_WRITE)
        s->line_ready[line] = clock_edge(&s->clock, clock_after(&s->core, tags, s->params.infinite_miss));
    if (line != CACHE_NO_LINE) {
        there = MAX(tags, s->line_ready[line]);
        cache_fill(&s->cache, line, r->sectors);
        cache_touch(&s->cache, line);
        if (r->kind != REQ_READ) s->cache.lines[line].dirty |= cache_mask(&s->cache, r->sectors);
    }
    r->l2_hit = outcome == CACHE_HIT;
    l2_count(s, r, outcome);
    if (r->kind == REQ_WRITE) l2_tell_write(s, r);
    tick done = r->kind == REQ_WRITE ? tags : clock_after(&s->clock, there, l2_sector_cycles(s, r->sectors));
    struct l2_ring *d = &s->delayed;
    l2_ring_push(d, (struct l2_timed){.id = id, .ready = done});
    uint32_t i = d->ring.count - 1;
    for (; i && l2_ring_at(d, i - 1)->ready > done; i--) *l2_ring_at(d, i) = *l2_ring_at(d, i - 1);
    *l2_ring_at(d, i) = (struct l2_timed){.id = id, .ready = done};
}

COLD void l2_infinite_tick(struct l2_slice *s, tick now)
{
    struct l2_ring *d = &s->delayed;
    uint32_t id;
    while (d->ring.count && l2_ring_at(d, 0)->ready <= now && link_can_push(s->out, now)) {
        id = l2_ring_pop(d).id;
        if (req_at(s->pool, id)->kind == REQ_ATOMIC) l2_apply_atomic(s, req_at(s->pool, id));
        l2_reply_left(s, id, now);
        link_push(s->out, now, id);
    }
    while (d->ring.count < d->ring.capacity && link_peek(s->in, now, &id)) {
        link_pop(s->in, now);
        l2_infinite_take(s, id, now);
    }
    if (d->ring.count && l2_ring_at(d, 0)->ready > now) wake_at(&s->wake, l2_ring_at(d, 0)->ready);
    if (d->ring.count < d->ring.capacity) wake_at(&s->wake, link_next(s->in));
}
