/* test_lower.c: the back end of lowering, step by step on small functions, and from PTX text to machine code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
// clang-format off
#include <cmocka.h>
// clang-format on

#include "base/bitset.h"
#include "lower/lower.h"
#include "lower/opnd.h"
#include "lower/pass.h"

/* ---- graphs by hand ---- */

/* A function of empty blocks, given as text: "0:1,2 1:3 2:3 3:" means block 0 branches to 1 or else to 2. The
 * first successor is a guarded branch where there are two. A block without successor exits. */
static void graph_from(const char *text, struct mir_func *f)
{
    *f = (struct mir_func){0};
    uint32_t p = mir_new_vreg(f, MIR_P), at = 0;
    const char *c = text;
    while (*c) {
        struct mir_inst label = opnd_inst(MIR_OP_LABEL, 0);
        label.target = (uint32_t)strtoul(c, (char **)&c, 10);
        vec_push(&f->insts, label);
        struct mir_inst body = opnd_inst(ISA_OP_MEMBAR, 0); /* something that nothing removes */
        vec_push(&f->insts, body);
        c++;
        uint32_t to[2], n = 0;
        while (*c && *c != ' ') {
            to[n++] = (uint32_t)strtoul(c, (char **)&c, 10);
            if (*c == ',') c++;
        }
        for (uint32_t i = 0; i < n; i++) {
            struct mir_inst bra = opnd_inst(ISA_OP_BRA, 0);
            bra.target = to[i];
            if (n == 2 && i == 0) bra.guard = p;
            vec_push(&f->insts, bra);
        }
        if (!n) vec_push(&f->insts, opnd_inst(ISA_OP_EXIT, 0));
        while (*c == ' ') c++;
        f->label_count = MAX(f->label_count, label.target + 1);
        at++;
    }
}

struct shape {
    struct mir_func f;
    struct cfg g;
    uint32_t block[32];
};

/* The jumps of graph_from leave a fall-through block behind a guarded branch; block[] maps the names of the
 * text. */
static void shape_open(struct shape *s, const char *text)
{
    graph_from(text, &s->f);
    cfg_build(&s->f, &s->g);
    cfg_dominators(&s->g);
    cfg_reconvergence(&s->g);
    for (uint32_t i = 0; i < ARRAY_LEN(s->block); i++) s->block[i] = CFG_NONE;
    for (uint32_t i = 0; i < s->f.insts.len; i++)
        if (s->f.insts.data[i].op == MIR_OP_LABEL) s->block[s->f.insts.data[i].target] = s->g.block_of[i];
}

static void shape_close(struct shape *s)
{
    cfg_free(&s->g);
    mir_func_free(&s->f);
}

static uint32_t name_of(const struct shape *s, uint32_t block)
{
    for (uint32_t i = 0; i < 32; i++)
        if (block != CFG_NONE && s->block[i] == block) return i;
    return CFG_NONE;
}

static uint32_t idom_of(const struct shape *s, uint32_t n)
{
    uint32_t b = s->g.blocks[s->block[n]].idom;
    while (name_of(s, b) == CFG_NONE) b = s->g.blocks[b].idom;
    return name_of(s, b);
}

static uint32_t meet_of(const struct shape *s, uint32_t n)
{
    return name_of(s, s->g.blocks[s->block[n]].reconv);
}

static void diamond_meets_at_its_foot(void **state)
{
    struct shape s;
    shape_open(&s, "0:2,1 1:3 2:3 3:");
    assert_int_equal(idom_of(&s, 3), 0);
    assert_int_equal(meet_of(&s, 0), 3);
    assert_int_equal(meet_of(&s, 1), CFG_NONE);
    shape_close(&s);
}

static void loop_exit_meets_behind_the_loop(void **state)
{
    struct shape s;
    shape_open(&s, "0:1 1:4,2 2:3,1 3:1 4:"); /* 1 is the head, 2 may go on at once */
    assert_int_equal(idom_of(&s, 2), 1);
    assert_int_equal(meet_of(&s, 1), 4);
    assert_int_equal(meet_of(&s, 2), 1);
    assert_int_equal(s.g.blocks[s.block[1]].loop_depth, 1);
    assert_int_equal(s.g.blocks[s.block[3]].loop_depth, 1);
    assert_int_equal(s.g.blocks[s.block[4]].loop_depth, 0);
    shape_close(&s);
}

