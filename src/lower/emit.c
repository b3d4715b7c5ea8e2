/* emit.c: allocated MIR -> machine instructions, constant pool, branch targets, reconvergence points, live
 * sets.
 *
 * Invariants. (1) Everything that the kernel points to lies in the module's arena. (2) Routines follow
 * each other, the entry first. (3) A potentially divergent branch names the first instruction of the block
 * where its paths meet, and that instruction carries ISA_JOIN. */
#include "base/bitset.h"
#include "lower/liveness.h"
#include "lower/opnd.h"
#include "lower/pass.h"
#include "lower/pool.h"

struct emitter {
    struct image *m;
    struct arena *arena;
    struct isa_kernel *k;
    struct pool pool;
    /* tables of BRX */
    VEC(uint32_t) targets;
    uint32_t dynamic_offset;
    /* first pc of m->routines[i] */
    uint32_t *routine_pc;
    /* the one being emitted */
    struct routine *u;
    /* instruction of u -> pc; of a label the pc of the next instruction */
    const uint32_t *pc_of;
    const uint32_t *label_pc;
};

/* ---- operands ---- */

static struct isa_const word(uint64_t v)
{
    return (struct isa_const){.kind = ISA_CONST_IMM, .value = (uint32_t)v};
}

static uint16_t number(struct emitter *e, uint64_t v, bool wide)
{
    uint32_t row = wide ? pool_pair(&e->pool, word(v), word(v >> 32)) : pool_word(&e->pool, word(v));
    return (uint16_t)(ISA_KIND_C | row);
}

static uint16_t rows(struct emitter *e, struct isa_const low, struct isa_const high, bool wide)
{
    return (uint16_t)(ISA_KIND_C | (wide ? pool_pair(&e->pool, low, high) : pool_word(&e->pool, low)));
}

static uint16_t source(struct emitter *e, const struct mir_inst *in, uint32_t k)
{
    const struct mir_opnd *o = &in->src[k];
    uint8_t cls = opnd_src_class(in, k);
    bool wide = cls == MIR_D;
    if (cls == MIR_P) {
        if (o->kind == MIR_NONE) return ISA_NONE;
        if (o->kind == MIR_VREG)
            return (uint16_t)(ISA_KIND_P | e->u->phys[o->v] | (o->negated ? ISA_P_NOT : 0));
        return (uint16_t)(ISA_KIND_P | ISA_PT | ((o->imm & 1) ^ o->negated ? 0 : ISA_P_NOT));
    }
    switch (o->kind) {
    case MIR_NONE: return ISA_NONE;
    case MIR_VREG: return e->u->phys[o->v];
    case MIR_IMM: return number(e, (uint64_t)o->imm, wide);
    case MIR_PARAM:
        return rows(e, (struct isa_const){.kind = ISA_CONST_PARAM, .value = (uint32_t)o->imm},
                    (struct isa_const){.kind = ISA_CONST_PARAM, .value = (uint32_t)o->imm + 4}, wide);
    case MIR_ENV:
        return rows(e, (struct isa_const){.kind = ISA_CONST_ENV, .value = o->v},
                    (struct isa_const){.kind = ISA_CONST_ENV, .value = o->v + 1}, wide);
    case MIR_SYM:
        return rows(e, (struct isa_const){.kind = ISA_CONST_SYM_LO, .value = o->v, .addend = o->imm},
                    (struct isa_const){.kind = ISA_CONST_SYM_HI, .value = o->v, .addend = o->imm}, wide);
    case MIR_DYNSMEM: return number(e, (uint64_t)e->dynamic_offset + (uint64_t)o->imm, wide);
    case MIR_SLOT: return number(e, (uint64_t)((int64_t)e->u->slot_offset[o->v] + o->imm), wide);
    default: UNREACHABLE("operand kind");
    }
}

static uint16_t destination(const struct emitter *e, const struct mir_inst *in, uint32_t k)
{
    const struct mir_opnd *o = &in->dst[k];
    if (o->kind != MIR_VREG) return ISA_NONE;
    return (uint16_t)((opnd_dst_class(in, k) == MIR_P ? ISA_KIND_P : ISA_KIND_R) | e->u->phys[o->v]);
}

/* The address of a frame slot is the frame pointer (entry: nothing) plus an offset that the instruction
 * holds. */
