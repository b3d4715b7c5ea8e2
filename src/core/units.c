/* units.c: creation and end of the units of a machine, and sums over them: see units.h.
 *
 * Each worker of the crew keeps one range of SMs and one range of partitions, so that their state stays in
 * the cache of its core. */
#include "core/units_impl.h"

#include "base/hugepage.h"
#include "mem/link_ahead.h"

/* Returns zeroed memory on lines that no other thread writes. */
static void *zalloc_apart(size_t bytes)
{
    bytes = round_up_u64(bytes, UNITS_LINE);
    void *p = aligned_alloc(UNITS_LINE, bytes);
    if (!p) UNREACHABLE("memory for the units of a machine");
    memset(p, 0, bytes);
    return p;
}

static uint32_t mask_words(uint32_t count) { return (count + 63) / 64; }

static uint64_t *make_mask(uint32_t count) { return zalloc_apart(sizeof(uint64_t) * mask_words(count)); }

/* ---- memory of units ---- */

static struct unit *make_units(const struct req_pool *pool, uint32_t count)
{
    struct unit *list = zalloc_apart(sizeof *list * count);
    for (uint32_t i = 0; i < count; i++) {
        req_part_init(&list[i].pool, pool);
        list[i].wake = list[i].xbar_wake = TICK_NEVER;
    }
    return list;
}

static void make_logs(struct units *u)
{
    u->logs = mem_zalloc(sizeof *u->logs * u->sm_count);
    for (uint32_t i = 0; i < u->sm_count; i++) u->logs[i] = emu_log_create(&u->sms[i].pending);
}

static void make_slice_turns(struct units *u)
{
    u->turn_stride = (uint32_t)round_up_u64(u->slices_each, HOST_LINE / sizeof *u->turns);
    u->turns = mem_zalloc_huge(sizeof *u->turns * u->turn_stride * u->partition_count);
}

static void make_notes(uint64_t **notes, uint32_t *words, uint32_t count)
{
    *words = (count + 7) / 8;
    *notes = mem_zalloc_huge(sizeof **notes * *words);
}

static struct order *order_init(const struct units *u, struct order *o, bool no_skip)
{
    *o = (struct order){.no_skip = no_skip};
    o->sms = u->sm_words > 1 ? make_mask(u->sm_count) : &o->first_sms;
    o->partitions = u->partition_words > 1 ? make_mask(u->partition_count) : &o->first_partitions;
    return o;
}

static void order_clear(const struct units *u, struct order *o)
{
    if (u->sm_words > 1) free(o->sms);
    if (u->partition_words > 1) free(o->partitions);
}

static struct times make_times(const struct units *u)
{
    return (struct times){.sms = zalloc_apart(sizeof(tick) * u->sm_count),
                          .partitions = zalloc_apart(sizeof(tick) * u->partition_count)};
}

static void free_times(struct times t)
{
    free(t.sms);
    free(t.partitions);
}

/* ---- workers ---- */

/* Adds range i of `ranges` equal ones to a mask of `count` units. */
static void add_range(uint64_t *mask, uint32_t count, uint32_t i, uint32_t ranges)
{
    for (uint32_t k = count * i / ranges; k < count * (i + 1) / ranges; k++) mask_add(mask, k);
}

static void worker_init(const struct units *u, struct worker *worker, uint32_t i)
{
    uint64_t *own = zalloc_apart(sizeof *own * (u->sm_words + u->partition_words));
    add_range(own, u->sm_count, i, u->worker_count);
    add_range(own + u->sm_words, u->partition_count, i, u->worker_count);
    *worker = (struct worker){.own_sms = own,
                              .own_partitions = own + u->sm_words,
                              .report = crew_report(u->crew, i),
                              .times = make_times(u),
                              .unbegun = zalloc_apart(sizeof *worker->unbegun * u->partition_words)};
}

