/* units_step.c: the units of a step: who has something to do, on which thread, and what comes of it.
 *
 * A step in which few SMs are awake is done by the caller alone: calling the others costs as much as a handful of SMs. Which of the two it
 * is follows the average, not the single step: an SM that changes cores takes its whole state along. */
#include "core/units_impl.h"

enum {
    CROWD_SCALE = 32, /* steps that the average number of SMs awake goes back */
    CROWD_MAX =
        8, /* SMs awake on average from which on the crew is called; of a small machine half of its SMs */
    NOTES_WORDS = 4, /* of eight notes, looked at together; their arrays are padded to whole lines of them */
    FEW_EDGES = 4    /* counting them is cheaper than a division */
};

/* ---- when ---- */

tick units_sm_wake(const struct timed_gpu *g) { return wakes_least(&g->units->sm_wakes); }
tick units_l2_wake(const struct timed_gpu *g) { return wakes_least(&g->units->l2_wakes); }

/* The edge at which a channel with this wake has its next turn. */
static tick dram_edge(const struct units *u, tick wake)
{
    if (wake <= u->dram_first) return u->dram_first;
    return wake == TICK_NEVER ? TICK_NEVER : clock_edge(&u->gpu->clock.domains[DOMAIN_DRAM], wake);
}

tick units_dram_edge(const struct timed_gpu *g)
{
    return dram_edge(g->units, wakes_least(&g->units->dram_wakes));
}

static tick slices_wake(const struct units *u, uint32_t part)
{
    tick *const *wakes = u->gpu->slice_wakes + part * u->per_part, least = TICK_NEVER;
    for (uint32_t i = 0; i < u->per_part; i++) least = MIN(least, *wakes[i]);
    return least;
}

static void hear_all(struct units *u)
{
    for (uint32_t i = 0; i < u->sm_count; i++) wakes_lower(&u->sm_wakes, i, u->sms[i].wake);
    for (uint32_t i = 0; i < u->part_count; i++) {
        wakes_lower(&u->l2_wakes, i, slices_wake(u, i));
        wakes_lower(&u->dram_wakes, i, *u->gpu->channel_wakes[i]);
    }
}

/* A line of notes, which are torn off; false: there is none. Each is a byte, 0 or 1. */
static bool take_notes(uint8_t *notes, uint64_t *words)
{
    enum { LINE = NOTES_WORDS * sizeof *words };
    memcpy(words, notes, LINE);
    if (!(words[0] | words[1] | words[2] | words[3])) return false;
    memset(notes, 0, LINE);
    return true;
}

/* Each that has a note, in order. */
#define FOR_NOTES(i, notes, count)                                                                           \
    for (uint64_t l_ = 0, words_[NOTES_WORDS]; l_ < (count); l_ += 8 * NOTES_WORDS)                          \
        for (uint32_t w_ = take_notes((notes) + l_, words_) ? 0 : NOTES_WORDS; w_ < NOTES_WORDS; w_++)       \
            for (uint64_t m_ = words_[w_], i;                                                                \
                 m_ && (i = l_ + 8 * w_ + (uint32_t)__builtin_ctzll(m_) / 8, true); m_ &= m_ - 1)

void units_hear(struct timed_gpu *g)
{
    struct units *u = g->units;
    FOR_NOTES(i, u->sm_notes, u->sm_count) wakes_lower(&u->sm_wakes, (uint32_t)i, u->sms[i].wake);
    FOR_NOTES(i, u->part_notes, u->part_count)
    wakes_lower(&u->l2_wakes, (uint32_t)i, slices_wake(u, (uint32_t)i));
}

void units_tell_sm(struct timed_gpu *g, uint32_t sm)
{
    struct units *u = g->units;
    wake_at(&u->sms[sm].wake, g->now);
    wakes_lower(&u->sm_wakes, sm, g->now);
    mask_add(u->sm_early, sm);
    u->any_early = true;
}

/* ---- a member's part ---- */

/* The end of the step has to see to its part of the pool: it has fewer than `low` spare requests, or more than 8 times that. */
static bool is_unbalanced(const struct unit *x, uint32_t low) { return x->pool.spare - low > 7 * low; }

