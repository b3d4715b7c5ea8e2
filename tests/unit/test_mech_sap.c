/* test_mech_sap.c: SAP (src/mech/sap.c) with LAWS, event by event: the examples of APRES's figures 6 and 9
 * with the paper's numbers, strides, the limits of its tables, and each reading of what the paper leaves
 * open. */
#include "laws_kit.h"

/* ---- figure 9 ---- */

/* The entry of PC 200 holds warp 10, address 2800 and stride 100; warp 2 misses at 2000 with warp 1 in its
 * group. 1900 lies in another line. */
static void figure_9_warp_1_gets_1900(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "", 12);
    load(&k, 11, 200, MECH_L1_HIT, 2900);
    load(&k, 10, 200, MECH_L1_HIT, 2800);
    assert_int_equal(kit_stat(&k, "apres.strides_stored"), 1);
    for (int w = 0; w < 12; w++) pass(&k, w, 300 + (uint32_t)w);
    pass(&k, 1, 100);
    pass(&k, 2, 100);
    load(&k, 2, 200, MECH_L1_MISS, 2000);
    EXPECT_PREFETCHES(&k, {1, 1900});
    assert_int_equal(k.prefetches[0].pc, 200);
    assert_int_equal(kit_stat(&k, "apres.matches"), 1);
    assert_int_equal(kit_stat(&k, "apres.bursts"), 1);
    assert_int_equal(kit_stat(&k, "apres.prefetches"), 1);
    assert_int_equal(kit_pick(&k, 0xfff), 1);       /* the target is first */
    assert_int_equal(kit_pick(&k, W(2) | W(9)), 9); /* the warp that missed is last */
    kit_close(&k);
}

/* Another stride is stored and nothing is prefetched; its second time is a match. */
static void another_stride_is_stored_and_not_prefetched(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "apres.empty_llpc=match", 6);
    load(&k, 0, 200, MECH_L1_MISS, 1000 * LINE);
    load(&k, 1, 200, MECH_L1_MISS, 1001 * LINE); /* 1 line */
    load(&k, 2, 200, MECH_L1_MISS, 1004 * LINE); /* 3 lines */
    assert_int_equal(k.prefetch_count, 0);
    load(&k, 3, 200, MECH_L1_MISS, 1007 * LINE);
    EXPECT_PREFETCHES(&k, {4, 1010 * LINE}, {5, 1013 * LINE});
    assert_int_equal(kit_stat(&k, "apres.strides_stored"), 2);
    expect_order(&k, "450123");
    kit_close(&k);
}

static void hits_train_but_prefetch_nothing(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "", 6);
    for (int w = 0; w < 5; w++) load(&k, w, 200, MECH_L1_HIT, (uint64_t)w * LINE);
    assert_int_equal(kit_stat(&k, "apres.matches"), 3);
    assert_int_equal(k.prefetch_count, 0);
    kit_close(&k);
}

/* ---- figure 6 ---- */

/* Warps 0 and 3 share an LLPC; the load of 1000 at PC 100 hits: warp 3 goes ahead of warps 1 and 2. */
static void figure_6_laws_issues_warp_3_after_warp_0(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "laws", "", 4);
    pass(&k, 0, 50);
    pass(&k, 1, 60);
    pass(&k, 2, 60);
    pass(&k, 3, 50);
    load(&k, 0, 100, MECH_L1_HIT, 1000);
    expect_order(&k, "0312");
    kit_close(&k);
}

/* PC 200 has a stride of 1000. Warps 1 and 2 load 12000 and 13000; the group of warp 2 is 0, 2, 3 (LLPC 100).
 * Its miss prefetches 11000 for warp 0, which goes ahead of warp 1, and 14000 for warp 3. */
