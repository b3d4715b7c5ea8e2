/* test_mech_pa.c: the fetch groups of pa and when they change, from hand-made views. */
#include "mech_kit.h"

enum { WARPS = 48 };

/* A view of one scheduler, as an SM of one bank gives it: all of its warps are resident. */
static uint64_t warps_of(uint32_t scheduler, uint32_t schedulers)
{
    uint64_t mine = 0;
    for (uint32_t slot = scheduler; slot < WARPS; slot += schedulers) mine |= W(slot);
    return mine;
}
struct look {
    uint64_t ready, memory_wait, barrier_wait;
};
static int pick(struct mech_kit *k, uint32_t scheduler, uint32_t schedulers, const struct look *l)
{
    struct mech_sched_view v = {.ready = l->ready,
                                .resident = warps_of(scheduler, schedulers),
                                .age = k->age,
                                .cta = k->cta,
                                .last = k->last,
                                .scheduler = scheduler,
                                .scheduler_count = schedulers,
                                .memory_wait = l->memory_wait,
                                .barrier_wait = l->barrier_wait};
    const int warp = mech_pick(k->sm, &v);
    if (warp != MECH_NO_WARP) k->last = warp;
    return warp;
}

/* The warps that a scheduler picks while all of those in `ready` are ready and the others wait for memory. */
static uint64_t picked(struct mech_kit *k, uint32_t scheduler, uint32_t schedulers, uint64_t ready)
{
    const struct look l = {.ready = ready, .memory_wait = warps_of(scheduler, schedulers) & ~ready};
    uint64_t out = 0;
    for (int i = 0; i < WARPS; i++) out |= W(pick(k, scheduler, schedulers, &l));
    return out;
}

/* With 1, 2 and 4 schedulers of 48 warps: 6, 3 and 2 groups. Neither consecutive slots nor consecutive warps
 * of a scheduler are in one group, and the groups are all warps, each once. */
static void neighbours_are_never_in_one_group(void **unused)
{
    static const struct {
        uint32_t schedulers, groups;
    } rows[] = {{1, 6}, {2, 3}, {4, 2}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const uint32_t n = rows[i].schedulers;
        struct mech_kit k;
        kit_open(&k, "pa", "", n);
        for (uint32_t s = 0; s < n; s++) {
            uint64_t rest = warps_of(s, n);
            for (uint32_t g = 0; g < rows[i].groups; g++) {
                const uint64_t group = picked(&k, s, n, rest);
                assert_int_equal(group & group >> 1, 0);
                assert_int_equal(group & group >> n, 0);
                assert_true(__builtin_popcountll(group) <= 8);
                assert_int_equal(group & ~rest, 0);
                rest &= ~group;
            }
            assert_int_equal(rest, 0);
        }
        kit_close(&k);
    }
}

/* Two schedulers: the first has slots 0, 2, 4, ...; its first group is 0, 6, 12, ... 42, which take turns. */
static void a_group_has_its_turn_until_all_of_its_warps_wait_for_memory(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "pa", "", 2);
    const uint64_t mine = warps_of(0, 2);
    uint64_t group = 0;
    for (int slot = 0; slot < WARPS; slot += 6) group |= W(slot);
    for (int slot = 0; slot < WARPS; slot += 6)
        assert_int_equal(pick(&k, 0, 2, &(struct look){.ready = mine}), slot);
    /* all but 18 wait for memory, which waits for arithmetic: the slot stays empty */
    struct look l = {.ready = mine & ~group, .memory_wait = group & ~W(18)};
    assert_int_equal(pick(&k, 0, 2, &l), MECH_NO_WARP);
    assert_int_equal(kit_stat(&k, "pa.empty_slots"), 1);
    l.ready |= W(18);
    assert_int_equal(pick(&k, 0, 2, &l), 18);
    assert_int_equal(kit_stat(&k, "pa.group_changes"), 0);
    /* now 18 waits for memory too: the next group, in this cycle */
    l = (struct look){.ready = mine & ~group, .memory_wait = group};
    assert_int_equal(pick(&k, 0, 2, &l), 20);
    assert_int_equal(kit_stat(&k, "pa.group_changes"), 1);
    /* the first group is back; the second keeps its turn */
    l = (struct look){.ready = mine};
    assert_int_equal(pick(&k, 0, 2, &l), 26);
    assert_int_equal(kit_stat(&k, "pa.group_changes"), 1);
    /* the other scheduler is in its first group all the time */
    k.last = MECH_NO_WARP;
    assert_int_equal(pick(&k, 1, 2, &(struct look){.ready = warps_of(1, 2)}), 1);
    kit_close(&k);
}

