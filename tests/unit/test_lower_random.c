/* test_lower_random.c: random small MIR programs, run as they are and after folding and allocation with few
 * registers: what they store must be the same. The interpreter is scalar: one thread, vregs or physical
 * registers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "base/rng.h"
#include "lower/fold.h"
#include "lower/opnd.h"
#include "lower/pass.h"

enum { MEM_WORDS = 64, LOCAL_BYTES = 65536, STEPS_MAX = 200000, SLOT_ROOM = 64 };

/* ---- the interpreter ---- */

struct machine {
    const struct routine *u;
    /* registers by u->phys, slots by u->slot_offset */
    bool physical;
    /* vreg v at 2v, or physical register r at r */
    uint32_t regs[4096 * 2];
    bool preds[4096];
    uint8_t local[LOCAL_BYTES];
    uint32_t mem[MEM_WORDS];
    /* of each 8 bytes: hash of the stores to them, in their order */
    uint64_t trace[MEM_WORDS / 2];
};

static uint32_t reg_at(const struct machine *m, uint32_t v) { return m->physical ? m->u->phys[v] : 2 * v; }
static bool *pred_at(struct machine *m, uint32_t v) { return &m->preds[m->physical ? m->u->phys[v] : v]; }

static uint64_t slot_address(const struct machine *m, uint32_t slot)
{
    return m->physical ? (uint64_t)m->u->slot_offset[slot] : (uint64_t)slot * SLOT_ROOM;
}

static uint64_t read_src(struct machine *m, const struct mir_inst *in, uint32_t k)
{
    const struct mir_opnd *o = &in->src[k];
    uint8_t cls = opnd_src_class(in, k);
    if (o->kind == MIR_IMM) return fold_imm(in, k);
    if (o->kind == MIR_SLOT) return slot_address(m, o->v) + (uint64_t)o->imm;
    if (o->kind != MIR_VREG) return 0;
    if (cls == MIR_P) return *pred_at(m, o->v) ^ o->negated;
    uint32_t r = reg_at(m, o->v);
    return cls == MIR_D ? m->regs[r] | (uint64_t)m->regs[r + 1] << 32 : m->regs[r];
}

static void write_dst(struct machine *m, const struct mir_inst *in, uint32_t k, uint64_t value)
{
    if (in->dst[k].kind != MIR_VREG) return;
    uint32_t v = in->dst[k].v;
    if (opnd_dst_class(in, k) == MIR_P) {
        *pred_at(m, v) = value & 1;
        return;
    }
    m->regs[reg_at(m, v)] = (uint32_t)value;
    if (opnd_dst_class(in, k) == MIR_D) m->regs[reg_at(m, v) + 1] = (uint32_t)(value >> 32);
}

static void access_memory(struct machine *m, const struct mir_inst *in, const uint64_t *s)
{
    uint32_t bytes = opnd_access_bytes(in);
    uint64_t at = s[0] + (uint64_t)in->imm, value = 0;
    uint8_t *p;
    if (in->mod == ISA_LOCAL) {
        assert_true(at + bytes <= LOCAL_BYTES);
        p = m->local + at;
    } else {
        assert_true(at + bytes <= sizeof m->mem);
        p = (uint8_t *)m->mem + at;
    }
    if (opnd_is_load(in)) {
        memcpy(&value, p, bytes);
        if (in->op == ISA_OP_LD_S8) value = (uint32_t)(int8_t)value;
        if (in->op == ISA_OP_LD_S16) value = (uint32_t)(int16_t)value;
        write_dst(m, in, 0, value);
        return;
    }
    memcpy(p, &s[1], bytes);
    if (in->mod == ISA_LOCAL) return;
    uint64_t *t = &m->trace[at / 8];
    *t = hash_mix(*t ^ hash_mix(at * 31 + (bytes == 8 ? s[1] : (uint32_t)s[1])));
}

