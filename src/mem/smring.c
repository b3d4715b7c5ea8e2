/* smring.c: see smring.h. Known from the thesis, 4.4.2 and Table 4.3. It leaves open when a message of
 * several flits goes on, and how a full ring keeps moving: store and forward, and the bubble rule, are our
 * choice (the 42 cycles of a remote hit in the thesis fit hops of this kind, not cut-through).
 *
 * A message occupies its slot in the next queue from the time at which it leaves, so a message on a link
 * counts there. */
#include "mem/smring_impl.h"

#include "base/hugepage.h"

/* ---- life ---- */

static void create_lane(struct smring_lane *l, uint32_t sms, uint32_t queue, uint32_t buffer, uint32_t flit)
{
    l->flit_bytes = flit;
    l->stops = mem_zalloc_huge(sizeof *l->stops * sms);
    l->sight = mem_zalloc_huge(sizeof *l->sight * sms);
    l->leaves = mem_zalloc_huge(sizeof *l->leaves * sms);
    l->touched = mem_zalloc_huge(sizeof *l->touched * ((sms + 63) / 64));
    for (uint32_t i = 0; i < sms; i++) {
        smring_queue_init(&l->stops[i].queue, queue);
        smring_queue_init(&l->stops[i].buffer, buffer);
        l->sight[i] = l->leaves[i] = TICK_NEVER;
    }
}

struct smring *smring_create(const struct smring_params *p, uint32_t sms, const struct clock_domain *core)
{
    struct smring *r = mem_zalloc_huge(sizeof *r);
    r->params = *p;
    r->clock = *core;
    r->count = sms;
    r->words = (sms + 63) / 64;
    r->wake = r->sight = TICK_NEVER;
    r->acted = mem_zalloc_huge(sizeof *r->acted * (sms + sizeof(uint64_t)));
    create_lane(&r->lanes[SMRING_REQUEST], sms, p->queue, p->request_buffer, p->request_bytes);
    create_lane(&r->lanes[SMRING_RESPONSE], sms, p->queue, p->response_buffer, p->response_bytes);
    return r;
}

static void destroy_lane(struct smring_lane *l, uint32_t sms)
{
    for (uint32_t i = 0; i < sms; i++) {
        smring_queue_free(&l->stops[i].queue);
        smring_queue_free(&l->stops[i].buffer);
    }
    mem_free_huge(l->stops);
    mem_free_huge(l->sight);
    mem_free_huge(l->leaves);
    mem_free_huge(l->touched);
}

void smring_destroy(struct smring *r)
{
    if (!r) return;
    for (int c = 0; c < SMRING_CHANNELS; c++) destroy_lane(&r->lanes[c], r->count);
    mem_free_huge(r->acted);
    mem_free_huge(r);
}

/* ---- an SM's cycle ---- */

/* The bubble rule: may a message enter the queue in this cycle? */
static bool has_room(const struct smring *r, const struct smring_stop *s, bool is_new)
{
    return !s->has_entered && s->occupied + (is_new ? 2u : 1u) <= r->params.queue;
}

/* A copy of the message enters the queue. */
static void enter(struct smring_stop *s, struct smring_channel_stats *stats, const struct smring_slot *slot,
                  tick ready, uint32_t hops)
{
    const uint32_t at = ring_push(&s->queue.ring, s->queue.items, sizeof *slot);
    struct smring_slot *copy = &s->queue.items[at];
    *copy = *slot;
    copy->ready = ready;
    copy->message.hops = hops;
    s->has_entered = true;
    stats->queue_max = MAX(stats->queue_max, s->queue.ring.count);
}

/* When the head of the queue may go on to the next stop; TICK_NEVER: there is none, or the SM has not decided
 * about it. */
static tick leaves_at(const struct smring_stop *s)
{
    if (!s->queue.ring.count || smring_undecided(s)) return TICK_NEVER;
    return MAX(smring_queue_front(&s->queue)->ready, s->link_free);
}

/* The SM has done something to the channel. */
static void act(struct smring *r, uint32_t sm, enum smring_channel c)
{
    r->acted[sm] |= (uint8_t)(1 << c);
    r->lanes[c].leaves[sm] = leaves_at(&r->lanes[c].stops[sm]);
}

