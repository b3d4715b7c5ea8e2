/* test_morpheus_victims.c: a dirty block that leaves its set is written to its own line, in whatever slot it
 * was (src/mech/morpheus_kernel.c). A set of more than 32 blocks has its tags in several registers of each
 * lane. */
#include "morpheus_kit.h"

/* Blocks of the set, 32 at most in each group of slots. */
static void check_victims(const struct morpheus_run *r, uint32_t blocks)
{
    find_lines_of(r);
    assert_true(extended_count >= 2 * blocks);
    open_run(r);
    for (uint32_t i = 0; i < blocks; i++) touch(line_at(i), STORE);
    uint64_t victims = 0;
    for (uint32_t i = blocks; i < 2 * blocks; i++) {
        load(i);
        victims += stat_of("morpheus.dirty_evictions");
        assert_int_equal(stat_of("morpheus.stale_victims"), 0);
    }
    assert_int_equal(victims, blocks);
    rig_close(&rig);
}

static void a_victim_of_one_group_of_slots_has_its_tag(void **state)
{
    check_victims(&(struct morpheus_run){.settings = {"morpheus.blocks=20"}}, 20);
}

static void a_victim_of_two_groups_of_slots_has_its_tag(void **state)
{
    check_victims(&(struct morpheus_run){.settings = {"morpheus.blocks=40", "morpheus.filter_bytes=64"}}, 40);
}

static void so_it_has_in_the_other_stores(void **state)
{
    check_victims(
        &(struct morpheus_run){.settings = {"morpheus.warps=0", "morpheus.shared_warps=1",
                                            "morpheus.shared_blocks=40", "morpheus.filter_bytes=64"}},
        40);
    check_victims(&(struct morpheus_run){.settings = {"morpheus.warps=0", "morpheus.l1_warps=1",
                                                      "morpheus.l1_blocks=40", "morpheus.filter_bytes=64"}},
                  40);
}

/* The count that the others rely on. */
static void a_victim_that_is_not_what_memory_is_counts(void **state)
{
    find_lines(state);
    open_run(&(struct morpheus_run){0});
    touch(line_at(0), STORE);
    ((uint32_t *)(uintptr_t)line_at(0))[11] = 99; /* behind its back */
    for (uint32_t i = 1; i <= BLOCKS; i++) load(i);
    assert_int_equal(stat_of("morpheus.dirty_evictions"), 1);
    assert_int_equal(stat_of("morpheus.stale_victims"), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        RIG_TEST(a_victim_of_one_group_of_slots_has_its_tag),
        RIG_TEST(a_victim_of_two_groups_of_slots_has_its_tag),
        RIG_TEST(so_it_has_in_the_other_stores),
        RIG_TEST(a_victim_that_is_not_what_memory_is_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
