/* warp_ops.c: what a warp-wide instruction computes: shuffles, votes, matches, reductions; the special
 * registers; and the indirect move, whose index is the warp's.
 *
 * The lanes of the mask are those that execute it together (sync.c ensures that). Formulas: PTX ISA,
 * "shfl.sync", "vote.sync", "match.sync", "redux.sync", "elect.sync". */
#include "emu/fault.h"
#include "emu/memory.h"
#include "emu/ops.h"

/* The lane that each lane reads, and whether it is in range; else it reads its own. One loop a mode, without
 * branches. */
#define SHFL_LANES(FROM, OK)                                                                                 \
    for (uint32_t l = 0; l < ISA_LANES; l++) {                                                               \
        int32_t step = (int32_t)(b[l] & 31), seg = (int32_t)(c[l] >> 8 & 31), lane = (int32_t)l;             \
        int32_t min = lane & seg, max = min | ((int32_t)(c[l] & 31) & ~seg), j = (FROM);                     \
        int32_t in = (OK) ? -1 : 0;                                                                          \
        (void)min;                                                                                           \
        from[l] = (uint32_t)((j & in) | (lane & ~in)) & 31;                                                  \
        ok[l] = (uint32_t)in;                                                                                \
    }

static void shfl_lanes(uint32_t mode, const uint32_t *b, const uint32_t *c, uint32_t *from, uint32_t *ok)
{
    switch (mode) {
    case ISA_SHFL_UP: SHFL_LANES(lane - step, j >= max) break;
    case ISA_SHFL_DOWN: SHFL_LANES(lane + step, j <= max) break;
    case ISA_SHFL_BFLY: SHFL_LANES(lane ^ step, j <= max) break;
    default: SHFL_LANES(min | (step & ~seg), j <= max) break;
    }
}

static void copy_lanes(uint32_t *dst, const uint32_t *src, uint32_t mask)
{
    if (mask == UINT32_MAX)
        memcpy(dst, src, ISA_LANES * sizeof *dst);
    else
        FOR_LANES (l, mask) dst[l] = src[l];
}

static void op_shfl(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    const uint32_t *source = exec_src(x, i->src[0]);
    uint32_t from[ISA_LANES], ok[ISA_LANES], value[ISA_LANES];
    shfl_lanes(i->mod & ISA_WARP_MODE, exec_src(x, i->src[1]), exec_src(x, i->src[2]), from, ok);
    for (uint32_t l = 0; l < ISA_LANES; l++) value[l] = source[from[l]];
    if (i->mod & ISA_UNMASKED) /* a lane that does not take part gives 0, as on an H200 */
        for (uint32_t l = 0; l < ISA_LANES; l++)
            if (!(mask >> from[l] & 1)) value[l] = 0;
    if (i->dst[0] != ISA_NONE) copy_lanes(exec_dst(x, i->dst[0]), value, mask);
    if (i->dst[1] == ISA_NONE) return;
    uint32_t in_range = 0;
    for (uint32_t l = 0; l < ISA_LANES; l++) in_range |= ok[l] & 1u << l;
    exec_set_pred(x, i->dst[1], in_range, mask);
}

/* Lanes that a lane works with: its members, or where there is no mask, or none that counts, all that are
 * active. */
static uint32_t voters(const struct isa_inst *i, const uint32_t *member, uint32_t mask, uint32_t lane)
{
    return i->mod & (ISA_NOSYNC | ISA_UNMASKED) ? mask : member[lane] & mask;
}

static void op_vote(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    uint32_t value = exec_pred(x, i->src[0]), result = 0;
    const uint32_t *member = exec_src(x, i->src[1]);
    FOR_LANES (l, mask) {
        uint32_t who = voters(i, member, mask, l), yes = value & who;
        uint32_t mode = i->mod & ISA_WARP_MODE;
        bool r = mode == ISA_VOTE_ALL ? yes == who : mode == ISA_VOTE_ANY ? yes != 0 : yes == who || !yes;
        result |= (uint32_t)r << l;
    }
    exec_set_pred(x, i->dst[0], result, mask);
}

static void op_ballot(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    uint32_t value = exec_pred(x, i->src[0]);
    const uint32_t *member = exec_src(x, i->src[1]);
    if (i->dst[0] == ISA_NONE) return;
    uint32_t out[ISA_LANES];
    FOR_LANES (l, mask) out[l] = value & voters(i, member, mask, l);
    uint32_t *dst = exec_dst(x, i->dst[0]);
    FOR_LANES (l, mask) dst[l] = out[l];
}