static void place_slot_access(struct emitter *e, const struct mir_inst *in, struct isa_inst *out)
{
    if (in->src[0].kind != MIR_SLOT || !opnd_access_bytes(in) || in->mod != ISA_LOCAL ||
        !(in->flags & ISA_A32))
        return;
    out->src[0] = e->u->is_entry ? (uint16_t)ISA_KIND_C : (uint16_t)REG_FRAME;
    out->imm += e->u->slot_offset[in->src[0].v] + in->src[0].imm;
}

/* ---- instructions ---- */

static uint32_t routine_index(const struct image *m, const struct ptx_func *f)
{
    for (uint32_t i = 0; i < m->routines.len; i++)
        if (m->routines.data[i]->ptx == f) return i;
    UNREACHABLE("call of a function that is not in the image");
}

static void set_control(struct emitter *e, const struct mir_inst *in, uint32_t pc, uint32_t reconv,
                        struct isa_inst *out)
{
    out->reconv = ISA_NO_RECONV;
    switch (in->op) {
    case ISA_OP_BRA:
        out->target = e->label_pc[in->target];
        if (opnd_is_guarded(in)) out->reconv = reconv;
        break;
    case ISA_OP_BRX: {
        const struct mir_table *t = &e->u->mir.tables.data[in->target];
        out->imm = e->targets.len;
        out->target = t->count;
        for (uint32_t i = 0; i < t->count; i++) vec_push(&e->targets, e->label_pc[t->labels[i]]);
        out->reconv = reconv;
        break;
    }
    case ISA_OP_CALL:
        out->target = e->routine_pc[routine_index(e->m, e->u->mir.calls.data[in->target].callee)];
        break;
    case ISA_OP_CALLI: out->reconv = pc + 1; break;
    default: out->target = in->target; break;
    }
    assert(out->reconv == ISA_NO_RECONV || out->reconv < e->k->inst_count);
    if (out->reconv != ISA_NO_RECONV) e->k->insts[out->reconv].flags |= ISA_JOIN;
}

static void emit_inst(struct emitter *e, const struct mir_inst *in, uint32_t pc, uint32_t reconv)
{
    assert(pc < e->k->inst_count && in->op < ISA_OP_COUNT);
    struct isa_inst *out = &e->k->insts[pc];
    uint16_t join = out->flags & ISA_JOIN; /* an earlier branch may have marked it */
    *out = (struct isa_inst){
        .op = in->op, .mod = in->mod, .mod2 = in->mod2, .type = in->type, .round = in->round};
    out->flags = (uint16_t)((in->flags & ~ISA_JOIN) | join);
    out->vec = in->vec;
    out->imm = in->imm;
    out->loc = in->loc;
    out->guard = ISA_PT;
    if (opnd_is_guarded(in))
        out->guard = (uint8_t)(e->u->phys[in->guard] | (in->guard_not ? ISA_GUARD_NOT : 0));
    for (uint32_t k = 0; k < ISA_DST_MAX; k++) out->dst[k] = destination(e, in, k);
    for (uint32_t k = 0; k < ISA_SRC_MAX; k++)
        out->src[k] = in->src[k].kind == MIR_NONE ? (uint16_t)ISA_NONE : ISA_KIND_C;
    bool slot =
        in->src[0].kind == MIR_SLOT && opnd_access_bytes(in) && in->mod == ISA_LOCAL && in->flags & ISA_A32;
    for (uint32_t k = slot ? 1 : 0; k < ISA_SRC_MAX; k++) out->src[k] = source(e, in, k);
    place_slot_access(e, in, out);
    if (in->array) out->src[1] = e->u->phys[in->array[0]];
    set_control(e, in, pc, reconv, out);
}

/* ---- live sets ---- */

static void add_live(struct emitter *e, isa_live_set *set, uint32_t v)
{
    uint8_t cls = e->u->mir.vregs.data[v].cls;
    if (cls == MIR_P) return;
    assert(e->u->phys[v] + (cls == MIR_D ? 2u : 1u) <= e->u->reg_count);
    for (uint32_t r = e->u->phys[v]; r < e->u->phys[v] + (cls == MIR_D ? 2u : 1u); r++)
        bitset_add(set->bits, r);
}

