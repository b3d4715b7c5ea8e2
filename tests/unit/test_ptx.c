/* test_ptx.c: the PTX reader above single instructions: directives, variables and initialisers, parameters,
 * scopes, labels, tables, errors with line and column, and bounds. */
#include "ptx/ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <time.h>

#include <cmocka.h>

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

static struct ptx_module *read_text(const char *text)
{
    struct diag_list diags = {0};
    struct ptx_module *m = ptx_parse("t.ptx", text, strlen(text), &diags);
    if (!m) {
        struct strbuf said = {0};
        diag_render(&diags, &said);
        print_error("%s", strbuf_text(&said));
        strbuf_free(&said);
    }
    diag_free(&diags);
    assert_non_null(m);
    return m;
}

/* The text must give this as its first error, at this position (0: anywhere). */
static void refuse_at(const char *text, const char *message, int line, int col)
{
    struct diag_list diags = {0};
    struct ptx_module *m = ptx_parse("t.ptx", text, strlen(text), &diags);
    assert_null(m);
    assert_true(diags.errors > 0);
    const struct diag *e = &diags.items.data[0];
    if (!strstr(e->message, message) || (line && e->line != line) || (col && e->col != col))
        fail_msg("wanted '%s' at %d:%d, got '%s' at %d:%d", message, line, col, e->message, e->line, e->col);
    diag_free(&diags);
}

static void refuse(const char *text, const char *message) { refuse_at(text, message, 0, 0); }

static uint64_t bytes_at(const struct ptx_var *v, uint32_t offset, uint32_t count)
{
    uint64_t value = 0;
    for (uint32_t i = 0; i < count; i++) value |= (uint64_t)v->init[offset + i] << (8 * i);
    return value;
}

/* ---- the module ---- */

static void module_directives(void **state)
{
    (void)state;
    struct ptx_module *m =
        read_text("/* a */ .version 7.8 // b\n.target sm_90a, texmode_unified, debug\n.address_size 64\n"
                  ".file 1 \"a b.cu\", 1, 2\n.file 3 \"c.cuh\"\n"
                  ".section .debug_info { .b8 1, 2\n L: .b32 .debug_abbrev\n .b64 x+4 }\n"
                  ".pragma \"nounroll\";\n@@DWARF .byte 0x3, 'x'\n");
    assert_int_equal(m->version_major, 7);
    assert_int_equal(m->version_minor, 8);
    assert_int_equal(m->target_sm, 90);
    assert_string_equal(m->target, "sm_90a");
    assert_int_equal(m->file_count, 4);
    assert_string_equal(m->files[1], "a b.cu");
    assert_string_equal(m->files[3], "c.cuh");
    ptx_module_free(m);
}

static void module_errors(void **state)
{
    (void)state;
    refuse_at("", "is empty", 0, 0);
    refuse_at("\n  .target sm_70", "starts with .version", 2, 3);
    refuse(".version 8.0\n.entry k(){}", ".target must follow");
    refuse(".version 8.0\n", "has no .target");
    refuse(".version x\n", "expected the version");
    refuse(".version 8.0\n.target sm_xx", "unknown target");
    refuse(".version 8.0\n.target sm_70\n.address_size 32", "32 bits are not supported");
    refuse_at(HEAD "  .glbal .u32 x;", "unknown directive '.glbal'", 4, 3);
    refuse(HEAD ".section .x { .b8 1", "section is not closed");
    refuse(HEAD ".reg .b32 %r;", "whole module");
    refuse(HEAD ".local .b32 x;", "belong into functions");
    refuse(HEAD "/* no end", "comment has no end");
    refuse(HEAD ".file 1 \"x", "no closing quote");
    refuse_at(HEAD ".global .u32 x;\n\xff", "no meaning", 5, 1);
}

/* ---- variables ---- */

