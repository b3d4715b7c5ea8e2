/* fold.c: the walk: copies and constants go to their uses, then each instruction is simplified
 * (fold_algebra.c), combined with its makers (fold_combine.c), or evaluated (fold_eval.c). Nothing is moved
 * or removed; dce.c removes what became useless. */
#include "lower/fold.h"

enum { COPY_CHAIN_MAX = 8 };

/* Index + 1 of the last instruction of this block that wrote v; 0: none yet. */
static uint32_t written_at(const struct fold *z, uint32_t v)
{
    return z->last_block[v] == z->block ? z->last_def[v] + 1 : 0;
}

static bool inst_dominates(const struct fold *z, uint32_t a, uint32_t b)
{
    uint32_t ba = z->g->block_of[a], bb = z->g->block_of[b];
    return ba == bb ? a < b : cfg_dominates(z->g, ba, bb);
}

uint32_t fold_def(const struct fold *z, uint32_t v, uint32_t at)
{
    if (z->def_count[v] != 1) return CFG_NONE;
    uint32_t d = z->def_inst[v];
    if (opnd_is_guarded(&z->f->insts.data[d]) || !inst_dominates(z, d, at)) return CFG_NONE;
    return d;
}

bool fold_is_stable(const struct fold *z, const struct mir_opnd *o, uint32_t from, uint32_t at)
{
    if (o->kind != MIR_VREG) return true;
    if (z->u->fp != MIR_NO_VREG && o->v == z->u->fp) return true;
    if (z->def_count[o->v] == 1 && inst_dominates(z, z->def_inst[o->v], from)) return true;
    return z->g->block_of[from] == z->block && z->g->block_of[at] == z->block && written_at(z, o->v) <= from;
}

void fold_set_src(struct fold *z, struct mir_inst *in, uint32_t k, struct mir_opnd o)
{
    if (in->src[k].kind == MIR_VREG) {
        assert(z->use_count[in->src[k].v]);
        z->use_count[in->src[k].v]--;
    }
    if (o.kind == MIR_VREG) z->use_count[o.v]++;
    in->src[k] = o;
}

void fold_to_move(struct fold *z, struct mir_inst *in, struct mir_opnd o)
{
    if (o.kind == MIR_VREG) z->use_count[o.v]++;
    for (uint32_t k = 0; k < ISA_SRC_MAX; k++) fold_set_src(z, in, k, mir_none());
    in->op = opnd_move_op(z->f->vregs.data[in->dst[0].v].cls);
    in->src[0] = o;
    in->flags = 0;
    in->mod = in->mod2 = in->type = in->round = in->vec = 0;
    in->imm = 0;
}

/* Finds what v is a copy of at instruction `at`; false when it is not a valid copy there. */
static bool find_copy(const struct fold *z, uint32_t v, uint32_t at, struct mir_opnd *o)
{
    uint32_t local = z->last_block[v] == z->block ? z->copy_at[v] : 0;
    if (local) {
        *o = z->f->insts.data[local - 1].src[0];
        if (o->kind != MIR_VREG || written_at(z, o->v) < local) return true;
    }
    uint32_t d = fold_def(z, v, at);
    if (d == CFG_NONE || !opnd_is_move(&z->f->insts.data[d])) return false;
    *o = z->f->insts.data[d].src[0];
    if (o->kind == MIR_NONE) return false;
    return o->kind != MIR_VREG || (z->def_count[o->v] == 1 && inst_dominates(z, z->def_inst[o->v], d));
}

static bool resolve(const struct fold *z, struct mir_opnd *o, uint32_t at)
{
    bool any = false;
    for (uint32_t n = 0; n < COPY_CHAIN_MAX && o->kind == MIR_VREG; n++) {
        struct mir_opnd to;
        if (!find_copy(z, o->v, at, &to)) break;
        if (to.kind == MIR_VREG && to.v == o->v) break;
        if (z->f->vregs.data[o->v].cls == MIR_P) to.negated ^= o->negated;
        *o = to;
        any = true;
    }
    return any;
}

