/* test_ptx_forms.c: every opcode family of the PTX reader, instruction by instruction, against
 * test_ptx_forms.tsv; and what the modifiers of chosen spellings become. */
#include "ptx/ptx.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static const char head[] =
    ".version 9.0\n.target sm_90a\n.address_size 64\n"
    ".global .align 16 .b32 gv[64]; .const .align 16 .b32 cv[64]; .global .texref tx;\n"
    ".func (.param .b32 rv) fn (.param .b32 pv) { ret; }\n"
    ".visible .entry k(.param .u64 kp, .param .align 8 .b8 kb[16]) {\n"
    ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>; .reg .f64 %g<9>;\n"
    ".reg .u32 %u<9>; .reg .s32 %s<9>; .reg .u64 %ud<9>; .reg .u16 %uh<9>; .reg .s16 %sh<9>; .reg .f16 "
    "%fh<9>;\n"
    ".reg .f16x2 %fx<9>; .reg .b128 %q<9>; .reg .b8 %b<9>; .reg .u8 %ub<9>; .reg .s64 %sd<9>;\n"
    ".shared .align 16 .b32 sv[64]; .local .align 16 .b32 lv[64]; .param .b32 ap;\nL0:\n";
enum { LINE_OF_BODY = 12 };

static struct ptx_module *parse_line(const char *line, struct diag_list *diags)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "%s%s\nL1:\nret;\n}\n", head, line);
    struct ptx_module *m = ptx_parse("line.ptx", strbuf_text(&text), text.len, diags);
    strbuf_free(&text);
    return m;
}

/* One row of the table: 1 when the verdict is another than the row's. */
static unsigned check_row(const char *line, const char *error)
{
    struct diag_list diags = {0};
    struct strbuf said = {0};
    struct ptx_module *m = parse_line(line, &diags);
    diag_render(&diags, &said);
    const struct ptx_lack *lack = m ? ptx_find_func(m, "k")->lack : NULL;
    if (lack) strbuf_printf(&said, "%s: %s", lack->message, lack->hint);
    bool ok = error ? (!m || lack) && strstr(strbuf_text(&said), error) : m && !lack;
    if (error && ok && (lack ? lack->line : diags.items.data[0].line) < LINE_OF_BODY) ok = false;
    if (!ok) print_error("%s\n  wanted: %s\n%s", line, error ? error : "no error", strbuf_text(&said));
    ptx_module_free(m);
    strbuf_free(&said);
    diag_free(&diags);
    return !ok;
}

static void every_form(void **state)
{
    (void)state;
    FILE *f = fopen(HEDDLE_SOURCE_DIR "/tests/unit/test_ptx_forms.tsv", "r");
    assert_non_null(f);
    char line[512];
    unsigned rows = 0, wrong = 0;
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        if (line[0] == '#') continue;
        char *tab = strchr(line, '\t');
        if (tab) *tab++ = 0;
        wrong += check_row(line, tab);
        rows++;
    }
    fclose(f);
    assert_true(rows > 800);
    assert_int_equal(wrong, 0);
}

/* ---- what a spelling becomes ---- */

static struct ptx_module *module;

static const struct ptx_inst *first_inst(const char *line)
{
    struct diag_list diags = {0};
    ptx_module_free(module);
    module = parse_line(line, &diags);
    assert_non_null(module);
    diag_free(&diags);
    return &ptx_find_func(module, "k")->insts[0];
}

static int free_module(void **state)
{
    (void)state;
    ptx_module_free(module);
    module = NULL;
    return 0;
}

static void memory_modifiers(void **state)
{
    (void)state;
    const struct ptx_inst *i = first_inst(
        "ld.relaxed.gpu.global.L1::no_allocate.L2::cache_hint.v4.u32 {%r1,_,%r3,%r4},[%d1+16],%d2;");
    assert_int_equal(i->op, PTX_OP_ld);
    assert_int_equal(i->m.sem, PTX_RELAXED);
    assert_int_equal(i->m.scope, PTX_SCOPE_GPU);
    assert_int_equal(i->m.space, PTX_SPACE_GLOBAL);
    assert_int_equal(i->m.vec, 4);
    assert_int_equal(i->m.type[0], PTX_U32);
    assert_int_equal(i->op_count, 2); /* the cache policy is dropped */
    assert_int_equal(i->ops[0].sub[1].kind, PTX_O_SINK);
    assert_int_equal(i->ops[1].kind, PTX_O_ADDR);
    assert_int_equal(i->ops[1].imm, 16);
    i = first_inst("ld.global.volatile.f64 %g1,[gv+8];");
    assert_int_equal(i->m.sem, PTX_VOLATILE);
    assert_int_equal(i->ops[1].sub[0].kind, PTX_O_VAR);
    i = first_inst("cp.async.cg.shared.global [%r1],[%d1],16,%r2;");
    assert_true(i->m.is_async && i->m.is_global_to_shared);
    assert_int_equal(i->m.space, PTX_SPACE_SHARED);
    assert_int_equal(i->m.space2, PTX_SPACE_GLOBAL);
    i = first_inst("ld.global.u32 %r1, gv[3];");
    assert_int_equal(i->ops[1].kind, PTX_O_ADDR);
    assert_int_equal(i->ops[1].imm, 12);
}