static void variables(void **state)
{
    (void)state;
    struct ptx_module *m =
        read_text(HEAD ".extern .shared .align 16 .b8 dyn[];\n.visible .const .align 64 .f32 c[4][2];\n"
                       ".weak .global .attribute(.managed) .v4 .f32 v;\n.common .global .u64 a, b[3];\n"
                       ".global .texref t; .global .samplerref s = { addr_mode_0 = wrap };\n"
                       ".global .b8 big[4294967296];\n.extern .global .u32 later; .global .u32 later = 7;\n");
    const struct ptx_var *v = ptx_find_var(m, "dyn");
    assert_true(v->is_extern && v->is_unsized && v->is_array);
    assert_int_equal(v->align, 16);
    assert_int_equal(v->bytes, 0);
    v = ptx_find_var(m, "c");
    assert_int_equal(v->bytes, 32);
    assert_int_equal(v->align, 64);
    assert_true(v->is_visible && !v->init);
    v = ptx_find_var(m, "v");
    assert_int_equal(v->bytes, 16);
    assert_int_equal(v->align, 16);
    assert_true(v->is_weak);
    assert_int_equal(ptx_find_var(m, "b")->bytes, 24);
    assert_int_equal(ptx_find_var(m, "t")->type, PTX_TEXREF);
    assert_true(ptx_find_var(m, "big")->bytes == 1ull << 32);
    v = ptx_find_var(m, "later");
    assert_false(v->is_extern);
    assert_int_equal(bytes_at(v, 0, 4), 7);
    assert_int_equal(m->var_count, 9);
    ptx_module_free(m);
}

static void initialisers(void **state)
{
    (void)state;
    struct ptx_module *m =
        read_text(HEAD ".global .s16 h[4] = {1, -2, 0x7fff};\n.global .s32 g[][2] = {{1}, 2, 3, {4, 5}};\n"
                       ".global .f32 f[3] = {0f3F800000, 2.5, 3};\n.global .f64 d = -0.5;\n.global .v2 .u8 "
                       "w[2] = {{1, 2}, {3}};\n"
                       ".global .b64 e = (1 << 40) | WARP_SZ;\n.global .b8 z[3][2] = {{1, 2}, {}, "
                       "{5}};\n.const .u8 y = 255;\n");
    const struct ptx_var *v = ptx_find_var(m, "h");
    assert_int_equal(bytes_at(v, 0, 8), 0x00007ffffffe0001);
    v = ptx_find_var(m, "g");
    assert_int_equal(v->bytes, 24);
    assert_int_equal(bytes_at(v, 0, 8), 1);
    assert_int_equal(bytes_at(v, 8, 8), 2 | 3ull << 32); /* without braces, values go on one by one */
    assert_int_equal(bytes_at(v, 16, 8), 4 | 5ull << 32);
    v = ptx_find_var(m, "f");
    assert_int_equal(bytes_at(v, 0, 8), 0x3f800000 | 0x40200000ull << 32);
    assert_int_equal(bytes_at(v, 8, 4), 0x40400000);
    assert_true(bytes_at(ptx_find_var(m, "d"), 0, 8) == 0xbfe0000000000000);
    assert_int_equal(bytes_at(ptx_find_var(m, "w"), 0, 4), 0x00030201);
    assert_true(bytes_at(ptx_find_var(m, "e"), 0, 8) == 0x10000000020);
    assert_true(bytes_at(ptx_find_var(m, "z"), 0, 6) == 0x000500000201);
    ptx_module_free(m);
}

static void relocations(void **state)
{
    (void)state;
    struct ptx_module *m = read_text(
        HEAD ".func f() { ret; }\n.global .u64 a[3] = {f, b+8, generic(b)+16};\n.global .u32 b[8];\n"
             ".global .b8 p[9] = {1, 0xFF(b), 0xFF00(b), 0xFF0000(b), 0xFF000000(b), 0xFF00000000(b),"
             " 0xFF0000000000(b), 0xFF000000000000(b), 0xFF00000000000000(b)};\n");
    const struct ptx_var *v = ptx_find_var(m, "a");
    assert_int_equal(v->reloc_count, 3);
    assert_string_equal(v->relocs[0].symbol, "f");
    assert_int_equal(v->relocs[1].offset, 8);
    assert_int_equal(v->relocs[1].bytes, 8);
    assert_int_equal(v->relocs[1].addend, 8);
    assert_true(!v->relocs[1].generic && v->relocs[2].generic);
    assert_int_equal(v->relocs[2].addend, 16);
    v = ptx_find_var(m, "p");
    assert_int_equal(v->reloc_count, 1);
    assert_int_equal(v->relocs[0].offset, 1);
    assert_int_equal(v->relocs[0].bytes, 8);
    ptx_module_free(m);
}

