/* units.c: the units of a step on the members of a crew: see units.h.
 *
 * Each member has a range of SMs and a range of partitions, so that going through the members' lists in order is going through
 * the units in order, and what it writes lies together. A step with few SMs awake is done by the caller alone: waking the others costs
 * as much as a handful of SMs. */
#include "core/units.h"

#include "core/crew.h"
#include "core/timed_impl.h"

enum {
    NEW_PER_SM = 16,    /* requests that an SM makes in a step, at most */
    NEW_PER_SLICE = 16, /* the same for an L2 slice */
    ALONE_MAX = 3       /* SMs awake for which the crew is not called */
};

struct member {
    _Alignas(UNITS_LINE) uint32_t sm_from, sm_to, channel_from, channel_to;
    tick xbar_wake; /* the least of its units in this step */
    uint32_t sm_count, channel_count;
    uint32_t *sms, *channels; /* units that have written something down */
};

struct units {
    struct timed_gpu *gpu;
    uint32_t sm_count, channel_count, per_channel;
    struct unit *sms, *channels;
    struct emu_log **logs;
    struct crew *crew; /* NULL: the caller alone */
    uint32_t member_count;
    struct member *members;
};

static void *zalloc_lines(size_t bytes)
{
    void *p = aligned_alloc(UNITS_LINE, round_up_u64(bytes, UNITS_LINE));
    if (!p) UNREACHABLE("memory for the units of a machine");
    memset(p, 0, bytes);
    return p;
}

/* ---- life ---- */

static struct unit *make_units(const struct req_pool *pool, uint32_t count)
{
    struct unit *list = zalloc_lines(sizeof *list * count);
    for (uint32_t i = 0; i < count; i++) {
        req_part_init(&list[i].pool, pool);
        list[i].xbar_wake = TICK_NEVER;
    }
    return list;
}

static void make_members(struct units *u, uint32_t count)
{
    u->member_count = count;
    u->members = zalloc_lines(sizeof *u->members * count);
    for (uint32_t i = 0; i < count; i++) {
        struct member *m = &u->members[i];
        m->sm_from = u->sm_count * i / count;
        m->sm_to = u->sm_count * (i + 1) / count;
        m->channel_from = u->channel_count * i / count;
        m->channel_to = u->channel_count * (i + 1) / count;
        m->sms = mem_zalloc(sizeof *m->sms * (m->sm_to - m->sm_from + 1));
        m->channels = mem_zalloc(sizeof *m->channels * (m->channel_to - m->channel_from + 1));
        m->xbar_wake = TICK_NEVER;
    }
}

static void free_members(struct units *u)
{
    for (uint32_t i = 0; i < u->member_count; i++) {
        free(u->members[i].sms);
        free(u->members[i].channels);
    }
    free(u->members);
}

struct units *units_create(struct timed_gpu *g)
{
    struct units *u = mem_zalloc(sizeof *u);
    u->gpu = g;
    u->sm_count = g->sm_count;
    u->channel_count = g->channel_count;
    u->per_channel = g->slice_count / g->channel_count;
    u->sms = make_units(&g->pool, u->sm_count);
    u->channels = make_units(&g->pool, u->channel_count);
    u->logs = mem_zalloc(sizeof *u->logs * u->sm_count);
    for (uint32_t i = 0; i < u->sm_count; i++) u->logs[i] = emu_log_create();
    make_members(u, 1);
    return u;
}

void units_destroy(struct units *u)
{
    if (!u) return;
    crew_destroy(u->crew);
    free_members(u);
    for (uint32_t i = 0; i < u->sm_count; i++) emu_log_destroy(u->logs[i]);
    for (uint32_t i = 0; i < u->channel_count; i++) free(u->channels[i].atomics);
    free(u->logs);
    free(u->sms);
    free(u->channels);
    free(u);
}

struct unit *units_sm(struct units *u, uint32_t sm) { return &u->sms[sm]; }
struct unit *units_channel(struct units *u, uint32_t channel) { return &u->channels[channel]; }
struct emu_log *const *units_logs(const struct units *u) { return u->logs; }

