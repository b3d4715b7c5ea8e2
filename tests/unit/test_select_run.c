/* test_select_run.c: what selection must keep, seen from outside: small bodies are run and the 64-bit value
 * that they leave in %rd1 is looked at, with and without folding. Widths above all: registers wider or
 * narrower than the type, values of 8 and 16 bits, pieces of parameters, guards on instructions that expand,
 * results that are also operands. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "emu/emu.h"
#include "lower/lower.h"

/* the kernel's parameter block */
struct params {
    uint64_t out;
    uint8_t bytes[24];
    uint8_t small;
    int16_t half;
};

static const char head[] =
    ".version 8.3\n.target sm_90\n.address_size 64\n"
    ".global .align 8 .b8 gv[16] = {0x80, 0xff, 0x01, 0x80, 0x78, 0x56, 0x34, 0x92, 1, 2, 3, 4, 5, 6, 7, "
    "8};\n"
    ".const .align 4 .b32 cv[2] = {7, 0xfffffffe};\n.shared .align 8 .b8 sv[64];\n.extern .shared .align 8 "
    ".b8 dyn[];\n"
    ".func (.param .b64 out) mix(.param .b32 a, .param .align 16 .b8 b[16])\n{\n.reg .b32 %r<3>;\n.reg .b64 "
    "%rd<4>;\n"
    "ld.param.s32 %rd1, [a];\nld.param.u64 %rd2, [b+8];\nadd.s64 %rd3, %rd1, %rd2;\nst.param.b64 [out], "
    "%rd3;\nret;\n}\n"
    ".func (.reg .b32 o) pick(.reg .b32 a, .reg .pred p)\n{\n@p add.s32 a, a, 1;\nmov.u32 o, a;\nret;\n}\n"
    ".visible .entry k(.param .u64 p0, .param .align 8 .b8 p1[24], .param .u8 p2, .param .s16 p3)\n{\n"
    ".reg .pred %p<10>;\n.reg .b8 %b<5>;\n.reg .b16 %rs<10>;\n.reg .b32 %r<20>;\n.reg .f32 %f<20>;\n"
    ".reg .b64 %rd<20>;\n.reg .f64 %fd<10>;\n.reg .b128 %q<5>;\n.local .align 8 .b8 lv[16];\n"
    "mov.u64 %rd1, 0;\nmov.u64 %rd9, gv;\nsetp.eq.u32 %p1, 0, 0;\nsetp.ne.u32 %p2, 0, 0;\n";
static const char tail[] = "\nld.param.u64 %rd19, [p0];\nst.global.u64 [%rd19], %rd1;\nret;\n}\n";