bool smring_push(struct smring *r, uint32_t sm, enum smring_channel c, tick now,
                 const struct smring_message *m)
{
    struct smring_lane *l = &r->lanes[c];
    struct smring_stop *s = &l->stops[sm];
    assert(m->to != sm && (m->to < r->count || m->to >= SMRING_HOLDERS) && m->bytes && !m->hops);
    const bool has = s->buffer.ring.capacity ? smring_queue_has_room(&s->buffer) : has_room(r, s, true);
    s->stats.messages += has;
    s->stats.refused += !has;
    if (!has) return false;
    const struct smring_slot slot = {.message = *m,
                                     .ready = clock_after(&r->clock, now, 1),
                                     .flits = (m->bytes + l->flit_bytes - 1) / l->flit_bytes};
    if (s->buffer.ring.capacity)
        smring_queue_push(&s->buffer, slot);
    else
        enter(s, &s->stats, &slot, slot.ready, 0);
    act(r, sm, c);
    return true;
}

const struct smring_message *smring_peek(const struct smring *r, uint32_t sm, enum smring_channel c, tick now)
{
    const struct smring_stop *s = &r->lanes[c].stops[sm];
    if (s->has_arrived && s->arrived.ready <= now) return &s->arrived.message;
    const struct smring_slot *head = smring_undecided(s);
    return head && head->ready <= now ? &head->message : NULL;
}

/* Whole cycles since a message was ready; in most cases 0. */
static uint64_t cycles_since(const struct smring *r, tick ready, tick now)
{
    return now == ready ? 0 : clock_cycles(&r->clock, now - ready);
}

void smring_pop(struct smring *r, uint32_t sm, enum smring_channel c, tick now)
{
    struct smring_stop *s = &r->lanes[c].stops[sm];
    debug_assert(smring_peek(r, sm, c, now));
    s->stats.taken++;
    if (s->has_arrived && s->arrived.ready <= now) {
        s->stats.wait_cycles += cycles_since(r, s->arrived.ready, now);
        s->has_arrived = false;
    } else {
        s->stats.wait_cycles += cycles_since(r, smring_queue_front(&s->queue)->ready, now);
        ring_pop(&s->queue.ring);
    }
    act(r, sm, c);
}

void smring_pass(struct smring *r, uint32_t sm, enum smring_channel c)
{
    struct smring_stop *s = &r->lanes[c].stops[sm];
    debug_assert(smring_undecided(s));
    s->passes = true;
    act(r, sm, c);
}

/* When the SM of this stop sees a message. */
static tick sight_of(const struct smring_stop *s)
{
    const struct smring_slot *head = smring_undecided(s);
    tick next = s->has_arrived ? s->arrived.ready : TICK_NEVER;
    if (head) wake_at(&next, head->ready);
    return next;
}

tick smring_next(const struct smring *r, uint32_t sm)
{
    return MIN(r->lanes[SMRING_REQUEST].sight[sm], r->lanes[SMRING_RESPONSE].sight[sm]);
}

/* ---- the end of a cycle ---- */

static void touch(struct smring_lane *l, uint32_t i) { l->touched[i / 64] |= (uint64_t)1 << i % 64; }

/* The head of stop i, whose time has come, goes on to the next one, if it may. */
static void hop(struct smring *r, enum smring_channel c, uint32_t i, tick now)
{
    struct smring_lane *l = &r->lanes[c];
    struct smring_stop *s = &l->stops[i];
    const struct smring_slot *head = smring_queue_front(&s->queue);
    const uint32_t next = smring_next_stop(r, c, i), flits = head->flits;
    struct smring_stop *to = &l->stops[next];
    const bool is_there = head->message.to == next;
    if (is_there ? to->has_arrived : !has_room(r, to, false)) return;
    const tick ready = clock_after(&r->clock, now, r->params.latency + flits - 1);
    l->stats.wait_cycles += cycles_since(r, head->ready, now);
    l->stats.hops++;
    l->stats.flits += flits;
    s->link_free = clock_after(&r->clock, now, flits);
    s->passes = false;
    ring_pop(&s->queue.ring); /* the message stays where it is until another one needs the slot */
    touch(l, i);
    touch(l, next);
    if (!is_there) {
        enter(to, &l->stats, head, ready, head->message.hops + 1);
        return;
    }
    to->arrived = *head;
    to->arrived.ready = ready;
    to->arrived.message.hops++;
    to->has_arrived = true;
}

/* Moves a new message from the buffer into the queue, unless a passing one has entered in this cycle. */
static void leave_buffer(struct smring *r, struct smring_lane *l, struct smring_stop *s, tick now)
{
    const struct smring_slot *head = smring_queue_front(&s->buffer);
    if (head->ready > now || !has_room(r, s, true)) return;
    l->stats.buffer_cycles += cycles_since(r, head->ready, now);
    ring_pop(&s->buffer.ring);
    enter(s, &l->stats, head, clock_after(&r->clock, now, 1), 0);
}