/* ---- a step ---- */

/* True: the end of the step has something to do for it. */
static bool has_written(const struct unit *x, uint32_t low)
{
    return x->atomic_count || x->pool.spare < low || x->pool.spare > 8 * low;
}

static void member_sms(struct units *u, struct member *m, tick now)
{
    struct timed_gpu *g = u->gpu;
    for (uint32_t i = m->sm_from; i < m->sm_to; i++) {
        if (!g->no_skip && g->sm_wakes[i] > now) continue;
        sm_cycle(g->sms[i], now);
        m->xbar_wake = MIN(m->xbar_wake, u->sms[i].xbar_wake);
        u->sms[i].xbar_wake = TICK_NEVER;
        if (!emu_log_is_empty(u->logs[i]) || sm_has_ended_ctas(g->sms[i]) || sm_faulted(g->sms[i]) ||
            has_written(&u->sms[i], NEW_PER_SM))
            m->sms[m->sm_count++] = i;
    }
}

static bool tick_slices(struct units *u, uint32_t channel, tick now)
{
    struct timed_gpu *g = u->gpu;
    bool any = false;
    for (uint32_t i = channel * u->per_channel; i < (channel + 1) * u->per_channel; i++) {
        if (!g->no_skip && *g->slice_wakes[i] > now) continue;
        l2_tick(g->slices[i], now);
        any = true;
    }
    return any;
}

static void member_channels(struct units *u, struct member *m, tick now)
{
    struct timed_gpu *g = u->gpu;
    bool is_l2 = g->edges[DOMAIN_L2] == now, is_dram = g->edges[DOMAIN_DRAM] == now;
    for (uint32_t i = m->channel_from; i < m->channel_to; i++) {
        bool any = is_l2 && tick_slices(u, i, now);
        if (is_dram && (g->no_skip || *g->channel_wakes[i] <= now)) {
            dram_tick(g->channels[i], now);
            any = true;
        }
        if (!any) continue;
        m->xbar_wake = MIN(m->xbar_wake, u->channels[i].xbar_wake);
        u->channels[i].xbar_wake = TICK_NEVER;
        if (has_written(&u->channels[i], NEW_PER_SLICE * u->per_channel)) m->channels[m->channel_count++] = i;
    }
}

static void member_work(void *units, uint32_t number)
{
    struct units *u = units;
    struct member *m = &u->members[number];
    tick now = u->gpu->now;
    if (u->gpu->edges[DOMAIN_CORE] == now) member_sms(u, m, now);
    if (u->gpu->edges[DOMAIN_L2] == now || u->gpu->edges[DOMAIN_DRAM] == now) member_channels(u, m, now);
}

bool units_hire(struct units *u, uint32_t threads)
{
    threads = MIN(threads, u->sm_count);
    if (threads <= 1) return true;
    free_members(u);
    make_members(u, threads);
    u->crew = crew_create(threads, member_work, u);
    return u->crew != NULL;
}

/* ---- its end ---- */

static void commit_sm(struct units *u, uint32_t i)
{
    struct timed_gpu *g = u->gpu;
    bool ok = emu_log_is_empty(u->logs[i]) || emu_log_apply(u->logs[i]);
    g->has_fault |= !ok || sm_faulted(g->sms[i]);
    sm_end_ctas(g->sms[i]);
    req_part_balance(&u->sms[i].pool, &g->pool, NEW_PER_SM);
}

/* Atomics happen in the order in which they came to the slice; slices in the order of their numbers. */
static void commit_channel(struct units *u, uint32_t i)
{
    struct unit *x = &u->channels[i];
    for (uint32_t k = 0; k < x->atomic_count; k++)
        sm_apply_atomic(u->gpu->sms[x->atomics[k].sm], &x->atomics[k]);
    x->atomic_count = 0;
    req_part_balance(&x->pool, &u->gpu->pool, NEW_PER_SLICE * u->per_channel);
}

