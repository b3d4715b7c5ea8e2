/* test_sm.c: what a program sees of an SM on the whole machine: clocks and sleep, branches and fetch. */
#include "timing_kit.h"

#define HEAD ".version 7.0\n.target sm_70\n.address_size 64\n"

/* ---- clocks and sleep ---- */

/* out[4 * CTA]: clock64, globaltimer, and both again after a sleep of ns + lane * step nanoseconds. */
static const char nap_ptx[] =
    HEAD ".visible .entry nap(.param .u64 out, .param .u32 ns, .param .u32 step)\n{\n"
         ".reg .u64 %o, %a, %c, %d, %g, %h; .reg .u32 %n, %s, %t, %i; .reg .pred %p;\n"
         "ld.param.u64 %o, [out]; ld.param.u32 %n, [ns]; ld.param.u32 %s, [step];\n"
         "mov.u32 %i, %ctaid.x; mul.wide.u32 %a, %i, 32; add.u64 %o, %o, %a; mov.u32 %t, %tid.x;\n"
         "mad.lo.u32 %n, %t, %s, %n;\n"
         "mov.u64 %c, %clock64; mov.u64 %g, %globaltimer;\nnanosleep.u32 %n;\n"
         "mov.u64 %d, %clock64; mov.u64 %h, %globaltimer;\n"
         "setp.ne.u32 %p, %t, 0;\n@%p bra end;\n"
         "st.global.u64 [%o], %c; st.global.u64 [%o+8], %g; st.global.u64 [%o+16], %d; st.global.u64 "
         "[%o+24], %h;\n"
         "end:\nret;\n}\n";

struct nap {
    uint64_t clock, ns, clock_after, ns_after;
};

static void nap_run(struct rig *r, uint64_t out, uint32_t ctas, uint32_t ns, uint32_t step)
{
    rig_run(r, "nap", ctas, 32, (const uint64_t[]){out, ns, step});
}

static struct nap nap_once(const char *set, uint32_t ns, uint32_t step, uint64_t *hash, bool no_skip)
{
    struct rig r;
    const char *sets[] = {set};
    rig_open(&r, nap_ptx,
             &(struct rig_options){.sets = sets, .set_count = set != NULL, .timed = {.no_skip = no_skip}});
    uint64_t out = rig_alloc(&r, 4096);
    nap_run(&r, out, 1, ns, step);
    struct nap n;
    memcpy(&n, (const void *)(uintptr_t)out, sizeof n);
    assert_int_equal(rig_stat(&r, 0, "sm.sleeps"), n.clock_after - n.clock > 100);
    if (hash) *hash = timed_hash(r.gpu);
    rig_close(&r);
    return n;
}

static void expect_cycles(struct nap n, uint64_t cycles)
{
    /* cycles around the sleep: the reads of the clocks and the issue of the sleep */
    enum { AROUND = 60 };
    assert_in_range(n.clock_after - n.clock, cycles, cycles + AROUND);
}

static void a_warp_sleeps_for_the_longest_time_that_its_lanes_ask_for(void **state)
{
    (void)state;
    struct nap n = nap_once(NULL, 1000, 0, NULL, false);
    expect_cycles(n, 1400); /* 1400 MHz */
    assert_in_range(n.ns_after - n.ns, 1000, 1050);
    expect_cycles(nap_once(NULL, 1000, 100, NULL, false), 1400 + 31 * 140);
    expect_cycles(nap_once(NULL, 4100, -100u, NULL, false), 1400 + 31 * 140); /* the first lane's */
    expect_cycles(nap_once(NULL, 0, 0, NULL, false), 0);
}

static void the_time_of_a_sleep_is_a_parameter_and_at_most_a_millisecond(void **state)
{
    (void)state;
    expect_cycles(nap_once("sm.nanosleep=0", 1000, 0, NULL, false), 0);
    expect_cycles(nap_once("sm.nanosleep=50", 1000, 0, NULL, false), 700);
    expect_cycles(nap_once("sm.nanosleep=200", 1000, 0, NULL, false), 2800);
    expect_cycles(nap_once(NULL, 4000000000u, 0, NULL, false), 1400000); /* longer than gpu.stuck_cycles */
}

/* out: the clock before and after a sleep of ns nanoseconds. */
static const char exact_ptx[] =
    HEAD ".visible .entry exact(.param .u64 out, .param .u32 ns)\n{\n"
         ".reg .u64 %o, %a, %b; .reg .u32 %n;\nld.param.u64 %o, [out]; ld.param.u32 %n, [ns];\n"
         "mov.u64 %a, %clock64; nanosleep.u32 %n; mov.u64 %b, %clock64;\n"
         "st.global.u64 [%o], %a; st.global.u64 [%o+8], %b;\nret;\n}\n";

static void a_sleep_of_n_cycles_delays_the_next_instruction_by_n(void **state)
{
    (void)state;
    const char *sets[] = {"sm.perfect_icache=true"};
    struct rig r;
    rig_open(&r, exact_ptx, &(struct rig_options){.sets = sets, .set_count = 1});
    const uint64_t out = rig_alloc(&r, 4096), *clocks = (const uint64_t *)(uintptr_t)out;
    for (uint32_t ns = 50; ns <= 1000; ns += 475) {
        rig_run(&r, "exact", 1, 32, (const uint64_t[]){out, ns});
        /* the sleep issues in the cycle after the read of the clock; 1400 MHz */
        assert_int_equal(clocks[1] - clocks[0], 1 + ns * 1400 / 1000);
    }
    rig_close(&r);
}

