/* units_step.c: a step of the units: which units have a turn, what a turn does, and what is committed after
 * it. units_crew.c decides which thread does what. */
#include "core/units_impl.h"

#include "mem/dram_sleep.h"

/* Words of notes that are read without a test whether any note is set. */
enum { FEW_NOTES = 2 };

/* ---- when ---- */

tick units_sm_wake(const struct units *u) { return wakes_least(&u->sm_wakes); }
tick units_partition_wake(const struct units *u) { return wakes_least(&u->partition_wakes); }

tick units_dram_edge(const struct units *u)
{
    tick least = TICK_NEVER;
    for (uint32_t i = 0; i < u->partition_count; i++)
        least = MIN(least, dram_next_edge(u->partitions[i].channel, u->partitions[i].wake));
    return least;
}

static tick slices_wake(const struct units *u, uint32_t partition)
{
    const struct slice_turn *turns = &u->turns[partition * u->turn_stride];
    tick least = turns[0].wake;
    for (uint32_t i = 1; i < u->slices_each; i++) least = MIN(least, turns[i].wake);
    return least;
}

/* When the channel of a partition wants the partition to have a turn. Where edges of DRAM are rare, not
 * before the channel's next edge: otherwise the partition would have a turn at every edge of the L2 until
 * then, without any work. */
static inline tick channel_turn(const struct units *u, const struct unit *x)
{
    const tick seen = dram_seen_at(x->channel, x->wake);
    return UNLIKELY(u->is_dram_slow) ? MAX(seen, dram_next_edge(x->channel, x->wake)) : seen;
}

/* Enters a partition's wake. The channel's edges can wait for those of the slices. */
static void hear_partition(struct units *u, uint32_t i)
{
    wakes_lower(&u->partition_wakes, i, MIN(slices_wake(u, i), channel_turn(u, &u->partitions[i])));
}

static void hear_all(struct units *u)
{
    for (uint32_t i = 0; i < u->sm_count; i++) wakes_lower(&u->sm_wakes, i, u->sms[i].wake);
    for (uint32_t i = 0; i < u->partition_count; i++) hear_partition(u, i);
}

/* Notes begin at a cache line and fill whole ones. */
static bool line_has_note(const uint64_t *n) { return n[0] | n[1] | n[2] | n[3] | n[4] | n[5] | n[6] | n[7]; }

/* Collects the notes of up to 64 units, one byte (0 or 1) for each, into a mask, and clears them. Eight bytes
 * are one word; the multiplication moves the lowest bit of byte i to bit 56 + i. */
static uint64_t collect_notes(uint64_t *notes, uint32_t words)
{
    uint64_t mask = 0;
    if (words > FEW_NOTES && !line_has_note(notes)) return 0;
    for (uint32_t w = 0; w < words; w++) {
        mask |= notes[w] * 0x0102040810204080 >> 56 << 8 * w;
        notes[w] = 0;
    }
    return mask;
}

/* A unit that runs at the next edge in any case is not woken. */
void units_hear_xbar(struct units *u)
{
    for (uint32_t k = 0; k < u->sm_words; k++) {
        uint64_t heard = collect_notes(u->sm_notes + 8 * k, MIN(u->sm_note_words - 8 * k, 8));
        for (heard &= ~wakes_soon(&u->sm_wakes, k); heard; heard &= heard - 1) {
            const uint32_t i = 64 * k + (uint32_t)__builtin_ctzll(heard);
            wakes_lower(&u->sm_wakes, i, sm_heard(u->sms[i].sm));
        }
    }
    for (uint32_t k = 0; k < u->partition_words; k++) {
        uint64_t heard = collect_notes(u->partition_notes + 8 * k, MIN(u->partition_note_words - 8 * k, 8));
        for (heard &= ~wakes_soon(&u->partition_wakes, k); heard; heard &= heard - 1)
            hear_partition(u, 64 * k + (uint32_t)__builtin_ctzll(heard));
    }
}

/* ---- turns ---- */

/* The unit's share of the pool has fewer than `low` spare requests, or more than 8 times as many. */
static bool is_unbalanced(const struct unit *x, uint32_t low) { return x->pool.spare - low > 7 * low; }

/* Unit i has had its turn and wants the next one at t. */
static void report(tick horizon, struct turns *turns, struct unit *x, uint32_t i, tick t, uint32_t low)
{
    wakes_tell(horizon, &turns->next, i, t);
    turns->xbar_wake = MIN(turns->xbar_wake, x->xbar_wake);
    x->xbar_wake = TICK_NEVER;
    if (UNLIKELY(event_flag_is_set(&x->pending) || is_unbalanced(x, low)))
        turns->pending |= (uint64_t)1 << (i % 64);
}

