/* units_step.c: the units of a step: who has something to do, and what comes of it. units_crew.c says on which thread. */
#include "core/units_impl.h"

enum {
    FEW_EDGES = 4,   /* counting them is cheaper than a division */
    AHEAD_CYCLES = 8 /* of a window in which SMs run on by themselves */
};

/* ---- when ---- */

tick units_sm_wake(const struct timed_gpu *g) { return wakes_least(&g->units->sm_wakes); }
tick units_part_wake(const struct timed_gpu *g) { return wakes_least(&g->units->part_wakes); }

/* The edge at which a channel with this wake has its next turn. */
static tick dram_edge(const struct units *u, tick wake)
{
    if (wake <= u->dram_first) return u->dram_first;
    return wake == TICK_NEVER ? TICK_NEVER : clock_edge(&u->gpu->clock.domains[DOMAIN_DRAM], wake);
}

tick units_dram_edge(const struct timed_gpu *g)
{
    const struct units *u = g->units;
    tick least = TICK_NEVER;
    for (uint32_t i = 0; i < u->part_count; i++) least = MIN(least, u->parts[i].wake);
    return dram_edge(u, least);
}

static tick slices_wake(const struct units *u, uint32_t part)
{
    const struct slice_turn *turns = &u->turns[part * u->turn_stride];
    tick least = turns[0].wake;
    for (uint32_t i = 1; i < u->per_part; i++) least = MIN(least, turns[i].wake);
    return least;
}

/* The channel's edges can wait for those of the slices. */
static void hear_part(struct units *u, uint32_t part)
{
    wakes_lower(&u->part_wakes, part, MIN(slices_wake(u, part), u->parts[part].wake));
}

static void hear_all(struct units *u)
{
    for (uint32_t i = 0; i < u->sm_count; i++) wakes_lower(&u->sm_wakes, i, u->sms[i].wake);
    for (uint32_t i = 0; i < u->part_count; i++) hear_part(u, i);
}

void units_hear(struct timed_gpu *g)
{
    struct units *u = g->units;
    FOR_NOTES(i, u->sm_notes, u->sm_note_words)
    wakes_lower(&u->sm_wakes, (uint32_t)i, sm_heard(u->sms[i].sm));
    FOR_NOTES(i, u->part_notes, u->part_note_words) hear_part(u, (uint32_t)i);
}

void units_tell_sm(struct timed_gpu *g, uint32_t sm)
{
    struct units *u = g->units;
    wake_at(&u->sms[sm].wake, g->now);
    wakes_lower(&u->sm_wakes, sm, g->now);
    mask_add(u->sm_news, sm);
    u->has_news = true;
}

/* ---- a member's part ---- */

/* The end of the step has to see to its part of the pool: it has fewer than `low` spare requests, or more than 8 times that. */
static bool is_unbalanced(const struct unit *x, uint32_t low) { return x->pool.spare - low > 7 * low; }

/* Unit i has had its turn, and wants the next one at t. */
static void report(const struct wakes *w, struct turns *turns, struct unit *x, uint32_t i, tick t,
                   uint32_t low)
{
    wakes_note(w, &turns->wakes, i, t);
    turns->xbar_wake = MIN(turns->xbar_wake, x->xbar_wake);
    x->xbar_wake = TICK_NEVER;
    if (UNLIKELY(x->news || is_unbalanced(x, low))) turns->news |= (uint64_t)1 << (i % 64);
}

static void work_on_sm(struct units *u, struct turns *turns, uint32_t i, tick now)
{
    struct unit *x = &u->sms[i];
    sm_cycle(x->sm, now);
    if (u->order.window.end > now) sm_run_ahead(x->sm, &u->order.window);
    report(&u->sm_wakes, turns, x, i, x->wake, NEW_PER_SM);
}

static void tick_channel(struct units *u, uint32_t part, tick now)
{
    tick *wake = &u->parts[part].wake;
    struct dram_channel *channel = u->gpu->channels[part];
    *wake = TICK_NEVER;
    dram_tick(channel, now);
    wake_at(wake, *dram_wake(channel));
}

/* Edges of a channel from `first` on, before `end`. */
static void run_channel(struct units *u, uint32_t part, tick first, tick end)
{
    const struct clock_domain *clock = &u->gpu->clock.domains[DOMAIN_DRAM];
    const tick *wake = &u->parts[part].wake;
    for (tick edge = first; *wake < end; edge += clock->period) {
        if (*wake > edge) edge = clock_edge(clock, *wake);
        if (edge >= end) return;
        tick_channel(u, part, edge);
    }
}

/* When they want to run again. */
static tick tick_slices(struct units *u, uint32_t part, tick now)
{
    struct slice_turn *turn = &u->turns[part * u->turn_stride], *end = turn + u->per_part;
    tick least = TICK_NEVER;
    for (; turn < end; turn++) {
        if (turn->wake <= now || u->gpu->no_skip) {
            turn->wake = TICK_NEVER;
            l2_tick(turn->slice, now); /* of its partition it wakes the channel alone */
            wake_at(&turn->wake, *l2_wake(turn->slice));
        }
        least = MIN(least, turn->wake);
    }
    return least;
}

