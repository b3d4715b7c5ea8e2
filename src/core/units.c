/* units.c: the life of the units of a machine, and sums over them: see units.h.
 *
 * Each member of the crew has a range of SMs and a range of partitions for good: what it works on stays in the cache of its core. */
#include "core/units_impl.h"

#include "base/hugepage.h"
#include "mem/link.h"

/* Lines that no other thread writes: two of the host's at a time. */
static void *zalloc_apart(size_t bytes)
{
    bytes = round_up_u64(bytes, UNITS_LINE);
    void *p = aligned_alloc(UNITS_LINE, bytes);
    if (!p) UNREACHABLE("memory for the units of a machine");
    memset(p, 0, bytes);
    return p;
}

static uint64_t *make_mask(uint32_t count) { return zalloc_apart(sizeof(uint64_t) * ((count + 63) / 64)); }

/* ---- life ---- */

/* Adds part i of `parts` equal ranges to a mask. */
static void add_range(uint64_t *mask, uint32_t count, uint32_t i, uint32_t parts)
{
    for (uint32_t k = count * i / parts; k < count * (i + 1) / parts; k++) mask_add(mask, k);
}

static struct unit *make_units(const struct req_pool *pool, uint32_t count)
{
    struct unit *list = zalloc_apart(sizeof *list * count);
    for (uint32_t i = 0; i < count; i++) {
        req_part_init(&list[i].pool, pool);
        list[i].wake = list[i].xbar_wake = TICK_NEVER;
    }
    return list;
}

static struct order *order_init(const struct units *u, struct order *o)
{
    *o = (struct order){.no_skip = u->gpu->no_skip};
    o->sms = u->sm_words > 1 ? make_mask(u->sm_count) : &o->first_sms;
    o->parts = u->part_words > 1 ? make_mask(u->part_count) : &o->first_parts;
    return o;
}

static void order_clear(const struct units *u, struct order *o)
{
    if (u->sm_words > 1) free(o->sms);
    if (u->part_words > 1) free(o->parts);
}

static struct times make_times(const struct units *u)
{
    return (struct times){.sms = zalloc_apart(sizeof(tick) * u->sm_count),
                          .parts = zalloc_apart(sizeof(tick) * u->part_count)};
}

static void free_times(struct times t)
{
    free(t.sms);
    free(t.parts);
}

/* Member i of those that share the units. */
static void member_init(const struct units *u, struct member *m, uint32_t i)
{
    uint64_t *own = zalloc_apart(sizeof *own * (u->sm_words + u->part_words));
    add_range(own, u->sm_count, i, u->member_count);
    add_range(own + u->sm_words, u->part_count, i, u->member_count);
    *m = (struct member){.own_sms = own,
                         .own_parts = own + u->sm_words,
                         .report = crew_report(u->crew, i),
                         .times = make_times(u),
                         .open = zalloc_apart(sizeof *m->open * u->part_words)};
}

static void free_members(struct member *list, uint32_t count)
{
    for (uint32_t i = 0; list && i < count; i++) {
        free((void *)list[i].own_sms);
        free((void *)list[i].open);
        free_times(list[i].times);
    }
    free(list);
}

static void make_notes(uint64_t **notes, uint32_t *words, uint32_t count)
{
    *words = (count + 7) / 8;
    *notes = mem_zalloc_huge(sizeof **notes * *words);
}

struct units *units_create(struct timed_gpu *g)
{
    struct units *u = zalloc_apart(sizeof *u);
    u->gpu = g;
    u->sm_count = g->sm_count;
    u->part_count = g->channel_count;
    u->sm_words = (u->sm_count + 63) / 64;
    u->part_words = (u->part_count + 63) / 64;
    u->per_part = g->slice_count / g->channel_count;
    u->sms = make_units(&g->pool, u->sm_count);
    u->parts = make_units(&g->pool, u->part_count);
    u->logs = mem_zalloc(sizeof *u->logs * u->sm_count);
    for (uint32_t i = 0; i < u->sm_count; i++) u->logs[i] = emu_log_create(&u->sms[i].news);
    u->turn_stride = (uint32_t)round_up_u64(u->per_part, HOST_LINE / sizeof *u->turns);
    u->turns = mem_zalloc_huge(sizeof *u->turns * u->turn_stride * u->part_count);
    u->part_low = NEW_PER_SLICE * u->per_part;
    u->dram_clock = g->clock.domains[DOMAIN_DRAM];
    wakes_init(&u->sm_wakes, u->sm_count, g->clock.domains[DOMAIN_CORE].period);
    wakes_init(&u->part_wakes, u->part_count, g->clock.domains[DOMAIN_L2].period);
    make_notes(&u->sm_notes, &u->sm_note_words, u->sm_count);
    make_notes(&u->part_notes, &u->part_note_words, u->part_count);
    u->turned = make_mask(u->sm_count);
    u->sm_news = make_mask(u->sm_count);
    u->part_news = make_mask(u->part_count);
    u->dram_first = u->dram_clock.period;
    u->order = order_init(u, zalloc_apart(sizeof *u->order));
    u->times = make_times(u);
    return u;
}

