/* test_mech_modifiers.c: the votes of swl and the prefetches of str, from hand-made events; and that the
 * order in which modifiers are attached does not matter. */
#include "mech_kit.h"

static void swl_lets_the_n_oldest_issue(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "swl", "swl.warps=2", 1);
    assert_int_equal(k.sm->masks[0].issue, 0); /* no warp yet */
    kit_start(&k, 5);
    kit_start(&k, 3);
    kit_start(&k, 4);
    assert_int_equal(k.sm->masks[0].issue, W(5) | W(3));
    kit_end(&k, 5);
    assert_int_equal(k.sm->masks[0].issue, W(3) | W(4));
    kit_start(&k, 5); /* now the youngest */
    assert_int_equal(k.sm->masks[0].issue, W(3) | W(4));
    assert_int_equal(kit_pick(&k, W(5)), MECH_NO_WARP);
    assert_int_equal(kit_pick(&k, W(5) | W(4)), 4);
    kit_close(&k);
}

static void swl_counts_for_each_scheduler_by_itself(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "swl", "swl.warps=1", 2);
    for (int w = 0; w < 6; w++) kit_start_on(&k, w, (uint32_t)w % 2);
    assert_int_equal(k.sm->masks[0].issue, W(0) | W(1));
    mech_on_warp(k.sm, &(struct mech_warp_event){.warp = 1, .scheduler = 1});
    assert_int_equal(k.sm->masks[0].issue, W(0) | W(3));
    kit_close(&k);
}

static void swl_at_the_maximum_holds_nobody_back(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "swl", "", 1);
    for (int w = 0; w < 48; w++) kit_start(&k, w);
    assert_int_equal(k.sm->masks[0].issue & k.resident, k.resident);
    kit_close(&k);
}

static void swl_gives_the_place_of_a_warp_at_a_barrier_to_the_next(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "swl", "swl.warps=1", 1);
    for (int w = 0; w < 3; w++) kit_start(&k, w);
    kit_barrier(&k, W(0), true);
    assert_int_equal(k.sm->masks[0].issue, W(1));
    kit_barrier(&k, W(1), true);
    assert_int_equal(k.sm->masks[0].issue, W(2));
    kit_barrier(&k, W(0) | W(1) | W(2), false);
    assert_int_equal(k.sm->masks[0].issue, W(0));
    kit_close(&k);
}

static void swl_takes_every_limit_from_one_to_the_maximum(void **unused)
{
    for (uint32_t n = 1; n <= MECH_BANK_WARPS; n++) {
        char setting[32];
        snprintf(setting, sizeof setting, "swl.warps=%u", n);
        struct mech_kit k;
        kit_open(&k, "swl", setting, 1);
        for (int w = 47; w >= 0; w--) kit_start(&k, w);
        uint32_t allowed = (uint32_t)__builtin_popcountll(k.sm->masks[0].issue & k.resident);
        assert_int_equal(allowed, MIN(n, 48));
        assert_true(k.sm->masks[0].issue & W(47)); /* the oldest */
        kit_close(&k);
    }
}

/* ---- str ---- */

/* All warps are there. Which of them str prefetches for: test_mech_prefetchers.c. */
static void open_str(struct mech_kit *k, const char *settings)
{
    kit_open(k, "str", settings, 1);
    for (int w = 0; w < 48; w++) kit_start(k, w);
}

static void load(struct mech_kit *k, uint32_t pc, int warp, uint64_t address)
{
    mech_on_l1_access(k->sm, &(struct mech_l1_access){.warp = warp,
                                                      .pc = pc,
                                                      .line = address & ~127ull,
                                                      .is_first_line = true,
                                                      .outcome = MECH_L1_MISS,
                                                      .lane_address = address});
}

