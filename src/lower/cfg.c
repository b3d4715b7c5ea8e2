/* cfg.c: basic blocks of a function and the clean-up of its jumps.
 *
 * Clean-up is what every optimiser does with the labels that a front end leaves: a jump to a jump goes
 * straight to the end of the chain, a jump to a lone EXIT becomes EXIT (with the jump's guard: so that an
 * early return costs no divergence), code that nothing reaches goes away, and so does a jump to the next
 * instruction. */
#include "lower/cfg.h"

#include "base/bitset.h"
#include "lower/opnd.h"

enum { CFG_CLEAN_ROUNDS = 8, CFG_CHAIN_MAX = 16 };

/* ---- clean-up ---- */

/* Label -> index of the first instruction behind it that is not a label. */
static uint32_t *label_places(const struct mir_func *f)
{
    uint32_t *at = mem_alloc(sizeof *at * (f->label_count + 1));
    for (uint32_t i = 0; i < f->label_count; i++) at[i] = f->insts.len;
    uint32_t next = f->insts.len;
    for (uint32_t i = f->insts.len; i-- > 0;) {
        const struct mir_inst *in = &f->insts.data[i];
        if (in->op == MIR_OP_LABEL)
            at[in->target] = next;
        else if (in->op != ISA_OP_NOP)
            next = i;
    }
    return at;
}

static uint32_t next_real(const struct mir_func *f, uint32_t i)
{
    while (i < f->insts.len && (f->insts.data[i].op == MIR_OP_LABEL || f->insts.data[i].op == ISA_OP_NOP))
        i++;
    return i;
}

static void drop(struct mir_inst *in)
{
    in->op = ISA_OP_NOP;
    in->guard = MIR_NO_VREG;
    in->flags = 0;
}

/* Where a jump to `label` ends up when the jumps that it meets are followed. *end: the instruction there. */
static uint32_t follow(const struct mir_func *f, const uint32_t *at, uint32_t label, uint32_t *end)
{
    for (uint32_t hops = 0; hops < CFG_CHAIN_MAX; hops++) {
        *end = at[label];
        if (*end >= f->insts.len) return label;
        const struct mir_inst *in = &f->insts.data[*end];
        if (in->op != ISA_OP_BRA || opnd_is_guarded(in) || in->target == label) return label;
        label = in->target;
    }
    *end = at[label];
    return label;
}

static bool thread_jump(struct mir_func *f, const uint32_t *at, uint32_t i)
{
    struct mir_inst *in = &f->insts.data[i];
    uint32_t end = 0, label = follow(f, at, in->target, &end);
    bool changed = label != in->target;
    in->target = label;
    if (end < f->insts.len) {
        const struct mir_inst *there = &f->insts.data[end];
        /* Not RET: lanes meet there before they return. */
        if (there->op == ISA_OP_EXIT && !opnd_is_guarded(there)) {
            in->op = there->op;
            in->flags = 0;
            return true;
        }
    }
    if (next_real(f, i + 1) == end) {
        drop(in);
        return true;
    }
    /* "@p bra A; bra B; A:" is "@!p bra B". */
    uint32_t n = next_real(f, i + 1);
    if (opnd_is_guarded(in) && n < f->insts.len) {
        struct mir_inst *nx = &f->insts.data[n];
        bool straight = true;
        for (uint32_t k = i + 1; k < n; k++) straight &= f->insts.data[k].op == ISA_OP_NOP;
        if (straight && !opnd_is_guarded(nx) && (nx->op == ISA_OP_BRA || nx->op == ISA_OP_EXIT) &&
            next_real(f, n + 1) == end) {
            in->op = nx->op;
            in->target = nx->target;
            in->guard_not = !in->guard_not;
            in->flags = nx->op == ISA_OP_BRA ? in->flags : 0;
            drop(nx);
            return true;
        }
    }
    return changed;
}

static bool thread_jumps(struct mir_func *f)
{
    uint32_t *at = label_places(f);
    bool changed = false;
    for (uint32_t i = 0; i < f->insts.len; i++)
        if (f->insts.data[i].op == ISA_OP_BRA) changed |= thread_jump(f, at, i);
    free(at);
    return changed;
}

