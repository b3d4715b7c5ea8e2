/* dom.c: dominators, loop depth, and reconvergence points of divergent branches.
 *
 * Dominators after Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001): an intersection
 * walk over postorder numbers, repeated until nothing moves.
 *
 * Reconvergence is the immediate post-dominator, with one liberty: a lane that exits leaves every
 * reconvergence point that waits for it, so paths that only lead to another exit do not count. The function's
 * last exit is taken first; post-dominators are found among the blocks that reach it (its *region*). Blocks
 * that do not reach it are treated in the same way with the next exit, and so on. What is left loops for ever
 * and takes its last block for an exit. A branch with only one path in its region needs no reconvergence
 * point: the other lanes never come back. */
#include "lower/cfg.h"

/* A rooted graph by its incoming edges. Nodes whose region is not `region` do not belong to it. */
struct dom_graph {
    /* reverse postorder, root first */
    const uint32_t *order;
    uint32_t order_len;
    /* node -> index in order */
    const uint32_t *number;
    const uint32_t *edges;
    /* incoming edges of a node: edges[at .. at+len-1] */
    const uint32_t *at, *len;
    const uint32_t *regions;
    uint32_t region;
};

static uint32_t intersect(const uint32_t *idom, const uint32_t *number, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (number[a] > number[b]) a = idom[a];
        while (number[b] > number[a]) b = idom[b];
    }
    return a;
}

static void solve(const struct dom_graph *d, uint32_t *idom)
{
    assert(d->order_len);
    for (uint32_t k = 0; k < d->order_len; k++) idom[d->order[k]] = CFG_NONE;
    idom[d->order[0]] = d->order[0];
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = 1; k < d->order_len; k++) {
            uint32_t n = d->order[k], best = CFG_NONE;
            for (uint32_t i = 0; i < d->len[n]; i++) {
                uint32_t p = d->edges[d->at[n] + i];
                if (d->regions[p] != d->region || idom[p] == CFG_NONE) continue;
                best = best == CFG_NONE ? p : intersect(idom, d->number, p, best);
            }
            assert(best != CFG_NONE); /* an edge comes from a block earlier in the order */
            if (best != idom[n]) {
                idom[n] = best;
                changed = true;
            }
        }
    }
}

/* Arrays of one solution, all of the same length. */
struct dom_work {
    uint32_t *number, *idom, *at, *len, *regions, *order, *stack, *next;
};

static struct dom_work work_new(uint32_t n)
{
    uint32_t *all = mem_zalloc(sizeof *all * (n + 1) * 8);
    struct dom_work w = {all,
                         all + (n + 1),
                         all + 2 * (n + 1),
                         all + 3 * (n + 1),
                         all + 4 * (n + 1),
                         all + 5 * (n + 1),
                         all + 6 * (n + 1),
                         all + 7 * (n + 1)};
    return w;
}

/* ---- forward ---- */

static void number_tree(struct cfg *g)
{
    uint32_t n = g->count, *child = mem_alloc(sizeof *child * n), *sibling = mem_alloc(sizeof *sibling * n);
    for (uint32_t i = 0; i < n; i++) child[i] = sibling[i] = CFG_NONE;
    for (uint32_t k = n; k-- > 1;) {
        uint32_t b = g->order[k], d = g->blocks[b].idom;
        sibling[b] = child[d];
        child[d] = b;
    }
    uint32_t clock = 0, b = 0;
    g->blocks[0].dom_in = clock++;
    for (;;) {
        if (child[b] != CFG_NONE) {
            uint32_t c = child[b];
            child[b] = sibling[c];
            b = c;
            g->blocks[b].dom_in = clock++;
        } else {
            g->blocks[b].dom_out = clock++;
            if (b == 0) break;
            b = g->blocks[b].idom;
        }
    }
    free(child);
    free(sibling);
}

/* Depth of natural loops: the body of a loop is what reaches the tail of a back edge without passing its
 * head. An irreducible graph has edges back to blocks that do not dominate; these do not count as loops. */