static void match(struct exec *x, const struct isa_inst *i, uint32_t mask, bool wide, bool all)
{
    const uint32_t *row = exec_src(x, i->src[0]), *member = exec_src(x, i->src[1]);
    uint64_t value[ISA_LANES];
    uint32_t same[ISA_LANES], agree = 0;
    FOR_LANES (l, mask) value[l] = wide ? row_u64(row, l) : row[l];
    FOR_LANES (l, mask) {
        uint32_t who = voters(i, member, mask, l);
        same[l] = 0;
        FOR_LANES (k, who) same[l] |= (uint32_t)(value[k] == value[l]) << k;
        if (same[l] == who) agree |= 1u << l;
        if (all && same[l] != who) same[l] = 0;
    }
    if (i->dst[0] != ISA_NONE) {
        uint32_t *dst = exec_dst(x, i->dst[0]);
        FOR_LANES (l, mask) dst[l] = same[l];
    }
    if (all) exec_set_pred(x, i->dst[1], agree, mask);
}

static void op_match_any_32(struct exec *x, const struct isa_inst *i, uint32_t m)
{
    match(x, i, m, false, false);
}
static void op_match_any_64(struct exec *x, const struct isa_inst *i, uint32_t m)
{
    match(x, i, m, true, false);
}
static void op_match_all_32(struct exec *x, const struct isa_inst *i, uint32_t m)
{
    match(x, i, m, false, true);
}
static void op_match_all_64(struct exec *x, const struct isa_inst *i, uint32_t m)
{
    match(x, i, m, true, true);
}

static uint32_t redux_step(const struct isa_inst *i, uint32_t a, uint32_t b)
{
    bool less = i->type == ISA_S32 ? (int32_t)a < (int32_t)b : a < b;
    switch (i->mod2) {
    case ISA_ATOM_ADD: return a + b;
    case ISA_ATOM_AND: return a & b;
    case ISA_ATOM_OR: return a | b;
    case ISA_ATOM_XOR: return a ^ b;
    case ISA_ATOM_MIN: return less ? a : b;
    case ISA_ATOM_MAX: return less ? b : a;
    default: UNREACHABLE("redux operation");
    }
}

static void op_redux(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    const uint32_t *value = exec_src(x, i->src[0]), *member = exec_src(x, i->src[1]);
    if (i->dst[0] == ISA_NONE) return;
    uint32_t out[ISA_LANES], done = 0;
    FOR_LANES (l, mask) {
        if (done >> l & 1) continue;
        uint32_t who = voters(i, member, mask, l), first = lane_first(who), sum = value[first];
        FOR_LANES (k, who & (who - 1)) sum = redux_step(i, sum, value[k]);
        FOR_LANES (k, who) out[k] = sum;
        done |= who;
    }
    uint32_t *dst = exec_dst(x, i->dst[0]);
    FOR_LANES (l, mask) dst[l] = out[l];
}

static void op_elect(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    const uint32_t *member = exec_src(x, i->src[0]);
    uint32_t leaders = 0, leader[ISA_LANES];
    FOR_LANES (l, mask) {
        leader[l] = lane_first(voters(i, member, mask, l));
        leaders |= (uint32_t)(leader[l] == l) << l;
    }
    if (i->dst[0] != ISA_NONE) {
        uint32_t *dst = exec_dst(x, i->dst[0]);
        FOR_LANES (l, mask) dst[l] = leader[l];
    }
    exec_set_pred(x, i->dst[1], leaders, mask);
}

exec_fn *warp_op(uint16_t op)
{
    switch (op) {
    case ISA_OP_SHFL: return op_shfl;
    case ISA_OP_VOTE: return op_vote;
    case ISA_OP_BALLOT: return op_ballot;
    case ISA_OP_MATCH_ANY_32: return op_match_any_32;
    case ISA_OP_MATCH_ANY_64: return op_match_any_64;
    case ISA_OP_MATCH_ALL_32: return op_match_all_32;
    case ISA_OP_MATCH_ALL_64: return op_match_all_64;
    case ISA_OP_REDUX: return op_redux;
    case ISA_OP_ELECT: return op_elect;
    default: return NULL; /* bar.warp.sync only waits */
    }
}

static void set_all(struct exec *x, uint16_t dst, uint32_t value, uint32_t mask)
{
    if (dst == ISA_NONE) return;
    uint32_t *row = exec_dst(x, dst);
    FOR_LANES (l, mask) row[l] = value;
}

static void op_activemask(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    set_all(x, i->dst[0], mask, mask);
}

/* ---- special registers ---- */