static void str_prefetches_for_the_next_warp_once_a_stride_is_seen_twice(void **unused)
{
    struct mech_kit k;
    open_str(&k, "");
    load(&k, 7, 0, 10000);
    load(&k, 7, 1, 11000); /* stride 1000, first time */
    assert_int_equal(k.prefetch_count, 0);
    load(&k, 7, 3, 13000); /* 2000 over two warps: the same */
    assert_int_equal(k.prefetch_count, 1);
    assert_int_equal(k.prefetches[0].address, 14000);
    assert_int_equal(k.prefetches[0].pc, 7);
    assert_int_equal(k.prefetches[0].warp, 4);
    kit_close(&k);
}

static void str_follows_warps_backwards_as_in_figure_9_of_apres(void **unused)
{
    struct mech_kit k;
    open_str(&k, "str.degree=2");
    load(&k, 200, 9, 2700 * 4);
    load(&k, 200, 10, 2800 * 4);
    load(&k, 200, 2, 2000 * 4); /* (2000 - 2800) / (2 - 10) = 100 */
    assert_int_equal(k.prefetch_count, 2);
    assert_int_equal(k.prefetches[0].address, 2100 * 4);
    assert_int_equal(k.prefetches[1].address, 2200 * 4);
    kit_close(&k);
}

static void str_starts_over_when_the_stride_changes(void **unused)
{
    struct mech_kit k;
    open_str(&k, "");
    load(&k, 7, 0, 0);
    load(&k, 7, 1, 512);
    load(&k, 7, 2, 1024);
    assert_int_equal(k.prefetch_count, 1);
    load(&k, 7, 3, 9000); /* another stride: replaces the one in the table */
    load(&k, 7, 4, 9512);
    assert_int_equal(k.prefetch_count, 1);
    load(&k, 7, 5, 10024);
    assert_int_equal(k.prefetch_count, 2);
    load(&k, 7, 8, 10025); /* no whole stride */
    load(&k, 7, 9, 10537);
    assert_int_equal(k.prefetch_count, 2);
    kit_close(&k);
}

static void str_counts_a_match_only_against_a_stride_that_it_has_seen(void **unused)
{
    struct mech_kit k;
    open_str(&k, "");
    load(&k, 7, 0, 4096);
    load(&k, 7, 1, 4096); /* stride 0, first time */
    assert_int_equal(kit_stat(&k, "str.matches"), 0);
    load(&k, 7, 2, 4096);
    assert_int_equal(kit_stat(&k, "str.matches"), 1);
    assert_int_equal(k.prefetch_count, 0); /* the same line: nothing to bring */
    kit_close(&k);
}

static void str_asks_for_each_line_once(void **unused)
{
    struct mech_kit k;
    open_str(&k, "str.degree=8");
    for (int w = 0; w < 3; w++) load(&k, 7, w, 64ull * (uint64_t)w); /* stride of half a line */
    assert_int_equal(k.prefetch_count, 4);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(k.prefetches[i].address / 128, 2 + i);
    kit_close(&k);
}

static void str_ignores_stores_prefetches_further_lines_and_the_same_warp(void **unused)
{
    struct mech_kit k;
    open_str(&k, "");
    struct mech_l1_access a = {.pc = 7, .is_first_line = true, .outcome = MECH_L1_MISS};
    for (int kind = 0; kind < 4; kind++) {
        for (int w = 0; w < 4; w++) {
            struct mech_l1_access b = a;
            b.warp = w;
            b.lane_address = 1000ull * (uint64_t)w;
            b.is_store = kind == 0;
            b.is_prefetch = kind == 1;
            b.is_first_line = kind != 2;
            if (kind == 3) b.outcome = MECH_L1_SENT;
            mech_on_l1_access(k.sm, &b);
        }
    }
    assert_int_equal(kit_stat(&k, "str.loads"), 0);
    for (int i = 0; i < 4; i++) load(&k, 7, 5, 1000ull * (uint64_t)i); /* a loop of one warp */
    assert_int_equal(k.prefetch_count, 0);
    kit_close(&k);
}