static void arithmetic_modifiers(void **state)
{
    (void)state;
    const struct ptx_inst *i = first_inst("cvt.rn.ftz.sat.f32.f64 %f1,%g1;");
    assert_int_equal(i->m.type[0], PTX_F32);
    assert_int_equal(i->m.type[1], PTX_F64);
    assert_int_equal(i->m.round, PTX_RN);
    assert_true(i->m.ftz && i->m.sat);
    i = first_inst("mad.lo.cc.u32 %r1,%r2,%r3,%r4;");
    assert_true(i->m.cc);
    assert_int_equal(i->m.half, PTX_LO);
    i = first_inst("setp.lo.and.u32 %p1|%p2,%r1,7,!%p3;");
    assert_int_equal(i->m.cmp, PTX_CMP_LO);
    assert_int_equal(i->m.boolop, PTX_BOOL_AND);
    assert_int_equal(i->ops[0].kind, PTX_O_PAIR);
    assert_true(i->ops[3].negated);
    i = first_inst("min.xorsign.NaN.abs.f32 %f1,%f2,%f3;");
    assert_true(i->m.nan && i->m.xorsign && i->m.abs);
    i = first_inst("mov.f32 %f1,-1.5;");
    assert_int_equal(i->ops[1].kind, PTX_O_FLOAT);
    assert_true(i->ops[1].imm_f64 == -1.5);
    i = first_inst("mov.b64 %d1, 0d3FF0000000000000;");
    assert_true(i->ops[1].imm == 0x3ff0000000000000);
}

static void warp_and_barrier_words(void **state)
{
    (void)state;
    const struct ptx_inst *i = first_inst("shfl.sync.bfly.b32 %r1|%p1,%r2,1,31,-1;");
    assert_true(i->m.sync);
    assert_int_equal(i->m.word[0], PTX_W_BFLY);
    i = first_inst("vote.ballot.sync.b32 %r1,!%p1,-1;");
    assert_int_equal(i->m.word[0], PTX_W_BALLOT);
    i = first_inst("bar.red.popc.u32 %r1,0,%p1;");
    assert_int_equal(i->m.word[0], PTX_W_RED);
    assert_int_equal(i->m.atom, PTX_ATOM_POPC);
    i = first_inst("bar.warp.sync -1;");
    assert_int_equal(i->m.word[0], PTX_W_WARP);
    assert_int_equal(i->m.word[1], PTX_W_SYNC);
    i = first_inst("barrier.cta.red.or.aligned.pred %p1,%r1,64,%p2;");
    assert_int_equal(i->m.atom, PTX_ATOM_OR);
    assert_true(i->m.aligned);
    i = first_inst("shf.r.clamp.b32 %r1,%r2,%r3,%r4;");
    assert_int_equal(i->m.word[0], PTX_W_R);
    assert_int_equal(i->m.word[1], PTX_W_CLAMP);
    i = first_inst("membar.gl;");
    assert_int_equal(i->m.scope, PTX_SCOPE_GPU);
    i = first_inst("atom.acq_rel.sys.global.cas.b64 %d1,[%d2],%d3,%d4;");
    assert_int_equal(i->m.atom, PTX_ATOM_CAS);
    assert_int_equal(i->m.sem, PTX_ACQ_REL);
    assert_int_equal(i->m.scope, PTX_SCOPE_SYS);
}

static void special_registers(void **state)
{
    (void)state;
    const struct ptx_inst *i = first_inst("mov.u32 %r1,%ctaid.z;");
    assert_int_equal(i->ops[1].kind, PTX_O_SREG);
    assert_int_equal(i->ops[1].index, PTX_SREG_ctaid);
    assert_int_equal(i->ops[1].comp, 'z');
    i = first_inst("mov.u32 %r1,%envreg31;");
    assert_int_equal(i->ops[1].index, PTX_SREG_envreg);
    assert_int_equal(i->ops[1].imm, 31);
    i = first_inst("mov.u64 %d1,%pm7_64;");
    assert_int_equal(i->ops[1].index, PTX_SREG_pm64);
    assert_int_equal(i->ops[1].imm, 7);
    i = first_inst("mov.u64 %d1,%globaltimer;");
    assert_int_equal(i->ops[1].index, PTX_SREG_globaltimer);
}

static void calls_and_textures(void **state)
{
    (void)state;
    const struct ptx_inst *i = first_inst("call.uni (ap), fn, (ap);");
    assert_true(i->m.uni);
    assert_int_equal(i->op_count, 4);
    assert_int_equal(i->ops[0].sub_count, 1);
    assert_int_equal(i->ops[1].kind, PTX_O_FUNC);
    assert_int_equal(i->ops[2].sub_count, 1);
    assert_int_equal(i->ops[3].kind, PTX_O_SINK);
    i = first_inst("tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4},[tx,%r1];");
    assert_int_equal(i->ops[1].kind, PTX_O_TEXADDR);
    assert_int_equal(i->ops[1].sub[1].kind, PTX_O_VECTOR);
    assert_int_equal(i->ops[1].sub[1].sub_count, 1);
    assert_int_equal(i->m.word[0], PTX_W_1D);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_form),
        cmocka_unit_test_teardown(memory_modifiers, free_module),
        cmocka_unit_test_teardown(arithmetic_modifiers, free_module),
        cmocka_unit_test_teardown(warp_and_barrier_words, free_module),
        cmocka_unit_test_teardown(special_registers, free_module),
        cmocka_unit_test_teardown(calls_and_textures, free_module),
    };
    return cmocka_run_group_tests_name("ptx forms", tests, NULL, NULL);
}
