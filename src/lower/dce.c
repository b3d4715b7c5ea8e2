/* dce.c: dead code. A vreg is wanted when an instruction with an effect reads it, or one that computes a
 * wanted vreg; all others are removed, even where two dead values feed each other around a loop. An
 * instruction with several results loses the unwanted ones. Then liveness finds writes that are overwritten
 * before they are read. */
#include "base/bitset.h"
#include "lower/liveness.h"
#include "lower/opnd.h"
#include "lower/pass.h"

struct dce {
    struct mir_func *f;
    /* vregs */
    uint64_t *wanted;
    /* Instructions that write a vreg: chains through (instruction, destination). */
    uint32_t *first_def, *next_def;
    VEC(uint32_t) work;
};

static void want(struct dce *d, uint32_t v)
{
    if (bitset_has(d->wanted, v)) return;
    bitset_add(d->wanted, v);
    vec_push(&d->work, v);
}

static void want_sources(struct dce *d, const struct mir_inst *in)
{
    uint32_t uses[OPND_USES_MAX], n = opnd_uses(in, uses);
    for (uint32_t k = 0; k < n; k++) want(d, uses[k]);
}

static void mark(struct dce *d)
{
    for (uint32_t i = d->f->insts.len; i-- > 0;) {
        const struct mir_inst *in = &d->f->insts.data[i];
        for (uint32_t k = 0; k < ISA_DST_MAX; k++) {
            if (in->dst[k].kind != MIR_VREG) continue;
            d->next_def[i * ISA_DST_MAX + k] = d->first_def[in->dst[k].v];
            d->first_def[in->dst[k].v] = i * ISA_DST_MAX + k;
        }
        if (opnd_has_effect(in)) want_sources(d, in);
    }
    while (d->work.len) {
        uint32_t v = d->work.data[--d->work.len];
        for (uint32_t p = d->first_def[v]; p != CFG_NONE; p = d->next_def[p])
            want_sources(d, &d->f->insts.data[p / ISA_DST_MAX]);
    }
}

/* Drops destinations that are not wanted; true when the whole instruction may go. */
static bool strip(struct mir_inst *in, const uint64_t *wanted, bool *changed)
{
    bool any = false;
    for (uint32_t k = 0; k < ISA_DST_MAX; k++) {
        if (in->dst[k].kind != MIR_VREG) continue;
        if (bitset_has(wanted, in->dst[k].v)) {
            any = true;
        } else {
            in->dst[k] = mir_none();
            *changed = true;
        }
    }
    return !any && !opnd_has_effect(in);
}

static bool sweep(struct dce *d)
{
    bool changed = false;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < d->f->insts.len; i++) {
        struct mir_inst in = d->f->insts.data[i];
        bool self_move = opnd_is_move(&in) && in.src[0].kind == MIR_VREG && in.dst[0].kind == MIR_VREG &&
                         in.src[0].v == in.dst[0].v && !in.src[0].negated;
        if (strip(&in, d->wanted, &changed) || self_move) {
            changed = true;
            continue;
        }
        d->f->insts.data[kept++] = in;
    }
    d->f->insts.len = kept;
    return changed;
}

/* Writes that nothing reads before the next write. */
static bool drop_overwritten(struct mir_func *f)
{
    struct cfg g;
    struct liveness lv;
    cfg_build(f, &g);
    liveness_build(f, &g, &lv);
    bool any = false;
    struct live_walk w;
    live_walk_open(&w, &lv, 0);
    for (uint32_t b = 0; b < g.count; b++) {
        live_walk_restart(&w, &lv, b);
        for (uint32_t i = g.blocks[b].end; i-- > g.blocks[b].first;) {
            struct mir_inst *in = &f->insts.data[i];
            uint32_t defs[ISA_DST_MAX], n = opnd_defs(in, defs);
            bool wanted = opnd_has_effect(in);
            for (uint32_t k = 0; k < n; k++) wanted |= live_walk_has(&w, defs[k]);
            if (!wanted) {
                *in = opnd_inst(ISA_OP_NOP, in->loc);
                any = true;
                continue;
            }
            live_walk_step(&w, in);
        }
    }
    live_walk_close(&w);
    liveness_free(&lv);
    cfg_free(&g);
    return any;
}

bool routine_drop_dead(struct routine *u)
{
    struct mir_func *f = &u->mir;
    struct dce d = {.f = f};
    d.wanted = mem_zalloc(sizeof *d.wanted * bitset_words(f->vregs.len + 1));
    d.first_def = mem_alloc(sizeof *d.first_def * (f->vregs.len + 1));
    d.next_def = mem_alloc(sizeof *d.next_def * ((size_t)f->insts.len + 1) * ISA_DST_MAX);
    for (uint32_t v = 0; v < f->vregs.len; v++) d.first_def[v] = CFG_NONE;
    if (u->fp != MIR_NO_VREG) want(&d, u->fp);
    mark(&d);
    bool changed = sweep(&d);
    free(d.wanted);
    free(d.first_def);
    free(d.next_def);
    vec_free(&d.work);
    changed |= drop_overwritten(f);
    changed |= cfg_clean(f, u->is_entry);
    return changed;
}