struct row {
    const char *body;
    uint64_t want;
};
static const struct row rows[] = {
    /* loads into wider and narrower registers */
    {"ld.global.s8 %rd1, [gv];", 0xffffffffffffff80},
    {"ld.global.u8 %rd1, [gv];", 0x80},
    {"ld.global.s16 %r1, [gv+2]; cvt.u64.u32 %rd1, %r1;", 0xffff8001},
    {"ld.global.s8 %rs1, [gv]; cvt.u64.u16 %rd1, %rs1;", 0xff80},
    {"ld.global.s32 %rd1, [gv+4];", 0xffffffff92345678},
    {"ld.global.b32 %rd1, [gv+4];", 0x92345678},
    {"ld.v4.u8 {%r1, %r2, _, %r3}, [%rd9]; mad.lo.u32 %r4, %r3, 256, %r2; cvt.u64.u32 %rd1, %r4;", 0x80ff},
    {"ld.global.v2.s8 {%rs1, %r1}, [gv]; cvt.u32.u16 %r2, %rs1; mov.b64 %rd1, {%r2, %r1};",
     0xffffffff0000ff80},
    {"@%p2 ld.global.s8 %rd1, [%rd9];", 0},
    {"@!%p2 ld.global.s8 %rd1, [%rd9];", 0xffffffffffffff80},
    {"mov.u64 %rd1, 5; @%p2 cvt.s64.s8 %rd1, %rd9;", 5},
    {"ld.const.s32 %rd1, [cv+4];", 0xfffffffffffffffe},
    /* stores of the low bits */
    {"mov.u64 %rd2, 0x1122334455667788; st.shared.u64 [sv], 0; st.shared.u8 [sv+1], %rd2; ld.shared.u64 "
     "%rd1, [sv];",
     0x8800},
    {"st.local.u64 [lv], -1; st.local.u16 [lv+2], 0x12345; ld.local.u64 %rd1, [lv];", 0xffffffff2345ffff},
    {"mov.u64 %rd2, lv; st.local.u32 [%rd2+4], 9; cvta.local.u64 %rd3, %rd2; ld.u32 %rd1, [%rd3+4];", 9},
    {"mov.u32 %r1, dyn; st.shared.u32 [%r1+8], 11; cvt.u64.u32 %rd2, %r1; cvta.shared.u64 %rd3, %rd2; ld.u32 "
     "%rd1, [%rd3+8];",
     11},
    {"ld.global.b128 %q1, [gv]; mov.b128 {%rd2, %rd1}, %q1;", 0x0807060504030201},
    /* integer conversions */
    {"mov.u32 %r1, 0x1ff; cvt.s8.s32 %rs1, %r1; cvt.u64.u16 %rd1, %rs1;", 0xffff},
    {"mov.u32 %r1, 0x80; cvt.u16.s8 %r2, %r1; cvt.u64.u32 %rd1, %r2;", 0xff80},
    {"mov.u32 %r1, 0x18000; cvt.s64.s16 %rd1, %r1;", 0xffffffffffff8000},
    {"mov.u64 %rd2, 0x1ffffff80; cvt.s32.s8 %r1, %rd2; cvt.s64.s32 %rd1, %r1;", 0xffffffffffffff80},
    {"mov.u32 %r1, 300; cvt.sat.u8.u32 %rd1, %r1;", 255},
    {"mov.u32 %r1, -300; cvt.sat.s8.s32 %rd1, %r1;", 0xffffffffffffff80},
    {"mov.f32 %f1, -2.5; cvt.rni.s8.f32 %rd1, %f1;", 0xfffffffffffffffe},
    {"mov.f32 %f1, 0f43960000; cvt.rzi.u16.f32 %rs1, %f1; cvt.u64.u16 %rd1, %rs1;", 300},
    {"mov.u64 %rd2, 0x100000003; cvt.rn.f64.u32 %fd1, %rd2; cvt.rzi.u64.f64 %rd1, %fd1;", 3},
    /* 16-bit values stay in 16 bits */
    {"mov.u16 %rs1, 0xffff; add.u16 %rs2, %rs1, 2; cvt.u64.u16 %rd1, %rs2;", 1},
    {"mov.u16 %rs1, 5; not.b16 %rs2, %rs1; cvt.u64.u16 %rd1, %rs2;", 0xfffa},
    {"mov.u16 %rs1, 5; neg.s16 %rs2, %rs1; setp.lt.s16 %p3, %rs2, 0; selp.u64 %rd1, 3, 4, %p3;", 3},
    {"mov.u16 %rs1, 0x8001; shl.b16 %rs2, %rs1, 1; shr.s16 %rs3, %rs1, 15; mov.b32 %r1, {%rs2, %rs3}; "
     "cvt.u64.u32 %rd1, %r1;",
     0xffff0002},
    {"mov.u16 %rs1, 1; shl.b16 %rs2, %rs1, 65536; cvt.u64.u16 %rd1, %rs2;", 0},
    {"mov.u16 %rs1, -3; mul.wide.s16 %r1, %rs1, 5; cvt.s64.s32 %rd1, %r1;", 0xfffffffffffffff1},
    /* parameters in pieces */
    {"ld.param.u64 %rd1, [p1];", 0x8786858483828180},
    {"ld.param.u16 %rs1, [p1+3]; cvt.u64.u16 %rd1, %rs1;", 0x8483},
    {"ld.param.u32 %rd1, [p1+1];", 0x84838281},
    {"ld.param.u64 %rd1, [p1+2];", 0x8988878685848382},
    {"ld.param.s8 %rd1, [p1+5];", 0xffffffffffffff85},
    {"ld.param.u8 %r1, [p2]; ld.param.s16 %r2, [p3]; mov.b64 %rd1, {%r1, %r2};", 0xfffffffb000000c8},
    {"mov.u64 %rd2, p1; ld.param.u32 %rd1, [%rd2+4];", 0x87868584},
    {"cvta.param.u64 %rd2, p1; ld.u32 %rd1, [%rd2+8];", 0x8b8a8988},
    /* results that are operands */
    {"mov.b64 %rd2, {1, 2}; mov.b64 {%r1, %r2}, %rd2; mov.b64 %rd1, {%r2, %r1};", 0x0000000100000002},
    {"mov.u32 %r1, 5; set.eq.u32.u32 %r1, %r1, 5; cvt.u64.u32 %rd1, %r1;", 0xffffffff},
    {"mov.f32 %f1, -1.0; mov.f32 %f2, 2.0; slct.f32.f32 %f1, %f1, %f2, %f1; cvt.rzi.u64.f32 %rd1, %f1;", 2},
    {"mov.u32 %r1, 0; add.cc.u32 %r2, -1, 1; addc.u32 %r1, %r1, 0; cvt.u64.u32 %rd1, %r1;", 1},
    {"sub.cc.u32 %r2, 0, 1; subc.u32 %r1, 5, 0; cvt.u64.u32 %rd1, %r1;", 4},
    {"mov.u32 %r1, 0x3c003c00; mov.u32 %r2, 0x40003800; set.lt.u32.f16x2 %r3, %r1, %r2; cvt.u64.u32 %rd1, "
     "%r3;",
     0xffff0000},
    {"st.shared.v2.f32 [sv], {0f3f800000, 0f40000000}; mov.u64 %rd2, sv; cvta.shared.u64 %rd3, %rd2; mov.f32 "
     "%f1, 3.0; "
     "mov.f32 %f2, 4.0; atom.shared.add.f32 %f1, [sv], %f2; ld.shared.f32 %f3, [sv]; cvt.rzi.u64.f32 %rd1, "
     "%f3;",
     5},
    /* special registers */
    {"mov.u16 %rs1, %ntid.x; cvt.u64.u16 %rd1, %rs1;", 1},
    {"mov.u32 %r1, %cluster_nctaid.x; mov.u32 %r2, %clusterid.x; add.u32 %r1, %r1, %r2; cvt.u64.u32 %rd1, "
     "%r1;",
     1},
    {"mov.u32 %r1, %reserved_smem_offset_1; mov.u32 %r2, sv; st.shared.u32 [%r2], 7; st.shared.u32 [%r1], 9; "
     "ld.shared.u32 %rd1, [sv];",
     7},
    /* calls */
    {"{ .param .b32 a; .param .align 16 .b8 b[16]; .param .b64 r; st.param.b32 [a], -3; st.param.v2.b64 [b], "
     "{1, 10}; "
     "call (r), mix, (a, b); ld.param.b64 %rd1, [r]; }",
     7},
    {"mov.u32 %r1, 41; call (%r2), pick, (%r1, %p1); call (%r3), pick, (%r1, %p2); mov.b64 %rd1, {%r2, %r3};",
     0x000000290000002a},
    {"{ .param .b32 a; .param .align 16 .b8 b[16]; .param .b64 r; st.param.b32 [a], 4; st.param.v2.b64 [b], "
     "{1, 10}; "
     "pr: .callprototype (.param .b64 _) _ (.param .b32 _, .param .align 16 .b8 _[16]); mov.u64 %rd2, mix; "
     "call (r), %rd2, (a, b), pr; ld.param.b64 %rd1, [r]; }",
     14},
};

