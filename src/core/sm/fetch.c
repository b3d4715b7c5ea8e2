/* fetch.c: instruction fetch and decode.
 *
 * As in GPGPU-Sim: fetch_warps warps a cycle, in turn, of those whose instruction buffer is empty; each gets
 * fetch_width instructions of one line of the instruction cache; decoded in the next cycle, so that they can
 * issue in the one after. A miss goes to the L2 as a read of the code's address; the warp fetches again when
 * the line has come. A branch that is taken empties the buffer. With fetch_past_branch a warp fetches on
 * behind a branch; a scheduler that finds other instructions than the next one in the buffer empties it, and
 * the warp fetches from its next instruction.
 *
 * A miss for which the cache has no room stalls: the turn goes on to the next warp. When all warps that lack
 * instructions have stalled, one after the other, the turn goes round and nothing else changes until a line
 * comes, so the SM may sleep; the turns that it slept through are made up for (catch_up). */
#include "core/sm/sm_impl.h"

void fetch_init(struct sm *m, const struct sm_params *p)
{
    m->fetch.latches = m->fetch_cold.latches;
    m->fetch.past_branch = p->fetch_past_branch;
    m->fetch.width = (uint8_t)MIN(p->fetch_width, p->ibuffer);
}

/* ---- the buffer of a warp ---- */

/* The latch that holds instructions of a context between fetch and decode; NULL: none. */
static struct fetch_latch *latch_of(struct sm *m, const struct context *x)
{
    for (uint32_t i = 0; i < m->fetching.count; i++) {
        struct fetch_latch *l = &m->fetch.latches[i];
        if (l->context == x->id && l->count) return l;
    }
    return NULL;
}

static void want(struct sm *m, uint64_t warps) { m->fetching.wants |= warps != 0; }

static void flush_buffer(struct sm *m, struct context *x)
{
    struct bank *b = bank_at(m, x->slot);
    x->fetch_buffered = 0;
    b->fetch.buffered &= ~slot_bit(x->slot);
    b->fetch.empty |= slot_bit(x->slot);
    m->fetching.wants = true;
    struct fetch_latch *l = latch_of(m, x);
    if (l) l->count = 0;
}

void fetch_clear(struct sm *m, struct context *x)
{
    struct bank *b = bank_at(m, x->slot);
    b->fetch.empty |= slot_bit(x->slot);
    b->fetch.buffered &= ~slot_bit(x->slot);
    b->fetch.missed &= ~slot_bit(x->slot);
    m->fetching.wants = true;
}

void fetch_begin(struct context *x) { x->fetch_pc = x->next_pc; }

void fetch_check(struct sm *m, struct context *x)
{
    struct bank *b = bank_at(m, x->slot);
    const uint64_t bit = slot_bit(x->slot);
    const bool is_empty = b->fetch.empty & bit;
    const bool has_next = (x->fetch_buffered != 0) & (x->fetch_buffer_pc == x->next_pc);
    m->fetching.wants |= is_empty;
    if (LIKELY(is_empty | has_next)) {
        b->fetch.buffered = (b->fetch.buffered & ~bit) | (has_next ? bit : 0);
        return;
    }
    const struct fetch_latch *l = x->fetch_buffered ? NULL : latch_of(m, x);
    if (l && l->pc == x->next_pc) return;
    if (!m->fetch.past_branch) {
        flush_buffer(m, x);
        return;
    }
    b->fetch.buffered &= ~bit;
    if (x->fetch_buffered) b->fetch.astray |= bit;
}

void fetch_wait(struct sm *m, struct context *x)
{
    want(m, bank_at(m, x->slot)->fetch.empty & slot_bit(x->slot));
}

void fetch_end(struct sm *m, struct context *x)
{
    struct bank *b = bank_at(m, x->slot);
    flush_buffer(m, x);
    b->fetch.empty &= ~slot_bit(x->slot);
    b->fetch.astray &= ~slot_bit(x->slot);
}

COLD void fetch_out(struct sm *m, struct context *x)
{
    struct bank *b = bank_at(m, x->slot);
    x->fetch_missed = b->fetch.missed & slot_bit(x->slot);
    fetch_end(m, x);
    b->fetch.missed &= ~slot_bit(x->slot);
}

COLD void fetch_in(struct sm *m, struct context *x)
{
    fetch_clear(m, x);
    if (x->fetch_missed) bank_at(m, x->slot)->fetch.missed |= slot_bit(x->slot);
    x->fetch_missed = false;
}

