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
    /* 2^32 / period, rounded up, so that short spans are divided by a multiplication; 0: they are divided */
    uint32_t inverse;
};
static inline struct clock_domain clock_domain_of(uint32_t period)
{
    return (struct clock_domain){.period = period,
                                 .inverse = (uint32_t)((UINT32_MAX + (uint64_t)period) / period)};
}

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
/* Whole cycles in a time span. The multiplication is exact while time * (inverse * period - 2^32) is below
 * 2^32: the second factor is less than a period, and time less than 2^32 / period. */
static inline uint64_t clock_cycles(const struct clock_domain *d, tick time)
{
    return time < d->inverse ? time * d->inverse >> 32 : time / d->period;
}
static inline void wake_at(tick *wake, tick t)
{
    *wake = t < *wake ? t : *wake; /* compiles without a branch, which would be mispredicted */
}

#endif