static void step(struct machine *m, const struct mir_inst *in)
{
    uint64_t s[ISA_SRC_MAX] = {0}, value = 0;
    for (uint32_t k = 0; k < ISA_SRC_MAX; k++) s[k] = read_src(m, in, k);
    if (opnd_access_bytes(in)) {
        access_memory(m, in, s);
        return;
    }
    if (in->op == ISA_OP_UNPACK_64_32) {
        write_dst(m, in, 0, (uint32_t)s[0]);
        write_dst(m, in, 1, s[0] >> 32);
        return;
    }
    if (opnd_is_move(in))
        value = s[0];
    else
        assert_true(fold_eval(in, s, &value));
    write_dst(m, in, 0, value);
    /* setp's second destination is the complement, combined in the same way */
    if (in->dst[1].kind == MIR_VREG) {
        struct mir_inst other = *in;
        static const uint8_t inverse[] = {ISA_NE, ISA_EQ, ISA_GE, ISA_GT, ISA_LE, ISA_LT};
        other.mod = inverse[in->mod];
        assert_true(fold_eval(&other, s, &value));
        write_dst(m, in, 1, value);
    }
}

static bool run(struct machine *m)
{
    const struct mir_func *f = &m->u->mir;
    uint32_t pc = 0;
    for (uint32_t n = 0; n < STEPS_MAX; n++) {
        assert_true(pc < f->insts.len);
        const struct mir_inst *in = &f->insts.data[pc++];
        if (in->op == MIR_OP_LABEL || in->op == ISA_OP_NOP) continue;
        if (opnd_is_guarded(in) && *pred_at(m, in->guard) == in->guard_not) continue;
        if (in->op == ISA_OP_EXIT) return true;
        if (in->op != ISA_OP_BRA) {
            step(m, in);
            continue;
        }
        for (pc = 0; f->insts.data[pc].op != MIR_OP_LABEL || f->insts.data[pc].target != in->target; pc++) {}
    }
    return false;
}

/* ---- the generator ---- */

struct gen {
    struct routine *u;
    struct rng rng;
    /* written and read anywhere */
    uint32_t vars[3][40], var_count[3];
    uint32_t budget;
};

static uint32_t below(struct gen *g, uint32_t n) { return (uint32_t)rng_below(&g->rng, n); }
static uint32_t any_var(struct gen *g, uint8_t cls) { return g->vars[cls][below(g, g->var_count[cls])]; }

static struct mir_opnd any_src(struct gen *g, uint8_t cls)
{
    static const int64_t numbers[] = {0, 1, 2, 4, 8, -1, 7, 0x7fffffff, 31, 3};
    struct mir_opnd o;
    if (cls == MIR_P) {
        o = below(g, 8) ? mir_vreg(any_var(g, MIR_P)) : mir_imm(below(g, 2));
        o.negated = below(g, 3) == 0;
        return o;
    }
    return below(g, 4) ? mir_vreg(any_var(g, cls)) : mir_imm(numbers[below(g, ARRAY_LEN(numbers))]);
}

static struct mir_inst *push(struct gen *g, uint16_t op)
{
    vec_push(&g->u->mir.insts, opnd_inst(op, 0));
    return &g->u->mir.insts.data[g->u->mir.insts.len - 1];
}

static void put_label(struct gen *g, uint32_t label) { push(g, MIR_OP_LABEL)->target = label; }

static void gen_memory(struct gen *g)
{
    static const uint16_t ops[] = {ISA_OP_ST_32, ISA_OP_LD_32, ISA_OP_ST_64, ISA_OP_LD_64,  ISA_OP_ST_8,
                                   ISA_OP_LD_U8, ISA_OP_LD_S8, ISA_OP_ST_16, ISA_OP_LD_S16, ISA_OP_ST_32};
    struct mir_inst in = opnd_inst(ops[below(g, ARRAY_LEN(ops))], 0);
    uint32_t bytes = opnd_access_bytes(&in);
    in.vec = 1;
    in.flags = ISA_A32;
    if (below(g, 3) == 0) {
        in.mod = ISA_LOCAL; /* sometimes overlapping pieces, sometimes not */
        in.src[0] = (struct mir_opnd){.kind = MIR_SLOT, .v = below(g, 4), .imm = below(g, 2) * 8};
        if (in.src[0].v == 3) in.imm = below(g, 2) * bytes;
    } else {
        in.mod = ISA_GLOBAL;
        in.src[0] = mir_imm(below(g, 30) * 8);
    }
    if (opnd_is_load(&in))
        in.dst[0] = mir_vreg(any_var(g, bytes == 8 ? MIR_D : MIR_R));
    else
        in.src[1] = any_src(g, bytes == 8 ? MIR_D : MIR_R);
    if (below(g, 5) == 0) {
        in.guard = any_var(g, MIR_P);
        in.guard_not = below(g, 2);
    }
    vec_push(&g->u->mir.insts, in);
}