/* The cycle of a stop that was touched ends. True: a message waits in its buffer. */
static bool end_stop(struct smring *r, struct smring_lane *l, uint32_t i, tick now)
{
    struct smring_stop *s = &l->stops[i];
    if (s->buffer.ring.count) leave_buffer(r, l, s, now);
    s->occupied = s->queue.ring.count;
    s->has_entered = false;
    l->sight[i] = MAX(sight_of(s), clock_after(&r->clock, now, 1));
    l->leaves[i] = leaves_at(s);
    if (s->buffer.ring.count) wake_at(&r->wake, smring_queue_front(&s->buffer)->ready);
    return s->buffer.ring.count;
}

static void end_word(struct smring *r, struct smring_lane *l, uint32_t w, tick now)
{
    uint64_t waiting = 0;
    for (uint64_t m = l->touched[w]; m; m &= m - 1)
        if (end_stop(r, l, 64 * w + (uint32_t)__builtin_ctzll(m), now)) waiting |= m & -m;
    l->touched[w] = waiting;
}

/* Stops are handled in the order of their numbers, on which queue_max depends. */
static void move_lane(struct smring *r, enum smring_channel c, tick now)
{
    struct smring_lane *l = &r->lanes[c];
    for (uint32_t i = 0; i < r->count; i++)
        if (l->leaves[i] <= now) hop(r, c, i, now);
    for (uint32_t w = 0; w < r->words; w++) end_word(r, l, w, now);
    for (uint32_t i = 0; i < r->count; i++) {
        wake_at(&r->wake, l->leaves[i]);
        wake_at(&r->sight, l->sight[i]);
    }
}

/* Marks the stops whose SMs have done something in this cycle. In most cycles few have. */
static bool take_notes(struct smring *r)
{
    const uint8_t *at = r->acted, *end = r->acted + r->count;
    bool any = false;
    for (uint64_t eight; at < end; at += sizeof eight) {
        memcpy(&eight, at, sizeof eight);
        if (!eight) continue;
        const uint32_t first = (uint32_t)(at - r->acted);
        for (uint32_t i = first; i < MIN(first + 8, r->count); i++)
            for (int c = 0; c < SMRING_CHANNELS; c++)
                r->lanes[c].touched[i / 64] |= (uint64_t)(r->acted[i] >> c & 1) << i % 64;
        memset(&r->acted[first], 0, sizeof eight);
        any = true;
    }
    return any;
}

void smring_tick(struct smring *r, tick now)
{
    if (!take_notes(r) && r->wake > now) return;
    r->wake = r->sight = TICK_NEVER;
    for (int c = 0; c < SMRING_CHANNELS; c++) move_lane(r, (enum smring_channel)c, now);
    if (r->wake != TICK_NEVER) r->wake = MAX(r->wake, clock_after(&r->clock, now, 1));
}

/* ---- what others ask for ---- */

tick smring_wake(const struct smring *r) { return MIN(r->wake, r->sight); }

bool smring_find_seeing(const struct smring *r, tick now, uint64_t *sms)
{
    if (r->sight > now) return false;
    for (uint32_t i = 0; i < r->count; i++) sms[i / 64] |= (uint64_t)(smring_next(r, i) <= now) << i % 64;
    return true;
}

const struct smring_message *smring_asks(const struct smring *r, uint32_t sm, enum smring_channel c, tick now)
{
    const struct smring_stop *s = &r->lanes[c].stops[sm];
    const struct smring_slot *head = smring_undecided(s);
    if (!head || head->ready > now) return NULL;
    if (s->has_arrived || r->lanes[!c].sight[sm] <= now) return NULL;
    return head->message.to == SMRING_HOLDERS && head->message.hops != r->count ? &head->message : NULL;
}

void smring_let_pass(struct smring *r, uint32_t sm, enum smring_channel c)
{
    struct smring_lane *l = &r->lanes[c];
    struct smring_stop *s = &l->stops[sm];
    debug_assert(smring_undecided(s) && !s->has_arrived);
    s->passes = true;
    l->sight[sm] = TICK_NEVER;
    l->leaves[sm] = leaves_at(s);
    wake_at(&r->wake, l->leaves[sm]);
}

bool smring_idle(const struct smring *r) { return !smring_held(r); }
