/* alloc.c: physical registers for virtual ones: predicates first (those that find none move to general
 * registers), then general registers, on top of them the arrays of indirect moves. Each round builds a new
 * graph; a round that leaves something without a register spills it. */
#include "lower/graph.h"
#include "lower/opnd.h"
#include "lower/pass.h"
#include "lower/spill.h"

enum {
    ALLOC_ROUNDS_MAX = 40,
    /* registers of a thread are allocated in units of eight */
    REG_UNIT = 8,
    /* with up to these, all warps of an SM are resident */
    REGS_FREE = 32,
    /* more registers than the fewest, to spread writes */
    SPREAD_MAX = 2,
    /* registers that the first spill keeps free: a pair, aligned */
    SPILL_SPARE = 3
};

struct alloc {
    struct routine *u;
    bool predicates;
    uint32_t limit, reserved;
    /* on top of the highest register */
    uint32_t thread_regs;
    struct spill_temps temps;
};

static bool *temp_flags(struct alloc *a)
{
    while (a->temps.flags.len < a->u->mir.vregs.len) vec_push(&a->temps.flags, false);
    return a->temps.flags.data;
}

/* Replaces every vreg by its representative and drops moves of a vreg to itself, unless lowering is one to
 * one. */
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
        if (!idle || f->one_to_one) f->insts.data[kept++] = in;
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

/* A representative is a temporary when any of its web is. */
static bool *temp_webs(struct alloc *a, const struct graph *gr)
{
    const bool *temp = temp_flags(a);
    bool *keep = mem_zalloc(gr->vreg_count + 1);
    for (uint32_t v = 0; v < gr->vreg_count; v++)
        if (gr->present[v] && temp[v]) keep[graph_find(gr, v)] = true;
    return keep;
}

static uint32_t top_of(const struct graph *gr, const uint16_t *colour)
{
    uint32_t top = 0;
    for (uint32_t v = 0; v < gr->vreg_count; v++)
        if (gr->present[v] && graph_find(gr, v) == v) top = MAX(top, colour[v] + graph_size(gr, v));
    return top;
}

/* Up to two more registers, where they cost no occupancy, increase the distance between writes: all 64
 * warps fit an SM with 32 registers, and beyond that registers are allocated in units of 8. */
static uint32_t spread_room(const struct alloc *a, uint32_t top)
{
    uint32_t used = top + a->thread_regs;
    uint32_t unit = MAX((uint32_t)round_up_u64(used, REG_UNIT), (uint32_t)REGS_FREE) - a->thread_regs;
    return a->predicates || !top ? 0 : MIN(MIN(top + SPREAD_MAX, unit), a->limit);
}

enum outcome {
    ALLOC_DONE,
    ALLOC_SPILLED,
    ALLOC_STUCK,
    /* without merging copies */
    ALLOC_RETRY
};

/* Finds colours for the graph, or the vregs that have to be spilled. */
static enum outcome decide(struct alloc *a, struct graph *gr, const struct liveness *lv, bool coalesce,
                           uint16_t *colour, uint32_t *top, bool *which)
{
    bool *keep = temp_webs(a, gr);
    enum outcome result = ALLOC_DONE;
    /* Too many live at once: bring that down first, with room for a pair; then see which find no register. */
    if (gr->pressure_max > a->limit && spill_choose(gr, lv, keep, a->limit - SPILL_SPARE, which)) {
        result = ALLOC_SPILLED;
    } else {
        if (coalesce) graph_coalesce(gr, lv->cfg);
        *top = graph_color_least(gr, a->reserved, colour);
        uint32_t room = spread_room(a, *top);
        if (*top <= a->limit && room && graph_color_spread(gr, a->reserved, room, colour))
            *top = top_of(gr, colour);
        if (*top > a->limit) {
            free(keep);
            keep = temp_webs(a, gr);
            if (graph_color_within(gr, a->reserved, a->limit, keep, colour) == 0)
                *top = top_of(gr, colour);
            else if (coalesce)
                result = ALLOC_RETRY;
            else
                result = choose_victims(gr, keep, colour, which) ? ALLOC_SPILLED : ALLOC_STUCK;
        }
    }
    free(keep);
    return result;
}

static enum outcome attempt(struct alloc *a, bool coalesce, uint16_t *colour, uint32_t *top)
{
    struct mir_func *f = &a->u->mir;
    struct cfg g;
    struct liveness lv;
    struct graph gr;
    cfg_build(f, &g);
    cfg_dominators(&g);
    liveness_build(f, &g, &lv);
    graph_build(&gr, f, &lv, a->predicates, a->u->fp);
    bool *which = mem_zalloc(gr.vreg_count + 1);
    enum outcome result = decide(a, &gr, &lv, coalesce, colour, top, which);
    if (result == ALLOC_SPILLED) routine_spill(a->u, which, &a->temps);
    if (result == ALLOC_DONE) {
        for (uint32_t v = 0; v < gr.vreg_count; v++)
            if (gr.present[v]) colour[v] = colour[graph_find(&gr, v)];
        apply_merges(f, &gr);
    }
    free(which);
    graph_free(&gr);
    liveness_free(&lv);
    cfg_free(&g);
    return result;
}