static void gen_op(struct gen *g)
{
    static const uint16_t ops[] = {
        ISA_OP_MOV_32,       ISA_OP_MOV_32,      ISA_OP_MOV_64,      ISA_OP_MOV_64,       ISA_OP_MOV_P,
        ISA_OP_ADD_32,       ISA_OP_ADD_32,      ISA_OP_ADD_64,      ISA_OP_ADD_64,       ISA_OP_SUB_32,
        ISA_OP_MUL_LO_32,    ISA_OP_MUL_LO_64,   ISA_OP_MAD_LO_32,   ISA_OP_MUL_WIDE_S32, ISA_OP_MUL_WIDE_U32,
        ISA_OP_MAD_WIDE_S32, ISA_OP_AND_32,      ISA_OP_OR_32,       ISA_OP_XOR_64,       ISA_OP_SHL_32,
        ISA_OP_SHL_64,       ISA_OP_SHR_U32,     ISA_OP_SHR_S64,     ISA_OP_SETP_S32,     ISA_OP_SETP_U64,
        ISA_OP_SETP_S32,     ISA_OP_AND_P,       ISA_OP_XOR_P,       ISA_OP_SEL_32,       ISA_OP_SEL_64,
        ISA_OP_P2R,          ISA_OP_R2P,         ISA_OP_PACK_64_32,  ISA_OP_UNPACK_64_32, ISA_OP_CVT_S64_S32,
        ISA_OP_CVT_U64_U32,  ISA_OP_CVT_U32_U64, ISA_OP_CVT_U32_U16, ISA_OP_CVT_S32_S8,   ISA_OP_NEG_32};
    struct mir_inst in = opnd_inst(ops[below(g, ARRAY_LEN(ops))], 0);
    if (in.op == ISA_OP_SETP_S32 || in.op == ISA_OP_SETP_U64) {
        in.mod = (uint8_t)below(g, 6);
        in.mod2 = (uint8_t)below(g, 4);
    }
    for (uint32_t k = 0; k < ISA_DST_MAX; k++) {
        uint8_t cls = opnd_dst_class(&in, k);
        bool optional = k == 1 && below(g, 2);
        if (cls != OPND_ABSENT && !optional) in.dst[k] = mir_vreg(any_var(g, cls));
    }
    if (in.dst[1].kind == MIR_VREG && in.dst[1].v == in.dst[0].v) in.dst[1] = mir_none();
    for (uint32_t k = 0; k < ISA_SRC_MAX; k++) {
        uint8_t cls = opnd_src_class(&in, k);
        bool third =
            in.op >= ISA_OP_SETP_U16 && in.op <= ISA_OP_SETP_F64 && k == 2 && in.mod2 == ISA_BOOL_NONE;
        if (cls != OPND_ABSENT && !third) in.src[k] = any_src(g, cls);
    }
    if (below(g, 8) == 0) {
        in.guard = any_var(g, MIR_P);
        in.guard_not = below(g, 2);
    }
    vec_push(&g->u->mir.insts, in);
}

static void gen_body(struct gen *g, uint32_t depth);

