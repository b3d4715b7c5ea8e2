/* control.c: branches by table, calls, returns, exit and traps.
 *
 * Every lane has its own return addresses: row d of warp.calls holds the return address of each lane at depth
 * d + 1, so lanes of one warp may be at different depths of a recursion. A call that only some lanes make, or
 * that goes to several functions, is a branch that meets again behind the call. */
#include "emu/fault.h"
#include "emu/ops.h"

/* Bytes of stack that a call needs at least: its return address. */
enum { CALL_BYTES_MIN = 8 };

/* Groups lanes by their target, in the order of their first lanes. */
static uint32_t group_lanes(uint32_t mask, const uint32_t *pc, uint32_t depth, struct part *parts)
{
    uint32_t count = 0;
    while (mask) {
        uint32_t target = pc[lane_first(mask)], same = 0;
        FOR_LANES (l, mask) same |= (uint32_t)(pc[l] == target) << l;
        parts[count++] = (struct part){target, same, depth};
        mask &= ~same;
    }
    return count;
}

static void op_brx(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct warp *w = x->warp;
    struct leaf *leaf = w->leaf;
    const uint32_t *index = exec_src(x, i->src[0]);
    const uint32_t *targets = w->run->kernel->branch_targets + i->imm;
    uint32_t pc[ISA_LANES];
    FOR_LANES (l, mask) {
        if (index[l] >= i->target) {
            fault_raise(w, l, EMU_BAD_CALL, "brx.idx with index %u, but its table has %u targets", index[l],
                        i->target);
            return;
        }
        pc[l] = targets[index[l]];
    }
    struct part parts[ISA_LANES + 1];
    uint32_t count = group_lanes(mask, pc, leaf->depth, parts);
    if (leaf->mask & ~mask) parts[count++] = (struct part){leaf->pc + 1, leaf->mask & ~mask, leaf->depth};
    if (count == 1) {
        leaf->pc = parts[0].pc;
        warp_raise(w, EVENT_GO);
        return;
    }
    w->share->divergent_branches++;
    uint32_t reconv = i->reconv, depth = leaf->depth;
    if (reconv == ISA_NO_RECONV && depth) {
        depth--;
        reconv = w->calls.data[depth].ret[lane_first(leaf->mask)];
    }
    diverge_split(w, parts, count, reconv, depth);
}

/* ---- calls ---- */

static const struct isa_func *func_at(const struct isa_kernel *k, uint32_t pc)
{
    for (uint32_t f = 0; f < k->func_count; f++)
        if (k->funcs[f].pc == pc) return &k->funcs[f];
    return NULL;
}

/* Writes the return addresses of lanes that enter the function at pc. False: no stack left. */
static bool push_call(struct warp *w, uint32_t mask, uint32_t pc)
{
    const struct run *r = w->run;
    const struct leaf *leaf = w->leaf;
    const struct isa_func *callee = func_at(r->kernel, pc);
    while (w->calls.len <= leaf->depth) vec_push(&w->calls, (struct call_row){0});
    struct call_row *row = &w->calls.data[leaf->depth];
    uint32_t frame = MAX(callee ? callee->frame_bytes : 0, CALL_BYTES_MIN);
    FOR_LANES (l, mask) {
        uint32_t below = leaf->depth ? row[-1].sp[l] : r->kernel->frame_bytes;
        if (below + frame > r->local_bytes) {
            fault_raise(w, l, EMU_STACK_OVERFLOW,
                        "stack overflow: calls %u deep use %u bytes, the stack has %u (cudaLimitStackSize); "
                        "called '%s'",
                        leaf->depth + 1, below + frame - r->kernel->frame_bytes,
                        r->local_bytes - r->kernel->frame_bytes, callee ? callee->name : "?");
            return false;
        }
        row->sp[l] = below + frame;
        row->ret[l] = leaf->pc + 1;
    }
    return true;
}

