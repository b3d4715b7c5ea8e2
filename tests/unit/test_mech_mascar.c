/* test_mech_mascar.c: saturation, priorities, ownership and the loads that mascar sends back, from hand-made
 * events. On a machine: tests/mech/test_gates.c. */
#include "mech_kit.h"

enum { MSHRS = 64, QUEUE = 8 };

/* Which warps wait for memory, as the SM would say. */
static uint64_t memory_wait;
static uint64_t tell_memory_wait(void *sm, uint32_t bank) { return bank ? 0 : memory_wait; }
static const struct mech_host_ops ops = {.memory_wait = tell_memory_wait};

static void level(struct mech_kit *k, uint32_t mshrs_used, uint32_t queue_used)
{
    mech_on_l1_level(k->sm, &(struct mech_l1_level){.cycle = k->cycle,
                                                    .mshrs_used = mshrs_used,
                                                    .mshrs = MSHRS,
                                                    .queue_used = queue_used,
                                                    .queue = QUEUE});
}
static void open_with(struct mech_kit *k, const char *settings, int warps)
{
    *k = (struct mech_kit){.last = MECH_NO_WARP};
    memory_wait = 0;
    assert_true(kit_try_set(k, "mascar", settings));
    kit_attach(k, &ops, 48, 1);
    mech_on_kernel(k->sm, true);
    for (int w = 0; w < warps; w++) kit_start(k, w);
}
static void open_saturated(struct mech_kit *k, int warps)
{
    open_with(k, "", warps);
    level(k, MSHRS - 1, 0);
}

/* A load issues; is offered to the L1 after it missed in the tags; is taken. Its id is its warp's + 1. */
static void load_issues(struct mech_kit *k, int warp, uint32_t lines)
{
    mech_on_issue(k->sm, &(struct mech_issue){.cycle = k->cycle,
                                              .id = (uint64_t)warp + 1,
                                              .warp = warp,
                                              .is_load = true,
                                              .is_global = true,
                                              .l1_lines = lines});
}
static bool may_miss(struct mech_kit *k, int warp)
{
    return mech_may_miss(
        k->sm, &(struct mech_l1_access){
                   .cycle = k->cycle, .id = (uint64_t)warp + 1, .warp = warp, .outcome = MECH_L1_MISS});
}
static void taken(struct mech_kit *k, int warp, enum mech_l1_outcome outcome)
{
    mech_on_l1_access(k->sm,
                      &(struct mech_l1_access){
                          .cycle = k->cycle, .id = (uint64_t)warp + 1, .warp = warp, .outcome = outcome});
}

/* ---- saturation and priorities ---- */

/* One entry less than full; an L1 with one MSHR is saturated when it is in use, and not before. */
static void saturated_is_within_one_of_full(void **unused)
{
    static const struct {
        uint32_t mshrs, queue;
        bool is_saturated;
    } rows[] = {{62, 0, false}, {63, 0, true}, {64, 0, true}, {0, 6, false}, {0, 7, true}, {0, 8, true}};
    struct mech_kit k;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        open_with(&k, "", 2);
        level(&k, rows[i].mshrs, rows[i].queue);
        assert_true(may_miss(&k, 0));
        assert_int_equal(may_miss(&k, 1), !rows[i].is_saturated);
        kit_close(&k);
    }
    open_with(&k, "mascar.margin=0", 2);
    level(&k, MSHRS - 1, QUEUE - 1);
    assert_int_equal(kit_stat(&k, "mascar.saturations"), 0);
    kit_close(&k);
    open_with(&k, "", 2);
    for (uint32_t used = 0; used < 2; used++) {
        mech_on_l1_level(k.sm, &(struct mech_l1_level){.mshrs_used = used, .mshrs = 1, .queue = QUEUE});
        assert_int_equal(kit_stat(&k, "mascar.saturations"), used);
    }
    kit_close(&k);
}

static void the_time_of_saturation_is_counted(void **unused)
{
    struct mech_kit k;
    open_with(&k, "", 1);
    k.cycle = 100;
    level(&k, 63, 0);
    k.cycle = 120;
    level(&k, 64, 3);
    k.cycle = 150;
    level(&k, 62, 0);
    assert_int_equal(kit_stat(&k, "mascar.saturations"), 1);
    assert_int_equal(kit_stat(&k, "mascar.saturated_cycles"), 50);
    kit_close(&k);
}

static int pick(struct mech_kit *k, uint64_t ready, uint64_t memory_next)
{
    struct mech_sched_view v = {.ready = ready,
                                .resident = k->resident,
                                .memory_next = memory_next,
                                .load_next = memory_next,
                                .age = k->age,
                                .cta = k->cta,
                                .last = k->last,
                                .scheduler_count = 1,
                                .cycle = k->cycle};
    return k->last = mech_pick(k->sm, &v);
}

