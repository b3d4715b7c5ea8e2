/* tick.h: time. One tick is the largest unit of which every clock period is a whole number, so that domains
 * of any frequencies run in exact ratios. A component acts on the edges of its own domain. */
#ifndef HEDDLE_TICK_H
#define HEDDLE_TICK_H

#include "base/base.h"

typedef uint64_t tick;
#define TICK_NEVER UINT64_MAX

struct clock_domain {
    /* ticks */
    uint32_t period;
    uint32_t khz;
};

/* The first edge of the domain at or after t. */
static inline tick clock_edge(const struct clock_domain *d, tick t)
{
    tick r = t % d->period;
    return r ? t + d->period - r : t;
}
static inline tick clock_after(const struct clock_domain *d, tick now, uint32_t cycles)
{
    return now + (tick)cycles * d->period;
}
/* Whole cycles in a time span. Short spans use a 32-bit division, which is cheaper on the host. */
static inline uint64_t clock_cycles(const struct clock_domain *d, tick time)
{
    return time >> 32 ? time / d->period : (uint32_t)time / d->period;
}
static inline void wake_at(tick *wake, tick t)
{
    *wake = t < *wake ? t : *wake; /* compiles without a branch, which would be mispredicted */
}

#endif
