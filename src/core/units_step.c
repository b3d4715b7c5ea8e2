/* units_step.c: the units of a step: who has something to do, and what comes of it. units_crew.c says on which thread. */
#include "core/units_impl.h"

enum {
    FEW_EDGES = 4,   /* counting them is cheaper than a division */
    FEW_NOTES = 2,   /* words of them: reading is as quick as asking whether there is one; more fill a line */
    AHEAD_CYCLES = 8 /* that an SM runs on by itself, at most */
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

static tick part_wake(const struct units *u, uint32_t part)
{
    return MIN(slices_wake(u, part), u->parts[part].wake);
}

/* The channel's edges can wait for those of the slices. */
static void hear_part(struct units *u, uint32_t part)
{
    wakes_lower(&u->part_wakes, part, part_wake(u, part));
}

static void hear_all(struct units *u)
{
    for (uint32_t i = 0; i < u->sm_count; i++) wakes_lower(&u->sm_wakes, i, u->sms[i].wake);
    for (uint32_t i = 0; i < u->part_count; i++) hear_part(u, i);
}

/* Notes of up to 64 units, in so many words, as a mask; they are torn off. A note is a byte, 0 or 1. */
static uint64_t take_notes(uint64_t *notes, uint32_t words)
{
    uint64_t mask = 0;
    if (words > FEW_NOTES &&
        !(notes[0] | notes[1] | notes[2] | notes[3] | notes[4] | notes[5] | notes[6] | notes[7]))
        return 0; /* what idle SMs cost */
    for (uint32_t w = 0; w < words; w++) {
        mask |= notes[w] * 0x0102040810204080 >> 56 << 8 * w; /* byte i becomes bit i */
        notes[w] = 0;
    }
    return mask;
}

/* Who has its turn at the next edge anyway looks at its links then. */
void units_hear(struct timed_gpu *g)
{
    struct units *u = g->units;
    for (uint32_t k = 0; k < u->sm_words; k++) {
        uint64_t heard = take_notes(u->sm_notes + 8 * k, MIN(u->sm_note_words - 8 * k, 8));
        for (heard &= ~wakes_soon(&u->sm_wakes, k); heard; heard &= heard - 1) {
            const uint32_t i = 64 * k + (uint32_t)__builtin_ctzll(heard);
            wakes_lower(&u->sm_wakes, i, sm_heard(u->sms[i].sm));
        }
    }
    for (uint32_t k = 0; k < u->part_words; k++) {
        uint64_t heard = take_notes(u->part_notes + 8 * k, MIN(u->part_note_words - 8 * k, 8));
        for (heard &= ~wakes_soon(&u->part_wakes, k); heard; heard &= heard - 1)
            hear_part(u, 64 * k + (uint32_t)__builtin_ctzll(heard));
    }
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
static void report(tick horizon, struct turns *turns, struct unit *x, uint32_t i, tick t, uint32_t low)
{
    wakes_tell(horizon, &turns->wakes, i, t);
    turns->xbar_wake = MIN(turns->xbar_wake, x->xbar_wake);
    x->xbar_wake = TICK_NEVER;
    if (UNLIKELY(x->news || is_unbalanced(x, low))) turns->news |= (uint64_t)1 << (i % 64);
}

static void work_on_sm(struct units *u, struct turns *turns, uint32_t i, tick now)
{
    struct unit *x = &u->sms[i];
    sm_cycle(x->sm, now);
    if (u->order->window.end > now) {
        sm_run_ahead(x->sm, &u->order->window, u->xbar);
        if (UNLIKELY(u->crew != NULL) && !u->is_together) units_count_run(u, sm_awaits_step(x->sm));
    }
    report(u->order->sm_horizon, turns, x, i, x->wake, NEW_PER_SM);
}

static void tick_channel(struct unit *x, tick now)
{
    x->wake = TICK_NEVER;
    dram_tick(x->channel, now);
    wake_at(&x->wake, *dram_wake(x->channel));
}

/* Edges of a channel from `first` on, before `end`. */
static void run_channel(const struct units *u, struct unit *x, tick first, tick end)
{
    const struct clock_domain *clock = &u->dram_clock;
    for (tick edge = first; x->wake < end; edge += clock->period) {
        if (x->wake > edge) edge = clock_edge(clock, x->wake);
        if (edge >= end) return;
        tick_channel(x, edge);
    }
}

/* The slices of a partition; when they want to run again. */
static tick tick_slices(const struct units *u, uint32_t part, tick now)
{
    struct slice_turn *turn = &u->turns[part * u->turn_stride];
    tick least = TICK_NEVER;
    uint32_t left = u->per_part;
    do {
        if (turn->wake <= now || u->order->no_skip) {
            turn->wake = TICK_NEVER;
            l2_tick(turn->slice,
                    now); /* of its partition it wakes itself, by a link that refuses, and the channel */
            wake_at(&turn->wake, *l2_wake(turn->slice));
        }
        wake_at(&least, turn->wake);
        turn++;
    } while (--left);
    return least;
}

/* A step that is an edge of the channel, or of no slice. When the slices want to run again. */
COLD static tick tick_edge(struct units *u, uint32_t part)
{
    const struct order *o = u->order;
    struct unit *x = &u->parts[part];
    if (o->is_dram && (x->wake <= o->now || o->no_skip)) tick_channel(x, o->now);
    return slices_wake(u, part);
}

static struct turns no_turns(tick *at)
{
    return (struct turns){.xbar_wake = TICK_NEVER, .wakes = {.at = at}};
}

/* SMs of word w. */
static void work_on_sms(struct units *u, struct turns *turns, uint32_t w, uint64_t mask)
{
    const tick now = u->order->now;
    for (; mask; mask &= mask - 1) work_on_sm(u, turns, w * 64 + (uint32_t)__builtin_ctzll(mask), now);
}

/* Partitions of word w: DRAM edges since the last step, then the slices. */
static void work_on_parts(struct units *u, struct turns *turns, uint32_t w, uint64_t mask)
{
    const struct order *o = u->order;
    const bool is_plain = o->is_l2 && !o->is_dram;
    for (; mask; mask &= mask - 1) {
        const uint32_t i = w * 64 + (uint32_t)__builtin_ctzll(mask);
        struct unit *x = &u->parts[i];
        if (x->wake < o->now) run_channel(u, x, o->dram_first, o->now);
        tick slices = LIKELY(o->is_l2) ? tick_slices(u, i, o->now) : TICK_NEVER;
        if (UNLIKELY(!is_plain)) slices = tick_edge(u, i);
        report(o->part_horizon, turns, x, i, MIN(slices, x->wake), u->part_low);
    }
}

/* Turns are gathered apart from the report: the caller may look at that already. */
void units_work(void *units, uint32_t number)
{
    struct units *u = units;
    const struct member *m = &u->members[number];
    units_open(u, m);
    for (uint32_t w = 0; w < u->sm_words; w++) {
        struct turns turns = no_turns(m->times.sms);
        work_on_sms(u, &turns, w, u->order->sms[w] & m->own_sms[w]);
        m->report[w] = turns;
    }
    for (uint32_t w = 0; w < u->part_words; w++) {
        struct turns turns = no_turns(m->times.parts);
        for (uint64_t part; (part = units_claim(u, m, w));) work_on_parts(u, &turns, w, part);
        m->report[u->sm_words + w] = turns;
    }
}

/* ---- the order of the step ---- */

/* DRAM edges up to now that have not had their turn. */
static void order_edges(struct units *u, struct order *o)
{
    const tick period = u->dram_clock.period;
    o->dram_first = u->dram_first;
    if (u->dram_first + FEW_EDGES * period <= o->now) u->dram_first = o->now - o->now % period;
    while (u->dram_first <= o->now) u->dram_first += period;
    o->is_dram = o->dram_first <= o->now && u->dram_first - period == o->now;
}

/* At an L2 edge the partitions whose time has come; while a kernel drains its channels have their turn at each edge of theirs. */
static void order_parts(struct units *u, struct order *o)
{
    order_edges(u, o);
    if (LIKELY(o->is_l2)) o->has_parts = wakes_due(&u->part_wakes, o->now, o->parts);
    if (LIKELY(o->is_l2 && !o->no_skip)) return;
    wakes_due_all(&u->part_wakes, loop_edge_after(u->gpu, DOMAIN_L2), o->parts);
    o->has_parts = true;
}

/* How far SMs may run on by themselves: not to where the dispatcher or a sample looks at them. */
static void order_window(struct units *u, struct sm_window *w)
{
    const struct timed_gpu *g = u->gpu;
    w->end = 0;
    if (!g->runs_ahead || u->is_talkative || !units_may_run_ahead(u)) return;
    const tick span = AHEAD_CYCLES * (tick)g->clock.domains[DOMAIN_CORE].period;
    const tick end = g->now + span - (u->is_together ? g->now % span : 0); /* a crew's SMs meet again */
    w->end = MIN(end, MIN(g->dispatch.wake, g->next_sample));
    w->edge = loop_edge_after(g, DOMAIN_XBAR);
}

static void order_sms(struct units *u, struct order *o)
{
    o->has_sms = wakes_due(&u->sm_wakes, o->now, o->sms);
    if (UNLIKELY(o->no_skip)) {
        wakes_due_all(&u->sm_wakes, u->sm_wakes.ruler.horizon, o->sms);
        o->has_sms = true;
    }
    o->sm_horizon = u->sm_wakes.ruler.horizon;
    order_window(u, &o->window);
}

/* The last step's masks; not at its end, for members look at the line of the order already. */
static void forget_order(const struct units *u, struct order *o)
{
    if (o->has_sms) mask_clear(o->sms, u->sm_words);
    if (o->has_parts) mask_clear(o->parts, u->part_words);
    o->has_sms = o->has_parts = false;
}

static void give_order(struct units *u)
{
    const struct timed_gpu *g = u->gpu;
    struct order *o = u->order;
    forget_order(u, o);
    o->now = g->now;
    o->is_l2 = g->edges[DOMAIN_L2] == g->now;
    if (o->is_l2 || ((g->dispatch.draining || o->no_skip) && g->edges[DOMAIN_DRAM] == g->now))
        order_parts(u, o);
    o->part_horizon = u->part_wakes.ruler.horizon;
    if (g->edges[DOMAIN_CORE] == g->now) order_sms(u, o);
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
    wake_at(xbar_wake(u->xbar), x->xbar_wake);
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

/* What came of turns of word k. */
static inline void take_turns(struct units *u, struct wakes *w, uint64_t *news, uint32_t k,
                              const struct turns *t)
{
    wake_at(xbar_wake(u->xbar), t->xbar_wake);
    wakes_take(w, k, &t->wakes);
    news[k] |= t->news;
    u->has_news |= t->news != 0;
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
    const uint32_t called = units_call(u);
    for (uint32_t i = 0; i < u->member_count; i++) {
        if (!crew_is_called(called, i)) continue;
        const struct turns *t = u->members[i].report;
        for (uint32_t w = 0; w < u->sm_words; w++) take_turns(u, &u->sm_wakes, u->sm_news, w, t++);
        for (uint32_t w = 0; w < u->part_words; w++) take_turns(u, &u->part_wakes, u->part_news, w, t++);
    }
}

static void work_alone(struct units *u)
{
    const struct order *o = u->order;
    for (uint32_t w = 0; o->has_sms && w < u->sm_words; w++) {
        if (!o->sms[w]) continue;
        struct turns turns = no_turns(u->times.sms);
        work_on_sms(u, &turns, w, o->sms[w]);
        take_turns(u, &u->sm_wakes, u->sm_news, w, &turns);
    }
    for (uint32_t w = 0; o->has_parts && w < u->part_words; w++) {
        if (!o->parts[w]) continue;
        struct turns turns = no_turns(u->times.parts);
        work_on_parts(u, &turns, w, o->parts[w]);
        take_turns(u, &u->part_wakes, u->part_news, w, &turns);
    }
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
    if (u->has_news) commit(u);
    if (u->is_talkative) hear_all(u);
}

void units_catch_up(struct timed_gpu *g)
{
    struct units *u = g->units;
    for (uint32_t i = 0; i < u->part_count; i++) {
        if (dram_edge(u, u->parts[i].wake) >= g->now) continue;
        run_channel(u, &u->parts[i], u->dram_first, g->now);
        hear_part(u, i);
        mask_add(u->part_news, i);
        u->has_news = true;
    }
    if (u->dram_first < g->now) u->dram_first = clock_edge(&g->clock.domains[DOMAIN_DRAM], g->now);
}