/* Marks what control can reach from the first instruction. */
static uint64_t *reach(const struct mir_func *f)
{
    uint32_t n = f->insts.len;
    uint64_t *seen = mem_zalloc(sizeof *seen * bitset_words(n + 1));
    uint32_t *label_at = mem_alloc(sizeof *label_at * (f->label_count + 1));
    for (uint32_t i = 0; i < f->label_count; i++) label_at[i] = n;
    for (uint32_t i = 0; i < n; i++)
        if (f->insts.data[i].op == MIR_OP_LABEL) label_at[f->insts.data[i].target] = i;
    VEC(uint32_t) work = {0};
    vec_push(&work, 0);
    while (work.len) {
        uint32_t i = work.data[--work.len];
        for (; i < n && !bitset_has(seen, i); i++) {
            bitset_add(seen, i);
            const struct mir_inst *in = &f->insts.data[i];
            if (in->op == ISA_OP_BRA) vec_push(&work, label_at[in->target]);
            if (in->op == ISA_OP_BRX)
                for (uint32_t k = 0; k < f->tables.data[in->target].count; k++)
                    vec_push(&work, label_at[f->tables.data[in->target].labels[k]]);
            if (opnd_never_falls(in)) break;
        }
    }
    vec_free(&work);
    free(label_at);
    return seen;
}

/* Keeps the instructions that are reached and are not NOPs; of the labels only those that some jump names. */
static bool compact(struct mir_func *f)
{
    uint64_t *seen = reach(f), *named = mem_zalloc(sizeof *named * bitset_words(f->label_count + 1));
    for (uint32_t i = 0; i < f->insts.len; i++) {
        const struct mir_inst *in = &f->insts.data[i];
        if (!bitset_has(seen, i)) continue;
        if (in->op == ISA_OP_BRA) bitset_add(named, in->target);
        if (in->op == ISA_OP_BRX)
            for (uint32_t k = 0; k < f->tables.data[in->target].count; k++)
                bitset_add(named, f->tables.data[in->target].labels[k]);
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->insts.len; i++) {
        const struct mir_inst *in = &f->insts.data[i];
        bool keep = bitset_has(seen, i) && in->op != ISA_OP_NOP;
        if (in->op == MIR_OP_LABEL)
            keep = bitset_has(named, in->target); /* tables may name one that only falls in */
        if (keep) f->insts.data[kept++] = *in;
    }
    bool changed = kept != f->insts.len;
    f->insts.len = kept;
    free(seen);
    free(named);
    return changed;
}

/* Control must not run off the end. */
static void close_end(struct mir_func *f, bool is_entry)
{
    if (f->insts.len && opnd_never_falls(&f->insts.data[f->insts.len - 1])) return;
    uint32_t loc = f->insts.len ? f->insts.data[f->insts.len - 1].loc : 0;
    vec_push(&f->insts, opnd_inst(is_entry ? ISA_OP_EXIT : ISA_OP_RET, loc));
}

bool cfg_clean(struct mir_func *f, bool is_entry)
{
    bool any = false;
    close_end(f, is_entry);
    for (uint32_t round = 0; round < CFG_CLEAN_ROUNDS; round++) {
        bool changed = !f->one_to_one && thread_jumps(f);
        changed |= compact(f);
        any |= changed;
        if (!changed) break;
    }
    close_end(f, is_entry); /* a label at the very end */
    return any;
}

/* ---- blocks ---- */

static void add_edge(uint32_t *edges, struct cfg_block *b, uint32_t to)
{
    for (uint32_t i = 0; i < b->succ_count; i++)
        if (edges[b->succ_at + i] == to) return;
    edges[b->succ_at + b->succ_count++] = to;
}

static void cut_blocks(const struct mir_func *f, struct cfg *g, uint32_t *label_block)
{
    uint32_t n = f->insts.len, count = 0;
    bool fresh = true;
    g->block_of = mem_alloc(sizeof *g->block_of * (n + 1));
    for (uint32_t i = 0; i < n; i++) {
        const struct mir_inst *in = &f->insts.data[i];
        bool label = in->op == MIR_OP_LABEL;
        bool after_label = i && f->insts.data[i - 1].op == MIR_OP_LABEL;
        if (fresh || (label && !after_label)) count++;
        fresh = opnd_ends_block(in);
        g->block_of[i] = count - 1;
        assert(!label || in->target < f->label_count);
        if (label) label_block[in->target] = count - 1;
    }
    g->count = count;
    g->blocks = mem_zalloc(sizeof *g->blocks * (count + 1));
    for (uint32_t i = n; i-- > 0;) g->blocks[g->block_of[i]].first = i;
    for (uint32_t i = 0; i < n; i++) g->blocks[g->block_of[i]].end = i + 1;
}

static uint32_t edge_bound(const struct mir_func *f, const struct mir_inst *last)
{
    assert(last->op != ISA_OP_BRX || last->target < f->tables.len);
    return last->op == ISA_OP_BRX ? f->tables.data[last->target].count + 1 : 2;
}

