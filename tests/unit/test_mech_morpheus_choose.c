/* test_mech_morpheus_choose.c: the choice of the number of SMs in cache mode (src/mech/morpheus_choose.c),
 * with programs whose time is a function of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/base.h"
#include "mech/morpheus_state.h"

enum { INSTS = 1000, A = 1, B = 2 };

static const struct morpheus_params online = {
    .choose = CHOOSE_ONLINE, .cache_sms = 48, .step = 16, .step_min = 4, .margin = 2, .dram_low = 25};

static struct choose choice;
static uint32_t sms, trials;

static void begin(const struct morpheus_params *p)
{
    choice = (struct choose){0};
    trials = 0;
    sms = choose_sms(&choice, p, NULL);
}

/* A launch, with DRAM busy for this much of a hundred. */
static void launch_at(const struct morpheus_params *p, uint64_t kernel, uint64_t cycles, uint64_t insts,
                      uint64_t busy)
{
    const uint32_t next = choose_sms(&choice, p,
                                     &(struct mech_grid_run){.kernel = kernel,
                                                             .cache_sms = sms,
                                                             .cycles = cycles,
                                                             .warp_insts = insts,
                                                             .dram_cycles = 100,
                                                             .dram_busy = busy});
    trials += next != sms;
    sms = next;
}
static void launch(uint64_t kernel, uint64_t cycles) { launch_at(&online, kernel, cycles, INSTS, 80); }

static uint64_t distance(uint64_t a, uint64_t b) { return a > b ? a - b : b - a; }

/* Slowest far from the best number; the first launch with a number takes longer. */
static void run_valley(const struct morpheus_params *p, uint32_t best, uint32_t launches)
{
    uint32_t before = UINT32_MAX;
    begin(p);
    for (uint32_t i = 0; i < launches; i++) {
        const uint64_t cycles = 10000 + 500 * distance(sms, best);
        const bool is_cold = sms != before;
        before = sms;
        launch_at(p, A, cycles + (is_cold ? 50000 : 0), INSTS, 80);
    }
}

static void the_bottom_of_a_valley_is_found_and_kept(void **state)
{
    for (uint32_t best = 0; best <= 48; best++) {
        run_valley(&online, best, 40);
        assert_in_range(sms, best > 3 ? best - 3 : 0, best + 3);
        assert_true(choice.has_stopped);
        const uint32_t chosen = sms;
        for (uint32_t i = 0; i < 10; i++) launch(A, 99999);
        assert_int_equal(sms, chosen);
    }
}

static void a_start_elsewhere_finds_it_too(void **state)
{
    struct morpheus_params p = online;
    for (p.start = 0; p.start <= 48; p.start += 6) {
        run_valley(&p, 20, 40);
        assert_in_range(sms, 17, 23);
    }
}

/* Each number is measured once after a launch that is not: 2 launches for each of a few numbers. */
static void the_search_is_short(void **state)
{
    run_valley(&online, 32, 40);
    assert_int_equal(sms, 32);
    assert_in_range(trials, 5, 9);
}

static void the_first_launch_with_a_number_is_not_measured(void **state)
{
    begin(&online);
    launch(A, 50000);
    assert_int_equal(sms, 0);
    launch(A, 10000);
    assert_int_equal(sms, 16);
    launch(A, 90000);
    assert_int_equal(sms, 16);
    launch(A, 9000);
    assert_int_equal(sms, 32);
}

/* 2%: a little faster is not enough, and the search turns round. */
static void a_trial_must_be_faster_by_the_margin(void **state)
{
    for (uint64_t cycles = 9700; cycles <= 9900; cycles += 200) {
        begin(&online);
        launch(A, 10000);
        launch(A, 10000);
        assert_int_equal(sms, 16);
        launch(A, cycles);
        launch(A, cycles);
        assert_int_equal(sms, cycles == 9700 ? 32 : 8);
    }
}

/* With four times the instructions four times the cycles are no slower. */
static void launches_of_different_length_are_compared(void **state)
{
    begin(&online);
    launch(A, 10000);
    launch(A, 10000);
    launch(A, 36000);
    launch_at(&online, A, 36000, 4 * INSTS, 80);
    assert_int_equal(sms, 32);
}

/* B takes more time, and is slower with 16 SMs; A, which is faster, does not make up for it. A trial lasts
 * until B is measured. */
static void kernels_that_alternate_are_compared_with_their_like(void **state)
{
    begin(&online);
    for (uint32_t i = 0; i < 2; i++) {
        launch(A, 1000);
        assert_int_equal(sms, 0);
        launch(B, 10000);
    }
    assert_int_equal(sms, 16);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(sms, 16);
        launch(A, 500);
        launch(B, 12000);
    }
    assert_int_equal(sms, 8);
}

/* The one that led does not come any more. */
static void a_trial_ends_without_its_leader(void **state)
{
    begin(&online);
    launch(A, 1000000);
    for (uint32_t i = 0; i < CHOOSE_LAUNCHES_MAX; i++) {
        assert_int_equal(sms, 0);
        launch(B, 100);
    }
    assert_int_equal(sms, 16);
}

