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

#endif
