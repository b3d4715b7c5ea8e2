/* verify.c: the invariants of mir.h, checked between the steps: after selection, folding and allocation in
 * every build, after every other step in debug builds (routine_check). An error of a step is reported here
 * with a diagnostic, before later steps use its result. */
#include "lower/liveness.h"
#include "lower/opnd.h"
#include "lower/pass.h"

struct verify {
    const struct routine *u;
    const struct mir_func *f;
    uint32_t sym_count;
    const char *problem;
};

static void check(struct verify *c, bool ok, const char *problem)
{
    if (!ok && !c->problem) c->problem = problem;
}

static void check_operand(struct verify *c, const struct mir_opnd *o, uint8_t cls, bool is_dst)
{
    if (o->kind == MIR_NONE) return;
    check(c, cls != OPND_ABSENT, "operand beyond what the opcode has");
    check(c, !is_dst || o->kind == MIR_VREG, "a destination is not a register");
    switch (o->kind) {
    case MIR_VREG:
        check(c, o->v < c->f->vregs.len, "unknown register");
        if (!c->problem) check(c, c->f->vregs.data[o->v].cls == cls, "register of the wrong class");
        break;
    case MIR_SLOT: check(c, o->v < c->f->slots.len && cls != MIR_P, "unknown frame slot"); break;
    case MIR_SYM: check(c, o->v < c->sym_count && cls != MIR_P, "unknown symbol"); break;
    case MIR_ENV: check(c, o->v < ISA_ENV_COUNT && cls != MIR_P, "unknown launch constant"); break;
    case MIR_PARAM:
    case MIR_DYNSMEM: check(c, cls != MIR_P, "a predicate operand that is not a predicate"); break;
    case MIR_IMM: break;
    default: check(c, false, "unknown kind of operand"); break;
    }
}

static void check_targets(struct verify *c, const struct mir_inst *in)
{
    const struct mir_func *f = c->f;
    switch (in->op) {
    case ISA_OP_BRA:
    case MIR_OP_LABEL: check(c, in->target < f->label_count, "unknown label"); break;
    case ISA_OP_BRX:
        check(c, in->target < f->tables.len, "unknown branch table");
        if (c->problem) break;
        for (uint32_t i = 0; i < f->tables.data[in->target].count; i++)
            check(c, f->tables.data[in->target].labels[i] < f->label_count,
                  "unknown label in a branch table");
        break;
    case ISA_OP_CALL:
    case ISA_OP_CALLI: {
        check(c, in->target < f->calls.len, "unknown call");
        if (c->problem) break;
        const struct mir_call *call = &f->calls.data[in->target];
        for (uint32_t i = 0; i < call->arg_count; i++)
            check(c, call->args[i] < f->slots.len, "unknown argument slot");
        for (uint32_t i = 0; i < call->ret_count; i++)
            check(c, call->rets[i] < f->slots.len, "unknown result slot");
        check(c, in->op == ISA_OP_CALLI || call->callee, "direct call without a callee");
        break;
    }
    default: break;
    }
}

static void check_labels(struct verify *c)
{
    bool *placed = mem_zalloc(c->f->label_count + 1);
    for (uint32_t i = 0; i < c->f->insts.len; i++) {
        const struct mir_inst *in = &c->f->insts.data[i];
        if (in->op != MIR_OP_LABEL) continue;
        check(c, !placed[in->target], "a label appears twice");
        placed[in->target] = true;
    }
    for (uint32_t i = 0; i < c->f->insts.len; i++) {
        const struct mir_inst *in = &c->f->insts.data[i];
        if (in->op == ISA_OP_BRA) check(c, placed[in->target], "a branch to a label that is not there");
        if (in->op != ISA_OP_BRX) continue;
        for (uint32_t k = 0; k < c->f->tables.data[in->target].count; k++)
            check(c, placed[c->f->tables.data[in->target].labels[k]],
                  "a branch table names a label that is not there");
    }
    free(placed);
}

static bool report(struct image *m, const struct verify *c, const char *stage, const struct mir_inst *in)
{
    if (!c->problem) return true;
    uint32_t loc = in ? in->loc : 0;
    int line = loc < m->prog.locs.len ? (int)m->prog.locs.data[loc].ptx_line : c->u->ptx->line;
    diag_add(m->diags, DIAG_ERROR, &m->ptx->source, line, line ? 1 : 0, 1,
             "this is a fault of Heddle; please report it", "'%s' after %s: %s (%s)", c->u->ptx->name, stage,
             c->problem, in && in->op < ISA_OP_COUNT ? isa_ops[in->op].name : "label");
    return false;
}

