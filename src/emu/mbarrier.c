/* mbarrier.c: mbarriers and the asynchronous copies that arrive at them.
 *
 * An mbarrier is 64 bits of shared memory (PTX ISA, "mbarrier"): arrivals that are pending in this phase,
 * arrivals that a phase expects, bytes that are expected and have not come (may be negative for a time), and
 * the parity of the phase. A phase is complete when nothing is pending and no byte is missing; then the next
 * one begins. A state is the 64 bits before an arrival, so its phase is complete when the barrier's parity
 * differs. PTX leaves the layout of the bits open: this one differs from an H200's.
 *
 * Copies are made at once, an order that the programming model allows. Other threads learn of a copy by an
 * *arrival*. It is made at once too or, where the timing model runs (warp.defers_arrivals), when that says
 * that the copies before it have ended. Arrivals of a warp happen in program order. */
#include "emu/fault.h"
#include "emu/memory.h"
#include "emu/ops.h"
#include "emu/step.h"

enum {
    COUNT_BITS = 20,
    EXPECTED_SHIFT = 20,
    TX_SHIFT = 40,
    TX_BITS = 21,
    VALID_SHIFT = 62,
    PHASE_SHIFT = 63
};
enum { COUNT_MAX = ISA_MBAR_COUNT_MAX, TX_MAX = (1 << 20) - 1, BULK_UNIT = 16 };

struct mbarrier {
    uint32_t pending, expected;
    int32_t tx;
    bool parity, is_valid;
};

static struct mbarrier unpack(uint64_t bits)
{
    return (struct mbarrier){.pending = (uint32_t)bits & COUNT_MAX,
                             .expected = (uint32_t)(bits >> EXPECTED_SHIFT) & COUNT_MAX,
                             .tx = (int32_t)((int64_t)(bits << (64 - TX_SHIFT - TX_BITS)) >> (64 - TX_BITS)),
                             .parity = bits >> PHASE_SHIFT,
                             .is_valid = bits >> VALID_SHIFT & 1};
}

static uint64_t pack(const struct mbarrier *b)
{
    return b->pending | (uint64_t)b->expected << EXPECTED_SHIFT |
           ((uint64_t)(uint32_t)b->tx & ((1u << TX_BITS) - 1)) << TX_SHIFT |
           (uint64_t)b->is_valid << VALID_SHIFT | (uint64_t)b->parity << PHASE_SHIFT;
}

/* ---- one lane ---- */

static bool wrong(struct warp *w, uint32_t lane, const char *what)
{
    fault_raise(w, lane, EMU_BAD_BARRIER, "%s", what);
    return false;
}

static bool load(struct warp *w, uint32_t lane, const uint8_t *at, struct mbarrier *b)
{
    uint64_t bits;
    memcpy(&bits, at, sizeof bits);
    *b = unpack(bits);
    return b->is_valid || wrong(w, lane, "an mbarrier is used that was not initialised (mbarrier.init)");
}

static void store(uint8_t *at, const struct mbarrier *b)
{
    uint64_t bits = pack(b);
    memcpy(at, &bits, sizeof bits);
}

static void complete_phase(struct mbarrier *b)
{
    if (b->pending || b->tx) return;
    b->parity = !b->parity;
    b->pending = b->expected;
}

/* Bytes that are expected (positive) or have come (negative). */
static bool add_bytes(struct warp *w, uint32_t lane, struct mbarrier *b, int64_t bytes)
{
    int64_t tx = b->tx + bytes;
    if (tx < -TX_MAX || tx > TX_MAX)
        return wrong(w, lane, "an mbarrier counts 1048575 bytes at most that are expected or have come");
    b->tx = (int32_t)tx;
    return true;
}

static bool arrive(struct warp *w, uint32_t lane, struct mbarrier *b, uint32_t count)
{
    if (!count || count > b->pending)
        return wrong(w, lane, "more threads arrive at an mbarrier than its phase expects");
    b->pending -= count;
    return true;
}

/* ---- the instructions ---- */

static bool reach(struct warp *w, const struct isa_inst *i, uint32_t mask, struct reach *r)
{
    struct access_desc d = {.addr = i->src[0],
                            .is_32 = i->flags & ISA_A32,
                            .space = i->mod,
                            .access = ACCESS_ATOMIC,
                            .bytes = sizeof(uint64_t),
                            .offset = i->imm};
    if (!memory_reach(w, &d, mask, r)) return false;
    uint32_t outside = mask & ~r->shared;
    return !outside ||
           wrong(w, lane_first(outside), "an mbarrier lies in shared memory; this address does not");
}