static void figure_6_apres_prefetches_11000_for_warp_0(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "", 4);
    load(&k, 0, 200, MECH_L1_HIT, 11000);
    for (int w = 0; w < 4; w++) pass(&k, w, 100);
    load(&k, 1, 200, MECH_L1_HIT, 12000);
    load(&k, 2, 200, MECH_L1_MISS, 13000);
    EXPECT_PREFETCHES(&k, {0, 11000}, {3, 14000});
    expect_order(&k, "0312");
    kit_close(&k);
}

/* ---- strides ---- */

static void random_addresses_make_no_prefetch(void **unused)
{
    struct mech_kit k;
    uint64_t seed = 1;
    open_with_warps(&k, "apres", "", 48);
    for (uint32_t i = 0; i < 2000; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        load(&k, (int)(i % 48), 200 + i / 48 % 5 * 8, MECH_L1_MISS, seed >> 34 << 2);
    }
    assert_int_equal(kit_stat(&k, "apres.trained"), 2000);
    assert_int_equal(k.prefetch_count, 0);
    assert_int_equal(kit_stat(&k, "apres.prefetch_refused"), 0);
    kit_close(&k);
}

/* 1000 bytes over 3 warps: no whole number explains it, and the stride before is forgotten. */
static void a_stride_is_a_whole_number(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "", 10);
    load(&k, 0, 200, MECH_L1_MISS, 0);
    load(&k, 1, 200, MECH_L1_MISS, 333);
    load(&k, 4, 200, MECH_L1_MISS, 1333); /* 1000 / 3 = 333, the rest is 1 */
    assert_int_equal(k.prefetch_count, 0);
    load(&k, 5, 200, MECH_L1_MISS, 1666); /* 333: stored again */
    assert_int_equal(k.prefetch_count, 0);
    load(&k, 6, 200, MECH_L1_MISS, 1999);
    assert_true(k.prefetch_count > 0);
    kit_close(&k);
}

/* A loop: warp 1 executes the load again; the next warp's stride is from there. */
static void a_warp_that_comes_again_only_moves_the_entry_on(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "", 5);
    load(&k, 0, 200, MECH_L1_MISS, 0);
    load(&k, 1, 200, MECH_L1_MISS, 1000);
    load(&k, 1, 200, MECH_L1_MISS, 9000);
    assert_int_equal(k.prefetch_count, 0);
    load(&k, 2, 200, MECH_L1_MISS, 10000);
    EXPECT_PREFETCHES(&k, {3, 11000}, {4, 12000});
    kit_close(&k);
}

/* All warps want the line that the load misses: no request, but they are targets. */
static void a_line_is_asked_for_once(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "", 6);
    for (int w = 0; w < 3; w++) load(&k, w, 200, MECH_L1_MISS, 4096);
    assert_int_equal(k.prefetch_count, 0);
    assert_int_equal(kit_stat(&k, "apres.prefetch_shared"), 3);
    expect_order(&k, "345012");
    kit_close(&k);
    open_with_warps(&k, "apres", "", 6); /* 64 bytes: two warps a line */
    for (int w = 0; w < 3; w++) load(&k, w, 200, MECH_L1_MISS, (uint64_t)w * LINE / 2);
    EXPECT_PREFETCHES(&k, {4, 2 * LINE});
    assert_int_equal(kit_stat(&k, "apres.prefetch_shared"), 2);
    kit_close(&k);
}

/* ---- limits of SAP ---- */

static void three_strided_misses(struct mech_kit *k, const char *settings, int warps)
{
    open_with_warps(k, "apres", settings, warps);
    for (int w = 0; w < 3; w++) load(k, w, 200, MECH_L1_MISS, (uint64_t)w * 1000);
}

static void the_warp_queue_cuts_a_group_off(void **unused)
{
    struct mech_kit k;
    three_strided_misses(&k, "apres.wq=2", 8);
    EXPECT_PREFETCHES(&k, {3, 3000}, {4, 4000});
    expect_order(&k, "34012567");
    kit_close(&k);
}

