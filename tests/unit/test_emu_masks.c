/* test_emu_masks.c: warp-wide instructions whose member mask does not name the lane that executes them,
 * against what an H200 did (masks_h200.tsv, made by masks_h200.cu): the mask is ignored, or the run stops. */
#include "emu/emu.h"
#include "lower/lower.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* $d result, $m member mask, $v value; p, q and t are free. As in masks_h200.cu. */
static const struct {
    const char *name, *text;
} instructions[] = {
    {"ballot", "setp.ne.u32 p, $v, 0; vote.sync.ballot.b32 $d, p, $m;"},
    {"any", "setp.ne.u32 p, $v, 0; vote.sync.any.pred q, p, $m; selp.u32 $d, 1, 0, q;"},
    {"all", "setp.ne.u32 p, $v, 0; vote.sync.all.pred q, p, $m; selp.u32 $d, 1, 0, q;"},
    {"uni", "setp.ne.u32 p, $v, 0; vote.sync.uni.pred q, p, $m; selp.u32 $d, 1, 0, q;"},
    {"shfl_idx3", "shfl.sync.idx.b32 $d, $v, 3, 31, $m;"},
    {"shfl_idx20", "shfl.sync.idx.b32 $d, $v, 20, 31, $m;"},
    {"shfl_bfly1", "shfl.sync.bfly.b32 $d, $v, 1, 31, $m;"},
    {"shfl_bfly16", "shfl.sync.bfly.b32 $d, $v, 16, 31, $m;"},
    {"shfl_down4", "shfl.sync.down.b32 $d, $v, 4, 31, $m;"},
    {"match_any", "match.any.sync.b32 $d, $v, $m;"},
    {"match_all",
     "match.all.sync.b32 t|q, $v, $m; selp.u32 $d, 1, 0, q; shl.b32 $d, $d, 31; xor.b32 $d, $d, t;"},
    {"redux_add", "redux.sync.add.u32 $d, $v, $m;"},
    {"redux_or", "redux.sync.or.b32 $d, $v, $m;"},
    {"redux_min", "redux.sync.min.u32 $d, $v, $m;"},
    {"warpsync", "bar.warp.sync $m; mov.b32 $d, $v;"},
    {"elect", "elect.sync t|q, $m; selp.u32 $d, 256, 0, q; or.b32 $d, $d, t;"},
};

/* Below and from lane 16 on: masks, and where: 0 and 1 execute the instruction at two places, 2 skips it. */
static const struct mask_case {
    const char *name;
    uint32_t low_mask, high_mask, low_where, high_where;
    bool constant;
} cases[] = {
    {"uniform_0000ffff", 0xffff, 0xffff, 0, 0, false},
    {"uniform_00000000", 0, 0, 0, 0, false},
    {"uniform_fffffffe", 0xfffffffe, 0xfffffffe, 0, 0, false},
    {"const_0000ffff", 0xffff, 0xffff, 0, 0, true},
    {"const_00000000", 0, 0, 0, 0, true},
    {"lanes_below_16_run_mask_000000ff", 0xff, 0xff, 0, 2, false},
    {"lanes_below_16_run_mask_ffff0000_others_skip", 0xffff0000, 0xffff0000, 0, 2, false},
    {"lanes_below_16_run_mask_00ffff00_others_skip", 0x00ffff00, 0x00ffff00, 0, 2, false},
    {"halves_name_each_other_one_place", 0xffff0000, 0x0000ffff, 0, 0, false},
    {"halves_name_each_other_two_places", 0xffff0000, 0x0000ffff, 0, 1, false},
    {"lanes_below_16_ffff_others_0f0f0000", 0xffff, 0x0f0f0000, 0, 0, false},
    {"right_halves_for_reference", 0x0000ffff, 0xffff0000, 0, 0, false},
};

struct result {
    enum emu_fault_kind end;
    uint32_t out[32];
    struct strbuf said;
};

static void put_instruction(struct strbuf *ptx, uint32_t op, const struct mask_case *c)
{
    for (const char *s = instructions[op].text; *s; s++) {
        if (*s != '$')
            strbuf_putc(ptx, *s);
        else if (*++s == 'm' && c->constant)
            strbuf_printf(ptx, "%u", c->low_mask);
        else
            strbuf_printf(ptx, "%%%c", *s);
    }
    strbuf_putc(ptx, '\n');
}

static void put_kernel(struct strbuf *ptx, uint32_t op, const struct mask_case *c)
{
    strbuf_puts(ptx, ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 a) {\n"
                     ".reg .pred p, q; .reg .b32 t, %l, %m, %v, %w, %d; .reg .b64 %a;\n"
                     "ld.param.u64 %a, [a]; mov.u32 %l, %tid.x; mad.wide.u32 %a, %l, 4, %a;\n"
                     "ld.global.u32 %m, [%a]; ld.global.u32 %v, [%a+128]; ld.global.u32 %w, [%a+256];\n"
                     "mov.u32 %d, 0xdeadbeef;\nsetp.eq.u32 p, %w, 2; @p bra END;\n"
                     "setp.eq.u32 p, %w, 1; @p bra SECOND;\n");
    put_instruction(ptx, op, c);
    strbuf_puts(ptx, "bra END;\nSECOND:\n");
    put_instruction(ptx, op, c);
    strbuf_puts(ptx, "END: st.global.u32 [%a+384], %d; ret; }\n");
}

