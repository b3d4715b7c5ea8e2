/* units_step.c: the units of a step: who has something to do, on which thread, and what comes of it.
 *
 * A step in which few SMs are awake is done by the caller alone: calling the others costs as much as a handful of SMs. Which of the two it
 * is follows the average, not the single step: an SM that changes cores takes its whole state along. */
#include "core/units_impl.h"

enum {
    CROWD_SCALE = 32, /* steps that the average number of SMs awake goes back */
    CROWD_MAX =
        8, /* SMs awake on average from which on the crew is called; of a small machine half of its SMs */
    FEW_EDGES = 4 /* counting them is cheaper than a division */
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

/* Of its slices and its channel, whose edges can wait for theirs. */
static tick part_wake(const struct units *u, uint32_t part)
{
    const struct slice_turn *turns = &u->turns[part * u->turn_stride];
    tick least = MIN(u->parts[part].wake, turns[0].wake);
    for (uint32_t i = 1; i < u->per_part; i++) least = MIN(least, turns[i].wake);
    return least;
}

static void hear_all(struct units *u)
{
    for (uint32_t i = 0; i < u->sm_count; i++) wakes_lower(&u->sm_wakes, i, u->sms[i].wake);
    for (uint32_t i = 0; i < u->part_count; i++) wakes_lower(&u->part_wakes, i, part_wake(u, i));
}

void units_hear(struct timed_gpu *g)
{
    struct units *u = g->units;
    FOR_NOTES(i, u->sm_notes, u->sm_note_words) wakes_lower(&u->sm_wakes, (uint32_t)i, u->sms[i].wake);
    FOR_NOTES(i, u->part_notes, u->part_note_words)
    wakes_lower(&u->part_wakes, (uint32_t)i, part_wake(u, (uint32_t)i));
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

/* A unit has had its turn: what it tells the others. */
static void report(struct member *m, struct unit *x, uint64_t *news, uint32_t i, uint32_t low)
{
    m->xbar_wake = MIN(m->xbar_wake, x->xbar_wake);
    x->xbar_wake = TICK_NEVER;
    if (LIKELY(!x->news && !is_unbalanced(x, low))) return;
    mask_add(news, i);
    m->has_news = true;
}

static void work_on_sm(struct units *u, struct member *m, uint32_t i, tick now)
{
    struct unit *x = &u->sms[i];
    sm_cycle(x->sm, now);
    wakes_note(&u->sm_wakes, &m->sm_turns, i, x->wake);
    report(m, x, m->sm_news, i, NEW_PER_SM);
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

static void tick_slices(struct units *u, uint32_t part, tick now)
{
    struct slice_turn *turn = &u->turns[part * u->turn_stride], *end = turn + u->per_part;
    for (; turn < end; turn++) {
        if (turn->wake > now && !u->gpu->no_skip) continue;
        turn->wake = TICK_NEVER;
        l2_tick(turn->slice, now);
        wake_at(&turn->wake, *l2_wake(turn->slice));
    }
}

static void work_on_part(struct units *u, struct member *m, uint32_t i)
{
    const struct order *o = &u->order;
    struct unit *x = &u->parts[i];
    if (x->wake < o->now) run_channel(u, i, o->dram_first, o->now);
    if (o->is_l2) tick_slices(u, i, o->now);
    if (o->is_dram && (x->wake <= o->now || u->gpu->no_skip)) tick_channel(u, i, o->now);
    wakes_note(&u->part_wakes, &m->part_turns, i, part_wake(u, i));
    report(m, x, m->part_news, i, NEW_PER_SLICE * u->per_part);
}

static void work(struct units *u, struct member *m)
{
    const struct order *o = &u->order;
    const tick now = o->now;
    FOR_BOTH(i, o->sms, m->own_sms, u->sm_words) work_on_sm(u, m, (uint32_t)i, now);
    FOR_BOTH(i, o->parts, m->own_parts, u->part_words) work_on_part(u, m, (uint32_t)i);
}

void units_work(void *units, uint32_t number)
{
    struct units *u = units;
    work(u, &u->members[number]);
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

static void order_sms(struct units *u)
{
    struct timed_gpu *g = u->gpu;
    wakes_due(&u->sm_wakes, g->now, u->order.sms);
    if (g->no_skip) wakes_due_all(&u->sm_wakes, u->order.sms);
    u->sm_wakes.horizon = loop_edge_after(g, DOMAIN_CORE);
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

/* How many SMs are awake? */
static void count_crowd(struct units *u)
{
    uint32_t awake = 0;
    for (uint32_t w = 0; w < u->sm_words; w++) awake += (uint32_t)__builtin_popcountll(u->order.sms[w]);
    u->crowd += awake - u->crowd / CROWD_SCALE;
    uint32_t enough = MIN(CROWD_MAX * CROWD_SCALE, u->sm_count * CROWD_SCALE / 2);
    u->is_together = u->crowd >= (u->is_together ? enough - enough / 8 : enough);
}

static void call_crew(struct units *u)
{
    const struct order *o = &u->order;
    mask_clear(u->called, u->member_words);
    for (uint32_t i = 0; i < u->member_count; i++) {
        const struct member *m = &u->members[i];
        if (mask_meets(o->sms, m->own_sms, u->sm_words) || mask_meets(o->parts, m->own_parts, u->part_words))
            mask_add(u->called, i);
    }
    crew_round(u->crew, u->called);
}

/* ---- its end ---- */

static void commit_sm(struct units *u, uint32_t i)
{
    struct timed_gpu *g = u->gpu;
    struct unit *x = &u->sms[i];
    bool ok = emu_log_is_empty(u->logs[i]) || emu_log_apply(u->logs[i]);
    g->has_fault |= !ok || sm_faulted(x->sm);
    sm_end_ctas(x->sm);
    x->news = 0;
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

/* What a member tells of its units. */
static void take_report(struct units *u, struct member *m)
{
    wake_at(xbar_wake(u->gpu->xbar), m->xbar_wake);
    m->xbar_wake = TICK_NEVER;
    wakes_take(&u->sm_wakes, &m->sm_turns);
    wakes_take(&u->part_wakes, &m->part_turns);
    if (!m->has_news) return;
    mask_move(u->sm_news, m->sm_news, u->sm_words);
    mask_move(u->part_news, m->part_news, u->part_words);
    m->has_news = false;
    u->has_news = true;
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
}

/* ---- a step ---- */

static void work_together(struct units *u)
{
    call_crew(u);
    for (uint32_t i = 0; i < u->member_count; i++) take_report(u, &u->members[i]);
}

static void work_alone(struct units *u)
{
    work(u, u->alone);
    take_report(u, u->alone);
}

void units_step(struct timed_gpu *g)
{
    struct units *u = g->units;
    give_order(u);
    if (u->crew && g->edges[DOMAIN_CORE] == g->now) count_crowd(u);
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
        wakes_lower(&u->part_wakes, i, part_wake(u, i));
        mask_add(u->part_news, i);
        u->has_news = true;
    }
    if (u->dram_first < g->now) u->dram_first = clock_edge(&g->clock.domains[DOMAIN_DRAM], g->now);
}
