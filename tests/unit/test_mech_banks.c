/* test_mech_banks.c: an SM of more than 64 warp slots: each scheduler has a bank, and votes, picks and
 * states are of one bank. */
#include "mech_kit.h"

enum { BANKS = 4, SLOTS = BANKS * MECH_BANK_WARPS };

static void open_banks(struct mech_kit *k, const char *names, const char *settings)
{
    *k = (struct mech_kit){.last = MECH_NO_WARP};
    assert_true(kit_try_set(k, names, settings));
    kit_attach(k, &kit_ops, SLOTS, BANKS);
}

/* A warp starts in a bit of a bank. */
static void start(struct mech_kit *k, uint32_t bank, uint32_t bit)
{
    int warp = (int)(bank * MECH_BANK_WARPS + bit);
    k->age[warp] = k->launches++;
    mech_on_warp(k->sm, &(struct mech_warp_event){
                            .cycle = k->cycle, .warp = warp, .is_start = true, .scheduler = bank});
}

static int pick(struct mech_kit *k, uint32_t bank, uint64_t ready, uint64_t memory_wait)
{
    return mech_pick(k->sm, &(struct mech_sched_view){.ready = ready,
                                                      .resident = 0xf,
                                                      .age = k->age + bank * MECH_BANK_WARPS,
                                                      .cta = k->cta + bank * MECH_BANK_WARPS,
                                                      .last = MECH_NO_WARP,
                                                      .bank = bank,
                                                      .scheduler = bank,
                                                      .scheduler_count = BANKS,
                                                      .memory_wait = memory_wait});
}

static void swl_limits_each_bank_by_itself(void **unused)
{
    struct mech_kit k;
    open_banks(&k, "swl", "swl.warps=2");
    for (uint32_t bank = 0; bank < BANKS; bank++) assert_int_equal(k.sm->masks[bank].issue, 0);
    for (uint32_t i = 0; i < 4; i++) start(&k, 0, i);
    for (uint32_t i = 0; i < 4; i++) start(&k, 3, 3 - i);
    assert_int_equal(k.sm->masks[0].issue, 0x3);
    assert_int_equal(k.sm->masks[1].issue, 0);
    assert_int_equal(k.sm->masks[3].issue, 0xc);
    mech_on_barrier(k.sm, &(struct mech_barrier){.bank = 3, .warps = W(3), .is_wait = true});
    assert_int_equal(k.sm->masks[0].issue, 0x3);
    assert_int_equal(k.sm->masks[3].issue, 0x6);
    assert_int_equal(pick(&k, 3, 0xf, 0), 2);
    assert_int_equal(pick(&k, 0, 0xc, 0), MECH_NO_WARP);
    kit_close(&k);
}

static void gto_and_two_level_keep_the_banks_apart(void **unused)
{
    struct mech_kit k;
    open_banks(&k, "gto", "");
    for (uint32_t bank = 0; bank < BANKS; bank++)
        for (uint32_t i = 0; i < 4; i++) start(&k, bank, bank & 1 ? 3 - i : i);
    assert_int_equal(pick(&k, 0, 0xf, 0), 0);
    assert_int_equal(pick(&k, 1, 0xf, 0), 3); /* the oldest of its bank */
    assert_int_equal(pick(&k, 1, 0x7, 0), 2);
    assert_int_equal(pick(&k, 1, 0xf, 0), 2); /* greedy */
    assert_int_equal(pick(&k, 0, 0xf, 0), 0);
    kit_close(&k);
    open_banks(&k, "two-level", "two-level.active=1");
    for (uint32_t bank = 0; bank < BANKS; bank++)
        for (uint32_t i = 0; i < 4; i++) start(&k, bank, i);
    assert_int_equal(pick(&k, 0, 0xf, 0), 0);
    assert_int_equal(pick(&k, 2, 0xf, 0), 0);
    assert_int_equal(pick(&k, 0, 0xe, W(0)), 1); /* warp 0 of bank 0 leaves; that of bank 2 stays */
    assert_int_equal(pick(&k, 2, 0xf, 0), 0);
    assert_int_equal(pick(&k, 0, 0xf, 0), 1);
    kit_close(&k);
}

static void a_combined_vote_that_changes_is_told_and_one_that_does_not_is_not(void **unused)
{
    struct mech_kit k;
    open_banks(&k, "swl", "swl.warps=1");
    start(&k, 1, 5);
    k.heard_votes = false;
    start(&k, 1, 6); /* not among the oldest */
    assert_false(k.heard_votes);
    start(&k, 2, 0);
    assert_true(k.heard_votes);
    assert_int_equal(k.sm->masks[1].issue, W(5));
    assert_int_equal(k.sm->masks[2].issue, W(0));
    kit_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(swl_limits_each_bank_by_itself),
        cmocka_unit_test(gto_and_two_level_keep_the_banks_apart),
        cmocka_unit_test(a_combined_vote_that_changes_is_told_and_one_that_does_not_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
