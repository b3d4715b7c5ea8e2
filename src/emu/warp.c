/* warp.c: the loop that runs a warp: fetch, guard, execute.
 *
 * (1) leaf->pc is the index of the instruction that executes; a function that raises an event sets it to
 * where the leaf continues. (2) A leaf is checked against its node before each instruction, so that lanes
 * never run past the point where they have to wait. (3) A turn ends after a bounded number of instructions,
 * and sooner when the code waits for other threads in a loop; both are counted in instructions and branches,
 * never in time: the same run, the same order. */
#include "emu/grid.h"

enum {
    /* backward branches of a waiting loop before the turn passes to another leaf or warp */
    SPIN_TURN = 8,
    /* Such branches of one leaf before lanes that wait for it continue alone: far more than a loop with
     * atomics in it usually runs after other lanes of the warp have left it. */
    SPIN_RELEASE = 1024,
    /* SPIN_RELEASE where each instruction takes time. A round of such a loop then waits for memory, and lanes
     * that hold a lock, or have left the loop, must not wait for a thousand rounds; 64 is more than the 32
     * rounds in which all lanes of a warp get their turn at one word. */
    STEP_SPIN_TURN = 4,
    STEP_SPIN_RELEASE = 64,
    /* a turn when stepped */
    LEAF_TURN_INSTS = 16384,
    /* Instructions of turns that one leaf used up after which lanes that wait for it are released too, for
     * other waiting loops. */
    LEAF_INSTS_RELEASE = 1 << 20
};

void warp_start(struct warp *w, uint32_t lanes)
{
    memset(w->x.rows[0], 0, (size_t)w->run->image->reg_rows * ISA_LANES * sizeof(uint32_t));
    memset(w->pred, 0, sizeof w->pred);
    w->pred[ISA_PT] = UINT32_MAX;
    w->x.pred = w->pred;
    w->x.warp = w;
    w->event = EVENT_NONE;
    w->sync_seen = 0;
    w->insts = w->turn_start = 0;
    w->turn_insts = w->deferred_first = 0;
    w->lanes = w->live = lanes;
    w->leaf_used = w->leaf_ready = 1;
    w->sync_waiting = 0;
    w->node_used = 0;
    w->serial = w->clock = 0;
    w->calls.len = 0;
    w->defers_arrivals = false;
    w->arrivals.len = w->arrivals_made = 0;
    w->leaves[0] = (struct leaf){.mask = lanes, .node = NODE_NONE};
    w->leaf = &w->leaves[0];
}

/* The pc at which the leaf has to stop and wait, or one that it never reaches. */
static uint32_t join_pc(const struct warp *w, const struct leaf *leaf)
{
    if (leaf->node == NODE_NONE || w->nodes[leaf->node].depth != leaf->depth) return ISA_NO_RECONV;
    return w->nodes[leaf->node].reconv;
}

/* A backward branch of a loop that reads what other threads write. */
static bool note_spin(struct warp *w, struct leaf *leaf, uint32_t target, uint32_t turn)
{
    w->sync_seen = 0;
    if (++leaf->patience.spins % turn) return false;
    leaf->pc = target;
    warp_raise(w, EVENT_YIELD);
    return true;
}

/* Some lanes branch, some do not. */
static void branch_apart(struct warp *w, const struct isa_inst *i, uint32_t taken)
{
    struct leaf *leaf = w->leaf;
    if (w->sync_seen && i->target <= leaf->pc) {
        w->sync_seen = 0;
        leaf->patience.spins++;
    }
    w->share->divergent_branches++;
    const struct part parts[2] = {{leaf->pc + 1, leaf->mask & ~taken, leaf->depth},
                                  {i->target, taken, leaf->depth}};
    uint32_t reconv = i->reconv, depth = leaf->depth;
    if (reconv == ISA_NO_RECONV && depth) { /* the paths end in returns: they meet behind the call */
        depth--;
        reconv = w->calls.data[depth].ret[lane_first(leaf->mask)];
    }
    diverge_split(w, parts, 2, reconv, depth);
}

/* Runs the current leaf, and what becomes of it, until an event other than EVENT_GO or until insts reaches
 * end. */