/* The second group waits as well: the third has its turn, then the first again. */
static void a_group_that_waits_is_passed_over(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "pa", "", 1);
    uint64_t all = warps_of(0, 1), first = 0, second = 0;
    for (int slot = 0; slot < WARPS; slot += 6) {
        first |= W(slot);
        second |= W(slot + 1);
    }
    struct look l = {.ready = all & ~(first | second), .memory_wait = first | second};
    assert_int_equal(pick(&k, 0, 1, &l), 2);
    l = (struct look){.ready = first, .memory_wait = all & ~first};
    assert_int_equal(pick(&k, 0, 1, &l), 6);
    assert_int_equal(kit_stat(&k, "pa.group_changes"), 2);
    kit_close(&k);
}

/* A warp at a barrier, or one that the votes forbid, waits for warps of other groups. */
static void barriers_and_votes_do_not_hold_a_group(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "pa swl", "swl.warps=2 pa.group_warps=1", 1);
    kit_start(&k, 0);
    kit_start(&k, 1);
    kit_start(&k, 2); /* not among the two oldest */
    struct look l = {.ready = W(0) | W(1) | W(2)};
    assert_int_equal(pick(&k, 0, 1, &l), 0);
    l = (struct look){.ready = W(1) | W(2), .barrier_wait = W(0)};
    assert_int_equal(pick(&k, 0, 1, &l), 1);
    l = (struct look){.ready = W(0) | W(2), .memory_wait = W(1)};
    assert_int_equal(pick(&k, 0, 1, &l), 0);
    kit_close(&k);
}

static void with_fill_another_group_gets_a_slot_that_would_stay_empty(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "pa", "pa.fill=true", 1);
    struct look l = {.ready = W(1) | W(2), .memory_wait = W(6)};
    assert_int_equal(pick(&k, 0, 1, &l), 1); /* 0, 12, ... wait for arithmetic */
    l.ready |= W(0);
    assert_int_equal(pick(&k, 0, 1, &l), 0);
    assert_int_equal(kit_stat(&k, "pa.fill_issues"), 1);
    assert_int_equal(kit_stat(&k, "pa.group_changes"), 0);
    kit_close(&k);
}

/* A bank for each scheduler: consecutive bits of a bank are consecutive warps of the scheduler. */
static void groups_of_a_large_sm_are_by_the_bits_of_a_bank(void **unused)
{
    struct mech_kit k = {.last = MECH_NO_WARP};
    assert_true(kit_try_set(&k, "pa", ""));
    kit_attach(&k, &kit_ops, 128, 2); /* 64 warps of a scheduler: 8 groups */
    struct mech_sched_view v = {.ready = UINT64_MAX,
                                .resident = UINT64_MAX,
                                .age = k.age,
                                .cta = k.cta,
                                .last = MECH_NO_WARP,
                                .bank = 1,
                                .scheduler = 1,
                                .scheduler_count = 2};
    for (int i = 0; i < 16; i++) {
        v.last = mech_pick(k.sm, &v);
        assert_int_equal(v.last, i % 8 * 8);
        v.ready = UINT64_MAX;
    }
    kit_close(&k);
}

static void the_groups_do_not_depend_on_how_often_an_idle_machine_is_looked_at(void **unused)
{
    struct mech_kit often, seldom;
    kit_open(&often, "pa", "", 1);
    kit_open(&seldom, "pa", "", 1);
    uint64_t rng = 3;
    for (int i = 0; i < 500; i++) {
        rng = rng * 6364136223846793005ull + 1442695040888963407ull;
        const uint64_t wait = rng >> 16;
        const struct look l = {.ready = i % 3 ? warps_of(0, 1) & ~wait & rng << 7 : 0, .memory_wait = wait};
        const int a = pick(&often, 0, 1, &l);
        if (l.ready) assert_int_equal(pick(&seldom, 0, 1, &l), a);
    }
    assert_true(kit_stat(&often, "pa.group_changes") > 0);
    kit_close(&often);
    kit_close(&seldom);
}

/* Two schedulers of 24 warps in 3 groups: 2 bits for the group, 5 for the warp that issued last. */
static void the_cost_follows_from_the_parameters(void **unused)
{
    struct mech_kit k;
    kit_open(&k, "pa", "", 2);
    assert_int_equal(kit_cost(&k), 2 * (2 + 5));
    kit_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(neighbours_are_never_in_one_group),
        cmocka_unit_test(a_group_has_its_turn_until_all_of_its_warps_wait_for_memory),
        cmocka_unit_test(a_group_that_waits_is_passed_over),
        cmocka_unit_test(barriers_and_votes_do_not_hold_a_group),
        cmocka_unit_test(with_fill_another_group_gets_a_slot_that_would_stay_empty),
        cmocka_unit_test(groups_of_a_large_sm_are_by_the_bits_of_a_bank),
        cmocka_unit_test(the_groups_do_not_depend_on_how_often_an_idle_machine_is_looked_at),
        cmocka_unit_test(the_cost_follows_from_the_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
