/* test_slow.c: machines with slow parts are slow, not stuck: clocks far apart, and latencies that are longer
 * than gpu.stuck_cycles. A machine that stays silent is still found. */
#include "core/timed_impl.h"
#include "timing_kit.h"

static const char ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".visible .entry copy(.param .u64 from, .param .u64 to)\n{\n"
    ".reg .u64 %p, %o, %a; .reg .u32 %t, %v;\n"
    "ld.param.u64 %p, [from]; ld.param.u64 %o, [to]; mov.u32 %t, %tid.x; mul.wide.u32 %a, %t, 128;\n"
    "add.u64 %p, %p, %a; add.u64 %o, %o, %a; ld.global.u32 %v, [%p]; st.global.u32 [%o], %v;\nret;\n}\n";

/* At file scope: the teardown may need it. */
static struct rig r;

/* Each lane loads a line of its own: a warp waits for 32 answers. */
static void expect_end(const char *const *sets, uint32_t count)
{
    enum { LANES = 32, LINE_WORDS = 32 };
    rig_open(&r, ptx, &(struct rig_options){.sets = sets, .set_count = count});
    uint64_t params[] = {rig_alloc(&r, 4 * LANES * LINE_WORDS), rig_alloc(&r, 4 * LANES * LINE_WORDS)};
    uint32_t *from = (uint32_t *)(uintptr_t)params[0], *to = (uint32_t *)(uintptr_t)params[1];
    for (uint32_t i = 0; i < LANES; i++) from[i * LINE_WORDS] = i + 1;
    rig_run(&r, "copy", 1, LANES, params);
    for (uint32_t i = 0; i < LANES; i++) assert_int_equal(to[i * LINE_WORDS], i + 1);
    rig_close(&r);
}

static void a_slow_clock_is_not_taken_for_a_stuck_machine(void **state)
{
    static const char *const clocks[] = {"clock.core=1", "clock.xbar=1", "clock.l2=1", "clock.dram=1"};
    for (size_t i = 0; i < ARRAY_LEN(clocks); i++) {
        const char *sets[] = {clocks[i], "gpu.stuck_cycles=1000"};
        expect_end(sets, 1);
        expect_end(sets, 2);
    }
}

static void a_long_latency_is_not_taken_for_a_stuck_machine(void **state)
{
    static const char *const latencies[] = {"l1.fixed_miss_latency=1048576",
                                            "l2.tag_latency=100000",
                                            "dram.trcd=1048576",
                                            "dram.tccdl=1048576",
                                            "dram.latency=65536",
                                            "xbar.latency=10000",
                                            "gpu.launch_latency=16777216"};
    for (size_t i = 0; i < ARRAY_LEN(latencies); i++) {
        const char *sets[] = {latencies[i], "gpu.stuck_cycles=1000"};
        expect_end(sets, 2);
    }
}

/* Partitions sleep between the edges of a slow DRAM, and it changes nothing. */
static void a_slow_dram_that_is_slept_through_changes_nothing(void **state)
{
    static const char *const clocks[] = {"clock.dram=175000", "clock.dram=170000", "clock.dram=50000",
                                         "clock.dram=10000"};
    for (size_t i = 0; i < ARRAY_LEN(clocks); i++) {
        uint64_t hash[2], cycles[2];
        for (uint32_t no_skip = 0; no_skip < 2; no_skip++) {
            rig_open(&r, ptx,
                     &(struct rig_options){.sets = &clocks[i], .set_count = 1, .timed.no_skip = no_skip});
            uint64_t params[] = {rig_alloc(&r, 4096), rig_alloc(&r, 4096)};
            rig_run(&r, "copy", 1, 32, params);
            hash[no_skip] = timed_hash(r.gpu);
            cycles[no_skip] = timed_cycles(r.gpu);
            rig_close(&r);
        }
        assert_int_equal(cycles[0], cycles[1]);
        assert_int_equal(hash[0], hash[1]);
    }
}

/* Nothing moves any more, as far as the watchdog can see: it waits gpu.stuck_cycles of the slowest clock, the
 * crossbar's, and the machine's latencies, and no longer. */
static void silence_is_measured_in_the_slowest_clock(void **state)
{
    const char *sets[] = {"gpu.stuck_cycles=1000", "clock.xbar=70000", "clock.l2=700000"};
    rig_open(&r, ptx, &(struct rig_options){.sets = sets, .set_count = ARRAY_LEN(sets)});
    uint64_t params[] = {rig_alloc(&r, 4096), rig_alloc(&r, 4096)};
    for (uint32_t i = 0; i < r.gpu->wiring.slice_count; i++)
        r.gpu->wiring.links.slice_to_xbar[i].capacity = 0;
    rig_launch(&r, "copy", 1, 32, params, 0);
    assert_int_equal(timed_sync(r.gpu, UINT64_MAX, &r.fault), EMU_DEADLOCK);
    const struct stuck_view view = {.wiring = &r.gpu->wiring,
                                    .dispatch = &r.gpu->dispatch,
                                    .streams = &r.gpu->streams,
                                    .time = &r.gpu->time};
    struct watchdog d;
    watchdog_init(&d, &r.gpu->machine, &r.gpu->time);
    assert_true(d.silence_max > 20 * 1000 && d.silence_max < 20 * 1000 + 5000);
    const tick period = gpu_time_period(&r.gpu->time, DOMAIN_CORE),
               from = gpu_time_edge_from(&r.gpu->time, DOMAIN_CORE);
    gpu_time_move(&r.gpu->time, from);
    assert_false(stuck_is_silent(&d, &view));
    gpu_time_move(&r.gpu->time, from + d.silence_max * period);
    assert_false(stuck_is_silent(&d, &view));
    gpu_time_move(&r.gpu->time, from + (d.silence_max + 1) * period);
    assert_true(stuck_is_silent(&d, &view));
    rig_close(&r);
}

int main(void)
{
    setenv("HEDDLE_HOME", HEDDLE_SOURCE_DIR, 1);
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_slow_clock_is_not_taken_for_a_stuck_machine),
        RIG_TEST(a_long_latency_is_not_taken_for_a_stuck_machine),
        RIG_TEST(a_slow_dram_that_is_slept_through_changes_nothing),
        RIG_TEST(silence_is_measured_in_the_slowest_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
