/* alloc.c: physical registers for virtual ones: predicates first (those that find none move to general registers), then
 * general registers. Each round builds the graph anew; a round that leaves something without a register spills it. */
#include "lower/graph.h"
#include "lower/opnd.h"
#include "lower/pass.h"
#include "lower/spill.h"

enum { ALLOC_ROUNDS_MAX = 40 };

struct alloc {
    struct unit *u;
    bool predicates;
    uint32_t limit, reserved;
    struct spill_temps temps;
};

static bool *temp_flags(struct alloc *a)
{
    while (a->temps.flags.len <= a->u->mir.vregs.len) vec_push(&a->temps.flags, false);
    return a->temps.flags.data;
}

/* Every vreg by its representative; moves onto themselves go. */
static void apply_merges(struct mir_func *f, const struct graph *gr)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->insts.len; i++) {
        struct mir_inst in = f->insts.data[i];
        if (in.guard != MIR_NO_VREG) in.guard = graph_find(gr, in.guard);
        for (uint32_t k = 0; k < ISA_SRC_MAX; k++)
            if (in.src[k].kind == MIR_VREG) in.src[k].v = graph_find(gr, in.src[k].v);
        for (uint32_t k = 0; k < ISA_DST_MAX; k++)
            if (in.dst[k].kind == MIR_VREG) in.dst[k].v = graph_find(gr, in.dst[k].v);
        bool idle = opnd_is_move(&in) && in.src[0].kind == MIR_VREG && in.dst[0].kind == MIR_VREG &&
                    in.src[0].v == in.dst[0].v && !in.src[0].negated;
        if (!idle) f->insts.data[kept++] = in;
    }
    f->insts.len = kept;
}

/* When only short-lived temporaries found no register, a neighbour has to go instead. */
static bool choose_victims(const struct graph *gr, const bool *temp, const uint16_t *colour, bool *which)
{
    bool any = false;
    for (uint32_t v = 0; v < gr->vreg_count; v++) {
        if (!gr->present[v] || graph_find(gr, v) != v || colour[v] != GRAPH_UNCOLOURED) continue;
        if (!temp[v]) {
            which[v] = any = true;
            continue;
        }
        uint32_t best = CFG_NONE;
        for (uint32_t i = 0; i < gr->near[v].len; i++) {
            uint32_t n = graph_find(gr, gr->near[v].data[i]);
            if (temp[n] || which[n]) continue;
            if (best == CFG_NONE || gr->cost[n] < gr->cost[best]) best = n;
        }
        if (best != CFG_NONE) which[best] = any = true;
    }
    return any;
}

/* One attempt. True when all have a register; otherwise something was spilled, or *stuck is set. */
static bool attempt(struct alloc *a, bool coalesce, uint16_t *colour, uint32_t *top, bool *stuck)
{
    struct mir_func *f = &a->u->mir;
    struct cfg g;
    struct liveness lv;
    struct graph gr;
    cfg_build(f, &g);
    cfg_dominators(&g);
    liveness_build(f, &g, &lv);
    graph_build(&gr, f, &lv, a->predicates, a->u->fp);
    if (coalesce) graph_coalesce(&gr, &g);
    *top = graph_color_least(&gr, a->reserved, colour);
    bool fits = *top <= a->limit;
    if (!fits) {
        const bool *temp = temp_flags(a);
        bool *keep = mem_zalloc(gr.vreg_count + 1); /* a representative is a temporary when any of its web is */
        for (uint32_t v = 0; v < gr.vreg_count; v++)
            if (gr.present[v] && temp[v]) keep[graph_find(&gr, v)] = true;
        fits = graph_color_within(&gr, a->reserved, a->limit, keep, colour) == 0;
        if (fits) {
            *top = 0;
            for (uint32_t v = 0; v < gr.vreg_count; v++)
                if (gr.present[v] && graph_find(&gr, v) == v) *top = MAX(*top, colour[v] + graph_size(&gr, v));
        } else if (!coalesce) {
            bool *which = mem_zalloc(gr.vreg_count + 1);
            if (choose_victims(&gr, keep, colour, which))
                unit_spill(a->u, which, &a->temps);
            else
                *stuck = true;
            free(which);
        }
        free(keep);
    }
    if (fits) {
        for (uint32_t v = 0; v < gr.vreg_count; v++)
            if (gr.present[v]) colour[v] = colour[graph_find(&gr, v)];
        apply_merges(f, &gr);
    }
    graph_free(&gr);
    liveness_free(&lv);
    cfg_free(&g);
    return fits;
}

static bool allocate(struct alloc *a, uint32_t *top)
{
    struct mir_func *f = &a->u->mir;
    for (uint32_t round = 0; round < ALLOC_ROUNDS_MAX; round++) {
        bool stuck = false;
        uint16_t *colour = mem_zalloc(sizeof *colour * (f->vregs.len + 1));
        bool ok = attempt(a, true, colour, top, &stuck) || attempt(a, false, colour, top, &stuck);
        if (ok) {
            uint16_t *phys = mem_zalloc(sizeof *phys * (f->vregs.len + 1));
            for (uint32_t v = 0; v < f->vregs.len; v++) {
                bool mine = (f->vregs.data[v].cls == MIR_P) == a->predicates;
                phys[v] = mine ? colour[v] : 0;
            }
            free(a->u->phys);
            a->u->phys = phys;
        }
        free(colour);
        if (ok || stuck) return ok;
    }
    return false;
}

bool unit_allocate(struct image *m, struct unit *u)
{
    struct alloc p = {.u = u, .predicates = true, .limit = ISA_PREDS, .reserved = MIR_NO_VREG};
    struct alloc r = {.u = u, .limit = m->regs_limit, .reserved = m->uses_stack ? REG_FRAME : MIR_NO_VREG};
    free(u->phys);
    u->phys = NULL;
    bool ok = allocate(&p, &u->pred_count);
    if (ok) {
        /* the second kind may add general vregs: the table of the first must be long enough */
        uint32_t known = u->mir.vregs.len;
        uint16_t *preds = mem_zalloc(sizeof *preds * (known + 1));
        memcpy(preds, u->phys, sizeof *preds * known);
        free(u->phys);
        u->phys = NULL;
        ok = allocate(&r, &u->reg_count);
        if (ok)
            for (uint32_t v = 0; v < known; v++)
                if (u->mir.vregs.data[v].cls == MIR_P) u->phys[v] = preds[v];
        free(preds);
    }
    vec_free(&p.temps.flags);
    vec_free(&r.temps.flags);
    if (!ok)
        diag_add(m->diags, DIAG_ERROR, &m->ptx->source, u->ptx->line, 1, 1, "raise --maxrregcount or .maxnreg",
                 "'%s' cannot be held in %u registers", u->ptx->name, m->regs_limit);
    if (ok && u->fp != MIR_NO_VREG) {
        u->phys[u->fp] = REG_FRAME;
        u->reg_count = MAX(u->reg_count, (uint32_t)REG_FRAME + 1);
    }
    return ok;
}
