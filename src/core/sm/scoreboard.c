/* scoreboard.c: the scoreboard holds a bit for each register and predicate that an issued instruction is
 * still to write; an instruction that reads or writes one of them waits (Fermi's scheme, as GPGPU-Sim has
 * it). A fence, and a warp that has ended, wait until all memory operations of the warp are acknowledged. */
#include "core/sm/sm_impl.h"

/* ---- what is under way ---- */

void board_reserve(struct context *x, const struct uop *u)
{
    const bool is_memory = u->cls == CLASS_MEM;
    for (uint32_t i = 0; i < u->words; i++) {
        x->board_pending[i].any |= u->registers[i].def;
        if (is_memory) x->board_pending[i].memory |= u->registers[i].def;
    }
    x->board_preds |= u->def_preds;
}

void board_flight(struct context *x) { x->board_flights++; }

/* Group and epoch share a byte. */
_Static_assert(ASYNC_GROUPS == 16, "four bits each");

uint8_t board_memory(struct context *x, const struct uop *u)
{
    const uint8_t group = (uint8_t)(x->board_group % ASYNC_GROUPS);
    const uint8_t epoch = (uint8_t)(x->board_epoch % ASYNC_GROUPS);
    x->board_memory++;
    if (u->flags & UOP_ASYNC) x->board_groups[group]++;
    if (u->flags & (UOP_ASYNC | UOP_BULK)) x->board_epochs[epoch]++;
    return (uint8_t)(epoch << 4 | group);
}

void board_flight_done(struct context *x)
{
    debug_assert(x->board_flights);
    x->board_flights--;
}

/* Makes the arrivals whose copies have ended: an epoch is closed, and no copy of it or of an older one is
 * under way. Epochs further apart than ASYNC_GROUPS share a count, so an arrival may be late, never early. */
COLD static void make_arrivals(struct sm *m, struct context *x)
{
    while (x->board_epoch_first != x->board_epoch && !x->board_epochs[x->board_epoch_first % ASYNC_GROUPS]) {
        x->board_epoch_first++;
        if (emu_arrival_apply(x->emu)) continue;
        residency_fault(m);
        return;
    }
}

void board_memory_done(struct sm *m, struct context *x, const struct uop *u, uint8_t group)
{
    debug_assert(x->board_memory);
    x->board_memory--;
    if (LIKELY(!(u->flags & (UOP_ASYNC | UOP_BULK)))) return;
    if (u->flags & UOP_ASYNC) x->board_groups[group % ASYNC_GROUPS]--;
    if (!--x->board_epochs[group / ASYNC_GROUPS]) make_arrivals(m, x);
}

COLD void board_arrival(struct sm *m, struct context *x)
{
    x->board_epoch++;
    make_arrivals(m, x);
}

void board_commit(struct context *x) { x->board_group++; }

/* Are copies under way that a wait must await: those of all groups but the newest `allowed`; allowed < 0: of
 * any group? */
static bool copies_pending(const struct context *x, int32_t allowed)
{
    uint32_t newest = allowed < 0 ? x->board_group : x->board_group - 1 - (uint32_t)allowed;
    if (allowed >= 0 && x->board_group < 1 + (uint32_t)allowed) return false;
    for (uint32_t i = 0; i < ASYNC_GROUPS && i <= newest; i++)
        if (x->board_groups[(newest - i) % ASYNC_GROUPS]) return true;
    return false;
}

bool board_writes(const struct sm *m, const struct context *x)
{
    return x->board_memory || l1_writes_pending(m->l1, x->id);
}

/* ---- what waits for it ---- */

/* There is no branch, since the host would often mispredict it. */
static void set(uint64_t *mask, uint64_t bit, bool value)
{
    *mask = (*mask & ~bit) | (bit & (0 - (uint64_t)value));
}

/* Does the next instruction wait for any result; for that of a memory operation? */
struct hazards {
    uint64_t any, mem;
};

static inline struct hazards hazards_of(const struct context *x, bool is_fenced)
{
    const struct uop *u = x->next;
    struct hazards h = {x->board_preds & u->hazard_preds, 0};
    for (uint32_t i = 0; i < u->words; i++) {
        h.any |= x->board_pending[i].any & u->registers[i].hazard;
        h.mem |= x->board_pending[i].memory & u->registers[i].hazard;
    }
    if (is_fenced || (u->flags & UOP_WAIT && copies_pending(x, u->groups))) h.any = h.mem = 1;
    return h;
}

