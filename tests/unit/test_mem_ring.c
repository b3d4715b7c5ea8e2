/* test_mem_ring.c: slots of a bounded queue: order, room for all, and no more slots than there was need
 * for. */
#include "mem/ring.h"

#include "base/rng.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { PLACES = 37 };

static void items_come_out_in_order_however_the_ring_grows(void **state)
{
    struct rng rng = {5};
    for (uint32_t capacity = 1; capacity <= PLACES; capacity++) {
        uint32_t items[PLACES], in = 0, out = 0;
        struct ring r = ring_of(capacity);
        for (uint32_t step = 0; step < 4000; step++) {
            bool is_push =
                rng_u64(&rng) % (step < 2000 ? 5 : 2) != 0; /* full first, then hardly anything in it */
            if (is_push && r.count < capacity) {
                items[ring_push(&r, items, sizeof items[0])] = in++;
            } else if (r.count) {
                assert_int_equal(items[r.head], out++);
                ring_pop(&r);
            }
            for (uint32_t i = 0; i < r.count; i++) assert_int_equal(items[ring_index(&r, i)], out + i);
        }
        assert_int_equal(r.turn, capacity);
    }
}

static void a_ring_with_few_items_uses_few_places(void **state)
{
    uint32_t items[PLACES];
    struct ring r = ring_of(PLACES);
    for (uint32_t i = 0; i < 100; i++) {
        items[ring_push(&r, items, sizeof items[0])] = i;
        if (r.count < 3) continue;
        assert_true(r.head < RING_START);
        ring_pop(&r);
    }
    assert_int_equal(r.turn, RING_START);
}

static void items_of_a_short_ring_come_out_in_order(void **state)
{
    struct rng rng = {7};
    for (uint32_t capacity = 1; capacity <= PLACES; capacity++) {
        const uint16_t wrap = short_ring_wrap(capacity);
        uint32_t items[2 * PLACES], in = 0, out = 0;
        struct short_ring r = {0};
        assert_true(wrap + 1u >= capacity && wrap + 1u < 2 * capacity && (wrap & (wrap + 1u)) == 0);
        for (uint32_t step = 0; step < 4000; step++) {
            if (rng_u64(&rng) % 2 && r.count < capacity)
                items[short_ring_push(&r, wrap)] = in++;
            else if (r.count) {
                assert_int_equal(items[r.head], out++);
                short_ring_pop(&r, wrap);
            }
            for (uint32_t i = 0; i < r.count; i++)
                assert_int_equal(items[short_ring_index(&r, i, wrap)], out + i);
        }
    }
    assert_int_equal(short_ring_wrap(UINT16_MAX), UINT16_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_come_out_in_order_however_the_ring_grows),
        cmocka_unit_test(a_ring_with_few_items_uses_few_places),
        cmocka_unit_test(items_of_a_short_ring_come_out_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
