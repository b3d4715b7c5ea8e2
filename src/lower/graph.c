/* graph.c: building the interference graph from liveness, and merging copies (Chaitin's rule: a definition
 * interferes with everything that is live after it; the move itself does not make its two sides
 * interfere). */
#include "lower/graph.h"

#include "lower/opnd.h"

static bool belongs(const struct graph *gr, uint32_t v)
{
    const struct mir_vreg *r = &gr->func->vregs.data[v];
    return v != gr->skip && !r->in_array && (r->cls == MIR_P) == gr->predicates;
}

static void add_edge(struct graph *gr, uint32_t a, uint32_t b)
{
    assert(a != b && belongs(gr, a) && belongs(gr, b));
    vec_push(&gr->near[a], b);
    vec_push(&gr->near[b], a);
}

static void note_inst(struct graph *gr, const struct live_walk *w, const struct mir_inst *in, float weight)
{
    uint32_t uses[OPND_USES_MAX], defs[ISA_DST_MAX], nu = opnd_uses(in, uses), nd = opnd_defs(in, defs);
    uint32_t copied = MIR_NO_VREG;
    if (opnd_is_move(in) && !opnd_is_guarded(in) && in->src[0].kind == MIR_VREG && !in->src[0].negated)
        copied = in->src[0].v;
    for (uint32_t k = 0; k < nu; k++) {
        if (!belongs(gr, uses[k])) continue;
        gr->present[uses[k]] = true;
        gr->cost[uses[k]] += weight;
    }
    for (uint32_t k = 0; k < nd; k++) {
        uint32_t d = defs[k];
        if (!belongs(gr, d)) continue;
        gr->present[d] = true;
        gr->cost[d] += weight;
        for (uint32_t i = 0; i < w->count; i++)
            if (w->items[i] != d && w->items[i] != copied && belongs(gr, w->items[i]))
                add_edge(gr, d, w->items[i]);
        for (uint32_t i = k + 1; i < nd; i++)
            if (defs[i] != d && belongs(gr, defs[i]) && !live_walk_has(w, defs[i])) add_edge(gr, d, defs[i]);
    }
}

/* Removes edges that a list holds twice. */
static void drop_repeats(struct graph *gr)
{
    uint32_t *stamp = mem_zalloc(sizeof *stamp * (gr->vreg_count + 1));
    for (uint32_t v = 0; v < gr->vreg_count; v++) {
        uint32_t kept = 0;
        for (uint32_t i = 0; i < gr->near[v].len; i++) {
            uint32_t n = gr->near[v].data[i];
            if (stamp[n] == v + 1) continue;
            stamp[n] = v + 1;
            gr->near[v].data[kept++] = n;
        }
        gr->near[v].len = kept;
    }
    free(stamp);
}

void graph_build(struct graph *gr, const struct mir_func *f, const struct liveness *lv, bool predicates,
                 uint32_t skip)
{
    uint32_t n = f->vregs.len;
    assert(lv->func == f && lv->vreg_count == n); /* liveness is of this function as it is now */
    *gr = (struct graph){.func = f, .vreg_count = n, .predicates = predicates, .skip = skip};
    gr->present = mem_zalloc(n + 1);
    gr->near = mem_zalloc(sizeof *gr->near * (n + 1));
    gr->alias = mem_alloc(sizeof *gr->alias * (n + 1));
    gr->cost = mem_zalloc(sizeof *gr->cost * (n + 1));
    for (uint32_t v = 0; v < n; v++) gr->alias[v] = v;
    struct live_walk w;
    live_walk_open(&w, lv, 0);
    for (uint32_t b = 0; b < lv->cfg->count; b++) {
        const struct cfg_block *blk = &lv->cfg->blocks[b];
        float weight = 1;
        for (uint32_t d = 0; d < MIN(blk->loop_depth, 6u); d++) weight *= 8;
        live_walk_restart(&w, lv, b);
        for (uint32_t i = blk->end; i-- > blk->first;) {
            note_inst(gr, &w, &f->insts.data[i], weight);
            live_walk_step(&w, &f->insts.data[i]);
            uint32_t pressure = 0;
            for (uint32_t k = 0; k < w.count; k++)
                if (belongs(gr, w.items[k])) pressure += graph_size(gr, w.items[k]);
            gr->pressure_max = MAX(gr->pressure_max, pressure);
        }
    }
    live_walk_close(&w);
    drop_repeats(gr);
}

void graph_free(struct graph *gr)
{
    for (uint32_t v = 0; v < gr->vreg_count; v++) vec_free(&gr->near[v]);
    free(gr->present);
    free(gr->near);
    free(gr->alias);
    free(gr->cost);
    *gr = (struct graph){0};
}

uint32_t graph_find(const struct graph *gr, uint32_t v)
{
    while (gr->alias[v] != v) {
        gr->alias[v] = gr->alias[gr->alias[v]];
        v = gr->alias[v];
    }
    return v;
}

static bool interferes(const struct graph *gr, uint32_t a, uint32_t b)
{
    if (gr->near[a].len > gr->near[b].len) {
        uint32_t t = a;
        a = b;
        b = t;
    }
    for (uint32_t i = 0; i < gr->near[a].len; i++)
        if (graph_find(gr, gr->near[a].data[i]) == b) return true;
    return false;
}

static void merge(struct graph *gr, uint32_t a, uint32_t b)
{
    assert(gr->alias[a] == a && gr->alias[b] == b); /* both are representatives */
    assert(graph_size(gr, a) == graph_size(gr, b));
    if (gr->near[a].len < gr->near[b].len) {
        uint32_t t = a;
        a = b;
        b = t;
    }
    for (uint32_t i = 0; i < gr->near[b].len; i++) vec_push(&gr->near[a], gr->near[b].data[i]);
    vec_free(&gr->near[b]);
    gr->alias[b] = a;
    gr->cost[a] += gr->cost[b];
}

struct move {
    uint32_t dst, src, depth, at;
};

static int by_depth(const void *pa, const void *pb)
{
    const struct move *a = pa, *b = pb;
    if (a->depth != b->depth) return a->depth > b->depth ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

void graph_coalesce(struct graph *gr, const struct cfg *g)
{
    VEC(struct move) moves = {0};
    for (uint32_t i = 0; i < gr->func->insts.len; i++) {
        const struct mir_inst *in = &gr->func->insts.data[i];
        if (!opnd_is_move(in) || in->src[0].kind != MIR_VREG || in->src[0].negated ||
            in->dst[0].kind != MIR_VREG)
            continue;
        if (!gr->present[in->dst[0].v] || !gr->present[in->src[0].v]) continue;
        vec_push(&moves, (struct move){in->dst[0].v, in->src[0].v, g->blocks[g->block_of[i]].loop_depth, i});
    }
    if (moves.len) qsort(moves.data, moves.len, sizeof *moves.data, by_depth);
    for (uint32_t i = 0; i < moves.len; i++) {
        uint32_t a = graph_find(gr, moves.data[i].dst), b = graph_find(gr, moves.data[i].src);
        if (a != b && !interferes(gr, a, b)) merge(gr, a, b);
    }
    vec_free(&moves);
}