static void work_on_sm(struct units *u, struct turns *turns, uint32_t i, tick now)
{
    struct unit *x = &u->sms[i];
    sm_cycle(x->sm, now);
    if (u->order->window.end > now) {
        sm_run_ahead(x->sm, &u->order->window, &x->pool, &x->pending);
        if (UNLIKELY(u->crew != NULL) && !u->is_together) ahead_count(&u->ahead, sm_awaits_step(x->sm));
    }
    report(u->order->sm_horizon, turns, x, i, x->wake, u->sm_low);
}

static void tick_channel(struct unit *x, tick now)
{
    x->wake = TICK_NEVER;
    dram_tick(x->channel, now);
    wake_at(&x->wake, *dram_wake(x->channel));
}

/* Runs the channel at its edges of DRAM before `end`. */
static void run_channel(struct unit *x, tick end)
{
    for (tick edge; x->wake < end && (edge = dram_next_edge(x->channel, x->wake)) < end;)
        tick_channel(x, edge);
}

/* Runs the slices of a partition whose time has come. Returns when they want to run again. A slice can lower
 * its own wake during its tick, by a link that refuses; so can the channel. */
static tick tick_slices(const struct units *u, uint32_t partition, tick now)
{
    struct slice_turn *turn = &u->turns[partition * u->turn_stride];
    tick least = TICK_NEVER;
    uint32_t left = u->slices_each;
    do {
        if (turn->wake <= now || u->order->no_skip) {
            turn->wake = TICK_NEVER;
            l2_tick(turn->slice, now);
            wake_at(&turn->wake, *l2_wake(turn->slice));
        }
        wake_at(&least, turn->wake);
        turn++;
    } while (--left);
    return least;
}

/* Runs a step at an edge of DRAM, or at no edge of the L2. Returns when the slices want to run again. */
COLD static tick tick_dram_edge(struct units *u, uint32_t partition)
{
    const struct order *o = u->order;
    struct unit *x = &u->partitions[partition];
    if (o->is_dram && (x->wake <= o->now || o->no_skip)) tick_channel(x, o->now);
    return slices_wake(u, partition);
}

static struct turns no_turns(tick *at) { return (struct turns){.xbar_wake = TICK_NEVER, .next = {.at = at}}; }

/* SMs of word w. */
HOT static void work_on_sms(struct units *u, struct turns *turns, uint32_t w, uint64_t mask)
{
    const tick now = u->order->now;
    for (; mask; mask &= mask - 1) work_on_sm(u, turns, w * 64 + (uint32_t)__builtin_ctzll(mask), now);
}

/* Runs the partitions of word w: DRAM edges since the last step, then the slices. */
HOT static void work_on_partitions(struct units *u, struct turns *turns, uint32_t w, uint64_t mask)
{
    const struct order *o = u->order;
    const bool is_l2_alone = o->is_l2 && !o->is_dram;
    for (; mask; mask &= mask - 1) {
        const uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(mask);
        struct unit *x = &u->partitions[i];
        if (x->wake < o->now) run_channel(x, o->now);
        tick slices = LIKELY(o->is_l2) ? tick_slices(u, i, o->now) : TICK_NEVER;
        if (UNLIKELY(!is_l2_alone)) slices = tick_dram_edge(u, i);
        report(o->partition_horizon, turns, x, i, MIN(slices, channel_turn(u, x)), u->partition_low);
    }
}

/* The results of turns are collected here and written to the report once, because the caller may already be
 * reading the line of the report. */
void units_work(struct units *u, uint32_t number)
{
    const struct worker *worker = &u->workers[number];
    units_offer(u, worker);
    for (uint32_t w = 0; w < u->sm_words; w++) {
        struct turns turns = no_turns(worker->times.sms);
        work_on_sms(u, &turns, w, u->order->sms[w] & worker->own_sms[w]);
        worker->report[w] = turns;
    }
    for (uint32_t w = 0; w < u->partition_words; w++) {
        struct turns turns = no_turns(worker->times.partitions);
        for (uint64_t one; (one = units_claim(u, worker, w));) work_on_partitions(u, &turns, w, one);
        worker->report[u->sm_words + w] = turns;
    }
}

/* ---- the order of the step ---- */

/* At an L2 edge: the partitions whose time has come. At an edge of DRAM, while a kernel drains: all of
 * them, so that the next edge of every channel (units_dram_edge) is after this step. */
static void order_partitions(struct units *u, struct order *o, bool is_draining)
{
    o->is_dram = gpu_time_is_edge(u->time, DOMAIN_DRAM);
    if (LIKELY(o->is_l2)) o->has_partitions = wakes_due(&u->partition_wakes, o->now, o->partitions);
    if (LIKELY(o->is_l2 && !o->no_skip && !(is_draining && o->is_dram))) return;
    wakes_due_all(&u->partition_wakes, gpu_time_edge_after(u->time, DOMAIN_L2), o->partitions);
    o->has_partitions = true;
}

