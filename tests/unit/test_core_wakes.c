/* test_core_wakes.c: which components are due and when the next one is (core/wakes.h); rounds of a crew
 * (core/crew.h), and whether they pay (core/pace.h). */
#include "core/crew.h"
#include "core/pace.h"
#include "core/wakes.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { UNITS = 130, PERIOD = 10, WORKERS = 5 };

static void the_earliest_is_found_and_sleepers_are_not(void **state)
{
    struct wakes w;
    wakes_init(&w, UNITS, PERIOD);
    assert_true(wakes_least(&w) == TICK_NEVER);
    wakes_lower(&w, 129, 40);
    wakes_lower(&w, 3, 70);
    wakes_lower(&w, 129, 50); /* later than what it has: no change */
    wakes_lower(&w, 5, TICK_NEVER);
    assert_int_equal(wakes_least(&w), 40);
    uint64_t due[3] = {0};
    assert_false(wakes_due(&w, 30, due));
    assert_true(!due[0] && !due[1] && !due[2]);
    wakes_due(&w, 40, due);
    assert_true(!due[0] && !due[1] && due[2] == 2);
    assert_int_equal(wakes_least(&w), 70);
    wakes_free(&w);
}

/* The components of the mask have had their turn; next: when each wants another. */
static void have_turns(struct wakes *w, const uint64_t *due, const tick *next)
{
    tick at[UNITS];
    for (uint32_t k = 0; k < w->words; k++) {
        struct wakes_next n = {.at = at};
        for (uint32_t i = MIN(64 * k + 64, UNITS); i-- > 64 * k;) /* in any order */
            if (due[k] >> (i % 64) & 1) wakes_tell(w->ruler.horizon, &n, i, next[i]);
        wakes_take(w, k, &n);
    }
}

static void after_its_turn_one_may_wake_later_or_never(void **state)
{
    struct wakes w;
    tick next[UNITS];
    wakes_init(&w, UNITS, PERIOD);
    for (uint32_t i = 0; i < UNITS; i++) {
        wakes_lower(&w, i, 10);
        next[i] = i == 64 ? 30 : TICK_NEVER;
    }
    uint64_t due[3];
    wakes_due(&w, 10, due);
    assert_true(due[0] == UINT64_MAX && due[1] == UINT64_MAX && due[2] == 3);
    have_turns(&w, due, next);
    assert_int_equal(wakes_least(&w), 30);
    wakes_lower(&w, 0, 20); /* one that slept is told */
    assert_int_equal(wakes_least(&w), 20);
    wakes_due(&w, 20, due);
    assert_true(due[0] == 1 && !due[1] && !due[2]);
    wakes_due(&w, 30, due);
    assert_true(!due[0] && due[1] == 1 && !due[2]);
    assert_true(wakes_least(&w) == TICK_NEVER);
    wakes_free(&w);
}

/* A component that had its turn among all of them is not forgotten, and none is there twice. */
static void all_may_be_given_their_turn(void **state)
{
    struct wakes w;
    tick next[UNITS];
    wakes_init(&w, UNITS, PERIOD);
    for (uint32_t i = 0; i < UNITS; i++) {
        wakes_lower(&w, i, 10 + i % 2 * 100000);
        next[i] = i == 129 ? 30 : TICK_NEVER;
    }
    uint64_t due[3];
    wakes_due_all(&w, 20, due);
    assert_true(due[0] == UINT64_MAX && due[1] == UINT64_MAX && due[2] == 3);
    have_turns(&w, due, next);
    assert_int_equal(wakes_least(&w), 30);
    wakes_due(&w, 30, due);
    assert_true(!due[0] && !due[1] && due[2] == 2);
    assert_true(wakes_least(&w) == TICK_NEVER);
    wakes_free(&w);
}