static void link_blocks(const struct mir_func *f, struct cfg *g, const uint32_t *label_block)
{
    uint32_t bound = 0;
    for (uint32_t b = 0; b < g->count; b++) bound += edge_bound(f, &f->insts.data[g->blocks[b].end - 1]);
    g->edges = mem_alloc(sizeof *g->edges * ((size_t)bound * 2 + 1));
    uint32_t at = 0;
    for (uint32_t b = 0; b < g->count; b++) {
        struct cfg_block *blk = &g->blocks[b];
        const struct mir_inst *last = &f->insts.data[blk->end - 1];
        blk->succ_at = at;
        assert(opnd_never_falls(last) || b + 1 < g->count); /* cfg_clean closed the end */
        if (last->op == ISA_OP_BRA) add_edge(g->edges, blk, label_block[last->target]);
        if (last->op == ISA_OP_BRX)
            for (uint32_t k = 0; k < f->tables.data[last->target].count; k++)
                add_edge(g->edges, blk, label_block[f->tables.data[last->target].labels[k]]);
        if (!opnd_never_falls(last)) add_edge(g->edges, blk, b + 1);
        at += blk->succ_count;
    }
    assert(at <= bound);
    for (uint32_t b = 0; b < g->count; b++)
        for (uint32_t i = 0; i < g->blocks[b].succ_count; i++)
            g->blocks[g->edges[g->blocks[b].succ_at + i]].pred_count++;
    for (uint32_t b = 0; b < g->count; b++) {
        g->blocks[b].pred_at = at;
        at += g->blocks[b].pred_count;
        g->blocks[b].pred_count = 0;
    }
    for (uint32_t b = 0; b < g->count; b++)
        for (uint32_t i = 0; i < g->blocks[b].succ_count; i++) {
            struct cfg_block *s = &g->blocks[g->edges[g->blocks[b].succ_at + i]];
            g->edges[s->pred_at + s->pred_count++] = b;
        }
}

static void number_blocks(struct cfg *g)
{
    g->order = mem_alloc(sizeof *g->order * (g->count + 1));
    uint32_t *next = mem_zalloc(sizeof *next * (g->count + 1)),
             *stack = mem_alloc(sizeof *stack * (g->count + 1));
    uint64_t *seen = mem_zalloc(sizeof *seen * bitset_words(g->count + 1));
    uint32_t depth = 0, done = g->count;
    if (g->count) {
        stack[depth++] = 0;
        bitset_add(seen, 0);
    }
    while (depth) {
        uint32_t b = stack[depth - 1];
        if (next[b] < g->blocks[b].succ_count) {
            uint32_t s = g->edges[g->blocks[b].succ_at + next[b]++];
            if (bitset_has(seen, s)) continue;
            bitset_add(seen, s);
            stack[depth++] = s;
        } else {
            g->order[--done] = b;
            depth--;
        }
    }
    assert(done == 0); /* invariant 2 */
    free(next);
    free(stack);
    free(seen);
}

/* The invariants of cfg.h; and that blocks cover the instructions, that edges lead to blocks, and that
 * each edge is known at both ends. */
static bool is_well_formed(const struct mir_func *f, const struct cfg *g)
{
    uint32_t next = 0, succs = 0, preds = 0;
    for (uint32_t b = 0; b < g->count; b++) {
        const struct cfg_block *blk = &g->blocks[b];
        if (blk->first != next || blk->end <= blk->first) return false;
        for (uint32_t i = blk->first; i < blk->end; i++)
            if (g->block_of[i] != b || (i + 1 < blk->end && opnd_ends_block(&f->insts.data[i]))) return false;
        for (uint32_t i = 0; i < blk->succ_count; i++)
            if (g->edges[blk->succ_at + i] >= g->count) return false;
        for (uint32_t i = 0; i < blk->pred_count; i++)
            if (g->edges[blk->pred_at + i] >= g->count) return false;
        next = blk->end;
        succs += blk->succ_count;
        preds += blk->pred_count;
    }
    return next == f->insts.len && succs == preds && (!g->count || g->order[0] == 0);
}

void cfg_build(const struct mir_func *f, struct cfg *g)
{
    *g = (struct cfg){0};
    uint32_t *label_block = mem_zalloc(sizeof *label_block * (f->label_count + 1));
    cut_blocks(f, g, label_block);
    link_blocks(f, g, label_block);
    free(label_block);
    number_blocks(g);
    debug_assert(is_well_formed(f, g));
}

void cfg_free(struct cfg *g)
{
    free(g->blocks);
    free(g->edges);
    free(g->order);
    free(g->block_of);
    *g = (struct cfg){0};
}