static void free_workers(struct worker *list, uint32_t count)
{
    for (uint32_t i = 0; list && i < count; i++) {
        free((void *)list[i].own_sms);
        free((void *)list[i].unbegun);
        free_times(list[i].times);
    }
    free(list);
}

bool units_hire(struct units *u, uint32_t threads)
{
    threads = MIN(threads, u->sm_count);
    if (threads <= 1) return true;
    assert(!u->crew && !u->is_coupled);
    const size_t report_bytes = sizeof(struct turns) * (u->sm_words + u->partition_words);
    u->crew = crew_create(threads, sizeof *u->order, report_bytes, units_work_guarded, u);
    if (!u->crew) return false;
    const bool no_skip = u->order->no_skip;
    order_clear(u, u->order);
    free(u->order);
    u->order = order_init(u, crew_call(u->crew), no_skip);
    u->worker_count = threads;
    u->workers = zalloc_apart(sizeof *u->workers * threads);
    for (uint32_t i = 0; i < threads; i++) worker_init(u, &u->workers[i], i);
    pace_init(&u->pace);
    return true;
}

/* ---- creation and end ---- */

struct units *units_create(const struct units_setup *s)
{
    struct units *u = zalloc_apart(sizeof *u);
    u->time = s->time;
    u->pool = s->pool;
    u->threads_always = s->threads_always;
    u->sm_count = s->sm_count;
    u->partition_count = s->channel_count;
    u->sm_words = mask_words(u->sm_count);
    u->partition_words = mask_words(u->partition_count);
    u->slices_each = s->slice_count / s->channel_count;
    u->sms = make_units(s->pool, u->sm_count);
    u->partitions = make_units(s->pool, u->partition_count);
    make_logs(u);
    make_slice_turns(u);
    u->partition_low = NEW_PER_SLICE * u->slices_each;
    u->is_dram_slow = gpu_time_period(s->time, DOMAIN_DRAM) > SLOW_DRAM * gpu_time_period(s->time, DOMAIN_L2);
    u->core_period = gpu_time_period(s->time, DOMAIN_CORE);
    wakes_init(&u->sm_wakes, u->sm_count, gpu_time_period(s->time, DOMAIN_CORE));
    wakes_init(&u->partition_wakes, u->partition_count, gpu_time_period(s->time, DOMAIN_L2));
    make_notes(&u->sm_notes, &u->sm_note_words, u->sm_count);
    make_notes(&u->partition_notes, &u->partition_note_words, u->partition_count);
    u->turned = make_mask(u->sm_count);
    u->sm_pending = make_mask(u->sm_count);
    u->seeing = make_mask(u->sm_count);
    u->partition_pending = make_mask(u->partition_count);
    u->order = order_init(u, zalloc_apart(sizeof *u->order), s->no_skip);
    u->times = make_times(u);
    return u;
}

void units_destroy(struct units *u)
{
    if (!u) return;
    order_clear(u, u->order);
    if (!u->crew) free(u->order); /* otherwise it belongs to the crew */
    crew_destroy(u->crew);
    free_workers(u->workers, u->worker_count);
    free_times(u->times);
    for (uint32_t i = 0; i < u->sm_count; i++) emu_log_destroy(u->logs[i]);
    for (uint32_t i = 0; i < u->partition_count; i++) free(u->partitions[i].effects);
    wakes_free(&u->sm_wakes);
    wakes_free(&u->partition_wakes);
    free(u->turned);
    mem_free_huge(u->turns);
    mem_free_huge(u->sm_notes);
    mem_free_huge(u->partition_notes);
    free(u->sm_pending);
    free(u->seeing);
    free(u->partition_pending);
    free(u->logs);
    free(u->sms);
    free(u->partitions);
    free(u);
}

struct unit *units_sm(struct units *u, uint32_t sm) { return &u->sms[sm]; }
struct unit *units_partition(struct units *u, uint32_t channel) { return &u->partitions[channel]; }
struct emu_log *const *units_logs(const struct units *u) { return u->logs; }