/* Nanoseconds since the device was made: a warp instruction of any warp is one cycle of the core clock. */
static uint64_t globaltimer_ns(const struct warp *w)
{
    const struct emu_device *d = w->run->device;
    if (w->run->ns) return *w->run->ns;
    uint64_t cycles = d->insts + (w->insts - w->turn_start),
             khz = d->limits.clock_khz ? d->limits.clock_khz : 1000000;
    return cycles / khz * 1000000 + cycles % khz * 1000000 / khz;
}

static uint64_t clock_cycles(const struct warp *w) { return w->run->cycles ? *w->run->cycles : w->insts; }

static void sreg_row(const struct warp *w, const struct isa_inst *i, uint32_t *out)
{
    uint64_t uniform = 0;
    switch ((enum isa_sreg)i->mod) {
    case ISA_SREG_TID: memcpy(out, w->tid[MIN(i->mod2, 2)], ISA_LANES * sizeof *out); return;
    case ISA_SREG_LANEID:
        for (uint32_t l = 0; l < ISA_LANES; l++) out[l] = l;
        return;
    case ISA_SREG_LANEMASK_EQ:
        for (uint32_t l = 0; l < ISA_LANES; l++) out[l] = 1u << l;
        return;
    case ISA_SREG_LANEMASK_LT:
        for (uint32_t l = 0; l < ISA_LANES; l++) out[l] = (1u << l) - 1;
        return;
    case ISA_SREG_LANEMASK_LE:
        for (uint32_t l = 0; l < ISA_LANES; l++) out[l] = (2u << l) - 1;
        return;
    case ISA_SREG_LANEMASK_GT:
        for (uint32_t l = 0; l < ISA_LANES; l++) out[l] = ~((2u << l) - 1);
        return;
    case ISA_SREG_LANEMASK_GE:
        for (uint32_t l = 0; l < ISA_LANES; l++) out[l] = ~((1u << l) - 1);
        return;
    case ISA_SREG_CTAID: uniform = w->cta->id[MIN(i->mod2, 2)]; break;
    case ISA_SREG_WARPID: uniform = w->index; break;
    case ISA_SREG_SMID: uniform = w->cta->sm; break;
    case ISA_SREG_CLOCK: uniform = (uint32_t)clock_cycles(w); break;
    case ISA_SREG_CLOCK_HI: uniform = clock_cycles(w) >> 32; break;
    case ISA_SREG_CLOCK64: uniform = clock_cycles(w); break;
    case ISA_SREG_GLOBALTIMER: uniform = globaltimer_ns(w); break;
    case ISA_SREG_GLOBALTIMER_LO: uniform = (uint32_t)globaltimer_ns(w); break;
    case ISA_SREG_GLOBALTIMER_HI: uniform = globaltimer_ns(w) >> 32; break;
    }
    for (uint32_t l = 0; l < ISA_LANES; l++) {
        out[l] = (uint32_t)uniform;
        out[l + ISA_LANES] = (uint32_t)(uniform >> 32);
    }
}

/* A loop that reads a clock waits for time to pass, which needs other warps to run. */
static void note_clock(struct warp *w, const struct isa_inst *i)
{
    if (i->mod >= ISA_SREG_CLOCK) w->sync_seen = 1;
}

static void op_s2r_32(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    if (i->dst[0] == ISA_NONE) return;
    uint32_t row[2 * ISA_LANES];
    note_clock(x->warp, i);
    sreg_row(x->warp, i, row);
    copy_lanes(exec_dst(x, i->dst[0]), row, mask);
}

static void op_s2r_64(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    if (i->dst[0] == ISA_NONE) return;
    uint32_t row[2 * ISA_LANES];
    memset(row + ISA_LANES, 0, sizeof row / 2);
    note_clock(x->warp, i);
    sreg_row(x->warp, i, row);
    copy_lanes(exec_dst(x, i->dst[0]), row, mask);
    copy_lanes(exec_dst(x, i->dst[0]) + ISA_LANES, row + ISA_LANES, mask);
}

static void op_imov(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    const uint32_t index = exec_array_index(x, i, mask);
    if (index >= i->imm) {
        fault_raise(x->warp, lane_first(mask), EMU_BAD_CALL,
                    "imov with index %u, but its array has %u registers", index, (uint32_t)i->imm);
        return;
    }
    if (i->dst[0] != ISA_NONE)
        copy_lanes(exec_dst(x, i->dst[0]), exec_src(x, (uint16_t)(i->src[1] + index)), mask);
}

void ops_warp(exec_fn **table)
{
    table[ISA_OP_IMOV_32] = op_imov;
    table[ISA_OP_ACTIVEMASK] = op_activemask;
    table[ISA_OP_S2R_32] = op_s2r_32;
    table[ISA_OP_S2R_64] = op_s2r_64;
}
