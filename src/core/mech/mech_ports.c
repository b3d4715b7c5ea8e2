/* mech_ports.c: the ports of a mechanism.
 *
 * (1) A mechanism's ports act in its own name: `host` is its seat, so it cannot touch the vote of another
 * mechanism. (2) A call of a port that the mechanism may not call, or may not call at that time, ends the run
 * with the mechanism's name, the port and the cycle. */
#include "core/mech/mech_seat.h"

#include "base/hugepage.h"

#include <stdarg.h>

void mech_fail(const struct mech_seat *seat, const char *where, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    mech_guard_fail(&seat->caller, where, fmt, ap);
}

/* Returns the seat for a port that needs the SM, which does not exist yet in init. */
static struct mech_seat *seat_running(void *host, const char *port)
{
    struct mech_seat *seat = host;
    if (UNLIKELY(seat->sm->in_init)) mech_fail(seat, port, "may not be called in init");
    return seat;
}

static struct mech_seat *seat_in_init(void *host, const char *port)
{
    struct mech_seat *seat = host;
    if (UNLIKELY(!seat->sm->in_init)) mech_fail(seat, port, "may be called in init alone");
    return seat;
}

/* ---- memory, time, notes ---- */

static void *port_memory(void *host, size_t bytes)
{
    struct mech_seat *seat = seat_in_init(host, "memory");
    if (UNLIKELY(bytes > MECH_STATE_BYTES_MAX - seat->memory_bytes))
        mech_fail(seat, "memory", "%zu bytes; it has %zu, and %zu are the most", bytes, seat->memory_bytes,
                  (size_t)MECH_STATE_BYTES_MAX);
    seat->memory_bytes += bytes;
    void *block = mem_zalloc_huge(MAX(bytes, 1));
    vec_push(&seat->memory, block);
    return block;
}

static void port_set_timer(void *host, uint64_t now, uint32_t cycles)
{
    struct mech_seat *seat = host;
    if (UNLIKELY(now > UINT64_MAX - cycles))
        mech_fail(seat, "set_timer", "now is %llu, which is beyond all cycles", (unsigned long long)now);
    mech_set_timer(seat, now, cycles);
}

static void port_note(void *host, uint64_t cycle, uint32_t kind, uint64_t a, uint64_t b)
{
    const struct mech_seat *seat = host;
    const struct mech_sm_setup *s = &seat->sm->setup;
    if (UNLIKELY(kind >= seat->note_kinds))
        mech_fail(seat, "note", "kind %u, but note_names has %u", kind, seat->note_kinds);
    mech_notes_add(
        mech_gpu_notes(s->gpu, s->index),
        &(struct mech_note){.cycle = cycle, .a = a, .b = b, .mechanism = seat->index, .kind = kind});
}

/* ---- votes ---- */

static void vote_mask(struct mech_seat *seat, const char *port, enum mech_mask mask, uint32_t bank,
                      uint64_t warps)
{
    if (UNLIKELY(bank >= seat->ports.banks))
        mech_fail(seat, port, "bank %u, but the SM has %u", bank, seat->ports.banks);
    mech_vote_mask(seat, mask, bank, warps);
}

static void port_allow_issue(void *host, uint32_t bank, uint64_t warps)
{
    vote_mask(host, "allow_issue", MECH_MASK_ISSUE, bank, warps);
}

static void port_allow_memory(void *host, uint32_t bank, uint64_t warps)
{
    vote_mask(host, "allow_memory", MECH_MASK_MEMORY, bank, warps);
}

static void port_allow_load(void *host, uint32_t bank, uint64_t warps)
{
    vote_mask(host, "allow_load", MECH_MASK_LOAD, bank, warps);
}

static void port_limit_ctas(void *host, uint32_t n)
{
    struct mech_seat *seat = host;
    seat->votes.cta_limit = n;
    mech_combine_limits(seat->sm);
}

static void port_l1_lines_max(void *host, uint32_t lines)
{
    struct mech_seat *seat = seat_in_init(host, "l1_lines_max");
    const uint32_t most = seat->ports.l1_sets * mech_l1_ways_max(&seat->ports);
    if (UNLIKELY(lines > most))
        mech_fail(seat, "l1_lines_max", "%u lines, but the L1 and the register file hold %u", lines, most);
    seat->votes.l1_lines_max = lines;
    mech_combine_limits(seat->sm);
}