static void str_keeps_the_loads_used_last(void **unused)
{
    struct mech_kit k;
    open_str(&k, "str.entries=2");
    load(&k, 1, 0, 0), load(&k, 1, 1, 1000);
    load(&k, 2, 0, 0), load(&k, 2, 1, 1000);
    load(&k, 1, 2, 2000); /* 1 is newer than 2 */
    assert_int_equal(k.prefetch_count, 1);
    load(&k, 3, 0, 0); /* replaces 2 */
    load(&k, 2, 2, 2000);
    assert_int_equal(k.prefetch_count, 1);
    kit_close(&k);
}

static void str_counts_what_the_port_refuses(void **unused)
{
    struct mech_kit k;
    open_str(&k, "");
    k.prefetch_room = 1;
    for (int w = 0; w < 5; w++) load(&k, 7, w, 1000ull * (uint64_t)w);
    assert_int_equal(kit_stat(&k, "str.prefetches"), 1);
    assert_int_equal(kit_stat(&k, "str.refused"), 2);
    kit_close(&k);
}

/* ---- any order ---- */

static void the_order_of_modifiers_does_not_matter(void **unused)
{
    static const char *const orders[] = {"swl str oldest", "str swl oldest", "oldest str swl",
                                         "swl oldest str", "oldest swl str", "str oldest swl"};
    enum { STEPS = 400 };
    static int picks[ARRAY_LEN(orders)][STEPS];
    static uint64_t masks[ARRAY_LEN(orders)][STEPS];
    uint32_t prefetches[ARRAY_LEN(orders)];
    for (size_t o = 0; o < ARRAY_LEN(orders); o++) {
        struct mech_kit k;
        kit_open(&k, orders[o], "swl.warps=3", 1);
        uint64_t rng = 1;
        for (int i = 0; i < STEPS; i++) {
            rng = rng * 6364136223846793005ull + 1442695040888963407ull;
            int w = (int)(rng >> 33) % 8;
            if (!(k.resident >> w & 1))
                kit_start(&k, w);
            else if (rng >> 60 == 0)
                kit_end(&k, w);
            else if (rng >> 60 < 4)
                kit_barrier(&k, W(w), rng >> 62 & 1);
            else
                load(&k, (uint32_t)(rng >> 50 & 3), w, 4096ull * (uint64_t)w);
            masks[o][i] = k.sm->masks[0].issue;
            picks[o][i] = kit_pick(&k, k.resident & (rng >> 20));
        }
        prefetches[o] = k.prefetch_count;
        kit_close(&k);
        assert_memory_equal(picks[o], picks[0], sizeof picks[0]);
        assert_memory_equal(masks[o], masks[0], sizeof masks[0]);
        assert_int_equal(prefetches[o], prefetches[0]);
    }
    assert_true(prefetches[0] > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(swl_lets_the_n_oldest_issue),
        cmocka_unit_test(swl_counts_for_each_scheduler_by_itself),
        cmocka_unit_test(swl_at_the_maximum_holds_nobody_back),
        cmocka_unit_test(swl_gives_the_place_of_a_warp_at_a_barrier_to_the_next),
        cmocka_unit_test(swl_takes_every_limit_from_one_to_the_maximum),
        cmocka_unit_test(str_prefetches_for_the_next_warp_once_a_stride_is_seen_twice),
        cmocka_unit_test(str_follows_warps_backwards_as_in_figure_9_of_apres),
        cmocka_unit_test(str_starts_over_when_the_stride_changes),
        cmocka_unit_test(str_counts_a_match_only_against_a_stride_that_it_has_seen),
        cmocka_unit_test(str_asks_for_each_line_once),
        cmocka_unit_test(str_ignores_stores_prefetches_further_lines_and_the_same_warp),
        cmocka_unit_test(str_keeps_the_loads_used_last),
        cmocka_unit_test(str_counts_what_the_port_refuses),
        cmocka_unit_test(the_order_of_modifiers_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