void fetch_consume(struct sm *m, struct context *x)
{
    debug_assert(x->fetch_buffered && x->fetch_buffer_pc == x->next_pc);
    struct bank *b = bank_at(m, x->slot);
    x->fetch_pc = ++x->fetch_buffer_pc;
    const bool is_last = --x->fetch_buffered == 0;
    const uint64_t emptied = is_last ? slot_bit(x->slot) : 0;
    b->fetch.buffered &= ~emptied;
    b->fetch.empty |= emptied;
    m->fetching.wants |= is_last;
}

COLD static void correct_bank(struct sm *m, struct bank *b, uint32_t first_slot)
{
    FOR_BITS(i, b->fetch.astray)
    {
        struct context *x = slot_context(&m->state, first_slot + i);
        flush_buffer(m, x);
        x->fetch_pc = x->next_pc;
        sleep_changed(&m->sleep);
    }
    b->fetch.astray = 0;
}

void fetch_correct(struct sm *m)
{
    for (uint32_t i = 0; i < m->state.bank_count; i++)
        if (m->banks[i].fetch.astray) correct_bank(m, &m->banks[i], i * SM_BANK_SLOTS);
}

/* ---- the stages ---- */

static void decode(struct sm *m, const struct fetch_latch *l)
{
    struct context *x = context_at(&m->state, l->context);
    struct bank *b = bank_at(m, x->slot);
    const uint64_t bit = slot_bit(x->slot);
    debug_assert(b->warp.resident & bit && !x->fetch_buffered);
    x->fetch_buffer_pc = l->pc;
    x->fetch_buffered = (uint8_t)l->count;
    sleep_changed(&m->sleep);
    if (x->fetch_buffer_pc == x->next_pc && x->next) {
        b->fetch.buffered |= bit;
        return;
    }
    if (m->fetch.past_branch && x->next) {
        b->fetch.astray |= bit;
        return;
    }
    x->fetch_buffered = 0; /* the warp has branched meanwhile */
    b->fetch.empty |= bit;
    m->fetching.wants = true;
}

void fetch_decode(struct sm *m)
{
    for (uint32_t i = 0; i < m->fetching.count; i++)
        if (m->fetch.latches[i].count) decode(m, &m->fetch.latches[i]);
    m->fetching.count = 0;
}

void fetch_filled(void *sm, const uint32_t *contexts, uint32_t count)
{
    struct sm *m = sm;
    for (uint32_t i = 0; i < count; i++) {
        struct context *x = context_at(&m->state, contexts[i]);
        x->fetch_missed = false;
        if (x->slot != SM_NO_SLOT) bank_at(m, x->slot)->fetch.missed &= ~slot_bit(x->slot);
    }
    m->fetching.wants = true;
    m->fetch.stalls = MIN(m->fetch.stalls, 1); /* counting begins again, but catch_up still has to run */
    sleep_changed(&m->sleep);
}

static uint64_t wanting(const struct bank *b)
{
    return b->warp.resident & b->fetch.empty & ~b->warp.done & ~b->warp.held & ~b->fetch.missed;
}

/* The turn among several banks visits the same slot of each before the next slot, so that all schedulers are
 * served alike, whatever the number of banks. */
NOINLINE static uint32_t next_of_banks(const struct sm *m, const uint64_t *slots_of)
{
    const uint32_t banks = m->state.bank_count;
    const uint32_t last_bank = slot_bank(m->fetch.last), last_bit = m->fetch.last % SM_BANK_SLOTS;
    uint32_t best = SM_NONE, best_turn = UINT32_MAX;
    for (uint32_t bank = 0; bank < banks; bank++) {
        const uint64_t slots = slots_of[bank];
        if (!slots) continue;
        const bool had_turn = bank <= last_bank; /* the bank, with last_bit */
        const uint32_t from = (last_bit + had_turn) % SM_BANK_SLOTS;
        const uint32_t passed = (uint32_t)__builtin_ctzll(slots >> from | slots << (-from % SM_BANK_SLOTS));
        const uint32_t turn = (passed + had_turn) * banks + bank - last_bank;
        if (turn >= best_turn) continue;
        best_turn = turn;
        best = bank * SM_BANK_SLOTS + (from + passed) % SM_BANK_SLOTS;
    }
    return best;
}

