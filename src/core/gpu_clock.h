/* gpu_clock.h: the clock domains of a machine in exact ratios, and the machine's current time.
 *
 * One tick is 1 / LCM of the frequencies: each period is a whole number of ticks (core 1400, crossbar and L2
 * 700, DRAM 924 MHz: 33, 66, 66 and 50 ticks). All domains have an edge at tick 0. */
#ifndef HEDDLE_GPU_CLOCK_H
#define HEDDLE_GPU_CLOCK_H

#include "base/diag.h"
#include "base/tick.h"

enum gpu_domain { DOMAIN_CORE, DOMAIN_XBAR, DOMAIN_L2, DOMAIN_DRAM, DOMAIN_COUNT };

struct gpu_clock {
    struct clock_domain domains[DOMAIN_COUNT];
    /* frequency of the tick in kHz */
    uint64_t ticks_per_ms;
};

/* False with a diagnostic when the ratios do not fit 32 bits. */
bool gpu_clock_init(struct gpu_clock *c, const uint32_t khz[DOMAIN_COUNT], struct diag_list *diags);
uint64_t gpu_clock_ns(const struct gpu_clock *c, tick t);
/* The first tick at or after ns. */
tick gpu_clock_ticks(const struct gpu_clock *c, uint64_t ns);

/* What kernels read as %clock and %globaltimer, at an edge of the core. The next cycle is computed without a
 * division. */
struct core_clock {
    /* ns = cycle * 1000000 / khz, rounded down */
    uint64_t cycle, ns;
    tick time;
    uint32_t period, khz;
    /* cycle * 1000000 % khz */
    uint32_t rest;
    uint32_t ns_step, rest_step;
};
/* Starts the clock of a core with this period in ticks. */
void core_clock_init(struct core_clock *c, uint32_t period, uint32_t khz);
void core_clock_jump(struct core_clock *c);
static inline void core_clock_set(struct core_clock *c, tick now)
{
    const bool is_next = now == c->time + c->period;
    c->time = now;
    if (UNLIKELY(!is_next)) {
        core_clock_jump(c);
        return;
    }
    c->cycle++;
    c->ns += c->ns_step;
    c->rest += c->rest_step;
    if (c->rest < c->khz) return;
    c->rest -= c->khz;
    c->ns++;
}

/* The current time of the machine. Only the loop writes it (gpu_time_move). Every step touches it: two cache
 * lines. */
struct gpu_time {
    tick now;
    /* the first edge of each domain after now */
    tick next[DOMAIN_COUNT];
    /* now is an edge of the domain */
    bool is_edge[DOMAIN_COUNT];
    struct core_clock core;
    struct gpu_clock clock;
};
_Static_assert(offsetof(struct gpu_time, clock.ticks_per_ms) == 2 * HOST_LINE,
               "what a step touches is two lines of the host");

void gpu_time_init(struct gpu_time *t, const struct gpu_clock *clock);
/* Moves a domain over several of its edges to now. */
void gpu_time_leap(struct gpu_time *t, enum gpu_domain d);

/* Moves on to a later time. If that is an edge of the core, the clocks that kernels read are set. */
static inline void gpu_time_move(struct gpu_time *t, tick to)
{
    t->now = to;
    for (int d = 0; d < DOMAIN_COUNT; d++) {
        const tick edge = t->next[d];
        t->is_edge[d] = edge == to;
        t->next[d] = edge + (edge <= to ? t->clock.domains[d].period : 0); /* no branch: hard to predict */
        if (UNLIKELY(t->next[d] <= to)) gpu_time_leap(t, (enum gpu_domain)d);
    }
    if (t->is_edge[DOMAIN_CORE]) core_clock_set(&t->core, to);
}

static inline bool gpu_time_is_edge(const struct gpu_time *t, enum gpu_domain d) { return t->is_edge[d]; }

/* The first edge of a domain after now; at or after now. */
static inline tick gpu_time_edge_after(const struct gpu_time *t, enum gpu_domain d) { return t->next[d]; }
static inline tick gpu_time_edge_from(const struct gpu_time *t, enum gpu_domain d)
{
    return t->is_edge[d] ? t->now : t->next[d];
}

static inline uint32_t gpu_time_period(const struct gpu_time *t, enum gpu_domain d)
{
    return t->clock.domains[d].period;
}

/* The number of core cycles up to now. */
static inline uint64_t gpu_time_cycle(const struct gpu_time *t)
{
    return t->now / gpu_time_period(t, DOMAIN_CORE);
}

/* The time `cycles` core cycles after the first edge of the core that is not before now. */
static inline tick gpu_time_after_cycles(const struct gpu_time *t, uint32_t cycles)
{
    return clock_after(&t->clock.domains[DOMAIN_CORE], gpu_time_edge_from(t, DOMAIN_CORE), cycles);
}

static inline uint64_t gpu_time_ns(const struct gpu_time *t) { return gpu_clock_ns(&t->clock, t->now); }

#endif