static void fold_sources(struct fold *z, uint32_t at)
{
    struct mir_inst *in = &z->f->insts.data[at];
    for (uint32_t k = 0; k < ISA_SRC_MAX; k++) {
        struct mir_opnd o = in->src[k];
        if (o.kind != MIR_VREG || !resolve(z, &o, at)) continue;
        fold_set_src(z, in, k, o);
        z->changed = true;
    }
    if (in->guard == MIR_NO_VREG) return;
    struct mir_opnd g = {.kind = MIR_VREG, .v = in->guard, .negated = in->guard_not};
    if (!resolve(z, &g, at)) return;
    z->changed = true;
    z->use_count[in->guard]--;
    if (g.kind == MIR_VREG) {
        in->guard = g.v;
        in->guard_not = g.negated;
        z->use_count[g.v]++;
        return;
    }
    bool runs = ((g.imm & 1) != 0) ^ g.negated;
    in->guard = MIR_NO_VREG;
    in->guard_not = false;
    if (!runs) {
        for (uint32_t k = 0; k < ISA_SRC_MAX; k++) fold_set_src(z, in, k, mir_none());
        *in = opnd_inst(ISA_OP_NOP, in->loc);
    }
}

static bool evaluate(struct fold *z, struct mir_inst *in)
{
    uint64_t s[ISA_SRC_MAX] = {0}, value;
    if (opnd_is_move(in) || in->dst[0].kind != MIR_VREG || in->flags & ISA_SAT) return false;
    for (uint32_t k = 1; k < ISA_DST_MAX; k++)
        if (in->dst[k].kind != MIR_NONE) return false;
    if (in->src[0].kind != MIR_IMM) return false;
    for (uint32_t k = 0; k < ISA_SRC_MAX; k++) {
        if (in->src[k].kind == MIR_NONE) continue;
        if (in->src[k].kind != MIR_IMM) return false;
        s[k] = fold_imm(in, k);
    }
    if (!fold_eval(in, s, &value)) return false;
    fold_to_move(z, in, mir_imm((int64_t)value));
    return true;
}

static void note_writes(struct fold *z, uint32_t at)
{
    const struct mir_inst *in = &z->f->insts.data[at];
    uint32_t defs[ISA_DST_MAX], n = opnd_defs(in, defs);
    for (uint32_t k = 0; k < n; k++) {
        z->last_block[defs[k]] = z->block;
        z->last_def[defs[k]] = at;
        z->copy_at[defs[k]] = 0;
    }
    bool self = in->src[0].kind == MIR_VREG && n && in->src[0].v == defs[0];
    if (n && opnd_is_move(in) && !opnd_is_guarded(in) && !self && in->src[0].kind != MIR_NONE)
        z->copy_at[defs[0]] = at + 1;
}

static void fold_inst(struct fold *z, uint32_t at)
{
    struct mir_inst *in = &z->f->insts.data[at];
    if (in->op >= ISA_OP_COUNT || in->op == ISA_OP_NOP) return;
    fold_sources(z, at);
    bool any = in->dst[0].kind == MIR_VREG && opnd_is_pure(in) && !opnd_has_effect(in) &&
               (evaluate(z, in) || fold_algebra(z, at));
    if (in->op != ISA_OP_NOP) any |= fold_combine(z, at);
    z->changed |= any;
    note_writes(z, at);
}

static void count_defs(struct fold *z)
{
    for (uint32_t i = 0; i < z->f->insts.len; i++) {
        uint32_t uses[OPND_USES_MAX], defs[ISA_DST_MAX];
        uint32_t nu = opnd_uses(&z->f->insts.data[i], uses), nd = opnd_defs(&z->f->insts.data[i], defs);
        for (uint32_t k = 0; k < nu; k++) z->use_count[uses[k]]++;
        for (uint32_t k = 0; k < nd; k++) {
            z->def_count[defs[k]]++;
            z->def_inst[defs[k]] = i;
        }
    }
}

bool routine_fold(struct routine *u)
{
    struct cfg g;
    struct mir_func *f = &u->mir;
    uint32_t n = f->vregs.len + 1, *all = mem_zalloc(sizeof *all * n * 6);
    struct fold z = {u, f, &g, all, all + n, all + 2 * n, all + 3 * n, all + 4 * n, all + 5 * n, 0, false};
    cfg_build(f, &g);
    cfg_dominators(&g);
    count_defs(&z);
    for (uint32_t v = 0; v < f->vregs.len; v++) z.last_block[v] = CFG_NONE;
    for (uint32_t b = 0; b < g.count; b++) {
        z.block = b;
        for (uint32_t i = g.blocks[b].first; i < g.blocks[b].end; i++) fold_inst(&z, i);
    }
    free(all);
    cfg_free(&g);
    if (z.changed) cfg_clean(f, u->is_entry); /* a guard that became constant may have cut code off */
    return z.changed;
}
