/* test_mem_link.c: links and the request pool: latency, room, order independence, waking, occupancy. */
#include "base/hash.h"
#include "mem/link_ahead.h"
#include "mem/req.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static void what_is_pushed_is_seen_after_the_latency_and_not_before(void **state)
{
    struct link l;
    tick consumer = TICK_NEVER;
    uint32_t v;
    link_init(&l, "test", 2, 7, NULL, &consumer);
    assert_true(link_can_push(&l, 10));
    link_push(&l, 10, 42);
    assert_int_equal(consumer, 17);
    assert_int_equal(link_next(&l), 17);
    assert_false(link_peek(&l, 16, &v));
    assert_true(link_peek(&l, 17, &v));
    assert_int_equal(v, 42);
    assert_int_equal(link_pop(&l, 17), 42);
    assert_false(link_peek(&l, 18, &v));
    assert_true(link_next(&l) == TICK_NEVER);
    link_free(&l);
}

static void order_is_kept_and_the_ring_wraps(void **state)
{
    struct link l;
    link_init(&l, "test", 3, 1, NULL, NULL);
    uint32_t in = 0, out = 0;
    for (tick t = 0; t < 100; t++) {
        uint32_t v;
        if (t % 3 && link_peek(&l, t, &v)) assert_int_equal(link_pop(&l, t), out++);
        if (link_can_push(&l, t)) link_push(&l, t, in++);
    }
    assert_true(out > 60 && in <= out + 3);
    assert_int_equal(link_pushes(&l), in);
    link_free(&l);
}

/* Invariant 2, both orders of one tick. */
static void room_made_in_a_tick_is_usable_in_the_next(void **state)
{
    for (int consumer_first = 0; consumer_first < 2; consumer_first++) {
        struct link l;
        tick producer = TICK_NEVER;
        link_init(&l, "test", 1, 1, &producer, NULL);
        link_push(&l, 0, 1);
        if (consumer_first) {
            link_pop(&l, 5);
            assert_false(link_can_push(&l, 5));
        } else {
            assert_false(link_can_push(&l, 5));
            link_pop(&l, 5);
        }
        assert_int_equal(producer, 6);
        assert_true(link_can_push(&l, 6));
        assert_int_equal(l.refusals, 1);
        assert_int_equal(l.blocked_ticks, 1);
        link_free(&l);
    }
}

static void a_queue_of_one_moves_something_every_other_tick(void **state)
{
    struct link l;
    link_init(&l, "test", 1, 1, NULL, NULL);
    uint32_t moved = 0, v;
    for (tick t = 0; t < 20; t++) {
        if (link_can_push(&l, t)) link_push(&l, t, 0);
        if (link_peek(&l, t, &v)) link_pop(&l, t), moved++;
    }
    assert_int_equal(moved, 10); /* pushed at 0, popped at 1, room at 2 */
    link_free(&l);
}

static void asking_again_while_blocked_changes_no_count(void **state)
{
    uint64_t refusals[2], blocked[2];
    for (int eager = 0; eager < 2; eager++) {
        struct link l;
        tick producer = TICK_NEVER;
        link_init(&l, "test", 1, 1, &producer, NULL);
        link_push(&l, 0, 1);
        assert_false(link_can_push(&l, 2));
        for (tick t = 3; eager && t < 9; t++) assert_false(link_can_push(&l, t));
        link_pop(&l, 9);
        if (eager) assert_false(link_can_push(&l, 9));
        assert_int_equal(producer, 10);
        assert_true(link_can_push(&l, 10));
        refusals[eager] = l.refusals;
        blocked[eager] = l.blocked_ticks;
        link_free(&l);
    }
    assert_int_equal(refusals[0], 1);
    assert_int_equal(refusals[1], 1);
    assert_int_equal(blocked[0], 8);
    assert_int_equal(blocked[1], 8);
}