static void port_l1_lines(void *host, uint32_t lines)
{
    struct mech_seat *seat = host;
    uint32_t own = seat->ports.l1_sets * seat->ports.l1_ways, most = MAX(own, seat->votes.l1_lines_max);
    if (UNLIKELY(lines > most))
        mech_fail(seat, "l1_lines", "%u lines, but the L1 has %u and l1_lines_max was %u", lines, own,
                  seat->votes.l1_lines_max);
    seat->votes.l1_lines = lines;
    mech_combine_limits(seat->sm);
}

static void port_reexec_queue(void *host, uint32_t entries)
{
    struct mech_seat *seat = seat_in_init(host, "reexec_queue");
    if (UNLIKELY(entries > MECH_REEXEC_MAX))
        mech_fail(seat, "reexec_queue", "%u entries; %d are the most", entries, (int)MECH_REEXEC_MAX);
    seat->votes.reexec_entries = entries;
    mech_combine_limits(seat->sm);
}

/* ---- queries of the SM ---- */

static const struct mech_counters *port_counters(void *host)
{
    static const struct mech_counters zeros;
    const struct mech_sm_setup *s = &seat_running(host, "counters")->sm->setup;
    return s->ops->counters ? s->ops->counters(s->sm) : &zeros;
}

static uint64_t port_warp_issued(void *host, int warp)
{
    const struct mech_seat *seat = seat_running(host, "warp_issued");
    const struct mech_sm_setup *s = &seat->sm->setup;
    if (UNLIKELY(warp < 0 || (uint32_t)warp >= s->warps)) mech_fail(seat, "warp_issued", "warp %d", warp);
    return s->ops->warp_issued ? s->ops->warp_issued(s->sm, warp) : 0;
}

static uint64_t port_memory_wait(void *host, uint32_t bank)
{
    const struct mech_seat *seat = seat_running(host, "memory_wait");
    const struct mech_sm_setup *s = &seat->sm->setup;
    if (UNLIKELY(bank >= seat->ports.banks))
        mech_fail(seat, "memory_wait", "bank %u, but the SM has %u", bank, seat->ports.banks);
    return s->ops->memory_wait ? s->ops->memory_wait(s->sm, bank) : 0;
}

static const uint64_t *port_live_registers(void *host, int warp, uint32_t pc)
{
    static const uint64_t none[MECH_REGISTER_WORDS];
    const struct mech_seat *seat = seat_running(host, "live_registers");
    const struct mech_sm_setup *s = &seat->sm->setup;
    if (UNLIKELY(warp < 0 || (uint32_t)warp >= s->warps)) mech_fail(seat, "live_registers", "warp %d", warp);
    return s->ops->live_registers ? s->ops->live_registers(s->sm, warp, pc) : none;
}

/* ---- the L1 ---- */

static bool port_prefetch(void *host, uint64_t address, uint32_t pc, int target_warp)
{
    const struct mech_sm_setup *s = &seat_running(host, "prefetch")->sm->setup;
    return s->ops->prefetch && s->ops->prefetch(s->sm, address, pc, target_warp);
}

static uint32_t port_l1_set(void *host, uint64_t line)
{
    const struct mech_sm_setup *s = &seat_running(host, "l1_set")->sm->setup;
    return s->ops->l1_set ? s->ops->l1_set(s->sm, line) : 0;
}

static bool port_l1_probe(void *host, uint64_t line)
{
    const struct mech_sm_setup *s = &seat_running(host, "l1_probe")->sm->setup;
    return s->ops->l1_probe && s->ops->l1_probe(s->sm, line);
}

static bool port_l1_read(void *host, uint64_t line)
{
    const struct mech_sm_setup *s = &seat_running(host, "l1_read")->sm->setup;
    return s->ops->l1_read && s->ops->l1_read(s->sm, line);
}

/* Returns the SM of a mechanism that has claimed this miss, or is asked about it (may_be_asked). */
static struct mech_sm *sm_of_miss(void *host, const char *port, uint32_t token, bool may_be_asked)
{
    const struct mech_seat *seat = seat_running(host, port);
    struct mech_sm *m = seat->sm;
    const bool is_asked = may_be_asked && m->asks_miss && m->asked_token == token;
    if (UNLIKELY((int)seat->index != m->miss_policy || (!is_asked && !mech_has_claimed(m, token))))
        mech_fail(seat, port, "token %u: it has claimed no such miss", token);
    return m;
}