/* The pool's items may have moved. */
static void follow_items(struct units *u, const struct req *before)
{
    const struct req_pool *p = &u->gpu->pool;
    if (p->items == before) return;
    for (uint32_t i = 0; i < u->sm_count + u->channel_count; i++) {
        struct req_pool *part = i < u->sm_count ? &u->sms[i].pool : &u->channels[i - u->sm_count].pool;
        part->items = p->items;
        part->cap = part->fresh = p->cap;
    }
}

static void commit(struct units *u)
{
    const struct req *items = u->gpu->pool.items;
    tick xbar = TICK_NEVER;
    for (uint32_t k = 0; k < u->member_count; k++) {
        struct member *m = &u->members[k];
        xbar = MIN(xbar, m->xbar_wake);
        m->xbar_wake = TICK_NEVER;
        for (uint32_t i = 0; i < m->sm_count; i++) commit_sm(u, m->sms[i]);
        m->sm_count = 0;
    }
    for (uint32_t k = 0; k < u->member_count; k++) {
        struct member *m = &u->members[k];
        for (uint32_t i = 0; i < m->channel_count; i++) commit_channel(u, m->channels[i]);
        m->channel_count = 0;
    }
    wake_at(xbar_wake(u->gpu->xbar), xbar);
    follow_items(u, items);
}

void units_commit_all(struct timed_gpu *g)
{
    struct units *u = g->units;
    const struct req *items = g->pool.items;
    for (uint32_t i = 0; i < u->sm_count; i++) {
        commit_sm(u, i);
        wake_at(xbar_wake(g->xbar), u->sms[i].xbar_wake);
        u->sms[i].xbar_wake = TICK_NEVER;
    }
    for (uint32_t i = 0; i < u->channel_count; i++) {
        commit_channel(u, i);
        wake_at(xbar_wake(g->xbar), u->channels[i].xbar_wake);
        u->channels[i].xbar_wake = TICK_NEVER;
    }
    follow_items(u, items);
}

static bool is_worth_the_crew(const struct timed_gpu *g)
{
    if (g->edges[DOMAIN_CORE] != g->now) return false;
    if (g->no_skip) return true;
    uint32_t awake = 0;
    for (uint32_t i = 0; i < g->sm_count; i++) awake += g->sm_wakes[i] <= g->now;
    return awake > ALONE_MAX;
}

void units_step(struct timed_gpu *g)
{
    struct units *u = g->units;
    if (u->crew && is_worth_the_crew(g))
        crew_round(u->crew);
    else
        for (uint32_t i = 0; i < u->member_count; i++) member_work(u, i);
    commit(u);
    if (!g->ran_early) return;
    g->ran_early = false;
    units_commit_all(g);
}

/* ---- sums ---- */

static const struct req_pool *part_at(const struct units *u, uint32_t i)
{
    return i < u->sm_count ? &u->sms[i].pool : &u->channels[i - u->sm_count].pool;
}

uint32_t units_requests_live(const struct timed_gpu *g)
{
    uint32_t live = 0; /* parts may be below zero: the sum wraps back */
    for (uint32_t i = 0; i < g->units->sm_count + g->units->channel_count; i++)
        live += part_at(g->units, i)->live;
    return live;
}

uint64_t units_requests_made(const struct timed_gpu *g)
{
    uint64_t made = 0;
    for (uint32_t i = 0; i < g->units->sm_count + g->units->channel_count; i++)
        made += part_at(g->units, i)->made;
    return made;
}

struct req_owner units_owner(const struct timed_gpu *g, uint32_t place)
{
    struct req_owner sum = {0};
    for (uint32_t i = 0; i < g->units->sm_count + g->units->channel_count; i++) {
        sum.made += part_at(g->units, i)->owners[place].made;
        sum.live += part_at(g->units, i)->owners[place].live;
    }
    return sum;
}

void units_owner_clear(struct timed_gpu *g, uint32_t place)
{
    for (uint32_t i = 0; i < g->units->sm_count; i++)
        g->units->sms[i].pool.owners[place] = (struct req_owner){0};
    for (uint32_t i = 0; i < g->units->channel_count; i++)
        g->units->channels[i].pool.owners[place] = (struct req_owner){0};
}