static void emit_live(struct emitter *e, const struct cfg *g)
{
    struct liveness lv;
    struct live_walk w;
    liveness_build(&e->u->mir, g, &lv);
    live_walk_open(&w, &lv, 0);
    for (uint32_t b = 0; b < g->count; b++) {
        live_walk_restart(&w, &lv, b);
        for (uint32_t i = g->blocks[b].end; i-- > g->blocks[b].first;) {
            const struct mir_inst *in = &e->u->mir.insts.data[i];
            live_walk_step(&w, in);
            if (in->op >= ISA_OP_COUNT) continue;
            isa_live_set *set = &e->k->live[e->pc_of[i]];
            for (uint32_t k = 0; k < w.count; k++) add_live(e, set, w.items[k]);
            if (e->m->uses_stack && e->pc_of[i] != 0) bitset_add(set->bits, REG_FRAME);
            e->k->insts[e->pc_of[i]].live = bitset_count(set->bits, ARRAY_LEN(set->bits));
        }
    }
    live_walk_close(&w);
    liveness_free(&lv);
}

/* ---- routines ---- */

static void emit_routine(struct emitter *e, uint32_t index)
{
    struct routine *u = e->m->routines.data[index];
    uint32_t n = u->mir.insts.len, pc = e->routine_pc[index];
    uint32_t *pc_of = mem_alloc(sizeof *pc_of * (n + 1)),
             *label_pc = mem_zalloc(sizeof *label_pc * (u->mir.label_count + 1));
    for (uint32_t i = 0; i < n; i++) {
        pc_of[i] = pc;
        if (u->mir.insts.data[i].op == MIR_OP_LABEL)
            label_pc[u->mir.insts.data[i].target] = pc;
        else
            pc++;
    }
    assert(u->phys && u->slot_offset); /* it was allocated, and its frame laid out */
    struct cfg g;
    cfg_build(&u->mir, &g);
    cfg_dominators(&g);
    cfg_reconvergence(&g);
    e->u = u;
    e->pc_of = pc_of;
    e->label_pc = label_pc;
    for (uint32_t i = 0; i < n; i++) {
        if (u->mir.insts.data[i].op == MIR_OP_LABEL) continue;
        uint32_t meet = g.blocks[g.block_of[i]].reconv;
        emit_inst(e, &u->mir.insts.data[i], pc_of[i],
                  meet == CFG_NONE ? ISA_NO_RECONV : pc_of[g.blocks[meet].first]);
    }
    emit_live(e, &g);
    cfg_free(&g);
    free(pc_of);
    free(label_pc);
}

static uint32_t real_insts(const struct routine *u)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < u->mir.insts.len; i++) n += u->mir.insts.data[i].op != MIR_OP_LABEL;
    return n;
}

static uint32_t func_id(const struct ptx_module *m, const struct ptx_func *f)
{
    for (uint32_t i = 0; i < m->func_count; i++)
        if (m->funcs[i] == f) return i;
    UNREACHABLE("function of another module");
}

static void emit_funcs(struct emitter *e)
{
    struct isa_kernel *k = e->k;
    k->funcs = ARENA_ARRAY(e->arena, struct isa_func, e->m->routines.len);
    for (uint32_t i = 0; i < e->m->routines.len; i++) {
        const struct routine *u = e->m->routines.data[i];
        if (!u->is_live) continue;
        struct isa_func *f = &k->funcs[k->func_count++];
        f->name = arena_strdup(e->arena, u->ptx->name);
        f->func_id = func_id(e->m->ptx, u->ptx);
        f->pc = e->routine_pc[i];
        f->frame_bytes = u->frame_bytes;
        k->reg_count = MAX(k->reg_count, u->reg_count);
        k->pred_count = MAX(k->pred_count, u->pred_count);
        k->spill_bytes += u->spill_bytes;
    }
    k->reg_count = image_reg_count(e->m, k->reg_count);
    k->frame_bytes = e->m->routines.data[0]->frame_bytes;
    k->uses_stack = e->m->uses_stack;
}

/* ---- tables ---- */