static void variable_errors(void **state)
{
    (void)state;
    refuse_at(HEAD ".global .u32 x;\n.global .u32 x;", "already defined", 5, 14);
    refuse(HEAD ".extern .global .u32 x; .global .f32 x;", "another space or type");
    refuse(HEAD ".global .u33 x;", "unknown type or attribute '.u33'");
    refuse(HEAD ".global .bf16 x;", "not of variables");
    refuse(HEAD ".global .v4 .f64 x;", "at most 16 bytes");
    refuse(HEAD ".global .align 3 .u32 x;", "power of two");
    refuse(HEAD ".global .u32 x[-1];", "cannot be negative");
    refuse(HEAD ".global .u32 x[];", "has no length");
    refuse(HEAD ".global .u32 x[2][];", "only the first dimension");
    refuse(HEAD ".global .u64 x[0x7fffffff][0x7fffffff];", "larger than 2^32");
    refuse(HEAD ".global .u32 x[][0x7fffffff][0x7fffffff] = {1};", "larger than 2^32");
    refuse_at(HEAD ".global .u8 x[2] = {1, 256};", "does not fit into .u8", 4, 24);
    refuse(HEAD ".global .u8 x[2] = {1, 2, 3};", "too many values");
    refuse(HEAD ".global .u8 x[2] = {{1}};", "more braces");
    refuse(HEAD ".global .u32 x = 1.5;", "floating-point value does not go");
    refuse(HEAD ".shared .u32 x = 1;", "only .global and .const");
    refuse_at(HEAD ".global .u64 x = nobody;", "symbol 'nobody' is not defined", 4, 18);
    refuse(HEAD ".global .u16 x = y; .global .u8 y;", "address does not go into .u16");
    refuse(HEAD ".global .b8 x[2] = {0xFF00(y)}; .global .u8 y;", "must follow each other");
    refuse(HEAD ".global .b8 a[0x40000000] = {1}; .global .b8 b[1] = {1};", "at most 2^30");
    refuse(HEAD ".global .pred p;", "registers only");
}

/* ---- functions ---- */

static void parameter_layout(void **state)
{
    (void)state;
    struct ptx_module *m = read_text(
        HEAD
        ".visible .entry k(.param .u8 a, .param .u64 .ptr .global .align 16 b, .param .u16 c,\n"
        " .param .align 16 .b8 d[20], .param .f32 e, .param .v2 .f32 f)\n"
        ".maxntid 128, 2 .minnctapersm 4 .maxnreg 40 .reqnctapercluster 1, 1, 1 .maxclusterrank 8\n{ ret; }\n"
        ".func (.param .b64 r) g(.reg .u32 %x, .param .b8 y[3]) { .reg .u32 %z; add.u32 %z, %x, 1; ret; }");
    const struct ptx_func *f = ptx_find_func(m, "k");
    static const uint32_t offsets[] = {0, 8, 16, 32, 52, 56};
    assert_true(f->is_entry && f->is_visible && f->has_body);
    assert_int_equal(f->param_count, 6);
    for (int i = 0; i < 6; i++) assert_int_equal(f->params[i]->param_offset, offsets[i]);
    assert_int_equal(f->param_bytes, 64);
    assert_int_equal(f->maxntid[0], 128);
    assert_int_equal(f->maxntid[1], 2);
    assert_int_equal(f->maxntid[2], 1);
    assert_int_equal(f->minnctapersm, 4);
    assert_int_equal(f->maxnreg, 40);
    f = ptx_find_func(m, "g");
    assert_int_equal(f->ret_count, 1);
    assert_int_equal(f->params[0]->space, PTX_SPACE_REG);
    assert_string_equal(f->regs[0].name, "%x");
    assert_int_equal(f->params[1]->param_offset, 4);
    ptx_module_free(m);
}