static void early_exit_does_not_spoil_the_meeting_point(void **state)
{
    struct shape s;
    shape_open(&s, "0:4,1 1:2,3 2: 3:4 4:"); /* inside the if of 0, block 2 exits */
    assert_int_equal(meet_of(&s, 0), 4);
    assert_int_equal(meet_of(&s, 1), CFG_NONE); /* the lanes of 2 never come back: nothing to wait for */
    shape_close(&s);
}

static void irreducible_graph_has_dominators(void **state)
{
    struct shape s;
    shape_open(&s, "0:1,2 1:2,3 2:1,3 3:");
    assert_int_equal(idom_of(&s, 1), 0);
    assert_int_equal(idom_of(&s, 2), 0);
    assert_int_equal(idom_of(&s, 3), 0);
    assert_int_equal(meet_of(&s, 0), 3);
    shape_close(&s);
}

static void endless_loop_has_a_meeting_point_inside(void **state)
{
    struct shape s;
    shape_open(&s, "0:2,1 1:3 2:3 3:0");
    assert_int_equal(meet_of(&s, 0), 3);
    shape_close(&s);
}

/* ---- from PTX ---- */

struct lowered {
    struct diag_list diags;
    struct isa_module *m;
    const struct isa_kernel *k;
};

static const char head[] = ".version 7.8\n.target sm_80\n.address_size 64\n";

static void lower_text(struct lowered *l, const char *text, struct lower_options o)
{
    struct strbuf all = {0};
    *l = (struct lowered){0};
    strbuf_puts(&all, head);
    strbuf_puts(&all, text);
    struct ptx_module *ptx = ptx_parse("t.ptx", strbuf_text(&all), all.len, &l->diags);
    if (ptx) l->m = lower_module(ptx, &o, &l->diags);
    ptx_module_free(ptx);
    strbuf_free(&all);
    l->k = l->m && l->m->kernel_count ? l->m->kernels[0] : NULL;
}

static void lower_good(struct lowered *l, const char *text, struct lower_options o)
{
    lower_text(l, text, o);
    if (l->k) return;
    struct strbuf out = {0};
    diag_render(&l->diags, &out);
    print_error("%s\n", strbuf_text(&out));
    strbuf_free(&out);
    fail();
}

static void lowered_free(struct lowered *l)
{
    isa_module_free(l->m);
    diag_free(&l->diags);
}

static uint32_t count_op(const struct isa_kernel *k, uint16_t op)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < k->inst_count; i++) n += k->insts[i].op == op;
    return n;
}

static const struct isa_inst *find_op(const struct isa_kernel *k, uint16_t op)
{
    for (uint32_t i = 0; i < k->inst_count; i++)
        if (k->insts[i].op == op) return &k->insts[i];
    fail();
    return NULL;
}

static const struct lower_options folded = {.opt_level = 1};

#define REGS ".reg .pred %p<20>; .reg .b32 %r<60>; .reg .f32 %f<60>; .reg .b64 %rd<60>; .reg .f64 %fd<20>;\n"

