/* sm_port.c: see sm_port.h. */
#include "mem/sm_port.h"

#include "mem/link_ahead.h"

struct sm_port *sm_port_create(const struct sm_port_setup *s)
{
    struct sm_port *p = mem_zalloc_huge(sizeof *p);
    p->to_xbar = s->to_xbar;
    p->from_xbar = s->from_xbar;
    p->period = s->clock->period;
    if (s->reply_step) p->reply_clock = clock_domain_of(s->reply_step * s->clock->period);
    p->pool = s->pool;
    p->busy_since = TICK_NEVER;
    p->line_bytes = s->line_bytes;
    sm_port_queue_init(&p->misses, s->queue);
    sm_port_queue_init(&p->others, s->queue);
    return p;
}

void sm_port_destroy(struct sm_port *p)
{
    if (!p) return;
    sm_port_queue_free(&p->misses);
    sm_port_queue_free(&p->others);
    mem_free_huge(p);
}

void sm_port_connect(struct sm_port *p, enum sm_port_client client, const struct sm_port_handler *h)
{
    p->clients[client] = *h;
    p->takers[client] = (struct sm_port_taker){.ctx = h->ctx, .reply = h->reply};
    p->tells_sent |= h->sent != NULL;
    p->translated &= (uint8_t) ~(1u << client);
    if (h->line_bytes == p->line_bytes) return;
    p->translated |= (uint8_t)(1u << client);
    p->takers[client] = (struct sm_port_taker){.ctx = p, .reply = sm_port_reply_named};
}

void sm_port_send(struct sm_port *p, enum sm_port_client client, uint32_t req)
{
    assert(client != SM_PORT_L1 && client != SM_PORT_CONTEXT);
    req_at(p->pool, req)->client = (uint8_t)client;
    sm_port_queue_push(&p->others, req);
    p->to_send++;
    p->out++;
    p->other_requests++;
}

void sm_port_receive(struct sm_port *p, tick now)
{
    uint32_t id;
    if (!link_peek(p->from_xbar, now, &id) || sm_port_reply_at(p) > now) return;
    link_pop(p->from_xbar, now);
    debug_assert(p->out);
    p->out--;
    const struct req *r = req_at(p->pool, id);
    const struct sm_port_taker *t = &p->takers[r->client];
    if (r->kind == REQ_READ) p->sectors_got += req_sector_count(r->sectors);
    t->reply(t->ctx, now, id);
}

static void sm_port_count(struct sm_port *p, const struct req *r)
{
    if (r->kind == REQ_READ)
        p->sectors_asked += req_sector_count(r->sectors);
    else
        p->bytes_sent += r->write_bytes;
}

/* Removes the request whose turn it is from its queue: small caches first. */
static uint32_t sm_port_pop(struct sm_port *p)
{
    const bool has_others = p->to_send > p->misses.ring.count;
    p->to_send--;
    if (UNLIKELY(has_others)) return sm_port_queue_pop(&p->others);
    p->sent++;
    return sm_port_queue_pop(&p->misses);
}

/* Returns the next request, or part of a request, that leaves. */
static uint32_t sm_port_next(struct sm_port *p)
{
    if (UNLIKELY(p->whole_left)) return sm_port_next_part(p);
    uint32_t id = sm_port_pop(p);
    const struct req *r = req_at(p->pool, id);
    sm_port_count(p, r);
    return UNLIKELY(p->translated >> r->client & 1) ? sm_port_name(p, id) : id;
}

COLD static void sm_port_tell_sent(const struct sm_port *p, tick now, uint32_t id)
{
    const struct sm_port_handler *h = &p->clients[req_at(p->pool, id)->client];
    if (h->sent) h->sent(h->ctx, now);
}

HOT void sm_port_forward(struct sm_port *p, tick now)
{
    struct link *out = p->to_xbar;
    if (!p->to_send) return;
    if (p->busy_since == TICK_NEVER) p->busy_since = now - p->period; /* the time when the request came */
    if (p->is_blocked && link_is_at_capacity(out)) return;            /* the link wakes the SM */
    if (!link_can_push_after_all(out, now)) {
        /* a slot that was emptied in this tick can be used in the next cycle, and the link does not wake the
         * SM */
        p->is_blocked = link_is_at_capacity(out);
        return;
    }
    uint32_t id = sm_port_next(p);
    link_push(out, now, id);
    if (!p->to_send) {
        p->busy += now - p->busy_since;
        p->busy_since = TICK_NEVER;
    }
    p->is_blocked = p->to_send && link_is_at_capacity(out);
    if (p->is_blocked) link_refuse_ahead(out, now + p->period);
    if (UNLIKELY(p->tells_sent)) sm_port_tell_sent(p, now, id);
}

uint64_t sm_port_busy_cycles(const struct sm_port *p, tick now)
{
    const tick open = p->busy_since == TICK_NEVER ? 0 : now - p->busy_since;
    return (p->busy + open) / p->period;
}