static void a_refusal_that_is_foreseen_counts_if_it_comes(void **state)
{
    for (int pops_before = 0; pops_before < 2; pops_before++) {
        struct link l;
        tick producer = TICK_NEVER;
        link_init(&l, "test", 1, 1, &producer, NULL);
        link_push(&l, 10, 1);
        link_refuse_ahead(&l, 20);
        assert_int_equal(link_refusals(&l, 19), 0);
        assert_int_equal(link_refusals(&l, 20), 1);
        if (!pops_before) assert_false(link_can_push_after_all(&l, 20));
        link_pop(&l, pops_before ? 15 : 25);
        assert_int_equal(producer, pops_before ? 16 : 26);
        assert_true(link_can_push_after_all(&l, pops_before ? 20 : 30));
        assert_int_equal(link_refusals(&l, 40), !pops_before);
        assert_int_equal(l.blocked_ticks, pops_before ? 0 : 10);
        link_free(&l);
    }
}

/* A producer that sends whenever it can. It notes refusals ahead and sleeps until it is woken, or asks in
 * each of its turns. Returns a hash of the times of its pushes and of all that the link counts. */
static uint64_t send_all(uint32_t capacity, uint64_t seed, bool sleeps)
{
    enum { VALUES = 400, TURN = 4 };
    struct link l;
    tick wake = 0;
    uint64_t hash = seed;
    uint32_t sent = 0, got = 0, value;
    link_init(&l, "test", capacity, 3, &wake, NULL);
    for (tick now = 0; got < VALUES; now++) {
        const bool pops_first = hash_mix(now ^ seed) & 1, pops = hash_mix(now / 5 + seed) % 3 == 0;
        if (pops_first && pops && link_peek(&l, now, &value)) got++, link_pop(&l, now);
        if (now % TURN == 0 && sent < VALUES && (!sleeps || wake <= now)) {
            wake = TICK_NEVER;
            if (sleeps ? link_can_push_after_all(&l, now) : link_can_push(&l, now)) {
                link_push(&l, now, sent++);
                hash = hash_mix(hash ^ now);
                wake = now + TURN;
                if (sleeps && sent < VALUES && l.count == l.capacity) {
                    link_refuse_ahead(&l, now + TURN);
                    wake = TICK_NEVER;
                }
            }
        }
        if (!pops_first && pops && link_peek(&l, now, &value)) got++, link_pop(&l, now);
        if (now % TURN == 0) hash = hash_mix(hash ^ link_refusals(&l, now));
    }
    hash = hash_mix(hash ^ l.blocked_ticks) ^ l.refusals;
    link_free(&l);
    return hash;
}

static void noting_refusals_ahead_changes_no_count(void **state)
{
    for (uint32_t capacity = 1; capacity <= 3; capacity++)
        for (uint64_t seed = 0; seed < 200; seed++)
            assert_true(send_all(capacity, seed, true) == send_all(capacity, seed, false));
}

static void a_producer_that_does_not_wait_is_not_woken(void **state)
{
    struct link l;
    tick producer = TICK_NEVER;
    link_init(&l, "test", 2, 1, &producer, NULL);
    link_push(&l, 0, 1);
    link_pop(&l, 3);
    assert_true(producer == TICK_NEVER);
    link_free(&l);
}

static void occupancy_is_time_at_each_level_while_not_empty(void **state)
{
    struct link l;
    link_init(&l, "test", 4, 1, NULL, NULL);
    link_push(&l, 10, 0); /* 25%: above 20, up to 30 */
    link_push(&l, 13, 0); /* 50%: above 40, up to 50 */
    link_push(&l, 18, 0); /* 75% */
    link_push(&l, 20, 0); /* full */
    for (int i = 0; i < 4; i++) link_pop(&l, 30);
    link_close_stats(&l, 50);
    tick want[LINK_LEVELS] = {[2] = 3, [4] = 5, [7] = 2, [10] = 10};
    tick got[LINK_LEVELS] = {0};
    link_add_levels(&l, got);
    for (int i = 0; i < LINK_LEVELS; i++) assert_int_equal(got[i], want[i]);
    link_free(&l);
}

static void nine_of_ten_is_not_full(void **state)
{
    struct link l;
    link_init(&l, "test", 100, 1, NULL, NULL);
    for (int i = 0; i < 10; i++) link_push(&l, 0, 0);
    link_close_stats(&l, 1); /* 10% */
    for (int i = 10; i < 91; i++) link_push(&l, 1, 0);
    link_close_stats(&l, 3); /* 91% */
    tick got[LINK_LEVELS] = {0};
    link_add_levels(&l, got);
    assert_int_equal(got[0], 1);
    assert_int_equal(got[9], 2);
    link_free(&l);
}