static struct mech_sm *sm_of_claim(void *host, const char *port, uint32_t token)
{
    return sm_of_miss(host, port, token, false);
}

static void port_miss_answer(void *host, uint32_t token)
{
    struct mech_sm *m = sm_of_claim(host, "miss_answer", token);
    mech_end_claim(m, token);
    if (m->setup.ops->miss_answer) m->setup.ops->miss_answer(m->setup.sm, token);
}

static void port_miss_as_of(void *host, uint32_t token, uint64_t as_of)
{
    const struct mech_sm *m = sm_of_miss(host, "miss_as_of", token, true);
    if (m->setup.ops->miss_as_of) m->setup.ops->miss_as_of(m->setup.sm, token, as_of);
}

static bool port_miss_forward(void *host, uint32_t token)
{
    struct mech_sm *m = sm_of_claim(host, "miss_forward", token);
    if (!m->setup.ops->miss_forward || !m->setup.ops->miss_forward(m->setup.sm, token)) return false;
    mech_end_claim(m, token);
    return true;
}

/* ---- registers ---- */

static struct mech_seat *seat_with_registers(void *host, const char *port)
{
    struct mech_seat *seat = seat_running(host, port);
    if (UNLIKELY(!(seat->mech->owns & MECH_OWNS_REGISTERS)))
        mech_fail(seat, port, "only a mechanism that owns MECH_OWNS_REGISTERS may call it");
    return seat;
}

static bool port_registers_take(void *host, uint32_t from, uint32_t rows, uint32_t *first)
{
    const struct mech_sm_setup *s = &seat_with_registers(host, "registers_take")->sm->setup;
    return s->ops->registers_take && s->ops->registers_take(s->sm, from, rows, first);
}

static void port_registers_give(void *host, uint32_t first, uint32_t rows)
{
    const struct mech_seat *seat = seat_with_registers(host, "registers_give");
    const struct mech_sm_setup *s = &seat->sm->setup;
    if (s->ops->registers_give && UNLIKELY(!s->ops->registers_give(s->sm, first, rows)))
        mech_fail(seat, "registers_give", "%u rows from %u on, but it does not have all of them", rows,
                  first);
}

static const struct mech_sm_setup *setup_of_keeper(void *host, const char *port, uint32_t row)
{
    const struct mech_seat *seat = seat_running(host, port);
    if (UNLIKELY(!(seat->mech->owns & MECH_KEEPS_REGISTERS)))
        mech_fail(seat, port, "only a mechanism that owns MECH_KEEPS_REGISTERS may call it");
    if (UNLIKELY(row >= seat->sm->setup.register_rows))
        mech_fail(seat, port, "row %u, but the register file has %u", row, seat->sm->setup.register_rows);
    return &seat->sm->setup;
}

static void port_cta_rows(void *host, uint32_t rows)
{
    struct mech_seat *seat = seat_in_init(host, "cta_rows");
    if (UNLIKELY(!(seat->mech->owns & MECH_KEEPS_REGISTERS)))
        mech_fail(seat, "cta_rows", "only a mechanism that owns MECH_KEEPS_REGISTERS may call it");
    seat->votes.cta_rows = rows;
    mech_combine_limits(seat->sm);
}

static bool port_registers_keep(void *host, uint32_t row)
{
    const struct mech_sm_setup *s = setup_of_keeper(host, "registers_keep", row);
    return s->ops->registers_keep && s->ops->registers_keep(s->sm, row);
}

static void port_registers_release(void *host, uint32_t row)
{
    const struct mech_sm_setup *s = setup_of_keeper(host, "registers_release", row);
    if (s->ops->registers_release && UNLIKELY(!s->ops->registers_release(s->sm, row)))
        mech_fail(host, "registers_release", "row %u, which it does not keep", row);
}

/* A mechanism with only MECH_OWNS_REGISTERS may use only rows that it has taken: no row holds registers and
 * other data. A mechanism that keeps registers of CTAs, or only counts rows, takes none. */
static bool has_row(const struct mech_seat *seat, uint32_t row)
{
    const struct mech_sm_setup *s = &seat->sm->setup;
    return seat->mech->owns != MECH_OWNS_REGISTERS || !s->ops->registers_taken ||
           s->ops->registers_taken(s->sm, row);
}

