/* test_ahead.c: SMs that run on before the others (core/ahead.c) change nothing: cycles, statistics and
 * memory are those of a run in which every component ticks at every edge, where no SM ever runs ahead. The
 * kernel has long stretches that only its own SM sees, between loads of words that other SMs write meanwhile,
 * both clocks, atomics, barriers, shared, local and constant memory, and CTAs that end at different times. */
#include "timing_kit.h"
#include "tuples.h"

#include "base/hash.h"

/* More CTAs than the SMs of most machines. */
enum { CTAS = IS_SANITIZED ? 20 : 40, BLOCK = 96, WORDS = 256 };

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".const .align 4 .b32 table[4] = {3, 5, 7, 11};\n"
    ".visible .entry mixed(.param .u64 buf, .param .u64 out, .param .u32 rounds)\n{\n"
    ".shared .align 4 .b8 box[512]; .local .align 4 .b8 own[64];\n"
    ".reg .u64 %b, %o, %x, %g; .reg .u32 %i, %t, %n, %r, %a, %c, %s, %k, %w; .reg .pred %p;\n"
    "ld.param.u64 %b, [buf]; ld.param.u64 %o, [out]; ld.param.u32 %n, [rounds];\n"
    "mov.u32 %w, %ctaid.x; mov.u32 %t, %ntid.x; mov.u32 %i, %tid.x; mad.lo.u32 %i, %w, %t, %i;\n"
    "and.b32 %w, %w, 3; add.u32 %n, %n, %w; mov.u32 %r, 0; mov.u32 %s, 1; mov.u32 %t, %tid.x; shl.b32 %t, "
    "%t, 2;\n"
    "mov.u32 %c, box; add.u32 %t, %t, %c;\nloop:\n"
    /* words that race */
    "mad.lo.u32 %a, %i, 13, %s; and.b32 %a, %a, 255; mul.wide.u32 %x, %a, 4; add.u64 %x, %b, %x;\n"
    "ld.volatile.global.u32 %a, [%x]; add.u32 %s, %s, %a;\n"
    "st.volatile.global.u32 [%x], %s; atom.global.add.u32 %a, [%x], 1; xor.b32 %s, %s, %a;\n"
    /* nobody else sees this */
    "mov.u32 %k, 0;\nalone:\n"
    "mad.lo.u32 %s, %s, 1664525, 1013904223; st.shared.u32 [%t], %s; ld.shared.u32 %a, [%t]; add.u32 %s, %s, "
    "%a;\n"
    "st.local.u32 [own], %s; and.b32 %c, %k, 3; shl.b32 %c, %c, 2; cvt.u64.u32 %x, %c; mov.u64 %g, table; "
    "add.u64 %x, %x, %g;\n"
    "ld.const.u32 %a, [%x]; mul.lo.u32 %s, %s, %a; ld.local.u32 %a, [own]; xor.b32 %s, %s, %a; div.u32 %a, "
    "%s, 77;\n"
    "add.u32 %s, %s, %a; add.u32 %k, %k, 1; setp.lt.u32 %p, %k, 5;\n@%p bra alone;\n"
    "mov.u32 %a, %clock; add.u32 %s, %s, %a; mov.u64 %g, %globaltimer; cvt.u32.u64 %a, %g; xor.b32 %s, %s, "
    "%a;\n"
    "bar.sync 0;\nadd.u32 %r, %r, 1; setp.lt.u32 %p, %r, %n;\n@%p bra loop;\n"
    "mul.wide.u32 %x, %i, 4; add.u64 %o, %o, %x; st.global.u32 [%o], %s;\nret;\n}\n";

struct outcome {
    uint64_t hash, memory, cycles;
};

static struct outcome run(const struct rig_options *base, uint32_t threads, bool no_skip)
{
    static struct rig r;
    struct rig_options o = *base;
    o.timed.threads = threads;
    o.timed.threads_always = threads > 1;
    o.timed.no_skip = no_skip;
    rig_open(&r, ptx, &o);
    uint64_t buf = rig_alloc(&r, WORDS * 4), out = rig_alloc(&r, CTAS * BLOCK * 4);
    for (uint32_t i = 0; i < WORDS; i++) ((uint32_t *)(uintptr_t)buf)[i] = i * 2654435761u;
    for (uint32_t i = 1; i < 3; i++) /* one after the other: alone on the machine */
        rig_launch(&r, "mixed", CTAS, BLOCK, (const uint64_t[]){buf, out, i}, 0);
    rig_sync(&r);
    struct outcome got = {.hash = timed_hash(r.gpu), .cycles = timed_cycles(r.gpu)};
    got.memory = hash_bytes(HASH_SEED, (const void *)(uintptr_t)buf, WORDS * 4);
    got.memory = hash_bytes(got.memory, (const void *)(uintptr_t)out, CTAS * BLOCK * 4);
    rig_close(&r);
    return got;
}

static void expect_same(const struct rig_options *o)
{
    const struct outcome all = run(o, 1, true), skip = run(o, 1, false), threads = run(o, 3, false);
    assert_int_equal(skip.cycles, all.cycles);
    assert_int_equal(skip.memory, all.memory);
    assert_int_equal(skip.hash, all.hash);
    assert_int_equal(threads.memory, all.memory);
    assert_int_equal(threads.hash, all.hash);
}

static void what_others_write_is_seen_in_its_cycle(void **state)
{
    static const char *const machines[] = {"fermi", "maxwell", "kepler", "rtx3080", "gtx480-peer"};
    for (size_t i = 0; i < (IS_SANITIZED ? 2 : ARRAY_LEN(machines)); i++)
        expect_same(&(struct rig_options){.machine = machines[i]});
    expect_same(&(struct rig_options){.machine = HEDDLE_SOURCE_DIR "/tests/timing/squeeze.yaml"});
}

static void so_it_is_with_ideal_parts(void **state)
{
    static const char *const sets[] = {"xbar.infinite=true", "l2.infinite=true",
                                       "l1.perfect=true",    "l1.fixed_miss_latency=60",
                                       "sm.issue_width=2",   "sm.operand_collector=false"};
    for (size_t i = 0; i < ARRAY_LEN(sets); i++)
        expect_same(&(struct rig_options){.sets = &sets[i], .set_count = 1});
}

static void so_it_is_with_warp_tuples(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(tuples); i++) {
        struct rig_options o = tuple_options(i);
        expect_same(&o);
        o.machine = HEDDLE_SOURCE_DIR "/tests/timing/squeeze.yaml";
        expect_same(&o);
    }
}

static void so_it_is_with_mechanisms(void **state)
{
    static const char *const mechs[] = {"apres", "mascar",    "ccws", "swl", "str",
                                        "sld",   "two-level", "pa",   "laws"};
    for (size_t i = 0; i < (IS_SANITIZED ? 3 : ARRAY_LEN(mechs)); i++)
        expect_same(&(struct rig_options){.timed = {.mechs = &mechs[i], .mech_count = 1, .timeline = true}});
}

static void samples_show_the_run_as_it_is_without_them(void **state)
{
    const struct rig_options sampled = {.timed.sample_cycles = 333};
    expect_same(&sampled);
    assert_int_equal(run(&sampled, 1, false).memory, run(&(struct rig_options){0}, 1, false).memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_others_write_is_seen_in_its_cycle), cmocka_unit_test(so_it_is_with_ideal_parts),
        cmocka_unit_test(so_it_is_with_mechanisms), cmocka_unit_test(so_it_is_with_warp_tuples),
        cmocka_unit_test(samples_show_the_run_as_it_is_without_them)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