static void levels_are_tenths_rounded_up_for_every_capacity(void **state)
{
    static const uint32_t large[] = {4095, 20723, 20724, 49999, LINK_SLOTS_MAX - 1, LINK_SLOTS_MAX};
    for (uint32_t i = 1; i < 130 + ARRAY_LEN(large); i++) {
        uint32_t capacity = i < 130 ? i : large[i - 130];
        uint8_t *level = link_levels(capacity);
        for (uint32_t n = 1; n < capacity; n++)
            if (level[n] != (n * 10 + capacity - 1) / capacity - 1) fail_msg("%u of %u", n, capacity);
        assert_int_equal(level[capacity], LINK_LEVELS - 1);
        free(level);
    }
}

/* ---- requests ---- */

static void requests_are_used_again_and_counted(void **state)
{
    struct req_pool p;
    req_pool_init(&p, 3);
    uint32_t a = req_new(&p, &(struct req){.addr = 1}), b = req_new(&p, &(struct req){.addr = 2});
    assert_int_not_equal(a, b);
    assert_int_equal(req_at(&p, a)->addr, 1);
    req_del(&p, a);
    uint32_t c = req_new(&p, &(struct req){.addr = 3}), d = req_new(&p, &(struct req){.addr = 4});
    assert_int_equal(c, a); /* newest first */
    assert_false(req_has_room(&p));
    assert_int_equal(req_at(&p, b)->addr, 2);
    assert_int_equal(req_at(&p, d)->addr, 4);
    assert_int_equal(p.made, 4);
    assert_int_equal(p.live, 3);
    req_pool_free(&p);
}

static void reserving_keeps_what_is_alive(void **state)
{
    struct req_pool p;
    req_pool_init(&p, 2);
    uint32_t a = req_new(&p, &(struct req){.addr = 7});
    req_reserve(&p, 1);
    assert_int_equal(p.cap, 2);
    req_reserve(&p, 5);
    assert_true(p.cap >= 6);
    for (int i = 0; i < 5; i++) req_new(&p, &(struct req){.addr = 9});
    assert_int_equal(req_at(&p, a)->addr, 7);
    assert_int_equal(p.live, 6);
    req_pool_free(&p);
}

/* Part `rich` gives requests back after part `poor` has made the whole grow: its requests have moved. */
static void a_part_follows_the_whole_that_another_made_grow(void **state)
{
    struct req_pool whole, rich, poor;
    req_pool_init(&whole, 32);
    req_part_init(&rich, &whole);
    req_part_init(&poor, &whole);
    req_part_balance(&rich, &whole, 8);
    assert_int_equal(rich.spare, 16);
    req_part_balance(&poor, &whole, 32);
    assert_true(whole.cap > 32);
    req_part_balance(&rich, &whole, 1);
    assert_int_equal(rich.spare, 4);
    assert_ptr_equal(rich.items, whole.items);
    assert_int_equal(whole.live, poor.spare + rich.spare);
    for (uint32_t i = 0; i < 4; i++) assert_true(req_new(&rich, &(struct req){.addr = i}) < whole.cap);
    req_pool_free(&whole);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_pushed_is_seen_after_the_latency_and_not_before),
        cmocka_unit_test(order_is_kept_and_the_ring_wraps),
        cmocka_unit_test(room_made_in_a_tick_is_usable_in_the_next),
        cmocka_unit_test(a_queue_of_one_moves_something_every_other_tick),
        cmocka_unit_test(asking_again_while_blocked_changes_no_count),
        cmocka_unit_test(a_refusal_that_is_foreseen_counts_if_it_comes),
        cmocka_unit_test(noting_refusals_ahead_changes_no_count),
        cmocka_unit_test(a_producer_that_does_not_wait_is_not_woken),
        cmocka_unit_test(occupancy_is_time_at_each_level_while_not_empty),
        cmocka_unit_test(nine_of_ten_is_not_full),
        cmocka_unit_test(levels_are_tenths_rounded_up_for_every_capacity),
        cmocka_unit_test(requests_are_used_again_and_counted),
        cmocka_unit_test(reserving_keeps_what_is_alive),
        cmocka_unit_test(a_part_follows_the_whole_that_another_made_grow),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
