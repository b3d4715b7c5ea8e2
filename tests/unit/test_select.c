/* test_select.c: instruction selection: PTX lines and the MIR that they become, as mir_print writes it.
 *
 * Vregs are numbered in the order in which a line first speaks of its registers: v0 is usually the
 * destination, and temporaries come after all of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "lower/mir.h"
#include "lower/opnd.h"

/* Registers, variables and functions that the lines of the tables may use. */
static const char head[] =
    ".version 8.3\n.target sm_90\n.address_size 64\n"
    ".global .align 4 .b32 gv[4];\n.const .align 4 .b32 cv[4];\n.shared .align 4 .b32 sv[4];\n"
    ".shared .align 8 .b64 sw[2];\n.extern .shared .align 16 .b8 dyn[];\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"
    ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n"
    ".global .surfref sr;\n.extern .func nowhere();\n.extern .func cudaDeviceSynchronize();\n"
    ".func (.param .b32 out) twice(.param .b32 in)\n{\n.reg .b32 %r<3>;\nld.param.b32 %r1, [in];\n"
    "add.s32 %r2, %r1, %r1;\nst.param.b32 [out], %r2;\nret;\n}\n";
static const char kernel[] =
    ".visible .entry k(.param .u64 p0, .param .align 8 .b8 p1[24], .param .u8 p2, .param .s16 p3)\n{\n"
    ".reg .pred %p<10>;\n.reg .b8 %b<5>;\n.reg .b16 %rs<10>;\n.reg .b32 %r<20>;\n.reg .f32 %f<20>;\n"
    ".reg .b64 %rd<20>;\n.reg .f64 %fd<10>;\n.reg .b128 %q<5>;\n.local .align 8 .b8 lv[16];\n";

struct fixture {
    struct ptx_module *ptx;
    struct arena arena;
    struct mir_prog prog;
    struct mir_func func;
    struct diag_list diags;
    bool ok;
};

static void fixture_open(struct fixture *x, const char *text, const char *name)
{
    *x = (struct fixture){0};
    x->ptx = ptx_parse("t.ptx", text, strlen(text), &x->diags);
    if (!x->ptx) return;
    const struct ptx_func *f = ptx_find_func(x->ptx, name);
    x->prog = (struct mir_prog){
        .arena = &x->arena, .ptx = x->ptx, .diags = &x->diags, .lacks = &x->diags, .entry = f};
    assert_non_null(f);
    x->ok = mir_select(&x->prog, f, &x->func);
}

static void fixture_close(struct fixture *x)
{
    mir_func_free(&x->func);
    vec_free(&x->prog.syms);
    vec_free(&x->prog.locs);
    vec_free(&x->prog.shared_vars);
    vec_free(&x->prog.shared_offsets);
    arena_free(&x->arena);
    diag_free(&x->diags);
    if (x->ptx) ptx_module_free(x->ptx);
}

static void print_func(struct fixture *x, struct strbuf *out)
{
    const struct mir_func *f = &x->func;
    for (uint32_t i = 0; i < f->insts.len; i++) {
        if (i) strbuf_puts(out, "; ");
        mir_print_inst(&x->prog, &f->insts.data[i], out);
    }
}

static const char *operand_fault(const struct mir_func *f, const struct mir_opnd *o, uint8_t cls)
{
    if (o->kind == MIR_NONE) return NULL;
    if (cls == OPND_ABSENT) return "an operand too many";
    if (o->kind == MIR_VREG && o->v >= f->vregs.len) return "an unknown vreg";
    if (o->kind == MIR_VREG && f->vregs.data[o->v].cls != cls) return "an operand of the wrong class";
    if (o->negated && cls != MIR_P) return "a negated value";
    if (o->kind == MIR_IMM && cls == MIR_R && (o->imm < 0 || o->imm > 0xffffffff)) return "a wide immediate";
    if (o->kind == MIR_IMM && cls == MIR_P && o->imm != 0 && o->imm != 1) return "a wide predicate immediate";
    return NULL;
}

/* Every operand has the class that its opcode demands. */
static void check_classes(const struct fixture *x, const char *what)
{
    for (uint32_t i = 0; i < x->func.insts.len; i++) {
        const struct mir_inst *in = &x->func.insts.data[i];
        const char *fault = NULL;
        if (in->op == MIR_OP_LABEL) continue;
        for (uint32_t k = 0; k < ISA_DST_MAX && !fault; k++)
            fault = operand_fault(&x->func, &in->dst[k], opnd_dst_class(in, k));
        for (uint32_t k = 0; k < ISA_SRC_MAX && !fault; k++)
            fault = operand_fault(&x->func, &in->src[k], opnd_src_class(in, k));
        if (in->guard != MIR_NO_VREG && x->func.vregs.data[in->guard].cls != MIR_P) fault = "a bad guard";
        if (!fault) continue;
        struct strbuf out = {0};
        mir_print_inst(&x->prog, in, &out);
        fail_msg("%s: %s: %s", what, strbuf_text(&out), fault);
    }
}