static void order_window(const struct units *u, struct order *o, tick end)
{
    o->window.end = 0;
    if (!end || u->no_ahead || u->is_coupled || (u->is_together && !ahead_pays(&u->ahead))) return;
    o->window.xbar = u->xbar;
    o->window.requests_max = u->sm_low;
    ahead_set_window(&o->window, o->now, u->core_period, end, gpu_time_edge_after(u->time, DOMAIN_XBAR),
                     u->is_together);
}

static void order_sms(struct units *u, struct order *o)
{
    o->has_sms = wakes_due(&u->sm_wakes, o->now, o->sms);
    if (UNLIKELY(u->ring != NULL)) units_order_ring(u, o);
    if (UNLIKELY(o->no_skip)) {
        wakes_due_all(&u->sm_wakes, u->sm_wakes.ruler.horizon, o->sms);
        o->has_sms = true;
    }
    o->sm_horizon = u->sm_wakes.ruler.horizon;
}

/* Clears the masks of the last step. This is not done at the end of that step, when workers already spin on
 * the line of the order. */
static void forget_order(const struct units *u, struct order *o)
{
    if (o->has_sms) mask_clear(o->sms, u->sm_words);
    if (o->has_partitions) mask_clear(o->partitions, u->partition_words);
    o->has_sms = o->has_partitions = false;
}

static void give_order(struct units *u, const struct units_step *step)
{
    const struct gpu_time *t = u->time;
    struct order *o = u->order;
    forget_order(u, o);
    o->now = t->now;
    o->is_l2 = gpu_time_is_edge(t, DOMAIN_L2);
    if (o->is_l2 || ((step->is_draining || o->no_skip) && gpu_time_is_edge(t, DOMAIN_DRAM)))
        order_partitions(u, o, step->is_draining);
    o->partition_horizon = u->partition_wakes.ruler.horizon;
    if (!gpu_time_is_edge(t, DOMAIN_CORE)) return;
    order_sms(u, o);
    order_window(u, o, step->ahead_end);
}

/* ---- commit ---- */

static void commit_sm(struct units *u, uint32_t i)
{
    struct unit *x = &u->sms[i];
    if (!sm_awaits_step(x->sm)) { /* otherwise it ran ahead, and its effects belong to a later step */
        bool ok = emu_log_is_empty(u->logs[i]) || emu_log_apply(u->logs[i]);
        u->has_fault |= !ok || sm_faulted(x->sm);
        sm_end_ctas(x->sm);
        event_flag_clear(&x->pending);
    }
    req_part_balance(&x->pool, u->pool, u->sm_low);
    wake_at(xbar_wake(u->xbar), x->xbar_wake);
    x->xbar_wake = TICK_NEVER;
    wakes_lower(&u->sm_wakes, i, x->wake);
}

void units_keep_effect(void *unit, const struct req *r)
{
    struct unit *x = unit;
    if (x->effect_count == x->effect_cap) {
        x->effect_cap = MAX(2 * x->effect_cap, 16u);
        x->effects = mem_realloc(x->effects, sizeof *x->effects * x->effect_cap);
    }
    x->effects[x->effect_count++] = *r;
    event_flag_set(&x->pending);
}

/* Stores to global memory make the copies in L1s old. */
static void tell_store(struct units *u, const struct req *r)
{
    if (!u->sharers || r->kind == REQ_READ || r->cls != REQ_GLOBAL) return;
    const uint64_t first = r->addr + CACHE_SECTOR_BYTES * (uint32_t)__builtin_ctz(r->sectors);
    sharers_store(u->sharers, r->sm, first, r->at_l2);
}

/* Atomics take effect in the order in which they reached the slice; slices follow in the order of their
 * numbers. */
static void commit_partition(struct units *u, uint32_t i)
{
    struct unit *x = &u->partitions[i];
    for (uint32_t k = 0; k < x->effect_count; k++) {
        const struct req *r = &x->effects[k];
        if (r->kind != REQ_WRITE) sm_apply_atomic(u->sms[r->sm].sm, r);
        tell_store(u, r);
    }
    x->effect_count = 0;
    event_flag_clear(&x->pending);
    req_part_balance(&x->pool, u->pool, u->partition_low);
    wake_at(xbar_wake(u->xbar), x->xbar_wake);
    x->xbar_wake = TICK_NEVER;
}

/* The pool may have grown and moved its requests. */
static void follow_items(struct units *u, const struct req *before)
{
    if (u->pool->items == before) return;
    for (uint32_t i = 0; i < u->sm_count + u->partition_count; i++) {
        struct req_pool *share = i < u->sm_count ? &u->sms[i].pool : &u->partitions[i - u->sm_count].pool;
        req_part_follow(share, u->pool);
    }
}

