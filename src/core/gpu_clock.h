/* gpu_clock.h: the clock domains of a machine in exact ratios.
 *
 * One tick is 1 / LCM of the frequencies: each period is a whole number of ticks (core 1400, crossbar and L2 700, DRAM
 * 924 MHz: 33, 66, 66 and 50 ticks). All domains have an edge at tick 0. */
#ifndef HEDDLE_GPU_CLOCK_H
#define HEDDLE_GPU_CLOCK_H

#include "base/diag.h"
#include "base/tick.h"

enum gpu_domain { DOMAIN_CORE, DOMAIN_XBAR, DOMAIN_L2, DOMAIN_DRAM, DOMAIN_COUNT };

struct gpu_clock {
    struct clock_domain domains[DOMAIN_COUNT];
    uint64_t ticks_per_ms; /* kHz of the tick */
};

/* False with a diagnostic when the ratios do not fit 32 bits. */
bool gpu_clock_init(struct gpu_clock *c, const uint32_t khz[DOMAIN_COUNT], struct diag_list *diags);
uint64_t gpu_clock_ns(const struct gpu_clock *c, tick t);
tick gpu_clock_ticks(const struct gpu_clock *c, uint64_t ns); /* the first tick at or after ns */

/* What kernels read as %clock and %globaltimer, at an edge of the core. From one cycle to the next it takes no division. */
struct core_clock {
    uint64_t cycle, ns; /* ns = cycle * 1000000 / khz, rounded down */
    tick time;
    uint32_t period, khz;
    uint32_t rest; /* cycle * 1000000 % khz */
    uint32_t ns_step, rest_step;
};
void core_clock_init(struct core_clock *c, const struct clock_domain *core);
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

#endif