static void work_on_part(struct units *u, struct turns *turns, uint32_t i)
{
    const struct order *o = &u->order;
    struct unit *x = &u->parts[i];
    if (x->wake < o->now) run_channel(u, i, o->dram_first, o->now);
    tick slices = o->is_l2 ? tick_slices(u, i, o->now) : TICK_NEVER;
    if (UNLIKELY(o->is_dram) && (x->wake <= o->now || u->gpu->no_skip)) tick_channel(u, i, o->now);
    if (UNLIKELY(o->is_dram || !o->is_l2)) slices = slices_wake(u, i);
    report(&u->part_wakes, turns, x, i, MIN(slices, x->wake), NEW_PER_SLICE * u->per_part);
}

static const struct turns no_turns = {.wakes.later = TICK_NEVER, .xbar_wake = TICK_NEVER};

static void work_on_sms(struct units *u, const struct member *m)
{
    const tick now = u->order.now;
    for (uint32_t w = 0; w < u->sm_words; w++) {
        struct turns turns = no_turns;
        for (uint64_t mask = u->order.sms[w] & m->own_sms[w]; mask; mask &= mask - 1)
            work_on_sm(u, &turns, w * 64 + (uint32_t)__builtin_ctzll(mask), now);
        m->turns[w] = turns;
    }
}

/* All of them by who is alone, else those that the member can claim. */
static void work_on_parts(struct units *u, const struct member *m)
{
    const bool is_alone = m == u->alone;
    for (uint32_t w = 0; w < u->part_words; w++) {
        struct turns turns = no_turns;
        for (uint64_t left = u->order.parts[w], part; left; left &= ~part) {
            part = is_alone ? left & -left : units_claim(u, m, w);
            if (!part) break;
            work_on_part(u, &turns, w * 64 + (uint32_t)__builtin_ctzll(part));
        }
        m->turns[u->sm_words + w] = turns;
    }
}

void units_work(void *units, uint32_t number)
{
    struct units *u = units;
    work_on_sms(u, &u->members[number]);
    work_on_parts(u, &u->members[number]);
}

/* ---- the order of the step ---- */

/* DRAM edges up to now that have not had their turn. */
static void order_edges(struct units *u)
{
    struct order *o = &u->order;
    const tick period = u->gpu->clock.domains[DOMAIN_DRAM].period;
    o->dram_first = u->dram_first;
    if (u->dram_first + FEW_EDGES * period <= o->now) u->dram_first = o->now - o->now % period;
    while (u->dram_first <= o->now) u->dram_first += period;
    o->is_dram = o->dram_first <= o->now && u->dram_first - period == o->now;
}

/* At an L2 edge the partitions whose time has come; while a kernel drains its channels have their turn at each edge of theirs. */
static void order_parts(struct units *u)
{
    struct timed_gpu *g = u->gpu;
    struct order *o = &u->order;
    order_edges(u);
    if (o->is_l2) wakes_due(&u->part_wakes, o->now, o->parts);
    if (g->no_skip || !o->is_l2) wakes_due_all(&u->part_wakes, o->parts);
    u->part_wakes.horizon = loop_edge_after(g, DOMAIN_L2);
}

/* How far SMs may run on: not to where the dispatcher or a sample looks at them. Windows end together, so that threads find many SMs in a step. */
static void order_window(struct units *u)
{
    const struct timed_gpu *g = u->gpu;
    struct sm_window *w = &u->order.window;
    w->end = 0;
    if (!g->runs_ahead || u->is_talkative) return;
    const tick span = AHEAD_CYCLES * (tick)g->clock.domains[DOMAIN_CORE].period;
    while (u->window_end <= g->now) {
        u->window_end += span;
        if (u->window_end <= g->now) u->window_end = g->now - g->now % span + span;
    }
    w->end = MIN(u->window_end, MIN(g->dispatch.wake, g->next_sample));
    w->edge = loop_edge_after(g, DOMAIN_XBAR);
    w->xbar = g->xbar;
}

static void order_sms(struct units *u)
{
    struct timed_gpu *g = u->gpu;
    wakes_due(&u->sm_wakes, g->now, u->order.sms);
    if (g->no_skip) wakes_due_all(&u->sm_wakes, u->order.sms);
    u->sm_wakes.horizon = loop_edge_after(g, DOMAIN_CORE);
    order_window(u);
}

/* The masks are empty, and are so again when the order is carried out. */
static void give_order(struct units *u)
{
    const struct timed_gpu *g = u->gpu;
    struct order *o = &u->order;
    o->now = g->now;
    o->is_l2 = g->edges[DOMAIN_L2] == g->now;
    if (o->is_l2 || ((g->dispatch.draining || g->no_skip) && g->edges[DOMAIN_DRAM] == g->now)) order_parts(u);
    if (g->edges[DOMAIN_CORE] == g->now) order_sms(u);
}