static void work_on_sm(struct units *u, struct member *m, uint32_t i, tick now)
{
    struct sm *sm = u->gpu->sms[i];
    struct unit *x = &u->sms[i];
    sm_cycle(sm, now);
    m->sm_at[i] = x->wake;
    m->xbar_wake = MIN(m->xbar_wake, x->xbar_wake);
    x->xbar_wake = TICK_NEVER;
    if (emu_log_is_empty(u->logs[i]) && !sm_has_ended_ctas(sm) && !sm_faulted(sm) &&
        !is_unbalanced(x, NEW_PER_SM))
        return;
    mask_add(m->sms, i);
    m->any_sms = true;
}

/* Edges of a channel from `first` on, before `end`. */
static void run_channel(struct units *u, uint32_t part, tick first, tick end)
{
    struct timed_gpu *g = u->gpu;
    const struct clock_domain *clock = &g->clock.domains[DOMAIN_DRAM];
    const tick *wake = g->channel_wakes[part];
    for (tick edge = first; *wake < end; edge += clock->period) {
        if (*wake > edge) edge = clock_edge(clock, *wake);
        if (edge >= end) return;
        dram_tick(g->channels[part], edge);
    }
}

static void tick_slices(struct units *u, uint32_t part, tick now)
{
    struct timed_gpu *g = u->gpu;
    const uint32_t first = part * u->per_part, count = u->per_part;
    tick *const *wakes = g->slice_wakes + first;
    for (uint32_t i = 0; i < count; i++)
        if (*wakes[i] <= now || g->no_skip) l2_tick(g->slices[first + i], now);
}

static void work_on_part(struct units *u, struct member *m, uint32_t i)
{
    struct timed_gpu *g = u->gpu;
    const struct order *o = &u->order;
    struct unit *x = &u->parts[i];
    bool is_dram = o->dram_last == o->now;
    if (o->dram_first < o->now) run_channel(u, i, o->dram_first, o->now);
    if (o->is_l2) tick_slices(u, i, o->now);
    if (is_dram && (g->no_skip || *g->channel_wakes[i] <= o->now)) dram_tick(g->channels[i], o->now);
    m->l2_at[i] = slices_wake(u, i);
    m->dram_at[i] = *g->channel_wakes[i];
    m->xbar_wake = MIN(m->xbar_wake, x->xbar_wake);
    x->xbar_wake = TICK_NEVER;
    if (!x->atomic_count && !is_unbalanced(x, NEW_PER_SLICE * u->per_part)) return;
    mask_add(m->parts, i);
    m->any_parts = true;
}

void units_work(void *units, uint32_t number)
{
    struct units *u = units;
    struct member *m = &u->members[number];
    const struct order *o = &u->order;
    const tick now = o->now;
    for (uint32_t w = 0; w < u->sm_words; w++)
        for (uint64_t mask = o->sms[w] & m->own_sms[w]; mask; mask &= mask - 1)
            work_on_sm(u, m, w * 64 + (uint32_t)__builtin_ctzll(mask), now);
    FOR_BOTH(i, o->parts, m->own_parts, u->part_words) work_on_part(u, m, (uint32_t)i);
}

/* ---- the order of the step ---- */

static void order_all(uint64_t *mask, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) mask_add(mask, i);
}

/* DRAM edges up to now that have not had their turn. */
static void order_edges(struct units *u)
{
    struct order *o = &u->order;
    const tick period = u->gpu->clock.domains[DOMAIN_DRAM].period;
    o->dram_first = u->dram_first;
    if (u->dram_first + FEW_EDGES * period <= o->now) u->dram_first = o->now - o->now % period;
    while (u->dram_first <= o->now) u->dram_first += period;
    o->dram_last = u->dram_first - period;
}

/* Partitions with a slice or a channel whose time has come. */
static void order_parts(struct units *u)
{
    struct order *o = &u->order;
    order_edges(u);
    if (o->dram_first <= o->dram_last) wakes_due(&u->dram_wakes, o->dram_last, o->parts);
    if (o->is_l2) wakes_due(&u->l2_wakes, o->now, o->parts);
    if (u->gpu->no_skip) order_all(o->parts, u->part_count);
    u->l2_wakes.horizon = loop_edge_after(u->gpu, DOMAIN_L2);
}