static void a_target_whose_prefetch_is_refused_is_not_promoted(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "", 6);
    k.prefetch_room = 1;
    for (int w = 0; w < 3; w++) load(&k, w, 200, MECH_L1_MISS, (uint64_t)w * 1000);
    EXPECT_PREFETCHES(&k, {3, 3000});
    assert_int_equal(kit_stat(&k, "apres.prefetch_refused"), 2);
    expect_order(&k, "301245");
    kit_close(&k);
}

/* Warp 2 misses with warps 3, 4 and 5 in its group: one prefetch at a time, and its warp goes to the head
 * with it. A target that has issued a load since stays where it is when the next one follows. */
static void prefetches_go_one_by_one(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "", 6);
    for (int w = 0; w < 3; w++) load_only(&k, w, 200, MECH_L1_MISS, (uint64_t)w * 1000);
    EXPECT_PREFETCHES(&k, {3, 3000});
    expect_order(&k, "301245");
    take_prefetch(&k, MECH_PREFETCH_REDUNDANT);
    EXPECT_PREFETCHES(&k, {3, 3000}, {4, 4000});
    expect_order(&k, "340125");
    load_only(&k, 3, 100, MECH_L1_SENT, 0);
    take_prefetch(&k, MECH_PREFETCH_DROPPED);
    EXPECT_PREFETCHES(&k, {3, 3000}, {4, 4000}, {5, 5000});
    expect_order(&k, "453012");
    kit_close(&k);
}

/* The queues hold one load: its group goes when the next miss brings another, strided or not. */
static void the_next_group_takes_the_warp_queue(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "", 6);
    for (int w = 0; w < 3; w++) load_only(&k, w, 200, MECH_L1_MISS, (uint64_t)w * 1000);
    load_only(&k, 3, 200, MECH_L1_MISS, 3000); /* 4 and 5 are left, and asked for from its address */
    EXPECT_PREFETCHES(&k, {3, 3000});
    take_prefetch(&k, MECH_PREFETCH_SENT);
    EXPECT_PREFETCHES(&k, {3, 3000}, {4, 4000});
    assert_int_equal(kit_stat(&k, "apres.bursts_cut"), 1);
    load_only(&k, 0, 300, MECH_L1_MISS, 77); /* PC 300 has no stride */
    take_prefetches(&k);
    assert_int_equal(k.prefetch_count, 2);
    assert_int_equal(kit_stat(&k, "apres.bursts_cut"), 2);
    assert_int_equal(kit_stat(&k, "apres.prefetch_shared"), 0);
    kit_close(&k);
    open_with_warps(&k, "apres", "apres.pace=all", 6);
    for (int w = 0; w < 3; w++) load_only(&k, w, 200, MECH_L1_MISS, (uint64_t)w * 1000);
    EXPECT_PREFETCHES(&k, {3, 3000}, {4, 4000}, {5, 5000});
    expect_order(&k, "345012");
    kit_close(&k);
}

/* Warps 0 to 2 and 3 to 5 are two CTAs; all of them are in the group of warp 1. */
static void a_miss_prefetches_for_its_cta_or_for_the_group(void **unused)
{
    static const char *const settings[] = {"", "apres.targets=group"};
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        struct mech_kit k;
        kit_open(&k, "apres", settings[i], 1);
        last_id = taken = 0;
        for (int w = 0; w < 6; w++)
            mech_on_warp(k.sm,
                         &(struct mech_warp_event){.warp = w, .is_start = true, .cta_slot = (uint32_t)w / 3});
        load(&k, 3, 200, MECH_L1_HIT, 3000);
        load(&k, 0, 200, MECH_L1_HIT, 0);
        load(&k, 1, 200, MECH_L1_MISS, 1000);
        if (i)
            EXPECT_PREFETCHES(&k, {2, 2000}, {4, 4000}, {5, 5000});
        else
            EXPECT_PREFETCHES(&k, {2, 2000});
        kit_close(&k);
    }
}