/* As many machine instructions as PTX instructions, each from the line of its own. */
static void one_to_one_keeps_every_instruction(void **state)
{
    static const uint16_t want[] = {ISA_OP_LD_64,        ISA_OP_LD_32,    ISA_OP_S2R_32, ISA_OP_MOV_32,
                                    ISA_OP_MOV_32,       ISA_OP_SETP_S32, ISA_OP_BRA,    ISA_OP_MOV_64,
                                    ISA_OP_MUL_WIDE_S32, ISA_OP_ADD_64,   ISA_OP_ST_32,  ISA_OP_BRA,
                                    ISA_OP_EXIT};
    struct lowered l;
    lower_good(&l,
               ".visible .entry k(.param .u64 p, .param .u32 n) {\n" REGS
               "ld.param.u64 %rd1, [p];\nld.param.u32 %r2, [n];\n"
               "mov.u32 %r1, %tid.x;\nmov.u32 %r3, %r1;\nmov.u32 %r9, 5;\nsetp.ge.s32 %p1, %r3, %r2;\n@%p1 "
               "bra DONE;\n"
               "cvta.to.global.u64 %rd4, %rd1;\nmul.wide.s32 %rd2, %r3, 4;\nadd.s64 %rd3, %rd4, %rd2;\n"
               "st.global.u32 [%rd3], %r1;\nbra DONE;\nDONE: ret;\n}\n",
               (struct lower_options){.opt_level = 1, .one_to_one = true});
    assert_int_equal(l.k->inst_count, ARRAY_LEN(want));
    for (uint32_t i = 0; i < l.k->inst_count; i++) {
        assert_int_equal(l.k->insts[i].op, want[i]);
        assert_int_equal(l.k->locs[l.k->insts[i].loc].ptx_line, 6 + i);
    }
    assert_int_equal(l.k->insts[0].mod, ISA_PARAM);
    assert_int_equal(l.k->insts[6].reconv, 12);
    lowered_free(&l);
}

static void guard_around_return_becomes_exit(void **state)
{
    struct lowered l;
    lower_good(
        &l,
        ".visible .entry k(.param .u64 p, .param .u32 n) {\n" REGS
        "ld.param.u64 %rd1, [p]; ld.param.u32 %r2, [n];\n"
        "mov.u32 %r1, %tid.x; setp.ge.s32 %p1, %r1, %r2; @%p1 bra DONE;\n"
        "mul.wide.s32 %rd2, %r1, 4; add.s64 %rd3, %rd1, %rd2; st.global.u32 [%rd3+8], %r1;\nDONE: ret;\n}\n",
        folded);
    assert_int_equal(count_op(l.k, ISA_OP_BRA), 0);
    assert_int_equal(count_op(l.k, ISA_OP_EXIT), 2);
    assert_int_equal(count_op(l.k, ISA_OP_MAD_WIDE_S32), 1);
    assert_int_equal(find_op(l.k, ISA_OP_ST_32)->imm, 8);
    lowered_free(&l);
}

static void divergent_branch_names_its_join(void **state)
{
    struct lowered l;
    lower_good(&l,
               ".visible .entry k(.param .u64 p) {\n" REGS "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x;\n"
               "setp.gt.s32 %p1, %r1, 5; @%p1 bra A; st.global.u32 [%rd1], 1; bra B;\n"
               "A: st.global.u32 [%rd1+4], 2;\nB: st.global.u32 [%rd1+8], 3; ret;\n}\n",
               folded);
    const struct isa_inst *bra = find_op(l.k, ISA_OP_BRA);
    assert_true(bra->reconv != ISA_NO_RECONV);
    assert_true(l.k->insts[bra->reconv].flags & ISA_JOIN);
    assert_true(bra->reconv > bra->target);
    lowered_free(&l);
}

static void image_is_well_formed(void **state)
{
    struct lowered l;
    lower_good(&l,
               ".visible .entry k(.param .u64 p, .param .f64 d) {\n" REGS
               "ld.param.u64 %rd1, [p]; ld.param.f64 %fd1, [d]; ld.global.f64 %fd2, [%rd1];\n"
               "fma.rn.f64 %fd3, %fd2, %fd1, 0d3FF8000000000000; st.global.f64 [%rd1+8], %fd3; ret;\n}\n",
               folded);
    assert_int_equal((uintptr_t)l.k->insts % 64, 0);
    assert_int_equal(l.k->consts[0].kind, ISA_CONST_IMM);
    assert_int_equal(l.k->consts[0].value, 0);
    for (uint32_t pc = 0; pc < l.k->inst_count; pc++) {
        assert_int_equal(l.k->insts[pc].live, bitset_count(l.k->live[pc].bits, 4));
        assert_true(l.k->insts[pc].live <= l.k->reg_count);
    }
    const struct isa_inst *fma = find_op(l.k, ISA_OP_FMA_F64);
    assert_int_equal(fma->dst[0] % 2, 0);
    assert_int_equal(l.k->param_bytes, 16);
    assert_int_equal(l.k->params[1].offset, 8);
    assert_string_equal(l.k->funcs[0].name, "k");
    lowered_free(&l);
}

