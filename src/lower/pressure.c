/* pressure.c: chooses the values to spill where more are live at once than there are registers.
 *
 * One walk over the points of the program: wherever too much is live, the cheapest value is spilled (its
 * accesses, weighed by loop depth, for each overfull point that it spans). Colouring then has little left to
 * spill. */
#include "lower/opnd.h"
#include "lower/spill.h"

struct pressure {
    const struct graph *gr;
    const struct liveness *lv;
    const bool *keep;
    uint32_t limit;
    /* overfull points that a vreg lives through */
    uint32_t *span;
    bool *which;
    bool any;
};

static bool counts(const struct pressure *p, uint32_t v) { return p->gr->present[v]; }

static uint32_t load_at(const struct pressure *p, const struct live_walk *w)
{
    uint32_t sum = 0;
    for (uint32_t k = 0; k < w->count; k++)
        if (counts(p, w->items[k]) && !p->which[w->items[k]]) sum += graph_size(p->gr, w->items[k]);
    return sum;
}

static void visit_count(struct pressure *p, const struct live_walk *w)
{
    if (load_at(p, w) <= p->limit) return;
    for (uint32_t k = 0; k < w->count; k++) p->span[w->items[k]]++;
}

static void visit_choose(struct pressure *p, const struct live_walk *w)
{
    for (uint32_t load = load_at(p, w); load > p->limit;) {
        uint32_t best = CFG_NONE;
        float best_value = 0;
        for (uint32_t k = 0; k < w->count; k++) {
            uint32_t v = w->items[k];
            if (!counts(p, v) || p->which[v] || p->keep[v]) continue;
            float value = p->gr->cost[v] / ((float)p->span[v] * (float)graph_size(p->gr, v));
            if (best == CFG_NONE || value < best_value || (value == best_value && v < best))
                best = v, best_value = value;
        }
        if (best == CFG_NONE) return;
        p->which[best] = p->any = true;
        load -= graph_size(p->gr, best);
    }
}

static void walk(struct pressure *p, void (*visit)(struct pressure *, const struct live_walk *))
{
    struct live_walk w;
    live_walk_open(&w, p->lv, 0);
    for (uint32_t b = 0; b < p->lv->cfg->count; b++) {
        const struct cfg_block *blk = &p->lv->cfg->blocks[b];
        live_walk_restart(&w, p->lv, b);
        visit(p, &w);
        for (uint32_t i = blk->end; i-- > blk->first;) {
            live_walk_step(&w, &p->lv->func->insts.data[i]);
            visit(p, &w);
        }
    }
    live_walk_close(&w);
}

bool spill_choose(const struct graph *gr, const struct liveness *lv, const bool *keep, uint32_t limit,
                  bool *which)
{
    struct pressure p = {.gr = gr, .lv = lv, .keep = keep, .limit = limit, .which = which};
    p.span = mem_zalloc(sizeof *p.span * (gr->vreg_count + 1));
    walk(&p, visit_count);
    walk(&p, visit_choose);
    free(p.span);
    return p.any;
}
