/* test_fetch.c: instruction fetches that stall. While no warp finds room in the instruction cache, an SM may
 * sleep without changing the result: cycles and memory are those of a run in which a mechanism's timer wakes
 * the SM in every cycle. */
#include "script_kit.h"

#include "base/hash.h"

/* Words: the ticket counter, and a word for each thread. */
enum { CTAS = 24, BLOCK = 160, WORDS = 1 + CTAS * BLOCK };

/* Several lines of code, which warps enter at different times and leave by different ways. Each warp takes a
 * ticket in each round, so memory shows the order of the warps. */
#define STEP                                                                                                 \
    "mad.lo.u32 %s, %s, 1664525, 1013904223; shr.u32 %a, %s, 7; xor.b32 %s, %s, %a; add.u32 %s, %s, %i;\n"
static const char ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .entry walk(.param .u64 out)\n{\n"
    ".reg .u64 %o, %x; .reg .u32 %i, %t, %n, %s, %a, %k; .reg .pred %p;\n"
    "ld.param.u64 %o, [out]; mov.u32 %i, %ctaid.x; mov.u32 %n, %ntid.x; mov.u32 %t, %tid.x;\n"
    "mad.lo.u32 %i, %i, %n, %t; add.u32 %i, %i, 1; mov.u32 %s, %i; mov.u32 %k, 0; shr.u32 %t, %t, "
    "5;\nloop:\n" STEP STEP STEP "setp.eq.u32 %p, %t, %k;\n@%p bra other;\n" STEP STEP STEP STEP
    "bra next;\nother:\n" STEP STEP "mul.wide.u32 %x, %i, 4; add.u64 %x, %o, %x; st.global.u32 [%x], %s;\n"
    "next:\n" STEP STEP "atom.global.add.u32 %a, [%o], 1; add.u32 %s, %s, %a;\n"
    "add.u32 %k, %k, 1; setp.lt.u32 %p, %k, 3;\n@%p bra loop;\n"
    "mul.wide.u32 %x, %i, 4; add.u64 %x, %o, %x; st.global.u32 [%x], %s;\nret;\n}\n";

static void nothing(void *state, uint64_t cycle) {}

struct outcome {
    uint64_t cycles, memory;
};

static struct outcome run(const struct rig_options *base, bool is_woken)
{
    struct rig_options o = *base;
    blank_fill((struct mechanism){.timer_cycles = is_woken, .on_timer = is_woken ? nothing : NULL});
    o.timed.mechs = &blank_file;
    o.timed.mech_count = 1;
    rig_open(&rig, ptx, &o);
    const uint64_t out = rig_alloc(&rig, 4 * WORDS);
    rig_run(&rig, "walk", CTAS, BLOCK, (const uint64_t[]){out});
    const struct outcome got = {timed_cycles(rig.gpu),
                                hash_bytes(HASH_SEED, (const void *)(uintptr_t)out, 4 * WORDS)};
    rig_close(&rig);
    return got;
}

static void stalls_that_are_slept_through_change_nothing(void **state)
{
    static const char *const sets[][4] = {
        {"sm.count=2", "sm.icache_merges=1", "sm.icache_mshrs=1", "sm.icache_size=512"},
        {"sm.count=2", "sm.icache_merges=1", "sm.icache_mshrs=2", "clock.xbar=20000"},
        {"sm.count=2", "sm.icache_merges=3", "sm.icache_mshrs=1", "sm.fetch_past_branch=true"},
    };
    static const char *const machines[] = {"fermi", "maxwell"};
    for (size_t i = 0; i < ARRAY_LEN(machines) * ARRAY_LEN(sets); i++) {
        const struct rig_options o = {
            .machine = machines[i % 2], .sets = sets[i / 2], .set_count = ARRAY_LEN(sets[0])};
        const struct outcome asleep = run(&o, false), awake = run(&o, true);
        assert_int_equal(asleep.cycles, awake.cycles);
        assert_int_equal(asleep.memory, awake.memory);
    }
}

int main(int argc, char **argv)
{
    assert_int_equal(argc, 2);
    blank_open(argv[1]);
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 0);
    const struct CMUnitTest tests[] = {RIG_TEST(stalls_that_are_slept_through_change_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
