/* test_mech_morpheus_bdi.c: the compression of Morpheus as PTX, run by the emulator, against plain C. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "emu/emu.h"
#include "lower/lower.h"
#include "mech/morpheus_bdi.h"

#define HEAD ".version 7.0\n.target sm_80\n.address_size 64\n"
#define OLD  0xa5c3f018u /* what a register held before */

/* A warp: the word of each lane through compress, pack and unpack. in[32] is the slot. */
static const char text[] = HEAD MORPHEUS_BDI_PTX
    ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
    ".reg .b32 %r<12>; .reg .b64 %d<4>;\n"
    "ld.param.u64 %d0, [out]; ld.param.u64 %d1, [in]; mov.u32 %r0, %tid.x; mul.wide.u32 %d2, %r0, 4;\n"
    "ld.global.u32 %r2, [%d1+128]; add.u64 %d1, %d1, %d2; ld.global.u32 %r1, [%d1];\n"
    "call (%r3, %r4, %r5), morpheus_bdi_compress, (%r1);\n"
    "mov.u32 %r7, 0xa5c3f018; call (%r8), morpheus_bdi_pack, (%r7, %r5, %r3, %r2);\n"
    "call (%r9), morpheus_bdi_unpack, (%r8, %r4, %r3, %r2);\n"
    "mul.wide.u32 %d2, %r0, 16; add.u64 %d0, %d0, %d2; st.global.v4.u32 [%d0], {%r3, %r4, %r8, "
    "%r9};\nret;\n}\n";

struct lane {
    uint32_t level, base, packed, word;
};

struct bench {
    struct emu_device *device;
    struct emu_module *module;
    uint64_t out, in;
};

static struct isa_module *lower_text(const char *ptx_text)
{
    struct diag_list diags = {0};
    struct strbuf said = {0};
    struct ptx_module *ptx = ptx_parse("bdi.ptx", ptx_text, strlen(ptx_text), &diags);
    struct isa_module *m = ptx ? lower_module(ptx, &(struct lower_options){.opt_level = 1}, &diags) : NULL;
    diag_render(&diags, &said);
    if (!m) fail_msg("%s", strbuf_text(&said));
    strbuf_free(&said);
    ptx_module_free(ptx);
    diag_free(&diags);
    return m;
}

static int open_bench(void **state)
{
    struct bench *b = *state = mem_zalloc(sizeof *b);
    struct diag_list diags = {0};
    struct emu_limits limits = {.threads_per_cta_max = 1024,
                                .grid_max = {1, 1, 1},
                                .block_max = {1024, 1, 1},
                                .shared_per_cta_max = 48 << 10,
                                .regs_per_cta_max = 65536,
                                .sm_count = 1,
                                .stack_bytes = 4096,
                                .heap_bytes = 1 << 20,
                                .warp_insts_max = 100000,
                                .clock_khz = 1000000};
    b->device = emu_device_create(&limits, 64 << 20);
    b->module = emu_module_load(b->device, lower_text(text), NULL, NULL, &diags);
    b->out = space_alloc(emu_device_space(b->device), 4096, 256, SPACE_DEVICE, "out");
    b->in = space_alloc(emu_device_space(b->device), 4096, 256, SPACE_DEVICE, "in");
    diag_free(&diags);
    return b->module ? 0 : -1;
}

static int close_bench(void **state)
{
    struct bench *b = *state;
    emu_module_unload(b->device, b->module);
    emu_device_destroy(b->device);
    free(b);
    return 0;
}

static void run_line(struct bench *b, const uint32_t line[32], uint32_t slot, struct lane out[32])
{
    memcpy((void *)(uintptr_t)b->in, line, 128);
    memcpy((char *)(uintptr_t)b->in + 128, &slot, sizeof slot);
    const uint64_t params[] = {b->out, b->in};
    struct emu_launch l = {.module = b->module,
                           .kernel = emu_find_kernel(b->module, "k"),
                           .grid = {1, 1, 1},
                           .block = {32, 1, 1},
                           .params = params};
    struct emu_stats stats = {0};
    struct emu_fault fault = {0};
    if (emu_run(b->device, &l, &stats, &fault) != EMU_OK) fail_msg("%s", fault.message);
    memcpy(out, (const void *)(uintptr_t)b->out, 32 * sizeof *out);
}

