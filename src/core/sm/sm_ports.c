/* sm_ports.c: what mechanisms may do to the SM. */
#include "core/sm/sm_impl.h"

/* The warp in a slot, or NULL. */
static const struct context *warp_in(const struct sm *m, int slot)
{
    const uint32_t slots = m->state.bank_count * SM_BANK_SLOTS;
    if (slot < 0 || (uint32_t)slot >= slots || m->state.context_of[slot] == SM_NO_CONTEXT) return NULL;
    return slot_context(&m->state, (uint32_t)slot);
}

/* ---- prefetches ---- */

static bool port_prefetch(void *host, uint64_t address, uint32_t pc, int target_warp)
{
    struct sm *m = host;
    const struct context *x = warp_in(m, target_warp);
    return prefetch_ask(m, address, pc, x ? x->id : 0);
}

/* ---- counters ---- */

void sm_mech_disturb(struct sm *m, tick now) { m->mech_view.disturbed = now; }

tick sm_mech_now(const struct sm *m)
{
    const tick disturbed = m->mech_view.disturbed;
    return MAX(m->sleep.now, disturbed - disturbed % m->clock.period);
}

/* Since the machine was made. All but the accesses that are no loads of the L1 are counted by others. */
static struct mech_counters totals(struct sm *m)
{
    const tick now = sm_mech_now(m);
    l1_settle(m->l1, now);
    const struct sm_own *sum = sm_sum(m);
    const struct l1_stats *l1 = &sum->l1;
    const uint64_t load_hits = l1->hits[L1_GLOBAL_LOAD] + l1->hits[L1_LOCAL_LOAD];
    const uint64_t load_pending = l1->pending[L1_GLOBAL_LOAD] + l1->pending[L1_LOCAL_LOAD];
    const uint64_t load_misses = l1->misses[L1_GLOBAL_LOAD] + l1->misses[L1_LOCAL_LOAD];
    const uint64_t *others = m->mech_view.others;
    const uint64_t hits = load_hits + others[L1_HIT], misses = load_misses + others[L1_MISS];
    return (struct mech_counters){.cycles = now / m->clock.period,
                                  .issued = sum->sm.warp_insts,
                                  .loads = sum->sm.loads,
                                  .l1_accesses = hits + misses + load_pending + others[L1_PENDING] +
                                                 m->mech_view.loads_sent + others[L1_SENT],
                                  .l1_hits = hits,
                                  .l1_intra_warp_hits = l1->intra_warp_hits,
                                  .l1_misses = misses,
                                  .l1_stall_cycles = l1->stall_cycles,
                                  .load_accesses = load_hits + load_pending + load_misses,
                                  .load_hits = load_hits,
                                  .load_pending = load_pending,
                                  .load_misses = load_misses,
                                  .miss_queue_busy = sm_port_busy_cycles(m->port, now),
                                  .reply_busy = m->port->from_xbar->pops,
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

/* ---- warps and registers ---- */

static uint64_t port_warp_issued(void *host, int warp)
{
    const struct sm *m = host;
    const struct context *x = warp_in(m, warp);
    return x ? emu_warp_insts(x->emu) : 0;
}

static uint64_t port_memory_wait(void *host, uint32_t bank)
{
    const struct sm *m = host;
    return m->banks[bank].board.hazard_mem;
}

static const uint64_t *port_live_registers(void *host, int warp, uint32_t pc)
{
    static const uint64_t none[REG_WORDS];
    const struct sm *m = host;
    const struct context *x = warp_in(m, warp);
    return x && pc < x->program->kernel->inst_count ? x->program->kernel->live[pc].bits : none;
}

static bool port_registers_take(void *host, uint32_t from, uint32_t rows, uint32_t *first)
{
    struct sm *m = host;
    return registers_take(&m->residency.file, from, rows, first);
}

static bool port_registers_give(void *host, uint32_t first, uint32_t rows)
{
    struct sm *m = host;
    return registers_give(&m->residency.file, first, rows);
}

static bool port_bank_access(void *host, uint32_t row, bool is_write)
{
    struct sm *m = host;
    (void)is_write; /* a bank has one port */
    const bool is_free = collector_ask(&m->collector, row, m->sleep.cycle);
    m->stats.lent_accesses++;
    m->stats.lent_conflicts += !is_free;
    return is_free;
}

static bool port_cta_registers(void *host, const struct mech_transfer *t) { return transfer_ask(host, t); }

/* ---- the L1 ---- */

static void port_miss_answer(void *host, uint32_t token)
{
    struct sm *m = host;
    l1_miss_answer(m->l1, m->sleep.now, token);
    sleep_disturb(m);
}

static bool port_miss_forward(void *host, uint32_t token)
{
    struct sm *m = host;
    sleep_disturb(m);
    return l1_miss_forward(m->l1, m->sleep.now, token);
}

static uint32_t port_l1_set(void *host, uint64_t line)
{
    const struct sm *m = host;
    return l1_set_of(m->l1, line);
}

static bool port_l1_probe(void *host, uint64_t line)
{
    struct sm *m = host;
    return l1_probe(m->l1, line, (uint32_t)((1ull << m->line_bytes / COALESCE_SECTOR_BYTES) - 1));
}

static bool port_l1_read(void *host, uint64_t line)
{
    struct sm *m = host;
    return port_l1_probe(host, line) && l1_read(m->l1, m->sleep.now);
}

/* ---- connection ---- */

static const struct mech_host_ops port_ops = {.prefetch = port_prefetch,
                                              .counters = port_counters,
                                              .warp_issued = port_warp_issued,
                                              .memory_wait = port_memory_wait,
                                              .live_registers = port_live_registers,
                                              .miss_answer = port_miss_answer,
                                              .miss_forward = port_miss_forward,
                                              .l1_set = port_l1_set,
                                              .l1_probe = port_l1_probe,
                                              .l1_read = port_l1_read,
                                              .registers_take = port_registers_take,
                                              .registers_give = port_registers_give,
                                              .bank_access = port_bank_access,
                                              .cta_registers = port_cta_registers};

void sm_mech_create(struct sm *m)
{
    const struct residency *r = &m->residency;
    const struct l1_params *l1 = m->setup.l1;
    const uint32_t lines = (uint32_t)MAX(l1->size / l1->line, 1), ways = MIN(l1->ways, lines);
    const struct mech_sm_setup setup = {.set = m->setup.mechs,
                                        .gpu = m->setup.mech_gpu,
                                        .sm = m,
                                        .ops = &port_ops,
                                        .votes_changed = &m->sleep.votes_changed,
                                        .cycle = &m->sleep.cycle,
                                        .index = m->setup.index,
                                        .sm_count = m->setup.sm_count,
                                        .warps = r->slot_count,
                                        .banks = m->state.bank_count,
                                        .schedulers = m->p->schedulers,
                                        .line_bytes = m->line_bytes,
                                        .ctas = r->cta_slots,
                                        .l1_sets = lines / ways,
                                        .l1_ways = ways,
                                        .l1_latency = l1->latency - l1->tag_latency,
                                        .register_rows = r->file.rows,
                                        .register_banks = m->p->register_banks};
    m->mech = mech_sm_create(&setup);
}

uint32_t sm_mech_extra_lines(const struct sm *m)
{
    const struct l1_params *l1 = m->setup.l1;
    const uint64_t lines = MAX(l1->size / l1->line, 1);
    return m->mech->l1_lines_max > lines ? (uint32_t)(m->mech->l1_lines_max - lines) : 0;
}

void sm_mech_free(struct sm *m) { mech_sm_destroy(m->mech); }

void *sm_mech_state(struct sm *m, uint32_t mechanism) { return m->mech->states[mechanism]; }