/* Ten loads fit; the eleventh takes the entry of the one used least recently. */
static void the_prefetch_table_replaces_the_least_recently_used(void **unused)
{
    static const struct {
        const char *settings;
        uint64_t matches;
    } runs[] = {{"", 0}, {"apres.pt=11", 1}};
    for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
        struct mech_kit k;
        open_with_warps(&k, "apres", runs[i].settings, 4);
        load(&k, 0, 200, MECH_L1_MISS, 0);
        load(&k, 1, 200, MECH_L1_MISS, 1000);
        for (uint32_t pc = 300; pc < 310; pc++) load(&k, 0, pc, MECH_L1_MISS, 0);
        load(&k, 2, 200, MECH_L1_MISS, 2000);
        assert_int_equal(kit_stat(&k, "apres.matches"), runs[i].matches);
        kit_close(&k);
    }
}

/* Another kernel has other loads at the same PCs. */
static void a_kernel_starts_with_an_empty_table(void **unused)
{
    struct mech_kit k;
    three_strided_misses(&k, "", 3);
    mech_on_kernel(k.sm, false);
    mech_on_kernel(k.sm, true);
    load(&k, 1, 200, MECH_L1_MISS, 1000); /* 1000 less than warp 2 */
    assert_int_equal(kit_stat(&k, "apres.matches"), 1);
    kit_close(&k);
}

/* A target that has ended since is not prefetched for; the group is the one at the issue. */
static void nothing_is_prefetched_for_a_warp_that_has_ended(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "", 5);
    load(&k, 0, 200, MECH_L1_MISS, 0);
    load(&k, 1, 200, MECH_L1_MISS, 1000);
    const uint64_t id = issue(&k, 2, 200);
    kit_end(&k, 3);
    answer(&k, 2, 200, id, MECH_L1_MISS, 2000);
    take_prefetches(&k);
    EXPECT_PREFETCHES(&k, {4, 4000});
    kit_close(&k);
}

/* ---- what the paper leaves open in SAP ---- */

/* Slots 0 to 3 hold warps 0 and 1 of CTAs 5 and 9: by slot no stride is seen twice. */
static void warps_are_numbered_by_slot_or_in_the_grid(void **unused)
{
    static const char *const settings[] = {"", "apres.warp_id=grid"};
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        struct mech_kit k;
        kit_open(&k, "apres", settings[i], 1);
        last_id = taken = 0;
        for (int w = 0; w < 5; w++)
            mech_on_warp(k.sm, &(struct mech_warp_event){.warp = w,
                                                         .is_start = true,
                                                         .cta = 5 + 4u * (uint32_t)(w / 2),
                                                         .index = (uint32_t)w % 2,
                                                         .cta_warps = 2});
        load(&k, 0, 200, MECH_L1_MISS, 10 * 1000);
        load(&k, 1, 200, MECH_L1_MISS, 11 * 1000);
        load(&k, 2, 200, MECH_L1_MISS, 18 * 1000);
        if (i)
            EXPECT_PREFETCHES(&k, {3, 19 * 1000}, {4, 26 * 1000});
        else
            assert_int_equal(k.prefetch_count, 0);
        kit_close(&k);
    }
}

/* Warp 1 hits: trained by misses alone, the table sees warps 0 and 2. */
static void the_table_is_trained_by_executions_or_by_misses(void **unused)
{
    static const char *const settings[] = {"", "apres.training=misses"};
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        struct mech_kit k;
        open_with_warps(&k, "apres", settings[i], 4);
        load(&k, 0, 200, MECH_L1_MISS, 0);
        load(&k, 1, 200, MECH_L1_HIT, 1000);
        load(&k, 2, 200, MECH_L1_MISS, 2000);
        assert_int_equal(kit_stat(&k, "apres.trained"), i ? 2 : 3);
        assert_int_equal(k.prefetch_count, i ? 0 : 1);
        kit_close(&k);
    }
}