static const char call_text[] =
    ".func (.param .b32 o) twice(.param .b32 a) {\n.reg .b32 %r<4>;\nld.param.u32 %r1, [a]; shl.b32 %r2, "
    "%r1, 1;\n"
    "st.param.b32 [o], %r2; ret;\n}\n"
    ".visible .entry k(.param .u64 p) {\n" REGS "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x;\n"
    "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r1; call (y), twice, (x); ld.param.b32 %r2, [y]; }\n"
    "add.s32 %r3, %r2, %r1; st.global.u32 [%rd1], %r3; ret;\n}\n";

static void small_function_is_inlined(void **state)
{
    struct lowered l;
    lower_good(&l, call_text, folded);
    assert_int_equal(count_op(l.k, ISA_OP_CALL), 0);
    assert_int_equal(count_op(l.k, ISA_OP_LD_32) + count_op(l.k, ISA_OP_RET), 0);
    assert_false(l.k->uses_stack);
    assert_int_equal(l.k->frame_bytes, 0);
    assert_int_equal(l.k->func_count, 1);
    lowered_free(&l);
}

static void real_call_saves_and_passes_through_memory(void **state)
{
    struct lowered l;
    lower_good(&l, call_text, (struct lower_options){.opt_level = 1, .no_inline = true});
    assert_int_equal(count_op(l.k, ISA_OP_CALL), 1);
    assert_int_equal(count_op(l.k, ISA_OP_RET), 1);
    assert_true(l.k->uses_stack);
    assert_int_equal(l.k->func_count, 2);
    assert_int_equal(find_op(l.k, ISA_OP_CALL)->target, l.k->funcs[1].pc);
    assert_true(l.k->frame_bytes >= 16 && l.k->frame_bytes % 16 == 0);
    assert_true(l.k->spill_bytes >= 4); /* %r1 lives across the call */
    /* the entry sets the frame pointer, R1, to the end of its frame */
    assert_int_equal(l.k->insts[0].op, ISA_OP_MOV_32);
    assert_int_equal(l.k->insts[0].dst[0], 1);
    assert_int_equal(l.k->consts[isa_index(l.k->insts[0].src[0])].value, l.k->frame_bytes);
    lowered_free(&l);
}

static void recursion_stays_a_call(void **state)
{
    struct lowered l;
    lower_good(
        &l,
        ".func (.param .b32 o) fib(.param .b32 n) {\n.reg .pred %p<2>; .reg .b32 %r<9>;\n"
        "ld.param.u32 %r1, [n]; setp.lt.s32 %p1, %r1, 2; @%p1 bra SMALL; sub.s32 %r2, %r1, 1;\n"
        "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r2; call (y), fib, (x); ld.param.b32 %r3, [y]; "
        "}\n"
        "sub.s32 %r4, %r1, 2;\n"
        "{ .param .b32 x; .param .b32 y; st.param.b32 [x], %r4; call (y), fib, (x); ld.param.b32 %r5, [y]; "
        "}\n"
        "add.s32 %r6, %r3, %r5; st.param.b32 [o], %r6; ret;\nSMALL: st.param.b32 [o], %r1; ret;\n}\n"
        ".visible .entry k(.param .u64 p) {\n" REGS "ld.param.u64 %rd1, [p];\n"
        "{ .param .b32 x; .param .b32 y; st.param.b32 [x], 7; call (y), fib, (x); ld.param.b32 %r2, [y]; }\n"
        "st.global.u32 [%rd1], %r2; ret;\n}\n",
        folded);
    assert_int_equal(count_op(l.k, ISA_OP_CALL), 3);
    assert_int_equal(count_op(l.k, ISA_OP_RET), 1); /* both ways meet before they return */
    assert_int_equal(l.k->reg_count, 24);           /* the calling convention's */
    lowered_free(&l);
}