/* ---- the reference: bytes alone ---- */

/* Can the base give every word by adding a number from -2^(bits-1) to 2^(bits-1) - 1? */
static bool reaches(const uint32_t line[32], uint32_t bits)
{
    const int64_t half = 1ll << (bits - 1);
    for (uint32_t i = 0; i < 32; i++) {
        bool is_found = false;
        for (int64_t d = -half; d < half && !is_found; d++) is_found = (uint32_t)(line[0] + d) == line[i];
        if (!is_found) return false;
    }
    return true;
}

static enum morpheus_level level_of(const uint32_t line[32])
{
    return reaches(line, 8)    ? MORPHEUS_LEVEL_HIGH
           : reaches(line, 16) ? MORPHEUS_LEVEL_LOW
                               : MORPHEUS_LEVEL_NONE;
}

/* A lane's register: the old bytes but those of the block. */
static uint32_t packed_of(uint32_t word, uint32_t base, enum morpheus_level level, uint32_t slot)
{
    const uint32_t bytes = level == MORPHEUS_LEVEL_HIGH ? 1 : level == MORPHEUS_LEVEL_LOW ? 2 : 4;
    const uint32_t delta = level == MORPHEUS_LEVEL_NONE ? word : word - base;
    uint8_t held[4];
    for (uint32_t i = 0; i < 4; i++) held[i] = (uint8_t)(OLD >> 8 * i);
    for (uint32_t i = 0; i < bytes; i++) held[slot * bytes + i] = (uint8_t)(delta >> 8 * i);
    return (uint32_t)held[0] | (uint32_t)held[1] << 8 | (uint32_t)held[2] << 16 | (uint32_t)held[3] << 24;
}

static void expect_line(struct bench *b, const uint32_t line[32], enum morpheus_level level)
{
    assert_int_equal(level_of(line), level);
    for (uint32_t slot = 0; slot < 1u << level; slot++) {
        struct lane got[32];
        run_line(b, line, slot, got);
        for (uint32_t l = 0; l < 32; l++) {
            assert_int_equal(got[l].level, level);
            assert_int_equal(got[l].base, level == MORPHEUS_LEVEL_NONE ? 0 : line[0]);
            assert_int_equal(got[l].packed, packed_of(line[l], line[0], level, slot));
            assert_int_equal(got[l].word, line[l]);
        }
    }
}

/* ---- lines ---- */

/* All words are the base, one of them is the base plus a delta. */
static void expect_delta(struct bench *b, uint32_t base, int32_t delta, enum morpheus_level level)
{
    static const uint32_t lanes[] = {1, 17, 31};
    for (size_t i = 0; i < ARRAY_LEN(lanes); i++) {
        uint32_t line[32];
        for (uint32_t l = 0; l < 32; l++) line[l] = base;
        line[lanes[i]] += (uint32_t)delta;
        expect_line(b, line, level);
    }
}

static void levels_end_where_a_delta_does_not_fit(void **state)
{
    static const uint32_t bases[] = {0, 1000, 0x7fffffff, 0x80000000, 0xffffffff, 0xdeadbeef};
    for (size_t i = 0; i < ARRAY_LEN(bases); i++) {
        expect_delta(*state, bases[i], 127, MORPHEUS_LEVEL_HIGH);
        expect_delta(*state, bases[i], -128, MORPHEUS_LEVEL_HIGH);
        expect_delta(*state, bases[i], 128, MORPHEUS_LEVEL_LOW);
        expect_delta(*state, bases[i], -129, MORPHEUS_LEVEL_LOW);
        expect_delta(*state, bases[i], 32767, MORPHEUS_LEVEL_LOW);
        expect_delta(*state, bases[i], -32768, MORPHEUS_LEVEL_LOW);
        expect_delta(*state, bases[i], 32768, MORPHEUS_LEVEL_NONE);
        expect_delta(*state, bases[i], -32769, MORPHEUS_LEVEL_NONE);
        expect_delta(*state, bases[i], INT32_MAX, MORPHEUS_LEVEL_NONE);
        expect_delta(*state, bases[i], INT32_MIN, MORPHEUS_LEVEL_NONE);
    }
}