static void prototypes_and_aliases(void **state)
{
    (void)state;
    struct ptx_module *m = read_text(
        HEAD
        ".extern .func (.param .b32 r) f(.param .b32 a);\n.func twin();\n.func once() .noreturn { exit; }\n"
        ".visible .func (.param .b32 r) f(.param .b32 a)\n{\n.param .b32 x;\ncall (x), f, (x);\nret;\n}\n"
        ".alias twin, once;\n");
    assert_int_equal(m->func_count, 3);
    const struct ptx_func *f = ptx_find_func(m, "f");
    assert_true(f->has_body && f->is_visible && !f->is_extern);
    assert_ptr_equal(f->insts[0].ops[1].func, f);
    f = ptx_find_func(m, "twin");
    assert_true(f->has_body && f->noreturn);
    assert_int_equal(f->insts[0].op, PTX_OP_exit);
    assert_string_equal(f->name, "twin");
    ptx_module_free(m);
}

static void function_errors(void **state)
{
    (void)state;
    refuse(HEAD ".entry k() {", "not closed");
    refuse(HEAD ".entry k() {} .entry k() {}", "already defined");
    refuse(HEAD ".func f(.param .b32 a); .func f() { ret; }", "with other parameters");
    refuse(HEAD ".entry k(.param .b8 a[40000]) {}", "at most 32764 bytes");
    refuse(HEAD ".entry k() .maxntd 4 {}", "unknown directive '.maxntd'");
    refuse(HEAD ".entry k(.global .u32 x) {}", "expected a parameter");
    refuse(HEAD ".entry k(.param .u32 x, .param .u32 x) {}", "already defined");
    refuse(HEAD ".entry k() { .version 1.0 }", "does not belong");
    refuse(HEAD ".entry k() {} .entry j() { call k; }", "launched, not called");
    refuse(HEAD ".alias a, b;", "function 'a' is not defined");
    refuse(HEAD ".func f(.param .b64 a) { ret; } .entry k() { .param .b32 x; call f, (x); }",
           "4 bytes are passed");
}

/* ---- scopes, labels, tables ---- */

static void scopes(void **state)
{
    (void)state;
    struct ptx_module *m = read_text(
        HEAD
        ".entry k() {\n.reg .b32 %r<3>; .reg .b32 x;\nmov.u32 x, 1;\nL: bra L;\n"
        "{ .reg .b64 x; .reg .f32 %r<9>; mov.u64 x, 2; mov.f32 %r2, 0f00000000; bra M; L: bra L; bra N; }\n"
        "{ L: bra L; M: }\nM: mov.u32 %r2, x;\nN:\n}\n");
    const struct ptx_func *f = ptx_find_func(m, "k");
    assert_int_equal(f->regs[f->insts[2].ops[0].reg].type, PTX_B64);
    assert_int_equal(f->regs[f->insts[3].ops[0].reg].type, PTX_F32);
    assert_int_equal(f->labels[f->insts[1].ops[0].index].inst, 1);
    assert_int_equal(f->labels[f->insts[4].ops[0].index].inst,
                     8); /* the M in sight, not the one of another block */
    assert_int_equal(f->labels[f->insts[5].ops[0].index].inst, 5);
    assert_int_equal(f->labels[f->insts[6].ops[0].index].inst, 9);
    assert_int_equal(f->labels[f->insts[7].ops[0].index].inst, 7);
    assert_int_equal(f->regs[f->insts[8].ops[0].reg].type, PTX_B32);
    assert_int_equal(f->inst_count, 9);
    ptx_module_free(m);
}

static void tables(void **state)
{
    (void)state;
    struct ptx_module *m =
        read_text(HEAD ".func (.param .b32 r) f(.param .b32 a) { ret; }\n"
                       ".entry k() {\n.reg .b32 i; .reg .b64 p; .reg .pred q; .param .b32 x;\n"
                       "T: .branchtargets A, B, A;\n@!q brx.idx i, T;\n"
                       "A:\nP: .callprototype (.param .b32 _) _ (.param .b32 _) .noreturn;\n"
                       "C: .calltargets f;\ncall (x), p, (x), P;\nB: call (x), p, (x), C;\n}\n");
    const struct ptx_func *f = ptx_find_func(m, "k");
    assert_int_equal(f->table_count, 3);
    const struct ptx_table *t = &f->tables[f->insts[0].ops[1].index];
    assert_int_equal(t->kind, PTX_TABLE_BRANCH);
    assert_int_equal(t->count, 3);
    assert_int_equal(f->labels[t->labels[1]].inst, 2);
    assert_int_equal(t->labels[0], t->labels[2]);
    assert_true(f->insts[0].guard >= 0 && f->insts[0].guard_not);
    t = &f->tables[f->insts[1].ops[3].index];
    assert_int_equal(t->kind, PTX_TABLE_PROTO);
    assert_int_equal(t->param_count, 1);
    t = &f->tables[f->insts[2].ops[3].index];
    assert_int_equal(t->kind, PTX_TABLE_CALL);
    assert_ptr_equal(t->funcs[0], ptx_find_func(m, "f"));
    ptx_module_free(m);
}

