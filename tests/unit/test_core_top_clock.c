/* test_core_top_clock.c: clock domains in exact ratios. */
#include "core/gpu_clock.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void periods_are_in_the_exact_ratio_of_the_clocks(void **state)
{
    const uint32_t khz[DOMAIN_COUNT] = {1400000, 700000, 700000, 924000};
    struct gpu_clock c;
    struct diag_list d = {0};
    assert_true(gpu_clock_init(&c, khz, &d));
    assert_int_equal(c.domains[DOMAIN_CORE].period, 33);
    assert_int_equal(c.domains[DOMAIN_XBAR].period, 66);
    assert_int_equal(c.domains[DOMAIN_L2].period, 66);
    assert_int_equal(c.domains[DOMAIN_DRAM].period, 50);
    for (int i = 0; i < DOMAIN_COUNT; i++)
        assert_int_equal((uint64_t)c.domains[i].period * khz[i], c.ticks_per_ms);
}

static void one_clock_for_all_has_a_tick_of_one_period(void **state)
{
    const uint32_t khz[DOMAIN_COUNT] = {1126000, 1126000, 1126000, 1126000};
    struct gpu_clock c;
    struct diag_list d = {0};
    assert_true(gpu_clock_init(&c, khz, &d));
    for (int i = 0; i < DOMAIN_COUNT; i++) assert_int_equal(c.domains[i].period, 1);
}

static void clocks_without_a_common_tick_are_refused(void **state)
{
    const uint32_t khz[DOMAIN_COUNT] = {1399993, 700001, 900007, 923987}; /* no common divisors */
    struct gpu_clock c;
    struct diag_list d = {0};
    assert_false(gpu_clock_init(&c, khz, &d));
    assert_int_equal(d.errors, 1);
    diag_free(&d);
}

static void time_in_nanoseconds_does_not_drift(void **state)
{
    const uint32_t khz[DOMAIN_COUNT] = {1400000, 700000, 700000, 924000};
    struct gpu_clock c;
    struct diag_list d = {0};
    assert_true(gpu_clock_init(&c, khz, &d));
    tick second = (tick)33 * 1400000000u; /* one second of core cycles */
    assert_int_equal(gpu_clock_ns(&c, second), 1000000000u);
    assert_int_equal(gpu_clock_ns(&c, second * 36000), 36000000000000u);
    assert_int_equal(gpu_clock_ticks(&c, 36000000000000u), second * 36000);
    assert_int_equal(gpu_clock_ns(&c, 33), 0); /* 0.7 ns */
}

static void the_clocks_of_a_kernel_are_exact_cycle_by_cycle_and_after_a_jump(void **state)
{
    static const uint32_t khz[] = {1400000, 1126000, 924000, 300, 1000000, 7};
    for (size_t k = 0; k < ARRAY_LEN(khz); k++) {
        struct core_clock c;
        core_clock_init(&c, 33, khz[k]);
        for (uint64_t cycle = 1; cycle < 20000; cycle += cycle % 1000 ? 1 : 57) {
            core_clock_set(&c, cycle * 33);
            assert_int_equal(c.cycle, cycle);
            assert_int_equal(c.ns, cycle * 1000000 / khz[k]);
        }
        core_clock_set(&c, c.time); /* the same edge once more */
        assert_int_equal(c.ns, c.cycle * 1000000 / khz[k]);
    }
}

static void an_edge_is_a_multiple_of_the_period(void **state)
{
    const struct clock_domain d = {.period = 33};
    assert_int_equal(clock_edge(&d, 0), 0);
    assert_int_equal(clock_edge(&d, 1), 33);
    assert_int_equal(clock_edge(&d, 33), 33);
    assert_int_equal(clock_edge(&d, 34), 66);
    assert_int_equal(clock_after(&d, 66, 3), 165);
}

static void a_span_has_as_many_cycles_as_a_division_says(void **state)
{
    static const uint32_t periods[] = {1, 2, 3, 33, 50, 66, 563, 4001, 65536, 1000003, UINT32_MAX};
    for (size_t k = 0; k < ARRAY_LEN(periods); k++) {
        const uint64_t period = periods[k], bound = ((uint64_t)1 << 32) / period;
        const struct clock_domain d = clock_domain_of(periods[k]);
        for (uint64_t n = 0; n < 3000; n++) {
            const uint64_t spans[] = {n,
                                      n * period,
                                      n * period + period - 1,
                                      bound - MIN(bound, n),
                                      bound + n,
                                      ((uint64_t)1 << 32) - n,
                                      ((uint64_t)1 << 40) + n * 7919};
            for (size_t i = 0; i < ARRAY_LEN(spans); i++)
                assert_int_equal(clock_cycles(&d, spans[i]), spans[i] / period);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(periods_are_in_the_exact_ratio_of_the_clocks),
        cmocka_unit_test(one_clock_for_all_has_a_tick_of_one_period),
        cmocka_unit_test(clocks_without_a_common_tick_are_refused),
        cmocka_unit_test(time_in_nanoseconds_does_not_drift),
        cmocka_unit_test(the_clocks_of_a_kernel_are_exact_cycle_by_cycle_and_after_a_jump),
        cmocka_unit_test(a_span_has_as_many_cycles_as_a_division_says),
        cmocka_unit_test(an_edge_is_a_multiple_of_the_period),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