/* The slot among `slots_of` whose turn follows that of the slot that fetched last; SM_NONE: there is none. */
static inline uint32_t next_in_turn(const struct sm *m, const uint64_t *slots_of)
{
    if (UNLIKELY(m->state.bank_count > 1)) return next_of_banks(m, slots_of);
    const uint64_t slots = slots_of[0], later = slots & ~((2ull << m->fetch.last) - 1);
    return slots ? (uint32_t)__builtin_ctzll(later ? later : slots) : SM_NONE;
}

/* ---- stalls ---- */

static uint32_t count_slots(const struct sm *m, const uint64_t *slots_of)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->state.bank_count; i++) count += (uint32_t)__builtin_popcountll(slots_of[i]);
    return count;
}

/* Advances the turn by the cycles that the SM slept since the newest stall. */
static COLD void catch_up(struct sm *m)
{
    const struct fetch_stall *s = &m->fetch_cold.stall;
    uint64_t turns = (m->sleep.cycle - s->cycle - 1) % count_slots(m, s->slots);
    for (; turns; turns--) m->fetch.last = next_in_turn(m, s->slots);
}

/* Counts stalls in a row. True: some warp has not tried yet, and may find room. */
static COLD bool stall(struct sm *m, const uint64_t *slots_of)
{
    struct fetch_stall *s = &m->fetch_cold.stall;
    const size_t bytes = m->state.bank_count * sizeof *slots_of;
    if (memcmp(s->slots, slots_of, bytes) != 0) m->fetch.stalls = 0;
    memcpy(s->slots, slots_of, bytes);
    s->cycle = m->sleep.cycle;
    if (m->fetch.stalls < UINT16_MAX) m->fetch.stalls++;
    return m->fetch.stalls <= count_slots(m, slots_of);
}

/* Instructions that one access brings, from fetch_pc on: at most to the end of the line, of the buffer and of
 * the code. */
static uint32_t fetch_length(const struct sm *m, const struct context *x)
{
    const uint32_t per_line = m->p->icache_line / SM_INST_BYTES; /* a power of two */
    const uint32_t count = MIN(m->fetch.width, per_line - (x->fetch_pc & (per_line - 1)));
    return MIN(count, x->program->inst_count - x->fetch_pc);
}

static enum rocache_answer ask_cache(struct sm *m, struct context *x)
{
    if (m->p->perfect_icache) {
        m->stats.fetches++;
        return ROCACHE_HIT;
    }
    const uint64_t address = x->program->code + (uint64_t)x->fetch_pc * SM_INST_BYTES;
    const uint32_t id = x->id;
    const enum rocache_answer a = readonly_ask(m, RO_INST, address, id, id, x->fetch_pc);
    m->stats.fetches += a != ROCACHE_STALL;
    if (a != ROCACHE_MISS) return a;
    m->stats.icache_misses++;
    bank_at(m, x->slot)->fetch.missed |= slot_bit(x->slot);
    return a;
}

/* Fetches instructions for the buffer of x, from fetch_pc on. */
static void take_line(struct sm *m, const struct context *x)
{
    m->fetch.latches[m->fetching.count++] =
        (struct fetch_latch){.context = x->id, .pc = x->fetch_pc, .count = fetch_length(m, x)};
    bank_at(m, x->slot)->fetch.empty &= ~slot_bit(x->slot);
}

/* Lets the next warp fetch. False: no warp wants to, or the instruction cache has no room. */
static bool fetch_next(struct sm *m)
{
    uint64_t slots[SM_BANKS_MAX];
    for (uint32_t bank = 0; bank < m->state.bank_count; bank++) slots[bank] = wanting(&m->banks[bank]);
    const uint32_t slot = next_in_turn(m, slots);
    m->fetching.wants = slot != SM_NONE;
    if (slot == SM_NONE) {
        m->fetch.stalls = 0;
        return false;
    }
    struct context *x = slot_context(&m->state, slot);
    m->fetch.last = slot;
    if (!m->fetch.past_branch || x->fetch_pc >= x->program->inst_count) x->fetch_pc = x->next_pc;
    const enum rocache_answer a = ask_cache(m, x);
    if (UNLIKELY(a == ROCACHE_STALL) && !stall(m, slots)) return false;
    sleep_changed(&m->sleep);
    if (a == ROCACHE_STALL) return false;
    m->fetch.stalls = 0;
    if (a == ROCACHE_HIT) take_line(m, x);
    return true;
}

void fetch_cycle(struct sm *m)
{
    if (UNLIKELY(m->fetch.stalls && m->sleep.cycle > m->fetch_cold.stall.cycle + 1)) catch_up(m);
    for (uint32_t i = 0; i < m->p->fetch_warps && fetch_next(m); i++) {}
}