static void zeros_and_repeated_words_are_deltas_of_zero(void **state)
{
    expect_delta(*state, 0, 0, MORPHEUS_LEVEL_HIGH);
    expect_delta(*state, 0x12345678, 0, MORPHEUS_LEVEL_HIGH);
}

/* The base is the first word alone: others may be further apart from each other than from it. */
static void deltas_of_both_signs_share_a_line(void **state)
{
    uint32_t line[32];
    for (uint32_t l = 0; l < 32; l++) line[l] = 5000 + (l % 2 ? 127 : -128u);
    line[0] = 5000;
    expect_line(*state, line, MORPHEUS_LEVEL_HIGH);
    line[0] = 5000 - 128; /* now 127 is 255 away */
    expect_line(*state, line, MORPHEUS_LEVEL_LOW);
}

static void random_lines_come_back(void **state)
{
    struct rng r = {11};
    uint32_t seen[3] = {0};
    for (uint32_t i = 0; i < 300; i++) {
        uint32_t line[32], base = rng_u32(&r), range = 1u << rng_below(&r, 20);
        for (uint32_t l = 0; l < 32; l++) line[l] = base + (uint32_t)rng_below(&r, range) - range / 2;
        const enum morpheus_level level = level_of(line);
        seen[level]++;
        expect_line(*state, line, level);
    }
    assert_true(seen[0] && seen[1] && seen[2]);
}

/* ---- instructions ---- */

/* Machine instructions of a kernel that calls one function with words from memory. */
static uint32_t insts_of(const char *call)
{
    struct strbuf t = {0};
    strbuf_printf(&t, "%s",
                  HEAD MORPHEUS_BDI_PTX
                  ".visible .entry k(.param .u64 out)\n{\n.reg .b32 %r<12>; .reg .b64 %d0;\n"
                  "ld.param.u64 %d0, [out]; ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%d0];\n");
    strbuf_printf(&t, "%s\nst.global.v4.u32 [%%d0], {%%r0, %%r1, %%r2, %%r3};\nret;\n}\n", call);
    struct isa_module *m = lower_text(strbuf_text(&t));
    const uint32_t count = m->kernels[0]->inst_count;
    isa_module_free(m);
    strbuf_free(&t);
    return count;
}

static void the_functions_are_short(void **state)
{
    const uint32_t none = insts_of("");
    const uint32_t compress = insts_of("call (%r0, %r1, %r2), morpheus_bdi_compress, (%r3);") - none;
    const uint32_t pack = insts_of("call (%r0), morpheus_bdi_pack, (%r0, %r1, %r2, %r3);") - none;
    const uint32_t unpack = insts_of("call (%r0), morpheus_bdi_unpack, (%r0, %r1, %r2, %r3);") - none;
    print_message("compress %u, pack %u, unpack %u instructions\n", compress, pack, unpack);
    assert_int_equal(compress, 12);
    assert_int_equal(pack, 3);
    assert_int_equal(unpack, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(levels_end_where_a_delta_does_not_fit),
        cmocka_unit_test(zeros_and_repeated_words_are_deltas_of_zero),
        cmocka_unit_test(deltas_of_both_signs_share_a_line),
        cmocka_unit_test(random_lines_come_back),
        cmocka_unit_test(the_functions_are_short),
    };
    return cmocka_run_group_tests(tests, open_bench, close_bench);
}