static struct emu_device *make_device(void)
{
    struct emu_limits limits = {.threads_per_cta_max = 1024,
                                .grid_max = {1 << 20, 65535, 65535},
                                .block_max = {1024, 1024, 64},
                                .shared_per_cta_max = 48 << 10,
                                .regs_per_cta_max = 65536,
                                .sm_count = 2,
                                .stack_bytes = 4096,
                                .heap_bytes = 1 << 20,
                                .warp_insts_max = 100000,
                                .clock_khz = 1000000};
    return emu_device_create(&limits, 64 << 20);
}

/* False where something was refused; says what. */
static bool run_body(struct emu_device *d, const char *body, uint32_t opt_level, uint64_t *result)
{
    struct strbuf text = {0}, out = {0};
    struct diag_list diags = {0};
    strbuf_printf(&text, "%s%s%s", head, body, tail);
    struct ptx_module *ptx = ptx_parse("t.ptx", strbuf_text(&text), text.len, &diags);
    struct lower_options options = {.opt_level = opt_level};
    struct isa_module *isa = ptx ? lower_module(ptx, &options, &diags) : NULL;
    struct emu_module *m = isa ? emu_module_load(d, isa, NULL, NULL, &diags) : NULL;
    bool ok = m != NULL;
    if (ok) {
        struct params p = {
            .out = space_alloc(emu_device_space(d), 8, 256, SPACE_DEVICE, "out"), .small = 200, .half = -5};
        for (uint32_t i = 0; i < sizeof p.bytes; i++) p.bytes[i] = (uint8_t)(0x80 + i);
        struct emu_launch l = {.module = m,
                               .kernel = emu_find_kernel(m, "k"),
                               .grid = {1, 1, 1},
                               .block = {1, 1, 1},
                               .shared_dynamic_bytes = 64,
                               .params = &p};
        struct emu_stats stats = {0};
        struct emu_fault fault = {0};
        ok = emu_run(d, &l, &stats, &fault) == EMU_OK;
        if (!ok) print_error("%s\n", fault.message);
        memcpy(result, (void *)(uintptr_t)p.out, sizeof *result);
        space_free(emu_device_space(d), p.out);
        emu_module_unload(d, m);
    } else {
        diag_render(&diags, &out);
        print_error("%s\n", strbuf_text(&out));
    }
    if (ptx) ptx_module_free(ptx);
    diag_free(&diags);
    strbuf_free(&text);
    strbuf_free(&out);
    return ok;
}

static void test_values(void **state)
{
    struct emu_device *d = make_device();
    uint32_t bad = 0;
    assert_non_null(d);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        for (uint32_t level = 0; level < 2; level++) {
            uint64_t got = 0;
            if (run_body(d, rows[i].body, level, &got) && got == rows[i].want) continue;
            print_error("%s (level %u): got 0x%llx, want 0x%llx\n", rows[i].body, level,
                        (unsigned long long)got, (unsigned long long)rows[i].want);
            bad++;
        }
    }
    emu_device_destroy(d);
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