/* ---- connecting ---- */

static void join(struct link *to, struct link *from, tick *unit, tick *other)
{
    link_join(to, unit, other);
    link_join(from, other, unit);
}

/* The crossbar's end of a link leaves a note, by which units_hear_xbar finds the unit. */
static void leave_notes(struct link *to, struct link *from, uint64_t *notes, uint32_t i)
{
    uint8_t *note = (uint8_t *)notes + i;
    link_note_room(to, note);
    link_note_pushes(from, note);
}

void units_join_xbar(struct units *u, struct xbar *xbar) { u->xbar = xbar; }

void units_join_meeting_points(struct units *u, struct smring *ring, struct sharers *sharers)
{
    u->ring = ring;
    u->sharers = sharers;
    u->no_ahead |= ring || sharers;
}

void units_join_sm(struct units *u, uint32_t index, struct sm *sm, struct link *to_xbar,
                   struct link *from_xbar)
{
    struct unit *x = &u->sms[index];
    x->sm = sm;
    u->sm_low = MAX(u->sm_low, sm_requests_max(sm));
    u->no_ahead |= !sm_may_run_ahead(sm);
    link_join(to_xbar, &x->wake, &x->xbar_wake);
    /* the SM itself says when it can take a reply (units_hear_xbar), which may be later than the reply
     * arrives */
    link_join(from_xbar, &x->xbar_wake, NULL);
    leave_notes(to_xbar, from_xbar, u->sm_notes, index);
}

void units_join_slice(struct units *u, uint32_t index, struct l2_slice *slice, struct link *from_xbar,
                      struct link *to_xbar)
{
    const uint32_t partition = index / u->slices_each;
    struct slice_turn *t = slice_turn_of(u, index);
    t->slice = slice;
    t->wake = *l2_wake(slice);
    join(to_xbar, from_xbar, &t->wake, &u->partitions[partition].xbar_wake);
    leave_notes(to_xbar, from_xbar, u->partition_notes, partition);
}

void units_join_channel(struct units *u, uint32_t slice, struct dram_channel *channel,
                        struct link *to_channel, struct link *from_channel)
{
    struct unit *x = &u->partitions[slice / u->slices_each];
    x->channel = channel;
    x->wake = *dram_wake(channel);
    join(to_channel, from_channel, &slice_turn_of(u, slice)->wake, &x->wake);
}

void units_couple(struct units *u)
{
    assert(!u->crew);
    u->is_coupled = true;
}

/* ---- sums ---- */

static const struct req_pool *share_at(const struct units *u, uint32_t i)
{
    return i < u->sm_count ? &u->sms[i].pool : &u->partitions[i - u->sm_count].pool;
}

uint32_t units_requests_live(const struct units *u)
{
    uint32_t live = 0; /* a share may be below zero: the sum wraps back */
    for (uint32_t i = 0; i < u->sm_count + u->partition_count; i++) live += share_at(u, i)->live;
    return live;
}

uint64_t units_requests_made(const struct units *u)
{
    uint64_t made = 0;
    for (uint32_t i = 0; i < u->sm_count + u->partition_count; i++) made += share_at(u, i)->made;
    return made;
}

struct req_owner units_owner(const struct units *u, uint32_t slot)
{
    struct req_owner sum = {0};
    for (uint32_t i = 0; i < u->sm_count + u->partition_count; i++) {
        sum.made += share_at(u, i)->owners[slot].made;
        sum.live += share_at(u, i)->owners[slot].live;
    }
    return sum;
}

void units_clear_owner(struct units *u, uint32_t slot)
{
    for (uint32_t i = 0; i < u->sm_count; i++) req_pool_clear_owner(&u->sms[i].pool, slot);
    for (uint32_t i = 0; i < u->partition_count; i++) req_pool_clear_owner(&u->partitions[i].pool, slot);
}