static bool port_bank_access(void *host, uint32_t row, bool is_write)
{
    const struct mech_seat *seat = seat_running(host, "bank_access");
    const struct mech_sm_setup *s = &seat->sm->setup;
    if (UNLIKELY(row >= s->register_rows))
        mech_fail(seat, "bank_access", "row %u, but the register file has %u", row, s->register_rows);
    if (UNLIKELY(!has_row(seat, row))) mech_fail(seat, "bank_access", "row %u, which it has not taken", row);
    return s->ops->bank_access && s->ops->bank_access(s->sm, row, is_write);
}

/* ---- between SMs ---- */

static const struct mech_sm_setup *setup_that_uses(void *host, const char *port, enum mech_uses part,
                                                   const char *name)
{
    const struct mech_seat *seat = seat_running(host, port);
    if (UNLIKELY(!(mech_gpu_uses(seat->sm->setup.gpu, seat->index) & part)))
        mech_fail(seat, port, "only a mechanism whose `uses` answers %s may call it", name);
    return &seat->sm->setup;
}

static const struct mech_sm_setup *setup_of_ring(void *host, const char *port, enum mech_ring_channel channel)
{
    if (UNLIKELY((unsigned)channel > MECH_RING_RESPONSE))
        mech_fail(host, port, "channel %u, which is none of enum mech_ring_channel", (unsigned)channel);
    return setup_that_uses(host, port, MECH_USES_RING, "MECH_USES_RING");
}

/* Checks a port that concerns the message which the SM sees, and returns the set-up. */
static const struct mech_sm_setup *setup_of_seen(void *host, const char *port, enum mech_ring_channel channel,
                                                 struct mech_ring_message *m)
{
    const struct mech_sm_setup *s = setup_of_ring(host, port, channel);
    if (UNLIKELY(s->ops->ring_peek && !s->ops->ring_peek(s->sm, channel, m)))
        mech_fail(host, port, "this SM sees no message on that channel");
    return s;
}

static bool port_ring_push(void *host, enum mech_ring_channel channel, const struct mech_ring_message *m)
{
    const struct mech_sm_setup *s = setup_of_ring(host, "ring_push", channel);
    if (UNLIKELY(m->to == s->index || (m->to >= s->sm_count && m->to < MECH_RING_HOLDERS)))
        mech_fail(host, "ring_push", "a message for SM %u; it must be for another one of %u", m->to,
                  s->sm_count);
    if (UNLIKELY(!m->bytes || m->bytes > MECH_RING_BYTES_MAX))
        mech_fail(host, "ring_push", "a message of %u bytes; 1 to %d can be sent", m->bytes,
                  (int)MECH_RING_BYTES_MAX);
    return s->ops->ring_push && s->ops->ring_push(s->sm, channel, m);
}

static bool port_ring_peek(void *host, enum mech_ring_channel channel, struct mech_ring_message *m)
{
    const struct mech_sm_setup *s = setup_of_ring(host, "ring_peek", channel);
    return s->ops->ring_peek && s->ops->ring_peek(s->sm, channel, m);
}

static void port_ring_pop(void *host, enum mech_ring_channel channel)
{
    struct mech_ring_message m;
    const struct mech_sm_setup *s = setup_of_seen(host, "ring_pop", channel, &m);
    if (s->ops->ring_pop) s->ops->ring_pop(s->sm, channel);
}

static void port_ring_pass(void *host, enum mech_ring_channel channel)
{
    struct mech_ring_message m = {.to = MECH_RING_ALL};
    const struct mech_sm_setup *s = setup_of_seen(host, "ring_pass", channel, &m);
    if (UNLIKELY(m.to < MECH_RING_HOLDERS))
        mech_fail(host, "ring_pass", "the message is for this SM alone: it has to take it");
    if (s->ops->ring_pass) s->ops->ring_pass(s->sm, channel);
}

static const uint64_t *port_sharers(void *host, uint64_t line)
{
    static const uint64_t none[MECH_SM_WORDS];
    const struct mech_sm_setup *s = setup_that_uses(host, "sharers", MECH_USES_SHARERS, "MECH_USES_SHARERS");
    return s->ops->sharers ? s->ops->sharers(s->sm, line) : none;
}