static void keep_colours(struct alloc *a, const uint16_t *colour)
{
    const struct mir_func *f = &a->u->mir;
    free(a->u->phys);
    a->u->phys = mem_zalloc(sizeof *a->u->phys * (f->vregs.len + 1));
    for (uint32_t v = 0; v < f->vregs.len; v++)
        if ((f->vregs.data[v].cls == MIR_P) == a->predicates) {
            assert(colour[v] != GRAPH_UNCOLOURED);
            a->u->phys[v] = colour[v];
        }
}

static bool allocate(struct alloc *a, uint32_t *top)
{
    for (uint32_t round = 0; round < ALLOC_ROUNDS_MAX; round++) {
        uint16_t *colour = mem_zalloc(sizeof *colour * (a->u->mir.vregs.len + 1));
        enum outcome result = attempt(a, true, colour, top);
        if (result == ALLOC_RETRY) result = attempt(a, false, colour, top);
        if (result == ALLOC_DONE) keep_colours(a, colour);
        free(colour);
        if (result == ALLOC_DONE || result == ALLOC_STUCK) return result == ALLOC_DONE;
    }
    return false;
}

/* ---- arrays ---- */

/* Finds the vregs that indirect moves may read, as code is now; how many there are. */
static uint32_t find_arrays(struct mir_func *f)
{
    uint32_t count = 0;
    for (uint32_t v = 0; v < f->vregs.len; v++) f->vregs.data[v].in_array = false;
    for (uint32_t i = 0; i < f->insts.len; i++) {
        const struct mir_inst *in = &f->insts.data[i];
        for (int64_t k = 0; in->array && k < in->imm; k++) {
            struct mir_vreg *r = &f->vregs.data[in->array[k]];
            count += !r->in_array;
            r->in_array = true;
        }
    }
    return count;
}

/* Each array in a row, from the first register above all others on. */
static void place_arrays(struct routine *u)
{
    const struct mir_func *f = &u->mir;
    bool *placed = mem_zalloc(f->vregs.len + 1);
    for (uint32_t i = 0; i < f->insts.len; i++) {
        const struct mir_inst *in = &f->insts.data[i];
        for (int64_t k = 0; in->array && k < in->imm; k++) {
            const uint32_t v = in->array[k];
            if (!placed[v]) u->phys[v] = (uint16_t)u->reg_count++;
            placed[v] = true;
            assert(u->phys[v] == u->phys[in->array[0]] + k);
        }
    }
    free(placed);
}

/* General registers: the arrays take theirs away from the limit. */
static bool allocate_general(struct image *m, struct routine *u)
{
    const uint32_t arrays = find_arrays(&u->mir);
    /* R1 is the frame pointer, even where it is not used: as in CUDA's ABI. */
    struct alloc r = {.u = u,
                      .limit = m->regs_limit - MIN(arrays, m->regs_limit),
                      .reserved = REG_FRAME,
                      .thread_regs = image_thread_regs(m) + arrays};
    assert(m->regs_limit <= ISA_REGS_MAX);
    bool ok = r.limit > SPILL_SPARE && allocate(&r, &u->reg_count);
    vec_free(&r.temps.flags);
    if (ok && arrays) {
        u->reg_count = MAX(u->reg_count, (uint32_t)REG_FRAME + 1);
        place_arrays(u);
    }
    return ok;
}

bool routine_allocate(struct image *m, struct routine *u)
{
    struct alloc p = {.u = u, .predicates = true, .limit = ISA_PREDS, .reserved = MIR_NO_VREG};
    free(u->phys);
    u->phys = NULL;
    bool ok = allocate(&p, &u->pred_count);
    if (ok) {
        /* Allocating general registers may add vregs: keep the predicates' colours apart until then. */
        uint32_t known = u->mir.vregs.len;
        uint16_t *preds = mem_zalloc(sizeof *preds * (known + 1));
        memcpy(preds, u->phys, sizeof *preds * known);
        free(u->phys);
        u->phys = NULL;
        ok = allocate_general(m, u);
        if (ok)
            for (uint32_t v = 0; v < known; v++)
                if (u->mir.vregs.data[v].cls == MIR_P) u->phys[v] = preds[v];
        free(preds);
    }
    vec_free(&p.temps.flags);
    if (!ok)
        diag_add(m->prog.lacks, DIAG_ERROR, &m->ptx->source, u->ptx->line, 1, 1,
                 "raise --maxrregcount or .maxnreg", "'%s' cannot be held in %u registers", u->ptx->name,
                 m->regs_limit);
    if (ok && u->fp != MIR_NO_VREG) {
        u->phys[u->fp] = REG_FRAME;
        u->reg_count = MAX(u->reg_count, (uint32_t)REG_FRAME + 1);
    }
    return ok;
}