static void vector_registers(void **state)
{
    (void)state;
    struct ptx_module *m =
        read_text(HEAD ".entry k() {\n.reg .v4 .f32 %v; .reg .v2 .b32 %w<3>; .reg .b64 a;\n"
                       "ld.global.v4.f32 %v, [a]; add.f32 %v.y, %v.w, %v.r; st.global.v2.b32 [a], %w2;\n}\n");
    const struct ptx_func *f = ptx_find_func(m, "k");
    assert_int_equal(f->insts[0].ops[0].kind, PTX_O_VECTOR);
    assert_int_equal(f->insts[0].ops[0].sub_count, 4);
    assert_string_equal(f->regs[f->insts[1].ops[0].reg].name, "%v.y");
    assert_string_equal(f->regs[f->insts[1].ops[1].reg].name, "%v.w");
    assert_string_equal(f->regs[f->insts[1].ops[2].reg].name, "%v.x");
    assert_int_equal(f->insts[2].ops[1].sub_count, 2);
    ptx_module_free(m);
}

static void source_places(void **state)
{
    (void)state;
    struct ptx_module *m = read_text(
        HEAD ".entry k() {\nret;\n.loc 1 10 3\n ret;\n"
             ".loc 2 20 5, function_name $L__info+4, inlined_at 1 12 7\n ret;\n.loc 9 1 1\nret;\n}\n"
             ".file 1 \"a.cu\"\n.file 2 \"b.h\"\n");
    const struct ptx_func *f = ptx_find_func(m, "k");
    assert_int_equal(f->insts[0].loc, 0);
    assert_int_equal(m->locs[f->insts[1].loc].line, 10);
    assert_int_equal(m->locs[f->insts[2].loc].line, 20);
    assert_int_equal(m->locs[f->insts[2].loc].file, 2);
    assert_int_equal(m->locs[f->insts[3].loc].file, 0); /* no such file */
    assert_int_equal(f->insts[1].line, 7);
    assert_int_equal(f->insts[1].col, 2);
    ptx_module_free(m);
}

/* ---- errors ---- */

#define BODY HEAD ".entry k() {\n.reg .b32 %r<4>; .reg .pred %p;\n"

static void error_places(void **state)
{
    (void)state;
    refuse_at(BODY "  add.s32 %r1, %r2, %r9;\n}", "register '%r9' is not defined", 6, 21);
    refuse_at(BODY "add.s32 %r1, %r2, %rr;\n}", "register '%rr' is not defined", 6, 19);
    refuse_at(BODY "\tadd.sat.u32 %r1, %r2, 3;\n}", "'.u32' does not go", 6, 9);
    refuse_at(BODY "add.s32 %r1, %r2;\n}", "takes 3 operands", 6, 1);
    refuse_at(BODY "@%r1 ret;\n}", "guard must be a predicate", 6, 2);
    refuse_at(BODY "ld.global.u32 %r1, [%p];\n}", "an address register", 6, 21);
    refuse_at(BODY "x: x: ret;\n}", "already defined", 6, 4);
    refuse_at(BODY ".reg .u32 %r3;\n}", "already defined", 6, 11);
    refuse_at(BODY ".reg .u32 %r<9>;\n}", "already defined", 6, 11);
    refuse_at(BODY ".reg .u32 %q3;\n.reg .u32 %q<4>;\n}", "already defined", 7, 11);
    refuse_at(BODY "mov.u32 %r1, (1 + 2;\n}", "expected ')'", 6, 20);
    refuse_at(BODY ".reg .u32 %z<4294967296>;\n}", "a register range", 6, 14);
}