static uint32_t operand(const struct exec *x, uint16_t o, uint32_t lane, uint32_t otherwise)
{
    return o == ISA_NONE ? otherwise : exec_src(x, o)[lane];
}

static void op_init(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct reach r;
    if (!reach(x->warp, i, mask, &r)) return;
    FOR_LANES (l, mask) {
        uint32_t count = exec_src(x, i->src[1])[l];
        if (!count || count > COUNT_MAX) {
            wrong(x->warp, l, "mbarrier.init with a count outside of 1 to 1048575");
            return;
        }
        store(reach_lane(&r, l), &(struct mbarrier){.pending = count, .expected = count, .is_valid = true});
    }
}

static void op_inval(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct reach r;
    struct mbarrier b;
    if (!reach(x->warp, i, mask, &r)) return;
    FOR_LANES (l, mask)
        if (!load(x->warp, l, reach_lane(&r, l), &b)) return;
    FOR_LANES (k, mask) store(reach_lane(&r, k), &(struct mbarrier){0});
}

static bool arrive_lane(struct exec *x, const struct isa_inst *i, uint32_t l, struct mbarrier *b)
{
    struct warp *w = x->warp;
    uint32_t count = operand(x, i->src[1], l, 1);
    if (!add_bytes(w, l, b, operand(x, i->src[2], l, 0)) || !arrive(w, l, b, count)) return false;
    if (i->mod2 & ISA_ARRIVE_DROP) b->expected -= count;
    if (i->mod2 & ISA_ARRIVE_NO_COMPLETE && !b->pending)
        return wrong(w, l, "mbarrier.arrive.noComplete completes the phase");
    complete_phase(b);
    return true;
}

static void op_arrive(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct reach r;
    uint64_t state[ISA_LANES];
    if (!reach(x->warp, i, mask, &r)) return;
    FOR_LANES (l, mask) {
        struct mbarrier b;
        if (!load(x->warp, l, reach_lane(&r, l), &b)) return;
        state[l] = pack(&b);
        if (!arrive_lane(x, i, l, &b)) return;
        store(reach_lane(&r, l), &b);
    }
    if (i->dst[0] == ISA_NONE) return;
    FOR_LANES (k, mask) set_row_u64(exec_dst(x, i->dst[0]), k, state[k]);
}

static void op_tx(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct reach r;
    if (!reach(x->warp, i, mask, &r)) return;
    FOR_LANES (l, mask) {
        struct mbarrier b;
        int64_t bytes = exec_src(x, i->src[1])[l];
        if (!load(x->warp, l, reach_lane(&r, l), &b)) return;
        if (!add_bytes(x->warp, l, &b, i->mod2 ? -bytes : bytes)) return;
        complete_phase(&b); /* also when expected bytes make up for bytes that came before */
        store(reach_lane(&r, l), &b);
    }
}

/* A loop around it waits for other threads. */
static void op_test(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct reach r;
    uint32_t done = 0;
    if (!reach(x->warp, i, mask, &r)) return;
    bool by_parity = i->op == ISA_OP_MBAR_TEST_PARITY;
    const uint32_t *phase = exec_src(x, i->src[1]);
    FOR_LANES (l, mask) {
        struct mbarrier b;
        if (!load(x->warp, l, reach_lane(&r, l), &b)) return;
        bool asked = by_parity ? phase[l] & 1 : unpack(row_u64(phase, l)).parity;
        done |= (uint32_t)(b.parity != asked) << l;
    }
    exec_set_pred(x, i->dst[0], done, mask);
    x->warp->sync_seen = 1;
}

/* ---- arrivals of copies ---- */

static bool make_arrival(struct warp *w, const struct arrival *a)
{
    FOR_LANES (l, a->mask) {
        struct mbarrier b;
        uint8_t *at = w->cta->shared + a->offset[l];
        if (!load(w, l, at, &b)) return false;
        if (a->is_tx ? !add_bytes(w, l, &b, -(int64_t)a->bytes[l]) : !arrive(w, l, &b, 1)) return false;
        complete_phase(&b);
        store(at, &b);
    }
    return true;
}

static void arrival_later(struct warp *w, struct arrival *a)
{
    if (!w->defers_arrivals) {
        make_arrival(w, a);
        return;
    }
    a->pc = w->leaf->pc;
    vec_push(&w->arrivals, *a);
}

