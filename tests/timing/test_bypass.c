/* test_bypass.c: loads that do not look into the L1 (.cg), and L2 hits on machines with ideal DRAM: exact
 * counts and cycles. */
#include "timing_kit.h"

/* twice: two loads of one line by each warp, one after the other. chase: one lap of dependent loads. */
static const char ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .entry twice(.param .u64 from)\n{\n"
    ".reg .u64 %p, %q; .reg .u32 %v, %w; .reg .pred %c;\nld.param.u64 %p, [from];\n"
    "ld.global.cg.u32 %v, [%p];\nand.b32 %v, %v, 124;\ncvt.u64.u32 %q, %v;\nadd.u64 %p, %p, %q;\n"
    "ld.global.cg.u32 %w, [%p];\nsetp.eq.u32 %c, %w, 77;\n@%c st.global.u32 [%p], %w;\nret;\n}\n"
    ".visible .entry twice_cached(.param .u64 from)\n{\n"
    ".reg .u64 %p, %q; .reg .u32 %v, %w; .reg .pred %c;\nld.param.u64 %p, [from];\n"
    "ld.global.ca.u32 %v, [%p];\nand.b32 %v, %v, 124;\ncvt.u64.u32 %q, %v;\nadd.u64 %p, %p, %q;\n"
    "ld.global.ca.u32 %w, [%p];\nsetp.eq.u32 %c, %w, 77;\n@%c st.global.u32 [%p], %w;\nret;\n}\n"
    ".visible .entry chase(.param .u64 start, .param .u32 steps)\n{\n"
    ".reg .u64 %p; .reg .u32 %n; .reg .pred %q;\nld.param.u64 %p, [start]; ld.param.u32 %n, [steps];\n"
    "loop:\nld.global.cg.u64 %p, [%p];\nsub.u32 %n, %n, 1;\nsetp.ne.u32 %q, %n, 0;\n@%q bra loop;\n"
    "setp.eq.u64 %q, %p, 0;\n@%q st.global.u32 [%p], %n;\nret;\n}\n";

/* At file scope: the teardown may need it. */
static struct rig r;

static void a_load_cg_never_hits_in_the_l1(void **state)
{
    static const char *const machines[] = {"fermi", "maxwell", "rtx3080"};
    for (size_t m = 0; m < ARRAY_LEN(machines); m++) {
        const char *sets[] = {"l1.cache_global=true"};
        rig_open(&r, ptx, &(struct rig_options){.machine = machines[m], .sets = sets, .set_count = 1});
        uint64_t from[] = {rig_alloc(&r, 256)};
        rig_run(&r, "twice", 1, 64, from);
        assert_true(rig_stat(&r, 0, "l1.bypassed") == 4);
        assert_true(rig_stat(&r, 0, "l1.load_accesses") == 0);
        assert_true(rig_stat(&r, 0, "l1.requests_read") == 4);
        assert_true(rig_stat(&r, 0, "l2.global_accesses") == 4);
        rig_run(&r, "twice_cached", 1, 64, from);
        assert_true(rig_stat(&r, 1, "l1.bypassed") == 0);
        assert_true(rig_stat(&r, 1, "l1.load_accesses") == 4);
        assert_true(rig_stat(&r, 1, "l1.requests_read") == 1);
        rig_close(&r);
    }
}

/* ---- hits in the L2 ---- */

enum { LINES = 64, LINE = 128 };

struct hits {
    uint64_t cycles;
    double latency, timed;
};

/* The second lap finds every line in the L2. */
static struct hits chase_hits(const char *machine, const char *ideal)
{
    const char *sets[] = {ideal, "sm.perfect_icache=true"};
    rig_open(&r, ptx, &(struct rig_options){.machine = machine, .sets = sets, .set_count = 2});
    const uint64_t a = rig_alloc(&r, LINES * LINE);
    for (uint64_t i = 0; i < LINES; i++) *(uint64_t *)(uintptr_t)(a + i * LINE) = a + (i + 1) % LINES * LINE;
    uint64_t params[] = {a, LINES};
    rig_run(&r, "chase", 1, 1, params);
    rig_run(&r, "chase", 1, 1, params);
    const struct hits h = {.cycles = rig_cycles(&r, 1),
                           .latency = rig_stat(&r, 1, "l2.hit_latency_sum"),
                           .timed = rig_stat(&r, 1, "l2.hits_timed")};
    assert_true(rig_stat(&r, 1, "l2.global_hits") == LINES);
    rig_close(&r);
    return h;
}

/* Ideal DRAM changes nothing of a hit, to the cycle; each hit takes the tags and its time on the port. */
static void a_hit_in_the_l2_takes_the_same_with_ideal_dram(void **state)
{
    static const char *const machines[] = {"fermi", "maxwell", "rtx3080"};
    for (size_t m = 0; m < ARRAY_LEN(machines); m++) {
        const struct hits real = chase_hits(machines[m], "ideal.memory=none");
        const struct hits ideal = chase_hits(machines[m], "ideal.memory=dram");
        const struct hits infinite = chase_hits(machines[m], "ideal.memory=infinite");
        assert_int_equal(ideal.cycles, real.cycles);
        assert_true(ideal.latency == real.latency && ideal.timed == real.timed);
        assert_true(infinite.timed == real.timed);
        if (infinite.latency / infinite.timed != real.latency / real.timed)
            fail_msg("%s: a hit takes %f cycles, in P_inf %f", machines[m], real.latency / real.timed,
                     infinite.latency / infinite.timed);
    }
}

int main(void)
{
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 1);
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_load_cg_never_hits_in_the_l1),
        RIG_TEST(a_hit_in_the_l2_takes_the_same_with_ideal_dram),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