static void loop_depths(struct cfg *g)
{
    uint32_t *stamp = mem_zalloc(sizeof *stamp * g->count), *body = mem_alloc(sizeof *body * (g->count + 1));
    for (uint32_t h = 0; h < g->count; h++) {
        uint32_t len = 0;
        const struct cfg_block *head = &g->blocks[h];
        for (uint32_t i = 0; i < head->pred_count; i++) {
            uint32_t tail = g->edges[head->pred_at + i];
            if (!cfg_dominates(g, h, tail)) continue;
            if (stamp[h] != h + 1) {
                stamp[h] = h + 1;
                body[len++] = h;
            }
            if (stamp[tail] == h + 1) continue;
            stamp[tail] = h + 1;
            body[len++] = tail;
        }
        for (uint32_t k = 0; k < len; k++) {
            const struct cfg_block *b = &g->blocks[body[k]];
            g->blocks[body[k]].loop_depth++;
            for (uint32_t i = 0; body[k] != h && i < b->pred_count; i++) {
                uint32_t p = g->edges[b->pred_at + i];
                if (stamp[p] == h + 1) continue;
                stamp[p] = h + 1;
                body[len++] = p;
            }
        }
    }
    free(stamp);
    free(body);
}

void cfg_dominators(struct cfg *g)
{
    struct dom_work w = work_new(g->count);
    for (uint32_t b = 0; b < g->count; b++) {
        w.at[b] = g->blocks[b].pred_at;
        w.len[b] = g->blocks[b].pred_count;
        w.number[g->order[b]] = b;
        g->blocks[b].loop_depth = 0;
    }
    struct dom_graph d = {g->order, g->count, w.number, g->edges, w.at, w.len, w.regions, 0};
    solve(&d, w.idom);
    for (uint32_t b = 0; b < g->count; b++) g->blocks[b].idom = w.idom[b];
    free(w.number);
    number_tree(g);
    loop_depths(g);
}

/* ---- backward ---- */

/* Puts the blocks that reach `root` and have no region yet into region `id`, in reverse postorder. Returns
 * their number. */
static uint32_t take_region(const struct cfg *g, struct dom_work *w, uint32_t root, uint32_t id)
{
    uint32_t depth = 0, len = 0;
    w->stack[depth++] = root;
    w->regions[root] = id;
    w->next[root] = 0;
    while (depth) {
        uint32_t b = w->stack[depth - 1];
        if (w->next[b] < g->blocks[b].pred_count) {
            uint32_t p = g->edges[g->blocks[b].pred_at + w->next[b]++];
            if (w->regions[p]) continue;
            w->regions[p] = id;
            w->next[p] = 0;
            w->stack[depth++] = p;
        } else {
            w->order[len++] = b;
            depth--;
        }
    }
    for (uint32_t i = 0; i < len / 2; i++) {
        uint32_t t = w->order[i];
        w->order[i] = w->order[len - 1 - i];
        w->order[len - 1 - i] = t;
    }
    return len;
}

static void solve_region(struct cfg *g, struct dom_work *w, uint32_t root, uint32_t id)
{
    uint32_t len = take_region(g, w, root, id);
    for (uint32_t k = 0; k < len; k++) w->number[w->order[k]] = k;
    struct dom_graph d = {w->order, len, w->number, g->edges, w->at, w->len, w->regions, id};
    solve(&d, w->idom);
    for (uint32_t k = 1; k < len; k++) {
        struct cfg_block *b = &g->blocks[w->order[k]];
        uint32_t ways = 0;
        for (uint32_t i = 0; i < b->succ_count; i++) ways += w->regions[g->edges[b->succ_at + i]] == id;
        if (ways > 1) b->reconv = w->idom[w->order[k]];
    }
}

void cfg_reconvergence(struct cfg *g)
{
    struct dom_work w = work_new(g->count);
    uint32_t id = 0;
    for (uint32_t b = 0; b < g->count; b++) {
        w.at[b] = g->blocks[b].succ_at;
        w.len[b] = g->blocks[b].succ_count;
        g->blocks[b].reconv = CFG_NONE;
    }
    for (uint32_t pass = 0; pass < 2; pass++) /* exits first, then loops without one */
        for (uint32_t b = g->count; b-- > 0;)
            if (!w.regions[b] && (pass == 1 || g->blocks[b].succ_count == 0)) solve_region(g, &w, b, ++id);
    free(w.number);
}