void units_destroy(struct units *u)
{
    if (!u) return;
    order_clear(u, u->order);
    if (!u->crew) free(u->order);
    crew_destroy(u->crew);
    free_members(u->members, u->member_count);
    free_times(u->times);
    for (uint32_t i = 0; i < u->sm_count; i++) emu_log_destroy(u->logs[i]);
    for (uint32_t i = 0; i < u->part_count; i++) free(u->parts[i].atomics);
    wakes_free(&u->sm_wakes);
    wakes_free(&u->part_wakes);
    free(u->turned);
    mem_free_huge(u->turns);
    mem_free_huge(u->sm_notes);
    mem_free_huge(u->part_notes);
    free(u->sm_news);
    free(u->part_news);
    free(u->logs);
    free(u->sms);
    free(u->parts);
    free(u);
}

bool units_hire(struct units *u, uint32_t threads)
{
    threads = MIN(threads, u->sm_count);
    if (threads <= 1) return true;
    u->crew = crew_create(threads, sizeof *u->order, sizeof(struct turns) * (u->sm_words + u->part_words),
                          units_work, u);
    if (!u->crew) return false;
    order_clear(u, u->order);
    free(u->order);
    u->order = order_init(u, crew_call(u->crew));
    u->member_count = threads;
    u->members = zalloc_apart(sizeof *u->members * threads);
    for (uint32_t i = 0; i < threads; i++) member_init(u, &u->members[i], i);
    pace_init(&u->pace);
    return true;
}

struct unit *units_sm(struct units *u, uint32_t sm) { return &u->sms[sm]; }
struct unit *units_channel(struct units *u, uint32_t channel) { return &u->parts[channel]; }
struct emu_log *const *units_logs(const struct units *u) { return u->logs; }

static void join(struct link *to, struct link *from, tick *unit, tick *other)
{
    to->producer_wake = from->consumer_wake = unit;
    to->consumer_wake = from->producer_wake = other;
}

static void join_xbar(struct link *to, struct link *from, tick *unit, tick *xbar, uint64_t *notes, uint32_t i)
{
    join(to, from, unit, xbar);
    to->producer_note = from->consumer_note = (uint8_t *)notes + i;
}

void units_join_sm(struct units *u, uint32_t sm, struct link *to, struct link *from)
{
    struct unit *x = &u->sms[sm];
    u->xbar = u->gpu->xbar;
    x->sm = u->gpu->sms[sm];
    join_xbar(to, from, &x->wake, &x->xbar_wake, u->sm_notes, sm);
    from->consumer_wake =
        NULL; /* a reply may have to wait before it can be taken: the SM is asked when (units_hear) */
}

void units_join_slice(struct units *u, uint32_t slice, struct link *from, struct link *to)
{
    const uint32_t part = slice / u->per_part;
    struct slice_turn *t = slice_turn_of(u, slice);
    t->slice = u->gpu->slices[slice];
    t->wake = *l2_wake(t->slice);
    join_xbar(to, from, &t->wake, &u->parts[part].xbar_wake, u->part_notes, part);
}

void units_join_channel(struct units *u, uint32_t slice, struct link *to, struct link *from)
{
    struct unit *x = &u->parts[slice / u->per_part];
    x->channel = u->gpu->channels[slice / u->per_part];
    x->wake = *dram_wake(x->channel);
    join(to, from, &slice_turn_of(u, slice)->wake, &x->wake);
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