/* The masks are empty, and are so again after take_reports. */
static void give_order(struct units *u)
{
    struct timed_gpu *g = u->gpu;
    struct order *o = &u->order;
    o->now = g->now;
    o->is_l2 = g->edges[DOMAIN_L2] == g->now;
    if (o->is_l2 || g->edges[DOMAIN_DRAM] == g->now) order_parts(u);
    if (g->edges[DOMAIN_CORE] != g->now) return;
    wakes_due(&u->sm_wakes, o->now, o->sms);
    u->sm_wakes.horizon = loop_edge_after(g, DOMAIN_CORE);
    if (g->no_skip) order_all(o->sms, u->sm_count);
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
    g->has_fault |= !ok || sm_faulted(g->sms[i]);
    sm_end_ctas(g->sms[i]);
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
        sm_apply_atomic(u->gpu->sms[x->atomics[k].sm], &x->atomics[k]);
    x->atomic_count = 0;
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

/* What the members tell of their units; the order is carried out. */
static void take_reports(struct units *u)
{
    struct order *o = &u->order;
    for (uint32_t k = 0; k < u->member_count; k++) {
        wake_at(xbar_wake(u->gpu->xbar), u->members[k].xbar_wake);
        u->members[k].xbar_wake = TICK_NEVER;
    }
    for (uint32_t w = 0; w < u->sm_words; w++) {
        if (!o->sms[w]) continue;
        for (uint32_t k = 0; k < u->member_count; k++)
            wakes_set(&u->sm_wakes, w, o->sms[w] & u->members[k].own_sms[w], u->members[k].sm_at);
        o->sms[w] = 0;
    }
    for (uint32_t w = 0; w < u->part_words; w++) {
        if (!o->parts[w]) continue;
        for (uint32_t k = 0; k < u->member_count; k++) {
            const struct member *m = &u->members[k];
            wakes_set(&u->l2_wakes, w, o->parts[w] & m->own_parts[w], m->l2_at);
            wakes_set(&u->dram_wakes, w, o->parts[w] & m->own_parts[w], m->dram_at);
        }
        o->parts[w] = 0;
    }
}

static void commit(struct units *u)
{
    const struct req *items = u->gpu->pool.items;
    for (uint32_t k = 0; k < u->member_count; k++) {
        struct member *m = &u->members[k];
        if (!m->any_sms) continue;
        FOR_MASK(i, m->sms, u->sm_words) commit_sm(u, (uint32_t)i);
        mask_clear(m->sms, u->sm_words);
        m->any_sms = false;
    }
    for (uint32_t k = 0; k < u->member_count; k++) {
        struct member *m = &u->members[k];
        if (!m->any_parts) continue;
        FOR_MASK(i, m->parts, u->part_words) commit_part(u, (uint32_t)i);
        mask_clear(m->parts, u->part_words);
        m->any_parts = false;
    }
    follow_items(u, items);
}

static void commit_early(struct units *u)
{
    const struct req *items = u->gpu->pool.items;
    FOR_MASK(i, u->sm_early, u->sm_words) commit_sm(u, (uint32_t)i);
    FOR_MASK(i, u->part_early, u->part_words) commit_part(u, (uint32_t)i);
    mask_clear(u->sm_early, u->sm_words);
    mask_clear(u->part_early, u->part_words);
    u->any_early = false;
    follow_items(u, items);
}

void units_tell_all(struct timed_gpu *g)
{
    struct units *u = g->units;
    order_all(u->sm_early, u->sm_count);
    order_all(u->part_early, u->part_count);
    u->any_early = true;
    hear_all(u);
}

void units_commit_all(struct timed_gpu *g)
{
    units_tell_all(g);
    commit_early(g->units);
}

void units_step(struct timed_gpu *g)
{
    struct units *u = g->units;
    give_order(u);
    if (u->crew && g->edges[DOMAIN_CORE] == g->now) count_crowd(u);
    if (u->is_together)
        call_crew(u);
    else
        for (uint32_t i = 0; i < u->member_count; i++) units_work(u, i);
    take_reports(u);
    commit(u);
    if (u->any_early) commit_early(u);
    if (u->is_talkative) hear_all(u);
}

void units_catch_up(struct timed_gpu *g)
{
    struct units *u = g->units;
    for (uint32_t i = 0; i < u->part_count; i++) {
        if (dram_edge(u, *g->channel_wakes[i]) >= g->now) continue;
        run_channel(u, i, u->dram_first, g->now);
        wakes_lower(&u->dram_wakes, i, *g->channel_wakes[i]);
        wakes_lower(&u->l2_wakes, i, slices_wake(u, i));
        mask_add(u->part_early, i);
        u->any_early = true;
    }
    if (u->dram_first < g->now) u->dram_first = clock_edge(&g->clock.domains[DOMAIN_DRAM], g->now);
}
