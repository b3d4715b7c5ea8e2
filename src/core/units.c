/* units.c: the life of the units of a machine, and sums over them: see units.h.
 *
 * Each member of the crew has a range of SMs and a range of partitions for good: what it works on stays in the cache of its core. */
#include "core/units_impl.h"

#include "mem/link.h"

static void *zalloc_lines(size_t bytes)
{
    bytes = round_up_u64(bytes, UNITS_LINE);
    void *p = aligned_alloc(UNITS_LINE, bytes);
    if (!p) UNREACHABLE("memory for the units of a machine");
    memset(p, 0, bytes);
    return p;
}

static uint64_t *make_mask(uint32_t count) { return zalloc_lines(sizeof(uint64_t) * ((count + 63) / 64)); }

/* ---- life ---- */

/* A mask of part i of `parts` equal ranges. */
static uint64_t *make_range(uint32_t count, uint32_t i, uint32_t parts)
{
    uint64_t *mask = make_mask(count);
    for (uint32_t k = count * i / parts; k < count * (i + 1) / parts; k++) mask_add(mask, k);
    return mask;
}

static struct unit *make_units(const struct req_pool *pool, uint32_t count)
{
    struct unit *list = zalloc_lines(sizeof *list * count);
    for (uint32_t i = 0; i < count; i++) {
        req_part_init(&list[i].pool, pool);
        list[i].wake = list[i].xbar_wake = TICK_NEVER;
    }
    return list;
}

static void make_members(struct units *u, uint32_t count)
{
    u->member_count = count;
    u->member_words = (count + 63) / 64;
    u->members = zalloc_lines(sizeof *u->members * count);
    u->called = make_mask(count);
    for (uint32_t i = 0; i < count; i++) {
        struct member *m = &u->members[i];
        m->own_sms = make_range(u->sm_count, i, count);
        m->own_parts = make_range(u->part_count, i, count);
        m->sms = make_mask(u->sm_count);
        m->parts = make_mask(u->part_count);
        m->sm_at = zalloc_lines(sizeof(tick) * u->sm_count);
        m->l2_at = zalloc_lines(sizeof(tick) * u->part_count);
        m->dram_at = zalloc_lines(sizeof(tick) * u->part_count);
        m->xbar_wake = TICK_NEVER;
    }
}

static void free_members(struct units *u)
{
    for (uint32_t i = 0; i < u->member_count; i++) {
        struct member *m = &u->members[i];
        free(m->own_sms);
        free(m->own_parts);
        free(m->sms);
        free(m->parts);
        free(m->sm_at);
        free(m->l2_at);
        free(m->dram_at);
    }
    free(u->members);
    free(u->called);
}

struct units *units_create(struct timed_gpu *g)
{
    struct units *u = zalloc_lines(sizeof *u);
    u->gpu = g;
    u->sm_count = g->sm_count;
    u->part_count = g->channel_count;
    u->sm_words = (u->sm_count + 63) / 64;
    u->part_words = (u->part_count + 63) / 64;
    u->per_part = g->slice_count / g->channel_count;
    u->sms = make_units(&g->pool, u->sm_count);
    u->parts = make_units(&g->pool, u->part_count);
    u->logs = mem_zalloc(sizeof *u->logs * u->sm_count);
    for (uint32_t i = 0; i < u->sm_count; i++) u->logs[i] = emu_log_create();
    wakes_init(&u->sm_wakes, u->sm_count);
    wakes_init(&u->l2_wakes, u->part_count);
    wakes_init(&u->dram_wakes, u->part_count);
    u->sm_notes = zalloc_lines(u->sm_count);
    u->part_notes = zalloc_lines(u->part_count);
    u->sm_early = make_mask(u->sm_count);
    u->part_early = make_mask(u->part_count);
    u->order.sms = make_mask(u->sm_count);
    u->order.parts = make_mask(u->part_count);
    u->dram_first = g->clock.domains[DOMAIN_DRAM].period;
    make_members(u, 1);
    return u;
}

void units_destroy(struct units *u)
{
    if (!u) return;
    crew_destroy(u->crew);
    free_members(u);
    for (uint32_t i = 0; i < u->sm_count; i++) emu_log_destroy(u->logs[i]);
    for (uint32_t i = 0; i < u->part_count; i++) free(u->parts[i].atomics);
    wakes_free(&u->sm_wakes);
    wakes_free(&u->l2_wakes);
    wakes_free(&u->dram_wakes);
    free(u->sm_notes);
    free(u->part_notes);
    free(u->sm_early);
    free(u->part_early);
    free(u->order.sms);
    free(u->order.parts);
    free(u->logs);
    free(u->sms);
    free(u->parts);
    free(u);
}

bool units_hire(struct units *u, uint32_t threads)
{
    threads = MIN(threads, u->sm_count);
    if (threads <= 1) return true;
    free_members(u);
    make_members(u, threads);
    u->crew = crew_create(threads, units_work, u);
    return u->crew != NULL;
}

struct unit *units_sm(struct units *u, uint32_t sm) { return &u->sms[sm]; }
struct unit *units_channel(struct units *u, uint32_t channel) { return &u->parts[channel]; }
struct emu_log *const *units_logs(const struct units *u) { return u->logs; }

static void join(struct link *to, struct link *from, tick *unit, tick *xbar, uint8_t *note)
{
    to->producer_wake = unit;
    to->consumer_wake = xbar;
    to->producer_note = note;
    from->producer_wake = xbar;
    from->consumer_wake = unit;
    from->consumer_note = note;
}

void units_join_sm(struct units *u, uint32_t sm, struct link *to, struct link *from)
{
    join(to, from, &u->sms[sm].wake, &u->sms[sm].xbar_wake, &u->sm_notes[sm]);
}

void units_join_slice(struct units *u, uint32_t slice, struct link *from, struct link *to)
{
    uint32_t part = slice / u->per_part;
    join(to, from, u->gpu->slice_wakes[slice], &u->parts[part].xbar_wake, &u->part_notes[part]);
}

void units_talk(struct units *u) { u->is_talkative = true; }

/* ---- sums ---- */

static const struct req_pool *part_at(const struct units *u, uint32_t i)
{
    return i < u->sm_count ? &u->sms[i].pool : &u->parts[i - u->sm_count].pool;
}

uint32_t units_requests_live(const struct timed_gpu *g)
{
    uint32_t live = 0; /* parts may be below zero: the sum wraps back */
    for (uint32_t i = 0; i < g->units->sm_count + g->units->part_count; i++)
        live += part_at(g->units, i)->live;
    return live;
}

uint64_t units_requests_made(const struct timed_gpu *g)
{
    uint64_t made = 0;
    for (uint32_t i = 0; i < g->units->sm_count + g->units->part_count; i++)
        made += part_at(g->units, i)->made;
    return made;
}

struct req_owner units_owner(const struct timed_gpu *g, uint32_t place)
{
    struct req_owner sum = {0};
    for (uint32_t i = 0; i < g->units->sm_count + g->units->part_count; i++) {
        sum.made += part_at(g->units, i)->owners[place].made;
        sum.live += part_at(g->units, i)->owners[place].live;
    }
    return sum;
}

void units_owner_clear(struct timed_gpu *g, uint32_t place)
{
    for (uint32_t i = 0; i < g->units->sm_count; i++)
        g->units->sms[i].pool.owners[place] = (struct req_owner){0};
    for (uint32_t i = 0; i < g->units->part_count; i++)
        g->units->parts[i].pool.owners[place] = (struct req_owner){0};
}
