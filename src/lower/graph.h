/* graph.h: which vregs must not share a register, and their colouring.
 *
 * A graph is made for one kind of register at a time: general ones (R takes one, D an aligned pair) or
 * predicates. Arrays are not in it: they lie above all that is. Invariants. (1) Two vregs that are joined by
 * an edge never get the same register. (2) A merged vreg is stood for by its representative (graph_find). */
#ifndef HEDDLE_GRAPH_H
#define HEDDLE_GRAPH_H

#include "lower/liveness.h"

enum { GRAPH_UNCOLOURED = 0xffff };

typedef VEC(uint32_t) graph_list;

struct graph {
    const struct mir_func *func;
    uint32_t vreg_count;
    bool predicates;
    /* vreg that has its register already (the frame pointer), or MIR_NO_VREG */
    uint32_t skip;
    /* vreg occurs, and is of the graph's kind */
    bool *present;
    /* neighbours, by the names they had when the edge was made; may repeat */
    graph_list *near;
    /* union-find */
    uint32_t *alias;
    /* what a spill would add: accesses weighed by loop depth */
    float *cost;
    /* most registers live at one point */
    uint32_t pressure_max;
};

void graph_build(struct graph *gr, const struct mir_func *f, const struct liveness *lv, bool predicates,
                 uint32_t skip);
void graph_free(struct graph *gr);
uint32_t graph_find(const struct graph *gr, uint32_t v);
/* Merges the two sides of moves that do not interfere, innermost loops first. */
void graph_coalesce(struct graph *gr, const struct cfg *g);
/* Registers that v takes: 1 or 2. */
static inline uint32_t graph_size(const struct graph *gr, uint32_t v)
{
    return gr->func->vregs.data[v].cls == MIR_D ? 2 : 1;
}

/* color.c: as few registers as it can. colour[v] of every representative is set. Returns the highest register
 * + 1. */
uint32_t graph_color_least(struct graph *gr, uint32_t reserved, uint16_t *colour);
/* As evenly as it can over `limit` registers, so that few are written again soon. False, and nothing changed,
 * when they are not enough for that. */
bool graph_color_spread(struct graph *gr, uint32_t reserved, uint32_t limit, uint16_t *colour);
/* No more than `limit` registers: what finds none stays GRAPH_UNCOLOURED. keep[v]: v should not be the one.
 * Returns how many found none. */
uint32_t graph_color_within(struct graph *gr, uint32_t reserved, uint32_t limit, const bool *keep,
                            uint16_t *colour);

#endif