/* With the warp at that instruction, so that a fault names it. */
bool emu_arrival_apply(struct warp *w)
{
    assert(w->arrivals_made < w->arrivals.len);
    const struct arrival a = w->arrivals.data[w->arrivals_made++];
    if (w->arrivals_made == w->arrivals.len) w->arrivals_made = w->arrivals.len = 0;
    struct leaf here = {.pc = a.pc, .mask = a.mask}, *now = w->leaf;
    w->leaf = &here;
    bool ok = make_arrival(w, &a);
    w->leaf = now;
    return ok;
}

static void op_copies_arrive(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct reach r;
    struct warp *w = x->warp;
    struct arrival a = {.mask = mask};
    if (!reach(w, i, mask, &r)) return;
    FOR_LANES (l, mask) {
        struct mbarrier b;
        uint8_t *at = reach_lane(&r, l);
        a.offset[l] = (uint32_t)(at - w->cta->shared);
        if (!load(w, l, at, &b)) return;
        if (i->mod2) continue;
        if (b.pending == COUNT_MAX) {
            wrong(w, l, "cp.async.mbarrier.arrive: the mbarrier counts 1048575 arrivals at most");
            return;
        }
        b.pending++; /* without .noinc the arrival is one more than the phase expected */
        store(at, &b);
    }
    arrival_later(w, &a);
}

/* ---- cp.async.bulk ---- */

static bool bulk_is_good(struct warp *w, uint32_t l, uint32_t shared, uint64_t global, uint32_t bytes)
{
    if ((shared | global | bytes) % BULK_UNIT == 0) return true;
    fault_raise(
        w, l, EMU_MISALIGNED,
        "cp.async.bulk of %u bytes between shared address 0x%x and global address 0x%llx: all three must "
        "be multiples of 16",
        bytes, shared, (unsigned long long)global);
    return false;
}

/* One lane's copy, 32 pieces of 16 bytes at a time. */
static bool bulk_lane(struct exec *x, const struct isa_inst *i, uint32_t l)
{
    bool is_load = i->op == ISA_OP_CPBULK_LOAD;
    uint32_t shared = exec_src(x, i->src[0])[l], bytes = exec_src(x, i->src[2])[l];
    uint64_t global = row_u64(exec_src(x, i->src[1]), l);
    if (!bulk_is_good(x->warp, l, shared, global, bytes)) return false;
    struct access_desc near = {.space = ISA_SHARED, .access = is_load ? ACCESS_STORE : ACCESS_LOAD},
                       far = {.space = ISA_GLOBAL, .access = is_load ? ACCESS_LOAD : ACCESS_STORE};
    near.bytes = far.bytes = BULK_UNIT;
    for (uint32_t at = 0; at < bytes; at += ISA_LANES * BULK_UNIT) {
        uint32_t pieces = MIN((bytes - at) / BULK_UNIT, (uint32_t)ISA_LANES);
        struct reach r_near, r_far;
        if (!memory_reach_run(x->warp, &near, shared + at, pieces, &r_near) ||
            !memory_reach_run(x->warp, &far, global + at, pieces, &r_far))
            return false;
        for (uint32_t k = 0; k < pieces; k++)
            memcpy(reach_lane(is_load ? &r_near : &r_far, k), reach_lane(is_load ? &r_far : &r_near, k),
                   BULK_UNIT);
    }
    return true;
}

static void op_bulk(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct warp *w = x->warp;
    struct arrival a = {.mask = mask, .is_tx = true};
    FOR_LANES (l, mask) {
        if (!bulk_lane(x, i, l)) return;
        if (i->op == ISA_OP_CPBULK_STORE) continue;
        a.offset[l] = exec_src(x, i->src[3])[l];
        a.bytes[l] = exec_src(x, i->src[2])[l];
        if (a.offset[l] % 8 == 0 && (uint64_t)a.offset[l] + 8 <= w->run->shared_bytes) continue;
        wrong(w, l, "the mbarrier of cp.async.bulk is not an aligned address of shared memory");
        return;
    }
    if (i->op == ISA_OP_CPBULK_LOAD) arrival_later(w, &a);
}

void ops_mbarrier(exec_fn **table)
{
    table[ISA_OP_MBAR_INIT] = op_init;
    table[ISA_OP_MBAR_INVAL] = op_inval;
    table[ISA_OP_MBAR_ARRIVE] = op_arrive;
    table[ISA_OP_MBAR_TX] = op_tx;
    table[ISA_OP_MBAR_TEST_STATE] = op_test;
    table[ISA_OP_MBAR_TEST_PARITY] = op_test;
    table[ISA_OP_CPASYNC_ARRIVE] = op_copies_arrive;
    table[ISA_OP_CPBULK_LOAD] = op_bulk;
    table[ISA_OP_CPBULK_STORE] = op_bulk;
}
