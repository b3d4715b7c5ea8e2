/* units_crew.c: which thread runs the units of a step: the caller alone, or all workers of the crew.
 *
 * While few SMs are awake the caller works alone, since calling the others costs as much as running a few
 * SMs. The average number of SMs awake decides, not the single step, because an SM that moves to another core
 * brings its whole state into that core's cache. While many are awake the host's clock decides (pace.h).
 *
 * SMs stay with their worker. An idle worker steals partitions that another worker has not started, except
 * the last one, which its own worker is about to start. Reading another worker's partitions moves a cache
 * line from that worker's core, so a worker steals only from those that had many partitions to run. */
#include "core/units_impl.h"

#include <time.h>

enum {
    /* length of a stretch of cycles: an SM that has a turn in it counts as awake */
    CROWD_CYCLES = 8,
    /* number of stretches that the average covers */
    CROWD_SCALE = 32,
    /* average of SMs awake from which on the crew works together; on a small machine half of its SMs */
    CROWD_MAX = 8,
    /* partitions of a worker in a step from which on others may steal some */
    MANY_PARTITIONS = 4
};

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void units_rest(struct units *u) { pace_break(&u->pace, clock_ns); }

/* ---- alone or together ---- */

/* Averages how many SMs are awake, over several cycles, because an SM that runs ahead skips turns. */
static void count_crowd(struct units *u)
{
    uint32_t awake = 0;
    for (uint32_t w = 0; w < u->sm_words; w++) u->turned[w] |= u->order->sms[w];
    if (u->order->now < u->crowd_end) return;
    u->crowd_end = u->order->now + CROWD_CYCLES * u->core_period;
    for (uint32_t w = 0; w < u->sm_words; w++) {
        awake += (uint32_t)__builtin_popcountll(u->turned[w]);
        u->turned[w] = 0;
    }
    u->crowd += awake - u->crowd / CROWD_SCALE;
    const uint32_t enough = MIN(CROWD_MAX * CROWD_SCALE, u->sm_count * CROWD_SCALE / 2);
    u->is_crowded = u->crowd >= (u->is_crowded ? enough - enough / 8 : enough);
}

/* Returns the simulated time since the last step, which measures the work in the same way for the caller and
 * for the crew. A long sleep counts little. */
static uint32_t time_passed(struct units *u)
{
    const tick since = u->chosen_at;
    u->chosen_at = u->order->now;
    return (uint32_t)MIN(u->order->now - since, CROWD_CYCLES * u->core_period);
}

void units_choose(struct units *u)
{
    count_crowd(u);
    const uint32_t work = time_passed(u);
    if (u->is_crowded)
        pace_step(&u->pace, work, clock_ns);
    else
        units_rest(u);
    u->is_together = (u->is_crowded && u->pace.is_together) || u->threads_always;
}

/* ---- partitions ---- */

void units_offer(struct units *u, const struct worker *worker)
{
    for (uint32_t w = 0; w < u->partition_words; w++)
        atomic_store_explicit(&worker->unbegun[w], u->order->partitions[w] & worker->own_partitions[w],
                              memory_order_relaxed);
}

/* Claims a partition. True: no other worker has taken it. */
static bool claim(_Atomic uint64_t *unbegun, uint64_t one)
{
    return atomic_fetch_and_explicit(unbegun, ~one, memory_order_relaxed) & one;
}

/* Claims a partition of another worker, starting from the end that its own worker reaches last. */
static uint64_t claim_from(const struct units *u, const struct worker *other, uint32_t w)
{
    if (__builtin_popcountll(u->order->partitions[w] & other->own_partitions[w]) < MANY_PARTITIONS) return 0;
    for (uint64_t left;
         left = atomic_load_explicit(&other->unbegun[w], memory_order_relaxed), left & (left - 1);) {
        const uint64_t one = (uint64_t)1 << (63 - __builtin_clzll(left));
        if (claim(&other->unbegun[w], one)) return one;
    }
    return 0;
}

uint64_t units_claim(struct units *u, const struct worker *worker, uint32_t w)
{
    for (uint64_t left; (left = atomic_load_explicit(&worker->unbegun[w], memory_order_relaxed));)
        if (claim(&worker->unbegun[w], left & -left)) return left & -left;
    uint64_t one = 0;
    for (uint32_t i = 0; !one && i < u->worker_count; i++)
        if (&u->workers[i] != worker) one = claim_from(u, &u->workers[i], w);
    return one;
}

/* ---- a round ---- */

struct share {
    struct units *units;
    uint32_t worker;
};

static void do_share(void *share)
{
    const struct share *s = share;
    units_work(s->units, s->worker);
}

void units_work_guarded(void *units, uint32_t worker)
{
    struct units *u = units;
    struct mech_failure failure;
    struct share share = {u, worker};
    if (LIKELY(mech_guard_call(do_share, &share, &failure))) return;
    if (!atomic_exchange(&u->has_failed, true)) u->failure = failure;
}

uint32_t units_work_together(struct units *u)
{
    const struct order *o = u->order;
    uint32_t called = 0;
    for (uint32_t i = 0; i < u->worker_count; i++) {
        const struct worker *worker = &u->workers[i];
        const bool is_needed = mask_meets(o->sms, worker->own_sms, u->sm_words) ||
                               mask_meets(o->partitions, worker->own_partitions, u->partition_words);
        called |= (uint32_t)is_needed << i % CREW_BITS;
    }
    crew_round(u->crew, called);
    if (UNLIKELY(atomic_load_explicit(&u->has_failed, memory_order_relaxed))) mech_guard_leave(&u->failure);
    return called;
}