/* 24 doubles that are all wanted at the end: 48 registers. */
static void crowded(struct strbuf *s, const char *directive)
{
    strbuf_printf(s,
                  ".visible .entry k(.param .u64 p)%s {\n.reg .f64 %%d<30>; .reg .b64 %%rd<4>;\nld.param.u64 "
                  "%%rd1, [p];\n",
                  directive);
    for (int i = 0; i < 24; i++) strbuf_printf(s, "ld.volatile.global.f64 %%d%d, [%%rd1+%d];\n", i, i * 8);
    strbuf_puts(s, "membar.gl;\n"); /* nothing moves across */
    for (int i = 23; i >= 0; i--) strbuf_printf(s, "st.global.f64 [%%rd1+%d], %%d%d;\n", i * 16, i);
    strbuf_puts(s, "ret;\n}\n");
}

/* Twelve functions, each of which calls the next one four times: 4^11 copies of the last one, and not an
 * instruction in all of them. */
static void functions_that_only_call_stay_functions_at_last(void **state)
{
    enum { FUNCTIONS = 12 };
    struct strbuf text = {0};
    struct lowered l;
    strbuf_printf(&text, ".func f%d() { ret; }\n", FUNCTIONS - 1);
    for (int i = FUNCTIONS - 2; i >= 0; i--)
        strbuf_printf(&text, ".func f%d() { call f%d, (); call f%d, (); call f%d, (); call f%d, (); ret; }\n",
                      i, i + 1, i + 1, i + 1, i + 1);
    strbuf_puts(&text, ".visible .entry k() { call f0, (); ret; }\n");
    lower_good(&l, strbuf_text(&text), folded);
    assert_true(count_op(l.k, ISA_OP_CALL) > 0 && l.k->func_count > 1);
    lowered_free(&l);
    strbuf_free(&text);
}

static void register_limits_are_kept(void **state)
{
    static const struct {
        const char *directive;
        uint32_t regs_max, limit;
    } cases[] = {{"", 0, 255},
                 {"", 32, 32},
                 {".maxnreg 40", 0, 40},
                 {".maxntid 1024, 1, 1 .minnctapersm 2", 0, 32},
                 {"", 3, 16}};
    for (uint32_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct lowered l;
        struct strbuf s = {0};
        crowded(&s, cases[i].directive);
        lower_good(&l, strbuf_text(&s),
                   (struct lower_options){.opt_level = 1, .regs_max = cases[i].regs_max});
        assert_true(l.k->reg_count <= cases[i].limit);
        assert_true((l.k->spill_bytes > 0) == (cases[i].limit < 50));
        lowered_free(&l);
        strbuf_free(&s);
    }
}

static void many_predicates_are_kept_in_registers(void **state)
{
    struct lowered l;
    struct strbuf s = {0};
    strbuf_puts(&s, ".visible .entry k(.param .u64 p) {\n" REGS "ld.param.u64 %rd1, [p];\n");
    for (int i = 0; i < 12; i++)
        strbuf_printf(&s, "ld.volatile.global.u32 %%r%d, [%%rd1+%d]; setp.eq.s32 %%p%d, %%r%d, 0;\n", i,
                      i * 4, i, i);
    for (int i = 0; i < 12; i++) strbuf_printf(&s, "@%%p%d st.global.u32 [%%rd1+%d], 1;\n", i, 64 + i * 4);
    strbuf_puts(&s, "ret;\n}\n");
    lower_good(&l, strbuf_text(&s), folded);
    assert_true(l.k->pred_count <= ISA_PREDS);
    assert_true(count_op(l.k, ISA_OP_P2R) > 0 && count_op(l.k, ISA_OP_R2P) > 0);
    lowered_free(&l);
    strbuf_free(&s);
}

static void variables_keep_their_names_and_relocations(void **state)
{
    struct lowered l;
    lower_good(
        &l,
        ".visible .global .align 4 .b8 table[8] = {1, 2, 3, 4};\n.global .align 8 .u64 where = table;\n"
        ".visible .entry k(.param .u64 p) {\n" REGS
        "ld.global.u64 %rd1, [where]; ld.global.u32 %r1, [%rd1];\n"
        "ld.param.u64 %rd2, [p]; st.global.u32 [%rd2], %r1; ret;\n}\n",
        folded);
    assert_int_equal(l.m->var_count, 2);
    assert_string_equal(l.m->vars[0].name, "table");
    assert_int_equal(l.m->vars[0].init[2], 3);
    assert_int_equal(l.m->vars[1].reloc_count, 1);
    assert_string_equal(l.m->vars[1].relocs[0].symbol, "table");
    assert_string_equal(l.k->syms[0].name, "where");
    lowered_free(&l);
}