static uint64_t port_copy_as_of(void *host, uint32_t sm, uint64_t line)
{
    const struct mech_sm_setup *s = setup_that_uses(host, "copy_as_of", MECH_USES_AGES, "MECH_USES_AGES");
    if (UNLIKELY(sm >= s->sm_count))
        mech_fail(host, "copy_as_of", "SM %u, but there are %u", sm, s->sm_count);
    return s->ops->copy_as_of ? s->ops->copy_as_of(s->sm, sm, line) : 0;
}

static uint64_t port_thread_insts(void *host)
{
    const struct mech_sm_setup *s = &seat_running(host, "thread_insts")->sm->setup;
    return s->ops->thread_insts ? s->ops->thread_insts(s->sm) : 0;
}

static bool port_cta_registers(void *host, const struct mech_transfer *t)
{
    const struct mech_seat *seat = seat_running(host, "cta_registers");
    const struct mech_sm_setup *s = &seat->sm->setup;
    if (UNLIKELY(t->cta_slot >= s->ctas))
        mech_fail(seat, "cta_registers", "CTA slot %u, but the SM has %u", t->cta_slot, s->ctas);
    if (UNLIKELY(!t->buffer || t->buffer > MECH_TRANSFER_BUFFER_MAX))
        mech_fail(seat, "cta_registers", "a buffer of %u rows; 1 to %d are possible", t->buffer,
                  (int)MECH_TRANSFER_BUFFER_MAX);
    return s->ops->cta_registers && s->ops->cta_registers(s->sm, t);
}

/* ---- CTAs ---- */

static const struct mech_sm_setup *setup_of_admitter(void *host, const char *port)
{
    const struct mech_seat *seat = seat_running(host, port);
    if (UNLIKELY(!seat->mech->admit)) mech_fail(seat, port, "only a mechanism that fills admit may call it");
    return &seat->sm->setup;
}

static void check_cta(void *host, const char *port, uint32_t cta_slot)
{
    const struct mech_seat *seat = host;
    if (UNLIKELY(cta_slot >= seat->ports.ctas))
        mech_fail(seat, port, "CTA slot %u, but the SM has %u", cta_slot, seat->ports.ctas);
}

static bool port_cta_swap(void *host, uint32_t out, uint32_t in, uint32_t cycles)
{
    const struct mech_sm_setup *s = setup_of_admitter(host, "cta_swap");
    if (out != MECH_NO_CTA) check_cta(host, "cta_swap", out);
    if (in != MECH_NO_CTA) check_cta(host, "cta_swap", in);
    return s->ops->cta_swap && s->ops->cta_swap(s->sm, out, in, cycles);
}

static void port_stall_after(void *host, uint32_t cycles)
{
    struct mech_seat *seat = seat_in_init(host, "stall_after");
    seat->votes.stall_cycles = cycles;
    mech_combine_limits(seat->sm);
}

static uint32_t port_warp_pcs(void *host, uint32_t cta_slot, uint32_t index, uint32_t *pcs, uint32_t max)
{
    const struct mech_sm_setup *s = &seat_running(host, "warp_pcs")->sm->setup;
    check_cta(host, "warp_pcs", cta_slot);
    return s->ops->warp_pcs ? s->ops->warp_pcs(s->sm, cta_slot, index, pcs, max) : 0;
}

static const uint64_t *port_cta_live(void *host, uint32_t cta_slot, uint32_t pc)
{
    static const uint64_t none[MECH_REGISTER_WORDS];
    const struct mech_sm_setup *s = &seat_running(host, "cta_live")->sm->setup;
    check_cta(host, "cta_live", cta_slot);
    return s->ops->cta_live ? s->ops->cta_live(s->sm, cta_slot, pc) : none;
}

static void port_cta_park(void *host, uint32_t cta_slot, const uint64_t *kept)
{
    const struct mech_sm_setup *s = setup_of_admitter(host, "cta_park");
    check_cta(host, "cta_park", cta_slot);
    if (s->ops->cta_park && UNLIKELY(!s->ops->cta_park(s->sm, cta_slot, kept)))
        mech_fail(host, "cta_park", "the CTA in slot %u is active, or has no rows", cta_slot);
}

static bool port_cta_unpark(void *host, uint32_t cta_slot)
{
    const struct mech_sm_setup *s = setup_of_admitter(host, "cta_unpark");
    check_cta(host, "cta_unpark", cta_slot);
    return s->ops->cta_unpark && s->ops->cta_unpark(s->sm, cta_slot);
}

