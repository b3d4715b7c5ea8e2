/* cse.c: removes a computation that is done twice. Value numbering over the dominator tree: a pure
 * instruction whose sources all have one definition (or are constants) and that was seen in a dominating
 * block becomes a copy of that result. */
#include "base/hash.h"
#include "lower/opnd.h"
#include "lower/pass.h"

struct seen {
    uint32_t inst, next;
    uint64_t hash;
};

struct cse {
    struct mir_func *f;
    struct cfg *g;
    uint32_t *def_count, *def_inst;
    uint32_t *buckets, mask;
    VEC(struct seen) seen;
};

/* Written once, before instruction `at` on every path: then it has the same value wherever `at` dominates. */
static bool is_settled(const struct cse *c, uint32_t v, uint32_t at)
{
    if (c->def_count[v] != 1) return false;
    uint32_t d = c->def_inst[v], bd = c->g->block_of[d], ba = c->g->block_of[at];
    return bd == ba ? d < at : cfg_dominates(c->g, bd, ba);
}

static bool is_candidate(const struct cse *c, const struct mir_inst *in, uint32_t at)
{
    if (in->op >= ISA_OP_COUNT || !opnd_is_pure(in) || opnd_has_effect(in) || opnd_is_guarded(in) ||
        opnd_is_move(in))
        return false;
    if (in->dst[0].kind != MIR_VREG || c->def_count[in->dst[0].v] != 1) return false;
    for (uint32_t k = 1; k < ISA_DST_MAX; k++)
        if (in->dst[k].kind != MIR_NONE) return false;
    for (uint32_t k = 0; k < ISA_SRC_MAX; k++)
        if (in->src[k].kind == MIR_VREG && !is_settled(c, in->src[k].v, at)) return false;
    return true;
}

static bool same_src(const struct mir_opnd *a, const struct mir_opnd *b)
{
    if (a->kind != b->kind) return false;
    return a->kind == MIR_NONE ||
           (a->v == b->v && a->negated == b->negated && (a->kind == MIR_VREG || a->imm == b->imm));
}

static bool same_value(const struct mir_inst *a, const struct mir_inst *b)
{
    if (a->op != b->op || a->flags != b->flags || a->mod != b->mod || a->mod2 != b->mod2 ||
        a->type != b->type || a->round != b->round || a->vec != b->vec || a->imm != b->imm)
        return false;
    for (uint32_t k = 0; k < ISA_SRC_MAX; k++)
        if (!same_src(&a->src[k], &b->src[k])) return false;
    return true;
}

static uint64_t hash_inst(const struct mir_inst *in)
{
    uint64_t h =
        hash_mix((uint64_t)in->op << 32 | (uint64_t)in->mod << 24 | (uint64_t)in->mod2 << 16 | in->flags);
    h = hash_mix(h ^ (uint64_t)in->imm);
    for (uint32_t k = 0; k < ISA_SRC_MAX && in->src[k].kind != MIR_NONE; k++)
        h = hash_mix(h * 31 + in->src[k].kind + ((uint64_t)in->src[k].v << 8) +
                     (in->src[k].kind == MIR_VREG ? 0 : (uint64_t)in->src[k].imm << 20));
    return h;
}

/* In reverse postorder dominators come first. Each hit is checked for dominance, so that nothing has to be
 * removed when the walk leaves a subtree. */
static uint32_t find(const struct cse *c, const struct mir_inst *in, uint64_t h, uint32_t block)
{
    for (uint32_t i = c->buckets[h & c->mask]; i != CFG_NONE; i = c->seen.data[i].next) {
        const struct seen *s = &c->seen.data[i];
        if (s->hash == h && same_value(&c->f->insts.data[s->inst], in) &&
            cfg_dominates(c->g, c->g->block_of[s->inst], block))
            return s->inst;
    }
    return CFG_NONE;
}

static bool visit(struct cse *c, uint32_t at, uint32_t block)
{
    struct mir_inst *in = &c->f->insts.data[at];
    if (!is_candidate(c, in, at)) return false;
    uint64_t h = hash_inst(in);
    uint32_t earlier = find(c, in, h, block);
    if (earlier == CFG_NONE) {
        vec_push(&c->seen, (struct seen){at, c->buckets[h & c->mask], h});
        c->buckets[h & c->mask] = c->seen.len - 1;
        return false;
    }
    struct mir_inst mv = opnd_inst(opnd_move_op(c->f->vregs.data[in->dst[0].v].cls), in->loc);
    mv.dst[0] = in->dst[0];
    mv.src[0] = mir_vreg(c->f->insts.data[earlier].dst[0].v);
    *in = mv;
    return true;
}

bool routine_common(struct routine *u)
{
    struct cfg g;
    cfg_build(&u->mir, &g);
    cfg_dominators(&g);
    uint32_t size = 64;
    while (size < u->mir.insts.len) size *= 2;
    struct cse c = {.f = &u->mir, .g = &g, .mask = size - 1};
    c.buckets = mem_alloc(sizeof *c.buckets * size);
    for (uint32_t i = 0; i < size; i++) c.buckets[i] = CFG_NONE;
    c.def_count = mem_zalloc(sizeof *c.def_count * (u->mir.vregs.len + 1) * 2);
    c.def_inst = c.def_count + u->mir.vregs.len + 1;
    for (uint32_t i = 0; i < u->mir.insts.len; i++) {
        uint32_t defs[ISA_DST_MAX], n = opnd_defs(&u->mir.insts.data[i], defs);
        for (uint32_t k = 0; k < n; k++) c.def_count[defs[k]]++, c.def_inst[defs[k]] = i;
    }
    bool changed = false;
    for (uint32_t k = 0; k < g.count; k++) {
        const struct cfg_block *b = &g.blocks[g.order[k]];
        for (uint32_t i = b->first; i < b->end; i++) changed |= visit(&c, i, g.order[k]);
    }
    free(c.buckets);
    free(c.def_count);
    vec_free(&c.seen);
    cfg_free(&g);
    return changed;
}
