/* l1_pipe.c: the accesses between the load-store unit and the tags, where l1.tag_latency is set.
 *
 * Known from GPGPU-Sim 4, which keeps the accesses of an L1 with a latency in a pipeline and looks up the
 * tags at its end: an access that misses has waited as long as one that hits, and it finds the lines as
 * earlier accesses have left them by then. A refused access holds the end of the pipeline; those behind it
 * close up, and the load-store unit is refused when no slot is left.
 *
 * Invariants. (1) Accesses leave in the order in which they came, l1.ports a cycle. (2) When the pipeline is
 * full, its head has been refused in this cycle. (3) Stalls are charged to the head. */
#include "mem/l1_admit.h"

void l1_pipe_create(struct l1_pipe *p, const struct l1_params *params)
{
    l1_pipe_init(p, params->perfect ? 0 : params->tag_latency * params->ports);
}

enum l1_answer l1_pipe_put(struct l1 *c, tick now, const struct l1_txn *t)
{
    tick ready = clock_after(&c->clock, now, c->p.tag_latency);
    l1_pipe_push(&c->pipe, (struct l1_pipe_item){.ready = ready, .txn = *t});
    c->ports_used++;
    if (t->kind == REQ_WRITE) c->writes_pending[t->warp]++; /* a fence waits for the access from now on */
    return L1_TAKEN;
}

/* The access at the end of the pipeline, if its time has come. */
static const struct l1_txn *l1_pipe_due(const struct l1 *c, tick now)
{
    const struct l1_pipe *p = &c->pipe;
    return p->ring.count && l1_pipe_front(p)->ready <= now ? &l1_pipe_front(p)->txn : NULL;
}

void l1_pipe_tick(struct l1 *c, tick now)
{
    const struct l1_txn *t = l1_pipe_due(c, now);
    if (!t || l1_stays_refused(c, now)) return;
    for (uint32_t n = 0; n < c->ports && t; n++, t = l1_pipe_due(c, now)) {
        if (l1_is_stall(l1_look_up(c, now, t)) && !t->is_prefetch) break;
        if (t->kind == REQ_WRITE) {
            c->writes_pending[t->warp]--; /* the request counts itself */
            c->has_acknowledged = true;
        }
        ring_pop(&c->pipe.ring);
    }
}

tick l1_pipe_next(const struct l1 *c, tick next)
{
    if (!c->pipe.ring.count) return TICK_NEVER;
    tick ready = l1_pipe_front(&c->pipe)->ready;
    if (ready > c->last) return ready;
    return c->stall.open ? TICK_NEVER : next; /* a refused access waits until something else changes */
}

bool l1_has_waiting(const struct l1 *c) { return c->pipe.ring.count > 0; }