static void listing_is_narrow_and_shows_the_ptx(void **state)
{
    struct lowered l;
    struct strbuf out = {0};
    lower_good(&l, call_text, folded);
    lower_disasm(l.m, l.k, true, &out);
    const char *text = strbuf_text(&out);
    assert_non_null(strstr(text, "kernel 'k'"));
    assert_non_null(strstr(text, "st.global.u32 [%rd1], %r3;"));
    assert_non_null(strstr(text, "c[0]"));
    for (const char *line = text; *line;) {
        size_t n = strcspn(line, "\n");
        assert_true(n <= 110);
        line += n + (line[n] == '\n');
    }
    strbuf_free(&out);
    lower_disasm_inst(l.k, 0, &out);
    assert_memory_equal(strbuf_text(&out), "s2r.32 r", 8);
    assert_non_null(strstr(strbuf_text(&out), ", tid.x"));
    strbuf_free(&out);
    lowered_free(&l);
}

static void call_of_wrong_size_is_refused(void **state)
{
    struct lowered l;
    lower_text(&l,
               ".func f(.param .b64 a) { ret; }\n.visible .entry k() {\n" REGS
               "{ .param .b32 x; st.param.b32 [x], %r1; call f, (x); }\nret;\n}\n",
               (struct lower_options){.opt_level = 1, .no_inline = true});
    assert_null(l.k);
    assert_true(l.diags.errors > 0);
    lowered_free(&l);
}

static void local_variable_leaves_memory(void **state)
{
    struct lowered l;
    lower_good(&l,
               ".visible .entry k(.param .u64 p) {\n.local .align 8 .b8 depot[16];\n" REGS
               ".reg .b64 %SP; .reg .b64 %SPL;\nmov.u64 %SPL, depot; cvta.local.u64 %SP, %SPL; ld.param.u64 "
               "%rd1, [p];\n"
               "mov.u32 %r1, %tid.x; add.u64 %rd2, %SP, 8; st.u32 [%rd2], %r1; st.local.u32 [%SPL+4], 5;\n"
               "ld.local.u32 %r2, [%SPL+8]; ld.u32 %r3, [%SP+4]; add.s32 %r4, %r2, %r3; st.global.u32 "
               "[%rd1], %r4; ret;\n}\n",
               folded);
    assert_int_equal(count_op(l.k, ISA_OP_LD_32), 0);
    assert_int_equal(count_op(l.k, ISA_OP_ST_32), 1);
    assert_int_equal(l.k->frame_bytes, 0);
    lowered_free(&l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(diamond_meets_at_its_foot),
        cmocka_unit_test(loop_exit_meets_behind_the_loop),
        cmocka_unit_test(early_exit_does_not_spoil_the_meeting_point),
        cmocka_unit_test(irreducible_graph_has_dominators),
        cmocka_unit_test(endless_loop_has_a_meeting_point_inside),
        cmocka_unit_test(one_to_one_keeps_every_instruction),
        cmocka_unit_test(guard_around_return_becomes_exit),
        cmocka_unit_test(divergent_branch_names_its_join),
        cmocka_unit_test(image_is_well_formed),
        cmocka_unit_test(small_function_is_inlined),
        cmocka_unit_test(real_call_saves_and_passes_through_memory),
        cmocka_unit_test(recursion_stays_a_call),
        cmocka_unit_test(functions_that_only_call_stay_functions_at_last),
        cmocka_unit_test(register_limits_are_kept),
        cmocka_unit_test(many_predicates_are_kept_in_registers),
        cmocka_unit_test(variables_keep_their_names_and_relocations),
        cmocka_unit_test(listing_is_narrow_and_shows_the_ptx),
        cmocka_unit_test(call_of_wrong_size_is_refused),
        cmocka_unit_test(local_variable_leaves_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