/* A wake between two edges is due at the second; a wake that is lowered in between is not forgotten. */
static void the_edge_of_a_wake_is_the_first_that_is_not_before_it(void **state)
{
    struct wakes w;
    tick next[UNITS];
    wakes_init(&w, UNITS, PERIOD);
    for (uint32_t i = 0; i < UNITS; i++) {
        wakes_lower(&w, i, 10);
        next[i] = i < 64 ? 11 : i == 128 ? 35 : TICK_NEVER;
    }
    uint64_t due[3];
    wakes_due(&w, 10, due);
    have_turns(&w, due, next);
    assert_true(wakes_least(&w) <= 20);
    wakes_lower(&w, 70, 20);
    wakes_lower(&w, 71, 21); /* too late for the edge at 20 */
    wakes_due(&w, 20, due);
    assert_true(due[0] == UINT64_MAX && due[1] == 1 << 6 && !due[2]);
    for (uint32_t i = 0; i < 128; i++) next[i] = TICK_NEVER;
    have_turns(&w, due, next);
    assert_int_equal(wakes_least(&w), 30);
    wakes_due(&w, 30, due);
    assert_true(!due[0] && due[1] == 1 << 7 && !due[2]);
    have_turns(&w, due, next);
    assert_int_equal(wakes_least(&w), 40);
    wakes_free(&w);
}

/* Compares the wheel with a list of times: wakes near and beyond its end, edges that are skipped, various
 * periods. */
static void so_it_is_for_any_times(void **state)
{
    static const uint32_t periods[] = {1, 7, 33, 66, 4096, 1u << 26, (1u << 31) - 1, UINT32_MAX};
    for (size_t p = 0; p < ARRAY_LEN(periods); p++) {
        struct wakes w;
        tick at[UNITS], now = 0;
        uint32_t seed = 1;
        wakes_init(&w, UNITS, periods[p]);
        for (uint32_t i = 0; i < UNITS; i++) at[i] = TICK_NEVER;
        for (uint32_t step = 0; step < 3000; step++) {
            for (uint32_t told = 0; told < 3; told++) {
                seed = seed * 1664525 + 1013904223;
                uint32_t i = (seed >> 8) % UNITS, spread = seed >> 28;
                tick t = now + (tick)(seed >> 4) % ((tick)periods[p] * (spread > 12 ? 200 : 1 + 5 * spread));
                at[i] = MIN(at[i], t);
                wakes_lower(&w, i, t);
            }
            tick least = TICK_NEVER, before = now;
            for (uint32_t i = 0; i < UNITS; i++) least = MIN(least, at[i]);
            now = clock_edge(&(struct clock_domain){.period = periods[p]}, MAX(least, now));
            assert_true(wakes_least(&w) <= now); /* and then nobody is missed */
            uint64_t due[3] = {0};
            if (step % 64 == 63) now = MAX(now, before) + 100 * (tick)periods[p]; /* overdue: all at once */
            wakes_due(&w, now, due);
            for (uint32_t i = 0; i < UNITS; i++) {
                const bool is_due = due[i / 64] >> (i % 64) & 1;
                assert_int_equal(is_due, at[i] <= now);
                seed = seed * 1664525 + 1013904223;
                if (is_due)
                    at[i] = seed >> 31 ? TICK_NEVER : now + (tick)(seed >> 8) % (100 * (tick)periods[p]);
            }
            have_turns(&w, due, at);
            now += periods[p];
        }
        wakes_free(&w);
    }
}

struct tally {
    struct crew *crew;
    /* each on a line of its own */
    uint32_t done[WORKERS][16];
};

/* A worker reports what the caller told it, plus its own number. */
static void count_share(void *ctx, uint32_t worker)
{
    struct tally *t = ctx;
    t->done[worker][0]++;
    *(uint32_t *)crew_report(t->crew, worker) = *(const uint32_t *)crew_call(t->crew) + worker;
}