HOT void board_refresh(struct sm *m, struct context *x)
{
    if (x->slot == SM_NO_SLOT) return;
    struct board_masks *b = &bank_at(m, x->slot)->board;
    const uint64_t bit = slot_bit(x->slot);
    if (b->fenced & bit && !board_writes(m, x)) b->fenced &= ~bit;
    if (!x->next) {
        b->hazard &= ~bit;
        b->hazard_mem &= ~bit;
        return;
    }
    const struct hazards h = hazards_of(x, b->fenced & bit);
    set(&b->hazard, bit, h.any);
    set(&b->hazard_mem, bit, h.mem);
}

bool board_is_free(const struct context *x)
{
    return x->stage == WARP_RUNS && x->next && !hazards_of(x, x->board_fenced).any;
}

void board_release(struct sm *m, struct context *x, const struct uop *u)
{
    for (uint32_t i = 0; i < u->words; i++) {
        x->board_pending[i].any &= ~u->registers[i].def;
        x->board_pending[i].memory &= ~u->registers[i].def;
    }
    x->board_preds &= (uint8_t)~u->def_preds;
    if (UNLIKELY(m->transfer.absent)) transfer_result(m, x, u);
    if (UNLIKELY(x->slot == SM_NO_SLOT)) {
        warps_leave(m, x);
        swap_result(m, x);
        return;
    }
    struct bank *b = bank_at(m, x->slot);
    if ((b->board.hazard | b->board.fenced) & slot_bit(x->slot)) { /* a writeback can only end hazards */
        const uint64_t hazard = b->board.hazard, hazard_mem = b->board.hazard_mem;
        board_refresh(m, x);
        sleep_changed_if(&m->sleep, b->board.hazard != hazard || b->board.hazard_mem != hazard_mem);
    }
    if (b->warp.done & slot_bit(x->slot)) {
        sleep_changed(&m->sleep);
        warps_leave(m, x);
    }
}

void board_fence(struct sm *m, struct context *x)
{
    bank_at(m, x->slot)->board.fenced |= slot_bit(x->slot);
    m->board.awaits_writes = true;
}

void board_await_writes(struct sm *m) { m->board.awaits_writes = true; }

void board_forget(struct sm *m, uint32_t slot) { bank_at(m, slot)->board.fenced &= ~slot_bit(slot); }

/* ---- warps without slots ---- */

COLD void board_out(struct sm *m, struct context *x)
{
    struct board_masks *b = &bank_at(m, x->slot)->board;
    const uint64_t bit = slot_bit(x->slot);
    x->board_fenced = b->fenced & bit;
    x->board_away = x->board_fenced || x->stage == WARP_ENDED;
    m->board_cold.away += x->board_away;
    b->fenced &= ~bit;
    b->hazard &= ~bit;
    b->hazard_mem &= ~bit;
}

static void end_away(struct sm *m, struct context *x)
{
    m->board_cold.away -= x->board_away;
    x->board_away = x->board_fenced = false;
}

COLD void board_in(struct sm *m, struct context *x)
{
    if (x->board_fenced) board_fence(m, x);
    end_away(m, x);
}

COLD static void acknowledge_away(struct sm *m)
{
    for (uint32_t i = 0; i < m->residency.context_count; i++) {
        struct context *x = context_at(&m->state, i);
        if (!x->board_away || board_writes(m, x)) continue;
        end_away(m, x);
        warps_leave(m, x);
        swap_result(m, x);
        sleep_changed(&m->sleep);
    }
}

void board_acknowledged(struct sm *m)
{
    if (UNLIKELY(m->board_cold.away)) acknowledge_away(m);
    bool awaits = m->board_cold.away;
    for (uint32_t i = 0; i < m->state.bank_count; i++) {
        struct bank *b = &m->banks[i];
        const uint64_t first = (uint64_t)i * SM_BANK_SLOTS;
        FOR_BITS(f, b->board.fenced)
        {
            board_refresh(m, slot_context(&m->state, first + f));
            sleep_changed_if(&m->sleep, !(b->board.fenced >> f & 1));
        }
        FOR_BITS(d, b->warp.done) warps_leave(m, slot_context(&m->state, first + d));
        awaits |= (b->board.fenced | b->warp.done) != 0;
    }
    m->board.awaits_writes = awaits;
}
