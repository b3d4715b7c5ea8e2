/* test_mech_reuse.c: distances between a warp's loads from one line, from hand-made events. */
#include "mech_kit.h"

static void load_line(struct mech_kit *k, uint64_t launch, uint64_t line)
{
    mech_on_l1_access(k->sm,
                      &(struct mech_l1_access){.launch = launch, .line = line, .outcome = MECH_L1_HIT});
}

static void expect(struct mech_kit *k, uint64_t pairs, uint64_t distances, uint64_t lost)
{
    assert_int_equal(kit_stat(k, "reuse.pairs"), pairs);
    assert_int_equal(kit_stat(k, "reuse.distances"), distances);
    assert_int_equal(kit_stat(k, "reuse.lost"), lost);
}

/* a b a of warp 1, with a load of warp 2 from a between them: 1 comes back after three loads. */
static void loads_of_the_l1_lie_between_two_of_a_warp(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "reuse", "", 1);
    load_line(&k, 1, 0x100);
    load_line(&k, 1, 0x200);
    load_line(&k, 2, 0x100);
    expect(&k, 0, 0, 0);
    load_line(&k, 1, 0x100);
    expect(&k, 1, 3, 0);
    load_line(&k, 1, 0x100);
    expect(&k, 2, 4, 0);
    load_line(&k, 2, 0x100);
    expect(&k, 3, 7, 0);
    kit_close(&k);
}

static void only_loads_count(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "reuse", "", 1);
    load_line(&k, 1, 0x100);
    mech_on_l1_access(k.sm, &(struct mech_l1_access){.launch = 1, .line = 0x100, .is_store = true});
    mech_on_l1_access(k.sm, &(struct mech_l1_access){.launch = 1, .line = 0x100, .is_prefetch = true});
    mech_on_l1_access(k.sm, &(struct mech_l1_access){.launch = 1, .line = 0x100, .outcome = MECH_L1_SENT});
    expect(&k, 0, 0, 0);
    assert_int_equal(kit_stat(&k, "reuse.loads"), 1);
    kit_close(&k);
}

static void a_table_of_one_entry_forgets(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "reuse", "reuse.entries=1", 1);
    load_line(&k, 1, 0x100);
    load_line(&k, 1, 0x200);
    load_line(&k, 1, 0x100);
    expect(&k, 0, 0, 2);
    load_line(&k, 2, 0x100); /* another warp's */
    expect(&k, 0, 0, 3);
    kit_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_of_the_l1_lie_between_two_of_a_warp),
        cmocka_unit_test(only_loads_count),
        cmocka_unit_test(a_table_of_one_entry_forgets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
