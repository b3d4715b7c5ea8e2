/* cfg.h: basic blocks over a function's instructions, dominators, and where divergent branches meet again.
 *
 * Terms. A block is a range of func->insts, in program order; labels at its head belong to it.
 * Invariants. (1) Block 0 is the entry. (2) Every block is reachable (cfg_clean removed the rest). (3) Only
 * the last instruction of a block ends it (opnd_ends_block). (4) CALL does not end a block: control comes
 * back behind it. */
#ifndef HEDDLE_CFG_H
#define HEDDLE_CFG_H

#include "lower/mir.h"

#define CFG_NONE UINT32_MAX

struct cfg_block {
    /* instructions [first, end) */
    uint32_t first, end;
    /* range of cfg->edges */
    uint32_t succ_at, succ_count;
    uint32_t pred_at, pred_count;
    /* immediate dominator; the entry's is itself */
    uint32_t idom;
    /* Numbers of a walk of the dominator tree: a dominates b <=> in_a <= in_b, out_b <= out_a. */
    uint32_t dom_in, dom_out;
    /* block where the paths out of this block meet again; CFG_NONE = at exit only */
    uint32_t reconv;
    uint32_t loop_depth;
};

struct cfg {
    struct cfg_block *blocks;
    uint32_t count;
    /* successors of all blocks, then predecessors of all blocks */
    uint32_t *edges;
    /* block numbers in reverse postorder; [0] = 0 */
    uint32_t *order;
    /* instruction -> block */
    uint32_t *block_of;
};

/* Threads jumps, drops unreachable code, unused labels and jumps to the next instruction; makes sure that the
 * last instruction does not fall off the end (the entry gets an EXIT, a device function a RET). True when
 * anything changed. */
bool cfg_clean(struct mir_func *f, bool is_entry);
/* Blocks, edges, reverse postorder. */
void cfg_build(const struct mir_func *f, struct cfg *g);
void cfg_free(struct cfg *g);

/* Idom, dom_in, dom_out, loop_depth. */
void cfg_dominators(struct cfg *g);
/* Reconv. */
void cfg_reconvergence(struct cfg *g);
static inline bool cfg_dominates(const struct cfg *g, uint32_t a, uint32_t b)
{
    return g->blocks[a].dom_in <= g->blocks[b].dom_in && g->blocks[b].dom_out <= g->blocks[a].dom_out;
}

#endif
