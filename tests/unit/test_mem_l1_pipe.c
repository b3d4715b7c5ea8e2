/* test_mem_l1_pipe.c: the pipeline before the tags (l1.tag_latency), and MSHRs that are held until their
 * loads are taken. */
#include "l1_kit.h"

static void prepare_pipe(struct bench *b, uint32_t cycles)
{
    prepare(b);
    b->p.latency = b->p.tag_latency = cycles;
}

static void a_hit_and_a_miss_look_at_the_tags_at_the_end_of_the_latency(void **state)
{
    struct bench b;
    uint32_t id;
    prepare_pipe(&b, 5);
    start(&b);
    assert_int_equal(load_at(&b, 0, 1, 7), L1_TAKEN);
    tick_to(&b, 4);
    assert_int_equal(stats_of(&b)->total_accesses, 0);
    assert_null(sent_at(&b, 6, NULL));
    assert_non_null(sent_at(&b, 7, &id)); /* looked up in cycle 5, sent in 6, a cycle on its way */
    assert_int_equal(stats_of(&b)->total_misses, 1);
    assert_int_equal(load_at(&b, 8, 1, 8), L1_TAKEN);
    reply_at(&b, 10, id);
    assert_int_equal(done_at(&b, 11), 7);
    assert_int_equal(done_at(&b, 12), NOBODY);
    assert_int_equal(done_at(&b, 13), 8); /* taken while the line was under way, found when it had come */
    assert_int_equal(stats_of(&b)->total_hits, 1);
    assert_true(l1_idle(b.l1));
    finish(&b);
}

static void a_refused_head_holds_the_pipeline_until_it_is_full(void **state)
{
    struct bench b;
    uint32_t id;
    prepare_pipe(&b, 3);
    b.p.mshrs = 1;
    start(&b);
    for (uint32_t i = 0; i < 4; i++) assert_int_equal(load_at(&b, i, 1 + i, i), L1_TAKEN);
    /* the head is refused, all three slots are taken */
    assert_int_equal(load_at(&b, 4, 9, 9), L1_STALL_MSHR);
    assert_int_equal(stats_of(&b)->stall_mshr, 1);
    assert_non_null(sent_at(&b, 5, &id));
    assert_int_equal(l1_wake(b.l1), TICK_NEVER); /* only a reply can help */
    reply_at(&b, 7, id);
    assert_int_equal(load_at(&b, 8, 9, 9), L1_TAKEN);
    assert_int_equal(stats_of(&b)->stall_cycles, 4); /* cycles 4 to 7 */
    assert_int_equal(stats_of(&b)->total_misses, 2);
    finish(&b);
}

static void a_fence_waits_for_a_store_in_the_pipeline(void **state)
{
    struct bench b;
    uint32_t id;
    prepare_pipe(&b, 4);
    start(&b);
    assert_int_equal(store_at(&b, 0, REQ_GLOBAL, 1), L1_TAKEN);
    assert_int_equal(l1_writes_pending(b.l1, 0), 1);
    assert_non_null(sent_at(&b, 6, &id));
    assert_int_equal(l1_writes_pending(b.l1, 0), 1);
    reply_at(&b, 6, id);
    tick_to(&b, 7);
    assert_int_equal(l1_writes_pending(b.l1, 0), 0);
    finish(&b);
}

static void an_mshr_may_be_held_until_its_load_is_taken(void **state)
{
    for (int held = 0; held < 2; held++) {
        struct bench b;
        uint32_t id;
        prepare(&b);
        b.p.mshrs = 1;
        b.p.mshr_until_taken = held;
        start(&b);
        assert_int_equal(load_at(&b, 0, 1, 1), L1_MISS);
        assert_non_null(sent_at(&b, 2, &id));
        reply_at(&b, 2, id);
        assert_int_equal(load_at(&b, 3, 2, 2), held ? L1_STALL_MSHR : L1_MISS);
        assert_int_equal(done_at(&b, 4), 1);
        if (held) assert_int_equal(load_at(&b, 5, 2, 2), L1_MISS);
        finish(&b);
    }
}

static void a_load_may_have_to_find_two_places_of_the_miss_queue(void **state)
{
    struct bench b;
    prepare(&b);
    b.p.miss_queue = b.p.read_places = 2;
    start_with_links(&b, 1);
    assert_int_equal(load_at(&b, 0, 1, 1), L1_MISS);
    assert_int_equal(load_at(&b, 1, 2, 2), L1_MISS);        /* the first has left */
    assert_int_equal(load_at(&b, 2, 2, 3), L1_STALL_QUEUE); /* one that would merge as well */
    assert_int_equal(load_at(&b, 3, 3, 4), L1_STALL_QUEUE);
    assert_int_equal(store_at(&b, 4, REQ_GLOBAL, 5), L1_SENT); /* a store needs its own alone */
    finish(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_hit_and_a_miss_look_at_the_tags_at_the_end_of_the_latency),
        cmocka_unit_test(a_refused_head_holds_the_pipeline_until_it_is_full),
        cmocka_unit_test(a_fence_waits_for_a_store_in_the_pipeline),
        cmocka_unit_test(an_mshr_may_be_held_until_its_load_is_taken),
        cmocka_unit_test(a_load_may_have_to_find_two_places_of_the_miss_queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
