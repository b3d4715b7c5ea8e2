/* mech_ports.c: what mechanisms may do to the SM. */
#include "core/sm/sm_impl.h"

/* ---- prefetches ---- */

static bool port_prefetch(void *host, uint64_t address, uint32_t pc, int target_warp)
{
    return prefetch_ask(host, address, pc, target_warp < 0 ? 0 : (uint32_t)target_warp);
}

/* ---- counters ---- */

/* Since the machine was made. All but the accesses are counted by others. */
static struct mech_counters totals(struct sm *m)
{
    const struct l1_stats *l1 = l1_stats(m->l1);
    const uint64_t *seen = m->seen.by_answer;
    l1_settle(m->l1, m->sleep.now);
    return (struct mech_counters){.cycles = m->sleep.cycle,
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

void sm_mech_begin_kernel(struct sm *m)
{
    m->mech_view.from = totals(m);
    mech_on_kernel(m->mech, true);
}

static const struct mech_counters *port_counters(void *host)
{
    struct sm *m = host;
    const struct mech_counters now = totals(m);
    const uint64_t *a = (const uint64_t *)&now, *from = (const uint64_t *)&m->mech_view.from;
    uint64_t *out = (uint64_t *)&m->mech_view.counters;
    for (size_t i = 0; i < sizeof now / sizeof *out; i++) out[i] = a[i] - from[i];
    return &m->mech_view.counters;
}

const struct mech_counters *sm_mech_counters(struct sm *m) { return port_counters(m); }

/* ---- connection ---- */

void sm_mech_connect(struct sm *m)
{
    struct mech_ports ports = {.host = m,
                               .sm = m->setup.index,
                               .sm_count = m->setup.sm_count,
                               .warps = m->residency.slot_count,
                               .schedulers = m->p->schedulers,
                               .line_bytes = m->line_bytes,
                               .prefetch = port_prefetch,
                               .counters = port_counters};
    m->seen.line_shift = (uint32_t)__builtin_ctz(m->line_bytes);
    m->mech = mech_sm_create(m->setup.mechs, &ports, m->setup.mech_gpu_states);
    m->mech->news = &m->sleep.votes_changed;
    const struct l1_hooks hooks = sm_mech_l1_hooks(m);
    l1_hook(m->l1, &hooks);
}

void sm_mech_free(struct sm *m) { mech_sm_destroy(m->mech); }

void *sm_mech_state(struct sm *m, uint32_t mechanism) { return m->mech->states[mechanism]; }
