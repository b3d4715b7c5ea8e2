/* smring.c: see smring.h. Known from the thesis, 4.4.2 and Table 4.3. It leaves open when a message that is
 * cut into flits goes on, and what keeps a full ring moving: store and forward and the bubble rule are ours
 * (its 42 cycles of a remote hit fit five hops of four cycles and more back, not cut-through).
 *
 * The slot of a message is taken when it leaves for the queue, so what is on a link counts there. */
#include "mem/smring.h"

#include "base/hugepage.h"
#include "mem/ring.h"

#include <inttypes.h>

const struct param_row smring_rows[] = {
    PARAM_NUMBER(smring_params, latency, "ring.latency", "cycles", "1", 1, 10000,
                 "a hop between neighbouring SMs, of a message of one flit"),
    PARAM_NUMBER(smring_params, request_bytes, "ring.request_bytes", "bytes", "4", 1, 4096,
                 "flit of the ring's request channel"),
    PARAM_NUMBER(smring_params, response_bytes, "ring.response_bytes", "bytes", "32", 1, 4096,
                 "flit of the ring's response channel"),
    PARAM_NUMBER(
        smring_params, queue, "ring.queue", "messages", "8", 2, 65535,
        "queue of a channel at an SM; a new message needs two free slots, one that passes needs one"),
    PARAM_NUMBER(smring_params, request_buffer, "ring.request_buffer", "messages", "8", 0, 65535,
                 "new requests that wait at an SM, behind those that pass; 0: they go straight into the "
                 "queue, before those that pass"),
    PARAM_NUMBER(smring_params, response_buffer, "ring.response_buffer", "messages", "0", 0, 65535,
                 "the same for new responses"),
    {0}};