bool routine_verify(struct image *m, const struct routine *u, const char *stage)
{
    struct verify c = {.u = u, .f = &u->mir, .sym_count = m->prog.syms.len};
    for (uint32_t i = 0; i < u->mir.insts.len; i++) {
        const struct mir_inst *in = &u->mir.insts.data[i];
        check(&c, in->op <= MIR_OP_LABEL, "unknown opcode");
        if (c.problem) return report(m, &c, stage, NULL);
        check(&c, in->vec <= 16, "vector too long");
        for (uint32_t k = 0; k < ISA_DST_MAX; k++)
            check_operand(&c, &in->dst[k], opnd_dst_class(in, k), true);
        for (uint32_t k = 0; k < ISA_SRC_MAX; k++)
            check_operand(&c, &in->src[k], opnd_src_class(in, k), false);
        if (in->guard != MIR_NO_VREG) {
            check(&c, in->guard < u->mir.vregs.len, "unknown guard");
            if (!c.problem)
                check(&c, u->mir.vregs.data[in->guard].cls == MIR_P, "a guard is not a predicate");
        }
        if (opnd_is_move(in))
            check(&c, in->dst[0].kind == MIR_VREG && in->src[0].kind != MIR_NONE, "a move without operands");
        check_targets(&c, in);
        if (c.problem) return report(m, &c, stage, in);
    }
    check_labels(&c);
    return report(m, &c, stage, NULL);
}

void routine_check(struct image *m, const struct routine *u, const char *stage)
{
    debug_assert(routine_verify(m, u, stage));
}

/* ---- allocation ---- */

static bool overlap(const struct routine *u, uint32_t a, uint32_t b)
{
    uint8_t ca = u->mir.vregs.data[a].cls, cb = u->mir.vregs.data[b].cls;
    if ((ca == MIR_P) != (cb == MIR_P)) return false;
    uint32_t a0 = u->phys[a], a1 = a0 + (ca == MIR_D ? 2 : 1), b0 = u->phys[b],
             b1 = b0 + (cb == MIR_D ? 2 : 1);
    return a0 < b1 && b0 < a1;
}

static void check_writes(struct verify *c, const struct live_walk *w, const struct mir_inst *in)
{
    uint32_t defs[ISA_DST_MAX], n = opnd_defs(in, defs);
    for (uint32_t k = 0; k < n; k++) {
        uint8_t cls = c->f->vregs.data[defs[k]].cls;
        check(c, cls != MIR_D || c->u->phys[defs[k]] % 2 == 0, "a pair is not aligned");
        check(c,
              c->u->phys[defs[k]] + (cls == MIR_D ? 2u : 1u) <= (cls == MIR_P ? ISA_PREDS : c->u->reg_count),
              "a register beyond the count");
        for (uint32_t i = 0; i < w->count; i++) {
            bool copy = opnd_is_move(in) && in->src[0].kind == MIR_VREG && in->src[0].v == w->items[i];
            check(c, w->items[i] == defs[k] || copy || !overlap(c->u, w->items[i], defs[k]),
                  "a write into the register of a living value");
        }
        for (uint32_t i = k + 1; i < n; i++)
            check(c, !overlap(c->u, defs[k], defs[i]), "two results in one register");
    }
}

bool routine_verify_allocation(struct image *m, const struct routine *u)
{
    assert(u->phys);
    struct verify c = {.u = u, .f = &u->mir, .sym_count = m->prog.syms.len};
    struct cfg g;
    struct liveness lv;
    struct live_walk w;
    cfg_build(&u->mir, &g);
    liveness_build(&u->mir, &g, &lv);
    live_walk_open(&w, &lv, 0);
    const struct mir_inst *bad = NULL;
    for (uint32_t b = 0; b < g.count && !bad; b++) {
        live_walk_restart(&w, &lv, b);
        for (uint32_t i = g.blocks[b].end; i-- > g.blocks[b].first && !bad;) {
            check_writes(&c, &w, &u->mir.insts.data[i]);
            live_walk_step(&w, &u->mir.insts.data[i]);
            if (c.problem) bad = &u->mir.insts.data[i];
        }
    }
    live_walk_close(&w);
    liveness_free(&lv);
    cfg_free(&g);
    return report(m, &c, "allocation", bad);
}