static void emit_tables(struct emitter *e)
{
    struct isa_kernel *k = e->k;
    const struct mir_prog *p = &e->m->prog;
    k->const_count = e->pool.rows.len;
    k->consts = ARENA_ARRAY(e->arena, struct isa_const, k->const_count);
    memcpy(k->consts, e->pool.rows.data, sizeof *k->consts * k->const_count);
    k->branch_target_count = e->targets.len;
    k->branch_targets = ARENA_ARRAY(e->arena, uint32_t, e->targets.len + 1);
    if (e->targets.len)
        memcpy(k->branch_targets, e->targets.data, sizeof *k->branch_targets * e->targets.len);
    k->sym_count = p->syms.len;
    k->syms = ARENA_ARRAY(e->arena, struct isa_sym, p->syms.len + 1);
    for (uint32_t i = 0; i < p->syms.len; i++) {
        k->syms[i] = p->syms.data[i];
        k->syms[i].name = arena_strdup(e->arena, p->syms.data[i].name);
    }
    k->loc_count = MAX(p->locs.len, 1u);
    k->locs = ARENA_ARRAY(e->arena, struct isa_loc, k->loc_count);
    const char *from = NULL, *copy = NULL; /* neighbours mostly share their file */
    for (uint32_t i = 0; i < p->locs.len; i++) {
        k->locs[i] = p->locs.data[i];
        if (!k->locs[i].cuda_file) continue;
        if (from != k->locs[i].cuda_file) {
            from = k->locs[i].cuda_file;
            copy = arena_strdup(e->arena, from);
        }
        k->locs[i].cuda_file = copy;
    }
}

void image_emit_signature(const struct ptx_func *f, struct arena *arena, const char *ptx_name,
                          struct isa_kernel *k)
{
    k->name = arena_strdup(arena, f->name);
    k->ptx_name = ptx_name;
    k->param_count = f->param_count;
    k->param_bytes = f->param_bytes;
    k->params = ARENA_ARRAY(arena, struct isa_param, f->param_count + 1);
    for (uint32_t i = 0; i < f->param_count; i++) {
        const struct ptx_var *v = f->params[i];
        k->params[i] =
            (struct isa_param){arena_strdup(arena, v->name), v->param_offset, (uint32_t)v->bytes, v->align};
    }
    for (uint32_t d = 0; d < 3; d++) {
        k->maxntid[d] = f->maxntid[d];
        k->reqntid[d] = f->reqntid[d];
    }
    k->minnctapersm = f->minnctapersm;
}

static bool fits(const struct emitter *e)
{
    const struct image *m = e->m;
    const struct ptx_func *f = m->prog.entry;
    if (e->pool.rows.len > ISA_POOL_MAX) {
        diag_add(m->prog.lacks, DIAG_ERROR, &m->ptx->source, f->line, 1, 1, "split the kernel",
                 "'%s' needs more than %d words of constants", f->name, ISA_POOL_MAX);
        return false;
    }
    for (uint32_t i = 0; i < m->routines.len; i++) {
        if (!m->routines.data[i]->is_live || m->routines.data[i]->frame_bytes < ISA_WINDOW_BYTES) continue;
        diag_add(m->prog.lacks, DIAG_ERROR, &m->ptx->source, m->routines.data[i]->ptx->line, 1, 1, NULL,
                 "'%s' needs %u bytes of local memory per thread; there are %llu",
                 m->routines.data[i]->ptx->name, m->routines.data[i]->frame_bytes, ISA_WINDOW_BYTES);
        return false;
    }
    return true;
}

bool image_emit(struct image *m, struct arena *arena, const char *ptx_name, struct isa_kernel *k)
{
    struct emitter e = {.m = m, .arena = arena, .k = k};
    e.dynamic_offset = (uint32_t)round_up_u64(m->prog.shared_bytes, 16);
    e.routine_pc = mem_zalloc(sizeof *e.routine_pc * (m->routines.len + 1));
    pool_open(&e.pool);
    image_emit_signature(m->prog.entry, arena, ptx_name, k);
    k->shared_bytes = m->prog.shared_bytes;
    k->shared_dynamic_offset = e.dynamic_offset;
    for (uint32_t i = 0; i < m->routines.len; i++) {
        e.routine_pc[i] = k->inst_count;
        if (m->routines.data[i]->is_live) k->inst_count += real_insts(m->routines.data[i]);
    }
    uint8_t *block = arena_alloc(arena, sizeof(struct isa_inst) * k->inst_count + 64);
    k->insts = (struct isa_inst *)(void *)(block + (64 - (uintptr_t)block % 64) % 64);
    k->live = ARENA_ARRAY(arena, isa_live_set, k->inst_count);
    for (uint32_t i = 0; i < m->routines.len; i++)
        if (m->routines.data[i]->is_live) emit_routine(&e, i);
    emit_funcs(&e);
    emit_tables(&e);
    bool ok = fits(&e);
    pool_close(&e.pool);
    vec_free(&e.targets);
    free(e.routine_pc);
    return ok;
}