static void memory_comes_first_and_in_saturation_arithmetic_and_then_the_owner(void **unused)
{
    struct mech_kit k;
    open_with(&k, "", 4);
    const uint64_t memory = W(1) | W(3);
    assert_int_equal(pick(&k, 0xf, memory), 1);
    assert_int_equal(pick(&k, 0xf, memory), 3);
    assert_int_equal(pick(&k, 0x5, memory), 0); /* no memory instruction is ready */
    assert_int_equal(kit_stat(&k, "mascar.memory_first"), 2);
    level(&k, MSHRS - 1, 0);
    assert_int_equal(pick(&k, 0xf, memory), 2);
    assert_int_equal(pick(&k, 0xf, memory), 0);
    assert_int_equal(pick(&k, memory, memory), 1); /* nobody is the owner: in turn */
    assert_true(may_miss(&k, 1));
    assert_int_equal(pick(&k, memory, memory), 1); /* it is now */
    assert_int_equal(pick(&k, memory, memory), 1);
    assert_int_equal(pick(&k, W(3), memory), 3); /* others may hit */
    assert_int_equal(kit_stat(&k, "mascar.compute_first"), 2);
    kit_close(&k);
}

static void with_oldest_the_oldest_of_a_class_issues(void **unused)
{
    struct mech_kit k;
    open_with(&k, "mascar.order=oldest", 4);
    for (int i = 0; i < 2; i++) assert_int_equal(pick(&k, 0xf, W(1) | W(3)), 1);
    kit_close(&k);
}

/* ---- the owner ---- */

/* Warp 0 misses first and is the owner. Its next instruction needs the load, but one of its two lines is not
 * taken. When it is, the warp whose load the queue offers next has the right. */
static void the_owner_may_miss_until_it_needs_its_own_load(void **unused)
{
    struct mech_kit k;
    open_saturated(&k, 3);
    load_issues(&k, 0, 2);
    assert_true(may_miss(&k, 0));
    taken(&k, 0, MECH_L1_MISS);
    memory_wait = W(0);
    assert_false(may_miss(&k, 1));
    assert_false(may_miss(&k, 2));
    assert_true(may_miss(&k, 0));
    taken(&k, 0, MECH_L1_MISS);
    assert_true(may_miss(&k, 2));
    assert_false(may_miss(&k, 1));
    assert_int_equal(kit_stat(&k, "mascar.owners"), 2);
    assert_int_equal(kit_stat(&k, "mascar.nacks"), 2);
    kit_close(&k);
}

/* It computes: it does not wait for memory. */
static void the_owner_keeps_its_right_while_it_can_go_on(void **unused)
{
    struct mech_kit k;
    open_saturated(&k, 2);
    load_issues(&k, 0, 1);
    assert_true(may_miss(&k, 0));
    taken(&k, 0, MECH_L1_MISS);
    assert_false(may_miss(&k, 1));
    assert_true(may_miss(&k, 0));
    assert_int_equal(kit_stat(&k, "mascar.owners"), 1);
    kit_close(&k);
}

/* Without an owner the head of the queue is next: a load that comes fresh has to queue behind it. */
static void the_head_of_the_queue_becomes_the_owner(void **unused)
{
    struct mech_kit k;
    open_saturated(&k, 3);
    assert_true(may_miss(&k, 0));
    assert_false(may_miss(&k, 1));
    kit_end(&k, 0);
    assert_false(may_miss(&k, 2)); /* fresh */
    assert_true(may_miss(&k, 1));
    taken(&k, 1, MECH_L1_MISS);
    assert_false(may_miss(&k, 2));
    assert_int_equal(kit_stat(&k, "mascar.owners"), 2);
    assert_int_equal(kit_stat(&k, "mascar.retries"), 1);
    kit_close(&k);
}

static void an_owner_at_a_barrier_or_at_its_end_passes_its_right_on(void **unused)
{
    for (int cause = 0; cause < 3; cause++) {
        struct mech_kit k;
        open_saturated(&k, 2);
        load_issues(&k, 0, 4);
        assert_true(may_miss(&k, 0));
        assert_false(may_miss(&k, 1));
        if (cause == 0) kit_barrier(&k, W(0), true);
        if (cause == 1) kit_end(&k, 0);
        if (cause == 2) { /* a fault, and another kernel */
            mech_on_kernel(k.sm, true);
            for (int w = 0; w < 2; w++) kit_start(&k, w);
        }
        assert_true(may_miss(&k, 1));
        assert_false(may_miss(&k, 0));
        kit_close(&k);
    }
}

/* Another warp's barrier, or its release, is not the owner's. */
static void other_barriers_leave_the_owner(void **unused)
{
    struct mech_kit k;
    open_saturated(&k, 2);
    assert_true(may_miss(&k, 0));
    kit_barrier(&k, W(1), true);
    kit_barrier(&k, W(0) | W(1), false);
    assert_false(may_miss(&k, 1));
    kit_close(&k);
}

