/* liveness.h: which vregs hold a value that is still wanted.
 *
 * A vreg that lives within one block only is never in a block's set: such *local* vregs are most of a
 * program, and the sets stay small. A guarded definition does not end a life (mir.h, invariant 2). */
#ifndef HEDDLE_LIVENESS_H
#define HEDDLE_LIVENESS_H

#include "lower/cfg.h"

struct liveness {
    const struct mir_func *func;
    const struct cfg *cfg;
    uint32_t vreg_count;
    /* vreg -> number among those that cross a block's border, or CFG_NONE */
    uint32_t *dense;
    /* number -> vreg */
    uint32_t *globals;
    uint32_t global_count, words;
    /* block * words */
    uint64_t *in, *out;
};

void liveness_build(const struct mir_func *f, const struct cfg *g, struct liveness *lv);
void liveness_free(struct liveness *lv);

/* A walk backwards through one block: the set of vregs live after the next instruction of the walk. */
struct live_walk {
    uint32_t *items, *place;
    uint32_t count;
};
void live_walk_open(struct live_walk *w, const struct liveness *lv, uint32_t block);
/* To before `in`. */
void live_walk_step(struct live_walk *w, const struct mir_inst *in);
void live_walk_close(struct live_walk *w);
static inline bool live_walk_has(const struct live_walk *w, uint32_t v)
{
    return w->place[v] < w->count && w->items[w->place[v]] == v;
}
void live_walk_add(struct live_walk *w, uint32_t v);
void live_walk_del(struct live_walk *w, uint32_t v);
/* Starts the walk again at another block, without new memory. */
void live_walk_restart(struct live_walk *w, const struct liveness *lv, uint32_t block);

#endif