/* One line as the body of the kernel. The final exit is left out; an error gives its first message. */
static void select_line(const char *line, struct strbuf *out)
{
    struct strbuf text = {0};
    struct fixture x;
    strbuf_printf(&text, "%s%s%s\nret;\n}\n", head, kernel, line);
    fixture_open(&x, strbuf_text(&text), "k");
    if (x.ok) {
        assert_int_equal(x.diags.errors, 0);
        check_classes(&x, line);
        x.func.insts.len--;
        print_func(&x, out);
    } else {
        assert_true(x.diags.errors > 0);
        strbuf_printf(out, "%s: %s", x.ptx ? "error" : "syntax", x.diags.items.data[0].message);
    }
    fixture_close(&x);
    strbuf_free(&text);
}

struct row {
    const char *ptx, *mir;
};

static void check_rows(const struct row *rows, size_t count)
{
    uint32_t bad = 0;
    for (size_t i = 0; i < count; i++) {
        struct strbuf out = {0};
        select_line(rows[i].ptx, &out);
        if (strcmp(strbuf_text(&out), rows[i].mir)) {
            print_error("%s\n  got  %s\n  want %s\n", rows[i].ptx, strbuf_text(&out), rows[i].mir);
            bad++;
        }
        strbuf_free(&out);
    }
    assert_int_equal(bad, 0);
}

#include "select_rows.h"

static void test_integer(void **state) { check_rows(int_rows, ARRAY_LEN(int_rows)); }
static void test_logic(void **state) { check_rows(logic_rows, ARRAY_LEN(logic_rows)); }
static void test_float(void **state) { check_rows(float_rows, ARRAY_LEN(float_rows)); }
static void test_moves(void **state) { check_rows(move_rows, ARRAY_LEN(move_rows)); }
static void test_conversions(void **state) { check_rows(cvt_rows, ARRAY_LEN(cvt_rows)); }
static void test_memory(void **state) { check_rows(memory_rows, ARRAY_LEN(memory_rows)); }
static void test_warp_and_cta(void **state) { check_rows(sync_rows, ARRAY_LEN(sync_rows)); }
static void test_control(void **state) { check_rows(control_rows, ARRAY_LEN(control_rows)); }
static void test_refusals(void **state) { check_rows(refused_rows, ARRAY_LEN(refused_rows)); }

/* ---- breadth: every form must select into operands of the right class ---- */

/* Expands the first <a|b|c> of a template and goes on; what has none left is selected. */
static uint32_t expand(const char *line, uint32_t *bad)
{
    const char *open = strchr(line, '<'), *close = open ? strchr(open, '>') : NULL;
    if (!open) {
        struct strbuf out = {0};
        select_line(line, &out);
        if (!strncmp(strbuf_text(&out), "error", 5) || !strncmp(strbuf_text(&out), "syntax", 6)) {
            print_error("%s: %s\n", line, strbuf_text(&out));
            ++*bad;
        }
        strbuf_free(&out);
        return 1;
    }
    uint32_t count = 0;
    for (const char *word = open + 1; word <= close;) {
        size_t len = strcspn(word, "|>");
        struct strbuf one = {0};
        strbuf_printf(&one, "%.*s%.*s%s", (int)(open - line), line, (int)len, word, close + 1);
        count += expand(strbuf_text(&one), bad);
        strbuf_free(&one);
        word += len + 1;
    }
    return count;
}

static void test_every_form(void **state)
{
    uint32_t count = 0, bad = 0;
    for (size_t i = 0; i < ARRAY_LEN(form_lines); i++) count += expand(form_lines[i], &bad);
    assert_int_equal(bad, 0);
    assert_true(count > 900);
}

/* ---- whole functions ---- */

static void check_func(const char *text, const char *name, const char *want)
{
    struct fixture x;
    struct strbuf out = {0};
    fixture_open(&x, text, name);
    if (!x.ok) {
        diag_render(&x.diags, &out);
        fail_msg("%s", strbuf_text(&out));
    }
    check_classes(&x, name);
    print_func(&x, &out);
    assert_string_equal(strbuf_text(&out), want);
    strbuf_free(&out);
    fixture_close(&x);
}

static void test_device_function(void **state)
{
    check_func(
        head, "twice",
        "ld.32 v0 = slot0 .local .a32; add.32 v1 = v0, v0; st.32 = slot1, v1 .local .a32; ret = target=0");
}

