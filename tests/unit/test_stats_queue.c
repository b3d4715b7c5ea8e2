/* test_stats_queue.c: how full the queues between components are, from links with known pushes and pops. */
#include "core/queue_stats.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static void a_queue_is_measured_while_it_holds_something_and_up_to_now(void **state)
{
    struct link l;
    struct queue_stats s = {0};
    link_init(&l, "test", 2, 1, NULL, NULL);
    link_push(&l, 100, 1); /* empty before: not counted */
    link_push(&l, 110, 2); /* 10 ticks half full */
    assert_false(link_can_push(&l, 120));
    link_pop(&l, 140); /* 30 ticks full */
    assert_true(link_can_push(&l, 141));
    queue_stats_add(&s, QUEUE_L2_ACCESS, &l, 1, 160); /* and 20 ticks half full, still going on */
    const struct queue_counts *c = &s.kinds[QUEUE_L2_ACCESS];
    assert_int_equal(c->level[4], 30); /* up to half */
    assert_int_equal(c->level[LINK_LEVELS - 1], 30);
    assert_int_equal(c->full_ticks, 30);
    assert_int_equal(c->used_ticks, 60);
    assert_int_equal(c->entries, 2);
    assert_int_equal(c->refusals, 1);
    assert_int_equal(c->blocked_ticks, 21);
    assert_int_equal(s.kinds[QUEUE_L2_MISS].used_ticks, 0);
    link_free(&l);
}

static void reading_twice_changes_nothing_and_links_of_a_kind_add_up(void **state)
{
    struct link l[2];
    struct queue_stats a = {0}, b = {0};
    for (int i = 0; i < 2; i++) {
        link_init(&l[i], "test", 1, 1, NULL, NULL);
        link_push(&l[i], 10, 7);
    }
    queue_stats_add(&a, QUEUE_L2_FILL, l, 2, 50);
    queue_stats_add(&b, QUEUE_L2_FILL, l, 2, 50);
    assert_memory_equal(&a, &b, sizeof a);
    assert_int_equal(a.kinds[QUEUE_L2_FILL].full_ticks, 80);
    for (int i = 0; i < 2; i++) link_free(&l[i]);
}

static void the_share_of_full_is_a_ratio_of_the_usage_lifetime(void **state)
{
    struct queue_stats s = {0};
    s.kinds[QUEUE_L2_RESPONSE].full_ticks = 46;
    s.kinds[QUEUE_L2_RESPONSE].used_ticks = 100;
    for (const struct stat_row *r = queue_stat_rows; r->name; r++)
        if (!strcmp(r->name, "queue.l2_response_full")) {
            assert_float_equal(stat_value(r, &s), 46.0, 1e-9);
            return;
        }
    fail();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_queue_is_measured_while_it_holds_something_and_up_to_now),
        cmocka_unit_test(reading_twice_changes_nothing_and_links_of_a_kind_add_up),
        cmocka_unit_test(the_share_of_full_is_a_ratio_of_the_usage_lifetime),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