static void gen_branch(struct gen *g, uint32_t depth)
{
    uint32_t other = g->u->mir.label_count++, end = g->u->mir.label_count++;
    struct mir_inst *b = push(g, ISA_OP_BRA);
    b->guard = any_var(g, MIR_P);
    b->guard_not = below(g, 2);
    b->target = other;
    gen_body(g, depth + 1);
    if (below(g, 6) == 0) push(g, ISA_OP_EXIT)->guard = any_var(g, MIR_P);
    push(g, ISA_OP_BRA)->target = end;
    put_label(g, other);
    if (below(g, 2)) gen_body(g, depth + 1);
    put_label(g, end);
}

static void gen_loop(struct gen *g, uint32_t depth)
{
    uint32_t head = g->u->mir.label_count++, n = mir_new_vreg(&g->u->mir, MIR_R),
             p = mir_new_vreg(&g->u->mir, MIR_P);
    struct mir_inst *in = push(g, ISA_OP_MOV_32);
    in->dst[0] = mir_vreg(n);
    in->src[0] = mir_imm(1 + below(g, 4));
    put_label(g, head);
    gen_body(g, depth + 1);
    in = push(g, ISA_OP_ADD_32);
    in->dst[0] = in->src[0] = mir_vreg(n);
    in->src[1] = mir_imm(-1);
    in = push(g, ISA_OP_SETP_S32);
    in->mod = ISA_GT;
    in->dst[0] = mir_vreg(p);
    in->src[0] = mir_vreg(n);
    in->src[1] = mir_imm(0);
    in = push(g, ISA_OP_BRA);
    in->guard = p;
    in->target = head;
}

static void gen_body(struct gen *g, uint32_t depth)
{
    for (uint32_t n = 2 + below(g, 10); n && g->budget; n--) {
        g->budget--;
        uint32_t what = below(g, 20);
        if (what == 0 && depth < 4)
            gen_branch(g, depth);
        else if (what == 1 && depth < 3)
            gen_loop(g, depth);
        else if (what < 6)
            gen_memory(g);
        else
            gen_op(g);
    }
}

static void generate(struct routine *u, uint64_t seed, uint32_t size)
{
    struct gen g = {.u = u, .rng = {seed}, .budget = size};
    uint32_t many[3] = {4 + below(&g, 24), 3 + below(&g, 10), 2 + below(&g, 9)};
    for (uint32_t s = 0; s < 4; s++) mir_new_slot(&u->mir, MIR_SLOT_LOCAL, 24, 8, NULL);
    for (uint8_t cls = 0; cls < 3; cls++)
        for (uint32_t i = 0; i < many[cls]; i++) {
            uint32_t v = g.vars[cls][g.var_count[cls]++] = mir_new_vreg(&u->mir, cls);
            struct mir_inst *in =
                push(&g, opnd_move_op(cls)); /* some from memory, so that not all is constant */
            in->dst[0] = mir_vreg(v);
            in->src[0] = mir_imm(cls == MIR_P ? below(&g, 2) : (int64_t)(rng_u64(&g.rng) >> below(&g, 64)));
            if (cls == MIR_P || below(&g, 2)) continue;
            in->op = cls == MIR_D ? ISA_OP_LD_64 : ISA_OP_LD_32;
            in->mod = ISA_GLOBAL;
            in->flags = ISA_A32;
            in->vec = 1;
            in->src[0] = mir_imm(below(&g, 30) * 8);
        }
    for (uint32_t s = 0; s < 4;
         s++) /* slots are written before they are read: an unwritten one may hold anything */
        for (uint32_t i = 0; i < 3; i++) {
            struct mir_inst *in = push(&g, ISA_OP_ST_64);
            in->mod = ISA_LOCAL;
            in->flags = ISA_A32;
            in->vec = 1;
            in->src[0] = (struct mir_opnd){.kind = MIR_SLOT, .v = s, .imm = i * 8};
            in->src[1] = any_src(&g, MIR_D);
        }
    while (g.budget) gen_body(&g, 0);
    for (uint8_t cls = 0; cls < 2; cls++)
        for (uint32_t i = 0; i < g.var_count[cls]; i++) {
            struct mir_inst *in = push(&g, cls == MIR_D ? ISA_OP_ST_64 : ISA_OP_ST_32);
            in->mod = ISA_GLOBAL;
            in->flags = ISA_A32;
            in->vec = 1;
            in->src[0] = mir_imm((i % 30) * 8);
            in->src[1] = mir_vreg(g.vars[cls][i]);
        }
    push(&g, ISA_OP_EXIT);
}