static void test_register_parameters(void **state)
{
    static const char text[] = ".version 6.0\n.target sm_70\n.address_size 64\n"
                               ".func (.reg .b32 o) f(.reg .b32 a, .reg .b64 b)\n{\n.reg .b32 %r<2>;\n"
                               "cvt.u32.u64 %r1, b;\nadd.u32 o, a, %r1;\nret;\n}\n"
                               ".entry k()\n{\n.reg .b32 %r<3>;\n.reg .b64 %rd<2>;\n"
                               "call (%r1), f, (%r2, %rd1);\nret;\n}\n";
    check_func(text, "f",
               "ld.32 v0 = slot0 .local .a32; ld.64 v1 = slot1 .local .a32; unpack.64.32 v3 = v1; "
               "add.32 v2 = v0, v3; st.32 = slot2, v2 .local .a32; ret = target=0");
    check_func(text, "k",
               "st.32 = slot0, v1 .local .a32; st.64 = slot1, v2 .local .a32; call = target=0; "
               "ld.32 v0 = slot2 .local .a32; exit = target=0");
}

static void test_labels_and_tables(void **state)
{
    struct strbuf text = {0};
    strbuf_printf(&text, "%s%s%s", head, kernel,
                  "A:\nsetp.eq.s32 %p1, %r1, 0;\n@%p1 bra B;\n@!%p1 bra.uni C;\nbra A;\nB:\n"
                  "ts: .branchtargets A, B, C;\nbrx.idx %r1, ts;\nC:\n}\n");
    check_func(
        strbuf_text(&text), "k",
        "L0:; setp.s32 v0 = v1, 0x0; @v0 bra = target=1; @!v0 bra = target=2 .uni; bra = target=0; L1:; "
        "brx = v1 target=0; L2:; exit = target=0");
    strbuf_free(&text);
}

static void test_places(void **state)
{
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n.file 1 \"a.cu\"\n.entry k()\n{\n"
        ".reg .b32 %r<3>;\n.loc 1 17 3\nadd.u32 %r1, %r2, 1;\n.loc 1 18 3\nret;\n}\n";
    struct fixture x;
    fixture_open(&x, text, "k");
    assert_true(x.ok);
    assert_int_equal(x.func.insts.len, 2);
    const struct isa_loc *a = &x.prog.locs.data[x.func.insts.data[0].loc];
    const struct isa_loc *b = &x.prog.locs.data[x.func.insts.data[1].loc];
    assert_int_equal(a->ptx_line, 9);
    assert_int_equal(a->cuda_line, 17);
    assert_string_equal(a->cuda_file, "a.cu");
    assert_int_equal(b->ptx_line, 11);
    assert_int_equal(b->cuda_line, 18);
    fixture_close(&x);
}

static void test_shared_layout(void **state)
{
    struct strbuf text = {0};
    struct fixture x;
    strbuf_printf(&text, "%s%s%s", head, kernel,
                  "mov.u32 %r1, sv;\nmov.u64 %rd1, sw;\nmov.u32 %r2, sv;\nret;\n}\n");
    fixture_open(&x, strbuf_text(&text), "k");
    assert_true(x.ok);
    assert_int_equal(x.prog.shared_bytes, 32);
    assert_int_equal(x.prog.shared_align, 8);
    assert_int_equal(x.func.insts.data[0].src[0].imm, 0);
    assert_int_equal(x.func.insts.data[1].src[0].imm, 16);
    assert_int_equal(x.func.insts.data[2].src[0].imm, 0);
    assert_false(x.prog.uses_dynamic_shared);
    fixture_close(&x);
    strbuf_free(&text);
}

/* All errors of a function are gathered. */
static void test_all_errors_are_named(void **state)
{
    struct strbuf text = {0};
    struct fixture x;
    strbuf_printf(&text, "%s%s%s", head, kernel,
                  "call nowhere, ();\nadd.u32 %r1, %r2, %r3;\ncall nowhere, ();\nret;\n}\n");
    fixture_open(&x, strbuf_text(&text), "k");
    assert_false(x.ok);
    assert_int_equal(x.diags.errors, 2);
    assert_true(x.diags.items.data[0].line > 0 && x.diags.items.data[0].col > 0);
    fixture_close(&x);
    strbuf_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_integer),
        cmocka_unit_test(test_logic),
        cmocka_unit_test(test_float),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_conversions),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_warp_and_cta),
        cmocka_unit_test(test_control),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_every_form),
        cmocka_unit_test(test_device_function),
        cmocka_unit_test(test_register_parameters),
        cmocka_unit_test(test_labels_and_tables),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_shared_layout),
        cmocka_unit_test(test_all_errors_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