/* ---- its end ---- */

static void commit_sm(struct units *u, uint32_t i)
{
    struct timed_gpu *g = u->gpu;
    struct unit *x = &u->sms[i];
    if (!sm_awaits_step(x->sm)) {
        bool ok = emu_log_is_empty(u->logs[i]) || emu_log_apply(u->logs[i]);
        g->has_fault |= !ok || sm_faulted(x->sm);
        sm_end_ctas(x->sm);
        x->news = 0;
    }
    req_part_balance(&x->pool, &g->pool, NEW_PER_SM);
    wake_at(xbar_wake(g->xbar), x->xbar_wake);
    x->xbar_wake = TICK_NEVER;
    wakes_lower(&u->sm_wakes, i, x->wake);
}

/* Atomics happen in the order in which they came to the slice; slices in the order of their numbers. */
static void commit_part(struct units *u, uint32_t i)
{
    struct unit *x = &u->parts[i];
    for (uint32_t k = 0; k < x->atomic_count; k++)
        sm_apply_atomic(u->sms[x->atomics[k].sm].sm, &x->atomics[k]);
    x->atomic_count = 0;
    x->news = 0;
    req_part_balance(&x->pool, &u->gpu->pool, NEW_PER_SLICE * u->per_part);
    wake_at(xbar_wake(u->gpu->xbar), x->xbar_wake);
    x->xbar_wake = TICK_NEVER;
}

/* The pool's items may have moved. */
static void follow_items(struct units *u, const struct req *before)
{
    const struct req_pool *p = &u->gpu->pool;
    if (p->items == before) return;
    for (uint32_t i = 0; i < u->sm_count + u->part_count; i++) {
        struct req_pool *part = i < u->sm_count ? &u->sms[i].pool : &u->parts[i - u->sm_count].pool;
        part->items = p->items;
        part->cap = part->fresh = p->cap;
    }
}

/* What units left for the end of the step, SMs first. */
static void commit(struct units *u)
{
    const struct req *items = u->gpu->pool.items;
    FOR_MASK(i, u->sm_news, u->sm_words) commit_sm(u, (uint32_t)i);
    FOR_MASK(i, u->part_news, u->part_words) commit_part(u, (uint32_t)i);
    mask_clear(u->sm_news, u->sm_words);
    mask_clear(u->part_news, u->part_words);
    u->has_news = false;
    follow_items(u, items);
}

/* What came of a word of units. */
static void take_turns(struct units *u, struct wakes *w, uint64_t *news, uint32_t k, const struct turns *t)
{
    wake_at(xbar_wake(u->gpu->xbar), t->xbar_wake);
    wakes_take(w, k, &t->wakes);
    if (!t->news) return;
    news[k] |= t->news;
    u->has_news = true;
}

/* What a member tells of its units. */
static void take_report(struct units *u, const struct member *m)
{
    for (uint32_t k = 0; k < u->sm_words; k++) take_turns(u, &u->sm_wakes, u->sm_news, k, &m->turns[k]);
    for (uint32_t k = 0; k < u->part_words; k++)
        take_turns(u, &u->part_wakes, u->part_news, k, &m->turns[u->sm_words + k]);
}

void units_tell_all(struct timed_gpu *g)
{
    struct units *u = g->units;
    for (uint32_t i = 0; i < u->sm_count; i++) mask_add(u->sm_news, i);
    for (uint32_t i = 0; i < u->part_count; i++) mask_add(u->part_news, i);
    u->has_news = true;
    hear_all(u);
}

void units_commit_all(struct timed_gpu *g)
{
    units_tell_all(g);
    commit(g->units);
    units_rest(g->units); /* the program around us may do something else now */
}

/* ---- a step ---- */

static void work_together(struct units *u)
{
    units_call(u);
    FOR_MASK(i, u->called, u->member_words) take_report(u, &u->members[i]);
}

static void work_alone(struct units *u)
{
    work_on_sms(u, u->alone);
    work_on_parts(u, u->alone);
    take_report(u, u->alone);
}

void units_step(struct timed_gpu *g)
{
    struct units *u = g->units;
    give_order(u);
    if (u->crew && g->edges[DOMAIN_CORE] == g->now) units_choose(u);
    if (u->is_together)
        work_together(u);
    else
        work_alone(u);
    mask_clear(u->order.sms, u->sm_words);
    mask_clear(u->order.parts, u->part_words);
    if (u->has_news) commit(u);
    if (u->is_talkative) hear_all(u);
}

void units_catch_up(struct timed_gpu *g)
{
    struct units *u = g->units;
    for (uint32_t i = 0; i < u->part_count; i++) {
        if (dram_edge(u, u->parts[i].wake) >= g->now) continue;
        run_channel(u, i, u->dram_first, g->now);
        hear_part(u, i);
        mask_add(u->part_news, i);
        u->has_news = true;
    }
    if (u->dram_first < g->now) u->dram_first = clock_edge(&g->clock.domains[DOMAIN_DRAM], g->now);
}