/* ---- the comparison ---- */

static void execute(struct routine *u, bool physical, uint64_t seed, struct machine *m)
{
    memset(m, 0, sizeof *m);
    m->u = u;
    m->physical = physical;
    struct rng r = {seed};
    for (uint32_t i = 0; i < MEM_WORDS; i++)
        m->mem[i] = below(&(struct gen){.rng = {rng_u64(&r)}}, 4) ? rng_u32(&r) : rng_u32(&r) % 9;
    assert_true(run(m));
}

static void compare(const struct machine *a, const struct machine *b, uint64_t seed, const char *step_name)
{
    bool same = !memcmp(a->trace, b->trace, sizeof a->trace);
    if (!same) print_error("seed %llu: wrong after %s\n", (unsigned long long)seed, step_name);
    assert_true(same);
}

static void print_diags(const struct diag_list *d)
{
    struct strbuf out = {0};
    diag_render(d, &out);
    print_error("%s\n", strbuf_text(&out));
    strbuf_free(&out);
}

static void one_program(uint64_t seed, uint32_t size, uint32_t regs_limit, bool fold)
{
    static struct machine before, after;
    struct ptx_func pf = {.name = "random", .is_entry = true};
    struct ptx_module pm = {.target_sm = 75};
    struct diag_list diags = {0};
    struct lower_options opts = {.opt_level = 1};
    struct arena arena = {0};
    struct image m = {
        .ptx = &pm, .opts = &opts, .diags = &diags, .regs_limit = regs_limit, .frame_align = 16};
    m.prog.arena = &arena;
    m.prog.entry = &pf;
    struct routine u = {.ptx = &pf, .is_entry = true, .fp = MIR_NO_VREG, .is_live = true};
    generate(&u, seed, size);
    execute(&u, false, seed, &before);
    cfg_clean(&u.mir, true);
    if (fold) {
        routine_promote_slots(&u);
        for (uint32_t i = 0; i < 6; i++) {
            bool changed = routine_fold(&u);
            changed |= routine_common(&u);
            changed |= routine_drop_dead(&u);
            changed |= routine_promote_slots(&u);
            if (!changed) break;
        }
        routine_legalise(&u);
        routine_schedule(&u, regs_limit);
        execute(&u, false, seed, &after);
        compare(&before, &after, seed, "folding");
    }
    bool ok = routine_verify(&m, &u, "folding") && routine_allocate(&m, &u);
    cfg_clean(&u.mir, true);
    ok = ok && routine_verify_allocation(&m, &u);
    if (!ok) print_diags(&diags);
    assert_true(ok);
    assert_true(u.reg_count <= regs_limit && u.pred_count <= ISA_PREDS);
    routine_layout_frame(&m, &u);
    execute(&u, true, seed, &after);
    compare(&before, &after, seed, "allocation");
    mir_func_free(&u.mir);
    free(u.phys);
    free(u.slot_offset);
    arena_free(&arena);
    diag_free(&diags);
}

static void folded_and_plenty_of_registers(void **state)
{
    for (uint64_t seed = 1; seed <= 400; seed++) one_program(seed, 60 + seed % 200, 255, true);
}

static void folded_and_few_registers(void **state)
{
    for (uint64_t seed = 1001; seed <= 1300; seed++) one_program(seed, 60 + seed % 300, 16 + seed % 8, true);
}

static void unfolded_and_few_registers(void **state)
{
    for (uint64_t seed = 2001; seed <= 2200; seed++) one_program(seed, 60 + seed % 200, 16, false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(folded_and_plenty_of_registers),
                                       cmocka_unit_test(folded_and_few_registers),
                                       cmocka_unit_test(unfolded_and_few_registers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
