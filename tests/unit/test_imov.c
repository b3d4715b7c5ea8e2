/* test_imov.c: the indirect move from PTX to its result: what is refused, where arrays lie, random programs
 * against plain C, lowered in several ways. Its time is in tests/timing/test_imov_time.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "core/machine.h"
#include "core/sm/collector.h"
#include "emu/emu.h"
#include "lower/lower.h"

#define HEAD                                                                                                 \
    ".version 7.0\n.target sm_70\n.address_size 64\n"                                                        \
    ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n"                                                \
    ".reg .pred %p<4>; .reg .b32 %r<40>; .reg .b64 %d<8>; .reg .b32 %a<255>; .reg .b16 %h<4>;\n"             \
    "ld.param.u64 %d0, [out]; ld.param.u64 %d1, [in]; mov.u32 %r0, %tid.x;\n"

static const struct lower_options with_imov = {.opt_level = 1, .indirect_move = true};

/* NULL: not taken; `said` has why, also for a kernel that is only refused. */
static struct isa_module *compile(const char *body, const struct lower_options *options, struct strbuf *said)
{
    struct strbuf text = {0};
    struct diag_list diags = {0};
    strbuf_printf(&text, "%s%s\nret;\n}\n", HEAD, body);
    struct ptx_module *ptx = ptx_parse("t.ptx", strbuf_text(&text), text.len, &diags);
    struct isa_module *isa = ptx ? lower_module(ptx, options, &diags) : NULL;
    diag_render(&diags, said);
    if (isa && isa->kernels[0]->refused) strbuf_puts(said, isa->kernels[0]->refused->text);
    if (ptx) ptx_module_free(ptx);
    diag_free(&diags);
    strbuf_free(&text);
    return isa;
}

/* ---- what is refused ---- */

static void expect_words(const char *body, const struct lower_options *options, const char *words)
{
    struct strbuf said = {0};
    struct isa_module *m = compile(body, options, &said);
    if (!strstr(strbuf_text(&said), words))
        fail_msg("%s\nwanted: %s\nsaid: %s", body, words, strbuf_text(&said));
    isa_module_free(m);
    strbuf_free(&said);
}