/* Lanes of mask go to the functions of `parts`; the others continue behind the call and wait there. */
static void enter(struct warp *w, uint32_t mask, struct part *parts, uint32_t count)
{
    struct leaf *leaf = w->leaf;
    for (uint32_t p = 0; p < count; p++)
        if (!push_call(w, parts[p].mask, parts[p].pc)) return;
    if (count == 1 && mask == leaf->mask) {
        leaf->pc = parts[0].pc;
        leaf->depth++;
        warp_raise(w, EVENT_GO);
        return;
    }
    uint32_t next = leaf->pc + 1, depth = leaf->depth;
    if (leaf->mask & ~mask) parts[count++] = (struct part){next, leaf->mask & ~mask, depth};
    w->share->divergent_branches++;
    diverge_split(w, parts, count, next, depth);
}

static void op_call(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct part parts[2] = {{i->target, mask, x->warp->leaf->depth + 1}};
    enter(x->warp, mask, parts, 1);
}

/* The entry of the function that a pointer means, in this image; false: none. */
static bool func_entry(const struct run *r, uint64_t value, uint32_t *pc)
{
    if (value < ISA_FUNC_BASE || (value - ISA_FUNC_BASE) % 16) return false;
    uint64_t id = (value - ISA_FUNC_BASE) / 16;
    for (uint32_t f = 1; f < r->kernel->func_count; f++) {
        if (r->kernel->funcs[f].func_id != id) continue;
        *pc = r->kernel->funcs[f].pc;
        return true;
    }
    return false;
}

static void op_calli(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct warp *w = x->warp;
    const uint32_t *lo = exec_src(x, i->src[0]);
    uint32_t pc[ISA_LANES];
    FOR_LANES (l, mask) {
        uint64_t value = (uint64_t)lo[l + ISA_LANES] << 32 | lo[l];
        if (!func_entry(w->run, value, &pc[l])) {
            fault_address(w, l, EMU_BAD_CALL, value, NULL,
                          "call through 0x%llx, which is not a function of the module",
                          (unsigned long long)value);
            return;
        }
    }
    struct part parts[ISA_LANES + 1];
    uint32_t count = group_lanes(mask, pc, w->leaf->depth + 1, parts);
    enter(w, mask, parts, count);
}

static void end_lanes(struct warp *w, uint32_t mask)
{
    w->leaf->pc++;
    w->cta->live_threads -= lanes_count(mask);
    diverge_exit(w, mask);
    barrier_exit(w, mask);
    if (w->sync_waiting) sync_resolve(w);
}

static void op_exit(struct exec *x, const struct isa_inst *i, uint32_t mask) { end_lanes(x->warp, mask); }

static void op_ret(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    struct warp *w = x->warp;
    struct leaf *leaf = w->leaf;
    if (!leaf->depth) { /* the kernel itself returns */
        end_lanes(w, mask);
        return;
    }
    struct part parts[ISA_LANES + 1];
    uint32_t count = group_lanes(mask, w->calls.data[leaf->depth - 1].ret, leaf->depth - 1, parts);
    if (count == 1 && mask == leaf->mask) {
        leaf->pc = parts[0].pc;
        leaf->depth--;
        warp_raise(w, EVENT_GO);
        return;
    }
    uint32_t reconv = parts[0].pc, depth = leaf->depth - 1;
    if (leaf->mask & ~mask) parts[count++] = (struct part){leaf->pc + 1, leaf->mask & ~mask, leaf->depth};
    w->share->divergent_branches++;
    diverge_split(w, parts, count, reconv, depth);
}

static void op_trap(struct exec *x, const struct isa_inst *i, uint32_t mask)
{
    fault_raise(x->warp, lane_first(mask), EMU_TRAP, "trap instruction");
}

static void op_nop(struct exec *x, const struct isa_inst *i, uint32_t mask) {}

void ops_control(exec_fn **table)
{
    table[ISA_OP_BRA] = warp_op_bra;
    table[ISA_OP_BRX] = op_brx;
    table[ISA_OP_CALL] = op_call;
    table[ISA_OP_CALLI] = op_calli;
    table[ISA_OP_RET] = op_ret;
    table[ISA_OP_EXIT] = op_exit;
    table[ISA_OP_TRAP] = op_trap;
    table[ISA_OP_NOP] = op_nop;
}
