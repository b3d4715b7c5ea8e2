/* test_threads.c: the machine on several threads: the same cycles, statistics and memory for every number of
 * them. The kernels race: what they read, and so which way they go and how long they take, depends on the
 * order of loads, stores and atomics of different SMs. */
#include "timing_kit.h"
#include "tuples.h"

#include "base/hash.h"

/* Of the words 256 race and 64 are summed. */
enum { CTAS = 24, BLOCK = 96, WORDS = 320 };

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".extern .func (.param .b64 r) malloc (.param .b64 n);\n.extern .func free (.param .b64 p);\n"
    /* rounds of: read a word, store to a word that depends on it, read that again, add to a sum and look at
     * it */
    ".visible .entry race(.param .u64 buf, .param .u64 out, .param .u32 rounds)\n{\n"
    ".reg .u64 %b, %o, %x, %y; .reg .u32 %i, %t, %n, %r, %a, %c, %s, %d; .reg .pred %p;\n"
    "ld.param.u64 %b, [buf]; ld.param.u64 %o, [out]; ld.param.u32 %n, [rounds];\n"
    "mov.u32 %i, %ctaid.x; mov.u32 %t, %ntid.x; mul.lo.u32 %i, %i, %t; mov.u32 %t, %tid.x; add.u32 %i, %i, "
    "%t;\n"
    "mov.u32 %r, 0; mov.u32 %s, 0;\nloop:\n"
    "mad.lo.u32 %a, %i, 7, %r; and.b32 %a, %a, 255; mul.wide.u32 %x, %a, 4; add.u64 %x, %b, %x;\n"
    "ld.volatile.global.u32 %a, [%x];\n"
    "mad.lo.u32 %a, %a, 1664525, %i; add.u32 %a, %a, 1013904223;\n"
    "shr.u32 %c, %a, 8; and.b32 %c, %c, 255; mul.wide.u32 %x, %c, 4; add.u64 %x, %b, %x;\n"
    "st.volatile.global.u32 [%x], %a; ld.volatile.global.u32 %c, [%x];\n"
    "and.b32 %d, %c, 63; mul.wide.u32 %y, %d, 4; add.u64 %y, %b, %y;\n"
    "atom.global.add.u32 %d, [%y+1024], %c; add.u32 %s, %s, %d;\n"
    "red.global.add.u32 [%y+1024], 3; ld.volatile.global.u32 %d, [%y+1024]; add.u32 %s, %s, %d;\n"
    "and.b32 %d, %c, 64; setp.eq.u32 %p, %d, 0;\n@%p bra next;\n"
    "membar.gl; mul.lo.u32 %s, %s, 33; div.u32 %s, %s, 3;\nnext:\n"
    "bar.sync 0;\nadd.u32 %r, %r, 1; setp.lt.u32 %p, %r, %n;\n@%p bra loop;\n"
    "mul.wide.u32 %x, %i, 4; add.u64 %o, %o, %x; st.global.u32 [%o], %s;\nret;\n}\n"
    /* each thread takes memory, writes and reads it, gives it back; out: the low word of its address */
    ".visible .entry heap(.param .u64 out)\n{\n"
    ".reg .u64 %o, %x, %m; .reg .u32 %i, %t, %v;\n"
    "ld.param.u64 %o, [out];\n"
    "mov.u32 %i, %ctaid.x; mov.u32 %t, %ntid.x; mul.lo.u32 %i, %i, %t; mov.u32 %t, %tid.x; add.u32 %i, %i, "
    "%t;\n"
    "{ .param .b64 n; .param .b64 r; st.param.b64 [n], 16; call (r), malloc, (n); ld.param.b64 %m, [r]; }\n"
    "st.u32 [%m], %i; ld.u32 %v, [%m];\n"
    "cvt.u32.u64 %t, %m; add.u32 %v, %v, %t; mul.wide.u32 %x, %i, 4; add.u64 %o, %o, %x; st.global.u32 [%o], "
    "%v;\n"
    "{ .param .b64 p; st.param.b64 [p], %m; call free, (p); }\nret;\n}\n"
    ".visible .entry wild(.param .u64 at)\n{\n.reg .u64 %a; .reg .u32 %i;\n"
    "ld.param.u64 %a, [at]; mov.u32 %i, %ctaid.x; st.global.u32 [%a], %i;\nret;\n}\n";

struct outcome {
    uint64_t hash, memory, cycles;
};