/* A was all there was with no SM, B all there was with 16. B is tried with none, too, and is faster there. */
static void a_program_that_changes_is_measured_again_with_the_best_number(void **state)
{
    begin(&online);
    for (uint32_t i = 0; i < 2; i++) launch(A, 100);
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(sms, 16);
        launch(B, 20000);
    }
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(sms, 0);
        launch(B, 10000);
    }
    for (uint32_t i = 0; i < 20; i++) launch(B, 10000 + 100 * sms);
    assert_int_equal(sms, 0);
    assert_true(choice.has_stopped);
}

/* The best number itself comes again, also where the trial was cut short by the most SMs, and where DRAM has
 * too little to do for a larger number. */
static void what_is_tried_again_is_the_best_number(void **state)
{
    struct morpheus_params p = online;
    p.start = 40;
    begin(&p);
    for (uint32_t i = 0; i < 2; i++) launch_at(&p, A, 100, INSTS, 80);
    assert_int_equal(sms, 48);
    for (uint32_t i = 0; i < 2; i++) launch_at(&p, B, 20000, INSTS, 0);
    assert_int_equal(sms, 40);
}

static void where_dram_is_idle_nothing_more_is_tried(void **state)
{
    begin(&online);
    for (uint32_t i = 0; i < 4; i++) launch_at(&online, A, 10000, INSTS, 24);
    assert_int_equal(sms + trials, 0);
    assert_true(choice.has_stopped);
    begin(&online);
    for (uint32_t i = 0; i < 2; i++) launch_at(&online, A, 10000, INSTS, 25);
    assert_int_equal(sms, 16);
}

/* Fewer are tried all the same. */
static void where_dram_is_idle_fewer_are_tried(void **state)
{
    struct morpheus_params p = online;
    p.start = 40;
    begin(&p);
    for (uint32_t i = 0; i < 30; i++) launch_at(&p, A, 10000 + 500 * sms, INSTS, 0);
    assert_int_equal(sms, 0);
}

static void launches_with_other_roles_say_nothing(void **state)
{
    begin(&online);
    for (uint32_t i = 0; i < 20; i++)
        choose_sms(&choice, &online,
                   &(struct mech_grid_run){.kernel = A, .cache_sms = 3, .cycles = 100, .warp_insts = 100});
    assert_int_equal(choice.kernel_count, 0);
}

/* More kernels than the table holds: those that take most time stay. */
static void the_table_keeps_the_kernels_that_take_time(void **state)
{
    begin(&online);
    launch(A, 1000000);
    for (uint32_t i = 0; i < 3 * CHOOSE_KERNELS; i++) launch(100 + i, 10);
    assert_int_equal(choice.kernel_count, CHOOSE_KERNELS);
    launch(A, 1000000);
    assert_int_equal(sms, 16);
}

static void a_fixed_number_is_the_parameter(void **state)
{
    struct morpheus_params p = online;
    p.choose = CHOOSE_FIXED;
    begin(&p);
    assert_int_equal(sms, 48);
    for (uint32_t i = 0; i < 10; i++) launch_at(&p, A, 10000, INSTS, 80);
    assert_int_equal(sms, 48);
}

/* ---- what a slice keeps ---- */

/* Of 20 lines the slice has 4 of 5 before, and 1 of 2 afterwards. */
static void a_slice_keeps_lines_that_were_its_own_and_are(void **state)
{
    static struct morpheus m = {.before = {.shares = 5, .own = 4, .step = 1},
                                .separator = {.shares = 2, .own = 1, .step = 1}};
    for (uint64_t line = 0; line < 20; line++)
        assert_int_equal(sets_keeps_line(&m, line), line % 5 < 4 && line % 2 == 0);
    m.before = (struct separator){0}; /* all lines were its own */
    for (uint64_t line = 0; line < 20; line++) assert_int_equal(sets_keeps_line(&m, line), line % 2 == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_bottom_of_a_valley_is_found_and_kept),
        cmocka_unit_test(a_start_elsewhere_finds_it_too),
        cmocka_unit_test(the_search_is_short),
        cmocka_unit_test(the_first_launch_with_a_number_is_not_measured),
        cmocka_unit_test(a_trial_must_be_faster_by_the_margin),
        cmocka_unit_test(launches_of_different_length_are_compared),
        cmocka_unit_test(kernels_that_alternate_are_compared_with_their_like),
        cmocka_unit_test(a_trial_ends_without_its_leader),
        cmocka_unit_test(a_program_that_changes_is_measured_again_with_the_best_number),
        cmocka_unit_test(what_is_tried_again_is_the_best_number),
        cmocka_unit_test(where_dram_is_idle_nothing_more_is_tried),
        cmocka_unit_test(where_dram_is_idle_fewer_are_tried),
        cmocka_unit_test(launches_with_other_roles_say_nothing),
        cmocka_unit_test(the_table_keeps_the_kernels_that_take_time),
        cmocka_unit_test(a_fixed_number_is_the_parameter),
        cmocka_unit_test(a_slice_keeps_lines_that_were_its_own_and_are),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