static void wrong_programs_are_refused(void **unused)
{
    static const char *const rows[][2] = {
        {"imov.b32 %r1, %r2, %r3;", "an array of registers is wanted here"},
        {"imov.b32 %r1, %a<256>, %r3;", "an array has 1 to 255 registers"},
        {"imov.b32 %r1, %a<0>, %r3;", "an array has 1 to 255 registers"},
        {"imov.b32 %r1, %r<41>, %r3;", "register '%r40' is not defined"},
        {"imov.b32 %r1, %d<2>, %r3;", "does not go with"},
        {"imov.b32 %h1, %a<2>, %r3;", "does not go with"},
        {"imov.b32 %r1, %a<2>, 1;", "a register is wanted here"},
        {"imov.b32 %r1, %a<2>;", "takes 3 operands"},
        {"imov.b64 %d1, %d<2>, %r3;", "imov"},
        {"ld.global.v4.u32 %a<4>, [%d0];", "error"}, /* ranges belong to imov alone */
        {"imov.b32 %r1, %a<4>, %r2; imov.b32 %r1, %a<8>, %r2; st.global.u32 [%d0], %r1;",
         "register '%a0' is in another array already"},
        {"imov.b32 %r1, {%a0, %a1, %a0}, %r2; st.global.u32 [%d0], %r1;",
         "'%a0' is in another array already"},
        {"imov.b32 %r1, %a<250>, %r0; st.global.u32 [%d0], %r1;", "cannot be held in 253 registers"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) expect_words(rows[i][0], &with_imov, rows[i][1]);
    expect_words("imov.b32 %r1, %a<2>, %r0; st.global.u32 [%d0], %r1;",
                 &(struct lower_options){.opt_level = 1},
                 "the machine has no indirect move; set sm.indirect_move");
}

/* ---- where arrays lie ---- */

static const struct isa_inst *find_imov(const struct isa_kernel *k, uint32_t from)
{
    for (uint32_t pc = from; pc < k->inst_count; pc++)
        if (k->insts[pc].op == ISA_OP_IMOV_32) return &k->insts[pc];
    return NULL;
}

static void an_array_lies_in_a_row_above_all_other_registers(void **unused)
{
    struct strbuf said = {0};
    struct isa_module *m = compile(
        "imov.b32 %r1, %a<8>, %r0; mov.b32 %a3, 5; imov.b32 %r2, {%r8, %r9}, %r1; imov.b32 %r3, %a<8>, %r2;\n"
        "add.u32 %r3, %r3, %r1; st.global.u32 [%d0], %r3;",
        &with_imov, &said);
    assert_non_null(m);
    const struct isa_kernel *k = m->kernels[0];
    const struct isa_inst *first = find_imov(k, 0), *pair = find_imov(k, (uint32_t)(first - k->insts) + 1);
    const struct isa_inst *last = find_imov(k, (uint32_t)(pair - k->insts) + 1);
    assert_int_equal(first->imm, 8);
    assert_int_equal(pair->imm, 2);
    assert_int_equal(last->src[1], first->src[1]);
    assert_int_equal(pair->src[1], first->src[1] + 8);
    for (uint32_t pc = 0; pc < k->inst_count; pc++) { /* the one write to it is the third element's */
        const uint16_t dst = k->insts[pc].dst[0];
        if (isa_is_reg(dst) && dst >= first->src[1]) assert_int_equal(dst, first->src[1] + 3);
    }
    assert_int_equal(k->reg_count, first->src[1] + 10 + 2); /* two more of each thread: scratch.c */
    /* All of it lives before the last move, though a part is never written. */
    for (uint32_t r = first->src[1]; r < first->src[1] + 8u; r++)
        assert_true(k->live[last - k->insts].bits[r / 64] >> r % 64 & 1);
    isa_module_free(m);
    strbuf_free(&said);
}

/* ---- results ---- */

enum { STEPS = 40, ROUNDS = 3, ELEMENTS_MAX = 32, EXTRA = 24 };

struct world {
    struct rng rng;
    /* elements of the array */
    uint32_t n;
    struct strbuf text;
    uint32_t indices[STEPS];
    uint32_t a[ELEMENTS_MAX][ISA_LANES], acc[ISA_LANES], extra[EXTRA][ISA_LANES];
};

/* A step as PTX (once) and as C (in each round). kind 0: an element becomes another plus a multiple of the
 * lane's number; 1: acc = 31 acc + a[index]; 2: the same in odd lanes alone, the others have no index. */
static void step(struct world *w, uint32_t s, uint32_t kind, uint32_t k, uint32_t j, bool as_text)
{
    if (as_text) {
        if (kind == 0) {
            strbuf_printf(&w->text, "mad.lo.u32 %%a%u, %%r0, %u, %%a%u;\n", k, s + 1, j);
            return;
        }
        strbuf_printf(&w->text, "ld.global.u32 %%r3, [%%d1+%u];\n", 4 * s);
        if (kind == 2) strbuf_printf(&w->text, "selp.u32 %%r3, %%r3, 0x7fffff%02x, %%p1;\n", k);
        strbuf_printf(&w->text, "%simov.b32 %%r4, %%a<%u>, %%r3;\n%smad.lo.u32 %%r2, %%r2, 31, %%r4;\n",
                      kind == 2 ? "@%p1 " : "", w->n, kind == 2 ? "@%p1 " : "");
        return;
    }
    uint32_t row[ISA_LANES];
    for (uint32_t l = 0; l < ISA_LANES; l++) {
        if (kind == 0) row[l] = w->a[j][l] + l * (s + 1);
        if (kind == 1 || (kind == 2 && l % 2)) w->acc[l] = w->acc[l] * 31 + w->a[w->indices[s] & 0xff][l];
    }
    if (kind == 0) memcpy(w->a[k], row, sizeof row);
}

/* Values that live around the loop, so that a small limit makes spills. */
static void extra_values(struct world *w)
{
    for (uint32_t i = 0; i < EXTRA; i++) {
        strbuf_printf(&w->text, "mul.lo.u32 %%r%u, %%r0, %u;\n", 10 + i, 7 * i + 3);
        for (uint32_t l = 0; l < ISA_LANES; l++) w->extra[i][l] = l * (7 * i + 3);
    }
}

static void make(struct world *w, uint64_t seed)
{
    *w = (struct world){.rng = {seed}};
    w->n = 1 + (uint32_t)rng_below(&w->rng, ELEMENTS_MAX);
    strbuf_puts(&w->text, "mov.u32 %r1, 0; mov.u32 %r2, 1; and.b32 %r5, %r0, 1; setp.ne.u32 %p1, %r5, 0;\n");
    for (uint32_t l = 0; l < ISA_LANES; l++) w->acc[l] = 1;
    extra_values(w);
    strbuf_puts(&w->text, "loop:\n");
    uint32_t kinds[STEPS], ks[STEPS], js[STEPS];
    for (uint32_t s = 0; s < STEPS; s++) {
        kinds[s] = (uint32_t)rng_below(&w->rng, 3);
        ks[s] = (uint32_t)rng_below(&w->rng, w->n);
        js[s] = (uint32_t)rng_below(&w->rng, w->n);
        w->indices[s] = (uint32_t)rng_below(&w->rng, w->n) | rng_u32(&w->rng) << 8;
        step(w, s, kinds[s], ks[s], js[s], true);
    }
    strbuf_printf(&w->text, "add.u32 %%r1, %%r1, 1; setp.lt.u32 %%p2, %%r1, %u;\n@%%p2 bra loop;\n", ROUNDS);
    for (uint32_t i = 0; i < EXTRA; i++) strbuf_printf(&w->text, "xor.b32 %%r2, %%r2, %%r%u;\n", 10 + i);
    strbuf_puts(&w->text, "mul.wide.u32 %d2, %r0, 4; add.u64 %d0, %d0, %d2; st.global.u32 [%d0], %r2;\n");
    for (uint32_t r = 0; r < ROUNDS; r++)
        for (uint32_t s = 0; s < STEPS; s++) step(w, s, kinds[s], ks[s], js[s], false);
    for (uint32_t i = 0; i < EXTRA; i++)
        for (uint32_t l = 0; l < ISA_LANES; l++) w->acc[l] ^= w->extra[i][l];
}

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

/* A warp of the kernel. The bytes that it spills. */
static uint32_t run_warp(struct emu_device *d, const char *body, const struct lower_options *o,
                         const uint32_t *indices, uint32_t count, uint32_t out[ISA_LANES],
                         struct emu_fault *fault)
{
    struct strbuf said = {0};
    struct diag_list diags = {0};
    struct isa_module *isa = compile(body, o, &said);
    if (!isa) fail_msg("%s", strbuf_text(&said));
    struct emu_module *m = emu_module_load(d, isa, NULL, NULL, &diags);
    assert_non_null(m);
    uint64_t params[2];
    for (uint32_t i = 0; i < 2; i++)
        params[i] = space_alloc(emu_device_space(d), 4096, 256, SPACE_DEVICE, "buffer");
    memcpy((void *)(uintptr_t)params[1], indices, sizeof *indices * count);
    struct emu_launch l = {.module = m,
                           .kernel = emu_find_kernel(m, "k"),
                           .grid = {1, 1, 1},
                           .block = {ISA_LANES, 1, 1},
                           .params = params};
    struct emu_stats stats = {0};
    *fault = (struct emu_fault){0};
    emu_run(d, &l, &stats, fault);
    memcpy(out, (void *)(uintptr_t)params[0], sizeof *out * ISA_LANES);
    const uint32_t spilled = l.kernel->spill_bytes;
    for (uint32_t i = 0; i < 2; i++) space_free(emu_device_space(d), params[i]);
    emu_module_unload(d, m);
    strbuf_free(&said);
    diag_free(&diags);
    return spilled;
}

static void random_programs_compute_what_c_does(void **unused)
{
    static const struct lower_options ways[] = {{.opt_level = 1, .indirect_move = true},
                                                {.opt_level = 0, .indirect_move = true},
                                                {.one_to_one = true, .indirect_move = true},
                                                {.opt_level = 1, .indirect_move = true, .regs_max = 56}};
    struct emu_device *d = make_device();
    uint32_t spilled[ARRAY_LEN(ways)] = {0};
    for (uint64_t seed = 1; seed <= 25; seed++) {
        struct world w;
        make(&w, seed);
        for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
            uint32_t got[ISA_LANES];
            struct emu_fault fault;
            spilled[i] += run_warp(d, strbuf_text(&w.text), &ways[i], w.indices, STEPS, got, &fault);
            if (fault.kind != EMU_OK)
                fail_msg("seed %llu, way %zu: %s", (unsigned long long)seed, i, fault.message);
            assert_memory_equal(got, w.acc, sizeof got);
        }
        strbuf_free(&w.text);
    }
    assert_true(!spilled[0] && spilled[3]); /* the last way has too few registers */
    emu_device_destroy(d);
}