static struct emu_module *load(struct emu_device *d, const struct strbuf *ptx)
{
    struct diag_list diags = {0};
    struct ptx_module *parsed = ptx_parse("masks.ptx", ptx->data, ptx->len, &diags);
    struct isa_module *isa = parsed ? lower_module(parsed, NULL, &diags) : NULL;
    struct emu_module *m = isa ? emu_module_load(d, isa, NULL, NULL, &diags) : NULL;
    struct strbuf said = {0};
    diag_render(&diags, &said);
    if (!m) fail_msg("%s", strbuf_text(&said));
    strbuf_free(&said);
    diag_free(&diags);
    ptx_module_free(parsed);
    return m;
}

static void keep_said(void *context, bool is_error, const char *text, size_t len)
{
    struct result *r = context;
    if (is_error) strbuf_add(&r->said, text, len);
}

/* Runs the kernel `times` times on one device. */
static struct result run(uint32_t op, const struct mask_case *c, uint32_t times)
{
    static const struct emu_limits limits = {.threads_per_cta_max = 1024,
                                             .grid_max = {1, 1, 1},
                                             .block_max = {1024, 1, 1},
                                             .regs_per_cta_max = 65536,
                                             .sm_count = 1,
                                             .warp_insts_max = 10000,
                                             .clock_khz = 1000000};
    struct result r = {0};
    struct strbuf ptx = {0};
    struct emu_device *d = emu_device_create(&limits, 1 << 24);
    assert_non_null(d);
    emu_device_on_output(d, keep_said, &r);
    put_kernel(&ptx, op, c);
    struct emu_module *m = load(d, &ptx);
    uint64_t at = space_alloc(emu_device_space(d), 512, 256, SPACE_DEVICE, "words");
    uint32_t *words = (uint32_t *)(uintptr_t)at;
    for (uint32_t l = 0; l < 32; l++) {
        words[l] = l < 16 ? c->low_mask : c->high_mask;
        words[32 + l] = op <= 3 ? 0xa5c3f00fu >> l & 1 : op == 9 || op == 10 ? l % 3 : 100 + l;
        words[64 + l] = l < 16 ? c->low_where : c->high_where;
    }
    struct emu_fault *fault = mem_zalloc(sizeof *fault);
    struct emu_launch launch = {.module = m,
                                .kernel = emu_find_kernel(m, "k"),
                                .grid = {1, 1, 1},
                                .block = {32, 1, 1},
                                .params = &at};
    for (uint32_t i = 0; i < times && r.end == EMU_OK; i++) r.end = emu_run(d, &launch, NULL, fault);
    memcpy(r.out, words + 96, sizeof r.out);
    free(fault);
    emu_module_unload(d, m);
    emu_device_destroy(d);
    strbuf_free(&ptx);
    return r;
}

static uint32_t find_case(const char *name)
{
    for (uint32_t i = 0; i < ARRAY_LEN(cases); i++)
        if (!strcmp(cases[i].name, name)) return i;
    fail_msg("no case %s", name);
    return 0;
}

static uint32_t find_instruction(const char *name)
{
    for (uint32_t i = 0; i < ARRAY_LEN(instructions); i++)
        if (!strcmp(instructions[i].name, name)) return i;
    fail_msg("no instruction %s", name);
    return 0;
}

/* One row of the table; true: as on silicon. */
static bool check_row(const char *case_name, const char *instruction, char *values)
{
    struct result r = run(find_instruction(instruction), &cases[find_case(case_name)], 1);
    bool same = r.end == (strcmp(values, "illegal") ? EMU_OK : EMU_BAD_MASK);
    for (uint32_t l = 0; l < 32 && same && r.end == EMU_OK; l++)
        same = strtoul(values, &values, 16) == r.out[l];
    if (!same)
        print_error("%s %s: ended with %d, lane 0 has %08x\n", case_name, instruction, r.end, r.out[0]);
    strbuf_free(&r.said);
    return same;
}

static void as_recorded_on_silicon(void **state)
{
    (void)state;
    FILE *f = fopen(HEDDLE_SOURCE_DIR "/tests/unit/masks_h200.tsv", "r");
    assert_non_null(f);
    char line[512];
    uint32_t rows = 0, wrong = 0;
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        if (line[0] == '#') continue;
        char *instruction = strchr(line, '\t');
        assert_non_null(instruction);
        *instruction++ = 0;
        char *values = strchr(instruction, '\t');
        assert_non_null(values);
        *values++ = 0;
        wrong += !check_row(line, instruction, values);
        rows++;
    }
    fclose(f);
    assert_int_equal(rows, ARRAY_LEN(cases) * ARRAY_LEN(instructions));
    assert_int_equal(wrong, 0);
}

static void one_note_names_kernel_and_line(void **state)
{
    (void)state;
    struct result r = run(find_instruction("ballot"), &cases[find_case("uniform_0000ffff")], 3);
    assert_int_equal(r.end, EMU_OK);
    assert_string_equal(
        strbuf_text(&r.said),
        "heddle: note: kernel 'k': vote.ballot with member mask 0x0000ffff, which does not name lane "
        "16 that executes it: the mask is ignored, as an H200 does\n  at masks.ptx:11\n");
    strbuf_free(&r.said);
    r = run(find_instruction("ballot"), &cases[find_case("right_halves_for_reference")], 1);
    assert_int_equal(r.said.len, 0);
    strbuf_free(&r.said);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_recorded_on_silicon),
        cmocka_unit_test(one_note_names_kernel_and_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