static struct outcome run(const struct rig_options *base, uint32_t threads)
{
    static struct rig r;
    struct rig_options o = *base;
    o.timed.threads = threads;
    o.timed.threads_always = true;
    rig_open(&r, ptx, &o);
    uint64_t buf = rig_alloc(&r, WORDS * 4), out = rig_alloc(&r, CTAS * BLOCK * 4);
    uint64_t out2 = rig_alloc(&r, CTAS * BLOCK * 4);
    for (uint32_t i = 0; i < 256; i++) ((uint32_t *)(uintptr_t)buf)[i] = i * 2654435761u;
    rig_launch(&r, "race", CTAS, BLOCK, (const uint64_t[]){buf, out, 3}, 0);
    rig_launch(&r, "heap", CTAS, BLOCK, (const uint64_t[]){out2}, 3);
    rig_launch(&r, "race", CTAS, BLOCK, (const uint64_t[]){buf, out, 2}, 4); /* together with it */
    rig_sync(&r);
    struct outcome got = {.hash = timed_hash(r.gpu), .cycles = timed_cycles(r.gpu)};
    got.memory = hash_bytes(HASH_SEED, (const void *)(uintptr_t)buf, WORDS * 4);
    got.memory = hash_bytes(got.memory, (const void *)(uintptr_t)out, CTAS * BLOCK * 4);
    got.memory = hash_bytes(got.memory, (const void *)(uintptr_t)out2, CTAS * BLOCK * 4);
    rig_close(&r);
    return got;
}

static void expect_same(const struct rig_options *o)
{
    static const uint32_t counts[] = {3, 2, 8};
    struct outcome one = run(o, 1);
    for (size_t i = 0; i < (IS_SANITIZED ? 1 : ARRAY_LEN(counts)); i++) {
        struct outcome many = run(o, counts[i]);
        assert_int_equal(many.cycles, one.cycles);
        assert_int_equal(many.hash, one.hash);
        assert_int_equal(many.memory, one.memory);
    }
}

static void every_number_of_threads_gives_the_same_result(void **state)
{
    expect_same(&(struct rig_options){.machine = "fermi"});
    expect_same(&(struct rig_options){.machine = "maxwell"});
    assert_int_equal(run(&(struct rig_options){0}, 64).hash, run(&(struct rig_options){0}, 1).hash);
}

static void so_it_does_on_a_squeezed_machine(void **state)
{
    expect_same(&(struct rig_options){.machine = HEDDLE_SOURCE_DIR "/tests/timing/squeeze.yaml"});
}

static void so_it_does_with_warp_tuples(void **state)
{
    for (size_t i = 0; i < ARRAY_LEN(tuples); i++) {
        const struct rig_options o = tuple_options(i);
        expect_same(&o);
    }
}

static void so_it_does_with_mechanisms_and_samples(void **state)
{
    /* The first two act on the load-store unit; pcal, below, shares a state. */
    static const char *const mechs[] = {"apres",     "mascar", "swl", "str", "sld",
                                        "two-level", "ccws",   "pa",  "laws"};
    for (size_t i = 0; i < (IS_SANITIZED ? 2 : ARRAY_LEN(mechs)); i++)
        expect_same(&(struct rig_options){
            .timed = {.mechs = &mechs[i], .mech_count = 1, .sample_cycles = 500, .timeline = true}});
}

static void so_it_does_with_two_issues_a_cycle_and_without_skipping(void **state)
{
    static const char *const sets[] = {"sm.issue_width=2", "sm.count=8"};
    struct rig_options o = {.sets = sets, .set_count = 2};
    struct outcome skip = run(&o, 3);
    expect_same(&o);
    o.timed.no_skip = true;
    struct outcome all = run(&o, 3);
    assert_int_equal(all.hash, skip.hash);
    assert_int_equal(all.memory, skip.memory);
}

static void the_fault_is_that_of_the_first_sm(void **state)
{
    for (uint32_t threads = 1; threads <= 8; threads += 7) {
        static struct rig r;
        rig_open(&r, ptx, &(struct rig_options){.timed = {.threads = threads}});
        rig_launch(&r, "wild", CTAS, 32, (const uint64_t[]){64}, 0);
        assert_int_equal(timed_sync(r.gpu, UINT64_MAX, &r.fault), EMU_OUT_OF_BOUNDS);
        assert_int_equal(r.fault.cta[0], 0);
        assert_non_null(strstr(r.fault.message, "store to global memory at 0x40"));
        rig_close(&r);
    }
}

int main(void)
{
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {
        RIG_TEST(every_number_of_threads_gives_the_same_result),
        RIG_TEST(so_it_does_on_a_squeezed_machine),
        RIG_TEST(so_it_does_with_mechanisms_and_samples),
        RIG_TEST(so_it_does_with_warp_tuples),
        RIG_TEST(so_it_does_with_two_issues_a_cycle_and_without_skipping),
        RIG_TEST(the_fault_is_that_of_the_first_sm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
