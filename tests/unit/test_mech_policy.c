/* test_mech_policy.c: what each scheduling policy picks, warp by warp, from hand-made views. */
#include "mech_kit.h"

static void start_warps(struct mech_kit *k, int count)
{
    for (int w = 0; w < count; w++) kit_start(k, w);
}

/* Picks once for each mask and checks the answers. */
#define EXPECT_PICKS(k, ...)                                                                                 \
    do {                                                                                                     \
        const struct {                                                                                       \
            uint64_t ready;                                                                                  \
            int warp;                                                                                        \
        } steps[] = {__VA_ARGS__};                                                                           \
        for (size_t step = 0; step < ARRAY_LEN(steps); step++)                                               \
            assert_int_equal(kit_pick(k, steps[step].ready), steps[step].warp);                              \
    } while (0)

static void lrr_takes_turns_in_slot_order(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "lrr", "", 1);
    start_warps(&k, 4);
    EXPECT_PICKS(&k, {0xf, 0}, {0xf, 1}, {0xf, 2}, {0xf, 3}, {0xf, 0});
    kit_close(&k);
}

static void lrr_skips_a_warp_that_is_not_ready(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "lrr", "", 1);
    start_warps(&k, 4);
    EXPECT_PICKS(&k, {0xf, 0}, {0xd, 2}, {0x3, 0}, {0x1, 0}, {0x9, 3}, {0xf, 0});
    kit_close(&k);
}

static void lrr_wraps_after_the_last_slot(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "lrr", "", 1);
    kit_start(&k, 63);
    kit_start(&k, 5);
    EXPECT_PICKS(&k, {W(63), 63}, {W(63) | W(5), 5}, {W(63) | W(5), 63}, {W(63), 63});
    kit_close(&k);
}

static void gto_stays_until_the_warp_stalls_then_takes_the_oldest(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "gto", "", 1);
    kit_start(&k, 3); /* oldest */
    kit_start(&k, 1);
    kit_start(&k, 2);
    kit_start(&k, 0);                                      /* youngest */
    EXPECT_PICKS(&k, {W(0) | W(2), 2}, {0xf, 2}, {0xf, 2}, /* greedy, though 3 is older */
                 {W(0) | W(1), 1},                         /* 2 stalls: oldest of the ready */
                 {0xf, 1}, {W(0), 0}, {0xf, 0}, {0xe, 3});
    assert_int_equal(kit_stat(&k, "gto.greedy_issues"), 4);
    assert_int_equal(kit_stat(&k, "gto.oldest_issues"), 4);
    kit_close(&k);
}

static void gto_greed_ends_with_the_warp_not_with_its_slot(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "gto", "", 1);
    start_warps(&k, 3);
    EXPECT_PICKS(&k, {W(2), 2}, {0x7, 2});
    kit_end(&k, 2);
    kit_start(&k, 2); /* another warp in the slot, now the youngest */
    EXPECT_PICKS(&k, {0x7, 0});
    kit_close(&k);
}

static void gto_is_greedy_for_each_scheduler_by_itself(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "gto", "", 2);
    start_warps(&k, 4);
    struct mech_sched_view v = {.age = k.age, .cta = k.cta, .last = MECH_NO_WARP, .scheduler_count = 2};
    const struct {
        uint32_t scheduler;
        uint64_t ready;
        int warp;
    } steps[] = {{0, W(2), 2},        {1, W(3), 3}, {0, W(0) | W(2), 2},
                 {1, W(1) | W(3), 3}, {0, W(0), 0}, {1, W(1) | W(3), 3}};
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        v.scheduler = steps[i].scheduler;
        v.resident = v.scheduler ? W(1) | W(3) : W(0) | W(2);
        v.ready = steps[i].ready;
        assert_int_equal(mech_pick(k.sm, &v), steps[i].warp);
    }
    kit_close(&k);
}

static void oldest_goes_by_launch_order_every_time(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "oldest", "", 1);
    kit_start(&k, 2);
    kit_start(&k, 0);
    kit_start(&k, 1);
    EXPECT_PICKS(&k, {0x7, 2}, {0x3, 0}, {0x7, 2}, {0x2, 1}, {0x3, 0});
    kit_end(&k, 2);
    kit_start(&k, 2);
    EXPECT_PICKS(&k, {0x7, 0}, {0x6, 1}, {0x4, 2});
    kit_close(&k);
}

static void two_level_takes_turns_inside_the_active_set_only(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "two-level", "two-level.active=2", 1);
    start_warps(&k, 4);
    EXPECT_PICKS(&k, {0xf, 0}, {0xf, 1}, {0xf, 0}, {0xf, 1});
    kit_close(&k);
}

static void two_level_leaves_the_slot_empty_when_the_set_waits_for_arithmetic(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "two-level", "two-level.active=2", 1);
    start_warps(&k, 4);
    EXPECT_PICKS(&k, {0xf, 0}, {0xc, MECH_NO_WARP}, {0xd, 0});
    assert_int_equal(kit_stat(&k, "two-level.empty_slots"), 1);
    kit_close(&k);
}