/* Each share that is called is done once, and no other, however the threads are scheduled. */
static void a_round_does_each_called_share_once(void **state)
{
    struct tally t = {0};
    uint32_t wanted[WORKERS] = {0};
    t.crew = crew_create(WORKERS, sizeof(uint32_t), sizeof(uint32_t), count_share, &t);
    assert_non_null(t.crew);
    for (uint32_t round = 0; round < 3000; round++) {
        uint32_t called = (round * 2654435761u >> 7) % (1u << WORKERS);
        *(uint32_t *)crew_call(t.crew) = round;
        for (uint32_t i = 0; i < WORKERS; i++) wanted[i] += called >> i & 1;
        crew_round(t.crew, called);
        for (uint32_t i = 0; i < WORKERS; i++) {
            assert_int_equal(t.done[i][0], wanted[i]);
            if (called >> i & 1) assert_int_equal(*(const uint32_t *)crew_report(t.crew, i), round + i);
        }
    }
    crew_destroy(t.crew);
}

static uint64_t pace_now;
static uint64_t pace_clock(void) { return pace_now; }

/* How many of the steps, each of 10 pieces of work, were done together? alone_ns, together_ns: time of a
 * step. */
static uint32_t pace_run(struct pace *p, uint32_t steps, uint64_t alone_ns, uint64_t together_ns)
{
    uint32_t together = 0;
    for (uint32_t i = 0; i < steps; i++) {
        pace_step(p, 10, pace_clock);
        together += p->is_together;
        pace_now += p->is_together ? together_ns : alone_ns;
    }
    return together;
}

static void the_quicker_way_is_kept_and_tried_again(void **state)
{
    enum { STEPS = 200000, FEW = STEPS / 25 };
    struct pace p;
    pace_init(&p);
    assert_true(pace_run(&p, STEPS, 16000, 10000) > STEPS - FEW);
    assert_in_range(pace_run(&p, STEPS, 10000, 11000), 1, STEPS / 2); /* the second core is taken by others */
    assert_in_range(pace_run(&p, STEPS, 10000, 11000), 1, FEW);
    assert_true(pace_run(&p, STEPS, 16000, 10000) > STEPS / 2);   /* and is free again */
    assert_true(pace_run(&p, STEPS, 10000, 10100) > STEPS - FEW); /* too little to change for */
}

/* A disturbed trial does not count for long, and a way that becomes far slower is tried again soon. */
static void what_has_changed_is_noticed(void **state)
{
    enum { WINDOW = 256, TRIAL = 6 * WINDOW, STEPS = 200000 };
    struct pace p;
    pace_init(&p);
    pace_run(&p, TRIAL, 16000, 40000); /* the first trial speaks against the crew */
    assert_true(pace_run(&p, 60 * WINDOW, 16000, 10000) > 30 * WINDOW);
    assert_true(pace_run(&p, STEPS, 16000, 10000) > STEPS - STEPS / 25);
    assert_true(pace_run(&p, 20 * WINDOW, 16000, 40000) < 10 * WINDOW);
}

/* Time between two runs of the machine is not counted. */
static void a_break_does_not_count(void **state)
{
    struct pace p;
    pace_init(&p);
    uint32_t together = 0;
    for (int i = 0; i < 1000; i++) {
        together += pace_run(&p, 30, 16000, 10000); /* a window has several breaks */
        pace_break(&p, pace_clock);
        pace_now += p.is_together ? 1000000 : 0;
    }
    assert_true(together > 27000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_earliest_is_found_and_sleepers_are_not),
        cmocka_unit_test(after_its_turn_one_may_wake_later_or_never),
        cmocka_unit_test(all_may_be_given_their_turn),
        cmocka_unit_test(the_edge_of_a_wake_is_the_first_that_is_not_before_it),
        cmocka_unit_test(so_it_is_for_any_times),
        cmocka_unit_test(the_quicker_way_is_kept_and_tried_again),
        cmocka_unit_test(what_has_changed_is_noticed),
        cmocka_unit_test(a_break_does_not_count),
        cmocka_unit_test(a_round_does_each_called_share_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
