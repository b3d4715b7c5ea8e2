/* l2_pipes.c: the two pipelines of a slice with a taker: see l2_claim.h. Both have the latency of a slice's
 * single pipeline; one request a cycle enters one of them, and one a cycle is at the tags. The pipeline at
 * the tags is l2_slice.pipe, with the slice's fields of the head; the other one waits in l2_claims.other. A
 * head's address within the slice is read once, when the request becomes the head, because the tags overwrite
 * it (req.h). */
#include "mem/l2_admit.h"
#include "mem/l2_claim_impl.h"

static struct l2_ring *program_pipe(struct l2_slice *s)
{
    return s->claims->has_messages ? &s->claims->other.pipe : &s->pipe;
}

static struct l2_ring *message_pipe(struct l2_slice *s)
{
    return s->claims->has_messages ? &s->pipe : &s->claims->other.pipe;
}

/* A condition that closes a pipeline (l2_pipe_closes) closes the crossbar's gate instead. */
static void set_gate(struct l2_slice *s)
{
    struct l2_claims *c = s->claims;
    const tick closed_from = l2_pipe_closes(program_pipe(s), c->stages, c->late_slots);
    if (c->gate_closed_from == closed_from) return;
    c->gate_closed_from = closed_from;
    c->taker.set_gate(c->taker.ctx, closed_from);
}

void l2_make_pipes(struct l2_slice *s)
{
    struct l2_claims *c = s->claims;
    assert(!s->pipe.ring.count && !l2_is_infinite(s));
    c->stages = s->pipe.ring.capacity;
    c->late_slots = s->late_slots;
    s->late_slots = UINT32_MAX;
    c->other = (struct l2_pipeline){.pipe = s->pipe, .head_ready = TICK_NEVER};
    c->has_messages = false;
    c->gate_closed_from = TICK_NEVER;
    l2_ring_init(&s->pipe, c->stages + c->taker.behind_gate);
    set_gate(s);
}

static void swap_pipes(struct l2_slice *s)
{
    struct l2_claims *c = s->claims;
    const struct l2_pipeline next = c->other;
    c->other = (struct l2_pipeline){s->pipe, s->head_ready, s->head_local, c->head_passed, s->head_failed};
    s->pipe = next.pipe;
    s->head_ready = next.head_ready;
    s->head_local = next.head_local;
    c->head_passed = next.head_passed;
    s->head_failed = next.head_failed;
    s->is_probed = false;
    c->has_messages = !c->has_messages;
    debug_assert(!s->pipe.ring.count ||
                 s->head_local == l2_local(s, req_at(s->pool, l2_ring_front(&s->pipe)->id)->addr));
}

/* The other pipeline has its first request. */
static void new_other_head(struct l2_slice *s)
{
    struct l2_pipeline *other = &s->claims->other;
    const struct l2_timed *head = l2_ring_front(&other->pipe);
    other->head_ready = head->ready;
    other->head_local = l2_local_of(s, req_at(s->pool, head->id));
}

void l2_choose_pipe(struct l2_slice *s, tick now)
{
    const struct l2_claims *c = s->claims;
    const tick message_ready = c->has_messages ? s->head_ready : c->other.head_ready;
    if ((message_ready <= now) != c->has_messages) swap_pipes(s);
}

void l2_enter_pipe(struct l2_slice *s, tick now)
{
    struct l2_claims *c = s->claims;
    uint32_t id;
    if (!link_peek(s->in, now, &id)) return;
    const bool is_message = req_at(s->pool, id)->sm >= c->taker.first_cache_sm;
    struct l2_ring *pipe = is_message ? message_pipe(s) : program_pipe(s);
    if (!l2_ring_has_room(pipe)) {
        assert(is_message); /* invariant 2 */
        return;
    }
    link_pop(s->in, now);
    l2_ring_push(pipe, (struct l2_timed){.id = id, .ready = l2_at_tags(s, now)});
    if (pipe->ring.count == 1) {
        if (pipe == &s->pipe)
            l2_new_head(s);
        else
            new_other_head(s);
    }
    set_gate(s);
}

void l2_left_pipe(struct l2_slice *s)
{
    s->claims->head_passed = false;
    set_gate(s);
}
