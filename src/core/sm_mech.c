/* sm_mech.c: between the SM and its mechanisms: the ports that they act through, and the L1's events made
 * theirs. */
#include "core/sm_impl.h"

/* ---- ports ---- */

static bool port_prefetch(void *host, uint64_t address, uint32_t pc, int target_warp)
{
    struct sm *m = host;
    if (m->prefetch_count == m->p->prefetch_queue) {
        m->stats.prefetches_refused++;
        return false;
    }
    uint32_t at = (m->prefetch_head + m->prefetch_count++) % m->p->prefetch_queue;
    m->prefetches[at] = (struct sm_prefetch){.line = address / m->line_bytes * m->line_bytes,
                                             .pc = pc,
                                             .warp = target_warp < 0 ? 0 : (uint32_t)target_warp};
    return true;
}

/* Since the machine was made. All but the accesses are counted by others. */
static struct mech_counters totals(struct sm *m)
{
    const struct l1_stats *l1 = l1_stats(m->l1);
    const uint64_t *seen = m->seen.by_answer;
    l1_settle(m->l1, m->now);
    return (struct mech_counters){.cycles = m->cycle,
                                  .issued = m->stats.warp_insts,
                                  .loads = m->stats.loads,
                                  .l1_accesses =
                                      seen[L1_HIT] + seen[L1_MISS] + seen[L1_PENDING] + seen[L1_SENT],
                                  .l1_hits = seen[L1_HIT],
                                  .l1_intra_warp_hits = m->seen.intra_warp,
                                  .l1_misses = seen[L1_MISS],
                                  .l1_stall_cycles = l1->stall_cycles,
                                  .miss_latency_sum = l1->miss_latency_sum,
                                  .misses_done = l1->miss_latency_count};
}

void sm_mech_begin_kernel(struct sm *m) { m->counters_from = totals(m); }

const struct mech_counters *sm_mech_counters(struct sm *m)
{
    const struct mech_counters now = totals(m), *from = &m->counters_from;
    m->counters =
        (struct mech_counters){.cycles = now.cycles - from->cycles,
                               .issued = now.issued - from->issued,
                               .loads = now.loads - from->loads,
                               .l1_accesses = now.l1_accesses - from->l1_accesses,
                               .l1_hits = now.l1_hits - from->l1_hits,
                               .l1_intra_warp_hits = now.l1_intra_warp_hits - from->l1_intra_warp_hits,
                               .l1_misses = now.l1_misses - from->l1_misses,
                               .l1_stall_cycles = now.l1_stall_cycles - from->l1_stall_cycles,
                               .miss_latency_sum = now.miss_latency_sum - from->miss_latency_sum,
                               .misses_done = now.misses_done - from->misses_done};
    return &m->counters;
}

static const struct mech_counters *port_counters(void *host) { return sm_mech_counters(host); }

/* ---- the L1's observers ---- */

static struct mech_l1_access access_of(const struct sm *m, const struct l1_txn *t)
{
    return (struct mech_l1_access){.cycle = m->cycle,
                                   .warp = t->warp,
                                   .pc = t->pc,
                                   .line = t->addr,
                                   .is_store = t->kind != REQ_READ,
                                   .is_first_line = t->is_first,
                                   .is_prefetch = t->is_prefetch,
                                   .outcome = MECH_L1_MISS,
                                   .lane_address = t->lane_address};
}

static bool see_may_allocate(void *ctx, const struct l1_txn *t)
{
    struct sm *m = ctx;
    struct mech_l1_access e = access_of(m, t);
    return mech_may_allocate(m->mech, &e);
}

static bool is_of_program(const struct l1_txn *t) { return t->cls == REQ_GLOBAL || t->cls == REQ_LOCAL; }

static void count_access(void *ctx, tick now, const struct l1_txn *t, const struct l1_result *r)
{
    struct sm *m = ctx;
    if (t->is_prefetch || !is_of_program(t)) return;
    m->seen.by_answer[r->answer]++;
    m->seen.intra_warp += r->intra_warp;
    if (t->kind != REQ_READ) return;
    struct sm_load *l = sm_load_of(t);
    l->stats.accesses++;
    l->stats.misses += r->answer == L1_MISS;
    l->stats.unique_lines += lineset_add(&l->seen, t->addr >> m->seen.line_shift);
}

static void see_access(void *ctx, tick now, const struct l1_txn *t, const struct l1_result *r)
{
    static const uint8_t outcomes[] = {[L1_HIT] = MECH_L1_HIT,
                                       [L1_PENDING] = MECH_L1_PENDING,
                                       [L1_MISS] = MECH_L1_MISS,
                                       [L1_SENT] = MECH_L1_SENT};
    struct sm *m = ctx;
    if (!is_of_program(t)) return;
    count_access(m, now, t, r);
    struct mech_l1_access e = access_of(m, t);
    e.outcome = (enum mech_l1_outcome)outcomes[r->answer];
    e.intra_warp = r->intra_warp;
    mech_on_l1_access(m->mech, &e);
}

static void see_evict(void *ctx, tick now, const struct l1_eviction *e)
{
    struct sm *m = ctx;
    if (e->cause == L1_EVICT_STORE || e->cause == L1_EVICT_FLUSH) return;
    mech_on_l1_evict(m->mech, &(struct mech_l1_evict){.cycle = m->cycle,
                                                      .line = e->line,
                                                      .owner_warp = e->owner_warp,
                                                      .owner_pc = e->owner_pc,
                                                      .was_prefetch = e->is_unused_prefetch,
                                                      .was_used = !e->is_unused_prefetch});
}

static void see_fill(void *ctx, tick now, const struct l1_fill_event *e)
{
    struct sm *m = ctx;
    mech_on_l1_fill(m->mech,
                    &(struct mech_l1_fill){.cycle = m->cycle,
                                           .line = e->line,
                                           .latency_cycles = (uint32_t)clock_cycles(&m->clock, e->latency),
                                           .is_prefetch = e->is_prefetch});
}

static void see_atomic(void *ctx, const struct req *r) { lsu_log_atomic(ctx, r); }

void sm_mech_connect(struct sm *m)
{
    struct mech_ports ports = {.host = m,
                               .sm = m->setup.index,
                               .sm_count = m->setup.sm_count,
                               .warps = m->warp_slots,
                               .schedulers = m->p->schedulers,
                               .line_bytes = m->line_bytes,
                               .prefetch = port_prefetch,
                               .counters = port_counters};
    m->mech = mech_sm_create(m->setup.mechs, &ports, m->setup.mech_gpu_states);
    m->mech->news = &m->mech_news;
    l1_hook(m->l1, &(struct l1_hooks){.ctx = m,
                                      .may_allocate = m->mech->has_allocate ? see_may_allocate : NULL,
                                      .on_access = m->mech->has_access ? see_access : count_access,
                                      .on_evict = m->mech->has_evict ? see_evict : NULL,
                                      .on_fill = m->mech->has_fill ? see_fill : NULL,
                                      .on_atomic = see_atomic});
}

void *sm_mech_state(struct sm *m, uint32_t mechanism) { return m->mech->states[mechanism]; }
