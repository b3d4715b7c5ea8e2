/* liveness.c: the usual backward data flow over bit sets, restricted to vregs that cross a block's border. */
#include "lower/liveness.h"

#include "base/bitset.h"
#include "lower/opnd.h"

/* A vreg crosses a border when two blocks name it, or when its own block reads it before writing it. */
static void find_globals(struct liveness *lv)
{
    const struct mir_func *f = lv->func;
    uint32_t n = lv->vreg_count, *block_of = mem_alloc(sizeof *block_of * (n + 1));
    uint64_t *crosses = mem_zalloc(sizeof *crosses * bitset_words(n + 1));
    uint64_t *written = mem_zalloc(sizeof *written * bitset_words(n + 1));
    for (uint32_t v = 0; v < n; v++) block_of[v] = CFG_NONE;
    for (uint32_t b = 0; b < lv->cfg->count; b++)
        for (uint32_t i = lv->cfg->blocks[b].first; i < lv->cfg->blocks[b].end; i++) {
            const struct mir_inst *in = &f->insts.data[i];
            uint32_t uses[OPND_USES_MAX], defs[ISA_DST_MAX], nu = opnd_uses(in, uses),
                                                             nd = opnd_defs(in, defs);
            for (uint32_t k = 0; k < nu; k++) {
                if (block_of[uses[k]] != b || !bitset_has(written, uses[k])) bitset_add(crosses, uses[k]);
                if (block_of[uses[k]] == CFG_NONE) block_of[uses[k]] = b;
            }
            for (uint32_t k = 0; k < nd; k++) {
                if (block_of[defs[k]] != CFG_NONE && block_of[defs[k]] != b) bitset_add(crosses, defs[k]);
                block_of[defs[k]] = b;
                if (!opnd_is_guarded(in)) bitset_add(written, defs[k]);
            }
        }
    for (uint32_t v = 0; v < n; v++) {
        lv->dense[v] = CFG_NONE;
        if (!bitset_has(crosses, v)) continue;
        lv->dense[v] = lv->global_count;
        lv->globals[lv->global_count++] = v;
    }
    assert(lv->global_count <= lv->vreg_count);
    free(block_of);
    free(crosses);
    free(written);
}

static void local_sets(const struct liveness *lv, uint32_t b, uint64_t *gen, uint64_t *kill)
{
    const struct cfg_block *blk = &lv->cfg->blocks[b];
    for (uint32_t i = blk->end; i-- > blk->first;) {
        const struct mir_inst *in = &lv->func->insts.data[i];
        uint32_t uses[OPND_USES_MAX], defs[ISA_DST_MAX], nu = opnd_uses(in, uses), nd = opnd_defs(in, defs);
        for (uint32_t k = 0; k < nd && !opnd_is_guarded(in); k++) {
            if (lv->dense[defs[k]] == CFG_NONE) continue;
            bitset_add(kill, lv->dense[defs[k]]);
            bitset_del(gen, lv->dense[defs[k]]);
        }
        for (uint32_t k = 0; k < nu; k++)
            if (lv->dense[uses[k]] != CFG_NONE) bitset_add(gen, lv->dense[uses[k]]);
    }
}

static void solve(struct liveness *lv, uint64_t *kill)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t k = lv->cfg->count; k-- > 0;) {
            uint32_t b = lv->cfg->order[k];
            const struct cfg_block *blk = &lv->cfg->blocks[b];
            uint64_t *out = lv->out + (size_t)b * lv->words, *in = lv->in + (size_t)b * lv->words;
            bool grew = false;
            for (uint32_t s = 0; s < blk->succ_count; s++)
                grew |= bitset_union(out, lv->in + (size_t)lv->cfg->edges[blk->succ_at + s] * lv->words,
                                     lv->words);
            if (!grew) continue;
            for (uint32_t w = 0; w < lv->words; w++) {
                uint64_t now = in[w] | (out[w] & ~kill[(size_t)b * lv->words + w]);
                changed |= now != in[w];
                in[w] = now;
            }
        }
    }
}

void liveness_build(const struct mir_func *f, const struct cfg *g, struct liveness *lv)
{
    *lv = (struct liveness){.func = f, .cfg = g, .vreg_count = f->vregs.len};
    lv->dense = mem_alloc(sizeof *lv->dense * (lv->vreg_count + 1));
    lv->globals = mem_alloc(sizeof *lv->globals * (lv->vreg_count + 1));
    find_globals(lv);
    lv->words = bitset_words(lv->global_count + 1);
    assert((size_t)lv->words * 64 > lv->global_count);
    size_t all = (size_t)lv->words * (g->count + 1);
    lv->in = mem_zalloc(sizeof *lv->in * all);
    lv->out = mem_zalloc(sizeof *lv->out * all);
    uint64_t *kill = mem_zalloc(sizeof *kill * all);
    for (uint32_t b = 0; b < g->count; b++)
        local_sets(lv, b, lv->in + (size_t)b * lv->words, kill + (size_t)b * lv->words);
    solve(lv, kill);
    free(kill);
}

void liveness_free(struct liveness *lv)
{
    free(lv->dense);
    free(lv->globals);
    free(lv->in);
    free(lv->out);
    *lv = (struct liveness){0};
}

void live_walk_add(struct live_walk *w, uint32_t v)
{
    if (live_walk_has(w, v)) return;
    w->place[v] = w->count;
    w->items[w->count++] = v;
}

void live_walk_del(struct live_walk *w, uint32_t v)
{
    if (!live_walk_has(w, v)) return;
    uint32_t last = w->items[--w->count];
    w->items[w->place[v]] = last;
    w->place[last] = w->place[v];
}

void live_walk_restart(struct live_walk *w, const struct liveness *lv, uint32_t block)
{
    assert(block < MAX(lv->cfg->count, 1u));
    w->count = 0;
    const uint64_t *out = lv->out + (size_t)block * lv->words;
    for (uint32_t i = 0; i < lv->words; i++)
        for (uint64_t bits = out[i]; bits; bits &= bits - 1)
            live_walk_add(w, lv->globals[i * 64 + (uint32_t)__builtin_ctzll(bits)]);
}

void live_walk_open(struct live_walk *w, const struct liveness *lv, uint32_t block)
{
    w->items = mem_alloc(sizeof *w->items * (lv->vreg_count + 1));
    w->place = mem_zalloc(sizeof *w->place * (lv->vreg_count + 1));
    live_walk_restart(w, lv, block);
}

void live_walk_step(struct live_walk *w, const struct mir_inst *in)
{
    uint32_t uses[OPND_USES_MAX], defs[ISA_DST_MAX], nu = opnd_uses(in, uses), nd = opnd_defs(in, defs);
    for (uint32_t k = 0; k < nd && !opnd_is_guarded(in); k++) live_walk_del(w, defs[k]);
    for (uint32_t k = 0; k < nu; k++) live_walk_add(w, uses[k]);
}

void live_walk_close(struct live_walk *w)
{
    free(w->items);
    free(w->place);
}