#define CHANNEL_ROWS(ch, way)                                                                                \
    STAT_COUNT(smring_stats, ch.messages, "ring." #ch "_messages", "messages",                               \
               "messages that SMs sent, " way, NULL),                                                        \
        STAT_COUNT(smring_stats, ch.taken, "ring." #ch "_taken", "messages", "messages that SMs took, " way, \
                   NULL),                                                                                    \
        STAT_COUNT(smring_stats, ch.hops, "ring." #ch "_hops", "hops", "hops between neighbours, " way,      \
                   NULL),                                                                                    \
        STAT_COUNT(smring_stats, ch.flits, "ring." #ch "_flits", "flits", "flits on the links, " way, NULL), \
        STAT_COUNT(smring_stats, ch.refused, "ring." #ch "_refused", "messages",                             \
                   "new messages that found no room, " way, NULL),                                           \
        STAT_COUNT(smring_stats, ch.wait_cycles, "ring." #ch "_wait", "cycles",                              \
                   "time that messages waited in queues, complete, summed over hops, " way, NULL),           \
        STAT_COUNT(smring_stats, ch.buffer_cycles, "ring." #ch "_buffer_wait", "cycles",                     \
                   "time that new messages waited for the queue, " way, NULL),                               \
        STAT_LARGEST(smring_stats, ch.queue_max, "ring." #ch "_queue_max", "messages",                       \
                     "most messages in one queue, " way)

const struct stat_row smring_stat_rows[] = {CHANNEL_ROWS(request, "from each SM to the next"),
                                            CHANNEL_ROWS(response, "from each SM to the one before"),
                                            {0}};

struct smring_slot {
    struct smring_message message;
    /* when it is complete, and may be seen or go on */
    tick ready;
};
RING_TYPE(smring_queue, struct smring_slot)

/* A channel at one SM. */
struct smring_stop {
    struct smring_queue queue;
    /* slots of the queue that were taken when the cycle began */
    uint32_t occupied;
    /* its SM lets the head of the queue pass; a message came into the queue in this cycle; the SM has a
     * message that did not enter the queue */
    bool passes, has_entered, has_arrived;
    /* when the link to the next stop takes a flit again */
    tick link_free;
    struct smring_slot arrived;
    struct smring_queue buffer;
    struct smring_channel_stats stats;
};

struct smring_node {
    _Alignas(HOST_LINE) struct smring_stop stops[SMRING_CHANNELS];
    /* its SM has done something in this cycle */
    bool has_acted;
};

struct smring {
    struct smring_node *nodes;
    uint32_t count;
    struct clock_domain clock;
    struct smring_params params;
    tick wake;
    struct smring_stats sum;
};

/* ---- life ---- */

static uint32_t buffer_of(const struct smring_params *p, enum smring_channel c)
{
    return c == SMRING_REQUEST ? p->request_buffer : p->response_buffer;
}

struct smring *smring_create(const struct smring_params *p, uint32_t sms, const struct clock_domain *core)
{
    struct smring *r = mem_zalloc_huge(sizeof *r);
    r->params = *p;
    r->clock = *core;
    r->count = sms;
    r->wake = TICK_NEVER;
    r->nodes = mem_zalloc_huge(sizeof *r->nodes * sms);
    for (uint32_t i = 0; i < sms; i++)
        for (int c = 0; c < SMRING_CHANNELS; c++) {
            smring_queue_init(&r->nodes[i].stops[c].queue, p->queue);
            smring_queue_init(&r->nodes[i].stops[c].buffer, buffer_of(p, (enum smring_channel)c));
        }
    return r;
}

void smring_destroy(struct smring *r)
{
    if (!r) return;
    for (uint32_t i = 0; i < r->count; i++)
        for (int c = 0; c < SMRING_CHANNELS; c++) {
            smring_queue_free(&r->nodes[i].stops[c].queue);
            smring_queue_free(&r->nodes[i].stops[c].buffer);
        }
    mem_free_huge(r->nodes);
    mem_free_huge(r);
}

/* ---- an SM's cycle ---- */

/* The rule of the bubble: may a message enter the queue in this cycle? */
static bool has_room(const struct smring *r, const struct smring_stop *s, bool is_new)
{
    return !s->has_entered && s->occupied + (is_new ? 2u : 1u) <= r->params.queue;
}

static void enter(struct smring_stop *s, const struct smring_slot *slot)
{
    smring_queue_push(&s->queue, *slot);
    s->has_entered = true;
    s->stats.queue_max = MAX(s->stats.queue_max, s->queue.ring.count);
}

bool smring_push(struct smring *r, uint32_t sm, enum smring_channel c, tick now,
                 const struct smring_message *m)
{
    struct smring_stop *s = &r->nodes[sm].stops[c];
    const struct smring_slot slot = {*m, clock_after(&r->clock, now, 1)};
    assert(m->to != sm && (m->to < r->count || m->to == SMRING_ALL) && m->bytes && !m->hops);
    const bool has = s->buffer.ring.capacity ? smring_queue_has_room(&s->buffer) : has_room(r, s, true);
    s->stats.messages += has;
    s->stats.refused += !has;
    if (!has) return false;
    r->nodes[sm].has_acted = true;
    if (s->buffer.ring.capacity)
        smring_queue_push(&s->buffer, slot);
    else
        enter(s, &slot);
    return true;
}

/* The head of the queue, if the SM is to decide about it. */
static const struct smring_slot *undecided(const struct smring_stop *s)
{
    if (!s->queue.ring.count || s->passes) return NULL;
    const struct smring_slot *head = smring_queue_front(&s->queue);
    return head->message.to == SMRING_ALL && head->message.hops ? head : NULL;
}

const struct smring_message *smring_peek(const struct smring *r, uint32_t sm, enum smring_channel c, tick now)
{
    const struct smring_stop *s = &r->nodes[sm].stops[c];
    if (s->has_arrived && s->arrived.ready <= now) return &s->arrived.message;
    const struct smring_slot *head = undecided(s);
    return head && head->ready <= now ? &head->message : NULL;
}

static void count_wait(const struct smring *r, struct smring_stop *s, const struct smring_slot *slot,
                       tick now)
{
    s->stats.wait_cycles += clock_cycles(&r->clock, now - slot->ready);
}

void smring_pop(struct smring *r, uint32_t sm, enum smring_channel c, tick now)
{
    struct smring_stop *s = &r->nodes[sm].stops[c];
    debug_assert(smring_peek(r, sm, c, now));
    r->nodes[sm].has_acted = true;
    s->stats.taken++;
    if (s->has_arrived && s->arrived.ready <= now) {
        count_wait(r, s, &s->arrived, now);
        s->has_arrived = false;
        return;
    }
    const struct smring_slot taken = smring_queue_pop(&s->queue);
    count_wait(r, s, &taken, now);
}

void smring_pass(struct smring *r, uint32_t sm, enum smring_channel c)
{
    struct smring_stop *s = &r->nodes[sm].stops[c];
    assert(undecided(s));
    r->nodes[sm].has_acted = s->passes = true;
}

tick smring_next(const struct smring *r, uint32_t sm)
{
    tick next = TICK_NEVER;
    for (int c = 0; c < SMRING_CHANNELS; c++) {
        const struct smring_stop *s = &r->nodes[sm].stops[c];
        const struct smring_slot *head = undecided(s);
        if (s->has_arrived) wake_at(&next, s->arrived.ready);
        if (head) wake_at(&next, head->ready);
    }
    return next;
}

/* ---- the end of a cycle ---- */

static uint32_t next_stop(const struct smring *r, enum smring_channel c, uint32_t i)
{
    if (c == SMRING_REQUEST) return i + 1 == r->count ? 0 : i + 1;
    return i ? i - 1 : r->count - 1;
}

static uint32_t flits_of(const struct smring *r, enum smring_channel c, const struct smring_message *m)
{
    const uint32_t flit = c == SMRING_REQUEST ? r->params.request_bytes : r->params.response_bytes;
    return (m->bytes + flit - 1) / flit;
}

/* The head of the queue, if it is to go on: nobody here has to look at it any more. */
static const struct smring_slot *leaving(const struct smring_stop *s)
{
    return s->queue.ring.count && !undecided(s) ? smring_queue_front(&s->queue) : NULL;
}

/* The head of stop i goes on to the next one, if it may. */
static void hop(struct smring *r, enum smring_channel c, uint32_t i, tick now)
{
    struct smring_stop *s = &r->nodes[i].stops[c];
    const struct smring_slot *head = leaving(s);
    if (!head || head->ready > now || s->link_free > now) return;
    const uint32_t next = next_stop(r, c, i), flits = flits_of(r, c, &head->message);
    struct smring_stop *to = &r->nodes[next].stops[c];
    const bool is_there = head->message.to == next;
    if (is_there ? to->has_arrived : !has_room(r, to, false)) return;
    struct smring_slot slot = smring_queue_pop(&s->queue);
    count_wait(r, s, &slot, now);
    slot.ready = clock_after(&r->clock, now, r->params.latency + flits - 1);
    slot.message.hops++;
    s->link_free = clock_after(&r->clock, now, flits);
    s->passes = false;
    s->stats.hops++;
    s->stats.flits += flits;
    if (!is_there) {
        enter(to, &slot);
        return;
    }
    to->arrived = slot;
    to->has_arrived = true;
}

/* A new message enters the queue, where none that passes has. */
static void leave_buffer(struct smring *r, struct smring_stop *s, tick now)
{
    if (!s->buffer.ring.count || smring_queue_front(&s->buffer)->ready > now || !has_room(r, s, true)) return;
    struct smring_slot slot = smring_queue_pop(&s->buffer);
    s->stats.buffer_cycles += clock_cycles(&r->clock, now - slot.ready);
    slot.ready = clock_after(&r->clock, now, 1);
    enter(s, &slot);
}

/* When something at this stop can move by itself, after a cycle. */
static tick stop_wake(const struct smring_stop *s)
{
    const struct smring_slot *head = leaving(s);
    tick wake = s->buffer.ring.count ? smring_queue_front(&s->buffer)->ready : TICK_NEVER;
    if (head) wake_at(&wake, MAX(head->ready, s->link_free));
    return wake;
}

static bool take_notes(struct smring *r)
{
    bool has_acted = false;
    for (uint32_t i = 0; i < r->count; i++) {
        has_acted |= r->nodes[i].has_acted;
        r->nodes[i].has_acted = false;
    }
    return has_acted;
}

void smring_tick(struct smring *r, tick now)
{
    if (!take_notes(r) && r->wake > now) return;
    r->wake = TICK_NEVER;
    for (int c = 0; c < SMRING_CHANNELS; c++) {
        for (uint32_t i = 0; i < r->count; i++) hop(r, (enum smring_channel)c, i, now);
        for (uint32_t i = 0; i < r->count; i++) {
            struct smring_stop *s = &r->nodes[i].stops[c];
            leave_buffer(r, s, now);
            s->occupied = s->queue.ring.count;
            s->has_entered = false;
            wake_at(&r->wake, stop_wake(s));
        }
    }
    if (r->wake != TICK_NEVER) r->wake = MAX(r->wake, clock_after(&r->clock, now, 1));
}

/* ---- what others ask for ---- */

tick smring_wake(const struct smring *r) { return r->wake; }
bool smring_idle(const struct smring *r) { return !smring_held(r); }

uint64_t smring_held(const struct smring *r)
{
    uint64_t held = 0;
    for (uint32_t i = 0; i < r->count; i++)
        for (int c = 0; c < SMRING_CHANNELS; c++) {
            const struct smring_stop *s = &r->nodes[i].stops[c];
            held += s->queue.ring.count + s->buffer.ring.count + s->has_arrived;
        }
    return held;
}

uint64_t smring_open(const struct smring *r)
{
    uint64_t open = 0; /* of one stop it may be below zero: the sum wraps back */
    for (uint32_t i = 0; i < r->count; i++)
        for (int c = 0; c < SMRING_CHANNELS; c++)
            open += r->nodes[i].stops[c].stats.messages - r->nodes[i].stops[c].stats.taken;
    return open;
}

static void add_channel(struct smring_channel_stats *sum, const struct smring_channel_stats *s)
{
    sum->messages += s->messages;
    sum->taken += s->taken;
    sum->hops += s->hops;
    sum->flits += s->flits;
    sum->refused += s->refused;
    sum->wait_cycles += s->wait_cycles;
    sum->buffer_cycles += s->buffer_cycles;
    sum->queue_max = MAX(sum->queue_max, s->queue_max);
}

void *smring_stats(struct smring *r)
{
    r->sum = (struct smring_stats){0};
    for (uint32_t i = 0; i < r->count; i++) {
        add_channel(&r->sum.request, &r->nodes[i].stops[SMRING_REQUEST].stats);
        add_channel(&r->sum.response, &r->nodes[i].stops[SMRING_RESPONSE].stats);
    }
    return &r->sum;
}

static const char *why_waits(const struct smring *r, enum smring_channel c, uint32_t i, tick now)
{
    const struct smring_stop *s = &r->nodes[i].stops[c], *to = &r->nodes[next_stop(r, c, i)].stops[c];
    if (!s->queue.ring.count) return "nothing";
    if (undecided(s)) return "its SM's mechanism";
    if (smring_queue_front(&s->queue)->ready > now) return "its last flit";
    return to->occupied >= r->params.queue ? "the next queue, which is full" : "the link";
}

void smring_explain(const struct smring *r, tick now, struct strbuf *out)
{
    static const char *const names[] = {"request", "response"};
    for (uint32_t i = 0; i < r->count; i++)
        for (int c = 0; c < SMRING_CHANNELS; c++) {
            const struct smring_stop *s = &r->nodes[i].stops[c];
            if (!s->queue.ring.count && !s->buffer.ring.count && !s->has_arrived) continue;
            strbuf_printf(
                out, "ring, %s channel at SM %u: queue %u of %u, %u wait to enter, head waits for %s%s\n",
                names[c], i, s->queue.ring.count, r->params.queue, s->buffer.ring.count,
                why_waits(r, (enum smring_channel)c, i, now),
                s->has_arrived ? "; its SM has not taken what came for it" : "");
        }
}