/* The load of a warp that has ended is let go as the head of the queue, and the right stays free. */
static void what_an_ended_warp_has_left_owns_nothing(void **unused)
{
    struct mech_kit k;
    open_saturated(&k, 3);
    assert_true(may_miss(&k, 0));
    assert_false(may_miss(&k, 1));
    kit_end(&k, 1);
    assert_false(may_miss(&k, 1));
    kit_end(&k, 0);
    assert_true(may_miss(&k, 1));
    taken(&k, 1, MECH_L1_MISS);
    assert_true(may_miss(&k, 2));
    assert_int_equal(kit_stat(&k, "mascar.owners"), 2);
    kit_close(&k);
}

static void when_saturation_ends_all_may_miss_and_nobody_owns(void **unused)
{
    struct mech_kit k;
    open_saturated(&k, 2);
    assert_true(may_miss(&k, 0));
    assert_false(may_miss(&k, 1));
    level(&k, 10, 0);
    assert_true(may_miss(&k, 1));
    taken(&k, 1, MECH_L1_MISS);
    level(&k, MSHRS, 0);
    assert_true(may_miss(&k, 1)); /* the first that asks */
    assert_false(may_miss(&k, 0));
    kit_close(&k);
}

static void hits_of_others_are_counted(void **unused)
{
    struct mech_kit k;
    open_saturated(&k, 3);
    assert_true(may_miss(&k, 0));
    assert_false(may_miss(&k, 1));
    taken(&k, 2, MECH_L1_HIT);
    taken(&k, 1, MECH_L1_HIT); /* its line came meanwhile: it is in the queue no more */
    taken(&k, 0, MECH_L1_HIT);
    assert_int_equal(kit_stat(&k, "mascar.hits_under_miss"), 2);
    kit_end(&k, 0);
    assert_true(may_miss(&k, 2));
    kit_close(&k);
}

/* What the host may leave out: offers of loads that were sent back, while the owner is not done. */
static void it_says_which_loads_it_holds(void **unused)
{
    struct mech_kit k;
    open_saturated(&k, 3);
    load_issues(&k, 0, 1);
    assert_int_equal(mech_holds(k.sm, 1), MECH_HOLD_UNKNOWN); /* nobody is the owner */
    assert_true(may_miss(&k, 0));
    assert_int_equal(mech_holds(k.sm, 0), MECH_HOLD_NO);
    assert_int_equal(mech_holds(k.sm, 1), MECH_HOLD_UNKNOWN); /* it would be sent back for the first time */
    assert_false(may_miss(&k, 1));
    assert_int_equal(mech_holds(k.sm, 1), MECH_HOLD_YES);
    mech_on_held(k.sm, 5);
    assert_int_equal(kit_stat(&k, "mascar.nacks"), 1);
    assert_int_equal(kit_stat(&k, "mascar.retries"), 5);
    taken(&k, 0, MECH_L1_MISS);
    assert_int_equal(mech_holds(k.sm, 1), MECH_HOLD_YES);
    memory_wait = W(0);
    assert_int_equal(mech_holds(k.sm, 1), MECH_HOLD_UNKNOWN);
    level(&k, 1, 0);
    assert_int_equal(mech_holds(k.sm, 1), MECH_HOLD_NO);
    kit_close(&k);
}

/* 48 warps: two bits each, the owner with a valid bit, 32 entries of warp, PC, register and 32 lanes. */
static void the_cost_and_the_queue_follow_from_the_parameters(void **unused)
{
    struct mech_kit k;
    open_with(&k, "", 1);
    assert_int_equal(k.sm->reexec_entries, 32);
    assert_int_equal(kit_cost(&k), 2 * 48 + 1 + 6 + 32 * (6 + 32 + 8 + 32 * 49));
    kit_close(&k);
    open_with(&k, "mascar.entries=1", 1);
    assert_int_equal(k.sm->reexec_entries, 1);
    kit_close(&k);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saturated_is_within_one_of_full),
        cmocka_unit_test(the_time_of_saturation_is_counted),
        cmocka_unit_test(memory_comes_first_and_in_saturation_arithmetic_and_then_the_owner),
        cmocka_unit_test(with_oldest_the_oldest_of_a_class_issues),
        cmocka_unit_test(the_owner_may_miss_until_it_needs_its_own_load),
        cmocka_unit_test(the_owner_keeps_its_right_while_it_can_go_on),
        cmocka_unit_test(the_head_of_the_queue_becomes_the_owner),
        cmocka_unit_test(an_owner_at_a_barrier_or_at_its_end_passes_its_right_on),
        cmocka_unit_test(other_barriers_leave_the_owner),
        cmocka_unit_test(what_an_ended_warp_has_left_owns_nothing),
        cmocka_unit_test(when_saturation_ends_all_may_miss_and_nobody_owns),
        cmocka_unit_test(hits_of_others_are_counted),
        cmocka_unit_test(it_says_which_loads_it_holds),
        cmocka_unit_test(the_cost_and_the_queue_follow_from_the_parameters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