/* SMs first. */
static void commit(struct units *u)
{
    const struct req *items = u->pool->items;
    FOR_MASK(i, u->sm_pending, u->sm_words) commit_sm(u, (uint32_t)i);
    FOR_MASK(i, u->partition_pending, u->partition_words) commit_partition(u, (uint32_t)i);
    mask_clear(u->sm_pending, u->sm_words);
    mask_clear(u->partition_pending, u->partition_words);
    u->has_pending = false;
    follow_items(u, items);
}

/* ---- a step ---- */

/* Enters the results of the turns of word k. */
static inline void take_turns(struct units *u, struct wakes *w, uint64_t *pending, uint32_t k,
                              const struct turns *t)
{
    wake_at(xbar_wake(u->xbar), t->xbar_wake);
    wakes_take(w, k, &t->next);
    pending[k] |= t->pending;
    u->has_pending |= t->pending != 0;
}

static void work_together(struct units *u)
{
    const uint32_t called = units_work_together(u);
    for (uint32_t i = 0; i < u->worker_count; i++) {
        if (!crew_is_called(called, i)) continue;
        const struct turns *t = u->workers[i].report;
        for (uint32_t w = 0; w < u->sm_words; w++) take_turns(u, &u->sm_wakes, u->sm_pending, w, t++);
        for (uint32_t w = 0; w < u->partition_words; w++)
            take_turns(u, &u->partition_wakes, u->partition_pending, w, t++);
    }
}

static void work_alone(struct units *u)
{
    const struct order *o = u->order;
    for (uint32_t w = 0; o->has_sms && w < u->sm_words; w++) {
        if (!o->sms[w]) continue;
        struct turns turns = no_turns(u->times.sms);
        work_on_sms(u, &turns, w, o->sms[w]);
        take_turns(u, &u->sm_wakes, u->sm_pending, w, &turns);
    }
    for (uint32_t w = 0; o->has_partitions && w < u->partition_words; w++) {
        if (!o->partitions[w]) continue;
        struct turns turns = no_turns(u->times.partitions);
        work_on_partitions(u, &turns, w, o->partitions[w]);
        take_turns(u, &u->partition_wakes, u->partition_pending, w, &turns);
    }
}

bool units_step(struct units *u, const struct units_step *step)
{
    give_order(u, step);
    if (u->crew && gpu_time_is_edge(u->time, DOMAIN_CORE)) units_choose(u);
    if (u->is_together)
        work_together(u);
    else
        work_alone(u);
    if (u->has_pending) commit(u);
    if (u->sharers) sharers_commit(u->sharers);
    if (u->is_coupled) hear_all(u);
    return u->has_fault;
}

/* ---- outside of a step ---- */

void units_run_sm(struct units *u, uint32_t sm)
{
    u->ran_early = u->time->now;
    sm_tick(u->sms[sm].sm, u->time->now);
}

void units_wake_sm(struct units *u, uint32_t sm)
{
    wake_at(&u->sms[sm].wake, u->time->now);
    wakes_lower(&u->sm_wakes, sm, u->time->now);
    mask_add(u->sm_pending, sm);
    u->has_pending = true;
}

void units_look_at_all(struct units *u)
{
    for (uint32_t i = 0; i < u->sm_count; i++) mask_add(u->sm_pending, i);
    for (uint32_t i = 0; i < u->partition_count; i++) mask_add(u->partition_pending, i);
    u->has_pending = true;
    hear_all(u);
}

void units_wake_slices(struct units *u)
{
    for (uint32_t i = 0; i < u->partition_count * u->slices_each; i++)
        wake_at(&slice_turn_of(u, i)->wake, u->time->now);
    units_look_at_all(u);
}

void units_commit_all(struct units *u)
{
    units_look_at_all(u);
    commit(u);
    if (u->sharers) sharers_commit(u->sharers);
    units_rest(u); /* the program may run code of its own now */
}

void units_settle(struct units *u)
{
    const tick now = u->time->now;
    u->ran_early = now;
    units_catch_up(u);
    for (uint32_t i = 0; i < u->sm_count; i++) sm_settle(u->sms[i].sm, now);
    for (uint32_t i = 0; i < u->partition_count * u->slices_each; i++)
        l2_settle(slice_turn_of(u, i)->slice, now);
    for (uint32_t i = 0; i < u->partition_count; i++) dram_settle(u->partitions[i].channel, now);
    units_commit_all(u);
}

void units_catch_up(struct units *u)
{
    const tick now = u->time->now;
    for (uint32_t i = 0; i < u->partition_count; i++) {
        struct unit *x = &u->partitions[i];
        if (dram_next_edge(x->channel, x->wake) >= now) continue;
        run_channel(x, now);
        hear_partition(u, i);
        mask_add(u->partition_pending, i);
        u->has_pending = true;
    }
}
