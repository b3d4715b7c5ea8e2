/* units_crew.c: who does the units of a step: the caller alone, or all members of the crew.
 *
 * While few SMs are awake the caller works alone: calling the others costs as much as a handful of SMs. Which of the two it is follows the average, not the
 * single step: an SM that changes cores takes its whole state along. With many awake the clock decides (core/pace.h). Alone, SMs run on by themselves
 * (core/ahead.c); together only if that went well: an SM that has to stop on its way makes the others wait. SMs stay with their member. A partition that its own member has not begun when another has nothing left to do goes to that
 * one, but for the last of the open ones, to which its own member comes next. Looking what another has open takes a line of the host's cache from it, so only who
 * had many partitions to do is looked at. */
#include "core/units_impl.h"

#include <time.h>

enum {
    STOPS_FEW = 16,   /* one run in so many may have to stop, for SMs to run ahead with the crew too */
    RUNS_KEPT = 4096, /* runs that count */
    CROWD_CYCLES = 8, /* who has a turn in so many cycles is awake in them */
    CROWD_SCALE = 32, /* such stretches that the average number of SMs awake goes back */
    CROWD_MAX =
        8, /* SMs awake on average from which on the crew is called; of a small machine half of its SMs */
    MANY_PARTS =
        4 /* partitions of a member in a step from which on others look whether it has some to give away */
};

static uint64_t clock_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void units_rest(struct units *u) { pace_break(&u->pace, clock_ns); }

/* How many SMs are awake, on average: not by the step, for an SM that runs on has turns that are far apart. */
static void count_crowd(struct units *u)
{
    uint32_t awake = 0;
    for (uint32_t w = 0; w < u->sm_words; w++) u->turned[w] |= u->order->sms[w];
    if (u->order->now < u->crowd_end) return;
    u->crowd_end = u->order->now + CROWD_CYCLES * (tick)u->gpu->clock.domains[DOMAIN_CORE].period;
    for (uint32_t w = 0; w < u->sm_words; w++) {
        awake += (uint32_t)__builtin_popcountll(u->turned[w]);
        u->turned[w] = 0;
    }
    u->crowd += awake - u->crowd / CROWD_SCALE;
    const uint32_t enough = MIN(CROWD_MAX * CROWD_SCALE, u->sm_count * CROWD_SCALE / 2);
    u->is_crowded = u->crowd >= (u->is_crowded ? enough - enough / 8 : enough);
}

/* Simulated time since the step before, which is the same in both ways; a long sleep counts little. */
static uint32_t passed(struct units *u)
{
    const tick most = CROWD_CYCLES * (tick)u->gpu->clock.domains[DOMAIN_CORE].period;
    const tick since = u->chosen_at;
    u->chosen_at = u->order->now;
    return (uint32_t)MIN(u->order->now - since, most);
}

void units_choose(struct units *u)
{
    count_crowd(u);
    const uint32_t work = passed(u);
    if (u->is_crowded)
        pace_step(&u->pace, work, clock_ns);
    else
        units_rest(u);
    u->is_together = (u->is_crowded && u->pace.is_together) || u->gpu->options.threads_always;
}

void units_count_run(struct units *u, bool has_stopped)
{
    u->stops += has_stopped;
    if (++u->runs < RUNS_KEPT) return;
    u->runs /= 2;
    u->stops /= 2;
}

bool units_may_run_ahead(const struct units *u) { return !u->is_together || u->stops * STOPS_FEW <= u->runs; }

void units_open(struct units *u, const struct member *m)
{
    for (uint32_t w = 0; w < u->part_words; w++)
        atomic_store_explicit(&m->open[w], u->order->parts[w] & m->own_parts[w], memory_order_relaxed);
}

/* True: nobody else has it. */
static bool claim(_Atomic uint64_t *open, uint64_t part)
{
    return atomic_fetch_and_explicit(open, ~part, memory_order_relaxed) & part;
}

/* One of another member's, which begins at the other end. */
static uint64_t claim_from(const struct units *u, const struct member *m, uint32_t w)
{
    if (__builtin_popcountll(u->order->parts[w] & m->own_parts[w]) < MANY_PARTS) return 0;
    for (uint64_t open; open = atomic_load_explicit(&m->open[w], memory_order_relaxed), open & (open - 1);) {
        const uint64_t part = (uint64_t)1 << (63 - __builtin_clzll(open));
        if (claim(&m->open[w], part)) return part;
    }
    return 0;
}

uint64_t units_claim(struct units *u, const struct member *m, uint32_t w)
{
    for (uint64_t open; (open = atomic_load_explicit(&m->open[w], memory_order_relaxed));)
        if (claim(&m->open[w], open & -open)) return open & -open;
    uint64_t part = 0;
    for (uint32_t i = 0; !part && i < u->member_count; i++)
        if (&u->members[i] != m) part = claim_from(u, &u->members[i], w);
    return part;
}

uint32_t units_call(struct units *u)
{
    const struct order *o = u->order;
    uint32_t called = 0;
    for (uint32_t i = 0; i < u->member_count; i++) {
        const struct member *m = &u->members[i];
        const bool is_needed =
            mask_meets(o->sms, m->own_sms, u->sm_words) || mask_meets(o->parts, m->own_parts, u->part_words);
        called |= (uint32_t)is_needed << i % CREW_BITS;
    }
    crew_round(u->crew, called);
    return called;
}