static uint64_t port_code_address(void *host, uint32_t cta_slot, uint32_t pc)
{
    const struct mech_sm_setup *s = &seat_running(host, "code_address")->sm->setup;
    check_cta(host, "code_address", cta_slot);
    return s->ops->code_address ? s->ops->code_address(s->sm, cta_slot, pc) : pc;
}

static bool port_memory_read(void *host, uint64_t offset, uint32_t token)
{
    const struct mech_sm_setup *s = setup_of_admitter(host, "memory_read");
    if (UNLIKELY(offset >= MECH_MEMORY_BYTES))
        mech_fail(host, "memory_read", "offset 0x%llx; there are 0x%llx bytes", (unsigned long long)offset,
                  (unsigned long long)MECH_MEMORY_BYTES);
    return s->ops->memory_read && s->ops->memory_read(s->sm, offset, token);
}

static void port_refuse(void *host, const char *why) { mech_fail(host, "refuse", "%s", why); }

static bool port_ctas_left(void *host)
{
    const struct mech_sm_setup *s = &seat_running(host, "ctas_left")->sm->setup;
    return s->ops->ctas_left && s->ops->ctas_left(s->sm);
}

static bool others_keep_rows(const struct mech_seat *seat)
{
    const struct mech_set *set = seat->sm->setup.set;
    for (uint32_t i = 0; i < mech_set_count(set); i++)
        if (i != seat->index && mech_set_at(set, i)->owns & MECH_KEEPS_REGISTERS) return true;
    return false;
}

void mech_ports_fill(struct mech_seat *seat)
{
    const struct mech_sm_setup *s = &seat->sm->setup;
    seat->ports = (struct mech_ports){.host = seat,
                                      .sm = s->index,
                                      .sm_count = s->sm_count,
                                      .warps = s->warps,
                                      .banks = s->banks,
                                      .schedulers = s->schedulers,
                                      .line_bytes = s->line_bytes,
                                      .ctas = s->ctas,
                                      .l1_sets = s->l1_sets,
                                      .l1_ways = s->l1_ways,
                                      .l1_latency = s->l1_latency,
                                      .register_rows = s->register_rows,
                                      .register_banks = s->register_banks,
                                      .others_keep_rows = others_keep_rows(seat),
                                      .ring_queue = s->ring_queue,
                                      .ring_request_buffer = s->ring_request_buffer,
                                      .ring_response_buffer = s->ring_response_buffer,
                                      .memory = port_memory,
                                      .allow_issue = port_allow_issue,
                                      .allow_memory = port_allow_memory,
                                      .allow_load = port_allow_load,
                                      .prefetch = port_prefetch,
                                      .counters = port_counters,
                                      .warp_issued = port_warp_issued,
                                      .memory_wait = port_memory_wait,
                                      .live_registers = port_live_registers,
                                      .set_timer = port_set_timer,
                                      .note = port_note,
                                      .miss_answer = port_miss_answer,
                                      .miss_as_of = port_miss_as_of,
                                      .miss_forward = port_miss_forward,
                                      .reexec_queue = port_reexec_queue,
                                      .l1_lines_max = port_l1_lines_max,
                                      .l1_lines = port_l1_lines,
                                      .l1_set = port_l1_set,
                                      .l1_probe = port_l1_probe,
                                      .l1_read = port_l1_read,
                                      .registers_take = port_registers_take,
                                      .registers_give = port_registers_give,
                                      .cta_rows = port_cta_rows,
                                      .registers_keep = port_registers_keep,
                                      .registers_release = port_registers_release,
                                      .bank_access = port_bank_access,
                                      .limit_ctas = port_limit_ctas,
                                      .ring_push = port_ring_push,
                                      .ring_peek = port_ring_peek,
                                      .ring_pop = port_ring_pop,
                                      .ring_pass = port_ring_pass,
                                      .sharers = port_sharers,
                                      .copy_as_of = port_copy_as_of,
                                      .thread_insts = port_thread_insts,
                                      .cta_registers = port_cta_registers,
                                      .cta_swap = port_cta_swap,
                                      .stall_after = port_stall_after,
                                      .warp_pcs = port_warp_pcs,
                                      .cta_live = port_cta_live,
                                      .cta_park = port_cta_park,
                                      .cta_unpark = port_cta_unpark,
                                      .code_address = port_code_address,
                                      .memory_read = port_memory_read,
                                      .refuse = port_refuse,
                                      .ctas_left = port_ctas_left};
}
