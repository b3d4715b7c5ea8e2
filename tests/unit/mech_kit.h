/* mech_kit.h: for the tests of mechanisms: an SM that is nothing but its views, events and ports. */
#ifndef HEDDLE_MECH_KIT_H
#define HEDDLE_MECH_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/mech/mech_cost.h"
#include "core/mech/mech_host.h"

#define W(n) (1ull << (n))

struct mech_kit {
    struct diag_list diags;
    struct mech_set *set;
    struct mech_gpu *gpu;
    struct mech_sm *sm;
    bool heard_votes;
    uint64_t age[MECH_WARPS_MAX];
    uint32_t cta[MECH_WARPS_MAX];
    uint64_t launches, cycle;
    uint64_t resident;
    int last;
    struct mech_counters counters;
    struct {
        uint64_t address;
        uint32_t pc;
        int warp;
    } prefetches[64];
    uint32_t prefetch_count, prefetch_room;
};

static inline bool kit_prefetch(void *host, uint64_t address, uint32_t pc, int target_warp)
{
    struct mech_kit *k = host;
    if (k->prefetch_count >= k->prefetch_room) return false;
    k->prefetches[k->prefetch_count].address = address;
    k->prefetches[k->prefetch_count].pc = pc;
    k->prefetches[k->prefetch_count++].warp = target_warp;
    return true;
}
static inline const struct mech_counters *kit_counters(void *host)
{
    return &((struct mech_kit *)host)->counters;
}
static inline void kit_votes_changed(void *host) { ((struct mech_kit *)host)->heard_votes = true; }

/* names and settings: one text each, words separated by spaces. */
static inline uint32_t kit_split(char *text, const char **words, uint32_t max)
{
    uint32_t n = 0;
    for (char *w = strtok(text, " "); w && n < max; w = strtok(NULL, " ")) words[n++] = w;
    return n;
}

static inline bool kit_try_set(struct mech_kit *k, const char *names, const char *settings)
{
    char a[512], b[512];
    const char *name[16], *setting[16];
    snprintf(a, sizeof a, "%s", names);
    snprintf(b, sizeof b, "%s", settings);
    uint32_t n = kit_split(a, name, 16), m = kit_split(b, setting, 16);
    k->set = mech_set_create(name, n, setting, m, &k->diags);
    return k->set != NULL;
}

static const struct mech_host_ops kit_ops = {
    .prefetch = kit_prefetch, .counters = kit_counters, .votes_changed = kit_votes_changed};

/* SM 0 of a GPU of two. More than 64 warps: a bank for each scheduler. */
static inline void kit_attach(struct mech_kit *k, const struct mech_host_ops *ops, uint32_t warps,
                              uint32_t schedulers)
{
    k->gpu = mech_gpu_create(k->set, 2);
    k->sm = mech_sm_create(&(struct mech_sm_setup){.set = k->set,
                                                   .gpu = k->gpu,
                                                   .sm = k,
                                                   .ops = ops,
                                                   .cycle = &k->cycle,
                                                   .sm_count = 2,
                                                   .warps = warps,
                                                   .banks = warps > MECH_BANK_WARPS ? schedulers : 1,
                                                   .schedulers = schedulers,
                                                   .line_bytes = 128,
                                                   .ctas = 8,
                                                   .l1_sets = 32,
                                                   .l1_ways = 4,
                                                   .register_rows = 1024,
                                                   .register_banks = 16});
}

static inline void kit_open(struct mech_kit *k, const char *names, const char *settings, uint32_t schedulers)
{
    *k = (struct mech_kit){.last = MECH_NO_WARP, .prefetch_room = 64};
    if (!kit_try_set(k, names, settings)) {
        struct strbuf out = {0};
        diag_render(&k->diags, &out);
        fail_msg("%s", strbuf_text(&out));
    }
    kit_attach(k, &kit_ops, 48, schedulers);
}

static inline void kit_close(struct mech_kit *k)
{
    mech_sm_destroy(k->sm);
    mech_gpu_destroy(k->gpu);
    mech_set_destroy(k->set);
    diag_free(&k->diags);
}

/* A warp of scheduler `scheduler` starts in a slot. */
static inline void kit_start_on(struct mech_kit *k, int warp, uint32_t scheduler)
{
    k->age[warp] = k->launches++;
    k->resident |= W(warp);
    mech_on_warp(k->sm, &(struct mech_warp_event){
                            .cycle = k->cycle, .warp = warp, .is_start = true, .scheduler = scheduler});
}
static inline void kit_start(struct mech_kit *k, int warp) { kit_start_on(k, warp, 0); }
static inline void kit_end(struct mech_kit *k, int warp)
{
    k->resident &= ~W(warp);
    mech_on_warp(k->sm, &(struct mech_warp_event){.cycle = k->cycle, .warp = warp});
}
static inline void kit_barrier(struct mech_kit *k, uint64_t warps, bool is_wait)
{
    mech_on_barrier(k->sm, &(struct mech_barrier){.cycle = k->cycle, .warps = warps, .is_wait = is_wait});
}

/* One cycle of scheduler 0: the pick from these ready warps while others wait for memory or at a barrier. */
static inline int kit_pick_waiting(struct mech_kit *k, uint64_t ready, uint64_t memory_wait,
                                   uint64_t barrier_wait)
{
    struct mech_sched_view v = {.ready = ready,
                                .resident = k->resident,
                                .age = k->age,
                                .cta = k->cta,
                                .last = k->last,
                                .scheduler_count = 1,
                                .cycle = k->cycle++,
                                .memory_wait = memory_wait,
                                .barrier_wait = barrier_wait};
    int warp = mech_pick(k->sm, &v);
    if (warp != MECH_NO_WARP) k->last = warp;
    return warp;
}
static inline int kit_pick(struct mech_kit *k, uint64_t ready) { return kit_pick_waiting(k, ready, 0, 0); }

/* The value of a statistic of any attached mechanism. */
static inline uint64_t kit_stat(const struct mech_kit *k, const char *name)
{
    for (uint32_t i = 0; i < mech_set_count(k->set); i++)
        for (const struct stat_row *r = mech_set_at(k->set, i)->stats; r && r->name; r++)
            if (!strcmp(r->name, name))
                return *(const uint64_t *)(const void *)((const char *)k->sm->states[i] + r->offset);
    fail_msg("no statistic is called %s", name);
    return 0;
}

/* Bits that the first mechanism stores on the SM of kit_open. */
static inline uint64_t kit_cost(struct mech_kit *k)
{
    const struct mech_sm_setup *s = &k->sm->setup;
    const struct mech_machine m = {.sm_count = s->sm_count,
                                   .warps = s->warps,
                                   .schedulers = s->schedulers,
                                   .line_bytes = s->line_bytes,
                                   .l1_sets = s->l1_sets,
                                   .l1_ways = s->l1_ways,
                                   .register_rows = s->register_rows,
                                   .ctas = s->ctas};
    struct mech_cost c;
    uint64_t bits = 0;
    assert_true(mech_cost_of(k->set, 0, &m, &c, &k->diags));
    for (uint32_t i = 0; i < c.count; i++) bits += c.rows[i].entries * c.rows[i].bits;
    return bits;
}

#endif