static void run_leaf(struct warp *w, uint64_t end)
{
    struct run *r = w->run;
    const struct isa_inst *insts = r->insts;
    struct pc_info *pcs = w->share->pcs;
    exec_fn *const *table = r->table;
    struct leaf *leaf = w->leaf;
    uint32_t pc = leaf->pc, mask = leaf->mask, join = join_pc(w, leaf);
    while (w->insts < end) {
        if (UNLIKELY(pc == join)) {
            leaf->pc = pc;
            diverge_arrive(w);
            return;
        }
        const struct isa_inst *i = insts + pc;
        uint32_t m = mask & warp_guard(w, i);
        w->insts++;
        pcs[pc].insts++;
        if (m != UINT32_MAX) pcs[pc].idle += ISA_LANES - lanes_count(m);
        if (!m) {
            pc++;
            continue;
        }
        if (i->op == ISA_OP_BRA && m == mask) {
            if (UNLIKELY(w->sync_seen) && i->target <= pc && note_spin(w, leaf, i->target, SPIN_TURN)) return;
            pc = i->target;
            continue;
        }
        leaf->pc = pc;
        table[i->op](&w->x, i, m);
        pc++;
        if (LIKELY(w->event == EVENT_NONE)) continue;
        if (w->event != EVENT_GO) return;
        w->event = EVENT_NONE;
        leaf = w->leaf;
        pc = leaf->pc;
        mask = leaf->mask;
        join = join_pc(w, leaf);
    }
    leaf->pc = pc;
}

void warp_op_bra(struct exec *x, const struct isa_inst *i, uint32_t mask) { branch_apart(x->warp, i, mask); }

/* The current leaf has used up its turn. When it seems to wait, lanes that wait for it continue alone, and at
 * once, because it may wait for one of them (true); otherwise the next leaf of the warp runs first in its
 * next turn. */
static bool give_way(struct warp *w, uint32_t release)
{
    struct leaf *leaf = w->leaf;
    if (!leaf) return false;
    bool waits = leaf->patience.spins >= release || leaf->patience.insts >= LEAF_INSTS_RELEASE;
    leaf->patience.insts = 0;
    if (waits && diverge_release(w)) return diverge_pick(w);
    if (leaf->mask == w->live) leaf->patience.spins = 0; /* no lane of this warp waits for it */
    diverge_rotate(w);
    return false;
}

/* The current leaf has run to the end of a turn, which had `insts` instructions. */
static void use_up(struct warp *w, uint32_t insts, uint32_t release)
{
    if (!w->leaf) return;
    w->leaf->patience.insts += insts;
    if (w->leaf->patience.insts >= LEAF_INSTS_RELEASE) give_way(w, release);
}

enum warp_end warp_run(struct warp *w, uint64_t budget)
{
    uint64_t end = w->insts + budget;
    w->turn_start = w->insts;
    for (;;) {
        if (!w->leaf && !diverge_pick(w)) return w->live ? WARP_BLOCKED : WARP_DONE;
        run_leaf(w, end);
        uint32_t event = w->event;
        w->event = EVENT_NONE;
        switch ((enum warp_event)event) {
        case EVENT_FAULT: return WARP_FAULT;
        case EVENT_YIELD:
            if (!give_way(w, SPIN_RELEASE)) return WARP_SPINS;
            break;
        case EVENT_SWITCH: break;
        case EVENT_GO:
        case EVENT_NONE: /* the budget is used up */
            use_up(w, (uint32_t)(w->insts - w->turn_start), SPIN_RELEASE);
            return WARP_TURN_OVER;
        }
    }
}

/* ---- one instruction at a time ---- */

bool warp_settle(struct warp *w)
{
    for (;;) {
        if (!w->leaf && !diverge_pick(w)) return false;
        if (w->leaf->pc != join_pc(w, w->leaf)) return true;
        diverge_arrive(w);
        w->event = EVENT_NONE;
    }
}

const struct isa_inst *warp_fetch(struct warp *w, uint32_t *mask)
{
    const struct leaf *leaf = w->leaf;
    const struct isa_inst *i = w->run->insts + leaf->pc;
    struct pc_info *info = &w->share->pcs[leaf->pc];
    *mask = leaf->mask & warp_guard(w, i);
    w->insts++;
    w->turn_start++;                          /* counted for the device at once */
    if (!w->run->ns) w->run->device->insts++; /* the clock of a functional run */
    info->insts++;
    if (*mask != UINT32_MAX) info->idle += ISA_LANES - lanes_count(*mask);
    return i;
}

bool warp_execute(struct warp *w, const struct isa_inst *i, uint32_t mask, exec_fn *fn)
{
    struct leaf *leaf = w->leaf;
    if (!mask) {
        leaf->pc++;
    } else if (i->op == ISA_OP_BRA && mask == leaf->mask) {
        bool is_spin = w->sync_seen && i->target <= leaf->pc;
        if (!is_spin || !note_spin(w, leaf, i->target, STEP_SPIN_TURN)) leaf->pc = i->target;
    } else {
        fn(&w->x, i, mask);
        if (w->event == EVENT_NONE) leaf->pc++;
    }
    uint32_t event = w->event;
    if (event == EVENT_FAULT) return false;
    w->event = EVENT_NONE;
    if (event == EVENT_YIELD) {
        w->turn_insts = 0;
        give_way(w, STEP_SPIN_RELEASE);
        return true;
    }
    if (++w->turn_insts < LEAF_TURN_INSTS) return false;
    w->turn_insts = 0;
    use_up(w, LEAF_TURN_INSTS, STEP_SPIN_RELEASE);
    return false;
}