static void a_machine_that_sleeps_is_not_stuck_and_skips_to_the_same_end(void **state)
{
    (void)state;
    uint64_t skipped, ticked;
    nap_once("gpu.stuck_cycles=1000", 100000, 7, &skipped, false);
    nap_once("gpu.stuck_cycles=1000", 100000, 7, &ticked, true);
    assert_int_equal(skipped, ticked);
}

static void clocks_go_on_where_no_warp_is(void **state)
{
    (void)state;
    struct rig r;
    rig_open(&r, nap_ptx, &(struct rig_options){0});
    uint64_t out = rig_alloc(&r, 4096);
    const struct nap *naps = (const struct nap *)(uintptr_t)out;
    nap_run(&r, out, 1, 50000, 0); /* on one SM; the others have none */
    struct nap first = naps[0];
    nap_run(&r, out, r.machine.sm_count, 0, 0); /* on all */
    for (uint32_t i = 0; i < r.machine.sm_count; i++) {
        assert_true(naps[i].clock > first.clock_after);
        assert_true(naps[i].ns > first.ns_after);
        assert_in_range(naps[i].clock - naps[0].clock + 500, 0, 1000); /* one clock for all; code misses */
    }
    rig_close(&r);
}

/* ---- branches and fetch ---- */

/* A loop of short blocks, most of them left by a taken branch; lanes of odd warps take other ways. */
static const char branchy_ptx[] = HEAD
    ".visible .entry branchy(.param .u64 out)\n{\n"
    ".reg .u64 %o, %a; .reg .u32 %t, %i, %v, %w; .reg .pred %p, %q;\n"
    "ld.param.u64 %o, [out]; mov.u32 %t, %tid.x; mov.u32 %i, 0; mov.u32 %v, %t;\n"
    "loop:\nand.b32 %w, %v, 3;\nsetp.eq.u32 %p, %w, 0;\n@%p bra zero;\nsetp.eq.u32 %p, %w, 1;\n@%p bra one;\n"
    "mad.lo.u32 %v, %v, 5, 1;\nbra.uni next;\n"
    "zero:\nadd.u32 %v, %v, 3;\nbra.uni next;\none:\nmul.lo.u32 %v, %v, 7;\n"
    "next:\nadd.u32 %i, %i, 1;\nsetp.lt.u32 %q, %i, 200;\n@%q bra loop;\n"
    "mul.wide.u32 %a, %t, 4;\nadd.u64 %o, %o, %a;\nst.global.u32 [%o], %v;\nret;\n}\n";

struct branchy {
    uint64_t cycles, insts, fetches, slots_fetch, hash, memory;
};

static struct branchy branchy_run(bool past_branch, uint32_t warps, bool no_skip)
{
    struct rig r;
    const char *sets[] = {past_branch ? "sm.fetch_past_branch=true" : "sm.fetch_past_branch=false"};
    rig_open(&r, branchy_ptx,
             &(struct rig_options){.sets = sets, .set_count = 1, .timed = {.no_skip = no_skip}});
    uint64_t out = rig_alloc(&r, 8192);
    rig_run(&r, "branchy", 1, 32 * warps, &out);
    struct branchy b = {.cycles = rig_cycles(&r, 0),
                        .insts = (uint64_t)rig_stat(&r, 0, "sm.warp_insts"),
                        .fetches = (uint64_t)rig_stat(&r, 0, "sm.fetches"),
                        .slots_fetch = (uint64_t)rig_stat(&r, 0, "sm.slots_fetch"),
                        .hash = timed_hash(r.gpu)};
    const uint32_t *words = (const uint32_t *)(uintptr_t)out;
    for (uint32_t i = 0; i < 32 * warps; i++) b.memory = b.memory * 31 + words[i];
    rig_close(&r);
    return b;
}

static void fetching_past_branches_wastes_fetches_and_changes_no_result(void **state)
{
    (void)state;
    for (uint32_t warps = 1; warps <= 16; warps *= 4) {
        struct branchy ahead = branchy_run(true, warps, false), right = branchy_run(false, warps, false);
        assert_int_equal(ahead.insts, right.insts);
        assert_int_equal(ahead.memory, right.memory);
        assert_true(ahead.fetches > right.fetches);
        assert_true(ahead.cycles > right.cycles);
        assert_true(ahead.slots_fetch > right.slots_fetch);
        assert_int_equal(branchy_run(true, warps, true).hash, ahead.hash);
        assert_int_equal(branchy_run(false, warps, true).hash, right.hash);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_warp_sleeps_for_the_longest_time_that_its_lanes_ask_for),
        RIG_TEST(the_time_of_a_sleep_is_a_parameter_and_at_most_a_millisecond),
        RIG_TEST(a_sleep_of_n_cycles_delays_the_next_instruction_by_n),
        RIG_TEST(a_machine_that_sleeps_is_not_stuck_and_skips_to_the_same_end),
        RIG_TEST(clocks_go_on_where_no_warp_is),
        RIG_TEST(fetching_past_branches_wastes_fetches_and_changes_no_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