/* The same move of the same index is not the same value. */
static void a_write_between_two_moves_is_seen(void **unused)
{
    static const char body[] = "ld.global.u32 %r3, [%d1]; mov.u32 %a1, 5; imov.b32 %r4, %a<2>, %r3;\n"
                               "mov.u32 %a1, 7; imov.b32 %r5, %a<2>, %r3; mad.lo.u32 %r6, %r5, 10, %r4;\n"
                               "st.global.u32 [%d0], %r6;";
    struct emu_device *d = make_device();
    uint32_t got[ISA_LANES];
    struct emu_fault fault;
    run_warp(d, body, &with_imov, (const uint32_t[]){1}, 1, got, &fault);
    assert_int_equal(got[0], 75);
    emu_device_destroy(d);
}

/* Inlined twice, each copy has an array of its own. */
static void a_function_with_an_array_may_be_inlined(void **unused)
{
    static const char text[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".func (.reg .b32 %o) pick (.reg .b32 %i)\n{\n.reg .b32 %a<4>;\n"
        "mov.u32 %a0, 10; mov.u32 %a1, 11; add.u32 %a2, %i, 100; imov.b32 %o, %a<4>, %i;\nret;\n}\n"
        ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n.reg .b32 %r<9>; .reg .b64 %d<3>;\n"
        "ld.param.u64 %d0, [out]; ld.param.u64 %d1, [in]; ld.global.u32 %r1, [%d1]; ld.global.u32 %r2, "
        "[%d1+4];\n"
        "call (%r3), pick, (%r1); call (%r4), pick, (%r2); mad.lo.u32 %r5, %r3, 1000, %r4;\n"
        "st.global.u32 [%d0], %r5;\nret;\n}\n";
    for (uint32_t no_inline = 0; no_inline < 2; no_inline++) {
        struct emu_device *d = make_device();
        struct diag_list diags = {0};
        struct ptx_module *ptx = ptx_parse("t.ptx", text, strlen(text), &diags);
        assert_non_null(ptx);
        const struct lower_options o = {.opt_level = 1, .no_inline = no_inline, .indirect_move = true};
        struct emu_module *m = emu_module_load(d, lower_module(ptx, &o, &diags), NULL, NULL, &diags);
        assert_non_null(m);
        uint64_t params[2];
        for (uint32_t i = 0; i < 2; i++)
            params[i] = space_alloc(emu_device_space(d), 256, 256, SPACE_DEVICE, "buffer");
        memcpy((void *)(uintptr_t)params[1], (const uint32_t[]){1, 2}, 8);
        struct emu_launch l = {.module = m,
                               .kernel = emu_find_kernel(m, "k"),
                               .grid = {1, 1, 1},
                               .block = {1, 1, 1},
                               .params = params};
        struct emu_stats stats = {0};
        struct emu_fault fault = {0};
        assert_int_equal(emu_run(d, &l, &stats, &fault), EMU_OK);
        uint32_t got;
        memcpy(&got, (void *)(uintptr_t)params[0], sizeof got);
        assert_int_equal(got, 11102);
        emu_module_unload(d, m);
        ptx_module_free(ptx);
        diag_free(&diags);
        emu_device_destroy(d);
    }
}

/* Eight bits of the index count. What they name beyond the array is a fault, also where the thread has such a
 * register. */
static void an_index_beyond_the_array_is_a_fault(void **unused)
{
    static const char body[] =
        "ld.global.u32 %r3, [%d1]; mov.u32 %a4, 44; imov.b32 %r4, %a<5>, %r3;\n"
        "imov.b32 %r5, {%r8, %r9}, %r6; add.u32 %r4, %r4, %r5; st.global.u32 [%d0], %r4;";
    struct emu_device *d = make_device();
    uint32_t got[ISA_LANES];
    struct emu_fault fault;
    run_warp(d, body, &with_imov, (const uint32_t[]){0xabcd04}, 1, got, &fault);
    assert_int_equal(fault.kind, EMU_OK);
    assert_int_equal(got[0], 44);
    run_warp(d, body, &with_imov, (const uint32_t[]){5}, 1, got, &fault);
    assert_int_equal(fault.kind, EMU_BAD_CALL);
    assert_non_null(strstr(fault.message, "imov with index 5, but its array has 5 registers"));
    run_warp(d, body, &with_imov, (const uint32_t[]){-1u}, 1, got, &fault);
    assert_non_null(strstr(fault.message, "imov with index 255, but its array has 5 registers"));
    emu_device_destroy(d);
}

/* ---- the operand collector ---- */

/* registers of different banks */
enum { INDEX = 0, ELEMENT = 33 };

static const struct uop *move_of(void *uop, uint32_t flight, struct collector_reader *reader)
{
    *reader = (struct collector_reader){.warp = 0, .indirect = ELEMENT};
    return uop;
}

/* The cycle in which an instruction leaves the collectors; a writeback takes a bank in cycle `when`. */
static uint64_t leaves_at(struct uop u, uint32_t reads_a_cycle, uint32_t written, uint64_t when)
{
    struct machine m;
    struct diag_list d = {0};
    machine_load("fermi", NULL, 0, &m, &d);
    assert_int_equal(d.errors, 0);
    m.sm.collector_reads = reads_a_cycle;
    struct collector c;
    collector_init(&c, &m.sm);
    collector_put(&c, CLASS_SP, 1);
    uint64_t cycle = 0;
    while (!c.out[CLASS_SP].count) {
        const struct uop write = {.write_count = 1, .writes = {(uint8_t)written}};
        if (++cycle == when) collector_write(&c, 0, &write, cycle);
        assert_true(collector_cycle(&c, cycle, move_of, &u));
    }
    diag_free(&d);
    return cycle;
}

static void the_array_is_read_behind_the_index(void **unused)
{
    const struct uop imov = {.cls = CLASS_SP, .flags = UOP_INDIRECT, .read_count = 1, .reads = {INDEX}};
    const struct uop add = {.cls = CLASS_SP, .read_count = 2, .reads = {INDEX, ELEMENT}};
    assert_int_equal(leaves_at(add, 2, 0, 0), 3); /* in, both reads, out */
    assert_int_equal(leaves_at(imov, 2, 0, 0), 4);
    assert_int_equal(leaves_at(imov, 1, 0, 0), 4);
    assert_int_equal(leaves_at(imov, 2, ELEMENT, 2), 4); /* its bank is not wanted yet */
    assert_int_equal(leaves_at(imov, 2, ELEMENT, 3), 5);
    assert_int_equal(leaves_at(imov, 2, INDEX, 2), 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_programs_are_refused),
        cmocka_unit_test(an_array_lies_in_a_row_above_all_other_registers),
        cmocka_unit_test(random_programs_compute_what_c_does),
        cmocka_unit_test(a_write_between_two_moves_is_seen),
        cmocka_unit_test(a_function_with_an_array_may_be_inlined),
        cmocka_unit_test(an_index_beyond_the_array_is_a_fault),
        cmocka_unit_test(the_array_is_read_behind_the_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