static void errors_are_gathered(void **state)
{
    (void)state;
    static const char text[] =
        BODY "foo %r1;\nmov.u32 {%r1, %r2, %r3;\nadd.s32 %r1, %r2, {%rx, 1};\nbra a;\n}\n.glbal .u32 x;\n"
             ".entry j() { bar; }\n.global .u32 k;\n";
    static const int lines[] = {6, 7, 8, 9, 11, 12, 13};
    struct diag_list diags = {0};
    assert_null(ptx_parse("t.ptx", text, strlen(text), &diags));
    bool seen[20] = {false};
    for (uint32_t i = 0; i < diags.items.len; i++) seen[MIN(diags.items.data[i].line, 19)] = true;
    for (size_t i = 0; i < ARRAY_LEN(lines); i++)
        if (!seen[lines[i]]) fail_msg("no error for line %d", lines[i]);
    diag_free(&diags);
}

static void hints(void **state)
{
    (void)state;
    static const struct {
        const char *text, *hint;
    } rows[] = {
        {BODY "ad.s32 %r1, %r2, %r3; }", "did you mean 'add'?"},
        {BODY "add.s33 %r1, %r2, %r3; }", "did you mean '.s32'?"},
        {BODY "add.s32 %r1, %r2, %r7; }", "%r<4> ends at 3"},
        {BODY "mov.u32 %r1, %tidd.x; }", "did you mean '%tid'?"},
        {BODY "LOOP: bra LOOOP; }", "did you mean 'LOOP'?"},
        {BODY "add.f32 %r1, %r2, 1; }", "decimal point"},
        {BODY "cvt.f32.s32 %r1, %r2; }", "add one of .rn .rz .rm .rp"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct diag_list diags = {0};
        assert_null(ptx_parse("t.ptx", rows[i].text, strlen(rows[i].text), &diags));
        const char *hint = diags.items.data[0].hint;
        if (!hint || !strstr(hint, rows[i].hint))
            fail_msg("wanted '%s', got '%s'", rows[i].hint, hint ? hint : "nothing");
        diag_free(&diags);
    }
}

/* ---- what Heddle lacks ---- */

/* The text is read, and its function k lacks this, at this position. */
static void lacks_at(const char *text, const char *message, const char *hint, int line, int col)
{
    struct ptx_module *m = read_text(text);
    const struct ptx_lack *lack = ptx_find_func(m, "k")->lack;
    assert_non_null(lack);
    if (!strstr(lack->message, message) || !strstr(lack->hint, hint) || lack->line != line ||
        lack->col != col)
        fail_msg("wanted '%s' (%s) at %d:%d, got '%s' (%s) at %d:%d", message, hint, line, col, lack->message,
                 lack->hint, lack->line, lack->col);
    ptx_module_free(m);
}

static void lacks_mark_their_function(void **state)
{
    (void)state;
    lacks_at(HEAD ".entry k() {\n .reg .b32 %r<4>;\n mma.sync.aligned.m8n8k4 %r1, junk;\n ret; }",
             "instruction 'mma.sync.aligned.m8n8k4'", "tensor cores are not modelled", 6, 2);
    lacks_at(HEAD ".entry k() .reqnctapercluster 2 {}", "clusters of 2x1x1", "clusters are not modelled", 4,
             12);
    struct ptx_module *m =
        read_text(HEAD ".entry a() { ret; }\n.entry k() { wgmma.fence.sync.aligned; mapa.u64 x, y, z; }\n"
                       ".entry b() { ret; }");
    assert_null(ptx_find_func(m, "a")->lack);
    assert_null(ptx_find_func(m, "b")->lack);
    assert_non_null(strstr(ptx_find_func(m, "k")->lack->message, "wgmma")); /* the first one */
    ptx_module_free(m);
}

/* What is wrong stays wrong beside what is lacking. */
static void errors_beside_lacks(void **state)
{
    (void)state;
    refuse_at(HEAD ".entry k() {\n mma.sync.aligned.m8n8k4 a;\n mov.u32 %r9, 1; }", "%r9", 6, 10);
    refuse(HEAD ".entry k() { mma.sync.aligned.m8n8k4 a; foo 1; }", "unknown instruction 'foo'");
}

/* ---- bounds ---- */

static void repeat(struct strbuf *s, const char *text, unsigned times)
{
    for (unsigned i = 0; i < times; i++) strbuf_puts(s, text);
}

static void hostile_texts(void **state)
{
    (void)state;
    static const struct {
        const char *before, *again, *after, *message;
    } rows[] = {
        {BODY, "{", "", "nested too deeply"},
        {BODY "mov.u32 %r1, ", "(", "1", "nested too deeply"},
        {BODY "mov.u32 %r1, ", "-", "1;}", "nested too deeply"},
        {BODY "mov.u32 %r1, ", "1?", "1;}", "nested too deeply"},
        {BODY "add", ".s32", " %r1, %r1, %r1;}", "at most 16 modifiers"},
        {BODY "mov.b32 %r1, {", "%r1, ", "%r1};}", "at most 16 elements"},
        {BODY "mov.b32 %r1, ", "%r1, ", "%r1;}", "too many operands"},
        {HEAD ".global .u8 x", "[1]", ";", "at most 16 dimensions"},
        {HEAD ".global .u8 x[2] = ", "{", "", "more braces"},
        {BODY "mov.u32 %r1, a", "aaaaaaaaaaaaaaaa", ";}", "name is too long"},
        {BODY "mov.u32 %r1, 1", "00000000", ";}", "does not fit in 64 bits"},
        {BODY, "?", "", "expected an instruction"},
        {HEAD, "}", "", "expected a directive"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct strbuf s = {0};
        strbuf_puts(&s, rows[i].before);
        repeat(&s, rows[i].again, 20000);
        strbuf_puts(&s, rows[i].after);
        refuse(strbuf_text(&s), rows[i].message);
        strbuf_free(&s);
    }
}

/* Every prefix of a text that uses most of the language: an error or a module, never a fall. */
static void every_prefix(void **state)
{
    (void)state;
    FILE *f = fopen(HEDDLE_SOURCE_DIR "/tests/fuzz/corpus/ptx/directives.ptx", "r");
    assert_non_null(f);
    static char text[8192];
    size_t len = fread(text, 1, sizeof text, f);
    fclose(f);
    for (size_t n = 0; n <= len; n++) {
        struct diag_list diags = {0};
        char *exact = malloc(n + 1); /* no byte more than it says */
        memcpy(exact, text, n);
        struct ptx_module *m = ptx_parse("t.ptx", exact, n, &diags);
        assert_true((m != NULL) == (diags.errors == 0));
        ptx_module_free(m);
        diag_free(&diags);
        free(exact);
    }
}

static void large_module_is_fast(void **state)
{
    (void)state;
    struct strbuf s = {0};
    strbuf_puts(&s, BODY);
    repeat(&s, "add.s32 %r1, %r2, %r3;\n@%p bra L;\nmad.lo.s32 %r3, %r1, %r2, 77;\n", 80000);
    strbuf_puts(&s, "L: ret;\n}\n");
    clock_t start = clock();
    struct ptx_module *m = read_text(strbuf_text(&s));
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    print_message("%.1f MB in %.3f s\n", (double)s.len / 1e6, seconds);
    assert_int_equal(ptx_find_func(m, "k")->inst_count, 240001);
    assert_true(seconds < 20); /* quadratic would be hours; sanitizers and busy hosts take their time */
    ptx_module_free(m);
    strbuf_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(module_directives),
        cmocka_unit_test(module_errors),
        cmocka_unit_test(variables),
        cmocka_unit_test(initialisers),
        cmocka_unit_test(relocations),
        cmocka_unit_test(variable_errors),
        cmocka_unit_test(parameter_layout),
        cmocka_unit_test(prototypes_and_aliases),
        cmocka_unit_test(function_errors),
        cmocka_unit_test(scopes),
        cmocka_unit_test(tables),
        cmocka_unit_test(vector_registers),
        cmocka_unit_test(source_places),
        cmocka_unit_test(error_places),
        cmocka_unit_test(errors_are_gathered),
        cmocka_unit_test(hints),
        cmocka_unit_test(lacks_mark_their_function),
        cmocka_unit_test(errors_beside_lacks),
        cmocka_unit_test(hostile_texts),
        cmocka_unit_test(every_prefix),
        cmocka_unit_test(large_module_is_fast),
    };
    return cmocka_run_group_tests_name("ptx", tests, NULL, NULL);
}