/* A load of three lines, 10 lines apart, of which the second hits; from one of them up to another. */
static void wide_lines(struct mech_kit *k, int warp, uint64_t id, uint64_t address, uint32_t from,
                       uint32_t to)
{
    for (uint32_t i = from; i < to; i++) {
        struct mech_l1_access a =
            access_to(warp, 200, id, i == 1 ? MECH_L1_HIT : MECH_L1_MISS, address + i * 10ull * LINE);
        a.is_first_line = i == 0;
        a.lane_address = address;
        mech_on_l1_access(k->sm, &a);
    }
    take_prefetches(k);
}
static void wide_load(struct mech_kit *k, int warp, uint64_t address)
{
    wide_lines(k, warp, issue_lines(k, warp, 200, 3), address, 0, 3);
}

/* Warp 3 ends between the first and the third line. */
static void a_warp_that_ends_leaves_the_warp_queue(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "apres.requests=all", 5);
    for (int w = 0; w < 2; w++) wide_load(&k, w, (uint64_t)w * LINE);
    const uint64_t id = issue_lines(&k, 2, 200, 3);
    wide_lines(&k, 2, id, 2 * LINE, 0, 2);
    EXPECT_PREFETCHES(&k, {3, 3 * LINE}, {4, 4 * LINE});
    kit_end(&k, 3);
    wide_lines(&k, 2, id, 2 * LINE, 2, 3);
    EXPECT_PREFETCHES(&k, {3, 3 * LINE}, {4, 4 * LINE}, {4, 24 * LINE});
    kit_close(&k);
}

static void a_wide_load_prefetches_from_its_lowest_thread_or_from_all_misses(void **unused)
{
    struct mech_kit k;
    open_with_warps(&k, "apres", "", 4);
    for (int w = 0; w < 3; w++) wide_load(&k, w, (uint64_t)w * LINE);
    EXPECT_PREFETCHES(&k, {3, 3 * LINE});
    kit_close(&k);
    open_with_warps(&k, "apres", "apres.requests=all", 4);
    for (int w = 0; w < 3; w++) wide_load(&k, w, (uint64_t)w * LINE);
    EXPECT_PREFETCHES(&k, {3, 3 * LINE}, {3, 23 * LINE});
    kit_close(&k);
    open_with_warps(&k, "apres", "apres.requests=all apres.drq=1", 4);
    for (int w = 0; w < 3; w++) wide_load(&k, w, (uint64_t)w * LINE);
    EXPECT_PREFETCHES(&k, {3, 3 * LINE});
    kit_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figure_9_warp_1_gets_1900),
        cmocka_unit_test(another_stride_is_stored_and_not_prefetched),
        cmocka_unit_test(hits_train_but_prefetch_nothing),
        cmocka_unit_test(figure_6_laws_issues_warp_3_after_warp_0),
        cmocka_unit_test(figure_6_apres_prefetches_11000_for_warp_0),
        cmocka_unit_test(random_addresses_make_no_prefetch),
        cmocka_unit_test(a_stride_is_a_whole_number),
        cmocka_unit_test(a_warp_that_comes_again_only_moves_the_entry_on),
        cmocka_unit_test(a_line_is_asked_for_once),
        cmocka_unit_test(the_warp_queue_cuts_a_group_off),
        cmocka_unit_test(a_target_whose_prefetch_is_refused_is_not_promoted),
        cmocka_unit_test(prefetches_go_one_by_one),
        cmocka_unit_test(the_next_group_takes_the_warp_queue),
        cmocka_unit_test(a_miss_prefetches_for_its_cta_or_for_the_group),
        cmocka_unit_test(the_prefetch_table_replaces_the_least_recently_used),
        cmocka_unit_test(a_kernel_starts_with_an_empty_table),
        cmocka_unit_test(nothing_is_prefetched_for_a_warp_that_has_ended),
        cmocka_unit_test(warps_are_numbered_by_slot_or_in_the_grid),
        cmocka_unit_test(the_table_is_trained_by_executions_or_by_misses),
        cmocka_unit_test(a_warp_that_ends_leaves_the_warp_queue),
        cmocka_unit_test(a_wide_load_prefetches_from_its_lowest_thread_or_from_all_misses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
