/* sm_ports.c: what mechanisms may do to the SM. */
#include "core/sharers.h"
#include "core/sm/sm_impl.h"
#include "mem/smring.h"

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

/* Totals since the machine was made. */
static struct mech_counters totals(struct sm *m)
{
    const tick now = sm_mech_now(m);
    lsu_settle(m, now);
    const struct sm_own *sum = sm_sum(m);
    const struct l1_stats *l1 = &sum->l1;
    const uint64_t load_hits = l1->hits[L1_GLOBAL_LOAD] + l1->hits[L1_LOCAL_LOAD];
    const uint64_t load_pending = l1->pending[L1_GLOBAL_LOAD] + l1->pending[L1_LOCAL_LOAD];
    const uint64_t load_misses = l1->misses[L1_GLOBAL_LOAD] + l1->misses[L1_LOCAL_LOAD];
    const uint64_t *others = m->accesses.others;
    const uint64_t hits = load_hits + others[L1_HIT], misses = load_misses + others[L1_MISS];
    return (struct mech_counters){.cycles = now / m->clock.period,
                                  .issued = sum->sm.warp_insts,
                                  .loads = sum->sm.loads,
                                  .l1_accesses = hits + misses + load_pending + others[L1_PENDING] +
                                                 m->accesses.loads_sent + others[L1_SENT],
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
    const bool has = registers_take(&m->residency.file, from, rows, first);
    m->stats.lent_max = MAX(m->stats.lent_max, m->residency.file.lent_count);
    return has;
}

static bool port_registers_give(void *host, uint32_t first, uint32_t rows)
{
    struct sm *m = host;
    return registers_give(&m->residency.file, first, rows);
}

static bool port_registers_taken(void *host, uint32_t row)
{
    const struct sm *m = host;
    return registers_is_lent(&m->residency.file, row);
}

static bool port_registers_keep(void *host, uint32_t row)
{
    struct sm *m = host;
    return registers_keep(&m->residency.file, row, sm_mech_rows_lost, m);
}

static bool port_registers_release(void *host, uint32_t row)
{
    struct sm *m = host;
    return registers_release(&m->residency.file, row);
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

/* ---- CTAs ---- */

static bool port_cta_swap(void *host, uint32_t out, uint32_t in, uint32_t cycles)
{
    return swap_begin(host, out, in, cycles);
}

/* The CTA in a slot, or NULL. */
static const struct sm_cta *cta_in(const struct sm *m, uint32_t cta_slot)
{
    const struct sm_cta *c = &m->residency.ctas[cta_slot];
    return c->emu ? c : NULL;
}

static uint32_t port_warp_pcs(void *host, uint32_t cta_slot, uint32_t index, uint32_t *pcs, uint32_t max)
{
    const struct sm_cta *c = cta_in(host, cta_slot);
    return c && index < c->warps ? emu_warp_pcs(emu_cta_warp(c->emu, index), pcs, max) : 0;
}

static const uint64_t *port_cta_live(void *host, uint32_t cta_slot, uint32_t pc)
{
    static const uint64_t none[REG_WORDS];
    const struct sm_cta *c = cta_in(host, cta_slot);
    return c && pc < c->program->kernel->inst_count ? c->program->kernel->live[pc].bits : none;
}

static bool port_cta_park(void *host, uint32_t cta_slot, const uint64_t *kept)
{
    return swap_park(host, cta_slot, (const isa_live_set *)kept);
}

static bool port_cta_unpark(void *host, uint32_t cta_slot) { return swap_unpark(host, cta_slot); }

static uint64_t port_code_address(void *host, uint32_t cta_slot, uint32_t pc)
{
    const struct sm_cta *c = cta_in(host, cta_slot);
    return c ? c->program->code - SM_CODE_BASE + (uint64_t)pc * SM_INST_BYTES : 0;
}

static bool port_memory_read(void *host, uint64_t offset, uint32_t token)
{
    return readonly_ask(host, RO_SIDE, SM_SIDE_BASE + offset, token, 0, 0) == ROCACHE_MISS;
}

static bool port_ctas_left(void *host) { return ((const struct sm *)host)->residency.ctas_left; }

/* ---- the L1 ---- */

static void port_miss_answer(void *host, uint32_t token)
{
    struct sm *m = host;
    l1_miss_answer(m->l1, m->sleep.now, token);
    sleep_disturb(m);
}

static void port_miss_as_of(void *host, uint32_t token, uint64_t as_of)
{
    l1_miss_as_of(((const struct sm *)host)->l1, token, as_of);
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
    return l1_probe(m->l1, line, sm_line_sectors(m));
}

static bool port_l1_read(void *host, uint64_t line)
{
    struct sm *m = host;
    return port_l1_probe(host, line) && l1_read(m->l1, m->sleep.now);
}

/* ---- between SMs ---- */

static_assert(SMRING_ALL == MECH_RING_ALL && SMRING_HOLDERS == MECH_RING_HOLDERS &&
                  (int)SMRING_WORDS == MECH_RING_WORDS && (int)SMRING_REQUEST == MECH_RING_REQUEST &&
                  (int)SMRING_RESPONSE == MECH_RING_RESPONSE,
              "the ring and mechanisms speak of the same things");

static bool port_ring_push(void *host, enum mech_ring_channel channel, const struct mech_ring_message *m)
{
    const struct sm *s = host;
    struct smring_message message = {.bytes = m->bytes, .to = m->to};
    memcpy(message.words, m->words, sizeof message.words);
    return smring_push(s->setup.ring, s->setup.index, (enum smring_channel)channel, sm_mech_now(s), &message);
}

static bool port_ring_peek(void *host, enum mech_ring_channel channel, struct mech_ring_message *m)
{
    const struct sm *s = host;
    const struct smring_message *seen =
        smring_peek(s->setup.ring, s->setup.index, (enum smring_channel)channel, sm_mech_now(s));
    if (!seen) return false;
    *m = (struct mech_ring_message){.bytes = seen->bytes, .to = seen->to, .hops = seen->hops};
    memcpy(m->words, seen->words, sizeof m->words);
    return true;
}

static void port_ring_pop(void *host, enum mech_ring_channel channel)
{
    const struct sm *s = host;
    smring_pop(s->setup.ring, s->setup.index, (enum smring_channel)channel, sm_mech_now(s));
}

static void port_ring_pass(void *host, enum mech_ring_channel channel)
{
    const struct sm *s = host;
    smring_pass(s->setup.ring, s->setup.index, (enum smring_channel)channel);
}

static const uint64_t *port_sharers(void *host, uint64_t line)
{
    const struct sm *s = host;
    return sharers_of(s->setup.sharers, line);
}

static uint64_t port_copy_as_of(void *host, uint32_t sm, uint64_t line)
{
    const struct sm *s = host;
    return sharers_as_of(s->setup.sharers, sm, line, sm == s->setup.index);
}

static void port_votes_changed(void *host) { sleep_votes_changed(&((struct sm *)host)->sleep); }

static uint64_t port_thread_insts(void *host) { return programs_thread_insts(host); }

/* ---- connection ---- */

static const struct mech_host_ops port_ops = {.prefetch = port_prefetch,
                                              .counters = port_counters,
                                              .warp_issued = port_warp_issued,
                                              .memory_wait = port_memory_wait,
                                              .live_registers = port_live_registers,
                                              .miss_answer = port_miss_answer,
                                              .miss_as_of = port_miss_as_of,
                                              .miss_forward = port_miss_forward,
                                              .l1_set = port_l1_set,
                                              .l1_probe = port_l1_probe,
                                              .l1_read = port_l1_read,
                                              .registers_take = port_registers_take,
                                              .registers_give = port_registers_give,
                                              .registers_taken = port_registers_taken,
                                              .registers_keep = port_registers_keep,
                                              .registers_release = port_registers_release,
                                              .bank_access = port_bank_access,
                                              .ring_push = port_ring_push,
                                              .ring_peek = port_ring_peek,
                                              .ring_pop = port_ring_pop,
                                              .ring_pass = port_ring_pass,
                                              .sharers = port_sharers,
                                              .copy_as_of = port_copy_as_of,
                                              .thread_insts = port_thread_insts,
                                              .cta_registers = port_cta_registers,
                                              .cta_swap = port_cta_swap,
                                              .warp_pcs = port_warp_pcs,
                                              .cta_live = port_cta_live,
                                              .cta_park = port_cta_park,
                                              .cta_unpark = port_cta_unpark,
                                              .code_address = port_code_address,
                                              .memory_read = port_memory_read,
                                              .ctas_left = port_ctas_left,
                                              .votes_changed = port_votes_changed};

void sm_mech_create(struct sm *m)
{
    const struct residency *r = &m->residency;
    const struct l1_params *l1 = m->setup.l1;
    const uint32_t lines = (uint32_t)MAX(l1->size / l1->line, 1), ways = MIN(l1->ways, lines);
    const struct mech_sm_setup setup = {.set = m->setup.mechs,
                                        .gpu = m->setup.mech_gpu,
                                        .sm = m,
                                        .ops = &port_ops,
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
                                        .register_banks = m->p->register_banks,
                                        .ring_queue = m->setup.machine->ring.queue,
                                        .ring_request_buffer = m->setup.machine->ring.request_buffer,
                                        .ring_response_buffer = m->setup.machine->ring.response_buffer};
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