static void two_level_gives_the_place_of_a_warp_that_waits_for_memory_to_the_next_pending(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "two-level", "two-level.active=2", 1);
    start_warps(&k, 4);
    assert_int_equal(kit_pick(&k, 0xf), 0);
    assert_int_equal(kit_pick_waiting(&k, 0xe, W(0), 0), 1); /* 0 leaves, 2 comes in */
    assert_int_equal(kit_pick_waiting(&k, 0xe, W(0), 0), 2);
    assert_int_equal(kit_pick_waiting(&k, 0xc, W(0) | W(1), 0),
                     3);                                  /* 1 leaves, 3 comes in; round robin after 2 */
    assert_int_equal(kit_pick_waiting(&k, 0xf, 0, 0), 2); /* 0 and 1 are back but pending: the set is 2, 3 */
    assert_int_equal(kit_pick_waiting(&k, 0xb, W(2), 0), 3); /* 2 leaves, 0 (first to have left) comes in */
    assert_int_equal(kit_pick_waiting(&k, 0xb, W(2), 0), 0);
    assert_int_equal(kit_stat(&k, "two-level.demotions"), 3);
    assert_int_equal(kit_stat(&k, "two-level.promotions"), 5);
    kit_close(&k);
}

static void two_level_puts_a_warp_that_left_behind_those_that_never_ran(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "two-level", "two-level.active=1", 1);
    start_warps(&k, 3);
    assert_int_equal(kit_pick(&k, 0x7), 0);
    assert_int_equal(kit_pick_waiting(&k, 0x6, W(0), 0), 1);
    assert_int_equal(kit_pick_waiting(&k, 0x5, W(1), 0), 2); /* 0 is back, but left after 2 started */
    assert_int_equal(kit_pick_waiting(&k, 0x3, W(2), 0), 0);
    kit_close(&k);
}

static void two_level_lets_the_others_reach_a_barrier(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "two-level", "two-level.active=1", 1);
    start_warps(&k, 3);
    assert_int_equal(kit_pick(&k, 0x7), 0);
    assert_int_equal(kit_pick_waiting(&k, 0x6, 0, W(0)), 1);
    assert_int_equal(kit_pick_waiting(&k, 0x4, 0, W(0) | W(1)), 2);
    assert_int_equal(kit_pick(&k, 0x7), 2); /* released: it goes on with the set as it is */
    kit_close(&k);
}

static void two_level_gives_no_place_to_a_warp_that_the_votes_forbid(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "two-level swl", "two-level.active=1 swl.warps=2", 1);
    start_warps(&k, 3); /* 2 is not among the two oldest */
    assert_int_equal(kit_pick(&k, 0x7), 0);
    assert_int_equal(kit_pick_waiting(&k, 0x6, W(0), 0), 1);
    assert_int_equal(kit_pick_waiting(&k, 0x5, W(1), 0), 0); /* though 2 has waited longer */
    assert_int_equal(kit_pick_waiting(&k, 0x4, W(0) | W(1), 0), MECH_NO_WARP);
    assert_int_equal(kit_pick(&k, 0x7), 0);
    kit_close(&k);
}

static void two_level_set_does_not_depend_on_how_often_an_idle_machine_is_looked_at(void **unused)
{
    struct mech_kit often, seldom;
    kit_open(&often, "two-level", "two-level.active=2", 1);
    kit_open(&seldom, "two-level", "two-level.active=2", 1);
    start_warps(&often, 6);
    start_warps(&seldom, 6);
    const struct {
        uint64_t ready, wait;
    } steps[] = {{0x3f, 0}, {0, 0x01},    {0, 0x03}, {0x3c, 0x03}, {0, 0x3f},
                 {0, 0x2f}, {0x10, 0x2f}, {0x3f, 0}, {0, 0x30},    {0x0f, 0x30}};
    for (size_t i = 0; i < ARRAY_LEN(steps); i++) {
        int a = kit_pick_waiting(&often, steps[i].ready, steps[i].wait, 0);
        if (steps[i].ready) assert_int_equal(kit_pick_waiting(&seldom, steps[i].ready, steps[i].wait, 0), a);
    }
    kit_close(&often);
    kit_close(&seldom);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lrr_takes_turns_in_slot_order),
        cmocka_unit_test(lrr_skips_a_warp_that_is_not_ready),
        cmocka_unit_test(lrr_wraps_after_the_last_slot),
        cmocka_unit_test(gto_stays_until_the_warp_stalls_then_takes_the_oldest),
        cmocka_unit_test(gto_greed_ends_with_the_warp_not_with_its_slot),
        cmocka_unit_test(gto_is_greedy_for_each_scheduler_by_itself),
        cmocka_unit_test(oldest_goes_by_launch_order_every_time),
        cmocka_unit_test(two_level_takes_turns_inside_the_active_set_only),
        cmocka_unit_test(two_level_leaves_the_slot_empty_when_the_set_waits_for_arithmetic),
        cmocka_unit_test(two_level_gives_the_place_of_a_warp_that_waits_for_memory_to_the_next_pending),
        cmocka_unit_test(two_level_puts_a_warp_that_left_behind_those_that_never_ran),
        cmocka_unit_test(two_level_lets_the_others_reach_a_barrier),
        cmocka_unit_test(two_level_gives_no_place_to_a_warp_that_the_votes_forbid),
        cmocka_unit_test(two_level_set_does_not_depend_on_how_often_an_idle_machine_is_looked_at),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
